"""Each mutant breaks on its rung, and its cause is right or unknown, never wrong and likely.

All are judged from what ``python tests/parity/mutants.py --record`` has kept; some of them
are run on TensorFlow too, and must come out as they are kept.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import mutants
from mutant_list import MUTANTS

numpy = pytest.importorskip("numpy")
# One of each way to train: a strategy's loop, Keras' fit, a tape in eager code, an Estimator.
LIVE = (
    "loss_scaled_by_replica_batch",
    "epsilon",
    "clipping_lost",
    "rms_slots_left_at_zero",
    "label_smoothing_lost",
    "batch_norm_momentum",
)
CHANGING = [name for name, mutant in MUTANTS.items() if mutant.rung is not None]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("stored")
    mutants.unpack(folder)
    return {name: mutants.row(name, folder) for name in MUTANTS}


@pytest.mark.parametrize("name", MUTANTS)
def test_breaks_on_its_rung_and_no_wrong_cause_is_likely(rows, name):
    one = rows[name]
    assert one["rung"] == MUTANTS[name].rung, one["reason"]
    assert one["equal"] == (MUTANTS[name].rung is None)
    assert one["right"] or one["likelihood"] != "likely", one["all"]


def test_most_causes_are_found(rows):
    right = [name for name in CHANGING if rows[name]["right"]]
    assert len(CHANGING) >= 40
    assert len(right) >= 0.9 * len(CHANGING), sorted(set(CHANGING) - set(right))


def test_evidence_has_numbers(rows):
    for name in CHANGING:
        if (
            MUTANTS[name].rung > 2
            and rows[name]["right"]
            and rows[name]["cause"] not in ("model", "batch-norm")
        ):
            assert re.search(r"\d", " ".join(rows[name]["evidence"])), name


def test_page_is_fresh(rows):
    made = mutants.page(list(rows.values()))
    assert mutants.PAGE.read_text(encoding="utf-8") == made, (
        "run: python tests/parity/mutants.py --stored"
    )


def test_stale_record_fails(tmp_path, monkeypatch):
    known = mutants.texts
    monkeypatch.setattr(
        mutants, "texts", lambda n: (known(n)[0], known(n)[1] + "#" * (n == "epsilon"))
    )
    with pytest.raises(AssertionError, match="the record of epsilon is stale"):
        mutants.unpack(tmp_path)


def test_lost_record_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "STORED", tmp_path / "none")
    with pytest.raises(AssertionError, match="no record of towers"):
        mutants.unpack(tmp_path)


def test_live_runs_are_as_recorded(rows, runtime, tmp_path):
    for name in (mutants.REFERENCE, mutants.TARGET):
        runtime(name)  # skips where it cannot be made
    mutants.run(LIVE, tmp_path)
    for name in LIVE:
        live = mutants.row(name, tmp_path)
        kept = rows[name]
        assert (live["rung"], live["all"]) == (kept["rung"], kept["all"]), live["reason"]
