"""Batch normalization in a session's program: its averages move as TF1's did."""

from __future__ import annotations

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.layers import SAMPLE_NORMALIZATION, TOWER_NORMALIZATION
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.keras.network.layer_texts import Making
from migrate_mgpu.source.style import FileStyle


class Normalization:
    """What makes layers of batch normalization; ``classes`` are texts that stand beside them."""

    def __init__(self, program: SessionProgram, style: FileStyle) -> None:
        self.program = program
        self.style = style
        self._names: dict[Module, str] = {}
        self._classes: dict[Module, str] = {}

    @property
    def classes(self) -> list[str]:
        """Those of the module that builds the graph."""
        module = self.program.scope.module
        return [self._classes[module]] if module in self._classes else []

    def beside(self) -> dict[Module, str]:
        """Those of the program's other modules, by the module that has one."""
        home = self.program.scope.module
        return {module: text for module, text in self._classes.items() if module is not home}

    def making(self, image: bool, module: Module | None = None) -> Making:
        """``image``: it may be applied to tensors of four dimensions.

        ``module``: where it is made, if that is not the module that builds the graph.
        """
        program = self.program
        more = {} if program.moves_averages else {"momentum": "1.0"}
        of_towers = program.scope.towers is not None and program.moves_averages
        if not image and not of_towers:
            return Making(settings=more)
        module = module or program.scope.module
        if module not in self._names:
            names = module.names
            assert program.mover is not None or not of_towers
            made = SAMPLE_NORMALIZATION
            if of_towers and program.mover is not None:
                made = TOWER_NORMALIZATION[program.mover.value]
            self._names[module] = names.fresh(names.module_scope, made.name)
            self._classes[module] = made.written(self._names[module], self.style)
        return Making(self._names[module], more)
