"""Sizes that each turn of a loop asks of the tensor that the turn before it made.

    for n_output in sizes:
        n_input = int(net.get_shape()[1])
        w = tf.Variable(tf.zeros([n_input, n_output]))
        net = tf.nn.relu(tf.matmul(net, w))

The first turn asks it of what stands above the loop, each other one has what the turn before said:
`n_input = 784` above it, and `n_input = n_output` at the end of a turn.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.normalize.layers.static_sizes import asked_of, last_size, outer
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_LEAVES = (ast.Continue, ast.Return, ast.Yield, ast.YieldFrom)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such loop; none where there is none."""
    for loop in walk(module.tree):
        if isinstance(loop, ast.For) and not loop.orelse:
            if any(name_of(module, one) in VARIABLES.by_name for one in walk(loop)):
                edits = _Carried(module, loop).edits()
                if edits:
                    return edits
    return []


class _Carried:
    def __init__(self, module: Module, loop: ast.For) -> None:
        self.module = module
        self.names = module.names
        self.loop = loop
        self.home = module.names.scope_at(loop)

    def edits(self) -> list[Edit]:
        """For one tensor; none where a turn may end early, or what a size is cannot be seen."""
        if any(isinstance(one, _LEAVES) for one in walk(self.loop)):
            return []
        for node in (one for body in self.loop.body for one in walk(body)):
            tensor = asked_of(node.value) if isinstance(node, ast.Subscript) else None
            if isinstance(node, ast.Subscript) and isinstance(tensor, ast.Name):
                edits = self._of(node, tensor)
                if edits:
                    return edits
        return []

    def _of(self, asked: ast.Subscript, tensor: ast.Name) -> list[Edit]:
        loop, names, source = self.loop, self.names, self.module.source
        statement = names.statement(asked)
        if statement not in loop.body or names.scope_of_name.get(tensor) is not self.home:
            return []
        sizes = self._sizes(tensor, statement, constant(asked.slice))
        whole = outer(self.module, asked)
        layout, last = Layout(source, loop), Layout(source, loop.body[-1])
        if sizes is None or not layout.owns_lines or not last.owns_lines:
            return []
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(statement, ast.Assign) and statement.value is whole:
            if not isinstance(target, ast.Name) or not self._is_own(target, statement):
                return []
            name, change = target.id, without_paragraph(source, statement)
        else:
            name = names.fresh(self.home, f"{tensor.id}_size", f"size_of_{tensor.id}")
            change = Edit(*source.span(whole), name)
        first, then = sizes
        end = last.next_line
        line = f"{source.indent_of(loop.body[0])}{name} = {then}"
        ends = source.text[:end].endswith("\n")
        return [
            layout.insert_before([f"{name} = {first}"]),
            change,
            Edit(end, end, line + source.newline if ends else source.newline + line),
        ]

    def _sizes(
        self, tensor: ast.Name, statement: ast.stmt, index: object
    ) -> tuple[str, str] | None:
        """The last size of a tensor above the loop, and what each turn gives it."""
        loop, names = self.loop, self.names
        body = loop.body
        before = names.block(loop)[: names.block(loop).index(loop)]
        given = [self._given(tensor.id, one) for one in (before, body)]
        above = body[: body.index(statement)]
        if any(self._stores(tensor.id, one) for one in above):
            return None  # it asks what this turn makes
        code: list[str] = []
        for value, place in zip(given, (before, body)):
            size = last_size(self.module, value) if value is not None else None
            if size is None or not isinstance(index, int) or index not in (-1, size[0] - 1):
                return None
            if not self._is_same(size[1], place is body):
                return None
            shown = size[2] if place is before and self._is_of_list(size[2]) else size[1]
            code.append(self.module.source.code(shown))
        return code[0], code[1]

    def _is_of_list(self, node: ast.expr) -> bool:
        """Whether a size is that of a list which the loop's function has, `sizes[0]`."""
        name = node.value if isinstance(node, ast.Subscript) else None
        known = isinstance(name, ast.Name) and self.names.only_binding(name) is not None
        return known and isinstance(name, ast.Name) and self.names.scope_of_name[name] is self.home

    def _given(self, name: str, block: list[ast.stmt]) -> ast.expr | None:
        """What a name stands for at the end of a block."""
        for one in reversed(block):
            if not self._stores(name, one):
                continue
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
                return one.value if len(one.targets) == 1 else None
            # `if last: break`, or else a turn goes on with what the other arm gives.
            ends = isinstance(one, ast.If) and isinstance(one.body[-1], ast.Break)
            return self._given(name, one.orelse) if isinstance(one, ast.If) and ends else None
        return None

    def _stores(self, name: str, statement: ast.stmt) -> bool:
        return any(
            isinstance(one, ast.Name) and one.id == name and not isinstance(one.ctx, ast.Load)
            for one in walk(statement)
        )

    def _is_same(self, size: ast.expr, inside: bool) -> bool:
        """Whether a size is the same number where it is needed as where the tensor is made."""
        for name in (one for one in walk(size) if isinstance(one, ast.Name)):
            if inside:
                if any(self._stores(name.id, one) for one in self.loop.body):
                    return False
            elif self.names.only_binding(name) is None:
                return False
        plain = (ast.Constant, ast.Name, ast.BinOp, ast.operator, ast.expr_context)
        return all(isinstance(one, plain) for one in walk(size))

    def _is_own(self, target: ast.Name, statement: ast.stmt) -> bool:
        """Whether nothing else of the loop stores a name, nor is it read behind it."""
        others = [one for one in self.loop.body if one is not statement]
        if any(self._stores(target.id, one) for one in others):
            return False
        inside = {*walk(self.loop)}
        mentions = self.names.mentions(target.id, self.home)
        if any(self.names.scope_of_name[one] is not self.home for one in mentions):
            return False
        behind = [one for one in mentions if one not in inside]
        behind = [one for one in behind if position(one) > position(self.loop)]
        first = min(behind, key=position, default=None)
        return first is None or isinstance(first.ctx, ast.Store)
