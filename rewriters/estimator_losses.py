"""``tf.losses`` and the cross-entropies of ``tf.nn`` become Keras losses.

## What it does
``tf.losses.sparse_softmax_cross_entropy(labels, logits)`` becomes
``tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)`` where it is the model's
loss, an expression of TF2 where it is a part of one. One-hot labels that are made in the call
are not made any more.

## Why
TF2 has no ``tf.losses``. A Keras loss object knows how many replicas share a batch and what
Keras makes of the labels on the way; a function does not.

## Safety
Equal for the default weights: ``tf.losses`` means over all elements then, as Keras does. By
``weights`` TF1 divides by the number of those that are not zero, which no Keras loss does: a
small function does it; under several replicas such a loss keeps its program, for an evaluation
would take the mean of parts of a batch. ``log_loss`` is a function, too. Losses that no
Keras loss equals (``cosine_distance``, ``mean_pairwise_squared_error``) keep theirs. Labels
outside of the classes, which ``tf.one_hot`` makes a row of zeros, are an error in the sparse
form.

## References
``tf.losses``, ``tf.nn``, ``tf.keras.losses``
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api.cases import NUMBERS, case
from migrate_mgpu.api.loss_kinds import FUNCTIONS, KINDS, LossKind
from migrate_mgpu.api.tables import assigned, name_of, number
from migrate_mgpu.api.weighting import weighting
from migrate_mgpu.core.registry import Rule, constant
from migrate_mgpu.models.types import Loss
from migrate_mgpu.source.source import Edit

RULE = Rule(
    code="MGPU403",
    name="estimator-losses",
    summary="`tf.losses` and `tf.nn` cross-entropies become Keras losses",
)

CASES = (
    case(
        "one-hot labels made for the loss",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    onehot = tf.one_hot(tf.cast(labels, tf.int32), depth=10)
    loss = tf.losses.softmax_cross_entropy(onehot_labels=onehot, logits=logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        """\
def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model
""",
    ),
    case(
        "a loss that is a sum of two",
        """\
def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    squared = tf.losses.mean_squared_error(labels, outputs)
    absolute = tf.losses.absolute_difference(labels, outputs)
    loss = squared + 0.1 * absolute
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        """\
def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

    def loss(labels, outputs):
        squared = tf.reduce_mean(tf.keras.losses.MSE(labels, outputs))
        absolute = tf.reduce_mean(tf.keras.losses.MAE(labels, outputs))
        return tf.reshape(squared + 0.1 * absolute, [1])

    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model
""",
        data=NUMBERS,
    ),
    case(
        "a loss weighted by tensors",
        """\
def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    positive = tf.cast(labels > 0, tf.float32)
    loss = tf.losses.mean_squared_error(labels, outputs, weights=positive)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        '''\
def weighted_mean(losses, weights):
    """Weighted losses over the number of those whose weight is not zero."""
    weights = tf.cast(weights, losses.dtype)
    if weights.shape.rank > losses.shape.rank:
        weights = tf.squeeze(weights, axis=-1)
    weights *= tf.ones_like(losses)
    count = tf.math.count_nonzero(weights, dtype=losses.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(losses * weights), count)


def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

    def loss(labels, outputs):
        positive = tf.cast(labels > 0, tf.float32)
        return tf.reshape(
            weighted_mean(
                tf.math.squared_difference(
                    tf.cast(labels, tf.float32), outputs),
                positive),
            [1])

    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model
''',
        data=NUMBERS,
    ),
    case(
        "a loss that no Keras loss equals",
        """\
def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    loss = tf.losses.mean_pairwise_squared_error(labels, outputs)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        refused="mean_pairwise_squared_error",
        data=NUMBERS,
    ),
)


_NONE = {"cosine_distance", "mean_pairwise_squared_error", "compute_weighted_loss"}
_LABELS = ("onehot_labels", "multi_class_labels", "targets", "labels")
_OUTPUTS = ("logits", "predictions")
# All but the last two are the mean over all elements where every weight is one.
_REDUCTIONS = {
    "SUM_BY_NONZERO_WEIGHTS": "mean", "SUM_OVER_NONZERO_WEIGHTS": "mean", "MEAN": "average",
    "SUM_OVER_BATCH_SIZE": "batch", "SUM": "sum", "NONE": "none",
}  # fmt: skip
_CASTS = {"cast", "to_int32", "to_int64"}
_ADVICE = "write the loss with functions of tf.nn and tf.math"


def loss(module: Module, call: ast.Call, tf: str) -> Loss | None:
    """The loss of a call, and its forms in TF2; None where it is none.

    Raises:
        Refused: TF2 has nothing equal.
    """
    name = name_of(module, call)
    kind = KINDS.get(name)
    if kind is None:
        if name.startswith("losses.") and name.rpartition(".")[2] in _NONE:
            raise Refused(module, call, f"no Keras loss equals tf.{name}", _ADVICE)
        return None
    edit = BoundCall(module, call, kind.parameters)
    labels = next((v for n in _LABELS if (v := edit.get(n)) is not None), None)
    outputs = next((v for n in _OUTPUTS if (v := edit.get(n)) is not None), None)
    if labels is None or outputs is None:
        raise Refused(module, call, f"what `{edit.shown}` compares is not told")
    scalar = name.startswith("losses.")
    reduction = _reduction(edit)
    weight, weights = _weight(edit)
    if reduction == "average" and weights is None:
        reduction, weight = "mean", ""  # the number is in the divisor, too
    axis = next((v for n in ("axis", "dim") if (v := edit.given(n)) is not None), None)
    known = constant(axis) if axis is not None else -1
    keras = None
    elementwise = "softmax" not in name
    if name in FUNCTIONS:
        return _own(edit, name, tf, labels, outputs, reduction, weight, weights)
    if weights is not None or (scalar and elementwise and reduction in ("sum", "none")):
        form = weighting(module, reduction, tf) if weights is not None else None
        edits = _elements(edit, name, kind, tf, "" if form else reduction, weight)
        scalar = reduction != "none"
        return Loss(call, labels, outputs, None, edits, scalar, elementwise, weights, form)
    if kind.keras and reduction in ("mean", "batch") and not weight and known == -1:
        keras, labels = _object(edit, kind, labels, tf)
    edits = _expression(edit, kind, tf, reduction if scalar else "", weight)
    return Loss(call, labels, outputs, keras, edits, scalar and reduction != "none", elementwise)


def _reduction(edit: BoundCall) -> str:
    """What a loss does with the values of its elements, by the names of ``weighting``."""
    value = edit.get("reduction")
    edit.drop("reduction")
    if value is None:
        return "mean"
    known = constant(value)
    name = name_of(edit.module, value).rpartition(".")[2]
    if isinstance(known, str):
        name = known.upper()
    name = name.replace("WEIGHTED_SUM", "SUM").replace("WEIGHTED_MEAN", "MEAN")
    if name in _REDUCTIONS:
        return _REDUCTIONS[name]
    raise Refused(edit.module, value, "the reduction of this loss cannot be told", _ADVICE)


def _weight(edit: BoundCall) -> tuple[str, ast.expr | None]:
    """The number that a loss is multiplied by, empty where it is one; or what is no number."""
    value = edit.get("weights")
    if value is None:
        return "", None
    edit.drop("weights")
    known = constant(value)
    if isinstance(known, (int, float)) and not isinstance(known, bool) and known:
        return "" if known == 1 else number(known), None
    return "", value


# Functions that give a value for each element, and their names for what they compare.
_BY_ELEMENT = {
    "losses.mean_squared_error": ("math.squared_difference", ("x", "y")),
    "losses.absolute_difference": ("abs", ("x", "y")),
    "losses.sigmoid_cross_entropy": (
        "nn.sigmoid_cross_entropy_with_logits", ("labels", "logits")),
}  # fmt: skip


def _elements(
    edit: BoundCall, name: str, kind: LossKind, tf: str, reduction: str, weight: str
) -> tuple[Edit, ...]:
    """The edits that make a value for each element, or their sum.

    Keras's functions average over the last axis, as no sum and no weights of TF1's do.
    """
    if "softmax" in name:  # of classes: an example has one value as it is
        return _expression(edit, kind, tf, reduction, weight)
    labels = next(n for n in _LABELS if edit.get(n) is not None)
    outputs = next(n for n in _OUTPUTS if edit.get(n) is not None)
    smoothing = edit.get("label_smoothing")
    if name not in _BY_ELEMENT or (smoothing is not None and constant(smoothing) not in (0, 0.0)):
        for compared in (labels, outputs):
            edit.wrap(compared, f"{tf}.expand_dims(", ", -1)")
        return _expression(edit, kind, tf, reduction, weight)
    function, names = _BY_ELEMENT[name]
    edit.drop("scope", "loss_collection", "label_smoothing")
    if name_of(edit.module, edit.get(labels)) not in ("cast", "to_float"):
        edit.wrap(labels, f"{tf}.cast(", f", {tf}.float32)")
    edit.rename(labels, names[0])
    edit.rename(outputs, names[1])
    edit.order(names if names[0] == "x" else ())
    inner = f"{tf}.abs({tf}.subtract" if function == "abs" else f"{tf}.{function}"
    return _reduced(edit, inner, tf, reduction, weight)


def _own(
    edit: BoundCall,
    name: str,
    tf: str,
    labels: ast.expr,
    outputs: ast.expr,
    reduction: str,
    weight: str,
    weights: ast.expr | None,
) -> Loss:
    """A loss by a function of the program's own, which Keras has none for."""
    module = edit.module
    short = module.names.fresh(module.names.module_scope, name.rpartition(".")[2])
    text = FUNCTIONS[name].format(name=short, tf=tf).replace("    ", module.source.indent_unit)
    form = weighting(module, reduction, tf) if weights is not None else None
    edit.drop("scope", "loss_collection")
    edits = _reduced(edit, short, tf, "" if form else reduction, weight)
    scalar = reduction != "none"
    return Loss(edit.call, labels, outputs, None, edits, scalar, True, weights, form, text)


def _reduced(
    edit: BoundCall, function: str, tf: str, reduction: str, weight: str
) -> tuple[Edit, ...]:
    """The edits of a call of a function, its mean or sum, and that times a number."""
    outer = f"{tf}.reduce_mean(" if reduction in ("mean", "batch") else ""
    outer = f"{tf}.reduce_sum(" if reduction == "sum" else outer
    factor = f"{weight} * " if weight else ""
    edit.function(f"{factor}{outer}{function}")
    edits = edit.edits()
    behind = ")" * (f"{outer}{function}".count("("))
    if behind:
        _, end = edit.module.source.span(edit.call)
        edits = (*edits, Edit(end, end, behind))
    return edits


def _object(edit: BoundCall, kind: LossKind, labels: ast.expr, tf: str) -> tuple[str, ast.expr]:
    """The text of the loss object, and the labels that it takes."""
    arguments = ["from_logits=True"] if kind.from_logits else []
    keras = kind.keras
    setting = edit.get(kind.setting) if kind.setting else None
    plain = setting is None or constant(setting) in (0, 0.0)
    if kind.setting == "delta":
        plain = setting is None or constant(setting) in (1, 1.0)
    if not plain:
        assert setting is not None
        arguments.append(f"{kind.setting}={edit.module.source.code(setting)}")
    elif keras == "CategoricalCrossentropy":
        classes = _classes(edit.module, labels)
        if classes is not None:
            keras, labels = "SparseCategoricalCrossentropy", classes
    return f"{tf}.keras.losses.{keras}({', '.join(arguments)})", labels


def _classes(module: Module, node: ast.expr) -> ast.expr | None:
    """The classes that one-hot labels are made of in the same function, as integers."""
    made = assigned(module, node)
    while name_of(module, made) in ("cast", "to_float", "stop_gradient") and _first(made):
        made = assigned(module, _first(made))
    name = name_of(module, made)
    if not isinstance(made, ast.Call) or name not in ("one_hot", "contrib.layers.one_hot_encoding"):
        return None
    given = {k.arg: k.value for k in made.keywords}
    if len(made.args) > 2 or not set(given) <= {
        "indices", "depth", "labels", "num_classes", "dtype", "name",
    }:  # fmt: skip
        return None
    found = made.args[0] if made.args else given.get("indices", given.get("labels"))
    while isinstance(found, ast.Call) and name_of(module, found) in _CASTS and _first(found):
        found = _first(found)
    return found


def _first(node: ast.expr | None) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    if node.args:
        return node.args[0]
    return next((k.value for k in node.keywords if k.arg in ("x", "input")), None)


def _expression(
    edit: BoundCall, kind: LossKind, tf: str, reduction: str, weight: str
) -> tuple[Edit, ...]:
    """The edits that make an expression of TF2: a value for each example, or one number."""
    edit.drop("scope", "loss_collection", "_sentinel")
    function = f"{tf}.{kind.function}"
    names = dict(kind.names)
    smoothing = edit.get("label_smoothing")
    if smoothing is not None and constant(smoothing) in (0, 0.0):
        edit.drop("label_smoothing")
    elif smoothing is not None and kind.keras == "CategoricalCrossentropy":
        function = f"{tf}.keras.losses.categorical_crossentropy"
        names = {"onehot_labels": "y_true", "logits": "y_pred"}
        edit.add("from_logits", "True")
    for old, new in kind.defaults.items():
        edit.add(old, new)
    if is_none(edit.get("axis")):
        edit.drop("axis")
    for old, new in names.items():
        edit.rename(old, new)
    if function.rpartition(".")[2].endswith("with_logits"):
        edit.order(("labels", "logits"))
    else:
        edit.order(("y_true", "y_pred"))
    return _reduced(edit, function, tf, reduction, weight)


def is_regularization(module: Module, node: ast.expr | None) -> bool:
    """Whether an expression is the sum, or the list, of all regularization terms."""
    if not isinstance(node, ast.Call):
        return False
    name = name_of(module, node)
    if name in ("losses.get_regularization_loss", "losses.get_regularization_losses"):
        scope = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "scope")]
        return all(is_none(value) for value in scope)
    if name == "get_collection" and len(node.args) + len(node.keywords) == 1:
        key = node.args[0] if node.args else node.keywords[0].value
        return (
            name_of(module, key) == "GraphKeys.REGULARIZATION_LOSSES"
            or constant(key) == "regularization_losses"
        )
    return False
