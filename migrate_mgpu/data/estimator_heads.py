"""Heads of Estimators, as ``tf.contrib.estimator`` of TensorFlow 1 has them.

They are those of canned Estimators, in a private module that TensorFlow 2.15 is the last to bring
along, with the mean of the losses of a batch instead of their sum.
"""

from typing import Any, Optional

import tensorflow.compat.v1 as tf
from tensorflow_estimator.python.estimator.canned import head

_MEAN = tf.losses.Reduction.SUM_OVER_BATCH_SIZE


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    name: Optional[str] = None,
) -> Any:
    """A head for one of more than two classes, by ``[batch, n_classes]`` logits."""
    return head._multi_class_head_with_softmax_cross_entropy_loss(
        n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name
    )


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    name: Optional[str] = None,
) -> Any:
    """A head for one of two classes, by ``[batch, 1]`` logits."""
    return head._binary_logistic_head_with_sigmoid_cross_entropy_loss(
        weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name
    )


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: Optional[str] = None,
) -> Any:
    """A head for numbers, by ``[batch, label_dimension]`` logits and their squared errors."""
    return head._regression_head(
        weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name
    )
