"""Members go from a statement's tuples, lists and dictionaries, which keep their layout."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate_mgpu.source.container_edit import without_members
from migrate_mgpu.source.source import Source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sess, config = make()", "sess = make()"),
        ("(sess, config), b = make()", "sess, b = make()"),
        ("a, config, b = 1, config, 2", "a, b = 1, 2"),
        ("x = {'a': b, 'c': config}", "x = {'a': b}"),
        ("x = [\n    a,  # one\n    config,\n    b,\n]", "x = [\n    a,  # one\n    b,\n]"),
        ("x = {\n    'a': b,\n    'c': config,\n}", "x = {\n    'a': b,\n}"),
        ("config, = make()", ""),
    ],
)
def test_members(before: str, after: str) -> None:
    source = Source(Path("case.py"), before)
    statement = source.tree.body[0]
    nodes = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == "config"]
    assert without_members(source, statement, nodes) == after
