"""What a module itself says about the TensorFlow that it runs on: flags, and code that they end.

``try: from tensorflow.contrib import slim; is_tf2 = False`` / ``except ImportError: is_tf2 = True``
gives a flag whose value on TF2 is known; so does ``has_contrib = hasattr(tf, "contrib")``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrate_mgpu.analysis.names import Names, constant
from migrate_mgpu.analysis.symbols import symbol, table

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Switches:
    """The flags of one module, by their values on TF2.

    ``expects_absence`` says of a `try` whether it catches what a missing module raises.
    """

    def __init__(self, names: Names, expects_absence: Callable[[ast.Try], bool]) -> None:
        self.names = names
        self._flags: dict[str, bool] = {}
        self._ended: dict[tuple[ast.AST, str], tuple[set[ast.AST], set[ast.AST]]] = {}
        for name, bindings in names.module_scope.bindings.items():
            if all(b.kind == "assign" and b.value is not None for b in bindings):
                value = self._flag([b.node for b in bindings], expects_absence)
                if value is not None:
                    self._flags[name] = value

    def __bool__(self) -> bool:
        return bool(self._flags)

    def _flag(
        self, nodes: list[ast.AST], expects_absence: Callable[[ast.Try], bool]
    ) -> bool | None:
        """The value on TF2 of a name that is assigned by these statements alone."""
        value: bool | None = None
        for node in sorted(map(self.names.statement, nodes), key=lambda one: one.lineno):
            if not isinstance(node, ast.Assign):
                return None
            parent = self.names.parents[node]
            if isinstance(parent, ast.Module):
                value = self.on_tf2(node.value)
            elif isinstance(parent, ast.Try) and self._needs_tf1(parent):
                if not expects_absence(parent) or node in parent.finalbody:
                    return None  # in the body and its `else`, it does not come to it on TF2
            elif isinstance(parent, ast.ExceptHandler):
                block = self.names.parents[parent]
                if not isinstance(block, ast.Try) or not self._needs_tf1(block):
                    return None
                if not expects_absence(block) or len(block.handlers) > 1:
                    return None
                value = self.on_tf2(node.value)
            else:
                return None
        return value

    def _needs_tf1(self, block: ast.Try) -> bool:
        """Whether a `try` at module level begins with an import of what TF2 lost."""
        first = block.body[0]
        if not isinstance(self.names.parents[block], ast.Module):
            return False
        if isinstance(first, ast.ImportFrom):
            base = self.names.absolute(first)
            spelled = [f"{base}.{alias.name}" for alias in first.names]
        elif isinstance(first, ast.Import):
            spelled = [alias.name for alias in first.names]
        else:
            return False
        found = [symbol(name) for name in spelled]
        return any(one is not None and table().status(one.name) == "gone" for one in found)

    def on_tf2(self, test: ast.expr) -> bool | None:
        """What a condition is on TF2; None where that is not known."""
        if isinstance(test, ast.Constant) and isinstance(test.value, bool):
            return test.value
        if isinstance(test, ast.Name):
            home = self.names.defining_scope(test.id, self.names.scope_of_name[test])
            return self._flags.get(test.id) if home is self.names.module_scope else None
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            value = self.on_tf2(test.operand)
            return None if value is None else not value
        if isinstance(test, ast.BoolOp):
            values = [self.on_tf2(one) for one in test.values]
            decides = isinstance(test.op, ast.Or)
            if decides in values:
                return decides
            return None if None in values else not decides
        if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
            return False if test.func.id == "hasattr" and self._asks_gone(test) else None
        return None

    def _asks_gone(self, call: ast.Call) -> bool:
        """Whether `hasattr(tf, "contrib")` asks for what TF2 lost."""
        name = constant(call.args[1]) if len(call.args) == 2 else None
        if not isinstance(name, str):
            return False
        owner = self.names.qualname(call.args[0])
        found = symbol(f"{owner}.{name}") if owner else None
        return found is not None and table().status(found.name) == "gone"

    def is_past(self, parent: ast.AST, child: ast.AST) -> bool:
        """Whether a statement stands below one that leaves its block on TF2."""
        return child in self._below(parent, child)[0]

    def is_refused(self, parent: ast.AST, child: ast.AST) -> bool:
        """Whether a statement stands below a call that raises on TF2, by the author's word."""
        return child in self._below(parent, child)[1]

    def _below(self, parent: ast.AST, child: ast.AST) -> tuple[set[ast.AST], set[ast.AST]]:
        if not self._flags or isinstance(parent, ast.Module) or not isinstance(child, ast.stmt):
            return set(), set()
        field = next((f for f in ("body", "orelse") if child in getattr(parent, f, ())), "")
        key = parent, field
        if key not in self._ended:
            past: set[ast.AST] = set()
            refused: set[ast.AST] = set()
            ended = raises = False
            for statement in getattr(parent, field, ()):
                past |= {statement} if ended else set()
                refused |= {statement} if raises else set()
                ended = ended or self._leaves(statement)
                raises = raises or self._raises(statement)
            self._ended[key] = past, refused
        return self._ended[key]

    def _leaves(self, statement: ast.stmt) -> bool:
        if not isinstance(statement, ast.If):
            return False
        value = self.on_tf2(statement.test)
        taken = statement.body if value else statement.orelse if value is not None else []
        return bool(taken) and isinstance(taken[-1], _LEAVES)

    def _raises(self, statement: ast.stmt) -> bool:
        """Whether a call's function has a `raise` under a flag that is set on TF2."""
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return False
        called = statement.value.func
        if not isinstance(called, ast.Name):
            return False
        return any(
            isinstance(binding.node, _FUNCTIONS) and any(self._raised(binding.node))
            for binding in self.names.module_scope.bindings.get(called.id, ())
        )

    def _raised(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[bool]:
        for statement in function.body:
            if isinstance(statement, ast.If):
                value = self.on_tf2(statement.test)
                taken = statement.body if value else statement.orelse if value is False else []
                yield any(isinstance(n, ast.Raise) for one in taken for n in ast.walk(one))
