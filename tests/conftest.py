"""Fixtures that all tests share, and the markers of those that start what takes long."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from migrate_mgpu import runtimes
from migrate_mgpu.parity.runs import programs, saved_model
from tests.support import servers

# The tests start some hundred interpreters: where bytecode is never written (as in many images of
# containers), each of them would compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
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


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both programs of a comparison run where TensorFlow is imported already."""
    for module in (programs, saved_model):
        monkeypatch.setattr(module, "run_all", servers.run_all)


def pytest_configure(config: pytest.Config) -> None:
    """Files are given to the workers in the order below, not by how many tests they have."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that may start a TensorFlow are marked: without them it takes a minute.

    Workers begin with the files that have such tests: those without fill the time at the end,
    where one worker would wait for the other's last file.
    """
    for item in items:
        if "runtime" in getattr(item, "fixturenames", ()):
            item.add_marker("tensorflow")
    if hasattr(config, "workerinput"):
        slow = {item.path for item in items if item.get_closest_marker("tensorflow")}
        items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """What is there now stays to the end: the garbage collector need not look at it again, and
    need not look that often. This is a tenth of the time of the tests."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


_running: list[pytest.Item] = []  # the test that is


def _refuse_unmarked(event: str, arguments: tuple[Any, ...]) -> None:
    """The markers are right: a test starts no runtime, no uv and no browser without them."""
    if event == "subprocess.Popen" and _running:
        program, command = arguments[:2]
        first = command[0] if isinstance(command, (list, tuple)) else command
        for path in (os.fspath(path) for path in (program, first) if path is not None):
            if path.startswith(FOLDER + os.sep):
                needed = ("tensorflow",)
            elif os.path.basename(path) == "uv":
                # The first test that takes a runtime makes it.
                needed = ("tensorflow", "external")
            elif os.path.basename(path) in BROWSERS:
                needed = ("external",)
            else:
                continue
            assert any(_running[0].get_closest_marker(marker) for marker in needed), (
                f"{_running[0].nodeid} starts {path}: it needs `{'` or `'.join(needed)}`"
            )


sys.addaudithook(_refuse_unmarked)


@pytest.fixture(autouse=True)
def _known_to_be_running(request: pytest.FixtureRequest) -> Iterator[None]:
    _running.append(request.node)
    yield
    _running.clear()
