"""Rules that a comment switches off, at a place or in a file: ``# mgpu: ignore``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from migrate_mgpu.core.registry import Rule
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.source.source import Source

_COMMENT = re.compile(r"#\s*mgpu:\s*(ignore-file|ignore)(?:\s*\[([^\]]*)\])?")


def suppressed(source: Source, first: int, last: int, rule: Rule) -> bool:
    """Whether a comment on one of the lines switches a rule off there.

    ``# mgpu: ignore[...]`` takes what ``--ignore`` takes: codes, beginnings of codes, names.
    """
    if not source.has_directives:
        return False
    for line in range(first, last + 1):
        found = _COMMENT.search(source.line_text(line))
        if found and found.group(1) == "ignore":
            words = _words(found)
            if words is None or not Selection(ignore=words).enabled(rule.code, rule.name):
                return True
    return False


def file_suppressed(source: Source) -> bool:
    """Whether the file says ``# mgpu: ignore-file``."""
    return source.has_directives and any(
        found.group(1) == "ignore-file" for found in _COMMENT.finditer(source.text)
    )


def named(source: Source) -> Iterator[tuple[int, str]]:
    """The words of all ``# mgpu: ignore[...]`` comments, each with its line."""
    for found in _COMMENT.finditer(source.text) if source.has_directives else ():
        for word in _words(found) or ():
            yield source.text.count("\n", 0, found.start()) + 1, word


def _words(found: re.Match[str]) -> tuple[str, ...] | None:
    """What stands in the brackets; None without them."""
    if found.group(2) is None:
        return None
    return tuple(word for word in re.split(r"[,\s]+", found.group(2)) if word)
