"""What ``evaluate`` returns: Keras's dictionary, with TF1's ``global_step`` where that is used."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.models.ir import DriverCall
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

STEP = "global_step"


def adapt_results(
    values: ValueFlow, call: DriverCall, model: ModelPlan, changes: DriverEdits, text: str
) -> str:
    """The evaluation's text, with ``global_step`` in its result where the program needs it.

    Where the step is read out of the result by its key, the optimizer's count takes its
    place and the result stays Keras's.

    Raises:
        Refused: a key that Keras's result does not have.
    """
    whole = shown = False
    for mention in values.uses(call.module, call.node):
        assert mention.node is not None
        key = _key(mention)
        shown = shown or key == "loss" or (key is None and _is_used(mention))
        if key is None:
            whole = whole or _needs_step(mention)
            continue
        if model.metrics and key not in ("loss", STEP, *model.metrics):
            module = mention.module
            raise Refused(module, mention.node, f"`{key}` is no result of the model's evaluate")
        if key == STEP and not _replace_step(call, mention, changes):
            whole = True
    averaged = isinstance(model.function, ast.FunctionDef) and not model.by_batch
    if shown and averaged:  # a canned one is told of as a whole
        changes.note(
            call.module, call.node, "the loss is the mean over examples now, in TF1 it was over "
            "batches: another number where the last batch is a smaller one",
        )  # fmt: skip
    if not whole:
        return text
    names, source = call.module.names, call.module.source
    statement = names.statement(call.node)
    if isinstance(statement, ast.Assign) and statement.value is call.node:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            key = f"{source.quote}{STEP}{source.quote}"
            line = f"{target.id}[{key}] = {_iterations(call, changes)}"
            changes.edit(call.module, Layout(source, statement).insert_after([line]))
            return text
    indent = source.indent_of(statement)
    column = source.place(source.span(call.node)[0])[1] - 1
    deeper = text.replace("\n", f"\n{source.indent_unit}")
    return FileStyle.of(source).call(
        "dict", [deeper, f"{STEP}={_iterations(call, changes)}"], indent, column
    )


def _key(mention: Value) -> str | None:
    """The key that is read out of the result at a mention."""
    node = mention.node
    assert node is not None
    parent = mention.module.names.parents[node]
    if isinstance(parent, ast.Subscript) and parent.value is node:
        key = constant(parent.slice)
        return key if isinstance(key, str) else None
    return None


def _replace_step(call: DriverCall, mention: Value, changes: DriverEdits) -> bool:
    """`result['global_step']` as the optimizer's count, where the model is known."""
    module, node = mention.module, mention.node
    assert node is not None
    names = module.names
    if module is not call.module or names.scope_at(node) is not names.scope_at(call.node):
        return False
    if node is call.node:  # evaluate(...)['global_step']: it must still evaluate
        return False
    start, end = module.source.span(names.parents[node])
    changes.edit(module, Edit(start, end, _iterations(call, changes)))
    return True


def _is_used(mention: Value) -> bool:
    assert mention.node is not None
    return not isinstance(mention.module.names.parents[mention.node], ast.Expr)


def _needs_step(mention: Value) -> bool:
    """Whether a use of the whole result shows, or may show, the step."""
    node = mention.node
    assert node is not None
    parents = mention.module.names.parents
    parent = parents[node]
    if isinstance(parent, ast.Expr):
        return False
    if isinstance(parent, ast.keyword) and parent.arg is None:  # '...'.format(**result)
        call = parents[parent]
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            pattern = constant(call.func.value)
            return not isinstance(pattern, str) or f"{{{STEP}" in pattern
    if isinstance(parent, ast.BinOp) and parent.right is node:  # '%(loss)f' % result
        pattern = constant(parent.left)
        return not isinstance(pattern, str) or STEP in pattern or "%(" not in pattern
    if isinstance(parent, ast.Attribute) and parent.attr == "get":
        call = parents[parent]
        if isinstance(call, ast.Call) and call.args:
            return constant(call.args[0]) in (STEP, None)
    return True


def _iterations(call: DriverCall, changes: DriverEdits) -> str:
    return f"int({changes.receiver(call)}.optimizer.iterations.numpy())"
