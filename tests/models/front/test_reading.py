"""A model_fn's modes, dataflow and output, and statements moved into new surroundings."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import EVAL, MODES, PREDICT, TRAIN, Modes
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.model_fn.losses import LossReader
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.properties import fits_compile
from migrate_mgpu.source.blocks import leading, render
from migrate_mgpu.source.source import Edit, Source

HEAD = "import tensorflow as tf\n\n\ndef model_fn(features, labels, mode, params):\n"
NETWORK = "    net = tf.layers.flatten(features)\n    logits = tf.layers.dense(net, 10)\n"
SPEC = "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)\n"


def module(text: str) -> Module:
    return Module(Path("m.py"), Source(Path("m.py"), text), "m")


def function(of: Module) -> ast.FunctionDef:
    return next(n for n in of.tree.body if isinstance(n, ast.FunctionDef))


def reading(body: str) -> Reading:
    of = module(HEAD + body)
    return Reading(of, function(of))


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("mode == tf.estimator.ModeKeys.TRAIN", (True, False, False)),
        ("mode != tf.estimator.ModeKeys.PREDICT", (True, True, False)),
        ("not (mode == tf.estimator.ModeKeys.EVAL)", (True, False, True)),
        ("mode in (tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL)", (True, True, False)),
        ("mode == 'infer'", (False, False, True)),
        ("is_training", (True, False, False)),
        ("is_training and params['x']", (None, False, False)),
        ("is_training or params['x']", (True, None, None)),
        ("params['x']", (None, None, None)),
        ("mode == TRAIN", (True, False, False)),
        ("mode in (TRAIN, tf.estimator.ModeKeys.PREDICT)", (True, False, True)),
        ("mode == CHANGED", (None, None, None)),
    ],
)
def test_what_a_condition_is_in_each_mode(condition: str, values: tuple[bool | None, ...]) -> None:
    of = module(
        "TRAIN = tf.estimator.ModeKeys.TRAIN\nCHANGED = tf.estimator.ModeKeys.EVAL\n"
        + "CHANGED = 'train'\n"
        + HEAD
        + "    is_training = (mode == tf.estimator.ModeKeys.TRAIN)\n"
        + f"    if {condition}:\n        pass\n"
    )
    node = function(of)
    modes = Modes(of, node, {"mode": {mode: mode for mode in MODES}})
    test = node.body[-1]
    assert isinstance(test, ast.If)
    assert tuple(modes.value(test.test, mode) for mode in MODES) == values


def test_a_path_ends_where_its_mode_returns() -> None:
    found = reading(
        NETWORK
        + "    if mode == tf.estimator.ModeKeys.PREDICT:\n"
        + "        return tf.estimator.EstimatorSpec(mode, predictions={'p': logits})\n"
        + "    loss = tf.losses.mean_squared_error(labels, logits)\n"
        + "    train_op = None\n"
        + SPEC
    )
    assert len(found.paths[PREDICT].units) == 2
    assert len(found.paths[TRAIN].units) == 4
    assert set(found.specs) == {TRAIN, EVAL, PREDICT}


def test_a_return_under_another_condition_is_refused() -> None:
    with pytest.raises(Refused, match="under a condition that is not the mode's"):
        reading(
            NETWORK
            + "    loss = tf.losses.mean_squared_error(labels, logits)\n"
            + "    if params['debug']:\n        return None\n    train_op = None\n"
            + SPEC
        )


@pytest.mark.parametrize(
    ("body", "output"),
    [
        ("    loss = tf.losses.mean_squared_error(labels, logits)\n", "logits"),
        (
            "    shaped = tf.squeeze(logits, 1)\n"
            "    loss = tf.losses.mean_squared_error(labels, shaped)\n",
            "shaped",
        ),
        (  # what the loss makes of the labels is no part of the network
            "    wanted = tf.one_hot(labels, 10)\n"
            "    loss = tf.losses.softmax_cross_entropy(wanted, logits)\n",
            "logits",
        ),
        (  # both look through the logits
            "    logs = tf.nn.log_softmax(logits)\n"
            "    loss = tf.reduce_mean(labels * logs) + tf.reduce_mean(logits)\n",
            "logits",
        ),
    ],
)
def test_the_output_is_the_last_value_that_everything_goes_through(body: str, output: str) -> None:
    assert reading(NETWORK + body + "    train_op = None\n" + SPEC).output[0] == output


@pytest.mark.parametrize(
    "loss",
    [
        "tf.losses.mean_squared_error(labels - features, logits)",  # at the features as well
        "tf.losses.mean_squared_error(features, logits)",  # not at the labels
    ],
)
def test_a_network_ends_in_no_value_where_the_loss_looks_elsewhere(loss: str) -> None:
    """Nothing is refused: such a model gets a training step of its own."""
    found = reading(f"{NETWORK}    loss = {loss}\n    train_op = None\n{SPEC}")
    assert found.end is None
    objective = LossReader(found).read()
    assert not objective.of_output
    assert not fits_compile(objective)


CALL = """\
def f():
    # the first layer
    net = tf.layers.dense(net,
                          units=10,  # ten
                          name='''a
  b''')
"""


def test_lines_aligned_to_a_bracket_stay_aligned() -> None:
    source = Source(Path("m.py"), CALL)
    node = source.tree.body[0]
    assert isinstance(node, ast.FunctionDef)
    statement = node.body[0]
    assert isinstance(statement, ast.Assign)
    start, end = source.span(statement.value.func)  # type: ignore[attr-defined]
    edits = [Edit(start, end, "tf.keras.layers.Dense")]
    assert render(source, statement.value, edits, 4 + len("self.net = "), "    ") == (
        "tf.keras.layers.Dense(net,\n"
        + " " * (4 + len("self.net = tf.keras.layers.Dense("))
        + "units=10,  # ten\n"
        + " " * (4 + len("self.net = tf.keras.layers.Dense("))
        + "name='''a\n  b''')"
    )
    assert leading(source, statement) == ["# the first layer"]


def test_a_hanging_indent_moves_with_its_line() -> None:
    source = Source(Path("m.py"), "x = f(\n    1,\n    2,\n)\n")
    statement = source.tree.body[0]
    assert render(source, statement, [], 8, "        ") == (
        "x = f(\n            1,\n            2,\n        )"
    )
