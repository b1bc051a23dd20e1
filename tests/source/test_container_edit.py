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
    assert without(before) == (after, set())


def test_comments_go_with_their_members() -> None:
    before = "x = [\n    a,  # one\n    # two\n    config,  # three\n    b,\n]"
    after = "x = [\n    a,  # one\n    # two\n    b,\n]"
    assert without(before) == (after, {"# three"})
    # A tuple's last member stands alone: what the others had is for the caller to write.
    before = "x, y = (\n    a,  # one\n    config,  # two\n)"
    assert without(before) == ("x, y = a", {"# one", "# two"})


def without(before: str) -> tuple[str, set[str]]:
    source = Source(Path("case.py"), before)
    statement = source.tree.body[0]
    nodes = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == "config"]
    return without_members(source, statement, nodes)
