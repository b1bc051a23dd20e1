"""The scopes of one module, what is bound in them, and where each node stands: one pass."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Container, Iterator
from operator import attrgetter
from typing import Any, Union

FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Nodes that open no scope and bind nothing themselves.
_PLAIN = frozenset((
    ast.keyword, ast.Expr, ast.Assign, ast.AugAssign, ast.BinOp, ast.UnaryOp, ast.BoolOp,
    ast.Compare, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.If,
    ast.For, ast.While, ast.With, ast.withitem, ast.Return, ast.IfExp, ast.JoinedStr,
    ast.FormattedValue, ast.Starred, ast.Assert, ast.Raise, ast.Try, ast.arguments, ast.Delete,
    ast.Module, ast.comprehension, ast.Pass, ast.arg,
))  # fmt: skip
# Fields that are evaluated in the scope around the one that a node opens or belongs to.
_OUTSIDE: dict[type, tuple[str, ...]] = {
    ast.FunctionDef: ("decorator_list", "returns"),
    ast.AsyncFunctionDef: ("decorator_list", "returns"),
    ast.ClassDef: ("decorator_list", "bases", "keywords"),
    ast.arguments: ("defaults", "kw_defaults"),
}
# Fields without anything to look at: names as text, contexts, operators.
_NOTHING = frozenset((
    "id", "attr", "arg", "ctx", "op", "ops", "module", "asname", "level", "type_comment", "kind",
    "conversion", "simple", "is_async",
))  # fmt: skip
KINDS = [k for k in vars(ast).values() if isinstance(k, type) and issubclass(k, ast.AST)]
# Of each kind of node the fields that may hold others.
_FIELDS = {k: tuple(name for name in k._fields if name not in _NOTHING) for k in KINDS}
# The most frequent ones, with nothing in them.
_LEAVES = frozenset((ast.Name, ast.Constant, ast.alias))
# And those that hold statements.
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
BLOCKS_OF = {k: tuple(name for name in _BLOCKS if name in k._fields) for k in KINDS}

# Where a node stands in the source, and where the node of a binding or a use does.
position = attrgetter("lineno", "col_offset")
node_position = attrgetter("node.lineno", "node.col_offset")


class Binding:
    """One place that gives a name its meaning; it is not changed."""

    __slots__ = ("kind", "node", "qualname", "value")

    def __init__(
        self,
        kind: str,  # import, assign, def, class, parameter, other
        node: ast.AST,
        qualname: str | None = None,  # of an import: "tensorflow.compat.v1"
        value: ast.expr | None = None,  # of a plain assignment
    ) -> None:
        self.kind = kind
        self.node = node
        self.qualname = qualname
        self.value = value


class Scope:
    """A module, class, function, lambda or comprehension."""

    __slots__ = ("bindings", "is_class", "node", "outer", "parent")

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.bindings: dict[str, list[Binding]] = {}
        self.outer: set[str] = set()  # declared global or nonlocal
        self.is_class = isinstance(node, ast.ClassDef)

    @property
    def is_module(self) -> bool:
        return self.parent is None

    def function(self) -> FunctionNode | None:
        """The function whose body this scope is a part of; None at module and class level."""
        scope: Scope | None = self
        while scope is not None and isinstance(scope.node, COMPREHENSIONS):
            scope = scope.parent
        return scope.node if scope is not None and isinstance(scope.node, _FUNCTIONS) else None

    def bound_by(self, node: ast.AST) -> list[str]:
        """The qualified names that a statement imports here."""
        bindings = (one for group in self.bindings.values() for one in group)
        return [one.qualname for one in bindings if one.node is node and one.qualname]

    def bind(self, name: str, binding: Binding) -> None:
        self.bindings.setdefault(name, []).append(binding)


class Scopes:
    """The scopes of one tree, the parent of each node, and the nodes that are asked for often."""

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
        self._collect()

    def _collect(self) -> None:
        # This loop takes longer than anything else but parsing: the common nodes are dealt
        # with first, and a scope among the nodes says where those below it belong.
        by_id: dict[str, list[ast.Name]] = defaultdict(list)
        attributes: dict[str, list[ast.Attribute]] = defaultdict(list)
        scope_of_name, parents, fields_of = self.scope_of_name, self.parents, _FIELDS
        scope = self.module_scope
        stack: list[Any] = [self.tree]
        push, pop = stack.append, stack.pop
        while stack:
            node = pop()
            kind = type(node)
            while kind is ast.Attribute or kind is ast.keyword or kind is ast.Expr:
                if kind is ast.Attribute:
                    attributes[node.attr].append(node)
                inner = node.value
                parents[inner] = node
                node, kind = inner, type(inner)
            if kind is ast.Name:
                scope_of_name[node] = scope
                by_id[node.id].append(node)
                if type(node.ctx) is not ast.Load:
                    self._bind_name(node, scope)
                continue
            if kind is ast.Constant:
                continue
            if kind is ast.Call:
                self.calls.append(node)
                inner = node.func
                parents[inner] = node
                push(inner)
                for child in node.args:
                    parents[child] = node
                    push(child)
                for child in node.keywords:
                    parents[child] = node
                    push(child)
                continue
            if kind is Scope:
                scope = node
                continue
            below = scope if kind in _PLAIN else self._enter(node, scope)
            outside = _OUTSIDE.get(kind, ())
            if outside or below is not scope:
                push(scope)
                scope = self._push_apart(node, below, outside, stack)
                continue
            for name in fields_of[kind]:
                value = getattr(node, name)
                if type(value) is list:
                    for child in value:
                        if isinstance(child, ast.AST):
                            parents[child] = node
                            push(child)
                elif isinstance(value, ast.AST):
                    parents[value] = node
                    push(value)
        self.by_id.update(by_id)
        self.attributes.update(attributes)
        self.calls.sort(key=position)
        self.imports.sort(key=position)
        for scope in self.scopes.values():
            for bindings in scope.bindings.values():
                if len(bindings) > 1:
                    bindings.sort(key=node_position)

    def _push_apart(
        self, node: ast.AST, scope: Scope, outside: tuple[str, ...], stack: list[Any]
    ) -> Scope:
        """Puts a node's fields on the stack, and scopes between those of different scopes.

        Returns the scope of the last, which is taken from the stack first.
        """
        outer = scope.parent or scope
        current = scope
        for name in _FIELDS[type(node)]:
            value = getattr(node, name, None)
            children = value if type(value) is list else [value]
            belongs = outer if name in outside else scope
            if belongs is not current:
                stack.append(current)
                current = belongs
            for child in children:
                if isinstance(child, ast.AST):
                    self.parents[child] = node
                    stack.append(child)
        return current

    @staticmethod
    def _belongs_outside(node: ast.AST, child: ast.AST) -> bool:
        """Decorators, defaults and bases are evaluated in the outer scope."""
        for name in _OUTSIDE.get(type(node), ()):
            value = getattr(node, name)
            if child is value or (isinstance(value, list) and child in value):
                return True
        return False

    def _enter(self, node: ast.AST, scope: Scope) -> Scope:
        """Binds what a node binds; the scope that it opens, or the one that it stands in."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self._bind_import(node, scope)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            scope.outer.update(node.names)
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            if not isinstance(node, ast.Lambda):
                kind = "class" if isinstance(node, ast.ClassDef) else "def"
                self._binding_scope(scope, node.name).bind(node.name, Binding(kind, node))
            inner = self.scopes[node] = Scope(node, scope)
            if not isinstance(node, ast.ClassDef):
                arguments = node.args
                everything = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                for argument in (*everything, arguments.vararg, arguments.kwarg):
                    if argument is not None:
                        inner.bind(argument.arg, Binding("parameter", argument))
                # `global` counts in the whole function, also for names met before it.
                if not isinstance(node, ast.Lambda) and self._has_globals:
                    inner.outer.update(_declared_outside(node))
            return inner
        elif isinstance(node, COMPREHENSIONS):
            inner = self.scopes[node] = Scope(node, scope)
            return inner
        elif isinstance(node, ast.ExceptHandler) and node.name:
            scope.bind(node.name, Binding("other", node))
        elif type(node).__name__ in ("MatchAs", "MatchStar", "MatchMapping"):
            name = getattr(node, "name", None) or getattr(node, "rest", None)
            if name:
                scope.bind(name, Binding("other", node))
        return scope

    def _binding_scope(self, scope: Scope, name: str) -> Scope:
        """Where a mention in ``scope`` belongs when it is bound there: `global` goes up."""
        if name in scope.outer:
            upper = scope.parent
            while upper is not None and not upper.is_module and name not in upper.bindings:
                upper = upper.parent
            return upper or self.module_scope
        return scope

    def _bind_name(self, node: ast.Name, scope: Scope) -> None:
        parent = self.parents[node]
        value: ast.expr | None = None
        if (isinstance(parent, ast.Assign) and len(parent.targets) == 1) or isinstance(
            parent, ast.AnnAssign
        ):
            value = parent.value
        kind = "other" if value is None else "assign"
        self._binding_scope(scope, node.id).bind(node.id, Binding(kind, node, None, value))

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
            self._binding_scope(scope, name).bind(name, Binding("import", node, qualname))

    def absolute(self, node: ast.ImportFrom) -> str:
        """The absolute module that a `from` statement names."""
        return absolute(node, self.package)


def walk(node: ast.AST) -> tuple[ast.AST, ...]:
    """What `ast.walk` gives, in its order, without contexts and operators.

    It is kept on the node: many ask for the same statements, and no tree is changed.
    """
    known: tuple[ast.AST, ...] | None = node.__dict__.get("_below")
    if known is None:
        found = [node]
        for inner in found:  # which grows
            if type(inner) not in _LEAVES:
                found += inner.__dict__.get("_children") or children(inner)
        known = node.__dict__["_below"] = tuple(found)
    return known


def children(node: ast.AST) -> tuple[ast.AST, ...]:
    """What `ast.iter_child_nodes` gives, without contexts and operators; kept on the node, too."""
    known: tuple[ast.AST, ...] | None = node.__dict__.get("_children")
    if known is None:
        found: list[ast.AST] = []
        for name in _FIELDS[type(node)]:
            value = getattr(node, name, None)
            if type(value) is list:
                found += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
        known = node.__dict__["_children"] = tuple(found)
    return known


def names_in(node: ast.AST) -> tuple[ast.Name, ...]:
    """The names in a node, in the order of `walk`; kept on it, too."""
    known: tuple[ast.Name, ...] | None = node.__dict__.get("_names")
    if known is None:
        found = tuple([one for one in walk(node) if isinstance(one, ast.Name)])
        known = node.__dict__["_names"] = found
    return known


def statement_value(node: ast.AST | None) -> ast.expr | None:
    """What a statement assigns, returns, or computes and lets go."""
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)):
        return node.value
    return None


def line_of(node: ast.AST) -> int:
    """The line that a node begins in; 0 for those that have none, such as parameter lists."""
    line: int = getattr(node, "lineno", 0)
    return line


def _declared_outside(function: ast.AST) -> Iterator[str]:
    """What a function, or one in it, declares `global` or `nonlocal`."""
    stack = [function]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names
        for name in BLOCKS_OF[type(node)]:
            stack += getattr(node, name)


def absolute(node: ast.ImportFrom, package: str) -> str:
    """The absolute module that a `from` statement in a module of ``package`` names."""
    if not node.level:
        return node.module or ""
    parts = package.split(".") if package else []
    parts = parts[: len(parts) - (node.level - 1)]
    return ".".join([*parts, *([node.module] if node.module else [])])


def holds(statement: ast.stmt, some: Container[ast.AST]) -> bool:
    """Whether one of some statements stands inside of another one."""
    return any(node in some for node in walk(statement) if node is not statement)
