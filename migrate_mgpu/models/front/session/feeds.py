"""What runs of a session feed: dictionaries that are written out, and such with a name.

A function may return one, `feed_dict = feed_data(x, y, 1.0)`, perhaps beside other values, and
items of one may get other values, `feed_dict[model.keep_prob] = 1.0`: steps are given what it has
when they run. What a function adds under a condition, `if labels is not None:`, each call has or
has not by what it gives the function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.constant_conditions import Unknown, holds
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import Scope, walk
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.session.origins import Origins
from migrate_mgpu.models.front.session.program import GRAPH, Meaning, SessionProgram
from migrate_mgpu.models.ir import Placeholder

# Statements whose blocks are executed in the order in which they stand.
_STRAIGHT = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.If, ast.With, ast.For,
    ast.While,
)  # fmt: skip
_UNFED = {"builtins.range", "builtins.map", "builtins.zip", "builtins.filter"}
_LEAVES = (ast.Return, ast.Yield, ast.YieldFrom)


@record(frozen=True, eq=False)
class Fed:
    """What a run feeds a placeholder; not ``certain``: its dictionary may be without it."""

    placeholder: Placeholder
    value: ast.expr
    certain: bool = True


@record(frozen=True, eq=False)
class _Returned:
    """The dictionary that a function returns: the one value, or one of several, by its place."""

    statement: ast.Assign
    name: ast.Name
    place: int | None


class FeedReader:
    """Reads what is fed; ``known`` are all nodes of runs, and of what they feed."""

    def __init__(
        self,
        module: Module,
        origins: Origins,
        found: SessionProgram,
        meaning: Callable[[ast.AST], Meaning | None],
        known: set[ast.AST],
    ) -> None:
        self.module = module
        self.names = module.names
        self.origins = origins
        self.found = found
        self.meaning = meaning
        self.known = known
        self._dictionaries: dict[tuple[Scope | None, str], list[ast.Assign]] = {}
        self._returning: dict[ast.AST, _Returned | None] = {}  # what functions return
        self._fed_names: set[tuple[Scope | None, str]] = set()  # of dictionaries that runs are fed

    def concerns(self, statement: ast.stmt) -> bool:
        """Whether a statement makes a `feed_dict`, changes one, or gets one from a function."""
        return self.is_dictionary(statement) or self.is_item(statement) or self.is_given(statement)

    def is_dictionary(self, statement: ast.stmt) -> bool:
        """Whether a statement makes a `feed_dict`: a dictionary with placeholders as keys."""
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Dict):
            return False
        if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
            return False
        keys = statement.value.keys
        found = bool(keys) and all(key is not None and self._fed_by(key) for key in keys)
        if found:
            self.known |= {node for key in keys if key is not None for node in walk(key)}
            known = self._dictionaries.setdefault(self._key(statement.targets[0]), [])
            if statement not in known:
                known.append(statement)
                for key in keys:
                    meaning = self._fed_by(key) if key is not None else None
                    if key is not None and meaning is not None:
                        self.found.fed[key] = meaning
        return found

    def _fed_by(self, key: ast.expr) -> Placeholder | None:
        """What a key of a dictionary feeds: a placeholder, or `tuple(xs)` all of a list of them."""
        listed = isinstance(key, ast.Call) and self.names.qualname(key.func) == "builtins.tuple"
        if isinstance(key, ast.Call) and listed and len(key.args) == 1 and not key.keywords:
            key = key.args[0]
        meaning = self.meaning(key)
        if not isinstance(meaning, Placeholder) or (meaning.count is not None) is not listed:
            return None
        return None if listed and isinstance(key, ast.Subscript) else meaning

    def _key(self, name: ast.Name) -> tuple[Scope | None, str]:
        return self.names.defining_scope(name.id, self.names.scope_of_name[name]), name.id

    def of(self, node: ast.expr | None) -> tuple[list[Fed], ast.Name | None]:
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return [], None
        if isinstance(node, ast.Dict):
            return self._fed(node), None
        if isinstance(node, ast.Name):
            feeds = self._named(node)
            items = [self.meaning(item.slice) for item in self._items(node)]
            self._fed_names.add(self._key(node))
            known = [one.placeholder for one in feeds if one.certain]
            if not all(any(one is other for other in known) for one in items):
                text = "what is fed is added to a dictionary"
                raise Refused(self.module, node, text, "write it in the dictionary")
            again = [one for one in feeds if one.placeholder in items]
            return [replaced(one, value=node) if one in again else one for one in feeds], node
        raise self._unclear(node)

    def _unclear(self, node: ast.expr) -> Refused:
        text = "what is fed cannot be determined"
        return Refused(self.module, node, text, "write a dictionary")

    def _named(self, node: ast.Name) -> list[Fed]:
        """What a dictionary with a name has."""
        above = self._dictionary_above(node)
        if above is not None:
            return self._fed(self._told(above))
        bindings = self.names.bindings_of(node)
        known = self._dictionaries.get(self._key(node), [])
        if bindings and {id(self.names.statement(b.node)) for b in bindings} == {
            id(s) for s in known
        }:
            every = [self._fed(s.value) for s in known if isinstance(s.value, ast.Dict)]
            sets = {frozenset(id(fed.placeholder) for fed in one) for one in every}
            if len(sets) == 1:
                for one in known:
                    self._told(one)
                return every[0]
        returned = self._returned(node)
        if not returned:
            raise self._unclear(node)
        every = [self._fed_by_call(node, call, one) for call, one in returned]
        if len({frozenset((id(one.placeholder), one.certain) for one in fed) for fed in every}) > 1:
            raise self._unclear(node)
        return every[0]

    def _fed_by_call(self, node: ast.Name, call: ast.Call, returned: _Returned) -> list[Fed]:
        """What a call of a function has in the dictionary that it returns."""
        fed = [replaced(one, value=node) for one in self._fed(self._told(returned.statement))]
        known = [one.placeholder for one in fed]
        for item in self._items(returned.name):
            added = self.meaning(item.slice)
            assert isinstance(added, Placeholder)
            runs = self._runs(item, call)
            if added not in known and runs is not False:
                fed.append(Fed(added, node, runs is True))
                known.append(added)
        return fed

    def _runs(self, item: ast.Subscript, call: ast.Call) -> bool | None:
        """Whether a call makes its function come to an item; None where that is not known."""
        target = self.origins.target(call)
        assert target is not None
        passed = bind(call, target).values()
        bindings = self.names.scopes[target.node].bindings

        def value(node: ast.expr) -> object:
            if isinstance(node, ast.Constant):
                return node.value
            if isinstance(node, ast.Name) and len(bindings.get(node.id, ())) == 1:
                given = passed.get(node.id)
                return given.value if isinstance(given, ast.Constant) else Unknown
            return Unknown

        found: bool | None = True
        child: ast.AST = item
        for parent in self.names.ancestors(item):
            if parent is target.node:
                return found
            if isinstance(parent, ast.If) and child is not parent.test:
                runs = holds(parent.test, value)
                if runs is not None and runs is not (child in parent.body):
                    return False
                found = None if runs is None else found
            elif isinstance(parent, ast.stmt) and not isinstance(parent, (ast.Assign, ast.With)):
                return None
            child = parent
        return None

    def _told(self, statement: ast.Assign) -> ast.Dict:
        if statement not in self.found.dictionaries:
            self.found.dictionaries.append(statement)
        assert isinstance(statement.value, ast.Dict)
        return statement.value

    # -- items, and what functions return -----------------------------------------------

    def is_item(self, statement: ast.stmt) -> bool:
        """Whether a statement gives a placeholder another value: `feed_dict[keep_prob] = 1.0`."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        item = statement.targets[0]
        if not isinstance(item, ast.Subscript) or not isinstance(item.value, ast.Name):
            return False
        meaning = self._fed_by(item.slice)
        if (
            meaning is None
            or meaning.count is not None
            or any(isinstance(self.meaning(part), GRAPH) for part in walk(statement.value))
        ):
            return False
        self.known |= set(walk(item.slice))
        self.found.fed[item.slice] = meaning
        if item not in self.found.fed_items:
            self.found.fed_items.append(item)
        return True

    def is_given(self, statement: ast.stmt) -> bool:
        """`feed_dict = fill_feed_dict(data, images)`, which gives a function its placeholders."""
        call = statement.value if isinstance(statement, ast.Assign) else None
        target = self.origins.target(call) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or target is None or not self.gives(target):
            return False
        given = (*call.args, *(keyword.value for keyword in call.keywords))
        self.known |= {one for one in given if isinstance(self.meaning(one), Placeholder)}
        return True

    def _items(self, name: ast.Name) -> list[ast.Subscript]:
        """The items of a dictionary that get other values."""
        home, _ = self._key(name)
        parents = (
            self.names.parents[mention]
            for mention in (self.names.mentions(name.id, home) if home is not None else ())
        )
        return [
            one
            for one in parents
            if isinstance(one, ast.Subscript) and self.is_item(self.names.statement(one))
        ]

    def gives(self, function: Function) -> bool:
        """Whether a function returns a `feed_dict`, and does nothing else with the graph."""
        node = function.node
        if function.module is not self.module or not isinstance(node, ast.FunctionDef):
            return False
        if node not in self._returning:
            self._returning[node] = self._at_end(node)
        return self._returning[node] is not None

    def _at_end(self, node: ast.FunctionDef) -> _Returned | None:
        leaves = [part for part in walk(node) if isinstance(part, _LEAVES)]
        last = node.body[-1]
        if leaves != [last] or not isinstance(last, ast.Return) or node.decorator_list:
            return None
        several = isinstance(last.value, ast.Tuple)
        values = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
        for place, value in enumerate(values):
            made = self._dictionary_above(value) if isinstance(value, ast.Name) else None
            if made is not None and isinstance(value, ast.Name):
                return _Returned(made, value, place if several else None)
        return None

    def _returned(self, node: ast.Name) -> list[tuple[ast.Call, _Returned]]:
        """The calls of one function that all values of a name are, with the dictionary."""
        found: list[tuple[ast.Call, _Returned]] = []
        for binding in self.names.bindings_of(node):
            statement = self.names.statement(binding.node)
            call = statement.value if isinstance(statement, ast.Assign) else None
            target = self.origins.target(call) if isinstance(call, ast.Call) else None
            if not isinstance(call, ast.Call) or target is None or not self.gives(target):
                return []
            returned = self._returning[target.node]
            if returned is None or _taken(call, statement, returned) is not binding.node:
                return []
            found.append((call, returned))
        return found if len({one for _, one in found}) == 1 else []

    def _is_fed(self, function: ast.FunctionDef) -> bool:
        """Whether all that a function returns is fed, by names of its own."""
        returned = self._returning.get(function)
        references = self.origins.references(Function(self.module, function))
        for one in references:
            statement = self.names.parents.get(one.call) if one.call is not None else None
            if one.call is None or returned is None:
                return False
            target = _taken(one.call, statement, returned)
            if not isinstance(target, ast.Name) or self._key(target) not in self._fed_names:
                return False
        return bool(references)

    def _dictionary_above(self, name: ast.Name) -> ast.Assign | None:
        """The dictionary that a name is, where it gets it above its mention, in a block around."""
        bound = {self.names.statement(one.node) for one in self.names.bindings_of(name)}
        own: ast.AST = self.names.statement(name)
        while isinstance(own, _STRAIGHT):
            block = self.names.block(own)
            for statement in reversed(block[: block.index(own)]):
                if statement in bound:
                    found = statement if self.is_dictionary(statement) else None
                    return found if isinstance(found, ast.Assign) else None
                if any(one in bound for one in walk(statement)):
                    return None
            own = self.names.parents[own]
            repeats = isinstance(own, (ast.For, ast.While))
            if repeats and any(one in bound for one in walk(own)):
                return None  # of the turn before
        return None

    def _fed(self, node: ast.Dict) -> list[Fed]:
        found: list[Fed] = []
        for key, value in zip(node.keys, node.values):
            meaning = self._fed_by(key) if key is not None else None
            if key is None or meaning is None:
                text = "something other than a named placeholder is fed"
                raise Refused(self.module, key or node, text)
            if meaning.count is not None and not self._is_list(value):
                text = f"what `{meaning.name}`, a list of placeholders, is fed is no list"
                raise Refused(self.module, value, text, "make a list of it")
            name = self.names.qualname(value.func) if isinstance(value, ast.Call) else None
            if name in _UNFED:
                text = f"a function of TF2 takes no `{name.partition('.')[2]}` as a tensor"
                raise Refused(self.module, value, text, "make a list of it")
            if any(meaning is one.placeholder for one in found):
                raise Refused(self.module, key, f"`{meaning.name}` is fed twice")
            found.append(Fed(meaning, value))
            self.found.fed[key] = meaning
        return found

    def _is_list(self, value: ast.expr) -> bool:
        """Whether a value is seen to be a list: a function of TF2 takes no tuple in its place."""
        if isinstance(value, ast.Name):
            values = [one.value for one in self.names.bindings_of(value)]
            plain = all(isinstance(one, ast.expr) for one in values)
            return bool(values) and plain and all(map(self._is_list, filter(None, values)))
        if isinstance(value, ast.Call):
            return self.names.qualname(value.func) == "builtins.list"
        return isinstance(value, (ast.List, ast.ListComp))

    def finish(self) -> None:
        """A dictionary of feeds is used for nothing else, and may be fed to nothing.

        Raises:
            Refused: one is.
        """
        for known in self._dictionaries.values():
            self.found.dictionaries += (s for s in known if s not in self.found.dictionaries)
        names = dict.fromkeys(self._fed_names)
        for statement in self.found.dictionaries:
            target = statement.targets[0]
            assert isinstance(target, ast.Name)
            names[self._key(target)] = None
        for item in self.found.fed_items:
            assert isinstance(item.value, ast.Name)
            if self._key(item.value) not in names:
                raise self._unclear(item)
        feeding = {id(run.fed) for run in self.found.runs if run.fed is not None}
        for home, name in names:
            for mention in self.names.mentions(name, home) if home is not None else ():
                if not isinstance(mention.ctx, ast.Load) or id(mention) in feeding:
                    continue
                parent = self.names.parents[mention]
                node = home.function() if home is not None else None
                whole = self.names.parents[parent] if isinstance(parent, ast.Tuple) else parent
                returned = isinstance(whole, ast.Return) and isinstance(node, ast.FunctionDef)
                if returned and isinstance(node, ast.FunctionDef) and self._is_fed(node):
                    continue
                if parent not in self.found.fed_items:
                    text = f"`{mention.id}`, a dictionary of feeds, has another use as well"
                    raise Refused(self.module, mention, text)


def _taken(call: ast.Call, statement: ast.AST | None, returned: _Returned) -> ast.expr | None:
    """What a statement calls the dictionary that a call returns; None where it gives it no name."""
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return None
    target = statement.targets[0] if len(statement.targets) == 1 else None
    if returned.place is None:
        return target
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    if any(isinstance(part, ast.Starred) for part in parts):
        return None
    return parts[returned.place] if returned.place < len(parts) else None
