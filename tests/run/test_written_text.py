"""Python must take what is written, where it took what was there."""

from __future__ import annotations

import pytest

from migrate_mgpu.analysis.project import Project
from migrate_mgpu.run.reporting import Report
from migrate_mgpu.source.source import Edit


def check(text: str, old: str, new: str) -> None:
    head = "import tensorflow as tf\n\ntf.Session()\n"
    (module,) = Project([("program.py", (head + text).encode())]).modules.values()
    start = module.source.text.index(old, len(head))
    Report().check_syntax(module, [Edit(start, start + len(old), new)])


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("def f(a, b):\n    return a\n", "b", "a"),  # parses
        ("def f(a):\n    return a\n", "def f(a):\n    ", ""),  # parses, too
        ("x = 1\n", "1", "("),
    ],
)
def test_what_python_does_not_take_is_not_written(text: str, old: str, new: str) -> None:
    with pytest.raises(SyntaxError):
        check(text, old, new)


def test_what_the_author_wrote_so_is_no_reason() -> None:
    check("def f(a, a):\n    return 1\n", "1", "2")
    check("x = 1\n", "1", "2")
    with pytest.raises(SyntaxError):
        check("def f(a, a):\n    return 1\n", "1", "(")
