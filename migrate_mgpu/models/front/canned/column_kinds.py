"""Single feature columns: what each takes from the features, and the tensor that it makes of it.

Measured on 1.15.5: columns stand in the order of their names, a number column is cast to
float32, a category that is unknown, empty or -1 is all zeros.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.canned.categories import CategoryColumns, Column, Maker
from migrate_mgpu.models.front.canned.column_names import ADVICE
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.source.style import FileStyle

NUMERIC = "feature_column.numeric_column"
PARAMETERS = {
    NUMERIC: ("key", "shape", "default_value", "dtype", "normalizer_fn"),
    "feature_column.bucketized_column": ("source_column", "boundaries"),
    "feature_column.indicator_column": ("categorical_column",),
    "feature_column.embedding_column": (
        "categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from",
        "tensor_name_in_ckpt", "max_norm", "trainable",
    ),
    "feature_column.crossed_column": ("keys", "hash_bucket_size", "hash_key"),
    "feature_column.categorical_column_with_vocabulary_list": (
        "key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets",
    ),
    "feature_column.categorical_column_with_identity": ("key", "num_buckets", "default_value"),
    "feature_column.categorical_column_with_hash_bucket": ("key", "hash_bucket_size", "dtype"),
}  # fmt: skip


@record(frozen=True)
class Buckets:
    """Ranges of a number: its key, their limits, the number itself, how many there are."""

    key: str
    limits: str
    number: str
    size: str


class ColumnKinds(CategoryColumns):
    """Reads single columns; ``_columns`` are those that a loop's variable stands for."""

    def __init__(self, module: Module, style: FileStyle, graph: CallGraph) -> None:
        super().__init__(module, style, graph)
        self._columns: dict[str, Maker] = {}

    def column(self, node: ast.expr) -> Column:
        """One column, by its constructor or a variable.

        Raises:
            Refused: a kind, or an argument, that is not known.
        """
        if isinstance(node, ast.Name) and node.id in self._columns:
            return self._columns[node.id]()
        if isinstance(node, ast.Name):
            value = self.variable(node)
            column = self.column(value)
            own = self.comments_of(self.module.names.statement(value))
            column.comments = [*own, *column.comments]
            return column
        name = tensorflow_name(self.module, node.func) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or name not in PARAMETERS:
            shown = self.module.source.code(node.func if isinstance(node, ast.Call) else node)
            raise Refused(self.module, node, f"the feature column `{shown}`", ADVICE)
        edit = BoundCall(self.module, node, PARAMETERS[name])
        short = name.removeprefix("feature_column.").removesuffix("_column")
        made: Column = getattr(self, f"_{short}")(edit)
        return made

    def _number(self, edit: BoundCall) -> str:
        """The float32 tensor of a number column, in its own shape."""
        feature = self._feature(edit)
        function = edit.given("normalizer_fn")
        if function is not None:
            feature = self._normalized(function, feature)
        return f"{self.tf}.cast({feature}, {self.tf}.float32)"

    def _normalized(self, function: ast.expr, feature: str) -> str:
        if isinstance(function, ast.Lambda):
            arguments = function.args
            if len(arguments.args) == 1 and not arguments.defaults and not self._varies(function):
                self._known(function)
                own = arguments.args[0].arg
                context = Context(self.module, self.style, names={own: feature})
                return context.render(function.body)
        elif isinstance(function, (ast.Name, ast.Attribute)):
            return f"{self._known(function)}({feature})"
        raise Refused(self.module, function, "this normalizer_fn is not followed", ADVICE)

    def _numeric(self, edit: BoundCall) -> Column:
        key, number = self._key(edit), self._number(edit)
        shape = edit.given("shape")
        size = _size(shape)
        if size == 1:
            return Column(key, f"{self.tf}.reshape({number}, [-1, 1])")
        column = Column(key, "")
        if size is not None:
            column.expression = f"{self.tf}.reshape({number}, [-1, {size}])"
        else:
            attribute = self._attribute(key, "flatten")
            layer = f"{self.tf}.keras.layers.Flatten()"
            column.expression = self._applied(column, attribute, layer, number)
        return column

    def _bucketized(self, edit: BoundCall) -> Column:
        buckets = self._buckets(edit)
        column = Column(f"{buckets.key}_bucketized", "", rows=True)
        column.expression = (
            f"{self.tf}.one_hot({self._bucket(column, buckets, '[-1]')}, {buckets.size})"
        )
        return column

    def _applied(self, column: Column, attribute: str, layer: str, given: str) -> str:
        """A layer of a column's, applied."""
        column.layers[attribute] = layer
        return f"self.{attribute}({given})"

    def _bucket(self, column: Column, buckets: Buckets, shape: str) -> str:
        """The bucket that each number falls into, as a tensor of a shape: a list, or a column."""
        given = f"{self.tf}.reshape({buckets.number}, {shape})"
        layer = f"{self.tf}.keras.layers.Discretization({buckets.limits})"
        if layer not in self._limits:  # it has no weights: one for all of its columns
            self._limits[layer] = self._attribute(buckets.key, "buckets")
        return self._applied(column, self._limits[layer], layer, given)

    def _buckets(self, edit: BoundCall) -> Buckets:
        source = edit.given("source_column")
        if isinstance(source, ast.Name):
            source = self.variable(source)
        name = tensorflow_name(self.module, source.func) if isinstance(source, ast.Call) else ""
        boundaries = edit.given("boundaries")
        if not isinstance(source, ast.Call) or name != NUMERIC or boundaries is None:
            raise Refused(self.module, edit.call, "buckets of no number column", ADVICE)
        inner = BoundCall(self.module, source, PARAMETERS[NUMERIC])
        key = self._key(inner)
        if _size(inner.given("shape")) != 1:
            raise Refused(self.module, source, "buckets of a column of several numbers", ADVICE)
        limits = self.value_of(boundaries)
        if isinstance(limits, (ast.List, ast.Tuple)):
            size = str(len(limits.elts) + 1)
        else:
            size = f"len({self._known(boundaries)}) + 1"
        return Buckets(key, self._known(boundaries), self._number(inner), size)

    # -- categories -----------------------------------------------------------

    def _category(self, edit: BoundCall) -> Column:
        node = edit.given("categorical_column")
        if node is None:
            raise Refused(self.module, edit.call, "a column of no category", ADVICE)
        column = self.column(node)
        if not column.categorical:
            raise Refused(self.module, node, "this column is no category", ADVICE)
        column.categorical = False
        return column

    def _indicator(self, edit: BoundCall) -> Column:
        column = self._category(edit)
        column.name, column.rows = f"{column.name}_indicator", False
        return column

    def _embedding(self, edit: BoundCall) -> Column:
        self._none(edit, "ckpt_to_load_from", "tensor_name_in_ckpt", "max_norm")
        self._none(edit, "trainable", allowed=(True,))
        dimension = edit.given("dimension")
        if dimension is None:
            raise Refused(self.module, edit.call, "an embedding without a dimension")
        column = self._category(edit)
        size = self._known(dimension)
        initializer = edit.given("initializer")
        if initializer is not None:
            self._known(initializer)
            if self._varies(initializer):
                raise Refused(self.module, initializer, "this initializer is not followed", ADVICE)
            made = Context(self.module, self.style).render(initializer)
        else:
            base = f"({size})" if self._is_loose(dimension) else size
            made = f"{self.tf}.keras.initializers.TruncatedNormal(stddev={base} ** -0.5)"
        attribute = self._attribute(column.name, "embedding")
        layer = f"{self.tf}.keras.layers.Dense({size}, use_bias=False, kernel_initializer={made})"
        column.expression = self._applied(column, attribute, layer, column.expression)
        column.name, column.embeds = f"{column.name}_embedding", True
        return column


def _size(shape: ast.expr | None) -> int | None:
    """How many numbers a shape has; None where it is not written out."""
    if shape is None:
        return 1
    parts = shape.elts if isinstance(shape, (ast.List, ast.Tuple)) else [shape]
    size = 1
    for part in parts:
        value = constant(part)
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        size *= value
    return size
