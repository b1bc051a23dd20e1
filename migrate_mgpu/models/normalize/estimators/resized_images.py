"""Images that `tf.image.resize_images` resizes: a function of the program's own does what TF1 did.

TF2's `tf.image.resize` samples at half pixels. The operations themselves are the same in both, so
the function calls these, for one image or for several, and leaves those of this size as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.definitions import defined_above
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit

RESIZES = "image.resize"
_PARAMETERS = (
    "images", "size", "method", "align_corners", "preserve_aspect_ratio", "name",
)  # fmt: skip
# The operation of each method, as TF1 numbers and calls them, and what its function is called.
_METHODS = {
    "BILINEAR": ("resize_bilinear", "resize_images", "Bilinear resizing"),
    "NEAREST_NEIGHBOR": ("resize_nearest_neighbor", "resize_to_nearest", "Nearest neighbors"),
    "BICUBIC": ("resize_bicubic", "resize_cubically", "Bicubic resizing"),
    "AREA": ("resize_area", "resize_by_area", "Resizing by area"),
}
_TEXT = '''\
def {name}(images, size):
    """{what} of one image or of several; those of this size stay as they are."""
    images, size = {tf}.convert_to_tensor(images), {tf}.convert_to_tensor(size, {tf}.int32)
    single = images.shape.ndims == 3
    batch = {tf}.expand_dims(images, 0) if single else images
    known = {tf}.get_static_value(size)
    if known is not None and batch.shape[1:3].as_list() == list(known):
        return images
    resized = {tf}.image.{operation}(batch, size{aligned})
    return resized[0] if single else resized'''


@record(frozen=True)
class _Resizing:
    """A call that is understood: its method, and whether the corners stay where they are."""

    call: ast.Call
    method: str
    aligned: bool


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of all such calls in the programs that make an Estimator."""
    inside = {
        module
        for program in graph.project.programs()
        if flow.module in program.modules
        for module in program.modules
    }
    found: dict[Module, list[Edit]] = {}
    for module in sorted(inside, key=lambda one: str(one.path)):
        calls = list(_calls(module)) if module.writable else []
        if calls:
            found[module] = _edits(module, calls)
    return found


def _calls(module: Module) -> Iterator[_Resizing]:
    for call in module.names.calls:
        if name_of(module, call) != RESIZES:
            continue
        given = BoundCall(module, call, _PARAMETERS)
        method = _method(module, given.get("method"))
        aligned, kept = (
            False if node is None else constant(node)
            for node in (given.get("align_corners"), given.get("preserve_aspect_ratio"))
        )
        if method is not None and isinstance(aligned, bool) and kept is False:
            yield _Resizing(call, method, aligned)


def _method(module: Module, node: ast.expr | None) -> str | None:
    if node is None:
        return "BILINEAR"
    number = constant(node)
    if isinstance(number, int):
        return dict(enumerate(_METHODS)).get(number)
    head, _, last = name_of(module, node).rpartition(".")
    return last if head == "image.ResizeMethod" and last in _METHODS else None


def _edits(module: Module, calls: list[_Resizing]) -> list[Edit]:
    """Each call asks a function, which stands above the first statement of the file with one."""
    names = module.names
    found: list[Edit] = []
    style = style_at(module, calls[0].call)
    called: dict[tuple[str, bool], str] = {}
    for one in calls:
        _, name, _ = _METHODS[one.method]
        key = one.method, one.aligned
        if key not in called:
            wanted = f"{name}_by_corners" if one.aligned else name
            called[key] = names.fresh(names.module_scope, wanted)
        edit = BoundCall(module, one.call, _PARAMETERS)
        edit.function(called[key])
        edit.drop("method", "align_corners", "preserve_aspect_ratio", "name")
        found += edit.edits()
    texts = [
        style.code(
            _TEXT.replace("{operation}", _METHODS[method][0])
            .replace("{what}", _METHODS[method][2])
            .replace("{aligned}", ", align_corners=True" if aligned else ""),
            name=name,
        )
        for (method, aligned), name in called.items()
    ]
    first = min(calls, key=lambda one: one.call.lineno).call
    above = [first, *names.ancestors(first)][-2]
    assert isinstance(above, ast.stmt)
    return [defined_above(module, above, texts), *found]
