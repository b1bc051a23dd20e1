"""Networks that run two cells, one of them backwards, as two networks and what joins them.

`outputs, _, _ = tf.nn.static_bidirectional_rnn(one, other, x, dtype=tf.float32)` becomes

    outputs_fw, _ = tf.nn.static_rnn(one, x, dtype=tf.float32, scope='fw')
    outputs_bw, _ = tf.nn.static_rnn(other, x[::-1], dtype=tf.float32, scope='bw')
    outputs = [tf.concat([fw, bw], 1) for fw, bw in zip(outputs_fw, outputs_bw[::-1])]

A `try` around it, for versions of TF1 that gave no states, is what it tries.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_STATIC = ("nn.static_bidirectional_rnn", "contrib.rnn.static_bidirectional_rnn")
_DYNAMIC = ("nn.bidirectional_dynamic_rnn",)
_PARAMETERS = (
    "cell_fw", "cell_bw", "inputs", "initial_state_fw", "initial_state_bw", "dtype",
    "sequence_length", "scope",
)  # fmt: skip
_OF_DYNAMIC = (
    "cell_fw", "cell_bw", "inputs", "sequence_length", "initial_state_fw", "initial_state_bw",
    "dtype", "parallel_iterations", "swap_memory", "time_major", "scope",
)  # fmt: skip


def parted(module: Module) -> list[Edit]:
    """The edits for one such network; none where there is none, or it is given more."""
    for call in module.names.calls:
        name = name_of(module, call)
        if name in _STATIC or name in _DYNAMIC:
            try:
                edit = _Network(module, call, name in _STATIC).edit()
            except Refused:  # its arguments are not known
                continue
            if edit is not None:
                return [edit]
    return []


class _Network:
    def __init__(self, module: Module, call: ast.Call, listed: bool) -> None:
        self.module = module
        self.source = module.source
        self.call = call
        self.listed = listed
        self.style = style_at(module, call)

    def edit(self) -> Edit | None:
        names = self.module.names
        statement = names.parents[self.call]
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        outer = self._tried(statement)
        layout = Layout(self.source, outer)
        if not layout.owns_lines or "#" in self.source.code(statement):
            return None
        given = NamedArguments(
            self.module, self.call, _PARAMETERS if self.listed else _OF_DYNAMIC
        ).rest
        if not {"cell_fw", "cell_bw", "inputs"} <= given.keys() <= {*_PARAMETERS[:3], "dtype"}:
            return None
        if not all(isinstance(given[name], ast.Name) for name in _PARAMETERS[:3]):
            return None
        lines = self._lines(
            statement.targets[0], {k: self.source.code(v) for k, v in given.items()}
        )
        indent, newline = self.source.indent_of(outer), self.source.newline
        start, end = self.source.span(outer)
        return Edit(start, end, f"{newline}{indent}".join(lines)) if lines else None

    def _tried(self, statement: ast.stmt) -> ast.stmt:
        """The `try` whose only statement this is, where it tries the same in another way."""
        outer = self.module.names.parents[statement]
        if not isinstance(outer, ast.Try) or outer.body != [statement]:
            return statement
        name = name_of(self.module, self.call)
        for handler in outer.handlers:
            calls = [node for one in handler.body for node in walk(one)]
            if not any(isinstance(n, ast.Call) and name_of(self.module, n) == name for n in calls):
                return statement
        return statement if outer.orelse or outer.finalbody else outer

    def _lines(self, target: ast.expr, given: dict[str, str]) -> list[str]:
        names, tf = self.module.names, self.style.tensorflow
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
        if not parts or not isinstance(parts[0], ast.Name):
            return []
        outputs = parts[0].id
        scope = names.scope_at(self.call)
        fw, bw = (names.fresh(scope, f"{outputs}_{way}") for way in ("fw", "bw"))
        states = self._states(parts[1:])
        if states is None:
            return []
        function = self.source.code(self.call.func).rpartition(".")[0]
        run = f"{function}.{'static_rnn' if self.listed else 'dynamic_rnn'}"
        inputs, quote = given["inputs"], self.source.quote
        back = f"{inputs}[::-1]" if self.listed else f"{tf}.reverse({inputs}, [1])"
        lines = [
            f"{name}, {state} = {run}({given[cell]}, {data}, "
            f"dtype={given.get('dtype', f'{tf}.float32')}, scope={quote}{way}{quote})"
            for name, state, cell, data, way in (
                (fw, states[0], "cell_fw", inputs, "fw"),
                (bw, states[1], "cell_bw", back, "bw"),
            )
        ]
        if self.listed:
            joined = f"[{tf}.concat([fw, bw], 1) for fw, bw in zip({fw}, {bw}[::-1])]"
        else:
            joined = f"({fw}, {tf}.reverse({bw}, [1]))"
        return [*lines, f"{outputs} = {joined}"]

    def _states(self, parts: list[ast.expr]) -> list[str] | None:
        """What the states of both are called; None where they are more than names."""
        if self.listed and len(parts) == 2:
            if all(isinstance(part, ast.Name) for part in parts):
                return [self.source.code(part) for part in parts]
            return None
        if self.listed or len(parts) != 1:
            return None
        if isinstance(parts[0], (ast.Tuple, ast.List)) and len(parts[0].elts) == 2:
            return [self.source.code(part) for part in parts[0].elts]
        if isinstance(parts[0], ast.Name):
            names = self.module.names
            home = names.defining_scope(parts[0].id, names.scope_of_name[parts[0]])
            read = names.mentions(parts[0].id, home) if home is not None else []
            return None if any(isinstance(one.ctx, ast.Load) for one in read) else ["_", "_"]
        return None
