"""``numpy_input_fn`` and ``pandas_input_fn`` as the Dataset that gives the same batches.

Measured on 1.15.5: without shuffling the order is kept, batches go on across epochs and
the last one is smaller; by default there is one epoch, of batches of 128. A table's columns
are the features, in their own types, its index is none.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.inputs import ARRAY_INPUTS
from migrate_mgpu.models.front.inputs.arrays import array_row
from migrate_mgpu.models.ir import ArrayInput
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def dataset(array: ArrayInput, base: str | None = None) -> list[str]:
    """The parts of the expression that makes the Dataset, the source first, then its methods."""
    module, arguments = array.module, array.arguments
    row = ARRAY_INPUTS.by_kind[array.kind]
    defaults = {parameter.name: parameter.default for parameter in row.parameters}

    def code(name: str) -> str:
        if name not in arguments:
            return defaults[name]
        return text_of(module, arguments[name], base=base)

    features = f"dict({code('x')})" if array.kind == "table" else code("x")
    data = f"({features}, {code('y')})" if "y" in arguments else features
    parts = [f"{root(module, array.node)}.data.Dataset.from_tensor_slices({data})"]
    if isinstance(array.shuffles, ast.expr):  # a buffer of one example keeps the order
        parts.append(f".shuffle({code('queue_capacity')} if {code('shuffle')} else 1)")
    elif array.shuffles:
        parts.append(f".shuffle({code('queue_capacity')})")
    if array.endless:
        parts.append(".repeat()")
    elif constant(arguments.get("num_epochs")) != 1 and "num_epochs" in arguments:
        parts.append(f".repeat({code('num_epochs')})")
    parts.append(f".batch({code('batch_size')})")
    return parts


def statement_edit(array: ArrayInput) -> Edit:
    """`train_input_fn = numpy_input_fn(...)` as a function, anything else as a lambda."""
    module, call = array.module, array.node
    source = module.source
    statement = module.names.statement(call)
    layout = Layout(source, statement)
    goal = statement.targets[0] if isinstance(statement, ast.Assign) else None
    named = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    alone = named and statement_value(statement) is call and layout.owns_start
    if not isinstance(goal, ast.Name) or not alone:
        start, end = source.span(call)
        return Edit(start, end, "lambda: " + "".join(dataset(array)))
    inner = layout.indent + source.indent_unit
    parts = dataset(array, inner)
    whole = "return " + "".join(parts)
    lines = [whole]
    if len(inner) + len(whole) > source.width and "\n" not in whole:
        name = module.names.fresh(module.names.scope_at(statement), "dataset", "data", "batches")
        lines = [f"{name} = {parts[0]}", f"return {name}" + "".join(parts[1:])]
    text = source.newline.join([f"def {goal.id}():", *(inner + line for line in lines)])
    rest = f"  {layout.trailing_comment}" if layout.trailing_comment else ""
    blank = source.newline * (1 if layout.indent else 2)
    before, behind = _neighbours(module, statement)
    above = blank if before else ""
    another = behind is not None and array_row(module, getattr(behind, "value", behind)) is not None
    below = blank if behind is not None and not another else ""
    return Edit(layout.line_start, layout.line_end, above + layout.indent + text + rest + below)


def _neighbours(module: Module, statement: ast.stmt) -> tuple[bool, ast.stmt | None]:
    """Whether a statement of the block stands on the line above, and which on the line below."""
    block = module.names.block(statement)
    index = block.index(statement)
    behind = block[index + 1] if index + 1 < len(block) else None
    if behind is not None and behind.lineno != (statement.end_lineno or 0) + 1:
        behind = None
    before = index > 0 and (block[index - 1].end_lineno or 0) == statement.lineno - 1
    return before, behind
