"""Which name means what: scopes, bindings and import aliases of one module, from stdlib ``ast``.

One pass over the tree. A name is resolved only when every binding of it in its
scope is an import, or a plain alias of one (``slim = tf.contrib.slim``); a
parameter, a loop variable or any other assignment of the same name makes it
unknown, so shadowing and rebinding never lead to a wrong match.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Union

FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Nodes of which a part is evaluated in the scope around them.
_MIXED = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.arguments))
# Nodes that open no scope and bind nothing themselves.
_PLAIN = frozenset((
    ast.keyword, ast.Expr, ast.Assign, ast.AugAssign, ast.BinOp, ast.UnaryOp, ast.BoolOp,
    ast.Compare, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.If,
    ast.For, ast.While, ast.With, ast.withitem, ast.Return, ast.IfExp, ast.JoinedStr,
    ast.FormattedValue, ast.Starred, ast.Assert, ast.Raise, ast.Try, ast.arguments, ast.Delete,
    ast.Module, ast.comprehension, ast.Pass, ast.arg,
))  # fmt: skip
_ALIASES = (ast.Name, ast.Attribute)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, eq=False)
class Binding:
    """One place that gives a name its meaning."""

    kind: str  # import, assign, def, class, parameter, other
    node: ast.AST
    qualname: str | None = None  # of an import: "tensorflow.compat.v1"
    value: ast.expr | None = None  # of a plain assignment


@dataclass(eq=False)
class Scope:
    """A module, class, function, lambda or comprehension."""

    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)  # declared global or nonlocal
    names: dict[str, list[ast.Name]] = field(default_factory=dict)  # every mention

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_module(self) -> bool:
        return self.parent is None

    def function(self) -> FunctionNode | None:
        """The function whose body this scope is a part of; None at module and class level."""
        scope: Scope | None = self
        while scope is not None and isinstance(scope.node, _COMPREHENSIONS):
            scope = scope.parent
        return scope.node if scope is not None and isinstance(scope.node, _FUNCTIONS) else None

    def bind(self, name: str, binding: Binding) -> None:
        self.bindings.setdefault(name, []).append(binding)


class Names:
    """Scopes and parents of one tree, with look-ups."""

    def __init__(self, tree: ast.Module, package: str = "", has_globals: bool = True) -> None:
        """``package`` is the dotted package of the module, for relative imports.

        ``has_globals``: whether a ``global`` or ``nonlocal`` may stand in it.
        """
        self.tree = tree
        self.package = package
        self._has_globals = has_globals
        self.module_scope = Scope(tree, None)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.scopes: dict[ast.AST, Scope] = {tree: self.module_scope}  # by the node that opens it
        self.scope_of_name: dict[ast.Name, Scope] = {}
        self.by_id: dict[str, list[ast.Name]] = {}
        self.calls: list[ast.Call] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.attributes: dict[str, list[ast.Attribute]] = {}
        self.star_imports: list[ast.ImportFrom] = []
        self._cache: dict[tuple[int, str], tuple[str, ...]] = {}
        self._collect()

    # -- building ---------------------------------------------------------

    def _collect(self) -> None:
        # This loop is half of the time that a run takes: the common expressions are
        # written out, contexts and operators are left aside, they say nothing here.
        stack: list[tuple[ast.AST, Scope]] = [(self.tree, self.module_scope)]
        push, pop = stack.append, stack.pop
        parents, attributes = self.parents, self.attributes
        while stack:
            node, scope = pop()
            kind = type(node)
            if kind is ast.Constant:
                continue
            if kind is ast.Name:
                self._mention(node, scope)  # type: ignore[arg-type]
                continue
            if kind is ast.Attribute:
                attributes.setdefault(node.attr, []).append(node)  # type: ignore[attr-defined, arg-type]
                inner_value = node.value  # type: ignore[attr-defined]
                parents[inner_value] = node
                push((inner_value, scope))
                continue
            inner = scope
            if kind is ast.Call:
                self.calls.append(node)  # type: ignore[arg-type]
            elif kind not in _PLAIN:
                inner = self._enter(node, scope)
            mixed = kind in _MIXED
            for name in node._fields:
                value = getattr(node, name, None)
                if type(value) is list:
                    children = value
                elif isinstance(value, ast.AST) and name != "ctx" and name != "op":
                    children = [value]
                else:
                    continue
                for child in children:
                    if not isinstance(child, ast.AST):
                        continue
                    parents[child] = node
                    if mixed and self._belongs_outside(node, child):
                        outer = scope.parent if kind is ast.arguments else scope
                        push((child, outer or scope))
                    else:
                        push((child, inner))
        self.calls.sort(key=_position)
        self.imports.sort(key=_position)
        for scope in self.scopes.values():
            for bindings in scope.bindings.values():
                bindings.sort(key=lambda binding: _position(binding.node))

    @staticmethod
    def _belongs_outside(node: ast.AST, child: ast.AST) -> bool:
        """Decorators, defaults, bases and the first iterable are evaluated in the outer scope."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return child in node.decorator_list or child is node.returns
        if isinstance(node, ast.ClassDef):
            return child in node.decorator_list or child in node.bases or child in node.keywords
        if isinstance(node, ast.arguments):
            return child in node.defaults or child in node.kw_defaults
        return False

    def _mention(self, node: ast.Name, scope: Scope) -> None:
        self.scope_of_name[node] = scope
        home = self._home(scope, node.id) if scope.outer else scope
        home.names.setdefault(node.id, []).append(node)
        self.by_id.setdefault(node.id, []).append(node)
        if type(node.ctx) is not ast.Load:
            self._bind_name(node, home)

    def _enter(self, node: ast.AST, scope: Scope) -> Scope:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self._bind_import(node, scope)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            scope.outer.update(node.names)
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            if not isinstance(node, ast.Lambda):
                kind = "class" if isinstance(node, ast.ClassDef) else "def"
                self._home(scope, node.name).bind(node.name, Binding(kind, node))
            inner = self.scopes[node] = Scope(node, scope)
            if not isinstance(node, ast.ClassDef):
                arguments = node.args
                everything = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                for argument in (*everything, arguments.vararg, arguments.kwarg):
                    if argument is not None:
                        inner.bind(argument.arg, Binding("parameter", argument))
                # `global` counts in the whole function, also for names met before it.
                if not isinstance(node, ast.Lambda) and self._has_globals:
                    for statement in ast.walk(node):
                        if isinstance(statement, (ast.Global, ast.Nonlocal)):
                            inner.outer.update(statement.names)
            return inner
        elif isinstance(node, _COMPREHENSIONS):
            inner = self.scopes[node] = Scope(node, scope)
            return inner
        elif isinstance(node, ast.ExceptHandler) and node.name:
            scope.bind(node.name, Binding("other", node))
        elif type(node).__name__ in ("MatchAs", "MatchStar", "MatchMapping"):
            name = getattr(node, "name", None) or getattr(node, "rest", None)
            if name:
                scope.bind(name, Binding("other", node))
        return scope

    def _home(self, scope: Scope, name: str) -> Scope:
        """Where a mention in ``scope`` belongs when it is bound there: `global` goes up."""
        if name in scope.outer:
            upper = scope.parent
            while upper is not None and not upper.is_module and name not in upper.bindings:
                upper = upper.parent
            return upper or self.module_scope
        return scope

    def _bind_name(self, node: ast.Name, scope: Scope) -> None:
        parent = self.parents.get(node)
        value: ast.expr | None = None
        if (isinstance(parent, ast.Assign) and len(parent.targets) == 1) or isinstance(
            parent, ast.AnnAssign
        ):
            value = parent.value
        scope.bind(node.id, Binding("assign" if value is not None else "other", node, None, value))

    def _bind_import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        self.imports.append(node)
        for alias in node.names:
            if isinstance(node, ast.Import):
                name = alias.asname or alias.name.split(".")[0]
                qualname = alias.name if alias.asname else name
            elif alias.name == "*":
                self.star_imports.append(node)
                continue
            else:
                name = alias.asname or alias.name
                base = self.absolute(node)
                qualname = f"{base}.{alias.name}" if base else alias.name
            self._home(scope, name).bind(name, Binding("import", node, qualname))

    def absolute(self, node: ast.ImportFrom) -> str:
        """The absolute module that a `from` statement names."""
        return absolute(node, self.package)

    # -- looking up -------------------------------------------------------

    def scope_at(self, node: ast.AST) -> Scope:
        """The scope that a node's own code runs in."""
        current: ast.AST | None = node
        if isinstance(node, ast.Name) and node in self.scope_of_name:
            return self.scope_of_name[node]
        current = self.parents.get(node)
        child: ast.AST = node
        while current is not None:
            if current in self.scopes and not self._belongs_outside(current, child):
                return self.scopes[current]
            child, current = current, self.parents.get(current)
        return self.module_scope

    def defining_scope(self, name: str, scope: Scope) -> Scope | None:
        """The scope that a mention of ``name`` in ``scope`` refers to; None for builtins."""
        if name in scope.outer:
            scope = self._home(scope, name)
        current: Scope | None = scope
        while current is not None:
            if name in current.bindings and (current is scope or not current.is_class):
                return current
            current = current.parent
        return None

    def mentions(self, name: str, home: Scope) -> list[ast.Name]:
        """Every place that reads or binds the variable ``name`` of a scope, in source order."""
        found = [
            node
            for node in self.by_id.get(name, ())
            if self.defining_scope(name, self.scope_of_name[node]) is home
        ]
        return sorted(found, key=_position)

    def bindings_of(self, node: ast.Name) -> list[Binding]:
        home = self.defining_scope(node.id, self.scope_of_name[node])
        return home.bindings[node.id] if home else []

    def imported_ids(self) -> set[str]:
        """Names that some scope imports, or makes an alias of something: all others mean no import.

        Few names do, and asking first is cheaper than looking each one up.
        """
        return {
            name
            for scope in self.scopes.values()
            for name, bindings in scope.bindings.items()
            if any(b.kind == "import" or isinstance(b.value, _ALIASES) for b in bindings)
        }

    def qualnames(self, node: ast.AST) -> tuple[str, ...]:
        """The dotted import paths that an expression may stand for; empty when unknown.

        More than one when the name is imported in several places
        (``try: import a as x`` / ``except ImportError: import b as x``).
        """
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ()
        roots = self.roots(node.id, self.scope_of_name[node])
        suffix = "".join(f".{name}" for name in reversed(attributes))
        return tuple(root + suffix for root in roots)

    def qualname(self, node: ast.AST) -> str | None:
        """The one import path that an expression stands for."""
        found = self.qualnames(node)
        return found[0] if found else None

    def roots(self, name: str, scope: Scope) -> tuple[str, ...]:
        """The import paths that a name stands for where ``scope`` mentions it."""
        home = self.defining_scope(name, scope)
        if home is None:
            return (f"builtins.{name}",)
        key = (id(home), name)
        if key not in self._cache:
            self._cache[key] = ()  # ends a cycle such as `a = a.b`
            found: list[str] = []
            imported = [
                b.qualname for b in home.bindings[name] if b.kind == "import" and b.qualname
            ]
            for binding in home.bindings[name]:
                if binding.kind == "import" and binding.qualname:
                    found.append(binding.qualname)
                elif suffix := self._of_itself(binding, name, home):
                    found.extend(root + suffix for root in imported)
                elif binding.kind == "assign" and isinstance(
                    binding.value, (ast.Attribute, ast.Name)
                ):
                    aliased = self.qualnames(binding.value)
                    if not aliased or aliased[0].startswith("builtins."):
                        found = []
                        break
                    found.extend(aliased)
                elif binding.kind == "assign" and is_none(binding.value):
                    continue  # `except ImportError: tf = None`
                else:
                    found = []
                    break
            self._cache[key] = tuple(dict.fromkeys(found))
        return self._cache[key]

    def _of_itself(self, binding: Binding, name: str, home: Scope) -> str:
        """`.compat.v1` in `tf = tf.compat.v1`: what a name is made of itself."""
        node: ast.expr | None = binding.value
        suffix = ""
        while isinstance(node, ast.Attribute):
            suffix = f".{node.attr}{suffix}"
            node = node.value
        if not suffix or not isinstance(node, ast.Name) or node.id != name:
            return ""
        return suffix if self.defining_scope(name, self.scope_of_name[node]) is home else ""

    # -- walking up -------------------------------------------------------

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        current = self.parents.get(node)
        while current is not None:
            yield current
            current = self.parents.get(current)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node belongs to."""
        current: ast.AST = node
        while not isinstance(current, ast.stmt):
            current = self.parents[current]
        return current

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that a statement stands in."""
        parent = self.parents[statement]
        for name in ("body", "orelse", "finalbody"):
            candidates = getattr(parent, name, None)
            if isinstance(candidates, list) and statement in candidates:
                return candidates
        raise ValueError("a statement outside every block")

    def exclusive(self, first: ast.AST, second: ast.AST) -> bool:
        """Whether two statements stand in different arms of one `if` or `try`."""
        arms: dict[ast.AST, str] = {}
        child = first
        for parent in self.ancestors(first):
            arms[parent] = _arm(parent, child)
            child = parent
        child = second
        for parent in self.ancestors(second):
            if parent in arms:
                return isinstance(parent, (ast.If, ast.Try)) and arms[parent] != _arm(parent, child)
            child = parent
        return False

    def fresh(self, scope: Scope, *candidates: str) -> str:
        """The first of the candidates that means nothing yet in a scope or inside it."""
        taken: set[str] = set()
        for other in self.scopes.values():
            chain: Scope | None = other
            while chain is not None and chain is not scope:
                chain = chain.parent
            if chain is scope:
                taken.update(other.bindings, other.names)
        for name in candidates:
            if name not in taken:
                return name
        number = 2
        while f"{candidates[0]}_{number}" in taken:
            number += 1
        return f"{candidates[0]}_{number}"


def absolute(node: ast.ImportFrom, package: str) -> str:
    """The absolute module that a `from` statement in a module of ``package`` names."""
    if not node.level:
        return node.module or ""
    parts = package.split(".") if package else []
    parts = parts[: len(parts) - (node.level - 1)]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def is_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _arm(parent: ast.AST, child: ast.AST) -> str:
    for name in ("body", "orelse", "handlers", "finalbody"):
        members = getattr(parent, name, None)
        if isinstance(members, list) and child in members:
            return name
    return ""
