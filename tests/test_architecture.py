"""The house: which room may import which. ``docs/architecture.md`` says what each is for."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Union

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "migrate_mgpu"

# From the top down: a room imports itself and what stands below it, nothing else.
ROOMS = (
    "cli", "run", "output", "session_config", "models", "api", "analysis", "source", "core", "data",
)  # fmt: skip
# The rooms within `models/`, likewise: a reader never asks the writer.
MODELS = ("", "keras", "normalize", "front", "model_plan", "properties", "ir")
# The rooms within `parity/`; ``SHARED`` is all that the others take from the probe's.
PARITY = ("", "reports", "diagnose", "compare", "runs", "probe")
SHARED = "parity.probe.matching"
# What parity reads of other people's notebooks.
NOTEBOOKS = {"source.notebook", "source.source"}
# What a program names, and which TensorFlow has it: that tells what its reference is.
SYMBOLS = {"analysis.names", "analysis.symbols"}
# Not among them: only these import parity and the runtimes.
APART = {"parity", "runtimes", "runtimes_command"}
MAY_IMPORT_APART = {"cli", "pytest_plugin", *APART}


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name below ``migrate_mgpu``, rewriters too."""
    found = {}
    for folder, prefix in ((PACKAGE, ()), (ROOT / "rewriters", ("rewriters",))):
        for path in sorted(folder.rglob("*.py")):
            parts = [*prefix, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


MODULES = modules()
CLI = {"completion", "settings", "settings_table", "__main__"}
Import = Union[ast.Import, ast.ImportFrom]


def statements(body: Iterable[ast.AST]) -> Iterator[Import]:
    """The imports of a block, anywhere in it, also for types only."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, block, ()))


@functools.cache
def imported(name: str) -> list[Import]:
    """A module's imports; its tree is let go. The probe's modules are read as Python 3.7 reads."""
    version = (3, 7) if inside(name) else None
    return list(
        statements(ast.parse(MODULES[name].read_text("utf-8"), feature_version=version).body)
    )


@functools.cache
def imports(name: str) -> set[str]:
    """The modules of the package that a module imports."""
    found = set()
    for node in imported(name):
        if isinstance(node, ast.Import):
            spelled = [alias.name for alias in node.names]
        elif node.module is not None and not node.level:
            spelled = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for one in spelled:
            below = one.removeprefix("migrate_mgpu.")
            if below == one:
                continue
            found.add(below if below in MODULES else below.rpartition(".")[0])
    return found - {name, ""}


def room(name: str) -> str:
    first = name.partition(".")[0]
    return "cli" if first in CLI else first


def floor(name: str, floors: tuple[str, ...]) -> int:
    """Which room of ``models/`` or ``parity/`` a module is in; 0 for those above all of them."""
    second = (name.split(".") + [""])[1]
    return floors.index(second) if second in floors else 0


def upward(name: str, other: str) -> bool:
    """Whether an import of ``other`` by ``name`` is an arrow that points up."""
    here, there = room(name), room(other)
    if here == "rewriters":
        return there in ("cli", "run", "output")
    if there == "rewriters":
        return True  # found by the registry, imported by nobody
    if here == there == "parity":
        return floor(other, PARITY) < floor(name, PARITY)
    if here not in ROOMS or there not in ROOMS:
        return False
    if here == there == "models":
        return floor(other, MODELS) < floor(name, MODELS)
    return ROOMS.index(there) < ROOMS.index(here)


def test_every_module_has_a_room() -> None:
    known = {*ROOMS, *APART, "rewriters", "pytest_plugin", ""}
    assert {room(name) for name in MODULES} <= known


def test_arrows_point_down() -> None:
    assert [f"{a} -> {b}" for a in MODULES for b in imports(a) if upward(a, b)] == []


def test_only_cli_and_the_plugin_import_parity() -> None:
    for name in MODULES:
        if room(name) not in MAY_IMPORT_APART:
            assert not {room(other) for other in imports(name)} & APART, name


def test_parity_knows_nothing_of_rewriting() -> None:
    for name in MODULES:
        if room(name) == "parity":
            others = imports(name) - {"core.colors", "core.options", "core.parser"}
            others -= {*NOTEBOOKS, *SYMBOLS}
            assert {room(other) for other in others} <= {"parity", "runtimes"}, name


def inside(name: str) -> bool:
    """Whether a module runs in the interpreter of a compared program."""
    return name.startswith("parity.probe.")


def test_the_probe_imports_nothing_of_the_package() -> None:
    """It is started by its path, where this package is not installed."""
    for name in filter(inside, MODULES):
        found = {
            spelled.partition(".")[0]
            for node in imported(name)
            for spelled in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else ["." * node.level + (node.module or "")]
            )
        }
        assert "migrate_mgpu" not in found and not any(one.startswith(".") for one in found), name
        if sys.version_info >= (3, 10):
            assert found - set(sys.stdlib_module_names) <= {"numpy"}, name


def test_nothing_outside_imports_the_probe() -> None:
    for name in MODULES:
        if not inside(name):
            assert {other for other in imports(name) if inside(other)} <= {SHARED}, name


def circles() -> list[list[str]]:
    """The import circles of the package, by Tarjan's algorithm; each is its modules, sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in imports(name) if name in MODULES else ():
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            circle = []
            while not circle or circle[-1] != name:
                circle.append(stack.pop())
            if len(circle) > 1:
                found.append(sorted(circle))

    for name in MODULES:
        if name not in index:
            visit(name)
    return sorted(found)


def test_no_import_circles() -> None:
    assert [" ".join(circle) for circle in circles()] == []


def private_imports() -> set[str]:
    """Names with a leading underscore that a module takes from another one."""
    return {
        f"{name} {alias.name}"
        for name in MODULES
        for node in imported(name)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("migrate_mgpu")
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
    }


def test_private_names_stay_in_their_module() -> None:
    assert sorted(private_imports()) == []


_OF_SELF = re.compile(r"\b(?:getattr|setattr|hasattr|globals|vars|eval)\(\s*self\b")


def untyped(name: str) -> list[str]:
    """Where a module leaves typing: `Any`, attributes of its own objects looked up by text."""
    found = [
        f"{name} imports Any"
        for node in imported(name)
        if isinstance(node, ast.ImportFrom) and node.module == "typing"
        for alias in node.names
        if alias.name == "Any"
    ]
    text = MODULES[name].read_text("utf-8")
    # To walk every module's tree takes longer than all else here.
    for node in ast.walk(ast.parse(text)) if _OF_SELF.search(text) else ():
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        looked_up = node.func.id in ("getattr", "setattr", "hasattr", "globals", "vars", "eval")
        if looked_up and any(ast.unparse(one) == "self" for one in node.args[:1]):
            found.append(f"{name}:{node.lineno} looks up an attribute of its own by text")
    return found


def test_facts_are_typed() -> None:
    """A file's, a program's and a model's way: mypy sees what each calls and reads."""
    rooms = {"run", "session_config", "models", "api", "rewriters"}
    assert [one for name in MODULES if room(name) in rooms for one in untyped(name)] == []


def test_the_page_names_what_is_there() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", page))
    assert len(named) > 40
    missing = [name for name in named if not (ROOT / name).exists()]
    assert sorted(name for name in missing if not (PACKAGE / name).exists()) == []
