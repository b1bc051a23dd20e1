"""Functions of the author's that make a dataset, and do nothing else to TensorFlow."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import Function, Reference
from migrate_mgpu.analysis.scopes import walk

# Of a dataset, that has them in TF2 as well.
_DATA = ("data.Dataset", "data.TextLineDataset", "data.TFRecordDataset", "examples.tutorials.mnist")


def is_thrown_away(reference: Reference) -> bool:
    """Whether nothing takes what a call gives."""
    call = reference.call
    return call is not None and isinstance(reference.module.names.parents[call], ast.Expr)


def only_makes_data(function: Function) -> bool:
    """Whether all that a function says to TensorFlow makes a dataset, which TF2 makes in the same
    words, and which nothing runs here."""
    module = function.module
    own = {*walk(function.node)}
    names = [use.symbol.name for use in module.uses if use.node in own]
    return bool(names) and all(name.startswith(_DATA) for name in names)
