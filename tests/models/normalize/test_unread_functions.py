"""Functions that nothing calls: those that build a part of TF1's graph go, and are told."""

from __future__ import annotations

import pytest

from migrate_mgpu.core.findings import RunResult
from tests.support.migration import after, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf
{imports}
x = tf.placeholder(tf.float32, [None, 3])


def net(x, name="net"):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [3, 1])
        return tf.matmul(x, w)

{unread}
loss = tf.reduce_mean(tf.square(net(x) - 1.0))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {{x: np.ones([2, 3])}})
{last}
"""
UNREAD = """
def is_right(found, wanted):
    return tf.equal(tf.argmax(found, 1), wanted)


# What it has learned.
def test(x, wanted):
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        return is_right(net(x), wanted)

"""


def program(
    unread: str = UNREAD, imports: str = "", last: str = "", name: str = "main"
) -> RunResult:
    text = PROGRAM.format(unread=unread, imports=imports, last=last)
    return run((f"{name}.py", text), bridge=True, native_sessions=True)


def told(result: RunResult) -> list[str]:
    return [one for one in said(result) if "nothing calls" in one]


def test_it_goes_and_is_told() -> None:
    result = program()
    assert [one.state for one in result.programs] == ["native"], said(result)
    text = after(result, ("main.py", ""))
    assert "def test" not in text and "What it has learned" not in text
    assert "def is_right(found, wanted):\n    return tf.equal(tf.argmax(found, 1)" in text
    assert told(result) == [
        "nothing calls `test`, which builds a part of TF1's graph: it is left out"
    ]


def test_what_only_such_a_function_calls_goes_too() -> None:
    unread = UNREAD.replace(
        "return tf.equal(", "tf.get_variable('more', [1])\n    return tf.equal("
    )
    result = program(unread)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert "def is_right" not in after(result, ("main.py", ""))
    assert len(told(result)) == 2


STAYS = {
    "a text names it": program(imports="NAMES = ['test']\n"),
    "a name that is computed": program(last="getattr(np, 'on' + 'es')"),
    "all names": program(last="print(sorted(globals()))"),
    "exported": program(imports="__all__ = ['net', 'test']\n"),
    "decorated": program(UNREAD.replace("def test", "@np.vectorize\ndef test")),
    "another half of the program": program(
        UNREAD.replace("        return is_right", "        tf.Session()\n        return is_right")
    ),
    "a test of pytest's": program(name="test_main"),
}


@pytest.mark.parametrize("result", STAYS.values(), ids=STAYS)
def test_what_may_be_called_stays(result: RunResult) -> None:
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert not told(result)


def test_a_program_that_stays_keeps_its_functions() -> None:
    result = program(last="tf.train.Supervisor()")
    assert [one.state for one in result.programs] == ["bridge"]
    assert "def test" in after(result, ("main.py", ""))
    assert not told(result)


def test_functions_of_one_name_in_several_modules() -> None:
    """`train` of the module beside is neither the program's own nor TensorFlow's."""
    beside = (
        "import tensorflow as tf\n\n\n"
        "def net(x):\n    return tf.layers.dense(x, 1, name='one')\n\n\n"
        "def train(loss):\n    return tf.train.AdamOptimizer(0.1).minimize(loss)\n"
    )
    text = (
        "import numpy as np\nimport tensorflow as tf\n\nimport beside\n\n\n"
        "def train():\n"
        "    x = tf.placeholder(tf.float32, [None, 3])\n"
        "    loss = tf.reduce_mean(tf.square(beside.net(x) - 1.0))\n"
        "    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n"
        "    with tf.Session() as sess:\n"
        "        sess.run(tf.global_variables_initializer())\n"
        "        sess.run(step, {x: np.ones([2, 3])})\n\n\n"
        "train()\n"
    )
    files = ("main.py", text), ("beside.py", beside)
    result = run(*files, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert "def train" not in after(result, files[1]) and "def train" in after(result, files[0])
    files = ("main.py", text.replace("step = tf", "step = beside.train(loss) or tf")), files[1]
    assert not told(run(*files, bridge=True, native_sessions=True))


PARTS = '''\
import tensorflow as tf


class batch_norm({base}):
    """Nothing makes one."""
{constant}
    def __init__(self, name="scaled"):
        self.averages = tf.train.ExponentialMovingAverage(0.9)

    def __call__(self, x):
        return x / tf.get_variable("by", [1])


def forgotten(x):
    return tf.get_variable("gone", [1]) + x


def net(x, scope=None, with_w=False):
    with tf.variable_scope(scope or "net"):
        w = tf.get_variable("w", [3, 1])
        unused = tf.get_variable("unused", [1])
        if with_w:
            return tf.matmul(x, w), w
        else:
            return tf.matmul(x, w)
'''
MAIN = """\
import numpy as np
import tensorflow as tf
from parts import *


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.answer = net(self.x)
        self.loss = tf.reduce_mean(tf.square(self.answer - 1.0))
        self.step = tf.train.AdamOptimizer(0.01).minimize(self.loss)

    def train(self, data):
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(self.step, {self.x: data.train.images})
            saver.save(sess, "model")


model = Model()
model.train(None)
"""


def of_class(base: str = "object", constant: str = "") -> RunResult:
    files = ("main.py", MAIN), ("parts.py", PARTS.format(base=base, constant=constant))
    return run(*files, bridge=True, native_sessions=True)


def test_a_class_that_nothing_makes_goes_beside_functions_that_a_star_imports() -> None:
    result = of_class()
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert told(result) == [
        "nothing calls `batch_norm`, which builds a part of TF1's graph: it is left out",
        "nothing calls `forgotten`, which builds a part of TF1's graph: it is left out",
    ]
    text = after(result, ("parts.py", ""))
    assert "batch_norm" not in text and "class Net(tf.keras.layers.Layer):" in text
    # What no gradient reaches has no slots in TF1.
    text = after(result, ("main.py", ""))
    assert '"net/unused": answer_layer.unused,' in text, text
    assert '"net/w/Adam_1",' in text and "net/unused/Adam" not in text, text


@pytest.mark.parametrize(
    "words",
    [{"base": "tf.Module"}, {"constant": "    known = register()\n"}],
    ids=["one of a base", "one whose body does something"],
)
def test_a_class_that_may_do_more_stays(words: dict[str, str]) -> None:
    result = of_class(**words)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert not any("batch_norm" in one for one in told(result))


MODEL = """\
import tensorflow as tf


class Model(object):
    def __init__(self, size):
        self.x = tf.placeholder(tf.float32, [None, size])
        w = tf.get_variable("w", [size, 1])
        self.answer = tf.matmul(self.x, w)
        self.loss = tf.reduce_mean(tf.square(self.answer - 1.0))
        self.step = tf.train.GradientDescentOptimizer(0.01).minimize(self.loss)


# Tries it.
def test():
    model = Model(2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print(sess.run(model.answer, {model.x: [[1.0, 2.0]]}))
"""
TRAINS = """\
import numpy as np
import tensorflow as tf
from model import Model

model = Model(3)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(model.step, {model.x: np.ones([2, 3])})
    saver.save(sess, "./model")
"""
PREDICTS = """\
import numpy as np
import tensorflow as tf
from model import Model

model = Model(3)
saver = tf.train.Saver()
with tf.Session() as sess:
    saver.restore(sess, "./model")
    print(sess.run(model.answer, {model.x: np.ones([2, 3])}))
"""
LEFT_OUT = "nothing calls `test`, which builds a part of TF1's graph: it is left out"


@pytest.mark.parametrize("others", [(), (("predict.py", PREDICTS),)], ids=["one", "two programs"])
def test_what_tries_an_imported_model_goes(others: tuple[tuple[str, str], ...]) -> None:
    files = ("model.py", MODEL), ("train.py", TRAINS), *others
    result = run(*files, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"native"}, said(result)
    text = after(result, files[0])
    assert "def test" not in text and "Tries it." not in text
    assert told(result) == [LEFT_OUT]


def test_what_another_program_calls_is_not_left_out() -> None:
    """Planning ended never: the session of `toy.py` is not made in the module that it begins in.

    Each program has a module for itself: one calls the function, the other one does not.
    """
    files = ("model.py", MODEL), ("train.py", TRAINS), ("toy.py", "import model\n\nmodel.test()\n")
    result = run(*files, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"native"}, said(result)
    assert "from model_tf2 import Model" in after(result, files[1])
    assert "def test():" in after(result, files[0])
    assert "what this program takes of it stands in model_tf2.py" in str(said(result))
    assert not told(result)


def test_several_go_from_the_end_of_a_file() -> None:
    """Their edits took away each other's blank lines, and none went."""
    ops = (
        "import tensorflow as tf\n\n\n"
        "def dense(x, size):\n    return tf.layers.dense(x, size)\n\n\n"
        "def flat(x):\n    return tf.layers.flatten(x)\n\n\n"
        "# Twice as wide.\ndef wide(x, size):\n    return dense(dense(x, size), 2 * size)\n"
    )
    main = PROGRAM.format(imports="from ops import dense\n", unread="", last="").replace(
        "net(x)", "net(dense(x, 3))"
    )
    result = run(("main.py", main), ("ops.py", ops), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    text = after(result, ("ops.py", ""))
    assert "flat" not in text and "wide" not in text and text.endswith("(x)\n"), text
    assert len(told(result)) == 2


OBJECT = """\
import numpy as np
import tensorflow as tf
{imports}

class Net(object):
    def __init__(self, x):
        self.w = tf.get_variable("w", [3, 1])
        self.out = tf.matmul(x, self.w)

    def names(self):
        return {{"w": self.w}}

    # For other programs.
    def save(self, sess):
        return tf.train.Saver(self.names()).save(sess, "w")

    def load_weights(self, sess):
        return tf.train.Saver(self.names()).restore(sess, "w")

x = tf.placeholder(tf.float32, [None, 3])
net = Net(x)
loss = tf.reduce_mean(tf.square(net.out - 1.0))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {{x: np.ones([2, 3])}})
{last}
"""


def methods(imports: str = "", last: str = "", old: str = "", new: str = "") -> RunResult:
    text = OBJECT.format(imports=imports, last=last).replace(old, new)
    return run(("main.py", text), bridge=True, native_sessions=True)


def test_methods_that_nothing_calls_go() -> None:
    result = methods()
    assert [one.state for one in result.programs] == ["native"], said(result)
    text = after(result, ("main.py", ""))
    assert "Saver" not in text and "For other programs" not in text
    assert len(told(result)) == 3
    assert any("only methods that nothing calls call `names`" in one for one in said(result))


METHODS = {
    "a text names one": methods(imports="NAMES = ['load_weights']\n"),
    "another object has one of its name": methods(last="np.load_weights(1)"),
    "the object goes to a library": methods(last="np.asarray(net)"),
    "the object is kept in a list": methods(last="nets = [net]"),
    "the object gives itself away": methods(
        old="        self.out", new="        np.sum(self)\n        self.out"
    ),
    "a name that is computed": methods(last="getattr(net, 'o' + 'ut')"),
    "a decorated one": methods(
        old="    def load_weights", new="    @np.vectorize\n    def load_weights"
    ),
    "one of Python's own": methods(old="load_weights", new="__enter__"),
}  # fmt: skip


@pytest.mark.parametrize("result", METHODS.values(), ids=METHODS)
def test_methods_that_may_be_called_stay(result: RunResult) -> None:
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert not told(result)
