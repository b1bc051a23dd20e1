"""Assignments that a function names and runs at once."""

from __future__ import annotations

import pytest

from migrate_mgpu.analysis.project import Project
from migrate_mgpu.models.normalize.sessions import named_assignments
from migrate_mgpu.source.source import splice
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


def give(sess, model, weights, bias):
    first = tf.assign(model.weights,
                      weights)  # of another network
    second = model.bias.assign_add(bias)
    sess.run([second, first])


with tf.Session() as sess:
    sess.run(model.train_op)
"""


def rewritten(text: str) -> str:
    project = Project([("train.py", text.encode())])
    (module,) = project.modules.values()
    return splice(text, named_assignments.normalize(module))


def test_each_is_run_where_it_is_made() -> None:
    after = rewritten(PROGRAM)
    assert "    sess.run(tf.assign(model.weights,\n" in after
    assert "weights))  # of another network\n    sess.run(model.bias.assign_add(bias))\n" in after
    assert "first" not in after and "second" not in after
    assert rewritten(after) == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sess.run([second, first])", "sess.run([second, second])"),
        ("sess.run([second, first])", "return sess.run([second, first])"),
        ("sess.run([second, first])", "sess.run([second, first])\n    print(first)"),
        ("sess.run([second, first])", "sess.run([second, first], {model.x: bias})"),
        ("sess.run([second, first])", "print(bias)\n    sess.run([second, first])"),
        ("sess.run([second, first])", "make_session().run([second, first])"),
        ("model.bias.assign_add(bias)", "model.bias.read_value()"),
        ("model.bias.assign_add(bias)", "model.bias.assign_add(sess.run(model.bias))"),
        ("def give(sess, model, weights, bias):", "if True:"),
        ("def give(sess, model, weights, bias):", "def give():\n    sess = tf.Session()"),
        ("    second =", "    first = 0\n    second ="),
    ],
)  # fmt: skip
def test_other_runs_stay(old: str, new: str) -> None:
    text = PROGRAM.replace(old, new, 1)
    assert text != PROGRAM
    assert rewritten(text) == text


WHOLE = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.ones([2, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def give(sess):
    new = tf.assign(w, np.array([[one] for one in range(2)], np.float32))
    sess.run(new)


def main():
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        give(sess)
        print(sess.run([loss, train], {x: np.ones([3, 2])}))


main()
"""


def test_a_function_above_what_initializes_assigns_later() -> None:
    result = run(("train.py", WHOLE), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert "    w.assign(np.array(" in str(result.files[0].after)


def test_what_comes_before_the_first_values_stays() -> None:
    line = "        sess.run(tf.global_variables_initializer())\n"
    text = WHOLE.replace(line + "        give(sess)\n", "        give(sess)\n" + line)
    result = run(("train.py", text), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("assigned before it is initialized" in one for one in said(result)), said(result)


def test_a_name_of_its_own_goes() -> None:
    """What assigns is the variable's method then: nothing has the imported function."""
    text = (
        "import tensorflow as tf\n"
        "from tensorflow.compat.v1 import Session, assign, global_variables_initializer\n\n"
        "a = tf.Variable(5.0)\n"
        "learn = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(tf.square(a))\n"
        "sess = Session()\n"
        "sess.run(global_variables_initializer())\n"
        "sess.run(learn)\n"
        "sess.run(assign(a, 10.0))\n"
        "print(sess.run(a))\n"
    )
    after = native(text)
    assert "a.assign(10.0)\n" in after
    assert "compat.v1" not in after
