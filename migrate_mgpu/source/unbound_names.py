"""Names of a text that nothing binds, or that are bound below the statement that reads them."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterable, Iterator

# What a module has by itself, and a notebook.
_GIVEN = {*dir(builtins), "__file__", "__path__", "__builtins__", "__annotations__", "__class__",
          "get_ipython", "display", "In", "Out", "exit", "quit", "_"}  # fmt: skip
_ELSEWHERE = re.compile(r"\bimport\s*\*|\bglobal\b")  # what may bind names of a module besides
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)


def unbound(text: str) -> frozenset[str]:
    """The names at which a text would end with a `NameError`, as far as that is sure.

    None of one with `import *`, which may bring any, or that Python does not take.
    """
    try:
        tree = ast.parse(text)
        table = symtable.symtable(text, "<written>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    bound = {one.get_name() for one in table.get_symbols() if _is_bound(one)}
    nodes = ast.walk(tree) if _ELSEWHERE.search(text) else ()
    named: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.alias) and node.name == "*":
            return frozenset()
        named |= {*node.names} if isinstance(node, ast.Global) else set()
    missing = {name for name in _read(table) if name not in bound | named | _GIVEN}
    return frozenset(missing | (_early(tree.body, set(_GIVEN | named)) & bound))


def _is_bound(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()


def _read(table: symtable.SymbolTable) -> Iterator[str]:
    """The global names that a scope, or one in it, reads."""
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or (top and not _is_bound(symbol))):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _read(inner)


def _early(body: Iterable[ast.stmt], known: set[str]) -> set[str]:
    """The names that statements read above all that binds them; ``known`` learns the others.

    What a branch or a loop binds counts as bound below it, and functions run later.
    """
    found: set[str] = set()
    for statement in body:
        reads, binds = set[str](), set[str]()
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Import,
                                  ast.ImportFrom)):  # fmt: skip
            _names(statement, reads, binds)
            if not isinstance(statement, ast.Expr) or not binds:
                found |= reads - known
        elif isinstance(statement, ast.ClassDef):
            for one in (*statement.bases, *statement.decorator_list):
                _names(one, reads, binds)
            found |= reads - known
            found |= _early(statement.body, {*known, "__module__", "__qualname__"})
            binds = {statement.name}
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for one in (*statement.args.defaults, *statement.decorator_list):
                _names(one, reads, binds)
            found |= reads - known
            binds = {statement.name}
        else:  # what is read in it may be bound in it
            _names(statement, reads, binds)
            found |= reads - known - binds
        known |= binds
    return found


def _names(node: ast.AST, reads: set[str], binds: set[str]) -> None:
    """The names that a node reads where it stands, and those that it binds."""
    if isinstance(node, ast.Name):
        (reads if isinstance(node.ctx, ast.Load) else binds).add(node.id)
    elif isinstance(node, ast.alias):
        binds.add(node.asname or node.name.partition(".")[0])
    elif isinstance(node, _NAMED) and node.name:
        binds.add(node.name)
    if isinstance(node, (*_LATER, ast.ClassDef)):
        return
    inner = set[str]()
    for child in ast.iter_child_nodes(node):
        _names(child, reads, inner)
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        reads -= inner  # they are its own
        return
    binds |= inner
