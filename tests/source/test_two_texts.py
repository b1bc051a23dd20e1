"""One text of two that differ where a condition has another value."""

from __future__ import annotations

import pytest

from migrate_mgpu.source.two_texts import Unlike, one_text, opposite


def _chosen(first: str, second: str, condition: str = "FAST") -> str:
    head = "FAST = True\n"
    return one_text(condition, ["FAST"], head + first, head + second, "    ")[len(head) :]


def test_lines_of_one_alone_and_of_each() -> None:
    first = "def run(x):\n    # both\n    x = a(x)\n    x = b(x)  # fast\n    return x\n"
    second = "def run(x):\n    # both\n    x = a(x)\n    return x\n"
    assert _chosen(first, second) == (
        "def run(x):\n    # both\n    x = a(x)\n"
        "    if FAST:\n        x = b(x)  # fast\n    return x\n"
    )
    assert "    if not FAST:\n        x = b(x)" in _chosen(second, first)
    other = second.replace("x = a(x)", "x = c(\n        x)")
    assert "    # both\n    if FAST:\n        x = a(x)\n        x = b(x)" in _chosen(first, other)
    assert "    else:\n        x = c(\n            x)\n    return x\n" in _chosen(first, other)


def test_definitions_of_one_alone_are_there_for_both() -> None:
    first = "import os\n\n\ndef helper():\n    pass\n\n\ndef run():\n    helper()\n"
    second = "\n\ndef run():\n    pass\n"
    assert _chosen(first, second) == first.replace(
        "    helper()", "    if FAST:\n        helper()\n    else:\n        pass"
    )


def test_a_loop_with_nothing_in_common_is_written_twice() -> None:
    first = "def run():\n    for x in y:\n        a(x)\n    b()\n"
    second = "def run():\n    for x in y:\n        c(x)\n"
    assert _chosen(first, second) == (
        "def run():\n    if FAST:\n        for x in y:\n            a(x)\n        b()\n"
        "    else:\n        for x in y:\n            c(x)\n"
    )
    shared = "def run():\n    for x in y:\n        a(x)\n        d(x)\n"
    assert "    for x in y:\n        a(x)\n        if FAST:\n            d(x)\n" in _chosen(
        shared, shared.replace("        d(x)\n", "")
    )


@pytest.mark.parametrize(
    ("first", "second", "condition"),
    [
        ("def run():\n    x = '''a\nb'''\n", "def run():\n    x = 1\n", "FAST"),  # text moves
        ("class A:\n    size = 1\n", "class A:\n    size = 2\n", "FAST"),
        ("x = 1\n", "x = 2\n", "SLOW"),  # is it there yet?
    ],
)
def test_what_cannot_be_one(first: str, second: str, condition: str) -> None:
    with pytest.raises(Unlike):
        one_text(condition, ["SLOW"], first, second, "    ")


@pytest.mark.parametrize(
    ("condition", "other"),
    [
        ("a", "not a"),
        ("not a.b", "a.b"),
        ("a['b'] == 'c'", "a['b'] != 'c'"),
        ("a == ' == '", "not (a == ' == ')"),
        ("a and b", "not (a and b)"),
    ],
)
def test_the_opposite(condition: str, other: str) -> None:
    assert opposite(condition) == other
