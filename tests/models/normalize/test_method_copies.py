"""Copies of variables that a method makes, weighted gradients, and constants of a class."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

FIXTURES = Path(__file__).parents[3] / "fixtures" / "session"
HALVES = (FIXTURES / "halves_copied" / "before.py").read_text()
KEPT = (FIXTURES / "kept_networks" / "before.py").read_text()
LISTED = "self.weights = tf.trainable_variables()\n"
SCALED = """\
import numpy as np
import tensorflow as tf


class Net:
    SCALE = 0.5

    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        out = tf.layers.dense(self.x, 1)
        self.loss = tf.reduce_mean(tf.square(out - 1.0)) * self.SCALE
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def train(self, x):
        return self.sess.run([self.loss, self.train_op], {self.x: x})[0]


net = Net()
print(net.train(np.ones([3, 2])))
"""


def stays(text: str, reason: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(reason in message for message in said(result)), said(result)


def test_a_method_without_parameters_stays_and_runs_what_copies() -> None:
    assert "    def follow(self):\n        self.run_follow_operations()\n" in native(HALVES)


def test_a_method_that_is_given_names_goes() -> None:
    after = native(KEPT)
    assert "self.run_follow_policy_main_policy_lag()\n" in after and "def _follow" not in after


@pytest.mark.parametrize(
    "old, new",
    [
        (LISTED, f"{LISTED}        self.follow()\n"),  # before the constructor has it
        ("i + len(self.weights) // 2]", "i + 1]"),
        ("self.sess.run(copied)\n", "self.sess.run(copied)\n            print(i)\n"),
    ],
)
def test_other_copies_stay(old: str, new: str) -> None:
    assert old in HALVES
    stays(HALVES.replace(old, new), "`Values`, which builds the graph, may run more than once")


def test_halves_of_what_is_not_two_networks_alike_stay() -> None:
    more = HALVES.replace("tf.reset_default_graph()\n", "tf.reset_default_graph()\n        ONE\n")
    one = "one = tf.get_variable('one', [])"
    stays(more.replace("ONE", one), "`Values`, which builds the graph, may run more than once")


def test_gradients_of_weighted_lists_stay() -> None:
    old = "tf.gradients(self.policy.moves, weights, -self.uphill)"
    assert old in KEPT
    stays(KEPT.replace(old, old.replace("-self.uphill", "[-self.uphill]")), "`Policy` does more")


def test_a_constant_of_a_class_is_read_in_a_step() -> None:
    assert "* self.SCALE\n" in native(SCALED)


@pytest.mark.parametrize("change", ["net.SCALE = 2.0\n"])
def test_a_constant_of_a_class_that_is_set_stays(change: str) -> None:
    text = SCALED.replace("print(net", f"{change}print(net")
    stays(text, "`self.SCALE` changes, and the graph was built with one of its values")
