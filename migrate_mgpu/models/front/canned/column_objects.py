"""Feature columns that a program makes when it runs: may TF2's model ask these objects?

``tf.feature_column`` is in TF2, and its columns say themselves what they make of a batch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.feature_columns import COLUMNS
from migrate_mgpu.models.front.canned.column_names import LISTED

# Those that TF2 has, and that are the same there.
_KNOWN = {
    *COLUMNS.by_name,
    "feature_column.weighted_categorical_column",
    "feature_column.make_parse_example_spec",
}
# What reads another file's values, which a class of Keras's does not.
_CHECKPOINTS = ("ckpt_to_load_from", "tensor_name_in_ckpt")


def may_embed(module: Module) -> bool:
    """Whether columns of a module, or of one that it imports or is imported by, may be embedded."""
    found = [module]
    for one in found:  # grows as it is walked
        found += [other for other in (*one.imported, *one.importers) if other not in found]
    return any("embedding_column" in one.source.text for one in found)


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
