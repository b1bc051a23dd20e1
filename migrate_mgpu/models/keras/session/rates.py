"""Learning rates that follow the steps: schedules, made once, asked in each step."""

from __future__ import annotations

import ast

from migrate_mgpu.models.front.optimizers import schedule_at
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.optimizers import schedule_edits
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.source.style import FileStyle


class RateWriter:
    """Writes schedules and what asks them."""

    def __init__(self, program: SessionProgram, names: StepNames, style: FileStyle) -> None:
        self.program = program
        self.names = names
        self.style = style

    def uses(self) -> dict[ast.AST, Replacement]:
        """What stands where a schedule was made and asked at once."""
        return {call: self._use(call) for call in self.program.schedules}

    def _use(self, call: ast.Call) -> Replacement:
        def write(context: Context) -> str:
            known = schedule_at(context.module, call)
            assert known is not None
            return f"{self.names.schedule(call)}({context.render(known[1])})"

        return write

    def schedule(self, call: ast.Call, context: Context, column: int = 0, base: str = "") -> str:
        """The constructor of a schedule."""
        known = schedule_at(context.module, call)
        assert known is not None
        edits = schedule_edits(known[0], self.style)
        return context.render_call(call, edits, column or None, base or None)

    def made(self, statement: ast.AST, context: Context, indent: str) -> list[str]:
        """The lines that make the schedules of a statement, or of a rate."""
        lines: list[str] = []
        for call, (node, _) in self.program.schedules.items():
            if node is statement:
                head = f"{indent}{self.names.schedule(call)} = "
                lines += f"{head}{self.schedule(call, context, len(head), indent)}".split("\n")
        return lines
