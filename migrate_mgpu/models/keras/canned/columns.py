"""Feature columns in a Keras model: their layers are its attributes."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.ir import BoundExpression, FeatureColumn
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.normalize.estimators.column_tensors import ColumnTensors, Tensor
from migrate_mgpu.source.new_code import Code, call
from migrate_mgpu.source.style import FileStyle


class ModelColumns(ColumnTensors):
    """Writes columns for a model's `call`."""

    def __init__(self, module: Module, style: FileStyle) -> None:
        super().__init__(module, style)
        self._limits: dict[str, str] = {}  # layers of buckets, and their attributes

    def text(self, expression: BoundExpression) -> str:
        replaced = {name: _as(text) for name, text in self.stand_ins(expression).items()}
        module, node = expression.module, expression.node
        if replaced:
            text = Context(module, self.style, replaced=replaced).render(node)
        else:
            text = text_of(module, node)
        return self.with_item(expression, text)

    def normalized(self, function: BoundExpression, feature: str) -> Code:
        node = function.node
        if not isinstance(node, ast.Lambda):
            return super().normalized(function, feature)
        own = node.args.args[0].arg
        return Context(function.module, self.style, names={own: feature}).render(node.body)

    def applied(self, tensor: Tensor, attribute: str, layer: Code, given: Code) -> Code:
        tensor.layers[attribute] = layer
        return call(f"self.{attribute}", given)

    def bucket(self, tensor: Tensor, buckets: FeatureColumn, number: Code, shape: str) -> Code:
        layer = call(f"{self.tf}.keras.layers.Discretization", self.limits(buckets))
        if str(layer) not in self._limits:  # it has no weights: one for all of its columns
            key = buckets.name.removesuffix("_bucketized")
            self._limits[str(layer)] = self.attribute(key, "buckets")
        given = call(f"{self.tf}.reshape", number, shape)
        return self.applied(tensor, self._limits[str(layer)], layer, given)


def _as(text: str) -> Replacement:
    return lambda context: text
