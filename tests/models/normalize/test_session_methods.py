"""A method that builds the graph and makes its session: the constructor builds it."""

from __future__ import annotations

import pytest

from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Trainer(object):
    def __init__(self, rate):
        self.rate = rate

    def build(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        return tf.reduce_mean(tf.square(tf.layers.dense(self.x, 1) - 1.0))

    def train(self, rows, steps):
        '''All of it.'''
        loss = self.build()
        # what is run
        rate = self.rate / 2
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(steps):
                print(sess.run([step, loss], {self.x: rows})[1])


def main():
    trainer = Trainer(0.1)
    trainer.train(np.ones([4, 2]), 3)


main()
"""
CALL = "    trainer.train(np.ones([4, 2]), 3)\n"
GIVEN = ("    trainer = Trainer(0.1)\n" + CALL, "    rows = np.ones([4, 2])\n    {}\n")
STAYS = "a method makes its session"


def given(code: str) -> str:
    """The program with arguments that nothing is called for, and another way to train."""
    return changed(PROGRAM, (GIVEN[0], GIVEN[1].format(code.replace("\n", "\n    "))))


PLAIN = given("trainer = Trainer(0.1)\ntrainer.train(rows, 3)")


@pytest.mark.parametrize(
    "code",
    [
        "trainer = Trainer(0.1)\ntrainer.train(rows, 3)",
        "trainer = Trainer(0.1)\nsteps = 3\ntrainer.train(rows, steps)",
        "trainer = Trainer(0.1)\nfound = trainer.train(rows, 3)",
        "Trainer(0.1).train(rows, 3)",
    ],
)
def test_the_constructor_builds_it(code: str) -> None:
    result = run(given(code), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = str(result.files[0].after)
    constructor, train = after.split("    def train(self, rows, steps):\n")
    assert "rate_2 = self.rate / 2" in constructor.split("def __init__(self, rate):")[1]
    assert "'''All of it.'''" in train and "tf.keras.optimizers" not in train


def test_a_block_on_a_device_is_in_both() -> None:
    start = PLAIN.index("        loss = self.build()")
    end = PLAIN.index("\n\ndef main")
    body = "".join("    " + line for line in PLAIN[start:end].splitlines(keepends=True))
    text = f"{PLAIN[:start]}        with tf.device('/cpu:0'):\n{body}{PLAIN[end:]}"
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


@pytest.mark.parametrize(
    "edits",
    [
        # arguments that are made behind what is built
        [("trainer.train(rows, 3)", "trainer.train(np.ones([4, 2]), 3)")],
        # something happens between the two
        [("    trainer.train(rows", "    print(rows.shape)\n    trainer.train(rows")],
        [("    trainer.train(rows", "    trainer.rate = 0.3\n    trainer.train(rows")],
        # there are two objects
        [("    trainer = T", "    other = Trainer(0.2)\n    trainer = T")],
        # it may not be called
        [("    trainer.train(rows", "    if len(rows) > 1:\n        trainer.train(rows")],
        # the method may leave above the session
        [("        loss = self.b", "        if steps:\n            return\n        loss = self.b")],
    ],
)
def test_the_method_itself_builds_it(edits: list[tuple[str, str]]) -> None:
    """The constructor is as it was: what is built is built where the method is called."""
    result = run(changed(PLAIN, *edits), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    constructor, train = str(result.files[0].after).split("    def train(self, rows, steps):\n")
    made = constructor.split("def __init__(self, rate):\n")[1]
    assert made.strip() == "self.rate = rate"
    assert "tf.TensorSpec([None, 2], tf.float32)" in train and "def build(" not in train


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        # it is called twice, or in a loop
        ([("rows, 3)\n", "rows, 3)\n    trainer.train(rows, 2)\n")], STAYS),
        ([("    trainer.train(rows", "    for _ in range(2):\n        trainer.train(rows")], STAYS),
        ([("    trainer.train(rows", "    train = trainer.train\n    trainer.train(rows")], STAYS),
        # what it is is something else later
        ([("            for _ in", "            loss += 1.0\n            for _ in")],
         "`loss` is more than one part of the graph in this step"),
        # another class has the constructor
        ([("\n\ndef main", "\n\nclass Other(Trainer):\n    pass\n\n\ndef main")],
         "`self.build` is not supported in code that builds the graph"),
    ],
)  # fmt: skip
def test_what_stays(edits: list[tuple[str, str]], reason: str) -> None:
    result = run(changed(PLAIN, *edits), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(one.endswith(reason) for one in said(result)), said(result)


def test_a_session_of_another_graph_stays() -> None:
    text = changed(PLAIN, ("tf.Session()", "tf.Session(graph=tf.Graph())"))
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("its session is given more than a config" in one for one in said(result))


def of_own_graph(text: str) -> str:
    """The method's statements in a graph of its own."""
    start = text.index("        loss = self.build()")
    end = text.index("\n\ndef main")
    body = "".join("    " + line for line in text[start:end].splitlines(keepends=True))
    return f"{text[:start]}        with tf.Graph().as_default():\n{body}{text[end:]}"


def test_the_only_graph_is_the_default_one() -> None:
    result = run(of_own_graph(PLAIN), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


def test_a_graph_beside_which_the_module_builds_stays() -> None:
    beside = ("class Trainer", "counter = tf.Variable(0)\n\n\nclass Trainer")
    text = changed(of_own_graph(PLAIN), beside)
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    text = "`tf.Variable` is not supported in a native program"
    assert any(one.endswith(text) for one in said(result)), said(result)


def test_names_of_both_are_apart() -> None:
    """The constructor has a global's name for something else: what is built would read that."""
    text = changed(PLAIN, ("import numpy", "width = 1\nimport numpy"))
    text = changed(text, ("def build(self)", "def build(self, width)"))
    text = changed(text, ("dense(self.x, 1)", "dense(self.x, width)"))
    text = changed(text, ("self.build()", "self.build(width)"))
    assert "native" in {one.state for one in run(text, native_sessions=True, bridge=True).programs}
    text = changed(text, ("__init__(self, rate)", "__init__(self, rate, width=3)"))
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert "tf.keras.layers.Dense(width)" in str(result.files[0].after).split("def train(")[1]


def test_an_object_that_is_known_by_its_name_stays() -> None:
    text = PLAIN.replace("def main():\n    rows", "rows").replace("\nmain()\n", "\n")
    text = text.replace("\n    trainer", "\ntrainer")
    assert run(text, native_sessions=True, bridge=True).programs[0].state == "native"
    text = changed(text, ("dense(self.x, 1)", "dense(trainer.x, 1)"))
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    text = "a part of the graph is stored in something other than a variable"
    assert any(one.endswith(text) for one in said(result)), said(result)
