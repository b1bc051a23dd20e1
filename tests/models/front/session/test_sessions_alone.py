"""Functions and methods that each make a session, of which a process runs one: by a condition."""

from __future__ import annotations

import textwrap

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

NET = """\
import sys
import tensorflow as tf
rows = [[1.0, 2.0], [3.0, 1.0]]


class Net:
    def __init__(self, size, rate):
        self.x = tf.placeholder(tf.float32, [None, size])
        w = tf.get_variable('w', [size, 1], initializer=tf.zeros_initializer())
        self.out = tf.matmul(self.x, w)
        self.loss = tf.reduce_mean(tf.square(self.out - 1.0))
        self.train_op = tf.train.GradientDescentOptimizer(rate).minimize(self.loss)
        self.saver = tf.train.Saver()

"""
INIT = "        sess.run(tf.global_variables_initializer())\n"
TRAIN = """
def train():
    net = Net(2, 0.1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            print(sess.run([net.loss, net.train_op], {net.x: rows})[0])
        net.saver.save(sess, './net')

"""
TEST = """
def test():
    net = Net(2, 0.0)
    with tf.Session() as sess:
        net.saver.restore(sess, './net')
        print(sess.run(net.out, {net.x: rows}))

"""
BEGIN = """
def make(sess):
    net = Net(2, 0.1)
    if tf.train.checkpoint_exists('./net'):
        net.saver.restore(sess, './net')
    else:
        sess.run(tf.global_variables_initializer())
    return net

"""
CHOICE = """
if len(sys.argv) > 1:
    test()
else:
    train()
"""
CONFIG = "tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)))"
LIMIT = CONFIG.replace("allow_growth=True", "per_process_gpu_memory_fraction=0.3")
SOFT = "tf.Session(config=tf.ConfigProto(allow_soft_placement=True))"
MAKES = ("    net = Net(2, 0.1)\n", "    net = Net(2, 0.0)\n")


def methods(*functions: str) -> str:
    """Functions that make sessions, as methods of the network."""
    texts = [one.replace(MAKES[0], "").replace(MAKES[1], "") for one in functions]
    texts = [one.replace("():", "(self):").replace("net.", "self.") for one in texts]
    return NET + "".join(textwrap.indent(one, "    ") for one in texts)


def test_each_makes_the_model() -> None:
    after = native(NET + TRAIN + TEST + CHOICE)
    assert "def train():\n    net = Net(2, 0.1)\n    for _ in range(3):\n" in after
    assert "def test():\n    net = Net(2, 0.0)\n    net.saver.restore('./net')\n" in after


def test_the_other_stands_behind_a_return() -> None:
    main = (
        "\n\ndef main():\n    if len(sys.argv) > 1:\n        test()\n        return\n    train()\n"
    )
    after = native(NET + TRAIN + TEST + main + "\n\nif __name__ == '__main__':\n    main()\n")
    assert "def test():\n    net = Net(2, 0.0)\n    net.saver.restore('./net')\n" in after


def test_first_values_above_a_checkpoint() -> None:
    again = TEST.replace("net.saver.restore", "sess.run(tf.global_variables_initializer())\n"
                         "        if rows:\n            net.saver.restore")  # fmt: skip
    after = native(NET + TRAIN + again + CHOICE)
    assert "net = Net(2, 0.0)\n    if rows:\n        net.saver.restore('./net')\n" in after


def test_a_function_gives_the_model_its_values() -> None:
    both = TRAIN + TEST
    for made in MAKES:
        both = both.replace(made, "")
    both = both.replace(INIT, "        net = make(sess)\n")
    both = both.replace("        net.saver.restore(sess, './net')\n", "        net = make(sess)\n")
    after = native(NET + BEGIN + both + CHOICE)
    assert "def make():\n    net = Net(2, 0.1)\n    if tf.io.gfile.exists(" in after
    assert "global_variables_initializer" not in after
    assert "def test():\n    net = make()\n    print(" in after


def test_methods_and_the_module_make_sessions() -> None:
    choice = CHOICE.replace("train()", "net = Net(2, 0.1)\n    net.train()")
    choice = choice.replace("test()", "net = Net(2, 0.0)\n    with tf.Session() as sess:\n"
                            "        net.saver.restore(sess, './net')\n"
                            "        print(sess.run(net.out, {net.x: rows}))")  # fmt: skip
    after = native(methods(TRAIN) + choice)
    assert "    net = Net(2, 0.0)\n    net.saver.restore('./net')\n    print(" in after


def test_each_has_its_options() -> None:
    text = NET + TRAIN + TEST.replace("tf.Session()", CONFIG) + CHOICE
    after = native(text)
    assert after.index("def test()") < after.index("set_memory_growth") < after.index("sys.argv")
    limited = text.replace(TRAIN, TRAIN.replace("tf.Session()", LIMIT))
    assert native(limited).count("set_logical_device_configuration") == 1


NO_MODEL = BEGIN.replace("    net = Net", "    if not rows:\n        return None\n    net = Net")
TWICE = TRAIN.replace("        net.saver", "        begin(sess)\n        net.saver")
PLACED = """with tf.device('/gpu:0'):
            self.out = tf.matmul(self.x, w)"""
ONE = "may run more than once"
STAYS = {
    "one after the other": (NET + TRAIN + TEST + "train()\ntest()\n", ONE),
    "in the condition of the other": (NET + TRAIN + TEST + "if train():\n    test()\n", ONE),
    "in a loop": (
        NET + TRAIN + TEST + CHOICE.replace("    test()", "    for _ in rows:\n        test()"),
        ONE,
    ),
    "behind an arm that goes on": (
        NET + TRAIN + TEST + CHOICE.partition("else")[0] + "train()\n",
        ONE,
    ),
    "one is tried": (
        NET + TRAIN + TEST + "try:\n    test()\nexcept ValueError:\n    train()\n",
        ONE,
    ),
    "one arm makes both": (
        NET + TRAIN + TEST + CHOICE.replace("    train()", "    train()\n    test()"),
        ONE,
    ),
    "first values behind a checkpoint": (
        NET + TRAIN + TEST.replace("        print", INIT + "        print") + CHOICE,
        "variables are initialized after",
    ),
    "first values twice": (
        NET
        + TWICE.replace(INIT, "        begin(sess)\n")
        + "\ndef begin(sess):\n    sess.run(tf.global_variables_initializer())\n\n"
        + TEST
        + CHOICE,
        "variables may be initialized more than once",
    ),
    "a function that may return no model": (
        NET
        + NO_MODEL
        + "with tf.Session() as sess:\n    net = make(sess)\n"
        + "    print(sess.run(net.out, {net.x: rows}))\n",
        "what `net.out` fetches cannot be determined",
    ),
    "options that do not go together": (
        methods(TRAIN.replace("tf.Session()", CONFIG), TEST.replace("tf.Session()", LIMIT))
        + "net = Net(2, 0.1)\n"
        + CHOICE.replace("train()", "net.train()").replace("test()", "net.test()"),
        "another session of the process has another config",
    ),
    "no options, and devices": (
        NET.replace("self.out = tf.matmul(self.x, w)", PLACED)
        + TRAIN
        + TEST.replace("tf.Session()", SOFT)
        + CHOICE,
        "one of its sessions has no options, and operations are put on devices",
    ),
}


@pytest.mark.parametrize(("text", "reason"), STAYS.values(), ids=STAYS)
def test_stays(text: str, reason: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state.partition(",")[0] for one in result.programs] == ["bridge"]
    assert any(reason in message for message in said(result)), said(result)
