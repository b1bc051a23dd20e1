"""Functions that only make a variable: `w = weight_variable([3, 3])` becomes what they return.

``w = tf.Variable(tf.truncated_normal([3, 3], stddev=0.1))`` is a weight of the model.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit, Source, splice
from migrate_mgpu.source.statements import without_function

# What can stand for a name wherever it is mentioned.
_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Tuple)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function and all its calls; none where there is none."""
    function = flow.function
    if function is None:
        return {}
    module = function.module
    for call in [c for c in walk(module.tree) if isinstance(c, ast.Call)]:
        maker = graph.target(module, call.func)
        if maker is None or maker.module is not module or maker.owner is not None:
            continue
        made = _Maker(module, maker, graph)
        edits = made.edits()
        if edits:
            return {module: edits}
    return {}


class _Maker:
    """A function of the module's that returns a new variable."""

    def __init__(self, module: Module, function: Function, graph: CallGraph) -> None:
        self.module = module
        self.source = module.source
        self.function = function
        self.graph = graph
        self.node = function.node
        self.locals: dict[str, ast.expr] = {}

    def edits(self) -> list[Edit]:
        """What its calls become, and its end."""
        node, names = self.node, self.module.names
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            return []
        if not isinstance(names.parents[node], ast.Module):
            return []
        value = self._value(node)
        references = self.graph.references(self.function)
        if value is None or not references:
            return []
        found: list[Edit] = []
        for reference in references:
            if reference.module is not self.module or reference.call is None:
                return []
            text = self._written(value, reference.call)
            if text is None:
                return []
            found.append(Edit(*self.source.span(reference.call), text))
        return [*found, without_function(self.source, node)]

    def _value(self, node: ast.FunctionDef) -> ast.expr | None:
        """The variable that it returns, if it does nothing else."""
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            return None
        body = list(node.body)
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body.pop(0)
        for statement in body[:-1]:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
                return None
            if len(statement.targets) > 1 or target.id in self.locals:
                return None
            self.locals[target.id] = statement.value
        last = body[-1] if body else None
        value = last.value if isinstance(last, ast.Return) else None
        if isinstance(value, ast.Name):
            value = self.locals.get(value.id)
        return value if name_of(self.module, value) in VARIABLES.by_name else None

    def _written(self, value: ast.expr, call: ast.Call) -> str | None:
        """What it returns for the arguments of a call."""
        given = bind(call, self.function).every()
        if given is None or self.locals.keys() & given.keys():
            return None
        if not all(isinstance(argument, _ATOMS) for argument in given.values()):
            return None
        scope = self.module.names.scope_at(call)
        free = {n.id for n in walk(self.node) if isinstance(n, ast.Name)}
        free -= {*given, *self.locals}
        own = () if scope.is_module else scope.bindings
        if any(name in own for name in free):
            return None
        text = self._text(value, given)
        return None if "\n" in text or "#" in text else text

    def _text(self, node: ast.expr, given: dict[str, ast.expr]) -> str:
        """An expression's text with its names' values in their places."""

        def replacement(name: ast.Name) -> str | None:
            if name.id in given:
                return self.source.code(given[name.id])
            if name.id not in self.locals:
                return None
            new = self._text(self.locals[name.id], given)
            return new if isinstance(self.locals[name.id], _ATOMS) else f"({new})"

        return with_texts(self.source, node, replacement)


def with_texts(
    source: Source, node: ast.expr, replacement: Callable[[ast.Name], str | None]
) -> str:
    """An expression's text, with others in the places of the names that they are told for."""
    start, _ = source.span(node)
    edits = []
    for name in (n for n in walk(node) if isinstance(n, ast.Name)):
        new = replacement(name)
        if new is not None:
            begin, end = source.span(name)
            edits.append(Edit(begin - start, end - start, new))
    return splice(source.code(node), edits)
