"""Functions that build parts of a graph and are called once: their statements stand there."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


def inputs(size):
    x = tf.placeholder(tf.float32, [None, size])
    # what is learnt
    y = tf.placeholder(tf.float32, [None, 1])
    return x, y


def model(x):
    w = tf.Variable(tf.ones([2, 1]))
    return tf.matmul(x, w)


def training(loss, rate):
    rate = rate / 2
    with tf.name_scope('training'):
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        return step


a, b = inputs(2)  # the placeholders
out = model(a)
loss = tf.reduce_mean(tf.square(out - b))
train = training(loss, 0.1)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        print(sess.run([loss, train], {a: np.ones([3, 2]), b: np.zeros([3, 1])})[0])
"""


def test_the_statements_stand_where_the_function_was_called() -> None:
    after = native(PROGRAM)
    assert "def inputs" not in after and "def training" not in after
    assert (
        "# the placeholders\n"
        "a_spec = tf.TensorSpec([None, 2], tf.float32)\n"
        "# what is learnt\n"
        "b_spec = tf.TensorSpec([None, 1], tf.float32)\n"
    ) in after
    assert "rate = 0.1\nrate = rate / 2\n" in after
    assert "class Model(tf.keras.layers.Layer):\n" in after  # makes layers, and stays apart


IN_CLASS = PROGRAM.replace(
    """a, b = inputs(2)  # the placeholders
out = model(a)
loss = tf.reduce_mean(tf.square(out - b))
train = training(loss, 0.1)

with tf.Session() as sess:
""",
    """class Net:
    def __init__(self, size):
        self.a, self.b = inputs(size)
        self.loss = tf.reduce_mean(tf.square(model(self.a) - self.b))
        self.train = training(self.loss, 0.1)


net = Net(2)
with tf.Session() as sess:
""",
)
IN_CLASS = IN_CLASS.replace("[loss, train], {a:", "[net.loss, net.train], {net.a:")
IN_CLASS = IN_CLASS.replace(", b: np", ", net.b: np")


def test_a_constructor_calls_them_as_well() -> None:
    after = native(IN_CLASS)
    assert "def inputs" not in after and "def training" not in after
    assert "        # what is learnt\n" in after and "self.train_step = train_step\n" in after


def test_a_name_that_both_have_gets_another_one() -> None:
    after = native(PROGRAM.replace("out = model(a)", "rate = 7\nprint(rate)\nout = model(a)"))
    assert "rate_2 = 0.1\nrate_2 = rate_2 / 2\n" in after
    assert "rate = 7\nprint(rate)\n" in after


def test_what_is_thrown_away_keeps_its_name() -> None:
    program = PROGRAM.replace("        return step\n", "        return rate, step\n")
    program = program.replace("train = training(", "_, train = training(")
    after = native(program)
    assert "\n_" not in after and "rate = 0.1\nrate = rate / 2\n" in after


STAYS = {
    "one that is called again": PROGRAM + "training(loss, 0.2)\n",
    "one that is handed on": PROGRAM + "print(inputs)\n",
    "one that may return before its end": PROGRAM.replace(
        "    rate = rate / 2\n", "    if rate > 1:\n        return None\n"
    ),
    "one that is called in a loop": PROGRAM.replace(
        "train = training(loss, 0.1)", "for _ in range(2):\n    train = training(loss, 0.1)"
    ),
    "one that is decorated": PROGRAM.replace("def inputs", "@print\ndef inputs"),
    "one that takes any arguments": PROGRAM.replace("def inputs(size)", "def inputs(size, *more)"),
    "one that gives several names at once": PROGRAM.replace(
        "a, b = inputs(2)", "c = a, b = inputs(2)"
    ),
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_what_cannot_stand_there_stays(text: str) -> None:
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in message for message in said(result))


ELSEWHERE = """\
import tensorflow as tf

WIDTH = 2


def inputs(batch):
    x = tf.placeholder(tf.float32, [batch, WIDTH])
    y = tf.placeholder(tf.float32, [batch, 1])
    return x, y
"""
OF_ELSEWHERE = PROGRAM[PROGRAM.index("def model") :].replace("inputs(2)", "parts.inputs(3)")
IMPORTS = "import numpy as np\nimport tensorflow as tf\nimport parts\n\n\n"


def test_a_function_of_another_module_reads_its_module_there() -> None:
    files = ("program.py", IMPORTS + OF_ELSEWHERE), ("parts.py", ELSEWHERE)
    result = run(*files, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"native"}, said(result)
    texts = {str(file.path): file.after for file in result.files}
    assert "a_spec = tf.TensorSpec([3, parts.WIDTH], tf.float32)" in (texts["program.py"] or "")
    assert "def inputs" not in (texts["parts.py"] or "def inputs")


OTHERS = {
    "a name that has two values there": ELSEWHERE.replace("WIDTH = 2", "WIDTH = 1\nWIDTH = 2"),
    "a default that is not written out": ELSEWHERE.replace("(batch)", "(batch, width=WIDTH)"),
    "TensorFlow by another name": ELSEWHERE.replace("as tf", "as flow").replace("tf.", "flow."),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_function_of_another_module_stays(other: str) -> None:
    files = ("program.py", IMPORTS + OF_ELSEWHERE), ("parts.py", other)
    result = run(*files, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    assert any("placeholder` is not among" in message for message in said(result)), said(result)


TABLE = """\
def learn(sess, ops):
    feeds = {ops['x']: np.ones([3, 2]), ops['y']: np.zeros([3, 1])}
    print(sess.run([ops['loss'], ops['train']], feeds)[0])


""" + PROGRAM[PROGRAM.index("def inputs") :].replace(
    "        print(sess.run([loss, train], {a: np.ones([3, 2]), b: np.zeros([3, 1])})[0])\n",
    "        learn(sess, ops)\n",
).replace("    for _", "    ops = {'x': a, 'y': b, 'loss': loss, 'train': train}\n    for _")


def test_a_dictionary_of_parts_is_what_a_function_is_given() -> None:
    after = native(IMPORTS.replace("import parts\n", "") + TABLE)
    assert "def learn(train_step):\n" in after and "ops" not in after


TABLES = {
    "a key that is computed": TABLE.replace("ops['loss']", "ops['lo' + 'ss']"),
    "a part that is made anew below": TABLE.replace(
        "'train': train}\n", "'train': train}\n    loss = 2.0 * loss\n"
    ),
    "somebody who asks for all": TABLE.replace("    for _", "    print(sorted(ops))\n    for _"),
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_a_dictionary_of_parts_stays(text: str) -> None:
    result = run(IMPORTS.replace("import parts\n", "") + text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
