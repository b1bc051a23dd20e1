"""What a session's program is, as facts."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterable, Mapping
from typing import Union

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.network.functions import Helpers
from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.front.session.attendants import (
    Assignment,
    Dataset,
    EventWriter,
    Iterator,
    Merge,
    Saver,
    SaverCall,
    Summary,
    WriterCall,
)
from migrate_mgpu.models.front.session.scope import Entry, Header, Home, SessionScope
from migrate_mgpu.models.ir import (
    Combined,
    Gathered,
    GradientClip,
    Operation,
    Optimizer,
    Placeholder,
    Run,
    Schedule,
    Step,
    TowerInput,
    Unit,
    Update,
    Variables,
)


@record(frozen=True, eq=False)
class Init:
    """What gives variables their first values."""


@record(frozen=True, eq=False)
class Host:
    """Something of Python's own."""


class Holds(enum.Enum):
    """What a list has for each trained variable."""

    VALUES = enum.auto()  # its gradient
    VARIABLES = enum.auto()  # itself
    PAIRS = enum.auto()  # both


@record(frozen=True, eq=False)
class Gradients:
    """Gradients of a loss, as a program keeps them before they are applied.

    ``node`` is the call that computes them, ``told`` the variables that it is told, and
    ``optimizer`` the name of the one that computes them, if one does; ``clips`` in order.
    ``listed``: it is the list of those of all towers. ``combined`` is how they were made one,
    ``tower_clips`` what was done with each tower's before.
    """

    node: ast.Call
    loss: ast.Name
    unit: Unit
    told: ast.expr | None
    holds: Holds
    optimizer: str = ""
    clips: tuple[GradientClip, ...] = ()
    listed: bool = False
    combined: Combined | None = None
    tower_clips: tuple[GradientClip, ...] = ()


@record(frozen=True, eq=False)
class Every:
    """`tf.trainable_variables()`: all that there are there."""

    variables: tuple[Variables, ...]


@record(frozen=True, eq=False)
class Moves:
    """What moves the averages of batch normalization: the collection UPDATE_OPS."""


# What a name of the scope stands for as its statements are read, and what of it is the graph's.
GRAPH = (Placeholder, Variables, Unit, Update, Optimizer, Gradients, Every, Moves, Init)
Meaning = Union[
    Placeholder,
    Variables,
    Unit,
    Update,
    Optimizer,
    Gradients,
    Every,
    Moves,
    Init,
    Host,
    Saver,
    EventWriter,
    Dataset,
    Iterator,
]
BESIDE = (Saver, EventWriter, Dataset, Iterator)  # what stands around the steps


@record(frozen=True, eq=False)
class MadeLayer:
    """A layer that a unit makes and applies: the call, and the variables that it has.

    ``image``: it may be applied to tensors of four dimensions. ``told`` are the units that apply
    it, with what tells it there whether it trains. ``calls`` are those of the function that it
    stands in, ``bound`` is what that function's parameters are.
    """

    found: Found
    variables: Variables
    image: bool
    told: list[tuple[ast.AST, ast.expr | None]] = field(default_factory=list)
    calls: list[ast.Call] = field(default_factory=list)
    bound: Mapping[str, ast.expr] = field(default_factory=dict)


class Role(enum.Enum):
    """What a statement of the scope does."""

    HOST = enum.auto()  # nothing with the graph
    PLACEHOLDER = enum.auto()
    VARIABLES = enum.auto()
    OPTIMIZER = enum.auto()
    SCHEDULE = enum.auto()  # a learning rate that its optimizer asks for itself
    UPDATE = enum.auto()
    UNIT = enum.auto()  # builds what steps compute
    RUN = enum.auto()
    BESIDE = enum.auto()  # makes what stands around the steps: a saver
    GONE = enum.auto()  # the session, its blocks, first values: TF2 has none of it


@record(eq=False)
class Lane:
    """A module or a function that does not build the graph, and has to do with it.

    ``roles`` are those of its entries, in order; ``runs`` stand in it. ``dropped`` are the
    parameters of a function that are the session or parts of the graph: TF2 gives it the
    steps that it runs. ``given``: some of them are more than the session. ``handed`` are its
    calls of other lanes, ``unpacked`` its statements that name what the scope returns.
    """

    node: Home
    entries: tuple[Entry, ...]
    blocks: tuple[Header, ...]
    roles: list[Role] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    given: bool = False
    handed: list[tuple[ast.Call, Lane]] = field(default_factory=list)
    unpacked: list[ast.Assign] = field(default_factory=list)


@record(eq=False)
class SessionProgram:
    """A program that builds one graph and runs steps of it in one session.

    ``roles`` are those of the scope's entries, in order. ``optimizers`` are those with a name
    of their own; ``dictionaries`` the statements that make a ``feed_dict`` with a name, and
    ``builders`` the author's functions that compute, ``makers`` those that make variables.
    ``layers`` are those that units make, by their calls, in order; ``moving``: some step moves
    averages of theirs; ``folded`` are values in ``dictionaries`` that steps know;
    ``layered`` are functions that make and apply layers; ``beside`` other modules with such.
    ``schedules`` are learning rates that units compute, by their calls, with the units' nodes;
    ``asked`` those that an optimizer asks itself.
    ``scopes`` are what TF1 puts before the names of variables, by their calls;
    ``helpers`` are those that only the graph of several towers needed, and go away.
    ``count`` is how many those are, where something tells it.
    ``idle`` are statements that build what no step runs, ``settings`` mentions of TensorFlow
    that speak of no graph. ``fed`` are the keys of feeds; ``lanes`` other code that has to do
    with the graph, ``handed`` the calls of it in the scope itself, and ``returned`` the
    statement by which that gives parts of the graph away, with ``shown``, what stays in it.
    ``dropped`` are statements in blocks that only initialize variables. ``summarizing`` are those
    that give summaries names, ``graphs`` mentions of the graph for writers of them; ``sought``
    are calls whether a checkpoint is there, with its path.
    """

    scope: SessionScope
    roles: list[Role] = field(default_factory=list)
    placeholders: list[Placeholder] = field(default_factory=list)
    variables: list[Variables] = field(default_factory=list)
    optimizers: dict[str, tuple[ast.Assign, Optimizer]] = field(default_factory=dict)
    updates: list[Update] = field(default_factory=list)
    units: dict[int, Unit] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    dictionaries: list[ast.Assign] = field(default_factory=list)
    builders: dict[ast.AST, Function] = field(default_factory=dict)
    makers: dict[ast.AST, Function] = field(default_factory=dict)
    made: list[Operation] = field(default_factory=list)
    layers: dict[ast.Call, MadeLayer] = field(default_factory=dict)
    moving: bool = False
    folded: set[ast.expr] = field(default_factory=set)
    schedules: dict[ast.Call, tuple[ast.AST, Schedule]] = field(default_factory=dict)
    asked: set[ast.Call] = field(default_factory=set)
    scopes: dict[ast.AST, str] = field(default_factory=dict)
    helpers: dict[ast.AST, Function] = field(default_factory=dict)
    count: ast.expr | None = None
    layered: Helpers | None = None
    beside: list[Module] = field(default_factory=list)
    idle: list[ast.AST] = field(default_factory=list)
    fed: dict[ast.expr, Placeholder] = field(default_factory=dict)
    lanes: list[Lane] = field(default_factory=list)
    handed: list[tuple[ast.Call, Lane]] = field(default_factory=list)
    returned: ast.Return | None = None
    shown: set[ast.expr] = field(default_factory=set)
    settings: list[ast.AST] = field(default_factory=list)
    savers: list[Saver] = field(default_factory=list)
    saver_calls: list[SaverCall] = field(default_factory=list)
    dropped: list[ast.stmt] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    merges: dict[ast.Call, Merge] = field(default_factory=dict)
    summarizing: set[ast.stmt] = field(default_factory=set)
    event_writers: list[EventWriter] = field(default_factory=list)
    writer_calls: list[WriterCall] = field(default_factory=list)
    graphs: set[ast.AST] = field(default_factory=set)
    sought: dict[ast.Call, ast.expr] = field(default_factory=dict)
    assignments: list[Assignment] = field(default_factory=list)
    datasets: list[Dataset] = field(default_factory=list)
    iterators: list[Iterator] = field(default_factory=list)

    def taken(self, node: ast.AST) -> list[ast.expr]:
        """Expressions of other statements that become a part of one."""
        value = node.value if isinstance(node, ast.Assign) else None
        merge = self.merges.get(value) if isinstance(value, ast.Call) else None
        if merge is None:
            return []
        told = [one for one in merge.summaries if one.variable is None]
        return [value for one in told for value in one.values.values()]


def closure(units: Iterable[Unit]) -> list[Unit]:
    """Some units with all that they are made of, in their author's order."""
    found: dict[Unit, None] = {}

    def add(unit: Unit) -> None:
        if unit not in found:
            for other in unit.after:
                add(other)
            found[unit] = None

    for unit in units:
        add(unit)
    return sorted(found, key=lambda unit: unit.place)


def is_late(unit: Unit) -> bool:
    """Whether a unit is an expression at the place that runs it, or what is minimized."""
    return isinstance(unit.node, ast.expr) and not isinstance(unit, TowerInput)


def given_by(unit: Unit) -> set[str]:
    """The names that a unit gives values to."""
    if isinstance(unit, TowerInput):
        return set(unit.names)
    return {unit.name} if isinstance(unit, Gathered) else targets_of(unit.node)


def targets_of(node: ast.AST) -> set[str]:
    """The names that a statement gives values to."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    return {p.id for target in targets for p in ast.walk(target) if isinstance(p, ast.Name)}
