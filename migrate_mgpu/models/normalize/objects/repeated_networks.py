"""A method that builds a network once more, with its variables: the first one, called again.

    def generator(self, z):                        def sampler(self, z):
        with tf.variable_scope("g") as scope:          with tf.variable_scope("g") as scope:
            net = linear(z, 64, "h0")                      scope.reuse_variables()
            return norm(net, True)                         return norm(linear(z, 64, "h0"), False)

`self.sampler(z)` becomes `self.generator(z, training=False, reuse=True)`. Both return the same of
what they are given, whatever they call it on the way, but for one truth value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.origins import class_of, is_of_another
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments

_CONDITIONS = 5  # that a method is followed through, each with both of its arms
_PLAIN = (
    ast.Attribute, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.BinOp, ast.UnaryOp,
    ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.operator, ast.unaryop,
    ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such method; none where there is none."""
    if "reuse" not in module.source.text:
        return []
    for owner in module.tree.body:
        if isinstance(owner, ast.ClassDef):
            methods = [one for one in owner.body if isinstance(one, ast.FunctionDef)]
            networks = [one for one in (_network(module, m) for m in methods) if one is not None]
            first = [one for one in networks if not one.again]
            for one, other in product(first, [one for one in networks if one.again]):
                edits = _Repeated(module, graph, owner, one, other).edits()
                if edits:
                    return edits
    return []


@record(frozen=True, eq=False)
class _Network:
    """A method whose statements stand in one scope of variables.

    ``again``: that says that they are there. ``says`` is what says so, or a condition that does
    by a parameter.
    """

    method: ast.FunctionDef
    block: ast.With
    scope: ast.Call
    name: ast.Name | None  # that of the scope
    says: ast.stmt | None
    again: bool

    @property
    def body(self) -> list[ast.stmt]:
        return [one for one in self.block.body if one is not self.says]

    @property
    def parameter(self) -> str | None:
        """The parameter that tells a first network whether its variables are there."""
        test = self.says.test if isinstance(self.says, ast.If) else None
        return test.id if isinstance(test, ast.Name) else None


def _network(module: Module, method: ast.FunctionDef) -> _Network | None:
    body = [one for one in method.body if not _is_text(one)]
    block = body[0] if len(body) == 1 else None
    given = method.args
    several = given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs
    if not isinstance(block, ast.With) or len(block.items) > 1 or several or not given.args:
        return None
    if method.decorator_list or not Layout(module.source, method).owns_lines:
        return None
    scope, name = block.items[0].context_expr, block.items[0].optional_vars
    if not isinstance(scope, ast.Call) or name_of(module, scope) != "variable_scope":
        return None
    if len(scope.args) != 1 or not isinstance(constant(scope.args[0]), str):
        return None
    if name is not None and not isinstance(name, ast.Name):
        return None
    told = {one.arg: one.value for one in scope.keywords}
    if told:
        again = {*told} == {"reuse"} and constant(told["reuse"]) is True
        return _Network(method, block, scope, name, None, True) if again else None
    says = block.body[0]
    if name is not None and _says_reuse(says, name.id):
        return _Network(method, block, scope, name, says, True)
    if isinstance(says, ast.If) and name is not None and len(says.body) == 1 and not says.orelse:
        if _says_reuse(says.body[0], name.id) and isinstance(says.test, ast.Name):
            return _Network(method, block, scope, name, says, False)
    return _Network(method, block, scope, name, None, False)


def _says_reuse(statement: ast.stmt, scope: str) -> bool:
    """`scope.reuse_variables()`"""
    call = statement.value if isinstance(statement, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) and not call.args else None
    return (
        isinstance(func, ast.Attribute)
        and func.attr == "reuse_variables"
        and isinstance(func.value, ast.Name)
        and func.value.id == scope
    )


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


# -- what a method returns -----------------------------------------------------------------


@record(frozen=True, eq=False)
class _Value:
    """An expression with what the names in it stand for; ``item``: one of those that it gives."""

    node: ast.expr
    names: Mapping[str, _Value | None]  # None: what the method is given
    item: int | None = None


@record(frozen=True, eq=False)
class _Choice:
    """What a condition chooses from."""

    test: _Value
    then: _Value | _Choice
    otherwise: _Value | _Choice


class _Unknown(Exception):
    """What a method returns is not known."""


def _returned(
    body: Sequence[ast.stmt], names: Mapping[str, _Value | None], me: str, depth: int = 0
) -> _Value | _Choice:
    """What statements return."""
    for place, statement in enumerate(body):
        if _is_text(statement) or isinstance(statement, ast.Pass):
            continue
        if isinstance(statement, ast.Return) and statement.value is not None:
            return _Value(statement.value, names)
        if isinstance(statement, ast.If) and depth < _CONDITIONS:
            rest = body[place + 1 :]
            arms = [
                _returned([*arm, *rest], names, me, depth + 1)
                for arm in (statement.body, statement.orelse)
            ]
            return _Choice(_Value(statement.test, names), *arms)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise _Unknown
        target = statement.targets[0]
        new = dict(names)
        if isinstance(target, (ast.Tuple, ast.List)):
            for item, one in enumerate(target.elts):
                new[_named(one, me)] = _Value(statement.value, names, item)
        else:
            new[_named(target, me)] = _Value(statement.value, names)
        names = new
    raise _Unknown


def _named(target: ast.expr, me: str) -> str:
    if isinstance(target, ast.Name) and target.id != me:
        return target.id
    raise _Unknown


class _Alike:
    """Tells whether two values are the same, but for truth values: ``changes``.

    Those are places in the first: a constant, or a call with the parameter that it leaves out.
    """

    def __init__(self, module: Module, graph: CallGraph, first: str, second: str) -> None:
        """``first`` and ``second`` are the objects of both methods."""
        self.module = module
        self.graph = graph
        self.objects = first, second
        self.changes: dict[tuple[ast.expr, str], tuple[object, object, str]] = {}
        self.same: set[tuple[ast.expr, str]] = set()
        self._calls: dict[ast.AST, ast.AST] = {}
        self._seen: set[tuple[int, ...]] = set()
        self._kept: list[object] = []  # so that no other has the identity of what was seen

    def has(self, call: ast.Call) -> bool:
        """Whether a call is one of the other method's."""
        return call in self._calls

    def chosen(self, one: _Value | _Choice, other: _Value | _Choice) -> bool:
        if isinstance(one, _Value) and isinstance(other, _Value):
            return self.values(one, other)
        if not isinstance(one, _Choice) or not isinstance(other, _Choice):
            return False
        before = len(self.changes)
        if not self.values(one.test, other.test) or len(self.changes) > before:
            return False
        return self.chosen(one.then, other.then) and self.chosen(one.otherwise, other.otherwise)

    def values(self, one: _Value, other: _Value) -> bool:
        one, other = _stood_for(one), _stood_for(other)
        if one.item != other.item:
            return False
        return self._nodes(one.node, one.names, other.node, other.names)

    def _nodes(
        self,
        one: ast.expr,
        names: Mapping[str, _Value | None],
        other: ast.expr,
        others: Mapping[str, _Value | None],
    ) -> bool:
        key = id(one), id(names), id(other), id(others)
        if key in self._seen:
            return True
        self._seen.add(key)
        self._kept += [names, others]
        if isinstance(one, ast.Name) and names.get(one.id) is not None:
            return self.values(_Value(one, names), _Value(other, others))
        if isinstance(other, ast.Name) and others.get(other.id) is not None:
            return self.values(_Value(one, names), _Value(other, others))
        if isinstance(one, ast.Name) and isinstance(other, ast.Name):
            if (one.id == self.objects[0]) is not (other.id == self.objects[1]):
                return False
            if one.id == self.objects[0]:
                return True
            given = one.id in names, other.id in others
            return one.id == other.id and given[0] is given[1]
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.Call) and isinstance(other, ast.Call):
            return self._are_calls(one, names, other, others)
        if isinstance(one, ast.Constant) and isinstance(other, ast.Constant):
            return self._constants(one, "", one, other, "")
        if not isinstance(one, _PLAIN):
            return False
        return self._fields(one, names, other, others)

    def _fields(
        self,
        one: ast.AST,
        names: Mapping[str, _Value | None],
        other: ast.AST,
        others: Mapping[str, _Value | None],
    ) -> bool:
        for name in one._fields:
            left, right = getattr(one, name, None), getattr(other, name, None)
            lefts = left if isinstance(left, list) else [left]
            rights = right if isinstance(right, list) else [right]
            if len(lefts) != len(rights):
                return False
            for a, b in zip(lefts, rights):
                if isinstance(a, ast.expr) and isinstance(b, ast.expr):
                    if not self._nodes(a, names, b, others):
                        return False
                elif isinstance(a, ast.AST) or isinstance(b, ast.AST):
                    if type(a) is not type(b):
                        return False
                elif a != b:
                    return False
        return True

    def _are_calls(
        self,
        one: ast.Call,
        names: Mapping[str, _Value | None],
        other: ast.Call,
        others: Mapping[str, _Value | None],
    ) -> bool:
        # Each call of the one is a call of the other, so that as much is made, and drawn.
        if self._calls.setdefault(one, other) is not other:
            return False
        if self._calls.setdefault(other, one) is not one:
            return False
        if not self._nodes(one.func, names, other.func, others):
            return False
        target = self.graph.target(self.module, one.func)
        if target is not None and target.node is getattr(
            self.graph.target(self.module, other.func), "node", None
        ):
            left, right = bind(one, target).every(), bind(other, target).every()
            if left is None or right is None:
                return False
        else:
            if len(one.args) != len(other.args):
                return False
            if any(isinstance(a, ast.Starred) for a in (*one.args, *other.args)):
                return False
            left = {str(place): value for place, value in enumerate(one.args)}
            right = {str(place): value for place, value in enumerate(other.args)}
            for found, call in ((left, one), (right, other)):
                if any(keyword.arg is None for keyword in call.keywords):
                    return False
                found.update((str(keyword.arg), keyword.value) for keyword in call.keywords)
        if {*left} != {*right}:
            return False
        inside = {*one.args, *(keyword.value for keyword in one.keywords)}
        for name, value in left.items():
            if isinstance(value, ast.Constant) and isinstance(right[name], ast.Constant):
                place = value if value in inside else one
                if not self._constants(place, name, value, right[name], name):
                    return False
            elif value not in inside or right[name] not in _given(other):
                if ast.dump(value) != ast.dump(right[name]) or value in inside:
                    return False  # a default, and something that is given
            elif not self._nodes(value, names, right[name], others):
                return False
        return True

    def _constants(
        self, place: ast.expr, name: str, one: ast.expr, other: ast.expr, word: str
    ) -> bool:
        """``place`` is the constant, or a call that leaves the parameter out, by its ``name``."""
        assert isinstance(one, ast.Constant) and isinstance(other, ast.Constant)
        key = place, name if isinstance(place, ast.Call) else ""
        if type(one.value) is type(other.value) and one.value == other.value:
            self.same.add(key)
            return True
        if not isinstance(one.value, bool) or not isinstance(other.value, bool):
            return False
        self.changes[key] = one.value, other.value, word if word.isidentifier() else ""
        return True


def _given(call: ast.Call) -> set[ast.expr]:
    return {*call.args, *(keyword.value for keyword in call.keywords)}


def _stood_for(value: _Value) -> _Value:
    """What a name stands for, and an item of a tuple that is written out."""
    while True:
        node, known = value.node, None
        if isinstance(node, ast.Name):
            known = value.names.get(node.id)
        if known is not None and value.item is None:
            value = known
        elif known is not None and known.item is None:
            value = _Value(known.node, known.names, value.item)
        elif value.item is not None and isinstance(node, (ast.Tuple, ast.List)):
            if value.item >= len(node.elts):
                return value
            value = _Value(node.elts[value.item], value.names)
        else:
            return value


# -- the edits -----------------------------------------------------------------------------


class _Repeated:
    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        owner: ast.ClassDef,
        first: _Network,
        again: _Network,
    ) -> None:
        self.module = module
        self.graph = graph
        self.owner = owner
        self.first = first
        self.again = again
        self.source = module.source

    def edits(self) -> list[Edit]:
        if constant(self.first.scope.args[0]) != constant(self.again.scope.args[0]):
            return []
        calls = self._calls()
        alike = self._alike() if calls else None
        if alike is None:
            return []
        told = {one[:2] for one in alike.changes.values()}
        if len(told) > 1 or alike.same & {*alike.changes}:
            return []
        flag = self._fresh(
            *sorted({word for *_, word in alike.changes.values() if word}), "training"
        )
        reuse = self.first.parameter or self._fresh("reuse", "reuses")
        if not flag or not reuse:
            return []
        found: list[Edit] = [*self._changes(alike, flag)]
        parameters = [f"{flag}={value[0]}" for value in told]
        given = [(flag, f"{value[1]}") for value in told] + [(reuse, "True")]
        if self.first.parameter is None:
            parameters.append(f"{reuse}=False")
            found += self._said(reuse)
        for call in calls:
            edit = CallEdit(self.source, call)
            assert isinstance(call.func, ast.Attribute)
            edit.function(f"{self.source.code(call.func.value)}.{self.first.method.name}")
            for name, value in given:
                edit.add(name, value)
            found += edit.edits()
        arguments = self.first.method.args
        start, at = self.source.span([*arguments.args, *arguments.defaults][-1])
        if arguments.defaults and not self.source.text[:start].rstrip().endswith("="):
            return []
        if parameters:
            found.append(Edit(at, at, "".join(f", {one}" for one in parameters)))
        gone = Layout(self.source, self.again.method)
        start = start_with_comments(self.source.text, gone.line_start)
        start = len(self.source.text[:start].rstrip()) + len(self.source.newline)
        return [*found, Edit(start, gone.next_line, "")]

    def _alike(self) -> _Alike | None:
        """What both return, if it is the same; None where it is not, or is not known."""
        given = [network.method.args for network in (self.first, self.again)]
        told = {self.first.parameter}
        parameters: list[dict[str, str]] = []
        for told_to in given:
            blank: list[ast.expr | None] = [None] * (len(told_to.args) - len(told_to.defaults))
            parameters.append(
                {
                    arg.arg: "" if value is None else ast.dump(value)
                    for arg, value in list(zip(told_to.args, [*blank, *told_to.defaults]))[1:]
                    if arg.arg not in told
                }
            )
        if list(parameters[0].items()) != list(parameters[1].items()):
            return None
        me = [one.args[0].arg for one in given]
        found = _Alike(self.module, self.graph, me[0], me[1])
        try:
            one, other = (
                _returned(network.body, dict.fromkeys(parameters[0]), name)
                for network, name in zip((self.first, self.again), me)
            )
        except _Unknown:
            return None
        if not found.chosen(one, other):
            return None
        every = (part for network in (self.first, self.again) for part in self._made(network))
        return found if all(map(found.has, every)) else None

    def _made(self, network: _Network) -> Iterator[ast.Call]:
        """The calls of a method; not those that only count in Python."""
        for statement in network.body:
            for part in walk(statement):
                if isinstance(part, ast.Call):
                    known = self.module.names.qualname(part.func) or ""
                    if known not in ("builtins.int", "builtins.float", "math.ceil"):
                        yield part

    def _mentions(self, method: ast.FunctionDef) -> Iterator[tuple[Module, ast.Attribute]]:
        for module in self.graph.modules:
            for mention in module.names.attributes.get(method.name, ()):
                if not is_of_another(module, mention, self.owner):
                    yield module, mention

    def _calls(self) -> list[ast.Call]:
        """The calls of the second method, behind that of the first; none where this is not sure.

        Its name may be what the object has of it from then on: `self.sampler = self.sampler(z)`.
        """
        names = self.module.names
        scope = names.scopes[self.owner]
        if any(names.mentions(one.method.name, scope) for one in (self.first, self.again)):
            return []
        begun = [*self._called(self._mentions(self.first.method))]
        every = [*self._mentions(self.again.method)]
        calls = [*self._called(every)]
        if not begun or len(begun) != len([*self._mentions(self.first.method)]) or not calls:
            return []
        home = names.scope_at(begun[0]).function()
        if not isinstance(home, ast.FunctionDef):
            return []
        if names.statement(begun[0]) not in in_line(home.body):
            return []
        if any(names.scope_at(one).function() is not home for one in (*begun, *calls)):
            return []
        if any(one.lineno <= begun[0].lineno for one in (*begun[1:], *calls)):
            return []
        if len(calls) < len(every) and not self._is_given(calls, every):
            return []
        return calls

    def _is_given(
        self, calls: Sequence[ast.Call], every: Sequence[tuple[Module, ast.Attribute]]
    ) -> bool:
        """Whether other mentions of a method's name are of what its one call gives the object."""
        statement = self.module.names.statement(calls[0])
        others = [(module, one) for module, one in every if one is not calls[0].func]
        given = [one for _, one in others if not isinstance(one.ctx, ast.Load)]
        home = self.module.names.scope_at(calls[0])
        return (
            len(calls) == 1
            and len(given) == 1
            and isinstance(statement, ast.Assign)
            and statement.value is calls[0]
            and statement.targets == given
            and class_of(self.module, given[0]) is self.owner
            and all(
                module is not self.module
                or self.module.names.scope_at(one) is not home
                or one.lineno >= statement.lineno
                for module, one in others
            )
        )

    def _called(
        self, mentions: Iterator[tuple[Module, ast.Attribute]] | list[tuple[Module, ast.Attribute]]
    ) -> Iterator[ast.Call]:
        """The calls by `self`, in their order."""
        found: list[ast.Call] = []
        for module, mention in mentions:
            call = module.names.parents.get(mention)
            here = module is self.module and class_of(module, mention) is self.owner
            if isinstance(call, ast.Call) and call.func is mention and here:
                found.append(call)
        yield from sorted(found, key=lambda call: (call.lineno, call.col_offset))

    def _fresh(self, *words: str) -> str:
        """A name for a parameter of the first method."""
        method = self.first.method
        taken = {n.id for n in walk(method) if isinstance(n, ast.Name)}
        taken |= {one.arg for one in method.args.args}
        return next((one for one in words if one not in taken), "")

    def _said(self, reuse: str) -> Iterator[Edit]:
        """`if reuse: scope.reuse_variables()`, at the top of the first method's scope."""
        block, name = self.first.block, self.first.name
        word = name.id if name is not None else self._fresh("scope", "variables")
        if name is None:
            at = self.source.span(self.first.scope)[1]
            yield Edit(at, at, f" as {word}")
        inner, layout = self.source.indent_unit, Layout(self.source, block.body[0])
        says = [f"if {reuse}:", f"{inner}{word}.reuse_variables()"]
        at = start_with_comments(self.source.text, layout.line_start)
        yield Edit(at, at, layout.lines(says))

    def _changes(self, alike: _Alike, flag: str) -> Iterator[Edit]:
        """The first method's truth values, as its parameter says."""
        for place, name in alike.changes:
            if isinstance(place, ast.Call):
                edit = CallEdit(self.source, place)
                edit.add(name, flag)
                yield from edit.edits()
            else:
                yield Edit(*self.source.span(place), flag)
