"""Makes ``private_names.json`` out of the files of three TensorFlows; imports none of them.

    python migrate_mgpu/data/generate_private_names.py TF_1_15 TF_2_15 NEWEST EARLY...

Each is the folder that has ``python/ops``: ``site-packages/tensorflow_core`` of 1.15,
``site-packages/tensorflow`` of the others. The early ones are 0.12.1, 1.0.1 and 1.4.1.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDERS = (
    "compiler", "core", "python.client", "python.data", "python.eager", "python.framework",
    "python.layers", "python.ops", "python.platform", "python.training", "python.util", "tools",
)  # fmt: skip
FUTURE = ("absolute_import", "division", "print_function")
ABOUT = {
    "what": "Private modules and private names of TensorFlow; generated, do not edit.",
    "command": "python migrate_mgpu/data/generate_private_names.py TF_1_15 TF_2_15 NEWEST EARLY...",
    "folders": "the folders that are looked at, by their paths below tensorflow",
    "modules": "each module there of 1.15, of 2.15 or of 2.21, by its path below tensorflow",
    "members": "{folder: other names that its package has, in one of the three}",
    "names": "{module: names with an underscore in front that both 2.15 and 2.21 have}",
    "names_2.15": "{module: those that 2.15 has and 2.21 has not}",
    "packages": "{package of Keras that all three have: names that it imports in 1.15 alone}",
    "early": "{module: other names that 0.12, 1.0 or 1.4 defined, and none of the three has}",
}


def names_of(path: Path) -> set[str]:
    """The names that a module binds at its top level."""
    found: set[str] = set()
    body: list[ast.AST] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while body:
        node = body.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, (ast.If, ast.Try)):
            body += ast.iter_child_nodes(node)
    return found


def modules_of(root: Path) -> dict[str, set[str]]:
    """The names of each module, by its path below ``tensorflow``."""
    found: dict[str, set[str]] = {}
    for folder in FOLDERS:
        for path in sorted((root / folder.replace(".", "/")).rglob("*")):
            name = path.relative_to(root).with_suffix("").as_posix().replace("/", ".")
            if path.suffix == ".py":
                found[name.removesuffix(".__init__")] = names_of(path)
            elif path.suffix == ".so":
                found[name.partition(".cpython")[0]] = set()
    return found


def with_stars(root: Path, modules: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same, with what each module has by ``from tensorflow... import *``."""
    found = {module: set(names) for module, names in modules.items()}
    for module in sorted(modules, reverse=True):
        path = root / f"{module.replace('.', '/')}.py"
        if not path.exists():
            path = root / module.replace(".", "/") / "__init__.py"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for base in re.findall(r"^from tensorflow\.([\w.]+) import \*", text, re.MULTILINE):
            found[module] |= {name for name in modules.get(base, ()) if name[0] != "_"}
    return found


def defined(path: Path) -> set[str]:
    """The functions and classes of a module without an underscore in front."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    made = (one.name for one in body if isinstance(one, (ast.FunctionDef, ast.ClassDef)))
    return {name for name in made if name[0] != "_"}


def early(root: Path, later: Sequence[dict[str, set[str]]]) -> dict[str, set[str]]:
    """What modules of an early release defined, which later ones still have without it."""
    found = {}
    for module in later[1]:
        path = root / f"{module.replace('.', '/')}.py"
        if path.exists() and module != "python.platform.flags":  # which has all of absl's
            found[module] = defined(path).difference(*(one.get(module, set()) for one in later))
    return found


def of_packages(roots: Sequence[Path]) -> dict[str, set[str]]:
    """What Keras's packages import in 1.15, and what neither of the others has there.

    Of packages alone: some of its modules make their names when they are imported.
    """
    old, *later = [
        {
            path.parent.relative_to(root).as_posix().replace("/", "."): path
            for path in (root / "python/keras").rglob("__init__.py")
        }
        for root in roots
    ]
    found = {}
    for package, path in old.items():
        if all(package in one for one in later):
            has = [names_of(one[package]) for one in later]
            has += [{beside.stem for beside in one[package].parent.iterdir()} for one in later]
            names = names_of(path).difference(*has, FUTURE)
            found[package] = {name for name in names if name[0] != "_"}
    return found


def _private(names: set[str]) -> list[str]:
    return sorted(name for name in names if name[0] == "_" and name[:2] != "__")


def main() -> None:
    """The command line; see the head of this file."""
    old, mid, new = (modules_of(Path(folder)) for folder in sys.argv[1:4])
    both = {m: _private(mid[m] & new[m]) for m in mid if m in new}
    only = {m: _private(old[m] & mid[m] - new.get(m, set())) for m in old if m in mid}
    lines = [f'"about": {json.dumps(ABOUT, indent=1)}', f'"folders": {json.dumps(FOLDERS)}']
    known = sorted({*old, *mid, *new})
    lines.append('"modules": [\n' + ",\n".join(map(json.dumps, known)) + "\n]")
    members = {
        folder: sorted(set().union(*(one.get(folder, set()) for one in (old, mid, new))))
        for folder in FOLDERS
    }
    roots = [Path(folder) for folder in sys.argv[1:4]]
    later = [with_stars(root, names) for root, names in zip(roots, (old, mid, new))]
    lost: dict[str, set[str]] = {}
    for folder in sys.argv[4:]:
        for module, names in early(Path(folder), later).items():
            lost.setdefault(module, set()).update(names)
    gone = {module: sorted(names) for module, names in lost.items()}
    packages = {package: sorted(names) for package, names in of_packages(roots).items()}
    rows_of = (
        ("members", members),
        ("names", both),
        ("names_2.15", only),
        ("packages", packages),
        ("early", gone),
    )
    for key, found in rows_of:
        rows = [f"{json.dumps(m)}: {json.dumps(n)}" for m, n in sorted(found.items()) if n]
        lines.append(f'"{key}": {{\n' + ",\n".join(rows) + "\n}")
    target = Path(__file__).with_name("private_names.json")
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
