"""Where the header of a block ends, and where a function's name stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.source.header_edit import read_header
from migrate_mgpu.source.source import Source


@pytest.mark.parametrize(
    ("header", "name", "commented"),
    [
        ("def run(self):", "run", False),
        ("@before(lambda x: x)\ndef run(a={1: 2}, b=lambda: 3):", "run", False),
        ("def run(\n    a,  # one: of them\n    b,\n):", "run", True),
        ("def run(a, b) -> dict[str, int]:", "run", False),
        ("async def run(a):", "run", False),
        ("class Net(Model):", "Net", False),
        ("with tf.device('/gpu:0') as name:", "", False),
        ("with (\n    tf.device(names[1:2][0])):", "", False),
        ("if (lambda: 1)():", "", False),
        ("while lambda: 1:", "", False),
        ("with open(f'{name}(:') as file:", "", False),
        ("def run(a='\x0c', b=2):", "run", False),
        ("def run(a):\r\n    # below: it\r\n", "run", False),
    ],
)
def test_header(header: str, name: str, commented: bool) -> None:
    newline = "\r\n" if "\r\n" in header else "\n"
    lines = header.rstrip().replace("\r\n    # below: it", "")
    text = f"x = 1{newline}{header.rstrip()}{newline}    pass{newline}"
    source = Source(Path("case.py"), text)
    found = read_header(source, source.tree.body[1])
    assert source.text[: found.end] == f"x = 1{newline}{lines}"
    assert source.text[slice(*found.name)] == name
    assert found.commented is commented
