"""Dictionaries of parts of a graph that functions are given: they are given the parts.

`ops = {'x': x_pl, 'loss': loss}` and `train(sess, ops)`, which asks for `ops['loss']`, becomes
`train(sess, x_pl, loss)`. Where something of it is fed, `feed_dict={ops['x']: rows}`, its own
code has the parts by their names.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import Scope, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.towers.loop import read_towers
from migrate_mgpu.models.normalize.towers.built_again import makes_variables
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_LOOPS = (ast.For, ast.While, ast.AsyncFor)


def spread(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such dictionary; none where there is none."""
    for module in modules:
        for statement, table in _tables(module):
            edits = _Table(module, graph, statement, table).edits()
            if edits and edits.keys() <= {*modules}:
                return edits
    return {}


def apart(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """`weights = {'a': variable('a', [3])}`: what the author's functions make gets names first.

    They are written where they are called then, which they cannot be within a dictionary. So does
    what is computed, beside a placeholder: `{'x': x, 'loss': tf.reduce_mean(losses)}`.
    """
    for module in modules:
        for statement, table in _tables(module):
            edits = _values_apart(module, graph, statement, table)
            if edits:
                return {module: edits}
    return {}


def _values_apart(
    module: Module, graph: CallGraph, statement: ast.Assign, table: ast.Dict
) -> list[Edit]:
    layout, target = Layout(module.source, statement), statement.targets[0]
    calls = [one for one in table.values if isinstance(one, ast.Call)]
    made = [graph.target(module, one.func) for one in calls]
    makes = all(one is not None and makes_variables(one, graph) for one in made)
    rest = [one for one in table.values if one not in calls]
    computes = all(name_of(module, one) for one in calls) and any(
        _is_placeholder(module, one) for one in rest
    )
    if not calls or not (makes or computes):
        return []
    keys = [constant(key) for key in table.keys]
    if not all(isinstance(one, ast.Name) for one in rest) or not layout.owns_lines:
        return []
    if len(statement.targets) > 1 or not isinstance(target, ast.Name):
        return []
    if not all(isinstance(key, str) and key.isidentifier() for key in keys):
        return []
    home, lines, edits = module.names.scope_at(statement), list[str](), list[Edit]()
    for key, value in zip(keys, table.values):
        if value in calls:
            name = module.names.fresh(home, f"{target.id}_{key}", f"{target.id}_of_{key}")
            code = module.source.code(value)
            if "\n" in code:
                return []
            lines.append(f"{name} = {code}")
            edits.append(Edit(*module.source.span(value), name))
    return [layout.insert_before(lines), *edits]


def _is_placeholder(module: Module, node: ast.expr) -> bool:
    """Whether a name stands for a placeholder: what has one is a table of a graph's parts."""
    value = module.names.only_value(node) if isinstance(node, ast.Name) else None
    return isinstance(value, ast.Call) and name_of(module, value) in PLACEHOLDERS


@fact_of_text
def _tables(module: Module) -> list[tuple[ast.Assign, ast.Dict]]:
    return [
        (statement, statement.value)
        for statement in walk(module.tree)
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict)
    ]


class _Table:
    """A dictionary with a name, whose keys are texts and whose values are names."""

    def __init__(
        self, module: Module, graph: CallGraph, statement: ast.Assign, table: ast.Dict
    ) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.graph = graph
        self.statement = statement
        self.values: dict[str, str] = {}
        for key, value in zip(table.keys, table.values):
            known = constant(key)
            if isinstance(known, str) and isinstance(value, ast.Name):
                self.values[known] = value.id
        self.plain = len(self.values) == len(table.keys) > 0
        self.found: dict[Module, list[Edit]] = {module: []}
        self.done: set[ast.AST] = set()

    def edits(self) -> dict[Module, list[Edit]]:
        target = self.statement.targets[0]
        layout = Layout(self.source, self.statement)
        if not self.plain or len(self.statement.targets) != 1 or not layout.owns_lines:
            return {}
        if not isinstance(target, ast.Name) or self.names.only_binding(target) is None:
            return {}
        home = self.names.scope_of_name[target]
        for name in self.values.values():
            bindings = home.bindings.get(name, ())
            after = [one for one in bindings if _line(one.node) > self.statement.lineno]
            if not bindings or after:
                return {}
        mentions = [one for one in self.names.mentions(target.id, home) if one is not target]
        handed = False
        for mention in mentions:
            call = self.names.parents.get(mention)
            key = self._key(self.module, mention)
            if key is not None:
                assert isinstance(call, ast.Subscript)
                if self.names.scope_of_name[mention] is not home:
                    return {}
                self._add(self.module, call, self.values[key])
            elif isinstance(call, ast.Call) and mention in call.args:
                if not self._given(mention, call, target.id):
                    return {}
                handed = True
            else:
                return {}
        asked = bool(self.found[self.module])
        if not handed and not (asked and (self._is_fed(home) or self._is_in_towers(mentions))):
            return {}
        self.found[self.module].insert(0, Edit(layout.line_start, layout.next_line, ""))
        return self.found

    def _add(self, module: Module, node: ast.AST, text: str) -> None:
        self.found.setdefault(module, []).append(Edit(*module.source.span(node), text))

    def _is_fed(self, home: Scope) -> bool:
        """Whether a table has a placeholder: what is fed needs a name, `ae['x']` is none."""
        names = self.names
        if any(isinstance(one, _LOOPS) for one in names.ancestors(self.statement)):
            return False
        values = (one.value for name in self.values.values() for one in home.bindings[name])
        return any(
            isinstance(one, ast.Call) and name_of(self.module, one) in PLACEHOLDERS
            for one in values
        )

    def _is_in_towers(self, mentions: Sequence[ast.Name]) -> bool:
        """Whether towers read a table that is made before them: they need its variables."""
        loops = {
            one
            for mention in mentions
            for one in self.names.ancestors(mention)
            if isinstance(one, ast.For) and read_towers(self.module, one, self.graph) is not None
        }
        return bool(loops) and not loops & {*self.names.ancestors(self.statement)}

    def _key(self, module: Module, mention: ast.Name) -> str | None:
        """The key of `ops['loss']`, which is read."""
        parent = module.names.parents.get(mention)
        if not isinstance(parent, ast.Subscript) or parent.value is not mention:
            return None
        key = constant(parent.slice)
        read = isinstance(parent.ctx, ast.Load) and key in self.values
        return key if read and isinstance(key, str) else None

    def _given(self, mention: ast.Name, call: ast.Call, name: str) -> bool:
        """A call that is given the table, and its function."""
        target = self.graph.target(self.module, call.func)
        if target is None or target.owner is not None:
            return False
        node = target.node
        bound = bind(call, target)
        parameter = bound.parameter(mention)
        given = bound.every()
        if parameter is None or given is None or not isinstance(node, ast.FunctionDef):
            return False
        for reference in self.graph.references(target):
            other = reference.call
            value = bind(other, target).value(parameter) if other is not None else None
            if reference.module is not self.module or not isinstance(value, ast.Name):
                return False
            if value.id != name or other is None or value not in other.args:
                return False
        parts = self._parts(target.module, node, parameter)
        if parts is None:
            return False
        text = ", ".join(self.values[key] for key in parts)
        self._add(self.module, mention, text)
        return True

    def _parts(self, module: Module, node: ast.FunctionDef, parameter: str) -> list[str] | None:
        """The keys that a function asks for, which become parameters of it."""
        names = module.names
        scope = names.scopes[node]
        mentions = names.mentions(parameter, scope)
        keys = [self._key(module, one) for one in mentions]
        own = [one for one in node.args.args if one.arg == parameter]
        if not keys or None in keys or len(scope.bindings[parameter]) != 1 or not own:
            return None
        wanted = list(dict.fromkeys(key for key in keys if key is not None))
        if node not in self.done:
            self.done.add(node)
            own_names = {
                key: names.fresh(scope, self.values[key], f"{self.values[key]}_part")
                for key in wanted
            }
            if len({*own_names.values()}) < len(wanted):
                return None
            text = ", ".join(own_names.values())
            self._add(module, own[0], text)
            for mention, key in zip(mentions, keys):
                self._add(module, names.parents[mention], own_names[key or ""])
        return wanted


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
