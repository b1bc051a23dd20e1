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
