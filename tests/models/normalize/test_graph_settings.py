"""Branches of a graph that a setting of the program's chooses."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

METHOD = dict(name='scaled', scale=0.5)


class Model:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        w = tf.Variable(tf.ones([2, 1]))
        out = tf.matmul(self.x, w)
        if METHOD['name'] == 'scaled':  # smaller
            self.scale = tf.placeholder(tf.float32, [])
            self.loss = tf.reduce_mean(tf.square(out)) * self.scale
        else:  # as it is
            self.loss = tf.reduce_mean(tf.square(out))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def fit(self, x):
        if METHOD['name'] == 'scaled':
            feed = {self.x: x, self.scale: METHOD['scale']}
            return self.sess.run([self.loss, self.train], feed)[0]
        return self.sess.run([self.loss, self.train], {self.x: x})[0]


model = Model()
for _ in range(2):
    print(model.fit(np.ones([3, 2])))
"""


def test_each_branch_has_its_step() -> None:
    after = native(PROGRAM)
    assert (
        "        if METHOD['name'] == 'scaled':\n"
        "            @tf.function(input_signature=[x_spec, scale_spec])\n"
        "            def train_step(x, scale):\n"
    ) in after
    assert (
        "        else:\n"
        "            @tf.function(input_signature=[x_spec])\n"
        "            def train_step(x):\n"
    ) in after
    assert "# smaller\n" in after and "# as it is\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("model = Model()\n", "model = Model()\nMETHOD['name'] = 'plain'\n"),
        ("model = Model()\n", "change(METHOD)\nmodel = Model()\n"),
        ("model = Model()\n", "METHOD = dict(name='plain')\nmodel = Model()\n"),
        ("model = Model()\n", "METHOD[np.random.choice(['name'])] = 'plain'\nmodel = Model()\n"),
    ],
)
def test_a_setting_that_may_change_keeps_the_program(old: str, new: str) -> None:
    assert old in PROGRAM
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    stays = "`out`, a part of the graph, is used outside of `Session.run`"
    assert any(stays in one for one in said(result)), said(result)


def test_a_setting_that_another_module_changes() -> None:
    other = "import model\n\nmodel.METHOD = dict(name='plain')\n"
    main = "import other\nimport model\n"
    files = ("main.py", main), ("other.py", other), ("model.py", PROGRAM)
    result = run(*files, native_sessions=True)
    assert "native" not in [one.state for one in result.programs]
