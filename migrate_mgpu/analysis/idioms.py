"""Forms that Python programs have in common: statements that only show something, main guards."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import names_in

_LEVELS = ("critical", "debug", "error", "exception", "fatal", "info", "log", "warn", "warning")
_TEXTS = ("builtins.repr", "builtins.str", "builtins.type")
_PURE = ("builtins.bool", "builtins.isinstance", "builtins.len", *_TEXTS)
# What is read and nothing more: without it nothing else changes.
_READ_ONLY = (
    ast.Attribute, ast.BinOp, ast.Compare, ast.Constant, ast.FormattedValue, ast.JoinedStr,
    ast.Name, ast.Subscript, ast.Tuple, ast.UnaryOp, ast.keyword, ast.operator, ast.unaryop,
    ast.cmpop, ast.expr_context, ast.Slice, ast.BoolOp, ast.boolop,
)  # fmt: skip


def is_main_guard(statement: ast.AST) -> bool:
    """`if __name__ == "__main__":`"""
    return isinstance(statement, ast.If) and any(
        name.id == "__name__" for name in names_in(statement.test)
    )


def showing(module: Module, node: ast.expr) -> ast.Expr | None:
    """The statement that prints or logs an object, and does nothing besides.

    `print(config)`, `logging.info("%s", config)`, a cell's last line.
    """
    parents = module.names.parents
    outer: ast.AST = node
    around = parents[node]
    while _is_text(module, around) or isinstance(around, ast.keyword):
        outer, around = around, parents[around]
    if isinstance(around, ast.Expr) and isinstance(node, (ast.Name, ast.Attribute)):
        return around if outer is node else None
    statement = parents.get(around)
    if not isinstance(around, ast.Call) or not isinstance(statement, ast.Expr):
        return None
    if outer is around.func or not is_showing(module, around):
        return None
    given = [*around.args, *(keyword.value for keyword in around.keywords)]
    return statement if all(is_read_only(module, one) for one in given) else None


def is_showing(module: Module, call: ast.Call) -> bool:
    """Whether a call prints or logs its arguments."""
    function = call.func
    name = module.names.qualname(function) or ""
    if name == "builtins.print":
        return not any(keyword.arg == "file" for keyword in call.keywords)
    head, _, last = name.rpartition(".")
    if head in ("logging", "absl.logging") or head.endswith(".logging"):
        return last in _LEVELS
    return isinstance(function, ast.Attribute) and function.attr in _LEVELS and (
        isinstance(function.value, ast.Name) and function.value.id.lower().lstrip("_") in _LOGGERS
    )  # fmt: skip


_LOGGERS = ("log", "logger", "logging")


def _is_text(module: Module, node: ast.AST) -> bool:
    """Whether an expression makes a text of what it is given."""
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "format":
            return isinstance(function.value, ast.Constant)
        return module.names.qualname(function) in _TEXTS
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
    return isinstance(node, (ast.FormattedValue, ast.JoinedStr, ast.Tuple))


def is_read_only(module: Module, node: ast.AST) -> bool:
    """Whether evaluating an expression changes nothing: a program does the same without it."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            if module.names.qualname(part.func) not in _PURE and not _is_text(module, part):
                return False
        elif not isinstance(part, _READ_ONLY):
            return False
    return True


def record_fields(module: Module, node: ast.expr) -> list[str] | None:
    """The fields of a named tuple's class, `Step` of `Step = namedtuple("Step", ["state"])`."""
    made = module.names.only_value(node) if isinstance(node, ast.Name) else None
    if not isinstance(made, ast.Call) or len(made.args) < 2:
        return None
    if module.names.qualname(made.func) != "collections.namedtuple":
        return None
    fields = constant(made.args[1])
    if isinstance(fields, str):
        return fields.replace(",", " ").split()
    if not isinstance(fields, (list, tuple)):
        return None
    return [one for one in fields if isinstance(one, str)]
