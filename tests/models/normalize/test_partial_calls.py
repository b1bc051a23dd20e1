"""Functions of TensorFlow's whose arguments a program fixes."""

from __future__ import annotations

import pytest

from migrate_mgpu.analysis.project import Project
from migrate_mgpu.models.normalize.functions import partial_calls
from migrate_mgpu.source.source import splice

PROGRAM = """\
from functools import partial
import tensorflow as tf

init = tf.contrib.layers.variance_scaling_initializer()
dense = partial(tf.layers.dense, activation=tf.nn.elu, kernel_initializer=init)

x = tf.placeholder(tf.float32, [None, 2])
h = dense(x, 8, name="h")
y = dense(h, 2, activation=None)
with tf.Session() as sess:
    print(sess.run(y, {x: [[1.0, 2.0]]}))
"""


def written(text: str) -> str:
    project = Project([("train.py", text.encode())])
    (module,) = project.modules.values()
    after = splice(text, partial_calls.normalize(module))
    compile(after, "train.py", "exec")
    return after


def test_calls_say_what_is_fixed() -> None:
    after = written(PROGRAM)
    assert "dense = " not in after
    fixed = "activation=tf.nn.elu, kernel_initializer=init)\n"
    assert f'h = tf.layers.dense(x, 8, name="h", {fixed}' in after
    assert "y = tf.layers.dense(h, 2, activation=None, kernel_initializer=init)\n" in after


@pytest.mark.parametrize(
    "old, new",
    [
        ("y = dense(h, 2", "layers = [dense]\ny = dense(h, 2"),  # any call
        ("init = ", "init = None\ninit = "),  # two values
        ("kernel_initializer=init", "kernel_initializer=choose()"),
        ("partial(tf.layers.dense, ", "partial(tf.layers.dense, x, "),
        ("dense(h, 2, activation=None)", "dense(h, 2, **more)"),
        ("y = dense(h, 2", "y = (lambda init: dense(h, 2))(0)\ny = dense(h, 2"),  # another name
    ],
)
def test_others_stay(old: str, new: str) -> None:
    text = PROGRAM.replace(old, new)
    assert text != PROGRAM and written(text) == text
