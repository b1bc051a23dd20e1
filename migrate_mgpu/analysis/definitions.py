"""Where new definitions stand in their author's file, and who may call those that are there."""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def below_imports(module: Module) -> ast.stmt | None:
    """The first statement of a module below its imports; None where nothing can stand above it."""
    body = module.tree.body
    known = [i for i, s in enumerate(body) if isinstance(s, (ast.Import, ast.ImportFrom))]
    below = body[known[-1] + 1 :] if known else []
    fits = below and Layout(module.source, below[0]).owns_start
    return below[0] if fits and not isinstance(module.source, Notebook) else None


def defined_above(module: Module, statement: ast.stmt, texts: list[str]) -> Edit:
    """Definitions above a statement and its comments, with two blank lines around each."""
    source = module.source
    start = source.place(Layout(source, statement).line_start)[0]
    while start > 1 and source.line_text(start - 1).startswith("#"):
        start -= 1
    blank = 0
    while start - blank > 1 and not source.line_text(start - blank - 1).strip():
        blank += 1
    lines = [*[""] * max(2 - blank, 0), *"\n\n\n".join(texts).split("\n"), "", ""]
    place = source.line_starts[start - 1]
    return Edit(place, place, "".join(f"{line}{source.newline}" for line in lines))


@fact_of_text
def may_be_called(module: Module) -> bool:
    """Whether somebody whose code is not seen may call a module's functions.

    No file imports a notebook: only its lines that are no Python may call them (`%time train()`).
    """
    source = module.source
    if not isinstance(source, Notebook):
        return True
    kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
    defined = {node.name for node in ast.walk(module.tree) if isinstance(node, kinds)}
    lines = zip(source.raw.splitlines(), source.text.splitlines())
    return any(
        not defined.isdisjoint(re.findall(r"\w+", raw)) for raw, text in lines if raw != text
    )
