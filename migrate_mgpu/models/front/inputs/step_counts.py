"""Numbers of steps that may be fractions: TF1 trains up to the next whole one, Keras 3 stops."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.value_flow import ValueFlow

_DEEP = 8
_OF_FLOATS = ("builtins.float", "numpy.ceil", "numpy.floor", "numpy.round", "numpy.rint")
_OF_THEIR_OWN = ("builtins.max", "builtins.min", "builtins.abs", "builtins.sum")


class StepCounts:
    """Which numbers of steps may be fractions, as ``examples / batch_size`` is in Python 3."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.values = ValueFlow(graph)

    def may_be_fraction(self, module: Module, node: ast.expr) -> bool:
        """Whether a number may be a float. What is an attribute is known by its name alone."""
        return self._fraction(module, node, set(), 0)

    def may_be_none(self, module: Module, node: ast.expr) -> bool:
        """Whether a number may be left out: None is all of an input in TF1 and in Keras."""
        values = self.values.definitions(module, node)
        if any(value.is_none for value in values):
            return True
        names = {
            one.attr if isinstance(one, ast.Attribute) else constant(one.slice)
            for value in values
            if isinstance(one := value.node, (ast.Attribute, ast.Subscript))
        }
        return any(
            (_is_option(call, name) and _is_optional(call))
            or any(one.arg == name and is_none(one.value) for one in call.keywords)
            for other in self.graph.project.modules.values()
            for call in other.names.calls
            for name in names
            if isinstance(name, str)
        )

    def _fraction(self, module: Module, node: ast.expr, seen: set[object], depth: int) -> bool:
        if depth > _DEEP or node in seen:
            return False
        seen.add(node)
        if isinstance(node, ast.Constant):
            return isinstance(node.value, float)
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Div):
                return True
            parts = [node.left, node.right]
        elif isinstance(node, ast.UnaryOp):
            parts = [node.operand]
        elif isinstance(node, ast.IfExp):
            parts = [node.body, node.orelse]
        elif isinstance(node, ast.BoolOp):
            parts = node.values
        elif isinstance(node, ast.Call) and not node.keywords:
            name = module.names.qualname(node.func) or ""
            if name in _OF_FLOATS:
                return True
            parts = node.args if name in _OF_THEIR_OWN else []
        else:
            parts = []
        if parts:
            return any(self._fraction(module, one, seen, depth + 1) for one in parts)
        if isinstance(node, (ast.Attribute, ast.Subscript)) and self._named(node, seen, depth):
            return True
        return any(
            value.node is not None
            and value.node is not node
            and self._fraction(value.module, value.node, seen, depth + 1)
            for value in self.values.definitions(module, node)
        )

    def _named(self, node: ast.Attribute | ast.Subscript, seen: set[object], depth: int) -> bool:
        """Whether something of the run that has the name of an attribute, or key, is a float."""
        name = node.attr if isinstance(node, ast.Attribute) else constant(node.slice)
        if not isinstance(name, str) or name in seen:
            return False
        seen.add(name)
        return any(
            self._holds(module, name, seen, depth + 1)
            for module in self.graph.project.modules.values()
            if name in module.source.text or name.replace("_", "-") in module.source.text
        )

    def _holds(self, module: Module, name: str, seen: set[object], depth: int) -> bool:
        for call in module.names.calls:
            if _is_option(call, name) and _reads_float(call):
                return True
            for keyword in call.keywords:
                if keyword.arg == name and self._fraction(module, keyword.value, seen, depth):
                    return True
        for target in module.names.attributes.get(name, ()):
            statement = module.names.parents[target]
            if isinstance(target.ctx, ast.Store) and isinstance(statement, ast.Assign):
                if self._fraction(module, statement.value, seen, depth):
                    return True
        return any(
            self._fraction(module, value, seen, depth)
            for one in ast.walk(module.tree)
            if isinstance(one, ast.Dict)
            for key, value in zip(one.keys, one.values)
            if constant(key) == name
        )


def _is_option(call: ast.Call, name: str) -> bool:
    """Whether a call defines a flag, or an option of the command line, of a name."""
    given = (constant(one) for one in call.args)
    return any(isinstance(one, str) and one.lstrip("-").replace("-", "_") == name for one in given)


def _reads_float(call: ast.Call) -> bool:
    func = call.func
    last = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return last == "DEFINE_float" or any(
        one.arg == "type" and isinstance(one.value, ast.Name) and one.value.id == "float"
        for one in call.keywords
    )


def _is_optional(call: ast.Call) -> bool:
    """Whether nobody need give an option a value, which is None then."""
    given = {one.arg: one.value for one in call.keywords}
    default = given.get("default")
    func = call.func
    if (func.attr if isinstance(func, ast.Attribute) else "").startswith("DEFINE_"):
        default = call.args[1] if len(call.args) > 1 else default
    return default is None or is_none(default)
