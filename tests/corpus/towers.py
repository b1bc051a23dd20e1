"""What becomes of the tower programs of real code, as tables.

    python tests/corpus/towers.py FOLDER ...

Each ``FOLDER`` has one repository a sub-folder, which is read, and not changed. A program counts
that has a module in which a loop puts what it builds on one device after the other, and which
computes gradients; or one that does so by slim's `model_deploy`. Prints Markdown: what becomes of
them, the first reason of those that stay, and what the loops of native ones do that Keras's `fit`
does not.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from estimators import table

from migrate_mgpu.core.findings import Finding, RunResult
from migrate_mgpu.run.migrate import migrate

_WORDS = re.compile(
    r"average_gradients|tower_grads|tower_loss|avg_grad|average_grads|combine_gradients|gpu:%[ds]"
    r"|gpu:\{|'/gpu:'\s*\+|device:GPU:|['\"]/?gpu:['\"]|multi_?gpu|tower|num_clones|num_gpus",
    re.IGNORECASE,
)
_TRAINS = ("compute_gradients", "tf.gradients", "minimize", "apply_gradients")
_CODES = ("MGPU205", "MGPU401", "MGPU502")
_STAYS = ("kept", "refused")
_LIMIT = 2_000_000  # bytes of a file


def main(folders: list[str]) -> int:
    warnings.simplefilter("ignore")
    rows: list[tuple[str, Counter[str]]] = []
    reasons: Counter[str] = Counter()
    loops: Counter[str] = Counter()
    for repository in sorted(
        (one for folder in folders for one in Path(folder).iterdir() if one.is_dir()),
        key=lambda one: one.name.lower(),
    ):
        states: Counter[str] = Counter()
        for state, reason, texts in programs(repository):
            states[state] += 1
            if state != "native":
                reasons[reason or "another part of its program"] += 1
            else:
                loops.update(unlike_fit(texts) or ["nothing: `fit` may be shorter"])
        if states:
            rows.append((repository.name.replace("+", "/", 1), states))
    print("\n".join(table("repository", rows)))
    print()
    print("| first reason | programs |\n| --- | --- |")
    for reason, count in reasons.most_common():
        print(f"| {reason} | {count} |")
    print("\n| a native loop | programs |\n| --- | --- |")
    for trait, count in loops.most_common():
        print(f"| {trait} | {count} |")
    return 0


def programs(repository: Path) -> Iterator[tuple[str, str, list[str]]]:
    """The state, the first reason and the files of each program with towers."""
    files = {
        path.relative_to(repository): path.read_bytes()
        for path in sorted(repository.rglob("*"))
        if path.suffix in (".py", ".ipynb")
        and not any(part.startswith(".") for part in path.relative_to(repository).parts)
        and path.is_file()
        and path.stat().st_size < _LIMIT
    }
    towers = {path for path, data in files.items() if has_towers(path, data)}
    if not towers:
        return
    before = Path.cwd()
    os.chdir(repository)  # modules are looked up in folders
    try:
        result = migrate([(str(path), data) for path, data in files.items()], True, False)
    finally:
        os.chdir(before)
    for program in result.programs:
        inside = set(program.paths)
        if inside & towers:
            said = (one for one in _said(result) if one.path in inside)
            told = [one.message for one in (*said, *program.reasons)]
            # A module of the program's own, `helper_tf2.py`, is made of `helper.py`.
            read = {path.with_name(path.name.replace("_tf2.py", ".py")) for path in program.paths}
            texts = [code_of(path, files[path]) for path in sorted(read) if path in files]
            yield program.state.partition(",")[0], short(told[0] if told else ""), texts


def _said(result: RunResult) -> Iterator[Finding]:
    return (one for one in result.findings if one.code in _CODES and one.state in _STAYS)


def short(message: str) -> str:
    """A reason, with names left out."""
    text = message.replace("the session stays, on the bridge: ", "")
    text = re.sub(r"(modules make sessions): .*", r"\1", text)
    return re.sub(r"`[^`]*`", "`...`", text.replace("the Estimator stays: ", ""))


def code_of(path: Path, data: bytes) -> str:
    """A file's code; that of a notebook's cells."""
    text = data.decode("utf-8", "replace")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    return re.sub(r"^\s*[%!].*$", "", text, flags=re.MULTILINE)


def unlike_fit(texts: list[str]) -> set[str]:
    """What the loops around `run` do that `fit` of arrays, or of a dataset, does not.

    By words and forms alone: a program without any is one to read, and may still be none.
    """
    found: set[str] = set()
    for text in texts:
        try:
            tree = ast.parse(text)
        except SyntaxError:
            found.add("is Python 2: to be read by hand")
            continue
        loops = [one for one in ast.walk(tree) if isinstance(one, (ast.For, ast.While))]
        for loop in loops:
            if not (runs := _calls(loop, "run")):
                continue
            if _calls(loop, "add_summary"):
                found.add("writes summaries")
            if _calls(loop, "save"):
                found.add("saves as it goes")
            if len(runs) > 1:
                found.add("runs more than the step: a test, or the loss once more")
            if any(inner is not loop and _calls(inner, "run") for inner in _inside(loop, loops)):
                continue
            if _shows_a_step(loop):
                found.add("shows, or keeps, what a step had")
            if not _is_sliced(loop) and "Dataset" not in text:
                found.add("asks for each batch: `next_batch`, a queue, a function of its own")
    return found


def _inside(loop: ast.AST, loops: list[ast.For | ast.While]) -> list[ast.For | ast.While]:
    inner = set(ast.walk(loop))
    return [one for one in loops if one in inner]


def _calls(node: ast.AST, method: str) -> list[ast.Call]:
    return [
        one
        for one in ast.walk(node)
        if isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr == method
    ]


def _shows_a_step(loop: ast.For | ast.While) -> bool:
    """Whether what a run in a loop gives is read there, but for being added up."""
    given = {
        name.id
        for one in ast.walk(loop)
        if isinstance(one, ast.Assign) and _calls(one.value, "run")
        for target in one.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and name.id != "_"
    }
    added = {
        name
        for one in ast.walk(loop)
        if isinstance(one, ast.AugAssign)
        for name in ast.walk(one.value)
    }
    return any(
        isinstance(name, ast.Name)
        and isinstance(name.ctx, ast.Load)
        and name.id in given
        and name not in added
        for name in ast.walk(loop)
    )


def _is_sliced(loop: ast.For | ast.While) -> bool:
    """Whether a loop feeds rows of arrays, `data[begin:begin + 16]`."""
    return any(
        isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Slice)
        for one in ast.walk(loop)
    )


def has_towers(path: Path, data: bytes) -> bool:
    """Whether a file builds towers in a loop, or by slim's `model_deploy`."""
    text = data.decode("utf-8", "replace")
    if not _WORDS.search(text) or not any(word in text for word in _TRAINS):
        return False
    try:
        tree = ast.parse(code_of(path, data))
    except (SyntaxError, ValueError, KeyError, TypeError):  # Python 2, say
        return "tf.device" in text and re.search(r"for .* in .*:", text) is not None
    if "model_deploy" in text:
        return True
    return any(isinstance(node, ast.For) and _puts_on_devices(node) for node in ast.walk(tree))


def _puts_on_devices(loop: ast.For) -> bool:
    """Whether a loop has a block on a device that is not the same each time."""
    return any(
        isinstance(call := item.context_expr, ast.Call)
        and getattr(call.func, "attr", "") == "device"
        and bool(call.args)
        and any(isinstance(name, ast.Name) for name in ast.walk(call.args[0]))
        for block in ast.walk(loop)
        if isinstance(block, ast.With)
        for item in block.items
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
