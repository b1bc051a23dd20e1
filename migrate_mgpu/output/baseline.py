"""Findings that a project has accepted: ``--baseline FILE``, ``--write-baseline``.

An entry is a finding without its position (path, code, message, the text of its
line), so that lines may move; equal ones are counted.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from migrate_mgpu.core import findings as f
from migrate_mgpu.core.options import UsageError
from migrate_mgpu.output.report import Report

VERSION = 1
# Messages name other places: "(line 12)", "(train.py:12)".
_PLACE = re.compile(r"(?<=\bline )\d+|(?<=\.py:)\d+")


class Key(NamedTuple):
    """What stays of a finding when the lines of its file move."""

    path: str
    code: str
    message: str
    text: str


class Baseline:
    """A file of accepted findings; with ``rewrite`` a run's findings become what it accepts.

    Raises:
        UsageError: the file cannot be read or is no baseline.
    """

    def __init__(self, name: str, rewrite: bool) -> None:
        self._name = name
        self._rewrite = rewrite
        self._accepted = Counter[Key]() if rewrite else _read(name)

    def use(self, report: Report) -> None:
        """Takes the accepted findings out of a report.

        Raises:
            OSError: the file cannot be written.
        """
        if self._rewrite:
            self._accepted = self._all(report)
            _write(self._name, self._accepted)
        left = Counter(self._accepted)
        for file in report.result.files:
            lines = _lines(file)
            remaining = []
            for finding in file.findings:
                key = _key(finding, lines, self._name)
                if finding.state != f.APPLIED and left[key] > 0:
                    left[key] -= 1
                    report.accepted.append(finding)
                else:
                    remaining.append(finding)
            file.findings[:] = remaining
        report.outdated = sum(left.values())

    def _all(self, report: Report) -> Counter[Key]:
        """Every finding but those that are done."""
        return Counter(
            _key(finding, _lines(file), self._name)
            for file in report.result.files
            for finding in file.findings
            if finding.state != f.APPLIED
        )


def _read(name: str) -> Counter[Key]:
    try:
        document = json.loads(Path(name).read_text(encoding="utf-8"))
        if document["version"] != VERSION:
            raise UsageError(f"{name}: is of version {document['version']!r}, not {VERSION}")
        accepted: Counter[Key] = Counter()
        for entry in document["findings"]:
            key = Key(entry["path"], entry["code"], entry["message"], entry["text"])
            accepted[key] += int(entry["count"])
        return accepted
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{name}: is not a baseline of migrate-mgpu") from None


def _write(name: str, accepted: Counter[Key]) -> None:
    findings = [{**key._asdict(), "count": count} for key, count in sorted(accepted.items())]
    document = {"version": VERSION, "findings": findings}
    temporary = Path(f"{name}.new")
    temporary.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    temporary.replace(name)


def _key(finding: f.Finding, lines: list[str], name: str) -> Key:
    path = os.path.relpath(finding.path, Path(name).parent)
    known = finding.cell is None and 0 < finding.line <= len(lines)  # a cell's lines are not
    text = lines[finding.line - 1].strip() if known else ""
    return Key(Path(path).as_posix(), finding.code, _PLACE.sub("N", finding.message), text)


def _lines(file: f.FileResult) -> list[str]:
    return re.split(r"\r\n|\r|\n", file.before or "")
