"""An Estimator whose conversion is not wanted, whole or in a part, stays whole."""

from __future__ import annotations

import pytest

from tests.cli.running import Cli

PROGRAM = """\
import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

tf1.logging.set_verbosity(tf1.logging.INFO)
X = np.ones([8, 2], np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, X[:, :1])).repeat().batch(4)


def model_fn(features, labels, mode):
    outputs = tf1.layers.dense(features, 1)
    loss = tf1.losses.mean_squared_error(labels, outputs)
    optimizer = tf1.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


strategy = tf.distribute.MirroredStrategy()
config = tf1.estimator.RunConfig(train_distribute=strategy)
estimator = tf1.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, steps=10)
"""


@pytest.mark.parametrize("options", [[], ["--select", "MGPU2,MGPU3,MGPU4"], ["--ignore", "MGPU1"]])
def test_all_of_its_rules(cli: Cli, options: list[str]) -> None:
    cli.write(train=PROGRAM)
    assert cli(*options, "train.py").status == 1
    assert "estimator.fit(" in cli.read("train.py")
    assert "tf1" not in cli.read("train.py")


@pytest.mark.parametrize(
    ("ignored", "reason"),
    [
        *((f"MGPU40{digit}", f"MGPU40{digit} (estimator-") for digit in "123456"),
        ("run-config", "MGPU407 (run-config), a part of its conversion, is not selected"),
        ("MGPU408", "MGPU408 (estimator-driving), a part of"),
        ("MGPU301", "MGPU301 (distribution-strategy), a part of"),
        ("absl-app", "`tf.compat.v1.logging.set_verbosity` is TF1 API"),
    ],
)
def test_a_rule_that_is_off(cli: Cli, ignored: str, reason: str) -> None:
    cli.write(train=PROGRAM)
    ran = cli("--no-bridge", "--ignore", ignored, "train.py")
    assert cli.read("train.py") == PROGRAM
    assert f"MGPU401 refused: the Estimator stays: {reason}" in ran.out


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("estimator = tf1.estimator.Estimator(model_fn, config=config)", "MGPU401"),
        ("estimator.train(input_fn, steps=10)", "MGPU408"),
        ("strategy = tf.distribute.MirroredStrategy()", "MGPU301"),
        ("config = tf1.estimator.RunConfig(train_distribute=strategy)", "MGPU407"),
        ("    loss = tf1.losses.mean_squared_error(labels, outputs)", "MGPU403"),
        ("def model_fn(features, labels, mode):", "MGPU401"),
        ("tf1.logging.set_verbosity(tf1.logging.INFO)", "MGPU204"),
    ],
)
def test_a_comment_at_a_part_of_it(cli: Cli, line: str, code: str) -> None:
    text = PROGRAM.replace(line, f"{line}  # mgpu: ignore[{code}]")
    assert text != PROGRAM
    cli.write(train=text, other=text.replace(code, "MGPU101"))
    assert "MGPU401 refused" in cli("--no-bridge", "train.py").out
    assert cli.read("train.py") == text
    cli("--no-bridge", "other.py")
    assert "estimator.fit(" in cli.read("other.py")


def test_a_file_that_is_to_stay(cli: Cli) -> None:
    text = f"# mgpu: ignore-file\n{PROGRAM}"
    cli.write(train=text)
    assert "a comment switches the file off" in cli("--no-bridge", "train.py").out
    assert cli.read("train.py") == text


def test_a_second_name_of_tensorflow_that_is_needed_stays(cli: Cli) -> None:
    cli.write(train=PROGRAM + "print(tf1.__name__)\n")
    cli("train.py")
    assert "import tensorflow as tf1\n" in cli.read("train.py")
    assert "estimator.fit(" in cli.read("train.py")
