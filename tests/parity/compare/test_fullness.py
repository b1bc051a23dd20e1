"""Summaries of how full a queue is differ from run to run: they are told, and not compared."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from migrate_mgpu.parity.compare import evaluation
from migrate_mgpu.parity.compare.outcome import DIFFERS, NOT_COMPARED
from migrate_mgpu.parity.compare.tolerances import Tolerances


def side(name: str, value: float) -> Any:
    entry = {"name": f"summary {name}", "steps": [1], "shapes": [[1]], "whole": False}
    arrays = {"record/0": np.array([value])}
    return SimpleNamespace(training={"records": [entry]}, load_arrays=lambda: arrays)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("batch/fraction_of_45_full", NOT_COMPARED),
        ("shuffle_batch/fraction_over_30_of_45_full", NOT_COMPARED),
        ("input/input_producer/fraction_of_32_full", NOT_COMPARED),
        ("batch/fraction_of_45", DIFFERS),
        ("fraction_of_all_full", DIFFERS),
    ],
)
def test_what_is_compared(name: str, status: str) -> None:
    (found,) = evaluation.records(side(name, 0.9), side(name, 0.7), Tolerances())
    assert found.status == status, found
