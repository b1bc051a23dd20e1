"""The list of an Estimator's feature columns: plain numbers by their keys, or each one read."""

from __future__ import annotations

import ast
from functools import partial

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import tensorflow_name
from migrate_mgpu.models.front.canned.categories import Column, Maker
from migrate_mgpu.models.front.canned.column_kinds import NUMERIC, PARAMETERS
from migrate_mgpu.models.front.canned.column_names import (
    LISTED,
    Shown,
    taken_by_another,
)
from migrate_mgpu.models.front.canned.crosses import CrossedColumns


class ColumnReader(CrossedColumns):
    """Reads the columns of one Estimator."""

    def scalars(self, node: ast.expr) -> list[ast.Call] | None:
        """The calls of a list that is all plain numbers, however it is made; else None.

        Such a list stays, with the keys in the place of the columns.
        """
        before = list(self.statements), list(self.comments)
        values = self._values(node)
        self.statements, self.comments = before  # what makes such a list stays
        if values is None:
            return None
        calls: list[ast.Call] = []
        for value in values:
            found = self._plain(value)
            if found is None:
                return None
            calls += found
        return calls or None

    def _plain(self, node: ast.expr) -> list[ast.Call] | None:
        """The plain number columns in an expression that has nothing else; else None."""
        if isinstance(node, (ast.List, ast.Tuple)):
            parts = [self._plain(element) for element in node.elts]
        elif isinstance(node, ast.ListComp):
            parts = [self._plain(node.elt)]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [self._plain(node.left), self._plain(node.right)]
        else:
            if isinstance(node, ast.Name):
                value = self._alone(node)
                return self._plain(value) if isinstance(value, ast.Call) else None
            if not isinstance(node, ast.Call):
                return None
            if tensorflow_name(self.module, node.func) != NUMERIC:
                return None
            edit = BoundCall(self.module, node, PARAMETERS[NUMERIC])
            plain = edit.get("key") is not None and edit.given("shape") is None
            return [node] if plain and edit.given("normalizer_fn") is None else None
        found: list[ast.Call] = []
        for part in parts:
            if part is None:
                return None
            found += part
        return found

    def _alone(self, node: ast.Name) -> ast.expr | None:
        """The value of a variable that is given one, and is put into the list, no more."""
        names = self.module.names
        bindings = names.bindings_of(node)
        home = names.defining_scope(node.id, names.scope_of_name[node])
        mentions = names.mentions(node.id, home) if home is not None else ()
        loads = [mention for mention in mentions if isinstance(mention.ctx, ast.Load)]
        return bindings[0].value if len(bindings) == 1 and loads == [node] else None

    def _values(self, node: ast.expr) -> list[ast.expr] | None:
        """The expressions that a list of columns is made of; None where it goes elsewhere."""
        inner = self.looked_through(node)
        if inner is not node:
            return self._values(inner)
        if not isinstance(node, ast.Name):
            return [node]
        names = self.module.names
        bindings = names.bindings_of(node)
        if len(bindings) != 1:
            return None
        value = bindings[0].value
        if value is None:
            value = self._unpacked(names.statement(bindings[0].node), node)
        found = None if value is None else self._values(value)
        if found is None:
            return None
        home = names.defining_scope(node.id, names.scope_of_name[node])
        for mention in names.mentions(node.id, home) if home is not None else ():
            if mention is node or not isinstance(mention.ctx, ast.Load):
                continue
            if taken_by_another(self.module, mention):
                continue
            parent = names.parents[mention]
            call = names.parents[parent]
            appends = isinstance(parent, ast.Attribute) and parent.attr == "append"
            if not (appends and isinstance(call, ast.Call) and len(call.args) == 1):
                return None
            found += call.args
        return found

    def read(self, node: ast.expr) -> list[Column]:
        """The columns of a list, in the order of their names.

        Raises:
            Refused: a list or a column that is not known.
        """
        columns = [maker() for maker in self._makers(node)]
        if len({column.name for column in columns}) < len(columns):
            raise Refused(self.module, node, "two feature columns have one name")
        if not columns:
            raise Refused(self.module, node, "an Estimator without feature columns")
        return sorted(columns, key=lambda column: column.name)

    def _makers(self, node: ast.expr) -> list[Maker]:
        """What makes the columns of a list, one after the other."""
        inner = self.looked_through(node)
        if inner is not node:
            return self._makers(inner)
        if isinstance(node, (ast.List, ast.Tuple)):
            found: list[Maker] = []
            for element in node.elts:
                if isinstance(element, ast.Starred):
                    found += self._makers(element.value)
                else:
                    found.append(partial(self.column, element))
            return found
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [*self._makers(node.left), *self._makers(node.right)]
        if isinstance(node, ast.ListComp) and len(node.generators) == 1:
            loop = node.generators[0]
            if not loop.ifs:
                return self._looped(loop.target, loop.iter, node.elt)
        if isinstance(node, ast.Name):
            known = len(self.statements)
            value = self.variable(node)
            if len(self.statements) > known:
                self.comments += self.comments_of(self.module.names.statement(value))
            makers = self._makers(value)
            for call in self._appended(node):
                makers += self._of_append(call)
            return makers
        raise Refused(self.module, node, "which feature columns these are cannot be told", LISTED)

    def _looped(self, target: ast.expr, over: ast.expr, node: ast.expr) -> list[Maker]:
        """What a loop makes: over what is written out, or over other columns."""
        rounds = self.rounds(target, over)
        if rounds is not None:
            return [partial(self._in_round, target, values, node) for values in rounds]
        if not isinstance(target, ast.Name):
            raise Refused(
                self.module, over, "which feature columns this loop makes cannot be told", LISTED
            )
        makers = self._makers(over)
        return [partial(self._of_column, target.id, maker, node) for maker in makers]

    def _in_round(self, target: ast.expr, values: tuple[Shown, ...], node: ast.expr) -> Column:
        with self.bound(target, values):
            return self.column(node)

    def _of_column(self, name: str, maker: Maker, node: ast.expr) -> Column:
        before = dict(self._columns)
        self._columns[name] = maker
        try:
            return self.column(node)
        finally:
            self._columns = before

    def _of_append(self, call: ast.Call) -> list[Maker]:
        """What makes the columns that an `append` adds, in a loop perhaps."""
        names = self.module.names
        statement = names.statement(call)
        loop = names.parents[statement]
        node = call.args[0]
        makers: list[Maker] = [partial(self.column, node)]
        if isinstance(loop, ast.For):
            makers, statement = self._looped(loop.target, loop.iter, node), loop
        comments = self.comments_of(statement)
        if not makers or not comments:
            return makers

        def first() -> Column:
            column = makers[0]()
            column.comments += comments
            return column

        return [first, *makers[1:]]

    def _appended(self, name: ast.Name) -> list[ast.Call]:
        names = self.module.names
        home = names.defining_scope(name.id, names.scope_of_name[name])
        found: list[ast.Call] = []
        for mention in names.mentions(name.id, home) if home is not None else ():
            parent = names.parents[mention]
            call = names.parents[parent]
            if not (isinstance(parent, ast.Attribute) and isinstance(call, ast.Call)):
                continue  # looked at when the statements go
            statement = names.statement(call)
            alone = isinstance(statement, ast.Expr) and statement.value is call
            block = names.parents[statement]
            looped = isinstance(block, (ast.If, ast.While))
            if isinstance(block, ast.For):  # of nothing else
                looped = block.body != [statement] or bool(block.orelse)
                self.statements.append(block)
            if parent.attr != "append" or not alone or looped or len(call.args) != 1:
                text = "which feature columns these are cannot be told"
                raise Refused(self.module, call, text, LISTED)
            self.statements.append(statement)
            found.append(call)
        return found


__all__ = ["Column", "ColumnReader"]
