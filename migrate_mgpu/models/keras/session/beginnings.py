"""Variables that get first values once more: the ones that they had, or new ones."""

from __future__ import annotations

import ast

from migrate_mgpu.models.front.session.program import Beginning, SessionProgram
from migrate_mgpu.models.ir import Variables
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.session.names import StepNames


class BeginningWriter:
    """Writes what stands for a run of `tf.global_variables_initializer()` that is not the first."""

    def __init__(self, program: SessionProgram, names: StepNames, context: Context) -> None:
        self.context = context
        kept = dict.fromkeys(one for found in program.beginnings for one in found.keeps)
        self._first = {one: names.fresh(f"first_{one.name}") for one in kept}

    def lines(self, beginning: Beginning) -> list[str]:
        """The statements, without the indentation of the first one's."""
        tf, lines = self.context.tf, []
        for one in beginning.keeps:
            lines.append(f"{self._first[one]} = {tf}.identity({one.name})")
        for one in beginning.returns:
            lines.append(f"{one.name}.assign({self._first[one]})")
        lines += (f"{one.name}.assign({self._made(one)})" for one in beginning.draws)
        return lines

    def _made(self, variables: Variables) -> str:
        """What makes a variable makes another one, of which the value is taken."""
        assert isinstance(variables.unit, ast.Assign)
        return self.context.render(variables.unit.value)
