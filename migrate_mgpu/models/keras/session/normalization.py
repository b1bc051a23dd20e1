"""Batch normalization in a session's program: its averages move as TF1's did."""

from __future__ import annotations

from migrate_mgpu.api.layers import SAMPLE_NORMALIZATION
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
        more = {} if self.program.moves_averages else {"momentum": "1.0"}
        if not image:
            return Making(settings=more)
        if not self.classes:
            names = self.program.scope.module.names
            self._name = names.fresh(names.module_scope, SAMPLE_NORMALIZATION.name)
            self.classes.append(SAMPLE_NORMALIZATION.written(self._name, self.style))
        return Making(self._name, more)
