"""The losses of ``tf.losses`` and ``tf.nn`` that Keras has: class, function and parameters."""

from __future__ import annotations

from migrate_mgpu.core.records import field, record


@record(frozen=True)
class LossKind:
    """A loss: Keras's class, and the function that gives a value for each example.

    ``first`` and ``second`` are TF1's names of what is compared, ``names`` the function's
    names for parameters; ``setting`` is an argument of the class besides ``from_logits``.
    """

    keras: str
    function: str
    parameters: tuple[str, ...]
    names: dict[str, str]
    from_logits: bool = False
    setting: str = ""
    defaults: dict[str, str] = field(default_factory=dict)


_REST = ("scope", "loss_collection", "reduction")
_COMPARED = {"labels": "y_true", "predictions": "y_pred"}


def _regression(keras: str, function: str) -> LossKind:
    return LossKind(keras, function, ("labels", "predictions", "weights", *_REST), _COMPARED)


KINDS = {
    "losses.sparse_softmax_cross_entropy": LossKind(
        "SparseCategoricalCrossentropy",
        "nn.sparse_softmax_cross_entropy_with_logits",
        ("labels", "logits", "weights", *_REST),
        {},
        from_logits=True,
    ),
    "losses.softmax_cross_entropy": LossKind(
        "CategoricalCrossentropy",
        "nn.softmax_cross_entropy_with_logits",
        ("onehot_labels", "logits", "weights", "label_smoothing", *_REST),
        {"onehot_labels": "labels"},
        from_logits=True,
        setting="label_smoothing",
    ),
    "losses.sigmoid_cross_entropy": LossKind(
        "BinaryCrossentropy",
        "keras.losses.binary_crossentropy",
        ("multi_class_labels", "logits", "weights", "label_smoothing", *_REST),
        {"multi_class_labels": "y_true", "logits": "y_pred"},
        from_logits=True,
        setting="label_smoothing",
        defaults={"from_logits": "True"},
    ),
    "losses.mean_squared_error": _regression("MeanSquaredError", "keras.losses.MSE"),
    "losses.absolute_difference": _regression("MeanAbsoluteError", "keras.losses.MAE"),
    "losses.huber_loss": LossKind(
        "Huber",
        "keras.losses.huber",
        ("labels", "predictions", "weights", "delta", *_REST),
        _COMPARED,
        setting="delta",
    ),
    "losses.hinge_loss": LossKind(
        "Hinge",
        "keras.losses.hinge",
        ("labels", "logits", "weights", *_REST),
        {"labels": "y_true", "logits": "y_pred"},
    ),
    "losses.log_loss": LossKind(
        "", "log_loss", ("labels", "predictions", "weights", "epsilon", *_REST), {}
    ),
    "nn.sparse_softmax_cross_entropy_with_logits": LossKind(
        "SparseCategoricalCrossentropy",
        "nn.sparse_softmax_cross_entropy_with_logits",
        ("_sentinel", "labels", "logits", "name"),
        {},
        from_logits=True,
    ),
    "nn.softmax_cross_entropy_with_logits": LossKind(
        "CategoricalCrossentropy",
        "nn.softmax_cross_entropy_with_logits",
        ("_sentinel", "labels", "logits", "dim", "name", "axis"),
        {"dim": "axis"},
        from_logits=True,
    ),
    "nn.softmax_cross_entropy_with_logits_v2": LossKind(
        "CategoricalCrossentropy",
        "nn.softmax_cross_entropy_with_logits",
        ("labels", "logits", "axis", "name", "dim"),
        {"dim": "axis"},
        from_logits=True,
    ),
    "nn.sigmoid_cross_entropy_with_logits": LossKind(
        "BinaryCrossentropy",
        "nn.sigmoid_cross_entropy_with_logits",
        ("_sentinel", "labels", "logits", "name"),
        {},
        from_logits=True,
    ),
    "nn.weighted_cross_entropy_with_logits": LossKind(
        "",
        "nn.weighted_cross_entropy_with_logits",
        ("labels", "logits", "pos_weight", "name", "targets"),
        {"targets": "labels"},
    ),
}

# Losses that Keras has not: what a function of the program's own gives for each element.
FUNCTIONS = {
    "losses.log_loss": '''\
def {name}(labels, predictions, epsilon=1e-7):
    """The cross-entropy of probabilities, for each of them."""
    labels = {tf}.cast(labels, predictions.dtype)
    right = labels * {tf}.math.log(predictions + epsilon)
    return -right - (1.0 - labels) * {tf}.math.log(1.0 - predictions + epsilon)''',
}
