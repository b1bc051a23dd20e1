"""Programs whose graph is built by functions of several modules."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate_mgpu.analysis.project import Project
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.session_programs import NativeSession
from migrate_mgpu.source.source import Edit
from tests.support.migration import run, said

OPS = """\
import tensorflow as tf


def dense(x, size, units):
    w = tf.get_variable("w", [size, units])
    return tf.matmul(x, w)
"""
MAIN = """\
import numpy as np
import tensorflow as tf
from ops import dense as layer

x = tf.placeholder(tf.float32, [None, 2])
loss = tf.reduce_mean(tf.square(layer(x, 2, 1)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([2, 2])})
"""


def test_a_function_by_another_name_keeps_it() -> None:
    result = run(("main.py", MAIN), ("ops.py", OPS), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = {file.path.name: file.after for file in result.files}
    assert "from ops import Dense as layer\n" in str(after["main.py"])
    assert "= layer(2, 1)\n" in str(after["main.py"])
    assert "class Dense(tf.keras.layers.Layer):" in str(after["ops.py"])


EVALUATE = """\
import numpy as np
import tensorflow as tf
import ops

x = tf.placeholder(tf.float32, [None, 2])
w = tf.get_variable("w", [2, 1])
out = ops.loss_of(tf.matmul(x, w))
saver = tf.train.Saver()
with tf.Session() as sess:
    saver.restore(sess, "model")
    print(sess.run(out, {x: np.ones([2, 2])}))
"""
LOSS = """

def loss_of(out):
    return tf.reduce_mean(tf.log(out))
"""


def test_programs_that_train_and_that_restore_share_a_module() -> None:
    train = MAIN.replace("tf.reduce_mean(tf.square(layer(x, 2, 1)))", "loss_of(layer(x, 2, 1))")
    train = train.replace("from ops import", "from ops import loss_of,")
    files = {"train.py": train, "again.py": train, "evaluate.py": EVALUATE, "ops.py": OPS + LOSS}
    result = run(*files.items(), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"] * 3, said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert after["ops.py"].count("class Dense(tf.keras.layers.Layer):") == 1
    assert "tf.math.log(out)" in after["ops.py"]
    assert after["train.py"] == after["again.py"]
    for name in files:
        compile(after[name], name, "exec")
        assert "compat.v1" not in after[name] and "Session" not in after[name]


STAYS = {
    "something else in the module": (
        {"main.py": MAIN, "ops.py": OPS + "\n\nstep = tf.Variable(0)\n"},
        "it is not known what `tf.Variable` in ops.py is for",
    ),
    "a program beside it that stays": (
        {"main.py": MAIN, "other.py": MAIN + "    print(train.name)\n", "ops.py": OPS},
        "ops.py, which it imports, serves other.py as it is",
    ),
    "an input queue": (
        {
            "main.py": MAIN.replace(
                "tf.placeholder(tf.float32, [None, 2])", "tf.train.batch([x], 2)"
            ),
            "ops.py": OPS,
        },
        "`tf.train.batch` is of an input queue",
    ),
    "more than that a program beside it stays": (
        {
            "main.py": MAIN.replace("tf.square", "tf.Print"),
            "other.py": "import ops\nprint(ops.dense)\n",
            "ops.py": OPS,
        },
        "`tf.Print` is not among the functions",
    ),
    "a program beside it without a session": (
        {"main.py": MAIN, "other.py": "import ops\nprint(ops.dense)\n", "ops.py": OPS},
        "ops.py, which it imports, serves other.py as it is",
    ),
    "what neither of two programs calls": (
        {"main.py": MAIN, "other.py": MAIN, "ops.py": OPS + "\n\nstep = tf.Variable(0)\n"},
        "it is not known what `tf.Variable` in ops.py is for",
    ),
    "a module that two programs want otherwise": (
        {
            "main.py": MAIN,
            "other.py": MAIN.replace("layer(x, 2, 1)", "layer(x, 2, 1, tf.reduce_sum(x))"),
            "ops.py": OPS.replace("units)", "units, scale=1.0)").replace("x, w)", "x, w) * scale"),
        },
        "main.py and other.py need this in different forms",
    ),
    "a number that changes": (
        {
            "main.py": MAIN,
            "ops.py": OPS.replace("matmul(x, w)", "matmul(x, w) * scale")
            + "\n\nscale = 1.0\nscale = 2.0\n",
        },
        "`scale` changes, and the graph was built with one of its values",
    ),
    "a seed": (
        {
            "main.py": MAIN,
            "ops.py": OPS.replace("matmul(x, w)", "matmul(tf.nn.dropout(x, 0.5, seed=1), w)"),
        },
        "a random operation with its own seed",
    ),
}


@pytest.mark.parametrize("case", STAYS.values(), ids=STAYS)
def test_stays(case: tuple[dict[str, str], str]) -> None:
    files, reason = case
    result = run(*files.items(), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(reason in message for message in said(result)), said(result)


TWO = """\
import tensorflow as tf

session = tf.Session()


def one(x):
    return x


class Two:
    def apply(self, x):
        return x
"""
IN_ONE = Edit(TWO.index("x\n\n"), TWO.index("x\n\n") + 1, "y")
IN_APPLY = Edit(TWO.rindex("x"), TWO.rindex("x") + 1, "y")
ADDED = Edit(0, 0, "import a\n")
DISTURBED: dict[str, tuple[list[Edit], list[str], list[Edit], str | None]] = {
    "the same": ([IN_ONE, ADDED], ["one"], [IN_ONE, ADDED], None),
    "a function that only one reads": ([IN_ONE], ["apply"], [IN_APPLY], None),
    "a function that the other reads as it is": ([IN_ONE], ["one"], [], "one"),
    "a method": ([IN_APPLY], ["apply"], [replaced(IN_APPLY, new="z")], "apply"),
    "a class of which the other reads a method": (
        [Edit(TWO.index("class"), len(TWO), "")],
        ["apply"],
        [],
        "apply",
    ),
    "other lines at one place": ([ADDED], ["one"], [replaced(ADDED, new="import b\n")], ""),
}


@pytest.mark.parametrize("case", DISTURBED.values(), ids=DISTURBED)
def test_a_program_disturbs_another(
    case: tuple[list[Edit], list[str], list[Edit], str | None],
) -> None:
    own, read, theirs, expected = case
    module = next(iter(Project([(Path("m.py"), TWO.encode())]).modules.values()))
    other = NativeSession(module, read={n for n in ast.walk(module.tree) if _name(n) in read})
    other.edits[module] = theirs
    one = NativeSession(module)
    one.edits[module] = own
    found = one.disturbed(module, other)
    assert (None if found is None else _name(found)) == expected


def _name(node: ast.AST) -> str:
    return getattr(node, "name", "")


WEIGHTS = """\
import tensorflow as tf


def weight(shape):
    start = tf.truncated_normal_initializer(stddev=0.1)
    return tf.get_variable("w", shape, initializer=start)
"""
STARRED = """\
import numpy as np
import tensorflow as tf
from ops import *

x = tf.placeholder(tf.float32, [None, 2])
w = weight([2, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([2, 2])})
"""


def test_variables_are_made_by_functions_beside() -> None:
    result = run(("main.py", STARRED), ("ops.py", WEIGHTS), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    text = "".join(str(one.after) for one in result.files)
    assert 'return tf.Variable(start(shape), name="w")' in text


def test_a_function_beside_that_makes_two_variables_stays() -> None:
    two = WEIGHTS.replace("    return", "    other = tf.get_variable('other', [2])\n    return")
    result = run(("main.py", STARRED), ("ops.py", two), bridge=True, native_sessions=True)
    assert any("`weight` does more than make a variable" in one for one in said(result))


@pytest.mark.parametrize("text", ["__all__ = ['dense']\n", ""])
def test_a_class_is_imported_by_star_where_nothing_says_otherwise(text: str) -> None:
    main = MAIN.replace("import dense as layer", "import *").replace("layer(x", "dense(x")
    result = run(("main.py", main), ("ops.py", text + OPS), bridge=True, native_sessions=True)
    if text:
        assert any("`dense` is imported by `*`" in one for one in said(result))
    else:
        assert [one.state for one in result.programs] == ["native"], said(result)


DIGITS = """\
def load():
    from tensorflow.examples.tutorials.mnist import input_data
    return input_data.read_data_sets("data").train
"""


def test_digits_are_read_by_a_module_beside() -> None:
    main = MAIN.replace("from ops", "from digits import load\nfrom ops") + "print(load())\n"
    files = ("main.py", main), ("ops.py", OPS), ("digits.py", DIGITS)
    result = run(*files, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    texts = {file.path.name: str(file.after) for file in result.files}
    assert "    import input_data\n" in texts["digits.py"]
    assert "tensorflow.examples" not in texts["digits.py"] and "input_data.py" in texts
