"""A TPUEstimator that is an Estimator unless a flag asks for a TPU.

The program is the fixture ``tpu_estimator``, which is proved.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import migrated, stays

FIXTURE = Path(__file__).parents[3] / "fixtures" / "estimator" / "tpu_estimator"
PROGRAM = (FIXTURE / "before.py").read_text(encoding="utf-8")
SHARDED = """\
    if FLAGS.use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
"""


def changed(old: str, new: str) -> str:
    assert old in PROGRAM, old
    return PROGRAM.replace(old, new)


def test_it_stops_where_a_tpu_is_asked_for() -> None:
    after, said = migrated(PROGRAM)
    assert "tpu." not in after.replace("use_tpu", "").replace("tpu_name", "")
    assert "    if FLAGS.use_tpu:\n        raise ValueError(" in after
    assert any("the program stops where its flag asks for one" in one for one in said)


def test_without_a_flag_there_is_nothing_to_tell() -> None:
    program = changed("use_tpu=FLAGS.use_tpu", "use_tpu=False").replace(SHARDED, "")
    after, said = migrated(program)
    assert "tf.distribute.TPUStrategy" not in after, said
    assert "train_dataset = train_input_fn(" in after
    assert not any("asks for one" in one for one in said)


def test_each_call_has_its_own_batch_size() -> None:
    after, said = migrated(PROGRAM)
    assert 'params={**model_params, "batch_size": FLAGS.train_batch_size})' in after, said
    assert '"batch_size": FLAGS.eval_batch_size})' in after
    bare, said = migrated(changed('params={"units": 8, "rate": 0.02},\n        ', "").replace(
        'params["units"]', "8").replace('params["rate"]', "0.02"))  # fmt: skip
    assert 'train_input_fn(params={"batch_size": FLAGS.train_batch_size})' in bare, said


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"use_tpu", False', '"use_tpu", True', "is not said by a flag that is off"),
        ("use_tpu=FLAGS.use_tpu", "use_tpu=FLAGS.train_batch_size > 8", "is not said by a flag"),
        ("use_tpu=FLAGS.use_tpu,\n        ", "", "the TPUEstimator is for a TPU"),
        ('params["units"]', 'params["units"] + params["batch_size"]', "ask for `batch_size`"),
        ('    net = tf.layers.dense', '    print(params)\n    net = tf.layers.dense', "handed on"),
        ("    if FLAGS.use_tpu:\n        optimizer", "    if True:\n        optimizer", "Cross"),
        ("train_op=train_op)", "train_op=train_op, host_call=(min, [loss]))", "a `host_call`"),
        ("train_op=train_op)", "train_op=train_op, scaffold_fn=tf.train.Scaffold)", "a `scaffold_"),
        ("eval_metrics=eval_metrics)", "eval_metrics=(metric_fn, [labels, logits] * 1))", "which "),
        ("(input_fn=train_input_fn, max", "(functools.partial(train_input_fn), max", "what "),
        ('lambda params: tf.data', 'lambda params, n=1: tf.data', "what this input function does"),
    ],
)  # fmt: skip
def test_what_stays(old: str, new: str, why: str) -> None:
    stays(changed(old, new), why)
