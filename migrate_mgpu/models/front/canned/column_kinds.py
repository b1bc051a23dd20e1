"""Single feature columns: what each takes from the features, as facts of the IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.feature_columns import BUCKETS, COLUMNS, NUMBER, ColumnRow
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.canned.column_names import ADVICE, ColumnNames
from migrate_mgpu.models.ir import BoundExpression, FeatureColumn
from migrate_mgpu.models.properties import is_category
from migrate_mgpu.source.statements import comments_of

# A row for each bucket and number of a batch: more are a lookup's work.
_MOST = 100_000


class ColumnKinds(ColumnNames):
    """Reads single columns; ``_columns`` are those that a loop's variable stands for."""

    def __init__(self, module: Module, graph: CallGraph) -> None:
        super().__init__(module, graph)
        self._columns: dict[str, FeatureColumn] = {}
        self._readers: Mapping[str, Callable[[NamedArguments], FeatureColumn]] = {
            NUMBER: self._number,
            BUCKETS: self._buckets,
            "indicator": self._indicator,
            "embedding": self._embedding,
            "cross": self._cross,
            "vocabulary": self._vocabulary,
            "identity": self._identity,
            "hash": self._hash,
        }

    def column(self, node: ast.expr) -> FeatureColumn:
        """One column, by its constructor or a variable.

        Raises:
            Refused: a kind, or an argument, that is not known.
        """
        if isinstance(node, ast.Name) and node.id in self._columns:
            return self._columns[node.id]
        if isinstance(node, ast.Name):
            value = self.variable(node)
            column = self.column(value)
            own = comments_of(self.module.source, self.module.names.statement(value))
            return replaced(column, comments=(*own, *column.comments))
        name = tensorflow_name(self.module, node.func) if isinstance(node, ast.Call) else ""
        row = COLUMNS.by_name.get(name)
        if row is None or not isinstance(node, ast.Call):
            shown = self.module.source.code(node.func if isinstance(node, ast.Call) else node)
            raise Refused(self.module, node, f"the feature column `{shown}`", ADVICE)
        call = NamedArguments(self.module, node, row.signature)
        self._check(row, call)
        return self._readers[row.kind](call)

    def _check(self, row: ColumnRow, call: NamedArguments) -> None:
        for parameter in row.parameters:
            value = call.given(parameter.name)
            if value is not None and parameter.only and constant(value) not in parameter.only:
                raise Refused(self.module, value, parameter.reason, ADVICE)

    def _column(
        self,
        kind: str,
        call: NamedArguments,
        name: str,
        *parameters: str,
        sources: tuple[FeatureColumn | BoundExpression, ...] = (),
        size: int | None = None,
        texts: bool = False,
    ) -> FeatureColumn:
        """A column with some of its arguments, whose names are known where it is written."""
        given = {one: call.given(one) for one in parameters}
        arguments = {one: value for one, value in given.items() if value is not None}
        bound: dict[ast.AST, BoundExpression] = {}
        for value in arguments.values():
            bound.update(self.expression(value).bound)
        return FeatureColumn(
            kind, self.module, call.call, arguments, name, bound, sources, size, texts
        )

    def _key(self, call: NamedArguments) -> str:
        node = call.get("key")
        value = self.value_of(node)
        key = constant(value) if value is not None else None
        if not isinstance(key, str):
            raise Refused(
                self.module, node or call.call, "the name of this feature column is not a "
                "literal, and the columns stand in the order of their names", ADVICE,
            )  # fmt: skip
        return key

    # -- numbers --------------------------------------------------------------

    def _number(self, call: NamedArguments) -> FeatureColumn:
        size = _size(call.given("shape"))
        told = ("key", "normalizer_fn", *(("shape",) if size is None else ()))
        column = self._column(NUMBER, call, self._key(call), *told, size=size)
        function = column.arguments.get("normalizer_fn")
        if isinstance(function, ast.Lambda):
            given = function.args
            known = len(given.args) == 1 and not given.defaults and not self._varies(function)
        else:
            known = function is None or isinstance(function, (ast.Name, ast.Attribute))
        if not known and function is not None:
            raise Refused(self.module, function, "this normalizer_fn cannot be analyzed", ADVICE)
        return column

    def _buckets(self, call: NamedArguments) -> FeatureColumn:
        node, boundaries = call.given("source_column"), call.given("boundaries")
        number = self.column(node) if node is not None and boundaries is not None else None
        if number is None or number.kind != NUMBER:
            raise Refused(self.module, call.call, "buckets of no number column", ADVICE)
        if number.size != 1:
            text = "buckets of a column of several numbers"
            raise Refused(self.module, number.node, text, ADVICE)
        limits = self.value_of(boundaries)
        size = len(limits.elts) + 1 if isinstance(limits, (ast.List, ast.Tuple)) else None
        name = f"{number.name}_bucketized"
        return self._column(BUCKETS, call, name, "boundaries", sources=(number,), size=size)

    # -- categories -----------------------------------------------------------

    def _vocabulary(self, call: NamedArguments) -> FeatureColumn:
        vocabulary = call.given("vocabulary_list")
        words = self.value_of(vocabulary)
        if vocabulary is None or not isinstance(words, (ast.List, ast.Tuple)) or not words.elts:
            raise Refused(
                self.module, vocabulary or call.call, "a vocabulary that is not a list literal",
                ADVICE,
            )  # fmt: skip
        kinds = {type(constant(word)) for word in words.elts}
        if kinds not in ({str}, {int}):
            raise Refused(
                self.module, vocabulary, "what this vocabulary holds cannot be determined"
            )
        texts = kinds == {str}
        if constant(call.given("default_value")) == -1:  # no category, as without it
            call.drop("default_value")
        if constant(call.given("num_oov_buckets")) == 0:
            call.drop("num_oov_buckets")
        if call.given("num_oov_buckets") is not None and not texts:
            raise Refused(self.module, vocabulary, "numbers out of a vocabulary, hashed", ADVICE)
        given = ("key", "vocabulary_list", "default_value", "num_oov_buckets")
        size = len(words.elts)
        return self._column("vocabulary", call, self._key(call), *given, size=size, texts=texts)

    def _identity(self, call: NamedArguments) -> FeatureColumn:
        if call.given("num_buckets") is None:
            raise Refused(self.module, call.call, "a column without num_buckets")
        given = ("key", "num_buckets", "default_value")
        return self._column("identity", call, self._key(call), *given)

    def _hash(self, call: NamedArguments) -> FeatureColumn:
        dtype = call.given("dtype")
        kind = tensorflow_name(self.module, dtype) if dtype is not None else "string"
        if kind not in ("string", "int32", "int64"):
            raise Refused(
                self.module, dtype or call.call, "what is hashed here cannot be determined"
            )
        if call.given("hash_bucket_size") is None:
            raise Refused(self.module, call.call, "a column without hash_bucket_size")
        given = ("key", "hash_bucket_size")
        return self._column("hash", call, self._key(call), *given, texts=kind == "string")

    def _cross(self, call: NamedArguments) -> FeatureColumn:
        keys, size = self.value_of(call.given("keys")), call.given("hash_bucket_size")
        if not isinstance(keys, (ast.List, ast.Tuple)) or len(keys.elts) < 2 or size is None:
            raise Refused(
                self.module, call.call, "what this crossed_column crosses cannot be determined",
                "write its keys as a list",
            )  # fmt: skip
        number = _number(self.value_of(size) or size)
        if number > _MOST:
            raise Refused(
                self.module, size, f"a crossed_column of {number:.0f} buckets",
                "look its weights up in a tf.keras.layers.Embedding by hand",
            )  # fmt: skip
        names: list[str] = []
        sources: list[FeatureColumn | BoundExpression] = []
        for element in keys.elts:
            key = constant(self.value_of(element) or element)
            if isinstance(key, str):
                names.append(key)
                sources.append(self.expression(element))
                continue
            column = self.column(element)
            if column.kind != BUCKETS:
                raise Refused(
                    self.module, element, "a crossed_column of what is not a bucketized_column",
                    "cross the feature by its key",
                )  # fmt: skip
            names.append(column.name)
            sources.append(column)
        # A text or a number: a key does not say.
        texts = any(isinstance(one, BoundExpression) for one in sources)
        name, given = "_X_".join(sorted(names)), ("hash_bucket_size", "hash_key")
        return self._column("cross", call, name, *given, sources=tuple(sources), texts=texts)

    # -- what dense layers take of categories -----------------------------------

    def _of_category(self, kind: str, call: NamedArguments, *parameters: str) -> FeatureColumn:
        node = call.given("categorical_column")
        if node is None:
            raise Refused(self.module, call.call, "a column without its categorical column", ADVICE)
        category = self.column(node)
        if not is_category(category):
            raise Refused(self.module, node, "this column is not a categorical column", ADVICE)
        name, sources = f"{category.name}_{kind}", (category,)
        column = self._column(kind, call, name, *parameters, sources=sources, texts=category.texts)
        return replaced(column, comments=category.comments)

    def _indicator(self, call: NamedArguments) -> FeatureColumn:
        return self._of_category("indicator", call)

    def _embedding(self, call: NamedArguments) -> FeatureColumn:
        if call.given("dimension") is None:
            raise Refused(self.module, call.call, "an embedding without a dimension")
        initializer = call.given("initializer")
        if initializer is not None and self._varies(initializer):
            raise Refused(self.module, initializer, "this initializer cannot be analyzed", ADVICE)
        return self._of_category("embedding", call, "dimension", "initializer")


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


def _number(node: ast.expr) -> float:
    """A number that is written out, `int(1e4)` too; else 0."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int":
        node = node.args[0] if len(node.args) == 1 else node
    value = constant(node)
    return value if isinstance(value, (int, float)) else 0
