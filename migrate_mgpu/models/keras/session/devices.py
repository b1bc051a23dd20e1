"""The devices that a session's program makes its variables on."""

from __future__ import annotations

import ast
from functools import cached_property

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.program import Role, SessionProgram
from migrate_mgpu.models.front.session.scope import Entry
from migrate_mgpu.models.keras.expressions import Replacement
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

# What is made where it stands, on the device that is told there.
PLACED = (Role.VARIABLES, Role.CELLS)


class VariableDevices:
    """Blocks that tell a device stay around the variables that are made in them."""

    def __init__(self, program: SessionProgram, tensorflow: str) -> None:
        self.program = program
        self.tensorflow = tensorflow
        self.module = program.scope.module
        self.source = self.module.source

    @cached_property
    def are_named(self) -> bool:
        """Whether variables may lie on another device than what an optimizer keeps of them.

        On GPU 0 both lie without a word; under a strategy each replica has its own of both.
        """
        if self.program.scope.towers is not None:
            return False
        functions = (*self.program.builders.values(), *self.program.makers.values())
        modules = dict.fromkeys([self.module, *(one.module for one in functions)])
        calls = [(module, call) for module in modules for call in module.names.calls]
        return any(name_of(*one) == "device" and not _is_first_gpu(one[1]) for one in calls)

    @cached_property
    def headers(self) -> dict[ast.stmt, Edit]:
        """The headers of blocks in which variables are made on a device, by their first ones."""
        found: dict[ast.stmt, Edit] = {}
        for first, *_ in self._placements:
            assert first.device is not None
            header = f"with {self.tensorflow}.device({self.source.code(first.device)}):"
            statement = first.statement
            if not Layout(self.source, statement).owns_lines:
                text = "another statement stands on its line, and on a device"
                raise Refused(self.module, statement, text)
            indent = self.source.indent_of(statement)
            outer = indent[: len(indent) - first.dedent]
            end = self.source.span(statement)[0]
            text = f"{outer}{header}{self.source.newline}{outer}{self.source.indent_unit}"
            found[statement] = Edit(end - len(indent), end, text)
        return found

    def in_loops(self) -> dict[ast.AST, Replacement]:
        """What tells the devices in loops that compute, which have texts for them."""

        def write(told: ast.expr) -> Replacement:
            return lambda context: f"{context.tf}.device({context.render(told)})"

        return {
            item.context_expr: write(item.context_expr.args[0])
            for unit in self.program.units.values()
            if isinstance(unit.node, ast.For)
            for block in walk(unit.node)
            if isinstance(block, ast.With)
            for item in block.items
            if isinstance(item.context_expr, ast.Call)
        }

    @cached_property
    def _placements(self) -> list[list[Entry]]:
        """The statements that make variables on a device, those in one block together."""
        found: list[list[Entry]] = []
        before: Entry | None = None
        for entry, role in zip(self.program.scope.entries, self.program.roles):
            if entry.opens or entry.device is None or role not in PLACED:
                before = None
                continue
            if before is None or before.device is not entry.device:
                found.append([])
            found[-1].append(entry)
            before = entry
        return found

    @cached_property
    def lines(self) -> dict[ast.stmt, set[int]]:
        """The lines that stay in a block that tells a device, by that."""
        found: dict[ast.stmt, set[int]] = {}
        for entries in self._placements:
            device = entries[0].device
            assert device is not None
            last = entries[-1].statement
            lines = range(entries[0].statement.lineno, (last.end_lineno or last.lineno) + 1)
            found.setdefault(self.module.names.statement(device), set()).update(lines)
        return found

    def keeps(self, statement: ast.AST) -> bool:
        """Whether a statement stays in a block that tells a device."""
        return any(getattr(statement, "lineno", 0) in lines for lines in self.lines.values())


def _is_first_gpu(device: ast.Call) -> bool:
    """`tf.device("/gpu:0")`."""
    told = constant(device.args[0]) if device.args else None
    return isinstance(told, str) and told.lower().replace("device:", "") == "/gpu:0"
