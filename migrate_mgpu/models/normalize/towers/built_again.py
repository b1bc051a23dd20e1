"""A network that is built once more behind the towers, for tests, with their variables.

`with tf.variable_scope('net', reuse=True): logits = inference(test_images)`, where each tower calls
`inference` too. The call gets a function of its own, without the summaries and collections that
nobody reads any more; where that stands in the place of the call, `tf.get_variable('weights')` is
the variable that the towers have by the name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.session.scope import scopes_of
from migrate_mgpu.models.front.towers.loop import loops_on_devices, read_towers
from migrate_mgpu.models.normalize.layers.collection_lists import OWN
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout

_ADDS = "add_to_collection"
_VARIABLE = "get_variable"
# What reads summaries and collections, by the last part of its name.
_READS = {
    "get_collection", "get_collection_ref", "get_all_collection_keys", "merge_all",
    "merge_all_summaries", "get_losses", "get_total_loss", "get_regularization_losses",
    "get_regularization_loss", "MonitoredTrainingSession", "MonitoredSession", "Supervisor",
    "SingularMonitoredSession", "Scaffold", "export_meta_graph",
}  # fmt: skip


def apart(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits that give one such call a function of its own; none where there is none."""
    for module, loop, statement in _behind_towers(modules, graph):
        function = _called(module, statement, graph)
        if function is None or not is_reused(module, statement):
            continue
        if function.node not in _reached(module, loop, graph):
            continue
        if not makes_variables(function, graph) or not _leaves(function, graph):
            continue
        if _read_later(module, statement, graph):
            continue
        copies = _Copies(modules, graph)
        call = _call(statement)
        if call is None or not copies.takes(module, call, function):
            continue
        return copies.found
    return {}


def is_built_again(module: Module, statement: ast.stmt, graph: CallGraph) -> bool:
    """Whether a call builds a network behind towers that have its variables."""
    return any(
        one is statement and is_reused(module, one) and _made_in(module, loop)
        for _, loop, one in _behind_towers([module], graph)
    )


def variables_of_towers(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for variables that the towers have already; none where there are none."""
    names, source = module.names, module.source
    found: list[Edit] = []
    for _, loop, statement in _behind_towers([module], graph):
        own = _path(module, statement)
        if own is None or not is_reused(module, statement):
            continue
        made = [one for one in in_line(loop.body) if _path(module, one) == own]
        layout = Layout(source, _whole(module, statement))
        if len(made) != 1 or not layout.owns_lines:
            continue
        target, earlier = _target(statement), _target(made[0])
        assert target is not None and earlier is not None
        home = names.scope_of_name[target]
        several = len(home.bindings[earlier.id]) > 1 or names.scope_of_name[earlier] is not home
        mentions = None if several else _later(module, statement, target)
        if mentions is None:
            continue
        found.append(Edit(layout.line_start, layout.next_line, ""))
        found += [Edit(*source.span(one), earlier.id) for one in mentions]
    return found


def _whole(module: Module, statement: ast.stmt) -> ast.stmt:
    """What goes with a statement: the block that has nothing but it."""
    block = module.names.parents.get(statement)
    alone = isinstance(block, ast.With) and block.body == [statement] and len(block.items) == 1
    return block if alone and isinstance(block, ast.With) else statement


def _later(module: Module, statement: ast.stmt, target: ast.Name) -> list[ast.Name] | None:
    """The mentions of a name that has a statement's value; None where that is not known.

    It may have been another's above, where nothing but this scope reads it.
    """
    names = module.names
    home = names.scope_of_name[target]
    every = [one for one in names.mentions(target.id, home) if one is not target]
    if len(home.bindings[target.id]) == 1:
        return every
    found = [one for one in every if position(one) > position(target)]
    own = all(names.scope_of_name[one] is home for one in every)
    stays = all(isinstance(one.ctx, ast.Load) for one in found)
    return found if own and stays else None


def _behind_towers(
    modules: Sequence[Module], graph: CallGraph
) -> Iterator[tuple[Module, ast.For, ast.stmt]]:
    """The statements behind a loop that builds towers, where all of the graph is built."""
    for module in modules:
        for loop in loops_on_devices(module):
            home = module.names.scope_at(loop).node
            if not isinstance(home, (ast.FunctionDef, ast.Module)):
                continue
            if read_towers(module, loop, graph) is None:
                continue
            for statement in in_line(home.body):
                behind = position(statement) > position(loop)
                if behind and not is_inside(module, statement, {loop}):
                    yield module, loop, statement


def is_reused(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement stands in a block whose variables are there already."""
    for block in module.names.ancestors(statement):
        for item in block.items if isinstance(block, ast.With) else ():
            call = item.context_expr
            for given in call.keywords if isinstance(call, ast.Call) else ():
                told = given.arg == "reuse" and name_of(module, call) == "variable_scope"
                auto = name_of(module, given.value).endswith("AUTO_REUSE")
                if told and (auto or constant(given.value) is True):
                    return True
    return False


def _call(statement: ast.stmt) -> ast.Call | None:
    value = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
    return value if isinstance(value, ast.Call) else None


def _called(module: Module, statement: ast.stmt, graph: CallGraph) -> Function | None:
    call = _call(statement)
    target = graph.target(module, call.func) if call is not None else None
    return target if target is not None and _is_plain(target) else None


def _is_plain(function: Function) -> bool:
    node = function.node
    at_top = node in function.module.tree.body
    return at_top and isinstance(node, ast.FunctionDef) and not node.decorator_list


def _targets(module: Module, node: ast.AST, graph: CallGraph) -> Iterator[Function]:
    for call in (part for part in walk(node) if isinstance(part, ast.Call)):
        target = graph.target(module, call.func)
        if target is not None:
            yield target


def _reached(module: Module, node: ast.AST, graph: CallGraph) -> dict[ast.AST, Function]:
    """The functions that are called below a node, and those that they call."""
    found: dict[ast.AST, Function] = {}
    left = [*_targets(module, node, graph)]
    while left:
        one = left.pop()
        if one.node not in found:
            found[one.node] = one
            left += _targets(one.module, one.node, graph)
    return found


def _made(function: Function, graph: CallGraph) -> set[str]:
    """The functions of TensorFlow's that a function calls, and those that it calls do."""
    parts = [function, *_reached(function.module, function.node, graph).values()]
    return {
        name_of(one.module, part)
        for one in parts
        for part in walk(one.node)
        if isinstance(part, ast.Call)
    }


def makes_variables(function: Function, graph: CallGraph) -> bool:
    return _VARIABLE in _made(function, graph)


def _leaves(function: Function, graph: CallGraph) -> bool:
    """Whether a function leaves summaries or collections in the graph."""
    made = _made(function, graph)
    return any(name == _ADDS or name.startswith("summary.") for name in made)


def _read_later(module: Module, statement: ast.stmt, graph: CallGraph) -> bool:
    """Whether something behind a statement may read summaries or collections.

    Or what calls the function that it stands in, before or behind that.
    """
    home = module.names.scope_at(statement).node
    assert isinstance(home, (ast.FunctionDef, ast.Module))
    later = [
        one
        for one in walk(home)
        if isinstance(one, ast.stmt) and position(one) > position(statement)
    ]
    nodes: list[tuple[Module, ast.AST]] = [(module, one) for one in later]
    callers = [Function(module, home)] if isinstance(home, ast.FunctionDef) else []
    inside: set[ast.AST] = {home}
    while callers:
        for reference in graph.references(callers.pop()):
            around = graph.enclosing(reference.module, reference.node)
            if around is None:
                nodes += [(reference.module, one) for one in _of_module(reference.module)]
            elif around.node not in inside:
                inside.add(around.node)
                callers.append(around)
                nodes.append((around.module, around.node))
    seen: set[ast.AST] = {home}
    while nodes:
        owner, node = nodes.pop()
        for part in walk(node):
            if isinstance(part, (ast.Attribute, ast.Name)) and _last(part) in _READS:
                return True
        for target in _targets(owner, node, graph):
            if target.node not in seen:
                seen.add(target.node)
                nodes.append((target.module, target.node))
    return False


def _of_module(module: Module) -> list[ast.stmt]:
    """What a module does when it is loaded."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [one for one in module.tree.body if not isinstance(one, inner)]


def _last(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _made_in(module: Module, loop: ast.For) -> bool:
    """Whether the towers make variables in statements of the loop."""
    return any(_path(module, one) is not None for one in in_line(loop.body))


def _target(statement: ast.stmt) -> ast.Name | None:
    one = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return one if isinstance(one, ast.Name) else None


def _path(module: Module, statement: ast.stmt) -> tuple[str, ...] | None:
    """What TF1 calls the variable that a statement makes by `tf.get_variable`."""
    call = _call(statement) if _target(statement) is not None else None
    if call is None or name_of(module, call) != _VARIABLE or not call.args:
        return None
    parts = [constant(one) for one in (*scopes_of(module, statement), call.args[0])]
    texts = [one for one in parts if isinstance(one, str)]
    return tuple("/".join(filter(None, texts)).split("/")) if len(texts) == len(parts) else None


class _Copies:
    """Copies of functions that build a network and leave nothing else."""

    def __init__(self, modules: Sequence[Module], graph: CallGraph) -> None:
        self.modules = modules
        self.graph = graph
        self.made: dict[ast.AST, str] = {}
        self.found: dict[Module, list[Edit]] = {}

    def takes(self, module: Module, call: ast.Call, function: Function) -> bool:
        """Gives a call the copy of its function; whether that can be."""
        edit = self._named(module, call, function)
        if edit is None or not self._copied(function):
            return False
        self.found.setdefault(module, []).append(edit)
        return True

    def _named(self, module: Module, call: ast.Call, function: Function) -> Edit | None:
        func, name = call.func, self._name(function)
        end = module.source.span(func)[1]
        if isinstance(func, ast.Attribute) or function.module is module:
            return Edit(end - len(function.name), end, name)
        return None  # it is imported by its name

    def _name(self, function: Function) -> str:
        scope = function.module.names.module_scope
        first, second = f"{function.name}_again", f"{function.name}_with_variables"
        return function.module.names.fresh(scope, first, second)

    def _copied(self, function: Function) -> bool:
        if function.node in self.made:
            return True
        module, source, node = function.module, function.module.source, function.node
        assert isinstance(node, ast.FunctionDef)
        if module not in self.modules or not _is_plain(function):
            return False
        self.made[node] = self._name(function)
        gone = self._gone(function)
        layouts = [Layout(source, one) for one in gone]
        if not all(layout.owns_lines for layout in layouts) or _empties(node, gone):
            return False
        edits = [Edit(layout.line_start, layout.next_line, "") for layout in layouts]
        inside = {part for one in gone for part in walk(one)}
        for call in (part for part in walk(node) if isinstance(part, ast.Call)):
            if call in inside:
                continue
            known = name_of(module, call)
            if known == _ADDS or known.startswith("summary."):
                return False
            target = self.graph.target(module, call.func)
            if target is not None and _leaves(target, self.graph):
                edit = self._named(module, call, target)
                if edit is None or not self._copied(target):
                    return False
                edits.append(edit)
        start, end = source.span(node)
        at = start + len("def ")
        edits.append(Edit(at, at + len(node.name), self.made[node]))
        text = splice(source.text, edits, start, end)
        blank = source.newline * 3
        self.found.setdefault(module, []).append(Edit(end, end, f"{blank}{text}"))
        return True

    def _gone(self, function: Function) -> list[ast.stmt]:
        """The statements that only tell or collect something, the largest ones."""
        module, node = function.module, function.node
        gone: set[ast.stmt] = set()
        statements = [one for one in walk(node) if isinstance(one, ast.stmt) and one is not node]
        while True:
            more = {
                one for one in statements if one not in gone and self._only_tells(module, one, gone)
            }
            if not more:
                break
            gone |= more
        outer = [
            one for one in gone if not any(above in gone for above in module.names.ancestors(one))
        ]
        return sorted(outer, key=position)

    def _only_tells(self, module: Module, statement: ast.stmt, gone: set[ast.stmt]) -> bool:
        if isinstance(statement, ast.With):
            scopes = [name_of(module, item.context_expr) for item in statement.items]
            only_names = all(scope == "name_scope" for scope in scopes)
            return only_names and gone.issuperset(statement.body)
        if isinstance(statement, ast.If):
            asks = any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in walk(statement.test))
            return not asks and not statement.orelse and gone.issuperset(statement.body)
        call = _call(statement)
        if isinstance(statement, ast.Expr) and call is not None:
            known = name_of(module, call)
            if known == _ADDS:
                key = constant(call.args[0]) if call.args else None
                return isinstance(key, str) and key not in OWN and _is_pure(module, call)
            if known:
                return known.startswith("summary.") and _is_pure(module, call)
            target = self.graph.target(module, call.func)
            return target is not None and _is_pure(module, call) and _only_summarizes(target)
        target_name = _target(statement)
        if target_name is None or not gone or not isinstance(statement, ast.Assign):
            return False
        names = module.names
        home = names.scope_of_name[target_name]
        mentions = [one for one in names.mentions(target_name.id, home) if one is not target_name]
        unread = all(is_inside(module, one, {*gone}) for one in mentions)
        return bool(mentions) and unread and _is_pure(module, statement)


def _empties(node: ast.AST, gone: list[ast.stmt]) -> bool:
    """Whether a block has nothing left without some statements."""
    blocks = [
        block
        for part in walk(node)
        for name in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(part, name, None), list) and block
    ]
    return any({*block} <= {*gone} for block in blocks)


def _is_pure(module: Module, node: ast.AST) -> bool:
    """Whether a statement calls TensorFlow's functions alone, which make no variables."""
    calls = [part for part in walk(node) if isinstance(part, ast.Call)]
    own = calls[:1] if isinstance(node, ast.Call) else []
    return all(
        name_of(module, one) and name_of(module, one) not in VARIABLES.by_name
        for one in calls
        if one not in own
    )


def _only_summarizes(function: Function) -> bool:
    """Whether a function makes summaries, and nothing else that is seen outside of it."""
    module, node = function.module, function.node
    assert isinstance(node, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef))
    if not isinstance(node, ast.FunctionDef):
        return False
    plain = (ast.Expr, ast.Assign, ast.With)
    inner = [one for one in walk(node) if isinstance(one, ast.stmt) and one is not node]
    tells = False
    for one in inner:
        if not isinstance(one, plain):
            return False
        call = _call(one)
        if isinstance(one, ast.Expr) and call is not None:
            if not name_of(module, call).startswith("summary."):
                return False
            tells = True
        elif isinstance(one, ast.Assign) and _target(one) is None:
            return False
    made = [name_of(module, part) for part in walk(node) if isinstance(part, ast.Call)]
    return tells and not any(name in VARIABLES.by_name or name == _ADDS for name in made)
