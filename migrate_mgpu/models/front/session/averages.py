"""The averages of batch normalization: what moves them, which a program may forget."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.models.front.session.graph_collections import is_dependency, is_update_ops
from migrate_mgpu.models.front.session.program import closure
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.ir import Step, Variables


class AverageReader(StatementReader):
    """Reads what moves averages, and checks that it moves all that there are."""

    def _normalizers(self) -> list[Variables]:
        return [m.variables for m in self.found.layers.values() if m.normalizes]

    def is_moved(self, statement: ast.stmt) -> bool:
        """Whether a statement stands where averages move first."""
        around = self.names.ancestors(statement)
        return any(isinstance(p, ast.With) and is_dependency(self.module, p) for p in around)

    def check(self) -> None:
        """Averages move in the steps in which they did, and in no others.

        Raises:
            Refused: Keras's would move in others.
        """
        asked = [call.lineno for call in self.names.calls if is_update_ops(self.module, call)]
        for made in self.found.layers.values():
            if not made.normalizes:
                continue
            if any(line < made.variables.unit.lineno for line in asked):
                text = "it is made after tf.GraphKeys.UPDATE_OPS is asked for"
                raise Refused(self.module, made.found.call, text, "ask for it after all layers")
            for step in self.found.steps:
                if not any(made.variables in unit.reads for unit in step.units):
                    continue
                nodes = {unit.node for unit in step.units}
                trains = any(
                    flag is not None and self._is_true(flag, step)
                    for node, flag in made.applications
                    if node in nodes
                )
                if (
                    trains
                    and self.found.moves_averages
                    and not self._moves_in(step, made.variables)
                ):
                    text = "its moving averages are not updated in every step that trains it"
                    raise Refused(self.module, made.found.call, text)
        for step in self.found.steps:
            moved = {v for one in step.updates if one.moves for v in self._normalizers()}
            read = {v for unit in step.units for v in unit.reads}
            if not moved <= read:
                text = "a step updates moving averages of layers that it does not compute"
                raise Refused(self.module, step.updates[0].statement, text)

    def _moves_in(self, step: Step, variables: Variables) -> bool:
        return any(
            (update.moves or step.moves)
            and any(variables in unit.reads for unit in closure([update.unit]))
            for update in step.updates
        )

    @staticmethod
    def _is_true(node: ast.expr, step: Step) -> bool:
        """Whether a layer trains in a step; a name that the step does not know may be true."""
        known = {placeholder.name: value for placeholder, value in step.folded}
        value = known.get(node.id, node) if isinstance(node, ast.Name) else node
        return constant(value) not in (False, 0) if isinstance(value, ast.Constant) else True
