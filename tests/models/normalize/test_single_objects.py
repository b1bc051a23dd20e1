"""Classes whose constructor builds parts of a graph for one object."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

MODEL = """\
import tensorflow as tf


class Model(object):
    def __init__(self, size, rate=0.5):
        self.rate = rate
        self.x = tf.placeholder(tf.float32, [None, size])
        self._size = size
        w = tf.Variable(tf.ones([self._size, 1]))
        self.size = tf.matmul(self.x, w)  # of the outputs
        self.loss = tf.reduce_mean(tf.square(self.size)) * self.rate
"""
MAIN = """\
import numpy as np
import tensorflow as tf
from model import Model

model = Model(2)
train = tf.train.GradientDescentOptimizer(0.1).minimize(model.loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        print(sess.run([model.loss, train], {model.x: np.ones([3, 2])})[0])
"""


def test_its_statements_stand_where_the_object_was_made() -> None:
    result = run(("main.py", MAIN), ("model.py", MODEL), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "class Model" not in after["model.py"] and "model" not in after["main.py"]
    assert "x_spec = tf.TensorSpec([None, 2], tf.float32)\n" in after["main.py"]
    assert "    size_tensor = tf.matmul(x, w)  # of the outputs\n" in after["main.py"]
    assert "tf.Variable(tf.ones([2, 1]))\n" in after["main.py"]


def test_a_class_of_the_program_itself() -> None:
    main = MAIN.replace("from model import Model\n", MODEL.partition("\n")[2])
    after = native(main)
    assert "class Model" not in after and "self" not in after
    assert "@tf.function(input_signature=[x_spec])\ndef train_step(x):" in after


def test_a_class_of_layers() -> None:
    model = """\
import tensorflow as tf


class Model:
    \"\"\"One layer.\"\"\"

    def __init__(self, x, units):
        self.x = x
        w = tf.get_variable("w", [2, units], initializer=tf.ones_initializer())
        self.out = tf.matmul(self.x, w)
"""
    main = (
        MAIN.replace("Model(2)", "Model(x, 1)")
        .replace("model.x", "x")
        .replace("model =", "x = tf.placeholder(tf.float32, [None, 2])\nmodel =")
    )
    main = main.replace("train =", "loss = tf.reduce_mean(model.out)\ntrain =")
    main = main.replace("model.loss", "loss")
    result = run(("main.py", main), ("model.py", model), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert 'class Model(tf.keras.layers.Layer):\n    """One layer."""\n' in after["model.py"]
    assert "from model import Model\n" in after["main.py"] and "= Model(1)\n" in after["main.py"]


def test_names_that_both_have() -> None:
    main = MAIN.replace("model = Model(2)\n", "loss, model = 3, Model(2)\n")
    main = main.replace("loss, model = 3, Model(2)", "loss = 3\nmodel = Model(2)\nprint(loss)")
    result = run(("main.py", main), ("model.py", MODEL), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "        model_loss = " in after["main.py"] and "loss = 3\n" in after["main.py"]


def test_a_name_that_a_function_has_which_reads_the_object() -> None:
    show = "def show(sess, x):\n    print(sess.run(model.loss, {model.x: x}))\n\n\n"
    main = MAIN.replace("with tf", show + "with tf") + "    show(sess, np.ones([1, 2]))\n"
    result = run(("main.py", main), ("model.py", MODEL), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "model_x_spec = " in after["main.py"] and "def show(x):\n" in after["main.py"]


STAYS = {
    "two objects": (MAIN + "\nother = Model(3)\n", MODEL),
    "an object that is handed on": (MAIN + "\nprint(model)\n", MODEL),
    "an attribute that is changed": (MAIN.replace("with tf", "model.rate = 1.0\nwith tf"), MODEL),
    "an attribute that it does not have": (MAIN + "\nprint(model.name)\n", MODEL),
    "a method": (MAIN, MODEL + "\n    def test(self, sess):\n        return self.loss\n"),
    "a class that inherits": (MAIN, MODEL.replace("(object)", "(dict)")),
    "an attribute under a condition": (
        MAIN,
        MODEL.replace("        self.loss", "        if size:\n            self.loss"),
    ),
    "the object itself": (MAIN, MODEL + "        print(self)\n"),
    "a constructor that may end early": (
        MAIN,
        MODEL.replace("        w =", "        if size > 9:\n            return\n        w ="),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS.values(), ids=STAYS)
def test_it_stays(case: tuple[str, str]) -> None:
    main, model = case
    result = run(("main.py", main), ("model.py", model), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("`Model`" in message or "`model`" in message for message in said(result))


PARTS = """\
import tensorflow as tf


def inputs(size):
    x = tf.placeholder(tf.float32, [None, size])
    return x


def cost(out):
    return tf.reduce_mean(tf.square(out))
"""
CALLS = """\
import numpy as np
import tensorflow as tf
from parts import cost, inputs

x = inputs(2)
w = tf.Variable(tf.ones([2, 1]))
loss = cost(tf.matmul(x, w))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {x: np.ones([3, 2])})[0])
"""


def test_a_function_that_goes_is_not_imported_any_more() -> None:
    result = run(("main.py", CALLS), ("parts.py", PARTS), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "from parts import cost\n" in after["main.py"] and "def inputs" not in after["parts.py"]


KEPT = {
    "an import that does something": (
        CALLS.replace("cost, inputs", "inputs").replace("cost(", "tf.reduce_mean("),
        PARTS + "\n\nprint('parts')\n",
    ),
    "an import in a function": (
        CALLS + "\n\ndef other():\n    from parts import inputs\n",
        PARTS,
    ),
}


@pytest.mark.parametrize("case", KEPT.values(), ids=KEPT)
def test_a_function_stays_whose_import_stays(case: tuple[str, str]) -> None:
    main, parts = case
    result = run(("main.py", main), ("parts.py", parts), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("`tf.placeholder`" in message for message in said(result)), said(result)
