"""Continuation lines move along with the bracket that they are aligned to."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.source.alignment import aligned
from migrate_mgpu.source.source import Edit, Source, splice


def renamed(text: str, old: str, new: str) -> str:
    """The text with one name in the place of another, as edits of their own."""
    source = Source(Path("a.py"), text)
    edits, start = [], text.find(old)
    while start >= 0:
        edits.append(Edit(start, start + len(old), new))
        start = text.find(old, start + len(old))
    return splice(text, aligned(source, edits))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.flags(a,\n         b)\n", "flags(a,\n      b)\n"),
        # a bracket within one that moves
        (
            "tf.flags(a, [1,\n             2], #\n         tf.flags(\n             3))\n",
            "flags(a, [1,\n          2], #\n      flags(\n             3))\n",
        ),
        (
            "tf.flags(a,\n\n         # why\n         b)\nc = 1\n",
            "flags(a,\n\n      # why\n      b)\nc = 1\n",
        ),
        # what is not aligned to the bracket stays
        ("tf.flags(a,\n    b)\n", "flags(a,\n    b)\n"),
        ("tf.flags(\n         b)\n", "flags(\n      b)\n"),
        ("f(a,\n  tf.flags)\n", "f(a,\n  flags)\n"),
        ("tf.flags('''a\n         b''')\n", "flags('''a\n         b''')\n"),
        ("tf.flags(a,\n\t b)\n", "flags(a,\n\t b)\n"),
        ("y = f(tf.flags, a,\n      b)\n", "y = f(flags, a,\n      b)\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_aligned(before: str, after: str, end: str) -> None:
    before, after = before.replace("\n", end), after.replace("\n", end)
    assert renamed(before, "tf.flags", "flags") == after


def test_longer_names_move_lines_to_the_right() -> None:
    assert renamed("log(a,\n    b)\n", "log", "math.log") == "math.log(a,\n         b)\n"


def test_lines_that_are_written_anew_stay_as_they_are_written() -> None:
    text = "tf.flags(a,\n         b)\n"
    source = Source(Path("a.py"), text)
    edits = [Edit(0, 3, ""), Edit(text.index("a,"), text.index("b"), "c,\n  ")]
    assert splice(text, aligned(source, edits)) == "flags(c,\n  b)\n"
