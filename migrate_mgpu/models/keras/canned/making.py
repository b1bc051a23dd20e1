"""The statement that made a canned Estimator makes its Keras model, and compiles it."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.models.front.estimators.parts import INSIDE_STATEMENT, EstimatorFlow
from migrate_mgpu.models.front.rewriters import CannedRewriter
from migrate_mgpu.models.keras.canned.estimator import CannedPlan
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits
from migrate_mgpu.source.source import BlockEdit, Edit
from migrate_mgpu.source.statements import Layout, comments
from migrate_mgpu.source.style import FileStyle


def make(flow: EstimatorFlow, plan: CannedPlan, strategy: str | None, changes: DriverEdits) -> None:
    """Writes the model's construction under the strategy's scope.

    Raises:
        Refused: the Estimator is made in the middle of a statement.
    """
    module, source, statement = flow.module, flow.module.source, flow.statement
    layout = Layout(source, statement)
    returned = isinstance(statement, ast.Return)
    target = ""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = source.code(statement.targets[0])
    elif returned:
        names = module.names
        target = names.fresh(names.scope_at(statement), "model", "estimator", "keras_model")
    if not target or statement_value(statement) is not flow.made or not layout.owns_lines:
        raise Refused(
            module, flow.call, "the Estimator is made in the middle of a statement",
            "assign it to a separate variable", INSIDE_STATEMENT,
        )  # fmt: skip
    unit = source.indent_unit
    indent = layout.indent + (unit if strategy is not None else "")
    kept = [c.text for c in comments(source.code(statement))]
    lines = [layout.indent + comment for comment in kept]
    if strategy is not None:
        lines.append(f"{layout.indent}with {strategy}.scope():")
    head = f"{indent}{target} = "
    lines.append(head + FileStyle.of(source).call(plan.head, plan.arguments, indent, len(head)))
    lines.append(f"{indent}{target}.compile(")
    lines += [f"{indent}{unit}{piece}" for piece in plan.compiled]
    lines.append(f"{indent})")
    if returned:
        lines.append(f"{layout.indent}return {target}")
    if layout.trailing_comment:
        lines[-1] += f"  {layout.trailing_comment}"
    text = source.newline.join(lines).removeprefix(layout.indent)
    edit = Edit(layout.start, layout.line_end, text)
    if strategy is not None and not kept and not returned:
        header = f"with {strategy}.scope():{source.newline}{indent}"
        edit = BlockEdit(edit.start, edit.end, text, header)
    changes.edit(module, edit)
    changes.replaced(module, flow.call, CannedRewriter)
    changes.gone |= {part for part in ast.walk(flow.made) if part is not flow.call}
