"""Findings that a project has accepted: ``--baseline FILE``, ``--write-baseline``.

An entry is a finding without its position and its wording: its file, its code, why it is there
(the key of its diagnostic, what it affects) and the text of its line, so that lines may move and
messages be worded otherwise; equal ones are counted. Its message is for who reads the file.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from migrate_mgpu.core import findings as f
from migrate_mgpu.core.options import UsageError
from migrate_mgpu.output.report import Report

VERSION = 2
WITHOUT_KEYS = 1  # its entries have messages in place of keys


class Key(NamedTuple):
    """What stays of a finding when the lines of its file move."""

    path: str
    code: str
    text: str
    key: str = ""
    affects: str = ""


class Baseline:
    """A file of accepted findings; with ``rewrite`` a run's findings become what it accepts.

    Raises:
        UsageError: the file cannot be read or is no baseline.
    """

    def __init__(self, name: str, rewrite: bool) -> None:
        self._name = name
        self._rewrite = rewrite
        self._has_keys = True
        self._accepted = Counter[Key]()
        if not rewrite:
            self._read()

    def use(self, report: Report) -> None:
        """Takes the accepted findings out of a report.

        Raises:
            OSError: the file cannot be written.
        """
        if self._rewrite:
            self._write(report)
        left = Counter(self._accepted)
        for file in report.result.files:
            remaining = []
            for finding, key in self._keys(file):
                if finding.state != f.APPLIED and left[key] > 0:
                    left[key] -= 1
                    report.accepted.append(finding)
                else:
                    remaining.append(finding)
            file.findings[:] = remaining
        report.outdated = sum(left.values())

    def _keys(self, file: f.FileResult) -> Iterator[tuple[f.Finding, Key]]:
        lines = re.split(r"\r\n|\r|\n", file.before or "")
        for finding in list(file.findings):
            path = os.path.relpath(finding.path, Path(self._name).parent)
            known = finding.cell is None and 0 < finding.line <= len(lines)  # a cell's are not
            key = Key(
                Path(path).as_posix(),
                finding.code,
                lines[finding.line - 1].strip() if known else "",
            )
            if self._has_keys:
                key = key._replace(key=finding.key, affects=finding.affects)
            yield finding, key

    def _read(self) -> None:
        name = self._name
        try:
            document = json.loads(Path(name).read_text(encoding="utf-8"))
            version = document["version"]
            if version not in (VERSION, WITHOUT_KEYS):
                raise UsageError(f"{name}: is of version {version!r}, not {VERSION}")
            self._has_keys = version == VERSION
            for entry in document["findings"]:
                key = Key(entry["path"], entry["code"], entry["text"])
                if self._has_keys:
                    key = key._replace(key=entry["key"], affects=entry["affects"])
                self._accepted[key] += int(entry["count"])
        except OSError as error:
            raise UsageError(f"{name}: cannot be read: {error.strerror or error}") from None
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{name}: is not a baseline of migrate-mgpu") from None

    def _write(self, report: Report) -> None:
        """Every finding but those that are done."""
        messages: dict[Key, str] = {}
        for file in report.result.files:
            for finding, key in self._keys(file):
                if finding.state != f.APPLIED:
                    self._accepted[key] += 1
                    messages.setdefault(key, finding.message)
        findings = [
            {**key._asdict(), "message": messages[key], "count": count}
            for key, count in sorted(self._accepted.items())
        ]
        document = {"version": VERSION, "findings": findings}
        temporary = Path(f"{self._name}.new")
        temporary.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        temporary.replace(self._name)
