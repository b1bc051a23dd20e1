"""Programs drawn at random: what becomes native compiles, says nothing of TF1 and stays so."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import generated_pipelines
import generated_sessions
import generated_towers

from migrate_mgpu.core.states import NATIVE
from tests.support.migration import migrated, run, said

# Why one that is drawn may stay; any other reason is a step back.
STAYS = (
    "its moving averages are not updated in every step that trains it",
    "`norm`, the norm of the gradients, is read without the step",
    "a list that holds more than values is fetched, and is not unpacked here",
    "updates only the rows of an embedding that a batch uses",
    "a later session begins its iterators anew",
    "a later session begins its metrics anew",
    "which variables are trained cannot be determined",
    "variables that it is to train are made after they are listed",
    "`tf.nn.bidirectional_dynamic_rnn` is not among the functions",
    "the recurrent cell `tf.nn.rnn_cell.DropoutWrapper` is not converted",
    "`tf.metrics.precision` is not supported in a session's program",
    "the names of this layer's variables are not known",
    "`state.h` of a part of the graph",
)
DRAWN = {
    **{f"session {n}": generated_sessions.program(n) for n in range(1000, 1040)},
    **{f"pipeline {n}": generated_pipelines.program(n) for n in range(1000, 1040)},
    **{f"towers {n}": generated_towers.program(n) for n in range(1000, 1020)},
}


@pytest.mark.parametrize("text", DRAWN.values(), ids=DRAWN)
def test_drawn(text: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    if any(one.state != NATIVE for one in result.programs):
        assert any(reason in message for reason in STAYS for message in said(result)), said(result)
        return
    after, _ = migrated(text, native_sessions=True)
    compile(after, "program.py", "exec")
    assert "compat.v1" not in after and "Session" not in after
    assert migrated(after, native_sessions=True)[0] == after
