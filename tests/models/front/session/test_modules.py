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


def test_a_function_beside_may_make_a_summary_of_its_variable() -> None:
    ops = OPS.replace(
        "    return tf.matmul",
        "    # of the weights\n    tf.summary.histogram('weights', w)\n    return tf.matmul",
    )
    main = MAIN.replace(
        "with tf.Session", "merged = tf.summary.merge_all()\nwith tf.Session"
    ).replace("sess.run(train, {x", "_, told = sess.run([train, merged], {x")
    result = run(("main.py", main), ("ops.py", ops), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    text = next(one.after for one in result.files if one.path.name == "main.py")
    assert text is not None and "tag='weights'" in text.replace('"', "'")


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


UNREAD = """\
import tensorflow as tf


def huber(labels, predictions):
    residual = tf.abs(labels - predictions)
    def near(): return 0.5 * tf.square(residual)
    def far(): return residual - 0.5
    return tf.cond(residual < 1.0, near, far)


def scale():
    return 2.0
"""
PLAIN = MAIN.replace("from ops import dense as layer", "from ops import scale")
PLAIN = PLAIN.replace("layer(x, 2, 1)", "x * w")
PLAIN = PLAIN.replace("loss =", "w = tf.Variable(scale())\nloss =")


def test_functions_that_others_call_stay_where_they_are_the_same_in_tf2() -> None:
    """The module does not change, so that it serves a program that stays."""
    other = "import tensorflow as tf\nimport ops\nprint(ops.huber(tf.zeros([]), 1.0))\n"
    result = run(("main.py", PLAIN), ("ops.py", UNREAD), ("other.py", other), native_sessions=True)
    states = {one.entry.name: one.state for one in result.programs}
    assert states["main.py"] == "native", said(result)
    assert [one.path.name for one in result.files if one.after is not None] == ["main.py"]


STAYS = {
    "a function of another program's that has other names in TF2": (
        {"main.py": PLAIN, "ops.py": UNREAD.replace("tf.abs(", "tf.log(")},
        "it is not known what `tf.log` in ops.py is for",
    ),
    "a function of another program's with an iterator of TF1's": (
        {
            "main.py": PLAIN,
            "ops.py": UNREAD + "\n\ndef draw(rows):\n    made = "
            "tf.data.Dataset.from_tensor_slices(rows)\n    def one():\n        return made."
            "make_one_shot_iterator().get_next()\n    return one()\n",
        },
        "it is not known what `tf.data.Dataset.from_tensor_slices` in ops.py is for",
    ),
    "something else in the module": (
        {"main.py": MAIN, "ops.py": OPS + "\n\nstep = tf.Variable(0)\n"},
        "it is not known what `tf.Variable` in ops.py is for",
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
            "main.py": MAIN.replace("tf.square", "tf.identity_n"),
            "other.py": "import ops\nprint(ops.dense)\n",
            "ops.py": OPS,
        },
        "`tf.identity_n` is not among the functions",
    ),
    "what neither of two programs calls": (
        {"main.py": MAIN, "other.py": MAIN, "ops.py": OPS + "\n\nstep = tf.Variable(0)\n"},
        "it is not known what `tf.Variable` in ops.py is for",
    ),
    "a function that a text alone names and that does more than compute": (
        {
            "main.py": MAIN + "\nNAMES = ['save']\n",
            "ops.py": OPS + "\n\ndef save(sess):\n    tf.train.Saver().save(sess, 'm')\n",
        },
        "it is not known what `tf.train.Saver` in ops.py is for",
    ),
    "a number that changes": (
        {
            "main.py": MAIN,
            "ops.py": OPS.replace("matmul(x, w)", "matmul(x, w) * scale")
            + "\n\nscale = 1.0\nscale = 2.0\n",
        },
        "`scale` changes, and the graph was built with one of its values",
    ),
}


@pytest.mark.parametrize("case", STAYS.values(), ids=STAYS)
def test_stays(case: tuple[dict[str, str], str]) -> None:
    files, reason = case
    result = run(*files.items(), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(reason in message for message in said(result)), said(result)


# Where another program needs the module as it is.
OWN = {
    "a program beside it that stays": {
        "main.py": MAIN, "other.py": MAIN + "    print(train.name)\n", "ops.py": OPS,
    },
    "a program beside it without a session": {
        "main.py": MAIN, "other.py": "import ops\nprint(ops.dense)\n", "ops.py": OPS,
    },
    "a module that two programs want otherwise": {
            "main.py": MAIN,
            "other.py": MAIN.replace("layer(x, 2, 1)", "layer(x, 2, 1, tf.reduce_sum(x))"),
            "ops.py": OPS.replace("units)", "units, scale=1.0)").replace("x, w)", "x, w) * scale"),
        },
}  # fmt: skip


@pytest.mark.parametrize("files", OWN.values(), ids=OWN)
def test_a_module_of_its_own(files: dict[str, str]) -> None:
    result = run(*files.items(), bridge=True, native_sessions=True)
    assert {one.entry.name: one.state for one in result.programs}["main.py"] == "native"
    assert any("stands in ops_tf2.py" in message for message in said(result)), said(result)
    after = {file.path.name: file.after for file in result.files}
    assert "import ops_tf2" in str(after["main.py"]) or "from ops_tf2" in str(after["main.py"])


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


@pytest.mark.usefixtures("builders_stay")
def test_a_function_beside_that_makes_two_variables_stays() -> None:
    two = WEIGHTS.replace("    return", "    other = tf.get_variable('other', [2])\n    return")
    result = run(("main.py", STARRED), ("ops.py", two), bridge=True, native_sessions=True)
    assert any("`weight` does more than make a variable" in one for one in said(result))


def test_a_module_that_imports_what_becomes_a_class_and_uses_it_nowhere() -> None:
    """Its import would end the program."""
    beside = "beside.py", "from ops import dense as layer\n\nSIZE = 2\n"
    files = ("main.py", "import beside\n" + MAIN), ("ops.py", OPS), beside
    result = run(*files, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    text = next(file.after for file in result.files if file.path.name == "beside.py")
    assert text == "from ops import Dense as layer\n\nSIZE = 2\n"


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


UNUSED = """

def corrupted(x):
    return x * tf.random_uniform(tf.shape(x))


def bias(size):
    return tf.get_variable("b", [size], initializer=tf.zeros_initializer())
"""


def test_functions_beside_that_nothing_calls_are_written_too() -> None:
    result = run(("main.py", MAIN), ("ops.py", OPS + UNUSED), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "return x * tf.random.uniform(tf.shape(x))" in after["ops.py"]
    assert 'return tf.Variable(tf.keras.initializers.Zeros()([size]), name="b")' in after["ops.py"]


HELPERS = """\
import tensorflow as tf


def weight(shape):
    return tf.Variable(tf.random_normal(shape))


def error(out, y):
    return tf.reduce_mean(tf.squared_difference(out, y))


def noisy(x):
    return x + tf.random_uniform(tf.shape(x))
"""
TRAINS = """\
import numpy as np
import tensorflow as tf
from helpers import error, weight

x = tf.placeholder(tf.float32, [None, 2])
w = weight([2, 1])
loss = error(tf.matmul(x, w), 1.0)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {x: np.ones([2, 2])})[0])
"""
OTHER = TRAINS.replace("error, weight", "error, noisy, weight") + "    print(train.name)\n"


def test_a_module_serves_a_bridge_where_names_alone_change() -> None:
    files = {"helpers.py": HELPERS, "main.py": TRAINS, "other.py": OTHER}
    result = run(*files.items(), bridge=True, native_sessions=True)
    states = {one.entry.name: one.state for one in result.programs}
    assert states == {"main.py": "native", "other.py": "bridge"}, said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "compat" not in after["helpers.py"] and "tf.random.uniform(" in after["helpers.py"]
    assert "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n" in after["other.py"]
    again = run(*after.items(), bridge=True, native_sessions=True)
    assert not any(file.changed for file in again.files), said(again)


def test_a_name_that_a_module_never_had_is_nothing_to_serve() -> None:
    """The other program ends where it imports it, before and after."""
    other = OTHER.replace("import error, noisy, weight", "import error, never, noisy, weight")
    files = {"helpers.py": HELPERS, "main.py": TRAINS, "other.py": other}
    result = run(*files.items(), bridge=True, native_sessions=True)
    assert "native" in {one.state for one in result.programs}, said(result)


def test_a_module_serves_a_bridge_with_other_arguments() -> None:
    dropped = "tf.reduce_mean(tf.nn.dropout(tf.squared_difference(out, y), 0.7))"
    helpers = HELPERS.replace("tf.reduce_mean(tf.squared_difference(out, y))", dropped)
    files = {"helpers.py": helpers, "main.py": TRAINS, "other.py": OTHER}
    result = run(*files.items(), bridge=True, native_sessions=True)
    states = {one.entry.name: one.state for one in result.programs}
    assert states == {"main.py": "native", "other.py": "bridge"}, said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "tf.math.squared_difference(out, y), rate=0.3))" in after["helpers.py"]


GONE = "    print(tf.contrib.ffmpeg.decode_audio)\n"


@pytest.mark.parametrize(("other", "bridge"), [(OTHER + GONE, True), (OTHER, False)])
def test_a_module_serves_tf1_where_it_has_the_names_as_well(other: str, bridge: bool) -> None:
    files = {"helpers.py": HELPERS, "main.py": TRAINS, "other.py": other}
    result = run(*files.items(), bridge=bridge, native_sessions=True)
    assert "native" in {one.state for one in result.programs}, said(result)
    changed = {file.path.name for file in result.files if file.changed}
    assert changed == {"helpers.py", "main.py"}


SERVES = "helpers.py, which it imports, serves other.py as it is"
NO_BRIDGE: dict[str, dict[str, str]] = {
    "a loss that is collected": {
        "helpers.py": HELPERS.replace("tf.reduce_mean(tf.squared_difference(out, y))",
                                      "tf.losses.mean_squared_error(y, out)")
    },
    "a variable of a scope": {
        "helpers.py": HELPERS.replace("tf.Variable(tf.random_normal(shape))",
                                      "tf.get_variable('w', initializer=tf.zeros(shape))")
    },
    "a variable is made in another way": {
        "helpers.py": HELPERS.replace("tf.Variable(tf.random_normal(shape))",
                                      "tf.get_variable('w', shape)")
    },
    "a layer": {"helpers.py": HELPERS.replace("tf.squared_difference(out, y)",
                                              "tf.layers.dense(out, 1)")},
    "all of its names are imported": {
        "other.py": OTHER.replace("error, noisy, weight", "*")
    },
    "TensorFlow is imported from it": {
        "other.py": OTHER.replace("import tensorflow as tf\nfrom helpers import ",
                                  "from helpers import tf, ")
    },
    "the other one cannot run on TF2": {
        "other.py": OTHER + GONE,
        "helpers.py": HELPERS.replace("(out, y))", "(out, y), reduction_indices=0)")
    },
}  # fmt: skip
STAYS_AS_WELL = NO_BRIDGE.pop("TensorFlow is imported from it")


def test_a_module_that_gives_tensorflow_stays() -> None:
    files = {"helpers.py": HELPERS, "main.py": TRAINS, "other.py": OTHER, **STAYS_AS_WELL}
    result = run(*files.items(), bridge=True, native_sessions=True)
    assert "native" not in {one.state for one in result.programs}, said(result)
    assert any(SERVES in message for message in said(result)), said(result)


@pytest.mark.parametrize("changed", NO_BRIDGE.values(), ids=NO_BRIDGE)
def test_a_module_does_not_serve_a_bridge(changed: dict[str, str]) -> None:
    files = {"helpers.py": HELPERS, "main.py": TRAINS, "other.py": OTHER, **changed}
    assert files["helpers.py"] != HELPERS or files["other.py"] != OTHER
    result = run(*files.items(), bridge=True, native_sessions=True)
    found = {one.entry.name: one.state for one in result.programs}
    assert found["main.py"] == "native" and found.get("other.py") != "native", said(result)
    assert any("stands in helpers_tf2.py" in message for message in said(result)), said(result)


def test_a_module_does_not_serve_what_is_not_bridged() -> None:
    helpers = HELPERS.replace("(out, y))", "(out, y), reduction_indices=0)")
    files = {"helpers.py": helpers, "main.py": TRAINS, "other.py": OTHER}
    result = run(*files.items(), native_sessions=True)
    assert {one.entry.name: one.state for one in result.programs}["main.py"] == "native"
    changed = {file.path.name for file in result.files if file.changed}
    assert changed == {"main.py", "helpers_tf2.py"}


TURNS = """\
import numpy as np
import tensorflow.compat.v1 as tf
from helpers import error, weight

tf.disable_v2_behavior()
first = tf.data.Dataset.from_tensor_slices(np.ones([4, 2], np.float32)).batch(2)
second = tf.data.Dataset.from_tensor_slices(np.zeros([4, 2], np.float32)).batch(2)
it = tf.data.Iterator.from_structure(
    tf.data.get_output_types(first), output_shapes=tf.data.get_output_shapes(first)
)
batch = it.get_next()
w = weight([2, 1])
loss = error(tf.matmul(batch, w), 1.0)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(it.make_initializer(second))
    sess.run(train)
    sess.run(it.make_initializer(dataset=first))
    print(sess.run(loss))
"""


def test_the_structure_of_a_dataset_is_asked_for_in_two_ways() -> None:
    helpers = HELPERS.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf")
    result = run(("main.py", TURNS), ("helpers.py", helpers), native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "\nit = iter(first)\n" in after["main.py"]
    assert "\nit = iter(second)\ntrain_step(it)\nit = iter(first)\n" in after["main.py"]
