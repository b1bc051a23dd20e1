"""Batch normalization in a session's program: its averages move as TF1's did."""

from __future__ import annotations

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.layers import debiased, moments, normalization
from migrate_mgpu.api.schema import Definition
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.ir import Averaging
from migrate_mgpu.models.keras.network.layer_texts import Making
from migrate_mgpu.source.style import FileStyle


class Normalization:
    """What makes layers of batch normalization; ``classes`` are texts that stand beside them."""

    def __init__(self, program: SessionProgram, style: FileStyle) -> None:
        self.program = program
        self.style = style
        self._made: dict[Module, dict[str, str]] = {}  # text by name

    @property
    def classes(self) -> list[str]:
        """Those of the module that builds the graph."""
        return [*self._made.get(self.program.scope.module, {}).values()]

    def beside(self) -> dict[Module, list[str]]:
        """Those of the program's other modules, by the module that has some."""
        home = self.program.scope.module
        return {
            module: [*made.values()] for module, made in self._made.items() if module is not home
        }

    def making(self, averaging: Averaging, image: bool, module: Module | None = None) -> Making:
        """``image``: it may be applied to tensors of four dimensions.

        ``module``: where it is made, if that is not the module that builds the graph.
        """
        program = self.program
        if not (program.moves_averages or averaging.in_place):
            return Making(settings={"momentum": "1.0"})
        if averaging.decay is not None:
            return self._made_by(moments(), module)
        ranks = averaging.sample_ranks or ()
        mover = ""
        moves = program.moves_averages or averaging.in_place
        if program.scope.towers is not None and moves:
            assert program.mover is not None
            mover = program.mover.value
        if not mover and not (2 in ranks or image):
            return Making()
        if averaging.debiased:
            made = debiased()
        else:
            made = normalization(ranks, mover, not averaging.last_axis)
        return self._made_by(made, module)

    def _made_by(self, made: Definition, module: Module | None) -> Making:
        module = module or self.program.scope.module
        own = self._made.setdefault(module, {})
        names, tried = module.names, made.name
        while True:
            name = names.fresh(names.module_scope, tried)
            text = made.written(name, self.style)
            if own.setdefault(name, text) == text:
                return Making(name)
            tried += "OfAnyAxis"  # another class of that name
