"""Fixtures that all tests share, and the marker of those that start a TensorFlow."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from migrate_mgpu import runtimes

# The tests start some hundred interpreters: where bytecode is never written (as in many images of
# containers), each of them would compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

FOLDER = os.fspath(runtimes.folder())  # as it is before a test sets another one


@pytest.fixture(scope="session")
def runtime() -> Callable[[str], runtimes.Runtime]:
    """``runtime("tf1.15")``: the interpreter, made on first use; skips where it cannot be."""
    failed: dict[str, str] = {}

    def get(name: str) -> runtimes.Runtime:
        if name not in failed:
            try:
                return runtimes.ensure(name)
            except runtimes.RuntimeUnavailable as error:
                failed[name] = str(error)
        pytest.skip(failed[name])

    return get


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that may start a TensorFlow are marked: ``-m "not tensorflow"`` takes a minute."""
    for item in items:
        if "runtime" in getattr(item, "fixturenames", ()):
            item.add_marker("tensorflow")


_unmarked: list[str] = []  # the test that is running, unless it is marked


def _refuse_runtimes(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen" and _unmarked:
        program, command = arguments[:2]
        first = command[0] if isinstance(command, (list, tuple)) else command
        for path in (program, first):
            if path is not None and os.fspath(path).startswith(FOLDER + os.sep):
                raise AssertionError(f"{_unmarked[0]} starts {path}: it needs `tensorflow`")


sys.addaudithook(_refuse_runtimes)


@pytest.fixture(autouse=True)
def _marked_where_a_tensorflow_starts(request: pytest.FixtureRequest) -> Iterator[None]:
    """The marker is right: what has none starts no interpreter of a runtime."""
    if request.node.get_closest_marker("tensorflow") is None:
        _unmarked.append(request.node.nodeid)
    yield
    _unmarked.clear()
