"""What becomes of the session programs of real code, as tables.

    python tests/corpus/sessions.py FOLDER ... [--list]

Each ``FOLDER`` has one repository a sub-folder, which is read, and not changed; what
``--check --output-format json`` said of it may lie beside it, as ``NAME.json``. A repository that
lies in several folders counts once.

A *program* is an entry point with the modules of the run that it imports, as the tool tells them.
It counts where one of these files makes a session (`Session`, `InteractiveSession`,
`MonitoredTrainingSession`, `MonitoredSession`, `SingularMonitoredSession`, `Supervisor`) and none
makes an Estimator or fits a Keras model.

It *trains* where one of these files calls `minimize`, `apply_gradients`, `optimize_loss`,
`create_train_op` or `assign_sub`, or a `train_op` of any kind: what a run fetches is called so
(`train`, `train_op`, `optim`, `self.train_step` ...). So a program that only restores, but imports
the module whose class also makes the optimizer, is counted as one that trains: the figure is
rather too large than too small.

Of those that train,

- a *straight script* has one file, in which all runs of sessions, and all that trains, stand in one
  scope (the module, or one function), and no other function or class builds anything;
- a *single-scope builder* has all its runs in one scope of the entry's file, which is no method,
  and what they run is built by functions, by classes or in other modules;
- all *others* hold a session in an object or hand it to functions.

Prints Markdown; with ``--list`` each program with its kind, state and first reason.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from estimators import result_of, table

from migrate_mgpu.analysis.project import Project

_SESSIONS = {
    "Session",
    "InteractiveSession",
    "MonitoredTrainingSession",
    "MonitoredSession",
    "SingularMonitoredSession",
    "Supervisor",
}
_OTHERS = {"fit_generator", "train_and_evaluate", "Estimator", "TPUEstimator", "compile"}
_TRAINS = {"minimize", "apply_gradients", "optimize_loss", "create_train_op", "assign_sub"}
_TRAIN_OP = re.compile(r"(^|_)(train|training|optim|optimizer|optimize)(_?(op|step))?s?$", re.I)
_SESSION_NAME = re.compile(r"sess", re.I)
_MAKES = re.compile(rf"\b({'|'.join(sorted(_SESSIONS))})\(")
_LIMIT = 2_000_000  # bytes of a file
_CODE = "MGPU205"
_STAYS = ("kept", "refused")


class Scopes:
    """Where the code of some files makes, runs and trains."""

    def __init__(self) -> None:
        self.sessions = 0
        self.others = 0
        self.trains: set[tuple[int, int]] = set()
        self.fetches_training = False
        self.runs: set[tuple[int, int]] = set()  # scopes, by file and line; a module's line is 0
        self.in_methods = False
        self.builders: set[tuple[int, int]] = (
            set()
        )  # scopes that call TensorFlow for more than this

    def add(self, number: int, tree: ast.AST) -> None:
        sessions = {name for node in ast.walk(tree) for name in _made_sessions(node)}
        self._visit(number, tree, 0, False, sessions)

    def _visit(
        self, number: int, node: ast.AST, scope: int, method: bool, sessions: set[str]
    ) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inside = isinstance(node, ast.ClassDef) or method
                self._visit(number, child, child.lineno, inside, sessions)
                continue
            if isinstance(child, ast.Call):
                self._call(number, child, scope, method, sessions)
            self._visit(number, child, scope, method, sessions)

    def _call(
        self, number: int, call: ast.Call, scope: int, method: bool, sessions: set[str]
    ) -> None:
        name = _last(call.func)
        here = number, scope
        if name in _SESSIONS:
            self.sessions += 1
        if name in _OTHERS:
            self.others += name != "compile" or any(k.arg == "loss" for k in call.keywords)
        if name in _TRAINS:
            self.trains.add(here)
        elif name in ("placeholder", "Variable", "get_variable", "matmul", "dense", "conv2d"):
            self.builders.add(here)
        if name != "run" or not isinstance(call.func, ast.Attribute):
            return
        base = _last(call.func.value)
        if base in sessions or _SESSION_NAME.search(base):
            self.runs.add(here)
            self.in_methods |= method
            for arg in call.args[:1] or [k.value for k in call.keywords if k.arg == "fetches"]:
                for one in ast.walk(arg):
                    if isinstance(one, (ast.Name, ast.Attribute)) and _TRAIN_OP.search(_last(one)):
                        self.fetches_training = True


def _made_sessions(node: ast.AST) -> Iterator[str]:
    """The names that are bound to a session that is made there."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        if _last(node.value.func) in _SESSIONS:
            yield from (_last(target) for target in node.targets)
    elif isinstance(node, ast.withitem) and isinstance(node.context_expr, ast.Call):
        if _last(node.context_expr.func) in _SESSIONS | {"managed_session"}:
            if node.optional_vars is not None:
                yield _last(node.optional_vars)


def _last(node: ast.expr) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def programs(repository: Path, found: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """The entry, kind, state and first reason of each program that makes a session."""
    known = {program["entry"]: program for program in found["programs"]}
    said: dict[str, list[str]] = {}
    for one in found["findings"]:
        if one["code"] == _CODE and one["state"] in _STAYS:
            said.setdefault(one["path"], []).append(one["message"])
    before = Path.cwd()
    os.chdir(repository)  # modules are looked up in folders
    try:
        project = Project([(str(path), path.read_bytes()) for path in _files(Path())])
        paths = {
            str(program.entry.path): [
                (module.path, module.source.tree) for module in program.modules
            ]
            for program in project.programs()
        }
        for entry, program in known.items():
            files = paths.get(entry) or _alone(Path(entry))
            kind = kind_of([tree for _, tree in files])
            if not kind and not paths.get(entry):  # Python 2
                text = Path(entry).read_text("utf-8", "replace")
                if _MAKES.search(text):
                    trains = any(f".{word}(" in text for word in _TRAINS)
                    kind = "others that train" if trains else "only apply"
            if kind:
                told = [
                    m for path, _ in files or [(Path(entry), None)] for m in said.get(str(path), ())
                ]
                reason = next(iter([*told, *program["reasons"]]), "")
                yield entry, kind, program["state"].partition(",")[0], reason
    finally:
        os.chdir(before)


def kind_of(trees: Iterable[ast.AST]) -> str:
    """The kind of a program by its files; nothing where it is no session program."""
    scopes = Scopes()
    for number, tree in enumerate(trees):
        scopes.add(number, tree)
    if not scopes.sessions or scopes.others:
        return ""
    if not scopes.trains and not scopes.fetches_training:
        return "only apply"
    if len(scopes.runs) == 1 and not scopes.in_methods and next(iter(scopes.runs))[0] == 0:
        if scopes.trains | scopes.builders <= scopes.runs:
            return "straight scripts"
        return "single-scope builders"
    return "others that train"


def _files(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".ipynb")
        and not any(part.startswith(".") for part in path.parts)
        and path.is_file()
        and path.stat().st_size < _LIMIT
    ]


def _alone(path: Path) -> list[tuple[Path, ast.AST]]:
    try:
        return [(path, ast.parse(path.read_bytes()))]
    except (SyntaxError, ValueError):
        return []


def main(arguments: list[str]) -> int:
    warnings.simplefilter("ignore")
    listed = "--list" in arguments
    repositories: dict[str, Path] = {}
    for folder in arguments:
        if folder != "--list":
            for one in Path(folder).iterdir():
                if one.is_dir():
                    repositories.setdefault(one.name.lower(), one.absolute())
    rows: list[tuple[str, Counter[str]]] = []
    kinds: dict[str, Counter[str]] = {}
    reasons: Counter[str] = Counter()
    for _, repository in sorted(repositories.items()):
        states: Counter[str] = Counter()
        try:
            found = result_of(repository)
        except ValueError:  # no JSON
            print(f"{repository.name}: nothing was said", file=sys.stderr)
            continue
        for entry, kind, state, reason in programs(repository, found):
            kinds.setdefault(kind, Counter())[state] += 1
            if listed:
                print(f"{repository.name}\t{entry}\t{kind}\t{state}\t{reason}")
            if kind != "only apply":
                states[state] += 1
                if state != "native":
                    short = re.sub(
                        r"`[^`]*`", "`...`", reason.partition("on the bridge: ")[2] or reason
                    )
                    reasons[short or "another part of its program"] += 1
        if states:
            rows.append((repository.name.replace("+", "/", 1), states))
    if listed:
        return 0
    print("\n".join(table("that train, in", rows)))
    print()
    print("\n".join(table("programs", sorted(kinds.items(), reverse=True))))
    print()
    print("| first reason | programs that train |\n| --- | --- |")
    for reason, count in reasons.most_common(40):
        print(f"| {reason} | {count} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
