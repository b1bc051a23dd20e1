"""Notebooks that drive a session: every cell stays a cell, or goes with all that it held."""

from __future__ import annotations

import json

from tests.support.migration import run, said

DATA = "%matplotlib inline\nimport numpy as np\nimport tensorflow as tf\nrows = np.ones([2, 2])"
INPUT = "x = tf.placeholder(tf.float32, [None, 2])\nw = tf.Variable(tf.zeros([2, 1]))"
MODEL = "# How far it is off.\nout = tf.matmul(x, w)\nloss = tf.reduce_mean(tf.square(out - 1.0))"
TRAIN = "train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)"
START = "sess = tf.Session()\nsess.run(tf.global_variables_initializer())"
LOOP = "for _ in range(3):\n    _, l = sess.run([train, loss], {x: rows})\n    print(l)"


def notebook(*cells: str) -> str:
    code = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": c} for c in cells]
    return json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def converted(*cells: str) -> list[str]:
    result = run(("n.ipynb", notebook(*cells)), bridge=True, native_sessions=True)
    assert [program.state for program in result.programs] == ["native"]
    after = result.files[0].after
    assert after is not None
    return [cell["source"] for cell in json.loads(after)["cells"]]


def test_each_cell_stays_a_cell_unless_nothing_is_left_of_it() -> None:
    after = converted(DATA, INPUT, MODEL, TRAIN, START, LOOP, "sess.run(w)", "sess.close()")
    data, specs, train, loop, shown = after
    assert data == DATA
    assert "x_spec = tf.TensorSpec([None, 2], tf.float32)\n" in specs
    function = train[train.index("@tf.function") :]
    assert function == (
        "@tf.function(input_signature=[x_spec])\n"
        "def train_step(x):\n"
        "    with tf.GradientTape() as tape:\n"
        "        # How far it is off.\n"
        "        out = tf.matmul(x, w)\n"
        "        loss = tf.reduce_mean(tf.square(out - 1.0))\n"
        "    gradients = tape.gradient(loss, variables)\n"
        "    optimizer.apply_gradients(zip(gradients, variables))\n"
        "    return loss"
    )
    assert loop == "for _ in range(3):\n    l = train_step(rows).numpy()\n    print(l)"
    assert shown == "w.numpy()"


def test_what_a_cell_shows_is_shown_as_an_array() -> None:
    after = converted(DATA, INPUT, MODEL, TRAIN, START, LOOP, "sess.run(loss, {x: rows})")
    assert after[-1] == "compute_loss(rows).numpy()"


def test_a_function_is_not_put_behind_the_next_cells_text() -> None:
    after = converted(DATA, INPUT, MODEL + "\n" + TRAIN, START, "epochs = 3", LOOP)
    assert after[2].endswith("    return loss")
    assert after[3] == "epochs = 3"


def test_the_first_statement_that_stays_begins_its_cell() -> None:
    after = converted(DATA, INPUT + "\n" + MODEL, TRAIN + "\n\n" + START + "\n" + LOOP)
    assert after[1].endswith("w = tf.Variable(tf.zeros([2, 1]))")
    assert after[2].startswith("optimizer = tf.keras.optimizers.SGD(0.1)\n")


def test_a_magic_command_among_what_is_built_stays_with_its_session() -> None:
    cells = (DATA, INPUT, "out = tf.matmul(x, w)\n%time 1\nloss = tf.reduce_mean(out)")
    result = run(
        ("n.ipynb", notebook(*cells, TRAIN, START, LOOP)), bridge=True, native_sessions=True
    )
    reason = "a magic command is among what it builds"
    assert any(reason in message for message in said(result))
    assert [program.state for program in result.programs] == ["bridge"]
