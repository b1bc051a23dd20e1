"""Summaries are compared by their values, whatever their step is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from migrate_mgpu.parity.compare import evaluation
from migrate_mgpu.parity.compare.outcome import DIFFERS, EQUAL, Output
from migrate_mgpu.parity.compare.tolerances import Tolerances

numpy = pytest.importorskip("numpy")


def _side(*calls: list[float]) -> Any:
    shapes = [[len(one)] for one in calls]
    entry = {"name": "summary x", "steps": [1] * len(calls), "shapes": shapes, "whole": False}
    arrays = {"record/0": numpy.concatenate([numpy.array(one, "float32") for one in calls])}
    return SimpleNamespace(training={"records": [entry]}, load_arrays=lambda: arrays)


def _compared(before: list[list[float]], after: list[list[float]]) -> Output:
    (found,) = evaluation.records(_side(*before), _side(*after), Tolerances())
    return found


def test_a_late_step_hides_no_value() -> None:
    found = _compared([[1000, 0.5], [1001, 0.4]], [[1000, 0.5], [1001, 0.404]])
    assert found.status == DIFFERS
    assert found.detail.startswith("call 2: [1]: 0.4 became 0.404")


def test_a_value_has_the_rounding_of_the_largest_of_its_tag() -> None:
    assert _compared([[1, 2.0], [2, 1e-6]], [[1, 2.0], [2, 2e-6]]).status == EQUAL


def test_another_step_is_no_rounding() -> None:
    found = _compared([[100000, 0.5]], [[100001, 0.5]])
    assert (found.status, found.detail) == (DIFFERS, "call 1: step 100000 became 100001")


def test_histograms_have_the_tolerance_of_gradients() -> None:
    assert _compared([[1, -1.0, 2.0, 0.5]], [[1, -1.0, 2.0001, 0.5]]).status == EQUAL
    assert _compared([[1, -1.0, 2.0, 0.5]], [[1, -1.0, 1.0, 0.5]]).status == DIFFERS
