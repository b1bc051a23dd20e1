"""Expressions that build a graph: what they are made of, and that they do nothing else."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.arguments import Arguments, bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Place, Refused
from migrate_mgpu.analysis.idioms import record_fields
from migrate_mgpu.analysis.modes import MODES, Modes, Value
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, Binding, children, walk
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.api.distributions import DRAWS as DISTRIBUTION_DRAWS
from migrate_mgpu.api.graph import (
    COMPUTES,
    CONTROL,
    DEFINED,
    DRAWS,
    DRAWS_IMAGES,
    OPTIONAL,
    PRINTS,
    ROWS,
    SAMPLES,
    SEED_PLACES,
    SETTINGS,
)
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.losses import LOSSES
from migrate_mgpu.api.queues import QUEUES
from migrate_mgpu.api.recurrent import PAIR_CLASS, cell_of, is_recurrent
from migrate_mgpu.api.searches import RESULTS, search_of
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import AVERAGES, VARIABLES
from migrate_mgpu.core.records import field, record, replaced
from migrate_mgpu.models.front.losses import is_regularization
from migrate_mgpu.models.front.network.layer_objects import is_layer_object
from migrate_mgpu.models.front.network.name_scopes import name_scopes, scope_kind
from migrate_mgpu.models.front.network.variables import function_of
from migrate_mgpu.models.front.optimizers import schedule_at
from migrate_mgpu.models.front.session import distributions
from migrate_mgpu.models.front.session.helper_calls import summaries_in, summarized
from migrate_mgpu.models.front.session.kept_functions import kept_functions
from migrate_mgpu.models.front.session.layer_calls import LayerReader, scope_of
from migrate_mgpu.models.front.session.unknown_calls import unknown_call
from migrate_mgpu.models.ir import Decoding, Schedule
from migrate_mgpu.source.unbound_names import unbound

# Python's own functions that only compute.
_PLAIN = {
    "abs", "bool", "dict", "enumerate", "float", "int", "len", "list", "max", "min", "range",
    "reversed", "round", "sorted", "str", "sum", "tuple", "zip",
}  # fmt: skip
_METHODS = {
    "get_shape", "as_list", "num_elements", "items", "keys", "values", "format", "astype",
    "reshape", "lower", "upper", "startswith", "endswith", "strip", "split", "replace", "join",
    "tolist", "__contains__",
}  # fmt: skip
_MUTATE = {
    "append", "extend", "insert", "pop", "popitem", "remove", "clear", "update", "setdefault",
    "sort", "reverse", "shuffle", "fill", "resize", "put", "add", "discard",
}  # fmt: skip
_MUTATE_GIVEN = {"shuffle", "put", "place", "putmask", "copyto", "fill_diagonal"}
_STATEMENTS = (
    ast.Assign, ast.Return, ast.If, ast.For, ast.With, ast.Expr, ast.AugAssign, ast.Pass, ast.Raise
)  # fmt: skip
_DEEP = 6  # functions that return what others do
_ADVICE = "take it out of the code that builds the graph"


@record(eq=False)
class Parts:
    """What expressions mention: variables of the author's, functions, and kinds of TF1's calls.

    ``rows``: some rows of a table may be looked up, ``gathers`` are calls that look some up.
    ``applied`` are calls of functions that make layers, ``collections`` those that give all
    variables, or all regularization terms. ``objects`` are calls of functions' own empty classes,
    whose objects carry values. ``averages`` are calls that read moving averages of variables.
    """

    names: list[ast.Name] = field(default_factory=list)
    builders: dict[ast.AST, Function] = field(default_factory=dict)
    draws: list[ast.Call] = field(default_factory=list)
    layers: list[ast.Call] = field(default_factory=list)
    applied: list[tuple[ast.Call, Function]] = field(default_factory=list)
    schedules: list[tuple[Schedule, ast.expr]] = field(default_factory=list)
    rows: bool = False
    gathers: list[ast.Call] = field(default_factory=list)
    collections: list[ast.expr] = field(default_factory=list)
    objects: list[ast.expr] = field(default_factory=list)
    streams: list[Place] = field(default_factory=list)
    averages: list[ast.Call] = field(default_factory=list)

    def add(self, other: Parts) -> None:
        self.names += other.names
        self.builders.update(other.builders)
        self.draws += other.draws
        self.streams += other.streams
        self.layers += other.layers
        self.applied += other.applied
        self.schedules += other.schedules
        self.rows |= other.rows or bool(other.gathers)
        self.collections += other.collections
        self.objects += other.objects
        self.averages += other.averages


class Expressions:
    """Looks into the expressions of a module that build its graph."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        layers: LayerReader,
        beside: AbstractSet[Module] = frozenset(),
    ) -> None:
        """``beside`` are the program's other modules, whose functions may build as well."""
        self.module = module
        self.graph = graph
        self.layers = layers
        self.beside = beside
        self._functions: dict[ast.AST, Parts] = {}
        # Calls that only compute for another reason, with the expressions that they take in.
        self.takes: Mapping[ast.Call, tuple[ast.expr, ...]] = {}
        self._others: dict[Module, Expressions] = {module: self}
        self.kept: set[ast.AST] = set()  # functions that objects keep, where they are named
        self.changes: set[ast.AST] = set()  # comprehensions over gradients, which change each

    def of_module(self, module: Module) -> Expressions:
        """The expressions of one of the program's modules."""
        if module not in self._others:
            found = Expressions(module, self.graph, self.layers.of_module(module), self.beside)
            found._functions, found._others = self._functions, self._others
            found.kept = self.kept
            self._others[module] = found
        return self._others[module]

    def _elsewhere(self, parts: Parts) -> Parts:
        """What a function of another module takes, which is all known where that is read.

        Raises:
            Refused: it takes something that may change.
        """
        module = self.module
        for call in parts.draws:
            check_drawn(module, call)
        for name in parts.names:
            home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
            bindings = home.bindings[name.id] if home is not None else []
            if any(binding.kind in ("import", "def", "class") for binding in bindings):
                continue
            if len(bindings) > 1 or (home is not None and changes_in_place(module, name)):
                text = f"`{name.id}` changes, and the graph was built with one of its values"
                raise Refused(module, name, text, "give it to the function as an argument")
        return Parts(
            builders=parts.builders,
            rows=parts.rows or bool(parts.gathers),
            streams=parts.streams,
            averages=parts.averages,
        )

    @property
    def functions(self) -> set[ast.AST]:
        """The author's functions that were looked into."""
        return set(self._functions)

    # -- does it have to do with a graph? -------------------------------------

    def builds(self, node: ast.AST) -> bool:
        """Whether some of TensorFlow's calls, or a function with one, stands in a node."""
        return any(
            self._builds(part) for part in walk(node) if isinstance(part, (ast.Call, ast.Attribute))
        )

    def _builds(self, node: ast.Call | ast.Attribute) -> bool:
        if isinstance(node, ast.Attribute):
            return False
        if name_of(self.module, node):
            return True
        target = self.graph.target(self.module, node.func)
        return target is not None and self.touches_graph(target)

    def touches_graph(self, function: Function, seen: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a function, or one that it calls, mentions TensorFlow."""
        if function.node in seen:
            return False
        module = function.module
        inside = [
            node
            for node in walk(function.node)
            if isinstance(node, (ast.Call, ast.Attribute, ast.Name))
        ]
        for node in inside:
            if isinstance(node, ast.Call):
                target = self.graph.target(module, node.func)
                if target is not None and self.touches_graph(target, seen | {function.node}):
                    return True
            elif not isinstance(module.names.parents.get(node), ast.Attribute):
                known = symbol(module.names.qualname(node))
                if known is not None and known.name and not known.name.startswith(SETTINGS):
                    return True
        return False

    # -- what it is made of ----------------------------------------------------

    def read(self, node: ast.AST, stays: bool = False) -> Parts:
        """The parts of an expression that only computes.

        ``stays``: it is evaluated once, where it stands; Python's own calls may do anything.

        Raises:
            Refused: it does more, or it cannot be determined what it does.
        """
        found = Parts()
        waiting = [node]
        while waiting:
            part = waiting.pop(0)
            if isinstance(part, ast.Call) and part in self.takes:
                waiting += self.takes[part]
                continue
            layer = self.layers.of(part) if isinstance(part, ast.Call) else None
            if layer is not None:
                found.layers.append(layer.call)
                waiting += self.layers.tensors(layer)  # the rest makes it, once
                found.rows |= layer.kind == "Embedding"
                found.rows |= isinstance(layer.layer, Decoding) and layer.layer.help.draws
                if layer.helper is not None:
                    found.add(self.of_layers(layer.helper.function))
                continue
            schedule = schedule_at(self.module, part) if isinstance(part, ast.Call) else None
            if schedule is not None:
                found.schedules.append(schedule)
                waiting.append(schedule[1])
                continue
            if not (stays and isinstance(part, ast.Call) and not self._builds(part)):
                self._part(part, node, found)
            waiting += children(part)
        return found

    def _part(self, node: ast.AST, whole: ast.AST, found: Parts) -> None:
        module = self.module
        if isinstance(node, ast.Call):
            self._call(node, found)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if not self._is_own(node, whole):
                found.names.append(node)
        elif isinstance(node, ast.Attribute):
            self._attribute(node)
        elif isinstance(node, (ast.JoinedStr, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            text = f"`{module.source.code(node)}` is in code that builds the graph"
            raise Refused(module, node, text, _ADVICE)

    def _is_own(self, node: ast.Name, whole: ast.AST) -> bool:
        """Whether a name is that of a comprehension or a lambda in an expression.

        Raises:
            Refused: it is that of one around the expression.
        """
        names = self.module.names
        home = names.defining_scope(node.id, names.scope_of_name[node])
        if home is None or not isinstance(home.node, (*COMPREHENSIONS, ast.Lambda)):
            return False
        if home.node in self.changes:
            return True
        if not any(part is home.node for part in walk(whole)):
            text = f"`{node.id}` has a different value each time this is built"
            raise Refused(self.module, node, text, "build it before, and feed the value")
        return True

    def _attribute(self, node: ast.Attribute) -> None:
        """`tf.float32` and `np.pi` are known; so is what the author's objects have."""
        name = name_of(self.module, node)
        parent = self.module.names.parents.get(node)
        if name and not isinstance(parent, (ast.Attribute, ast.Call)):
            if name in COMPUTES or symbol(self.module.names.qualname(node)) is not None:
                return

    def _call(self, call: ast.Call, found: Parts) -> None:
        module = self.module
        name = name_of(module, call)
        shown = module.source.code(call.func)
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            raise Refused(module, call, f"`{shown}` is given arguments by `*`", "write them out")
        if name:
            if is_all_variables(module, call) or is_regularization(module, call):
                found.collections.append(call)
                return
            if cell_of(module, call) == PAIR_CLASS:
                return
            kinds = (COMPUTES, DRAWS, DRAWS_IMAGES, SAMPLES, DEFINED, CONTROL, LOSSES.by_name)
            if not any(name in one for one in kinds):
                if name in QUEUES:
                    text = f"`{shown}` is of an input queue, which threads of the session fill"
                    advice = "read the same data by tf.data: a Dataset, its map, shuffle and batch"
                    raise Refused(module, call, text, advice)
                if name.startswith(SETTINGS):
                    text = f"`{shown}`, which makes nothing of a graph, stands in a function"
                    advice = "use Python's own modules there: os.path, open, logging, random"
                    raise Refused(module, call, text, advice)
                text = (
                    f"`{shown}` is not among the functions that are known to only compute a value"
                )
                raise Refused(module, call, text)
            self._told(call, name, shown)
            if name in CONTROL:
                self._controlled(call, name, found)
            if name in DRAWS or name in DRAWS_IMAGES or name in SAMPLES:
                found.draws.append(call)
                found.streams += [Place(module, call)] if is_seeded(module, call) else []
            elif name == PRINTS and is_counted(call):
                found.streams.append(Place(module, call))
            found.gathers += [call] if name in ROWS else []
            return
        qualname = module.names.qualname(call.func) or ""
        if qualname.startswith("builtins.") and qualname[len("builtins.") :] in _PLAIN:
            return
        if qualname.startswith("numpy.") and not qualname.startswith("numpy.random"):
            return
        if qualname.startswith("math."):  # takes no tensor
            return
        if qualname == "collections.namedtuple" or record_fields(module, call.func) is not None:
            return  # a tuple whose items have names
        target = self.graph.target(module, call.func)
        search = search_of(module, call)
        if search and target is None:
            self._told(call, search, shown)
            self._unpacked(call, shown)
            self._normalizes_nothing(call, shown)
            return
        ours = target is not None and (target.module is module or target.module in self.beside)
        if target is not None and ours and target.owner is None:
            if any(keyword.arg is None for keyword in call.keywords):
                raise Refused(module, call, f"`{shown}` is given arguments by `**`")
            inside = self.of_function(target)
            if inside.schedules:
                text = f"`{target.name}` makes a schedule"
                raise Refused(module, inside.schedules[0][0].node, text)
            if inside.layers and target.module is not module:
                text = f"`{target.name}` makes layers"
                raise Refused(module, call, text, "put it into the module that builds the graph")
            if inside.layers:
                found.applied.append((call, target))
            found.builders[target.node] = target
            given = bind(call, target)
            read = [one for one in inside.averages if not _is_left_out(one, given)]
            found.add(replaced(inside, layers=[], averages=read))
            return
        if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
            return
        if is_layer_object(module, call.func, self.graph):
            return
        functions = kept_functions(module, call, self.graph)
        if functions:
            self.kept.update(functions)
            return
        if reads_average(module, call, self.graph):
            found.averages.append(call)
            return
        method = distributions.method_of(module, call, self.graph)
        if method:
            found.draws += [call] if method in DISTRIBUTION_DRAWS else []
            return
        if self._never_runs(call):
            return
        raise unknown_call(module, call, self.graph)

    def _told(self, call: ast.Call, name: str, shown: str) -> None:
        """A function that is written out, or decides what runs, is given what it needs.

        Raises:
            Refused: it is given more, or less.
        """
        known = DEFINED[name][0] if name in DEFINED else CONTROL.get(name, ())
        named = {keyword.arg for keyword in call.keywords}
        told = {*known[: len(call.args)], *named}
        more = len(call.args) > len(known) or not named <= {*known, "name"} or "" in told
        if known and more:
            text = f"`{shown}` has arguments for which TF2 has nothing equal"
            raise Refused(self.module, call, text)
        needed = [one for one in known if one not in OPTIONAL.get(name, ())]
        if name in DEFINED and not told >= {*needed}:
            missing = next(one for one in needed if one not in told)
            raise Refused(self.module, call, f"`{shown}` is not given `{missing}`")

    def _normalizes_nothing(self, call: ast.Call, shown: str) -> None:
        """The network that a search asks has no averages, which TF1 does not move in a loop.

        Raises:
            Refused: it normalizes batches.
        """
        for part in (one for one in walk(call) if isinstance(one, ast.Call) and one is not call):
            layer = self.layers.of(part)
            if layer is not None and layer.helper is not None:
                if self.layers.functions.normalizers(layer.helper.function):
                    text = f"`{shown}` asks a network that normalizes batches"
                    raise Refused(self.module, part, text, "let the search ask one that does not")

    def _unpacked(self, call: ast.Call, shown: str) -> None:
        """What a search gives is three values, as the library's later releases had it.

        Raises:
            Refused: it may be two, of an earlier one, which ended in another place.
        """
        parent = self.module.names.parents.get(call)
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
        if not isinstance(target, ast.Tuple) or len(target.elts) != RESULTS:
            text = f"which release of its library `{shown}` is of cannot be determined"
            advice = "write `ids, scores, states = ...`, as the last one gives it"
            raise Refused(self.module, call, text, advice)

    def _never_runs(self, call: ast.Call) -> bool:
        """Whether a function that nothing calls asks for a name that nothing binds.

        It would end there, in TF1 as in TF2.
        """
        name = call.func
        around = self.graph.enclosing(self.module, call)
        if not isinstance(name, ast.Name) or around is None or self.graph.references(around):
            return False
        return name.id in _unbound_in(self.module)

    def _controlled(self, call: ast.Call, name: str, found: Parts) -> None:
        """The author's functions that a call of control flow is given, by their names.

        Raises:
            Refused: TF2 has another value, or it cannot be determined what they do.
        """
        module = self.module
        shown = module.source.code(call.func)
        given = by_parameter(call, CONTROL[name])
        values = given.get("loop_vars")
        several = isinstance(values, (ast.List, ast.Tuple)) and len(values.elts) > 1
        if name == "while_loop" and not several:
            text = f"`{shown}` of one value gives it in TF1, and a list with it in TF2"
            raise Refused(module, call, text, "write `loop_vars` as a list of several values")
        for one in given.values():
            body = one.body if isinstance(one, ast.Lambda) else None
            if isinstance(body, (ast.List, ast.Tuple)) and len(body.elts) < 2:
                text = f"`{shown}` gives the only item of a list in TF1, and the list in TF2"
                raise Refused(module, body, text, "return the item")
            target = self.graph.target(module, one) if isinstance(one, ast.Name) else None
            if target is None:
                continue
            inside = self.of_function(target) if target.module is module else None
            if inside is None or inside.layers or inside.applied or inside.schedules:
                text = f"`{target.name}`, which `{shown}` is given, does more than compute a value"
                raise Refused(module, one, text)
            found.builders[target.node] = target
            found.add(inside)

    # -- functions ---------------------------------------------------------------

    def of_function(self, function: Function) -> Parts:
        """What a function of the author's that only computes takes from outside of it.

        Raises:
            Refused: it does more.
        """
        if function.module is not self.module:
            other = self.of_module(function.module)
            return other._elsewhere(other.of_function(function))
        node = function.node
        if node in self._functions:
            return self._functions[node]
        self._functions[node] = Parts()  # ends recursion
        module, found = self.module, Parts()
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            raise Refused(module, node, f"`{function.name}` is not a plain function")
        described = descriptions(module, node)
        records = _records(node)
        made = [one for one in records if isinstance(one, ast.Assign)]
        found.objects += (one.value for one in made)
        own = {target.id for one in made for target in one.targets if isinstance(target, ast.Name)}
        for statement in statements_of(node.body):
            if self._is_named(statement) or statement in described or statement in records:
                continue
            if not isinstance(statement, _STATEMENTS) or not _is_plain_error(module, statement):
                text = f"`{function.name}` does more than compute a value"
                raise Refused(module, statement, text, _ADVICE)
            if isinstance(statement, ast.With) and scope_of(module, statement) is None:
                text = f"`{function.name}` does more than compute a value"
                raise Refused(module, statement, text, _ADVICE)
            if isinstance(statement, ast.Expr):
                told = _tells_shape(statement.value)
                if told or (_appends(statement.value) and self._is_local(statement.value, node)):
                    assert isinstance(statement.value, ast.Call)
                    for argument in statement.value.args:
                        found.add(self.read(argument))
                elif not isinstance(statement.value, ast.Constant):
                    text = f"`{function.name}` does more than compute a value"
                    raise Refused(module, statement, text, _ADVICE)
                continue
            if isinstance(statement, (ast.Assign, ast.AugAssign)):
                self._targets(statement, own)
            for expression in expressions_of(statement):
                found.add(self.read(expression))
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                found.add(self.read(default))
        for call, _ in found.applied:
            self._refuse_applied(function, call)
        self._refuse_collections(found)
        scope = module.names.scopes[node]
        found.names = [
            name
            for name in found.names
            if module.names.defining_scope(name.id, module.names.scope_of_name[name]) is not scope
        ]
        self._functions[node] = found
        return found

    def tried(self, function: Function) -> Parts | None:
        """The same; None where it does more, and then nothing is known of it."""
        known = dict(self._functions)
        try:
            return self.of_function(function)
        except Refused:
            self._functions.clear()
            self._functions.update(known)
            return None

    def _is_local(self, node: ast.expr, function: ast.FunctionDef) -> bool:
        """Whether the list that a call appends to is written out in a function."""
        func = node.func if isinstance(node, ast.Call) else None
        name = func.value if isinstance(func, ast.Attribute) else None
        if not isinstance(name, ast.Name):
            return False
        bindings = self.module.names.bindings_of(name)
        values = [one.value for one in bindings]
        inside = all(is_inside(self.module, one.node, {function}) for one in bindings)
        return bool(values) and inside and all(isinstance(value, ast.List) for value in values)

    def of_layers(self, function: Function) -> Parts:
        """What a function that makes and applies layers takes from outside of it.

        Raises:
            Refused: it does more.
        """
        if function.module is not self.module:
            other = self.of_module(function.module)
            return other._elsewhere(other.of_layers(function))
        node = function.node
        if node in self._functions:
            return self._functions[node]
        self._functions[node] = Parts()  # ends recursion
        module, found = self.module, Parts()
        assert isinstance(node, ast.FunctionDef)
        if node.decorator_list:
            raise Refused(module, node, f"`{function.name}` is not a plain function")
        text = f"`{function.name}` does more than make and apply layers"
        inner = _Layered(self, function)
        reuse = self.layers.functions.sharing.of(function)
        known: dict[str, Mapping[str, Value]] = {
            name: dict.fromkeys(MODES, False) for name in (reuse.parameters if reuse else ())
        }
        modes = Modes(module, node, known)
        gone = set(walk(reuse.statement)) if reuse and reuse.statement else set()
        gone.update(descriptions(module, node))
        for summary in summaries_in(function):
            if reuse is not None:
                raise Refused(
                    module, summary, "a summary in a function whose calls share variables"
                )
            summarized(function, summary, self.graph)
            gone.add(summary)
        for statement in walk(node):
            if not isinstance(statement, ast.stmt) or statement is node or statement in gone:
                continue
            if isinstance(statement, ast.With):
                name_scopes(module, statement, modes)
                if any(scope_kind(module, item.context_expr) is None for item in statement.items):
                    raise Refused(module, statement, text, _ADVICE)
            elif not isinstance(statement, _STATEMENTS) or not _is_plain_error(module, statement):
                raise Refused(module, statement, text, _ADVICE)
            if isinstance(statement, ast.Expr):
                if not isinstance(statement.value, ast.Constant) and not _appends(statement.value):
                    raise Refused(module, statement, text, _ADVICE)
            if isinstance(statement, ast.Return) and statement.value is not None:
                self._returns(function, statement.value)
            if isinstance(statement, (ast.Assign, ast.AugAssign)):
                self._targets(statement)
            for expression in expressions_of(statement):
                found.add(inner.read(expression))
        scope = module.names.scopes[node]
        found.names = [
            name
            for name in found.names
            if module.names.defining_scope(name.id, module.names.scope_of_name[name]) is not scope
        ]
        found.layers = []
        self._refuse_collections(found)
        self._functions[node] = found
        return found

    def _refuse_collections(self, found: Parts) -> None:
        for call in found.collections:
            text = "a function asks for all that the graph has, which no function of TF2 knows"
            raise Refused(self.module, call, text, "give it to the function as an argument")

    def _refuse_applied(self, function: Function, call: ast.Call) -> None:
        text = f"`{function.name}` calls another function that makes layers"
        raise Refused(self.module, call, text, "call it where the graph is built")

    def _returns(self, function: Function, value: ast.expr) -> None:
        """A variable that is fetched is of after an update, a tensor of before it."""
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
        for part in parts:
            made: ast.expr | None = part
            if isinstance(part, ast.Name):
                values = [binding.value for binding in self.module.names.bindings_of(part)]
                made = next((v for v in values if _is_variable(self.module, v)), None)
            if _is_variable(self.module, made):
                text = f"`{function.name}` returns a variable that it applies as well"
                raise Refused(self.module, part, text, "return what it computes alone")

    def _is_named(self, statement: ast.stmt) -> bool:
        """`with tf.name_scope("layer"):`, in a function that computes.

        A scope of variables is no more where none are made in it.
        """
        if not isinstance(statement, ast.With):
            return False
        calls = [part for part in walk(statement) if isinstance(part, ast.Call)]
        made = any(self.layers.of(call) is not None for call in calls)
        kinds = ("name_scope",) if made else ("name_scope", "variable_scope")
        return all(
            item.optional_vars is None
            and isinstance(item.context_expr, ast.Call)
            and name_of(self.module, item.context_expr) in kinds
            and len(item.context_expr.args) == 1
            and not item.context_expr.keywords
            and (
                isinstance(name := item.context_expr.args[0], ast.Constant)
                or (isinstance(name, ast.Name) and self.module.names.is_parameter(name))
            )
            for item in statement.items
        )

    def _targets(
        self, statement: ast.Assign | ast.AugAssign, records: AbstractSet[str] = frozenset()
    ) -> None:
        """What is assigned is no part of an object but of ``records``, of a function's own."""
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            for part in walk(target):
                if isinstance(part, ast.Attribute) and ast.unparse(part.value) not in records:
                    raise Refused(self.module, statement, "it changes an object", _ADVICE)

    # -- functions that make variables ------------------------------------------

    def makes(self, function: Function) -> bool:
        """Whether a function makes variables itself."""
        return any(
            isinstance(node, ast.Call) and name_of(self.module, node) in VARIABLES.by_name
            for node in walk(function.node)
        )


@fact_of_text
def _unbound_in(module: Module) -> frozenset[str]:
    """The names that a module reads and nothing binds."""
    return unbound(module.source.text)


def _records(function: ast.FunctionDef) -> set[ast.stmt]:
    """The empty classes of a function's own, and the statements that make an object of one.

    `class Record(object): pass`, `result = Record()`
    """
    classes = {
        one.name: one
        for one in function.body
        if isinstance(one, ast.ClassDef)
        and not (one.decorator_list or one.keywords)
        and all(
            isinstance(getattr(part, "value", part), (ast.Pass, ast.Constant)) for part in one.body
        )
    }
    made = (
        one
        for one in function.body
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)
        if isinstance(one.targets[0], ast.Name) and not (one.value.args or one.value.keywords)
        if isinstance(one.value.func, ast.Name) and one.value.func.id in classes
    )
    return {*classes.values(), *made}


class _Layered(Expressions):
    """Looks into a function that makes layers: its weights are layers as well."""

    def _controlled(self, call: ast.Call, name: str, found: Parts) -> None:
        shown = self.module.source.code(call.func)
        text = f"`{self.function.name}` makes layers, and decides what to compute by `{shown}`"
        raise Refused(self.module, call, text, "compute that in a function of its own")

    def __init__(self, outer: Expressions, function: Function) -> None:
        super().__init__(outer.module, outer.graph, outer.layers, outer.beside)
        self._functions, self._others = outer._functions, outer._others
        self.function = function

    def read(self, node: ast.AST, stays: bool = False) -> Parts:
        found = Parts()
        waiting = [node]
        while waiting:
            part = waiting.pop(0)
            if isinstance(part, ast.Call):
                if name_of(self.module, part) in VARIABLES.by_name:
                    continue  # its first value is computed once
                target = self.layers.functions.function(part)
                if target is not None:
                    for summary in summaries_in(target):
                        text = "a summary in a function that another one calls for its layers"
                        raise Refused(target.module, summary, text)
                    found.add(self.of_layers(target))
                    waiting += [*part.args, *(keyword.value for keyword in part.keywords)]
                    continue
                row = LAYERS.by_name.get(name_of(self.module, part))
                if row is not None and row.inputs:
                    found.rows |= row.keras == "Embedding"
                    waiting += [*part.args, *(keyword.value for keyword in part.keywords)]
                    continue
                if _starts_cell(self.module, part):
                    continue  # zeros, of which the network begins by itself
                if is_recurrent(self.module, part) or cell_of(self.module, part):
                    waiting += [*part.args, *(keyword.value for keyword in part.keywords)]
                    continue
                if isinstance(part.func, ast.Name) and self._is_parameter(part.func):
                    waiting += [*part.args, *(keyword.value for keyword in part.keywords)]
                    continue  # an activation, which its callers name
                if _makes_no_tensor(self.module, part):
                    waiting += [*part.args, *(keyword.value for keyword in part.keywords)]
                    continue
            self._part(part, node, found)
            waiting += children(part)
        return found

    def _is_parameter(self, name: ast.Name) -> bool:
        return self.module.names.is_parameter(name)


def descriptions(module: Module, function: ast.AST) -> list[ast.Expr]:
    """The statements of a function that print what tensors are called, and nothing else."""
    if not isinstance(function, ast.FunctionDef):
        return []
    return [
        statement
        for statement in function.body
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and module.names.qualname(statement.value.func) == "builtins.print"
        and not statement.value.keywords
        and any(isinstance(part, ast.Name) for part in statement.value.args)
        and all(
            isinstance(part, ast.Constant) or _is_made_here(module, part, function)
            for part in statement.value.args
        )
    ]


def _is_made_here(module: Module, node: ast.expr, function: ast.FunctionDef) -> bool:
    """Whether a name is given tensors alone, by statements of a function."""
    bindings = module.names.bindings_of(node) if isinstance(node, ast.Name) else []
    return bool(bindings) and all(
        is_inside(module, one.node, {function}) and _gives_tensors(module, one) for one in bindings
    )


def _gives_tensors(module: Module, binding: Binding, deep: int = 0) -> bool:
    statement = module.names.statement(binding.node)
    if not isinstance(statement, ast.Assign) or statement.targets != [binding.node]:
        return False
    return isinstance(statement.value, ast.Call) and _is_tensor(module, statement.value, deep)


def _is_tensor(module: Module, node: ast.expr | None, deep: int) -> bool:
    """Whether an expression of a function gives a tensor, for all that it is given."""
    if isinstance(node, ast.Name):
        bindings = module.names.bindings_of(node)
        return bool(bindings) and all(_gives_tensors(module, one, deep) for one in bindings)
    if not isinstance(node, ast.Call) or deep > _DEEP:
        return False
    name = name_of(module, node)
    known = name in COMPUTES or name in DRAWS or name in LAYERS.by_name
    if known or is_recurrent(module, node):
        return True
    home, function = function_of(module, node)
    if function is not None:  # of the author's, which returns tensors alone
        values = [part.value for part in walk(function) if isinstance(part, ast.Return)]
        return bool(values) and all(_is_tensor(home, value, deep + 1) for value in values)
    # An activation, which a function is given.
    return deep > 0 and isinstance(node.func, ast.Name) and module.names.is_parameter(node.func)


def check_drawn(module: Module, call: ast.Call) -> None:
    """A random operation draws as TF1's does.

    Raises:
        Refused: what it draws depends on its own seed, or on how a table is split.
    """
    name = name_of(module, call)
    if name in DRAWS or name in DRAWS_IMAGES:
        return
    if is_seeded(module, call):
        text = "a random operation with its own seed: TF1 draws its numbers from a separate stream"
        raise Refused(module, call, text)
    if name in SAMPLES and any(one.arg == "partition_strategy" for one in call.keywords):
        raise Refused(module, call, "a table in several parts, in an order of TF1's")


def is_seeded(module: Module, call: ast.Call) -> bool:
    """Whether a random operation has a seed of its own, and so a stream of random numbers."""
    told = [one.value for one in call.keywords if one.arg == "seed"]
    place = SEED_PLACES.get(name_of(module, call))
    if place is not None:
        told += call.args[place : place + 1]
    return not all(map(is_none, told))


def is_counted(call: ast.Call) -> bool:
    """Whether `tf.Print` shows its first values alone: it counts them."""
    first = by_parameter(call, ("input_", "data", "message", "first_n")).get("first_n")
    return first is not None and not is_none(first)


def reads_average(module: Module, call: ast.Call, graph: CallGraph) -> bool:
    """`ema.average(weights)`, of what is made here, or what a function is given by each call."""
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "average":
        return False
    if not isinstance(func.value, ast.Name) or len(call.args) != 1 or call.keywords:
        return False
    if not module.names.is_parameter(func.value):
        return _makes_averages(module, func.value)
    around = (one for one in module.names.ancestors(call) if isinstance(one, ast.FunctionDef))
    function = Function(module, next(around))
    given = [
        (one.module, bind(one.call, function).value(func.value.id) if one.call else None)
        for one in graph.references(function)
    ]
    return bool(given) and all(
        is_none(value) or _makes_averages(where, value) for where, value in given
    )


def _is_left_out(read: ast.Call, given: Arguments) -> bool:
    """Whether a call of a function gives None for the averages that it would read."""
    func = read.func
    assert isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)
    return is_none(given.value(func.value.id))


def _makes_averages(module: Module, node: ast.expr | None) -> bool:
    """Whether a name is given moving averages of variables, and nothing else."""
    value = module.names.only_value(node) if isinstance(node, ast.Name) else None
    return name_of(module, value) == AVERAGES


def _starts_cell(module: Module, call: ast.Call) -> bool:
    """`cell.zero_state(batch_size, tf.float32)`"""
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "zero_state":
        return False
    return bool(cell_of(module, module.names.assigned(func.value)))


def _makes_no_tensor(module: Module, call: ast.Call) -> bool:
    """Whether a call makes an initializer or a regularizer."""
    return name_of(module, call).endswith(("_initializer", "_regularizer"))


def _is_variable(module: Module, node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call) and name_of(module, node) in VARIABLES.by_name


def _appends(node: ast.expr) -> bool:
    """`layers.append(net)`"""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, ast.Name)
    )


def _tells_shape(node: ast.expr) -> bool:
    """`image.set_shape([784])`"""
    func = node.func if isinstance(node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr != "set_shape":
        return False
    value = func.value.value if isinstance(func.value, ast.Attribute) else func.value
    return isinstance(value, ast.Name)


def statements_of(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, and those in their branches, loops and `with` blocks."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.If, ast.For)):
            yield from statements_of(statement.body)
            yield from statements_of(statement.orelse)
        elif isinstance(statement, ast.With):
            yield from statements_of(statement.body)


def is_all_variables(module: Module, node: ast.expr | None) -> bool:
    """`tf.trainable_variables()`"""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return name_of(module, node) == "trainable_variables"


def _is_plain_error(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement raises one of Python's own errors, if it raises any.

    TF1 raises it as the graph is built, TF2 as the step is traced: the program ends either way.
    """
    if not isinstance(statement, ast.Raise):
        return True
    error = statement.exc
    if statement.cause is not None or error is None:
        return False
    if isinstance(error, ast.Call):
        if error.keywords:
            return False
        error = error.func
    qualname = module.names.qualname(error) or ""
    kind = getattr(builtins, qualname.partition("builtins.")[2], None)
    return isinstance(kind, type) and issubclass(kind, Exception)


def expressions_of(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement itself, not those of statements in it."""
    if isinstance(statement, ast.Assign):
        yield statement.value
        yield from (target for target in statement.targets)
    elif isinstance(statement, ast.AugAssign):
        yield statement.value
        yield statement.target
    elif isinstance(statement, ast.Return) and statement.value is not None:
        yield statement.value
    elif isinstance(statement, ast.If):
        yield statement.test
    elif isinstance(statement, ast.For):
        yield statement.iter
    elif isinstance(statement, ast.Raise) and isinstance(statement.exc, ast.Call):
        yield from statement.exc.args
    elif isinstance(statement, ast.Expr) and _appends(statement.value):
        assert isinstance(statement.value, ast.Call)
        yield from statement.value.args


def changes_in_place(module: Module, name: ast.Name) -> list[ast.AST]:
    """Where an object that a name stands for may be changed: places that do more than read."""
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    mentions = names.mentions(name.id, home) if home is not None else ()
    return [found for one in mentions if (found := mutation(module, one)) is not None]


def mutation(module: Module, mention: ast.expr) -> ast.AST | None:
    """Where what an expression stands for is changed in place, if it is there."""
    parents = module.names.parents
    child: ast.AST = mention
    parent = parents.get(child)
    while isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is child:
        if isinstance(parent.ctx, (ast.Store, ast.Del)):
            return parent
        if isinstance(parent, ast.Attribute) and parent.attr in _MUTATE:
            return parent
        child, parent = parent, parents.get(parent)
    if isinstance(parent, ast.Call) and child in parent.args:
        attribute = parent.func
        if isinstance(attribute, ast.Attribute) and attribute.attr in _MUTATE_GIVEN:
            return parent
    if isinstance(parent, ast.AugAssign) and parent.target is child:
        return parent
    return None


def shuffled(module: Module, name: ast.Name) -> ast.AST | None:
    """Where an array that a name of a data set gives may be replaced by a shuffled one.

    `mnist.train.next_batch` does that to `mnist.train.images`, not to `mnist.test.images`.
    """
    names = module.names
    path: list[str] = []
    above = names.parents.get(name)
    while isinstance(above, ast.Attribute):
        path.append(above.attr)
        above = names.parents.get(above)
    home = names.defining_scope(name.id, names.scope_of_name[name])
    for call in names.calls:
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "next_batch":
            continue
        other: list[str] = []
        root = call.func.value
        while isinstance(root, ast.Attribute):
            other.insert(0, root.attr)
            root = root.value
        if isinstance(root, ast.Name) and root.id == name.id:
            if names.defining_scope(root.id, names.scope_of_name[root]) is home:
                length = min(len(path), len(other))
                if path[:length] == other[:length]:
                    return call
                continue
        if path and path[-1] in ("images", "labels"):
            return call  # it may be the same data set by another name
    return None
