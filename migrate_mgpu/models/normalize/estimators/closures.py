"""A model_fn that a function makes: `Estimator(make_model_fn(0.1))`.

The inner function takes what it read of the outer one as parameters of its own, and a
lambda gives it them; the outer one goes away.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.optimizers import OPTIMIZE_LOSS, OPTIMIZE_LOSS_PARAMETERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.header_edit import read_header
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments

ROLES = ("features", "labels", "mode", "params", "config")


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where the model_fn is no such function."""
    module = flow.module
    given = module.names.assigned(flow.arguments.get("model_fn"))
    if not isinstance(given, ast.Call):
        return {}
    maker = graph.target(module, given.func)
    if maker is None or not maker.module.writable:
        return {}
    return _Closure(flow, module, given, maker, graph).edits()


class _Closure:
    def __init__(
        self, flow: EstimatorFlow, module: Module, call: ast.Call, maker: Function, graph: CallGraph
    ) -> None:
        self.flow = flow
        self.module = module
        self.call = call
        self.maker = maker
        self.graph = graph

    def edits(self) -> dict[Module, list[Edit]]:
        inner = self._inner()
        values = self._values()
        if inner is None or values is None:
            return {}
        taken = self._taken(inner)
        if taken is None or any(name not in values for name in taken):
            return {}
        named = self._named_optimizers(inner, taken, values)
        taken = [name for name in taken if name not in named]
        home, source = self.maker.module, self.maker.module.source
        name = inner.name
        if name in home.names.module_scope.bindings or self._hidden(name):
            name = self.maker.name
        block = Block(source, source.indent_of(self.maker.node))
        header = Edit(*read_header(source, inner).name, name)
        if not inner.args.args:
            return {}
        last = source.span(inner.args.args[-1])[1]
        more = Edit(last, last, "".join(f", {parameter}" for parameter in taken))
        texts = [Edit(*source.span(node), self._text(values[node.id])) for node in
                 walk(inner) if isinstance(node, ast.Name) and node.id in named]  # fmt: skip
        block.statement(inner, [header, more, *self._docstring(inner), *texts])
        text = block.text().rstrip()
        start, end = source.span(self.maker.node)
        indent = source.indent_of(self.maker.node)
        found = {home: [Edit(start, end, text[len(indent) :])]}
        found.setdefault(self.module, []).append(self._lambda(inner, name, taken, values))
        kept = [comment.text for comment in comments(self.module.source.code(self.call))]
        if kept:
            layout = Layout(self.module.source, self.module.names.statement(self.call))
            if not layout.owns_start:
                return {}
            found[self.module].append(layout.insert_before(kept))
        if self.module is not home and not self._imported(name, found):
            return {}
        return found

    def _named_optimizers(
        self, inner: ast.FunctionDef, taken: list[str], values: dict[str, ast.expr]
    ) -> set[str]:
        """Parameters that name the optimizer of `optimize_loss`, which are its names then."""
        module = self.maker.module
        asked = [
            NamedArguments(module, call, OPTIMIZE_LOSS_PARAMETERS).get("optimizer")
            for call in walk(inner)
            if isinstance(call, ast.Call) and name_of(module, call) == OPTIMIZE_LOSS
        ]
        found = {node.id for node in asked if isinstance(node, ast.Name) and node.id in taken}
        return {name for name in found if isinstance(constant(values[name]), str)}

    def _text(self, value: ast.expr) -> str:
        return (self.module if _belongs(self.module, value) else self.maker.module).source.code(
            value
        )

    def _hidden(self, name: str) -> bool:
        """Whether a variable of the function that makes the Estimator has the name."""
        names = self.module.names
        home = names.defining_scope(name, names.scope_at(self.call))
        return home is not None and home is not names.module_scope

    def _docstring(self, inner: ast.FunctionDef) -> list[Edit]:
        """What was said of the outer function, where nothing is said of the inner one."""
        first, source = self.maker.node.body[0], self.maker.module.source
        if not _is_text(first) or ast.get_docstring(inner) is not None:
            return []
        line = inner.body[0].lineno
        while source.line_text(line - 1).strip().startswith("#"):
            line -= 1
        if line <= inner.lineno:
            return []
        indent = source.indent_of(inner.body[0])
        place = source.line_starts[line - 1] - len(source.newline)
        return [Edit(place, place, f"{source.newline}{indent}{source.code(first)}")]

    def _inner(self) -> ast.FunctionDef | None:
        """The function that the outer one returns, which does nothing else."""
        node = self.maker.node
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            return None
        if not isinstance(self.maker.module.names.parents[node], ast.Module):
            return None
        if len(self.graph.references(self.maker)) != 1:
            return None
        body = [s for s in node.body if not _is_text(s)]
        if len(body) != 2:
            return None
        inner, last = body
        if not isinstance(inner, ast.FunctionDef) or inner.decorator_list:
            return None
        returned = last.value if isinstance(last, ast.Return) else None
        if not isinstance(returned, ast.Name) or returned.id != inner.name:
            return None
        return inner

    def _values(self) -> dict[str, ast.expr] | None:
        """What the call gives each parameter of the outer function."""
        node, arguments = self.maker.node, bind(self.call, self.maker)
        if node.args.vararg or node.args.kwarg or arguments.unclear is not None:
            return None
        if len(self.call.args) > len(self.maker.parameters()):
            return None
        defaults = arguments.defaults.items()
        known = {name: value for name, value in defaults if isinstance(value, ast.Constant)}
        return {**known, **arguments.written()}

    def _taken(self, inner: ast.FunctionDef) -> list[str] | None:
        """The outer function's parameters that the inner one reads; None if it changes one."""
        parameters = [*self.maker.parameters(), *(a.arg for a in self.maker.node.args.kwonlyargs)]
        own = {a.arg for a in (*inner.args.posonlyargs, *inner.args.args, *inner.args.kwonlyargs)}
        if inner.args.vararg or inner.args.kwarg or inner.args.kwonlyargs or inner.args.defaults:
            return None
        if any(isinstance(n, (ast.Global, ast.Nonlocal)) for n in walk(inner)):
            return None
        found = []
        for name in parameters:
            if name in own:
                continue
            mentions = [n for n in walk(inner) if isinstance(n, ast.Name) and n.id == name]
            if any(not isinstance(n.ctx, ast.Load) for n in mentions):
                return None
            if mentions:
                found.append(name)
        return None if set(found) & set(ROLES) else found

    def _lambda(
        self, inner: ast.FunctionDef, name: str, taken: list[str], values: dict[str, ast.expr]
    ) -> Edit:
        """`lambda features, labels, mode: model_fn(features, labels, mode, rate=0.1)`."""
        function = self.call.func
        source = self.module.source
        head = name
        if isinstance(function, ast.Attribute):
            head = f"{source.code(function.value)}.{name}"
        start, end = source.span(self.call)
        return Edit(start, end, wrapped(inner, head, taken, values, self.module, self.maker.module))

    def _imported(self, name: str, found: dict[Module, list[Edit]]) -> bool:
        """The import of the outer function names the inner one."""
        function = self.call.func
        if isinstance(function, ast.Attribute):
            return True
        assert isinstance(function, ast.Name)
        for binding in self.module.names.bindings_of(function):
            if isinstance(binding.node, ast.ImportFrom):
                for alias in binding.node.names:
                    if alias.name == self.maker.name and alias.asname is None:
                        if name in self.module.names.module_scope.bindings and name != alias.name:
                            return False
                        span = self.module.source.span(alias)
                        found.setdefault(self.module, []).append(Edit(*span, name))
                        return True
        return False


def wrapped(
    inner: ast.FunctionDef,
    head: str,
    taken: list[str],
    values: dict[str, ast.expr],
    module: Module,
    home: Module,
) -> str:
    """A lambda that gives a function what it takes besides the Estimator's own arguments."""
    own = [a.arg for a in inner.args.args if a.arg not in ("self", "cls")]
    pieces = [*own]
    for name in taken:
        value = values[name]
        source = module.source if _belongs(module, value) else home.source
        pieces.append(f"{name}={source.code(value)}")
    if not taken:
        return head
    return f"lambda {', '.join(own)}: {head}({', '.join(pieces)})"


def _belongs(module: Module, node: ast.expr) -> bool:
    return node in module.names.parents


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
