"""What runs of a session feed: dictionaries that are written out, and such with a name.

A function may return one, `feed_dict = feed_data(x, y, 1.0)`, perhaps beside other values, and
items of one may get other values, `feed_dict[model.keep_prob] = 1.0`: steps are given what it has
when they run. What a function adds under a condition, `if labels is not None:`, each call has or
has not by what it gives the function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import Scope, walk
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.session.origins import Origins, arguments_by_name
from migrate_mgpu.models.front.session.program import (
    GRAPH,
    FedItem,
    Meaning,
    SessionProgram,
    fed_pairs,
)
from migrate_mgpu.models.front.session.settled_conditions import Frame
from migrate_mgpu.models.ir import Placeholder, Unit

# Statements whose blocks are executed in the order in which they stand.
_STRAIGHT = (ast.If, ast.With, ast.For, ast.While)
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_DEPTH = 8  # functions that return what others return
_UNFED = {"builtins.range", "builtins.map", "builtins.zip", "builtins.filter"}
_LEAVES = (ast.Yield, ast.YieldFrom)


@record(frozen=True, eq=False)
class Fed:
    """What a run feeds a placeholder; not ``certain``: its dictionary may be without it."""

    placeholder: Placeholder
    value: ast.expr
    certain: bool = True


@record(frozen=True, eq=False)
class _Returned:
    """The dictionary that a function returns: the one value, or one of several, by its place."""

    statements: tuple[ast.Return, ...]
    names: tuple[ast.Name, ...]
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
        stands_in: Callable[[Unit], Placeholder | None],
    ) -> None:
        """``stands_in`` says what a step takes that is fed a part of the graph."""
        self.stands_in = stands_in
        self.module = module
        self.names = module.names
        self.origins = origins
        self.found = found
        self.meaning = meaning
        self.known = known
        self._dictionaries: dict[tuple[Scope | None, str], list[ast.Assign]] = {}
        self._returning: dict[ast.AST, _Returned | None] = {}  # what functions return
        self._fed_names: set[tuple[Scope | None, str]] = set()  # of dictionaries that runs are fed
        self._depth = 0  # of functions that are being followed
        self._followed: list[ast.Assign] = []  # the dictionaries that a run may be fed
        self._passed_on: set[ast.expr] = set()  # values that steps are given in dictionaries

    def concerns(self, statement: ast.stmt) -> bool:
        """Whether a statement makes a `feed_dict`, changes one, or gets one from a function."""
        return self.is_dictionary(statement) or self.is_item(statement) or self.is_given(statement)

    def is_dictionary(self, statement: ast.stmt) -> bool:
        """Whether a statement makes a `feed_dict`: a dictionary with placeholders as keys.

        One that is empty gets some below.
        """
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or not self._makes(statement.value):
            return False
        keys = [key for key, _ in fed_pairs(statement.value)]
        found = all(map(self._fed_by, keys)) if keys else bool(self._items(target))
        if found:
            self.known |= {node for key in keys for node in walk(key)}
            known = self._dictionaries.setdefault(self._key(target), [])
            if statement not in known:
                known.append(statement)
                self._tell(keys)
        return found

    def _makes(self, value: ast.expr) -> bool:
        """Whether a value is a dictionary whose keys are all written."""
        if isinstance(value, ast.Dict):
            return None not in value.keys
        if not isinstance(value, ast.Call) or value.keywords:
            return False
        if self.names.qualname(value.func) != "builtins.dict":
            return False
        pairs = value.args[0] if len(value.args) == 1 else None
        if pairs is None or not isinstance(pairs, ast.Call):
            return not value.args
        plain = self.names.qualname(pairs.func) == "builtins.zip" and not pairs.keywords
        return plain and len(pairs.args) == 2 and isinstance(pairs.args[0], (ast.List, ast.Tuple))

    def _tell(self, keys: Iterable[ast.expr]) -> None:
        for key in keys:
            meaning = self._fed_by(key)
            if meaning is not None:
                self.found.fed[key] = meaning

    def _fed_by(self, key: ast.expr) -> Placeholder | None:
        """What a key of a dictionary feeds: a placeholder, or `tuple(xs)` all of a list of them."""
        listed = isinstance(key, ast.Call) and self.names.qualname(key.func) == "builtins.tuple"
        if isinstance(key, ast.Call) and listed and len(key.args) == 1 and not key.keywords:
            key = key.args[0]
        meaning = self.meaning(key)
        if isinstance(meaning, Unit) and not listed:
            return self.stands_in(meaning)
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
            self._followed = []
            found = self._named(node, Frame(self.names, node))
            kept = [one.value for one in found]
            for statement in self._followed:
                values = (value for _, value in fed_pairs(statement.value))
                self._passed_on |= {one for one in values if one is not None and one not in kept}
            return found, node
        raise self._unclear(node)

    def _unclear(self, node: ast.expr) -> Refused:
        text = "what is fed cannot be determined"
        return Refused(self.module, node, text, "write a dictionary")

    def _named(self, node: ast.Name, frame: Frame) -> list[Fed]:
        """What a dictionary with a name has where it is mentioned.

        Raises:
            Refused: that is not known.
        """
        self._fed_names.add(self._key(node))
        bindings = self.names.bindings_of(node)
        if [one.kind for one in bindings] == ["parameter"]:
            return self._passed(node, frame)
        bound = {self.names.statement(one.node) for one in bindings}
        made = self._reaching(node, bound, frame)
        if not made:
            made = sorted(
                bound, key=lambda one: one.lineno
            )  # of another function, or a turn before
            every = [self._made(node, one, Frame(self.names, one)) for one in made]
            if len({_whole(fed) for fed in every}) != 1:
                raise self._unclear(node)
            items = [meaning for item in self._items(node) for meaning in self._added(item)]
            told = [one.placeholder for one in every[0] if one.certain]
            if not all(any(one is other for other in told) for one in items):
                text = "what is fed is added to a dictionary"
                raise Refused(self.module, node, text, "write it in the dictionary")
            return [replaced(one, value=node) if one.placeholder in items else one
                    for one in every[0]]  # fmt: skip
        every = [self._made(node, one, frame.at(node, one)) for one in made]
        return self._with_items(node, _joined(every, node), made, frame)

    def _made(self, node: ast.Name, statement: ast.stmt, frame: Frame) -> list[Fed]:
        """What a statement gives a name: a dictionary, or what a function returns."""
        if self.is_dictionary(statement):
            assert isinstance(statement, ast.Assign)
            return self._fed(self._told(statement))
        call = statement.value if isinstance(statement, ast.Assign) else None
        target = self.origins.target(call) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or target is None or not self.gives(target):
            raise self._unclear(node)
        returned = self._returning[target.node]
        taken = _taken(call, statement, returned) if returned is not None else None
        if taken is None or taken not in [one.node for one in self.names.bindings_of(node)]:
            raise self._unclear(node)
        return self._called(node, call, frame)

    def _called(self, node: ast.expr, call: ast.Call, frame: Frame) -> list[Fed]:
        """What a call of a function has in the dictionary that it returns."""
        target = self.origins.target(call)
        returned = self._returning[target.node] if target is not None else None
        assert target is not None and returned is not None
        passed = bind(call, target)
        given = passed.values() if passed.unclear is None else {}
        every: list[list[Fed]] = []
        with self._deeper(node):
            for statement, name in zip(returned.statements, returned.names):
                inside = Frame(self.names, statement, given, frame)
                runs = self._is_reached(statement, inside)
                if runs is not False:
                    every.append(self._named(name, inside.at(statement)))
                if runs is True:
                    break
        return [replaced(one, value=node) for one in _joined(every, node)]

    @contextmanager
    def _deeper(self, node: ast.expr) -> Iterator[None]:
        """One more function is followed.

        Raises:
            Refused: there are too many, as where one calls itself.
        """
        if self._depth > _DEPTH:
            raise self._unclear(node)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def _passed(self, node: ast.Name, frame: Frame) -> list[Fed]:
        """What a parameter has: the same in all calls of its function."""
        home, name = self._key(node)
        function = home.node if home is not None else None
        if not isinstance(function, ast.FunctionDef):
            raise self._unclear(node)
        every: list[list[Fed]] = []
        with self._deeper(node):
            for value in self.origins.arguments_for(function, name):
                if isinstance(value, ast.Name):
                    every.append(self._named(value, Frame(self.names, value).at(value)))
                elif isinstance(value, ast.Call) and self._gives_one(value):
                    every.append(self._called(node, value, Frame(self.names, value).at(value)))
                else:
                    raise self._unclear(value or node)
        if len({_whole(fed) for fed in every}) != 1 or self._items(node):
            raise self._unclear(node)
        return [replaced(one, value=node) for one in every[0]]

    def _gives_one(self, call: ast.Call) -> bool:
        """Whether a call gives a dictionary of feeds, and nothing beside it."""
        target = self.origins.target(call)
        if target is None or not self.gives(target):
            return False
        returned = self._returning[target.node]
        return returned is not None and returned.place is None

    def _with_items(
        self, node: ast.Name, fed: list[Fed], made: list[ast.stmt], frame: Frame
    ) -> list[Fed]:
        """What a dictionary has with the items that it gets before it is mentioned."""
        for item in self._items(node):
            comes = self._comes_before(item, node, made, frame)
            for added in self._added(item):
                known = next((one for one in fed if one.placeholder is added), None)
                if known is not None:
                    fed = [
                        replaced(one, value=node, certain=one.certain or comes is True)
                        if one is known
                        else one
                        for one in fed
                    ]
                elif comes is not False:
                    fed = [*fed, Fed(added, node, comes is True)]
        return fed

    # -- what is reached ---------------------------------------------------------------

    def _reaching(self, name: ast.Name, bound: set[ast.stmt], frame: Frame) -> list[ast.stmt]:
        """The statements that may give a name its value at a mention; none where that is not seen.

        They stand above it, in blocks around it, or in the arms of conditions there.
        """
        found: list[ast.stmt] = []
        own: ast.AST = self.names.statement(name)
        while isinstance(own, ast.stmt) and not isinstance(own, ast.FunctionDef):
            block = self.names.block(own)
            made, open_ended = self._in_block(block[: block.index(own)], bound, frame)
            if made is None:
                return []
            found += made
            if not open_ended:
                return found
            own = self.names.parents[own]
            if not isinstance(own, _STRAIGHT):
                return []
            if isinstance(own, (ast.For, ast.While)) and any(one in bound for one in walk(own)):
                return []  # of the turn before
        return []

    def _in_block(
        self, block: Sequence[ast.stmt], bound: set[ast.stmt], frame: Frame
    ) -> tuple[list[ast.stmt] | None, bool]:
        """What a block may give a name, and whether the name may come through it as it was.

        None where that is not known.
        """
        for place in range(len(block) - 1, -1, -1):
            statement = block[place]
            if statement in bound:
                return [statement], False
            if isinstance(statement, _ENDS):
                return [], False
            if not any(one in bound for one in walk(statement)):
                continue
            if isinstance(statement, ast.With):
                arms: list[list[ast.stmt]] = [statement.body]
            elif isinstance(statement, ast.If):
                runs = frame.settled(statement.test)
                arms = [statement.body] * (runs is not False)
                arms += [statement.orelse] * (runs is not True)
            else:
                return None, False
            found: list[ast.stmt] = []
            through = False
            for arm in arms:
                made, open_ended = self._in_block(arm, bound, frame)
                if made is None:
                    return None, False
                found += made
                through |= open_ended
            if through:
                made, through = self._in_block(block[:place], bound, frame)
                if made is None:
                    return None, False
                found += made
            return found, through
        return [], True

    def _comes_before(
        self, item: ast.stmt, use: ast.expr, made: list[ast.stmt], frame: Frame
    ) -> bool | None:
        """Whether an item is added to what was made before a use; None where that is not known."""
        around = {*self.names.ancestors(use)}
        turns = {
            one
            for one in self.names.ancestors(item)
            if isinstance(one, (ast.For, ast.While)) and one in around
            and not all(one in self.names.ancestors(start) for start in made)
        }  # fmt: skip
        never = None if turns else False  # it may come in the turn before
        if item.lineno < min(one.lineno for one in made):
            return never
        found: bool | None = True
        child: ast.AST = item
        for parent in self.names.ancestors(item):
            if isinstance(parent, ast.If):
                runs = frame.settled(parent.test)
                if runs is not None and runs is not (child in parent.body):
                    return never
                if parent in around:
                    other = parent.orelse if child in parent.body else parent.body
                    if any(one in around for one in other):
                        return never
                elif runs is None:
                    found = None
            elif not isinstance(parent, (ast.With, ast.FunctionDef, ast.Module)):
                found = found if parent in around else None
            if parent in around:
                break
            child = parent
        if item.lineno > self.names.statement(use).lineno:
            return never
        return found if item.lineno > max(one.lineno for one in made) else None

    def _is_reached(self, statement: ast.stmt, frame: Frame) -> bool | None:
        """Whether a function that is called comes to one of its statements."""
        found: bool | None = True
        child: ast.AST = statement
        for parent in self.names.ancestors(statement):
            if isinstance(parent, ast.FunctionDef):
                return found
            if isinstance(parent, ast.If):
                runs = frame.settled(parent.test)
                if runs is not None and runs is not (child in parent.body):
                    return False
                found = None if runs is None else found
            elif not isinstance(parent, ast.With):
                return None
            child = parent
        return None

    def _told(self, statement: ast.Assign) -> ast.expr:
        self._followed.append(statement)
        if statement not in self.found.dictionaries:
            self.found.dictionaries.append(statement)
        return statement.value

    # -- items, and what functions return -----------------------------------------------

    def is_item(self, statement: ast.stmt) -> bool:
        """Whether a statement gives a placeholder a value in a dictionary.

        That is `feed_dict[keep_prob] = 1.0`, or `feed_dict.update({keep_prob: 1.0})`.
        """
        known = _addition(statement)
        if known is None:
            return False
        keys = [key for key, _ in known.pairs]
        meanings = [self._fed_by(key) for key in keys]
        if any(one is None or one.count is not None for one in meanings):
            return False
        for _, value in known.pairs:
            if any(isinstance(self.meaning(part), GRAPH) for part in walk(value)):
                return False
        self.known |= {node for key in keys for node in walk(key)}
        self._tell(keys)
        if known not in self.found.fed_items:
            self.found.fed_items.append(known)
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

    def _items(self, name: ast.Name) -> list[ast.stmt]:
        """The statements that give a dictionary's placeholders values."""
        home, _ = self._key(name)
        mentions = self.names.mentions(name.id, home) if home is not None else []
        statements = ((one, self.names.statement(one)) for one in mentions)
        return [
            statement
            for mention, statement in statements
            if (known := _addition(statement)) is not None
            and known.name is mention
            and self.is_item(statement)
        ]

    def _added(self, item: ast.stmt) -> list[Placeholder]:
        known = _addition(item)
        assert known is not None
        found = [self._fed_by(key) for key, _ in known.pairs]
        return [one for one in found if one is not None]

    def gives(self, function: Function) -> bool:
        """Whether a function returns a `feed_dict`, and does nothing else with the graph."""
        node = function.node
        if function.module is not self.module or not isinstance(node, ast.FunctionDef):
            return False
        if node not in self._returning:
            self._returning[node] = None  # ends recursion
            self._returning[node] = self._at_end(node)
        return self._returning[node] is not None

    def _at_end(self, node: ast.FunctionDef) -> _Returned | None:
        statements = [part for part in walk(node) if isinstance(part, ast.Return)]
        if any(isinstance(part, _LEAVES) for part in walk(node)) or node.decorator_list:
            return None
        if not statements or not isinstance(node.body[-1], (ast.Return, ast.If)):
            return None
        statements.sort(key=lambda one: one.lineno)
        places: list[tuple[int | None, list[ast.expr | None]]] = [(None, [])]
        places[0][1].extend(one.value for one in statements)
        tuples = [one.value for one in statements if isinstance(one.value, ast.Tuple)]
        if len(tuples) == len(statements):
            several = zip(*(one.elts for one in tuples))
            places = [(place, [*values]) for place, values in enumerate(several)]
        for place, values in places:
            names = [one for one in values if isinstance(one, ast.Name)]
            if len(names) == len(statements) and all(map(self._is_made, names)):
                return _Returned(tuple(statements), tuple(names), place)
        return None

    def _is_made(self, name: ast.Name) -> bool:
        """Whether all that a name is given are dictionaries of feeds."""
        bindings = self.names.bindings_of(name)
        statements = [self.names.statement(one.node) for one in bindings]
        return bool(bindings) and all(
            self.is_dictionary(one) or self.is_given(one) for one in statements
        )

    def _is_fed(self, function: ast.FunctionDef) -> bool:
        """Whether all that a function returns is fed, by names of its own."""
        returned = self._returning.get(function)
        references = self.origins.references(Function(self.module, function))
        for one in references:
            statement = self.names.parents.get(one.call) if one.call is not None else None
            if one.call is None or returned is None:
                return False
            if returned.place is None and self._is_passed(one.call):
                continue
            target = _taken(one.call, statement, returned)
            if not isinstance(target, ast.Name) or self._key(target) not in self._fed_names:
                return False
        return bool(references)

    def _is_passed(self, value: ast.expr) -> bool:
        """Whether a call gives a value to a parameter that is fed."""
        call = self.names.taker(value)
        target = self.origins.target(call) if call is not None else None
        if call is None or target is None or not isinstance(target.node, ast.FunctionDef):
            return False
        given = arguments_by_name(target, call)
        name = next((one for one, other in given.items() if other is value), None)
        return (self.names.scopes[target.node], name) in self._fed_names

    def _fed(self, node: ast.expr) -> list[Fed]:
        found: list[Fed] = []
        pairs = zip(node.keys, node.values) if isinstance(node, ast.Dict) else fed_pairs(node)
        for key, value in pairs:
            meaning = self._fed_by(key) if key is not None else None
            if key is None or meaning is None:
                text = "something other than a named placeholder is fed"
                raise Refused(self.module, key or node, text)
            if value is None:
                if meaning.count is not None or any(meaning is one.placeholder for one in found):
                    raise self._unclear(key)
                found.append(Fed(meaning, node, False))  # there may be fewer values
                self.found.fed[key] = meaning
                continue
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
            if self._key(item.name) not in names:
                raise self._unclear(item.name)
        known_and_given = next((v for v in self.found.folded if v in self._passed_on), None)
        if known_and_given is not None:  # one step knows it, another one is given it
            raise self._unclear(known_and_given)
        items = {item.name for item in self.found.fed_items}
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
                if mention not in items and not self._is_passed(mention):
                    text = f"`{mention.id}`, a dictionary of feeds, has another use as well"
                    raise Refused(self.module, mention, text)


def _whole(fed: list[Fed]) -> frozenset[tuple[int, bool]]:
    return frozenset((id(one.placeholder), one.certain) for one in fed)


def _joined(every: list[list[Fed]], node: ast.expr) -> list[Fed]:
    """What one of several dictionaries has."""
    if len(every) == 1:
        return every[0]
    found: list[Fed] = []
    for fed in every:
        for one in fed:
            if not any(one.placeholder is other.placeholder for other in found):
                certain = all(any(p.certain and p.placeholder is one.placeholder for p in other)
                              for other in every)  # fmt: skip
                found.append(Fed(one.placeholder, node, certain))
    return found


def _addition(statement: ast.stmt) -> FedItem | None:
    """What a statement adds to a dictionary with a name, by keys that are written."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        item = statement.targets[0]
        if isinstance(item, ast.Subscript) and isinstance(item.value, ast.Name):
            return FedItem(statement, item.value, ((item.slice, statement.value),))
        return None
    call = statement.value if isinstance(statement, ast.Expr) else None
    method = call.func if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(method, ast.Attribute):
        return None
    added = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if method.attr != "update" or not isinstance(method.value, ast.Name):
        return None
    if not isinstance(added, ast.Dict) or None in added.keys:
        return None
    pairs = tuple((k, v) for k, v in zip(added.keys, added.values) if k is not None)
    return FedItem(statement, method.value, pairs)


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
