"""Recurrent cells that the scope makes, and what else they are given to."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.recurrent import PAIR_CLASS, cell_of
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.decoded_cells import is_of_decoders
from migrate_mgpu.models.front.network.decoders import DENSE
from migrate_mgpu.models.front.network.layer_calls import read_layer_class
from migrate_mgpu.models.front.network.recurrent import read_cell, read_memory
from migrate_mgpu.models.front.session.program import GRAPH, Cells, Role, targets_of
from migrate_mgpu.models.front.session.runs import mentions_of
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.ir import Decoding, Recurrent


class CellReader(StatementReader):
    """Reads statements that make cells, and recurrent networks' cells."""

    def read(self, target: ast.Name, value: ast.expr) -> Role | None:
        """What a statement does that makes cells, or the zeros that they begin with.

        Raises:
            Refused: cells are made in a way that cannot be analyzed.
        """
        if self._is_start(value):
            self.state.only_binding(target)
            self.meanings[target.id] = Cells()
            return Role.GONE
        if not self._makes(value):
            return None
        self._check(value, read_memory(self.module, value))
        self.meanings[target.id] = Cells()
        return Role.CELLS

    def run(self, layer: Recurrent) -> None:
        """What a recurrent network is given besides tensors.

        Raises:
            Refused: its cell cannot be analyzed.
        """
        begun = walk(layer.start) if layer.start is not None and layer.memory is not None else ()
        given = [one for one in begun if isinstance(one, ast.Name)]
        self._check(layer.cell, (layer.memory, layer.remembered, *given))

    def decode(self, decoding: Decoding) -> None:
        """What a decoder is made of: cells, and a layer, that the scope makes.

        Raises:
            Refused: it is something else.
        """
        for part in (decoding.cell, decoding.layer):
            if not isinstance(self.meanings.get(part.id), Cells):
                text = f"how `{part.id}`, a part of a decoder, is made cannot be analyzed"
                raise Refused(self.module, part, text, "make it by one call, above the decoder")

    def _is_start(self, value: ast.expr) -> bool:
        """`cell.zero_state(batch_size, tf.float32)`"""
        func = value.func if isinstance(value, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr != "zero_state":
            return False
        cell = func.value
        return isinstance(cell, ast.Name) and isinstance(self.meanings.get(cell.id), Cells)

    def _makes(self, value: ast.expr) -> bool:
        """Whether an expression is a cell, or a list of cells."""
        if isinstance(value, ast.ListComp):
            return self._makes(value.elt)
        if isinstance(value, ast.List):
            return bool(value.elts) and all(
                self._makes(one) or self._is_cells(one) for one in value.elts
            )
        if not isinstance(value, ast.Call):
            return False
        if self._is_output_layer(value):
            return True
        known = cell_of(self.module, value)
        return known != PAIR_CLASS if known else self._makes_cell(value)

    def _is_output_layer(self, call: ast.Call) -> bool:
        """`dense = tf.layers.Dense(9)`, which only decoders are given."""
        parent = self.names.parents.get(call)
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
        return (
            name_of(self.module, call) == DENSE
            and isinstance(target, ast.Name)
            and is_of_decoders(self.module, target, "output_layer")
        )

    def _is_cells(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and isinstance(self.meanings.get(node.id), Cells)

    def _check(self, value: ast.expr, memory: Sequence[ast.Name | None] = ()) -> None:
        """``memory`` is what a cell is given at each step, and not made of."""
        for call in (part for part in ast.walk(value) if isinstance(part, ast.Call)):
            if self._is_output_layer(call):
                read_layer_class(self.module, call)
            elif cell_of(self.module, call):
                if read_cell(self.module, call) is None:
                    text = f"the recurrent cell `{self.module.source.code(call.func)}`"
                    raise Refused(self.module, call, f"{text} is not converted")
            elif self._makes_cell(call):
                continue
            elif name_of(self.module, call) and not name_of(self.module, call).endswith(
                "_initializer"
            ):
                text = f"a recurrent cell is given `{self.module.source.code(call)}`"
                raise Refused(self.module, call, text)
        self._read_maker_names(value, memory)

    def _makes_cell(self, call: ast.Call) -> bool:
        """Whether a call reaches a function of the module's that makes one cell, and no more.

        Raises:
            Refused: a cell that it makes is not converted.
        """
        target = self.graph.target(self.module, call.func)
        node = target.node if target is not None else None
        if target is None or target.module is not self.module:
            return False
        if not isinstance(node, ast.FunctionDef) or node.decorator_list or target.owner:
            return False
        if not self._only_makes(node, node.body, set()):
            return False
        if not isinstance(node.body[-1], ast.Return):
            return False
        self.found.builders[node] = target
        return True

    def _only_makes(self, node: ast.FunctionDef, body: Sequence[ast.stmt], made: set[str]) -> bool:
        """Whether statements of a function make cells, and no more; ``made`` have them.

        Raises:
            Refused: a cell is not converted.
        """
        for statement in body:
            if isinstance(statement, (ast.If, ast.For)):
                asked = statement.test if isinstance(statement, ast.If) else statement.iter
                if not self._is_of_python(asked) or (
                    isinstance(statement, ast.For) and statement.orelse
                ):
                    return False
                arms = [*statement.body, *statement.orelse]
                if not self._only_makes(node, arms, made):
                    return False
            elif isinstance(statement, ast.Assign) and self._begins_list(node, statement):
                made |= targets_of(statement)
            elif isinstance(statement, ast.Assign) and self._makes(statement.value):
                if not all(isinstance(one, ast.Name) for one in statement.targets):
                    return False  # an item of a list
                made |= targets_of(statement)
                self._check(statement.value)
            elif isinstance(statement, ast.Return) and statement.value is not None:
                value = statement.value
                if isinstance(value, ast.Name) and value.id in made:
                    continue
                if not self._makes(value):
                    return False
                self._check(value)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                call = statement.value
                func = call.func
                if not isinstance(func, ast.Attribute) or func.attr != "append":
                    return False
                if not isinstance(func.value, ast.Name) or func.value.id not in made:
                    return False
                if len(call.args) != 1 or call.keywords or not self._makes(call.args[0]):
                    return False
                self._check(call.args[0])
            elif not isinstance(statement, ast.Expr) or not isinstance(
                statement.value, ast.Constant
            ):
                return False
        return True

    def _begins_list(self, node: ast.FunctionDef, statement: ast.Assign) -> bool:
        """`cells = []`, of a function's own."""
        value = statement.value
        return isinstance(value, ast.List) and not value.elts and statement in node.body

    def _is_of_python(self, asked: ast.expr) -> bool:
        """Whether what a function of cells asks has nothing to do with the graph."""
        calls = [part for part in ast.walk(asked) if isinstance(part, ast.Call)]
        plain = all(
            (self.names.qualname(call.func) or "").startswith("builtins.") for call in calls
        )
        names = mentions_of(self.names, asked, self.home)
        return plain and not any(isinstance(self.meanings.get(one.id), GRAPH) for one in names)

    def _read_maker_names(self, value: ast.expr, memory: Sequence[ast.Name | None]) -> None:
        for name in mentions_of(self.names, value, self.home):
            if name in memory:
                continue
            meaning = self.meanings.get(name.id)
            if isinstance(meaning, GRAPH) and not isinstance(meaning, Cells):
                text = f"a recurrent cell depends on `{name.id}`, a part of the graph"
                raise Refused(self.module, name, text)
