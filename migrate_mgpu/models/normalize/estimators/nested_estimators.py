"""An Estimator that is made inside of a statement: `run(tf.estimator.Estimator(model_fn))`.

It is made in a statement of its own before that one, where nothing that the statement does
before comes between. One that a conditional expression chooses is made under an `if`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments

_AROUND = (
    ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Dict, ast.Yield,
)  # fmt: skip
_DOING = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where the statement does something before it makes the Estimator."""
    module, call, statement = flow.module, flow.call, flow.statement
    names, source = module.names, module.source
    layout = Layout(source, statement)
    if not isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) or not layout.owns_start:
        return {}
    if statement.value is call or statement.value is None:
        return {}
    if isinstance(statement.value, ast.IfExp) and isinstance(statement, (ast.Assign, ast.Return)):
        if call in (statement.value.body, statement.value.orelse):
            if not layout.owns_lines or comments(source.code(statement)):
                return {}
            return {module: [_branches(module, statement, statement.value)]}
    around: list[ast.AST] = []
    for parent in names.ancestors(call):
        if parent is statement:
            break
        around.append(parent)
    if not all(isinstance(parent, _AROUND) for parent in around):
        return {}
    start, end = source.span(call)
    for part in ast.walk(statement):
        if isinstance(part, _DOING) and part not in around and source.span(part)[0] < start:
            return {}
    name = _trained(statement, around)
    if name is not None:
        return {module: [Edit(end, end, f"{source.newline}{layout.indent}{name}")]}
    name = names.fresh(names.scope_at(statement), "estimator", "model", "classifier")
    made = f"{name} = {source.code(call)}{source.newline}{layout.indent}"
    return {module: [Edit(layout.start, layout.start, made), Edit(start, end, name)]}


def _branches(module: Module, statement: ast.stmt, choice: ast.IfExp) -> Edit:
    """`if several: estimator = A` / `else: estimator = B`."""
    source, layout = module.source, Layout(module.source, statement)
    head = source.text[layout.start : source.span(choice)[0]].rstrip("( ")
    lines = [
        f"if {source.code(choice.test)}:",
        f"{source.indent_unit}{head} {source.code(choice.body)}",
        "else:",
        f"{source.indent_unit}{head} {source.code(choice.orelse)}",
    ]
    return layout.replace([*([layout.trailing_comment] if layout.trailing_comment else []), *lines])


def _trained(statement: ast.stmt, around: list[ast.AST]) -> str | None:
    """The variable of `model = Estimator(...).train(...)`: train gives the Estimator."""
    if not isinstance(statement, ast.Assign) or len(around) != 2 or len(statement.targets) != 1:
        return None
    method, target = around[0], statement.targets[0]
    if not isinstance(method, ast.Attribute) or method.attr != "train":
        return None
    return target.id if isinstance(target, ast.Name) else None
