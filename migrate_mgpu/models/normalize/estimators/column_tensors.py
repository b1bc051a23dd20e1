"""Feature columns as the tensors that they are of a batch's features, in functions of ``tf``.

Measured on 1.15.5: columns stand in the order of their names, a number column is cast to
float32, a category is ones and zeros, all zeros where it is unknown, empty or -1, whatever
becomes of unknown ones; a number is hashed as its text. ``tf.sparse.cross_hashed`` of 1.15, 2.15
and 2.21 puts every combination into 1.15's own bucket of a crossed column where the columns of
buckets stand before the features that are given by their keys.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping
from keyword import iskeyword

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.feature_columns import BUCKETS, NUMBER
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.ir import BoundExpression, FeatureColumn
from migrate_mgpu.models.properties import needs_brackets
from migrate_mgpu.source.blocks import render
from migrate_mgpu.source.new_code import Call, Code, Items, call, items
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

ORDER = "# Feature columns stand in the order of their names."
_IN_CALL = ("column", "columns", "features", "net", "self", "terms", "training")


@record()
class Tensor:
    """A column's tensor.

    ``layers`` are attributes with the constructors of their layers, ``before`` the variables
    that the expression needs, with their values in order.
    """

    column: FeatureColumn
    expression: Code = ""
    layers: dict[str, Code] = field(default_factory=dict)
    before: list[tuple[str, Code]] = field(default_factory=list)


class ColumnTensors:
    """Writes columns; ``features`` is the name of the features there."""

    def __init__(self, module: Module, style: FileStyle, features: str = "features") -> None:
        self.module = module
        self.style = style
        self.tf = style.tensorflow
        self.features = features
        self._attributes: set[str] = set()
        self._writers: Mapping[str, Callable[[Tensor, FeatureColumn], Code]] = {
            NUMBER: self._number,
            BUCKETS: self._buckets,
            "indicator": self._indicator,
            "embedding": self._embedding,
            "cross": self._cross,
            "vocabulary": self._vocabulary,
            "identity": self._identity,
            "hash": self._hash,
        }

    def write(self, columns: Iterable[FeatureColumn]) -> list[Tensor]:
        """The tensors of columns, in TF1's order."""
        return sorted(map(self._tensor, columns), key=lambda tensor: tensor.column.name)

    def text(self, expression: BoundExpression) -> str:
        """An expression of the author's, with what its names stand for."""
        source = expression.module.source
        edits = [
            Edit(*source.span(name), text) for name, text in self.stand_ins(expression).items()
        ]
        return self.with_item(expression, render(source, expression.node, edits))

    def stand_ins(self, expression: BoundExpression) -> dict[ast.AST, str]:
        """What stands for the names in an expression that mean something else elsewhere."""
        found: dict[ast.AST, str] = {}
        for name, meant in expression.bound.items():
            text = self.text(meant)
            inside = needs_brackets(meant) and name is not expression.node
            found[name] = f"({text})" if inside else text
        return found

    def with_item(self, expression: BoundExpression, text: str) -> str:
        return text if expression.item is None else f"{text}[{self.text(expression.item)}]"

    # -- names, and what layers are where columns are written -------------------

    def attribute(self, key: str, suffix: str) -> str:
        """A new attribute's name."""
        base = "".join(c if c.isalnum() else "_" for c in key).strip("_").lower() or "feature"
        name = f"{base}_{suffix}"
        while name in self._attributes or name[0].isdigit():
            name = f"_{name}" if name[0].isdigit() else f"{name}_"
        self._attributes.add(name)
        return name

    def _local(self, wished: str) -> str:
        """A variable of `call`'s, none of whose other names it is."""
        name = self.attribute(wished, "local").removesuffix("_local")
        taken = name in self.module.names.module_scope.bindings or hasattr(builtins, name)
        return f"{name}_values" if taken or name in _IN_CALL or iskeyword(name) else name

    def applied(self, tensor: Tensor, attribute: str, layer: Code, given: Code) -> Code:
        """A layer of a column's, applied."""
        raise NotImplementedError

    def bucket(self, tensor: Tensor, buckets: FeatureColumn, number: Code, shape: str) -> Code:
        """The bucket that each number falls into, as a tensor of a shape: a list, or a column."""
        raise NotImplementedError

    # -- columns by their kinds ---------------------------------------------------

    def _tf(self, function: str, *arguments: Code) -> Call:
        return call(f"{self.tf}.{function}", *arguments)

    def _cast(self, value: Code, dtype: str = "float32") -> Call:
        return self._tf("cast", value, f"{self.tf}.{dtype}")

    def _feature(self, key: BoundExpression) -> str:
        return f"{self.features}[{self.text(key)}]"

    def _tensor(self, column: FeatureColumn) -> Tensor:
        tensor = Tensor(column)
        tensor.expression = self._writers[column.kind](tensor, column)
        return tensor

    def _float(self, column: FeatureColumn) -> Call:
        """The float32 tensor of a number column, in its own shape."""
        feature: Code = self._feature(column.argument("key"))
        if "normalizer_fn" in column.arguments:
            feature = self.normalized(column.argument("normalizer_fn"), str(feature))
        return self._cast(feature)

    def normalized(self, function: BoundExpression, feature: str) -> Code:
        """What an author's function makes of a feature."""
        node = function.node
        if not isinstance(node, ast.Lambda):
            return call(self.text(function), feature)
        source, own = function.module.source, node.args.args[0].arg
        names = [n for n in ast.walk(node.body) if isinstance(n, ast.Name) and n.id == own]
        edits = [Edit(*source.span(name), feature) for name in names]
        return render(source, node.body, edits)

    def _number(self, tensor: Tensor, column: FeatureColumn) -> Code:
        size = str(column.size)
        if column.size is None:  # a batch may not tell it: `tf.decode_raw` does not
            shape = self._tf("TensorShape", self.text(column.argument("shape")))
            size = f"{shape}.num_elements()"
        return self._tf("reshape", self._float(column), f"[-1, {size}]")

    def _buckets(self, tensor: Tensor, column: FeatureColumn) -> Code:
        size = str(column.size)
        if column.size is None:
            size = f"len({self.text(column.argument('boundaries'))}) + 1"
        return self._tf("one_hot", self._bucket_of(tensor, column, "[-1]"), size)

    def _bucket_of(self, tensor: Tensor, column: FeatureColumn, shape: str) -> Code:
        return self.bucket(tensor, column, self._float(self._source(column)), shape)

    def _source(self, column: FeatureColumn) -> FeatureColumn:
        """The one column that another one is made of."""
        (source,) = column.sources
        assert isinstance(source, FeatureColumn)
        return source

    def limits(self, buckets: FeatureColumn) -> Code:
        """The limits of buckets, as their author wrote them."""
        given = buckets.argument("boundaries")
        text = self.text(given)
        if not isinstance(given.node, ast.List):
            return text
        elements = (BoundExpression(given.module, one, given.bound) for one in given.node.elts)
        return Items(text, tuple(map(self.text, elements)))

    def _indicator(self, tensor: Tensor, column: FeatureColumn) -> Code:
        category = self._source(column)
        return self._writers[category.kind](tensor, category)

    def _embedding(self, tensor: Tensor, column: FeatureColumn) -> Code:
        category = self._indicator(tensor, column)
        dimension = column.argument("dimension")
        size = self.text(dimension)
        if "initializer" in column.arguments:
            made = self.text(column.argument("initializer"))
        else:
            base = f"({size})" if needs_brackets(dimension) else size
            made = f"{self.tf}.keras.initializers.TruncatedNormal(stddev={base} ** -0.5)"
        attribute = self.attribute(self._source(column).name, "embedding")
        more = ("use_bias=False", f"kernel_initializer={made}")
        return self.applied(
            tensor, attribute, self._tf("keras.layers.Dense", size, *more), category
        )

    def _vocabulary(self, tensor: Tensor, column: FeatureColumn) -> Code:
        known = self.text(column.argument("vocabulary_list"))
        feature = self._tf("reshape", self._feature(column.argument("key")), "[-1, 1]")
        default, hashed = (
            self.text(column.argument(name)) if name in column.arguments else None
            for name in ("default_value", "num_oov_buckets")
        )
        if default is None and hashed is None:
            return self._cast(f"{feature} == {known}")
        name = self._local(column.name)
        listed, missing = f"{name}_known", self._missing(column)
        tensor.before += [(name, feature), (listed, f"{name} == {known}")]
        other = self._tf("reduce_any", listed, "axis=1", "keepdims=True")
        unknown = f"{other} | ({name} == {missing})"
        ones = self._cast(listed)
        if default is not None:
            rows = self._tf("one_hot", default, str(column.size))
            return self._tf("where", unknown, ones, rows)
        assert hashed is not None
        # The unknown ones share some more rows, by their hash.
        bucket = self._tf("strings.to_hash_bucket_fast", name, hashed)
        tensor.before.append((name, self._tf("where", unknown, self._none(), bucket)))
        rows = self._tf("one_hot", f"{name}[:, 0]", hashed)
        return self._tf("concat", items(ones, rows), "axis=1")

    def _missing(self, column: FeatureColumn) -> str:
        """The value that is no category."""
        return self.style.string("") if column.texts else "-1"

    def _none(self) -> Call:
        return self._tf("constant", "-1", f"{self.tf}.int64")

    def _identity(self, tensor: Tensor, column: FeatureColumn) -> Code:
        size = self.text(column.argument("num_buckets"))
        # Keras 3 builds a model under a strategy with a mean of batches: with floats.
        feature = self._cast(self._feature(column.argument("key")), "int64")
        number = self._tf("reshape", feature, "[-1]")
        if "default_value" not in column.arguments:
            return self._tf("one_hot", number, size)
        name, default = self._local(column.name), self.text(column.argument("default_value"))
        outside = f"({name} < -1) | ({name} >= {size})"
        other = self._tf("constant", default, f"{self.tf}.int64")
        tensor.before += [(name, number), (name, self._tf("where", outside, other, name))]
        return self._tf("one_hot", name, size)

    def _hash(self, tensor: Tensor, column: FeatureColumn) -> Code:
        size, name = self.text(column.argument("hash_bucket_size")), self._local(column.name)
        feature: Code = self._feature(column.argument("key"))
        given: Code = name
        if not column.texts:
            feature, given = self._cast(feature, "int64"), self._tf("strings.as_string", name)
        hashed = self._tf("strings.to_hash_bucket_fast", given, size)
        missing = f"{name} == {self._missing(column)}"
        tensor.before += [
            (name, self._tf("reshape", feature, "[-1]")),
            (name, self._tf("where", missing, self._none(), hashed)),
        ]
        return self._tf("one_hot", name, size)

    def _cross(self, tensor: Tensor, column: FeatureColumn) -> Code:
        first: list[Code] = []
        last: list[Code] = []
        for one in column.sources:
            if isinstance(one, BoundExpression):
                last.append(self._tf("reshape", self._feature(one), "[-1, 1]"))
            else:
                first.append(self._bucket_of(tensor, one, "[-1, 1]"))
        size = self.text(column.argument("hash_bucket_size"))
        given: list[Code] = [items(*first, *last), size]
        if "hash_key" in column.arguments:
            given.append(f"hash_key={self.text(column.argument('hash_key'))}")
        name = self._local(column.name.replace("_X_", "_x_"))
        tensor.before.append((name, self._tf("sparse.cross_hashed", *given)))
        return self._tf("one_hot", f"{name}.values", size)
