"""Variables that a loop makes so often as a run says: their names in checkpoints and summaries."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

FIXTURE = Path(__file__).parents[4] / "fixtures/session/windows_of_a_run/before.py"
PROGRAM = FIXTURE.read_text()
SCOPE = 'with tf.name_scope("window-%s" % width):'
LIST = 'list(map(int, FLAGS.widths.split(",")))'
SAVER = "tf.train.Saver(tf.global_variables(), max_to_keep=2)"
SHAPE = "                shape = [width, size, 1, count]\n"
NO_NAME = "the name of a variable in a checkpoint cannot be determined"


def changed(*pairs: tuple[str, str]) -> str:
    text = PROGRAM
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    "scope", ['"window-{}".format(width)', '"window-" + str(width)', 'f"window-{width}"']
)
def test_a_scope_is_written_as_its_author_wrote_it(scope: str) -> None:
    after = native(changed(('"window-%s" % width', scope)))
    assert f"scopes = [{scope} for place, width in enumerate(widths)]\n" in after
    assert "scopes = list(map(tf.Graph().unique_name, scopes))" in after


def test_variable_scopes_are_not_numbered() -> None:
    after = native(
        changed(
            (SCOPE, SCOPE.replace("name_scope", "variable_scope")),
            (
                'tf.Variable(tf.truncated_normal(shape, stddev=0.1), name="kernel")',
                'tf.get_variable("kernel", shape)',
            ),
            (
                'tf.Variable(tf.constant(0.1, shape=[count]), name="bias")',
                'tf.get_variable("bias", [count])',
            ),
        )
    )
    assert "unique_name" not in after
    assert '*(f"{scope}/{name}" for scope in scopes for name in ("kernel", "bias")),' in after


@pytest.mark.parametrize(
    ("optimizer", "written"),
    [
        ("Momentum", '[ f"{name}/Momentum/velocity" for name in names ]'),
        ("Adagrad", '[f"{name}/Adagrad" for name in names]'),
    ],
)
def test_slots_follow_the_names(optimizer: str, written: str) -> None:
    given = "0.1, 0.9" if optimizer == "Momentum" else "0.1"
    text = changed(("AdamOptimizer(0.01)", f"{optimizer}Optimizer({given})"))
    words = " ".join(native(text).split())
    assert f"{written}, optimizer.variables[-len(names):]" in words


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        # A name that the scope of a round may have.
        (
            [
                (
                    "        weight_loss = tf.constant(0.0)\n",
                    "        weight_loss = tf.constant(0.0)\n"
                    '        with tf.name_scope("window-2"):\n'
                    "            doubled = tf.to_float(self.words) * 2.0\n",
                )
            ],
            NO_NAME,
        ),
        ([('tf.name_scope("scores")', 'tf.name_scope("window-all")')], "a loop's scope may have"),
        ([('"window-%s" % width', '"conv%s" % width')], NO_NAME),  # `Conv2D` has no name
        ([('"window-%s" % width', '"%s" % width')], NO_NAME),
        (
            [
                (
                    "                answers.append(",
                    f"            {SCOPE}\n                answers.append(",
                )
            ],
            NO_NAME,
        ),
        # A name that a variable has in its scope.
        ([(SHAPE, f'{SHAPE}                same = tf.identity(rows, name="kernel")\n')], NO_NAME),
        # The list may be another one when its names are written.
        (
            [
                (
                    "            network = WindowNetwork(",
                    f"            widths = {LIST}\n            widths.append(4)\n"
                    "            network = WindowNetwork(",
                ),
                (f"widths={LIST}", "widths=widths"),
            ],
            NO_NAME,
        ),
        (
            [(f"widths={LIST}", 'widths=map(int, FLAGS.widths.split(","))'), ("len(widths)", "3")],
            "can be gone through once",
        ),
        # There is no list of names yet.
        (
            [
                (f"            saver = {SAVER}\n", ""),
                (
                    "            global_step = tf.Variable(0",
                    f"            saver = {SAVER}\n            global_step = tf.Variable(0",
                ),
            ],
            "a saver saves variables of a loop, which no optimizer above it trains",
        ),
        (
            [(SAVER, 'tf.train.Saver([v for v in tf.global_variables() if "kernel" in v.name])')],
            "what a saver saves cannot be determined",
        ),
        (
            [
                (
                    "            gradients_shown =",
                    "            for one in tf.trainable_variables():\n"
                    "                tf.summary.histogram(one.op.name, one)\n"
                    "            gradients_shown =",
                )
            ],
            "whether a variable is made, or how often, cannot be determined",
        ),
    ],
)
def test_what_is_not_known_keeps_the_bridge(pairs: list[tuple[str, str]], reason: str) -> None:
    result = run(changed(*pairs), bridge=True, native_sessions=True)
    assert any(reason in one for one in said(result)), said(result)


@pytest.mark.parametrize("widths", [f"widths={LIST}", "widths=[2, 3]"])
def test_summaries_that_are_merged_twice_have_one_tag(widths: str) -> None:
    merged = "            of_held = tf.summary.merge([loss_shown, accuracy_shown])\n"
    fetches = "[train_op, global_step, of_training, network.loss], feed)\n"
    again = "                writer.add_summary(sess.run(again, feed), step)\n"
    after = native(
        changed(
            (f"widths={LIST}", widths),
            (merged, f"{merged}            again = tf.summary.merge(shown)\n"),
            (fetches, fetches + again),
        )
    )
    assert after.count('/zeros"') % 2 == 0 and "zeros_1" not in after


def test_a_loop_of_a_script_in_a_block() -> None:
    text = """\
import numpy as np
import tensorflow as tf

widths = [int(one) for one in np.arange(2, 4)]
with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, [None, 4])
    sums = []
    for width in widths:
        with tf.name_scope("sum-%d" % width):
            weights = tf.Variable(tf.ones([4, width]), name="weights")
            sums.append(tf.reduce_sum(tf.matmul(x, weights)))
    loss = tf.square(tf.add_n(sums) - 1.0)
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, {x: np.ones([2, 4])})
        saver.save(sess, "log/model")
"""
    after = native(text)
    assert '    *(f"{scope}/weights" for scope in scopes),\n' in after
    assert "\nclass " in after
