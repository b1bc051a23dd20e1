"""An object that another one keeps: what is read of it, as the keeper's own.

    model = Net(x, training)                    model = Net(x, training)
    loss = tf.reduce_mean(model.losses)         loss = tf.reduce_mean(model.losses)
    ...                                         ...
    self.model = model                          self.model_probabilities = model.probabilities

`self.model.probabilities`, of a method, becomes `self.model_probabilities`. What makes the object
may be a function then (`single_objects`), whose values these are.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.session.origins import class_of, class_of_object, is_of_another
from migrate_mgpu.models.front.session.scope import constructor_of, session_calls
from migrate_mgpu.models.normalize.functions.optimizer_choices import given_in_line
from migrate_mgpu.models.normalize.objects.graph_methods import builds, in_line
from migrate_mgpu.models.normalize.objects.network_methods import is_base, is_plain
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such object; none where there is none. ``own`` may change."""
    for module in modules:
        for keeper in module.tree.body if module in own else ():
            node = constructor_of(keeper) if isinstance(keeper, ast.ClassDef) else None
            if node is None or not isinstance(keeper, ast.ClassDef) or not is_plain(keeper):
                continue
            for statement in in_line(node.body):
                if isinstance(statement, ast.Assign):
                    found = _Kept(module, graph, keeper, node, statement).edits(modules, own)
                    if found:
                        return found
    return {}


class _Kept:
    """``statement`` gives an object to the one whose constructor it stands in."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        keeper: ast.ClassDef,
        constructor: ast.FunctionDef,
        statement: ast.Assign,
    ) -> None:
        self.module = module
        self.graph = graph
        self.keeper = keeper
        self.constructor = constructor
        self.statement = statement

    def edits(self, modules: Sequence[Module], own: Set[Module]) -> dict[Module, list[Edit]]:
        target, value = self.statement.targets[0], self.statement.value
        if not isinstance(target, ast.Attribute) or len(self.statement.targets) > 1:
            return {}
        if class_of(self.module, target) is not self.keeper or not isinstance(value, ast.Name):
            return {}
        made = self.module.names.only_value(value)
        known = self.graph.class_of(self.module, made.func) if isinstance(made, ast.Call) else None
        if known is None or not Layout(self.module.source, self.statement).owns_lines:
            return {}
        self.origin, self.owner = known
        if not self._is_network():
            return {}
        reads = self._reads(target)
        settled = self._settled()
        if reads is None or any(one.attr not in settled for _, one in reads):
            return {}
        if is_base(modules, self.graph, self.keeper) or is_base(modules, self.graph, self.owner):
            return {}
        given: dict[str, str] = {}
        found: dict[Module, list[Edit]] = {self.module: []}
        for other, read in reads:
            if other not in own:
                return {}
            source = other.source
            assert isinstance(read.value, ast.Attribute)
            within = self.constructor in other.names.ancestors(read)
            if within and other.names.scope_at(read).function() is self.constructor:
                if other.names.statement(read).lineno < self.statement.lineno:
                    return {}
                found[other].append(Edit(*source.span(read.value), value.id))
                continue
            name = given.get(read.attr) or self._free(f"{target.attr}_{read.attr.strip('_')}")
            if not name or name in (one for key, one in given.items() if key != read.attr):
                return {}
            given[read.attr] = name
            keeper = source.code(read.value.value)
            found.setdefault(other, []).append(Edit(*source.span(read), f"{keeper}.{name}"))
        found[self.module].append(self._instead(target, value.id, given))
        return found

    def _instead(self, target: ast.Attribute, name: str, given: dict[str, str]) -> Edit:
        """What the keeper is given instead of the object."""
        source = self.module.source
        if not given:
            alone = len(self.module.names.block(self.statement)) == 1
            if alone:
                return Layout(source, self.statement).replace(["pass"])
            return without_paragraph(source, self.statement)
        me = source.code(target.value)
        lines = [f"{me}.{new} = {name}.{attribute}" for attribute, new in given.items()]
        return Layout(source, self.statement).replace(lines)

    def _is_network(self) -> bool:
        """Whether the object's constructor builds parts of a graph, and makes no session."""
        node = constructor_of(self.owner)
        if node is None or self.owner is self.keeper or not is_plain(self.owner):
            return False
        if set(session_calls(self.origin)) & set(walk(self.owner)):
            return False
        return builds(Function(self.origin, node), self.graph)

    def _reads(self, target: ast.Attribute) -> list[tuple[Module, ast.Attribute]] | None:
        """What is read of the object where it is kept; None where more may be done with it."""
        found: list[tuple[Module, ast.Attribute]] = []
        for module in self.graph.modules:
            for mention in module.names.attributes.get(target.attr, ()):
                if mention is target or is_of_another(module, mention, self.keeper):
                    continue
                around = class_of(module, mention) or class_of_object(
                    self.graph, module, mention.value
                )
                if around is not None and around is not self.keeper:
                    continue  # what has a base was looked at: no object of the keeper's
                read = module.names.parents.get(mention)
                if around is None or not isinstance(mention.ctx, ast.Load):
                    return None
                if not isinstance(read, ast.Attribute) or not isinstance(read.ctx, ast.Load):
                    return None
                found.append((module, read))
        return found

    def _settled(self) -> set[str]:
        """The attributes that an object of the class has once it is made, and that stay so."""
        node = constructor_of(self.owner)
        assert node is not None
        names = self.origin.names
        line = list(in_line(node.body))
        found: set[str] = set()
        stored: dict[str, list[ast.stmt]] = {}
        for mention in names.mentions(node.args.args[0].arg, names.scopes[node]):
            parent = names.parents.get(mention)
            if isinstance(parent, ast.Attribute) and not isinstance(parent.ctx, ast.Load):
                stored.setdefault(parent.attr, []).append(names.statement(parent))
        for attribute, statements in stored.items():
            if not set(line).issuperset(statements) and not given_in_line(line, set(statements)):
                continue
            elsewhere = [
                one
                for module in self.graph.modules
                for one in module.names.attributes.get(attribute, ())
                if not isinstance(one.ctx, ast.Load)
                and not is_of_another(module, one, self.owner)
                and not (module is self.origin and node in module.names.ancestors(one))
                and class_of_object(self.graph, module, one.value) in (None, self.owner)
            ]
            if not elsewhere:
                found.add(attribute)
        return found

    def _free(self, name: str) -> str:
        """A name for an attribute of the keeper's that none of the program's objects has."""
        taken = any(module.names.attributes.get(name) for module in self.graph.modules)
        methods = {one.name for one in self.keeper.body if isinstance(one, ast.FunctionDef)}
        return "" if taken or name in methods else name
