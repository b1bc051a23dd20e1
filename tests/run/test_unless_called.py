"""What would break a program on TF2 keeps it from there only where the program comes to it."""

from __future__ import annotations

import pytest

from migrate_mgpu.core.findings import RunResult
from tests.support.migration import run, said

TRAIN = """\
import tensorflow as tf
import ops

config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
sess = tf.compat.v1.Session(config=config)
"""
OPS = """\
import tensorflow as tf


def shown(x):
    return {code}


class Shown:
    def show(self, x):
        return {code}


def relu(x):
    return tf.nn.relu(x)
"""
EAGERLY, PYTHON_2 = "x.numpy()", "cmp(x, 1)"


def program(code: str, use: str, ops: str = OPS) -> RunResult:
    return run(("train.py", TRAIN + use), ("ops.py", ops.format(code=code)), bridge=True)


@pytest.mark.parametrize("code", [EAGERLY, PYTHON_2])
@pytest.mark.parametrize("use", ["", "ops.relu(sess)\n", "def shown():\n    pass\n\n\nshown()\n"])
def test_what_the_program_never_calls_makes_its_claim_smaller(code: str, use: str) -> None:
    found = program(code, use)
    assert [one.state for one in found.programs] == ["bridge"], said(found)
    (claim,) = [one.runs_on for one in found.programs]
    assert claim == "TF 2.15 and newest, but for what MGPU908 names"
    told = [(g.path.name, g.line) for g in found.findings if g.code == "MGPU908"]
    assert told == [("ops.py", 5), ("ops.py", 10)]
    assert all("until it does" in g.message for g in found.findings if g.code == "MGPU908")


@pytest.mark.parametrize(("code", "reason"), [(EAGERLY, "runs eagerly"), (PYTHON_2, "Python 2")])
@pytest.mark.parametrize(
    "use",
    [
        "print(ops.shown(1))\n",
        "ops.Shown().show(1)\n",
        "from ops import shown as show\n\n\ndef main():\n    show(1)\n\n\nmain()\n",
        "def run(module):\n    module.shown(1)\n\n\nrun(ops)\n",
        "table = {'a': ops.shown}\n",
        "class Mine(ops.Shown):\n    pass\n\n\nMine().show(1)\n",
    ],
)
def test_what_it_may_call_refuses_it(code: str, reason: str, use: str) -> None:
    found = program(code, use)
    assert [one.state for one in found.programs] == ["refused"]
    assert any(reason in one for one in said(found)), said(found)


@pytest.mark.parametrize(("code", "reason"), [(EAGERLY, "runs eagerly"), (PYTHON_2, "Python 2")])
def test_what_others_may_call_refuses_it(code: str, reason: str) -> None:
    """A library's callers are not seen; a decorator may register what it decorates."""
    library = run(OPS.format(code=code) + "\n\n" + TRAIN.replace("import ops\n", ""), bridge=True)
    registered = program(code, "", OPS.replace("def shown", "@tf.function\ndef shown"))
    for found in (library, registered):
        assert [one.state for one in found.programs] == ["refused"]
        assert any(reason in one for one in said(found)), said(found)


def test_what_no_tensorflow_has_fails_on_tf1_as_well() -> None:
    """A name that its author mistook keeps nothing from TF2 that calls it, and is told."""
    found = program("tf.placeholders(x)", "print(ops.shown(1))\n")
    assert [one.state for one in found.programs] == ["bridge"], said(found)
    told = [(g.line, g.message) for g in found.findings if g.code == "MGPU908"]
    assert [line for line, _ in told] == [5, 10]
    assert all("no TensorFlow has `tensorflow.placeholders`" in message for _, message in told)


@pytest.mark.parametrize(
    ("use", "state"),
    [("tf.ops.reset_default_graph()\n", "refused"), ("tf.model = 1\nprint(tf.model)\n", "bridge")],
)
def test_a_name_of_no_tensorflow_that_the_program_surely_comes_to(use: str, state: str) -> None:
    found = program("x", use)
    assert [one.state for one in found.programs] == [state], said(found)


def test_code_that_makes_its_own_eager_context() -> None:
    code = "1\n\n\ndef evaluated(x):\n    with context.eager_mode():\n        return x.numpy()"
    ops = OPS.replace("{code}", "1", 1).replace("{code}", code)
    found = program("", "ops.evaluated(1)\n", ops)
    assert [one.state for one in found.programs] == ["bridge"], said(found)
    assert found.programs[0].runs_on == "TF 2.15 and newest"


@pytest.mark.parametrize("guard", ["if is_py2:", "if not is_py3:", "if six.PY2:"])
def test_a_switch_between_pythons(guard: str) -> None:
    ops = f"import six\n\n{guard}\n    text = unicode\nelse:\n    text = str\n"
    found = program("", "print(ops.text)\n", ops)
    assert [one.state for one in found.programs] == ["bridge"], said(found)


LATE = """\
import tensorflow as tf


def recurrent(x):
    from tensorflow.contrib import {name}
    return {name}.{function}(x, 3)


def main(x):
    {main}
    with tf.Session() as sess:
        print(sess.run(x))


main(tf.constant([[1.0]]))
"""


def test_what_tf2_lost_keeps_a_program_that_imports_it_when_it_is_called() -> None:
    text = LATE.format(name="cudnn_rnn", function="CudnnLSTM", main="x = recurrent(x)")
    (program,) = run(("train.py", text), bridge=True).programs
    assert program.state == "refused"
    assert "`tensorflow.contrib.cudnn_rnn.CudnnLSTM` does not exist" in program.reasons[0].message


def test_what_is_imported_by_no_call_makes_the_claim_smaller() -> None:
    text = LATE.format(name="cudnn_rnn", function="CudnnLSTM", main="x = x + 1")
    found = run(("train.py", text + "\nif __name__ == '__main__':\n    pass\n"), bridge=True)
    (program,) = found.programs
    assert (program.state, program.runs_on) == (
        "bridge",
        "TF 2.15 and newest, but for what MGPU908 names",
    )


def test_what_is_imported_in_a_function_is_written_there() -> None:
    text = LATE.format(name="slim", function="fully_connected", main="x = recurrent(x)")
    found = run(("train.py", text), bridge=True)
    assert [one.state for one in found.programs] == ["bridge"]
    assert "    import tf_slim as slim\n" in str(found.files[0].after)


@pytest.mark.parametrize("name", ["tf.contrib.cudnn_rnn.CudnnLSTM", "tf.test.test_util.shown"])
def test_a_name_that_tf2_lost_counts_where_it_is_called(name: str) -> None:
    unused = program(f"{name}(x)", "ops.relu(sess)\n")
    assert [one.state for one in unused.programs] == ["bridge"], said(unused)
    assert unused.programs[0].runs_on == "TF 2.15 and newest, but for what MGPU908 names"
    called = program(f"{name}(x)", "print(ops.shown(1))\n")
    assert [one.state for one in called.programs] == ["refused"]
    default = program(f"x\n\n\ndef late(x={name}):\n    return x", "ops.relu(sess)\n")
    assert [one.state for one in default.programs] == ["refused"]


def test_a_name_that_stays_is_imported_where_it_is_used() -> None:
    """What imports it fails, whether or not it is called; the other names of its module go on."""
    ops = OPS.replace("import tensorflow as tf\n", "import tensorflow as tf\n{imports}\n")
    ops = ops.replace("return tf.nn.relu(x)", "return slim.flatten(x)")
    ops = ops.replace("{imports}", "import tensorflow.contrib.slim as slim")
    found = program("slim.cannot(x)", "ops.relu(sess)\n", ops)
    assert [one.state for one in found.programs] == ["bridge"], said(found)
    (after,) = (str(one.after) for one in found.files if one.path.name == "ops.py")
    later = "    import tensorflow.contrib.slim as slim\n"
    assert f"def shown(x):\n{later}    return slim.cannot(x)" in after
    assert f"def show(self, x):\n    {later}        return slim.cannot(x)" in after
    assert after.count("contrib") == 2 and "    return tf_slim.flatten(x)" in after
    called = program("slim.cannot(x)", "ops.relu(sess)\nops.shown(1)\n", ops)
    assert [one.state for one in called.programs] == ["refused"]
    assert [one.state for one in program("slim.relu(x, 2)", "ops.relu(sess)\n", ops).programs] == [
        "bridge"
    ]


@pytest.mark.parametrize(
    ("line", "state"),
    [("relu = ops.relu(1.0)", "bridge"), ("relu = ops.relu(1.0)\nops.show()", "refused")],
)
def test_a_name_under_the_main_guard_of_another_file(line: str, state: str) -> None:
    """The file shows something when it is started; who imports it never comes there."""
    guarded = "import tensorflow.contrib.eager as tfe\n    tfe.enable_eager_execution()\n"
    ops = OPS.format(code="x") + f'\n\nif __name__ == "__main__":\n    {guarded}'
    if state == "refused":
        ops += "\n\ndef show():\n    return tf.contrib.bayesflow.entropy(1)\n"
    result = run(("train.py", TRAIN + line), ("ops.py", ops), bridge=True)
    assert [p.state for p in result.programs if p.entry.name == "train.py"] == [state], said(result)


@pytest.mark.parametrize(
    ("test", "state"),
    [
        ("model_version == 2", "refused"),
        ("FLAGS.api_version == 1", "refused"),
        ("hasattr(model_version, 'x')", "refused"),
        ("tf_version < 2", "bridge"),
        ("hasattr(tf, 'contrib')", "bridge"),
    ],
)
def test_versions_of_other_things_are_no_switch(test: str, state: str) -> None:
    """A lost name under such a condition was taken for one under a version switch."""
    program = (
        "import tensorflow as tf\nFLAGS = tf.app.flags.FLAGS\n"
        "tf_version = int(tf.__version__[0])\n\n\ndef make(model_version):\n"
        f"    if {test}:\n        return tf.contrib.bayesflow.entropy(1)\n    return 1\n\n\n"
        "print(make(2), tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))\n"
    )
    result = run(program, bridge=True)
    assert [p.state for p in result.programs] == [state], said(result)


def test_what_has_a_form_is_written_beside_a_name_that_has_none() -> None:
    """All of a module's names were written, or none."""
    ops = OPS.format(code="tf.contrib.bayesflow.entropy(x)") + (
        "\n\ndef flat(x):\n    return tf.contrib.layers.flatten(x)\n"
    )
    result = run(("train.py", TRAIN + "ops.flat(1)\n"), ("ops.py", ops), bridge=True)
    assert [p.state for p in result.programs] == ["bridge"], said(result)
    (after,) = (str(one.after) for one in result.files if one.path.name == "ops.py")
    assert "return slim.flatten(x)" in after and "return tf.contrib.bayesflow.entropy(x)" in after
    called = run(("train.py", TRAIN + "ops.shown(ops.flat(1))\n"), ("ops.py", ops), bridge=True)
    assert [p.state for p in called.programs] == ["refused"], said(called)
    result = run(("train.py", TRAIN + "ops.relu(1.0)\n"), ("ops.py", ops), bridge=True)
    assert [p.state for p in result.programs] == ["bridge"], said(result)


ESTIMATOR = """\
import numpy as np
import tensorflow as tf
import ops

X = np.ones([8, 2], np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(4)


def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, outputs)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn)
"""
LAYERS = """\
import tensorflow as tf


def scaled(x, first={first}):
    with tf.variable_scope("scale"):
        return x * tf.get_variable("factor", [], initializer=tf.zeros_initializer())
"""


def test_layers_of_tf1_that_a_converted_program_never_makes() -> None:
    ops = LAYERS.format(first=None)
    found = run(("train.py", ESTIMATOR), ("ops.py", ops))
    (program,) = found.programs
    assert (program.state, program.runs_on) == (
        "native",
        "TF 2.15 and newest, but for what MGPU908 names",
    )
    told = [g for g in found.findings if g.code == "MGPU908"]
    assert [(g.path.name, g.line) for g in told] == [("ops.py", 5)]  # once for a function
    assert "`tf.variable_scope` is TF1 API" in told[0].message
    assert not [file for file in found.files if file.path.name == "ops.py" and file.changed]


@pytest.mark.parametrize(
    ("first", "use", "name"),
    [
        ("None", "print(ops.scaled)\n", "tf.variable_scope"),
        ("tf.get_default_graph()", "", "tf.get_default_graph"),  # made where it stands
    ],
)
def test_layers_of_tf1_that_keep_a_program(first: str, use: str, name: str) -> None:
    found = run(("train.py", ESTIMATOR + use), ("ops.py", LAYERS.format(first=first)))
    assert [one.state for one in found.programs] != ["native"]
    assert any(f"`{name}` is TF1 API" in one for one in said(found)), said(found)
