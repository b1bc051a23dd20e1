"""Coordinators, and the threads that fill queues, of a program that has no queues: they go.

`while not coord.should_stop():` becomes `while True:`, for nothing else asks it to stop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import groupby

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.graph import QUEUES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments

_STARTS = ("train.start_queue_runners", "train.queue_runner.start_queue_runners")
_COORDINATOR = "train.Coordinator"
_ENDS = ("request_stop", "join")


def without_coordinators(modules: Sequence[Module]) -> dict[Module, list[Edit]]:
    """The edits of all modules; none where a queue, or another use of a coordinator, is left."""
    calls = [(module, call) for module in modules for call in module.names.calls]
    if any(name_of(module, call) in QUEUES for module, call in calls):
        return {}
    found: dict[Module, list[Edit]] = {}
    for module in modules:
        edits = _Runners(module).edits()
        if edits is None:
            return {}
        if edits:
            found[module] = edits
    return found


class _Runners:
    """The statements of one module that start threads and end them."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.gone: list[ast.stmt] = []
        self.loops: list[ast.While] = []
        self.handlers: list[ast.ExceptHandler] = []  # that hand an error on, or end quietly

    def edits(self) -> list[Edit] | None:
        """None where something is done with them that is not understood."""
        for call in self.names.calls:
            name = name_of(self.module, call)
            if name not in (*_STARTS, _COORDINATOR):
                continue
            statement = self.names.statement(call)
            if not isinstance(statement, (ast.Assign, ast.Expr)) or statement.value is not call:
                return None
            self.gone.append(statement)
            if isinstance(statement, ast.Assign) and not self._named(statement):
                return None
        whole = [*self._without()]
        inside = [*self._loops(self.module.tree), *map(self._handled, self.handlers)]
        around = [(one.start, one.end) for one in whole]
        return [
            *whole,
            *(e for e in inside if not any(a <= e.start and e.end <= b for a, b in around)),
        ]

    def _loops(self, node: ast.AST) -> list[Edit]:
        """`while True:` for the loops of some code."""
        parts = {*walk(node)} if not isinstance(node, ast.Module) else {*self.loops}
        return [Edit(*self.source.span(one.test), "True") for one in self.loops if one in parts]

    def _handled(self, handler: ast.ExceptHandler) -> Edit:
        """An end of the data ends the loop quietly; what else is caught is raised in the end."""
        start = self.source.span(handler)[0]
        indent = self.source.indent_of(handler.body[0])
        text = f"except {root(self.module, handler)}.errors.OutOfRangeError:"
        return Edit(start, self.source.span(handler)[1], f"{text}{self.source.newline}{indent}pass")

    def _named(self, statement: ast.Assign) -> bool:
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Name):
            return False
        scope = self.names.scope_of_name[target]
        for mention in self.names.mentions(target.id, scope):
            if isinstance(mention.ctx, ast.Load) and not self._understood(mention):
                return False
        return all(
            isinstance(binding.node, ast.Name) and self._is_made(binding.node)
            for binding in scope.bindings[target.id]
        )

    def _is_made(self, name: ast.Name) -> bool:
        statement = self.names.statement(name)
        made = name_of(self.module, statement.value) if isinstance(statement, ast.Assign) else ""
        return made in (*_STARTS, _COORDINATOR)

    def _understood(self, mention: ast.Name) -> bool:
        """Whether a mention goes with the threads: it starts, asks or ends them."""
        statement = self.names.statement(mention)
        taker = self.names.taker(mention)
        if taker is not None and name_of(self.module, taker) in _STARTS:
            return True
        call = statement.value if isinstance(statement, ast.Expr) else None
        func = call.func if isinstance(call, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr in _ENDS:
            assert isinstance(call, ast.Call)
            if not isinstance(func.value, ast.Name):
                return False
            if func.attr == "join" or not call.args + [k.value for k in call.keywords]:
                self.gone += [statement] if statement not in self.gone else []
                return True
            handler = self.names.parents[statement]
            if isinstance(handler, ast.ExceptHandler) and self._hands_on(handler, call):
                self.handlers.append(handler)
                return True
        attribute = self.names.parents[mention]
        asked = self.names.parents[attribute]
        if isinstance(attribute, ast.Attribute) and attribute.attr == "should_stop":
            negated = self.names.parents[asked]
            loop = self.names.parents[negated]
            if isinstance(asked, ast.Call) and isinstance(negated, ast.UnaryOp):
                if isinstance(loop, ast.While) and loop.test is negated and not loop.orelse:
                    self.loops.append(loop)
                    return True
        if isinstance(attribute, ast.Attribute) and attribute.attr == "should_stop":
            if isinstance(statement, ast.If) and statement.test is asked and not statement.orelse:
                self.gone += [statement] if statement not in self.gone else []
                return True
        return False

    def _hands_on(self, handler: ast.ExceptHandler, call: ast.Call) -> bool:
        """`except Exception as e: coord.request_stop(e)`"""
        caught = self.names.qualname(handler.type) if handler.type is not None else None
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        return (
            caught in ("builtins.Exception", "builtins.BaseException")
            and len(handler.body) == 1
            and len(given) == 1
            and isinstance(given[0], ast.Name)
            and given[0].id == handler.name
        )

    # -- what goes ------------------------------------------------------------------------

    def _without(self) -> Iterator[Edit]:
        gone = {*self.gone}
        done: set[ast.stmt] = set()
        for statement in self.gone:
            if statement in done:
                continue
            block = self.names.block(statement)
            done |= {one for one in block if one in gone}
            if not all(one in gone for one in block):
                for is_gone, group in groupby(block, key=lambda one: one in gone):
                    if is_gone:
                        yield self._paragraph(list(group))
                continue
            parent = self.names.parents[statement]
            if isinstance(parent, ast.Try) and block is parent.finalbody:
                yield self._tried(parent)
                continue
            first, last = Layout(self.source, block[0]), Layout(self.source, block[-1])
            yield Edit(first.start, last.end, "pass")

    def _paragraph(self, group: Sequence[ast.stmt]) -> Edit:
        """The lines of statements below each other, with the comments of what was all of it."""
        source, text = self.source, self.source.text
        start = Layout(source, group[0]).line_start
        end = Layout(source, group[-1]).next_line
        top = start_with_comments(text, start)
        above = text[:top].rstrip(" \t").endswith(("\n\n", ":\n", "\r\n\r\n", ":\r\n"))
        rest = text[end:].split("\n", 1)[0]
        inside = rest.startswith(source.indent_of(group[0])) and rest.strip()
        closes = inside and rest.strip().endswith(".close()")  # the session, which goes as well
        if not above or (inside and not closes):
            return Edit(start, end, "")
        blank = top - len(text[:top].rstrip("\r\n")) > len(source.newline)
        return Edit(top - len(source.newline) * blank, end, "")

    def _tried(self, node: ast.Try) -> Edit:
        """A `finally` without statements: it goes, and the `try` where nothing is caught."""
        source = self.source
        last = [*node.body, *(one for h in node.handlers for one in h.body), *node.orelse]
        end = Layout(source, max(last, key=lambda one: one.end_lineno or 0)).next_line
        bottom = Layout(source, node.finalbody[-1]).next_line
        if node.handlers:
            return Edit(end, bottom, "")
        layout = Layout(source, node)
        block = Block(source, layout.indent)
        for statement in node.body:
            block.statement(statement, self._loops(statement))
        return Edit(layout.line_start, bottom, block.text())
