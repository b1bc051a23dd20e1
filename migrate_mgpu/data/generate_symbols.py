"""Generate `symbols.json`: what became of each public name of TF 1.15.

The facts are read from TensorFlow itself. Each runtime dumps its part, one
command (without TensorFlow) merges them; run in this folder:

    tf1.15 python            generate_symbols.py dump tf1.15.json
    tf2.15 python            generate_symbols.py dump tf2.15.json --names tf1.15.json
    tf2.21 python            generate_symbols.py dump tf2.21.json --names tf1.15.json
    tf2.21 + tf-keras python generate_symbols.py dump legacy.json --names tf1.15.json
    any python               generate_symbols.py merge tf1.15.json tf2.15.json tf2.21.json \\
                                 legacy.json -o symbols.json

The runtimes: tensorflow 1.15.5 on Python 3.7; tensorflow 2.15.1 and 2.21.0 on
3.11, each by itself; and 2.21.0 together with tf-keras 2.21, run with
TF_USE_LEGACY_KERAS=1. This file therefore stays Python 3.7-clean.

What the lists mean is written into the JSON, under `about`.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import json
import os
import pathlib
import sys
import types
from typing import Any, Iterator  # noqa: UP035 - Python 3.7

COMMANDS = [
    " ".join(line.split())
    for line in (__doc__ or "").replace("\\\n", " ").splitlines()
    if "generate_symbols.py" in line
]

MEANING = {
    "neutral": "the same object as tf.X and tf.compat.v1.X, on 2.15 and on 2.21",
    "modules": "modules that tf and tf.compat.v1 both have, on 2.15 and on 2.21: only the names "
    "below them count",
    "v1_absent": "tf.compat.v1.X works on 2.15 and on 2.21; tf.X does not exist on 2.21",
    "v1_differs": "tf.compat.v1.X works on 2.15 and on 2.21; tf.X is another object on 2.21",
    "v1_differs_tf2.15": "as neutral on 2.21, but tf.X is absent or another object on 2.15",
    "legacy_keras": "tf.compat.v1.X works on 2.15, on 2.21 only with tf-keras and "
    "TF_USE_LEGACY_KERAS=1",
    "tf2.15_only": "tf.compat.v1.X works on 2.15 only",
    "gone": "tf.compat.v1.X works neither on 2.15 nor on 2.21",
    "v2_only": "plain tf.X of 2.21, not in TF 1.15, and tf.compat.v1.X of 2.15 or 2.21 is absent "
    "or another object",
    "v2_shared": "plain tf.X of 2.21, not in TF 1.15, but the same object as tf.compat.v1.X on "
    "2.15 and on 2.21",
    "private_modules_gone": "tensorflow.* modules and packages of 1.15 without a file: {gone: on "
    "2.15 and 2.21, tf2.15_only: on 2.21}; what is below them is gone too",
    "private_names_gone": "{module of all three versions: {a public function, class or constant "
    "that it had on 1.15: gone or tf2.15_only}}, without keras, gen_* and *_pb2",
}
QUERY = (
    "Names are written without tf. or tf.compat.v1. in front. Class members are not listed: "
    "strip dotted parts from the right until a name is found. raw_ops is one entry, contrib too. "
    "Each TF 1.15 name is in exactly one of the lists from neutral to gone. 'The same "
    "object' includes equal numbers and strings, and functions that unwrap to the same one."
)

DUNDERS = ("__version__", "__git_version__", "__compiler_version__", "__cxx11_abi_flag__")
FUTURE = ("absolute_import", "division", "print_function")
SKIPPED = ("contrib", "raw_ops", "compat.v1", "compat.v2")
API_MODULES = ("tensorflow._api", "tensorflow_core._api", "tensorflow_estimator", "keras")
FLAGS = ("flags", "app.flags")  # a module of TensorFlow's inside that is also its API
ROOTS = ("compiler", "core", "python", "tools")  # folders of modules that are not its API
# Not keras: some of its modules make their names when they are imported.
PRIVATE_NAMES_FROM = ["client", "data", "eager", "framework", "layers", "ops"]
PRIVATE_NAMES_FROM += ["platform", "training", "util"]
TOOLS = ("LazyLoader", "collections_abc", "deprecated", "deprecated_args", "tf_export")


# --- one runtime's part ------------------------------------------------------


def is_api(module: types.ModuleType, name: str) -> bool:
    """Whether this module is part of the API, not something a module imported."""
    where = module.__name__.replace("tensorflow_core.", "tensorflow.", 1)
    if where.startswith("tensorflow.python.keras.api") or "tensorboard.summary" in where:
        return True
    return where.startswith(API_MODULES) or name in FLAGS


def walk(module: Any, prefix: str = "") -> Iterator[tuple[str, bool]]:
    """Each public name below `module`, and whether it is an API module."""
    for part in dir(module):
        name = prefix + part
        if name in SKIPPED or part in FUTURE or (part[0] == "_" and name not in DUNDERS):
            continue
        try:
            value = getattr(module, part)
        except Exception:
            continue
        if not isinstance(value, types.ModuleType):
            yield name, False
            continue
        dir(value)  # a lazy module learns its name when it is loaded
        if is_api(value, name):
            yield name, True
            yield from walk(value, name + ".")
        elif name in ("pywrap_tensorflow", "test.mock"):
            yield name, False  # not API, and yet used as if it were


def find(root: Any, name: str) -> list[Any]:
    """The object of that name in a list, or an empty list."""
    try:
        return [functools.reduce(getattr, name.split("."), root)]
    except Exception:  # absent, or lazily refused: "not available with Keras 3"
        return []


def compare(tf: Any, name: str) -> str:
    """`1` if compat.v1 has the name, `2` if plain tf has it, `=` if it is the same object."""
    unwrap = importlib.import_module("tensorflow.python.util.tf_decorator").unwrap
    old, new = find(tf.compat.v1, name), find(tf, name)
    same = False
    if old and new:
        a, b = old[0], new[0]
        same = a is b or (isinstance(a, (int, float, str)) and type(a) is type(b) and a == b)
        if not same and callable(a) and callable(b) and not isinstance(a, type):
            same = unwrap(a)[1] is unwrap(b)[1]
    return ("1" if old else "") + ("2" if new else "") + ("=" if same else "")


def module_files(
    package: pathlib.Path, roots: tuple[str, ...] = ("python",)
) -> dict[str, pathlib.Path]:
    """Dotted name below `tensorflow` -> file, for all modules in these folders and the top."""
    found = {}
    for path in sorted(file for root in roots for file in package.glob(root + "/**/*")):
        name = path.relative_to(package).as_posix()
        if path.name == "__init__.py":
            found[path.relative_to(package).parent.as_posix().replace("/", ".")] = path
        elif path.suffix in (".py", ".so"):
            found[name.rsplit(".", 1)[0].replace("/", ".")] = path
    for path in package.glob("*/__init__.py"):
        found[path.parent.name] = path
    return found


def top_level_names(
    module: str, files: dict[str, pathlib.Path], seen: tuple[str, ...] = ()
) -> tuple[set[str], set[str]]:
    """Public names that belong to the module, and others that are also in its namespace.

    The first: defined there, or imported from another module of TensorFlow's
    that is not one of its own tools. The second: imported modules and the rest.
    """
    path = files.get(module)
    if path is None or path.suffix != ".py" or module in seen:
        return set(), set()
    defined: set[str] = set()
    imported: set[str] = set()
    body = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while body:
        node = body.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            lazy = isinstance(node.value, ast.Call) and "LazyLoader" in ast.dump(node.value.func)
            (imported if lazy or "gen_" in module else defined).update(names)
        elif isinstance(node, (ast.If, ast.Try)):
            body += ast.iter_child_nodes(node)  # type: ignore[arg-type]
        elif isinstance(node, ast.Import):
            imported.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = (node.module or "").replace("tensorflow.", "", 1)
            if [alias.name for alias in node.names] == ["*"]:
                below, more = top_level_names(source, files, (*seen, module))
                defined |= below
                imported |= more
                continue
            for alias in node.names:
                is_module = (source + "." + alias.name) in files or alias.name.endswith("_pb2")
                own = (node.module or "").startswith("tensorflow.python")
                passed_on = own and not is_module and alias.name not in TOOLS
                (defined if passed_on else imported).add(alias.asname or alias.name)
    kept = {n for n in defined if n[0] != "_" and not n.endswith("_eager_fallback")}
    return kept, {n for n in imported if n[0] != "_"}


def dump(out: pathlib.Path, names_from: pathlib.Path | None) -> None:
    """Write what the merge needs from the TensorFlow of this interpreter."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    tf: Any = importlib.import_module("tensorflow")
    result: dict[str, Any] = {"tensorflow": tf.__version__}
    result["python"] = "{}.{}.{}".format(*sys.version_info[:3])
    keras = tf.keras.Model.__module__.split(".")[0]
    result["keras"] = keras + " " + sys.modules[keras].__version__
    names = dict(walk(tf))
    names["raw_ops"] = True
    if names_from:
        old = json.loads(names_from.read_text(encoding="utf-8"))["names"]
        result["lookup"] = {name: compare(tf, name) for name in old}
        short = {n for n in names if n.count(".") < 3 and not n.startswith("compat")}
        result["v2"] = {name: compare(tf, name) for name in short - set(old)}
        result["v2_modules"] = sorted(name for name, module in names.items() if module)
    else:
        names["contrib"] = True
        result["names"] = names
    package = pathlib.Path(tf.python.__file__ if names_from is None else tf.__file__).parent
    package = package.parent if names_from is None else package
    files = module_files(package)
    result["modules"] = sorted(module_files(package, ROOTS))
    result["private"] = {
        module: [sorted(part) for part in top_level_names(module, files)]
        for module in files
        if module.startswith(tuple("python." + part for part in PRIVATE_NAMES_FROM))
        and files[module].suffix == ".py"
        and not module.endswith("_pb2")
        and not module.rpartition(".")[2].startswith("gen_")
    }
    out.write_text(json.dumps(result, indent=0, sort_keys=True), encoding="utf-8")


# --- all parts together ------------------------------------------------------


def with_modules(lookup: dict[str, str], modules: set[str]) -> dict[str, str]:
    """The look-ups, where a module only counts as there if a name below it is."""
    result = dict(lookup)
    for name in modules - {"raw_ops"}:
        below = [v for n, v in lookup.items() if n.startswith(name + ".") and n not in modules]
        result[name] = "".join(c for c in "12" if c in lookup[name] and any(c in v for v in below))
    return result


def classify(on215: str, on221: str, legacy: str, is_module: bool) -> str:
    """The list that a TF 1.15 name belongs to."""
    if "1" in on215 and "1" in on221:
        if is_module and "2" in on215 and "2" in on221:
            return "modules"
        if "=" in on221:
            return "neutral" if "=" in on215 else "v1_differs_tf2.15"
        return "v1_differs" if "2" in on221 else "v1_absent"
    if on221:
        raise ValueError("in 2.21, but not in compat.v1 of both: make a list for it")
    if "1" in on215 and "1" in legacy:
        return "legacy_keras"
    return "tf2.15_only" if "1" in on215 else "gone"


def topmost(modules: set[str]) -> list[str]:
    """The modules without those whose package is listed."""
    return sorted("tensorflow." + m for m in modules if not set(parents(m)) & modules)


def parents(name: str) -> Iterator[str]:
    """`a.b`, `a` for `a.b.c`."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def private_names(v1: Any, v215: Any, v221: Any) -> dict[str, dict[str, str]]:
    """What modules of all three versions have lost: on both, or only on 2.21."""
    result: dict[str, dict[str, str]] = {}
    for module in sorted(set(v1["private"]) & set(v215["private"]) & set(v221["private"])):
        before = set(v1["private"][module][0])
        mid = set().union(*v215["private"][module])
        lost = sorted(before - set().union(*v221["private"][module]))
        if lost:
            kinds = {name: "tf2.15_only" if name in mid else "gone" for name in lost}
            result["tensorflow." + module] = kinds
    return result


def merge(parts: list[pathlib.Path]) -> dict[str, Any]:
    """The content of `symbols.json`."""
    v1, v215, v221, legacy = (json.loads(part.read_text(encoding="utf-8")) for part in parts)
    keys = ("tensorflow", "python", "keras")
    order = ("tf1.15", "tf2.15", "tf2.21", "tf2.21 with tf-keras")
    lists: dict[str, Any] = {kind: [] for kind in MEANING}
    modules = {name for name, is_module in v1["names"].items() if is_module}
    on = [with_modules(part["lookup"], modules) for part in (v215, v221, legacy)]
    for name in v1["names"]:
        kind = classify(on[0][name], on[1][name], on[2][name], name in modules)
        lists[kind].append(name)
    for name, found in v221["v2"].items():
        if name not in v221["v2_modules"]:
            shared = "=" in found and "=" in v215["v2"].get(name, "")
            lists["v2_shared" if shared else "v2_only"].append(name)
    for kind in lists:
        lists[kind] = sorted(lists[kind])
    lost = set(v1["modules"]) - set(v221["modules"])
    lists["private_modules_gone"] = {
        "gone": topmost(lost - set(v215["modules"])),
        "tf2.15_only": topmost(lost & set(v215["modules"])),
    }
    lists["private_names_gone"] = private_names(v1, v215, v221)
    about = {
        "what": "What became of each public name of TF 1.15; generated, do not edit.",
        "query": QUERY,
        "lists": MEANING,
        "commands": COMMANDS,
        "runtimes": {
            runtime: {key: part[key] for key in keys if part[key]}
            for runtime, part in zip(order, (v1, v215, v221, legacy))
        },
        "private_names_from": ["tensorflow.python." + part for part in PRIVATE_NAMES_FROM],
    }
    return {"about": about, **lists}


def layout(data: dict[str, Any]) -> str:
    """JSON with one entry a line for `about`, and lines of bounded length for lists."""
    lines = []
    for key, value in data.items():
        if key == "about":
            text = json.dumps(value, indent=1)
        elif isinstance(value, dict):
            rows = [json.dumps(k) + ": " + json.dumps(v) for k, v in value.items()]
            text = "{\n" + ",\n".join(rows) + "\n}"
        else:
            text = "[\n" + ",\n".join(json.dumps(v) for v in value) + "\n]"
        lines.append(json.dumps(key) + ": " + text)
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    """The command line; see the head of this file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command")
    one = commands.add_parser("dump", help="write the part of the runtime that runs this")
    one.add_argument("out", type=pathlib.Path)
    one.add_argument("--names", type=pathlib.Path, help="the dump of TF 1.15, for a TF 2 runtime")
    both = commands.add_parser("merge", help="write symbols.json")
    both.add_argument("parts", nargs=4, type=pathlib.Path)
    both.add_argument("-o", "--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if options.command == "dump":
        dump(options.out, options.names)
    elif options.command == "merge":
        options.out.write_text(layout(merge(options.parts)), encoding="utf-8")
    else:
        parser.error("dump or merge?")


if __name__ == "__main__":
    main()
