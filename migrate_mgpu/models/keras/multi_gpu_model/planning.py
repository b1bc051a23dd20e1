"""Every copied model of a run: all of it becomes a strategy, or its program stays."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place, Refused, internal_error
from migrate_mgpu.analysis.edit_set import EditSet, Note
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.findings import AVERAGES, BATCHES
from migrate_mgpu.core.records import record
from migrate_mgpu.core.registry import only
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.models.front.multi_gpu_model.building import building, compiling
from migrate_mgpu.models.front.multi_gpu_model.reading import NAME, calls, is_import, read
from migrate_mgpu.models.front.multi_gpu_model.rewriter import CopiesRewriter
from migrate_mgpu.models.front.multi_gpu_model.same import check_compiled, check_parts, reach
from migrate_mgpu.models.front.multi_gpu_model.uses import metric_edits, read_uses
from migrate_mgpu.models.keras import changed_optimizers
from migrate_mgpu.models.keras.multi_gpu_model.elsewhere import (
    made_at,
    under_strategy,
    without_copies,
)
from migrate_mgpu.models.keras.multi_gpu_model.placing import Placing
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle
from migrate_mgpu.source.suppressions import file_suppressed, suppressed

_UNEVEN = (
    "TF1 weighs every example alike; a strategy weighs every GPU's part of a batch alike, and "
    "Keras 3 stops where the first batch has no equal parts: let all batches, the last one too, "
    "be divisible by the number of GPUs"
)
_NORMAL = (
    "batch normalization: TF1's copies moved its averages over each other, with another result "
    "in every run; a strategy moves them once a step"
)


@record(eq=False)
class Copy(EditSet):
    """A call of ``multi_gpu_model``, and what becomes of it.

    ``refused`` is why it stays; ``gone`` are the nodes that go.
    """

    module: Module
    call: ast.Call
    refused: Diagnostic | None = None


class Copies:
    """The copied models of a run."""

    def __init__(self, project: Project, graph: CallGraph, rules: Selection) -> None:
        self.graph = graph
        self.rules = rules
        self.all: list[Copy] = []
        for module in project.modules.values():
            if NAME in module.source.text and module.writable:
                found = calls(module)
                self.all += [self._plan(module, call, found) for call in found]

    def of(self, modules: Iterable[Module]) -> list[Copy]:
        """The copies that some modules make."""
        wanted = set(modules)
        return [copy for copy in self.all if copy.module in wanted]

    def _plan(self, module: Module, call: ast.Call, others: list[ast.Call]) -> Copy:
        copy = Copy(module, call)
        try:
            if len(others) > 1:
                raise Refused(
                    module, call, f"several calls of `{NAME}` in one file",
                    "one strategy is enough for all models: write one call",
                )  # fmt: skip
            self._check_rules(copy)
            self._convert(copy)
        except Refused as refused:
            copy.refused = refused.diagnostic
        except Exception as error:
            copy.refused = internal_error(Place(module, call), error)
        return copy

    def _mended(self, module: Module, optimizer: ast.expr) -> bool:
        on = self.rules.enabled(changed_optimizers.CODE, changed_optimizers.NAME)
        return on and changed_optimizers.trains_the_same(module, optimizer)

    def _check_rules(self, copy: Copy) -> None:
        module, call = copy.module, copy.call
        rule = only(CopiesRewriter).rule
        off = not self.rules.enabled(rule.code, rule.name)
        last = call.end_lineno or call.lineno
        if off or suppressed(module.source, call.lineno, last, rule):
            raise Refused(module, call, f"{rule.code} ({rule.name}) is switched off")
        if file_suppressed(module.source):
            raise Refused(module, call, "a comment switches the file off")

    def _convert(self, copy: Copy) -> None:
        module, values = copy.module, ValueFlow(self.graph)
        site = read(module, copy.call, values)
        home = site if site.origin is None else made_at(site)
        built = building(site, self.graph)
        uses = read_uses(site, values, built)
        modules = reach(module, home.module, *(use.module for use in uses.compiled))
        check_parts(modules)
        _check_strategies(modules)
        compiled: list[ast.stmt] = []
        for use in uses.compiled:
            statements = compiling(use.module, use.call, self.graph)
            if use.module is home.module and use.module.names.scope_at(use.call) is home.scope:
                compiled += statements
            else:
                copy.edit(use.module, *under_strategy(use, statements))
            copy.notes += check_compiled(use.module, values, use.call, self._mended)
            uses.edit(use.module, *metric_edits(reach(use.module), use.module, use.call))
        tf = spelling(home.module, home.statement)
        if tf is None:
            tf = "tf"
            copy.needs(home.module, "tensorflow as tf")
        placing = Placing(home, FileStyle.of(home.module.source, tf), built, compiled)
        placed = placing.run()
        if site.origin is not None:
            uses.edit(module, *without_copies(site))
        elif home.module is module:
            left = [s for s in uses.dropped if not _is_in(module, s, placing.moved)]
            placed += [_dropped(module, statement) for statement in left]
        uses.edit(module, *_local_imports(module))
        copy.edit(home.module, *placed)
        for one, edits in uses.edits.items():
            copy.edit(one, *(_outside(placed, edits) if one is home.module else edits))
        copy.gone = {site.call.func}
        copy.notes += [*uses.notes, Note(module, site.call, _UNEVEN, BATCHES)]
        if any(_normalizes(one) for one in modules):
            copy.note(module, site.call, _NORMAL, AVERAGES)


def _is_in(module: Module, statement: ast.stmt, others: list[ast.stmt]) -> bool:
    around = [statement, *module.names.ancestors(statement)]
    return any(other in around for other in others)


def _dropped(module: Module, statement: ast.stmt) -> Edit:
    lines = ["pass"] if len(module.names.block(statement)) == 1 else []
    return Layout(module.source, statement).replace(lines)


def _outside(placed: list[Edit], others: list[Edit]) -> list[Edit]:
    """Edits that no removed or moved statement holds."""
    large = [e for e in placed if e.end > e.start]
    found: list[Edit] = []
    for edit in others:
        if not any(e.start <= edit.start and edit.end <= e.end for e in large):
            if edit not in found:
                found.append(edit)
    return found


def _local_imports(module: Module) -> list[Edit]:
    """`from keras.utils import multi_gpu_model` inside of a function goes with the call."""
    edits: list[Edit] = []
    for statement in module.names.imports:
        if statement not in module.tree.body and is_import(statement):
            layout = Layout(module.source, statement)
            if layout.owns_lines and len(module.names.block(statement)) > 1:
                edits.append(layout.replace([]))
    return edits


def _check_strategies(modules: list[Module]) -> None:
    for module in modules:
        for use in module.uses:
            if use.symbol.name.endswith("Strategy") and not isinstance(use.node, ast.stmt):
                raise Refused(
                    module, use.node, "the program has a strategy beside its copied model",
                    "train the model under that strategy alone",
                )  # fmt: skip


def _normalizes(module: Module) -> bool:
    return any(
        name.endswith("BatchNormalization") or ".applications" in f".{name}"
        for name in module.keras_names
    )
