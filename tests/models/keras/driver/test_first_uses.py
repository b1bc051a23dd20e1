"""Input functions are called as often as TF1 called them."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import HEAD
from tests.support.migration import migrated

MODEL = (
    HEAD
    + """\
import sys
import numpy as np

rng = np.random.RandomState(3)


def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"outputs": outputs})
    loss = tf.losses.mean_squared_error(labels, outputs)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def drawn_fn():
    places = rng.uniform(size=(8, 2)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((places, places[:, :1])).batch(4)


"""
)
MORE = "called once more than in TF1"
IN_ARMS = """\
def run(task):
    est = tf.estimator.Estimator(model_fn, "folder")
    if task == "train":
        est.train(drawn_fn, steps=4)
    elif task == "test":
        est.evaluate(drawn_fn, steps=4)
    elif task == "help":
        raise ValueError(task)
    else:
        print(list(est.predict(input_fn, yield_single_examples=True)))


run(sys.argv[1])
"""


MADE = 'est = tf.estimator.Estimator(model_fn, "folder")\n'


def _run(lines: str) -> tuple[str, list[str]]:
    return migrated(MODEL + MADE + lines)


@pytest.mark.parametrize(
    ("lines", "calls"),
    [
        ("est.train(drawn_fn, steps=4)\nprint(est.evaluate(drawn_fn))\n", 2),
        ("if sys.argv[1:]:\n    est.train(drawn_fn, steps=4)\n", 1),
        ("for one in range(3):\n    print(one)\nprint(est.evaluate(drawn_fn, steps=1))\n", 1),
        (
            "spec = tf.estimator.TrainSpec(drawn_fn, max_steps=4)\n"
            "tf.estimator.train_and_evaluate(est, spec, tf.estimator.EvalSpec(input_fn))\n",
            1,
        ),
        ("with tf.name_scope('here'):\n    est.train(drawn_fn, steps=4)\n", 1),
    ],
)
def test_the_variables_are_made_of_what_is_drawn_anyway(lines: str, calls: int) -> None:
    after, said = _run(lines)
    assert "tf.estimator" not in after, said
    assert after.count("drawn_fn()") == calls + 1, after  # the definition
    assert "dataset.element_spec[0])" in after
    assert not any(MORE in one for one in said), said


@pytest.mark.parametrize(
    "lines",
    [
        "for one in range(3):\n    est.train(drawn_fn, steps=4)\n",
        "if sys.argv[1:]:\n    est.train(drawn_fn, steps=4)\nprint(est.evaluate(drawn_fn))\n",
        "try:\n    est.train(drawn_fn, steps=4)\nexcept KeyboardInterrupt:\n    pass\n",
        "if est.evaluate(drawn_fn)['loss'] > 1:\n    est.train(drawn_fn, steps=4)\n",
        "print(est.latest_checkpoint())\nest.train(drawn_fn, steps=4)\n",
    ],
)
def test_another_call_is_told_where_it_is_seen(lines: str) -> None:
    """A place that a run may come to several times, or not at all, cannot make the variables."""
    after, said = _run(lines)
    assert "tf.estimator" not in after, said
    assert any(MORE in one for one in said), said
    _, said = _run(lines.replace("drawn_fn", "input_fn"))
    assert not any(MORE in one for one in said), said


def test_each_task_makes_them_of_its_own_data() -> None:
    after, said = migrated(MODEL + IN_ARMS.replace(", yield_single_examples=True", ""))
    assert "tf.estimator" not in after, said
    assert after.count("drawn_fn()") == 3, after
    assert "    def restore(features):\n" in after
    assert "        restore(train_dataset.element_spec[0])\n" in after
    assert "        restore(eval_dataset.element_spec[0])\n" in after
    assert "unpack_x_y_sample_weight(predict_dataset.element_spec)[0])" in after
    assert not any(MORE in one for one in said), said


def test_an_export_asks_for_what_the_model_is_trained_on() -> None:
    lines = (
        "if sys.argv[1:]:\n    est.train(drawn_fn, steps=4)\nelse:\n"
        "    shown = {'x': tf.placeholder(tf.float32, [None, 2])}\n"
        "    make = tf.estimator.export.build_raw_serving_input_receiver_fn(shown)\n"
        "    est.export_saved_model('exported', make)\n"
    )
    after, said = migrated(MODEL.replace("dense(features", "dense(features['x']") + MADE + lines)
    assert "tf.estimator" not in after, said
    assert "    restore(drawn_fn().element_spec[0])\n" in after
    assert any(MORE in one for one in said), said


def test_evaluations_while_training_share_one_dataset() -> None:
    lines = (
        "config = tf.estimator.RunConfig(save_checkpoints_steps=2)\n"
        "one = tf.estimator.Estimator(model_fn, 'other', config=config)\n"
        "tf.estimator.train_and_evaluate(one, tf.estimator.TrainSpec(input_fn, max_steps=4),\n"
        "    tf.estimator.EvalSpec(drawn_fn))\n"
    )
    after, said = migrated(MODEL + lines)
    assert "validation_data=drawn_fn()" in after, said
    assert any("here it is called once" in one for one in said), said
