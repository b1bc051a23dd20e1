"""A run as JSON; ``report.schema.json`` beside this file is its schema.

Additions do not change ``version``; anything else does.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from migrate_mgpu import __version__
from migrate_mgpu.core import findings as f
from migrate_mgpu.output import kept
from migrate_mgpu.output.catalogue import by_code
from migrate_mgpu.output.report import migrated, severity

if TYPE_CHECKING:
    from migrate_mgpu.output.report import Report

VERSION = 1


def render(report: Report) -> str:
    """The document, with a line end."""
    return json.dumps(document(report), indent=2) + "\n"


def document(report: Report) -> dict[str, Any]:
    result = report.result
    sites = result.sites
    return {
        "version": VERSION,
        "tool": {"name": "migrate-mgpu", "version": __version__},
        "written": report.writes,
        "files": [_file(file) for file in result.files],
        "findings": [
            _finding(report, file, finding) for file in result.files for finding in file.findings
        ],
        "programs": [_program(program) for program in result.programs],
        "unused": [str(path) for path in result.unused],
        "counts": {
            "files": {
                "scanned": result.scanned,
                "changed": report.changed,
                "failed": report.failed,
            },
            "configs": {
                "moved": sites[f.APPLIED],
                "kept": sites[f.KEPT],
                "refused": sites[f.REFUSED],
            },
            "baseline": {"accepted": len(report.accepted), "outdated": report.outdated},
        },
    }


def _file(file: f.FileResult) -> dict[str, Any]:
    error = None
    if file.error is not None:
        error = {"line": file.error_line or None, "message": file.error}
    return {"path": str(file.path), "changed": file.changed, "error": error}


def _finding(report: Report, file: f.FileResult, finding: f.Finding) -> dict[str, Any]:
    entry = by_code().get(finding.code)
    page = entry.page if entry else None
    return {
        "path": str(finding.path),
        "cell": finding.cell,
        "line": finding.line,
        "column": finding.column,
        "code": finding.code,
        "rule": entry.name if entry else None,
        "page": kept.PAGE + finding.key if finding.key in kept.REASONS else page,
        "severity": severity(finding),
        "state": report.state(file, finding),
        "message": finding.message,
        "advice": finding.advice or None,
    }


def _program(program: f.ProgramResult) -> dict[str, Any]:
    return {
        "entry": str(program.entry),
        "state": program.state,
        "modules": program.modules,
        "runs_on": program.runs_on if migrated(program) else None,
        "reasons": [f"{one.where}: {one.message}" for one in program.reasons],
        "next": program.next,
    }
