"""Methods that a constructor calls once: their statements stand in its place."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model:
    def __init__(self, size):
        self.size = size
        self.rate = 0.1
        self.x, self.out, self.train_op = self._build(3.0)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def _build(self, scale):
        \"\"\"All of it.\"\"\"
        x = tf.placeholder(tf.float32, [None, self.size])
        # the network
        h, w = self._layer(x, 'one')
        loss, train_op = self._train(h * scale, [w])
        return x, h, train_op

    def _layer(self, x, name):
        h = tf.get_variable(name, [self.size, 1], initializer=tf.ones_initializer())
        return tf.matmul(x, h), h

    def _train(self, out, variables):
        # what is trained
        loss = tf.reduce_mean(tf.square(out))
        op = tf.train.GradientDescentOptimizer(self.rate).minimize(loss, var_list=variables)
        return loss, op

    def learn(self, data):
        self.sess.run(self.train_op, feed_dict={self.x: data})
        return self.sess.run(self.out, feed_dict={self.x: data})


model = Model(2)
for _ in range(3):
    print(model.learn(np.ones([4, 2])))
"""


def test_the_statements_of_methods_stand_in_the_constructor() -> None:
    after = native(PROGRAM)
    assert "_build" not in after and "_layer" not in after and "_train(" not in after
    assert "        # the network\n" in after and "# what is trained\n" in after
    assert "loss = tf.reduce_mean(tf.square((h * 3.0)))\n" in after


def test_a_method_may_have_the_name_of_something_in_it() -> None:
    text = PROGRAM.replace("loss, train_op = self._train(", "loss, train_op = self.op(")
    after = native(text.replace("def _train(", "def op("))
    assert "def op(" not in after and "# what is trained\n" in after


def test_a_method_that_the_class_has_by_another_name_stays() -> None:
    data = "        return self.sess.run(self.out, feed_dict={self.x: data})\n"
    text = PROGRAM.replace(data, f"{data}    train = _train\n")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in message for message in said(result))


def test_a_name_that_both_have_gets_another_one() -> None:
    """`h` is the matrix in one method, and the product in the other."""
    after = native(PROGRAM)
    assert "w = tf.Variable(tf.keras.initializers.Ones()([self.size, 1]), name='one')" in after
    assert "h = tf.matmul(x, w)\n" in after


CHANGED = PROGRAM.replace("(h * scale, [w])", "(self.rate * h, [w])").replace(
    "        # what is trained\n", "        self.rate = 0.5\n"
)
STAYS = {
    "one that is called again": PROGRAM.replace(
        "        return x, h, train_op",
        "        self._layer(x, 'two')\n        return x, h, train_op",
    ),
    "one that others call": PROGRAM + "model._layer(None, 'other')\n",
    "one that may return before its end": PROGRAM.replace(
        "        loss = tf.reduce", "        if self.size > 9:\n            return None, None\n"
        "        loss = tf.reduce"
    ),
    "one that changes what others read": CHANGED + "print(model.rate)\n",
    "one that is decorated": PROGRAM.replace(
        "    def _layer(self", "    @np.deprecate\n    def _layer(self"
    ),
    "a class below": PROGRAM.replace(
        "model = Model(2)",
        "class Other(Model):\n    def _layer(self, x, name):\n        return x, x\n\n\n"
        "model = Model(2)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_methods_that_do_more_stay(text: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in message for message in said(result))


def test_what_a_method_changes_and_reads_itself_alone_is_a_name() -> None:
    after = native(CHANGED)
    assert "tf.square((self.rate * h))" in after and "rate = 0.5\n" in after


def test_a_static_method_is_given_its_object_as_anything_else() -> None:
    static = PROGRAM.replace("    def _layer(self", "    @staticmethod\n    def _layer(self")
    after = native(static.replace("self._layer(x", "self._layer(self, x"))
    assert "w = tf.Variable(tf.keras.initializers.Ones()([self.size, 1]), name='one')\n" in after


SEVERAL = """\
import numpy as np
import tensorflow as tf


class Agent:
    def __init__(self, size, n_actions):
        self.size = size
        self._n = n_actions
        self.x = tf.placeholder(tf.float32, [None, self.size])
        self.q = self._build_net('main', scale=2.0)
        self.target = self._build_net('target')
        mine = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='main')
        theirs = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='target')
        self.follow = [t.assign(m) for t, m in zip(theirs, mine)]
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(self.q))
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    # the network
    def _build_net(self, name, scale=1.0):
        \"\"\"Two layers.\"\"\"
        with tf.variable_scope(name):
            # of weights
            h = tf.layers.dense(self.x, 4, tf.nn.relu)
            return scale * tf.layers.dense(h, self._n)

    def learn(self, data):
        self.sess.run(self.follow)
        self.sess.run(self.train_op, {self.x: data})
        return self.sess.run(self.target, {self.x: data})


agent = Agent(2, 3)
print(agent.learn(np.ones([4, 2])))
"""


def test_a_method_that_makes_layers_several_times_becomes_a_class_of_them() -> None:
    after = native(SEVERAL)
    assert "class Net(tf.keras.layers.Layer):\n" in after and "_build_net" not in after
    assert "q_layer = Net('main', n=self._n, scale=2.0)\n" in after
    assert "target_layer = Net('target', n=self._n)\n" in after
    assert "# of weights\n" in after


def test_layers_that_no_step_trains_have_variables_before_they_are_copied() -> None:
    after = native(SEVERAL)
    made = "tf.function(get_target).get_concrete_function(x_spec)\n"
    assert after.index(made) < after.index("def run_follow():")


SEVERAL_STAY = {
    "one that keeps something": SEVERAL.replace(
        "            return scale", "            self.h = h\n            return scale"
    )
    + "print(agent.h)\n",
    "one that is called later": SEVERAL + "agent._build_net('other')\n",
    "one that calls another": SEVERAL.replace("self._n)", "self.count())").replace(
        "    def learn", "    def count(self):\n        return self._n\n\n    def learn"
    ),
    "one in a loop": SEVERAL.replace(
        "        mine = ",
        "        for i in range(2):\n            self._build_net(str(i))\n        mine = ",
    ),
    "a target that is never computed": SEVERAL.replace(
        "self.sess.run(self.target, {self.x: data})", "self.sess.run(self.q, {self.x: data})"
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", SEVERAL_STAY.values(), ids=SEVERAL_STAY)
def test_methods_that_are_no_functions_stay(text: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in message for message in said(result))


def test_a_method_with_a_function_of_its_own() -> None:
    first = "        x = tf.placeholder("
    own = "        def scaled(value):\n            return value * self.rate\n\n"
    text = PROGRAM.replace("h * scale, [w]", "scaled(h) * scale, [w]")
    after = native(text.replace(first, own + first, 1))
    assert "    def _build" not in after
    assert f"        self.rate = 0.1\n\n{own}        x_spec = " in after
    assert "out = scaled(h) * 3.0\n" in after
