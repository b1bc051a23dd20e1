"""Methods that a constructor calls once to build parts of a graph: their statements, in its place.

`self.q, self.train_op = self._build_net(self.s)` becomes what the method does, with the arguments
in the place of its parameters, and `self.q = q`. Names that both have get another one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.origins import is_of_another
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments

# What an argument is that may stand wherever its parameter is mentioned.
_ATOMS = (ast.Name, ast.Constant, ast.Attribute)
_LEAVES = (ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)


def in_place(
    module: Module, graph: CallGraph, owner: ast.ClassDef, constructor: ast.FunctionDef
) -> list[Edit]:
    """The edits for one such method and its call; none where there is none."""
    for statement in in_line(constructor.body):
        if isinstance(statement, (ast.Expr, ast.Assign)):
            moved = _Moved(module, graph, owner, constructor, statement)
            edits = moved.edits()
            if edits:
                return edits
    return []


def in_line(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run once and one after the other, those of `with` blocks among them."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With):
            yield from in_line(statement.body)


@record(frozen=True)
class _Names:
    """What the names of a method become: ``texts`` of its parameters, ``locals`` of its own."""

    texts: Mapping[str, str]
    locals: Mapping[str, str]


class _Moved:
    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        owner: ast.ClassDef,
        constructor: ast.FunctionDef,
        statement: ast.Expr | ast.Assign,
    ) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.graph = graph
        self.owner = owner
        self.constructor = constructor
        self.statement = statement
        self.me = constructor.args.args[0].arg

    def edits(self) -> list[Edit]:
        method = self._method()
        if method is None or not self._may_move(method):
            return []
        self.method = method
        self.scope = self.names.scopes[method]
        body = method.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        last = body[-1] if body and isinstance(body[-1], ast.Return) else None
        returns = [part for part in walk(method) if isinstance(part, _LEAVES)]
        if not body or returns != ([last] if last is not None else []):
            return []
        pairs = self._results(last.value if last is not None else None)
        names = self._names(pairs) if pairs is not None else None
        if pairs is None or names is None:
            return []
        return self._written(body[:-1] if last is not None else body, pairs, names)

    # -- which method ------------------------------------------------------------------

    def _method(self) -> ast.FunctionDef | None:
        call = self.statement.value
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return None
        if func.value.id != self.me:
            return None
        found = [
            one for one in self.owner.body
            if isinstance(one, ast.FunctionDef) and one.name == func.attr
        ]  # fmt: skip
        return found[0] if len(found) == 1 and found[0] is not self.constructor else None

    def _may_move(self, method: ast.FunctionDef) -> bool:
        arguments = method.args
        if not arguments.args or arguments.args[0].arg != self.me or method.decorator_list:
            return False
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            return False
        mentions = [
            node
            for module in self.graph.modules
            for node in module.names.attributes.get(method.name, ())
            if not is_of_another(module, node, self.owner)
        ]
        assert isinstance(self.statement.value, ast.Call)
        if mentions != [self.statement.value.func] or method.name in self.names.by_id:
            return False
        targets = self.statement.targets if isinstance(self.statement, ast.Assign) else []
        layout = Layout(self.source, self.statement)
        return len(targets) < 2 and layout.owns_lines and Layout(self.source, method).owns_lines

    # -- names ---------------------------------------------------------------------------

    def _results(self, value: ast.expr | None) -> list[tuple[ast.expr, ast.expr]] | None:
        """What the statement's targets are given; None where that cannot be told apart."""
        if not isinstance(self.statement, ast.Assign):
            return [] if value is None else None
        target = self.statement.targets[0]
        if value is None:
            return None
        if isinstance(target, (ast.Tuple, ast.List)):
            if not isinstance(value, (ast.Tuple, ast.List)) or len(value.elts) != len(target.elts):
                return None
            return list(zip(target.elts, value.elts))
        return [(target, value)]

    def _names(self, pairs: list[tuple[ast.expr, ast.expr]]) -> _Names | None:
        call = self.statement.value
        assert isinstance(call, ast.Call)
        given = bind(call, Function(self.module, self.method)).every()
        if given is None:
            return None
        own = [name for name in self.scope.bindings if name != self.me and name not in given]
        if any(b.kind in ("import", "class") for n in own for b in self.scope.bindings[n]):
            return None
        texts: dict[str, str] = {}
        stored = {
            part.attr
            for part in walk(self.method)
            if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load)
        }
        for name, value in given.items():
            if any(isinstance(p, ast.Attribute) and p.attr in stored for p in walk(value)):
                return None  # the method changes what it is given
            if len(self.scope.bindings[name]) != 1:
                return None  # it is given something else
            mentions = self._mentions(name)
            if not isinstance(value, _ATOMS) and len(mentions) > 1:
                return None
            text = self.source.code(value)
            if "\n" in text or any(isinstance(part, ast.Call) for part in walk(value)):
                return None
            plain = isinstance(value, (*_ATOMS, ast.List, ast.Tuple, ast.Subscript, ast.Dict))
            texts[name] = text if plain else f"({text})"
        # What is free in the method must mean the same in the constructor.
        taken = {n.id for n in ast.walk(self.constructor) if isinstance(n, ast.Name)}
        taken |= {one.arg for one in self.constructor.args.args}
        used = {n.id for n in ast.walk(self.method) if isinstance(n, ast.Name)}
        free = used - {*own} - {*given} - {self.me}
        if free & {*self.names.scopes[self.constructor].bindings}:
            return None
        wanted = {
            value.id: target.id
            for target, value in reversed(pairs)
            if isinstance(value, ast.Name) and isinstance(target, ast.Name) and value.id in own
        }
        told = {n.id for v in given.values() for n in walk(v) if isinstance(n, ast.Name)}
        wanted = {name: new for name, new in wanted.items() if new not in told}
        found: dict[str, str] = {}
        bound = {*self.names.scopes[self.constructor].bindings}
        for name in own:
            new = wanted.get(name, name)
            known = taken - ({new} if name in wanted and new not in used - {name} else set())
            number = 2
            while new in known or new in found.values() or (new != name and new in used):
                new, number = f"{name}_{number}", number + 1
            found[name] = new
        if any(n in bound and n not in wanted.values() for n in found.values()):
            return None
        return _Names(texts, found)

    def _mentions(self, name: str) -> list[ast.Name]:
        return list(self.names.mentions(name, self.scope))

    # -- the new text -----------------------------------------------------------------------

    def _written(
        self, body: list[ast.stmt], pairs: list[tuple[ast.expr, ast.expr]], names: _Names
    ) -> list[Edit]:
        changes = [
            Edit(*self.source.span(mention), new)
            for name, new in (*names.texts.items(), *names.locals.items())
            if name != new
            for mention in self._mentions(name)
        ]
        block = Block(self.source, self.source.indent_of(self.statement))
        for one in body:
            block.statement(one, changes, 0)
        for target, value in pairs:
            text = self._changed(value, changes)
            if isinstance(target, ast.Name) and target.id == text:
                continue
            block.line(f"{self.source.code(target)} = {text}")
        layout, gone = Layout(self.source, self.statement), Layout(self.source, self.method)
        start = start_with_comments(self.source.text, gone.line_start)
        start = len(self.source.text[:start].rstrip()) + len(self.source.newline)
        return [
            Edit(layout.line_start, layout.next_line, block.text() if block.lines else ""),
            Edit(start, gone.next_line, ""),
        ]

    def _changed(self, node: ast.expr, changes: list[Edit]) -> str:
        start, end = self.source.span(node)
        text = self.source.text[start:end]
        inside = [one for one in changes if start <= one.start and one.end <= end]
        for one in sorted(inside, key=lambda o: -o.start):
            text = text[: one.start - start] + one.new + text[one.end - start :]
        return text
