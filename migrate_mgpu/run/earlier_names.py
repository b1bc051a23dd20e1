"""Programs of an early TensorFlow: planned with the names of 1.15, told where they were."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from migrate_mgpu.analysis.flags import definition_of_absls_own
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.analysis.symbols import earlier
from migrate_mgpu.core.findings import APPLIED, Finding, RunResult
from migrate_mgpu.core.prefilter import once_a_run
from migrate_mgpu.core.records import replaced
from migrate_mgpu.core.registry import only
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.core.states import BRIDGE, KEPT, NATIVE, REFUSED
from migrate_mgpu.run.relocation import Files, Rewritten, relocated, rewritten
from migrate_mgpu.session_config.program_rewriter import EarlierRewriter, Renamed
from migrate_mgpu.source.history import History, place
from migrate_mgpu.source.suppressions import file_suppressed

_MIGRATED = (NATIVE, BRIDGE, KEPT)
_ADVICE = "TF 1.15 runs the program with the new names only: use it as the comparison's reference"


def with_later_names(
    files: Files,
    project: Project,
    rules: Selection,
    plan: Callable[[Files], RunResult],
) -> RunResult:
    """The plan of a run whose programs have the names of 1.15.

    A file is changed for a program that is migrated with it. The run is planned as it stands
    where there is none.
    """
    rewriter = only(EarlierRewriter)
    enabled = rules.enabled(rewriter.rule.code, rewriter.rule.name)
    found: dict[Module, Renamed] = {}
    texts: dict[Module, Rewritten] = {}
    for module in project.modules.values() if enabled else ():
        if module.writable and _may_have(module.source.text):
            renamed = rewriter.rename(module)
            if renamed.edits and not file_suppressed(module.source):
                new = rewritten({module: renamed.edits})
                if new:
                    found[module] = renamed
                    texts.update(new)
    stay: dict[Path, tuple[Finding, ...]] = {}
    while found:
        layers: History = {m.path: [(m.source, texts[m].edits)] for m in found}
        contents = {module.path: texts[module].data for module in found}
        result = plan([(path, contents.get(path, data)) for path, data in files])
        migrated = (one for one in result.programs if one.state in _MIGRATED)
        used = {path for one in migrated for path in one.paths}
        for one in result.programs:  # the names are none of its reasons: they would be written
            if one.state == REFUSED and contents.keys() & set(one.paths):
                stay.setdefault(one.entry, one.reasons)
        if used >= contents.keys():
            return _staying(_with_findings(relocated(result, layers, contents), found), stay)
        found = {module: one for module, one in found.items() if module.path in used}
    return _staying(plan(files), stay)


def _staying(result: RunResult, reasons: Mapping[Path, tuple[Finding, ...]]) -> RunResult:
    """With what keeps programs beside their early names."""
    result.programs[:] = [
        replaced(one, reasons=reasons[one.entry])
        if one.state == REFUSED and one.entry in reasons
        else one
        for one in result.programs
    ]
    return result


@cache
def _words() -> re.Pattern[str]:
    """What a file has that says an early name, or calls what had another order."""
    table = earlier()
    names = (*table.names, *table.calls, *table.order)
    words = {"contrib" if n.startswith("contrib.") else n.rpartition(".")[2] for n in names}
    flags = definition_of_absls_own()
    return re.compile(rf"\b(?:{'|'.join(sorted(words))}|_parse_flags)\b|{flags}")


@once_a_run
def _may_have(text: str) -> bool:
    return _words().search(text) is not None


def _with_findings(result: RunResult, found: dict[Module, Renamed]) -> RunResult:
    """With a finding in each file, at its first name."""
    rule = only(EarlierRewriter).rule
    there: dict[Path, Module] = {module.path: module for module in found}
    for file in result.files:
        module = there.get(file.path)
        if module is None:
            continue
        names = found[module].names
        start, _ = module.source.span(min(names.values(), key=position))
        cell, line, column = place(module.source, start)
        text = f"{rule.summary}: {', '.join(f'`{name}`' for name in sorted(names))}"
        file.findings.append(
            Finding(file.path, line, column, rule.code, APPLIED, text, _ADVICE, cell)
        )
        file.findings.sort(key=lambda one: one.position)
    return result
