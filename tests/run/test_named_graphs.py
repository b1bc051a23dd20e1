"""Modules that several session programs share, normalized for all of them or for none."""

from __future__ import annotations

import pytest

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.models.normalize.layers import static_sizes
from migrate_mgpu.run.migrate import migrate
from tests.support.migration import run, said

NETWORK = """\
import tensorflow as tf


def on_cpu(name, shape, initializer):
    with tf.device("/cpu:0"):
        variable = tf.get_variable(name, shape, initializer=initializer)
    return variable


def inference(x):
    weights = on_cpu("weights", [2, 1], tf.random_normal_initializer(stddev=0.3))
    return tf.matmul(x, weights)
"""
PROGRAM = """\
import numpy as np
import tensorflow as tf
import network

x = tf.placeholder(tf.float32, [None, 2])
out = network.inference(x)
loss = tf.reduce_mean(tf.square(out))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([2, 2])})
"""
ADAM = PROGRAM.replace("GradientDescent", "Adam")
FILES = {"network.py": NETWORK, "one.py": PROGRAM, "other.py": ADAM}
# A program by itself, whose own module is normalized.
APART = {
    "apart.py": PROGRAM.replace("import network", "import own as network"),
    "own.py": NETWORK,
}
STAYS = PROGRAM + "    print(train.name)\n"


def states(result: RunResult) -> dict[str, str]:
    return {one.entry.name: one.state for one in result.programs}


def test_programs_that_share_a_module_become_native_together() -> None:
    result = run(*FILES.items(), bridge=True, native_sessions=True)
    assert states(result) == {"one.py": "native", "other.py": "native"}, said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "on_cpu" not in after["network.py"] and "compat" not in "".join(after.values())
    assert "class Inference(tf.keras.layers.Layer):" in after["network.py"]


def test_what_no_program_calls_goes_from_a_module_of_several() -> None:
    unread = """

def normalized(x, training):
    with tf.variable_scope("normalized"):
        average = tf.train.ExponentialMovingAverage(0.9)
        mean, _ = tf.nn.moments(x, [0])
        average.apply([mean])
        return tf.cond(training, lambda: x - mean, lambda: x - average.average(mean))
"""
    files = {**FILES, "network.py": NETWORK + unread}
    result = run(*files.items(), bridge=True, native_sessions=True)
    assert states(result) == {"one.py": "native", "other.py": "native"}, said(result)
    told = [one for one in said(result) if "nothing calls `normalized`" in one]
    assert len(told) == 1, said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "normalized" not in after["network.py"]


LEFT = {
    "a program that stays": ("third.py", STAYS),
    "a program that only imports it": ("third.py", "import network\nprint(network)\n"),
    "a program that uses the function that goes": (
        "third.py",
        PROGRAM.replace("out = network.inference(x)", "out = network.on_cpu('w', [2, 1], None)"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LEFT.values(), ids=LEFT)
def test_a_module_stays_for_one(case: tuple[str, str]) -> None:
    files = {**FILES, **APART, case[0]: case[1]}
    result = run(*files.items(), bridge=True, native_sessions=True)
    found = states(result)
    assert found["one.py"] == found["other.py"] == "native", said(result)
    assert found["apart.py"] == "native", said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "class Inference" in after["network_tf2.py"]
    assert "class" not in after["network.py"] and "def on_cpu" not in after["own.py"]


def test_as_many_programs_as_share_what_no_other_has() -> None:
    """The third one stays, and shares another module with them, which nothing has to change."""
    plain = "def rows(n):\n    return [[1.0, 2.0]] * n\n"
    third = STAYS.replace("import network", "import plain").replace(
        "network.inference(x)", "tf.layers.dense(x, 1)"
    )
    files = {**FILES, "plain.py": plain, "third.py": third}
    files["one.py"] = PROGRAM.replace("import network", "import network\nimport plain").replace(
        "np.ones([2, 2])", "plain.rows(2)"
    )
    result = run(*files.items(), bridge=True, native_sessions=True)
    expected = {"one.py": "native", "other.py": "native", "third.py": "bridge"}
    assert states(result) == expected, said(result)


# The module that a pass of ours fails on, and the programs that stay for it.
BROKEN = {"own.py": {"apart.py"}, "network.py": {"one.py", "other.py"}}


@pytest.mark.parametrize("name", BROKEN)
def test_a_mistake_of_ours_keeps_only_its_programs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    normalize = static_sizes.normalize

    def broken(module: Module) -> object:
        if module.path.name == name:
            raise KeyError("size")
        return normalize(module)

    monkeypatch.setattr(static_sizes, "normalize", broken)
    files = {**FILES, **APART}
    contents = [(path, text.encode()) for path, text in files.items()]
    result = migrate(contents, True, False, Selection(), True)
    stays = {one for one, state in states(result).items() if state == "bridge"}
    assert stays == BROKEN[name], said(result)
    told = {one.path.name for one in result.findings if "KeyError: 'size'" in one.message}
    assert told == stays, said(result)
    after = {file.path.name: str(file.after) for file in result.files}
    assert "def on_cpu" in after[name] and not [one for one in result.files if one.error]
