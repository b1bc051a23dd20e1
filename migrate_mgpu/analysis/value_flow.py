"""What an expression may be, and where an object goes: followed through the modules of the run.

Both ways the same steps are taken: aliases, members of tuples and dictionaries, attributes,
conditional expressions and branches, parameters and their defaults, what a function returns or
a context manager gives to `with ... as`, and imports between modules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Union

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Binding, Scope, is_none
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.core.records import record

# How a place hands an object on.
ASSIGNED = "assigned"  # to a variable or an attribute
MEMBER = "member"  # of a tuple, a list or a dictionary
CHOSEN = "chosen"  # by a conditional expression, or by `or`
RETURNED = "returned"  # by a function, to its callers
ENTERED = "entered"  # yielded to `with ... as`
GIVEN = "given"  # as an argument of a function of the run

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MANAGER = "contextlib.contextmanager"
_TRANSPARENT = ("contextlib.closing", "contextlib.nullcontext")  # `with` gives their argument
_READS = ("get", "items", "keys", "values", "copy")  # methods that leave a dictionary as it is
Container = Union[ast.Tuple, ast.List, ast.Dict]


@record(frozen=True)
class Value:
    """A place in the run; ``node`` None is the None of a function that ends without `return`."""

    module: Module
    node: ast.expr | None

    @property
    def is_none(self) -> bool:
        return self.node is None or is_none(self.node)


@record(frozen=True)
class Step:
    """How a place hands an object on: ``carrier`` is the syntax that does, ``to`` where it goes.

    An object that goes nowhere from here (a variable that nothing reads) has no ``to``.
    """

    kind: str
    module: Module
    carrier: ast.AST
    to: tuple[Value, ...]


class ValueFlow:
    """Follows values to their definitions, and objects to their uses."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self._asked: set[ast.AST] = set()  # a value that is made of itself ends there

    # -- definitions -------------------------------------------------------

    def definitions(self, module: Module, node: ast.expr) -> list[Value]:
        """Every expression that a value may come from, names and helpers looked through.

        What cannot be looked through is a definition itself.
        """
        found: dict[tuple[int, object], Value] = {}
        self._definitions(Value(module, node), found, set())
        return list(found.values())

    def _definitions(
        self, value: Value, found: dict[tuple[int, object], Value], seen: set[ast.AST]
    ) -> None:
        module, node = value.module, value.node
        if node is not None and node in seen:
            return
        sources = self.sources(module, node) if node is not None else None
        if node is not None:
            seen.add(node)
        if not sources:
            found.setdefault((id(module), node), value)
            return
        for source in sources:
            self._definitions(source, found, seen)

    def sources(self, module: Module, node: ast.expr) -> list[Value] | None:
        """One step back; None where there is none to take."""
        if isinstance(node, ast.IfExp):
            return [Value(module, node.body), Value(module, node.orelse)]
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return [Value(module, part) for part in node.values]
        if isinstance(node, ast.Name):
            return self._of_name(module, node)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(module, node)
        if isinstance(node, ast.Subscript):
            return self._of_item(module, node)
        if isinstance(node, ast.Call):
            return self._returned(module, node)
        return None

    def _of_name(self, module: Module, node: ast.Name) -> list[Value] | None:
        names = module.names
        home = names.defining_scope(node.id, names.scope_of_name[node])
        if home is None:
            return None
        return self._bound(module, node.id, home, reaching(module.names, node, home))

    def _bound(
        self, module: Module, name: str, home: Scope, bindings: list[Binding] | None = None
    ) -> list[Value] | None:
        """What the bindings of a variable give it."""
        found: list[Value] = []
        for binding in home.bindings.get(name, []) if bindings is None else bindings:
            if binding.kind == "assign" and binding.value is not None:
                found.append(Value(module, binding.value))
                continue
            if binding.kind == "parameter":
                given = self._argument_values(module, name, home)
            elif binding.kind == "import":
                given = self._imported(module, binding.qualname or "")
            else:
                given = self._taken_out(module, binding.node)
            if given is None:
                return None
            found += given
        return found or None

    def _imported(self, module: Module, qualname: str) -> list[Value] | None:
        """`from settings import strategy`, of a variable of the run."""
        head, _, last = qualname.rpartition(".")
        for target in self.graph.project.resolve(module, head)[-1:] if head else ():
            scope = target.names.module_scope
            kinds = {b.kind for b in scope.bindings.get(last, [])}
            if kinds and kinds <= {"assign", "other"}:
                return self._bound(target, last, scope)
        plain = self.graph.project.plain_constant(module, head, last) if head else None
        return [Value(*plain)] if plain is not None else None

    def _argument_values(self, module: Module, name: str, home: Scope) -> list[Value] | None:
        """What the callers of a function give for a parameter."""
        if not isinstance(home.node, _FUNCTIONS):
            return None
        function = Function(module, home.node)
        found: list[Value] = []
        for reference in self.calls(function) or ():
            assert reference.call is not None
            arguments = bind(reference.call, function)
            given = arguments.given(name)
            if given is not None:
                found.append(Value(reference.module, given))
            elif name in arguments.defaults:
                found.append(Value(module, arguments.defaults[name]))
            else:
                return None
        return found or None

    def calls(self, function: Function) -> list[Reference] | None:
        """Every call of a function; None where there are none, or others than names tell."""
        references = [one for one in self.graph.references(function) if not _is_asked(one)]
        if not references or any(reference.call is None for reference in references):
            return None
        if function.owner is not None and function.name != "__init__":
            known = {reference.node for reference in references}
            for module in self.graph.project.modules.values():
                if known.issuperset(module.names.attributes.get(function.name, ())):
                    continue
                if module is function.module or function.module in module.imported:
                    return None  # a method of something that may be of this class
        return references

    def _taken_out(self, module: Module, target: ast.AST) -> list[Value] | None:
        """What a name of `a, b = ...` or of `with ... as a` is given."""
        parent = module.names.parents.get(target)
        if isinstance(parent, ast.withitem):
            return self._entered(module, parent.context_expr)
        if not isinstance(parent, (ast.Tuple, ast.List)) or _starred(parent):
            return None
        statement = module.names.parents.get(parent)
        if not isinstance(statement, ast.Assign) or statement.targets != [parent]:
            return None
        assert isinstance(target, ast.expr)
        index, count = parent.elts.index(target), len(parent.elts)
        found: list[Value] = []
        for value in self._inner(module, statement.value):
            group = value.node
            if group is None:
                continue  # the end of a function without `return`: that is never taken apart
            if not isinstance(group, (ast.Tuple, ast.List)) or _starred(group):
                return None
            if len(group.elts) != count:
                return None
            found.append(Value(value.module, group.elts[index]))
        return found or None

    def _inner(self, module: Module, node: ast.expr) -> list[Value]:
        """The definitions of a part of what is asked for; none where that is asked for already."""
        if node in self._asked:
            return []
        self._asked.add(node)
        try:
            return self.definitions(module, node)
        finally:
            self._asked.discard(node)

    def _entered(self, module: Module, node: ast.expr) -> list[Value] | None:
        """What `with` gives to its variable."""
        if not isinstance(node, ast.Call):
            return None
        if module.names.qualname(node.func) in _TRANSPARENT and len(node.args) == 1:
            return [Value(module, node.args[0])]
        function = self.graph.target(module, node.func)
        if function is None or not is_manager(function):
            return None
        yielded = [n for n in own_nodes(function.node) if isinstance(n, ast.Yield)]
        return [Value(function.module, one.value) for one in yielded] or None

    def _of_attribute(self, module: Module, node: ast.Attribute) -> list[Value] | None:
        known = self.owner_of(module, node)
        if known is None:
            imported = module.names.qualname(node)
            return self._imported(module, imported) if imported else None
        module, owner = known
        found: list[Value] = []
        for home, attribute in self._stores(module, owner, node.attr):
            parent = home.names.parents[attribute]
            if (isinstance(parent, ast.AnnAssign) and parent.value is not None) or (
                isinstance(parent, ast.Assign) and parent.targets == [attribute]
            ):
                found.append(Value(home, parent.value))
            else:
                parts = self._taken_out(home, attribute)
                if parts is None:
                    return None
                found += parts
        bindings = module.names.scopes[owner].bindings.get(node.attr, [])
        found += [Value(module, b.value) for b in bindings if b.value is not None]
        return found or None

    def _stores(
        self, module: Module, owner: ast.ClassDef, name: str
    ) -> Iterator[tuple[Module, ast.Attribute]]:
        """Where an attribute of a class's instances is given a value."""
        for attribute in _attributes(module, owner, name):
            if isinstance(attribute.ctx, ast.Store):
                yield module, attribute
        for other in self.graph.project.modules.values():
            if other is not module and module not in other.imported:
                continue
            for attribute in other.names.attributes.get(name, ()):
                if isinstance(attribute.ctx, ast.Store) and not _class_of(other, attribute):
                    if self.owner_of(other, attribute) == (module, owner):
                        yield other, attribute

    def owner_of(self, module: Module, node: ast.Attribute) -> tuple[Module, ast.ClassDef] | None:
        """The class of the run whose instance an attribute is read from."""
        owner = _class_of(module, node)
        if owner is not None:
            return module, owner
        made = self._inner(module, node.value)
        if len(made) != 1 or not isinstance(made[0].node, ast.Call):
            return None
        home, call = made[0].module, made[0].node
        function = self.graph.target(home, call.func)
        if function is None or function.owner is None or function.name != "__init__":
            return None
        return function.module, function.owner

    def _of_item(self, module: Module, node: ast.Subscript) -> list[Value] | None:
        """`{'mirrored': A, 'one': B}[name]`, and `[0]` of what a function returns together."""
        made = self._inner(module, node.value)
        home, table = (made[0].module, made[0].node) if len(made) == 1 else (module, None)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(table, ast.Tuple):
            if isinstance(key, int) and -len(table.elts) <= key < len(table.elts):
                return None if _starred(table) else [Value(home, table.elts[key])]
            return None
        changed = table
        if isinstance(table, ast.Call) and len(table.args) == 1 and not table.keywords:
            known = home.names.qualname(table.func) == "builtins.dict"
            table = table.args[0] if known else None
        if not isinstance(table, ast.Dict) or None in table.keys:
            return None
        assert changed is not None
        if any(self._changes(use) for use in self.uses(home, changed)):
            return None
        if not isinstance(node.slice, ast.Constant):
            return [Value(home, value) for value in table.values]
        for name, value in zip(table.keys, table.values):
            if isinstance(name, ast.Constant) and name.value == key:
                return [Value(home, value)]
        return None

    @staticmethod
    def _changes(use: Value) -> bool:
        """Whether a dictionary may hold other members after a use of it."""
        assert use.node is not None
        parent = use.module.names.parents[use.node]
        if isinstance(parent, ast.Subscript) and parent.value is use.node:
            return not isinstance(parent.ctx, ast.Load)
        return isinstance(parent, ast.Attribute) and parent.attr not in _READS

    def _returned(self, module: Module, call: ast.Call) -> list[Value] | None:
        """What a function of the run returns."""
        function = self.graph.target(module, call.func)
        if function is None or isinstance(function.node, ast.AsyncFunctionDef):
            return None
        if function.name == "__init__" or function.node.decorator_list:
            return None
        found: list[Value] = []
        for node in returns(function):
            found.append(Value(function.module, node.value))
        if not found or _generates(function):
            return None
        if not _always_returns(function.node.body):
            found.append(Value(function.module, None))
        return found

    # -- uses --------------------------------------------------------------

    def uses(self, module: Module, node: ast.expr) -> list[Value]:
        """Every place where the object that an expression makes is used, by whatever name.

        What only hands it on is looked through.
        """
        found: list[Value] = []
        self._uses(Value(module, node), found, {})
        return found

    def places(self, module: Module, node: ast.expr) -> list[Value]:
        """Every place that the object comes by on its way to its ``uses``, and these."""
        seen: dict[ast.expr, Value] = {}
        self._uses(Value(module, node), [], seen)
        return list(seen.values())

    def _uses(self, value: Value, found: list[Value], seen: dict[ast.expr, Value]) -> None:
        module, node = value.module, value.node
        assert node is not None
        if node in seen:
            return
        seen[node] = value
        step = self.step(module, node)
        if step is None:
            found.append(value)
            return
        for one in step.to:
            self._uses(one, found, seen)

    def step(self, module: Module, node: ast.expr) -> Step | None:
        """How a place hands an object on; None where it is used."""
        names = module.names
        parent = names.parents[node]
        kind, carrier = "", parent
        to: list[Value] | None = None
        if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is node:
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            kind, to = ASSIGNED, self._stored(module, targets[0]) if len(targets) == 1 else None
        elif isinstance(parent, (ast.Tuple, ast.List, ast.Dict)) and node in _members(parent):
            kind, to = MEMBER, self._member(module, parent, node)
        elif (isinstance(parent, ast.IfExp) and node is not parent.test) or (
            isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.Or)
        ):
            kind, to = CHOSEN, [Value(module, parent)]
        elif isinstance(parent, ast.Return):
            kind, to = RETURNED, self._to_callers(module, parent)
        elif isinstance(parent, ast.Yield):
            kind, to = ENTERED, self._to_blocks(module, parent)
        elif isinstance(parent, (ast.keyword, ast.Call)):
            carrier = names.parents[parent] if isinstance(parent, ast.keyword) else parent
            if isinstance(carrier, ast.Call) and node is not carrier.func:
                kind, to = self._given_on(module, carrier, node)
        return None if to is None else Step(kind, module, carrier, tuple(to))

    def _given_on(
        self, module: Module, call: ast.Call, node: ast.expr
    ) -> tuple[str, list[Value] | None]:
        """The reads of the parameter that gets an argument, or of what `with` makes of it."""
        block = module.names.parents[call]
        if isinstance(block, ast.withitem) and call.args == [node]:
            if module.names.qualname(call.func) in _TRANSPARENT:
                return ENTERED, self._named(module, block)
        function = self.graph.target(module, call.func)
        name = bind(call, function).parameter(node) if function is not None else None
        if function is None or name is None:
            return GIVEN, None
        scope = function.module.names.scopes[function.node]
        return GIVEN, self.reads(function.module, name, scope)

    def _to_callers(self, module: Module, statement: ast.Return) -> list[Value] | None:
        function = self._around(module, statement)
        if function is None or function.node.decorator_list:
            return None
        references = self.calls(function)
        if references is None:
            return None
        return [Value(r.module, r.call) for r in references]

    def _to_blocks(self, module: Module, node: ast.Yield) -> list[Value] | None:
        """The variables of every `with` that enters a context manager of the run."""
        function = self._around(module, node)
        references = self.calls(function) if function is not None else None
        if function is None or references is None or not is_manager(function):
            return None
        found: list[Value] = []
        for reference in references:
            assert reference.call is not None
            block = reference.module.names.parents[reference.call]
            named = None
            if isinstance(block, ast.withitem):
                named = self._named(reference.module, block)
            if named is None:
                return None
            found += named
        return found

    def _named(self, module: Module, block: ast.withitem) -> list[Value] | None:
        target = block.optional_vars
        return [] if target is None else self._stored(module, target)

    def _around(self, module: Module, node: ast.AST) -> Function | None:
        """The function that a `return` or `yield` is of; None for a lambda's."""
        for parent in module.names.ancestors(node):
            if isinstance(parent, _FUNCTIONS):
                return Function(module, parent)
            if isinstance(parent, ast.Lambda):
                return None
        return None

    def _member(self, module: Module, group: Container, node: ast.expr) -> list[Value] | None:
        """Where a member of a container goes, if all that is done with it is to take members."""
        key = _key(group, node)
        if key is None or group in self._asked:
            return None
        self._asked.add(group)
        try:
            found: list[Value] = []
            for use in self.uses(module, group):
                taken = self._taken(use, group, key)
                if taken is None:
                    return None
                found += taken
            return found
        finally:
            self._asked.discard(group)

    def _taken(self, use: Value, group: Container, key: ast.Constant) -> list[Value] | None:
        """Where one use of a container takes a member: a variable, a subscript, or nowhere."""
        module, node = use.module, use.node
        assert node is not None
        parent = module.names.parents[node]
        if isinstance(parent, ast.Expr) and isinstance(node, ast.Call):
            return []
        if isinstance(parent, ast.Subscript) and parent.value is node:
            if not isinstance(parent.ctx, ast.Load) or not isinstance(parent.slice, ast.Constant):
                return None
            wanted = {key.value}
            if not isinstance(group, ast.Dict):
                wanted.add(key.value - len(group.elts))  # type: ignore[operator]
            return [Value(module, parent)] if parent.slice.value in wanted else []
        if isinstance(group, ast.Dict) or not isinstance(parent, ast.Assign):
            return None
        targets = parent.targets[0]
        if len(parent.targets) != 1 or not isinstance(targets, (ast.Tuple, ast.List)):
            return None
        if len(targets.elts) != len(group.elts) or _starred(targets):
            return None
        return self._stored(module, targets.elts[key.value])  # type: ignore[index]

    def unpacked(
        self, module: Module, group: Container, node: ast.expr
    ) -> list[tuple[ast.stmt, ast.expr]] | None:
        """The targets that take a member of a tuple, with their statements; of a dictionary none.

        None where that cannot be taken out of all of them: another container comes to the
        same place, one is in another file, or takes members by their numbers.
        """
        found: list[tuple[ast.stmt, ast.expr]] = []
        for use in self.uses(module, group):
            assert use.node is not None
            parent = module.names.parents.get(use.node)
            if isinstance(parent, ast.Expr):
                continue
            if [value.node for value in self.definitions(use.module, use.node)] != [group]:
                return None
            if isinstance(group, ast.Dict):
                if not isinstance(parent, ast.Subscript):
                    return None
                continue
            if not isinstance(parent, ast.Assign) or len(group.elts) < 2:
                return None
            targets = parent.targets[0]
            assert isinstance(targets, (ast.Tuple, ast.List))
            found.append((parent, targets.elts[group.elts.index(node)]))
        return found if found or isinstance(group, ast.Dict) else None

    def _stored(self, module: Module, target: ast.expr) -> list[Value] | None:
        """The reads of a variable or an attribute that is given an object here."""
        names = module.names
        if isinstance(target, (ast.Tuple, ast.List)):
            return None  # a container, which is taken apart: no place of its own
        if isinstance(target, ast.Name):
            home = names.defining_scope(target.id, names.scope_of_name[target])
            if home is None:
                return None
            found = [
                value
                for value in self.reads(module, target.id, home)
                if not isinstance(value.node, ast.Name)
                or value.module is not module
                or any(b.node is target for b in reaching(module.names, value.node, home))
            ]
            if isinstance(home.node, ast.ClassDef):
                found += self._loads(module, home.node, target.id)
            return found
        if isinstance(target, ast.Attribute):
            known = self.owner_of(module, target)
            if known is not None:
                return self._loads(*known, target.attr)
        return None

    def _loads(self, module: Module, owner: ast.ClassDef, name: str) -> list[Value]:
        """The reads of an attribute of a class's instances."""
        found = [
            Value(module, attribute)
            for attribute in _attributes(module, owner, name)
            if isinstance(attribute.ctx, ast.Load)
        ]
        return [*found, *self._outside(module, owner, name)]

    def _outside(self, module: Module, owner: ast.ClassDef, name: str) -> Iterator[Value]:
        """Reads of an attribute that may be of a class's instances, besides through `self`."""
        for other in self.graph.project.modules.values():
            if other is not module and module not in other.imported:
                continue
            for attribute in other.names.attributes.get(name, ()):
                if not isinstance(attribute.ctx, ast.Load) or other.names.qualname(attribute):
                    continue
                inner = _class_of(other, attribute)
                if inner is owner or (inner is not None and not inherits(inner)):
                    continue
                known = self.owner_of(other, attribute) if inner is None else None
                if known is None or known[1] is owner or inherits(known[1]):
                    yield Value(other, attribute)

    def reads(self, module: Module, name: str, home: Scope) -> list[Value]:
        """Every place that reads a variable, other modules' included."""
        found = [
            Value(module, mention)
            for mention in module.names.mentions(name, home)
            if isinstance(mention.ctx, ast.Load)
        ]
        if home.is_module:
            for other in self.graph.project.modules.values():
                if module in other.imported:
                    found += self._borrowed(other, module, name)
        return found

    def _borrowed(self, other: Module, module: Module, name: str) -> Iterator[Value]:
        """Uses of a module's variable in another one that imports it."""
        for scope in other.names.scopes.values():
            for local, bindings in scope.bindings.items():
                if any(self._is(other, b.qualname, module, name) for b in bindings):
                    yield from self.reads(other, local, scope)
        for attribute in other.names.attributes.get(name, ()):
            if self._is(other, other.names.qualname(attribute), module, name):
                yield Value(other, attribute)

    def _is(self, other: Module, qualname: str | None, module: Module, name: str) -> bool:
        head, _, last = (qualname or "").rpartition(".")
        return last == name and module in self.graph.project.resolve(other, head)[-1:]


def returns(function: Function) -> list[ast.Return]:
    """The `return` statements of a function itself."""
    return [node for node in own_nodes(function.node) if isinstance(node, ast.Return)]


def is_manager(function: Function) -> bool:
    """Whether a function is a context manager by `contextlib.contextmanager`, and nothing else."""
    decorators = [function.module.names.qualname(d) for d in function.node.decorator_list]
    return decorators == [_MANAGER]


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside of it."""
    stack: list[ast.AST] = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def _generates(function: Function) -> bool:
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(function.node))


def _always_returns(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return bool(last.orelse) and _always_returns(last.body) and _always_returns(last.orelse)
    if isinstance(last, ast.With):
        return _always_returns(last.body)
    return False


def _members(group: Container) -> list[ast.expr]:
    """What a container holds, if it is read as a whole here and not stored to."""
    if isinstance(group, ast.Dict):
        return group.values
    return group.elts if isinstance(group.ctx, ast.Load) else []


def _key(group: Container, node: ast.expr) -> ast.Constant | None:
    """By what a member is taken out of a container; None where others may be in its place."""
    if not isinstance(group, ast.Dict):
        return None if _starred(group) else ast.Constant(group.elts.index(node))
    keys = [key for key, value in zip(group.keys, group.values) if value is node]
    written = [key.value if isinstance(key, ast.Constant) else None for key in group.keys]
    if None in written or len(set(written)) != len(written):
        return None
    return keys[0] if isinstance(keys[0], ast.Constant) else None


def _starred(group: ast.Tuple | ast.List) -> bool:
    return any(isinstance(member, ast.Starred) for member in group.elts)


def _is_asked(reference: Reference) -> bool:
    """`super(Trainer, self)`, `isinstance(x, Trainer)`: a class that is not called."""
    names = reference.module.names
    parent = names.parents[reference.node]
    if not isinstance(parent, ast.Call) or reference.node not in parent.args:
        return False
    asking = ("builtins.super", "builtins.isinstance", "builtins.issubclass")
    return names.qualname(parent.func) in asking


def _class_of(module: Module, attribute: ast.Attribute) -> ast.ClassDef | None:
    """The class whose ``self.x`` an attribute is."""
    if not (isinstance(attribute.value, ast.Name) and attribute.value.id == "self"):
        return None
    for parent in module.names.ancestors(attribute):
        if isinstance(parent, ast.ClassDef):
            return parent
    return None


def inherits(owner: ast.ClassDef) -> bool:
    """Whether a class has a base that may be another one of the run."""
    return any(not (isinstance(base, ast.Name) and base.id == "object") for base in owner.bases)


def _attributes(module: Module, owner: ast.ClassDef, name: str) -> list[ast.Attribute]:
    found = [a for a in module.names.attributes.get(name, ()) if _class_of(module, a) is owner]
    return sorted(found, key=lambda a: (a.lineno, a.col_offset))
