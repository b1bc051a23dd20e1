"""Imports get another module, lose names and gain one, in their own layout."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Source, splice

_LINES = """from tensorflow import (
    Session,  # makes them
    # of numbers
    constant as c,
)
"""


def changed(code: str, gone: tuple[str, ...] = (), added: str = "", module: str = "") -> str:
    source = Source(Path("case.py"), code)
    statement = source.tree.body[0]
    assert isinstance(statement, (ast.Import, ast.ImportFrom))
    names = [alias for alias in statement.names if alias.name in gone]
    after = splice(code, [import_edit(source, statement, names, added, module)])
    ast.parse(after)
    return after


def test_a_module_and_a_name_of_lines_of_their_own() -> None:
    wanted = _LINES.replace("tensorflow", "tensorflow.compat.v1").replace("c,\n", "c,\n    d,\n")
    assert changed(_LINES, added="d", module="tensorflow.compat.v1") == wanted


def test_comments_go_with_their_name_and_stay_on_their_own_lines() -> None:
    assert changed(_LINES, ("Session",)) == _LINES.replace("    Session,  # makes them\n", "")
    assert changed(_LINES, ("constant",)) == _LINES.replace("    constant as c,\n", "")


@pytest.mark.parametrize(
    ("before", "gone", "added", "after"),
    [
        ("from tf import a, b", ("b",), "d", "from tf import a, d"),
        ("from tf import a, b", ("a",), "", "from tf import b"),
        ("import a, b  # both", ("a",), "", "import b  # both"),
        (
            "from tf import (a,\n                b)",
            (),
            "d",
            "from tf import (a,\n                b, d)",
        ),
        ("from tf import (a,\r\n  b)\r\n", ("b",), "", "from tf import (a)\r\n"),
        ("from tf import a, \\\n    b", ("a",), "", "from tf import b"),
        ("from tf import *", (), "d", "from tf import *"),
    ],
)
def test_names(before: str, gone: tuple[str, ...], added: str, after: str) -> None:
    assert changed(before, gone, added) == after
