"""A program of one session, read statement by statement: what it builds, and what it runs."""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position, statement_value, walk
from migrate_mgpu.api.graph import INITIALIZES, INITIALIZES_METRICS
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.optimizers import OPTIMIZE_LOSS, OPTIMIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.session.beginnings import BeginningReader
from migrate_mgpu.models.front.session.cells import CellReader
from migrate_mgpu.models.front.session.client_iterators import ClientIteratorReader
from migrate_mgpu.models.front.session.completeness import CompletenessCheck
from migrate_mgpu.models.front.session.device_options import DeviceOptionReader
from migrate_mgpu.models.front.session.driving import DrivingReader
from migrate_mgpu.models.front.session.eager_values import EagerValueReader
from migrate_mgpu.models.front.session.expressions import is_all_variables
from migrate_mgpu.models.front.session.graph_clients import GraphClientReader
from migrate_mgpu.models.front.session.graph_collections import is_update_ops
from migrate_mgpu.models.front.session.graph_exports import GraphExportReader
from migrate_mgpu.models.front.session.graph_owners import GraphOwnerReader
from migrate_mgpu.models.front.session.host_objects import Assignment, SaverCall
from migrate_mgpu.models.front.session.iterators import IteratorReader
from migrate_mgpu.models.front.session.kept_iterators import KeptIteratorReader
from migrate_mgpu.models.front.session.layer_objects import LayerObjectReader
from migrate_mgpu.models.front.session.layer_types import LayerTypeReader
from migrate_mgpu.models.front.session.layers import UnitLayerReader
from migrate_mgpu.models.front.session.metrics import MetricReader
from migrate_mgpu.models.front.session.normalization_averages import AverageReader
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS, PlaceholderReader
from migrate_mgpu.models.front.session.program import (
    GRAPH,
    AllVariables,
    Gradients,
    Host,
    Init,
    NamedInitializer,
    Role,
    SessionProgram,
    is_late,
    targets_of,
    tells_shape,
)
from migrate_mgpu.models.front.session.random_streams import StreamReader
from migrate_mgpu.models.front.session.runs import RunReader, mentions_of
from migrate_mgpu.models.front.session.scope import (
    ADVICE,
    Entry,
    Owner,
    is_method,
    makes_graph,
    resets_between,
)
from migrate_mgpu.models.front.session.scoped_variables import all_of
from migrate_mgpu.models.front.session.shared_steps import graph_of
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.session.units import UnitReader
from migrate_mgpu.models.front.session.updates import UpdateReader
from migrate_mgpu.models.front.session.variable_averages import VariableAverageReader
from migrate_mgpu.models.front.session.variable_copies import VariableCopyReader
from migrate_mgpu.models.front.session.variable_tables import VariableTableReader
from migrate_mgpu.models.front.session.variables import VariableReader
from migrate_mgpu.models.front.towers.loop import is_placed_anew, shares
from migrate_mgpu.models.front.towers.reading import TowerReader
from migrate_mgpu.models.front.towers.summary_names import asks_for_name
from migrate_mgpu.models.ir import (
    Collected,
    OptimizerChoice,
    Placeholder,
    SharedGraph,
    Unit,
    Update,
    Variables,
)

_KEEPS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Pass, ast.Global)

# What may be left out: it builds nothing.
_MAY_NOT_RUN = (Role.HOST, Role.RUN, Role.HOST_OBJECT, Role.GONE)

_SHOWN = 60  # letters of a line that a message has

# What a graph has of all that is in it.
_OF_ALL_GRAPHS = ("get_collection", "add_to_collection", "losses.get_", "get_default_graph")


def read_program(
    module: Module,
    graph: CallGraph,
    configs: AbstractSet[ast.AST] = frozenset(),
    beside: AbstractSet[Module] = frozenset(),
    owner: Owner | None = None,
    shared: SharedGraph | None = None,
    graph_readers: Callable[[SaverCall], list[Module]] = lambda call: [],
) -> SessionProgram:
    """What a module's session program does; ``configs`` are nodes that carry configurations.

    ``beside`` are the program's other modules that speak to TensorFlow, ``owner`` is one of several
    classes, or functions, that build a graph each: what it does is read. ``shared`` is what several
    programs want of the class that builds the graph, this one among them. ``graph_readers`` are
    the modules of other programs that read the graph which a saver writes beside the variables.

    Raises:
        Refused: some statement is not understood.
    """
    state = Reading(module, graph, configs, beside, owner, shared, graph_readers)
    return _Reader(state).read()


# What a shape tells as a number, or numbers, of Python's own.
_SIZES = ("num_elements", "as_list", "ndims")


class _Reader(StatementReader):
    """Asks the reader of each kind of statement, in the order of the statements."""

    def __init__(self, state: Reading) -> None:
        super().__init__(state)
        self.shared_names: dict[str, ast.Global] = {}
        self.options = DeviceOptionReader(state)
        self.clients = GraphClientReader(state)
        self.owners = GraphOwnerReader(state)
        self.cells = CellReader(state)
        self.unit_layers = UnitLayerReader(state, self.cells)
        self.layer_objects = LayerObjectReader(state)
        self.units = UnitReader(state, self.unit_layers)
        self.placeholders = PlaceholderReader(state)
        self.variables = VariableReader(state)
        self.tables = VariableTableReader(state, self.variables, self.units)
        self.averages = AverageReader(state)
        self._made_before = 0  # how many layers and metrics are of graphs before this one
        self.updates = UpdateReader(state, self.units, self.variables, self.averages)
        self.variable_averages = VariableAverageReader(state, self.updates)
        state.runs = RunReader(
            self.scope,
            self.found,
            self.meanings,
            self.units.unit,
            self.origins,
            self.clients.is_client_call,
            self.averages.moved,
        )
        self.driving = DrivingReader(self.found, self.graph, self.runs, self.expressions)
        self.driving.savers.restored = self.variable_averages.restored
        self.clients.driving = self.driving
        self.eager_values = self.clients.eager_values = EagerValueReader(state)
        self.runs.is_eager = self.eager_values.is_eager
        self.runs.comes_later = self.clients.order.comes_later_or_never
        self.runs.are_apart = self.clients.order.are_apart
        self.expressions.takes = self.driving.summaries.takes
        self.copies = VariableCopyReader(
            state, self.updates.scoped, self.variables, self.driving.summaries.takes
        )
        self.updates.sums.takes = self.driving.summaries.takes
        self.metrics = MetricReader(state)
        self.iterators = IteratorReader(state, self.driving.summaries.takes)
        self.clients.iterators = ClientIteratorReader(state, self.iterators, self.eager_values)
        self.clients.kept_iterators = KeptIteratorReader(state, self.iterators)
        state.towers = TowerReader(
            self.found,
            self.graph,
            self.meanings,
            self.units.computed,
            lambda node: self.updates.gradients.read(node),
            self.reuse,
            state.beside,
        )

    def read(self) -> SessionProgram:
        node = self.scope.node
        told = {
            self.names.statement(one) for one in self.state.configs if one in self.names.parents
        }
        self.found.configured = [one for one in told if statement_value(one) in self.state.configs]
        if isinstance(node, ast.FunctionDef):
            if self.owners.several:
                self.owners.check_program()
            elif not self.clients.order.runs_once(node.body[0]):
                if is_method(self.module, node):
                    text = "a method makes its session"
                    raise Refused(self.module, self.scope.session, text, ADVICE)
                if not self.scope.own:
                    text = f"`{node.name}`, which builds the graph, may run more than once"
                    raise Refused(self.module, node, text)
                self.found.several = True
            self._read_globals(node)
        if self.state.others and not self.owners.several:
            self.found.several = True
            self.found.dropped += resets_between(self.module)
        if not self.owners.own_sessions and not self.scope.own:
            self.clients.order.check()
        for place, entry in enumerate(self.scope.entries):
            self.state.place = place
            known = len(self.found.layers)
            role = self._role(entry)
            if entry.conditional and role not in _MAY_NOT_RUN:
                text = "a part of the graph is built under the condition that makes the session"
                raise Refused(self.module, entry.statement, text, "build it above that")
            self.found.roles.append(role)
            for made in [*self.found.layers.values()][known:]:
                self.driving.summaries.in_function(made)
        self._check_conditions()
        self._check_globals()
        self.clients.read()
        for place, entry in enumerate(self.scope.entries):
            if entry.statement in self.found.kept and self.found.roles[place] is Role.GONE:
                self.found.roles[place] = Role.COMPUTED  # something else is kept there
        self._read_shared()
        savers = self.driving.savers
        GraphExportReader(self.state).read(savers.names, savers.is_whole)
        if self.found.several:
            self._check_calls()
        self._check_graphs()
        self.units.collections.finish()
        self.driving.finish()
        self.copies.finish()
        self.updates.sums.finish()
        self.iterators.finish()
        self.variable_averages.finish()
        BeginningReader(self.state).finish()
        # Without variables there is nothing to initialize; constants alone are no step.
        begin = any((self.found.variables, self.found.layers, self.found.metrics))
        early = self.found.runs and not self.runs.initialized
        loops = (one.node for one in self.found.units.values() if isinstance(one.node, ast.For))
        placed = any(is_placed_anew(self.module, loop) for loop in loops)
        if early and (begin or not (self.found.placeholders or placed)):
            text = "something runs before the variables are initialized"
            raise Refused(self.module, self.found.runs[0].call, text)
        self.runs.feeds.finish()
        if self.owners.several:
            self.owners.check_parts()
            self.found.several = True
        self._read_unused()
        complete = CompletenessCheck(self.state, self.units)
        complete.check_mentions()
        self.unit_layers.check_training()
        LayerTypeReader(self.state).read()
        self.averages.check()
        complete.check_captures()
        StreamReader(self.state).check()
        self.placeholders.find_numbers()
        self.found.wanted = graph_of(self.found, self.runs)
        return self.found

    def _read_globals(self, home: ast.FunctionDef) -> None:
        """The names that the function which builds shares with its module.

        Raises:
            Refused: it is a generator, or a function within it changes its names.
        """
        for statement in walk(home):
            own = self.names.scope_at(statement).function() is home
            yields = own and isinstance(statement, (ast.Yield, ast.YieldFrom))
            if yields or isinstance(statement, ast.Nonlocal):
                raise Refused(self.module, statement, "variables of the graph may be global")
            if isinstance(statement, ast.Global):
                self.shared_names.update(dict.fromkeys(statement.names, statement))

    def _check_globals(self) -> None:
        """Names that other functions read have only Python's own values.

        Raises:
            Refused: one may be a part of the graph.
        """
        for entry, role in zip(self.scope.entries, self.found.roles):
            for part in walk(entry.statement) if role not in (Role.HOST, Role.RUN) else ():
                stored = isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
                if isinstance(part, ast.Name) and stored and part.id in self.shared_names:
                    where = self.shared_names[part.id]
                    raise Refused(self.module, where, "variables of the graph may be global")

    def _check_conditions(self) -> None:
        """A step that is written under a condition runs there alone.

        Raises:
            Refused: another place needs it, and it may not be made.
        """
        decides = {one.statement: one for one in self.scope.entries if one.conditional}
        for step in self.found.steps if decides else ():
            if not any(map(is_late, step.units)):
                continue
            places: set[ast.AST | None] = set()
            calls = [run.call for run in self.found.runs if run.step is step]
            for call in calls:
                above = [one for one in (call, *self.names.ancestors(call)) if one in decides]
                places.add(self.names.block(above[0])[0] if above else None)
            if len(places) > 1:
                text = "what is built here runs elsewhere too, and this may not run"
                raise Refused(self.module, calls[0], text, "build it above the condition")

    def _read_shared(self) -> None:
        """The steps that other programs run of the class have their places among its own."""
        for wanted in self.state.shared.steps if self.state.shared is not None else ():
            self.runs.read_shared(wanted)
        if self.state.shared is not None:
            self.found.others_names = self.state.shared.taken
            if self.state.shared.saved and self.found.saved is None:
                self.found.saved = self.driving.savers.whole()
        self.found.shared += (one for one in self.runs.shared if one.acts)
        self.found.steps[:] = dict.fromkeys([*self.found.shared, *self.found.steps])

    def _check_calls(self) -> None:
        """A function that builds a graph at each call keeps that for itself.

        Raises:
            Refused: it gives some of it away, or sets devices, which are in use the second time.
        """
        node = self.found.returned
        if node is not None:
            text = "parts of a graph are returned that each call builds anew"
            raise Refused(self.module, node, text, "run them in the function that builds them")
        configs = (*self.state.configs, *self.found.options, *self.found.below)
        homes = {self.scope.node, self.scope.session_node}
        inside = [one for one in configs if is_inside(self.module, one, homes)]
        if inside:
            first = min(inside, key=position)
            text = "a configuration is made with each of several graphs"
            raise Refused(self.module, first, text, "make it once, at the top of the program")

    def _read_unused(self) -> None:
        """Functions that nothing here calls, where they only compute, or make a variable."""
        modules = [one for one in self.graph.modules if one in self.state.beside]
        if not any(self.module in other.imported for other in self.graph.modules):
            modules.insert(0, self.module)
        for module in modules:
            for node in module.tree.body:
                if isinstance(node, ast.FunctionDef) and node not in self.expressions.functions:
                    self._read_uncalled(Function(module, node))
                for method in node.body if isinstance(node, ast.ClassDef) else ():
                    if isinstance(method, ast.FunctionDef) and self._is_unasked(module, method):
                        self._read_uncalled(Function(module, method))

    def _is_unasked(self, module: Module, method: ast.FunctionDef) -> bool:
        """Whether no code mentions a method, which has nothing to do with its object."""
        if method in self.expressions.functions or not method.args.args:
            return False
        if any(method.name in one.names.attributes for one in self.graph.modules):
            return False
        me, scope = method.args.args[0].arg, module.names.scopes[method]
        return not module.names.mentions(me, scope)

    def _read_uncalled(self, function: Function) -> None:
        names, found = function.module.names, self.found
        mentioned = names.mentions(function.name, names.module_scope)
        if mentioned or self.graph.references(function):
            return
        expressions = self.expressions.of_module(function.module)
        if not expressions.touches_graph(function):
            return
        parts = expressions.tried(function)
        if parts is not None and not parts.layers:
            if self.expressions.tried(function) is not None:
                found.builders.update({**parts.builders, function.node: function})
        elif expressions.makes(function):
            known = list(found.made), dict(found.makers), dict(found.builders)
            try:
                self.variables.maker(function)
            except Refused:  # it stays, and is told
                found.made, found.makers, found.builders = known

    def _check_graphs(self) -> None:
        """Where several graphs are built, each is used by the statements behind it alone.

        Raises:
            Refused: something is known of all graphs together.
        """
        if not self.scope.resets:
            return
        found = self.found
        others = (found.clients, found.savers, found.event_writers, found.merges)
        if any(others) or found.datasets or found.iterators:
            text = "it builds several graphs, and has more than their steps"
            raise Refused(self.module, self.scope.resets[0], text)
        normal = [made for made in found.layers.values() if made.normalizes]
        moves = any(made.in_place or found.moves_averages for made in normal)
        if moves or self.scope.towers:
            text = "it builds several graphs, and moves averages of them, or has towers"
            raise Refused(self.module, self.scope.resets[0], text)
        for use in self.module.uses:
            if use.symbol.name.startswith(_OF_ALL_GRAPHS):
                text = f"it builds several graphs, and asks for `tf.{use.symbol.name}`"
                raise Refused(self.module, use.node, text)
        names = {v.name for v in found.variables} | {p.name for p in found.placeholders}
        for name in self.names.scope_of_name:
            if name.id not in names or self.runs.is_home(name):
                continue
            home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
            if home is self.home and len(self.home.bindings[name.id]) > 1:
                text = f"`{name.id}`, of several graphs, is read inside of a function"
                raise Refused(self.module, name, text, "give it to the function as an argument")

    # -- one statement ----------------------------------------------------------

    def _role(self, entry: Entry) -> Role:
        statement = entry.statement
        if isinstance(statement, (ast.With, ast.Assign)) and statement in self.scope.again:
            self.driving.begins_again(statement)
            if isinstance(statement, ast.Assign):
                return Role.GONE
        if entry.opens:
            if entry.towers is not None and statement is entry.towers.loop:
                self.towers.loop(self.place)
            return Role.GONE if statement in self.scope.blocks else Role.HOST
        options = self.options.read(entry) if entry.towers is None else None
        if options is not None:
            self._bind_host(statement)
            return options
        if makes_graph(self.module, statement) or self.reuse.is_statement(self.module, statement):
            return Role.GONE
        if statement is self.scope.maker or self.towers.begins(statement):
            return Role.GONE
        if statement in self.scope.later:
            return Role.GONE
        if entry.towers is not None:
            return self._of_tower(entry)
        if isinstance(statement, _KEEPS):
            return Role.HOST
        if isinstance(statement, ast.Expr) and shares(self.module, statement):
            if not entry.reuses:
                text = "which variables below are those that there are already"
                raise Refused(self.module, statement, f"it cannot be determined {text}")
            return Role.GONE
        if statement in self.state.configs or statement_value(statement) in self.state.configs:
            self._bind_host(statement)
            return Role.HOST
        if self.tables.read(statement):
            return Role.VARIABLES
        if self._dictionary(statement):
            return self._host(statement)
        if self.driving.summaries.only_graph(statement):
            return Role.GONE
        self.driving.read(statement)
        if self.driving.summaries.stated(statement):
            return Role.UNIT
        exported = self.clients.exports(statement)
        if exported is not None:
            return exported
        if self.iterators.begins(statement):
            return Role.GONE
        if self.clients.returns(statement):
            return Role.HOST
        if self.clients.calls_client(statement) and not self.runs.concerns(statement):
            self.clients.calling.append(statement)
            self._bind_host(statement)
            return Role.HOST
        if self.runs.concerns(statement):
            return self._run(statement)
        chosen = self.updates.chosen(statement)
        if chosen is not None:
            return chosen
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            role = self._assignment(statement, statement.targets[0])
            if role is not None:
                return role
        if self._changes(statement):
            return Role.UNIT
        if self.units.repeats(statement) or self.units.decides(statement):
            unit = self.units.unit(statement, self.place)
            self.meanings.update(dict.fromkeys(targets_of(statement), unit))
            return Role.UNIT
        return self._host(statement)

    def _changes(self, statement: ast.stmt) -> bool:
        """Whether a statement changes a value that it has a name for: `x += 1`, or its shape."""
        told = tells_shape(statement.value) if isinstance(statement, ast.Expr) else None
        changed = told
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            changed = statement.target
            self.units.begins_by_number(statement)
        known = self.meanings.get(changed.id) if changed is not None else None
        if changed is None or not isinstance(known, Unit):
            return False
        unit = self.units.unit(statement, self.place)
        if told is not None:
            self.found.shaped[unit] = known
        self.meanings[changed.id] = unit
        return True

    def _of_tower(self, entry: Entry) -> Role:
        """What a statement of the loop that builds towers is."""
        statement = entry.statement
        if isinstance(statement, ast.Assign) and self.iterators.draws(statement):
            self.towers.draws(entry, self.place)
            return Role.UNIT
        if self.driving.summaries.stated(statement):
            self.towers.alike(statement)
            return Role.UNIT
        if isinstance(statement, ast.Expr) and self._describes(statement.value):
            self.found.described.append(statement)
            return Role.GONE
        role = self.towers.read(entry, self.place)
        if role is None and not self.runs.concerns(statement):
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                role = self._assignment(statement, statement.targets[0])
            elif self._changes(statement):
                role = Role.UNIT
        if role is Role.HOST_OBJECT and any(statement is i.statement for i in self.found.iterators):
            text = "each tower makes an iterator of its own"
            raise Refused(self.module, statement, text, "make a list of them above the towers")
        called = statement.value if isinstance(statement, ast.Expr) else None
        shown = (
            self.graph.target(self.module, called.func) if isinstance(called, ast.Call) else None
        )
        asking = [statement, *([shown.node] if shown is not None else [])]
        if role is None and any(asks_for_name(part) for one in asking for part in walk(one)):
            line = _first_line(self.module, statement)
            text = f"what TF1 calls an operation of the towers cannot be determined: `{line}`"
            raise Refused(self.module, statement, text, "give what it names a constant")
        if role is None:
            line = _first_line(self.module, statement)
            text = f"`{line}`, in the loop over the devices, is not part of a tower"
            raise Refused(self.module, statement, text, "build the towers, and nothing else, in it")
        if role is Role.VARIABLES:
            made = [one for one in self.found.made if is_inside(self.module, one.node, {statement})]
            if entry.first or any(one.kind != "get_variable" for one in made):
                raise Refused(self.module, statement, "a tower has its own variables")
            self.towers.own(statement)
        elif role is Role.OPTIMIZER:
            self.towers.alike(statement)
        elif role is Role.CELLS:
            raise Refused(self.module, statement, "a recurrent cell in a tower")
        for name in mentions_of(self.names, statement, self.home):
            if isinstance(name.ctx, ast.Store):
                self.towers.known.add(name.id)
        return role

    def _run(self, statement: ast.stmt) -> Role:
        role = self.runs.read(statement, self.place)
        if self.clients.calls_client(statement):
            self.clients.calling.append(statement)
        if role is Role.RUN:
            self._bind_host(statement)
        return role

    def _host(self, statement: ast.stmt) -> Role:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Name):
            if self._describes(statement.value):
                self.found.described.append(statement)
                return Role.GONE
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            func = call.func
            if isinstance(func, ast.Attribute) and func.attr == "close" and not call.args:
                if isinstance(func.value, ast.Name) and func.value.id == self.scope.name:
                    return Role.GONE
            if statement in self.scope.resets:
                self._begin_graph(statement)
                return Role.GONE
            if name_of(self.module, call) == "reset_default_graph":
                if self.found.placeholders or self.found.variables or self.found.units:
                    if not self._is_over():
                        raise Refused(self.module, statement, "the graph is reset")
                return Role.GONE
            if self._describes(call):
                self.found.described.append(statement)
                return Role.GONE
        known = self._dictionary(statement)
        for name in mentions_of(self.names, statement, self.home):
            if name in self.runs.known:
                continue
            meaning = self.meanings.get(name.id)
            if isinstance(meaning, GRAPH) and isinstance(name.ctx, ast.Load):
                if known and isinstance(meaning, Placeholder):
                    continue
                if isinstance(meaning, Variables) and self._is_asked_for_shape(name):
                    continue
                text = f"`{name.id}`, a part of the graph, is used outside of `Session.run`"
                raise Refused(self.module, name, text, "run it, and use its value")
            if name.id == self.scope.name and isinstance(name.ctx, ast.Load):
                text = "the session is used for more than `run`"
                raise Refused(self.module, name, text)
        self._settings(statement)
        self._bind_host(statement)
        return Role.HOST

    def _is_over(self) -> bool:
        """Whether nothing below a statement has to do with TensorFlow."""
        below = [entry.statement for entry in self.scope.entries[self.place + 1 :]]
        inside = {part for statement in below for part in walk(statement)}
        if any(use.node in inside for use in self.module.uses):
            return False
        calls = (part for part in inside if isinstance(part, ast.Call))
        touched = (self.expressions.graph.target(self.module, call.func) for call in calls)
        if any(one is not None and self.expressions.touches_graph(one) for one in touched):
            return False
        return not any(map(self.runs.concerns, below)) and not any(
            map(self.clients.calls_client, below)
        )

    def _is_asked_for_shape(self, name: ast.Name) -> bool:
        """Whether a loop goes through variables, and asks each for what Python knows of it.

        `for variable in (w, b): shape = variable.get_shape()`, or `in weights.values()`
        """
        meaning, listed = self.meanings.get(name.id), self.names.parents.get(name)
        if not isinstance(meaning, Variables) or listed is None:
            return False
        if meaning.collected is Collected.VALUES:
            called = isinstance(listed, ast.Attribute) and listed.attr == "values"
            listed = self.names.parents.get(listed) if called else None
        elif meaning.collected is not Collected.ONE or not isinstance(
            listed, (ast.Tuple, ast.List)
        ):
            return False
        loop = self.names.parents.get(listed) if listed is not None else None
        if not isinstance(loop, ast.For):
            return False
        target = loop.target
        if loop.iter is not listed or not isinstance(target, ast.Name):
            return False
        if self.names.only_binding(target) is None:
            return False
        mentions = self.names.mentions(target.id, self.home)
        return all(self._asks_for_size(one) for one in mentions if one is not target)

    def _asks_for_size(self, name: ast.Name) -> bool:
        """`variable.get_shape().num_elements()`, perhaps by a name for the shape.

        Dimensions are numbers in TF2, which have no `value`.
        """
        shape: ast.AST | None = self.names.parents.get(name)
        if isinstance(shape, ast.Attribute) and shape.attr == "get_shape":
            call = self.names.parents.get(shape)
            shape = call if isinstance(call, ast.Call) and call.func is shape else None
        elif not isinstance(shape, ast.Attribute) or shape.attr != "shape":
            return False
        given = self.names.parents.get(shape) if shape is not None else None
        if not isinstance(given, ast.Assign):
            return isinstance(given, ast.Attribute) and given.attr in _SIZES
        target = given.targets[0]
        if len(given.targets) > 1 or not isinstance(target, ast.Name):
            return False
        if self.names.only_binding(target) is None:
            return False
        asked = (self.names.parents.get(one) for one in self.names.mentions(target.id, self.home)
                 if one is not target)  # fmt: skip
        return all(isinstance(one, ast.Attribute) and one.attr in _SIZES for one in asked)

    def _begin_graph(self, reset: ast.stmt) -> None:
        """Behind a reset nothing stands for a part of the graph before.

        Raises:
            Refused: that graph did not run, or has something that is known for one alone.
        """
        made = len(self.found.layers) + len(self.found.metrics)
        new = set(self.found.variables) - self.state.earlier or made > self._made_before
        if (new and not self.runs.initialized) or self.found.savers or self.found.event_writers:
            raise Refused(self.module, reset, "the graph is reset")
        self.runs.begin_graph()
        self._made_before = made
        self.state.earlier.update(self.found.variables)
        for name, meaning in list(self.meanings.items()):
            if not isinstance(meaning, Host):
                del self.meanings[name]

    def _describes(self, call: ast.expr) -> bool:
        """Whether a call prints what some parts of the graph are called, and nothing else.

        Or a cell of a notebook ends with one: `outputs`.
        """
        if isinstance(call, ast.Name):
            return isinstance(self.runs.meaning(call), (Placeholder, Unit, Variables, Gradients))
        if (
            not isinstance(call, ast.Call)
            or self.names.qualname(call.func) != "builtins.print"
            or call.keywords
        ):
            return False
        shown = [_described(part) for part in call.args if not isinstance(part, ast.Constant)]
        return bool(shown) and all(
            isinstance(self.runs.meaning(part), (Placeholder, Unit, Variables, Gradients))
            for part in shown
        )

    def _settings(self, statement: ast.AST) -> None:
        """What a statement of Python's own says to TensorFlow.

        Raises:
            Refused: it speaks of a graph.
        """
        for node in walk(statement):
            if isinstance(node, ast.Call):
                target = self.graph.target(self.module, node.func)
                if target is not None and self.runs.feeds.gives(target):
                    continue
                if target is not None and self.expressions.touches_graph(target):
                    text = f"`{target.name}`, which is called here, uses the graph"
                    raise Refused(self.module, node, text)

    def _dictionary(self, statement: ast.stmt) -> bool:
        """Whether a statement makes a `feed_dict`."""
        return self.runs.feeds.concerns(statement)

    def _bind_host(self, statement: ast.stmt) -> None:
        for name in mentions_of(self.names, statement, self.home):
            if isinstance(name.ctx, (ast.Store, ast.Del)):
                self.meanings[name.id] = Host()

    # -- assignments --------------------------------------------------------------

    def _assignment(self, statement: ast.Assign, target: ast.expr) -> Role | None:
        value = statement.value
        if self.iterators.draws(statement):
            return self.units.assigned(statement, target)
        if self._initializers(target, value) or self._is_alias(target, value):
            return Role.GONE
        several = self.iterators.several(statement, target)
        if several:
            assert isinstance(target, ast.Tuple)
            for one in target.elts:
                assert isinstance(one, ast.Name)
                self.state.only_binding(one)
            self.meanings.update((one.name, one) for one in several)
            return Role.HOST_OBJECT
        if isinstance(target, ast.Name):
            summaries = self.driving.summaries.lists(value, target)
            if summaries is not None:
                self.state.only_binding(target)
                self.meanings[target.id] = summaries
                return Role.GONE
            if isinstance(value, ast.ListComp) and self.scope.towers is not None:
                placeholders = self.placeholders.listed(statement, target)
                if placeholders is not None:
                    return placeholders
                iterators = self.iterators.made(statement, target)
                if iterators is not None:
                    self.state.only_binding(target)
                    self.meanings[target.id] = iterators
                    return Role.HOST_OBJECT
        metric = self.metrics.call(value)
        if metric is not None:
            self.driving.summaries.takes[metric] = self.metrics.takes(metric)
            return self.metrics.read(statement, target, metric, self.units)
        if isinstance(value, ast.Call) and isinstance(target, ast.Name):
            assigned = self.driving.assignments.made(value)
            if assigned is not None and isinstance(assigned.variable, ast.Name):
                return self._assigns(statement, target, assigned, assigned.variable)
        copied = self.updates.sums.made(statement, target)
        copied = copied or self.updates.sums.added(statement, target)
        copied = copied or self.copies.read(statement, target)
        if copied is not None:
            return copied
        fetched = self._is_only_fetched(target, value)
        gradients = None if fetched else self.updates.gradients.assigned(target, value)
        if gradients is not None:
            for name in walk(target):
                if isinstance(name, ast.Name) and name.id in gradients:
                    self.updates.one_graph_name(name)
                elif isinstance(name, ast.Name):
                    self.meanings[name.id] = Host()
            self.meanings.update(gradients)
            return Role.GONE
        if isinstance(target, ast.Name) and self.updates.scoped.word(value) is not None:
            self.state.only_binding(target)
            chosen = self.updates.every_of(value)
            assert chosen is not None
            self.meanings[target.id] = chosen
            return Role.GONE
        word = self.updates.scoped.global_word(value)
        if isinstance(target, ast.Name) and word is not None:
            self.state.only_binding(target)
            every = self.updates.scoped.every_below(value, word)
            all_trained = all(map(self.updates.scoped.is_trained, every.variables))
            self.meanings[target.id] = (
                AllVariables(every.variables, True) if all_trained and not every.slots else every
            )
            return Role.GONE
        if isinstance(target, ast.Name) and isinstance(value, ast.Call):
            role = self._call(statement, target, value)
            if role is not None:
                return role
        if isinstance(target, ast.Name) and isinstance(value, ast.BinOp):
            fed = self.placeholders.taken_place_of(value)
            if fed is not None:
                return self.placeholders.read(statement, target, fed)
        if isinstance(target, ast.Name) and self.variables.begins(target, value):
            self.meanings[target.id] = Host()
            return Role.VARIABLES
        role = self.cells.read(target, value) if isinstance(target, ast.Name) else None
        if role is None and isinstance(target, ast.Name):
            role = self.layer_objects.read(statement, target, value)
        if role is not None:
            return role
        if isinstance(target, ast.Name) and self.variables.makes_variables(value):
            return self.variables.read(statement, target, value)
        listed = self.variables.listed(value) if isinstance(target, ast.Name) else ()
        if listed and isinstance(target, ast.Name):
            self.state.only_binding(target)
            found = Variables(target.id, statement, Collected.ITEMS, (), True, listed)
            self.meanings[target.id] = found
            return Role.VARIABLES
        if not self.units.is_graph(value):
            return None
        if self.eager_values.assigned(statement):
            return Role.COMPUTED
        return self.units.assigned(statement, target)

    def _is_only_fetched(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether runs fetch the gradients that a statement computes, and nothing else has them."""
        if not isinstance(target, ast.Name) or name_of(self.module, value) != "gradients":
            return False
        mentions = [
            one
            for one in self.names.mentions(target.id, self.names.scope_of_name[target])
            if isinstance(one.ctx, ast.Load)
        ]
        return bool(mentions) and all(map(self._is_fetched, mentions))

    def _is_fetched(self, mention: ast.expr) -> bool:
        listed = self.names.parents[mention]
        fetches = listed if isinstance(listed, (ast.List, ast.Tuple)) else mention
        call = self.names.parents[fetches]
        func = call.func if isinstance(call, ast.Call) else None
        runs = isinstance(func, ast.Attribute) and func.attr == "run"
        return isinstance(call, ast.Call) and runs and call.args[:1] == [fetches]

    def _is_alias(self, target: ast.expr, value: ast.expr) -> bool:
        """`train_op = apply_gradient_op`: an update, or all variables, by one more name."""
        value = all_of(value)
        meaning = self.meanings.get(value.id) if isinstance(value, ast.Name) else None
        if not isinstance(target, ast.Name) or not isinstance(meaning, (Update, AllVariables)):
            return False
        self.state.only_binding(target)
        self.meanings[target.id] = meaning
        return True

    def _initializers(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether a statement only gives names to initializers, or regularizers."""
        several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        names = target.elts if several and isinstance(target, ast.Tuple) else [target]
        calls = value.elts if several and isinstance(value, ast.Tuple) else [value]
        if len(names) != len(calls):
            return False
        found: dict[str, NamedInitializer] = {}
        for name, call in zip(names, calls):
            kind = name_of(self.module, call) if isinstance(call, ast.Call) else ""
            if not kind.endswith(("_initializer", "_regularizer")):
                return False
            if kind not in INITIALIZERS.by_name:
                return False
            if not isinstance(name, ast.Name) or not isinstance(call, ast.Call):
                return False
            self.state.only_binding(name)
            self.state.host_only(call, "an initializer or regularizer")
            found[name.id] = NamedInitializer(call)
        self.meanings.update(found)
        return True

    def _assigns(
        self, statement: ast.Assign, target: ast.Name, assigned: Assignment, name: ast.Name
    ) -> Role:
        """`update = tf.assign(rate, new_rate)`: an operation, which some step runs."""
        if self.scope.towers is not None:
            raise Refused(self.module, assigned.call, "a variable is assigned beside the towers")
        variable = self.meanings[name.id]
        assert isinstance(variable, Variables)
        self.driving.summaries.takes[assigned.call] = (assigned.value,)
        role = self.units.assigned(statement, target)
        unit = replaced(self.found.units[self.place], assigns=(variable,))
        self.found.units[self.place] = unit
        if isinstance(self.meanings[target.id], Unit):
            self.state.only_binding(target)
            self.meanings[target.id] = unit
        self.found.assigning[assigned.call] = assigned
        return role

    def _call(self, statement: ast.Assign, target: ast.Name, call: ast.Call) -> Role | None:
        name = name_of(self.module, call)
        if name in PLACEHOLDERS:
            return self.placeholders.read(statement, target, call)
        if name in COUNTERS:
            return self.variables.global_step(statement, target, call)
        if is_update_ops(self.module, call):
            self.meanings[target.id] = self.averages.asked(call)
            return Role.GONE
        if name in INITIALIZES or (name == "group" and self._all_initialize(call)):
            known = tuple(self.found.variables)
            self.meanings[target.id] = Init(name in INITIALIZES_METRICS, known)
            return Role.GONE
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr == "minimize":
            return self.updates.minimize(statement, target, call, func.value)
        if name == OPTIMIZE_LOSS:
            return self.updates.optimize_loss(statement, target, call)
        if isinstance(func, ast.Attribute) and func.attr == "apply_gradients":
            return self.updates.apply(statement, target, call, func.value)
        if is_all_variables(self.module, call):
            self.state.only_binding(target)
            self.meanings[target.id] = self.updates.every()
            return Role.GONE
        if name in OPTIMIZERS.by_name or (name.startswith("train.") and name.endswith("Optimizer")):
            optimizer = OptimizerChoice((self.updates.optimizer(call),))
            self.state.only_binding(target)
            self.meanings[target.id] = optimizer
            self.found.optimizers[statement] = optimizer
            return Role.OPTIMIZER
        averages = self.variable_averages.read(statement, target, call)
        if averages is not None:
            return averages
        if name == "no_op" and not self._is_read(target):
            return Role.GONE
        dataset = self.iterators.made(statement, target)
        if dataset is not None:
            self.meanings[target.id] = dataset
            return Role.HOST_OBJECT
        if self.driving.summaries.named(statement, call):
            if self.eager_values.summarized(statement, call):
                return Role.COMPUTED
            return self.units.assigned(statement, target)
        made = self.driving.made(statement, target, call)
        if made is not None:
            if not self._is_like_before(target):
                self.state.only_binding(target)
            self.meanings[target.id] = made
            return Role.HOST_OBJECT
        return None

    def _is_read(self, target: ast.Name) -> bool:
        mentions = self.names.mentions(target.id, self.home)
        return any(isinstance(one.ctx, ast.Load) for one in mentions)

    def _is_like_before(self, target: ast.Name) -> bool:
        """Whether all that a name is given are writers, or savers in statements of the scope."""
        bindings = self.names.bindings_of(target)
        if self.driving.summaries.are_writers(bindings):
            return True
        own = {entry.statement for entry in self.scope.entries}
        savers = all(
            one.value is not None
            and name_of(self.module, one.value) == "train.Saver"
            and self.names.statement(one.node) in own
            for one in bindings
        )
        return savers and all(map(self.runs.is_home, self.names.mentions(target.id, self.home)))

    def _all_initialize(self, call: ast.Call) -> bool:
        return bool(call.args) and all(
            name_of(self.module, argument) in INITIALIZES for argument in call.args
        )


def _first_line(module: Module, statement: ast.stmt) -> str:
    """How a statement begins, which may stand in a function that the author's line calls."""
    line = module.source.code(statement).split("\n")[0].strip()
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN].rstrip()} ..."


def _described(node: ast.expr) -> ast.expr:
    """What is described by a name or a place: `x.name`, `[x.device for x in parts]`."""
    while isinstance(node, ast.Attribute) and node.attr in ("name", "device", "op"):
        node = node.value
    if not isinstance(node, ast.ListComp) or len(node.generators) > 1:
        return node
    each, shown = node.generators[0], _described(node.elt)
    if each.ifs or shown is node.elt or not isinstance(shown, ast.Name):
        return node
    own = isinstance(each.target, ast.Name) and shown.id == each.target.id
    return each.iter if own else node
