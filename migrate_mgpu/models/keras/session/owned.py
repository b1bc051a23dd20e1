"""What a strategy owns in a program of towers, made once in its scope."""

from __future__ import annotations

import ast
from functools import cached_property

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.findings import CONFIGURATION
from migrate_mgpu.models.front.session.program import Role, SessionProgram
from migrate_mgpu.models.front.session.runs import mentions_of
from migrate_mgpu.models.front.session.scope import Entry
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.session.construction import ConstructionWriter
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.models.keras.session.updates import UpdateWriter
from migrate_mgpu.models.keras.towers.steps import devices_of
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.style import FileStyle

_NEEDED = (
    "the strategy needs every device that the loop names; TF1's soft placement, where it was on, "
    "built the towers of missing GPUs on the CPU"
)
# What a strategy has to own, where there is one.
OWNED = (Role.VARIABLES, Role.CELLS, Role.OPTIMIZER, Role.UPDATE)


class OwnedWriter:
    """Writes the strategy above the first of what it owns, and that below it."""

    def __init__(
        self,
        program: SessionProgram,
        names: StepNames,
        context: Context,
        style: FileStyle,
        construction: ConstructionWriter,
        updates: UpdateWriter,
        found: EditSet,
    ) -> None:
        self.program = program
        self.names = names
        self.context = context
        self.style = style
        self.construction = construction
        self.updates = updates
        self.found = found
        self.module = program.scope.module
        self.source = self.module.source
        self._has_strategy = False
        self._delayed: list[tuple[Entry, Role]] = []

    def once(self, entry: Entry, role: Role, block: Block) -> None:
        """What is made once, in a strategy's scope: layers, and all that has variables."""
        inner = block.indent + self.source.indent_unit
        lines = self.construction.lines(entry, inner)
        if not lines and role not in OWNED:
            return
        if entry in self.program.scope.entries[: self._known_behind]:
            self._delayed.append((entry, role))
            return
        for other in self._delayed:
            self._owned(*other, block, inner)
        self._delayed.clear()
        self._owned(entry, role, block, inner)

    def _owned(self, entry: Entry, role: Role, block: Block, inner: str) -> None:
        lines = self.construction.lines(entry, inner)
        if not block.lines:
            self._strategy(block)
            block.line(f"with {self.names.strategy}.scope():")
        block.lines += lines
        if role is Role.UPDATE:
            block.comments(entry.statement, 1)
            block.lines += [inner + line for line in self.updates.lines(entry.statement, inner)]
        elif role in OWNED:
            edits = tuple(self.context.edits(entry.statement)) if role is not Role.OPTIMIZER else ()
            if role is Role.OPTIMIZER:
                block.lines += [inner + line for line in self.updates.rates_of(entry.statement)]
                edits = self.updates.optimizer(entry.statement)
            block.statement(entry.statement, edits, 1)
            begun = self.updates.begun_below(entry.statement)
            block.lines += [inner + begun] if begun else []

    @property
    def _tower_names(self) -> frozenset[str]:
        return (
            self.program.scope.towers.names
            if self.program.scope.towers is not None
            else frozenset()
        )

    @cached_property
    def _known_behind(self) -> int:
        """Where all is known that tells the devices: what is made before is made there.

        Raises:
            Refused: it could not be made there, or the devices change.
        """
        names = self.module.names
        home = names.scopes[self.program.scope.node]
        place = 0
        for node in devices_of(self.program)[0]:
            for name in mentions_of(names, node, home):
                if name.id in self._tower_names:
                    continue
                bound = {binding.node for binding in home.bindings[name.id]}
                above = [
                    index
                    for index, entry in enumerate(self.program.scope.entries)
                    if not entry.opens
                    and any(is_inside(self.module, one, {entry.statement}) for one in bound)
                ]
                if len(above) > 1:
                    text = f"`{name.id}`, which decides the devices, changes"
                    raise Refused(self.module, name, text, "give each value its own name")
                place = max([place, *(index + 1 for index in above)])
        for entry, role in list(zip(self.program.scope.entries, self.program.roles))[:place]:
            if role in OWNED and any(
                isinstance(call, ast.Call) and not name_of(self.module, call)
                for call in walk(entry.statement)
            ):
                text = "it is made above the values that decide the devices"
                raise Refused(self.module, entry.statement, text, "make it below those")
        return place

    def _strategy(self, block: Block) -> None:
        """The strategy stands above the first of what it owns."""
        if self._has_strategy:
            return
        self._has_strategy = True
        assert self.program.scope.towers is not None
        if self.program.scope.session.args or self.program.scope.session.keywords:
            self.found.note(self.module, self.program.scope.towers.loop, _NEEDED, CONFIGURATION)
        devices = devices_of(self.program)[1](self.context)
        made = f"{self.names.strategy} = {self.context.tf}.distribute.MirroredStrategy"
        call = self.style.call(made, [devices], block.indent, len(block.indent))
        block.lines += f"{block.indent}{call}".split("\n")
