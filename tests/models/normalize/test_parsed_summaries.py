"""Summaries that are parsed, or made of Python's numbers, and given a writer."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
w = tf.Variable(tf.ones([3, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    writer = tf.summary.FileWriter("logs")
    for step in range(3):
        _, value = sess.run([train, loss], {{x: np.ones([2, 3])}})
        {written}
"""
BEST = "tag='best', simple_value=value"
RAW = "tf.raw_ops.ScalarSummary(tags='best', values=value)"


def program(*lines: str) -> str:
    return PROGRAM.format(written="\n        ".join(lines))


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (
            (
                "shown = tf.Summary()",
                "shown.ParseFromString(sess.run(merged, {x: np.ones([2, 3])}))",
                "writer.add_summary(shown, step)",
            ),
            "write_raw_pb(shown, step=step)",
        ),
        (
            (f"writer.add_summary(tf.Summary(value=[tf.Summary.Value({BEST})]), step)",),
            f"write_raw_pb({RAW}, step=step)",
        ),
        (
            (
                f"shown = tf.Summary(value=[tf.Summary.Value({BEST})])",
                "writer.add_summary(summary=shown, global_step=step)",
            ),
            f"shown = {RAW}",
        ),
        (
            (
                "shown = tf.Summary(value=[",
                f"    tf.Summary.Value({BEST}),",
                "    tf.Summary.Value(tag='step', simple_value=step),",
                "])",
                "writer.add_summary(shown, step)",
            ),
            "tf.raw_ops.ScalarSummary(tags=['best', 'step'], values=[value, step])",
        ),
        (
            (
                "shown = tf.Summary()",
                f"shown.value.add({BEST})",
                "shown.value.add(tag='step', simple_value=step)",
                "writer.add_summary(shown, step)",
            ),
            "tf.raw_ops.ScalarSummary(tags=['best', 'step'], values=[value, step])",
        ),
    ],
    ids=["parsed", "at once", "by a name", "two, over several lines", "added one by one"],
)
def test_what_a_writer_is_given(lines: tuple[str, ...], wanted: str) -> None:
    after, told = migrated(program(*lines), native_sessions=True)
    assert wanted in after and "tf.Summary" not in after, told


@pytest.mark.parametrize(
    "lines",
    [
        ("shown = tf.Summary()", f"if step: shown.value.add({BEST})",
         "writer.add_summary(shown, step)"),
        (f"shown = tf.Summary(value=[tf.Summary.Value({BEST})])", "print(shown)",
         "writer.add_summary(shown, step)"),
        ("shown = tf.Summary()", "shown.value.add(tag='image', image=tf.Summary.Image())",
         "writer.add_summary(shown, step)"),
        ("shown = tf.Summary()", "shown.ParseFromString(sess.run(merged, {x: np.ones([2, 3])}))",
         f"shown.value.add({BEST})", "writer.add_summary(shown, step)"),
    ],
    ids=["under a condition", "printed", "an image", "parsed, and more"],
)  # fmt: skip
def test_what_is_more_than_that_stays(lines: tuple[str, ...]) -> None:
    result = run(program(*lines), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]


@pytest.mark.usefixtures("builders_stay")
def test_a_writer_that_a_function_is_given() -> None:
    """What the function does with it is not left as it was in a native program."""
    text = program("log(writer, value, step)").replace(
        "x = tf.pl",
        "def log(writer, value, step):\n"
        f"    writer.add_summary(tf.Summary(value=[tf.Summary.Value({BEST})]), step)\n\n\n"
        "x = tf.pl",
        1,
    )
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert "`writer`, a part of the graph, is used outside" in " ".join(said(result))
