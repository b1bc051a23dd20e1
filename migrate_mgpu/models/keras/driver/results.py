"""What ``evaluate`` and ``train_and_evaluate`` return: Keras's dictionary, with TF1's
``global_step`` where that is used."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.core.findings import EVALUATION
from migrate_mgpu.core.records import record
from migrate_mgpu.models.ir import DriverCall
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

STEP = "global_step"
_MEAN = (
    "the loss is the mean over examples now, in TF1 it was over batches: another number where the "
    "last batch is a smaller one"
)


def adapt_results(
    values: ValueFlow, call: DriverCall, model: ModelPlan, changes: DriverEdits, text: str
) -> str:
    """The evaluation's text, with ``global_step`` in its result where the program needs it.

    Where the step is read out of the result by its key, the optimizer's count takes its
    place and the result stays Keras's.

    Raises:
        Refused: a key that Keras's result does not have.
    """
    if not _needs_whole(call, values.uses(call.module, call.node), model, changes):
        return text
    names, source = call.module.names, call.module.source
    statement = names.statement(call.node)
    if isinstance(statement, ast.Assign) and statement.value is call.node:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            line = _with_step(call, target.id, changes)
            changes.edit(call.module, Layout(source, statement).insert_after([line]))
            return text
    indent = source.indent_of(statement)
    column = source.place(source.span(call.node)[0])[1] - 1
    return _dictionary(call, text, changes, indent, column)


@record(frozen=True)
class Returned:
    """The variables that hold what ``train_and_evaluate`` returns, a pair of results and exports.

    ``pair`` holds both, or ``results`` and ``exports`` one each; "" is none, or one that nothing
    reads. ``reads`` are the places that use the results; ``whole`` says that one uses the pair.
    """

    pair: str = ""
    results: str = ""
    exports: str = ""
    reads: tuple[Value, ...] = ()
    whole: bool = False


def returned(values: ValueFlow, call: DriverCall) -> Returned | None:
    """How the program takes what ``train_and_evaluate`` returns; None where nothing uses it.

    Raises:
        Refused: it is no statement of its own, or both are taken otherwise than by names.
    """
    module = call.module
    statement = module.names.statement(call.node)
    one = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    target = statement.targets[0] if one and isinstance(statement, ast.Assign) else None
    if statement_value(statement) is call.node:
        if isinstance(statement, ast.Expr):
            return None
        if isinstance(target, ast.Name):
            uses = values.uses(module, call.node)
            return _of_pair(values, target.id, uses) if uses else None
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            both = [part for part in target.elts if isinstance(part, ast.Name)]
            if len(both) == 2:
                return _of_both(values, module, *both)
    raise Refused(
        module, call.node, f"what `{call.kind}` returns is used", "call it in a statement of its "
        f"own, or name what it returns: `results, exports = tf.estimator.{call.kind}(...)`",
    )  # fmt: skip


def _of_pair(values: ValueFlow, name: str, uses: list[Value]) -> Returned:
    reads: list[Value] = []
    whole = False
    for use in uses:
        assert use.node is not None
        item = use.module.names.parents[use.node]
        if isinstance(item, ast.Subscript) and item.value is use.node and constant(item.slice) == 0:
            reads += values.uses(use.module, item)
        else:
            whole = True
    return Returned(name, reads=tuple(reads), whole=whole)


def _of_both(values: ValueFlow, module: Module, first: ast.Name, second: ast.Name) -> Returned:
    names = module.names
    reads: list[list[Value]] = []
    for name in (first, second):
        home = names.defining_scope(name.id, names.scope_of_name[name])
        assert home is not None
        known = values.reads(module, name.id, home)
        reads.append([u for r in known if r.node for u in values.uses(r.module, r.node)])
    return Returned("", first.id, second.id if reads[1] else "", tuple(reads[0]))


def evaluated(
    call: DriverCall, how: Returned, text: str, indent: str, changes: DriverEdits, model: ModelPlan
) -> list[str]:
    """The statements that give an evaluation's results to the variables that had them.

    Args:
        text: the evaluation, a call.
    """
    whole = _needs_whole(call, list(how.reads), model, changes) or how.whole
    if how.whole and isinstance(model.function, ast.FunctionDef) and not model.by_batch:
        changes.note(call.module, call.node, _MEAN, EVALUATION)
    if not how.pair:
        lines = [f"{how.results} = {text}"]
        lines += [_with_step(call, how.results, changes)] if whole else []
        return [*lines, *([f"{how.exports} = []"] if how.exports else [])]
    begin = f"{how.pair} = "
    if whole:
        text = _dictionary(call, text, changes, indent, len(indent) + len(begin))
    return [f"{begin}{text}, []"]


def without_evaluation(how: Returned) -> str:
    """What TF1 returned where the model had all its steps already."""
    if how.pair:
        return f"{how.pair} = None, None"
    return " = ".join([how.results, *([how.exports] if how.exports else []), "None"])


def _needs_whole(
    call: DriverCall, mentions: list[Value], model: ModelPlan, changes: DriverEdits
) -> bool:
    """Whether the results must have TF1's ``global_step``; where only that is read, by its key,
    the optimizer's count takes its place."""
    whole, shown = False, _is_displayed(call)
    for mention in mentions:
        assert mention.node is not None
        key = _key(mention)
        shown = shown or key == "loss" or (key is None and _is_used(mention))
        if key is None:
            whole = whole or _needs_step(mention)
            continue
        if model.metrics and key not in ("loss", STEP, *model.metrics):
            module = mention.module
            raise Refused(module, mention.node, f"`{key}` is not a result of the model's evaluate")
        if key == STEP and not _replace_step(call, mention, changes):
            whole = True
    averaged = isinstance(model.function, ast.FunctionDef) and not model.by_batch
    if shown and averaged:  # a canned one is told of as a whole
        changes.note(call.module, call.node, _MEAN, EVALUATION)
    return whole


def _is_displayed(call: DriverCall) -> bool:
    """Whether a notebook shows the results below its cell, whose last expression they are."""
    module, source = call.module, call.module.source
    statement = module.names.statement(call.node)
    if module.path.suffix != ".ipynb" or statement not in module.tree.body:
        return False
    end = source.span(statement)[1]
    alone = isinstance(statement, ast.Expr) and statement.value is call.node
    return alone and not source.text[end : source.part_at(end)[1]].strip()


def _with_step(call: DriverCall, name: str, changes: DriverEdits) -> str:
    quote = call.module.source.quote
    return f"{name}[{quote}{STEP}{quote}] = {_iterations(call, changes)}"


def _dictionary(call: DriverCall, text: str, changes: DriverEdits, indent: str, column: int) -> str:
    """The results with the step, as one expression."""
    source = call.module.source
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
