"""What a model_fn does in each mode: conditions on ``mode`` decided, the rest in a line."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Union
from weakref import WeakKeyDictionary

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import names_in
from migrate_mgpu.core.records import field, record

TRAIN, EVAL, PREDICT = "train", "eval", "infer"
MODES = (TRAIN, EVAL, PREDICT)
KEYS = {"TRAIN": TRAIN, "EVAL": EVAL, "PREDICT": PREDICT, "INFER": PREDICT}

Value = Union[str, bool, tuple[object, ...]]


class Modes:
    """The value, in each mode, of the expressions that only ask for the mode.

    ``known`` gives the parameters that are the mode or were made from it, by their
    value in each mode.
    """

    def __init__(
        self, module: Module, function: ast.FunctionDef, known: Mapping[str, Mapping[str, Value]]
    ) -> None:
        self.module = module
        self.function = function
        self.known = dict(known)
        self.flags: dict[ast.expr, Mapping[str, Value]] = {}  # literals that stand for the mode
        self._aliases: dict[str, ast.expr] = {}
        scope = module.names.scopes[function]
        for name, bindings in scope.bindings.items():
            if len(bindings) == 1 and bindings[0].value is not None:
                self._aliases[name] = bindings[0].value

    def value(self, node: ast.expr, mode: str) -> Value | None:
        """What an expression is in a mode; None when it asks for more than the mode."""
        if node in self.flags:
            return self.flags[node][mode]
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, (bool, str)) else None
        if isinstance(node, ast.Name):
            if node.id in self.known:
                return self.known[node.id].get(mode)
            if node.id in self._aliases and self.asks(self._aliases[node.id]):
                return self.value(self._aliases[node.id], mode)
            return self._constant(node)
        if isinstance(node, ast.Attribute):
            return self._key(node)
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            parts = [self.value(element, mode) for element in node.elts]
            return tuple(parts) if all(part is not None for part in parts) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.value(node.operand, mode)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            return self._bool(node, mode)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compare(node, mode)
        if isinstance(node, ast.IfExp):
            test = self.value(node.test, mode)
            return None if test is None else self.value(node.body if test else node.orelse, mode)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "bool" and len(node.args) == 1:
                inner = self.value(node.args[0], mode)
                return None if inner is None else bool(inner)
        return None

    def _key(self, node: ast.Attribute) -> str | None:
        """`tf.estimator.ModeKeys.TRAIN`."""
        head, _, key = (self.module.names.qualname(node) or "").rpartition(".")
        return KEYS.get(key) if head.endswith("ModeKeys") else None

    def _constant(self, node: ast.Name) -> str | None:
        """`TRAIN`, where the module says once that it is `tf.estimator.ModeKeys.TRAIN`."""
        names = self.module.names
        if node.id not in names.module_scope.bindings or node not in names.scope_of_name:
            return None
        value = names.only_value(node)
        return self._key(value) if isinstance(value, ast.Attribute) else None

    def _bool(self, node: ast.BoolOp, mode: str) -> Value | None:
        values = [self.value(part, mode) for part in node.values]
        decides = isinstance(node.op, ast.Or)  # True decides an `or`, False an `and`
        if any(value is not None and bool(value) is decides for value in values):
            return decides
        return None if any(value is None for value in values) else not decides

    def _compare(self, node: ast.Compare, mode: str) -> Value | None:
        left, right = self.value(node.left, mode), self.value(node.comparators[0], mode)
        if left is None or right is None:
            return None
        operator = node.ops[0]
        if isinstance(operator, (ast.Eq, ast.Is)):
            return left == right
        if isinstance(operator, (ast.NotEq, ast.IsNot)):
            return left != right
        if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(right, tuple):
            return (left in right) is isinstance(operator, ast.In)
        return None

    def asks(self, node: ast.AST) -> bool:
        """Whether an expression mentions the mode."""
        return node in self.flags or any(
            part.id in self.known or (part.id in self._aliases and self._alias_asks(part.id, set()))
            for part in names_in(node)
        )

    def _alias_asks(self, name: str, seen: set[str]) -> bool:
        if name in seen:
            return False
        return any(
            part.id in self.known
            or (part.id in self._aliases and self._alias_asks(part.id, {*seen, name}))
            for part in names_in(self._aliases[name])
        )

    def values(self, node: ast.expr) -> dict[str, Value] | None:
        """The value in each mode; None when it asks for more, or does not ask for the mode."""
        if not self.asks(node):
            return None
        found = {mode: self.value(node, mode) for mode in MODES}
        known = {mode: value for mode, value in found.items() if value is not None}
        return known if len(known) == len(MODES) else None

    def training(self, node: ast.expr) -> str | None:
        """``training`` or ``not training`` for an expression that is that; else None."""
        values = self.values(node)
        if values is None or not all(isinstance(value, bool) for value in values.values()):
            return None
        pattern = [values[mode] for mode in MODES]
        if pattern == [True, False, False]:
            return "training"
        return "not training" if pattern == [False, True, True] else None


@record(eq=False)
class Path:
    """What one mode runs: statements in order, blocks on the mode and `with` opened.

    ``result`` is the value that is returned, None where the mode does not return.
    """

    mode: str
    units: list[ast.stmt] = field(default_factory=list)
    result: ast.expr | None = None
    end: ast.stmt | None = None


def path(module: Module, function: ast.FunctionDef, modes: Modes, mode: str) -> Path:
    """The statements that a mode runs.

    Raises:
        Refused: a `return` under a condition that is not the mode's.
    """
    found = Path(mode)
    _walk(module, function.body, modes, found)
    return found


def _walk(module: Module, body: list[ast.stmt], modes: Modes, found: Path) -> bool:
    """Adds a block's statements; True when the function has ended."""
    for statement in body:
        if isinstance(statement, ast.Return):
            found.result, found.end = statement.value, statement
            return True
        if isinstance(statement, ast.Raise):
            found.end = statement
            return True
        if isinstance(statement, ast.If):
            test = modes.value(statement.test, found.mode)
            if test is not None:
                if _walk(module, statement.body if test else statement.orelse, modes, found):
                    return True
                continue
        if isinstance(statement, ast.With):
            if _walk(module, statement.body, modes, found):
                return True
            continue
        returns = _returns(statement)
        if returns:
            raise Refused(
                module,
                returns[0],
                "model_fn returns under a condition that is not the mode's",
                "let the condition choose a value, and return once for each mode",
            )
        found.units.append(statement)
    return False


_RETURNS: WeakKeyDictionary[ast.stmt, list[ast.Return]] = WeakKeyDictionary()


def _returns(statement: ast.stmt) -> list[ast.Return]:
    """The `return`s in a statement that is none, without those of functions defined in it.

    Each mode asks for the same ones.
    """
    found = _RETURNS.get(statement)
    if found is None:
        found = _RETURNS[statement] = []
        stack: list[ast.AST] = [statement]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Return):
                found.append(node)
            elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
                children = ast.iter_child_nodes(node)
                stack.extend(child for child in children if not isinstance(child, ast.expr))
    return found
