"""Feature columns that a program makes when it runs: may TF2's model ask these objects?

``tf.feature_column`` is in TF2, and its columns say themselves what they make of a batch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.feature_columns import COLUMNS, SHARED
from migrate_mgpu.models.front.canned.column_names import LISTED
from migrate_mgpu.models.ir import SharedColumns

# Those that TF2 has, and that are the same there.
_KNOWN = {
    *COLUMNS.by_name,
    "feature_column.weighted_categorical_column",
    "feature_column.make_parse_example_spec",
}
# Those of several columns that have one table; the last four are not converted.
_SHARED_PARAMETERS = (
    "categorical_columns", "dimension", "combiner", "initializer",
    "shared_embedding_collection_name", "ckpt_to_load_from", "tensor_name_in_ckpt", "max_norm",
    "trainable",
)  # fmt: skip
_SHARED_DEFAULTS = {"max_norm": None, "trainable": True}
# What reads another file's values, which a class of Keras's does not.
_CHECKPOINTS = ("ckpt_to_load_from", "tensor_name_in_ckpt")


def may_embed(module: Module) -> bool:
    """Whether columns of a module, or of one that it imports or is imported by, may be embedded."""
    return any("embedding_column" in one.source.text for one in around(module))


def around(module: Module) -> list[Module]:
    """A module, those that it imports or is imported by, and so on."""
    found = [module]
    for one in found:  # grows as it is walked
        found += [other for other in (*one.imported, *one.importers) if other not in found]
    return found


def shared_columns(modules: Iterable[Module]) -> list[SharedColumns]:
    """What makes embedding columns of one table, in some modules and those that they import.

    Raises:
        Refused: one cannot be written for TF2.
    """
    found = list(dict.fromkeys(modules))
    for one in found:  # grows as it is walked
        found += [other for other in one.imported if other not in found]
    return [
        SharedColumns(module, _shared_call(module, use.node))
        for module in found
        for use in module.uses
        if use.symbol.name == SHARED and not isinstance(use.node, (ast.Import, ast.ImportFrom))
    ]


def _shared_call(module: Module, node: ast.AST) -> ast.Call:
    call = node if isinstance(node, ast.Call) else module.names.parents[node]
    if not isinstance(call, ast.Call) or tensorflow_name(module, call.func) != SHARED:
        text = "shared embedding columns that are made by another function"
        raise Refused(module, node, text, LISTED)
    given = BoundCall(module, call, _SHARED_PARAMETERS)
    for name in _SHARED_PARAMETERS[5:]:
        value = given.get(name)
        default = _SHARED_DEFAULTS.get(name)
        same = value is None or (is_none(value) if default is None else constant(value) is default)
        if not same:
            text = f"`{name}` of shared embedding columns is not converted"
            raise Refused(module, value or call, text, LISTED)
    if not module.writable:
        text = "shared embedding columns outside of the given paths"
        raise Refused(module, call, text, "give their folder as a path too")
    return call


def check_column_objects(module: Module, modules: Iterable[Module], node: ast.expr) -> None:
    """Whether all columns of a run are TensorFlow's own, and the same in TF2.

    ``modules`` are those of the Estimator; those that they import are looked at as well.

    Raises:
        Refused: one that is not known, or a list that is none.
    """
    if tensorflow_name(module, node.func if isinstance(node, ast.Call) else node) in _KNOWN:
        raise Refused(module, node, "a feature column in the place of a list", LISTED)
    found = list(dict.fromkeys(modules))
    for one in found:  # grows as it is walked
        found += [other for other in one.imported if other not in found]
        _check_module(one)


def _check_module(module: Module) -> None:
    if "column" not in module.source.text:
        return
    for use in module.uses:
        name = use.symbol.name
        if name == SHARED:
            continue  # whoever asks these columns has looked at what makes them
        if "feature_column" in name and name != "feature_column" and name not in _KNOWN:
            own = use.symbol.flavour == "private"  # asked by `isinstance`
            if not own and name != "feature_column.input_layer":  # that is a model_fn's
                raise Refused(module, use.node, f"the feature column `tf.{name}`", LISTED)
    for call in module.names.calls:
        name = tensorflow_name(module, call.func)
        if name in _KNOWN:
            for keyword in call.keywords:
                if keyword.arg in _CHECKPOINTS and not is_none(keyword.value):
                    text = f"`{keyword.arg}` of a feature column is not converted"
                    raise Refused(module, keyword.value, text, LISTED)
            if len(call.args) > 4 and name == "feature_column.embedding_column":
                raise Refused(module, call, "an embedding_column with many arguments by place")
            continue
        if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_column"):
            if not name and _is_elsewhere(module, call.func.value):
                shown = module.source.code(call.func)
                raise Refused(module, call, f"the feature column `{shown}`", LISTED)


def _is_elsewhere(module: Module, node: ast.expr) -> bool:
    """Whether an attribute is one of another package's modules: `hub.text_embedding_column`."""
    if not isinstance(node, ast.Name) or constant(node) is not None:
        return False
    binding = module.names.only_binding(node)
    return binding is not None and bool(binding.qualname)
