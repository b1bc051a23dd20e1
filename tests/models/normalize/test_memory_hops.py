"""Layers that are objects and are applied several times, and shapes that are asserted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, said

TEXT = Path(__file__).parents[3].joinpath("fixtures/session/memory_hops/before.py").read_text()
NOT_KNOWN = "`tf.layers.Dense` is not among the functions that are known to only compute a value"


def test_an_object_stays_one() -> None:
    text, _ = migrated(TEXT, native_sessions=True)
    assert "project = tf.keras.layers.Dense(size, tf.tanh)\n" in text
    assert text.count("*project.trainable_variables") == 1
    assert "answer = hop(memory, state, project)" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("points = self.out(", "print(project.kernel)\n        points = self.out(", NOT_KNOWN),
        ("project(answer)", "project(inputs=answer)", NOT_KNOWN),
        ("project(answer)", "[project][0](answer)", NOT_KNOWN),
        ("Dense(size, tf.tanh)", "Dense(tf.shape(state)[1], tf.tanh)", "depends on `state`"),
        (
            "Dense(size, tf.tanh)",
            "Dense(size, tf.tanh, kernel_regularizer=tf.nn.l2_loss)",
            "a layer that is applied several times has a regularizer",
        ),
        ("sess.run(tf.glob", "print(model.out)\nsess.run(tf.glob", NOT_KNOWN),
        (
            "sess.run(tf.glob",
            "saver = tf.train.Saver()\nsaver.save(sess, './here')\nsess.run(tf.glob",
            "the names of this layer's variables are not known",
        ),
    ],
)
def test_other_uses_stay(old: str, new: str, reason: str) -> None:
    result = run(changed(TEXT, (old, new)), bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    assert any(reason in one for one in said(result)), said(result)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("positive.shape[2] == 1", "positive.shape[2] == 2"),
        ("positive.shape[2] == 1", "positive.shape[1] == 1"),
        ("positive.shape[2] == 1", "positive.shape[2] > 0"),
    ],
)
def test_assertions_that_may_fail_stay(old: str, new: str) -> None:
    result = run(changed(TEXT, (old, new)), bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    reason = "`triplets` does more than compute a value"
    assert any(reason in one for one in said(result)), said(result)


def test_a_name_that_a_loop_may_leave_alone_stays() -> None:
    text = changed(
        TEXT, ("answer = hop(memory", "if hops > 1:\n                answer = hop(memory")
    )
    result = run(text, bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    assert any("a part of the graph, is used outside of" in one for one in said(result)), said(
        result
    )
