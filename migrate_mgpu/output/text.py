"""A run's findings and statistics for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TextIO

from migrate_mgpu.engine import findings as f

if TYPE_CHECKING:
    import argparse


def left_by_hand(result: f.RunResult) -> bool:
    """Whether a person still has something to do."""
    return any(finding.state in (f.REFUSED, f.MANUAL) for finding in result.findings)


def write(result: f.RunResult, stream: TextIO, options: argparse.Namespace) -> None:
    """Findings by file, then a line for each program that is not plainly done, then a summary."""
    for file in result.files:
        if file.error:
            stream.write(f"{file.path}:{file.error_line}: {file.error}\n")
        for finding in file.findings:
            if options.quiet and finding.state == f.APPLIED:
                continue
            advice = f" ({finding.advice})" if finding.advice else ""
            stream.write(
                f"{finding.path}:{finding.line}:{finding.column}: {finding.code} "
                f"{_word(finding.state, options)}: {finding.message}{advice}\n"
            )
    stream.write(_programs(result))
    if options.statistics:
        stream.write(_statistics(result, options))
    stream.write(_summary(result, options))


def _word(state: str, options: argparse.Namespace) -> str:
    if state == f.APPLIED and (options.diff or options.check):
        return "available"
    return state


def _programs(result: f.RunResult) -> str:
    if not result.programs:
        return ""
    lines = ["", "Programs:"]
    width = max(len(str(program.entry)) for program in result.programs)
    for program in result.programs:
        runs = f"; runs on {program.runs_on}" if program.runs_on else ""
        lines.append(f"  {str(program.entry):<{width}}  {program.state}{runs}")
        lines += [f"      {reason}" for reason in program.reasons[:3]]
        if len(program.reasons) > 3:
            lines.append(f"      and {len(program.reasons) - 3} more")
    for state, count in Counter(program.state for program in result.programs).items():
        steps = {program.next for program in result.programs if program.state == state}
        lines.append(f"Next, {state} ({count}): {'; '.join(sorted(steps))}")
    return "\n".join(lines) + "\n"


def _statistics(result: f.RunResult, options: argparse.Namespace) -> str:
    sites = result.sites
    total = sum(sites.values())
    lines = ["", "Statistics:"]
    for state, word in ((f.APPLIED, "moved"), (f.KEPT, "kept"), (f.REFUSED, "refused")):
        share = f" ({100 * sites[state] / total:.0f} %)" if total else ""
        lines.append(f"  configs {word:<8} {sites[state]:>5}{share}")
    for state, count in sorted(Counter(p.state for p in result.programs).items()):
        lines.append(f"  programs {state}: {count}")
    for code, count in sorted(Counter(x.code for x in result.findings).items()):
        lines.append(f"  {code} {count:>5}")
    return "\n".join(lines) + "\n"


def _summary(result: f.RunResult, options: argparse.Namespace) -> str:
    changed = sum(file.changed for file in result.files)
    failed = sum(file.error is not None for file in result.files)
    verb = "would change" if options.diff or options.check else "changed"
    text = f"{changed} of {result.scanned} files {verb}"
    sites = result.sites
    text += (
        f"; configs: {sites[f.APPLIED]} moved, {sites[f.KEPT]} kept, {sites[f.REFUSED]} refused"
    )
    if failed:
        text += f"; {failed} could not be processed"
    return text + "\n"
