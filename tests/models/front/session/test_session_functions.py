"""A function that makes the session and is given what it runs."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


def fit(update, loss, count=4):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(count):
            _, value = sess.run((update, loss))
            print(step, value)


def make_loss(x):
    y = tf.layers.dense(x, 1, name='last')
    return tf.reduce_mean(tf.square(y - 1.0))


def main():
    rows = np.ones([12, 3], np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(rows).repeat().batch(4)
    x = dataset.make_one_shot_iterator().get_next()
    loss = make_loss(x)
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    fit(train, loss, count=6)


main()
"""


def test_it_gets_the_step() -> None:
    after = native(PROGRAM)
    assert "def fit(train_step, count=4):\n    for step in range(count):\n" in after
    assert "        value = train_step().numpy()\n" in after
    assert "    fit(train_step, count=6)\n" in after


def test_a_function_gives_both() -> None:
    made = "    train = tf.train.AdamOptimizer(0.1).minimize(loss)\n"
    program = PROGRAM.replace(f"    loss = make_loss(x)\n{made}", "    train, loss = make(x)\n")
    maker = f"def make(x):\n    loss = make_loss(x)\n{made}    return train, loss\n\n\n"
    program = program.replace("def main():", f"{maker}def main():")
    after = native(program)
    assert "def make(" not in after and "    fit(train_step, count=6)\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # two sessions, each with its own values
        ("    fit(train, loss, count=6)\n", "    fit(train, loss)\n    fit(train, loss)\n"),
        # it may be called by anything
        ("    fit(train, loss, count=6)\n", "    call = fit\n    call(train, loss, count=6)\n"),
    ],
)
def test_another_use_of_it_stays(old: str, new: str) -> None:
    result = run(("main.py", PROGRAM.replace(old, new)), native_sessions=True)
    assert [one.state for one in result.programs] != ["native"], said(result)


def test_one_that_has_the_graph_built_is_given_data() -> None:
    program = PROGRAM.replace("def fit(update, loss, count=4):\n", "def fit(rows, count=4):\n")
    built = PROGRAM.partition("    dataset =")[2].partition("    fit(")[0]
    made = f"def make(rows):\n    dataset ={built}    return train, loss\n\n\n"
    program = program.replace(f"    dataset ={built}", "").replace("fit(train, loss", "fit(rows")
    program = program.replace("    rows = np.ones([12, 3], np.float32)\n", "    rows = load()\n")
    program = program.replace(
        "    with tf.Session() as sess:\n",
        "    update, loss = make(rows)\n    with tf.Session() as sess:\n",
    )
    load = "def load():\n    return np.ones([12, 3], np.float32)\n\n\n"
    after = native(program.replace("def main():", f"{load}{made}def main():"))
    assert "def make(" not in after and "    fit(rows, count=6)\n" in after
