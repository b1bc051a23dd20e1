"""A file's change as a unified diff that ``patch -p0`` and ``git apply`` understand."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from migrate_mgpu.core.colors import plain

if TYPE_CHECKING:
    from migrate_mgpu.core.colors import Paint
    from migrate_mgpu.core.findings import FileResult

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_STYLES = {"-": "red", "+": "green", "@": "cyan"}


def of(file: FileResult, paint: Paint = plain) -> str:
    """The diff of one file; empty when it did not change."""
    if not file.changed or file.before is None or file.after is None:
        return ""
    name = str(file.path)
    pieces: list[str] = []
    # Only "\n" ends a line here: a form feed or "\r\n" must come out unchanged.
    before, after = _LINES.findall(file.before), _LINES.findall(file.after)
    for line in difflib.unified_diff(before, after, name, name):
        text = line.rstrip("\r\n")
        pieces += [paint(text, _STYLES.get(line[0], "")), line[len(text) :]]
        if not line.endswith("\n"):
            pieces.append("\n\\ No newline at end of file\n")
    return "".join(pieces)
