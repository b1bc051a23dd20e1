"""The model IR: what a program that trains does, as facts.

Front-ends (``models/front``) read TF1 into these objects, predicates over them stand in
``models/properties.py``, and the back-end (``models/keras``) writes TF2 from them. So:

- A fact is a field. No text of TF2 stands here, nor what only one back-end wants to know.
- The author's expressions are nodes of the author's module, by reference: who writes them
  says how (renamed, in another function, at another depth).
- What TF1 takes where nothing is given stands in the row of ``api/`` that an operation's
  ``kind`` names, not in the object.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Mapping

from migrate_mgpu.analysis.diagnostics import Place
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.value_flow import Value
from migrate_mgpu.api.losses import Reduction
from migrate_mgpu.api.metrics import Derived
from migrate_mgpu.api.recurrent import Help
from migrate_mgpu.core.records import field, record


@record(frozen=True, eq=False)
class Operation:
    """A call of TF1's API that is a part of the model.

    ``kind`` is that of its row in a table of ``api/``. ``node`` is the call, or what stands
    for one (a string that names an optimizer). ``arguments`` are those that are given, by
    TF1's names of the parameters.
    """

    kind: str
    module: Module
    node: ast.expr
    arguments: Mapping[str, ast.expr]


# -- the network ----------------------------------------------------------------


@record(frozen=True)
class Averaging:
    """How batch normalization moves its averages in TF1.

    ``sample_ranks`` are the ranks of inputs for which the fused kernel computes it: the moving
    variance is then that of a sample, n / (n - 1) times the batch's. None where the author's
    code computes whether it is fused. ``in_place``: they move wherever it is computed, with no
    UPDATE_OPS. ``last_axis``: what is normalized is seen to be the last axis. ``debiased``: the
    moving mean is freed of the zero that it starts from (``zero_debias_moving_mean``). ``decay``
    is that of a layer that gives the mean and the variance, and normalizes nothing itself.
    """

    sample_ranks: tuple[int, ...] | None
    in_place: bool
    last_axis: bool
    debiased: bool = False
    decay: ast.expr | None = None


@record(frozen=True, eq=False)
class Layer(Operation):
    """A layer that is made, and applied: ``tf.layers.dense(net, 10, name='fc')``.

    ``arguments`` are those that it is made with, ``inputs`` what it is applied to (nothing
    where a class is only called), ``training`` what tells it whether it trains. A call without
    a layer's state (``tf.layers.flatten``) is one all the same. ``averaging`` is batch
    normalization's. ``texts`` are those of the arguments that may be numbers as texts, which TF1
    takes and Keras 3 does not.
    """

    inputs: tuple[ast.expr, ...] = ()
    training: ast.expr | None = None
    averaging: Averaging | None = None
    texts: tuple[str, ...] = ()


@record(frozen=True, eq=False)
class FirstValue:
    """What a variable is given at first, as ``parameter``: a number, or a function's value.

    ``kind`` is the initializer that draws the same, ``arguments`` its literals; ``shape`` is
    None for a single number, and where the value is an ``array`` of numpy's, which has its own.
    """

    parameter: str
    kind: str
    arguments: Mapping[str, ast.expr]
    shape: ast.expr | None = None
    array: bool = False


@record(frozen=True, eq=False)
class Weight(Operation):
    """A variable that is made by hand: a weight of the model's own, which is applied to nothing.

    ``name`` is what it is called where nothing better is known. ``double``: it is of float64.
    ``scoped`` is its name with the scopes that its author wrote into it (`cls/squad/weights`).
    """

    name: str
    first: FirstValue | None = None
    double: bool = False
    scoped: str = ""


@record(frozen=True, eq=False)
class RecurrentResult:
    """`outputs, state = tf.nn.dynamic_rnn(...)`: which of the two the program reads.

    ``state`` is a name, or a tuple of names.
    """

    target: ast.Tuple | ast.List
    outputs: ast.Name
    state: ast.Name | ast.Tuple
    sequences: bool
    states: bool


@record(frozen=True, eq=False)
class Recurrent(Operation):
    """A recurrent layer: it runs a cell over a sequence, whose ``lengths`` are given or not.

    ``listed``: the sequence is a list of its steps. ``start`` is the state that it begins
    with, where that is given, ``memory`` what its cell attends to, of which ``remembered`` count.
    """

    cell: ast.expr
    inputs: tuple[ast.expr, ...]
    result: RecurrentResult
    lengths: ast.expr | None = None
    listed: bool = False
    start: ast.expr | None = None
    memory: ast.Name | None = None
    remembered: ast.Name | None = None


@record(frozen=True, eq=False)
class Decoding(Operation):
    """A cell that runs over a sequence, or over what it chooses itself, and a layer of its outputs.

    ``help`` says what it is given next: ``inputs`` are the sequence and its lengths, or the table
    of what it is given, what it begins with and what ends it. ``start`` is the state that it begins
    with, one for each of ``beams``, where it has them; ``limit`` how many steps it makes at most.
    ``target`` is what its three results are assigned to, of which ``outputs`` alone is read.
    ``imputes``: zeros stand behind a row's end. ``memory`` and ``remembered`` are as of a recurrent
    layer: ``start`` is the state of the cell within its cell.
    """

    cell: ast.Name
    layer: ast.Name
    inputs: tuple[ast.expr, ...]
    start: ast.expr
    limit: ast.expr | None
    help: Help
    imputes: bool
    target: ast.Tuple | ast.List
    outputs: ast.Name
    memory: ast.Name | None = None
    remembered: ast.Name | None = None
    beams: ast.expr | None = None


class Cell(Operation):
    """A recurrent cell, or a stack of cells."""


@record(frozen=True, eq=False)
class KerasRecurrent(Operation):
    """A recurrent layer of Keras's own, as 1.15 made it.

    ``hard_gates``: its gates have the `hard_sigmoid` that 1.15 had for them.
    """

    hard_gates: bool


class KerasPart(Operation):
    """A call of Keras's own that a Keras model is made of: a layer, an initializer, the model."""


@record(frozen=True, eq=False)
class Initializer(Operation):
    """An initializer or regularizer: a call, or a class that is handed over.

    ``settings`` are hyper-parameters, by Keras's names, that TF1 has no parameter for.
    """

    settings: Mapping[str, float | str] = field(default_factory=dict)


# -- training -----------------------------------------------------------------


class Variation(enum.Enum):
    """Whether a learning rate changes while a model trains."""

    CONSTANT = enum.auto()
    SCHEDULED = enum.auto()
    UNKNOWN = enum.auto()


@record(frozen=True, eq=False)
class Schedule(Operation):
    """A learning rate that follows the steps.

    ``bound`` are the parameters of a function whose body the call is, and the expressions that
    they stand for, None for the global step
    (``lambda rate, step: tf.train.exponential_decay(rate, step, 10, 0.9)``).
    """

    bound: Mapping[str, ast.expr | None] = field(default_factory=dict)


@record(frozen=True, eq=False)
class LearningRate:
    """A learning rate: the author's expression, and what it does.

    ``value`` is None where TF1's default is taken; ``schedule`` makes one of it that stands
    for it, where the two are given apart (``learning_rate_decay_fn``).
    """

    value: ast.expr | None
    variation: Variation
    schedule: Schedule | None = None


@record(frozen=True)
class Slot:
    """A variable beside each trained one, by its name in the loop, and what it is called."""

    name: str
    stem: str


@record(frozen=True, eq=False)
class OwnOptimizer:
    """What such a class does.

    ``rate`` is the parameter of its constructor that is the learning rate, kept in ``kept``.
    ``gradient`` and ``variable`` are names in ``loop``, ``update`` are its statements that
    compute, ``assigned`` the calls that assign. ``start`` calls the
    base's constructor, ``named`` are mentions of a variable's name.
    """

    module: Module
    node: ast.ClassDef
    init: ast.FunctionDef
    apply: ast.FunctionDef
    loop: ast.For
    rate: str
    kept: str
    gradient: str
    variable: str
    slots: tuple[Slot, ...]
    update: tuple[ast.stmt, ...]
    assigned: tuple[ast.Call, ...]
    start: ast.Call
    named: tuple[ast.Attribute, ...]

    @property
    def helpers(self) -> list[ast.FunctionDef]:
        """Its other methods."""
        methods = [s for s in self.node.body if isinstance(s, ast.FunctionDef)]
        return [one for one in methods if one not in (self.init, self.apply)]


@record(frozen=True, eq=False)
class Optimizer(Operation):
    """An optimizer.

    ``settings`` are hyper-parameters that are neither given nor the default of its class:
    what ``optimize_loss`` or a canned Estimator takes by itself. ``optimize_loss``: the call
    is one of that function, which makes the training step as well. ``own``: it is one of the
    program's own.
    """

    learning_rate: LearningRate
    settings: Mapping[str, float] = field(default_factory=dict)
    optimize_loss: bool = False
    own: OwnOptimizer | None = None


@record(frozen=True, eq=False)
class OptimizerChoice:
    """The optimizers of which a program makes one, as a condition of its own says, or the only one.

    ``tests`` are its conditions. What is known of an optimizer is known of each of the ``arms``.
    """

    arms: tuple[Optimizer, ...]
    tests: tuple[ast.expr, ...] = ()

    @property
    def only(self) -> Optimizer:
        """The one that there is, where nothing is chosen."""
        (optimizer,) = self.arms
        return optimizer

    @property
    def kinds(self) -> set[str]:
        return {optimizer.kind for optimizer in self.arms}


class ClippedBy(enum.Enum):
    """What a limit on gradients is about."""

    GLOBAL_NORM = enum.auto()  # the norm of all of them together
    NORM = enum.auto()  # the norm of each
    VALUE = enum.auto()  # each element, on both sides
    CHANGE = enum.auto()  # none: an expression of the author's, computed of each
    NOTHING = enum.auto()  # none: the norm of all is told


@record(frozen=True, eq=False)
class Clipping:
    """What happens to the gradients before they are applied."""

    by: ClippedBy
    limit: ast.expr


@record(frozen=True, eq=False)
class GradientClip:
    """What an author's expression does to each gradient, or to all of them together.

    ``limits`` are its arguments besides the gradients, ``gradient`` its own name for one,
    ``norm`` that for the norm of all. A ``change`` is the expression that stands in a gradient's
    place, with its own name for the ``variable``; ``drawn`` is what it draws, ``words`` what it
    looks for in that one's name, ``unit`` all of it as a part of the graph.
    """

    by: ClippedBy
    limits: tuple[ast.expr, ...]
    gradient: str = ""
    norm: str = ""
    change: ast.expr | None = None
    variable: str = ""
    drawn: ast.Call | None = None
    words: tuple[str, ...] = ()
    unit: Unit | None = None


@record(frozen=True, eq=False)
class MovedAverages:
    """Moving averages of all trained variables: an object, what it keeps of each step, its place.

    ``asked`` is the statement that asks for the variables: all that are trained stand above it.
    ``waited``: the optimizer waits for them; else TF1 may move one behind its variable.
    """

    made: ast.Call
    decay: ast.expr
    asked: ast.stmt
    waited: bool = False


@record()
class Training:
    """One step of one optimizer on the loss, counted by the global step.

    ``value`` is the expression that is the optimizer (a name, or its constructor), standing in
    ``unit``; ``optimizers`` are all that are made on the way to it, by their calls.
    ``gone`` are the statements that a framework with a training loop does itself: gradients,
    update operations, the train_op. ``updates``: the update operations of batch normalization
    run with a step; ``scope`` says which of them, where that are not all. ``beside`` is what
    counts the steps, where it may do so before the optimizer reads the step, or after it.
    ``averages`` are those of all trained variables that a step moves, by what they are before it.
    ``condition`` says whether the update operations run with a step, where a setting does.

    Without a ``value`` nothing trains the model.
    """

    value: ast.expr | None = None
    unit: ast.stmt | None = None
    clipping: Clipping | None = None
    gone: set[ast.stmt] = field(default_factory=set)
    updates: bool = False
    scope: ast.expr | None = None
    optimizers: dict[ast.Call, Optimizer] = field(default_factory=dict)
    beside: ast.expr | None = None
    averages: MovedAverages | None = None
    condition: ast.expr | None = None


# -- losses -------------------------------------------------------------------


@record(frozen=True, eq=False)
class WeightDecay:
    """``factor * sum(l2_loss(v))`` over the trainable variables of some kinds.

    ``factor`` is None for 1; ``weights`` are of ``kernel``, ``bias``, ``gamma``, ``beta``.
    """

    module: Module
    node: ast.expr
    factor: ast.expr | None
    weights: frozenset[str]


@record(frozen=True, eq=False)
class Loss(Operation):
    """A loss: what it makes of labels and outputs.

    ``reduction`` is what becomes of the values of elements or examples, None for a function
    that leaves that to its author (``tf.nn``). ``factor`` is the number that each is multiplied
    by, ``weights`` what is no number. ``setting`` says which of a family of losses it is
    (``label_smoothing``, ``delta``), where that is not TF1's default. ``last_axis``: classes
    lie along it. ``classes`` are what one-hot labels are made of, as integers, where that is
    seen.
    """

    node: ast.Call
    labels: ast.expr
    outputs: ast.expr
    reduction: Reduction | None
    factor: float = 1
    weights: ast.expr | None = None
    setting: ast.expr | None = None
    last_axis: bool = True
    classes: ast.expr | None = None


@record(frozen=True, eq=False)
class LabelUse:
    """How a value takes the labels: TF1 gave them as they are, other frameworks by the batch.

    ``bits``: as classes, integers of that many. ``beside`` are mentions of them with the values
    that they meet element by element, and whose shape they have.
    """

    bits: int | None = None
    beside: Mapping[ast.Name, ast.expr] = field(default_factory=dict)


@record()
class Computation:
    """A value of a batch: its expression, standing in ``unit``, and the statements behind it.

    ``units`` are those between what the network gives and the value.
    """

    value: ast.expr
    unit: ast.stmt | None
    units: list[ast.stmt] = field(default_factory=list)
    label_use: LabelUse = LabelUse()

    @property
    def name(self) -> str | None:
        """The variable that the author gave it."""
        unit = self.unit
        if isinstance(unit, ast.Assign) and isinstance(unit.targets[0], ast.Name):
            return unit.targets[0].id
        return None


@record()
class Objective(Computation):
    """What training minimises, without the terms that only regularize.

    ``unit`` is the statement whose value that is; a mean around it is not in ``value``.
    ``loss`` is what the value is, where it is one loss; ``averaged``: its author takes the mean
    of it. ``compares``: that loss has the labels and the network's output as they are;
    ``by_rows``: that output has a row for each example. ``summed`` is a call that sums up the
    batch instead of averaging it; ``batch_mean``: a batch's value is the mean of its parts'.
    ``of_output``: it is made of the labels and the one value that the network ends in; only
    then the former are known.

    ``regularized``: the layers' regularization terms are added; ``decay`` is what is written
    over all variables, and ``terms`` are the statements that only made such terms.
    """

    loss: Loss | None = None
    averaged: bool = False
    compares: bool = False
    by_rows: bool = False
    summed: ast.Call | None = None
    batch_mean: bool = True
    of_output: bool = False
    regularized: bool = False
    decay: WeightDecay | None = None
    terms: set[ast.stmt] = field(default_factory=set)


# -- evaluation ---------------------------------------------------------------


@record(frozen=True, eq=False)
class Metric(Operation):
    """A metric: what it compares, or averages (``predictions`` alone).

    ``weights`` are each example's, or each value's; not one for all.
    """

    node: ast.Call
    labels: ast.expr | None
    predictions: ast.expr
    weights: ast.expr | None = None


@record(frozen=True, eq=False)
class Result:
    """One result of an evaluation, by its metric: what that is given, as made of known values.

    ``labels`` and ``outputs`` say what it is of the labels and of the network's output, None
    for something else. ``values`` are what a metric of one value averages. ``by_rows``: the
    output has a row for each example, not a number alone.
    """

    metric: Metric
    labels: Derived | None = None
    outputs: Derived | None = None
    values: Computation | None = None
    by_rows: bool = True


@record()
class Predictions(Computation):
    """What a prediction gives for a batch; ``named``: values by their names.

    ``of_output``: it is made of the one value that the network ends in.
    """

    named: bool = False
    keys: tuple[object, ...] = ()  # of the dictionary, where it is one
    of_output: bool = True


# -- canned Estimators --------------------------------------------------------


@record(frozen=True, eq=False)
class Head(Operation):
    """What a canned Estimator makes of its logits: a loss, an evaluation's results, predictions.

    ``node`` is the Estimator's own call where that says it by its class. ``reduction`` is what
    becomes of the examples' losses, ``stated`` whether the program says so. ``weights`` is the
    key of the feature that examples are weighted by, ``words`` the list of the texts that labels
    are, ``classes`` their number, where that is given. ``statement`` gave it a variable.
    """

    reduction: Reduction
    stated: bool = True
    weights: ast.expr | None = None
    words: ast.expr | None = None
    classes: ast.expr | None = None
    statement: ast.stmt | None = None


@record(frozen=True, eq=False)
class BoundExpression:
    """An expression of the author's for another place.

    ``bound`` says what names in it stand for there: a loop's variable in one of its rounds, a
    parameter in the one call of its function. ``item``: the value under this key is meant.
    """

    module: Module
    node: ast.expr
    bound: Mapping[ast.AST, BoundExpression] = field(default_factory=dict)
    item: BoundExpression | None = None


@record(frozen=True, eq=False)
class FeatureColumn(Operation):
    """A feature column.

    ``name`` is TF1's, by which columns are ordered. ``bound`` says what names in ``arguments``
    stand for. ``sources`` are the columns that it is made of, or the key of a feature that it
    crosses. ``size`` counts its numbers, words or buckets, None where that is not written out.
    ``texts``: it may read strings. ``comments`` are the author's about it.
    """

    node: ast.Call
    name: str
    bound: Mapping[ast.AST, BoundExpression] = field(default_factory=dict)
    sources: tuple[FeatureColumn | BoundExpression, ...] = ()
    size: int | None = None
    texts: bool = False
    comments: tuple[str, ...] = ()

    def argument(self, name: str) -> BoundExpression:
        """An argument that is given."""
        return BoundExpression(self.module, self.arguments[name], self.bound)


@record(frozen=True, eq=False)
class Key:
    """A plain number in a list of columns: its call, and the key of its feature.

    ``loop``: it stands in a comprehension, and the key is what that goes over.
    """

    call: ast.Call
    node: ast.expr
    loop: ast.ListComp | None = None


@record(frozen=True, eq=False)
class PlainNumbers:
    """A list of columns of one number each, however it is made: ``node`` is what stands for it."""

    module: Module
    node: ast.expr
    keys: tuple[Key, ...]


@record(frozen=True, eq=False)
class PartOptimizer:
    """The optimizer of a part of a canned Estimator.

    ``named`` is the string that it is known by, where no call makes it. ``statement`` gave it a
    variable. ``made`` is the object that a variable holds (None for a function that makes one).
    """

    optimizer: Optimizer
    named: str = ""
    statement: ast.stmt | None = None
    made: ast.expr | None = None


@record(frozen=True)
class SharedColumns:
    """A call that makes embedding columns which have one table."""

    module: Module
    call: ast.Call


@record(frozen=True, eq=False)
class Part:
    """A linear or a dense part of a canned Estimator, over ``numbers`` or ``columns``.

    ``objects`` stands for columns that the program makes when it runs: the model asks them;
    ``shared`` are the calls that make some of them, which have one table.
    ``settings`` are those of its layers, by TF1's names of the parameters, to which ``prefix``
    belongs. ``statements`` are those that make nothing but columns, ``comments`` the author's
    about the list of them. ``normalized``: each dense layer has a batch normalization behind it.
    """

    linear: bool
    prefix: str
    optimizer: PartOptimizer
    settings: Mapping[str, ast.expr]
    numbers: PlainNumbers | None = None
    columns: tuple[FeatureColumn, ...] = ()
    objects: ast.expr | None = None
    statements: tuple[ast.stmt, ...] = ()
    comments: tuple[str, ...] = ()
    shared: tuple[SharedColumns, ...] = ()
    normalized: bool = False


@record(frozen=True, eq=False)
class CannedModel:
    """What a canned Estimator trains: the sum of its parts' logits, behind a head.

    ``results`` are the keys that a program reads of an evaluation; None where it may read any.
    ``statements`` made nothing but columns, an optimizer or a head, and go. ``exports``: a
    SavedModel gives its predictions, with what TF1 had in these alone. ``added`` are metrics
    that are not the head's, by their names.
    """

    module: Module
    node: ast.Call
    name: str
    head: Head
    parts: tuple[Part, ...]
    results: frozenset[str] | None
    predicts: bool
    exports: bool
    distributed: bool
    statements: tuple[ast.stmt, ...] = ()
    added: Mapping[str, Result] = field(default_factory=dict)


# -- devices ------------------------------------------------------------------


@record(frozen=True, eq=False)
class Strategy(Operation):
    """What puts replicas of a model on devices.

    ``devices`` are those that are listed, or the one device; ``count`` is how many GPUs it are,
    where that is given in their place. Without either it is all that there are.
    """

    devices: ast.expr | None = None
    count: ast.expr | None = None


@record(frozen=True, eq=False)
class StrategyChoice:
    """An expression for a strategy: one of several that it may be, or none.

    ``absent`` are the places that say there is none.
    """

    module: Module
    node: ast.expr
    strategies: tuple[Strategy, ...]
    absent: tuple[Value, ...] = ()


@record()
class Distribution:
    """The strategies of a model: one for each way on which it is configured."""

    training: list[StrategyChoice] = field(default_factory=list)
    evaluation: list[StrategyChoice] = field(default_factory=list)

    @property
    def choices(self) -> list[StrategyChoice]:
        return [*self.training, *self.evaluation]


# -- checkpoints --------------------------------------------------------------


@record(frozen=True)
class Expression:
    """An expression of the author's, in its module."""

    module: Module
    node: ast.expr


@record(frozen=True)
class Checkpoints:
    """Where the variables of a model are saved, and what they are before it trains.

    ``folder`` has them, ``every`` is the number of steps after which they are saved (a training
    that ends saves them as well), ``keep`` how many of them stay. ``start`` is the checkpoint of
    another model. None where nothing is said.
    """

    folder: Expression | None = None
    every: Expression | None = None
    keep: Expression | None = None
    start: Expression | None = None


@record(frozen=True, eq=False)
class FirstValues:
    """What a checkpoint gives variables where the model's own folder has none.

    ``units`` are the statements that say so, ``calls`` their `tf.train.init_from_checkpoint`,
    ``listed`` what asks for all trainable variables. ``everywhere``: they stand in all modes;
    ``roots``: a scope that they name is that of all variables, the step among them.
    """

    units: tuple[ast.stmt, ...]
    calls: tuple[ast.Call, ...]
    listed: tuple[ast.Call, ...]
    everywhere: bool
    roots: bool


# -- input functions ----------------------------------------------------------


@record(frozen=True, eq=False)
class ArrayInput(Operation):
    """An input function over arrays or a table; ``endless``: it begins again without an end.

    ``shuffles`` is the expression that says whether it shuffles, where that is decided when it is
    made.
    """

    node: ast.Call
    shuffles: bool | ast.expr
    endless: bool


@record(frozen=True, eq=False)
class DrawnBatch:
    """What an input function returns where it takes a batch out of a Dataset's iterator.

    ``node`` is the value at its `return`, ``element`` the call that takes the batch. ``maker`` is
    the call that makes the iterator over ``dataset``, ``iterator`` the statement that gives that a
    variable. ``taken`` gives the batch, or each of its ``parts``, one; ``changed``: the value is
    made of them, and not the batch; ``is_tuple``: the one part is the batch, and that is a tuple.
    """

    module: Module
    node: ast.expr
    element: ast.Call
    maker: ast.Call
    dataset: ast.expr
    iterator: ast.Assign | None = None
    taken: ast.Assign | None = None
    parts: tuple[str, ...] = ()
    changed: bool = False
    is_tuple: bool = False


@record(frozen=True, eq=False)
class InputFunction:
    """An ``input_fn`` argument, as far as it is known what gives its Dataset.

    ``own`` are the parameters that an Estimator gives it by itself (``params``, ``mode``,
    ``input_context``). ``fixed`` is the `functools.partial` that it is, ``array`` the call over
    arrays. ``drawn`` and ``arrays`` are what it, or the value of its variable, is made of.
    """

    module: Module
    node: ast.expr
    own: tuple[str, ...] = ()
    fixed: ast.Call | None = None
    array: ArrayInput | None = None
    drawn: tuple[DrawnBatch, ...] = ()
    arrays: tuple[ArrayInput, ...] = ()


# -- driving ------------------------------------------------------------------


@record(frozen=True, eq=False)
class Construction(Operation):
    """A call that makes what a driver call is given: a spec, an exporter."""

    node: ast.Call


TRAIN, EVALUATE, PREDICT = "train", "evaluate", "predict"
TRAIN_AND_EVALUATE, EXPORT = "train_and_evaluate", "export"


@record(frozen=True, eq=False)
class DriverCall(Operation):
    """A call that drives a model, by its ``kind`` (``TRAIN``, ``EVALUATE``, ...).

    ``receiver`` is the expression that the model is there. What is trained and what is evaluated
    stands in ``arguments``, or in a spec of each; ``exporters`` are those of the latter.
    """

    node: ast.Call
    receiver: ast.expr
    train_spec: Construction | None = None
    eval_spec: Construction | None = None
    exporters: tuple[Construction, ...] = ()

    @property
    def trains(self) -> bool:
        return self.kind in (TRAIN, TRAIN_AND_EVALUATE)


@record(frozen=True, eq=False)
class Query:
    """An expression that asks a model, or its configuration, for the setting ``kind``.

    Of a model that is its folder (``model_dir``, ``eval_dir``), its ``latest_checkpoint`` or its
    ``global_step``.
    """

    module: Module
    node: ast.expr
    kind: str


@record()
class Driving:
    """What a program does with a model: its driver calls, each list in the order of the code."""

    calls: list[DriverCall] = field(default_factory=list)
    exports: list[DriverCall] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)


# -- steps ----------------------------------------------------------------------


@record(frozen=True, eq=False)
class Placeholder(Operation):
    """What a step is fed: ``name`` is the variable that the author gave it, in ``unit``.

    ``place`` is where that stands among the statements of the scope. ``default`` is what it is
    where nothing is fed. ``count`` is how many there are, where it is a list of them, one for each
    tower. ``computed`` is the part of the graph that it takes the place of where that is fed.
    """

    name: str
    unit: ast.Assign
    place: int
    default: ast.expr | None = None
    count: ast.expr | None = None
    computed: Unit | None = None

    @property
    def sparse(self) -> bool:
        """Whether it is a sparse tensor, which is fed as indices, values and a shape."""
        return self.kind == "sparse_placeholder"


class Collected(enum.Enum):
    """How variables that one statement makes are reached."""

    ONE = enum.auto()  # by the name
    VALUES = enum.auto()  # they are the values of a dictionary
    ITEMS = enum.auto()  # they are the items of a list or tuple
    LAYER = enum.auto()  # they are those of a layer, which has no name yet


@record(frozen=True, eq=False)
class Variables:
    """The variables that a statement makes, known by ``name``; ``made`` are the calls.

    ``listed`` are others that it only puts into a list. ``trainable``: an optimizer that is
    given no list trains them. ``item_of`` are those among which it has the ``key``.
    """

    name: str
    unit: ast.stmt
    collected: Collected
    made: tuple[Operation, ...]
    trainable: bool = True
    listed: tuple[Variables, ...] = ()
    item_of: Variables | None = None
    key: object = None

    @property
    def whole(self) -> Variables:
        """All that the statement makes which makes it."""
        return self.item_of or self


class Combined(enum.Enum):
    """What one gradient is made of those of all towers."""

    MEAN = enum.auto()
    SUM = enum.auto()


class Mover(enum.Enum):
    """Which tower's batches move the averages of batch normalization."""

    FIRST = "first"
    LAST = "last"
    ALL = "all"


class Stage(enum.Enum):
    """When a step computes a unit, in a program of towers."""

    WHOLE = enum.auto()  # once, before the towers
    INPUT = enum.auto()  # what each tower takes of it
    TOWER = enum.auto()  # in each tower
    COMBINED = enum.auto()  # once, of what the towers gave


@record(frozen=True, eq=False)
class Towers:
    """A loop that builds a copy of a model on each of some devices.

    ``device`` is the expression that names a copy's, of the names of the loop. ``index`` is
    the name that counts the copies, if there is one; ``items`` are the names that are an item
    of a sequence in each, with the sequence.
    """

    loop: ast.For
    device: ast.expr
    index: str
    items: tuple[tuple[str, ast.expr], ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names that differ in each copy."""
        return frozenset([self.index, *(name for name, _ in self.items)]) - {""}


@record(frozen=True, eq=False)
class VariableAverages:
    """Averages of all that an update trains, which move after it by ``decay``.

    ``counted``: by a smaller one in the first steps, of what counts the steps. ``ordered``: TF1
    moves them after the update, and not at the same time. ``maker`` is what the program calls the
    object that has them, where something asks it for one.
    """

    node: ast.Call
    decay: ast.expr
    counted: bool
    ordered: bool
    maker: str = ""


@record(frozen=True, eq=False)
class GradientSums:
    """Sums of gradients that several runs add up; each is divided by ``divisor``, if there is one.

    ``variables`` is the list of the sums.
    """

    variables: Variables
    divisor: ast.expr | None = None


@record(frozen=True, eq=False)
class Update:
    """One optimizer's step on a loss, as an operation of its own: ``optimizer.minimize(loss)``.

    ``statement`` makes it, and its ``optimizer`` too unless that has a name of its own
    (``optimizer_name``), as one of several always has; ``unit`` is what computes the ``loss``,
    ``variables`` are those that it depends on, or that it is told to train; ``counts`` is the
    variable that counts the steps (``counts_alone``: one without a name, which nothing reads);
    ``rate`` is the learning rate where steps have one of their own, ``rate_of`` what is fed or
    computes that. ``double_rate``: that is of float64, as the variables are not.
    ``sparse``: a gradient may be one of a table's rows.
    ``clips`` are what happens to the gradients before they are applied. ``moves``: the averages
    of batch normalization move with it, or those of some layers alone (``moved``).
    ``combined``: they are those of all towers, made one; ``tower_clips`` are what happens to each
    tower's before. ``mean``: what is minimized is the mean
    of a tower's ``loss``, which may have a value for each of its rows. ``computed`` is the call
    that computes the gradients, where that is one of its own. ``is_loss``: where it is fetched, it
    gives its loss. ``own_rows`` are the optimizers that change only the rows of a table whose
    gradients they get, where Keras's would change all. ``upstream`` are the gradients that the loss
    is said to have itself, instead of ones, and the unit that computes them. ``given``: nothing is
    differentiated, ``loss`` and ``unit`` are the gradients themselves, such as some that are fed.
    ``sums``: what is applied are sums of gradients, which other steps compute of the loss.
    """

    name: str
    statement: ast.Assign
    optimizer: OptimizerChoice
    optimizer_name: str
    loss: ast.expr
    unit: Unit
    place: int
    variables: tuple[Variables, ...]
    counts: Variables | None = None
    rate: ast.expr | None = None
    rate_of: Placeholder | Unit | Variables | None = None
    sparse: bool = False
    clips: tuple[GradientClip, ...] = ()
    moves: bool = False
    moved: frozenset[Variables] | None = None
    combined: Combined | None = None
    tower_clips: tuple[GradientClip, ...] = ()
    averages: VariableAverages | None = None
    mean: bool = False
    computed: ast.Call | None = None
    is_loss: bool = False
    own_rows: tuple[Optimizer, ...] = ()
    double_rate: bool = False
    counts_alone: bool = False
    upstream: tuple[ast.expr, Unit] | None = None
    given: bool = False
    sums: GradientSums | None = None

    @property
    def made_of(self) -> tuple[Unit, ...]:
        """What computes its loss, what that is differentiated with, its learning rate, and what
        changes gradients."""
        if self.sums is not None:
            return ()
        rates = (self.rate_of,) if isinstance(self.rate_of, Unit) else ()
        changes = (one.unit for one in self.clips if one.unit is not None)
        return (
            self.unit,
            *(() if self.upstream is None else self.upstream[1:]),
            *rates,
            *changes,
        )


@record(frozen=True, eq=False)
class Unit:
    """A statement that builds a part of the graph, and what that is made of.

    ``after`` are the units whose values it takes, ``feeds`` and ``reads`` the placeholders and
    variables that it mentions itself. ``node`` is an expression where it stands at a run alone.
    ``place`` is where it stands among the statements of the scope. ``inputs`` are the parts of
    it that are another unit's value, in which each tower has one of its own. ``first``: only
    the first tower has it. ``collects`` are the variables that it mentions as all that there
    are: other units make them. ``assigns`` are the variables that it gives what it computes.
    ``averages``: it reads moving averages of variables.
    """

    node: ast.stmt | ast.expr
    place: int
    after: tuple[Unit, ...] = ()
    feeds: tuple[Placeholder, ...] = ()
    reads: tuple[Variables, ...] = ()
    sparse: bool = False
    stage: Stage = Stage.WHOLE
    inputs: tuple[tuple[ast.expr, TowerInput], ...] = ()
    first: bool = False
    collects: tuple[Variables, ...] = ()
    assigns: tuple[Variables, ...] = ()
    streams: tuple[Place, ...] = ()
    averages: bool = False


@record(frozen=True, eq=False)
class TowerInput(Unit):
    """What each tower takes of its own, known by ``names``: `x_split[i]`, `X[i * b:(i + 1) * b]`.

    ``item``: it is an item of the sequence that ``node`` is. ``rows``: it has some of the rows
    of one tensor. ``drawn``: it is an element of an iterator, the next one for each tower.
    ``parts``: into how many equal parts those rows are split.
    """

    names: tuple[str, ...] = ()
    item: bool = False
    rows: bool = False
    drawn: bool = False
    parts: ast.expr | None = None


@record(frozen=True, eq=False)
class NamedUnit(Unit):
    """An expression, ``node``, that gets a name: `losses.append(tf.reduce_mean(error))`."""

    name: str = ""


@record(frozen=True, eq=False)
class Gathered(Unit):
    """A list, known by ``name``, of what ``value`` is in each tower."""

    name: str = ""
    value: ast.Name | None = None


@record(frozen=True, eq=False)
class ShownGradients(Unit):
    """The gradients that ``computed`` gives and an update applies, of which summaries tell."""

    computed: ast.Call | None = None


@record(frozen=True, eq=False)
class Step:
    """What runs at once: ``feeds`` come in, ``values`` come out, ``updates`` change variables.

    The values are of before the updates. ``units`` are the statements that make them, in their
    author's order. ``folded`` are placeholders that have one value whenever it runs. ``moves``:
    the averages of batch normalization move as well.
    """

    feeds: tuple[Placeholder, ...]
    values: tuple[ast.expr, ...]
    updates: tuple[Update, ...]
    units: tuple[Unit, ...]
    folded: tuple[tuple[Placeholder, ast.expr], ...] = ()
    moves: bool = False

    @property
    def place(self) -> int:
        """Behind which statement of the scope all is known that it mentions."""
        parts: list[Placeholder | Unit | Update] = [*self.feeds, *self.units, *self.updates]
        return max((one.place for one in parts), default=-1)

    @property
    def acts(self) -> bool:
        """Whether it does more than to read variables."""
        return bool(self.values or self.changes)

    @property
    def changes(self) -> bool:
        """Whether variables have other values behind it."""
        return bool(self.updates or self.moves or any(unit.assigns for unit in self.units))


@record(frozen=True)
class SharedStep:
    """A step by the names that its parts have in the scope that builds the graph.

    ``folded`` are placeholders that have one value whenever it runs: a flag's, or None where that
    is their default.
    """

    fetches: tuple[str, ...]
    feeds: tuple[str, ...]
    folded: tuple[tuple[str, bool | None], ...] = ()


@record(frozen=True)
class SharedGraph:
    """What the programs of several modules want of the graph that the class ``owner`` builds.

    ``steps`` are those of all of them, in one order. ``numbers`` are placeholders without a shape
    that one feeds numbers alone, ``others`` those that one feeds something else. ``taken`` are the
    names that the modules have. ``saved``: some make savers of all its variables themselves.
    """

    owner: str
    steps: tuple[SharedStep, ...] = ()
    numbers: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    saved: bool = False


@record(frozen=True, eq=False)
class Run:
    """A place that runs a step: ``sess.run(...)``, ``loss.eval(...)``, ``train.run(...)``.

    ``fetches`` are what it asks for, in order: a value, a variable (of after the updates), or
    an update, which gives nothing; ``many``: they are a list. ``feeds`` are the placeholders'
    values in their author's order, or ``fed`` is a dictionary of them, known by its name;
    ``picks``: that may have more than the step takes.
    """

    call: ast.Call
    fetches: tuple[Fetch, ...]
    many: bool
    feeds: tuple[tuple[Placeholder, ast.expr], ...]
    fed: ast.Name | None
    step: Step
    picks: bool = False


@record(frozen=True, eq=False)
class Fetch:
    """One thing that a run asks for; ``moves``: that averages move, which gives nothing.

    ``copies``: that variables get the values of others, which is read nowhere. ``also`` are
    updates that one operation runs with ``update``.
    ``variable``: it is read behind the step, as is what a metric is so far (``of_metric``),
    or a value that TF2 computes there, of Python's own ones (``computed``). ``nested``: its value
    is a list of tensors, or another structure of them. ``sparse``: it is a sparse tensor.
    """

    node: ast.expr
    value: ast.expr | None = None
    variable: bool = False
    of_metric: bool = False
    computed: bool = False
    update: Update | None = None
    also: tuple[Update, ...] = ()
    moves: bool = False
    copies: bool = False
    nested: bool = False
    sparse: bool = False

    @property
    def gives(self) -> bool:
        """Whether it has a value that the run gives."""
        return self.value is not None or not (self.update or self.moves or self.copies)


# -- models of Keras's own ------------------------------------------------------


@record(frozen=True, eq=False)
class NamedMetric:
    """A metric that a string names; ``reported`` is what 1.15 calls it in a result."""

    node: ast.expr
    given: str
    reported: str


@record(frozen=True, eq=False)
class Compiled:
    """How a Keras model is compiled: the call, and what it is given.

    ``optimizer`` is None where a string names it. ``elementwise``: the loss compares element
    by element.
    """

    module: Module
    node: ast.Call
    optimizer: Optimizer | None
    loss: ast.expr
    elementwise: bool
    metrics: tuple[NamedMetric, ...] = ()


@record(frozen=True, eq=False)
class KerasModel:
    """A Keras model that the program makes and compiles itself.

    ``value`` is the expression by which it is handed over, ``parts`` are the calls of Keras's
    that it is made of. ``building`` are the statements of the function around ``value`` that
    make one of them, what it is compiled with, or compile it. ``output`` is the name that the layer
    of its output is given; None where it is given none, or that cannot be told. ``is_sequential``:
    it is one layer after the other.
    """

    module: Module
    value: ast.expr
    compiled: Compiled
    parts: tuple[Operation, ...]
    building: tuple[ast.stmt, ...]
    output: str | None = None
    is_sequential: bool = False
