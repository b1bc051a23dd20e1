"""Names that TensorFlow had before 1.0, beside those that 1.15 has: what runs there is known.

    try:
        image_summary = tf.image_summary
        merge_summary = tf.merge_summary
    except:
        image_summary = tf.summary.image
        merge_summary = tf.summary.merge

is the second arm, as `if "concat_v2" in dir(tf):` is its `else`. And

    try:
        return tf.nn.sigmoid_cross_entropy_with_logits(logits=x, labels=y)
    except:
        return tf.nn.sigmoid_cross_entropy_with_logits(logits=x, targets=y)

is the first: what fails there fails below as well.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.symbols import earlier, table
from migrate_mgpu.models.normalize.functions.graph_settings import taken_arm, tried_arm
from migrate_mgpu.source.source import Edit

_CATCH = ("builtins.AttributeError", "builtins.Exception", "builtins.BaseException")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for all such statements in a module; none where there are none."""
    found: list[Edit] = []
    gone: set[ast.AST] = set()
    for node in walk(module.tree):
        if is_inside(module, node, gone):
            continue
        edit = None
        if isinstance(node, ast.If):
            value = _decided(module, node.test)
            edit = taken_arm(module, node, value) if value is not None else None
        elif isinstance(node, ast.Try):
            edit = _tried(module, node)
        if edit is not None:
            gone.add(node)
            found.append(edit)
    return found


def _tried(module: Module, node: ast.Try) -> Edit | None:
    """The arm of a `try` that TF1's last release runs."""
    if node.orelse or node.finalbody or not node.handlers:
        return None
    first = node.handlers[0]
    if _fails(module, node.body[0]) and _catches(module, first):
        return None if first.name is not None else tried_arm(module, node, first.body)
    if all(_fails(module, one.body[0]) or _is_alike(node, one) for one in node.handlers):
        return tried_arm(module, node, node.body)
    return None


def _fails(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement reads what 1.15 does not have, whatever it has before it."""
    if not isinstance(statement, (ast.Assign, ast.Expr, ast.Return)) or statement.value is None:
        return False
    value: ast.AST = statement.value
    while isinstance(value, ast.Call):
        value = value.func  # evaluated before all arguments
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Call):
            value = value.value
    return isinstance(value, ast.Attribute) and _is_absent(module.names.qualname(value))


def _is_absent(qualname: str | None) -> bool:
    """Whether a name of TensorFlow's is none that 1.15 has."""
    root, _, name = (qualname or "").partition(".")
    if root != "tensorflow" or not name:
        return False
    return earlier().now(name) is not None or table().status(name) == "unknown"


def _is_alike(node: ast.Try, handler: ast.ExceptHandler) -> bool:
    """Whether one call is tried twice: MGPU213 gave the second its parameters of today."""
    (first, *more), (second, *others) = node.body, handler.body
    return not more and not others and ast.dump(first) == ast.dump(second)


def _catches(module: Module, handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes the error of a name that a module does not have."""
    kind = handler.type
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(one is None or module.names.qualname(one) in _CATCH for one in kinds)


def _decided(module: Module, test: ast.expr) -> bool | None:
    """What `"concat_v2" in dir(tf)`, or `hasattr(tf, "concat_v2")`, is; None of another test."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        value = _decided(module, test.operand)
        return None if value is None else not value
    asked: tuple[ast.expr, ast.expr] | None = None
    absent = False
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        listed = test.comparators[0]
        absent = isinstance(test.ops[0], ast.NotIn)
        known = absent or isinstance(test.ops[0], ast.In)
        if known and _called(module, listed, "dir", 1) and isinstance(listed, ast.Call):
            asked = listed.args[0], test.left
    elif _called(module, test, "hasattr", 2) and isinstance(test, ast.Call):
        asked = test.args[0], test.args[1]
    name = constant(asked[1]) if asked is not None else None
    if asked is None or not isinstance(name, str):
        return None
    return absent if _is_absent(f"{module.names.qualname(asked[0])}.{name}") else None


def _called(module: Module, node: ast.expr, name: str, count: int) -> bool:
    return (
        isinstance(node, ast.Call)
        and module.names.qualname(node.func) == f"builtins.{name}"
        and len(node.args) == count
        and not node.keywords
    )
