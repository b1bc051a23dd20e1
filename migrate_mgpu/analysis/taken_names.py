"""What programs take of their modules: names, and what these are made of."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Union

from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.project import Program, Project
from migrate_mgpu.analysis.scopes import walk

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
# `tf.app.run()`, `unittest.main()`, `fire.Fire()`, and Python's own.
_FINDERS = {
    "run", "main", "Fire", "globals", "locals", "vars", "eval", "exec", "getattr", "dir",
    "__import__", "import_module", "run_module", "run_path",
}  # fmt: skip
Import = tuple[Union[ast.Import, ast.ImportFrom], ast.alias, bool]


def imports_of(importer: Module, module: Module, project: Project) -> list[Import]:
    """What a module imports of another one: a name, and whether that is the module itself."""
    found: list[Import] = []
    path = module.path
    own = path.parent.name if path.name == "__init__.py" else path.stem
    for statement in importer.names.imports:
        base = importer.names.absolute(statement) if isinstance(statement, ast.ImportFrom) else ""
        for alias in statement.names:
            dotted = f"{base}.{alias.name}".lstrip(".")
            named = dotted.rpartition(".")[2] == own
            if base and module in project.resolve(importer, base)[-1:]:
                found.append((statement, alias, False))  # `from model import model`, too
            elif named and module in project.resolve(importer, dotted)[-1:]:
                found.append((statement, alias, True))
    return found


class Taken:
    """The parts of its modules that a program comes to, from its entry point on.

    Of an imported module these are the statements that run with its import, and the functions,
    classes and variables that something else of the program names. Of the entry point it is all:
    others may call what it does not. With ``runs`` it is what it runs itself.
    """

    def __init__(self, program: Program, project: Project, runs: bool = False) -> None:
        self.program = program
        self.project = project
        self.names: dict[Module, set[str]] = {}  # that other modules take
        self._parts: dict[Module, dict[ast.stmt, None]] = {}
        self._of: dict[Module, dict[str, list[ast.stmt]]] = {}
        self._waiting: list[tuple[Module, ast.stmt]] = []  # known parts that were not looked at
        for module in program.modules:
            own = module is program.entry
            self._parts[module] = {}
            self.names[module] = set()
            every = own and not runs
            parts = (one for one in module.tree.body if every or _runs(one, own))
            self._add(module, parts)
        self._imports = {
            (one, other): imports_of(one, other, project)
            for one in program.modules
            for other in one.imported
            if other in self.names and other is not one
        }
        while self._waiting:
            self._follow()
            self._import()

    def _add(self, module: Module, statements: Iterable[ast.stmt]) -> None:
        parts = self._parts[module]
        for statement in statements:
            if statement not in parts:
                parts[statement] = None
                self._waiting.append((module, statement))

    def _follow(self) -> None:
        """Adds what the known parts name in their own module, and so on."""
        while self._waiting:
            module, statement = self._waiting.pop()
            for name in _mentioned(module)[statement]:
                self._add(module, top_level(module, name))

    def _import(self) -> None:
        """Adds what the known parts name of other modules."""
        for (importer, module), imports in self._imports.items():
            for statement, alias, is_module in imports:
                taken = self._named(importer, module, statement, alias, is_module)
                for name in taken - self.names[module]:
                    self._add(module, top_level(module, name))
                self.names[module] |= taken

    def _named(
        self, importer: Module, module: Module, statement: ast.stmt, alias: ast.alias, whole: bool
    ) -> AbstractSet[str]:
        """The names that known parts of a module take of another one by one import."""
        names = importer.names
        if alias.name == "*":
            return module.names.module_scope.bindings.keys()
        local = alias.asname or alias.name.partition(".")[0]
        scope = names.scope_at(statement)
        mentions = [m for m in names.mentions(local, scope) if self._is_known(importer, m)]
        if not whole:
            return {alias.name} if mentions or local in self.names[importer] else set()
        found: set[str] = set()
        for mention in mentions:
            node: ast.AST = mention
            for _ in range(1 if alias.asname else alias.name.count(".") + 1):
                node = names.parents[node]
                if not isinstance(node, ast.Attribute):  # it is handed on
                    return module.names.module_scope.bindings.keys()
            assert isinstance(node, ast.Attribute)
            found.add(node.attr)
        return found

    def _is_known(self, module: Module, node: ast.AST) -> bool:
        around = (node, *module.names.ancestors(node))
        return any(one in self._parts[module] for one in around)

    def of(self, module: Module) -> dict[str, list[ast.stmt]]:
        """The names of a module that the program comes to, with the statements that bind them.

        Callers must not change the answer.
        """
        if module not in self._of:
            self._of[module] = self._names_of(module)
        return self._of[module]

    def _names_of(self, module: Module) -> dict[str, list[ast.stmt]]:
        parts = self._parts[module]
        bindings = module.names.module_scope.bindings
        every = {name: top_level(module, name) for name in bindings}
        known = {name: found for name, found in every.items() if any(s in parts for s in found)}
        return {**{name: [] for name in self.names[module]}, **known}


def top_level(module: Module, name: str) -> list[ast.stmt]:
    """The statements of a module that give one of its names a meaning."""
    bindings = module.names.module_scope.bindings.get(name, ())
    return [module.names.statement(binding.node) for binding in bindings]


@fact_of_text
def _mentioned(module: Module) -> dict[ast.stmt, set[str]]:
    """The names that statements mention, of those that stand at the top or bind a name there."""
    bound = (one for name in module.names.module_scope.bindings for one in top_level(module, name))
    return {
        statement: {part.id for part in walk(statement) if isinstance(part, ast.Name)}
        for statement in {*module.tree.body, *module.names.imports, *bound}
    }


def _runs(statement: ast.stmt, as_program: bool) -> bool:
    """Whether a statement of a module runs with its import, and does more than to define.

    ``as_program``: or where the module is the program.
    """
    defines = isinstance(statement, (*_DEFINED, *_IMPORTS))
    return not defines and (as_program or not is_main_guard(statement))


def finds_functions(module: Module) -> bool:
    """Whether a program may call functions of its module that it does not name."""
    called = {module.names.qualname(call.func) or "" for call in module.names.calls}
    return any(name.rpartition(".")[2] in _FINDERS for name in called)
