"""Mistakes in what the tool writes for sessions are seen, and those that have a cause are told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))
import session_mutants
from session_mutants import MUTANTS

from migrate_mgpu.parity.compare import outcome

# Run by `python tests/parity/session_mutants.py` alone: another program shows the same.
MORE = {
    "what is fed is divided as well",
    "applied twice, momentum",
    "loss of after the update, softmax",
    "clipping by value at another limit",
    "nesterov",
    "a variable of the other player is trained",
    "dropout in the evaluation",
    "weight decay doubled",
    "one step too many",
    "batch normalization as in evaluation",
    "another momentum of the averages",
    "Keras' epsilon of Adagrad",
    "the second call as the first one",
    "another attribute of the object",
    "a layer of the object's is not trained",
    "one tensor for another in a loss",
    "weights of a sequence left out",
    "one of two lists trained",
    "a batch that a metric does not see",
    "a loop that ends too early",
    "one of two optimizers of a step applied twice",
}
NAMES = [name for name in MUTANTS if name not in MORE]


@pytest.fixture(scope="module")
def folder(runtime, tmp_path_factory) -> Path:
    """The runs of all of them."""
    runtime(session_mutants.REFERENCE), runtime(session_mutants.TARGET)
    place: Path = tmp_path_factory.mktemp("mutants")
    session_mutants.run(NAMES, place)
    return place


def test_there_are_enough():
    assert len(NAMES) >= 30 and set(MUTANTS) > MORE
    for mutant in MUTANTS.values():
        compile(mutant.text(), mutant.fixture, "exec")


@pytest.mark.parametrize("name", NAMES)
def test_a_mistake_is_seen_and_its_cause_is_told(folder, name):
    found = session_mutants.judge(name, folder)
    assert not found.target.failure, found.target.stderr[-2000:]
    assert found.verdict == outcome.NOT_EQUIVALENT
    causes = [one.cause for one in found.diagnosis]
    assert not MUTANTS[name].causes or causes[0] in MUTANTS[name].causes, found.reason
