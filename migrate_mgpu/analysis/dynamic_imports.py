"""Modules that are imported by a name: ``importlib.import_module(...)`` and ``__import__(...)``.

A name that stands in the code is an import like any other. One that is only known
at run time leads to modules that no other file imports: those that it can be
belong to the program as well, or they would stay TF1's in a process that is not.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.core.prefilter import has_hit
from migrate_mgpu.core.records import field, record

IMPORTS = {"importlib.import_module", "builtins.__import__"}


@record(frozen=True, eq=False)
class NamedImport:
    """One such call.

    ``name`` is the absolute module that it names, None where that is not known;
    ``start`` is what an unknown name begins with. ``firm``: not under `try` or `if`.
    """

    node: ast.Call
    name: str | None
    start: str = ""
    firm: bool = True
    # What an unknown name may be: modules that run on TF2, and those that do not, which would
    # decide about a program that may never meet them.
    found: list[Module] = field(default_factory=list)
    gone: list[Module] = field(default_factory=list)


def named_imports(module: Module) -> list[NamedImport]:
    """Every import by a name in a module, in source order."""
    if not _may_import_by_name(module):
        return []
    names = module.names
    found: list[NamedImport] = []
    for call in names.calls:
        if not call.args or names.qualname(call.func) not in IMPORTS:
            continue
        firm = not any(isinstance(p, (ast.Try, ast.If)) for p in names.ancestors(call))
        name = _text(call.args[0])
        if name is not None:
            found.append(NamedImport(call, _absolute(name, call), "", firm))
        else:
            found.append(NamedImport(call, None, _start(call.args[0]), firm))
    return found


@fact_of_text
def _may_import_by_name(module: Module) -> bool:
    return "import_module" in module.source.text or "__import__" in module.source.text


def candidates(
    module: Module, unknown: NamedImport, strays: Iterable[Module], real: Callable[[Path], str]
) -> list[Module]:
    """The strays that an unknown name may be.

    They lie with the module or below it, or in a folder beside it that the module
    speaks of (``sys.path.append(os.path.join(ROOT, "models"))``). ``real`` gives a file's own path.
    """
    folder = os.path.dirname(real(module.path))
    text = module.source.text
    found: list[Module] = []
    for stray in strays:
        path = real(stray.path)
        place = os.path.dirname(path)
        inside = path.startswith(os.path.join(folder, ""))
        if stray is module or not (inside or os.path.dirname(place) == os.path.dirname(folder)):
            continue
        name = os.path.basename(place)
        named = f'"{name}"' in text or f"'{name}'" in text
        if not (inside or named):
            continue
        if stray.has_main_guard and not named and not unknown.start:
            continue  # a script of its own; where the module speaks of its folder, it tries itself
        # By its path: a folder without an `__init__.py` is a package as well.
        dotted = os.path.splitext(path)[0].replace(os.sep, ".")
        # What trains with Keras would decide about a program that may never meet it.
        if f".{unknown.start}" in f".{dotted}" and not stray.uses_keras_models:
            found.append(stray)
    return found


def strays(modules: Iterable[Module], data: Mapping[Path, bytes]) -> list[Module]:
    """Modules that no other file imports and that may serve to be imported.

    Those with a session, a config or an Estimator are programs of their own.
    """
    modules = list(modules)
    imported = {id(target) for module in modules for target in module.imported}
    return [
        module
        for module in modules
        if id(module) not in imported
        and module.path.suffix == ".py"
        and not has_hit(data[module.path])
    ]


def _absolute(name: str, call: ast.Call) -> str | None:
    """A relative name needs its package as a literal."""
    if not name.startswith("."):
        return name
    package = call.args[1] if len(call.args) > 1 else None
    for keyword in call.keywords:
        if keyword.arg == "package":
            package = keyword.value
    base = _text(package) if package is not None else None
    level = len(name) - len(name.lstrip("."))
    if base is None or level > len(base.split(".")):
        return None
    parts = base.split(".")[: len(base.split(".")) - level + 1]
    return ".".join([*parts, name.lstrip(".")])


def _start(node: ast.expr) -> str:
    """What a computed name begins with, as far as it names packages: `"models." + name`."""
    first: ast.expr | None = node
    if isinstance(first, ast.BinOp):
        first = first.left
    elif isinstance(first, ast.JoinedStr):
        first = first.values[0] if first.values else None
    text = _text(first) or ""
    text = text.partition("%")[0].partition("{")[0]
    return text[: text.rfind(".") + 1].lstrip(".")


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
