"""Dictionaries that a graph's variables are put into one by one, by keys that a run computes.

    weights = {}
    for i in range(1, len(sizes)):
        weights["layer_%d" % i] = tf.Variable(tf.zeros([sizes[i - 1], sizes[i]]))

Such statements stay as they are: variables are made by the same calls in TF2. (Where all keys are
constants, each variable has a name of its own before: `normalize.filled_tables`.)
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.models.front.session.expressions import statements_of
from migrate_mgpu.models.front.session.program import Host
from migrate_mgpu.models.front.session.runs import mentions_of
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.session.units import UnitReader
from migrate_mgpu.models.front.session.variables import VariableReader
from migrate_mgpu.models.ir import Collected, Operation, Variables


class VariableTableReader(StatementReader):
    """Reads the statements that begin such a dictionary, and those that fill it."""

    def __init__(self, state: Reading, variables: VariableReader, units: UnitReader) -> None:
        super().__init__(state)
        self.variables = variables
        self.units = units
        self._filling: dict[ast.stmt, ast.Assign] = {}  # entries that fill, and what they fill
        self._made: dict[ast.Assign, list[Operation]] = {}

    def read(self, statement: ast.stmt) -> bool:
        """Whether a statement begins a dictionary of variables, or fills one."""
        if isinstance(statement, ast.Assign) and self._begins(statement):
            return True
        begun = self._filling.pop(statement, None)
        if begun is None:
            return False
        self._fill(statement, begun)
        if begun not in self._filling.values():
            target = begun.targets[0]
            assert isinstance(target, ast.Name)
            found = Variables(target.id, begun, Collected.VALUES, tuple(self._made[begun]))
            self.found.variables.append(found)
            self.meanings[target.id] = found
        return True

    def _begins(self, statement: ast.Assign) -> bool:
        """`weights = {}`, of which all that is put in is a variable, under at least one key that
        is no constant, before anything else has to do with it."""
        target, value = statement.targets[0], statement.value
        if len(statement.targets) > 1 or not isinstance(target, ast.Name):
            return False
        empty = isinstance(value, ast.Dict) and not value.keys
        if isinstance(value, ast.Call) and not value.args and not value.keywords:
            empty = self.names.qualname(value.func) == "builtins.dict"
        if not empty or self.scope.towers is not None:
            return False
        entries = [one.statement for one in self.scope.entries if not one.opens]
        around = {inner: one for one in entries for inner in statements_of([one])}
        filling: dict[ast.stmt, None] = {}
        computed = False
        mentions = [one for one in self.names.mentions(target.id, self.home) if one is not target]
        for name in mentions:
            put = self._put(name)
            if put is None:
                continue
            entry = around.get(put)
            if entry is None or self.names.scope_of_name[name] is not self.home:
                return False
            filling[entry] = None
            assert isinstance(put.targets[0], ast.Subscript)
            computed |= constant(put.targets[0].slice) is None
        if not computed:
            return False
        last = max(entries.index(one) for one in filling)
        for name in mentions:
            own = around.get(self.names.statement(name))
            if isinstance(name.ctx, ast.Store) or (
                own is not None and self._put(name) is None and entries.index(own) <= last
            ):
                return False
        if min(entries.index(one) for one in filling) < entries.index(statement):
            return False
        self._filling.update(dict.fromkeys(filling, statement))
        self._made[statement] = []
        self.state.only_binding(target)
        self.meanings[target.id] = Host()
        return True

    def _put(self, name: ast.Name) -> ast.Assign | None:
        """`weights[key] = tf.Variable(...)`, of the mention of `weights` in it."""
        item = self.names.parents.get(name)
        if not isinstance(item, ast.Subscript) or item.value is not name:
            return None
        put = self.names.statement(item)
        if not isinstance(put, ast.Assign) or put.targets != [item]:
            return None
        return put if self.variables.makes_variables(put.value) else None

    def _fill(self, entry: ast.stmt, begun: ast.Assign) -> None:
        """Reads a statement that fills a dictionary, and the conditions and loops around it.

        Raises:
            Refused: something in it is more than that, or depends on the graph.
        """
        text = "a statement between those that make variables in a loop does more"
        for part in statements_of([entry]):
            if isinstance(part, ast.For) and not part.orelse:
                self._host(part.iter)
                self._bind(part.target)
            elif isinstance(part, ast.If):
                self._host(part.test)
            elif isinstance(part, ast.Assign) and self._is_put(part, begun):
                self._host(part.targets[0])
                self._made[begun].append(self.variables.one(part.value, among_others=True)[0])
            elif isinstance(part, (ast.Assign, ast.AugAssign)):
                self._host(part.value)
                for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
                    self._bind(target)
            elif isinstance(part, ast.Expr):
                self._host(part.value)  # it prints
            elif not isinstance(part, ast.Pass):
                raise Refused(self.module, part, text, "make them in statements of their own")

    def _is_put(self, statement: ast.Assign, begun: ast.Assign) -> bool:
        item, table = statement.targets[0], begun.targets[0]
        assert isinstance(table, ast.Name)
        if not isinstance(item, ast.Subscript) or not isinstance(item.value, ast.Name):
            return False
        return item.value.id == table.id

    def _host(self, node: ast.expr) -> None:
        self.state.host_only(node, "what makes variables in a loop")
        if self.units.is_graph(node):
            text = "what stands between the variables of a dictionary builds a part of the graph"
            raise Refused(self.module, node, text)

    def _bind(self, target: ast.expr) -> None:
        for name in mentions_of(self.names, target, self.home):
            if isinstance(name.ctx, ast.Store):
                self.meanings[name.id] = Host()
