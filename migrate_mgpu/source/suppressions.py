"""Rules that a comment switches off, at a place or in a file: ``# mgpu: ignore``."""

from __future__ import annotations

import re

from migrate_mgpu.source.source import Source

_COMMENT = re.compile(r"#\s*mgpu:\s*(ignore-file|ignore)(?:\s*\[([^\]]*)\])?")


def suppressed(source: Source, first: int, last: int, code: str) -> bool:
    """Whether a comment on one of the lines switches a rule off there."""
    if "mgpu:" not in source.text:
        return False
    for line in range(first, last + 1):
        found = _COMMENT.search(source.line_text(line))
        if found and found.group(1) == "ignore":
            codes = found.group(2)
            if codes is None or code in {c.strip().upper() for c in codes.split(",")}:
                return True
    return False


def file_suppressed(source: Source) -> bool:
    """Whether the file says ``# mgpu: ignore-file``."""
    return "mgpu:" in source.text and any(
        found.group(1) == "ignore-file" for found in _COMMENT.finditer(source.text)
    )
