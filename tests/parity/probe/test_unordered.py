"""Sets that a program walks through, whose order is no one's mistake."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from migrate_mgpu.parity.probe import unordered


@pytest.mark.parametrize(
    "code",
    [
        "chars = list(set(text))",
        "numbers = dict((c, i) for i, c in enumerate(set(text)))",
        "for c in {'a', 'b'}: print(c)",
        "known = [c for c in frozenset(text)]",
    ],
)
def test_a_walk_through_a_set(tmp_path, code):
    program = tmp_path / "train.py"
    program.write_text(f"text = 'abc'\n{code}\n")
    assert unordered.places(str(tmp_path), str(program)) == [(str(program), 2)]


@pytest.mark.parametrize(
    "code",
    ["chars = sorted(set(text))", "count = len(set(text))", "known = 'a' in {'a'}", "x = set()"],
)
def test_what_has_no_order(tmp_path, code):
    program = tmp_path / "train.py"
    program.write_text(f"text = 'abc'\n{code}\n")
    assert unordered.places(str(tmp_path), str(program)) == []


def test_modules_of_the_program_only(tmp_path, monkeypatch):
    program, beside, apart = tmp_path / "train.py", tmp_path / "words.py", tmp_path / "lib.py"
    program.write_text("import words\n")
    for name, path, folder in (("words", beside, tmp_path), ("lib", apart, tmp_path / "other")):
        folder.mkdir(exist_ok=True)
        path = folder / path.name
        path.write_text("found = list(set('abc'))\n")
        module = ModuleType(name)
        module.__file__ = str(path)
        monkeypatch.setitem(sys.modules, name, module)
    assert unordered.places(str(tmp_path), str(program)) == [
        (str(tmp_path / "other" / "lib.py"), 1),
        (str(beside), 1),
    ]
    own = tmp_path / "own"
    own.mkdir()
    assert unordered.places(str(own), str(program)) == []


def test_an_environment_beside_the_program(tmp_path, monkeypatch):
    program = tmp_path / "train.py"
    program.write_text("import lib\n")
    place = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages" / "lib.py"
    place.parent.mkdir(parents=True)
    place.write_text("found = list(set('abc'))\n")
    module = ModuleType("lib")
    module.__file__ = str(place)
    monkeypatch.setitem(sys.modules, "lib", module)
    assert unordered.places(str(tmp_path), str(program)) == []
