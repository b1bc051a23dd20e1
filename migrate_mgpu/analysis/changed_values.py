"""Functions of TensorFlow that answer something else in TF2, by the name that they had in TF1.

``tf.compat.v1`` has them as TF2 has. Measured: each public function of 1.15 that takes plain
tensors, with the same arguments on 1.15.5, 2.15.1 and the newest (``docs/semantics.md``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.reaching_definitions import reaching

CODE = "MGPU905"
_NEGATIVE = (
    "`{}` is the negative of what it is in 1.15, which gives the similarity itself: what minimizes "
    "it trains the other way round"
)
_NEGATE = "multiply it by -1 where 1.15's direction is meant"
_COSINES = {
    *(f"keras.losses.{name}" for name in ("cosine", "cosine_proximity", "cosine_similarity")),
    "keras.losses.CosineSimilarity",
    "keras.metrics.cosine",
    "keras.metrics.cosine_proximity",
}
_STANDARDIZED = (
    "`per_image_standardization` gives float32 in TF2, and the type of its image in 1.15: for this "
    "one, which is of bytes, it was rounded, and below 0 cut to 0"
)
_STANDARDIZE = "cast the image to float32 before it: that is what TF2 computes, and what is meant"
_DECODES = tuple(f"image.decode_{kind}" for kind in ("bmp", "gif", "image", "jpeg", "png"))
# Functions that keep the type of the image that they are given.
_KEEP = (
    "image.central_crop", "image.crop_to_bounding_box", "image.flip_", "image.pad_to_bounding_box",
    "image.random_flip_", "image.resize_image_with_crop_or_pad", "image.resize_with_crop_or_pad",
    "image.rot90", "image.transpose", "random_crop", "reshape",
)  # fmt: skip


@fact_of_text
def changed_values(module: Module) -> list[Diagnostic]:
    """The calls and mentions whose value is another in TF2, each with what its owner can do."""
    found = [
        _told(module, use.node, _NEGATIVE.format("tf." + use.symbol.name), _NEGATE)
        for use in module.uses
        if use.symbol.name in _COSINES and use.symbol.flavour in ("plain", "v1")
        if not use.guarded and not isinstance(use.node, (ast.Import, ast.ImportFrom))
    ]
    found += [
        _told(module, node, _NEGATIVE.format("'cosine_similarity'"), _NEGATE)
        for node in _losses_by_name(module)
    ]
    named = {use.node: use.symbol.name for use in module.uses}
    for call in module.names.calls:
        if named.get(call.func) == "image.per_image_standardization" and call.args:
            if _whole_numbers(module, call.args[0], named):
                found.append(_told(module, call, _STANDARDIZED, _STANDARDIZE))
    return found


def _told(module: Module, node: ast.AST, text: str, advice: str) -> Diagnostic:
    return Diagnostic("value-changed", Place(module, node), text, advice, CODE)


def _losses_by_name(module: Module) -> Iterator[ast.expr]:
    """`model.compile(loss='cosine_similarity')` of tf.keras."""
    if not any(use.symbol.name.startswith("keras") for use in module.uses):
        return
    for attribute in module.names.attributes.get("compile", ()):
        call = module.names.parents[attribute]
        if isinstance(call, ast.Call) and call.func is attribute:
            given = [keyword.value for keyword in call.keywords if keyword.arg == "loss"]
            for value in given or call.args[1:2]:
                if constant(value) == "cosine_similarity":
                    yield value


def _whole_numbers(
    module: Module, image: ast.expr, named: dict[ast.AST, str], depth: int = 0
) -> bool:
    """Whether an image is surely as it was decoded: bytes, not yet cast."""
    if isinstance(image, ast.Name):
        home = module.names.defining_scope(image.id, module.names.scope_of_name[image])
        given = reaching(module.names, image, home) if home is not None and depth < 8 else []
        value = given[0].value if len(given) == 1 else None
        return value is not None and _whole_numbers(module, value, named, depth + 1)
    if not isinstance(image, ast.Call):
        return False
    name = named.get(image.func, "")
    if name in _DECODES:
        return all(keyword.arg != "dtype" for keyword in image.keywords) and len(image.args) < 3
    return (
        name.startswith(_KEEP)
        and bool(image.args)
        and _whole_numbers(module, image.args[0], named, depth)
    )
