"""Which name means what: scopes, bindings and import aliases of one module, from stdlib ``ast``.

One pass over the tree. A name is resolved only when every binding of it in its
scope is an import, or a plain alias of one (``slim = tf.contrib.slim``); a
parameter, a loop variable or any other assignment of the same name makes it
unknown, so shadowing and rebinding never lead to a wrong match.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from migrate_mgpu.analysis.scopes import Binding as Binding
from migrate_mgpu.analysis.scopes import Scope as Scope
from migrate_mgpu.analysis.scopes import Scopes, position

_ALIASES = (ast.Name, ast.Attribute)


class Names(Scopes):
    """The scopes of one tree, with look-ups."""

    def __init__(self, tree: ast.Module, package: str = "", has_globals: bool = True) -> None:
        super().__init__(tree, package, has_globals)
        self._cache: dict[tuple[Scope, str], tuple[str, ...]] = {}
        self._qualnames: dict[ast.AST, str | None] = {}
        self.tensorflow_names: dict[ast.AST, str] = {}  # which the tables have found so far
        self._taken: dict[Scope, set[str]] = {}  # names that mean something in a scope

    def bind_import(self, name: str, node: ast.AST, qualname: str) -> None:
        """Gives a name of the module a meaning that its own text does not say."""
        self.module_scope.bind(name, Binding("import", node, qualname))
        vars(self).pop("imported_ids", None)
        vars(self).pop("dotted_bindings", None)
        vars(self).pop("renamed", None)

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
            scope = self._binding_scope(scope, name)
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
        return sorted(found, key=position)

    def mentioned(self, scopes: set[Scope]) -> set[str]:
        """The names that the code of some scopes reads or binds."""
        return {name for scope in scopes for name in self._mentioned.get(scope, ())}

    @cached_property
    def _mentioned(self) -> dict[Scope, set[str]]:
        found: dict[Scope, set[str]] = {}
        for node, scope in self.scope_of_name.items():
            found.setdefault(scope, set()).add(node.id)
        return found

    def bindings_of(self, node: ast.Name) -> list[Binding]:
        home = self.defining_scope(node.id, self.scope_of_name[node])
        return home.bindings[node.id] if home else []

    def only_binding(self, node: ast.Name) -> Binding | None:
        """What gives a name its one meaning; None where it may have several, or none here."""
        bindings = self.bindings_of(node)
        return bindings[0] if len(bindings) == 1 else None

    def may_be_none(self, node: ast.expr) -> bool:
        """Whether an expression is None, or a variable that is given None somewhere."""
        bindings = self.bindings_of(node) if isinstance(node, ast.Name) else []
        return is_none(node) or any(is_none(binding.value) for binding in bindings)

    def assigned(self, node: ast.expr | None) -> ast.expr | None:
        """The one value that a name is ever given, or the expression itself."""
        seen = 0
        while isinstance(node, ast.Name) and seen < 5:
            if node not in self.scope_of_name:
                return node
            value = self.only_value(node)
            if value is None:
                return node
            node, seen = value, seen + 1
        return node

    def only_value(self, node: ast.Name) -> ast.expr | None:
        """The expression that a name is given, where nothing gives it another."""
        binding = self.only_binding(node)
        return binding.value if binding is not None else None

    def only_definition(self, node: ast.Name) -> ast.AST | None:
        """The node that gives a name its one meaning: a class, a function, a target, an alias."""
        binding = self.only_binding(node)
        return binding.node if binding is not None else None

    def is_parameter(self, node: ast.Name) -> bool:
        """Whether a name is a parameter that is given nothing else."""
        binding = self.only_binding(node)
        return binding is not None and binding.kind == "parameter"

    @cached_property
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

    @cached_property
    def dotted_bindings(self) -> list[tuple[list[Binding], int]]:
        """The bindings to something of a module: `tf` of `from compat import tf`, by its list."""
        return [
            (bindings, index)
            for scope in self.scopes.values()
            for bindings in scope.bindings.values()
            for index, binding in enumerate(bindings)
            if binding.qualname and "." in binding.qualname
        ]

    @cached_property
    def renamed(self) -> dict[str, dict[str, None]]:
        """The other names that imported things have here: `from utils import config as make`."""
        found: dict[str, dict[str, None]] = {}
        for scope in self.scopes.values():
            for local, bindings in scope.bindings.items():
                for binding in bindings if local in self.by_id else ():
                    original = (binding.qualname or "").rpartition(".")[2]
                    if original != local:
                        found.setdefault(original, {})[local] = None
        return found

    def qualnames(self, node: ast.AST) -> tuple[str, ...]:
        """The dotted import paths that an expression may stand for; empty when unknown.

        More than one when the name is imported in several places
        (``try: import a as x`` / ``except ImportError: import b as x``).
        """
        suffix = ""
        while isinstance(node, ast.Attribute):
            suffix = f".{node.attr}{suffix}"
            node = node.value
        if not isinstance(node, ast.Name):
            return ()
        roots = self.roots(node.id, self.scope_of_name[node])
        return tuple([root + suffix for root in roots]) if suffix else roots

    def qualname(self, node: ast.AST) -> str | None:
        """The one import path that an expression stands for."""
        if node not in self._qualnames:
            found = self.qualnames(node)
            self._qualnames[node] = found[0] if found else None
        return self._qualnames[node]

    def roots(self, name: str, scope: Scope) -> tuple[str, ...]:
        """The import paths that a name stands for where ``scope`` mentions it."""
        home = self.defining_scope(name, scope)
        if home is None:
            return (f"builtins.{name}",)
        key = (home, name)
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

    def class_around(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class that a node stands in."""
        return next((one for one in self.ancestors(node) if isinstance(one, ast.ClassDef)), None)

    def taker(self, node: ast.AST) -> ast.Call | None:
        """The call that takes an expression as an argument, by position or by name."""
        parent = self.parents.get(node)
        call = self.parents[parent] if isinstance(parent, ast.keyword) else parent
        return call if isinstance(call, ast.Call) and node is not call.func else None

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
        """Whether two nodes stand in different arms of one `if`, `try` or `A if x else B`."""
        arms: dict[ast.AST, str] = {}
        child = first
        for parent in self.ancestors(first):
            arms[parent] = _arm(parent, child)
            child = parent
        child = second
        for parent in self.ancestors(second):
            if parent in arms:
                if isinstance(parent, ast.IfExp):
                    return {arms[parent], _arm(parent, child)} == {"body", "orelse"}
                other = _arm(parent, child)
                arm = arms[parent]
                both = bool(arm and other)  # a condition runs before each of its arms
                return isinstance(parent, (ast.If, ast.Try)) and both and arm != other
            child = parent
        return False

    def fresh(self, scope: Scope, *candidates: str) -> str:
        """The first of the candidates that means nothing yet in a scope or inside it."""
        taken = self._taken.get(scope)
        if taken is None:
            inside: set[Scope] = set()
            for other in self.scopes.values():
                chain: Scope | None = other
                while chain is not None and chain is not scope:
                    chain = chain.parent
                if chain is scope:
                    inside.add(other)
            taken = self._taken[scope] = self.mentioned(inside)
            taken.update(*(other.bindings for other in inside))
        for name in candidates:
            if name not in taken:
                return name
        number = 2
        while f"{candidates[0]}_{number}" in taken:
            number += 1
        return f"{candidates[0]}_{number}"


def is_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


_LITERALS = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp)


def constant(node: ast.expr | None) -> object | None:
    """The value of a literal (also ``-1``), or None when it is not one."""
    if isinstance(node, ast.Constant):
        return node.value
    if not isinstance(node, _LITERALS):
        return None
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value


def _arm(parent: ast.AST, child: ast.AST) -> str:
    for name in ("body", "orelse", "handlers", "finalbody"):
        members = getattr(parent, name, None)
        if child is members or (isinstance(members, list) and child in members):
            return name
    return ""
