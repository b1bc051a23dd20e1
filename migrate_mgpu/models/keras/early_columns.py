"""`isinstance(column, feature_column._NumericColumn)`: classes that columns had before TF 1.13.

What `tf.feature_column` makes since then are `NumericColumn`s of `feature_column_v2`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module

FOLDER = "tensorflow.python.feature_column"

# Classes of columns that `tf.feature_column` made before 1.13.
_COLUMNS = {
    "_BucketizedColumn", "_CrossedColumn", "_EmbeddingColumn", "_HashedCategoricalColumn",
    "_IdentityCategoricalColumn", "_IndicatorColumn", "_NumericColumn",
    "_VocabularyFileCategoricalColumn", "_VocabularyListCategoricalColumn",
    "_WeightedCategoricalColumn",
}  # fmt: skip


def asked_classes(module: Module, statement: ast.ImportFrom) -> list[ast.Attribute]:
    """Every mention of what an import brings, where all are such classes; none otherwise."""
    names = module.names
    alias = statement.names[0]
    local = alias.asname or alias.name
    bindings = names.module_scope.bindings.get(local, ())
    plain = statement.module == FOLDER and statement in module.tree.body
    if not plain or len(statement.names) != 1 or alias.name != "feature_column":
        return []
    if len(bindings) != 1:
        return []
    uses = [names.parents[one] for one in names.mentions(local, names.module_scope)]
    asked = [one for one in uses if isinstance(one, ast.Attribute) and one.attr in _COLUMNS]
    return asked if len(asked) == len(uses) else []


def is_asked_class(module: Module, node: ast.AST) -> bool:
    """Whether a name is such a class, and gets the import and the name that 1.15 has."""
    return isinstance(node, ast.Attribute) and any(
        node in asked_classes(module, statement)
        for statement in module.tree.body
        if isinstance(statement, ast.ImportFrom)
    )
