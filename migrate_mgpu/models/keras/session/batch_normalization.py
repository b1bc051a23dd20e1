"""Batch normalization in a session's program: its averages move as TF1's did."""

from __future__ import annotations

from migrate_mgpu.api.layers import SAMPLE_NORMALIZATION, TOWER_NORMALIZATION
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.keras.network.layer_texts import Making
from migrate_mgpu.source.style import FileStyle


class Normalization:
    """What makes layers of batch normalization; ``classes`` are texts that stand beside them."""

    def __init__(self, program: SessionProgram, style: FileStyle) -> None:
        self.program = program
        self.style = style
        self.classes: list[str] = []
        self._name = ""

    def making(self, image: bool) -> Making:
        """``image``: it may be applied to tensors of four dimensions."""
        program = self.program
        more = {} if program.moves_averages else {"momentum": "1.0"}
        of_towers = program.scope.towers is not None and program.moves_averages
        if not image and not of_towers:
            return Making(settings=more)
        if not self.classes:
            names = program.scope.module.names
            assert program.mover is not None or not of_towers
            made = SAMPLE_NORMALIZATION
            if of_towers and program.mover is not None:
                made = TOWER_NORMALIZATION[program.mover.value]
            self._name = names.fresh(names.module_scope, made.name)
            self.classes.append(made.written(self._name, self.style))
        return Making(self._name, more)
