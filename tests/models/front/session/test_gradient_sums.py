"""Gradients that runs add up before they are applied: what stays, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[4] / "fixtures" / "session"
PROGRAM = (FOLDER / "summed_gradients" / "before.py").read_text()
ADD = "[sums[i].assign_add(pair[0]) for i, pair in enumerate(pairs)]"
APPLIED = "[(sums[i] / PARTS, pair[1]) for i, pair in enumerate(pairs)]"
BEGIN = "begin = [s.assign(tf.zeros_like(s)) for s in sums]"
MADE = "sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False)"
ADAM, VARIABLES = "tf.train.AdamOptimizer(0.02)", "variables = tf.trainable_variables()"
PAIRS = "pairs = optimizer.compute_gradients(loss, variables)"
UNKNOWN = "cannot be recognized as those of gradients"
AVERAGES = """\
    averages = tf.train.ExponentialMovingAverage(0.9)
    moved = averages.apply(variables)
    both = tf.group(train, moved)

"""

# What is changed, and what the finding says then.
STAYS = {
    "the gradients are limited": (
        [(PAIRS, f"{PAIRS}\n    pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs]")],
        "what happens to the gradients before they are added up cannot be analyzed",
    ),
    "nothing adds": ([("[add, loss]", "[begin, loss]"), (ADD, "[tf.zeros([])]")], UNKNOWN),
    "nothing applies": (
        [(APPLIED, "pairs"), ("sess.run(train)", "sess.run(train, {x: inputs, y: targets})")],
        "`sums`, sums of gradients, are not applied",
    ),
    "other variables are trained": (
        [(PAIRS, "pairs = optimizer.compute_gradients(loss, [scale])")],
        "the sums of gradients are not of the variables that are trained",
    ),
    "they do not begin with zeros": (
        [("tf.zeros_like(v.initialized_value())", "tf.ones_like(v.initialized_value())")],
        "",
    ),
    "the sums are trained": ([(MADE, MADE.replace(", trainable=False", ""))], ""),
    "a saver saves them": (
        [(VARIABLES, f"{VARIABLES}\n    saver = tf.train.Saver()"),
         ("        print(\"at", "        saver.save(sess, './model')\n        print(\"at")],
        "",
    ),
    "the rate is fed": (
        [(ADAM, "tf.train.AdamOptimizer(rate)"),
         (VARIABLES, f"{VARIABLES}\n    rate = tf.placeholder(tf.float32, [])"),
         ("sess.run(train)", "sess.run(train, {rate: 0.1})")],
        "sums of gradients are applied with a rate that changes, or averages",
    ),
    "they are divided by a part of the graph": (
        [(APPLIED, APPLIED.replace("PARTS", "tf.norm(scale)"))],
        "what happens to the gradients before they are applied cannot be analyzed",
    ),
    "what they are divided by changes": (
        [("    # One sum for", "    parts = PARTS\n    # One sum for"),
         (APPLIED, APPLIED.replace("PARTS", "parts")),
         ("            sess.run(begin)", "            parts += 1\n            sess.run(begin)")],
        "",
    ),
    "the share of a gradient changes": (
        [("    # One sum for", "    parts = PARTS\n    # One sum for"),
         (ADD, ADD.replace("pair[0]", "pair[0] / parts")),
         ("            sess.run(begin)", "            parts += 1\n            sess.run(begin)")],
        "",
    ),
    "they begin again in the step that applies them": (
        [("sess.run(train)", "sess.run([train, begin])")],
        "`sums` is assigned and used in one step",
    ),
    "they are added to in the step that applies them": (
        [("sess.run(train)", "sess.run([train, add], {x: inputs, y: targets})")],
        "`sums` is assigned and used in one step",
    ),
    "they begin again in the step that adds": (
        [("[add, loss]", "[begin, add, loss]")],
        "`sums` is assigned and used in one step",
    ),
    "those of two losses are at hand": (
        [(PAIRS, f"{PAIRS}\n    others = optimizer.compute_gradients(2 * loss, variables)"),
         (ADD, "[s.assign_add(g) for s, (g, _), _ in zip(sums, pairs, others)]")],
        "",
    ),
    "something else adds": (
        [(ADD, "[np.assign_add(s, pair[0]) for s, pair in zip(sums, pairs)]")],
        "",
    ),
    "averages move in no order": (
        [("    with tf.Session()", f"{AVERAGES}    with tf.Session()"),
         ("sess.run(train)", "sess.run(both)")],
        "averages of variables move beside gradients that nothing is to compute",
    ),
    "rows of a table are added up": (
        [("hidden * scale", "hidden * tf.gather(scale, tf.range(8))"),
         (ADAM, "tf.train.MomentumOptimizer(0.02, 0.9)")],
        "a gradient that is added up may be one of some rows of a table",
    ),
    "two steps add some": (
        [(f"add = {ADD}", f"add = {ADD}\n    more = {ADD}"), ("[add, loss]", "[add, more, loss]")],
        "what happens to the gradients before they are added up cannot be analyzed",
    ),
    "what they are is read": (
        [('        print("at', '        print(sess.run(sums))\n        print("at')],
        "a dictionary or list of variables is fetched",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    pairs, reason = STAYS[case]
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)


WAYS = {
    "by their names": [
        (ADD, "[s.assign_add(g) for s, (g, _) in zip(sums, pairs)]"),
        (APPLIED, "[(s / PARTS, v) for s, (_, v) in zip(sums, pairs)]"),
    ],
    "in a group": [
        (ADD, "tf.group(*[tf.assign_add(s, pair[0]) for s, pair in zip(sums, pairs)])"),
        (APPLIED, "[(s / PARTS, v) for s, v in zip(sums, variables)]"),
    ],
    "of gradients alone": [
        (PAIRS, "grads = tf.gradients(loss, variables)"),
        (ADD, "[s.assign_add(g) for s, g in zip(sums, grads)]"),
        (APPLIED, "[(sums[i] / PARTS, v) for i, v in enumerate(variables)]"),
    ],
}


@pytest.mark.parametrize("case", WAYS)
def test_ways_to_write_it(case: str) -> None:
    assert native(changed(PROGRAM, *WAYS[case])) == native(PROGRAM)


def test_shares_of_gradients() -> None:
    share = ADD.replace("pair[0]", "pair[0] / PARTS")
    after = native(changed(PROGRAM, (ADD, share), (APPLIED, "zip(sums, variables)")))
    assert "total.assign_add(tensor / PARTS)" in after
    assert "optimizer.apply_gradients(zip(sums, trained_variables))" in after


def test_a_divisor_that_is_computed() -> None:
    share = ADD.replace("pair[0]", "pair[0] / (PARTS - 1)")
    applied = APPLIED.replace("/ PARTS", "/ (2 * PARTS)")
    after = native(changed(PROGRAM, (ADD, share), (APPLIED, applied)))
    assert "total.assign_add(tensor / (PARTS - 1))" in after
    assert "zip([total / (2 * PARTS) for total in sums]" in after


def test_the_sums_as_they_are() -> None:
    after = native(changed(PROGRAM, (APPLIED, "zip(sums, variables)")))
    assert "optimizer.apply_gradients(zip(sums, trained_variables))" in after


def test_averages_that_wait_for_the_step() -> None:
    waits = AVERAGES.replace(
        "moved = averages.apply(variables)\n    both = tf.group(train, moved)",
        "with tf.control_dependencies([train]):\n        both = averages.apply(variables)",
    )
    after = native(
        changed(
            PROGRAM,
            ("    with tf.Session()", f"{waits}    with tf.Session()"),
            ("sess.run(train)", "sess.run(both)"),
        )
    )
    step = after[after.index("def train_step") :]
    assert step.index("apply_gradients(") < step.index(".assign_sub(")
