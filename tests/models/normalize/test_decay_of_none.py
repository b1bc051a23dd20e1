"""Decays that some programs add to their loss, and others do not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.support.migration import after, run, said

NETWORK = """\
import tensorflow as tf


def weight(name, shape, regularizer):
    w = tf.get_variable(name, shape)
    if regularizer != None:
        tf.add_to_collection("losses", regularizer(w))
    return w


def network(x, regularizer):
    w1 = weight("w1", [2, 3], regularizer)
    w2 = weight("w2", [3, 1], regularizer)
    return tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)
"""

TRAIN = """\
import tensorflow as tf
import network

SCALE = 0.1
PATH = "model"


def train():
    x = tf.placeholder(tf.float32, [None, 2])
    y = network.network(x, tf.contrib.layers.l2_regularizer(SCALE))
    loss = tf.reduce_mean(tf.square(y - 1.0)) + tf.add_n(tf.get_collection("losses"))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print(sess.run([step, loss], {x: [[1.0, 2.0]]}))
        saver.save(sess, PATH)


if __name__ == "__main__":
    train()
""".replace(
    "    y = network.network(x, tf.contrib.layers.l2_regularizer(SCALE))\n",
    "    regularizer = tf.contrib.layers.l2_regularizer(SCALE)\n"
    "    y = network.network(x, regularizer)\n",
)

EVALUATE = """\
import tensorflow as tf
import network
import train


def evaluate():
    x = tf.placeholder(tf.float32, [None, 2])
    y = network.network(x, None)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        saver.restore(sess, train.PATH)
        print(sess.run(y, {x: [[1.0, 2.0]]}))


if __name__ == "__main__":
    evaluate()
"""

FILES = {"network.py": NETWORK, "train.py": TRAIN, "evaluate.py": EVALUATE}


def _states(files: Mapping[str, str]) -> dict[str, str]:
    result = run(*files.items(), bridge=True, native_sessions=True)
    return {one.entry.name: one.state for one in result.programs}


def test_programs_with_and_without_a_decay_share_a_network() -> None:
    result = run(*FILES.items(), native_sessions=True)
    assert {one.state for one in result.programs} == {"native"}, said(result)
    text = after(result, *FILES.items())
    assert "network.Network(0.0)" in text
    assert "network.Network(SCALE)" in text
    assert "regularizer_scale is not None" not in text


def test_what_no_program_runs_keeps_a_function_as_it_is() -> None:
    """A module for constants has a function as well, of which nobody knows who calls it."""
    old = (
        "import tensorflow as tf\nimport network\n\nNAME = 'w'\n\n\ndef old(x):\n"
        "    with tf.Session() as sess:\n        return sess.run(network.network(x, None))\n"
    )
    files = {"old.py": old}
    for name in ("train.py", "evaluate.py"):
        files[name] = FILES[name].replace("import network\n", "import network\nimport old\n")
    assert set(_states({**FILES, **files}).values()) == {"bridge"}


def test_a_scale_that_may_be_none_within_a_function_keeps_its_condition() -> None:
    """A function that is handed one through another may be handed None."""
    text = NETWORK.replace(
        '"losses", regularizer(w))', '"losses", regularizer(w))\n        print(1)'
    )
    assert text != NETWORK
    assert set(_states({**FILES, "network.py": text}).values()) == {"bridge"}


def test_a_scale_that_is_computed() -> None:
    """The network that decays is another one than what the other program shares with it."""
    text = FILES["train.py"].replace("SCALE = 0.1\n", "SCALE = 0.1 if len(PATH) > 2 else 0.2\n")
    text = text.replace('PATH = "model"\n', "").replace("SCALE", 'PATH = "model"\nSCALE', 1)
    files = {**FILES, "train.py": text}
    assert set(_states(files).values()) == {"native"}
    result = run(*files.items(), bridge=True, native_sessions=True)
    found = {str(file.path): file.after or "" for file in result.files}
    assert "losses" in found["network_tf2.py"] and "losses" not in found["network.py"]
    assert "import network_tf2 as network\n" in found["train.py"]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        # Each term is shown, not their sum.
        (
            "train.py",
            'tf.add_n(tf.get_collection("losses"))\n',
            'tf.add_n(tf.get_collection("losses"))\n    print(len(tf.get_collection("losses")))\n',
        ),
        # The other program collects in the same graph, and then reads what both did.
        ("evaluate.py", "    saver = tf.train.Saver()\n", "    train.train()\n"
                                                          "    saver = tf.train.Saver()\n"),
        # Its training begins when it is imported.
        ("train.py", 'if __name__ == "__main__":\n    train()', "train()"),
    ],
)  # fmt: skip
def test_programs_stay_that_may_have_one_graph_or_see_each_term(
    name: str, old: str, new: str
) -> None:
    assert FILES[name].count(old) == 1
    assert set(_states({**FILES, name: FILES[name].replace(old, new)}).values()) == {"bridge"}
