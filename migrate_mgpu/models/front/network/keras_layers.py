"""Layers and models of Keras's own, by the calls that make them."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.recurrent import KERAS_LAYERS

# Layers of Keras that are in TF2 what they were in TF1, told the same.
_SAME = {
    "Activation", "Add", "Average", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D",
    "AvgPool1D", "AvgPool2D", "AvgPool3D", "Concatenate", "Conv1D", "Conv2D", "Conv2DTranspose",
    "Conv3D", "Cropping1D", "Cropping2D", "Dense", "DepthwiseConv2D", "Dot", "Dropout", "ELU",
    "Embedding", "Flatten", "GlobalAveragePooling1D", "GlobalAveragePooling2D",
    "GlobalAvgPool1D", "GlobalAvgPool2D", "GlobalMaxPool1D", "GlobalMaxPool2D",
    "GlobalMaxPooling1D", "GlobalMaxPooling2D", "Input", "InputLayer", "MaxPool1D", "MaxPool2D",
    "MaxPool3D", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "Maximum", "Minimum", "Multiply",
    "Permute", "RepeatVector", "Reshape", "SeparableConv2D", "Softmax", "SpatialDropout1D",
    "SpatialDropout2D", "SpatialDropout3D", "Subtract", "UpSampling2D", "ZeroPadding1D",
    "ZeroPadding2D", *KERAS_LAYERS.by_kind,
}  # fmt: skip
_MODELS = ("keras.Sequential", "keras.Model", "keras.models.Sequential", "keras.models.Model")
_SENSITIVE = ("Dropout", "BatchNormalization", "Noise")


def layer_name(module: Module, node: ast.AST) -> str:
    """The name of a class of layers, of tf.layers or tf.keras.layers, that a call makes one of."""
    if not isinstance(node, ast.Call):
        return ""
    head, _, name = (module.names.qualname(node.func) or "").rpartition(".")
    return name if head.endswith(("keras.layers", ".layers")) and name[:1].isupper() else ""


def is_sensitive(name: str) -> bool:
    """Whether a class of layers does something else while training."""
    return bool(name) and any(word in name for word in _SENSITIVE)


def makes_model(module: Module, node: ast.AST | None) -> bool:
    """Whether a call makes a Keras model of the library's own classes."""
    if not isinstance(node, ast.Call):
        return False
    return (module.names.qualname(node.func) or "").endswith(_MODELS)


def returns_model(function: Function) -> bool:
    """Whether what a function returns is a Keras model, made in it."""
    module, node = function.module, function.node
    found = [part.value for part in walk(node) if isinstance(part, ast.Return)]
    return bool(found) and all(makes_model(module, module.names.assigned(value)) for value in found)


def check_layer(module: Module, node: ast.AST) -> None:
    """A layer inside of a Keras model must do in TF2 what it did.

    Raises:
        Refused: with what is different.
    """
    assert isinstance(node, ast.Call)
    name = layer_name(module, node)
    if name == "BatchNormalization":
        text = "batch normalization in a Keras model: TF1 ran its updates by model.updates only"
        raise Refused(module, node, text, "write the network with tf.layers")
    if name not in _SAME:
        text = f"the Keras layer `{name}` is not known to be the same in TF1 and TF2"
        raise Refused(module, node, text, "write the network with tf.layers")
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg.endswith("regularizer"):
            text = "TF1 left the regularizers of Keras layers out of an Estimator's loss"
            raise Refused(module, node, text, "remove it, or add model.losses in tf.layers' way")
