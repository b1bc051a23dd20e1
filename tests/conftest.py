"""Fixtures that all tests share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from migrate_mgpu import runtimes


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
    """Tests that may start a TensorFlow are marked: ``-m "not tensorflow"`` takes seconds."""
    for item in items:
        if "runtime" in getattr(item, "fixturenames", ()):
            item.add_marker("tensorflow")
