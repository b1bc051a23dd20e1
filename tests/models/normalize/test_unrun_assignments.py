"""Assignments that nothing runs: what stays, and what is told of those that go."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.models.normalize.sessions.unrun_assignments import TOLD
from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
PROGRAM = (FOLDER / "unrun_assignments" / "before.py").read_text()
ASSIGNED = "            tf.assign(total, tf.add(total, tf.multiply(product, x[i] * x[j])))\n"

# What is changed.
STAYS = {
    "the operation has a name": [("seen.assign_add(1.0)", "seen.assign_add(1.0, name='more')")],
    "the graph is asked for its operations": [
        ("    with tf.Session() as sess:\n",
         "    print(len(tf.get_default_graph().get_operations()))\n"
         "    with tf.Session() as sess:\n")
    ],
    "it computes what is not known": [("seen.assign_add(1.0)", "seen.assign_add(rng.rand())")],
    "the function is handed on": [
        ("guess = pairs(x,", "build = [pairs][0]\n    guess = build(x,")
    ],
    "it is all that a block does": [
        ("seen.assign_add(1.0)", "if SIZE > 3:\n        seen.assign_add(1.0)")
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    result = run(changed(PROGRAM, *STAYS[case]), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert not any(TOLD in one for one in said(result)), said(result)


def test_it_is_told() -> None:
    result = run(PROGRAM, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert sum(TOLD in one for one in said(result)) == 2, said(result)
