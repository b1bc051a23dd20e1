"""Coordinators, and the threads that fill queues, of a program that has no queues: they go.

`while not coord.should_stop():` becomes `while True:`, for nothing else asks it to stop. One that
ends threads of the author's own stays: TF2 has it as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import groupby

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.queues import QUEUES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments

_STARTS = ("train.start_queue_runners", "train.queue_runner.start_queue_runners")
_COORDINATOR = "train.Coordinator"
_ENDS = ("request_stop", "join")


def without_coordinators(modules: Sequence[Module]) -> dict[Module, list[Edit]]:
    """The edits of all modules; none where a queue, or another use of a coordinator, is left."""
    if any(name in QUEUES for module in modules for name in calls_of_names(module)):
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
        known = calls_of_names(self.module)
        for call in (one for name in (*_STARTS, _COORDINATOR) for one in known.get(name, ())):
            statement = self.names.statement(call)
            if not isinstance(statement, (ast.Assign, ast.Expr)) or statement.value is not call:
                return None
            self.gone.append(statement)
            if isinstance(statement, ast.Assign) and not self._named(statement):
                return None
        return self._without()

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
        taker, statement = self.names.taker(mention), self.names.statement(mention)
        if taker is not None and name_of(self.module, taker) in _STARTS:
            return True
        attribute = self.names.parents[mention]
        if isinstance(attribute, ast.Attribute) and attribute.attr == "should_stop":
            return self._asks(self.names.parents[attribute], statement)
        call = statement.value if isinstance(statement, ast.Expr) else None
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr not in _ENDS:
            return False
        assert isinstance(call, ast.Call) and isinstance(statement, ast.Expr)
        if not isinstance(func.value, ast.Name):
            return False
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if func.attr == "join" and not all(map(self._are_runners, given)):
            return False
        if func.attr == "request_stop" and not self._ends(mention):
            return False
        handler = self.names.parents[statement]
        if func.attr == "join" or not given:
            self.gone += [statement] if statement not in self.gone else []
        elif isinstance(handler, ast.ExceptHandler) and self._hands_on(handler, call):
            self.handlers.append(handler)
        else:
            return False
        return True

    def _are_runners(self, threads: ast.expr) -> bool:
        """Whether an expression names the threads that fill queues, or is no thread."""
        made = self.names.only_value(threads) if isinstance(threads, ast.Name) else threads
        return isinstance(made, ast.Constant) or name_of(self.module, made) in _STARTS

    def _ends(self, mention: ast.Name) -> bool:
        """Whether a coordinator is told to stop where no loop asks it any more.

        That is behind the loops that do, in their function.
        """
        scope = self.names.scope_of_name[mention]
        home = self.names.defining_scope(mention.id, scope)
        asking = [
            one
            for one in (self.names.mentions(mention.id, home) if home is not None else ())
            if isinstance(parent := self.names.parents[one], ast.Attribute)
            and parent.attr == "should_stop"
        ]
        made = home.bindings[mention.id] if home is not None else []
        anew = {p for one in made for p in self.names.ancestors(one.node)}
        loops = (ast.For, ast.While)
        around = [p for p in self.names.ancestors(mention) if isinstance(p, loops)]
        again = {*around} - anew  # loops in which it is the same coordinator
        return all(
            self.names.scope_of_name[one] is scope
            and one.lineno < mention.lineno
            and again.isdisjoint(self.names.ancestors(one))
            for one in asking
        )

    def _asks(self, asked: ast.AST, statement: ast.stmt) -> bool:
        """`while not coord.should_stop():`, or `if coord.should_stop(): break`"""
        if not isinstance(statement, (ast.If, ast.While)) or statement.orelse:
            return False
        test = statement.test
        if isinstance(statement, ast.If):
            self.gone.append(statement)
            return test is asked
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        self.loops.append(statement)
        return negated and isinstance(test, ast.UnaryOp) and test.operand is asked

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

    def _without(self) -> list[Edit]:
        gone = {*self.gone}
        found: list[Edit] = []
        tried: list[ast.Try] = []
        for block in {id(one): one for one in map(self.names.block, self.gone)}.values():
            if not all(one in gone for one in block):
                for is_gone, group in groupby(block, key=lambda one: one in gone):
                    if is_gone:
                        found.append(self._paragraph(list(group)))
                continue
            parent = self.names.parents[block[0]]
            if not isinstance(parent, ast.Try) or block is not parent.finalbody:
                first, last = Layout(self.source, block[0]), Layout(self.source, block[-1])
                found.append(Edit(first.start, last.end, "pass"))
            elif parent.handlers:
                found.append(self._ended(parent))
            else:
                tried.append(parent)
        found += [Edit(*self.source.span(loop.test), "True") for loop in self.loops]
        found += map(self._handled, self.handlers)
        for node in tried:
            start, end = Layout(self.source, node).line_start, Layout(self.source, node).next_line
            inside = [one for one in found if start <= one.start and one.end <= end]
            found = [one for one in found if one not in inside]
            block_of = Block(self.source, Layout(self.source, node).indent)
            for statement in node.body:
                block_of.statement(statement, inside)
            found.append(Edit(start, end, block_of.text()))
        return found

    def _handled(self, handler: ast.ExceptHandler) -> Edit:
        """An end of the data ends the loop quietly; what else is caught is raised in the end."""
        indent = self.source.indent_of(handler.body[0])
        text = f"except {root(self.module, handler)}.errors.OutOfRangeError:"
        return Edit(*self.source.span(handler), f"{text}{self.source.newline}{indent}pass")

    def _paragraph(self, group: Sequence[ast.stmt]) -> Edit:
        """The lines of statements below each other, with the comments above them.

        Where more stands below these, in the same paragraph, the comments stay.
        """
        source, text = self.source, self.source.text
        start = Layout(source, group[0]).line_start
        end = Layout(source, group[-1]).next_line
        top = start_with_comments(text, start)
        block = self.names.block(group[-1])
        after = block[block.index(group[-1]) + 1 :]
        together = bool(after) and source.place(end)[0] == after[0].lineno
        if together and not _closes(after[0]):
            return Edit(start, end, "")
        blank = top - len(text[:top].rstrip("\r\n")) > len(source.newline)
        return Edit(top - len(source.newline) * blank, end, "")

    def _ended(self, node: ast.Try) -> Edit:
        """A `finally` without statements goes."""
        source = self.source
        last = [*node.body, *(one for h in node.handlers for one in h.body), *node.orelse]
        end = Layout(source, max(last, key=lambda one: one.end_lineno or 0)).next_line
        return Edit(end, Layout(source, node.finalbody[-1]).next_line, "")


def _closes(statement: ast.stmt) -> bool:
    """`sess.close()`, which goes as well."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr == "close"
