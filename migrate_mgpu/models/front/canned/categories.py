"""Feature columns of categories: each is the rows of a table that a batch uses, as ones and zeros.

Measured on 1.15.5: an empty text and -1 are no category, whatever becomes of unknown ones; a
number is hashed as its text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import tensorflow_name
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.canned.column_names import ADVICE, ColumnNames


@record()
class Column:
    """One column: its name in TF1, the layers it needs, the expression of its tensor.

    ``layers`` are attributes with the constructors of their layers. ``before`` are
    statements that ``call`` needs above the expression. ``categorical``: a category, which
    only a linear model takes as it is. ``texts``: it reads strings. ``embeds``: TF1
    updates only the rows that a batch uses; ``rows``: so it does in a linear model.
    """

    name: str
    expression: str
    layers: dict[str, str] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    categorical: bool = False
    texts: bool = False
    embeds: bool = False
    rows: bool = False


Maker = Callable[[], Column]


class CategoryColumns(ColumnNames):
    """Reads columns of categories."""

    def _categorical_column_with_vocabulary_list(self, edit: BoundCall) -> Column:
        key, tf = self._key(edit), self.tf
        vocabulary = edit.given("vocabulary_list")
        words = self.value_of(vocabulary)
        if vocabulary is None or not isinstance(words, (ast.List, ast.Tuple)) or not words.elts:
            raise Refused(
                self.module, vocabulary or edit.call, "a vocabulary that is not written out as a "
                "list", ADVICE,
            )  # fmt: skip
        kinds = {type(constant(word)) for word in words.elts}
        if kinds not in ({str}, {int}):
            raise Refused(self.module, vocabulary, "what this vocabulary holds cannot be told")
        texts = kinds == {str}
        missing = self.style.string("") if texts else "-1"
        known = self._known(vocabulary)
        if isinstance(vocabulary, ast.Tuple) and not known.startswith("("):
            known = f"({known})"
        feature = f"{tf}.reshape({self._feature(edit)}, [-1, 1])"
        column = Column(key, "", categorical=True, rows=True, texts=texts)
        default, hashed = self._unknown(edit)
        if default is None and hashed is None:
            column.expression = f"{tf}.cast({feature} == {known}, {tf}.float32)"
            return column
        if hashed is not None and not texts:
            raise Refused(self.module, vocabulary, "numbers out of a vocabulary, hashed", ADVICE)
        name = self._local(key)
        listed = f"{name}_known"
        column.before = [f"{name} = {feature}", f"{listed} = {name} == {known}"]
        other = f"{tf}.reduce_any({listed}, axis=1, keepdims=True) | ({name} == {missing})"
        if default is not None:
            column.expression = (
                f"{tf}.where({other}, {tf}.cast({listed}, {tf}.float32), "
                f"{tf}.one_hot({default}, {len(words.elts)}))"
            )
            return column
        # The unknown ones share some more rows, by their hash.
        none = f"{tf}.constant(-1, {tf}.int64)"
        column.before.append(
            f"{name} = {tf}.where({other}, {none}, "
            f"{tf}.strings.to_hash_bucket_fast({name}, {hashed}))"
        )
        column.expression = (
            f"{tf}.concat([{tf}.cast({listed}, {tf}.float32), "
            f"{tf}.one_hot({name}[:, 0], {hashed})], axis=1)"
        )
        return column

    def _unknown(self, edit: BoundCall) -> tuple[str | None, str | None]:
        """The row of unknown words, or the number of rows that they share; mostly neither."""
        default, hashed = edit.given("default_value"), edit.given("num_oov_buckets")
        if default is not None and constant(default) == -1:
            default = None
        if hashed is not None and constant(hashed) == 0:
            hashed = None
        return (
            None if default is None else self._known(default),
            None if hashed is None else self._known(hashed),
        )

    def _categorical_column_with_identity(self, edit: BoundCall) -> Column:
        tf, buckets, default = (
            self.tf,
            edit.given("num_buckets"),
            edit.given("default_value"),
        )
        if buckets is None:
            raise Refused(self.module, edit.call, "a column without num_buckets")
        size, key = self._known(buckets), self._key(edit)
        # Keras 3 builds a model under a strategy with a mean of batches: with floats.
        feature = f"{tf}.cast({self._feature(edit)}, {tf}.int64)"
        feature = f"{tf}.reshape({feature}, [-1])"
        if default is None:
            expression = f"{tf}.one_hot({feature}, {size})"
            return Column(key, expression, categorical=True, rows=True)
        name = self._local(key)
        outside = f"({name} < -1) | ({name} >= {size})"
        other = f"{tf}.constant({self._known(default)}, {tf}.int64)"
        before = [f"{name} = {feature}", f"{name} = {tf}.where({outside}, {other}, {name})"]
        expression = f"{tf}.one_hot({name}, {size})"
        return Column(key, expression, {}, before, categorical=True, rows=True)

    def _categorical_column_with_hash_bucket(self, edit: BoundCall) -> Column:
        key, dtype, buckets = self._key(edit), edit.given("dtype"), edit.given("hash_bucket_size")
        kind = tensorflow_name(self.module, dtype) if dtype is not None else "string"
        if kind not in ("string", "int32", "int64"):
            raise Refused(self.module, dtype or edit.call, "what is hashed here cannot be told")
        if buckets is None:
            raise Refused(self.module, edit.call, "a column without hash_bucket_size")
        size, tf, texts = self._known(buckets), self.tf, kind == "string"
        name = self._local(key)
        feature = self._feature(edit)
        if not texts:
            feature = f"{tf}.cast({feature}, {tf}.int64)"
        given = name if texts else f"{tf}.strings.as_string({name})"
        missing = self.style.string("") if texts else "-1"
        hashed = f"{tf}.strings.to_hash_bucket_fast({given}, {size})"
        none = f"{tf}.constant(-1, {tf}.int64)"
        before = [
            f"{name} = {tf}.reshape({feature}, [-1])",
            f"{name} = {tf}.where({name} == {missing}, {none}, {hashed})",
        ]
        expression = f"{tf}.one_hot({name}, {size})"
        return Column(key, expression, {}, before, categorical=True, rows=True, texts=texts)
