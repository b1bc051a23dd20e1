"""A model that is made, copied and compiled in several functions: the edits of each place."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import line_of
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.multi_gpu_model.reading import Site, inside_strings
from migrate_mgpu.models.front.multi_gpu_model.uses import Use
from migrate_mgpu.models.keras.multi_gpu_model.placing import is_other_cell
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def made_at(site: Site) -> Site:
    """The place of a model that is made elsewhere, as a site that has no copies."""
    made = site.origin
    assert made is not None
    return replaced(
        site, module=made.module, statement=made.statement, scope=made.scope, gpus=made.gpus,
        target="", model="",
    )  # fmt: skip


def without_copies(site: Site) -> list[Edit]:
    """The statement that copied a model hands it on, or goes where it has one name."""
    source, statement = site.module.source, site.statement
    layout = Layout(source, statement)
    if site.model or source.code(statement.targets[0]) == source.code(site.copied):
        lines = [layout.trailing_comment] if layout.trailing_comment else []
        if len(site.module.names.block(statement)) == 1:
            lines.append("pass")
        return [layout.replace(lines)]
    start, end = source.span(site.copied)
    first, last = source.span(site.call)
    return [Edit(first, start, ""), Edit(end, last, "")]


def under_strategy(use: Use, statements: list[ast.stmt]) -> list[Edit]:
    """A call of ``compile``, and what it is given, under the strategy that the model has.

    Raises:
        Refused: something of it is made before the model is known.
    """
    module = use.module
    edits: list[Edit] = []
    head = f"with {use.receiver}.distribute_strategy.scope():"
    for group in _groups(module, statements):
        if not _is_known(use, group[0]) or not all(
            Layout(module.source, statement).owns_lines for statement in group
        ):
            raise Refused(
                module, group[0], "this is made before the model, and belongs under its strategy",
                "make it below the model",
            )  # fmt: skip
        edits += _under(module, head, group)
    return edits


def _is_known(use: Use, statement: ast.stmt) -> bool:
    """Whether the model has its name above a statement."""
    names = use.module.names
    assert isinstance(use.call.func, ast.Attribute)
    stores: list[ast.AST] = []
    for part in ast.walk(use.call.func.value):
        if isinstance(part, ast.Attribute):
            attributes = names.attributes.get(part.attr, ())
            stores += [one for one in attributes if isinstance(one.ctx, ast.Store)]
        elif isinstance(part, ast.Name):
            stores += [binding.node for binding in names.bindings_of(part)]
    here = names.scope_at(statement)
    return all(names.scope_at(one) is not here or line_of(one) < statement.lineno for one in stores)


def _groups(module: Module, statements: list[ast.stmt]) -> list[list[ast.stmt]]:
    """Statements that follow each other in one block and cell, together."""
    source = module.source
    found: list[list[ast.stmt]] = []
    for statement in statements:
        block = module.names.block(statement)
        last = found[-1][-1] if found else statement
        if last in block and block.index(statement) == block.index(last) + 1:
            if not is_other_cell(source, last, statement):
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
