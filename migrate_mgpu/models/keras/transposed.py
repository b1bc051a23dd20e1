"""Transposed convolutions, whose shapes TF2 does not know as TF1 did.

`tf.nn.conv2d_transpose(x, w, output_shape=[8, 4, 4, 3], ...)` has that shape in TF1; in TF2 the
size of the batch is that of `x`, which may not be known. `tf.reshape(net, net.get_shape())` relies
on it.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.functions import FUNCTIONS
from migrate_mgpu.api.tables import name_of

TRANSPOSED = "nn.conv2d_transpose"
# What a shape may be made of that is written once more.
_PLAIN = (
    ast.Name, ast.Attribute, ast.Constant, ast.List, ast.Tuple, ast.BinOp, ast.UnaryOp,
    ast.Subscript, ast.Slice, ast.Starred, ast.keyword, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


def told_shape(module: Module, node: ast.AST) -> ast.expr | None:
    """What a transposed convolution says that its shape is, where its module asks for shapes.

    None for anything else, and where the convolution is given that shape already.
    """
    if not isinstance(node, ast.Call) or name_of(module, node) != TRANSPOSED:
        return None
    shape = NamedArguments(module, node, FUNCTIONS.by_name[TRANSPOSED].signature).get(
        "output_shape"
    )
    if shape is None or not _asks_for_shapes(module):
        return None
    for part in walk(shape):
        if isinstance(part, ast.Call):
            if not name_of(module, part) and module.names.qualname(part.func) != "builtins.int":
                return None
        elif not isinstance(part, _PLAIN):
            return None
    around = module.names.parents.get(node)
    if isinstance(around, ast.Call) and name_of(module, around) == "reshape":
        if len(around.args) > 1 and ast.dump(around.args[1]) == ast.dump(shape):
            return None
    return shape


@fact_of_text
def _asks_for_shapes(module: Module) -> bool:
    """Whether a module asks tensors for more than one of their sizes behind the first."""
    names = module.names
    asked = [*names.attributes.get("get_shape", ())]
    for one in names.attributes.get("shape", ()):
        taker = names.taker(one)
        if taker is not None and name_of(module, taker):
            asked.append(one)
    for one in asked:
        parent = names.parents.get(one)
        while isinstance(parent, (ast.Call, ast.Attribute)) and not (
            isinstance(parent, ast.Call) and parent.args
        ):
            parent = names.parents.get(parent)
        size = constant(parent.slice) if isinstance(parent, ast.Subscript) else None
        if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.UnaryOp):
            continue  # the last
        if not isinstance(size, int) or size == 0:
            return True
    return False
