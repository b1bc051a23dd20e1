"""Does what the tool says run on TF2 run there? Every migrated program of real code, imported.

    python tests/corpus/claims.py FOLDER [NAME ...]

``FOLDER`` has one repository a sub-folder; each is migrated in place, on a copy. Programs that
are said to run are imported on 2.15 and on the newest TensorFlow, third-party modules stubbed
(``importer.py``) but for tf-slim, and for tf-keras where it is said to be needed. A claim is false
when a program fails by a name of TensorFlow's or Keras's, by one that Python, NumPy or SciPy have
no more, by a module of the run, or because TF1's code meets TF2's behaviour; unless a finding of
the claim (MGPU908) names what it fails by: then it is told. A name that its author's file never
binds is the author's mistake. Exit status 1 with any that is false.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from test_corpus import contents_of, repositories

from migrate_mgpu import runtimes
from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.run.claims import CODE
from migrate_mgpu.run.migrate import migrate
from migrate_mgpu.source import notebook
from migrate_mgpu.source.source import SourceError

IMPORTER = Path(__file__).with_name("importer.py")
FALSE = re.compile(
    r"module '(tensorflow|keras)[\w.]*' has no attribute|\b(tensorflow|keras)\.[\w.]+"
    r"|cannot import name .* from '(tensorflow|keras)|[Ee]ager|tf\.function|disable_v2|placeholder"
    r"|Keras 3|tf\.layers|compat\.v1|No module named"
    r"|DuplicateFlagError|IllegalFlagValueError: flag --\w+=[^<]|AttributeError: _parse_flags"
    r"|was removed in the NumPy"
    r"|module '[\w.]+' has no attribute|name '\w+' is not defined|SyntaxError|TabError"
    r"|'(bytes|dict|dict_\w+|filter|map|range|str|zip)' object (has no|is not)"
    r"|cannot import name '\w+' from '(collections|inspect|scipy|numpy|itertools|string)"
)
_LACKS = re.compile(r"module '([\w.]+)' has no attribute '(\w+)'")
_WORDS = re.compile(r"['`]([\w.]+)['`]")
_UNQUOTED = re.compile(r"(?:flag --|AttributeError: )(\w+)(?==|$)")

# Runtimes, what a claim says of them, what is installed there, and whether Keras 2 is chosen.
SLIM, KERAS = "tf-slim==1.1.0", f"tf-keras=={runtimes.NEWEST_TENSORFLOW.rpartition('.')[0]}.*"
RUNS = (
    ("tf2.15", "TF 2.15", [SLIM], False),
    ("tf2-latest", " and newest", [SLIM], False),
    ("tf2-latest", "newest TF with tf-keras", [SLIM, KERAS], True),
)


def jobs_of(repository: Path, folder: Path) -> list[dict[str, Any]]:
    """Migrates a copy; one job for each program that is said to run."""
    shutil.copytree(repository, folder, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    given = contents_of(folder)
    own = {Path(path).stem for path, _ in given} | {
        part for path, _ in given for part in Path(path).relative_to(folder).parts[:-1]
    }
    result = migrate(given, bridge=True, write=True)
    roots = {_root(Path(path).parent) for path, _ in given}
    return [
        {
            "entry": str(_script(program.entry)),
            "root": str(folder),
            "own": sorted(own),
            "package": _dotted(program.entry),
            "path": [
                *_nearest(
                    program.entry,
                    {_root(path.parent) for path in program.paths},
                    {path.parent for path in program.paths},
                ),
                *_nearest(program.entry, roots, {Path(path).parent for path, _ in given}),
            ],
            "above": [
                str(one)
                for one in _started_from(program.entry).parents
                if folder in (one, *one.parents)
            ],
            "state": program.state,
            "runs_on": program.runs_on,
            "told": _told(result, set(program.paths)),
        }
        for program in result.programs
        if program.runs_on
    ]


def _script(entry: Path) -> Path:
    """An entry point that Python can run: a notebook's cells as a script beside it."""
    if entry.suffix != ".ipynb":
        return entry
    script = entry.with_name(f"{entry.stem}_cells.py")
    script.write_text(notebook.decode(entry, entry.read_bytes()).script)
    return script


def _nearest(entry: Path, roots: set[Path], folders: set[Path]) -> list[str]:
    """The PYTHONPATH for an entry: what is near it first, for names that several folders have."""

    def distance(folder: Path) -> tuple[int, str]:
        return -len(os.path.commonpath((entry.parent, folder))), str(folder)

    return [*map(str, sorted(roots, key=distance)), *map(str, sorted(folders, key=distance))]


def _told(result: RunResult, paths: set[Path]) -> list[str]:
    """The names that findings of the claim are about."""
    told = (one for one in result.findings if one.code == CODE and one.path in paths)
    return sorted({word for one in told for word in _WORDS.findall(one.message)})


def _root(folder: Path) -> Path:
    """Where the absolute names of a folder's modules start: above its outermost package.

    Nobody imports a folder `tensorflow` of a repository by that name.
    """
    is_package = (folder / "__init__.py").exists() and folder.name not in ("tensorflow", "keras")
    return _root(folder.parent) if is_package else folder


def _dotted(entry: Path) -> str:
    """The absolute name of a module in a package; empty for a script."""
    is_script = "__main__" in entry.read_text(errors="replace") and "test" not in entry.stem
    if entry.with_name(f"{entry.parent.name}.py").exists():
        is_script = not _is_shadowed(entry)
    is_script = is_script or entry.suffix == ".ipynb"
    if is_script or not (entry.parent / "__init__.py").exists():
        return ""
    return ".".join(entry.relative_to(_root(entry.parent)).with_suffix("").parts)


def _started_from(entry: Path) -> Path:
    """What lies where Python starts: an entry point, or the outermost package that it is in.

    From inside of a package a file is found that is called as the package.
    """
    return _root(entry.parent) / entry.name if _dotted(entry) else entry


def _is_shadowed(entry: Path) -> bool:
    """Whether `Utils/Utils.py` lies beside a script, which asks for the package by its name.

    As a script it would find that file instead.
    """
    name = entry.parent.name
    if not (entry.parent / "__init__.py").exists() or not entry.with_name(f"{name}.py").exists():
        return False
    texts = (path.read_text(errors="replace") for path in entry.parent.glob("*.py"))
    return any(re.search(rf"^\s*(from|import) {name}\.", text, re.MULTILINE) for text in texts)


def imported(
    jobs: list[dict[str, Any]], runtime: str, packages: list[str], legacy: bool
) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        given, found = Path(name) / "jobs.json", Path(name) / "results.json"
        given.write_text(json.dumps(jobs))
        made = runtimes.ensure(runtimes.extended(runtime, packages))
        environment = {**os.environ, "TF_USE_LEGACY_KERAS": str(int(legacy))}
        command = [made.python, str(IMPORTER), str(given), str(found)]
        subprocess.run(command, check=True, env=environment)
        results: list[dict[str, Any]] = json.loads(found.read_text())
    return results


# Names of Python 2's that Python 3 does not have: a program was told to be converted.
_PYTHON_2 = {
    "apply", "basestring", "buffer", "cmp", "coerce", "execfile", "file", "intern", "long",
    "raw_input", "reduce", "reload", "unichr", "unicode", "xrange",
}  # fmt: skip


def _authors_own(repository: Path, copies: Path, where: str, error: str, own: list[str]) -> bool:
    """Whether a name is not defined because the author's file never binds it, nor may take it by
    `*` from a module of the run."""
    missing = re.match(r"NameError: name '(\w+)' is not defined", error)
    path = repository / where.rpartition(":")[0]
    book = path.with_name(path.name.replace("_cells.py", ".ipynb"))
    if missing is None or missing[1] in _PYTHON_2 or not (path.is_file() or book.is_file()):
        return False
    try:
        if path.is_file():
            try:
                tree = ast.parse(path.read_bytes())
            except SyntaxError:  # Python 2: what it became binds the same names
                tree = ast.parse((copies / path.relative_to(repository)).read_bytes())
        else:
            try:
                tree = notebook.decode(book, book.read_bytes()).tree
            except SourceError:
                book = copies / book.relative_to(repository)
                tree = notebook.decode(book, book.read_bytes()).tree
    except (OSError, SyntaxError, SourceError):
        return False
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            if node.level or (node.module or "").rpartition(".")[2] in own:
                return False
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(one.asname or one.name).partition(".")[0] for one in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return missing[1] in names - bound


def _not_there(result: dict[str, Any]) -> bool:
    """Whether a module is missing that no file of the repository is: generated, or compiled."""
    missing = re.match(r"ModuleNotFoundError: No module named '([\w.]+)'", str(result["error"]))
    if missing is None or missing[1].startswith(("tensorflow", "keras", "tf_")):
        return False
    return missing[1].rpartition(".")[2] not in result["own"]


def kind_of(result: dict[str, Any], originals: Path, copies: Path) -> str:
    """What an import says of its claim: `imported`, `false`, `told`, or `other` for what is no
    matter of the claim.

    ``originals`` and ``copies`` have the repositories, as they were and as they were migrated.
    """
    error = str(result["error"] or "")
    if not error:
        return "imported"
    stubbed = re.search(r"\b(importer\.|__main__\.|')Stub", error) or _not_there(result)
    where = str(result["where"]).removeprefix(f"{copies}/")
    mistaken = _authors_own(originals, copies, where, error, result["own"])
    if not FALSE.search(error) or stubbed or mistaken:
        return "other"
    words = _WORDS.findall(error)
    words += [".".join(pair) for pair in _LACKS.findall(error)]
    words += _UNQUOTED.findall(error)
    return "told" if any(_is_about(t, word) for t in result["told"] for word in words) else "false"


def _is_about(told: str, word: str) -> bool:
    """Whether a finding names what an error does: by its last part, or as what it is a part of.

    ``No module named 'tensorflow.contrib'`` is told by ``tensorflow.contrib.slim.conv2d``.
    """
    same = told.rpartition(".")[2] == word.rpartition(".")[2]
    return same or ("." in word and told.startswith(f"{word}."))


def main() -> int:
    tally: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        jobs = []
        for repository in repositories(sys.argv[1]):
            if not sys.argv[2:] or repository.name in sys.argv[2:]:
                jobs += jobs_of(repository, Path(name) / repository.name)
        for runtime, words, packages, legacy in RUNS:
            claimed = [job for job in jobs if words in str(job["runs_on"])]
            for one in imported(claimed, runtime, packages, legacy) if claimed else []:
                kind = kind_of(one, Path(sys.argv[1]), Path(name))
                tally[f"{runtime} {kind}"] += 1
                if one["error"]:
                    entry, where = (
                        str(one[key]).removeprefix(f"{name}/") for key in ("entry", "where")
                    )
                    said = f"({one['state']}) {where}: {one['error'][:200]}"
                    print(f"{kind:<6} {runtime:<10} {entry} {said}", flush=True)
    for kind, count in sorted(tally.items()):
        print(f"{count:>5}  {kind}")
    return 1 if any("false" in kind for kind in tally) else 0


if __name__ == "__main__":
    sys.exit(main())
