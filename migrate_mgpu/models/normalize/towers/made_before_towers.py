"""What is made before the towers, and not in each.

`sizes = [200, 100]` in the loop over the devices, which is the same for all, stands above it.

A network that is built before the towers for its variables alone: the first tower makes them.

`get_model(images)`, and `with tf.variable_scope(tf.get_variable_scope(), reuse=True):` in the loop
over the devices, becomes `reuse=i > 0` there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.program import tells_shape
from migrate_mgpu.models.front.towers.loop import is_same_scope, loops_on_devices, read_towers
from migrate_mgpu.models.normalize.functions.graph_settings import is_fixed
from migrate_mgpu.models.normalize.layers.static_shapes import known_number
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

# What a network leaves in the graph besides its value and its variables.
_LEAVES = ("summary.", "add_to_collection", "losses.", "get_collection", "assign")
_UPDATES = "GraphKeys.UPDATE_OPS"


def variables_from_first(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such program; none where there is none."""
    if any(use.symbol.name == _UPDATES for module in modules for use in module.uses):
        return {}
    for module in modules:
        for loop in loops_on_devices(module):
            edits = _edits(module, loop, graph)
            if edits:
                return {module: edits}
    return {}


def settings_before(module: Module, graph: CallGraph, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one setting that each tower makes; none where there is none.

    A list of constants, a number, or what is computed of settings that nothing changes; a list
    of what is made above. ``modules`` are all that the program has.
    """
    for loop in loops_on_devices(module):
        if read_towers(module, loop, graph) is None:
            continue
        for statement in in_line(loop.body):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if not isinstance(target, ast.Name) or module.names.only_binding(target) is None:
                continue
            assert isinstance(statement, ast.Assign)
            layout, above = Layout(module.source, statement), Layout(module.source, loop)
            known = is_setting(module, statement.value, modules, loop, graph) or (
                _is_list_of_above(module, statement.value, loop) and _is_kept(module, target)
            )
            if known and layout.owns_lines:
                line = module.source.code(statement)
                gone = Edit(layout.line_start, layout.next_line, "")
                return [above.insert_paragraph([line]), gone] if "\n" not in line else []
    return []


def _is_list_of_above(module: Module, node: ast.expr, loop: ast.For) -> bool:
    """Whether a list has what is made once above a loop: variables that towers share, say."""
    if not isinstance(node, ast.List) or not node.elts:
        return False
    for one in node.elts:
        binding = module.names.only_binding(one) if isinstance(one, ast.Name) else None
        if binding is None or position(binding.node) > position(loop):
            return False
    return True


def _is_kept(module: Module, target: ast.Name) -> bool:
    """Whether nothing adds to a list, or takes from it, by its name."""
    mentions = module.names.mentions(target.id, module.names.scope_of_name[target])
    parents = (module.names.parents.get(one) for one in mentions)
    return not any(
        isinstance(one, (ast.Attribute, ast.Subscript, ast.AugAssign)) for one in parents
    )


def unpacked_before(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one batch that each tower unpacks; none where there is none.

    `batch = iterator.get_next()` above the loop, and `images, labels = batch` in it, are
    `images, labels = iterator.get_next()` above it: all towers have the same.
    """
    names = module.names
    for loop in loops_on_devices(module):
        if read_towers(module, loop, graph) is None:
            continue
        for statement in in_line(loop.body):
            value = statement.value if isinstance(statement, ast.Assign) else None
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            binding = names.only_binding(value) if isinstance(value, ast.Name) else None
            made = names.parents.get(binding.node) if binding is not None else None
            if len(targets) != 1 or not isinstance(made, ast.Assign) or binding is None:
                continue
            parts = targets[0].elts if isinstance(targets[0], ast.Tuple) else []
            apart = parts and all(
                isinstance(one, ast.Name) and names.only_binding(one) is not None for one in parts
            )
            drawn = isinstance(made.value, ast.Call) and (
                isinstance(made.value.func, ast.Attribute) and made.value.func.attr == "get_next"
            )
            assert isinstance(value, ast.Name)
            alone = len(names.mentions(value.id, names.scope_of_name[value])) == 2
            if not apart or not drawn or not alone or is_inside(module, made, {loop}):
                continue
            layout = Layout(module.source, statement)
            if layout.owns_lines and made.targets == [binding.node]:
                text = module.source.code(targets[0])
                gone = Edit(layout.line_start, layout.next_line, "")
                return [Edit(*module.source.span(binding.node), text), gone]
    return []


def shapes_before(module: Module, graph: CallGraph, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one `batch.set_shape([size, 8])` in each tower, of what is made above all.

    ``modules`` are all that the program has.
    """
    names = module.names
    for loop in loops_on_devices(module):
        if read_towers(module, loop, graph) is None:
            continue
        for statement in in_line(loop.body):
            told = tells_shape(statement.value) if isinstance(statement, ast.Expr) else None
            binding = names.only_binding(told) if told is not None else None
            if binding is None or is_inside(module, binding.node, {loop}):
                continue
            assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
            shape = statement.value.args[0] if len(statement.value.args) == 1 else None
            sizes = shape.elts if isinstance(shape, (ast.List, ast.Tuple)) else []
            fixed = sizes and all(is_none(o) or is_setting(module, o, modules) for o in sizes)
            layout, above = Layout(module.source, statement), Layout(module.source, loop)
            if fixed and layout.owns_lines:
                gone = Edit(layout.line_start, layout.next_line, "")
                return [above.insert_paragraph([module.source.code(statement)]), gone]
    return []


def is_setting(
    module: Module,
    node: ast.expr,
    modules: Sequence[Module],
    loop: ast.For | None = None,
    graph: CallGraph | None = None,
) -> bool:
    """Whether a value is the same in all towers: constants, and what is computed of settings.

    ``loop`` and ``graph``: so are names of its own scope that are numbers above that loop.
    """
    if constant(node) is not None or known_number(module, node) is not None:
        return True
    if isinstance(node, ast.BinOp):
        parts = (node.left, node.right)
        return all(is_setting(module, one, modules, loop, graph) for one in parts)
    if isinstance(node, ast.Call):
        numeric = module.names.qualname(node.func) in ("builtins.int", "builtins.float")
        plain = len(node.args) == 1 and not node.keywords
        return numeric and plain and is_setting(module, node.args[0], modules, loop, graph)
    root = node.value if isinstance(node, ast.Attribute) else node
    if not isinstance(root, ast.Name):
        return False
    if is_fixed(module, root, modules):
        return True
    if loop is None or graph is None:
        return False
    return _is_number_above(module, node, root, modules, loop, graph)


def _is_number_above(
    module: Module,
    node: ast.expr,
    root: ast.Name,
    modules: Sequence[Module],
    loop: ast.For,
    graph: CallGraph,
) -> bool:
    """`num_gpus`, of `num_gpus = len(gpus)` above a loop, or `args.batch` of `parse_args()`."""
    names = module.names
    binding = names.only_binding(root)
    if binding is None or names.defining_scope(root.id, names.scope_of_name[root]) is not (
        names.scope_at(loop)
    ):
        return False
    made = binding.value
    if not isinstance(made, ast.Call) or position(binding.node) > position(loop):
        return False
    if node is root:
        return names.qualname(made.func) in ("builtins.len", "builtins.int")
    assert isinstance(node, ast.Attribute)
    every = (one for other in modules for one in other.names.attributes.get(node.attr, ()))
    return _parses(module, made, graph) and all(isinstance(one.ctx, ast.Load) for one in every)


def _parses(module: Module, call: ast.Call, graph: CallGraph) -> bool:
    """`parser.parse_args()`, or a call of a function that returns that."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "parse_args":
        return True
    target = graph.target(module, call.func)
    returns = [one for one in walk(target.node) if isinstance(one, ast.Return)] if target else []
    if target is None or len(returns) != 1:
        return False
    value = returns[0].value
    if isinstance(value, ast.Name):
        value = target.module.names.only_value(value)
    func = value.func if isinstance(value, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr == "parse_args"


def _edits(module: Module, loop: ast.For, graph: CallGraph) -> list[Edit]:
    towers = read_towers(module, loop, graph)
    if towers is None or not towers.index:
        return []
    shared = list(_shared(module, loop))
    inside = {
        target.node
        for call in (part for part in walk(loop) if isinstance(part, ast.Call))
        if (target := graph.target(module, call.func)) is not None
    }
    block = module.names.block(loop)
    found = []
    for statement in block[: block.index(loop)]:
        call = statement.value if isinstance(statement, ast.Expr) else None
        target = graph.target(module, call.func) if isinstance(call, ast.Call) else None
        if target is None or target.node not in inside or _leaves(target, graph, frozenset()):
            continue
        layout = Layout(module.source, statement)
        if not layout.owns_lines:
            return []
        found.append(Edit(layout.line_start, layout.next_line, ""))
    if len(shared) != 1 or len(found) != 1:
        return []
    return [*found, Edit(*module.source.span(shared[0]), f"{towers.index} > 0")]


def _shared(module: Module, loop: ast.For) -> Iterator[ast.expr]:
    """The `True` of `tf.variable_scope(tf.get_variable_scope(), reuse=True)` in a loop."""
    for call in (part for part in walk(loop) if isinstance(part, ast.Call)):
        if is_same_scope(module, call):
            for keyword in call.keywords:
                if keyword.arg == "reuse" and constant(keyword.value) is True:
                    yield keyword.value


def _leaves(function: Function, graph: CallGraph, seen: frozenset[ast.AST]) -> bool:
    """Whether a function, or one that it calls, leaves more than variables in the graph."""
    if function.node in seen:
        return False
    for call in (part for part in walk(function.node) if isinstance(part, ast.Call)):
        name = name_of(function.module, call)
        if name.startswith(_LEAVES) or "regularizer" in name:
            return True
        target = graph.target(function.module, call.func)
        if target is not None and _leaves(target, graph, seen | {function.node}):
            return True
    return False
