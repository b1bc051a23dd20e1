"""Collections of a graph that the author fills and reads, as lists.

`tf.add_to_collection('losses', decay)` becomes `losses = losses + [decay]`, and functions that it
crosses take and return the list: `logits, losses = inference(images)`. What is collected in a
tower's scope, `tf.get_collection('losses', scope)`, is what the function that asks collected.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import takewhile

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.towers.loop import read_towers
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

CALLS = ("add_to_collection", "get_collection")
NAMED = (*CALLS, "add_to_collections", "get_collection_ref", "get_all_collection_keys")
# What TF1 fills or reads itself. `losses` is one too, where `tf.losses` is used.
OWN = {
    "variables", "trainable_variables", "local_variables", "model_variables", "summaries",
    "queue_runners", "table_initializer", "update_ops", "regularization_losses", "init_op",
    "moving_average_variables", "activations", "weights", "biases", "asset_filepaths", "train_op",
    "global_step", "eval_step", "savers", "cond_context", "while_context", "ready_op", "resources",
    "metric_variables", "local_init_op", "summary_op",
}  # fmt: skip
_LOSSES = ("losses.", "contrib.losses", "contrib.slim", "contrib.layers", "contrib.framework")


_SCOPES = ("name_scope", "variable_scope", "op_scope", "variable_op_scope")


class _Stays(Exception):
    """A collection is used in a way that cannot be analyzed."""


@record(frozen=True, eq=False)
class _Event:
    """A statement that adds to the collection, reads it, or calls a function that does."""

    kind: str  # add, read, call
    call: ast.Call
    statement: ast.stmt
    target: Function | None = None


@fact_of_text
def mentions(module: Module) -> list[ast.Attribute | ast.ImportFrom]:
    """What names a function of collections, and imports of them."""
    if "collection" not in module.source.text:
        return []
    return [
        node
        for node in walk(module.tree)
        if (isinstance(node, ast.Attribute) and node.attr in NAMED)
        or (isinstance(node, ast.ImportFrom) and any(one.name in NAMED for one in node.names))
    ]


def threaded(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one collection; none where it is used in a way that cannot be analyzed."""
    for key, found in by_collection(modules).items():
        for begins in (False, True):
            try:
                return _Threads(modules, graph, key, found).edits(begins)
            except _Stays:
                continue
    return {}


def calls_apart(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """`return dense(dense(x, 8), 2)` of functions that collect: a statement for each call.

    The list that one of them returns is given to the next one then.
    """
    for key, found in by_collection(modules).items():
        try:
            edits = _Threads(modules, graph, key, found).apart()
        except _Stays:
            continue
        if edits:
            return edits
    return {}


def collected(
    modules: Sequence[Module], graph: CallGraph, read: ast.Call
) -> list[tuple[Module, ast.expr]]:
    """What the towers' own read of a collection gives; nothing where that cannot be analyzed."""
    for key, found in by_collection(modules).items():
        if any(call is read for _, call in found):
            try:
                return _Threads(modules, graph, key, found).before(read)
            except _Stays:
                return []
    return []


def by_collection(modules: Sequence[Module]) -> dict[str, list[tuple[Module, ast.Call]]]:
    """The calls that fill or read each collection of the author's; none where one is not known."""
    calls: dict[str, list[tuple[Module, ast.Call]]] = {}
    for module in modules:
        for node in mentions(module):
            call = module.names.parents.get(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                return {}  # an import, say
            named = by_parameter(call, ("name",)).get("name")
            if name_of(module, call) not in CALLS or named is None:
                return {}  # of a graph, say
            key = constant(named)
            if isinstance(key, str):
                calls.setdefault(key, []).append((module, call))
            elif name_of(module, named) in ("", "GraphKeys.LOSSES"):
                return {}
    uses = [use.symbol.name for module in modules for use in module.uses]
    if any(name.startswith(_LOSSES) for name in uses if _collects(name)):
        calls.pop("losses", None)
    return {key: found for key, found in calls.items() if key not in OWN and key.isidentifier()}


def _collects(name: str) -> bool:
    """Whether a function may collect something: what is given to layers does not."""
    return not name.endswith(("_initializer", "_regularizer"))


class _Threads:
    """One collection, through the functions that it crosses."""

    def __init__(
        self,
        modules: Sequence[Module],
        graph: CallGraph,
        key: str,
        calls: list[tuple[Module, ast.Call]],
    ) -> None:
        self.modules = modules
        self.graph = graph
        self.key = key
        self.functions: dict[ast.AST, Function] = {}
        self.own: dict[ast.AST, list[tuple[Module, ast.Call]]] = {}
        for module, call in calls:
            function = self._around(module, call)
            self.own.setdefault(function.node, []).append((module, call))
        self.sites: dict[ast.AST, list[tuple[Module, ast.Call]]] = {}  # the calls of each
        self.written: dict[ast.AST, bool] = {}  # functions, and whether they take the list
        self.found: dict[Module, list[Edit]] = {}

    def apart(self) -> dict[Module, list[Edit]]:
        """The edits that give one call within a statement a name; none where each has its own."""
        self.roots = self._roots()
        roots = {root.node for root in self.roots}
        for node, calls in self.sites.items():
            for module, call in calls if node in self.functions and node not in roots else ():
                around = self.graph.enclosing(module, call)
                if around is not None and around.node in self.functions:
                    edits = self._apart(module, call, self.functions[node])
                    if edits:
                        return {module: edits}
        return {}

    def _apart(self, module: Module, call: ast.Call, target: Function) -> list[Edit]:
        """`f(g(x))`, or `return g(x)`: the value of `g` by a name, where that is computed first."""
        names, source = module.names, module.source
        statement = names.statement(call)
        layout = Layout(source, statement)
        if not isinstance(statement, (ast.Return, ast.Expr, ast.Assign)) or not layout.owns_lines:
            return []
        around = [*takewhile(lambda one: one is not statement, names.ancestors(call))]
        if not around and not isinstance(statement, ast.Return):
            return []
        code = source.code(call)
        if "\n" in code or not all(self._is_first(one, call) for one in around):
            return []
        name = names.fresh(names.scope_at(call), f"{target.name}_1")
        return [layout.insert_before([f"{name} = {code}"]), Edit(*source.span(call), name)]

    def _is_first(self, around: ast.AST, call: ast.Call) -> bool:
        """Whether a call around another one has only constants and names before that."""
        if not isinstance(around, ast.Call) or around.keywords:
            return False
        plain = (ast.Name, ast.Constant, ast.Attribute)
        before = [*takewhile(lambda one: call not in walk(one), around.args)]
        return isinstance(around.func, plain) and all(isinstance(one, plain) for one in before)

    def _follow(self) -> None:
        self.roots = self._roots()
        self.events = {node: self._events(one) for node, one in self.functions.items()}
        homes = [root.module for root in self.roots]
        self.filtered = self._filtered()
        # A tower reads what has its scope: that has nothing that others have collected.
        for root in self.roots if self.filtered is None else ():
            if homes.count(root.module) > 1 and not self._has_graph(root):
                raise _Stays  # one may read what another one has collected

    def before(self, read: ast.Call) -> list[tuple[Module, ast.expr]]:
        """What is collected before a read of a tower's scope, in its order."""
        self._follow()
        if self.filtered is None or read not in self.filtered:
            raise _Stays
        found: list[tuple[Module, ast.expr]] = []
        root = next(one for one in self.roots if self._reads(one))
        for event, path in self._line(root):
            if event.kind == "add":
                added = _added(event.call)
                assert added is not None
                found.append((self.functions[path[-1]].module, added))
            elif event.call is read:
                break
        return found

    def edits(self, begins: bool = False) -> dict[Module, list[Edit]]:
        """``begins``: the list is empty first, and all functions that collect are given it."""
        self._follow()
        self.discarded: set[ast.Call] = set()
        self.adds: set[ast.AST] = set()
        self.returning: dict[ast.AST, bool] = {}  # whether a function returns its list
        lines = {root.node: list(self._line(root)) for root in self.roots}
        for line in lines.values():
            self._order(line)
        if not any(self.returning.values()) and not any(map(self._reads, self.roots)):
            raise _Stays
        for root in self.roots:
            self._write(root, False, begins)
        return self.found

    def _order(self, line: list[tuple[_Event, tuple[ast.AST, ...]]]) -> None:
        """What is read and added below one root, in the order in which the graph is built."""
        reads = [event for event, _ in line if event.kind == "read"]
        self.discarded |= {event.call for event in reads if self._is_discarded(event)}
        for event in reads:
            alone = self.filtered is not None and event.call not in self.filtered
            if alone and event.call not in self.discarded:
                raise _Stays  # it reads what all towers before have collected
        last_read = max(
            (i for i, (event, _) in enumerate(line)
             if event.kind == "read" and event.call not in self.discarded),
            default=-1,
        )  # fmt: skip
        if last_read < 0 and len(self.roots) == 1:
            raise _Stays
        self.adds |= {node for event, path in line if event.kind == "add" for node in path}
        ends = {node: index for index, (_, path) in enumerate(line) for node in path}
        for node, index in ends.items():
            # A root that reads nothing has no use for the lists: functions are as others need them.
            if last_read >= 0 and self.returning.setdefault(node, index < last_read) != (
                index < last_read
            ):
                raise _Stays

    def _reads(self, root: Function) -> bool:
        return any(event.kind == "read" for event in self.events[root.node])

    # -- what there is -----------------------------------------------------------------

    def _around(self, module: Module, node: ast.AST) -> Function:
        found = self.graph.enclosing(module, node)
        if found is None or not isinstance(module.names.parents[found.node], ast.Module):
            raise _Stays
        if not isinstance(found.node, ast.FunctionDef) or found.node.decorator_list:
            raise _Stays
        return self.functions.setdefault(found.node, found)

    def _roots(self) -> list[Function]:
        """The functions in which all is collected and read: each begins with an empty collection.

        There is one, or each builds the graph of a program of its own.
        """
        for _ in range(12):
            for node, function in list(self.functions.items()):
                if node not in self.sites:
                    references = self.graph.references(function)
                    calls = [(o.module, o.call) for o in references if o.call is not None]
                    known = all(module in self.modules for module, _ in calls)
                    if calls and len(calls) == len(references) and known:
                        self.sites[node] = calls
            inner = {
                node
                for node, calls in self.sites.items()
                if all(self._is_within(module, call) for module, call in calls)
                and not self._is_of_towers(self.functions[node])
            }
            tops = [one for node, one in self.functions.items() if node not in inner]
            own = [self._is_of_towers(one) or self._is_alone(one) for one in tops]
            if len(tops) == 1 or (tops and all(own)):
                return tops
            for top in tops:
                if top.node not in self.sites:
                    raise _Stays  # it is called from elsewhere
                if not self._is_of_towers(top) and not self._is_alone(top):
                    for module, call in self.sites[top.node]:
                        self._around(module, call)
        raise _Stays

    def _has_graph(self, root: Function) -> bool:
        """Whether a function collects in a graph of its own: `with tf.Graph().as_default():`"""
        module = root.module

        def makes(item: ast.withitem) -> bool:
            func = item.context_expr.func if isinstance(item.context_expr, ast.Call) else None
            entered = func.value if isinstance(func, ast.Attribute) else None
            return name_of(module, entered) == "Graph"

        return all(
            any(
                makes(item)
                for block in module.names.ancestors(event.call)
                if isinstance(block, ast.With)
                for item in block.items
            )
            for event in self.events[root.node]
        )

    def _is_of_towers(self, function: Function) -> bool:
        """Whether a function is what a loop over devices calls for each tower, and nothing else."""
        calls = self.sites.get(function.node, [])
        for module, call in calls if len(calls) == 1 else ():
            loops = (one for one in module.names.ancestors(call) if isinstance(one, ast.For))
            return any(read_towers(module, one, self.graph) is not None for one in loops)
        return False

    def _is_within(self, module: Module, call: ast.Call) -> bool:
        around = self.graph.enclosing(module, call)
        return around is not None and around.node in self.functions

    def _is_alone(self, function: Function, seen: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a function runs the graph of the program that begins in its module."""
        module = function.module
        parts = (part for part in walk(function.node) if isinstance(part, ast.Call))
        runs = any("Session" in name_of(module, part) for part in parts)
        if function.node in seen or not (seen or runs):
            return False
        references = self.graph.references(function)
        for one in references:
            if one.call is None or one.module is not module:
                return False
            around = self.graph.enclosing(module, one.call)
            if around is None and not self._only_as_program(module, one.call):
                return False
            if around is not None and not self._is_alone(around, seen | {function.node}):
                return False
        calls = calls_of_names(module)
        begins = calls.get("app.run", [])
        return bool(references) or (
            function.name == "main" and all(self._only_as_program(module, one) for one in begins)
        )

    def _only_as_program(self, module: Module, node: ast.AST) -> bool:
        """Whether a statement is executed where its module is the program, and not imported."""
        imported = any(module in other.imported for other in self.modules)
        above = module.names.ancestors(node)
        return not imported or any(isinstance(p, ast.stmt) and is_main_guard(p) for p in above)

    def _events(self, function: Function) -> list[_Event]:
        module, names = function.module, function.module.names
        found: list[_Event] = []
        for home, call in self.own.get(function.node, ()):
            kind = "add" if name_of(home, call) == "add_to_collection" else "read"
            found.append(_Event(kind, call, names.statement(call)))
        roots = {root.node for root in self.roots}
        for node, calls in self.sites.items():
            for home, call in calls if node in self.functions and node not in roots else ():
                around = self.graph.enclosing(home, call)
                if around is not None and around.node is function.node:
                    target = self.functions[node]
                    found.append(_Event("call", call, names.statement(call), target))
        returns = _returns_of(function)
        if function.node not in roots and (
            len(returns) > 1 or any(not self._always(function, one) for one in returns)
        ):
            raise _Stays  # it may end before it has collected all
        found.sort(key=lambda one: (one.call.lineno, one.call.col_offset))
        statements = [one.statement for one in found]
        if len(set(statements)) != len(statements):
            raise _Stays
        for one in found:
            if self.graph.enclosing(module, one.call) != function:
                raise _Stays
            if not self._always(function, one.statement):
                raise _Stays  # it may be collected several times, or not at all
            for parent in names.ancestors(one.call):
                if parent is one.statement:
                    break
                if isinstance(parent, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.IfExp,
                                       ast.BoolOp, ast.SetComp, ast.DictComp)):  # fmt: skip
                    raise _Stays
            if one.kind == "add":
                self._check_addition(module, one)
            elif one.kind == "read" and (one.call.keywords or len(one.call.args) > 2):
                raise _Stays
        return found

    def _always(self, function: Function, statement: ast.stmt) -> bool:
        """Whether a statement is executed once whenever its function is."""
        for parent in function.module.names.ancestors(statement):
            if parent is function.node:
                return True
            if not isinstance(parent, ast.With):
                return False
        return False

    def _check_addition(self, module: Module, event: _Event) -> None:
        """What is added is an operation that the function has made, in the scope it is in."""
        call = event.call
        if not isinstance(event.statement, ast.Expr) or event.statement.value is not call:
            raise _Stays
        value = _added(call)
        if value is None:
            raise _Stays
        made: list[ast.expr | None] = [value]
        if isinstance(value, ast.Name):
            made = [binding.value for binding in module.names.bindings_of(value)]
        for one in made:
            known = name_of(module, one) if isinstance(one, ast.Call) else ""
            computed = known and known not in VARIABLES.by_name and known != "convert_to_tensor"
            if not computed and not isinstance(one, ast.BinOp):
                raise _Stays

    def _filtered(self) -> set[ast.Call] | None:
        """The reads of a tower's scope; None where there are none, and the root runs once."""
        found: set[ast.Call] = set()
        for node, events in self.events.items():
            for event in events:
                if event.kind == "read" and len(event.call.args) == 2:
                    root = next((one for one in self.roots if one.node is node), None)
                    others = (one for one in self.roots if one is not root)
                    if root is None or any(map(self._reads, others)):
                        raise _Stays
                    if not self._is_scope(root, event.call.args[1]):
                        raise _Stays
                    found.add(event.call)
        if found:
            root = next(one for one in self.roots if self._reads(one))
            for node in {node for _, path in self._line(root) for node in path}:
                self._check_scopes(self.functions[node])
            return found
        for root in self.roots:
            if self._has_graph(root) or not self._reads(root):
                continue  # it begins with an empty collection at each call, or reads none
            for reference in self.graph.references(root):
                if not self.graph.runs_once(reference.module, reference.node):
                    raise _Stays
        return None

    def _is_scope(self, root: Function, node: ast.expr) -> bool:
        """Whether a read's scope is the one around the call of the root."""
        calls = self.sites.get(root.node, [])
        if not isinstance(node, ast.Name) or len(calls) != 1:
            return False
        names = root.module.names
        if [one.kind for one in names.bindings_of(node)] != ["parameter"]:
            return False
        module, call = calls[0]
        value = by_parameter(call, root.parameters()).get(node.id)
        if not isinstance(value, ast.Name) or len(module.names.bindings_of(value)) != 1:
            return False
        for parent in module.names.ancestors(call):
            for item in parent.items[::-1] if isinstance(parent, ast.With) else ():
                if name_of(module, item.context_expr) not in _SCOPES:
                    continue
                target, opened = item.optional_vars, item.context_expr
                if not isinstance(target, ast.Name) or target.id != value.id:
                    return False
                if not isinstance(opened, ast.Call) or not opened.args:
                    return False
                told = isinstance(opened.args[0], ast.Constant)  # `None` opens that of the graph
                return not told and name_of(module, opened) == "name_scope"
        return False

    def _check_scopes(self, function: Function) -> None:
        """A scope that is opened in a function lies in the one around: `'/'` would leave it."""
        module = function.module
        for call in (node for node in walk(function.node) if isinstance(node, ast.Call)):
            if name_of(module, call) not in _SCOPES:
                continue
            opened = call.args[0] if call.args else None
            text = constant(opened) if opened is not None else None
            texts = [text] if text is not None else self._given_texts(function, opened)
            inside = all(isinstance(t, str) and t and not t.endswith("/") for t in texts)
            if not (inside and texts) and name_of(module, opened) != "get_variable_scope":
                raise _Stays

    def _given_texts(self, function: Function, node: ast.expr | None) -> list[object]:
        """The texts that all calls give a parameter of a function; None for what is no constant."""
        scope = function.module.names.scopes[function.node]
        if not isinstance(node, ast.Name) or node.id not in function.parameters():
            return []
        if [one.kind for one in scope.bindings[node.id]] != ["parameter"]:
            return []
        found: list[object] = []
        for one in self.graph.references(function):
            given = by_parameter(one.call, function.parameters()) if one.call else {}
            found.append(constant(given.get(node.id)))
        return found

    def _line(
        self, function: Function, path: tuple[ast.AST, ...] = ()
    ) -> Iterator[tuple[_Event, tuple[ast.AST, ...]]]:
        if function.node in path:
            raise _Stays
        path = (*path, function.node)
        for event in self.events[function.node]:
            if event.target is not None:
                yield from self._line(event.target, path)
            else:
                yield event, path

    def _is_discarded(self, event: _Event) -> bool:
        """Whether a read makes the value of a function alone, which its caller does not use."""
        statement = event.statement
        function = next(one for one in self.functions.values() if event in self.events[one.node])
        calls = self.sites.get(function.node, [])
        if not isinstance(statement, ast.Return) or not calls:
            return False
        return all(_is_unused(module, call) for module, call in calls) and all(
            name_of(function.module, inner)
            for inner in walk(statement)
            if isinstance(inner, ast.Call)
        )

    # -- what it becomes ---------------------------------------------------------------

    def _edit(self, module: Module, *edits: Edit) -> None:
        self.found.setdefault(module, []).extend(edits)

    def _returns(self, function: Function) -> bool:
        node, roots = function.node, {root.node for root in self.roots}
        return node not in roots and node in self.adds and self.returning.get(node, False)

    def _name(self, function: Function, events: list[_Event]) -> str:
        """The list's name in a function: the collection's."""
        scope = function.module.names.scopes[function.node]
        named = [one.statement for one in events if self._names_read(one)]
        bindings = scope.bindings.get(self.key, ())
        if all(any(one.node in walk(s) for s in named) for one in bindings):
            if self.key not in function.module.names.module_scope.bindings:
                return self.key
        other = f"collected_{self.key}"
        if other in scope.bindings or other in function.module.names.module_scope.bindings:
            raise _Stays
        return other

    def _names_read(self, event: _Event) -> bool:
        """`losses = tf.get_collection('losses')`"""
        statement = event.statement
        return (
            event.kind == "read"
            and isinstance(statement, ast.Assign)
            and statement.value is event.call
            and [ast.dump(t) for t in statement.targets]
            == [ast.dump(ast.Name(self.key, ast.Store()))]
        )

    def _write(self, function: Function, takes: bool, begins: bool = False) -> None:
        module, source = function.module, function.module.source
        if not module.writable:
            raise _Stays
        if function.node in self.written:
            if self.written[function.node] != takes:
                raise _Stays
            return
        self.written[function.node] = takes
        events = self.events[function.node]
        name = self._name(function, events)
        exists = takes
        returned = False
        if begins and events:
            first = Layout(source, events[0].statement)
            self._edit(module, first.insert_before([f"{name} = []"]))
            exists = True
        for event in events:
            statement, call = event.statement, event.call
            if event.kind == "add":
                added = _added(call)
                assert added is not None
                value = source.code(added)
                text = f"{name} = {name} + [{value}]" if exists else f"{name} = [{value}]"
                self._edit(module, Edit(*source.span(statement), text))
                exists = True
            elif event.call in self.discarded:
                returned = True
                text = f"return {name}" if self._returns(function) else "return"
                self._edit(module, Edit(*source.span(statement), text))
            elif event.kind == "read":
                more = event is not events[-1] or self._returns(function)
                if not exists or (isinstance(statement, ast.Assign) and more):
                    raise _Stays  # TF1 gives a copy, which may change by itself
                layout = Layout(source, statement)
                if self._names_read(event) and name == self.key and layout.owns_lines:
                    self._edit(module, Edit(layout.line_start, layout.next_line, ""))
                else:
                    self._edit(module, Edit(*source.span(call), name))
            else:
                assert event.target is not None
                exists = self._called(function, event, name, exists)
        if self._returns(function) and not returned:
            self._return(function, name)
        if takes:
            arguments = function.node.args
            if arguments.kwonlyargs or arguments.vararg or arguments.kwarg or not arguments.args:
                raise _Stays
            last = arguments.defaults[-1] if arguments.defaults else arguments.args[-1]
            end = source.span(last)[1]
            text = f", *, {name}" if arguments.defaults else f", {name}"
            self._edit(module, Edit(end, end, text))

    def _called(self, function: Function, event: _Event, name: str, exists: bool) -> bool:
        """A call of a function that collects; whether there is a list behind it."""
        module, source = function.module, function.module.source
        target, statement, call = event.target, event.statement, event.call
        assert target is not None
        self._write(target, exists)
        if exists:
            if not call.args and not call.keywords:
                raise _Stays
            last = max((*call.args, *(k.value for k in call.keywords)), key=_position)
            end = source.span(last)[1]
            given = self._name(target, self.events[target.node])
            named = call.keywords or target.node.args.defaults
            text = f", {given}={name}" if named else f", {name}"
            self._edit(module, Edit(end, end, text))
        unused = _is_unused(module, call)
        dropped = any(
            inner.call in self.discarded for inner in self.events[target.node]
        ) or not _gives(target)
        if not self._returns(target):
            return exists
        if isinstance(statement, ast.Expr) and statement.value is call:
            text = f"{name} = " if dropped else f"_, {name} = "
            at = source.span(statement)[0]
            self._edit(module, Edit(at, at, text))
        elif isinstance(statement, ast.Assign) and statement.value is call:
            into = statement.targets[0]
            if len(statement.targets) != 1 or not isinstance(into, ast.Name):
                raise _Stays
            start, end = source.span(into)
            if dropped and unused:
                self._edit(module, Edit(start, end, name))
            elif dropped:
                raise _Stays
            else:
                alone = not any(e.kind == "read" for e in self.events[function.node])
                root = function.node in {one.node for one in self.roots}
                unread = root and alone and len(self.events[function.node]) == 1
                self._edit(module, Edit(end, end, ", _" if unread else f", {name}"))
        else:
            raise _Stays
        return True

    def _return(self, function: Function, name: str) -> None:
        """Its list beside the value of a function."""
        module, source = function.module, function.module.source
        returns = _returns_of(function)
        last = function.node.body[-1]
        if not returns:
            indent = source.indent_of(last)
            end = source.span(last)[1]
            if isinstance(last, (ast.With, ast.If, ast.For, ast.While, ast.Try)):
                raise _Stays
            self._edit(module, Edit(end, end, f"{source.newline}{indent}return {name}"))
            return
        value = returns[0].value
        if len(returns) != 1 or value is None or isinstance(value, ast.Tuple):
            raise _Stays
        if any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in walk(function.node)):
            raise _Stays
        end = source.span(returns[0])[1]
        self._edit(module, Edit(end, end, f", {name}"))


def _added(call: ast.Call) -> ast.expr | None:
    """What a call adds to a collection that it names."""
    given = by_parameter(call, ("name", "value"))
    return given["value"] if given.keys() == {"name", "value"} else None


def _position(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _returns_of(function: Function) -> list[ast.Return]:
    """The ends of a function, and not those of functions within it."""
    return [
        one
        for one in walk(function.node)
        if isinstance(one, ast.Return)
        and next(filter(_is_function, function.module.names.ancestors(one))) is function.node
    ]


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def _gives(function: Function) -> bool:
    """Whether a function has a value."""
    return any(one.value for one in _returns_of(function))


def _is_unused(module: Module, call: ast.Call) -> bool:
    """Whether the value of a call is thrown away: `f()`, `_ = f()`."""
    statement = module.names.parents.get(call)
    if isinstance(statement, ast.Expr):
        return True
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or target.id != "_":
        return False
    scope = module.names.scope_of_name[target]
    return all(isinstance(one.ctx, ast.Store) for one in module.names.mentions("_", scope))
