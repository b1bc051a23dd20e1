"""Options of the devices that a program sets by `tf.config` itself, as a bridge does."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import line_of, statement_value, walk
from migrate_mgpu.api.graph import DEVICE_OPTIONS, SOFT_PLACEMENT
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.expressions import changes_in_place
from migrate_mgpu.models.front.session.program import Role
from migrate_mgpu.models.front.session.scope import Entry
from migrate_mgpu.models.front.session.state import StatementReader


class DeviceOptionReader(StatementReader):
    """Reads statements that set options: in eager code they stand above what makes variables."""

    def read(self, entry: Entry) -> Role | None:
        """What such a statement is; None where it is none.

        Raises:
            Refused: it stands below the graph, and cannot stand above it.
        """
        if entry.opens or not sets_options(self.module, entry.statement):
            return None
        first = next(
            (
                known.statement
                for known, role in zip(self.scope.entries, self.found.roles)
                if role not in (Role.HOST, Role.GONE)
            ),
            None,
        )
        if first is None:
            self.found.options.append(entry.statement)
            return Role.HOST
        for name in walk(entry.statement):
            if isinstance(name, ast.Name) and not self._known_before(name, entry, first):
                text = (
                    "options of `tf.config` must be set before the first variable exists, and "
                    f"`{name.id}` may have another value there"
                )
                advice = f"move these lines above line {first.lineno}"
                raise Refused(self.module, entry.statement, text, advice)
        self.found.below.append(entry.statement)
        return Role.GONE

    def _known_before(self, name: ast.Name, entry: Entry, first: ast.stmt) -> bool:
        """Whether a name has its value before a statement, and keeps it; or is the entry's own."""
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        if home is None:
            return True  # Python's own
        bindings = home.bindings[name.id]
        if any(is_inside(self.module, one.node, {entry.statement}) for one in bindings):
            return True
        if len(bindings) != 1 or changes_in_place(self.module, name):
            return False
        if bindings[0].kind in ("import", "parameter"):
            return True
        return line_of(bindings[0].node) < first.lineno


def sets_options(module: Module, statement: ast.stmt) -> bool:
    """Whether all that a statement says to TensorFlow sets options of devices."""
    if not any(use.symbol.name.startswith(DEVICE_OPTIONS) for use in module.uses):
        return False
    said = [use.symbol.name for use in module.uses if is_inside(module, use.node, {statement})]
    return bool(said) and all(name.startswith(DEVICE_OPTIONS) for name in said)


def sets_softness(module: Module) -> bool:
    """Whether the program sets soft placement itself, under no condition."""
    return any(
        isinstance(call := statement_value(statement), ast.Call)
        and name_of(module, call) == SOFT_PLACEMENT
        for statement in walk(module.tree)
        if isinstance(statement, ast.Expr)
    )
