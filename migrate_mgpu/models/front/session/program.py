"""What a session's program is, as facts."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterable, Mapping
from typing import Union, get_args

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES, DRAWS, SAMPLES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.network.functions import Helpers
from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.front.session.host_objects import (
    Assignment,
    Dataset,
    EventWriter,
    GraphExport,
    Iterator,
    IteratorStart,
    Merge,
    NamedVariable,
    OwnIterator,
    Saver,
    SaverCall,
    Summary,
    VariableCopy,
    WriterCall,
)
from migrate_mgpu.models.front.session.nested_values import appended
from migrate_mgpu.models.front.session.scope import Entry, Header, Home, SessionScope
from migrate_mgpu.models.ir import (
    Combined,
    Decoding,
    Gathered,
    GradientClip,
    Metric,
    Mover,
    NamedUnit,
    Operation,
    OptimizerChoice,
    Placeholder,
    Run,
    Schedule,
    SharedGraph,
    ShownGradients,
    Step,
    TowerInput,
    Unit,
    Update,
    Variables,
)


@record(frozen=True, eq=False)
class Init:
    """What gives ``variables`` their first values; ``local``: those of metrics alone."""

    local: bool = False
    variables: tuple[Variables, ...] = ()


@record(eq=False)
class Beginning:
    """A run that gives ``variables`` their first values: ``statement``, at ``place``.

    ``anew``: some have had values, ``session``: in an earlier session. ``keeps`` are those whose
    first values are needed again, ``returns`` those that get theirs again, ``draws`` those that
    get new ones.
    """

    statement: ast.Expr
    place: int
    variables: tuple[Variables, ...]
    anew: bool = False
    session: bool = False
    keeps: list[Variables] = field(default_factory=list)
    returns: list[Variables] = field(default_factory=list)
    draws: list[Variables] = field(default_factory=list)

    @property
    def acts(self) -> bool:
        """Whether TF2 has something to do there."""
        return bool(self.keeps or self.returns or self.draws)


@record(frozen=True, eq=False)
class NamedInitializer:
    """`initializer = tf.random_normal_initializer(0.0, 0.3)`, or a regularizer, for layers.

    Keras's would draw the same values for each of them: each gets one of its own.
    """

    call: ast.Call


@record(frozen=True, eq=False)
class Host:
    """Something of Python's own."""


@record(frozen=True, eq=False)
class Computed:
    """A value that TensorFlow computes of Python's own, where it stands."""


class Holds(enum.Enum):
    """What a list has for each trained variable."""

    VALUES = enum.auto()  # its gradient
    VARIABLES = enum.auto()  # itself
    PAIRS = enum.auto()  # both


@record(frozen=True, eq=False)
class Differentiated:
    """What is differentiated: of towers each one's ``loss``, of which one is made behind them.

    ``mean``: of a tower's loss the mean is, as it may have a value for each row.
    """

    loss: ast.expr
    unit: Unit
    combined: Combined | None = None
    mean: bool = False


@record(frozen=True, eq=False)
class Gradients:
    """Gradients of a loss, as a program keeps them before they are applied.

    ``node`` is the call that computes them, ``var_list`` the variables that it is given, and
    ``optimizer`` the name of the one that computes them, if one does; ``clips`` in order.
    ``listed``: it is the list of those of all towers. ``combined`` is how they were made one,
    ``tower_clips`` what was done with each tower's before. ``upstream`` are the gradients that the
    loss is said to have itself, and the unit that computes them.
    """

    node: ast.Call
    loss: ast.Name
    unit: Unit
    var_list: ast.expr | None
    holds: Holds
    optimizer: str = ""
    clips: tuple[GradientClip, ...] = ()
    listed: bool = False
    mean: bool = False
    combined: Combined | None = None
    tower_clips: tuple[GradientClip, ...] = ()
    upstream: tuple[ast.expr, Unit] | None = None


@record(frozen=True, eq=False)
class GradientNorm:
    """The norm of all gradients, of before they are clipped by it, by its ``name``."""

    name: str


@record(frozen=True, eq=False)
class AllVariables:
    """`tf.trainable_variables()`: all that there are there, or those of a scope (``chosen``)."""

    variables: tuple[Variables, ...]
    chosen: bool = False


@record(frozen=True, eq=False)
class GlobalVariables:
    """`tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, "target")`: some may not be trained.

    ``slots``: those of optimizers are behind them in TF1.
    """

    variables: tuple[Variables, ...]
    slots: bool


@record(frozen=True, eq=False)
class AverageUpdates:
    """What moves the averages of batch normalization: ``call`` asks for UPDATE_OPS.

    ``mover``: those of which towers, where there are some. ``chosen``: those of which layers, where
    a scope says that.
    """

    call: ast.Call
    mover: Mover | None = None
    chosen: frozenset[Variables] | None = None


@record(frozen=True, eq=False)
class Averager:
    """`ema = tf.train.ExponentialMovingAverage(0.999, global_step)`

    ``kept`` is its name, where something asks it for an average.
    """

    call: ast.Call
    decay: ast.expr
    counter: Variables | None
    kept: str = ""


@record(frozen=True, eq=False)
class AverageStep:
    """`ema.apply(tf.trainable_variables())`: moves the averages, ``after`` an update perhaps."""

    averager: Averager
    variables: tuple[Variables, ...]


@record(frozen=True, eq=False)
class AveragedNames:
    """`ema.variables_to_restore()`: the variables, those that train by the names of averages."""

    variables: tuple[Variables, ...]


@record(frozen=True, eq=False)
class PartOfStep:
    """An update that is run as a part of another operation."""


@record(frozen=True, eq=False)
class UpdateGroup:
    """`tf.group(first_op, second_op)`: several updates that run together."""

    updates: tuple[Update, ...]


@record(frozen=True, eq=False)
class RunningMetric:
    """`value, update = tf.metrics.accuracy(labels, predictions)`, by both names.

    ``value`` is empty where nothing reads it.
    """

    value: str
    update: str
    statement: ast.Assign
    metric: Metric


@record(frozen=True, eq=False)
class MetricValue:
    """What a metric is so far: reading it adds nothing to it."""

    metric: RunningMetric


@record(frozen=True, eq=False)
class SummaryList:
    """`summaries = tf.get_collection(tf.GraphKeys.SUMMARIES)`, a list that is merged later.

    ``summaries`` are those in it so far.
    """

    summaries: list[Summary]


@record(frozen=True, eq=False)
class Cells:
    """Recurrent cells, or the zeros that such begin with."""


# What a name of the scope stands for as its statements are read: a part of the graph,
GraphMeaning = Union[
    Placeholder,
    Variables,
    Unit,
    Update,
    OptimizerChoice,
    Gradients,
    GradientNorm,
    AllVariables,
    GlobalVariables,
    AverageUpdates,
    Averager,
    AverageStep,
    AveragedNames,
    PartOfStep,
    UpdateGroup,
    MetricValue,
    Cells,
    Init,
    NamedInitializer,
    SummaryList,
    IteratorStart,
]
HostObject = Union[Saver, EventWriter, Dataset, Iterator]  # what stands around the steps,
Meaning = Union[GraphMeaning, Host, Computed, HostObject]  # or Python's own.
GRAPH: tuple[type, ...] = get_args(GraphMeaning)
HOST_OBJECTS: tuple[type, ...] = get_args(HostObject)


@record(frozen=True, eq=False)
class MadeLayer:
    """A layer that a unit makes and applies: the call, and the variables that it has.

    ``image``: it may be applied to tensors of four dimensions. ``normalizes``: it is batch
    normalization, or a function that has some, which moves its averages ``in_place`` or waits for
    UPDATE_OPS. ``applications`` are the units that
    apply it, with what tells it there whether it trains. ``calls`` are those of the function that
    it stands in, ``bound`` is what that function's parameters are. ``is_object``: the call makes
    it, and has a name by which units apply it.
    """

    found: Found
    variables: Variables
    image: bool
    normalizes: bool
    in_place: bool = False
    applications: list[tuple[ast.AST, ast.expr | None]] = field(default_factory=list)
    calls: list[ast.Call] = field(default_factory=list)
    bound: Mapping[str, ast.expr] = field(default_factory=dict)
    is_object: bool = False


class Role(enum.Enum):
    """What a statement of the scope does."""

    HOST = enum.auto()  # nothing with the graph
    COMPUTED = enum.auto()  # a value of Python's own ones, where it stands
    PLACEHOLDER = enum.auto()
    VARIABLES = enum.auto()
    CELLS = enum.auto()  # recurrent ones
    OPTIMIZER = enum.auto()
    SCHEDULE = enum.auto()  # a learning rate that its optimizer asks for itself
    UPDATE = enum.auto()
    UNIT = enum.auto()  # builds what steps compute
    RUN = enum.auto()
    HOST_OBJECT = enum.auto()  # makes what stands around the steps: a saver
    GONE = enum.auto()  # the session, its blocks, first values: TF2 has none of it


@record(eq=False)
class GraphClient:
    """A module or a function that does not build the graph, and uses it."""

    node: Home
    entries: tuple[Entry, ...]
    blocks: tuple[Header, ...]
    roles: list[Role] = field(default_factory=list)  # of the entries, in order
    runs: list[Run] = field(default_factory=list)  # those that stand in it
    # A function's parameters that are the session or parts of the graph: TF2 gives it the steps
    # that it runs.
    dropped: list[str] = field(default_factory=list)
    takes_parts: bool = False  # some of them are more than the session
    client_calls: list[tuple[ast.Call, GraphClient]] = field(default_factory=list)
    unpacked: list[ast.Assign] = field(default_factory=list)  # they name what the scope returns


@record(frozen=True)
class FedItem:
    """`feed_dict[keep_prob] = 1.0`, or `feed_dict.update({keep_prob: 1.0})`."""

    statement: ast.stmt
    name: ast.Name
    pairs: tuple[tuple[ast.expr, ast.expr], ...]


@record(eq=False)
class SessionProgram:
    """A program that builds one graph and runs steps of it in one session."""

    scope: SessionScope
    roles: list[Role] = field(default_factory=list)  # of the scope's entries, in order

    # What it builds.
    placeholders: list[Placeholder] = field(default_factory=list)
    pipelines: set[ast.AST] = field(default_factory=set)  # functions for datasets alone
    numbers: set[Placeholder] = field(default_factory=set)  # without a shape that is written
    variables: list[Variables] = field(default_factory=list)
    sizes: list[Unit] = field(default_factory=list)  # of tensors, by which variables are shaped
    optimizers: dict[ast.stmt, OptimizerChoice] = field(default_factory=dict)  # those with names
    updates: list[Update] = field(default_factory=list)
    lists: dict[Update, ast.stmt] = field(default_factory=dict)  # they name what some train
    averagers: list[Averager] = field(default_factory=list)  # those that something reads
    units: dict[int, Unit] = field(default_factory=dict)
    layer_types: dict[ast.Call, str | Placeholder] = field(default_factory=dict)
    shaped: dict[Unit, Unit] = field(default_factory=dict)  # of `x.set_shape`: what makes `x`
    idle: list[ast.AST] = field(default_factory=list)  # statements that no step needs
    described: list[ast.stmt] = field(default_factory=list)  # they print what tensors are
    settled: set[ast.AST] = field(default_factory=set)  # branches that a run chooses, once
    made: list[Operation] = field(default_factory=list)
    layers: dict[ast.Call, MadeLayer] = field(default_factory=dict)  # those that units make
    applied: dict[ast.Call, Found] = field(default_factory=dict)  # calls that have those of others
    moves_averages: bool = False  # some step moves those of batch normalization
    mover: Mover | None = None  # by which towers' batches, where there are towers
    # Layers that a step trains without moving their averages.
    frozen: dict[Step, tuple[Variables, ...]] = field(default_factory=dict)
    schedules: dict[ast.Call, tuple[ast.AST, Schedule]] = field(default_factory=dict)  # and units
    own_schedules: set[ast.Call] = field(default_factory=set)  # optimizers ask them themselves
    scopes: dict[ast.AST, str] = field(default_factory=dict)  # TF1's prefixes of names, by calls
    assigning: dict[ast.Call, Assignment] = field(default_factory=dict)  # by those of units
    copies: dict[ast.AST, VariableCopy] = field(default_factory=dict)  # by statements of units
    collected: dict[ast.expr, tuple[Variables, ...]] = field(default_factory=dict)  # by mentions
    count: ast.expr | None = None  # how many towers, where something tells it
    settings: list[ast.AST] = field(default_factory=list)  # mentions of TensorFlow, not of a graph
    # They set options of devices by `tf.config`: before the graph, and below its beginning.
    options: list[ast.stmt] = field(default_factory=list)
    configured: list[ast.stmt] = field(default_factory=list)  # configurations, which go elsewhere
    below: list[ast.stmt] = field(default_factory=list)

    # The author's functions that build.
    builders: dict[ast.AST, Function] = field(default_factory=dict)  # those that compute
    makers: dict[ast.AST, Function] = field(default_factory=dict)  # those that make variables
    captures: dict[ast.AST, list[str]] = field(default_factory=dict)  # tensors that they read
    captured: dict[ast.Call, ast.AST] = field(default_factory=dict)  # calls of such functions
    helpers: dict[ast.AST, Function] = field(default_factory=dict)  # towers alone need them: gone
    layer_helpers: Helpers | None = None  # those that make layers and apply them
    layer_modules: list[Module] = field(default_factory=list)  # other modules with such
    # What it builds there, and mentions of TensorFlow there that this program has no use for.
    read: set[ast.AST] = field(default_factory=set)
    unread: list[tuple[Module, ast.AST]] = field(default_factory=list)

    # What it runs.
    runs: list[Run] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    dictionaries: list[ast.Assign] = field(default_factory=list)  # a `feed_dict` with a name
    fed_items: list[FedItem] = field(default_factory=list)  # such, as they change later
    fed: dict[ast.expr, Placeholder] = field(default_factory=dict)  # by the keys of feeds
    folded: set[ast.expr] = field(default_factory=set)  # values fed that steps know themselves
    dropped: list[ast.stmt] = field(default_factory=list)  # in blocks that only initialize
    rebound: set[ast.AST] = field(
        default_factory=set
    )  # names of parts that are Python's in the end
    before: set[ast.AST] = field(default_factory=set)  # such that were Python's, above them
    assignments: list[Assignment] = field(default_factory=list)  # of Python's own values

    # Other code that uses the graph.
    several: bool = False  # objects of one class have a graph each
    clients: list[GraphClient] = field(default_factory=list)
    client_calls: list[tuple[ast.Call, GraphClient]] = field(default_factory=list)  # by the scope
    returned: ast.Return | None = None  # it gives parts of the graph to who called the scope
    shown: set[ast.expr] = field(default_factory=set)  # what stays of them
    exports: list[ast.stmt] = field(default_factory=list)  # they give parts to an object

    # What it wants of the class that builds, and what several programs want of that: the steps that
    # one of them runs outside of its constructor, and the names that they have.
    wanted: SharedGraph | None = None
    shared: list[Step] = field(default_factory=list)
    others_names: frozenset[str] = frozenset()

    # What stands around the steps.
    savers: list[Saver] = field(default_factory=list)
    saved: Saver | None = None  # its like, where some are made outside of what builds the graph
    saver_calls: list[SaverCall] = field(default_factory=list)
    checkpoint_queries: dict[ast.Call, ast.expr] = field(default_factory=dict)  # with its path
    summaries: list[Summary] = field(default_factory=list)
    merges: dict[ast.Call, Merge] = field(default_factory=dict)
    # The variables of gradients that summaries tell of, by what computes those.
    differentiated: dict[Update, tuple[NamedVariable, ...]] = field(default_factory=dict)
    # The variables of an update, some of which have names that a run makes.
    loop_names: dict[Update, tuple[NamedVariable, ...]] = field(default_factory=dict)
    # Steps whose graphs are written with checkpoints.
    graph_exports: dict[Saver, GraphExport] = field(default_factory=dict)
    computed_summaries: set[Summary] = field(default_factory=set)  # of Python's own values
    summarizing: set[ast.stmt] = field(default_factory=set)  # they give summaries names
    graph_files: list[ast.stmt] = field(default_factory=list)  # they write the graph, no more
    eager: set[Step] = field(default_factory=set)  # they are computed where they are run
    event_writers: list[EventWriter] = field(default_factory=list)
    writer_calls: list[WriterCall] = field(default_factory=list)
    graphs: set[ast.AST] = field(default_factory=set)  # mentions of the graph, for those writers
    datasets: list[Dataset] = field(default_factory=list)
    iterators: list[Iterator] = field(default_factory=list)
    own_iterators: list[OwnIterator] = field(default_factory=list)  # of clients
    metrics: dict[ast.AST, RunningMetric] = field(default_factory=dict)  # by statements
    beginnings: list[Beginning] = field(default_factory=list)  # in the scope, in their order
    metric_resets: list[ast.Expr] = field(default_factory=list)  # they begin all metrics anew
    handed: set[ast.AST] = field(default_factory=set)  # datasets that other code makes for it
    drawn: dict[ast.AST, Iterator] = field(default_factory=dict)  # by what takes the next element
    named_starts: set[ast.stmt] = field(default_factory=set)  # of iterators
    # Statements that begin an iterator anew: steps are given those that they draw from.
    restarts: dict[ast.Expr, IteratorStart] = field(default_factory=dict)
    # Datasets and iterators of the object that methods begin anew: its attributes by the names of
    # its constructor, and what it keeps for that alone, by the statements that had kept a start.
    attributes: dict[str, str] = field(default_factory=dict)
    kept: dict[ast.Assign, list[str]] = field(default_factory=dict)

    def limits_trained(self, unit: Unit, updates: Iterable[Update]) -> bool:
        """Whether a unit limits variables that updates of its step train: behind these, here."""
        copy = self.copies.get(unit.node)
        trained = {v for one in updates for some in one.variables for v in (some, *some.listed)}
        return copy is not None and copy.limits and bool(trained & {*unit.assigns})

    def computed_in(self, step: Step) -> list[Update]:
        """The updates whose gradients a step computes: it need not apply them."""
        own = [one for one in step.updates if one.sums is None]
        return [*own, *(one for one in self.shown_in(step) if one not in own)]

    def shown_in(self, step: Step) -> list[Update]:
        """The updates whose gradients something in a step tells of, or adds to sums."""
        calls = {unit.computed for unit in step.units if isinstance(unit, ShownGradients)}
        return [one for one in self.updates if one.computed in calls]

    def all_client_calls(self) -> list[tuple[ast.Call, GraphClient]]:
        """The calls of clients by the scope and by other clients."""
        return [*self.client_calls, *(call for one in self.clients for call in one.client_calls)]

    def listing(self, name: ast.Name) -> ast.stmt:
        """The statement that gives a name to a list of variables."""
        names = self.scope.module.names
        binding = names.only_binding(name)
        assert binding is not None
        return names.statement(binding.node)

    def restarted(self, units: Iterable[Unit]) -> list[Iterator]:
        """The iterators that some units draw from and that begin anew between steps."""
        drawn = {self.drawn.get(unit.node) for unit in units}
        anew = {start.iterator for start in self.restarts.values()}
        return [one for one in self.iterators if one in anew and one in drawn]

    @property
    def functions(self) -> set[ast.AST]:
        """The scope that builds the graph, and what else runs its steps."""
        return {self.scope.node, *(client.node for client in self.clients)}

    def taken(self, node: ast.AST) -> list[ast.expr]:
        """Expressions of other statements that become a part of one."""
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(value, ast.Call):
            made = self.layers.get(value)
            found = self.applied.get(value) if made is None else made.found
            if found is not None and isinstance(found.layer, Decoding):  # its cell's memory
                told = (found.layer.memory, found.layer.remembered)
                return [one for one in told if one is not None]
        merge = self.merges.get(value) if isinstance(value, ast.Call) else None
        if merge is None:
            return []
        return [value for one in merge.summaries for value in one.taken]


def fed_pairs(value: ast.expr) -> list[tuple[ast.expr, ast.expr | None]]:
    """The keys of a dictionary that a `feed_dict` is, with their values where these are written."""
    if isinstance(value, ast.Dict):
        return [(k, one) for k, one in zip(value.keys, value.values) if k is not None]
    pairs = value.args[0] if isinstance(value, ast.Call) and value.args else None
    keys = pairs.args[0] if isinstance(pairs, ast.Call) else None
    return [(key, None) for key in keys.elts] if isinstance(keys, (ast.List, ast.Tuple)) else []


def closure(units: Iterable[Unit], fed: Iterable[Placeholder] = ()) -> list[Unit]:
    """Some units with all that they are made of, in their author's order.

    ``fed`` are placeholders, some of which may take the place of units.
    """
    found: dict[Unit, None] = {}
    given = {one.computed for one in fed}

    def add(unit: Unit) -> None:
        if unit not in found and unit not in given:
            for other in unit.after:
                add(other)
            found[unit] = None

    for unit in units:
        add(unit)
    return sorted(found, key=lambda unit: unit.place)


def reached(module: Module, unit: Unit) -> set[Variables]:
    """The variables that gradients of a unit reach: those of a layer, or of a list, one by one."""
    found: set[Variables] = set()
    waiting, seen = [unit], {unit}
    while waiting:
        one = waiting.pop()
        value = one.node.value if isinstance(one.node, ast.Assign) else one.node
        if name_of(module, value) == "stop_gradient":
            continue
        found.update(v for some in (*one.reads, *one.collects) for v in (some, *some.listed))
        waiting += (other for other in one.after if other not in seen)
        seen.update(one.after)
    return found


def only_computes(module: Module, unit: Unit) -> bool:
    """Whether a unit has nothing of variables itself, and what it computes is not drawn."""
    if unit.reads or unit.collects or unit.assigns:
        return False
    made = (name_of(module, node) for node in walk(unit.node) if isinstance(node, ast.Call))
    return all(name in COMPUTES - DRAWS - SAMPLES for name in made)


def reads_others(unit: Unit) -> bool:
    """Whether a unit is computed of variables that it does not change itself."""
    return bool({*unit.reads, *unit.collects} - {*unit.assigns})


def is_late(unit: Unit) -> bool:
    """Whether a unit is an expression at the place that runs it, or what is minimized."""
    return isinstance(unit.node, ast.expr) and not isinstance(unit, (TowerInput, NamedUnit))


def given_by(unit: Unit) -> set[str]:
    """The names that a unit gives values to."""
    if isinstance(unit, TowerInput):
        return set(unit.names)
    return {unit.name} if isinstance(unit, (Gathered, NamedUnit)) else targets_of(unit.node)


def targets_of(node: ast.AST) -> set[str]:
    """The names that a statement gives values to."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    elif isinstance(node, (ast.For, ast.If, ast.With)):
        inside = (*node.body, *getattr(node, "orelse", ()))
        return {name for statement in inside for name in targets_of(statement)}
    elif isinstance(node, ast.stmt) and (added := appended(node)) is not None:
        return {added[0]}
    elif isinstance(node, ast.Expr) and (told := tells_shape(node.value)) is not None:
        return {told.id}
    return {p.id for target in targets for p in walk(target) if isinstance(p, ast.Name)}


def tells_shape(node: ast.AST) -> ast.Name | None:
    """The name of a tensor in `image.set_shape([784])`; None for anything else."""
    func = node.func if isinstance(node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr != "set_shape":
        return None
    return func.value if isinstance(func.value, ast.Name) else None
