"""Optimizers and schedules as facts: what a call is read into, and what follows from it."""

from __future__ import annotations

import ast

import pytest

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.api.optimizers import KERAS_OPTIMIZERS, OPTIMIZERS
from migrate_mgpu.api.schedules import SCHEDULES
from migrate_mgpu.models.front.keras_model.keras_calls import read_keras_optimizer
from migrate_mgpu.models.front.optimizers import read_optimizer, read_schedule
from migrate_mgpu.models.ir import Optimizer, Variation
from migrate_mgpu.models.keras.keras_optimizers import compiled_edits
from migrate_mgpu.models.keras.optimizers import OptimizerWriter
from migrate_mgpu.models.properties import adds_up, is_scheduled, moves_same_rows
from migrate_mgpu.source.style import FileStyle
from tests.rewriters.table_rows import edited, module_of

STEP = "step = tf.train.get_global_step()\n"


def optimizer(code: str) -> Optimizer:
    module, call = module_of(code)
    found = read_optimizer(module, call)
    assert found is not None
    return found


def test_arguments_are_the_authors_by_tf1s_names() -> None:
    found = optimizer("x = tf.train.AdamOptimizer(rate(), 0.8, epsilon=e)")
    assert found.kind == "adam"
    shown = {name: ast.unparse(value) for name, value in found.arguments.items()}
    assert shown == {"learning_rate": "rate()", "beta1": "0.8", "epsilon": "e"}
    assert found.learning_rate.value is found.arguments["learning_rate"]


@pytest.mark.parametrize(
    ("code", "variation"),
    [
        ("x = tf.train.MomentumOptimizer(0.1, 0.9)", Variation.CONSTANT),
        (f"{STEP}rate = tf.train.cosine_decay(0.1, step, 9)\n"
         "x = tf.train.MomentumOptimizer(rate, 0.9)", Variation.SCHEDULED),
        ("x = tf.train.MomentumOptimizer(make(), 0.9)", Variation.UNKNOWN),
        (f"{STEP}x = tf.contrib.layers.optimize_loss(l, step, 0.1, 'Momentum', "
         "learning_rate_decay_fn=lambda r, s: tf.train.exponential_decay(r, s, 9, 0.5))",
         Variation.SCHEDULED),
    ],
)  # fmt: skip
def test_what_the_rate_does(code: str, variation: Variation) -> None:
    found = optimizer(code)
    assert found.learning_rate.variation is variation
    assert is_scheduled(found) is (variation is Variation.SCHEDULED)


def test_optimize_loss_is_the_optimizer_that_it_makes() -> None:
    found = optimizer(f"{STEP}x = tf.contrib.layers.optimize_loss(loss, step, 0.1, 'Momentum')")
    assert (found.kind, found.optimize_loss, found.settings) == (
        "momentum",
        True,
        {"momentum": 0.9},
    )
    assert list(found.arguments) == ["learning_rate"]


def test_a_schedule_that_a_function_returns_knows_what_its_parameters_are() -> None:
    found = optimizer(
        f"{STEP}x = tf.contrib.layers.optimize_loss(loss, step, base, 'SGD', "
        "learning_rate_decay_fn=lambda r, s: tf.train.exponential_decay(r, s, 9, r))"
    )
    schedule = found.learning_rate.schedule
    assert schedule is not None
    assert schedule.kind == "exponential_decay"
    assert {n: v and ast.unparse(v) for n, v in schedule.bound.items()} == {"r": "base", "s": None}
    assert isinstance(found.node, ast.Call)
    text = edited(found.module, found.node, OptimizerWriter(found, FileStyle()).edits())
    assert text == (
        "tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.ExponentialDecay(base, 9, base))"
    )


@pytest.mark.parametrize(
    ("code", "same", "from_zero", "sum_"),
    [
        ("GradientDescentOptimizer(0.1)", True, True, True),
        ("AdamOptimizer(0.1)", True, True, False),
        ("AdagradOptimizer(0.1)", True, True, False),
        ("FtrlOptimizer(0.1)", False, True, False),
        ("FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1)", False, False, False),
        ("MomentumOptimizer(0.1, 0.9)", False, False, False),
        ("RMSPropOptimizer(0.1)", False, False, False),
    ],
)
def test_rows_that_no_batch_uses(code: str, same: bool, from_zero: bool, sum_: bool) -> None:
    found = optimizer(f"x = tf.train.{code}")
    assert moves_same_rows(found) is same
    assert moves_same_rows(found, from_zero=True) is from_zero
    assert adds_up(found) is sum_


def test_values_that_differ_are_stated_from_the_row() -> None:
    """Each default that the table states is written, and only where none is given."""
    for row in OPTIMIZERS.rows:
        needed = [f"{p.name}=0.5" for p in row.parameters if not p.default and p.name != "name"]
        for name in row.names:
            found = optimizer(f"x = tf.{name}({', '.join(needed)})")
            assert isinstance(found.node, ast.Call)
            text = edited(found.module, found.node, OptimizerWriter(found, FileStyle()).edits())
            made = ast.parse(text, mode="eval").body
            assert isinstance(made, ast.Call)
            written = {k.arg: ast.unparse(k.value) for k in made.keywords}
            stated = [(p.new_name, p.default) for p in row.parameters if p.stated]
            for parameter, value in [*stated, *row.constants]:
                assert float(written[parameter]) == float(value), name


def test_every_schedule_is_read_or_refused() -> None:
    for row in SCHEDULES.rows:
        for name in row.names:
            given = ", ".join(
                f"{p.name}={'step' if p.name == row.step else '0.5'}" for p in row.parameters
            )
            module, call = module_of(f"{STEP}x = tf.{name}({given})")
            if row.target:
                found = read_schedule(module, call)
                assert found is not None
                assert found.kind == row.kind
            else:
                with pytest.raises(Refused, match="no schedule"):
                    read_schedule(module, call)


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("Adam(lr=0.1, epsilon=None, decay=0.0)", "Adam(learning_rate=0.1)"),
        ("SGD(0.1, nesterov=True, momentum=0.9, decay=d)",
         "SGD(tf.keras.optimizers.schedules.InverseTimeDecay(0.1, decay_steps=1, decay_rate=d), "
         "momentum=0.9, nesterov=True)"),
        ("Adam(amsgrad=wanted)", "amsgrad of 1.15"),
        ("Adam(decay=0.1)", "not given"),
        ("RMSprop()", "epsilon to the root"),
    ],
)  # fmt: skip
def test_optimizers_of_keras_in_1_15(code: str, after: str) -> None:
    module, call = module_of(f"x = tf.keras.optimizers.{code}")
    try:
        found = read_keras_optimizer(module, call)
        assert found is not None
        assert found.kind in KERAS_OPTIMIZERS.by_kind
        edits = compiled_edits(found, FileStyle(width=200))
    except Refused as refused:
        assert after in refused.diagnostic.reason
    else:
        assert edited(module, call, edits) == f"tf.keras.optimizers.{after}"
