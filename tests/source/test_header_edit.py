"""Parameters that go from a function's header."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate_mgpu.source.header_edit import smallest_edit, without_parameter
from migrate_mgpu.source.source import Edit, Source


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("def f(a, config=None, b=2):", "def f(a, b=2):"),
        ("def f(config):", "def f():"),
        ("def f( config ):", "def f():"),
        ("def f(self, config) -> int:", "def f(self) -> int:"),
        ("async def f(\n    a,\n    config,\n):", "async def f(\n    a,\n):"),
        ("def f(\r\n    a,\r\n    config,\r\n):", "def f(\r\n    a,\r\n):"),
        ("def f(config: int = 3, *rest):", "def f(*rest):"),
        ("def f(a, *, config=None):", "def f(a):"),
        ("def f(a, *, config=None, **rest):", "def f(a, **rest):"),
        ("def f(config, /, a):", "def f(a):"),
        ("def f(a=(1, 2), config={'é': [1, 2]}, b=(3)):", "def f(a=(1, 2), b=(3)):"),
        ("def f(a,  # first\n      config):  # second", "def f(a,  # first\n      ):  # second"),
        ("def f(config,  # first\n      # next\n      b):", "def f(\n      # next\n      b):"),
    ],
)
@pytest.mark.parametrize("body", [" return a", "\n    # why\n    return a", "\n\treturn a\n"])
def test_a_parameter_goes(header: str, wanted: str, body: str) -> None:
    if "#" in header.rpartition("\n")[2] and "\n" not in body:
        body = "\n" + body
    source = Source(Path("case.py"), "@decorated\n" + header + body)
    function = source.tree.body[0]
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    after = source.apply([without_parameter(source, function, "config")])
    assert after == "@decorated\n" + wanted + body
    ast.parse(after)


def test_the_smallest_edit() -> None:
    assert smallest_edit(10, "f(a, b, c)", "f(a, c)") == Edit(15, 18, "")
    assert smallest_edit(0, "same", "same") == Edit(4, 4, "")
