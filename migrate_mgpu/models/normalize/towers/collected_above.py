"""Collections that are filled above the towers and that each tower reads: what was put there.

    decay = tf.nn.l2_loss(weights) * 0.01
    tf.add_to_collection('losses', decay)
    ...
    for i in range(num_gpus):
        with tf.device('/gpu:%d' % i):
            losses = tf.get_collection('losses')

becomes `losses = [tf.nn.l2_loss(weights) * 0.01, ...]` in the loop: each tower computes of the
variables, which it trains, what all of them read.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.towers.loop import loops_on_devices, read_towers
from migrate_mgpu.models.normalize.layers.collection_lists import by_collection
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_ADD = "add_to_collection"
# What may be computed again: the same of the same variables.
_PURE = (
    "nn.l2_loss", "multiply", "scalar_mul", "reduce_sum", "reduce_mean", "square", "abs", "div",
    "divide", "math.multiply", "math.reduce_sum", "math.reduce_mean", "math.square", "math.abs",
)  # fmt: skip


def normalize(module: Module, graph: CallGraph, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one such collection; none where there is none.

    ``modules`` are all that the program has.
    """
    for loop in loops_on_devices(module):
        if read_towers(module, loop, graph) is None or not _in_own_graph(module, loop, graph):
            continue
        for calls in by_collection(modules).values():
            if all(home is module for home, _ in calls):
                edits = _edits(module, loop, [call for _, call in calls])
                if edits:
                    return edits
    return []


def _in_own_graph(module: Module, loop: ast.For, graph: CallGraph) -> bool:
    """Whether the graph has nothing in a collection but what stands in the loop's function."""
    names = module.names
    for parent in names.ancestors(loop):
        for item in parent.items if isinstance(parent, ast.With) else ():
            func = item.context_expr.func if isinstance(item.context_expr, ast.Call) else None
            if isinstance(func, ast.Attribute) and name_of(module, func.value) == "Graph":
                return True
    return names.scope_at(loop).is_module or graph.runs_once(module, loop)


def _edits(module: Module, loop: ast.For, calls: Sequence[ast.Call]) -> list[Edit]:
    names, source = module.names, module.source
    home = names.scope_at(loop)
    body = home.node.body if isinstance(home.node, (ast.FunctionDef, ast.Module)) else []
    line, own = list(in_line(body)), list(in_line(loop.body))
    held: list[str] = []
    found: list[Edit] = []
    reads: list[tuple[ast.stmt, ast.Call]] = []
    for call in sorted(calls, key=position):
        statement, given = names.statement(call), by_parameter(call, ("name", "value"))
        if name_of(module, call) != _ADD:
            alone = isinstance(statement, ast.Assign) and statement.value is call
            if [*given] != ["name"] or statement not in own or not alone:
                return []
            reads.append((statement, call))
            continue
        if reads or statement not in line or position(statement) > position(loop):
            return []
        if not isinstance(statement, ast.Expr) or statement.value is not call or len(given) != 2:
            return []
        written = _computed(module, statement, given["value"])
        layout = Layout(source, statement)
        if written is None or not layout.owns_lines or names.block(statement) == [statement]:
            return []
        text, made = written
        held.append(text)
        gone = [statement, *([made] if made is not None else [])]
        if len(names.block(statement)) <= len(gone):
            return []
        for one in gone:
            owned = Layout(source, one)
            if not owned.owns_lines:
                return []
            found.append(Edit(owned.line_start, owned.next_line, ""))
    if not held or not reads:
        return []
    for statement, call in reads:
        indent = source.indent_of(statement)
        inner = source.newline + indent + source.indent_unit
        listed = "".join(f"{inner}{text}," for text in held)
        found.append(Edit(*source.span(call), f"[{listed}{source.newline}{indent}]"))
    return found


def _computed(
    module: Module, statement: ast.stmt, value: ast.expr
) -> tuple[str, ast.Assign | None] | None:
    """What is put in a collection, and the statement that gives it a name for that alone.

    None where it may be another value in a tower.
    """
    names = module.names
    made: ast.Assign | None = None
    if isinstance(value, ast.Name):
        block = names.block(statement)
        before = block[block.index(statement) - 1] if block.index(statement) else None
        if not isinstance(before, ast.Assign) or len(before.targets) != 1:
            return None
        target = before.targets[0]
        if not isinstance(target, ast.Name) or target.id != value.id:
            return None
        if not _is_alone(module, target, value):
            return None
        made, value = before, before.value
    text = module.source.code(value)
    if "\n" in text or not all(_is_same_later(module, part) for part in walk(value)):
        return None
    return text, made


def _is_alone(module: Module, target: ast.Name, value: ast.Name) -> bool:
    """Whether the value that a name is given is read once, before it has another."""
    names = module.names
    home = names.scope_of_name[target]
    mentions = names.mentions(target.id, home)
    if any(names.scope_of_name[one] is not home for one in mentions):
        return False
    behind = [one for one in mentions if position(one) > position(value)]
    loops = (ast.For, ast.While, ast.AsyncFor)
    turns = any(isinstance(one, loops) for one in names.ancestors(target))
    return not turns and (not behind or isinstance(behind[0].ctx, ast.Store))


def _is_same_later(module: Module, part: ast.AST) -> bool:
    """Whether a part of an expression is the same wherever its function computes it."""
    if isinstance(part, ast.Call):
        return name_of(module, part) in _PURE
    if isinstance(part, ast.Name):
        names = module.names
        home = names.defining_scope(part.id, names.scope_of_name[part])
        imported = home is not None and home.is_module and part.id in names.imported_ids
        return imported or names.only_binding(part) is not None
    plain = (
        ast.Constant, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.keyword, ast.operator,
        ast.unaryop, ast.expr_context,
    )  # fmt: skip
    return isinstance(part, plain)
