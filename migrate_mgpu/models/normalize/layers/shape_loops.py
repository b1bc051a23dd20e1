"""Loops that make layers as long as a sequence is: how often is told by what is fed.

    while net.get_shape().as_list()[1] >= 2:
        net = block(net)

becomes `for _ in range(5):`, where what is fed says how long it is, and convolutions and pools say
how they change that. In TF2 layers are made before there is a tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Optional

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import given_once, session_calls
from migrate_mgpu.models.normalize.layers.static_sizes import ALIKE, LAYERS_ALIKE, asked_of
from migrate_mgpu.source.source import Edit

_MANY = 100  # turns: more layers has no program
_TIME = 1
_CONV = "layers.conv1d"
_POOL = "layers.max_pooling1d"
_SIGNATURES: Mapping[str, Sequence[str]] = {
    _CONV: ("inputs", "filters", "kernel_size", "strides", "padding", "data_format",
            "dilation_rate"),
    _POOL: ("inputs", "pool_size", "strides", "padding", "data_format", "name"),
}  # fmt: skip
Lengths = dict[str, Optional[int]]


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such loop; none where there is none."""
    if "while " not in module.source.text or not session_calls(module):
        return []
    for node in module.names.parents:
        if isinstance(node, ast.While) and not node.orelse:
            count = _turns(module, node)
            if count is not None:
                source = module.source
                start, end = source.span(node)[0], source.span(node.test)[1]
                names = {part.id for part in walk(node) if isinstance(part, ast.Name)}
                each = (
                    "_"
                    if "_" not in names
                    else module.names.fresh(module.names.scope_at(node), "turn")
                )
                return [Edit(start, end, f"for {each} in range({count})")]
    return []


def _turns(module: Module, loop: ast.While) -> int | None:
    """How many turns a loop has; None where that is not known."""
    test, body = loop.test, loop.body
    function = next(
        (one for one in module.names.ancestors(loop) if isinstance(one, ast.FunctionDef)), None
    )
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or function is None:
        return None
    asked, limit = test.left, constant(test.comparators[0])
    tensor = asked_of(asked.value) if isinstance(asked, ast.Subscript) else None
    plain = len(body) == 1 and isinstance(body[0], ast.Assign) and len(body[0].targets) == 1
    if not isinstance(tensor, ast.Name) or not isinstance(limit, int) or not plain:
        return None
    assert isinstance(asked, ast.Subscript) and isinstance(body[0], ast.Assign)
    target = body[0].targets[0]
    if constant(asked.slice) != _TIME or not isinstance(target, ast.Name):
        return None
    if target.id != tensor.id or loop not in function.body:
        return None
    lengths = _Lengths(module, function)
    known = lengths.above(loop)
    goes: Callable[[int], bool] = (
        (lambda one: one >= limit)
        if isinstance(test.ops[0], ast.GtE)
        else (lambda one: one > limit)
    )
    if not isinstance(test.ops[0], (ast.GtE, ast.Gt)):
        return None
    for count in range(_MANY):
        length = known.get(target.id)
        if length is None:
            return None
        if not goes(length):
            return count
        known[target.id] = lengths.of(body[0].value, known)
    return None


class _Lengths:
    """How long sequences are, in a function that builds a graph."""

    def __init__(self, module: Module, function: ast.FunctionDef) -> None:
        self.module = module
        self.own = {one.name: one for one in function.body if isinstance(one, ast.FunctionDef)}
        self.function = function

    def above(self, loop: ast.While) -> Lengths:
        """What the names of the function are above a loop."""
        return self._after(self.function.body[: self.function.body.index(loop)], {})

    def _after(self, body: Sequence[ast.stmt], known: Lengths) -> Lengths:
        found = dict(known)
        for statement in body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                if isinstance(target, (ast.Name, ast.Attribute)):
                    found[_key(target)] = self.of(statement.value, found)
                    continue
            for part in walk(statement):  # in a branch, or a loop: it may be another one
                if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                    found[part.id] = None
        return found

    def of(self, node: ast.expr | None, known: Lengths) -> int | None:
        """The length of a tensor's second dimension, the time."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            return known.get(_key(node))
        if isinstance(node, ast.BinOp):
            pair = [self.of(node.left, known), self.of(node.right, known)]
            return pair[0] if pair[0] == pair[1] else None
        if not isinstance(node, ast.Call):
            return None
        name = name_of(self.module, node)
        if not name:
            return self._of_own(node, known)
        if name in PLACEHOLDERS:
            shape = by_parameter(node, ("dtype", "shape")).get("shape")
            listed = isinstance(shape, (ast.List, ast.Tuple)) and len(shape.elts) > _TIME
            return self._number(shape.elts[_TIME]) if listed else None  # type: ignore[union-attr]
        row = LAYERS.by_name.get(name)
        if name == "nn.embedding_lookup" and len(node.args) == 2 and not node.keywords:
            return self.of(node.args[1], known)
        if (name in ALIKE and name != "cast") or (row is not None and row.keras in LAYERS_ALIKE):
            return self.of(node.args[0], known) if node.args else None
        if name == "pad":
            return self._padded(node, known)
        return self._slid(node, name, known) if name in _SIGNATURES else None

    def _of_own(self, call: ast.Call, known: Lengths) -> int | None:
        """What a function in this one returns of its only argument."""
        node = self.own.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if node is None or len(call.args) != 1 or call.keywords or len(node.args.args) != 1:
            return None
        last = node.body[-1]
        if not isinstance(last, ast.Return) or node.decorator_list:
            return None
        inside: Lengths = {node.args.args[0].arg: self.of(call.args[0], known)}
        return self.of(last.value, self._after(node.body[:-1], inside))

    def _padded(self, call: ast.Call, known: Lengths) -> int | None:
        given = by_parameter(call, ("tensor", "paddings"))
        length = self.of(given.get("tensor"), known)
        sizes = constant(given.get("paddings"))
        if length is None or set(given) != {"tensor", "paddings"} or not isinstance(sizes, list):
            return None
        pair = sizes[_TIME] if len(sizes) == 3 else None
        whole = isinstance(pair, list) and all(isinstance(one, int) for one in pair)
        return length + sum(pair) if whole and pair is not None else None

    def _slid(self, call: ast.Call, name: str, known: Lengths) -> int | None:
        """What a convolution or a pool leaves of a sequence."""
        given = by_parameter(call, _SIGNATURES[name])
        width = self._number(given.get("kernel_size" if name == _CONV else "pool_size"))
        stride = self._number(given["strides"]) if "strides" in given else 1
        length = self.of(given.get("inputs"), known)
        padding = constant(given["padding"]) if "padding" in given else "valid"
        other = {"data_format", "dilation_rate"} & given.keys()
        if length is None or width is None or not stride or other or not isinstance(padding, str):
            return None
        if padding.lower() == "same":
            return -(-length // stride)
        return -(-(length - width + 1) // stride) if padding.lower() == "valid" else None

    def _number(self, node: ast.expr | None) -> int | None:
        """A number of the program's: written out, by an only name, or what a constructor gets."""
        for _ in range(5):
            if node is None:
                return None
            value = constant(node)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            if not isinstance(node, ast.Name):
                return None
            given = given_once(self.module, node)
            node = given if given is not node else self.module.names.only_value(node)
        return None


def _key(node: ast.expr | None) -> str:
    """What a name, or an attribute, is known by."""
    if isinstance(node, ast.Name):
        return node.id
    return ast.unparse(node) if isinstance(node, ast.Attribute) else ""
