"""Crossed feature columns: one category of several.

Measured on 1.15.5, 2.15 and 2.21: ``tf.sparse.cross_hashed`` puts every combination into 1.15's
own bucket where the columns of buckets stand before the features that are given by their keys.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import tensorflow_name
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.models.front.canned.categories import Column
from migrate_mgpu.models.front.canned.column_kinds import PARAMETERS, Buckets, ColumnKinds

_BUCKETS = "feature_column.bucketized_column"
# A row for each bucket and number of a batch: more are a lookup's work.
_MOST = 100_000


class CrossedColumns(ColumnKinds):
    """Reads crossed columns besides the others."""

    def _crossed(self, edit: BoundCall) -> Column:
        keys = self.value_of(edit.given("keys"))
        size_given = edit.given("hash_bucket_size")
        if not isinstance(keys, (ast.List, ast.Tuple)) or len(keys.elts) < 2 or size_given is None:
            raise Refused(
                self.module, edit.call, "what this crossed_column crosses cannot be told",
                "write its keys as a list",
            )  # fmt: skip
        size = _number(self.value_of(size_given) or size_given)
        if size > _MOST:
            raise Refused(
                self.module, size_given, f"a crossed_column of {size:.0f} buckets",
                "look its weights up in a tf.keras.layers.Embedding by hand",
            )  # fmt: skip
        names: list[str] = []
        column = Column("", "", categorical=True, rows=True)
        first: list[str] = []
        last: list[str] = []
        for element in keys.elts:
            name = constant(self.value_of(element) or element)
            if isinstance(name, str):
                names.append(name)
                feature = f"{self.features}[{self._known(element)}]"
                last.append(f"{self.tf}.reshape({feature}, [-1, 1])")
                continue
            buckets = self._bucketized_part(element)
            names.append(f"{buckets.key}_bucketized")
            first.append(self._bucket(column, buckets, "[-1, 1]"))
        given = [self._known(size_given)]
        hash_key = edit.given("hash_key")
        if hash_key is not None:
            given.append(f"hash_key={self._known(hash_key)}")
        name = self._local("_x_".join(sorted(names)))
        crossed = f"{self.tf}.sparse.cross_hashed([{', '.join(first + last)}], {', '.join(given)})"
        column.name = "_X_".join(sorted(names))
        column.expression = f"{self.tf}.one_hot({name}.values, {given[0]})"
        column.before.append(f"{name} = {crossed}")
        column.texts = bool(last)  # or numbers: a key does not say
        return column

    def _bucketized_part(self, node: ast.expr) -> Buckets:
        value = self.variable(node) if isinstance(node, ast.Name) else node
        known = isinstance(value, ast.Call) and tensorflow_name(self.module, value.func) == _BUCKETS
        if not isinstance(value, ast.Call) or not known:
            raise Refused(
                self.module, node, "a crossed_column of a category that is no buckets",
                "cross the feature by its key",
            )  # fmt: skip
        return self._buckets(BoundCall(self.module, value, PARAMETERS[_BUCKETS]))


def _number(node: ast.expr) -> float:
    """A number that is written out, `int(1e4)` too; else 0."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int":
        node = node.args[0] if len(node.args) == 1 else node
    value = constant(node)
    return value if isinstance(value, (int, float)) else 0
