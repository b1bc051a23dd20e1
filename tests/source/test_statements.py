"""Where new lines go around a statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.source.source import Source
from migrate_mgpu.source.statements import Layout


@pytest.mark.parametrize(
    ("above", "wanted"),
    [
        ("x = 1\n# why\n# indeed\n", "x = 1\nNEW\n# why\n# indeed\n"),
        ("x = 1\n\n# why\n", "x = 1\n\nNEW\n\n# why\n"),
        ("x = '''\n# text'''\n", "x = '''\n# text'''\nNEW\n"),
        ("x = 1\r# why\r", "x = 1\rNEW\r# why\r"),
        ("x = 1  # here\n", "x = 1  # here\nNEW\n"),
    ],
)
def test_a_paragraph_goes_above_the_comments_of_its_statement(above: str, wanted: str) -> None:
    source = Source(Path("case.py"), above + "y = 2")
    edit = Layout(source, source.tree.body[-1]).insert_paragraph(["NEW"])
    assert source.apply([edit]) == wanted + "y = 2"


@pytest.mark.parametrize(
    ("above", "between"), [("# %%\n", "\n\n"), ("x = 1\n\n\n", "\n\n"), ("x = 1\n", "")]
)
def test_a_paragraph_above_a_class(above: str, between: str) -> None:
    """As many blank lines as stand there, and two where a notebook's cell begins with it."""
    source = Source(Path("case.py"), f"{above}class A:\n    y = 2\n")
    edit = Layout(source, source.tree.body[-1]).insert_paragraph(["NEW"])
    assert source.apply([edit]) == f"{above}NEW\n{between}class A:\n    y = 2\n"


@pytest.mark.parametrize(
    ("line", "owns"),
    [("x = 1;", True), ("x = 1 ;  # why", True), ("x = 1; y = 2", False), ("x = 1;;", False)],
)
def test_a_semicolon_that_ends_a_line_is_the_statements(line: str, owns: bool) -> None:
    source = Source(Path("case.py"), "x = 1")
    statement = source.tree.body[0]
    layout = Layout(Source(Path("case.py"), line), statement)
    assert layout.owns_lines is owns
