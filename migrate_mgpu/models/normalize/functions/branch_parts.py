"""Parts of a graph that are built under a condition, and only compute: above the condition.

    if show_manifold:
        codes = grid(20)
        decoded = decoder(z_in, reuse=True)

makes no variable, so whether it is built changes nothing of what else there is: a function of TF2
computes it where something asks for it, which is under the same condition. What makes variables of
its own stays where it is.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, walk
from migrate_mgpu.api.graph import COMPUTES, DRAWS
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.known_values import known_value, values_in
from migrate_mgpu.models.front.session.scope import Home
from migrate_mgpu.models.normalize.functions.single_calls import home_of
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments

_KNOWN = COMPUTES | DRAWS | {"variable_scope", "name_scope"}
_ASKED = ("get_shape", "as_list", "format")  # methods of shapes and texts
_HOST = frozenset(
    f"builtins.{name}"
    for name in ("int", "float", "str", "len", "range", "list", "tuple", "zip", "enumerate", "max",
                 "min", "isinstance")
)  # fmt: skip
_PLAIN = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.With, ast.If, ast.For, ast.Pass)


@record(frozen=True)
class _Around:
    """``changed`` are the names to which the block gives values; ``within`` are functions."""

    changed: frozenset[str]
    within: frozenset[ast.AST] = frozenset()


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such condition; none where there is none."""
    home = home_of(module, graph)
    for statement in in_line(home.body) if home is not None else ():
        if home is not None and isinstance(statement, ast.If):
            moved = _moved(module, graph, home, statement)
            if moved:
                return _written(module, statement, moved)
    return []


def _moved(module: Module, graph: CallGraph, home: Home, block: ast.If) -> list[ast.Assign]:
    """The statements of a block that go above it."""
    found: list[ast.Assign] = []
    stored = (part for part in walk(block) if isinstance(part, ast.Name))
    changed = frozenset(part.id for part in stored if not isinstance(part.ctx, ast.Load))
    for one in block.body:
        if not isinstance(one, ast.Assign) or not Layout(module.source, one).owns_lines:
            continue
        if _is_only_value(module, one) and _reads_above(module, home, one, block, found):
            calls = [part for part in walk(one.value) if isinstance(part, ast.Call)]
            if calls and all(
                _computes(module, graph, call, {}, _Around(changed)) for call in calls
            ):
                found.append(one)
    if not Layout(module.source, block).owns_start:
        return []
    inside = {part for part in walk(block) if isinstance(part, ast.Name)}
    asked = {part for part in inside if isinstance(part.ctx, ast.Store)}
    wanted: list[ast.Assign] = []
    for one in reversed(found):  # what is read elsewhere, and what that is made of
        for part in (n for target in one.targets for n in walk(target) if n in asked):
            assert isinstance(part, ast.Name)
            mentions = module.names.mentions(part.id, module.names.scope_of_name[part])
            makes = {n for other in wanted for n in walk(other)}
            outside = [n for n in mentions if n not in inside]
            if not all(_is_asked_there(module, n, block) for n in outside):
                return []
            if one not in wanted and (outside or any(n in makes for n in mentions)):
                wanted.insert(0, one)
    return wanted


def _is_asked_there(module: Module, mention: ast.Name, block: ast.If) -> bool:
    """Whether a mention stands under the same condition: elsewhere TF1 may know no such name."""
    test = ast.dump(block.test)
    child: ast.AST = mention
    for parent in module.names.ancestors(mention):
        if isinstance(parent, ast.If) and child in parent.body and ast.dump(parent.test) == test:
            return True
        child = parent
    return False


def _written(module: Module, block: ast.If, moved: list[ast.Assign]) -> list[Edit]:
    source = module.source
    before = Layout(source, block)
    lines = [source.code(one) for one in moved]
    if any("\n" in line for line in lines):
        return []
    start = start_with_comments(source.text, before.line_start)
    indent = source.indent_of(block)
    text = "".join(f"{indent}{line}{source.newline}" for line in lines)
    edits = [Edit(start, start, text)]
    for number, one in enumerate(moved):
        layout = Layout(source, one)
        if number == 0 and len(moved) == len(block.body):
            edits.append(layout.replace(["pass"]))
        else:
            edits.append(Edit(layout.line_start, layout.next_line, ""))
    return edits


def _is_only_value(module: Module, statement: ast.Assign) -> bool:
    """Whether a statement gives names the only values that they ever have."""
    targets = statement.targets
    parts = targets[0].elts if isinstance(targets[0], ast.Tuple) else targets
    return len(targets) == 1 and all(
        isinstance(one, ast.Name) and module.names.only_binding(one) is not None for one in parts
    )


def _reads_above(
    module: Module, home: Home, statement: ast.Assign, block: ast.If, moved: list[ast.Assign]
) -> bool:
    """Whether all that a statement reads is the same above the block."""
    names = module.names
    for node in walk(statement.value):
        if isinstance(node, (ast.Lambda, ast.NamedExpr, ast.Await, *COMPREHENSIONS)):
            return False
        parent = names.parents.get(node)
        called = isinstance(parent, ast.Call) and parent.func is node
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not called:
            if names.qualname(node) is None:
                return False  # an object may get another value in the block
        if not isinstance(node, ast.Name):
            continue
        scope = names.defining_scope(node.id, names.scope_of_name[node])
        if scope is None:
            continue  # a name of Python's
        binding = names.only_binding(node)
        if binding is None:
            return False
        made = names.statement(binding.node)
        if scope is names.scopes[home] and binding.kind != "parameter":
            if made not in moved and made.lineno >= block.lineno:
                return False
        elif not scope.is_module and binding.kind != "parameter":
            return False
    return True


def _computes(
    module: Module,
    graph: CallGraph,
    call: ast.Call,
    values: Mapping[str, object],
    around: _Around,
    reuse: bool = False,
) -> bool:
    """Whether a call makes parts of a graph that only compute, with variables that there are.

    ``around`` is where it is called, ``reuse``: the scopes around it say that variables are those
    that there are.
    """
    name = name_of(module, call)
    if name:
        if name == "get_variable" or name in LAYERS.by_name:
            return reuse
        return name in _KNOWN or name in INITIALIZERS.by_name
    target = graph.target(module, call.func)
    if target is not None and isinstance(target.node, ast.FunctionDef) and target.owner is None:
        given = bind(call, target).values()
        known = {one: known_value(value, values) for one, value in given.items()}
        return _only_computes(graph, target, values_in(target, known), around, reuse)
    if isinstance(call.func, ast.Attribute) and module.names.qualname(call.func) is None:
        return call.func.attr in _ASKED
    return module.names.qualname(call.func) in _HOST


def _only_computes(
    graph: CallGraph,
    function: Function,
    values: Mapping[str, object],
    around: _Around,
    reuse: bool,
) -> bool:
    """The same of all that a function of the program calls."""
    module, node = function.module, function.node
    inside = [one for one in walk(node) if one is not node]
    if any(isinstance(one, ast.stmt) and not isinstance(one, _PLAIN) for one in inside):
        return False
    own = module.names.scopes[node].bindings
    read = {one.id for one in inside if isinstance(one, ast.Name)} - own.keys()
    if read & around.changed or node in around.within:
        return False
    around = _Around(around.changed, around.within | {node})
    stored = [one for one in inside if isinstance(getattr(one, "ctx", None), ast.Store)]
    if not all(isinstance(one, (ast.Name, ast.Tuple)) for one in stored):
        return False  # what it is given may change
    return all(
        _computes(module, graph, call, values, around, reuse or _reuses(module, call, node, values))
        for call in inside
        if isinstance(call, ast.Call)
    )


def _reuses(
    module: Module, call: ast.Call, function: ast.AST, values: Mapping[str, object]
) -> bool:
    """Whether `with tf.variable_scope(name, reuse=True)` stands around a call in its function."""
    for parent in module.names.ancestors(call):
        if parent is function:
            break
        for item in parent.items if isinstance(parent, ast.With) else ():
            scope = item.context_expr
            if isinstance(scope, ast.Call) and name_of(module, scope) == "variable_scope":
                told = {one.arg: one.value for one in scope.keywords}.get("reuse")
                if told is not None and known_value(told, values) is True:
                    return True
    return False
