"""A run's findings and statistics for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TextIO

from migrate_mgpu.core import findings as f
from migrate_mgpu.core.colors import painter
from migrate_mgpu.output.report import AVAILABLE, migrated

if TYPE_CHECKING:
    from migrate_mgpu.core.colors import Paint
    from migrate_mgpu.output.report import Report

_STYLES = {
    f.APPLIED: "green",
    AVAILABLE: "green",
    f.KEPT: "cyan",
    f.REFUSED: "red",
    f.MANUAL: "yellow",
}
# How many programs of one state are named, and how many reasons of each.
_NAMED = 5
_REASONS = 12
_UNUSED = "give the scripts that use this code as paths too, or run tf_upgrade_v2 on it"


def write(report: Report, stream: TextIO, failures: TextIO) -> None:
    """Findings by file, the programs by state with what is next, a last line with the counts."""
    paint = painter(failures, report.color)
    for file in report.result.files:
        if file.error is not None:
            line = f":{file.error_line}" if file.error_line else ""
            failures.write(f"{paint(f'{file.path}{line}:', 'bold')} {paint(file.error, 'red')}\n")
    paint = painter(stream, report.color)
    places = _findings(report, paint) + _rewritten(report, paint)
    programs = _programs(report, paint)
    stream.write(places + ("\n" if places and programs else "") + programs)
    stream.write(_unused(report, paint))
    if report.statistics:
        stream.write(_statistics(report, paint))
    stream.write(summary(report))


def _findings(report: Report, paint: Paint) -> str:
    lines = []
    for file in report.result.files:
        for finding in file.findings:
            if report.quiet and finding.state == f.APPLIED:
                continue
            state = report.state(file, finding)
            advice = f" ({finding.advice})" if finding.advice else ""
            place = paint(f"{finding.where}:{finding.column}:", "bold")
            lines.append(
                f"{place} {finding.code} {paint(state, _STYLES[state])}: "
                f"{finding.message}{advice}\n"
            )
    return "".join(lines)


def _rewritten(report: Report, paint: Paint) -> str:
    """A line for each file that was written."""
    if report.quiet or not report.writes:
        return ""
    changed = (file.path for file in report.result.files if file.changed)
    return "".join(f"{paint('rewrote', 'bold')} {path}\n" for path in changed)


def _programs(report: Report, paint: Paint) -> str:
    """Those that cannot run first; a state's programs share what is next for them."""
    programs = report.result.programs
    if not programs:
        return ""
    groups: dict[tuple[str, str, str], list[f.ProgramResult]] = {}
    # Of those that stay, the one with the fewest kinds of reasons first: the shortest way.
    for program in sorted(programs, key=lambda p: (len(_grouped(p)), str(p.entry))):
        groups.setdefault((program.state, program.runs_on, program.next), []).append(program)
    counts = Counter(program.state for program in programs)
    total = "; ".join(f"{count} {state}" for state, count in sorted(counts.items()))
    lines = [paint(f"Programs: {total}", "bold")]
    width = max(len(str(program.entry)) for program in programs)
    for (state, runs_on, following), members in sorted(
        groups.items(), key=lambda group: (not group[1][0].reasons, group[0])
    ):
        runs = f", runs on {runs_on}" if runs_on and migrated(members[0]) else ""
        lines.append(f"  {paint(state, 'bold')}{runs}; next: {following}")
        named = members if report.statistics else members[:_NAMED]
        for program in named:
            of = f"{program.modules} files" if program.modules > 1 else ""
            lines.append(f"    {program.entry!s:<{width if of else 0}}  {of}".rstrip())
            reasons = _grouped(program)
            for message, places in list(reasons.items())[:_REASONS]:
                more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
                lines.append(f"        {places[0].where}: {message}{more}")
            if len(reasons) > _REASONS:
                lines.append(f"        and {len(reasons) - _REASONS} other reasons")
        if len(members) > len(named):
            lines.append(f"    and {len(members) - len(named)} more (--statistics names all)")
    return "\n".join(lines) + "\n\n"


def _grouped(program: f.ProgramResult) -> dict[str, list[f.Finding]]:
    """What keeps a program, each reason once, with its places."""
    found: dict[str, list[f.Finding]] = {}
    for one in program.reasons:
        found.setdefault(one.message, []).append(one)
    return found


def _unused(report: Report, paint: Paint) -> str:
    """TF1 code outside of all programs, which a reader may believe to be migrated."""
    paths = report.result.unused
    if not paths:
        return ""
    many = len(paths) != 1
    title = f"TF1 code that no program of this run imports: {len(paths)} file{'s' * many}"
    lines = [paint(title, "bold"), f"  left as {'they are' if many else 'it is'}; next: {_UNUSED}"]
    named = paths if report.statistics else paths[:_NAMED]
    lines += [f"    {path}" for path in named]
    if len(paths) > len(named):
        lines.append(f"    and {len(paths) - len(named)} more (--statistics names all)")
    return "\n".join(lines) + "\n\n"


def _statistics(report: Report, paint: Paint) -> str:
    result = report.result
    sites = result.sites
    rows = [
        ("configs moved to tf.config", sites[f.APPLIED]),
        ("configs kept on their session", sites[f.KEPT]),
        ("configs of programs that stay on TF1", sites[f.REFUSED]),
    ]
    lines = [paint("Sites", "bold"), *_table(rows), ""]
    states = Counter(program.state for program in result.programs)
    lines += [paint("Programs", "bold"), *_table(sorted(states.items())), ""]
    codes = Counter(finding.code for finding in result.findings)
    if codes:
        from migrate_mgpu.output.catalogue import by_code

        known = by_code()
        named = [
            (f"{code} {known[code].name if code in known else ''}".rstrip(), count)
            for code, count in sorted(codes.items())
        ]
        lines += [paint("Findings", "bold"), *_table(named), ""]
    return "\n".join(lines) + "\n"


def _table(rows: list[tuple[str, int]]) -> list[str]:
    """Names, counts and shares, in columns."""
    total = sum(count for _, count in rows)
    width = max((len(name) for name, _ in rows), default=0)
    digits = len(str(total))
    return [
        f"  {name:<{width}}  {count:>{digits}}"
        + (f"  {100 * count / total:3.0f} %" if total else "")
        for name, count in rows
    ] + ([f"  {'in all':<{width}}  {total:>{digits}}"] if len(rows) > 1 else [])


def summary(report: Report) -> str:
    """The last line: what happened, in numbers."""
    result = report.result
    known = report.accepted or report.outdated or report.failed
    if result.unused and not (result.programs or report.changed or report.failed):
        files = f"{result.scanned} file" + "s" * (result.scanned != 1)
        return f"nothing to migrate: no session, Estimator or copied model in {files}\n"
    if not (result.programs or result.findings or report.changed or known):
        return f"nothing to migrate in {result.scanned} file" + "s" * (result.scanned != 1) + "\n"
    verb = "changed" if report.writes else "would change"
    files = f"{result.scanned} file" + ("s" if result.scanned != 1 else "")
    text = f"{report.changed} of {files} {verb}"
    sites = result.sites
    if any(sites.values()):
        text += (
            f"; configs: {sites[f.APPLIED]} moved, {sites[f.KEPT]} kept, {sites[f.REFUSED]} refused"
        )
    if report.accepted:
        text += f"; {len(report.accepted)} accepted by the baseline"
    if report.outdated:
        text += f"; {report.outdated} of the baseline no longer found (--write-baseline drops them)"
    if report.failed:
        text += f"; {report.failed} could not be processed"
    return text + "\n"
