"""Networks that run two cells, one of them backwards, as two networks and what joins them.

`outputs, _, _ = tf.nn.static_bidirectional_rnn(one, other, x, dtype=tf.float32)` becomes

    outputs_fw, _ = tf.nn.static_rnn(one, x, dtype=tf.float32, scope='bidirectional_rnn/fw')
    outputs_bw, _ = tf.nn.static_rnn(other, x[::-1], dtype=tf.float32, scope='bidirectional_rnn/bw')
    outputs = [tf.concat([fw, bw], 1) for fw, bw in zip(outputs_fw, outputs_bw[::-1])]

A dynamic one's states, `states[0]` and `states[1]`, get names of their own; what reads both at once
reads a tuple of these.
A `try` around it, for versions of TF1 that gave no states, is what it tries.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.recurrent import TWO_WAYS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.network.recurrent import is_text
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


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such network of a model_fn."""
    if flow.function is None:
        return {}
    module, node = flow.function.module, flow.function.node
    edits = parted(module, [one for one in walk(node) if isinstance(one, ast.Call)])
    return {module: edits} if edits else {}


def parted(module: Module, calls: Iterable[ast.Call] | None = None) -> list[Edit]:
    """The edits for one such network; none where there is none, or it is given more."""
    for call in module.names.calls if calls is None else calls:
        name = name_of(module, call)
        if name in _STATIC or name in _DYNAMIC:
            try:
                edits = _Network(module, call, name in _STATIC).edits()
            except Refused:  # its arguments are not known
                continue
            if edits:
                return edits
    return []


class _Network:
    def __init__(self, module: Module, call: ast.Call, listed: bool) -> None:
        self.module = module
        self.source = module.source
        self.names = module.names
        self.call = call
        self.listed = listed
        self.style = style_at(module, call)

    def edits(self) -> list[Edit]:
        names = self.module.names
        statement = names.parents[self.call]
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return []
        outer = self._tried(statement)
        layout = Layout(self.source, outer)
        if not layout.owns_lines or "#" in self.source.code(statement):
            return []
        given = NamedArguments(
            self.module, self.call, _PARAMETERS if self.listed else _OF_DYNAMIC
        ).rest
        for name in ("parallel_iterations", "swap_memory"):  # these say how, not what
            given.pop(name, None)
        if constant(given.get("time_major")) is False:
            del given["time_major"]
        known = {*_PARAMETERS[:5], "dtype", "scope"}
        known |= set() if self.listed else {"sequence_length"}
        if not {"cell_fw", "cell_bw", "inputs"} <= given.keys() <= known:
            return []
        starts = [given[name] for name in ("initial_state_fw", "initial_state_bw") if name in given]
        if self.listed and starts:
            return []
        scope = given.pop("scope", None)
        within = self._scope(scope) if scope is not None else f"{self.source.quote}{TWO_WAYS}/"
        if within is None:
            return []
        texts = {k: self.source.code(v) for k, v in given.items() if not is_none(v)}
        before: list[str] = []
        for name, words in (("inputs", "inputs"), ("sequence_length", "lengths")):
            if name in texts and not isinstance(given[name], ast.Name):
                word = self.names.fresh(self.names.scope_at(self.call), words, f"rnn_{words}")
                before.append(f"{word} = {texts[name]}")
                texts[name] = word
        if any("\n" in text for text in (*texts.values(), within)):
            return []
        lines = self._lines(statement.targets[0], texts, within)
        indent, newline = self.source.indent_of(outer), self.source.newline
        start, end = self.source.span(outer)
        text = f"{newline}{indent}".join([*before, *lines])
        return [Edit(start, end, text), *self.taken] if lines else []

    def _scope(self, scope: ast.expr) -> str | None:
        """The code of a scope's name, and of what stands behind it; None for a scope's object."""
        known = constant(scope)
        if isinstance(known, str):
            quote = self.source.quote
            return f"{quote}{known}/"
        if not is_text(scope):
            return None
        return f"{self.source.code(scope)} + {self.source.quote}/"

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

    def _lines(self, target: ast.expr, given: dict[str, str], within: str) -> list[str]:
        tf = self.style.tensorflow
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
        outputs = self._outputs(parts[0]) if parts else None
        states = self._states(parts[1:])
        if outputs is None or states is None:
            return []
        function = self.source.code(self.call.func).rpartition(".")[0]
        run = f"{function}.{'static_rnn' if self.listed else 'dynamic_rnn'}"
        inputs, quote = given["inputs"], self.source.quote
        lengths = given.get("sequence_length")
        reverse, behind = f"{tf}.reverse", ", [1])"
        if lengths is not None:
            reverse, behind = f"{reverse}_sequence", f", {lengths}, 1)"
        back = f"{inputs}[::-1]" if self.listed else f"{reverse}({inputs}{behind}"
        before, counted = [], ""
        if lengths is not None:
            name = self.module.names.fresh(self.module.names.scope_at(self.call), f"{inputs}_back")
            before, counted = [f"{name} = {back}"], f"sequence_length={lengths}, "
            back = name
        begins = {
            way: f"initial_state={given[key]}, " if (key := f"initial_state_{way}") in given else ""
            for way in ("fw", "bw")
        }
        lines = [
            f"{name}, {state} = {run}({given[cell]}, {data}, {counted}{begins[way]}"
            f"dtype={given.get('dtype', f'{tf}.float32')}, scope={within}{way}{quote})"
            for name, state, cell, data, way in (
                (outputs[0], states[0], "cell_fw", inputs, "fw"),
                (outputs[1], states[1], "cell_bw", back, "bw"),
            )
        ]
        fw, bw = outputs
        if not isinstance(parts[0], ast.Name):
            joined = [f"{bw} = {reverse}({bw}{behind}"]
        elif fw == bw:  # nothing reads them
            joined = []
        elif self.listed:
            zipped = f"[{tf}.concat([fw, bw], 1) for fw, bw in zip({fw}, {bw}[::-1])]"
            joined = [f"{parts[0].id} = {zipped}"]
        else:
            joined = [f"{parts[0].id} = ({fw}, {reverse}({bw}{behind})"]
        if self.whole:
            joined.append(f"{self.source.code(parts[1])} = ({', '.join(states)})")
        return [*before, *lines, *joined]

    def _outputs(self, target: ast.expr) -> list[str] | None:
        """What the outputs of both are called; None where they are more than names."""
        if isinstance(target, ast.Name):
            if not self.listed and not self._read(target):
                return ["_", "_"]
            return self._named(target.id)
        return None if self.listed else _two_names(target)

    def _named(self, name: str) -> list[str]:
        names, scope = self.module.names, self.module.names.scope_at(self.call)
        return [names.fresh(scope, f"{name}_{way}") for way in ("fw", "bw")]

    def _states(self, parts: list[ast.expr]) -> list[str] | None:
        """What the states of both are called; None where they are more than names.

        ``taken`` are the edits of where they are read, ``whole``: both are read as one.
        """
        self.taken: list[Edit] = []
        self.whole = False
        if self.listed:
            found = [part.id for part in parts if isinstance(part, ast.Name)]
            return found if len(found) == len(parts) == 2 else None
        if len(parts) != 1:
            return None
        (state,) = parts
        if not isinstance(state, ast.Name):
            return self._two(state)
        names = self.module.names
        read = self._read(state)
        if read and len(names.bindings_of(state)) != 1:
            return None
        found = self._named(state.id)
        for one in read:
            item = names.parents[one]
            way = constant(item.slice) if isinstance(item, ast.Subscript) else None
            if not isinstance(way, int) or way not in (0, 1):
                self.taken, self.whole = [], True
                return found
            self.taken.append(Edit(*self.source.span(item), found[way]))
        return found if read else ["_", "_"]

    def _two(self, target: ast.expr) -> list[str] | None:
        """The code of two targets, each a name or a tuple of names."""
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
        inner = [name for part in parts for name in getattr(part, "elts", [part])]
        if len(parts) != 2 or not all(isinstance(name, ast.Name) for name in inner):
            return None
        return [self.source.code(part) for part in parts]

    def _read(self, name: ast.Name) -> list[ast.Name]:
        """Where a name is read, whatever its value."""
        names = self.module.names
        home = names.defining_scope(name.id, names.scope_of_name[name])
        mentions = names.mentions(name.id, home) if home is not None else []
        return [one for one in mentions if isinstance(one.ctx, ast.Load)]


def _two_names(target: ast.expr) -> list[str] | None:
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    found = [part.id for part in parts if isinstance(part, ast.Name)]
    return found if len(found) == len(parts) == 2 else None
