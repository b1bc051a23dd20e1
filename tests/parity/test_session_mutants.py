"""Mistakes in what the tool writes for sessions are seen, and those that have a cause are told.

All are judged from what ``python tests/parity/session_mutants.py --record`` has kept; some of them
are run on TensorFlow too, and must come out as they are kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))
import session_mutants
from session_mutants import MUTANTS

from migrate_mgpu.parity import verdict
from migrate_mgpu.parity.compare import outcome

# A step, a class, an iterator, a network with averages.
LIVE = (
    "applied twice",
    "a layer of the object's is not trained",
    "an iterator that goes on where it was",
    "averages that are never moved",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The runs of all of them."""
    place: Path = tmp_path_factory.mktemp("mutants")
    session_mutants.unpack(place)
    return place


def causes(found: verdict.Judged) -> list[str]:
    return [one.cause for one in found.diagnosis]


def test_there_are_enough():
    assert len(MUTANTS) >= 90
    for mutant in MUTANTS.values():
        text = mutant.text()
        for module in [text] if isinstance(text, str) else text.values():
            compile(module, mutant.fixture, "exec")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen_and_its_cause_is_told(folder, name):
    found = session_mutants.judge(name, folder)
    assert not found.target.failure
    assert found.verdict == outcome.NOT_EQUIVALENT
    assert not MUTANTS[name].causes or causes(found)[0] in MUTANTS[name].causes, found.reason


def test_live_runs_are_as_recorded(folder, runtime, tmp_path):
    runtime(session_mutants.REFERENCE), runtime(session_mutants.TARGET)
    session_mutants.run(LIVE, tmp_path)
    for name in LIVE:
        live, kept = (session_mutants.judge(name, place) for place in (tmp_path, folder))
        assert not live.target.failure, live.target.stderr[-2000:]
        assert (live.verdict, causes(live)) == (kept.verdict, causes(kept)), live.reason


def test_stale_record_fails(tmp_path, monkeypatch):
    known = session_mutants.before
    monkeypatch.setattr(session_mutants, "before", lambda fixture: {"main.py": str(known(fixture))})
    with pytest.raises(AssertionError, match="is stale: python"):
        session_mutants.unpack(tmp_path)
