"""The statements of `__init__`: the layers of a network, and the settings that they need."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping

from migrate_mgpu.analysis.binding_time import BindingTimes
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import holds, walk
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.network.class_plan import Plan
from migrate_mgpu.source.blocks import Block, trailing


class Constructor:
    """Writes the statements of `__init__`."""

    def __init__(
        self,
        plan: Plan,
        times: BindingTimes,
        attributes: Mapping[ast.Call, str],
        weights: Collection[ast.Call],
        made: Callable[[ast.Call, Context, int, str], str],
        context: Context,
        block: Block,
    ) -> None:
        self.plan = plan
        self.times = times
        self.attributes = attributes  # of the layers, by their calls
        self.weights = weights
        self.made = made  # writes what makes a layer
        self.context = context
        self.empty = block
        self.names = plan.module.names
        self.source = plan.module.source

    def write(self, needed: set[str]) -> Block:
        self.needed = needed
        self.block = Block(self.source, self.empty.indent)
        for statement in self.plan.statements:
            self._statement(statement, 1, None)
        return self.block

    def _statement(self, statement: ast.stmt, depth: int, loop: ast.For | None) -> bool:
        """Adds what `__init__` needs of a statement; whether there was anything."""
        plan = self.plan
        if statement not in plan.kept and not holds(statement, plan.kept):
            return False
        if isinstance(statement, ast.If) and loop is not None and self._asks_items(statement):
            return self._choice(statement, depth, loop)
        if isinstance(statement, ast.With) or (
            isinstance(statement, ast.If) and (plan.modes.asks(statement.test) or loop is not None)
        ):
            members = [*statement.body, *getattr(statement, "orelse", [])]
            found = [self._statement(s, depth, loop) for s in members]
            return any(found)
        if isinstance(statement, ast.If):
            return self._if(statement, depth)
        if isinstance(statement, ast.For):
            return self._for(statement, depth)
        if self.times.is_setting(statement):
            names = {
                n.id
                for n in walk(statement)
                if isinstance(n, ast.Name)
                and (isinstance(n.ctx, ast.Store) or isinstance(statement, ast.Expr))
            }
            if not names & self.needed:
                return False
            edits = self.context.edits(statement)
            self.block.statement(statement, edits, depth)
            return True
        calls = [c for c in self.attributes if self.names.statement(c) is statement]
        calls.sort(key=lambda c: (c.end_lineno or 0, c.end_col_offset or 0))
        is_weight = isinstance(statement, ast.Assign) and statement.value in self.weights
        if is_weight:  # it is not in `call`, nor are its comments
            self.block.comments(statement, depth)
        for call in calls:
            name = f"self.{self.attributes[call]}"
            base = self.block.indent + self.source.indent_unit * depth
            head, tail = (f"{name}.append(", ")") if loop is not None else (f"{name} = ", "")
            made = self.made(call, self.context, len(base) + len(head), base)
            behind = trailing(self.source, statement) if is_weight else ""
            self.block.line(f"{head}{made}{tail}{behind}", depth)
        return bool(calls)

    def _asks_items(self, statement: ast.If) -> bool:
        """Whether a round's layers are made with items that a list may have in some rounds only.

        Otherwise a round makes the layers of both arms, and one that is not applied has no weights.
        """
        if self.plan.modes.asks(statement.test):
            return False
        arms = [part for one in (*statement.body, *statement.orelse) for part in walk(one)]
        asked = {
            self.names.statement(one)
            for one in arms
            if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load)
        }
        return any(
            one in self.plan.kept and (self.times.is_setting(one) or self._makes(one))
            for one in asked
        )

    def _makes(self, statement: ast.stmt) -> bool:
        return any(self.names.statement(call) is statement for call in self.attributes)

    def _choice(self, statement: ast.If, depth: int, loop: ast.For) -> bool:
        """Layers of a round that makes those of one arm: the lists of others get None."""
        whole, found = self.block, False
        lines: list[list[str]] = []
        for arm, other in ((statement.body, statement.orelse), (statement.orelse, statement.body)):
            self.block = Block(self.source, whole.indent)
            made = [self._statement(one, depth + 1, loop) for one in arm]
            found = found or any(made)
            for call, attribute in self.attributes.items():
                if any(one in other for one in self.names.ancestors(call)):
                    self.block.line(f"self.{attribute}.append(None)", depth + 1)
            lines.append(self.block.lines)
        self.block = whole
        if not found:
            return False
        test = self.context.render(statement.test)
        whole.line(f"if {test}:" if lines[0] else f"if not ({test}):", depth)
        whole.lines += lines[0]
        if lines[0] and lines[1]:
            whole.line("else:", depth)
        whole.lines += lines[1]
        return True

    def _if(self, statement: ast.If, depth: int, word: str = "if") -> bool:
        whole = self.block
        body = self._arm(statement.body, depth + 1)
        inner = statement.orelse[0] if len(statement.orelse) == 1 else None
        chain = False
        if body and isinstance(inner, ast.If) and not self.plan.modes.asks(inner.test):
            chain = True
            self.block = Block(self.source, whole.indent)
            self._if(inner, depth, "elif")
            orelse, self.block = self.block.lines, whole
        else:
            orelse = self._arm(statement.orelse, depth + 1)
        if not body and not orelse:
            return False
        test = self.context.render(statement.test)
        if body:
            whole.line(f"{word} {test}:", depth)
            whole.lines += body
            if orelse and not chain:
                whole.line("else:", depth)
        else:
            whole.line(f"{word} not ({test}):", depth)
        whole.lines += orelse
        return True

    def _arm(self, members: list[ast.stmt], depth: int) -> list[str]:
        """The lines of a block; none where nothing of it is needed."""
        whole, self.block = self.block, Block(self.source, self.block.indent)
        found = [self._statement(s, depth, None) for s in members]
        lines, self.block = self.block.lines, whole
        return lines if any(found) else []

    def _for(self, statement: ast.For, depth: int) -> bool:
        calls = [c for c in self.attributes if statement in self.names.ancestors(c)]
        whole = self.block
        self.block = Block(self.source, whole.indent)
        found = [self._statement(s, depth + 1, statement) for s in statement.body]
        body, self.block = self.block.lines, whole
        if not any(found):
            return False
        if statement.orelse:
            raise Refused(self.plan.module, statement, "a `for` with an `else` makes layers")
        for call in sorted(calls, key=lambda c: (c.lineno, c.col_offset)):
            whole.line(f"self.{self.attributes[call]} = []", depth)
        target = self.source.code(statement.target)
        whole.line(f"for {target} in {self.context.render(statement.iter)}:", depth)
        whole.lines += body
        return True
