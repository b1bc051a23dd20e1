"""What stands around the steps of a session's program, as facts: savers, summaries, writers."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record
from migrate_mgpu.models.ir import Gathered, Optimizer, ShownGradients, Step, Update, Variables


@record(frozen=True)
class HelperVariable:
    """A variable of a class that was a function: the calls in functions that lead to what makes it.

    One that a loop makes is followed by the number of its round. ``name`` is what a layer calls it,
    empty for one of the class's own.
    """

    path: tuple[ast.Call | int, ...]
    name: str = ""


@record(frozen=True, eq=False)
class Rounds:
    """What the variables are called that a loop makes, where only a run knows how often.

    ``names`` are those of a round in its ``scope``, an expression of the ``loop``'s targets and of
    the parameters of its function, for which ``passed`` has the arguments. ``outer`` stands before
    that, ``marker`` for both where names are compared. ``numbered``: TF1 numbers scopes that are
    alike.
    """

    module: Module
    loop: ast.For
    scope: ast.expr
    outer: str
    marker: str
    names: tuple[str, ...]
    numbered: bool
    passed: Mapping[str, ast.expr]


@record(frozen=True)
class Told:
    """What the class of a network calls its variables, which it tells a run, ``below`` a scope.

    ``names``, each with whether it is trained, are those where each loop has two rounds: what a run
    calls its variables differs from them in numbers alone.
    """

    below: str
    names: tuple[tuple[str, bool], ...]


@record(frozen=True, eq=False)
class NamedVariable:
    """A variable by its name in the graph.

    ``key`` is that of a dictionary, the place in a list, or what a layer calls it. ``used``:
    something is computed of it; TF1's optimizers keep nothing of one that no gradient reaches.
    With ``rounds`` it stands for all that a loop makes, with ``told`` for all of a network, and has
    no name.
    """

    name: str
    variables: Variables
    key: ast.expr | HelperVariable | int | str | None = None
    trained: bool = True
    used: bool = True
    rounds: Rounds | None = None
    told: Told | None = None


@record(frozen=True, eq=False)
class SavedState:
    """What an optimizer keeps of each variable that it trains, as TF1 names it.

    ``slots`` are what the names of a variable's slots begin with, in the order of the
    variables, and how many have it already; ``powers`` are the names of Adam's two counters,
    ``steps`` the name of the count of steps where Keras's arithmetic needs it, ``averages`` those
    of the variables' averages, ``counter`` the name of the global step that nothing else reads.
    ``around``, in place of ``slots``, is what stands before and behind names that a run knows.
    ``optimizer`` is that of the update, or one of those of which the
    program makes one: each has a state of its own then.
    """

    update: Update
    optimizer: Optimizer
    slots: tuple[tuple[str, int], ...]
    powers: tuple[str, str]
    steps: str
    averages: tuple[str, ...] = ()
    counter: str = ""
    around: tuple[str, str] | None = None


@record(frozen=True, eq=False)
class Saver:
    """`saver = tf.train.Saver()`: ``saved`` by their names; ``keep`` is how many files stay.

    ``holder`` is what the object is called where it is made outside of the constructor that builds
    the graph.
    """

    name: str
    statement: ast.Assign
    call: ast.Call
    saved: tuple[tuple[str, NamedVariable], ...]
    states: tuple[SavedState, ...]
    keep: ast.expr | None
    holder: str = ""


@record(frozen=True, eq=False)
class SaverCall:
    """`saver.save(sess, path)` or `saver.restore(sess, path)`.

    ``gone`` are arguments that only TF1 has, ``step`` is a variable that gives the number.
    """

    call: ast.Call
    saver: Saver
    kind: str
    session: ast.expr | None
    gone: tuple[str, ...] = ()
    step: ast.expr | None = None


@record(frozen=True, eq=False)
class GraphExport:
    """A step whose graph is written with checkpoints, for programs that read it.

    ``inputs`` and ``outputs`` are TF1's names of what it is fed and of its values, in their order.
    """

    step: Step
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@record(frozen=True, eq=False)
class TowerSummary:
    """Where the summary of a tower is named: in the ``scope`` of each, told by its number.

    ``each`` are the values of all towers; without it, it is the last one that is told of.
    ``first``: only the first tower makes it, whose scope is a part of the summary's tag.
    ``again``: it is called by the scope as well, which TF1 puts before the name once more.
    ``around`` are the scopes around the loop. ``label``: ``scope`` is a text that begins the
    summary's own name, and no scope that it stands in.
    """

    scope: ast.expr
    each: Gathered | None = None
    first: bool = False
    again: bool = False
    around: str = ""
    label: bool = False


@record(frozen=True, eq=False)
class Summary:
    """`tf.summary.scalar("loss", loss)`: ``tag`` as TF1 has it, ``values`` by TF1's parameters.

    ``statement`` makes nothing else; ``variable`` is what a loop over variables tells of each,
    or whose gradient it tells of: that is the one of ``gradients`` with this ``index``. ``around``
    is what stands before and behind the names of all variables, where it is one of each gradient.
    """

    kind: str
    tag: str
    call: ast.Call
    statement: ast.stmt
    values: dict[str, ast.expr]
    variable: NamedVariable | None = None
    gradients: ShownGradients | None = None
    index: int = 0
    tower: TowerSummary | None = None
    around: tuple[str, str] | None = None

    @property
    def in_each(self) -> bool:
        """Whether it is one of each tower."""
        return self.tower is not None and self.tower.each is not None and not self.tower.first

    @property
    def taken(self) -> tuple[ast.expr, ...]:
        """The expressions of the author's that it is computed of, where it is merged."""
        gathered = self.tower is not None and self.tower.each is not None
        none = self.variable is not None or self.around is not None or gathered
        return () if none else (*self.values.values(),)


@record(frozen=True, eq=False)
class Merge:
    """`merged = tf.summary.merge_all()`, with the summaries that there are."""

    statement: ast.Assign
    summaries: tuple[Summary, ...]


@record(frozen=True, eq=False)
class EventWriter:
    """`writer = tf.summary.FileWriter(folder, sess.graph)`; ``gone`` are arguments of TF1's.

    ``name`` is its code where it is made: of a variable, or `self.writer`.
    """

    name: str
    statement: ast.Assign
    call: ast.Call
    graph: bool
    gone: tuple[str, ...]


@record(frozen=True, eq=False)
class WriterCall:
    """`writer.add_summary(summary, step)`, or the graph that is added."""

    call: ast.Call
    statement: ast.Expr
    writer: EventWriter
    kind: str
    receiver: ast.expr


@record(frozen=True, eq=False)
class Dataset:
    """`dataset = tf.data.Dataset.from_tensor_slices(arrays)`"""

    name: str
    statement: ast.Assign


@record(frozen=True, eq=False)
class Iterator:
    """`iterator = dataset.make_one_shot_iterator()`, or one that is begun by a run.

    Of `tf.data.Iterator.from_structure` the ``source`` is the dataset whose structure it has.
    ``call`` makes it, where it has no name in the statement that takes its next element.
    ``each``: it is a list, with one for each tower.
    """

    name: str
    statement: ast.Assign
    source: ast.expr
    call: ast.Call
    each: bool = False


@record(frozen=True, eq=False)
class IteratorStart:
    """`start = iterator.make_initializer(dataset)`: a run of it begins the iterator with that.

    ``holder`` is the name of the object that has both, where a method begins it.
    """

    iterator: Iterator
    source: ast.expr
    holder: str = ""


@record(frozen=True, eq=False)
class OwnIterator:
    """An iterator beside a graph, of a dataset of Python's own values, by its ``name``.

    ``datasets`` are the statements that make its ``source``, ``drawn`` takes the next element,
    which ``runs`` fetch; of each, whether it gives a list. ``begins`` are those that begin it.
    """

    name: str
    statement: ast.Assign
    source: ast.Name
    datasets: tuple[ast.Assign, ...]
    drawn: ast.Assign
    begins: tuple[ast.Expr, ...]
    runs: Mapping[ast.Call, bool]


@record(frozen=True, eq=False)
class Assignment:
    """`tf.assign_add(step, 3)`: a ``variable`` gets a ``value``, by ``kind``.

    ``call`` is what makes it, or runs it where it stands. ``read`` are calls in the value that
    only read a variable of a list (`weight.value()`): those of Keras have no such method.
    """

    call: ast.Call
    variable: ast.Name | ast.Attribute  # an attribute of an object, where a session runs it
    kind: str
    value: ast.expr
    read: tuple[ast.Call, ...] = ()


@record(frozen=True, eq=False)
class VariableCopy:
    """`[tf.assign(t, e) for t, e in zip(target, evaluated)]`: some variables get a ``value``.

    ``node`` is the list. ``variable`` is what each is called there, ``loop`` gives it and its
    source their names, of ``pairs``. ``lists`` are the expressions in there that are variables
    of a scope. Where each is limited (`[p.assign(tf.clip_by_value(p, -1, 1)) for p in weights]`)
    the loop has that name alone. ``adds``: gradients are added to sums of them, ``variable``.
    """

    node: ast.ListComp
    variable: ast.Name
    value: ast.expr
    loop: ast.expr
    pairs: ast.expr
    lists: dict[ast.expr, tuple[Variables, ...]]
    adds: bool = False

    @property
    def limits(self) -> bool:
        """Whether each variable gets what is made of its own value."""
        return isinstance(self.loop, ast.Name)
