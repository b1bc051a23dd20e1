"""A run as SARIF 2.1.0, which code hosts show beside the code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from migrate_mgpu import __version__
from migrate_mgpu.output.catalogue import entries
from migrate_mgpu.output.report import AVAILABLE, severity

if TYPE_CHECKING:
    from migrate_mgpu.core import findings as f
    from migrate_mgpu.output.report import Report

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def render(report: Report) -> str:
    """The document, with a line end."""
    return json.dumps(document(report), indent=2) + "\n"


def document(report: Report) -> dict[str, Any]:
    files = report.result.files
    failures = [_failure(file) for file in files if file.error is not None]
    run = {
        "tool": {
            "driver": {
                "name": "migrate-mgpu",
                "semanticVersion": __version__,
                "rules": [
                    {
                        "id": entry.code,
                        "name": entry.name,
                        "shortDescription": {"text": entry.summary},
                        "help": {"text": entry.doc, "markdown": entry.doc},
                    }
                    for entry in entries()
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {"executionSuccessful": not failures, "toolExecutionNotifications": failures}
        ],
        "results": [_result(report, file, finding) for file in files for finding in file.findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(report: Report, file: f.FileResult, finding: f.Finding) -> dict[str, Any]:
    advice = f"; {finding.advice}" if finding.advice else ""
    state = report.state(file, finding)
    # Something that can still be rewritten is worth a warning to who only checks.
    level = "warning" if state == AVAILABLE else severity(finding)
    cell = f"cell {finding.cell}, line {finding.line}: " if finding.cell is not None else ""
    # A notebook's lines are those of its JSON, which nobody reads.
    line = finding.line if finding.cell is None else 0
    return {
        "ruleId": finding.code,
        "level": level,
        "message": {"text": f"{cell}{state}: {finding.message}{advice}"},
        "locations": [_location(finding.path, line, finding.column)],
        "properties": {"state": state},
    }


def _failure(file: f.FileResult) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": file.error},
        "locations": [_location(file.path, file.error_line, 0)],
    }


def _location(path: Path, line: int, column: int) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri(path)}}
    if line:
        physical["region"] = {"startLine": line}
        if column:
            physical["region"]["startColumn"] = column
    return {"physicalLocation": physical}


def uri(path: Path) -> str:
    """A path as a URI reference: relative ones stay relative, below the working directory."""
    if path.is_absolute():
        try:
            path = path.relative_to(Path.cwd())
        except ValueError:
            return path.as_uri()
    return quote(os.fsencode(path.as_posix()))
