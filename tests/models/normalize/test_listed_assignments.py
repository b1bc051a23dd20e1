"""Variables of one object that get those of another one, in a loop over both lists."""

from __future__ import annotations

import pytest

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.models.normalize.sessions import listed_assignments
from migrate_mgpu.source.source import splice
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Network(object):
    def __init__(self, session, name):
        self.session = session
        with tf.variable_scope(name):
            self.x = tf.placeholder(tf.float32, [None, 2])
            self.w = tf.get_variable("w", [2, 1])
            self.b = tf.get_variable("b", [1])
            self.out = tf.matmul(self.x, self.w) + self.b
            self.loss = tf.reduce_mean(tf.square(self.out))
            self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)
        self.params = [self.w, self.b]

    def learn(self, x):
        return self.session.run([self.loss, self.train_op], {self.x: x})[0]

    def copy_from(self, other):
        ops = []
        for p, q in zip(self.params, other.params):
            ops.append(p.assign(q))
        self.session.run(ops)


def follow_ops(one, other):
    # a little
    held = []
    for p, q in zip(one.params, other.params):
        op = p.assign(0.1 * q + 0.9 * p)
        held.append(op)
    return held


def main():
    with tf.Session() as sess:
        first = Network(sess, "first")
        second = Network(sess, "second")
        ops = follow_ops(second, first)
        sess.run(tf.global_variables_initializer())
        second.copy_from(first)
        for step in range(3):
            print(first.learn(np.ones([4, 2])))
            sess.run(ops)


main()
"""


def rewritten(text: str) -> str:
    """The text once no list is left, or none that is understood."""
    while True:
        project = Project([("train.py", text.encode())])
        (module,) = project.modules.values()
        edits = listed_assignments.normalize(module)
        edits = edits or listed_assignments.returned(module, CallGraph(project))
        if not edits:
            return text
        text = splice(text, edits)


def test_each_is_run_in_its_turn() -> None:
    after = rewritten(PROGRAM)
    assert "other.params):\n            self.session.run(p.assign(q))\n\n" in after
    assert "def follow_ops(one, other, session):\n    # a little\n    for p, q in" in after
    assert "        session.run(p.assign(0.1 * q + 0.9 * p))\n\n" in after
    assert "            follow_ops(second, first, sess)\n" in after
    assert "ops = " not in after and "held" not in after


@pytest.mark.parametrize(
    "lines",
    [
        "ops = [p.assign(q) for p, q in zip(self.params, other.params)]\n        "
        "self.session.run(ops)\n",
        "self.session.run([p.assign(q) for p, q in zip(self.params, other.params)])\n",
    ],
)
def test_a_list_that_is_written_as_one_is_a_loop(lines: str) -> None:
    begin, end = PROGRAM.index("ops = []"), PROGRAM.index("\n\ndef follow_ops")
    after = rewritten(PROGRAM[:begin] + lines + PROGRAM[end:])
    assert "for p, q in zip(self.params, other.params):\n            self.session.run(" in after


def test_objects_give_each_other_their_values() -> None:
    after = native(PROGRAM)
    assert "other.params):\n            p.assign(q)\n" in after
    assert "    for p, q in zip(one.params, other.params):\n        p.assign(0.1 * q" in after
    assert (
        "        print(first.learn(np.ones([4, 2])))\n        follow_ops(second, first)\n" in after
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # What TF1 assigns to one, it may read for another one, before or after.
        ("zip(self.params, other.params)", "zip(self.params, self.params[1:])"),
        ("zip(self.params, other.params)", "zip(self.params, other.shadow)"),
        ("self.session.run(ops)", "self.session.run(ops)\n        return ops"),
        ("self.session.run(ops)", "return self.session.run(ops)"),
        ("self.session.run(ops)", "self.session.run(ops, {self.x: []})"),
        ("ops.append(p.assign(q))", "ops.append(p.assign(self.session.run(q)))"),
        ("ops.append(p.assign(q))", "ops.append(q)"),
        ("ops.append(p.assign(q))", "print(p)\n            ops.append(p.assign(q))"),
        ("        ops = []\n", "        ops = [self.train_op]\n"),
    ],
)
def test_other_lists_stay(old: str, new: str) -> None:
    """They are read where more happens, or where the order of what is assigned may matter."""
    text = PROGRAM.replace(old, new, 1)
    assert text != PROGRAM
    kept = text[text.index("def copy_from") : text.index("def follow_ops")]
    assert kept in rewritten(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ops = follow_ops(second, first)", "ops = follow_ops(second, first) + []"),
        ("sess.run(ops)\n", "print(sess.run(ops))\n"),
        ("        second.copy", "        first = Network(sess, 'third')\n        second.copy"),
        ("    return held", "    return held, one"),
        ("    held = []", "    print('once')\n    held = []"),
        ("0.1 * q + 0.9 * p", "one.share * q + 0.9 * p"),
        ("0.1 * q + 0.9 * p", "share * q + 0.9 * p"),
        (
            "        ops = follow_ops(second, first)",
            "        for third in [first]:\n            ops = follow_ops(second, third)",
        ),
    ],
)
def test_other_functions_stay(old: str, new: str) -> None:
    """What they were called with may be something else where their list is run."""
    text = PROGRAM.replace(old, new, 1)
    assert text != PROGRAM
    assert text[text.index("def follow_ops") :] in rewritten(text)


def test_a_variable_of_a_list_that_is_used_otherwise_stays() -> None:
    """Outside of an assignment it is a part of TF1's graph, of which its value may be meant."""
    line = "            self.session.run(p.assign(q))\n            self.session.run(p)\n"
    begin, end = PROGRAM.index("        ops = []"), PROGRAM.index("\n\ndef follow_ops")
    loop = "        for p, q in zip(self.params, other.params):\n" + line
    result = run(PROGRAM[:begin] + loop + PROGRAM[end:], bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    told = "`p`, a variable of a list, is used in another way here"
    assert any(told in one for one in said(result)), said(result)
