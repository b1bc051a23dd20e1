"""New code in the style of its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.source.source import Source
from migrate_mgpu.source.style import FileStyle


def style(text: str, tensorflow: str = "tf") -> FileStyle:
    return FileStyle.of(Source(Path("train.py"), text), tensorflow)


def test_a_file_says_how_it_is_written() -> None:
    found = style("def f():\r\n  return g(\r\n    'a', 'b'\r\n  )\r\n", "tensorflow")
    assert found == FileStyle("tensorflow", "'", "  ", "\r\n", 79, hanging=True)


def test_an_empty_file_is_written_plainly() -> None:
    assert style("") == FileStyle("tf", "'", "    ", "\n", 79, hanging=False)


def test_the_second_longest_line_says_how_long_lines_may_be() -> None:
    lines = ["a" * 300, "b" * 99, "c" * 95, "d"]
    assert style("\n".join(lines)).width == 95


def test_literals_and_templates() -> None:
    found = style("def f():\n\treturn 'a'\n")
    assert found.string("GPU") == "'GPU'"
    assert found.indented("def g():\n    if x:\n        pass") == "def g():\n\tif x:\n\t\tpass"


HANGING = FileStyle(width=28)
FALLING = FileStyle(width=28, hanging=False)


@pytest.mark.parametrize(
    ("given", "text", "expected"),
    [
        (HANGING, "f(aaaaaaaaaa, bbbbbbbbbbbb)", "f(aaaaaaaaaa, bbbbbbbbbbbb)"),
        (
            HANGING,
            "f(aaaaaaaaaaaaaa, bbbbbbbbbbbbb)",
            "f(\n    aaaaaaaaaaaaaa,\n    bbbbbbbbbbbbb,\n)",
        ),
        (HANGING, "ffffff(aaaaaaaaaaa, bbbbbbbbb)", "ffffff(\n    aaaaaaaaaaa, bbbbbbbbb\n)"),
        (
            FALLING,
            "f(aaaaaaaaaaaaaa, bbbbbbbbbbbbb)",
            "f(\n    aaaaaaaaaaaaaa,\n    bbbbbbbbbbbbb)",
        ),
        (FALLING, "ffffff(aaaaaaaaaaa, bbbbbbbbb)", "ffffff(\n    aaaaaaaaaaa, bbbbbbbbb)"),
        (
            HANGING,
            "f(g(aaaaaaaaaaaaa, b), cccccccc)",
            "f(\n    g(aaaaaaaaaaaaa, b),\n    cccccccc,\n)",
        ),
        (
            HANGING,
            "f(gggggggggggg(aaaaaaaaaa, bbbbbbb), cccccccc)",
            "f(\n    gggggggggggg(\n        aaaaaaaaaa, bbbbbbb\n    ),\n    cccccccc,\n)",
        ),
    ],
)
def test_a_call_that_does_not_fit_is_broken(given: FileStyle, text: str, expected: str) -> None:
    assert given.fitted(text, "", 0, nested=True) == expected


def test_one_argument_that_breaks_by_itself_stays_at_its_bracket() -> None:
    assert HANGING.call("f", ["[\n        a,\n    ]"], "", 0) == "f([\n    a,\n])"


def test_two_levels_where_one_is_narrow() -> None:
    narrow = FileStyle(width=20, indent="  ", hanging=False)
    assert narrow.call("f", ["aaaaaaaa", "bbbbbbbbb"], "  ", 2) == (
        "f(\n      aaaaaaaa,\n      bbbbbbbbb)"
    )
