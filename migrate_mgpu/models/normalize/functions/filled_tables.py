"""Dictionaries that are filled with parts of a graph, item by item: each item gets a name.

    weights = dict()
    weights['w1'] = tf.Variable(tf.zeros([4, 3]))
    self.weights = weights

becomes `w1 = tf.Variable(tf.zeros([4, 3]))`, what reads `weights['w1']` or `self.weights['w1']`
reads `w1`, and where other methods ask for it, the object has `self.weights_w1`. One that is
handed on is written out where its last item was put in, `weights = {'w1': w1}`; what a function
returns stays in it.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.origins import (
    class_of,
    class_of_object,
    is_of_another,
    is_of_other_object,
)
from migrate_mgpu.models.front.session.scope import constructor_of
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such dictionary; none where there is none. ``own`` are those to change."""
    for module in (one for one in modules if one in own):
        for statement, target in _begun(module):
            if isinstance(target, ast.Attribute):
                edits = _by_name(module, statement, target)
            else:
                edits = _Table(module, modules, graph, own, statement, target).edits()
            if edits:
                return edits
    return {}


@fact_of_text
def _begun(module: Module) -> list[tuple[ast.Assign, ast.Name | ast.Attribute]]:
    """`weights = dict()`, `weights = {}`, `weights = {'w1': tf.Variable(...)}`"""
    found: list[tuple[ast.Assign, ast.Name | ast.Attribute]] = []
    for statement in walk(module.tree):
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, value = statement.targets[0], statement.value
        if isinstance(value, ast.Call):
            made = module.names.qualname(value.func) == "builtins.dict"
            begins = made and not value.args and not value.keywords
        else:
            begins = isinstance(value, ast.Dict)
        if begins and isinstance(target, (ast.Name, ast.Attribute)):
            found.append((statement, target))
    return found


def _by_name(
    module: Module, statement: ast.Assign, target: ast.Attribute
) -> dict[Module, list[Edit]]:
    """`self.weights = {}`, which a constructor fills, gets a name there."""
    owner, names, source = class_of(module, target), module.names, module.source
    node = constructor_of(owner) if owner is not None else None
    if node is None or statement not in in_line(node.body) or not node.args.args:
        return {}
    me, layout = node.args.args[0].arg, Layout(source, statement)
    mentions = [
        one
        for one in names.attributes[target.attr]
        if one is not target and not is_of_another(module, one, owner)
    ]
    own = [
        one
        for one in mentions
        if isinstance(one.value, ast.Name)
        and one.value.id == me
        and names.scope_at(one).function() is node
    ]
    stored = any(not isinstance(one.ctx, ast.Load) for one in mentions)
    items = [_item(module, one) for one in own]
    filled = any(one is not None and isinstance(one.ctx, ast.Store) for one in items)
    if stored or not filled or not layout.owns_lines:
        return {}
    name = names.fresh(names.scopes[node], target.attr.strip("_") or target.attr, "table")
    kept = layout.insert_after([f"{source.code(target)} = {name}"])
    found = [Edit(*source.span(target), name), kept]
    return {module: [*found, *(Edit(*source.span(one), name) for one in own)]}


def _may_inherit(other: ast.ClassDef | None, owner: ast.ClassDef) -> bool:
    """Whether one of two classes may inherit from the other."""
    if other is None or other is owner:
        return False
    bases = [*other.bases, *owner.bases]
    return any(not isinstance(one, ast.Name) or one.id != "object" for one in bases)


def _item(module: Module, mention: ast.expr) -> ast.Subscript | None:
    """`weights['w1']`, of what stands for a dictionary."""
    parent = module.names.parents.get(mention)
    if not isinstance(parent, ast.Subscript) or parent.value is not mention:
        return None
    return parent if isinstance(constant(parent.slice), str) else None


@record(frozen=True, eq=False)
class _Read:
    """What reads an item of a dictionary, ``key``, or all its values."""

    node: ast.expr
    key: str | None


def _read(module: Module, mention: ast.expr) -> _Read | None:
    """`weights['w1']` or `weights.values()`, of what stands for the dictionary."""
    item = _item(module, mention)
    if item is not None:
        key = constant(item.slice)
        return _Read(item, key) if isinstance(key, str) else None
    parent = module.names.parents.get(mention)
    call = module.names.parents.get(parent) if parent is not None else None
    if not isinstance(parent, ast.Attribute) or parent.attr != "values":
        return None
    if not isinstance(call, ast.Call) or call.func is not parent or call.args or call.keywords:
        return None
    loop = module.names.parents.get(call)
    return _Read(call, None) if isinstance(loop, ast.For) and loop.iter is call else None


def _every(module: Module, read: _Read, names: Sequence[str]) -> Edit:
    """All values of the dictionary, in their order."""
    end = "," if len(names) == 1 else ""
    return Edit(*module.source.span(read.node), f"({', '.join(names)}{end})")


class _Table:
    def __init__(
        self,
        module: Module,
        modules: Sequence[Module],
        graph: CallGraph,
        own: Set[Module],
        statement: ast.Assign,
        target: ast.Name,
    ) -> None:
        self.module = module
        self.modules = modules
        self.graph = graph
        self.own = own
        self.names = module.names
        self.source = module.source
        self.statement = statement
        self.target = target
        self.home = module.names.scope_of_name[target]
        self.stores: dict[str, ast.Assign] = {}
        self.chosen: dict[str, str] = {}

    def edits(self) -> dict[Module, list[Edit]]:
        node, names = self.home.node, self.names
        if not isinstance(node, (ast.Module, ast.FunctionDef)):
            return {}
        if (
            names.only_binding(self.target) is None
            or not Layout(self.source, self.statement).owns_lines
        ):
            return {}
        if isinstance(node, ast.Module) and any(
            self.module in one.imported for one in self.modules
        ):
            return {}
        lines = {*in_line(node.body)}
        mentions = names.mentions(self.target.id, self.home)
        rest: list[ast.Name] = []
        for mention in (one for one in mentions if one is not self.target):
            item = _item(self.module, mention)
            if item is None or isinstance(item.ctx, ast.Load):
                rest.append(mention)
                continue
            made, key = names.statement(item), constant(item.slice)
            plain = isinstance(made, ast.Assign) and made.targets == [item] and made in lines
            assert isinstance(key, str)
            if not plain or key in self.stores or not Layout(self.source, made).owns_lines:
                return {}
            assert isinstance(made, ast.Assign)
            self.stores[key] = made
        begun = self._begun_with()
        if self.statement not in lines or begun is None or not self.stores:
            return {}
        if begun.keys() & self.stores.keys() or not self._is_of_graph(begun):
            return {}
        for key in (*begun, *self.stores):
            self._choose(key)
        last = max(self.stores.values(), key=position)
        reads = [_read(self.module, mention) for mention in rest]
        kept = [m for m, read in zip(rest, reads) if read is None]
        inside = [m for m in rest if m.lineno <= (last.end_lineno or last.lineno)]
        alias = self._alias(kept[0]) if len(kept) == 1 else None
        for mention, read in zip(rest, reads):
            early = mention in inside and alias is None
            if early and (read is None or read.key is None):
                return {}
            if read is not None and read.key is not None and not self._is_there(read.key, mention):
                return {}
        found = [self._given(read) for read in reads if read is not None]
        found += (
            Edit(*self.source.span(store.targets[0]), self.chosen[key])
            for key, store in self.stores.items()
        )
        layout = Layout(self.source, self.statement)
        if begun:
            given = [f"{self.chosen[key]} = {code}" for key, code in begun.items()]
            found.append(Edit(layout.line_start, layout.next_line, layout.lines(given)))
        else:
            found.append(without_paragraph(self.source, self.statement))
        attributes = self._of_object(alias, last) if alias is not None else None
        if attributes is not None:
            attributes[self.module] += found
            return attributes
        if not {*kept}.isdisjoint(inside):
            return {}
        if any(isinstance(self.names.statement(one), ast.Return) for one in kept):
            return {}  # a function of its own, which is read as it stands
        if kept:
            items = ", ".join(f"{key!r}: {name}" for key, name in self.chosen.items())
            written = f"{self.target.id} = {{{items}}}"
            found.append(Layout(self.source, last).insert_after([written]))
        return {self.module: found}

    def _begun_with(self) -> dict[str, str] | None:
        """The items that a dictionary has where it is made; None where they cannot have names."""
        value, found = self.statement.value, dict[str, str]()
        for key, one in zip(value.keys, value.values) if isinstance(value, ast.Dict) else ():
            known, code = constant(key) if key is not None else None, self.source.code(one)
            if not isinstance(known, str) or known in found or "\n" in code:
                return None
            found[known] = code
        return found

    def _is_of_graph(self, begun: dict[str, str]) -> bool:
        """Whether something in it is a part of the graph."""
        values = [one.value for one in self.stores.values()]
        if isinstance(self.statement.value, ast.Dict):
            values += self.statement.value.values
        return any(
            isinstance(part, ast.Call) and name_of(self.module, part)
            for value in values
            for part in walk(value)
        )

    def _choose(self, key: str) -> None:
        base = re.sub(r"\W", "_", key)
        table = self.target.id.strip("_")
        taken = {*self.chosen.values(), *self.names.module_scope.bindings, *dir(builtins)}
        wanted = [base] if base.isidentifier() and not keyword.iskeyword(base) else []
        wanted += [f"{table}_{base}", f"{table}_of_{base}"]
        free = [one for one in wanted if one not in taken]
        self.chosen[key] = self.names.fresh(self.home, *(free or [f"{table}_{base}_{len(taken)}"]))

    def _is_there(self, key: str, mention: ast.Name) -> bool:
        """Whether an item is in the dictionary where it is read."""
        if key not in self.chosen:
            return False
        store = self.stores.get(key)
        if store is None or self.names.scope_of_name[mention] is not self.home:
            return True
        return position(mention) > position(store) and self.names.statement(mention) is not store

    def _given(self, read: _Read) -> Edit:
        """What reads items gets their names."""
        if read.key is not None:
            return Edit(*self.source.span(read.node), self.chosen[read.key])
        return _every(self.module, read, [*self.chosen.values()])

    # -- an object that keeps the dictionary -----------------------------------------------

    def _alias(self, mention: ast.Name) -> ast.Attribute | None:
        """`self.weights = weights`, in a constructor."""
        statement, node = self.names.parents.get(mention), self.home.node
        if not isinstance(statement, ast.Assign) or statement.value is not mention:
            return None
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Attribute):
            return None
        owner = class_of(self.module, target)
        if owner is None or constructor_of(owner) is not node:
            return None
        plain = statement in in_line(node.body) and Layout(self.source, statement).owns_lines
        return target if plain else None

    def _of_object(self, kept: ast.Attribute, last: ast.Assign) -> dict[Module, list[Edit]] | None:
        """The edits where code asks the object for items; None where more is asked of it.

        It has them behind the ``last`` one that is put in.
        """
        owner, node = class_of(self.module, kept), self.home.node
        assert owner is not None
        statement = self.names.statement(kept)
        assert isinstance(statement, ast.Assign)
        last = max(statement, last, key=position)
        if self._is_used(kept, statement, last):
            return None
        found: dict[Module, list[Edit]] = {self.module: []}
        asked: dict[str, str] = {}
        for module in self.modules:
            for mention in module.names.attributes.get(kept.attr, ()):
                if mention is kept:
                    continue
                if is_of_another(module, mention, owner):
                    if _may_inherit(class_of(module, mention), owner):
                        return None
                    continue
                if is_of_other_object(self.graph, module, mention, owner):
                    continue
                read = _read(module, mention) if module in self.own else None
                if read is None or (read.key is not None and read.key not in self.chosen):
                    return None
                here = class_of(module, mention) is owner
                if here and self.names.scope_at(mention).function() is node:
                    if position(mention) < position(last):
                        return None
                    found[self.module].append(self._given(read))
                    continue
                known = class_of_object(self.graph, module, mention.value)
                if not here and known is not owner:
                    return None
                for key in [read.key] if read.key is not None else self.chosen:
                    asked[key] = self._attribute(kept, key, asked)
                before = f"{module.source.code(mention.value)}."
                wanted = [key for key in self.chosen if read.key in (None, key)]
                texts = [before + asked[key] for key in wanted]
                found.setdefault(module, []).append(
                    Edit(*module.source.span(read.node), texts[0])
                    if read.key is not None
                    else _every(module, read, texts)
                )
        me = self.source.code(kept.value)
        given = [f"{me}.{asked[key]} = {name}" for key, name in self.chosen.items() if key in asked]
        if given and last is statement:
            found[self.module].append(Layout(self.source, statement).replace(given))
        else:
            found[self.module].append(without_paragraph(self.source, statement))
            if given:
                found[self.module].append(Layout(self.source, last).insert_after(given))
        return found

    def _is_used(self, kept: ast.Attribute, first: ast.stmt, last: ast.stmt) -> bool:
        """Whether other code gets the object before the dictionary has all its items."""
        assert isinstance(kept.value, ast.Name)
        between = [
            one
            for one in self.names.mentions(kept.value.id, self.home)
            if position(first) < position(one) < position(last)
        ]
        owner = class_of(self.module, kept)
        assert owner is not None
        methods = {one.name for one in owner.body if isinstance(one, ast.FunctionDef)}
        parents = [self.names.parents.get(one) for one in between]
        return any(not isinstance(one, ast.Attribute) or one.attr in methods for one in parents)

    def _attribute(self, kept: ast.Attribute, key: str, asked: dict[str, str]) -> str:
        base = f"{kept.attr.rstrip('_')}_{re.sub(r'[^0-9a-zA-Z_]', '_', key)}"
        if key in asked:
            return asked[key]
        taken = {*self.names.attributes, *asked.values()}
        number, name = 2, base
        while name in taken:
            number, name = number + 1, f"{base}_{number}"
        return name
