"""Which statement of a path gives a name its value, and what depends on what."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from migrate_mgpu.analysis.modes import Path
from migrate_mgpu.analysis.scopes import walk

# What was found in a node: a path is asked about the same statements again and again.
_LOADED: WeakKeyDictionary[ast.AST, tuple[ast.Name, ...]] = WeakKeyDictionary()
_STORED: WeakKeyDictionary[ast.stmt, tuple[frozenset[str], ...]] = WeakKeyDictionary()


def loaded(node: ast.AST) -> tuple[ast.Name, ...]:
    """The names that a node reads, nested functions' free names included, in source order."""
    if isinstance(node, ast.Name):
        return (node,) if isinstance(node.ctx, ast.Load) else ()
    found = _LOADED.get(node)
    if found is None:
        found = _LOADED[node] = _loaded(node)
    return found


def _loaded(node: ast.AST) -> tuple[ast.Name, ...]:
    parts = list(walk(node))
    bound = {
        argument.arg
        for inner in parts
        if isinstance(inner, ast.Lambda)
        for argument in (*inner.args.args, *inner.args.kwonlyargs)
    } | {
        target.id
        for inner in parts
        if isinstance(inner, ast.comprehension)
        for target in walk(inner.target)
        if isinstance(target, ast.Name)
    }
    found = [
        part
        for part in parts
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id not in bound
    ]
    return tuple(sorted(found, key=lambda name: (name.lineno, name.col_offset)))


def stored(statement: ast.stmt) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a statement certainly gives a new value, and those that it may change."""
    certain, maybe, methods = _changes(statement)
    return certain, maybe | methods


def _changes(statement: ast.stmt) -> tuple[frozenset[str], ...]:
    """As `stored`; what a method may change is set apart: it may be no variable at all."""
    found = _STORED.get(statement)
    if found is None:
        found = _STORED[statement] = _stored(statement)
    return found


def _stored(statement: ast.stmt) -> tuple[frozenset[str], ...]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return frozenset((statement.name,)), frozenset(), frozenset()
    certain: set[str] = set()
    maybe: set[str] = set()
    methods: set[str] = set()
    simple = isinstance(statement, (ast.Assign, ast.AnnAssign))
    for node in walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            (certain if simple else maybe).add(node.id)
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            root = _root(node)
            if root is not None:
                maybe.add(root)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            certain.update((a.asname or a.name).split(".")[0] for a in node.names)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            root = _root(function) if isinstance(function, ast.Attribute) else None
            if root is not None:  # layers.append(net), within a loop too
                methods.add(root)
    return frozenset(certain), frozenset(maybe), frozenset(methods)


def _root(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


class Dataflow:
    """Definitions and uses along one path."""

    def __init__(self, path: Path, parameters: Iterable[str]) -> None:
        self.path = path
        self.parameters = set(parameters)
        self._reaching: dict[ast.stmt, dict[str, tuple[ast.stmt, ...]]] = {}
        current: dict[str, tuple[ast.stmt, ...]] = {}
        for unit in path.units:
            self._reaching[unit] = dict(current)
            certain, maybe, methods = _changes(unit)
            for name in certain:
                current[name] = (unit,)
            for name in (maybe | methods) - certain:
                if name in current or name in maybe:
                    current[name] = (*current.get(name, ()), unit)
        self._end = current

    def definitions(self, name: str, unit: ast.stmt | None) -> tuple[ast.stmt, ...]:
        """The statements that a name's value at ``unit`` (None: at the end) comes from.

        Empty for a parameter that nothing changed, and for names of outer scopes.
        """
        found = self._end if unit is None else self._reaching.get(unit, self._end)
        return found.get(name, ())

    def single(self, name: str, unit: ast.stmt | None) -> ast.stmt | None:
        """The one statement that a name comes from, if it is one."""
        found = self.definitions(name, unit)
        return found[0] if len(found) == 1 else None

    def resolve(
        self, node: ast.expr | None, unit: ast.stmt | None, stop: ast.stmt | None = None
    ) -> tuple[ast.expr | None, ast.stmt | None]:
        """An expression behind names and behind the keys of a literal dictionary.

        Returns it with the statement that it stands in. A name that ``stop`` gives its
        value is not looked behind.
        """
        for _ in range(20):
            if isinstance(node, ast.Name):
                statement = self.single(node.id, unit)
                value = _assigned(statement, node.id)
                if value is None or (stop is not None and statement is stop):
                    return node, unit
                node, unit = value, statement
                continue
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                base, where = self.resolve(node.value, unit, stop)
                value = item(base, node.slice.value)
                if value is None:
                    return node, unit
                node, unit = value, where
                continue
            return node, unit
        return node, unit

    def alike(
        self,
        first: ast.expr,
        unit: ast.stmt | None,
        second: ast.expr | None,
        other: ast.stmt | None,
    ) -> bool:
        """Whether two expressions read the same, of the same values."""
        if first is second:
            return True
        return (
            second is not None
            and ast.dump(first) == ast.dump(second)
            and all(
                self.definitions(name.id, unit) == self.definitions(name.id, other)
                for name in loaded(first)
            )
        )

    def slice(self, nodes: Iterable[ast.AST], unit: ast.stmt | None) -> set[ast.stmt]:
        """Every statement that the nodes' values come from."""
        found: set[ast.stmt] = set()
        stack = [(name.id, unit) for node in nodes for name in loaded(node)]
        while stack:
            name, place = stack.pop()
            for statement in self.definitions(name, place):
                if statement not in found:
                    found.add(statement)
                    stack.extend((n.id, statement) for n in loaded(statement))
                    # `d['x'] = y` and `n += 1` also need what was there before.
                    stack.extend((n, statement) for n in stored(statement)[1])
        return found

    def depends(
        self,
        node: ast.AST,
        unit: ast.stmt | None,
        parameter: str,
        cut: ast.stmt | None = None,
    ) -> bool:
        """Whether a value depends on a parameter, otherwise than through the statement ``cut``."""
        seen: set[ast.stmt] = set()
        stack = [(name.id, unit) for name in loaded(node)]
        while stack:
            name, place = stack.pop()
            statements = self.definitions(name, place)
            if not statements and name == parameter:
                return True
            certain = any(name in stored(s)[0] for s in statements)
            if statements and not certain and name == parameter:
                return True
            for statement in statements:
                if statement in seen or statement is cut:
                    continue
                seen.add(statement)
                stack.extend((n.id, statement) for n in loaded(statement))
                if name not in stored(statement)[0]:
                    stack.append((name, statement))
        return False


def _assigned(statement: ast.stmt | None, name: str) -> ast.expr | None:
    """What a plain assignment gives a name."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.value
    if not isinstance(statement, ast.Assign):
        return None
    for target in statement.targets:
        if isinstance(target, ast.Name) and target.id == name:
            return statement.value
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            pairs = zip(target.elts, statement.value.elts)
            for part, value in pairs:
                if isinstance(part, ast.Name) and part.id == name:
                    return value
    return None


def item(node: ast.expr | None, key: object) -> ast.expr | None:
    """The value under a key of a dictionary that is written out."""
    return items(node).get(key)


def items(node: ast.expr | None) -> dict[object, ast.expr]:
    """The values of a dictionary that is written out, by constant key; empty for anything else."""
    if isinstance(node, ast.Dict):
        if not all(isinstance(key, ast.Constant) for key in node.keys):
            return {}
        return {key.value: value for key, value in zip(node.keys, node.values)}  # type: ignore[union-attr]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        if not node.args and all(keyword.arg for keyword in node.keywords):
            return {keyword.arg: keyword.value for keyword in node.keywords}
    return {}
