"""Places in a file's text."""

from __future__ import annotations


def above(text: str, start: int) -> int:
    """The start of the comments that stand right above the line that begins at ``start``."""
    while start > 0:
        before = text.rfind("\n", 0, start - 1) + 1
        if not text[before:start].strip().startswith("#"):
            return start
        start = before
    return start
