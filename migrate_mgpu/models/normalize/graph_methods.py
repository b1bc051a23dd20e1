"""Methods that a constructor calls once to build parts of a graph: their statements, in its place.

`self.q, self.train_op = self._build_net(self.s)` becomes what the method does, with the arguments
in the place of its parameters, and `self.q = q`. Names that both have get another one.

One that it calls several times, to make layers each time, becomes a function above the class, which
is given what it read of the object: `q = build_net(self.s, 'eval', n_actions=self.n_actions)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.origins import is_of_another
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.call_edit import CallEdit
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


def as_function(
    module: Module, graph: CallGraph, owner: ast.ClassDef, constructor: ast.FunctionDef
) -> list[Edit]:
    """The edits for one method that is called several times; none where there is none."""
    lines = set(in_line(constructor.body))
    for method in owner.body:
        if isinstance(method, ast.FunctionDef) and method is not constructor:
            edits = _Lifted(module, graph, owner, constructor, method).edits(lines)
            if edits:
                return edits
    return []


class _Lifted:
    """A method that becomes a function of the module's."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        owner: ast.ClassDef,
        constructor: ast.FunctionDef,
        method: ast.FunctionDef,
    ) -> None:
        self.module = module
        self.source = module.source
        self.graph = graph
        self.owner = owner
        self.method = method
        self.me = constructor.args.args[0].arg
        self.scope = module.names.scopes[method]

    def edits(self, lines: set[ast.stmt]) -> list[Edit]:
        """``lines`` are the statements of the constructor that may call it."""
        calls = self._calls(lines)
        if len(calls) < 2 or not self._is_plain() or not self._makes_layers():
            return []
        arguments = self.method.args
        required = len(arguments.args) - len(arguments.defaults) - 1
        for call in calls:  # what it read stands before what has a default
            if len(call.args) > required or any(isinstance(a, ast.Starred) for a in call.args):
                return []
        reads = self._reads()
        names = self.module.names
        name = names.fresh(names.module_scope, self.method.name.strip("_"), self.method.name)
        if reads is None or not name.isidentifier():
            return []
        found: list[Edit] = []
        for call in calls:
            edit = CallEdit(self.source, call)
            edit.function(name)
            for parameter, attribute in reads.items():
                edit.add(parameter, f"{self.me}.{attribute}")
            found += edit.edits()
        top, gone = Layout(self.source, self.owner), Layout(self.source, self.method)
        start = start_with_comments(self.source.text, top.line_start)
        own = start_with_comments(self.source.text, gone.line_start)
        own = len(self.source.text[:own].rstrip()) + len(self.source.newline)
        text = self._text(name, reads)
        return [*found, Edit(start, start, text), Edit(own, gone.next_line, "")]

    def _calls(self, lines: set[ast.stmt]) -> list[ast.Call]:
        """All calls of the method; none where it is called elsewhere, or mentioned otherwise."""
        found: list[ast.Call] = []
        for module in self.graph.modules:
            for mention in module.names.attributes.get(self.method.name, ()):
                if is_of_another(module, mention, self.owner):
                    continue
                call = module.names.parents.get(mention)
                here = isinstance(call, ast.Call) and call.func is mention
                receiver = mention.value
                own = isinstance(receiver, ast.Name) and receiver.id == self.me
                if module is not self.module or not here or not own:
                    return []
                if module.names.statement(mention) not in lines:
                    return []
                assert isinstance(call, ast.Call)
                found.append(call)
        named = self.method.name in self.module.names.by_id
        return [] if named else sorted(found, key=lambda call: call.lineno)

    def _is_plain(self) -> bool:
        arguments = self.method.args
        plain = not (arguments.vararg or arguments.kwarg or arguments.kwonlyargs)
        first = arguments.args[0].arg if arguments.args else ""
        typed = any(one.annotation is not None for one in arguments.args)
        leaves = any(
            isinstance(part, (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal))
            for part in walk(self.method)
        )
        return (
            plain
            and first == self.me
            and not (arguments.posonlyargs or typed or leaves or self.method.returns)
            and not self.method.decorator_list
            and Layout(self.source, self.method).owns_lines
        )

    def _makes_layers(self) -> bool:
        return any(
            name_of(self.module, part) in VARIABLES.by_name
            or name_of(self.module, part).startswith(("layers.", "contrib.layers."))
            for part in walk(self.method)
            if isinstance(part, ast.Call)
        )

    def _reads(self) -> dict[str, str] | None:
        """The attributes that it reads, by the parameters that they become."""
        methods = {one.name for one in self.owner.body if isinstance(one, ast.FunctionDef)}
        used = {n.id for n in ast.walk(self.method) if isinstance(n, ast.Name)}
        used |= {one.arg for one in self.method.args.args}
        found: dict[str, str] = {}
        for mention in self.module.names.mentions(self.me, self.scope):
            parent = self.module.names.parents.get(mention)
            if not isinstance(parent, ast.Attribute) or not isinstance(parent.ctx, ast.Load):
                return None
            name = parent.attr.strip("_") or parent.attr
            if (
                parent.attr in methods
                or name in used
                or found.get(name, parent.attr) != parent.attr
            ):
                return None
            found[name] = parent.attr
        return found

    def _text(self, name: str, reads: Mapping[str, str]) -> str:
        arguments = self.method.args
        blank: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
        required: list[str] = []
        optional: list[str] = []
        for one, default in list(zip(arguments.args, [*blank, *arguments.defaults]))[1:]:
            if default is None:
                required.append(one.arg)
            else:
                optional.append(f"{one.arg}={self.source.code(default)}")
        changes = [
            Edit(*self.source.span(parent), parent.attr.strip("_") or parent.attr)
            for mention in self.module.names.mentions(self.me, self.scope)
            if isinstance(parent := self.module.names.parents.get(mention), ast.Attribute)
        ]
        block = Block(self.source, self.source.indent_unit)
        for statement in self.method.body:
            block.statement(statement, changes, 0)
        newline = self.source.newline
        head = f"def {name}({', '.join([*required, *reads, *optional])}):"
        return head + newline + block.text() + newline * 2


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
