"""Dropout that is put around a recurrent cell under a condition of Python's.

    if training and keep_prob < 1.0:
        cell = DropoutWrapper(cell, output_keep_prob=keep_prob)

becomes

    cell = DropoutWrapper(cell, output_keep_prob=keep_prob if training and keep_prob < 1.0 else 1.0)

A wrapper that keeps all does nothing, and names nothing.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.recurrent import CELLS, DROPOUT
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_PROBABILITIES = ("input_keep_prob", "output_keep_prob", "state_keep_prob")
# What a condition may consist of: it is evaluated once for each probability.
_PLAIN = (
    ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.boolop,
    ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip
# What needs parentheses beside `if`.
_LOOSE = (ast.IfExp, ast.Lambda, ast.NamedExpr)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such condition; none where there is none."""
    for call in module.names.calls:
        row = CELLS.by_name.get(name_of(module, call))
        if row is not None and row.cell == DROPOUT:
            edits = _edits(module, call, row.signature)
            if edits:
                return edits
    return []


def _edits(module: Module, call: ast.Call, signature: tuple[str, ...]) -> list[Edit]:
    names, source = module.names, module.source
    statement = names.statement(call)
    condition = names.parents.get(statement)
    if not isinstance(statement, ast.Assign) or not isinstance(condition, ast.If):
        return []
    target = statement.targets[0]
    if statement.value is not call or len(statement.targets) > 1 or condition.orelse:
        return []
    if condition.body != [statement] or not isinstance(target, ast.Name):
        return []
    if not all(isinstance(part, _PLAIN) for part in walk(condition.test)):
        return []
    given = by_parameter(call, signature)
    inner, keeps = given.get("cell"), [given[one] for one in _PROBABILITIES if one in given]
    if not isinstance(inner, ast.Name) or inner.id != target.id or "**" in given or not keeps:
        return []
    whole, layout = Layout(source, condition), Layout(source, statement)
    test = source.code(condition.test)
    if not whole.owns_lines or not layout.owns_lines or {"#", "\n"} & {*test}:
        return []
    is_elif = source.text[source.span(condition)[0] :].startswith("elif")
    if is_elif or statement.lineno == condition.lineno:
        return []
    start, end = source.span(statement)
    text = source.text[start:end]
    for value in sorted(keeps, key=lambda one: -one.lineno * 10000 - one.col_offset):
        first, last = (place - start for place in source.span(value))
        shown = f"({text[first:last]})" if isinstance(value, _LOOSE) else text[first:last]
        text = f"{text[:first]}{shown} if {test} else 1.0{text[last:]}"
    return [whole.replace([text])]
