"""Sessions and graphs in several functions: what is handed over, and what keeps the bridge."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import HEAD, MODEL, START
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

BUILD = """\
import numpy as np
import tensorflow as tf

rows = np.ones([2, 2])


def build(size, rate=0.1):
    x = tf.placeholder(tf.float32, [None, size])
    w = tf.Variable(tf.zeros([size, 1]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss)
    return x, w, loss, train


"""
RUN = """\
def fit(sess, x, loss, train, steps=3):
    for step in range(steps):
        value, _ = sess.run([loss, train], {x: rows})
        print(step, value)


"""
MAIN = """\
def main():
    x, w, loss, train = build(2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        fit(sess, x, loss, train)
        print(sess.run(w))


main()
"""
WHOLE = HEAD + MODEL


def test_what_stays_is_returned_with_the_steps() -> None:
    text = BUILD + RUN.replace("value, _ = sess.run([loss, train]", "value = sess.run(loss") + MAIN
    text = text.replace(
        "print(sess.run(w))", "sess.run(train, {x: rows})\n        print(sess.run(w))"
    )
    after = native(text)
    assert "    return compute_loss, train_step, w\n" in after
    assert "def fit(compute_loss, steps=3):\n" in after
    assert "    fit(compute_loss)\n    train_step(rows)\n    print(w.numpy())\n" in after


def test_steps_are_handed_through_functions_that_only_call() -> None:
    text = BUILD.replace(", w, loss", ", loss").replace("return x, loss", "return x, loss")
    text += """\
def fit(sess, x, train):
    sess.run(train, feed_dict={x: rows})


def repeat(number, session, x, train):
    for _ in range(number):
        fit(session, train=train, x=x)


def main():
    x, loss, train = build(2)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    repeat(3, sess, x, train)
    print(loss.eval({x: rows}, session=sess))
    sess.close()


main()
"""
    after = native(text)
    assert "def repeat(number, train_step):\n    for _ in range(number):\n" in after
    assert "        fit(train_step)\n" in after
    assert "    repeat(3, train_step)\n    print(compute_loss(rows).numpy())\n\n\nmain()" in after


def test_a_function_that_only_gives_first_values_goes() -> None:
    text = WHOLE + "sess = tf.Session()\n\n\ndef begin():\n"
    text += "    sess.run(tf.global_variables_initializer())\n\n\nbegin()\n"
    text += "value, _ = sess.run([loss, train], {x: rows})\n"
    after = native(text)
    assert "begin" not in after
    assert after.endswith("\n\n\nvalue = train_step(rows).numpy()\n")


GRAPH = """\
import numpy as np
import tensorflow as tf

rows = np.ones([2, 2])
graph = tf.Graph()
with graph.as_default():
    x = tf.placeholder(tf.float32, [None, 2])
    w = tf.Variable(tf.zeros([2, 1]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""


def test_a_graph_with_a_name_goes_with_its_blocks() -> None:
    text = GRAPH + "    start = tf.global_variables_initializer()\n"
    text += "sess = tf.Session(graph=graph)\nwith sess.as_default():\n"
    text += "    sess.run(start)\n    print(loss.eval({x: rows}))\n    sess.run(train, {x: rows})\n"
    after = native(text)
    assert "graph" not in after
    assert after.endswith("\nprint(compute_loss(rows).numpy())\ntrain_step(rows)\n")
    assert "soft_device_placement" not in after, "nothing names a device"
    made = "    w = tf.Variable(tf.zeros([2, 1]))\n"
    named = native(text.replace(made, f"    with tf.device('/cpu:0'):\n    {made}"))
    assert "tf.config.set_soft_device_placement(False)\n" in named


def test_the_main_function_that_app_run_calls_runs_once() -> None:
    text = BUILD + RUN + MAIN.replace("def main():", "def main(_):")
    guard = '\n\nif __name__ == "__main__":\n    tf.app.run()\n'
    assert "    app.run(main)\n" in native(text.replace("\n\nmain()\n", guard))


STAYS = {
    "a graph that is looked at": (
        GRAPH
        + "print(graph)\nwith tf.Session(graph=graph) as sess:\n"
        + "    sess.run(tf.global_variables_initializer())\n    sess.run(train, {x: rows})\n",
        "its session is given more than a config",
    ),
    "main called twice": (
        BUILD + RUN + MAIN.replace("\n\nmain()\n", "\n\ntf.app.run()\ntf.app.run()\n"),
        "may run more than once",
    ),
    "built twice": (BUILD + RUN + MAIN + "build(3)\n", "may run more than once"),
    "a session for each call": (
        BUILD + RUN + MAIN.replace("\n\nmain()\n", "\n\nmain()\nmain()\n"),
        "may run more than once",
    ),
    "a function kept by another name": (
        BUILD + RUN + MAIN.replace("        fit(sess", "        kept = fit\n        fit(sess"),
        "`train`, a part of the graph, is used outside",
    ),
    "different graphs for one parameter": (
        BUILD + RUN + MAIN.replace("        print(sess.run(w))", "        fit(sess, x, w, train)"),
        "what `loss` fetches cannot be determined",
    ),
    "a part of the graph is looked at": (
        BUILD + RUN.replace("    for step", "    print(loss)\n    for step") + MAIN,
        "`loss`, a part of the graph, is used outside",
    ),
    "the session is kept": (
        BUILD + RUN + MAIN.replace("        fit(sess", "        kept = [sess]\n        fit(sess"),
        "the session is used for more than `run`",
    ),
    "a method": (
        WHOLE
        + START
        + "class Trainer:\n    @staticmethod\n    def fit():\n"
        + "        sess.run(train, {x: rows})\n\n\n"
        + "Trainer().fit()\n",
        "is not a plain function",
    ),
    "built where it runs": (
        BUILD + RUN.replace("sess.run([loss, train]", "sess.run([loss * 2, train]") + MAIN,
        "what `loss * 2` fetches cannot be determined",
    ),
    "first values again": (
        BUILD
        + RUN
        + MAIN.replace(
            "        print(sess.run(w))", "        sess.run(tf.global_variables_initializer())"
        ),
        "after something has run",
    ),
    "first values in a function that runs often": (
        WHOLE
        + "sess = tf.Session()\n\n\ndef begin():\n"
        + "    sess.run(tf.global_variables_initializer())\n\n\n"
        + "for i in range(2):\n    begin()\n    print(sess.run([loss, train], {x: rows})[0])\n",
        "may be initialized more than once",
    ),
    "first values between runs": (
        BUILD
        + MAIN.replace("print(sess.run(w))", "sess.run(tf.global_variables_initializer())").replace(
            "\n\nmain()\n", "\n\n" + RUN + "main()\n"
        ),
        "after something may have run",
    ),
    "one of several returns": (
        BUILD.replace(
            "    return x", "    if rate > 1:\n        return x, w, loss, None\n    return x"
        )
        + RUN
        + MAIN,
        "a part of the graph, is used outside",
    ),
    "a graph by index": (
        BUILD
        + RUN
        + MAIN.replace("x, w, loss, train = build(2)", "g = build(2)\n    x, w = g[:2]"),
        "what `loss` fetches cannot be determined",
    ),
}


@pytest.mark.parametrize("case", STAYS.values(), ids=STAYS)
def test_stays(case: tuple[str, str]) -> None:
    text, reason = case
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(reason in message for message in said(result)), said(result)
