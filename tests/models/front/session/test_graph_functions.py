"""Several functions, or several calls of one, that build a graph each and make its session."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

HEAD = """\
import numpy as np
import tensorflow as tf

rows = np.ones([4, 2], np.float32)


def net(x):
    return tf.layers.dense(x, 1, name="out")


"""
TRAIN = """\
def train():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2])
        loss = tf.reduce_mean(tf.square(net(x) - 1.0))
        step = tf.train.AdamOptimizer(0.1).minimize(loss)
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(step, {x: rows})
            saver.save(sess, "./model")


"""
TEST = """\
def test():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2])
        out = net(x)
        saver = tf.train.Saver()
        with tf.Session() as sess:
            saver.restore(sess, "./model")
            print(sess.run(out, {x: rows}))


"""
CALLS = """\
train()
test()
"""
WHOLE = HEAD + TRAIN + TEST + CALLS
_GRAPH = "    with tf.Graph().as_default():\n"


def without_graph(function: str, first: str = "") -> str:
    """A function that builds in the default graph, behind another statement perhaps."""
    return function.replace(_GRAPH, first).replace("\n        ", "\n    ")


def reason(text: str) -> list[str]:
    return said(run(text, bridge=True, native_sessions=True))


def test_each_function_has_its_own_layers_and_steps() -> None:
    after = native(WHOLE)
    assert "class Net(tf.keras.layers.Layer):" in after
    assert after.count("    net = Net()\n") == 2
    assert after.count('"out/kernel": net.out.kernel') == 2
    assert after.count('"out/kernel/Adam"') == 1
    assert '    saver.restore("./model")\n    print(compute_out(rows).numpy())\n' in after


def test_one_of_them_may_have_the_default_graph() -> None:
    assert native(WHOLE.replace(TEST, without_graph(TEST))) == native(WHOLE)


def test_a_graph_may_be_given_to_its_session_by_name() -> None:
    named = WHOLE.replace("as_default():", "as_default() as graph:")
    assert native(named.replace("Session()", "Session(graph=graph)")) == native(WHOLE)
    found = reason(named.replace("Session()", "Session(graph=other)"))
    assert any("it makes more than one session" in message for message in found), found


def test_two_that_never_run_both_may_have_the_default_graph() -> None:
    both = HEAD + without_graph(TRAIN) + without_graph(TEST)
    calls = "if len(rows) > 3:\n    train()\nelse:\n    test()\n"
    assert native(both + calls).count("    net = Net()\n") == 2
    for other in (
        calls.replace("else:", "if len(rows) > 2:"),
        "try:\n    train()\nexcept ValueError:\n    test()\n",
        calls + "train()\n",
    ):
        found = reason(both + other)
        assert any("builds the graph anew each time" in message for message in found), found


def test_layers_are_made_before_a_saver_that_names_their_variables() -> None:
    after = native(WHOLE).partition("def test():")[2]
    made = after.index("get_concrete_function(x_spec)")
    assert made < after.index("saver = Saver(")


def test_a_graph_may_be_reset_within_functions_or_between_their_calls() -> None:
    reset = "    tf.reset_default_graph()\n"
    within = HEAD + without_graph(TRAIN, reset) + without_graph(TEST, reset) + CALLS
    assert "reset_default_graph" not in native(within)
    calls = "train()\n\n# A new graph\ntf.reset_default_graph()\n\ntest()\n"
    after = native(HEAD + without_graph(TRAIN) + without_graph(TEST) + calls)
    assert after.endswith("\n\ntrain()\n\ntest()\n")
    found = reason(HEAD + without_graph(TRAIN) + without_graph(TEST) + CALLS)
    assert any("builds the graph anew each time" in message for message in found), found


def test_what_nothing_trains_is_left_out() -> None:
    built = TRAIN.partition("[None, 2])\n")[2].partition("        saver")[0]
    whole = TEST.replace("        out = net(x)\n", built).replace("sess.run(out", "sess.run(loss")
    after = native(HEAD + TRAIN + whole + CALLS).partition("def test():")[2]
    assert "optimizer" not in after
    assert "Adam" not in after
    saves = whole.replace("print(", 'saver.save(sess, "./other")\n            print(')
    found = reason(HEAD + TRAIN + saves + CALLS)
    assert any("it saves what an optimizer keeps that nothing runs" in m for m in found), found
    found = reason(HEAD + whole + whole.replace("def test", "def train") + CALLS)
    assert any("nothing is trained in its sessions" in message for message in found), found


def test_a_function_may_build_a_graph_at_each_call() -> None:
    calls = "for _ in range(3):\n    train()\n"
    after = native(HEAD + TRAIN + calls)
    assert "def train():\n    x_spec = " in after
    assert "\n    net = Net()\n" in after
    found = reason(HEAD + without_graph(TRAIN) + calls)
    assert any("may run more than once" in message for message in found), found


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (CALLS, CALLS + "saver = tf.train.Saver()\n", "is not supported in a native program"),
        (
            "        with tf.Session() as sess:\n            saver.restore",
            "        config = tf.ConfigProto(allow_soft_placement=True)\n"
            "        with tf.Session(config=config) as sess:\n            saver.restore",
            "a configuration is made with each of several graphs",
        ),
        (
            "            print(sess.run(out, {x: rows}))\n",
            "",
            "it saves variables of layers that nothing here runs",
        ),
    ],
)
def test_others_stay(old: str, new: str, why: str) -> None:
    assert old in WHOLE
    found = reason(WHOLE.replace(old, new))
    assert any(why in message for message in found), found


@pytest.mark.parametrize("function", [TRAIN, TEST])
def test_an_interactive_session_beside_others_stays(function: str) -> None:
    other = function.replace("with tf.Session()", "with tf.InteractiveSession()")
    found = reason(WHOLE.replace(function, other))
    assert any("and devices are set with them" in message for message in found), found


def test_graphs_of_each_call_stay_in_their_function() -> None:
    text = TRAIN.replace('            saver.save(sess, "./model")\n', "            return loss\n")
    found = reason(HEAD + text + "for _ in range(2):\n    print(train())\n")
    assert any("parts of a graph are returned that each call builds anew" in m for m in found), (
        found
    )


def test_a_function_that_one_graph_is_given_to_is_called_for_no_other_reason() -> None:
    show = "def show(sess, out, x):\n    print(sess.run(out, {x: rows}))\n\n\n"
    text = TEST.replace("print(sess.run(out, {x: rows}))", "show(sess, out, x)")
    assert "def show(compute_out):" in native(HEAD + show + TRAIN + text + CALLS)
    other = TRAIN.replace('saver.save(sess, "./model")', "show(1, 2, 3)")
    found = reason(HEAD + show + other + text + CALLS)
    assert any("`show` is given parts of one graph" in message for message in found), found


def test_a_function_may_reset_the_graph_between_their_calls() -> None:
    both = HEAD + without_graph(TRAIN) + without_graph(TEST)
    main = "def main():\n    train()\n    tf.reset_default_graph()\n    test()\n\n\nmain()\n"
    after = native(both + main)
    assert after.endswith("def main():\n    train()\n    test()\n\n\nmain()\n")
    anew, once = "builds the graph anew each time", "which builds the graph, may run more than once"
    for other, why in (
        (main.replace("    tf.reset_default_graph()\n", ""), anew),
        (main.replace("tf.reset", "if len(rows) > 9:\n        tf.reset"), anew),
        (main + "main()\n", once),
        (main.replace("    train()", "    test()").replace("()\n    test()\n\n", "()\n\n"), anew),
    ):
        found = reason(both + other)
        assert any(why in message for message in found), (other, found)


def test_a_function_may_be_called_in_several_arms() -> None:
    both = HEAD + without_graph(TRAIN) + without_graph(TEST)
    calls = "if len(rows) > 3:\n    train()\nelif len(rows) > 2:\n    rows += 1\n    train()\n"
    calls += "else:\n    test()\n"
    assert native(both + calls).count("    net = Net()\n") == 2
    for other, why in (
        (calls + "train()\n", "builds the graph anew each time"),
        (
            "for mode in range(2):\n    if mode:\n        train()\n    else:\n        test()\n",
            "which builds the graph, may run more than once",
        ),
    ):
        found = reason(both + other)
        assert any(why in message for message in found), (other, found)


BUILDS = """\
import tensorflow as tf


def build(size):
    x = tf.placeholder(tf.float32, [None, size])
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1, name="out") - 1.0))
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
    return x, loss, step
"""
CALLERS = """\
import numpy as np
import tensorflow as tf

from network import build

rows = np.ones([4, 2], np.float32)


def train():
    x, loss, step = build(2)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step, {x: rows})
        saver.save(sess, "./model")


def test():
    x, loss, step = build(2)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        saver.restore(sess, "./model")
        print(sess.run(loss, {x: rows}))


"""


@pytest.mark.parametrize(
    ("calls", "state"),
    [
        ("if len(rows) > 3:\n    train()\nelse:\n    test()\n", "native"),
        ("train()\ntf.reset_default_graph()\ntest()\n", "native"),
        ("train()\ntest()\n", "bridge"),
    ],
)
def test_another_module_may_build_their_graphs(calls: str, state: str) -> None:
    files = ("main.py", CALLERS + calls), ("network.py", BUILDS)
    result = run(*files, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == [state], said(result)
    kept = any("builds the graph anew each time" in one for one in said(result))
    assert kept == (state == "bridge")
