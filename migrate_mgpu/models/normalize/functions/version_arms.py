"""Conditions on TensorFlow's version: the arm that TF1's last release takes.

    if tf.__version__[0] >= '1':
        cell = tf.contrib.rnn.BasicRNNCell(8)
    else:
        cell = tf.nn.rnn_cell.BasicRNNCell(8)

becomes `cell = tf.contrib.rnn.BasicRNNCell(8)`: what TF2 has in its place is written from that.
"""

from __future__ import annotations

import ast
import builtins

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.normalize.functions.graph_settings import taken_arm
from migrate_mgpu.source.source import Edit

_RELEASE, _NEXT = "1.15.5", "2.15.1"
_SWITCHES = ("disable_v2_behavior", "disable_eager_execution")
_CALLS = ("int", "float", "tuple", "str", "len")
_METHODS = ("startswith", "split")
_PLAIN = (
    ast.Constant, ast.Subscript, ast.Slice, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Tuple,
    ast.List, ast.cmpop, ast.boolop, ast.unaryop, ast.expr_context,
)  # fmt: skip


def normalize(module: Module) -> list[Edit]:
    """The edits for all such conditions in a module; none where there are none."""
    if "__version__" not in module.source.text:
        return []
    found: list[Edit] = []
    gone: set[ast.AST] = set()
    for node in walk(module.tree):
        if not isinstance(node, ast.If) or is_inside(module, node, gone):
            continue
        value = _decided(module, node.test, _RELEASE)
        edit = taken_arm(module, node, value) if value is not None else None
        if edit is not None:
            gone.add(node)
            found.append(edit)
    return found


def other_arms(module: Module) -> ast.If | None:
    """The first condition that takes another arm on TF2 than on TF1.

    None of those that only switch to v1 behaviour there, which goes from native code.
    """
    if "__version__" not in module.source.text:
        return None
    for node in walk(module.tree):
        if isinstance(node, ast.If) and not _only_switches(module, node):
            first, then = (_decided(module, node.test, one) for one in (_RELEASE, _NEXT))
            if first is not then:
                return node
    return None


def _only_switches(module: Module, node: ast.If) -> bool:
    return not node.orelse and all(
        isinstance(one, ast.Expr)
        and isinstance(one.value, ast.Call)
        and (module.names.qualname(one.value.func) or "").rpartition(".")[2] in _SWITCHES
        for one in node.body
    )


def _decided(module: Module, test: ast.expr, release: str) -> bool | None:
    """What a condition is in a release; None where it asks for more than the version."""
    text = _written(module, test, release)
    if text is None or repr(release) not in text:
        return None
    known = {name: getattr(builtins, name) for name in _CALLS}
    try:
        return bool(eval(text, {"__builtins__": {}}, known))
    except (TypeError, ValueError, IndexError):
        return None


def _written(module: Module, test: ast.expr, release: str) -> str | None:
    """A condition with the release in the place of `tf.__version__`, if nothing else is in it."""
    edits: list[tuple[int, int]] = []
    inside: set[ast.AST] = set()
    for part in walk(test):
        if part in inside or isinstance(part, _PLAIN):
            continue
        if isinstance(part, ast.Attribute) and part.attr == "__version__":
            if module.names.qualname(part.value) not in ("tensorflow", "tensorflow.compat.v1"):
                return None
            inside |= {*walk(part)}
            edits.append(module.source.span(part))
        elif isinstance(part, ast.Call) and not part.keywords:
            func = part.func
            name = module.names.qualname(func) or ""
            if name.startswith("builtins.") and name.split(".")[1] in _CALLS:
                inside |= {*walk(func)}
            elif not isinstance(func, ast.Attribute) or func.attr not in _METHODS:
                return None
        elif isinstance(part, ast.Attribute) and part.attr in _METHODS:
            parent = module.names.parents.get(part)
            if not isinstance(parent, ast.Call) or parent.func is not part:
                return None
        else:
            return None
    start, end = module.source.span(test)
    text = module.source.text[start:end]
    for first, last in sorted(edits, reverse=True):
        text = text[: first - start] + repr(release) + text[last - start :]
    return f"({text})"
