"""Labels whose shape a loss function must restore: Keras makes a column of a list of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.tables import short_name_of
from migrate_mgpu.models.front.losses import read_loss
from migrate_mgpu.models.properties import is_elementwise

_CASTS = {"cast", "to_float", "to_double", "identity"}
_ELEMENTWISE = {
    "squared_difference", "subtract", "add", "multiply", "divide", "div", "maximum", "minimum",
    "equal", "not_equal",
}  # fmt: skip


def partners(
    module: Module,
    nodes: Iterable[ast.AST],
    resolve: Callable[[ast.expr], ast.expr],
    is_output: Callable[[ast.expr], bool],
) -> dict[ast.Name, ast.expr]:
    """Mentions of `labels`, and the value that each meets element by element.

    TF1 wanted both to have one shape. Keras hands labels of shape [batch] over as
    [batch, 1] where the model's output is [batch, n]; beside a value of shape [batch]
    they would become [batch, batch] without a word. A value that is the model's output
    itself needs nothing: Keras gives the labels its rank.
    """
    found: dict[ast.Name, ast.expr] = {}
    for node in nodes:
        for first, second in _pairs(module, node):
            for mine, other in ((first, second), (second, first)):
                name = _labels(module, mine, resolve)
                if name is not None and not is_output(other) and reduces(module, other, resolve):
                    found[name] = other
    return found


def operands(
    module: Module, nodes: Iterable[ast.AST], resolve: Callable[[ast.expr], ast.expr]
) -> Iterator[ast.expr]:
    """What stands beside the labels in an operator: TF1 does not ask that both have one shape."""
    for node in nodes:
        for first, second in _pairs(module, node, losses=False):
            for mine, other in ((first, second), (second, first)):
                if _labels(module, mine, resolve) is not None:
                    yield other


def _pairs(
    module: Module, node: ast.AST, losses: bool = True
) -> Iterator[tuple[ast.expr, ast.expr]]:
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp):
            yield part.left, part.right
        elif isinstance(part, ast.Call):
            known = read_loss(module, part) if losses else None
            if known is not None and is_elementwise(known):
                yield known.labels, known.outputs
            elif _short(module, part) in _ELEMENTWISE and len(part.args) > 1:
                yield part.args[0], part.args[1]


def _short(module: Module, node: ast.AST) -> str:
    return short_name_of(module, node) if isinstance(node, ast.Call) else ""


def _labels(
    module: Module, node: ast.expr, resolve: Callable[[ast.expr], ast.expr]
) -> ast.Name | None:
    """The name in a value that is the labels, perhaps as another type."""
    inner = _uncast(module, node)
    if not isinstance(inner, ast.Name):
        return None
    value: ast.expr = inner
    for _ in range(8):
        value = _uncast(module, resolve(value))
        if isinstance(value, ast.Name) and value.id == "labels":
            return inner
    return None


def _uncast(module: Module, node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Call) and _short(module, node) in _CASTS and node.args:
        node = node.args[0]
    return node


def reduces(
    module: Module, node: ast.expr, resolve: Callable[[ast.expr], ast.expr], depth: int = 0
) -> bool:
    """Whether a value has fewer dimensions than the output that it is made of."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and _short(module, part) in ("squeeze", "reshape"):
            return True
        if isinstance(part, ast.Call) and _short(module, part).startswith("reduce_"):
            return True
        if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Tuple):
            return True
        if isinstance(part, ast.Name) and depth < 8:
            value = resolve(part)
            if value is not part and reduces(module, value, resolve, depth + 1):
                return True
    return False
