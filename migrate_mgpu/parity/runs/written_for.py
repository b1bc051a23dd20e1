"""What a program was written for, by its names: which TensorFlow, several workers, devices."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from migrate_mgpu.analysis.names import Names
from migrate_mgpu.analysis.symbols import symbol, table

_LATER = ("v2_only", "v2_shared")
_OF_WORKERS = ("CollectiveAllReduceStrategy", "MultiWorkerMirroredStrategy")
_OF_DEVICES = re.compile(r"gpu|device|strateg|replica|tower|distribut|horovod|hvd|cluster", re.I)


def says_compat_v1(program: Path, *folders: Path) -> bool:
    """Whether each module of the program that imports TensorFlow says ``compat.v1``.

    Args:
      folders: where modules are looked for, after the program's own.
    """
    importing = [tree for tree in _modules(program, (program.parent, *folders)) if _imports(tree)]
    return bool(importing) and all(map(_says_compat_v1, importing))


def names_later_ones(program: Path, *folders: Path) -> bool:
    """Whether a module of the program names something that TensorFlow 1.15 does not have.

    So does what this tool bridged: ``tf.config.list_physical_devices``.

    Args:
      folders: where modules are looked for, after the program's own.
    """
    return any(map(_names_later_ones, _modules(program, (program.parent, *folders))))


def names_workers(program: Path, *folders: Path) -> bool:
    """Whether a module of the program names a strategy of several workers.

    Args:
      folders: where modules are looked for, after the program's own.
    """
    return any(
        (isinstance(node, ast.Attribute) and node.attr in _OF_WORKERS)
        or (isinstance(node, ast.alias) and node.name.rpartition(".")[2] in _OF_WORKERS)
        for tree in _modules(program, (program.parent, *folders))
        for node in ast.walk(tree)
    )


def names_devices(program: Path, *folders: Path) -> bool:
    """Whether a module of the program may do something else where there are more devices.

    Where none has a name or a text about GPUs, devices, strategies or their like, it does the same
    on one device as on several. What Python 3 cannot parse may.

    Args:
      folders: where modules are looked for, after the program's own.
    """
    return any(
        tree is None or any(map(_OF_DEVICES.search, _words(tree)))
        for tree in _trees(program, (program.parent, *folders))
    )


def _words(tree: ast.Module) -> Iterator[str]:
    """The names and the texts of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, (ast.arg, ast.keyword)):
            yield node.arg or ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _names_later_ones(tree: ast.Module) -> bool:
    names, known = Names(tree), table()
    found = (symbol(names.qualname(n)) for n in ast.walk(tree) if isinstance(n, ast.Attribute))
    return any(one is not None and known.status(one.name) in _LATER for one in found)


def _modules(program: Path, folders: tuple[Path, ...]) -> Iterator[ast.Module]:
    """The program and the modules of its own that it imports, those of Python 3."""
    for tree in _trees(program, folders):
        if tree is not None:
            yield tree


def _trees(program: Path, folders: tuple[Path, ...]) -> Iterator[ast.Module | None]:
    """The program and the modules of its own that it imports; None for one that does not parse."""
    waiting, seen = [program], set()
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):  # Python 2
            yield None
            continue
        yield tree
        for name, level in _imported(tree):
            above = (path.parents[level - 1],) if level and level <= len(path.parents) else folders
            for folder in above:
                for part in _prefixes(name):
                    place = folder.joinpath(*part)
                    waiting += [place.with_suffix(".py"), place / "__init__.py"]


def _imported(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The names of imported modules, and of what may be one, with their leading dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield ".".join(filter(None, (node.module, alias.name))), node.level


def _prefixes(name: str) -> list[list[str]]:
    parts = name.split(".")
    return [parts[: i + 1] for i in range(len(parts))]


def _imports(tree: ast.Module) -> bool:
    return any(
        name.partition(".")[0] == "tensorflow" for name, level in _imported(tree) if not level
    )


def _says_compat_v1(tree: ast.Module) -> bool:
    if any(f"{name}.".startswith("tensorflow.compat.v1.") for name, _ in _imported(tree)):
        return True
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "v1"
        and isinstance(node.value, (ast.Attribute, ast.Name))
        and getattr(node.value, "attr", getattr(node.value, "id", "")) == "compat"
        for node in ast.walk(tree)
    )
