"""Where a program walks through a set: its order is another one in each Python.

Texts are hashed in another way since Python 3.11, whatever ``PYTHONHASHSEED`` says.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
from typing import Any

_SETS = {"set", "frozenset"}
_WALKS = {"list", "tuple", "enumerate", "iter", "zip", "map"}
MOST = 3  # places that are told


def places(folder: str, program: str) -> list[tuple[str, int]]:
    """The first files and lines, of the program's modules that are loaded.

    Args:
      folder: the program's own modules lie in it.
      program: the file that is run.
    """
    files = {os.path.abspath(program)}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        path = os.path.abspath(file) if isinstance(file, str) else ""
        if path.startswith(folder + os.sep) and not _is_installed(path):
            files.add(path)
    found: list[tuple[str, int]] = []
    for file in sorted(files):
        try:
            tree = ast.parse("".join(linecache.getlines(file)))
        except (SyntaxError, ValueError, RecursionError):
            continue
        found += [(file, line) for line in sorted(set(_lines(tree)))]
    return found[:MOST]


def _is_installed(path: str) -> bool:
    """Whether a file is a package's, in an environment that lies beside the program."""
    prefixes = {os.path.abspath(one) + os.sep for one in (sys.prefix, sys.base_prefix)}
    return "site-packages" in path.split(os.sep) or path.startswith(tuple(prefixes))


def _lines(tree: ast.AST) -> Any:
    for node in ast.walk(tree):
        walked: list[ast.expr] = []
        if isinstance(node, (ast.For, ast.comprehension)):
            walked = [node.iter]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            walked = node.args if node.func.id in _WALKS else []
        for one in walked:
            if _is_set(one):
                yield one.lineno


def _is_set(node: ast.expr) -> bool:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return isinstance(node, (ast.Set, ast.SetComp)) or (
        called and node.func.id in _SETS and bool(node.args)  # type: ignore[attr-defined]
    )
