"""The list of an Estimator's feature columns: plain numbers by their keys, or each one read."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import tensorflow_name
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.api.feature_columns import COLUMNS, NUMBER
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.canned.column_kinds import ColumnKinds
from migrate_mgpu.models.front.canned.column_names import LISTED, STOPS, Meaning, taken_by_another
from migrate_mgpu.models.ir import FeatureColumn, Key, PlainNumbers
from migrate_mgpu.source.statements import comments_of

_NUMBER = COLUMNS.by_kind[NUMBER]


class ColumnReader(ColumnKinds):
    """Reads the columns of one Estimator."""

    def numbers(self, node: ast.expr) -> PlainNumbers | None:
        """A list that is all plain numbers, however it is made; else None."""
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
        if not calls:
            return None
        return PlainNumbers(self.module, node, tuple(self._number_by_key(call) for call in calls))

    def _number_by_key(self, call: ast.Call) -> Key:
        """A column's key; `[numeric_column(name) for name in NAMES]` has those of `NAMES`."""
        key = NamedArguments(self.module, call, _NUMBER.signature).rest["key"]
        parent = self.module.names.parents[call]
        if isinstance(parent, ast.ListComp) and parent.elt is call and isinstance(key, ast.Name):
            loop = parent.generators[0]
            same = isinstance(loop.target, ast.Name) and loop.target.id == key.id
            if same and len(parent.generators) == 1 and not loop.ifs:
                return Key(call, key, parent)
        return Key(call, key)

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
            if tensorflow_name(self.module, node.func) not in _NUMBER.names:
                return None
            given = NamedArguments(self.module, node, _NUMBER.signature)
            plain = given.get("key") is not None and given.given("shape") is None
            return [node] if plain and given.given("normalizer_fn") is None else None
        found: list[ast.Call] = []
        for part in parts:
            if part is None:
                return None
            found += part
        return found

    def _alone(self, node: ast.Name) -> ast.expr | None:
        """The value of a variable that is given one, and is put into the list, no more."""
        names = self.module.names
        home = names.defining_scope(node.id, names.scope_of_name[node])
        mentions = names.mentions(node.id, home) if home is not None else ()
        loads = [mention for mention in mentions if isinstance(mention.ctx, ast.Load)]
        return names.only_value(node) if loads == [node] else None

    def _values(self, node: ast.expr) -> list[ast.expr] | None:
        """The expressions that a list of columns is made of; None where it goes elsewhere."""
        inner = self.looked_through(node)
        if inner is not node:
            return self._values(inner)
        if not isinstance(node, ast.Name):
            return [node]
        names = self.module.names
        binding = names.only_binding(node)
        if binding is None:
            return None
        value = binding.value or self._unpacked(names.statement(binding.node), node)
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

    def read(self, node: ast.expr) -> tuple[FeatureColumn, ...]:
        """The columns of a list.

        Raises:
            Refused: a list or a column that is not known.
        """
        columns = self._listed(node)
        if len({column.name for column in columns}) < len(columns):
            text = "two feature columns have one name"
            raise Refused(self.module, node, text, key=STOPS)
        if not columns:
            text = "an Estimator without feature columns"
            raise Refused(self.module, node, text, key=STOPS)
        return tuple(columns)

    def _listed(self, node: ast.expr) -> list[FeatureColumn]:
        """The columns of a list, one after the other."""
        inner = self.looked_through(node)
        if inner is not node:
            return self._listed(inner)
        if isinstance(node, (ast.List, ast.Tuple)):
            found: list[FeatureColumn] = []
            for element in node.elts:
                if isinstance(element, ast.Starred):
                    found += self._listed(element.value)
                else:
                    found.append(self.column(element))
            return found
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [*self._listed(node.left), *self._listed(node.right)]
        if isinstance(node, ast.ListComp) and len(node.generators) == 1:
            loop = node.generators[0]
            if not loop.ifs:
                return self._looped(loop.target, loop.iter, node.elt)
        if isinstance(node, ast.Name):
            known = len(self.statements)
            value = self.variable(node)
            if len(self.statements) > known:
                self.comments += comments_of(self.module.source, self.module.names.statement(value))
            found = self._listed(value)
            for call in self._appended(node):
                found += self._of_append(call)
            return found
        raise Refused(
            self.module, node, "which feature columns these are cannot be determined", LISTED
        )

    def _looped(self, target: ast.expr, over: ast.expr, node: ast.expr) -> list[FeatureColumn]:
        """What a loop makes: over what is written out, or over other columns."""
        rounds = self.rounds(target, over)
        if rounds is not None:
            return [self._in_round(target, values, node) for values in rounds]
        if not isinstance(target, ast.Name):
            raise Refused(
                self.module,
                over,
                "which feature columns this loop makes cannot be determined",
                LISTED,
            )
        name = tensorflow_name(self.module, node.func) if isinstance(node, ast.Call) else ""
        row = COLUMNS.by_name.get(name)
        if row is not None and "key" in row.signature:  # it goes over names, not over columns
            raise Refused(
                self.module, over, "which feature columns these are cannot be determined: what the "
                "loop iterates over is not a list literal, and the columns stand in the order of "
                "their names",
                LISTED,
            )  # fmt: skip
        return [self._of_column(target.id, column, node) for column in self._listed(over)]

    def _in_round(
        self, target: ast.expr, values: tuple[Meaning, ...], node: ast.expr
    ) -> FeatureColumn:
        with self.bound(target, values):
            return self.column(node)

    def _of_column(self, name: str, column: FeatureColumn, node: ast.expr) -> FeatureColumn:
        before = dict(self._columns)
        self._columns[name] = column
        try:
            return self.column(node)
        finally:
            self._columns = before

    def _of_append(self, call: ast.Call) -> list[FeatureColumn]:
        """The columns that an `append` adds, in a loop perhaps."""
        names = self.module.names
        statement = names.statement(call)
        loop = names.parents[statement]
        node = call.args[0]
        if isinstance(loop, ast.For):
            columns, statement = self._looped(loop.target, loop.iter, node), loop
        else:
            columns = [self.column(node)]
        comments = tuple(comments_of(self.module.source, statement))
        return [
            replaced(column, comments=(*column.comments, *comments)) if index == 0 else column
            for index, column in enumerate(columns)
        ]

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
                text = "which feature columns these are cannot be determined"
                raise Refused(self.module, call, text, LISTED)
            self.statements.append(statement)
            found.append(call)
        return found
