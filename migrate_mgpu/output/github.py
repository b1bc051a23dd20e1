"""Findings as workflow commands, which GitHub shows as annotations of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from migrate_mgpu.output.report import AVAILABLE, WARNING, severity
from migrate_mgpu.output.text import summary

if TYPE_CHECKING:
    from migrate_mgpu.output.report import Report


def render(report: Report) -> str:
    """One line for each failure and finding, and the counts as plain text."""
    lines = []
    for file in report.result.files:
        if file.error is not None:
            line = f",line={file.error_line}" if file.error_line else ""
            lines.append(
                f"::error file={_property(str(file.path))}{line},title=migrate-mgpu::"
                f"{_message(file.error)}\n"
            )
        for finding in file.findings:
            state = report.state(file, finding)
            kind = "warning" if state == AVAILABLE or severity(finding) == WARNING else "notice"
            advice = f" ({finding.advice})" if finding.advice else ""
            position, cell = f",line={finding.line},col={finding.column}", ""
            if finding.cell is not None:  # GitHub counts the lines of the notebook's JSON
                position, cell = "", f"cell {finding.cell}, line {finding.line}: "
            lines.append(
                f"::{kind} file={_property(str(finding.path))}{position},"
                f"title={_property(finding.code)}::"
                f"{_message(f'{cell}{state}: {finding.message}{advice}')}\n"
            )
    return "".join(lines) + summary(report)


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
