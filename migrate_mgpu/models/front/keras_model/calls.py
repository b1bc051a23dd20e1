"""Keras of TF 1.15 in the words of Keras 2.15 and 3: layers, optimizers, ``compile``.

Only what was measured, or is the same code, is in the tables: all else keeps its program.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.reaching_definitions import assigned
from migrate_mgpu.api.optimizers import KERAS_OPTIMIZERS, KERAS_WITHOUT_EQUAL, OptimizerRow
from migrate_mgpu.models.front.optimizers import read_optimizer
from migrate_mgpu.models.front.rates import variation_of
from migrate_mgpu.models.ir import LearningRate, Optimizer
from migrate_mgpu.models.keras.expressions import made_by
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

_ANY = ("name", "trainable", "input_shape", "input_dim")
_INITIAL = ("kernel_initializer", "bias_initializer")
_CONV = ("strides", "padding", "data_format", "dilation_rate", "activation", "use_bias", *_INITIAL)
_POOL = ("pool_size", "strides", "padding", "data_format")

# Layers with the same parameters and defaults in 1.15 and today.
LAYERS: dict[str, tuple[str, ...]] = {
    "Activation": ("activation",),
    "Add": (),
    "Average": (),
    "AveragePooling1D": _POOL,
    "AveragePooling2D": _POOL,
    "Concatenate": ("axis",),
    "Conv1D": ("filters", "kernel_size", *_CONV),
    "Conv2D": ("filters", "kernel_size", *_CONV),
    "Convolution2D": ("filters", "kernel_size", *_CONV),
    "Dense": ("units", "activation", "use_bias", *_INITIAL),
    "Dropout": ("rate", "noise_shape", "seed"),
    "ELU": ("alpha",),
    "Flatten": ("data_format",),
    "GlobalAveragePooling1D": (),
    "GlobalAveragePooling2D": (),
    "GlobalMaxPooling1D": (),
    "GlobalMaxPooling2D": (),
    "MaxPool2D": _POOL,
    "MaxPooling1D": _POOL,
    "MaxPooling2D": _POOL,
    "Maximum": (),
    "Multiply": (),
    "Permute": ("dims",),
    "RepeatVector": ("n",),
    "Reshape": ("target_shape",),
    "SpatialDropout2D": ("rate",),
    "Subtract": (),
    "UpSampling2D": ("size",),
    "ZeroPadding2D": ("padding",),
}
_MERGING = ("add", "average", "concatenate", "maximum", "multiply", "subtract")
_ACTIVATIONS = (
    "elu", "exponential", "linear", "relu", "selu", "sigmoid", "softmax", "softplus", "softsign",
    "tanh",
)  # fmt: skip
_INITIALIZERS = (
    "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal",
    "lecun_uniform", "ones", "random_normal", "random_uniform", "zeros",
)  # fmt: skip
_RANDOM = ("mean", "stddev", "seed")
_INITIALIZER_CLASSES = {
    "Constant": ("value",),
    "Ones": (),
    "RandomNormal": _RANDOM,
    "RandomUniform": ("minval", "maxval", "seed"),
    "TruncatedNormal": _RANDOM,
    "Zeros": (),
}
_ADVICE = "check that it does the same in TF2, and take the Estimator out by hand"

MODELS = {
    "keras.Model": ("inputs", "outputs", "name"),
    "keras.models.Model": ("inputs", "outputs", "name"),
    "keras.Sequential": ("layers", "name"),
    "keras.models.Sequential": ("layers", "name"),
}
_INPUT = ("shape", "batch_size", "name", "dtype")
_INPUT_LAYER = ("input_shape", "batch_size", "dtype", "input_tensor", "sparse", "name")


def keras_name(module: Module, node: ast.AST) -> str:
    """``layers.Dense`` of ``tf.keras.layers.Dense``; empty for what is not Keras's."""
    name = tensorflow_name(module, node)
    return name[len("keras.") :] if name.startswith("keras.") else ""


def keras_edits(module: Module, call: ast.Call, style: FileStyle) -> tuple[Edit, ...]:
    """The edits of a call that makes, or applies, something of Keras's in a model.

    Raises:
        Refused: it is not known to be the same in Keras 2.15 and 3.
    """
    name = keras_name(module, call.func)
    head, _, short = name.rpartition(".")
    if f"keras.{name}" in MODELS:
        BoundCall(module, call, MODELS[f"keras.{name}"])
        return ()
    if name in ("Input", "layers.Input"):
        BoundCall(module, call, _INPUT)
        return ()
    if name == "layers.InputLayer":
        return _input_layer(module, call, style)
    if head == "layers" and short in _MERGING:
        BoundCall(module, call, ("inputs", "axis", "name") if short == "concatenate" else
                 ("inputs", "name"))  # fmt: skip
        return ()
    if head == "initializers" and short in _INITIALIZER_CLASSES:
        BoundCall(module, call, _INITIALIZER_CLASSES[short])
        return ()
    if head == "layers" and short in LAYERS:
        given = BoundCall(module, call, (*LAYERS[short], *_ANY))
        if len(call.args) > len(LAYERS[short]):
            raise Refused(module, call, "which argument this is cannot be told")
        _known(module, given.given("activation"), _ACTIVATIONS, "activations")
        for initializer in _INITIAL:
            _known(module, given.given(initializer), _INITIALIZERS, "initializers")
        return ()
    recurrent = made_by(module, call, style)
    if recurrent is not None:
        return recurrent
    shown = module.source.code(call.func)
    text = f"`{shown}` in a Keras model is not known to do the same in TF2"
    raise Refused(module, call, text, _ADVICE)


def _known(module: Module, node: ast.expr | None, names: tuple[str, ...], kind: str) -> None:
    """Checks an activation or initializer that is named by a string, or by Keras's function."""
    if node is None:
        return
    value = constant(node)
    if value in names:
        return
    given = assigned(module, node)
    if given is not None and not isinstance(given, ast.Constant):
        if isinstance(given, ast.Call):
            return  # looked at where it is called
        name = tensorflow_name(module, given)
        head, _, short = name.rpartition(".")
        if head in (f"keras.{kind}", "nn", "") and short in names:
            return
        if value is None and not name and isinstance(given, (ast.Name, ast.Attribute)):
            pass  # a parameter, a flag: what it holds is not known
    raise Refused(module, node, f"which of Keras's {kind} this is cannot be told", _ADVICE)


def _input_layer(module: Module, call: ast.Call, style: FileStyle) -> tuple[Edit, ...]:
    """`InputLayer(input_shape=[784])` as `Input(shape=[784])`: Keras 3 has another name for it."""
    edit = BoundCall(module, call, _INPUT_LAYER)
    for name in ("input_tensor", "sparse"):
        value = edit.given(name)
        if value is not None:
            raise Refused(module, value, f"`{name}` of a Keras model's InputLayer", _ADVICE)
    if edit.given("input_shape") is None:
        raise Refused(module, call, "an InputLayer without an input_shape", _ADVICE)
    edit.drop("input_tensor", "sparse")
    edit.function(f"{style.tensorflow}.keras.Input")
    edit.rename("input_shape", "shape")
    edit.order(("shape", "batch_size"))
    return edit.edits()


# -- optimizers -------------------------------------------------------------------

_BY_NAME = {name.rpartition(".")[2].lower() for name in KERAS_OPTIMIZERS.by_name}


def read_keras_optimizer(module: Module, node: ast.expr) -> Optimizer | None:
    """A compiled optimizer; None where a string names it.

    Raises:
        Refused: no Keras optimizer is known to do the same.
    """
    named = constant(node)
    if isinstance(named, str):
        if named.lower() in _BY_NAME:
            return None
        known = next((o for o in KERAS_WITHOUT_EQUAL if o.lower() == named.lower()), "")
        raise Refused(module, node, _no_optimizer(named, known), _ADVICE)
    given = assigned(module, node)
    if not isinstance(given, ast.Call):
        raise Refused(module, node, "which optimizer the Keras model gets cannot be told")
    name = keras_name(module, given.func)
    row = KERAS_OPTIMIZERS.by_name.get(f"keras.{name}")
    if row is not None:
        return _keras_optimizer(module, given, row)
    made = read_optimizer(module, given) if not name else None
    if made is not None:
        return made
    shown = module.source.code(given.func)
    raise Refused(module, given, _no_optimizer(shown, name.removeprefix("optimizers.")), _ADVICE)


def _no_optimizer(shown: str, short: str) -> str:
    text = f"`{shown}` as a Keras model's optimizer is not known to do the same in TF2"
    return f"{text}: {KERAS_WITHOUT_EQUAL[short]}" if short in KERAS_WITHOUT_EQUAL else text


def _keras_optimizer(module: Module, call: ast.Call, row: OptimizerRow) -> Optimizer:
    given = NamedArguments(module, call, row.signature).rest
    if len(call.args) > len(row.signature) - 2:  # `lr` and `decay` are keywords
        raise Refused(module, call, "which argument this is cannot be told")
    for parameter in row.parameters:
        value = given.get(parameter.name)
        if value is not None and parameter.only and not is_none(value):
            if constant(value) not in parameter.only:
                raise Refused(module, value, parameter.reason)
    rates = [given[name] for name in ("learning_rate", "lr") if name in given]
    rate = next((value for value in rates if not is_none(value)), None)
    return Optimizer(row.kind, module, call, given, LearningRate(rate, variation_of(module, rate)))


# -- compile -----------------------------------------------------------------------

COMPILE = (
    "optimizer", "loss", "metrics", "loss_weights", "sample_weight_mode", "weighted_metrics",
    "target_tensors", "distribute",
)  # fmt: skip
_ENTROPIES = {
    "binary_crossentropy": "BinaryCrossentropy",
    "categorical_crossentropy": "CategoricalCrossentropy",
    "sparse_categorical_crossentropy": "SparseCategoricalCrossentropy",
}
_ELEMENTWISE = {
    "mse": "mean_squared_error",
    "mean_squared_error": "MeanSquaredError",
    "mae": "mean_absolute_error",
    "mean_absolute_error": "MeanAbsoluteError",
}
# What 1.15 calls a metric in the result of an evaluation.
_METRICS = {
    "accuracy": "acc",
    "acc": "acc",
    "mae": "mean_absolute_error",
    "mse": "mean_squared_error",
    "binary_accuracy": "binary_accuracy",
    "categorical_accuracy": "categorical_accuracy",
    "sparse_categorical_accuracy": "sparse_categorical_accuracy",
    "mean_absolute_error": "mean_absolute_error",
    "mean_squared_error": "mean_squared_error",
}


def loss_is_elementwise(module: Module, node: ast.expr) -> bool:
    """Whether a compiled loss compares element by element.

    Raises:
        Refused: it is not known to be the same in TF2.
    """
    named = constant(node)
    if isinstance(named, str):
        if named in _ENTROPIES or named in _ELEMENTWISE:
            return named in _ELEMENTWISE
        raise Refused(module, node, f"the loss `{named}` was not compared with TF2's", _ADVICE)
    given = assigned(module, node)
    classes = (*_ENTROPIES.values(), *(n for n in _ELEMENTWISE.values() if n[0].isupper()))
    short = ""
    if isinstance(given, ast.Call):
        short = keras_name(module, given.func).removeprefix("losses.")
        if short in classes:
            BoundCall(module, given, ("from_logits",) if "entropy" in short else ())
            return "entropy" not in short
    elif given is not None:
        short = keras_name(module, given).removeprefix("losses.")
        if short in _ENTROPIES or short in _ELEMENTWISE:
            return short in _ELEMENTWISE
    raise Refused(
        module, node, "the Keras model's loss is not one that is known to be the same in TF2",
        "check it, and take the Estimator out by hand",
    )  # fmt: skip


def metric_names(
    module: Module, node: ast.expr | None, named: bool
) -> tuple[tuple[str, ...], tuple[Edit, ...]]:
    """What an evaluation's result calls the compiled metrics, and the edits that keep that.

    1.15 calls ``accuracy`` ``acc``. ``named``: the program looks at the result.

    Raises:
        Refused: a metric that was not compared with TF2's.
    """
    if node is None:
        return (), ()
    given = assigned(module, node)
    if not isinstance(given, (ast.List, ast.Tuple)):
        raise Refused(module, node, "which metrics the Keras model has cannot be told")
    names: list[str] = []
    edits: list[Edit] = []
    for element in given.elts:
        value = constant(element)
        if not isinstance(value, str) or value not in _METRICS:
            shown = module.source.code(element)
            raise Refused(module, element, f"the metric `{shown}` was not compared with TF2's")
        names.append(_METRICS[value])
        if named and names[-1] != value:
            quote = module.source.quote
            edits.append(Edit(*module.source.span(element), f"{quote}{names[-1]}{quote}"))
    return tuple(names), tuple(edits)
