"""A TPUEstimator whose flag is handed on to the function that makes its model_fn.

The program is the fixture ``tpu_builder``, which is proved.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.support import migration
from tests.support.migration import migrated, run, stays

FIXTURE = Path(__file__).parents[3] / "fixtures" / "estimator" / "tpu_builder"
PROGRAM = (FIXTURE / "before.py").read_text(encoding="utf-8")


changed = partial(migration.changed, PROGRAM)


def test_what_is_for_a_tpu_alone_goes() -> None:
    after, said = migrated(PROGRAM)
    assert "    if FLAGS.use_tpu:\n        raise ValueError(" in after, said
    assert "tf.contrib" not in after and "scaffold" not in after
    assert "cluster_resolver" not in after and "is_per_host" not in after


STEP = """\
            optimizer = tf.train.AdamOptimizer(learning_rate)
            if use_tpu:
                optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
            train_op = optimizer.minimize(total_loss, tf.train.get_or_create_global_step())
"""
STEPS = """\
import tensorflow as tf


def create_train_op(loss, rate, use_tpu):
    optimizer = tf.train.AdamOptimizer(rate)
    if use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return train_op
"""


def test_a_function_that_another_program_calls_for_no_tpu() -> None:
    own = "            train_op = steps.create_train_op(total_loss, learning_rate, use_tpu)\n"
    imported = "import tensorflow as tf\n"
    program = changed((STEP, own), (imported, f"{imported}import steps\n"))
    other = (FIXTURE.with_name("unused_parts") / "before.py").read_text(encoding="utf-8")
    begin, end = other.index("def create_train_op"), other.index("def model_fn_builder")
    other = other[:begin] + other[end:]
    pairs = (
        ("create_train_op(", "steps.create_train_op("),
        (imported, f"{imported}import steps\n"),
    )
    files = [("main.py", program), ("other.py", migration.changed(other, *pairs))]
    result = run(*files, ("steps.py", STEPS))
    assert [one.state for one in result.programs] == ["native", "native"], migration.said(result)
    assert not any("_tf2" in str(file.path) for file in result.files)


def test_features_may_be_all_that_it_is_fed() -> None:
    after, said = migrated(PROGRAM)
    assert "unpack_x_y_sample_weight(train_dataset.element_spec)[0]" in after, said


@pytest.mark.parametrize(
    "pairs",
    [
        [("if use_tpu:", "if not use_tpu:\n                pass\n            else:")],
        [("            if use_tpu:", "            if use_tpu and num_labels > 2:")],
        [("        scaffold_fn = None\n", ""), (", scaffold_fn=scaffold_fn", "")],
    ],
)
def test_other_ways_to_say_it(pairs: list[tuple[str, str]]) -> None:
    after, said = migrated(changed(*pairs))
    assert "class Model(tf.keras.Model)" in after, said


ELSEWHERE = "def other():\n    return model_fn_builder(2, 0.1, True)\n\n\ndef main(_):\n"
NONE = "        scaffold_fn = None\n"
ONE = "            scaffold_fn = tf.train.Scaffold\n"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("def main(_):\n", ELSEWHERE, "which is for TPUs, is not made by the flag alone"),
        ("if use_tpu:", "if num_labels:", "is not made by the flag alone"),
        (NONE, ONE[4:], "the TPUEstimatorSpec has a `scaffold_fn`"),
        (NONE, f"{NONE}        if num_labels > 2:\n{ONE}", "has a `scaffold_fn`"),
        ('"use_tpu", False', '"use_tpu", True', "is not said by a flag that is off"),
        ("label_ids, logits])", "label_ids, logits] * 1)", "which metrics an evaluation has"),
    ],
)
def test_what_stays_says_why(old: str, new: str, why: str) -> None:
    stays(changed((old, new)), why)
