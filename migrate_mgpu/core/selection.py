"""Which rules are on, for a run and at a place: ``--select``, ``--ignore``, ``# mgpu: ignore``."""

from __future__ import annotations

import re

from migrate_mgpu.core.records import record
from migrate_mgpu.source.source import Source

_COMMENT = re.compile(r"#\s*mgpu:\s*(ignore-file|ignore)(?:\s*\[([^\]]*)\])?")


@record(frozen=True)
class Selection:
    """Rules by code (``MGPU104``), the beginning of one (``MGPU1``), or name (``memory-fraction``).

    An empty ``select`` stands for all.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def enabled(self, code: str, name: str) -> bool:
        """Whether a rule is on. The longer of two matching prefixes decides, as in ruff."""
        chosen = _length(self.select, code, name) if self.select else 0
        dropped = _length(self.ignore, code, name)
        return chosen is not None and (dropped is None or chosen > dropped)


def _length(words: tuple[str, ...], code: str, name: str) -> int | None:
    """How much of a rule the longest matching word names; None when none matches."""
    lengths = [
        len(code) if word == name else len(word)
        for word in words
        if word and (word == name or code.startswith(word.upper()))
    ]
    return max(lengths, default=None)


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
