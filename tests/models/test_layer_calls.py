"""What a call makes in a network, as facts: read once, and written by nobody yet."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.network import layer_calls
from migrate_mgpu.models.front.network.layer_calls import LayerCalls, read_layer
from migrate_mgpu.models.front.network.network_classes import keeps_collections
from migrate_mgpu.models.ir import Layer, Weight
from migrate_mgpu.models.properties import keras_class, normalizes, takes_training
from migrate_mgpu.source.source import Source


def call_in(code: str) -> tuple[Module, ast.Call]:
    path = Path("network.py")
    module = Module(path, Source(path, f"import tensorflow as tf\n\nx = {code}\n"), "network")
    (call,) = (
        node for node in module.names.calls if ast.unparse(node) in ast.unparse(ast.parse(code))
    )
    return module, call


def shown(module: Module, layer: Layer | Weight) -> dict[str, str]:
    return {name: module.source.code(value) for name, value in layer.arguments.items()}


def test_a_layer_is_its_kind_and_the_expressions_of_its_author() -> None:
    code = "tf.layers.dense(net, units=2 * n, reuse=False, name='out')"
    module, call = call_in(code)
    layer = read_layer(module, call)
    assert isinstance(layer, Layer)
    assert (layer.kind, keras_class(layer)) == ("dense", "Dense")
    assert shown(module, layer) == {"units": "2 * n", "name": "'out'"}
    assert [module.source.code(value) for value in layer.inputs] == ["net"]
    assert layer.training is None and not takes_training(layer)


@pytest.mark.parametrize(
    "code",
    [
        "tf.layers.batch_normalization(net, training=t)",
        "tf.contrib.layers.batch_norm(net, is_training=t)",
        "tf.contrib.slim.batch_norm(net, is_training=t)",
    ],
)
def test_batch_normalization_is_told_by_its_row_not_by_its_name(code: str) -> None:
    module, call = call_in(code)
    layer = read_layer(module, call)
    assert isinstance(layer, Layer)
    assert normalizes(layer) and takes_training(layer)
    assert layer.training is not None and module.source.code(layer.training) == "t"


def test_a_weight_says_what_it_begins_with() -> None:
    module, call = call_in("tf.get_variable('w', [3], tf.float64)")
    weight = read_layer(module, call)
    assert isinstance(weight, Weight)
    assert (weight.name, weight.double, weight.first) == ("w", True, None)
    assert shown(module, weight) == {"name": "'w'", "shape": "[3]"}


def test_a_call_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ast.Call] = []

    def counted(module: Module, call: ast.Call, regularized: bool) -> object:
        asked.append(call)
        return read_layer(module, call, regularized)

    monkeypatch.setattr(layer_calls, "read_layer", counted)
    module, call = call_in("tf.layers.dense(net, 3)")
    calls = LayerCalls()
    assert calls.read(module, call) is calls.read(module, call)
    assert asked == [call]
    # Whether regularizers count is another question.
    calls.read(module, call, regularized=False)
    assert len(asked) == 2


def test_a_refusal_is_the_same_each_time() -> None:
    module, call = call_in("tf.layers.dense(net, 3, reuse=True)")
    calls = LayerCalls()
    for _ in range(2):
        with pytest.raises(Refused, match="shared by name"):
            calls.read(module, call)


@pytest.mark.parametrize(
    ("value", "keeps"),
    [
        ("[Dense(1)]", True),
        ("Dense(1), Dense(2)", True),
        ("[Dense(n) for n in sizes]", True),
        ("dict(a=Dense(1))", True),
        ("Dense(1)", False),
        ("(one + other)", False),
        ("len([1])", False),
    ],
)
def test_a_class_that_keeps_layers_in_a_collection(value: str, keeps: bool) -> None:
    """A checkpoint of Keras 3 passes over those, and says nothing."""
    code = f"class Net:\n    def __init__(self):\n        self.layers = {value}\n"
    (node,) = ast.parse(code).body
    assert isinstance(node, ast.ClassDef)
    assert keeps_collections(node) is keeps
