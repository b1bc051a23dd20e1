"""Statements that move keep what they mean, their comments and their layout."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit, Source


def moved(code: str, base: str, edits: list[Edit] | None = None) -> str:
    """The last statement of a function's body, at another indentation."""
    source = Source(Path("case.py"), code)
    function = source.tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    block = Block(source, base)
    block.statement(function.body[-1], edits or [])
    return block.text()


STATEMENTS = (
    'x = f("""one\n        two\n    """,\n      3)',
    'x = f("one \\\n        two",\n      3)',
    'x = ("one"\n         "two")',
    'x = f"""{a}\n        {b}"""',
    "x = a + \\\n        b",
    "x = [\n        1,  # one\n        # two\n        2,\n    ]",
    "if a:\n        b = 1\n    # why\n    elif c:\n        b = (1 +\n             2)",
)


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("base", ["  ", "        ", "\t"])
def test_a_statement_means_the_same(statement: str, base: str) -> None:
    assert _dump(moved(f"def f():\n    {statement}\n", base)) == _dump(f"    {statement}\n")


def _dump(block: str) -> str:
    return ast.dump(ast.parse(f"if True:\n{block}"))


def test_comments_come_along() -> None:
    code = "def f():\n    a = 1\n\n    # why\n    b = 2  # two\n"
    assert moved(code, "") == "# why\nb = 2  # two\n"


def test_lines_stay_aligned_to_a_bracket_that_moved() -> None:
    code = "def f():\n    net = dense(a,\n                b)\n"
    start = code.index("dense")
    wanted = "  net = tf.dense(a,\n                 b)\n"
    assert moved(code, "  ", [Edit(start, start, "tf.")]) == wanted
