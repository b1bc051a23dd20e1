"""Statements that hand an object on: it goes out of them, and what else they do stays."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Protocol

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.analysis.value_flow import (
    ASSIGNED,
    CHOSEN,
    ENTERED,
    GIVEN,
    MEMBER,
    RETURNED,
    Step,
    Value,
    ValueFlow,
)
from migrate_mgpu.source.container_edit import without_members
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments


class Edits(Protocol):
    """Where edits go; ``gone`` are the statements of which nothing is left."""

    gone: set[ast.AST]

    def edit(self, module: Module, edit: Edit) -> None:
        """Takes one edit of a module."""


class Carriers:
    """Follows objects, ``what`` they are, through the statements between them and their uses.

    ``places`` are the expressions that make them; ``rest`` says what their statements do
    besides.
    """

    def __init__(self, places: Sequence[Value], values: ValueFlow, edits: Edits, what: str) -> None:
        self.values = values
        self.changes = edits
        self.what = what
        self.places = list(places)
        self.made = {one.node for one in self.places}
        self._seen: set[ast.AST] = set()
        self._members: dict[tuple[Module, ast.stmt], set[ast.AST]] = {}
        self._dropped: set[ast.AST] = set()

    def without_helper(self, function: Function) -> None:
        """A function that does nothing but return the object goes as a whole, with its calls.

        Where another file imports it, it stays without a body: files are written one by one.

        Raises:
            Refused: it does more.
        """
        node = function.node
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        calls = self.values.calls(function)
        if len(body) != 1 or function.owner is not None or calls is None:
            raise self._refused(function.module, node)
        layout = Layout(function.module.source, node)
        self._dropped.add(node)
        if any(call.module is not function.module for call in calls):
            self._replace(function.module, body[0], [])
            return
        self.changes.gone.add(node)
        self.changes.edit(function.module, layout.replace([]))

    def take_out(self) -> None:
        """The edits of the statements that make the objects, and of all between.

        Raises:
            Refused: one of them does something with it that cannot be analyzed.
        """
        for value in self.places:
            module, call = value.module, value.node
            assert call is not None
            statement = module.names.statement(call)
            if not self._dropped & set(module.names.ancestors(statement)):
                self._replace(module, statement, self.rest(module, call))
        self.go()

    def rest(self, module: Module, call: ast.expr) -> list[str]:
        """What the statement that makes an object does besides.

        Raises:
            Refused: it hands it on in a way that cannot be analyzed.
        """
        statement = module.names.statement(call)
        node, step = call, self.values.step(module, call)
        while step is not None and step.kind == CHOSEN and isinstance(step.carrier, ast.expr):
            node, step = step.carrier, self.values.step(module, step.carrier)
        if not Layout(module.source, statement).owns_lines:
            raise self._refused(module, call)
        if step is None:
            if _assigns(module, node, statement):
                return []
            raise self._refused(module, call)
        if step.kind == ASSIGNED and isinstance(statement, (ast.Assign, ast.AnnAssign)):
            return self._left(module, statement)
        if step.kind == RETURNED:
            return [] if _is_last(module, statement) else ["return"]
        if step.kind == ENTERED and isinstance(step.carrier, ast.Yield):
            return ["yield"]
        if step.kind == MEMBER:
            self._take_apart(step, node)
            text, _ = without_members(module.source, statement, self._members[module, statement])
            return [text] if text else []
        raise self._refused(module, call)

    def go(self) -> None:
        """The edits of all statements between.

        Raises:
            Refused: one of them does something else with it.
        """
        todo = list(self.places)
        while todo:
            value = todo.pop(0)
            node = value.node
            if node is None or node in self._seen:
                continue
            self._seen.add(node)
            step = self.values.step(value.module, node)
            if step is None:
                self._used(value.module, node)
                continue
            todo += step.to
            self._step(step, node)
        made = {value.module.names.statement(node) for value in self.places if (node := value.node)}
        for (module, statement), members in self._members.items():
            if statement not in made:
                text, _ = without_members(module.source, statement, members)
                self._replace(module, statement, [text] if text else [])

    def _step(self, step: Step, node: ast.expr) -> None:
        module, statement = step.module, step.module.names.statement(node)
        if step.kind == ENTERED and isinstance(step.carrier, ast.Yield):
            self._unnamed(module, step.carrier)
        if step.kind == GIVEN or node in self.made:
            return
        if step.kind == CHOSEN:
            inner = {part for part in ast.walk(step.carrier) if isinstance(part, ast.expr)}
            if not inner & self.made:
                raise Refused(
                    module, node, f"a {self.what} is chosen in an expression",
                    "choose it by `if`, in separate statements",
                )  # fmt: skip
        elif isinstance(node, (ast.IfExp, ast.BoolOp)):
            return  # with what makes it
        elif step.kind == ASSIGNED and isinstance(statement, (ast.Assign, ast.AnnAssign)):
            kept = isinstance(node, ast.Call) and not self._drops(module, node)
            call = [module.source.code(node)] if kept else []
            self._replace(module, statement, [*call, *self._left(module, statement)])
        elif step.kind == RETURNED and not isinstance(node, ast.Call):
            self._replace(module, statement, [] if _is_last(module, statement) else ["return"])
        elif step.kind == ENTERED and isinstance(step.carrier, ast.Yield):
            self._replace(module, statement, ["yield"])
        elif step.kind == MEMBER:
            self._take_apart(step, node)
        else:
            raise self._refused(module, node)

    def _unnamed(self, module: Module, node: ast.Yield) -> None:
        """`with build() as config:` gives nothing a name any more."""
        function = self.values.graph.enclosing(module, node)
        for reference in self.values.calls(function) or () if function is not None else ():
            block = reference.module.names.parents[reference.call or node]
            if isinstance(block, ast.withitem) and block.optional_vars is not None:
                _, start = reference.module.source.span(block.context_expr)
                _, end = reference.module.source.span(block.optional_vars)
                self.changes.edit(reference.module, Edit(start, end, ""))

    def _drops(self, module: Module, call: ast.Call) -> bool:
        """Whether a call goes with the function that it calls."""
        function = self.values.graph.target(module, call.func)
        return function is not None and function.node in self._dropped

    def _used(self, module: Module, node: ast.expr) -> None:
        """The call of a helper in an Estimator's place for it: what it does besides is done."""
        if node in self.made or not isinstance(node, ast.Call) or self._drops(module, node):
            return
        statement = module.names.statement(node)
        layout = Layout(module.source, statement)
        if not layout.owns_start or isinstance(statement, (ast.If, ast.While, ast.For)):
            raise self._refused(module, node)
        self.changes.edit(module, layout.insert_before([module.source.code(node)]))

    def _take_apart(self, step: Step, node: ast.expr) -> None:
        module, group = step.module, step.carrier
        assert isinstance(group, (ast.Tuple, ast.List, ast.Dict))
        places = self.values.unpacked(module, group, node)
        statement = module.names.statement(group)
        if places is None or statement_value(statement) is not group:
            raise self._refused(module, node)
        for one, member in [(statement, node), *places]:
            if comments(module.source.code(one)):
                raise self._refused(module, node)
            self._members.setdefault((module, one), set()).add(member)

    def _left(self, module: Module, statement: ast.Assign | ast.AnnAssign) -> list[str]:
        """`config = None` where other files import the variable."""
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        scope = module.names.scope_at(statement)
        for target in targets if scope.is_module else ():
            if isinstance(target, ast.Name) and self._is_imported(module, target.id):
                return [f"{target.id} = None"]
        return []

    def _is_imported(self, module: Module, name: str) -> bool:
        reads = self.values.reads(module, name, module.names.module_scope)
        return any(read.module is not module and isinstance(read.node, ast.Name) for read in reads)

    def _replace(self, module: Module, statement: ast.stmt, lines: list[str]) -> None:
        layout = Layout(module.source, statement)
        if not layout.owns_lines:
            raise self._refused(module, statement)
        stays = {comment.text for line in lines for comment in comments(line)}
        kept = [c.text for c in comments(module.source.code(statement)) if c.text not in stays]
        kept += [layout.trailing_comment] if layout.trailing_comment else []
        block = module.names.block(statement)
        if not lines and all(one is statement or one in self.changes.gone for one in block):
            lines = ["pass"]
        if not lines:
            self.changes.gone.add(statement)
        self.changes.edit(module, layout.replace([*kept, *lines]))

    def _refused(self, module: Module, node: ast.AST) -> Refused:
        text = f"where the {self.what} is passed cannot be analyzed"
        return Refused(module, node, text, f"make the {self.what} where it is used")


def _assigns(module: Module, node: ast.expr, statement: ast.stmt) -> bool:
    """Whether a statement assigns nothing but an object, or what `replace` makes of it."""
    while node is not statement_value(statement):
        parent = module.names.parents[node]
        replaced = isinstance(parent, ast.Attribute) and parent.attr == "replace"
        if not replaced and not isinstance(parent, (ast.IfExp, ast.BoolOp, ast.Call)):
            return False
        assert isinstance(parent, ast.expr)
        node = parent
    return isinstance(statement, (ast.Assign, ast.AnnAssign))


def _is_last(module: Module, statement: ast.stmt) -> bool:
    """Whether a function ends with a statement; one alone in it leaves `pass`."""
    parent = module.names.parents[statement]
    return isinstance(parent, ast.FunctionDef) and parent.body[-1] is statement
