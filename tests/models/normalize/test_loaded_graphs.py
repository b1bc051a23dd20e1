"""A graph that a program reads back from its own checkpoint."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

NAMED = "logits = tf.identity(logits, name='logits')\n"
PROGRAM = """\
import numpy as np
import tensorflow as tf

path = './model'
inputs = tf.placeholder(tf.float32, [None, 2], name='inputs')
w = tf.Variable(tf.ones([2, 1]), name='w')
logits = tf.matmul(inputs, w)
logits = tf.identity(logits, name='logits')
loss = tf.reduce_mean(tf.square(logits), name='loss')
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
rows = np.ones([4, 2])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        print(sess.run([loss, train], {inputs: rows})[0])
    saver = tf.train.Saver()
    saver.save(sess, path)

loaded_graph = tf.Graph()
with tf.Session(graph=loaded_graph) as sess:
    loader = tf.train.import_meta_graph(path + '.meta')
    loader.restore(sess, path)
    loaded_x = loaded_graph.get_tensor_by_name('inputs:0')
    logits = loaded_graph.get_tensor_by_name('logits:0')
    print(sess.run(logits, {loaded_x: rows}))
"""


def test_the_later_session_is_one_of_the_same_graph() -> None:
    after = native(PROGRAM)
    assert after.endswith("saver.restore(path)\nprint(compute_logits(rows).numpy())\n")
    assert "loaded" not in after and "Graph" not in after


def test_the_block_may_have_comprehensions() -> None:
    """An internal error: what is a part of one has no line of its own."""
    again = "    print([len(rows) for _ in range(2)])\n"
    after = native(
        PROGRAM.replace(
            "    print(sess.run(logits, {loaded_x", f"{again}    print(sess.run(logits, {{loaded_x"
        )
    )
    assert "print([len(rows) for _ in range(2)])" in after


def test_a_path_that_is_a_constant() -> None:
    text = changed(
        PROGRAM, ("path + '.meta'", "'./model.meta'"), ("(sess, path)", "(sess, './model')")
    )
    assert native(text).endswith("saver.restore('./model')\nprint(compute_logits(rows).numpy())\n")


def test_both_graphs_have_names() -> None:
    text = changed(
        PROGRAM,
        ("with tf.Session() as", "with tf.Session(graph=train_graph) as"),
        ("rows = np", "\nrows = np"),
    )
    head, _, rest = text.partition("inputs = ")
    built, _, below = rest.partition("\n\nrows")
    built = ("inputs = " + built).replace("\n", "\n    ")
    head += "train_graph = tf.Graph()\nwith train_graph.as_default():\n    "
    text = f"{head}{built}\n\nrows{below}"
    assert native(text).endswith("saver.restore(path)\nprint(compute_logits(rows).numpy())\n")


STAYS = {
    "a graph of another program": (("path + '.meta'", "'./other.meta'"),),
    "a path that changes": (("rows =", "path = path + '2'\nrows ="),),
    "it may not have been saved": (
        ("    saver.save(sess, path)", "    if len(rows) > 4:\n        saver.save(sess, path)"),
    ),
    "saved before the tensor was made": (
        (NAMED, ""),
        ("    saver.save(sess, path)\n", f"    saver.save(sess, path)\n    {NAMED}"),
    ),
    "a saver of some variables": (("tf.train.Saver()", "tf.train.Saver([w])"),),
    "saved by its steps": (("(sess, path)\n\n", "(sess, path, global_step=3)\n\n"),),
    "a name that two operations want": (
        ("loss = ", "other = tf.identity(w, name='logits')\nloss = "),
    ),
    "a name in a scope": (
        (NAMED, f"with tf.name_scope('a'):\n    {NAMED}"),
    ),
    "a name that TF1 may give itself": (("name='inputs'", "name='add'"), ("'inputs:0'", "'add:0'")),
    "a second value": (("'logits:0'", "'logits:1'"),),
    "another call's name": (
        ("tf.identity(logits, name='logits')", "tf.nn.dropout(logits, 1.0, name='logits')"),
    ),
    "the name is used afterwards": (
        ("    print(sess.run(logits", "    print(loaded_x)\n    print(sess.run(logits"),
        ("rows =", "loaded_x = 1\nrows ="),
        ("{loaded_x: rows}))\n", "{loaded_x: rows}))\nprint(loaded_x)\n"),
    ),
    "more than tensors of the graph": (
        ("    loaded_x =", "    print(loaded_graph.get_operations())\n    loaded_x ="),
    ),
    "other settings": (
        ("graph=loaded_graph)", "graph=loaded_graph, config=config)"),
        ("rows =", "config = tf.ConfigProto(allow_soft_placement=True)\nrows ="),
    ),
    "into the same graph": (
        ("loaded_graph = tf.Graph()\n", "loaded_graph = tf.get_default_graph()\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("pairs", STAYS.values(), ids=STAYS)
def test_what_may_be_another_graph_stays(pairs: tuple[tuple[str, str], ...]) -> None:
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] != ["native"]
    assert any("it makes more than one session" in one for one in said(result)), said(result)
