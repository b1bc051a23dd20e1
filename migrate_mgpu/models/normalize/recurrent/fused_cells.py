"""`tf.contrib.rnn.LSTMBlockFusedCell` as the LSTM cell that it is, run by `tf.nn.dynamic_rnn`.

A fused cell is given the inputs of all steps, the first index of which is the time:
`outputs, state = cell(inputs, dtype=tf.float32, sequence_length=lengths)`. Kernel and bias are
those of `LSTMCell`. A `TimeReversedFusedRNN` around it turns each sequence, and the outputs back.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_CELL = "contrib.rnn.LSTMBlockFusedCell"
_REVERSED = "contrib.rnn.TimeReversedFusedRNN"
_CALLED = ("inputs", "initial_state", "dtype", "sequence_length")
_STEPS = "[1, 0, 2]"


@record(frozen=True)
class _Made:
    """What makes a cell; ``turned``: what makes the object that turns its sequences."""

    statement: ast.Assign
    turned: ast.Assign | None


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of all fused cells of a model_fn's module; none if one is not understood."""
    if flow.function is None or not flow.function.module.writable:
        return {}
    module = flow.function.module
    calls = module.names.calls
    cells = [one for one in calls if name_of(module, one) == _CELL]
    turned = [one for one in calls if name_of(module, one) == _REVERSED]
    edits = _Cells(module, cells, turned).edits() if cells else []
    return {module: edits} if edits else {}


class _Cells:
    def __init__(self, module: Module, cells: list[ast.Call], turned: list[ast.Call]) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.cells = sorted(cells, key=lambda one: one.lineno)
        self.turned = turned

    def edits(self) -> list[Edit]:
        found: list[Edit] = []
        used: set[ast.AST] = set()
        taken: set[ast.AST] = set()
        tf = style_at(self.module, self.cells[0]).tensorflow
        for number, cell in enumerate(self.cells):
            applied = self._applied(cell)
            if applied is None:
                return []
            made, statement, call = applied
            lines = self._lines(made, statement, call, tf)
            given = by_parameter(cell, ("num_units", "forget_bias"))
            if not lines or not {"num_units"} <= given.keys() <= {"num_units", "forget_bias"}:
                return []
            quote = self.source.quote
            name = f"{quote}lstm_fused_cell{f'_{number}' if number else ''}{quote}"
            bias = f", forget_bias={self._code(given['forget_bias'])}" if len(given) > 1 else ""
            units = self._code(given["num_units"])
            text = f"{tf}.nn.rnn_cell.LSTMCell({units}{bias}, name={name})"
            found.append(Edit(*self.source.span(cell), text))
            if made.turned is not None:
                found.append(Layout(self.source, made.turned).replace([]))
                taken.add(made.turned.value)
            layout = Layout(self.source, statement)
            found.append(layout.replace(lines))
            used.add(statement)
        if len(used) != len(self.cells) or taken != {*self.turned}:
            return []
        return found

    def _code(self, node: ast.AST) -> str:
        return self.source.code(node)

    def _applied(self, cell: ast.Call) -> tuple[_Made, ast.Assign, ast.Call] | None:
        """How a cell is made, and the one statement that applies it."""
        made = self.names.parents[cell]
        if not isinstance(made, ast.Assign) or not self._is_plain(made):
            return None
        block, name = self.names.block(made), made.targets[0]
        assert isinstance(name, ast.Name)
        turned: ast.Assign | None = None
        found: tuple[ast.Assign, ast.Call] | None = None
        known = name.id
        for statement in block[block.index(made) + 1 :]:
            mentions = [
                part for part in walk(statement) if isinstance(part, ast.Name) and part.id == known
            ]
            if not mentions:
                continue
            if not isinstance(statement, ast.Assign):
                return None
            call = statement.value
            if any(isinstance(part.ctx, ast.Store) for part in mentions):
                wraps = isinstance(call, ast.Call) and name_of(self.module, call) == _REVERSED
                if found is not None and not wraps and len(mentions) == 1:
                    break  # the name is given to another cell
                if found is not None or turned is not None or len(mentions) != 2:
                    return None
                if not wraps or not isinstance(call, ast.Call) or not self._is_plain(statement):
                    return None
                if len(call.args) != 1 or call.keywords:
                    return None
                turned = statement
                continue
            if found is not None or not isinstance(call, ast.Call) or call.func is not mentions[0]:
                return None
            if len(mentions) != 1:
                return None
            found = statement, call
        if found is None or self._is_used_elsewhere(name, block):
            return None
        return _Made(made, turned), *found

    def _is_plain(self, statement: ast.Assign) -> bool:
        alone = len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)
        return alone and Layout(self.source, statement).owns_lines

    def _is_used_elsewhere(self, name: ast.Name, block: list[ast.stmt]) -> bool:
        scope = self.names.scope_of_name[name]
        mentions = self.names.mentions(name.id, scope)
        return any(self.names.statement(one) not in block for one in mentions)

    def _lines(self, made: _Made, statement: ast.Assign, call: ast.Call, tf: str) -> list[str]:
        """What runs the cell; none where it is given more than inputs and lengths."""
        given = by_parameter(call, _CALLED)
        given = {key: node for key, node in given.items() if not is_none(node)}
        if not {"inputs", "sequence_length"} <= given.keys() <= {*_CALLED} - {"initial_state"}:
            return []
        if "dtype" in given and name_of(self.module, given["dtype"]) != "float32":
            return []
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Tuple):
            return []
        if len(target.elts) != 2 or not isinstance(target.elts[0], ast.Name):
            return []
        outputs = target.elts[0].id
        layout = Layout(self.source, statement)
        if not layout.owns_lines or "#" in self._code(statement):
            return []
        if not isinstance(given["inputs"], ast.Name):
            return []
        cell, scope = self._code(call.func), self.names.scope_at(call)
        lines: list[str] = []
        lengths = self._code(given["sequence_length"])
        if not isinstance(given["sequence_length"], ast.Name):
            name = self.names.fresh(scope, f"{cell}_lengths")
            lines.append(f"{name} = {lengths}")
            lengths = name
        rows = self.names.fresh(scope, f"{cell}_inputs")
        lines.append(f"{rows} = {tf}.transpose({self._code(given['inputs'])}, {_STEPS})")
        turn = f"{tf}.reverse_sequence({{}}, {lengths}, 1, 0)"
        if made.turned is not None:
            lines.append(f"{rows} = {turn.format(rows)}")
        run = f"{tf}.nn.dynamic_rnn({cell}, {rows}, sequence_length={lengths}, dtype={tf}.float32)"
        lines.append(f"{self._code(target)} = {run}")
        if self._is_read(target.elts[0]):
            back = turn.format(outputs) if made.turned is not None else outputs
            lines.append(f"{outputs} = {tf}.transpose({back}, {_STEPS})")
        return lines if not any("\n" in line for line in lines) else []

    def _is_read(self, name: ast.Name) -> bool:
        scope = self.names.scope_of_name[name]
        return any(isinstance(one.ctx, ast.Load) for one in self.names.mentions(name.id, scope))
