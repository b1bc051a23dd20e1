"""Conditions on TensorFlow's version."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FIXTURE = Path(__file__).parents[3] / "fixtures" / "session" / "version_arms"
PROGRAM = FIXTURE.joinpath("before.py").read_text()
TEST = 'if tf.__version__[0] >= "1":'


@pytest.mark.parametrize(
    "test",
    [
        'if tf.__version__ > "0.12.1" and tf.__version__ < "2":',
        'if not tf.__version__.startswith("0."):',
        'if [int(tf.__version__.split(".")[0])] >= [1]:',
        'if tf.__version__.split(".")[:1] == ["1"]:',
    ],
)
def test_the_arm_of_the_last_release(test: str) -> None:
    result = run(changed(PROGRAM, (TEST, test)), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert "__version__" not in str(result.files[0].after)


@pytest.mark.parametrize(
    "test",
    [
        # it asks for more than the version, or is not known
        'if tf.__version__[0] >= "1" and cells > 4:',
        "if sys.version_info[0] >= 3 and tf.__version__:",
        'if np.__version__[0] >= "1":',
        'if tf.__version__.rpartition(".")[0] >= "1":',
        "if tf.__version__ >= 1:",
    ],
)
def test_others_stay(test: str) -> None:
    result = run(changed(PROGRAM, (TEST, test)), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    text = "`tf.contrib.rnn.BasicRNNCell` is not supported in a native program"
    assert any(text in one for one in said(result)), said(result)


SMALL = """\
import sys
import numpy as np
import tensorflow as tf

{arms}

sess = tf.Session()
x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.zeros([2, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess.run(tf.global_variables_initializer())
print(sess.run([loss, step], {{x: np.ones([3, 2])}})[0])
"""
LEAVES = 'if tf.__version__.startswith("2"):\n    sys.exit("this needs TensorFlow 1")'


def test_a_program_does_not_leave_on_tf2() -> None:
    result = run(SMALL.format(arms=LEAVES), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert "sys.exit" not in str(result.files[0].after)


def test_what_cannot_be_taken_apart_stays() -> None:
    arms = "if sys.argv[1:]:\n    print(1)\nel" + LEAVES
    result = run(SMALL.format(arms=arms), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("depends on TensorFlow's version" in one for one in said(result)), said(result)
