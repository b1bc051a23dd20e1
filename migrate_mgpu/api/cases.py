"""The program around a model_fn in the examples of a rewriter."""

from __future__ import annotations

from migrate_mgpu.core.registry import Case

CLASSES = "tf.ones([8, 4]), tf.zeros([8], tf.int32)"
NUMBERS = "tf.ones([8, 4]), tf.zeros([8, 1])"
IMAGES = "tf.ones([8, 28, 28, 1]), tf.zeros([8], tf.int32)"

_INPUT = """\
import tensorflow as tf


def input_fn():
    data = {data}
    return tf.data.Dataset.from_tensors(data).repeat()


"""
_BEFORE = """

estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=100)
"""
_AFTER = """

estimator = model_fn()
estimator.fit(input_fn(), steps_per_epoch=100, verbose=0)
"""


def case(
    name: str,
    before: str,
    after: str | None = None,
    refused: str | None = None,
    data: str = CLASSES,
    metric: str = "",
) -> Case:
    """An example that shows a model_fn alone: with its input, its Estimator and its training.

    Args:
      before: the model_fn.
      after: what becomes of it, classes beside it included.
      data: a batch, as an expression.
      metric: what is read out of an evaluation, if the program has one.
    """
    head, first, second = _INPUT.format(data=data), _BEFORE, _AFTER
    if metric:
        first += f"print(estimator.evaluate(input_fn, steps=10)['{metric}'])\n"
        evaluated = "estimator.evaluate(input_fn(), steps=10, return_dict=True, verbose=0)"
        second += f"print({evaluated}['{metric}'])\n"
    return Case(name, head + before + first, after and head + after + second, refused)


PROGRAM = """\
import tensorflow as tf


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(([[1.0], [2.0]], [[2.0], [4.0]]))
    return data.repeat().batch(2)


def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, outputs)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


"""
MODEL = """\
import tensorflow as tf


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(([[1.0], [2.0]], [[2.0], [4.0]]))
    return data.repeat().batch(2)


def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    loss = tf.keras.losses.MeanSquaredError()
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model


"""
