"""What an expression may be, and where an object goes: followed through the modules of the run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Binding, Scope
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.analysis.tuples import own_nodes, taken_apart, unpacked
from migrate_mgpu.core.records import record
from migrate_mgpu.session_config.handing import _given, _parameter


@record(frozen=True)
class Value:
    """A place in the run; ``node`` None is the None of a function that ends without `return`."""

    module: Module
    node: ast.expr | None

    @property
    def is_none(self) -> bool:
        return self.node is None or (
            isinstance(self.node, ast.Constant) and self.node.value is None
        )


class Values:
    """Follows values backwards (``origins``) and objects forwards (``mentions``)."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph

    # -- backwards ---------------------------------------------------------

    def origins(self, module: Module, node: ast.expr) -> list[Value]:
        """Every expression that a value may come from, names and helpers looked through.

        What cannot be looked through is an origin itself.
        """
        found: dict[tuple[int, object], Value] = {}
        self._origins(Value(module, node), found, set())
        return list(found.values())

    def _origins(
        self, value: Value, found: dict[tuple[int, object], Value], seen: set[ast.AST]
    ) -> None:
        module, node = value.module, value.node
        if node is not None and node in seen:
            return
        sources = self._sources(module, node) if node is not None else None
        if node is not None:
            seen.add(node)
        if not sources:
            found.setdefault((id(module), node), value)
            return
        for source in sources:
            self._origins(source, found, seen)

    def _sources(self, module: Module, node: ast.expr) -> list[Value] | None:
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
        return self._bound(module, node.id, home, reaching(module, node, home))

    def _bound(
        self, module: Module, name: str, home: Scope, bindings: list[Binding] | None = None
    ) -> list[Value] | None:
        """What the bindings of a variable give it."""
        found: list[Value] = []
        for binding in home.bindings.get(name, []) if bindings is None else bindings:
            if binding.kind == "assign" and binding.value is not None:
                found.append(Value(module, binding.value))
            elif binding.kind == "parameter":
                given = self._given(module, name, home)
                if given is None:
                    return None
                found += given
            elif binding.kind == "import" and binding.qualname:
                imported = self._imported(module, binding.qualname)
                if imported is None:
                    return None
                found += imported
            else:
                parts = unpacked(self.graph, module, binding)
                if parts is None:
                    return None
                found += [Value(home, node) for home, node in parts]
        return found or None

    def _imported(self, module: Module, qualname: str) -> list[Value] | None:
        """`from settings import strategy`, of a variable of the run."""
        head, _, last = qualname.rpartition(".")
        for target in self.graph.project.resolve(module, head)[-1:] if head else ():
            scope = target.names.module_scope
            kinds = {b.kind for b in scope.bindings.get(last, [])}
            if kinds == {"assign"}:
                return self._bound(target, last, scope)
        return None

    def _given(self, module: Module, name: str, home: Scope) -> list[Value] | None:
        """What the callers of a function give for a parameter."""
        function = home.node
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip([a.arg for a in positional[::-1]], arguments.defaults[::-1]))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
            if default is not None:
                defaults[argument.arg] = default
        target = Function(module, function)
        found: list[Value] = []
        for reference in self.calls(target) or ():
            assert reference.call is not None
            given = _given(reference.call, name, target)
            if given is not None:
                found.append(Value(reference.module, given))
            elif name in defaults:
                found.append(Value(module, defaults[name]))
            else:
                return None
        return found or None

    def calls(self, function: Function) -> list[Reference] | None:
        """Every call of a function; None where there are none, or others than names tell."""
        references = self.graph.references(function)
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

    def _of_attribute(self, module: Module, node: ast.Attribute) -> list[Value] | None:
        known = self._class_of(module, node)
        if known is None:
            imported = module.names.qualname(node)
            return self._imported(module, imported) if imported else None
        module, owner = known
        found: list[Value] = []
        for attribute in _attributes(module, owner, node.attr):
            if isinstance(attribute.ctx, ast.Store):
                parent = module.names.parents[attribute]
                if not (isinstance(parent, ast.Assign) and len(parent.targets) == 1):
                    return None
                found.append(Value(module, parent.value))
        return found or None

    def _class_of(self, module: Module, node: ast.Attribute) -> tuple[Module, ast.ClassDef] | None:
        """The class of the run whose instance an attribute is read from."""
        owner = _class_of(module, node)
        if owner is not None:
            return module, owner
        made = self.origins(module, node.value)
        if len(made) != 1 or not isinstance(made[0].node, ast.Call):
            return None
        home, call = made[0].module, made[0].node
        function = self.graph.target(home, call.func)
        if function is None or function.owner is None or function.name != "__init__":
            return None
        return function.module, function.owner

    def _of_item(self, module: Module, node: ast.Subscript) -> list[Value] | None:
        """`{'mirrored': A, 'one': B}[name]`."""
        tables = self.origins(module, node.value)
        if len(tables) == 1 and isinstance(tables[0].node, ast.Tuple):
            index = node.slice.value if isinstance(node.slice, ast.Constant) else None
            members = tables[0].node.elts
            if isinstance(index, int) and -len(members) <= index < len(members):
                return [Value(tables[0].module, members[index])]
        table = tables[0].node if len(tables) == 1 else None
        if isinstance(table, ast.Call) and len(table.args) == 1 and not table.keywords:
            made = tables[0].module.names.qualname(table.func) == "builtins.dict"
            table = table.args[0] if made else None
        if not isinstance(table, ast.Dict):
            return None
        if isinstance(node.slice, ast.Constant):
            for key, value in zip(table.keys, table.values):
                if isinstance(key, ast.Constant) and key.value == node.slice.value:
                    return [Value(tables[0].module, value)]
            return None
        if any(key is None for key in table.keys):
            return None
        return [Value(tables[0].module, value) for value in table.values]

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
        if not found or any(
            isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(function.node)
        ):
            return None
        if not _always_returns(function.node.body):
            found.append(Value(function.module, None))
        return found

    # -- forwards ----------------------------------------------------------

    def mentions(self, module: Module, node: ast.expr) -> list[Value]:
        """Every place where the object that an expression makes is used, by whatever name.

        Assignments, branches, `return` of a helper and arguments of functions of the
        run are looked through.
        """
        found: list[Value] = []
        self._mentions(Value(module, node), found, {})
        return found

    def passes(self, module: Module, node: ast.expr) -> list[Value]:
        """Every place that the object comes by on its way to those of ``mentions``, and these."""
        seen: dict[ast.expr, Value] = {}
        self._mentions(Value(module, node), [], seen)
        return list(seen.values())

    def _mentions(self, value: Value, found: list[Value], seen: dict[ast.expr, Value]) -> None:
        module, node = value.module, value.node
        assert node is not None
        if node in seen:
            return
        seen[node] = value
        following = self._carried(module, node)
        if following is None:
            found.append(value)
            return
        for one in following:
            self._mentions(one, found, seen)

    def _carried(self, module: Module, node: ast.expr) -> list[Value] | None:
        """Where an object goes on from a place; None where it is used."""
        names = module.names
        parent = names.parents[node]
        if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
            return self._loaded(module, parent.targets[0])
        if isinstance(parent, ast.AnnAssign) and parent.value is node:
            return self._loaded(module, parent.target)
        if isinstance(parent, ast.Tuple) and isinstance(parent.ctx, ast.Load):
            places = taken_apart(module, parent, node, self.calls)
            if places is None:
                return None
            found: list[Value] = []
            for home, place in places:
                if isinstance(place.ctx, ast.Load):
                    found.append(Value(home, place))
                    continue
                loaded = self._loaded(home, place)
                if loaded is None:
                    return None
                found += loaded
            return found
        if isinstance(parent, ast.IfExp) and node is not parent.test:
            return [Value(module, parent)]
        if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.Or):
            return [Value(module, parent)]
        if isinstance(parent, ast.Return):
            function = self.graph.enclosing(module, parent)
            if function is None or function.node.decorator_list:
                return None
            references = self.calls(function)
            if references is None:
                return None
            return [Value(r.module, r.call) for r in references]
        if isinstance(parent, ast.keyword):
            parent = names.parents[parent]
        if isinstance(parent, ast.Call) and node is not parent.func:
            function = self.graph.target(module, parent.func)
            name = _parameter(parent, node, function) if function is not None else None
            if function is not None and name is not None:
                scope = function.module.names.scopes[function.node]
                return self.reads(function.module, name, scope)
        return None

    def _loaded(self, module: Module, target: ast.expr) -> list[Value] | None:
        names = module.names
        if isinstance(target, ast.Name):
            home = names.defining_scope(target.id, names.scope_of_name[target])
            if home is None:
                return None
            return [
                value
                for value in self.reads(module, target.id, home)
                if not isinstance(value.node, ast.Name)
                or value.module is not module
                or any(b.node is target for b in reaching(module, value.node, home))
            ]
        if isinstance(target, ast.Attribute):
            owner = _class_of(module, target)
            if owner is not None:
                found = [
                    Value(module, attribute)
                    for attribute in _attributes(module, owner, target.attr)
                    if isinstance(attribute.ctx, ast.Load)
                ]
                return [*found, *self._outside(module, owner, target.attr)]
        return None

    def _outside(self, module: Module, owner: ast.ClassDef, name: str) -> Iterator[Value]:
        """Reads of an attribute that may be of a class's instances, besides through `self`."""
        for other in self.graph.project.modules.values():
            if other is not module and module not in other.imported:
                continue
            for attribute in other.names.attributes.get(name, ()):
                if not isinstance(attribute.ctx, ast.Load) or other.names.qualname(attribute):
                    continue
                inner = _class_of(other, attribute)
                if inner is owner or (inner is not None and not _inherits(inner)):
                    continue
                known = self._class_of(other, attribute) if inner is None else None
                if known is None or known[1] is owner or _inherits(known[1]):
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


def _always_returns(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return bool(last.orelse) and _always_returns(last.body) and _always_returns(last.orelse)
    if isinstance(last, ast.With):
        return _always_returns(last.body)
    return False


def _class_of(module: Module, attribute: ast.Attribute) -> ast.ClassDef | None:
    """The class whose ``self.x`` an attribute is."""
    if not (isinstance(attribute.value, ast.Name) and attribute.value.id == "self"):
        return None
    for parent in module.names.ancestors(attribute):
        if isinstance(parent, ast.ClassDef):
            return parent
    return None


def _inherits(owner: ast.ClassDef) -> bool:
    """Whether a class has a base that may be another one of the run."""
    return any(not (isinstance(base, ast.Name) and base.id == "object") for base in owner.bases)


def _attributes(module: Module, owner: ast.ClassDef, name: str) -> list[ast.Attribute]:
    found = [a for a in module.names.attributes.get(name, ()) if _class_of(module, a) is owner]
    return sorted(found, key=lambda a: (a.lineno, a.col_offset))
