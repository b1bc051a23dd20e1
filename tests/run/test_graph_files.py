"""Programs whose checkpoints another program reads with their graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import run, said

FIXTURES = Path(__file__).parents[2] / "fixtures" / "session"
TRAIN = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.get_variable("w", [2, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([2, 2])})
    saver.save(sess, "run/model", global_step=1)
"""
PREDICT = """\
import tensorflow as tf

checkpoint = tf.train.latest_checkpoint("run")
with tf.Session() as sess:
    saver = tf.train.import_meta_graph(checkpoint + ".meta")
    saver.restore(sess, checkpoint)
    print(sess.run("w:0"))
"""
NAMED = PREDICT.replace('checkpoint + ".meta"', '"run/{}-1.meta"')


def state(*files: tuple[str, str]) -> tuple[str, str]:
    """What becomes of the first file, and why it stays."""
    result = run(*files, native_sessions=True, bridge=True)
    found = {one.entry.name: one.state for one in result.programs}
    return found[files[0][0].rpartition("/")[2]], "\n".join(said(result))


@pytest.mark.parametrize("predict", [PREDICT, NAMED.format("model")])
def test_a_program_beside_that_reads_the_graph_keeps_it(predict: str) -> None:
    # A native program saves variables alone: `model-1.meta` would be missing.
    kind, why = state(("train.py", TRAIN), ("predict.py", predict))
    assert kind == "bridge"
    assert "predict.py reads the graph that TF1 saves" in why


@pytest.mark.parametrize(
    ("train", "predict"),
    [
        (("train.py", TRAIN), ("predict.py", NAMED.format("other"))),
        (("one/train.py", TRAIN), ("two/predict.py", PREDICT)),
        (
            ("train.py", TRAIN.replace("step=1", "step=1, write_meta_graph=False")),
            ("predict.py", PREDICT),
        ),
        (("train.py", TRAIN.replace("saver.save", "saver.restore").replace(', global_step=1', "")),
         ("predict.py", PREDICT)),
    ],
    ids=["another-file", "another-folder", "no-graph-written", "nothing-saved"],
)  # fmt: skip
def test_one_that_reads_another_graph_does_not(
    train: tuple[str, str], predict: tuple[str, str]
) -> None:
    kind, why = state(train, predict)
    assert kind == "native", why


NETWORK = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
w = tf.get_variable("w", [2, 1])
with tf.name_scope("out"):
    out = tf.matmul(x, w, name="values")
    most = tf.reduce_max(out, name="most")
loss = tf.reduce_mean(tf.square(out - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([2, 2]), y: np.ones([2, 1])})
    saver.save(sess, "run/model", global_step=1)
"""
ASKS = """\
import tensorflow as tf

checkpoint = tf.train.latest_checkpoint("run")
graph = tf.Graph()
with tf.Session(graph=graph) as sess:
    with graph.as_default():
        loader = tf.train.import_meta_graph(checkpoint + ".meta")
    loader.restore(sess, checkpoint)
    given = graph.get_tensor_by_name("x:0")
    values = graph.get_operation_by_name("out/values").outputs[0]
    print(sess.run(values, {given: [[1.0, 2.0]]}))
"""


def test_what_a_reader_asks_for_is_written() -> None:
    result = run(("train.py", NETWORK), ("predict.py", ASKS), native_sessions=True, bridge=True)
    found = {one.entry.name: one.state for one in result.programs}
    assert found == {"train.py": "native", "predict.py": "bridge"}, said(result)
    text = next(one.after for one in result.files if one.path.name == "train.py")
    assert text is not None
    assert ', graph=(compute_out, ["x"], ["out/values"]))' in text
    assert any("ask it for: `x`, `out/values`" in one for one in said(result))


def test_a_reader_may_reset_the_graph_by_its_private_name() -> None:
    ops = "from tensorflow.python.framework import ops\n\nops.reset_default_graph()\n"
    asks = ASKS.replace("import tensorflow as tf\n", "import tensorflow as tf\n" + ops, 1)
    result = run(("train.py", NETWORK), ("predict.py", asks), native_sessions=True, bridge=True)
    found = {one.entry.name: one.state for one in result.programs}
    assert asks != ASKS
    assert found == {"train.py": "native", "predict.py": "bridge"}, said(result)


def test_several_readers_ask_for_several_values() -> None:
    other = ASKS.replace("out/values", "out/most").replace('"x:0"', '"y:0"')
    files = (("train.py", NETWORK), ("predict.py", ASKS), ("most.py", other))
    result = run(*files, native_sessions=True, bridge=True)
    text = next(one.after for one in result.files if one.path.name == "train.py")
    assert text is not None, said(result)
    assert '["x", "y"], ["out/most", "out/values"]))' in text


@pytest.mark.parametrize(
    ("train", "predict", "reason"),
    [
        (NETWORK, ASKS.replace('"x:0"', '"{}:0".format("x")'), "it is not known what it asks for"),
        (NETWORK, ASKS.replace("outputs[0]", "outputs[1]"), "it is not known what it asks for"),
        (
            NETWORK,
            ASKS.replace("    print", "    print(graph.get_collection('losses'))\n    print"),
            "it is not known what it asks for",
        ),
        (
            NETWORK,
            ASKS.replace("    print", "    print(tf.trainable_variables())\n    print"),
            "it is not known what it asks for",
        ),
        (
            NETWORK,
            ASKS.replace(
                "    loader.restore", "    loader.save(sess, 'again')\n    loader.restore"
            ),
            "it is not known what it asks for",
        ),
        (NETWORK, ASKS.replace("out/values", "out/none"), "asks for `out/none`, which cannot be"),
        # Another operation has the name.
        (
            NETWORK.replace('"values"', '"MatMul"'),
            ASKS.replace("out/values", "out/MatMul"),
            "",
        ),
        (
            NETWORK.replace('"values"', '"square"'),
            ASKS.replace("out/values", "out/square"),
            "TF1's name of `out/square` cannot be determined",
        ),
        (
            NETWORK.replace('tf.get_variable("w"', 'tf.get_variable("out/values"'),
            ASKS,
            "asks for `out/values`, which cannot be",
        ),
        # What the reader's graph has not, or has otherwise.
        (NETWORK.replace("Saver()", "Saver([w])"), ASKS, "a part of them is saved"),
        (
            NETWORK.replace("w = tf", "kept = tf.layers.dropout(x, training=True)\nw = tf").replace(
                "matmul(x, w", "matmul(kept, w"
            ),
            ASKS,
            "needs more there than saved variables",
        ),
        (NETWORK.replace(', name="y"', ""), ASKS.replace("out/values", "loss"), "asks for `loss`"),
        (
            NETWORK.replace(', name="x"', ""),
            ASKS.replace('"x:0"', '"y:0"'),
            "`x` has no name there",
        ),
        (
            NETWORK.replace(
                "with tf.Session", 'last = tf.identity(out, name="last")\nwith tf.Session'
            ),
            ASKS.replace("out/values", "last"),
            "before all of it is made",
        ),
    ],
)
def test_what_a_reader_asks_for_is_known_or_the_program_stays(
    train: str, predict: str, reason: str
) -> None:
    kind, why = state(("train.py", train), ("predict.py", predict))
    assert kind == ("bridge" if reason else "native"), why
    assert reason in why


def test_a_reader_that_imports_the_class_in_vain_keeps_it() -> None:
    # `evaluate.py` names `WindowNetwork` in an import alone: its module stays for that.
    folder = FIXTURES / "graph_for_reader" / "before"
    files = [(one.name, one.read_text()) for one in sorted(folder.glob("*.py"))]
    result = run(*files, native_sessions=True, bridge=True)
    found = {one.entry.name: one.state for one in result.programs}
    assert found == {"main.py": "native", "evaluate.py": "bridge"}, said(result)
    names = {one.path.name: one.after for one in result.files}
    assert "network_tf2.py" not in names  # nothing would be in it
    text = names["network.py"]
    assert text is not None and "class WindowNetwork(object):" in text


def test_one_that_makes_an_object_of_it_keeps_the_class() -> None:
    folder = FIXTURES / "graph_for_reader" / "before"
    files = {one.name: one.read_text() for one in sorted(folder.glob("*.py"))}
    files["evaluate.py"] += "\nprint(WindowNetwork)\n"
    result = run(*files.items(), native_sessions=True, bridge=True)
    found = {one.entry.name: one.state for one in result.programs}
    assert found == {"main.py": "native", "evaluate.py": "bridge"}, said(result)
    after = {one.path.name: str(one.after) for one in result.files}
    assert "class WindowNetwork" in after["network.py"] and "tf.placeholder" in after["network.py"]


def test_a_vocabulary_beside_other_names_of_contrib() -> None:
    text = (FIXTURES / "bag_of_words" / "before" / "main.py").read_text()
    old = "hidden = tf.layers.dense(words, 5, activation=tf.nn.tanh)"
    assert old in text
    text = text.replace(old, f"{old}\n    hidden = tf.contrib.layers.flatten(hidden)")
    result = run(("main.py", text), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
