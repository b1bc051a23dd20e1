"""Methods that a constructor calls once to build parts of a graph: their statements, in its place.

`self.q, self.train_op = self._build_net(self.s)` becomes what the method does, with the arguments
in the place of its parameters, and `self.q = q`. Names that both have get another one.

One that it calls several times, to make layers each time, becomes a function above the class, which
is given what it read of the object: `q = build_net(self.s, 'eval', n_actions=self.n_actions)`. So
does one that each tower calls, and one within an expression that reads nothing of the object.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, statement_value, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.origins import is_of_another, is_of_class
from migrate_mgpu.models.front.session.scope import constructor_of
from migrate_mgpu.models.front.towers.loop import read_towers
from migrate_mgpu.models.normalize.functions.moved_calls import MovedCall
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments

# Expressions that may leave out a part of theirs.
_MAY_SKIP = (ast.IfExp, ast.BoolOp, ast.Compare, ast.Lambda, *COMPREHENSIONS)


def in_place(
    module: Module, graph: CallGraph, owner: ast.ClassDef, constructor: ast.FunctionDef
) -> list[Edit]:
    """The edits for one such method and its call; none where there is none."""
    for statement in (*in_line(constructor.body), *of_towers(module, graph, constructor.body)):
        if isinstance(statement, (ast.Expr, ast.Assign)):
            edits = moved(module, graph, owner, constructor, statement)
            if edits:
                return edits
    for statement in _in_branches(constructor.body):
        # A method that applies a network of the object's is part of the branch that calls it.
        if isinstance(statement, (ast.Expr, ast.Assign)) and _applies_again(owner, statement):
            edits = moved(module, graph, owner, constructor, statement)
            if edits:
                return edits
    return []


def _in_branches(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of conditions, each of which runs once, or not at all."""
    for statement in in_line(body):
        if isinstance(statement, ast.If):
            for block in (statement.body, statement.orelse):
                yield from (*in_line(block), *_in_branches(block))


def _applies_again(owner: ast.ClassDef, statement: ast.Expr | ast.Assign) -> bool:
    """Whether a statement calls a method that has `self.critic(between, reuse=True)`."""
    func = statement.value.func if isinstance(statement.value, ast.Call) else None
    name = func.attr if isinstance(func, ast.Attribute) else ""
    methods = (one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name == name)
    return any(
        keyword.arg == "reuse" and constant(keyword.value) is True
        for method in methods
        for call in walk(method)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
    )


def as_function(
    module: Module, graph: CallGraph, owner: ast.ClassDef, constructor: ast.FunctionDef
) -> list[Edit]:
    """The edits for one method that becomes a function; none where there is none."""
    lines, towers = set(in_line(constructor.body)), set(of_towers(module, graph, constructor.body))
    for method in owner.body:
        if isinstance(method, ast.FunctionDef) and method is not constructor:
            me = constructor.args.args[0].arg
            edits = Lifted(module, graph, owner, method, me).edits(lines, towers)
            if edits:
                return edits
    return []


class Lifted:
    """A method that becomes a function of the module's."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        owner: ast.ClassDef,
        method: ast.FunctionDef,
        me: str,
    ) -> None:
        """``me`` is the object's name in the methods."""
        self.module = module
        self.source = module.source
        self.graph = graph
        self.owner = owner
        self.method = method
        self.me = me
        self.scope = module.names.scopes[method]

    def edits(self, lines: set[ast.stmt], towers: set[ast.stmt]) -> list[Edit]:
        """``lines`` are the statements of the constructor that may call it, or ``towers``."""
        calls = self._calls(lines | towers)
        if not calls or not self.is_plain() or not self._lifts(calls, towers):
            return []
        arguments = self.method.args
        required = len(arguments.args) - len(arguments.defaults) - (not self.is_static)
        for call in calls:  # what it read stands before what has a default
            if len(call.args) > required or any(isinstance(a, ast.Starred) for a in call.args):
                return []
        reads = self.reads()
        name = self.function_name(self.method.name)
        if reads is None or not name:
            return []
        found: list[Edit] = []
        for call in calls:
            edit = CallEdit(self.source, call)
            edit.function(name)
            for parameter, attribute in reads.items():
                edit.add(parameter, f"{self.me}.{attribute}")
            found += edit.edits()
        return [*found, *self.moved(name, reads)]

    def function_name(self, name: str) -> str:
        """A free name for the function; empty where there is none."""
        names = self.module.names
        name = name.strip("_")
        known = {one.id for one in names.scope_of_name} | {*names.module_scope.bindings}
        if name in known or hasattr(builtins, name):
            name = names.fresh(names.module_scope, name, self.method.name)
        return name if name.isidentifier() else ""

    def moved(self, name: str, reads: Mapping[str, str]) -> list[Edit]:
        """The function above the class, and the method gone."""
        top, gone = Layout(self.source, self.owner), Layout(self.source, self.method)
        start = start_with_comments(self.source.text, top.line_start)
        own = start_with_comments(self.source.text, gone.line_start)
        own = len(self.source.text[:own].rstrip()) + len(self.source.newline)
        return [Edit(start, start, self._text(name, reads)), Edit(own, gone.next_line, "")]

    def _lifts(self, calls: list[ast.Call], towers: set[ast.stmt]) -> bool:
        """Whether calls are those of a function: of layers, of towers, or within an expression."""
        names = self.module.names
        if any(names.statement(call) in towers for call in calls):
            return len(calls) == 1
        if len(calls) > 1:
            return self.builds()
        statement = names.statement(calls[0])
        inside = statement_value(statement) is not calls[0] or is_average(self.method)
        return bool(towers) and inside and not self.reads()

    @property
    def is_static(self) -> bool:
        decorators = self.method.decorator_list
        qualname = self.module.names.qualname
        return [qualname(one) for one in decorators] == ["builtins.staticmethod"]

    def _calls(self, lines: set[ast.stmt]) -> list[ast.Call]:
        """All calls of the method; none where it is called elsewhere, or mentioned otherwise."""
        found: list[ast.Call] = []
        for module in self.graph.modules:
            for mention in module.names.attributes.get(self.method.name, ()):
                if is_of_class(self.graph, module, mention, self.owner):
                    return []
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
        return (
            []
            if is_named(self.module, self.owner, self.method)
            else sorted(found, key=lambda call: call.lineno)
        )

    def is_plain(self) -> bool:
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
            and (first == self.me or self.is_static)
            and not (arguments.posonlyargs or typed or leaves or self.method.returns)
            and (not self.method.decorator_list or self.is_static)
            and (self.is_static or Layout(self.source, self.method).owns_lines)
        )

    def builds(self) -> bool:
        """Whether it builds parts of a graph: layers, variables, or what is computed."""
        calls = (part for part in walk(self.method) if isinstance(part, ast.Call))
        return any(name_of(self.module, part) for part in calls)

    def reads(self) -> dict[str, str] | None:
        """The attributes that it reads, by the parameters that they become."""
        methods = {one.name for one in self.owner.body if isinstance(one, ast.FunctionDef)}
        used = {n.id for n in ast.walk(self.method) if isinstance(n, ast.Name)}
        used |= {one.arg for one in self.method.args.args}
        found: dict[str, str] = {}
        if self.is_static:
            return found
        for mention in self.module.names.mentions(self.me, self.scope):
            parent = self.module.names.parents.get(mention)
            if not isinstance(parent, ast.Attribute) or not isinstance(parent.ctx, ast.Load):
                return None
            name = parent.attr.strip("_") or parent.attr
            if name in used:  # `width = self.width`, which changes behind that
                name = f"own_{name}"
            if (
                parent.attr in methods
                or name in used
                or found.get(name, parent.attr) != parent.attr
            ):
                return None
            found[name] = parent.attr
        surely = self._surely_set()
        reads = {p for one in self._mentions() if (p := self.module.names.parents.get(one))}
        for attribute in set(found.values()) - surely:
            if not any(
                getattr(one, "attr", "") == attribute and self._always(one) for one in reads
            ):
                return None  # the method may not ask for it, and it may not be there
        return found

    def _surely_set(self) -> set[str]:
        """The attributes that each object has once it is made."""
        node = constructor_of(self.owner)
        lines = [*(in_line(node.body) if node is not None else ()), *self.owner.body]
        targets = (
            target
            for one in lines
            if isinstance(one, (ast.Assign, ast.AnnAssign))
            for whole in (one.targets if isinstance(one, ast.Assign) else [one.target])
            for target in (whole.elts if isinstance(whole, (ast.Tuple, ast.List)) else [whole])
        )
        return {getattr(target, "attr", getattr(target, "id", "")) for target in targets}

    def _always(self, node: ast.AST) -> bool:
        """Whether a method evaluates an expression whenever it is called, if it returns."""
        names = self.module.names
        statement = names.statement(node)
        for one in in_line(self.method.body):
            if one is statement:
                break
            if isinstance(one, ast.With):
                continue  # what stands in it comes one by one
            if any(isinstance(part, ast.Return) for part in walk(one)):
                return False  # it may have returned before
        else:
            return False
        for parent in names.ancestors(node):
            if parent is statement:
                return True
            if isinstance(parent, _MAY_SKIP):
                return False
        return False

    def _mentions(self) -> list[ast.Name]:
        return self.module.names.mentions(self.me, self.scope)

    def _text(self, name: str, reads: Mapping[str, str]) -> str:
        arguments = self.method.args
        blank: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
        required: list[str] = []
        optional: list[str] = []
        first = 0 if self.is_static else 1
        for one, default in list(zip(arguments.args, [*blank, *arguments.defaults]))[first:]:
            if default is None:
                required.append(one.arg)
            else:
                optional.append(f"{one.arg}={self.source.code(default)}")
        given = {attribute: parameter for parameter, attribute in reads.items()}
        changes = [
            Edit(*self.source.span(parent), given[parent.attr])
            for mention in ([] if self.is_static else self._mentions())
            if isinstance(parent := self.module.names.parents.get(mention), ast.Attribute)
        ]
        block = Block(self.source, self.source.indent_unit)
        for statement in self.method.body:
            block.statement(statement, changes, 0)
        newline = self.source.newline
        head = f"def {name}({', '.join([*required, *reads, *optional])}):"
        return head + newline + block.text() + newline * 2


def builds(function: Function, graph: CallGraph, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """Whether a function builds parts of a graph: itself, or through others of the run."""
    if function.node in seen:
        return False
    for call in (part for part in walk(function.node) if isinstance(part, ast.Call)):
        if name_of(function.module, call):
            return True
        inner = graph.target(function.module, call.func)
        if inner is not None and builds(inner, graph, seen | {function.node}):
            return True
    return False


def in_line(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run once and one after the other, those of `with` blocks among them."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With):
            yield from in_line(statement.body)


def is_called_once(
    module: Module,
    graph: CallGraph,
    constructor: ast.FunctionDef,
    method: ast.FunctionDef,
    func: ast.Attribute,
    line: int | None = None,
) -> bool:
    """Whether a method has one call, ``func``; other mentions of its name are of something else.

    A method may give its object something by its own name, `self.loss = loss` in `loss`, or its
    call, `self.loss = self.loss(x)`: from then on it is that. ``line`` is that of the call, where
    the constructor has it.
    """
    owner = module.names.parents[method]
    assert isinstance(owner, ast.ClassDef)
    lines = {*in_line(method.body)}
    if func in module.names.parents:  # the call may stand in another module
        lines.add(module.names.statement(func))
    me = method.args.args[0].arg if method.args.args else ""
    found = gives = others = False
    for other in graph.modules:
        for node in other.names.attributes.get(method.name, ()):
            if is_of_another(other, node, owner):
                continue
            if node is func:
                found = True
                continue
            others = True
            parent = other.names.parents.get(node)
            if isinstance(parent, ast.Call) and parent.func is node:
                return False
            if other is module and constructor in module.names.ancestors(node):
                if line is None or node.lineno < line:
                    return False  # it is still the method
            own = isinstance(node.value, ast.Name) and node.value.id == me
            stored = not isinstance(node.ctx, ast.Load)
            gives |= own and stored and other.names.statement(node) in lines
    return found and (gives or not others)


def of_towers(module: Module, graph: CallGraph, body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of the loop over devices, if towers are built in a body."""
    for statement in in_line(body):
        if isinstance(statement, ast.For) and read_towers(module, statement, graph) is not None:
            yield from in_line(statement.body)


def is_average(method: ast.FunctionDef) -> bool:
    """Whether a method goes through `zip(*tower_grads)`, the lists that towers left it.

    The readers know what it computes as a function's.
    """
    given = {one.arg for one in method.args.args}
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Name)
        and part.func.id == "zip"
        and len(part.args) == 1
        and isinstance(part.args[0], ast.Starred)
        and isinstance(part.args[0].value, ast.Name)
        and part.args[0].value.id in given
        for part in walk(method)
    )


def is_named(module: Module, owner: ast.ClassDef, method: ast.FunctionDef) -> bool:
    """Whether the class has its method by name as well: `run = fit`."""
    return bool(module.names.mentions(method.name, module.names.scopes[owner]))


def moved(
    module: Module,
    graph: CallGraph,
    owner: ast.ClassDef,
    constructor: ast.FunctionDef,
    statement: ast.Expr | ast.Assign,
) -> list[Edit]:
    """The edits for the one call of a method, if a statement is that."""
    call = statement.value
    func = call.func if isinstance(call, ast.Call) else None
    me = constructor.args.args[0].arg
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
        return []
    if func.value.id != me:
        return []
    methods = [
        one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name == func.attr
    ]
    if len(methods) != 1 or methods[0] is constructor:
        return []
    method = methods[0]
    arguments = method.args.args
    if is_named(module, owner, method) or is_average(method):
        return []
    if not is_called_once(module, graph, constructor, method, func, statement.lineno):
        return []
    gone = Layout(module.source, method)
    if not arguments or arguments[0].arg != me or not gone.owns_lines:
        return []
    edit = MovedCall(module, constructor, statement, method, me).edit()
    if edit is None:
        return []
    text = module.source.text
    start = start_with_comments(text, gone.line_start)
    start = len(text[:start].rstrip()) + len(module.source.newline)
    return [edit, Edit(start, gone.next_line, "")]
