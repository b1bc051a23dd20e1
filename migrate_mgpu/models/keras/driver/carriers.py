"""Statements that hand a RunConfig on: it goes out of them, and what else they do stays."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
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
from migrate_mgpu.models.front.estimators.parts import Configuration
from migrate_mgpu.models.keras.driver.drive import Drive
from migrate_mgpu.source.container_edit import without_members
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments

_ADVICE = "make the RunConfig where the Estimator is made"


class Carriers:
    """Follows RunConfigs through the statements between them and their Estimators.

    ``made`` are the statements that make them: ``rest`` says what those do besides.
    """

    def __init__(self, config: Configuration, values: ValueFlow, drive: Drive) -> None:
        self.values = values
        self.drive = drive
        self.places = [Value(m.module, m.outer or m.call) for m in (*config.made, *config.replaced)]
        self.made = {one.node for one in self.places}
        self._seen: set[ast.AST] = set()
        self._members: dict[tuple[Module, ast.stmt], set[ast.AST]] = {}

    def rest(self, module: Module, call: ast.expr) -> list[str]:
        """What the statement that makes a RunConfig does besides.

        Raises:
            Refused: it hands it on in a way that is not followed.
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
            text = without_members(module.source, statement, self._members[module, statement])
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
                text = without_members(module.source, statement, members)
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
                    module, node, "a RunConfig is chosen in an expression",
                    "choose it by `if`, in statements of its own",
                )  # fmt: skip
        elif isinstance(node, (ast.IfExp, ast.BoolOp)):
            return  # with what makes it
        elif step.kind == ASSIGNED and isinstance(statement, (ast.Assign, ast.AnnAssign)):
            call = [module.source.code(node)] if isinstance(node, ast.Call) else []
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
                self.drive.edit(reference.module, Edit(start, end, ""))

    def _used(self, module: Module, node: ast.expr) -> None:
        """The call of a helper in an Estimator's place for it: what it does besides is done."""
        if node in self.made or not isinstance(node, ast.Call):
            return
        statement = module.names.statement(node)
        layout = Layout(module.source, statement)
        if not layout.owns_start or isinstance(statement, (ast.If, ast.While, ast.For)):
            raise self._refused(module, node)
        self.drive.edit(module, layout.insert_before([module.source.code(node)]))

    def _take_apart(self, step: Step, node: ast.expr) -> None:
        module, group = step.module, step.carrier
        assert isinstance(group, (ast.Tuple, ast.List, ast.Dict))
        places = self.values.unpacked(module, group, node)
        statement = module.names.statement(group)
        if places is None or getattr(statement, "value", None) is not group:
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
            raise Refused(module, statement, "a RunConfig is handed on beside other code", _ADVICE)
        kept = [comment.text for comment in comments(module.source.code(statement))]
        kept += [layout.trailing_comment] if layout.trailing_comment else []
        block = module.names.block(statement)
        if not lines and all(one is statement or one in self.drive.gone for one in block):
            lines = ["pass"]
        if not lines:
            self.drive.gone.add(statement)
        self.drive.edit(module, layout.replace([*kept, *lines]))

    def _refused(self, module: Module, node: ast.AST) -> Refused:
        return Refused(module, node, "how the RunConfig is handed on is not followed", _ADVICE)


def _assigns(module: Module, node: ast.expr, statement: ast.stmt) -> bool:
    """Whether a statement assigns nothing but a RunConfig, or what `replace` makes of it."""
    while node is not getattr(statement, "value", None):
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
