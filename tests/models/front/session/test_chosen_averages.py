"""Averages of batch normalization that a scope chooses: what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, said

FOLDER = Path(__file__).resolve().parents[4] / "fixtures" / "session"
PROGRAM = (FOLDER / "gan_averages" / "before.py").read_text()
END = 'print("made", shown.mean(1))\n'
TWICE = "the averages of what is applied twice are chosen by a scope"
NAMES = "the names of a layer's operations cannot be determined"

STAYS = {
    "the other's averages are read": (
        TWICE,
        [(END, f"{END}print(sess.run(of_real, {{real: pictures, is_training: False}}))\n")],
    ),
    "they are saved": (
        TWICE,
        [("sess = tf.Session()", "saver = tf.train.Saver()\nsess = tf.Session()"),
         (END, f"{END}saver.save(sess, 'made')\n")],
    ),
    "a scope of names is around": (
        NAMES,
        [("made = make(noise)", "with tf.name_scope('all'):\n    made = make(noise)")],
    ),
    "the scope is the beginning of a name": (
        "cannot be determined", [('UPDATE_OPS, scope="Maker"', 'UPDATE_OPS, scope="Ma"')]
    ),
    "the scope is that of another application": (
        "is computed", [('UPDATE_OPS, scope="Judge"', 'UPDATE_OPS, scope="Judge_1"')]
    ),
    "no layer is there": (
        "are chosen by a scope", [('UPDATE_OPS, scope="Maker"', 'UPDATE_OPS, scope="Others"')]
    ),
    "they are run with the step": (
        "are chosen by a scope",
        [("sess = tf.Session()", "moving = tf.group(*make_updates)\nsess = tf.Session()"),
         ("[train_maker, make_loss]", "[train_maker, make_loss, moving]"),
         ("_, second =", "_, second, _ =")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    reason, pairs = STAYS[case]
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)


def test_a_layer_that_draws_keeps_its_states() -> None:
    before = "values = tf.layers.dense(tf.nn.relu(values), side * side)"
    drawn = "values = tf.layers.dropout(values, 0.1, training=is_training)\n        "
    made, _ = migrated(changed(PROGRAM, (before, drawn + before)), native_sessions=True)
    assert "averages = batch_normalization.non_trainable_variables" in made


def test_a_step_has_a_part_of_what_moves_the_averages() -> None:
    text = PROGRAM.replace('UPDATE_OPS, scope="Maker"', "UPDATE_OPS")
    text = text.replace('UPDATE_OPS, scope="Judge"', "UPDATE_OPS")
    second = "noise: rng.uniform(-1, 1, [batch, noise_size]), is_training: True})\n    print"
    fed = (f"{{{second}", f"{{real: pictures, {second}")
    shown = (END, f"{END}print(sess.run(of_real, {{real: pictures, is_training: False}}))\n")
    result = run(changed(text, fed, shown), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("its averages move by all that it is applied to" in one for one in said(result))
    unread = run(changed(text, fed), bridge=True, native_sessions=True)
    assert [one.state for one in unread.programs] == ["native"], said(unread)
