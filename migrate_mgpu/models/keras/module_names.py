"""The rest of a module whose Estimators became Keras: TF1's names in it, and its imports."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module, Use
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.api.hparams import hparams_edits
from migrate_mgpu.api.lookups import lookup_edits
from migrate_mgpu.api.made_summaries import SUMMARY, VALUE, summary_edits
from migrate_mgpu.api.mnist import mnist_edits
from migrate_mgpu.api.pipelines import pipeline_edits
from migrate_mgpu.core.records import field, record
from migrate_mgpu.core.registry import Rule, of
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.models.front.optimizers import read_schedule
from migrate_mgpu.models.front.rewriters import SymbolRewriter
from migrate_mgpu.models.keras.early_columns import FOLDER, asked_classes
from migrate_mgpu.models.keras.functions import function
from migrate_mgpu.models.keras.optimizers import schedule_edits
from migrate_mgpu.models.keras.predictors import predictor_edits
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph
from migrate_mgpu.source.style import FileStyle
from migrate_mgpu.source.suppressions import suppressed


@record(eq=False)
class Rest(EditSet):
    """The names that TF2 has otherwise, and the uses that nothing is known for."""

    left: list[Use] = field(default_factory=list)


def rest(
    module: Module,
    uses: Iterable[Use],
    gone: AbstractSet[ast.AST],
    style: FileStyle,
    rules: Selection,
    estimators: bool = False,
) -> Rest:
    """What becomes of the uses of TensorFlow outside of everything that is gone.

    ``estimators``: of a program whose graphs are those of its Estimators.
    """
    found = Rest()
    for use in uses:
        if is_inside(module, use.node, gone) or isinstance(use.node, (ast.Import, ast.ImportFrom)):
            continue
        if use.guarded:
            continue
        if _rewritten(module, use, style, rules, found):
            continue
        if use.status != "neutral" and use.symbol.name.startswith(("app.flags", "flags")):
            found.left.append(use)  # which nothing would parse, see absl_app.py
            continue
        idle = _idle(module, use) if estimators else None
        if idle is not None:
            found.edit(module, Layout(module.source, idle).replace([]))
            continue
        alias = _unused_alias(module, use.node, gone)
        if alias is not None:
            found.edit(module, Layout(module.source, alias).replace([]))
            continue
        settings = hparams_edits(module, use.node)
        if settings is not None:
            found.edit(module, *settings)
            found.needs(module, "types")
            continue
        if use.symbol.name in (*SUMMARY, *VALUE):
            made = summary_edits(module, use.node, style)
            if made is None:
                found.left.append(use)
            else:
                found.edit(module, *made)
            continue
        digits = mnist_edits(module, use.node, style)
        if digits is not None:
            found.edit(module, *digits)
            continue
        predictor = predictor_edits(module, use.node, style)
        if predictor is not None:
            found.edit(module, *predictor)
            continue
        try:
            pipeline = pipeline_edits(module, use.node, style)
            pipeline = pipeline or lookup_edits(module, use.node, style)
        except Refused:
            found.left.append(use)
            continue
        if pipeline is not None:
            found.edit(module, *pipeline)
            continue
        node: ast.AST = use.node
        parent = module.names.parents.get(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            node = parent
        try:
            edits = None
            if isinstance(node, ast.Call):
                schedule = read_schedule(module, node)
                if schedule is not None:
                    edits = schedule_edits(schedule, style)
            edits = edits or function(module, node, style)
        except Refused:
            found.left.append(use)
            continue
        found.edit(module, *(edits or ()))  # none: TF2 has it under the same name
    return found


def _rewritten(module: Module, use: Use, style: FileStyle, rules: Selection, found: Rest) -> bool:
    """Whether a name is some rewriter's, which may be switched off."""
    for rewriter in of(SymbolRewriter):
        made = rewriter.rewrite(module, use.node, style)
        if made is None:
            continue
        if _wanted(module, use.node, rewriter.rule, rules):
            found.merge(made)
        else:
            found.left.append(use)
        return True
    return False


# What changes the default graph, in which no Estimator builds, and the cache of event files.
_OF_GRAPHS = ("reset_default_graph", "summary.FileWriterCache.clear")
_PHASE = "keras.backend.set_learning_phase"  # of the default graph, above all functions


def _idle(module: Module, use: Use) -> ast.stmt | None:
    """A statement that does nothing where Keras models are what Estimators became."""
    names = module.names
    call = names.parents.get(use.node)
    phase = use.symbol.name == _PHASE and names.scope_at(use.node) is names.module_scope
    if phase and module.uses_keras_models:
        return None
    if not (phase or use.symbol.name in _OF_GRAPHS) or not isinstance(call, ast.Call):
        return None
    statement = names.parents.get(call)
    if call.func is not use.node or not isinstance(statement, ast.Expr):
        return None
    alone = len(names.block(statement)) == 1 or not Layout(module.source, statement).owns_lines
    return None if alone else statement


def _unused_alias(module: Module, node: ast.AST, gone: AbstractSet[ast.AST]) -> ast.stmt | None:
    """`rnn = tf.contrib.rnn` of a module, which nothing reads that is still there."""
    names = module.names
    statement = names.parents.get(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(node, ast.Attribute) or not isinstance(target, ast.Name):
        return None
    home = names.defining_scope(target.id, names.scope_of_name[target])
    if home is not names.module_scope or len(home.bindings[target.id]) != 1:
        return None
    found = symbol(names.qualname(target))
    if found is None or not found.name.startswith("contrib"):  # others are named in TF2 too
        return None
    if not Layout(module.source, statement).owns_lines:
        return None
    reads = [name for name in names.mentions(target.id, home) if name is not target]
    return statement if reads and all(is_inside(module, read, gone) for read in reads) else None


def import_edits(module: Module, written: AbstractSet[ast.AST] = frozenset()) -> EditSet:
    """`import tensorflow.compat.v1 as tf` becomes TF2's own import; the switch to v1 goes.

    ``written``: what is written anew, or goes.
    """
    found = EditSet()
    source = module.source
    for statement in module.tensorflow_imports:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                if alias.name == "tensorflow.compat.v1" and alias.asname:
                    start, end = source.span(statement)
                    text = source.text[start:end].replace("tensorflow.compat.v1", "tensorflow")
                    found.edit(module, Edit(start, end, text))
            continue
        tried = isinstance(module.names.parents[statement], ast.Try)
        if statement.module == FOLDER and not tried:
            _columns_of_today(module, statement, found, written)
        if statement.module == "tensorflow.compat" and not tried:
            if len(statement.names) == 1 and statement.names[0].name == "v1":
                start, end = source.span(statement)
                local = statement.names[0].asname or "v1"
                found.edit(module, Edit(start, end, f"import tensorflow as {local}"))
    for call in module.names.calls:
        name = (module.names.qualname(call.func) or "").rpartition(".")[2]
        if name in ("disable_v2_behavior", "disable_eager_execution"):
            alone = module.names.statement(call)
            if isinstance(alone, ast.Expr) and alone.value is call:
                last = len(module.names.block(alone)) == 1
                around = _version_check(module, alone) if last else alone
                if around is None:
                    found.edit(module, Layout(source, alone).replace(["pass"]))
                elif last:
                    found.edit(module, without_paragraph(source, around))
                else:
                    found.edit(module, Layout(source, around).replace([]))
                found.gone.add(around or alone)
    return found


def _version_check(module: Module, statement: ast.stmt) -> ast.stmt | None:
    """`if tf.__version__.startswith("2"):`, around a statement alone; None for other blocks."""
    around = module.names.parents[statement]
    if not isinstance(around, ast.If) or around.orelse:
        return None
    parts = [*walk(around.test)]
    asks = any(isinstance(one, ast.Attribute) and one.attr == "__version__" for one in parts)
    calls = (one.func for one in parts if isinstance(one, ast.Call))
    plain = all(
        (isinstance(one, ast.Attribute) and one.attr in ("startswith", "split"))
        or module.names.qualname(one) == "builtins.int"
        for one in calls
    )
    return around if asks and plain else None


def _columns_of_today(
    module: Module, statement: ast.ImportFrom, found: EditSet, written: AbstractSet[ast.AST]
) -> None:
    """The classes of columns that a program asks for are those that its columns have today."""
    asked = asked_classes(module, statement)
    if not asked:
        return
    source, alias = module.source, statement.names[0]
    start, end = source.span(statement)
    text = f"from {FOLDER} import feature_column_v2 as {alias.asname or alias.name}"
    found.edit(module, Edit(start, end, text))
    for one in asked:
        if not is_inside(module, one, written):
            last = source.span(one)[1]
            found.edit(module, Edit(last - len(one.attr), last, one.attr[1:]))
    found.note(
        module, statement, "columns are of these classes in an early TensorFlow only: 1.15 has "
        "them in feature_column_v2, without the underscore, as is written here; compare with that",
    )  # fmt: skip


def _wanted(module: Module, node: ast.AST, known: Rule, rules: Selection) -> bool:
    """Whether a rule is on, for the run and at a node."""
    line = node.lineno  # type: ignore[attr-defined]
    off = suppressed(module.source, line, line, known)
    return rules.enabled(known.code, known.name) and not off
