"""Copies that a function returns: what its callers do with them, and where they compile them."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Reference
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.multi_gpu_model.building import made_for
from migrate_mgpu.models.front.multi_gpu_model.reading import Site, inside_strings, is_print
from migrate_mgpu.models.front.multi_gpu_model.uses import BATCHES, DRIVING, LAYERS, PLAIN
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_ADVICE = "make, compile and train the model in one function"


@record(eq=False)
class Callers(EditSet):
    """What changes in callers, and their calls of ``compile``."""

    compiled: list[tuple[Module, ast.Call]] = field(default_factory=list)


def read_callers(site: Site, graph: CallGraph, returned: list[ast.Return]) -> Callers:
    """Reads what becomes of a function's result.

    Raises:
        Refused: a caller does something with it that is not followed.
    """
    found = Callers()
    function = graph.enclosing(site.module, site.statement)
    if function is None or function.owner is not None or function.node.decorator_list:
        raise Refused(
            site.module, returned[0], "a method returns the copies", _ADVICE,
        )  # fmt: skip
    roles = {_roles(site, statement) for statement in returned}
    if len(roles) > 1:
        raise Refused(site.module, returned[0], "the function returns copies, or not", _ADVICE)
    (role,) = roles
    for reference in graph.references(function):
        _caller(reference, graph, role, found)
    return found


def _roles(site: Site, statement: ast.Return) -> tuple[str, ...]:
    """Of each value that is returned, whether it is the model, its copies or something else."""
    value = statement.value
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    names = [part.id if isinstance(part, ast.Name) else "" for part in parts]
    return tuple(
        "copies" if n == site.target else "model" if n == site.model else "" for n in names
    )


def _caller(reference: Reference, graph: CallGraph, roles: tuple[str, ...], found: Callers) -> None:
    module, call = reference.module, reference.call
    names = module.names
    statement = names.statement(reference.node)
    if (
        call is None
        or not module.writable
        or not isinstance(statement, ast.Assign)
        or statement.value is not call
        or len(statement.targets) != 1
    ):
        raise Refused(
            module, reference.node, "what becomes of the copies here is not followed", _ADVICE
        )
    target = statement.targets[0]
    parts = [target] if len(roles) == 1 else getattr(target, "elts", [])
    if len(parts) != len(roles):
        raise Refused(module, target, "which of these are the copies cannot be told", _ADVICE)
    for part, role in zip(parts, roles):
        if not role:
            continue
        if not isinstance(part, ast.Name):
            raise Refused(module, part, "the copies are no plain variable here", _ADVICE)
        _Name(module, graph, part, statement, found).read(role)


class _Name:
    """A variable that holds the model."""

    def __init__(
        self, module: Module, graph: CallGraph, name: ast.Name, made: ast.stmt, found: Callers
    ) -> None:
        self.module, self.graph, self.name, self.made = module, graph, name, made
        self.names, self.found = module.names, found

    def read(self, role: str) -> None:
        scope = self.names.scope_of_name[self.name]
        home = self.names.defining_scope(self.name.id, scope)
        if home is None or len(home.bindings[self.name.id]) != 1 or home.is_class:
            raise Refused(
                self.module, self.name, f"`{self.name.id}` is another model as well", _ADVICE
            )
        for mention in self.names.mentions(self.name.id, home):
            if mention is not self.name:
                self._mention(mention, role)

    def _mention(self, mention: ast.Name, role: str) -> None:
        parent = self.names.parents[mention]
        if isinstance(parent, ast.Attribute) and isinstance(mention.ctx, ast.Load):
            name, call = parent.attr, self.names.parents[parent]
            called = isinstance(call, ast.Call) and call.func is parent
            if role == "copies" and name == "compile" and called:
                assert isinstance(call, ast.Call)
                self._compiled(call)
                return
            known = DRIVING - {"compile"} if role == "copies" else LAYERS | {"predict"}
            if name in known | PLAIN and name not in BATCHES:
                if role == "model" and name == "save" and isinstance(call, ast.Call):
                    self._saved(call)
                return
        elif is_print(self.names.statement(mention)) and isinstance(mention.ctx, ast.Load):
            return
        raise Refused(
            self.module, mention, "what becomes of the copies here is not followed", _ADVICE
        )

    def _saved(self, call: ast.Call) -> None:
        if len(call.args) == 1 and not call.keywords:
            _, end = self.module.source.span(call.args[0])
            self.found.edit(self.module, Edit(end, end, ", include_optimizer=False"))

    def _compiled(self, call: ast.Call) -> None:
        """`compile`, and what it is given, under the strategy that the model has."""
        statement = self.names.statement(call)
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            raise Refused(self.module, call, "this is no statement of its own", _ADVICE)
        required: list[ast.stmt] = [statement]
        for argument in (*call.args, *(k.value for k in call.keywords)):
            for part in ast.walk(argument):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                    scope = self.names.scope_at(statement)
                    required += made_for(self.module, scope, self.graph, part)
        head = f"with {self.name.id}.distribute_strategy.scope():"
        for group in _groups(self.module, required):
            if group[0].lineno < self.made.lineno or not all(
                Layout(self.module.source, s).owns_lines for s in group
            ):
                raise Refused(
                    self.module, group[0], "this is made before the model, and belongs under its "
                    "strategy", "make it below the model",
                )  # fmt: skip
            self.found.edit(self.module, *_under(self.module, head, group))
        self.found.compiled.append((self.module, call))


def _groups(module: Module, statements: list[ast.stmt]) -> list[list[ast.stmt]]:
    """Statements that follow each other in one block, together."""
    found: list[list[ast.stmt]] = []
    for statement in sorted(dict.fromkeys(statements), key=lambda s: s.lineno):
        block = module.names.block(statement)
        if found and found[-1][-1] in block:
            if block.index(statement) == block.index(found[-1][-1]) + 1:
                found[-1].append(statement)
                continue
        found.append([statement])
    return found


def _under(module: Module, head: str, statements: list[ast.stmt]) -> list[Edit]:
    source = module.source
    edits = [Layout(source, statements[0]).insert_before([head])]
    inside = {line for s in statements for line in inside_strings(s)}
    last = statements[-1].end_lineno or statements[-1].lineno
    for line in range(statements[0].lineno, last + 1):
        start = source.line_starts[line - 1]
        if line not in inside and source.line_text(line).strip():
            edits.append(Edit(start, start, source.indent_unit))
    return edits
