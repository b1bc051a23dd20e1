"""Lists of recurrent cells that a loop fills, as list comprehensions.

    cells = []
    for _ in range(2):
        cell = LSTMCell(size)
        cell = DropoutWrapper(cell, output_keep_prob=keep_prob)
        cells.append(cell)

becomes

    cells = [DropoutWrapper(LSTMCell(size), output_keep_prob=keep_prob) for _ in range(2)]
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.recurrent import CELLS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout, comments


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such loop; none where there is none."""
    for call in module.names.calls:
        if name_of(module, call) in CELLS.by_name:
            loop = module.names.parents.get(module.names.statement(call))
            edits = _edits(module, loop) if isinstance(loop, ast.For) else []
            if edits:
                return edits
    return []


def _edits(module: Module, loop: ast.For) -> list[Edit]:
    names, source = module.names, module.source
    block = names.block(loop)
    above = block[block.index(loop) - 1] if block.index(loop) else None
    made = above.targets[0] if isinstance(above, ast.Assign) and len(above.targets) == 1 else None
    if not isinstance(made, ast.Name) or not isinstance(above, ast.Assign) or loop.orelse:
        return []
    if not isinstance(above.value, ast.List) or above.value.elts:
        return []
    if not all(
        _ends(module, loop, one.id) for one in walk(loop.target) if isinstance(one, ast.Name)
    ):
        return []
    text = _element(module, loop, made.id)
    lines = [Layout(source, one) for one in (above, loop)]
    code = source.text[source.span(loop)[0] : source.span(loop)[1]]
    if not text or not all(one.owns_lines for one in lines):
        return []
    target, items = source.code(loop.target), source.code(loop.iter)
    start, end = source.span(above.value)
    told = lines[0].lines([one.text for one in comments(code)])
    return [
        Edit(lines[0].line_start, lines[0].line_start, told),
        Edit(start, end, f"[{text} for {target} in {items}]"),
        Edit(lines[1].line_start, lines[1].next_line, ""),
    ]


def _element(module: Module, loop: ast.For, cells: str) -> str:
    """What the list gets in each round; empty where a round does more than make that."""
    names, source = module.names, module.source
    *steps, last = loop.body
    call = last.value if isinstance(last, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(func, ast.Attribute):
        return ""
    if func.attr != "append" or not isinstance(func.value, ast.Name) or func.value.id != cells:
        return ""
    if len(call.args) != 1 or call.keywords:
        return ""
    held, text = "", ""
    for step in steps:
        target = step.targets[0] if isinstance(step, ast.Assign) else None
        if not isinstance(step, ast.Assign) or not isinstance(target, ast.Name):
            return ""
        if len(step.targets) > 1 or (held and target.id != held):
            return ""
        text = with_held(module, step.value, target.id, text)
        held = target.id
        if not text:
            return ""
    if held and (not _ends(module, loop, held) or _mentions(call.args[0], cells)):
        return ""
    if any(_mentions(step, cells) for step in steps) or names.scope_at(loop) is None:
        return ""
    if not held:
        return " ".join(line.strip() for line in source.code(call.args[0]).splitlines())
    return with_held(module, call.args[0], held, text)


def with_held(module: Module, value: ast.expr, held: str, text: str) -> str:
    """An expression with what a name holds in its place; empty where it has that more than once."""
    source = module.source
    start, end = source.span(value)
    used = [one for one in walk(value) if isinstance(one, ast.Name) and one.id == held]
    if len(used) != bool(text) or any(isinstance(one, ast.Lambda) for one in walk(value)):
        return ""
    spans = [source.span(one) for one in used]
    edits = [Edit(first - start, last - start, text) for first, last in spans]
    return " ".join(line.strip() for line in splice(source.text[start:end], edits).splitlines())


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in walk(node))


def _ends(module: Module, loop: ast.For, held: str) -> bool:
    """Whether nothing reads behind the loop what a name holds in its last round, or before it."""
    names = module.names
    block: Sequence[ast.stmt] = names.block(loop)
    binding = next(
        (
            statement.lineno
            for statement in block[block.index(loop) + 1 :]
            if isinstance(statement, ast.Assign)
            and any(isinstance(one, ast.Name) and one.id == held for one in statement.targets)
            and not _mentions(statement.value, held)
        ),
        None,
    )
    home = names.defining_scope(held, names.scope_at(loop))
    if home is None or names.scope_at(loop) is not home:
        return False
    for one in names.mentions(held, home):
        if loop in names.ancestors(one) or not isinstance(one.ctx, ast.Load):
            continue
        inside = names.scope_of_name[one] is home
        if not inside or (one.lineno > loop.lineno and (binding is None or one.lineno <= binding)):
            return False
        if any(isinstance(parent, (ast.For, ast.While)) for parent in names.ancestors(loop)):
            return False
    return True
