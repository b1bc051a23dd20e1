"""Where new definitions stand in their author's file, and who may call those that are there."""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def below_imports(module: Module) -> ast.stmt | None:
    """Where a definition can stand below the imports of a module; None where there is no place."""
    first = below_head(module)
    fits = first is not None and Layout(module.source, first).owns_start
    return first if fits and not isinstance(module.source, Notebook) else None


def below_head(module: Module) -> ast.stmt | None:
    """The first statement below the imports at a module's head, which have TensorFlow.

    All that uses TensorFlow stands below it. Imports further down are no part of the head.
    """
    body = module.tree.body
    first = next((i for i, s in enumerate(body) if s in module.tensorflow_imports), 0)
    used = (i for i in range(first, len(body)) if _uses_tensorflow(module, body[i]))
    end = next(used, len(body))
    head = [i for i in range(end) if isinstance(body[i], (ast.Import, ast.ImportFrom))]
    below = body[head[-1] + 1 :] if head else []
    return below[0] if below else None


def _uses_tensorflow(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement of a module's body mentions TensorFlow, or what it defines may.

    The tutorials' reader of MNIST, which comes with 1.15, is none of it: TF2's is a module beside.
    """
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return True
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    paths = ((module.names.qualname(one) or "").split(".") for one in names)
    return any(path[0] == "tensorflow" and path[1:2] != ["examples"] for path in paths)


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
