"""Gradients that are fed to an optimizer: what stays, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[4] / "fixtures" / "session"
PROGRAM = (FOLDER / "fed_gradients" / "before.py").read_text()
GATHERED, ADAM = "gathered = [of_w1, of_b1, of_w2]", "tf.train.AdamOptimizer(0.05)"
UPDATE = "update = optimizer.apply_gradients(zip(gathered, variables))"
RUN = "sess.run(update, feed_dict={"
AVERAGES = """\
averages = tf.train.ExponentialMovingAverage(0.9)
moved = averages.apply(variables)
both = tf.group(update, moved)
"""
UNKNOWN = "what happens to the gradients before they are applied cannot be analyzed"

# What is changed, and what the finding says then.
STAYS = {
    "there are fewer gradients": ([(GATHERED, "gathered = [of_w1, of_b1]")], UNKNOWN),
    "one is computed": ([(GATHERED, "gathered = [of_w1, of_b1, 2 * of_w2]")], UNKNOWN),
    "the list grows": (
        [(GATHERED, f"{GATHERED}\ngathered.append(reward)")],
        "`reward`, a part of the graph, is used outside of `Session.run`",
    ),
    "a layer has some of the variables": (
        [("chance = tf.sigmoid(tf.matmul(hidden, w2))", "chance = tf.layers.dense(hidden, 1)")],
        UNKNOWN,
    ),
    "the rate changes": (
        [("optimizer = tf", "rate = tf.placeholder(tf.float32, [])\noptimizer = tf"),
         (ADAM, "tf.train.AdamOptimizer(rate)"), (RUN, f"{RUN}rate: 0.1, ")],
        "gradients that are fed, beside towers or with a rate that changes",
    ),
    "the gradients are float64": (
        [('tf.placeholder(tf.float32, name="of_b1")', 'tf.placeholder(tf.float64, name="of_b1")')],
        "its variables may be float64",
    ),
    "averages move in no order": (
        [("with tf.Session()", f"{AVERAGES}with tf.Session()"),
         (RUN, RUN.replace("update", "both"))],
        "averages of variables move beside gradients that nothing is to compute",
    ),
    "another step runs with it": (
        [(RUN, "sess.run([update, model_step], feed_dict={state: states, following: states, ")],
        "gradients that are fed are applied in a step with others",
    ),
    "the optimizer trains the variables itself": (
        [(UPDATE, f"{UPDATE}\nalone = optimizer.minimize(loss)"),
         ("        loss_value", "        sess.run(alone, feed)\n        loss_value")],
        "one optimizer minimizes two losses",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    pairs, reason = STAYS[case]
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)


def test_a_list_without_a_name() -> None:
    after = native(
        changed(PROGRAM, (f"{GATHERED}\n", ""), ("zip(gathered,", "zip([of_w1, of_b1, of_w2],"))
    )
    assert "optimizer.apply_gradients(zip([of_w1, of_b1, of_w2], update_variables))" in after


def test_steps_that_are_counted() -> None:
    after = native(
        changed(
            PROGRAM,
            (GATHERED, f"{GATHERED}\nsteps = tf.Variable(0, trainable=False)"),
            ("gathered, variables))", "gathered, variables), global_step=steps)"),
            ("print(sess.run(w2)", "print(sess.run(steps), sess.run(w2)"),
        )
    )
    update = after[after.index("def update_step") :].split("\n\n")[0]
    assert update.rstrip().endswith("steps.assign_add(1)")
