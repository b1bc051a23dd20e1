"""Moving averages of variables that a program reads: what becomes native, and what stays."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import MODEL, program
from tests.support.migration import migrated, run, said

ORDERED = """\
averages = tf.train.ExponentialMovingAverage(0.9)
with tf.control_dependencies([train]):
    both = averages.apply(tf.trainable_variables())
"""
APART = """\
averages = tf.train.ExponentialMovingAverage(0.9)
apply = averages.apply(tf.trainable_variables())
"""
FUNCTION = "def f(a):\n    return a.average(w)\n\n\n"
READ = "smooth = tf.reduce_sum(averages.average(w))\n"
RUN = "sess.run(both, {x: rows})\nprint(sess.run(smooth))\n"


def averaged(read: str = READ, run: str = RUN, model: str = MODEL, made: str = ORDERED) -> str:
    return program(model + made + read, run)


def test_what_has_averages_is_tensorflows_own_and_begins_below_the_optimizer() -> None:
    after, _ = migrated(averaged(), native_sessions=True)
    made = "averages = tf.train.ExponentialMovingAverage(0.9)\naverages.apply(variables)\n"
    assert after.index("optimizer.build(variables)") < after.index(made)
    assert "    averages.apply(variables)\n" in after
    assert "smooth = tf.reduce_sum(averages.average(w))" in after
    assert "Session" not in after


def test_it_begins_with_the_optimizer_where_that_is_made_below() -> None:
    made, train = ORDERED.split("\n", 1)[0] + "\n", "train = "
    above = MODEL.replace(train, made + train)
    after, _ = migrated(averaged(model=above, made=ORDERED.replace(made, "")), native_sessions=True)
    assert "optimizer.build(variables)\naverages.apply(variables)\n" in after


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (averaged(run="sess.run([both, smooth], {x: rows})\n"), "in the run that moves them"),
        (
            averaged(
                model="",
                made=ORDERED.partition("with")[0] + READ + MODEL,
                read="both = train\n",
            ),
            "averages are read that move apart from what trains",
        ),
        (
            averaged(
                model=MODEL.replace("loss = ", f"{APART}out += averages.average(w)[0]\nloss = "),
                made="both = train\n",
                read="smooth = loss\n",
            ),
            "the loss is computed of averages of variables",
        ),
        (
            program(
                "hidden = tf.layers.dense(x, 2)\n"
                + MODEL.replace("tf.matmul(x, w)", "tf.matmul(hidden, w)")
                + ORDERED
                + READ,
                RUN,
            ),
            "averages are read of variables that are not all made here, by their names",
        ),
        (
            averaged(f"{FUNCTION}smooth = f(averages)\nother = f(rows)\n"),
            "`a.average` is not supported in code that builds the graph",
        ),
    ],
    ids=["moved and read", "apart", "in the loss", "of a layer", "something else"],
)
def test_stays(text: str, reason: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(reason in message for message in said(result)), said(result)


def test_the_program_that_these_are_made_of_is_native() -> None:
    result = run(averaged(), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
