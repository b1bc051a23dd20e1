"""How far the statements of a session's program move to the left."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.front.session.scope import Entry, Header
from migrate_mgpu.models.keras.session.devices import VariableDevices
from migrate_mgpu.models.keras.session.places import header_end
from migrate_mgpu.source.blocks import lines_in_strings
from migrate_mgpu.source.source import Edit


class Indentation:
    """Blocks of graphs, devices and sessions go away: what stands in them moves out."""

    def __init__(self, program: SessionProgram, devices: VariableDevices) -> None:
        self.program = program
        self.devices = devices
        self.module = program.scope.module
        self.source = self.module.source

    def lost_at(self, node: ast.AST) -> int:
        """How much indentation goes away at a node, with that of the function it stands in."""
        top = self._top(node)
        functions = (o for o in self.module.names.ancestors(top) if isinstance(o, ast.FunctionDef))
        around = next(functions, None)
        outer = self.lost_at(around) if around in self._entry_of and around is not None else 0
        return self._entry_of[top].dedent + outer

    @cached_property
    def _entry_of(self) -> dict[ast.stmt, Entry]:
        entries = [*self.program.scope.entries]
        entries += (entry for client in self.program.clients for entry in client.entries)
        return {entry.statement: entry for entry in entries if not entry.opens}

    def _top(self, node: ast.AST) -> ast.stmt:
        known = self._entry_of
        statement = self.module.names.statement(node)
        while statement not in known:
            statement = self.module.names.statement(self.module.names.parents[statement])
        return statement

    def edits(self, whole: Sequence[tuple[int, int]]) -> Iterator[Edit]:
        """The lines of blocks that go away move out of them.

        Args:
          whole: spans that are written anew, which are left alone.
        """
        lost: dict[int, int] = {}
        inside: set[int] = set()
        blocks = [
            *self.program.scope.blocks,
            *(b for one in self.program.clients for b in one.blocks),
        ]
        for block in blocks:
            unit = len(self.source.indent_of(block.body[0])) - len(self.source.indent_of(block))
            first = self.source.place(header_end(self.source, block))[0]
            inside |= lines_in_strings(self.source, block)
            for one in self.program.configured:  # all lines of these go at once
                inside |= {*range(one.lineno + 1, (one.end_lineno or one.lineno) + 1)}
            stays = self.devices.lines.get(block, set())
            for number in range(first, self._last_line(block) + 1):
                lost[number] = lost.get(number, 0) + unit * (number not in stays)
        for number, width in lost.items():
            text = self.source.line_text(number)
            start = self.source.line_starts[number - 1]
            if number in inside or not text.strip() or not text[:width].isspace():
                continue
            if not any(first <= start < last for first, last in whole):
                yield Edit(start, start + width, "")

    def _last_line(self, block: Header) -> int:
        """A block's last line, with the comments in it that follow its last statement."""
        depth = len(self.source.indent_of(block.body[0]))
        last = number = block.end_lineno or block.lineno
        while number < len(self.source.line_starts):
            number += 1
            text = self.source.line_text(number)
            comment = text.lstrip()
            if comment and (comment[0] != "#" or len(text) - len(comment) < depth):
                break
            last = number if comment else last
        return last
