"""Which rules are on for a run: ``--select``, ``--ignore``."""

from __future__ import annotations

from collections.abc import Iterable

from migrate_mgpu.core.records import record


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


def names_a_rule(word: str, known: Iterable[tuple[str, str]]) -> bool:
    """Whether a word of ``--select`` or a comment means one of the rules (code, name)."""
    start = word.upper()
    return any(
        word == name or (start.startswith("MGPU") and code.startswith(start))
        for code, name in known
    )


def _length(words: tuple[str, ...], code: str, name: str) -> int | None:
    """How much of a rule the longest matching word names; None when none matches."""
    lengths = [
        len(code) if word == name else len(word)
        for word in words
        if word and (word == name or code.startswith(word.upper()))
    ]
    return max(lengths, default=None)
