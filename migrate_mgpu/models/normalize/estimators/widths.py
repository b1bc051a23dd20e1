"""A variable that is as wide as a tensor of the same function: what follows is one of its own.

``output = encoder(ids)`` / ``width = output.shape[-1].value`` / ``w = tf.get_variable("w", [2,
width])`` becomes a function that ends in ``return network_head(output, ...)``, and that one,
whose layers can be made of the shape of what it is given.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import line_of, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.normalize.estimators.built_objects import reached
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function; none where there is none."""
    if flow.function is None:
        return {}
    for function in reached(flow.function, graph):
        if function.node is flow.function.node or not function.module.writable:
            continue
        edits = _Divided(function).edits()
        if edits:
            return {function.module: edits}
    return {}


class _Divided:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.module = function.module
        self.names = function.module.names

    def edits(self) -> list[Edit]:
        """The end of the function's first part and the head of the second, between the two."""
        node, names = self.function.node, self.names
        plain = isinstance(node, ast.FunctionDef) and not node.decorator_list
        if not plain or not isinstance(names.parents[node], ast.Module):
            return []
        assert isinstance(node, ast.FunctionDef)
        tensor = self._measured(node)
        if tensor is None:
            return []
        first = next(s for s in node.body if s.lineno <= tensor.lineno <= (s.end_lineno or 0))
        index = node.body.index(first)
        given = self._given(node, index, tensor.id)
        if given is None or not isinstance(_last(node), ast.Return):
            return []
        if any(isinstance(p, (ast.Return, ast.Yield)) for s in node.body[:index] for p in walk(s)):
            return []
        layout = Layout(self.module.source, first)
        if not layout.owns_lines:
            return []
        name = names.fresh(names.module_scope, f"{node.name}_head")
        call = f"{name}({', '.join(given)})"
        inside, newline = self.module.source.indent_of(first), self.module.source.newline
        text = f"{inside}return {call}{newline * 3}def {call}:{newline}"
        return [Edit(layout.line_start, layout.line_start, text)]

    def _measured(self, node: ast.FunctionDef) -> ast.Name | None:
        """The first mention of a tensor's size that a variable has, which is no parameter."""
        scope = self.names.scopes[node]
        for call in (part for part in walk(node) if isinstance(part, ast.Call)):
            if name_of(self.module, call) not in VARIABLES.by_name:
                continue
            for name in (part for part in walk(call) if isinstance(part, ast.Name)):
                found = self._tensor(name)
                if found is None or self.names.scope_of_name[found] is not scope:
                    continue
                above = [b for b in scope.bindings[found.id] if line_of(b.node) < found.lineno]
                if len(above) == 1 and above[0].kind != "parameter":
                    return found
        return None

    def _tensor(self, name: ast.Name) -> ast.Name | None:
        """The tensor whose size a number is: `width = x.shape[-1]`, `sizes = get_shape_list(x)`."""
        bindings = self.names.bindings_of(name)
        value = bindings[0].value if len(bindings) == 1 else None
        while isinstance(value, ast.Attribute) and value.attr == "value":
            value = value.value
        if not isinstance(value, ast.Subscript):
            return None
        listed = value.value
        if isinstance(listed, ast.Name):
            bindings = self.names.bindings_of(listed)
            made = bindings[0].value if len(bindings) == 1 else None
            if isinstance(made, ast.Call) and made.args and isinstance(made.args[0], ast.Name):
                return made.args[0]
            listed = made or listed
        for part in walk(listed):
            if isinstance(part, ast.Attribute) and part.attr in ("shape", "get_shape"):
                return part.value if isinstance(part.value, ast.Name) else None
        return None

    def _given(self, node: ast.FunctionDef, index: int, tensor: str) -> list[str] | None:
        """What the second part is given of the first; None where it cannot be said."""
        before, behind = node.body[:index], node.body[index:]
        scope = self.names.scopes[node]
        above = {part for statement in before for part in walk(statement)}
        below = {part for statement in behind for part in walk(statement)}
        found: list[str] = []
        for name, bindings in scope.bindings.items():
            mentions = self.names.mentions(name, scope)
            read = [one for one in mentions if one in below and isinstance(one.ctx, ast.Load)]
            early = [b for b in bindings if b.kind == "parameter" or b.node in above]
            if not read or not early:
                continue
            certain = [
                b for b in early if b.kind == "parameter" or self._is_certain(b.node, before)
            ]
            if not certain or any(isinstance(b.node, ast.FunctionDef) for b in early):
                return None
            found.append(name)
        return [tensor, *(name for name in found if name != tensor)]

    def _is_certain(self, binding: ast.AST, before: list[ast.stmt]) -> bool:
        """Whether a name has its value whatever happens above."""
        statement = binding if isinstance(binding, ast.stmt) else self.names.statement(binding)
        while isinstance(self.names.parents[statement], ast.With):
            statement = self.names.parents[statement]  # type: ignore[assignment]
        return statement in before


def _last(node: ast.FunctionDef | ast.With) -> ast.stmt:
    """The statement that a block ends in, within each `with`."""
    last = node.body[-1]
    return _last(last) if isinstance(last, ast.With) else last
