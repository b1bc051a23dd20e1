"""Arguments and parameters taken out of lists: spliced where that is enough, else by libcst.

Both ways give the same text, and only the lists that need it load libcst.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from migrate_mgpu.source import statements as text
from migrate_mgpu.source.source import Source

SPACE = st.sampled_from(["", " ", "  ", "\n", "\n    ", " \n\t", "  # why\n    ", " \\\n  "])
VALUE = st.sampled_from(["x", "(x)", "'a,b'", "f(1, 2)", "[i for i in y]", "'é'", "lambda: 0"])


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, str | None, int | None]:
    """A call's text with one of its arguments, by name or by place."""
    places = draw(st.integers(0, 3))
    names = draw(st.integers(0 if places else 1, 3))
    members = [draw(VALUE) for _ in range(places)]
    members += [f"{name}={draw(VALUE)}" for name in "abc"[:names]]
    if draw(st.booleans()):
        members.append("**more")
    code = "f" + draw(st.sampled_from(["", " "])) + "(" + draw(SPACE)
    for index, member in enumerate(members):
        last = index == len(members) - 1
        comma = draw(st.booleans()) if last else True
        code += member + (draw(SPACE) + "," if comma else "") + draw(SPACE)
    which = draw(st.integers(0, places + names - 1))
    code += ")"
    return (code, None, which) if which < places else (code, "abc"[which - places], None)


@settings(max_examples=400, deadline=None)
@given(calls(), st.booleans())
def test_both_ways_take_the_same_argument_out(
    call: tuple[str, str | None, int | None], shifts: bool
) -> None:
    code, keyword, position = call
    spliced = text._spliced_call(code, keyword, position, shifts)
    whole = text._without_argument(code, keyword, position, shifts)
    if spliced is not None:
        assert ast.dump(ast.parse(spliced, mode="eval")) == ast.dump(ast.parse(whole, mode="eval"))
        assert _stripped(spliced) == _stripped(whole)
    else:
        assert "#" in code or "\\" in code or "(x)" in code or not code.isascii()


def _stripped(code: str) -> str:
    """Without white space at the ends of lines, of which libcst drops some."""
    return re.sub(r"[ \t]+\n", "\n", code)


@pytest.mark.parametrize(
    ("header", "name", "wanted"),
    [
        ("def f(a, config=None, b=2):\n    ", "config", "def f(a, b=2):\n    "),
        ("def f(config):\n    ", "config", "def f():\n    "),
        ("def f(self, config) -> int: ", "config", "def f(self) -> int: "),
        ("async def f(\n    a,\n    config,\n):\n    ", "config", "async def f(\n    a,\n):\n    "),
        ("def f(config: int = 3, *rest):\n    ", "config", "def f(*rest):\n    "),
        ("def f(a, *, config=None):\n    ", "config", "def f(a):\n    "),
        ("def f(a,  # first\n      config):  # second\n    ", "config", None),
    ],
)
def test_a_parameter(header: str, name: str, wanted: str | None) -> None:
    found = text.remove_parameter(header, name)
    bare = header.rstrip()
    assert found == text._without_parameter(bare, name).rstrip() + header[len(bare) :]
    if wanted is not None:
        assert found == wanted
    ast.parse(found + "pass")


@pytest.mark.parametrize(("comment", "loaded"), [("", False), ("  # why", True)])
def test_libcst_is_loaded_where_it_is_needed(comment: str, loaded: bool) -> None:
    code = f"tf.Session(graph=g,{comment}\n    config=c)"
    program = (
        "import sys\nfrom migrate_mgpu.source.statements import remove_argument\n"
        f"remove_argument({code!r}, 'config', None)\nprint('libcst' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(loaded)


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
    edit = text.Layout(source, source.tree.body[-1]).insert_paragraph(["NEW"])
    assert source.apply([edit]) == wanted + "y = 2"
