"""Values that the text of a program tells: those of names, of texts that are made of others."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.constant_conditions import Unknown
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.core.records import record


@record(frozen=True)
class Settings:
    """What is known of a dictionary of settings, by its keys."""

    items: tuple[tuple[str, object], ...]

    def of(self, key: object) -> object:
        """The value of a key; ``Unknown`` where it has none."""
        return dict(self.items).get(str(key), Unknown)


_MANY = 1000  # numbers, which no program makes so many layers of


def known_value(
    node: ast.expr | None, given: Mapping[str, object], module: Module | None = None
) -> object:
    """A constant, a tuple of several, what a parameter was given, or a text made of such.

    ``module`` is where it stands: there `str(2)` is a text.
    """
    if isinstance(node, ast.Name) and node.id in given:
        return given[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        left, right = (known_value(one, given, module) for one in (node.left, node.right))
        told = right if isinstance(right, tuple) else (right,)
        if isinstance(left, (str, int)) and all(isinstance(one, (str, int)) for one in told):
            added = isinstance(node.op, ast.Add)
            try:
                return left + right if added else left % right  # type: ignore[operator]
            except (TypeError, ValueError, ZeroDivisionError):
                return Unknown
    if isinstance(node, (ast.List, ast.Tuple)):
        return tuple(known_value(one, given, module) for one in node.elts)
    if isinstance(node, ast.Dict):
        keys = [constant(key) for key in node.keys]
        if all(isinstance(key, str) for key in keys):
            values = (known_value(value, given, module) for value in node.values)
            return Settings(tuple(zip(map(str, keys), values)))
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        whole, key = known_value(node.value, given, module), constant(node.slice)
        return whole.of(key) if isinstance(whole, Settings) else Unknown
    if isinstance(node, ast.JoinedStr):
        shown = [known_value(part, given, module) for part in node.values]
        return "".join(map(str, shown)) if Unknown not in shown else Unknown
    if isinstance(node, ast.FormattedValue) and node.conversion == -1 and not node.format_spec:
        value = known_value(node.value, given, module)
        return value if isinstance(value, (str, int)) else Unknown
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
        text = known_value(node.func.value, given, module)
        put = [known_value(one, given, module) for one in node.args]
        if isinstance(text, str) and node.func.attr == "format":
            if all(isinstance(one, (str, int)) for one in put):
                try:
                    return text.format(*put)
                except (IndexError, KeyError, ValueError, AttributeError):
                    return Unknown
    if isinstance(node, ast.Call) and module is not None and not node.keywords and node.args:
        if module.names.qualname(node.func) == "builtins.range":
            limits = [known_value(one, given, module) for one in node.args]
            whole = all(isinstance(one, int) for one in limits) and 0 not in limits[2:]
            if whole and len(limits) < 4:
                numbers = range(*limits)  # type: ignore[call-overload]
                return tuple(numbers) if len(numbers) < _MANY else Unknown
            return Unknown
    if isinstance(node, ast.Call) and module is not None and len(node.args) == 1:
        if module.names.qualname(node.func) != "builtins.str" or node.keywords:
            return Unknown
        value = known_value(node.args[0], given, module)
        return str(value) if isinstance(value, (str, int)) else Unknown
    if isinstance(node, ast.BoolOp):  # `scope or "linear"`
        return _chosen_of([known_value(one, given, module) for one in node.values], node.op)
    if isinstance(node, ast.UnaryOp):  # -1
        number = constant(node)
        return Unknown if number is None else number
    return node.value if isinstance(node, ast.Constant) else Unknown


def _chosen_of(values: Sequence[object], operator: ast.boolop) -> object:
    """What `or`, or `and`, comes to: the first that says so, or the last."""
    for value in values:
        if value is Unknown or bool(value) is isinstance(operator, ast.Or):
            return value
    return values[-1]


def values_in(function: Function, given: Mapping[str, object]) -> dict[str, object]:
    """What the parameters of a function are given, and names that have one value of such."""
    bindings = function.module.names.scopes[function.node].bindings
    known = {name: value for name, value in given.items() if len(bindings.get(name, ())) == 1}
    for statement in function.node.body if isinstance(function.node, ast.FunctionDef) else ():
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and len(bindings.get(target.id, ())) == 1:
            assert isinstance(statement, ast.Assign)
            known[target.id] = known_value(statement.value, known, function.module)
    return known


def is_only_read(module: Module, name: ast.Name) -> bool:
    """Whether nothing changes the list that a name stands for."""
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    for one in names.mentions(name.id, home) if home is not None else ():
        parent = names.parents.get(one)
        item = isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load)
        if isinstance(parent, (ast.Attribute, ast.AugAssign, ast.Subscript)) and not item:
            return False
    return True


def is_attribute_only_read(module: Module, node: ast.Attribute) -> bool:
    """Whether nothing changes the list that an attribute has, of whatever object."""
    parents = module.names.parents
    for one in module.names.attributes[node.attr]:
        parent = parents.get(one)
        if isinstance(parent, (ast.Attribute, ast.AugAssign)):
            return False
        if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
            return False
    return True
