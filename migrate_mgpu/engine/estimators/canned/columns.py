"""The list of an Estimator's feature columns: plain numbers by their keys, or each one read."""

from __future__ import annotations

import ast

from migrate_mgpu.engine.estimators.canned.column_kinds import (
    NUMERIC,
    PARAMETERS,
    Column,
    is_comment,
)
from migrate_mgpu.engine.estimators.canned.crosses import CrossedColumns
from migrate_mgpu.engine.estimators.facts.parts import tensorflow_name
from migrate_mgpu.engine.estimators.facts.signatures import CANNED_KINDS
from migrate_mgpu.engine.estimators.text.calledit import CallEdit
from migrate_mgpu.engine.estimators.types import Refused
from migrate_mgpu.engine.module import Module


class ColumnReader(CrossedColumns):
    """Reads the columns of one Estimator."""

    def scalars(self, node: ast.expr) -> list[ast.Call] | None:
        """The calls of a list that is all plain numbers, however it is made; else None.

        Such a list stays, with the keys in the place of the columns.
        """
        values = self._values(node)
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
            if not isinstance(node, ast.Call):
                return None
            if tensorflow_name(self.module, node.func) != NUMERIC:
                return None
            edit = CallEdit(self.module, node, PARAMETERS[NUMERIC])
            plain = edit.get("key") is not None and edit.given("shape") is None
            return [node] if plain and edit.given("normalizer_fn") is None else None
        found: list[ast.Call] = []
        for part in parts:
            if part is None:
                return None
            found += part
        return found

    def _values(self, node: ast.expr) -> list[ast.expr] | None:
        """The expressions that a list of columns is made of; None where it goes elsewhere."""
        if not isinstance(node, ast.Name):
            return [node]
        names = self.module.names
        found: list[ast.expr] = []
        bindings = names.bindings_of(node)
        if len(bindings) != 1 or bindings[0].value is None:
            return None
        found.append(bindings[0].value)
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
        columns = self._list(node)
        if len({column.name for column in columns}) < len(columns):
            raise Refused(self.module, node, "two feature columns have one name")
        if not columns:
            raise Refused(self.module, node, "an Estimator without feature columns")
        return sorted(columns, key=lambda column: column.name)

    def _list(self, node: ast.expr) -> list[Column]:
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self.column(element) for element in node.elts]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [*self._list(node.left), *self._list(node.right)]
        if isinstance(node, ast.Name):
            value = self.variable(node)
            self.comments += self.comments_of(self.module.names.statement(value))
            columns = self._list(value)
            for call in self._appended(node):
                column = self.column(call.args[0])
                column.comments += self.comments_of(self.module.names.statement(call))
                columns.append(column)
            return columns
        raise Refused(
            self.module, node, "which feature columns these are cannot be told",
            "write the columns as a list",
        )  # fmt: skip

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
            looped = isinstance(names.parents[statement], (ast.For, ast.If, ast.While))
            if parent.attr != "append" or not alone or looped or len(call.args) != 1:
                raise Refused(self.module, call, "which feature columns these are cannot be told")
            self.statements.append(statement)
            found.append(call)
        return found


def taken_by_another(module: Module, mention: ast.Name) -> bool:
    """Whether a variable is an Estimator's list of columns at a mention."""
    parent = module.names.parents[mention]
    call = module.names.parents[parent] if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or mention is call.func:
        return False
    head, _, last = tensorflow_name(module, call.func).rpartition(".")
    return head == "estimator" and last in CANNED_KINDS


__all__ = ["Column", "ColumnReader", "is_comment", "taken_by_another"]
