"""The edits of a session's program."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.source.blocks import render
from migrate_mgpu.source.source import Edit


class SessionEdits:
    """What is edited in a program's module, and told of it.

    Attributes:
      whole: the spans that are written anew: nothing in them moves.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.source = module.source
        self.found = EditSet()
        self.whole: list[tuple[int, int]] = []

    def edit(self, *edits: Edit) -> None:
        """Text that is written anew."""
        self.found.edit(self.module, *edits)
        self.whole += ((edit.start, edit.end) for edit in edits)

    def region(self, start: int, stop: int, text: str, lines: Iterable[int] = ()) -> None:
        """Lines in the place of others, with the line ends of the file.

        ``lines`` begin in the region: where nothing takes the place of them, something that
        belongs above one of them, such as the options of a device, may.
        """
        for line in sorted({*lines}) if not text else ():
            if start < line < stop:
                self.edit(Edit(start, line, ""))
                start = line
        if start != stop or text:
            self.edit(Edit(start, stop, text.replace("\n", self.source.newline)))

    def in_place(self, statement: ast.stmt, context: Context) -> None:
        """A statement that stays where it is, its lines below aligned as they were."""
        edits = context.edits(statement)
        if edits and statement.lineno != statement.end_lineno:
            start, end = self.source.span(statement)
            self.edit(Edit(start, end, render(self.source, statement, edits)))
        else:
            self.edit(*edits)
