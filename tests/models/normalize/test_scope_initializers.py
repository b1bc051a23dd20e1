"""Scopes with an initializer, and branches that a settings object chooses."""

import pytest

from tests.support.migration import migrated

PROGRAM = """\
import tensorflow as tf


class Config(object):
    def __init__(self):
        self.square = True
        self.size = 3


config = Config()
x = tf.placeholder(tf.float32, [None, 2])
first = tf.zeros_initializer()
with tf.variable_scope("net", initializer=first):
    w = tf.get_variable("w", [2, config.size], initializer=tf.ones_initializer())
if config.square:
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
else:
    loss = tf.reduce_mean(tf.abs(tf.matmul(x, w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {x: [[1.0, 2.0]]}))
"""

NATIVE = "steps of a session become functions of TF2"


def test_a_scope_is_left_its_name() -> None:
    text, said = migrated(PROGRAM, native_sessions=True)
    assert NATIVE in said
    assert 'name="net/w"' in text and "first" not in text
    assert "        if config.square:\n" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (", initializer=tf.ones_initializer()", "", "the loss depends on no variable"),
        # it may be None
        ("initializer=tf.ones_initializer()", "initializer=config.first",
         "the loss depends on no variable"),
        ("tf.matmul(x, w)", "tf.layers.dense(tf.matmul(x, w), 1)",
         "`tf.variable_scope` is not supported in a native program"),
    ],
)  # fmt: skip
def test_a_variable_may_ask_its_scope(old: str, new: str, reason: str) -> None:
    branch = PROGRAM[PROGRAM.index("if config.square") : PROGRAM.index("train = ")]
    plain = PROGRAM.replace(branch, "loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))\n")
    assert old in plain
    assert NATIVE in migrated(plain, native_sessions=True)[1]
    _, said = migrated(plain.replace(old, new), bridge=True, native_sessions=True)
    assert NATIVE not in said and any(reason in one for one in said), said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("config = Config()", "config = Config()\nconfig.square = False"),
        ("config = Config()", "config = Config()\nsetattr(config, 'square', False)"),
        ("config = Config()", "config = Config()\nconfig.__dict__['square'] = False"),
    ],
)
def test_a_setting_that_may_be_another_chooses_no_branch(old: str, new: str) -> None:
    assert old in PROGRAM
    _, said = migrated(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    reason = "`x`, a part of the graph, is used outside of `Session.run`"
    assert NATIVE not in said and any(reason in one for one in said), said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("config = Config()", "class Other(Config):\n    pass\n\n\nconfig = Other()"),
        ("self.square = True", "self.square = self.read()"),
    ],
)
def test_a_setting_that_is_told_once_chooses_a_branch(old: str, new: str) -> None:
    text, said = migrated(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert NATIVE in said and "if config.square:" in text, said


def test_a_module_beside_may_give_a_setting() -> None:
    """It has done so when the graph is built, in TF1 as in TF2."""
    settings = PROGRAM[PROGRAM.index("class Config") : PROGRAM.index("config = ")]
    program = PROGRAM.replace(
        "config = Config()", "import other\n\nconfig = other.changed(Config())"
    )
    other = ("other.py", "def changed(config):\n    config.square = False\n    return config\n")
    assert settings in program
    _, said = migrated(program, other, bridge=True, native_sessions=True)
    assert NATIVE in said, said
