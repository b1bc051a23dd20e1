"""What becomes of the tower programs of real code, as tables.

    python tests/corpus/towers.py FOLDER ...

Each ``FOLDER`` has one repository a sub-folder, which is read, and not changed. A program counts
that has a module in which a loop puts what it builds on one device after the other, and which
computes gradients; or one that does so by slim's `model_deploy`. Prints Markdown.
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
    for repository in sorted(
        (one for folder in folders for one in Path(folder).iterdir() if one.is_dir()),
        key=lambda one: one.name.lower(),
    ):
        states: Counter[str] = Counter()
        for state, reason in programs(repository):
            states[state] += 1
            if state != "native":
                reasons[reason or "another part of its program"] += 1
        if states:
            rows.append((repository.name.replace("+", "/", 1), states))
    print("\n".join(table("repository", rows)))
    print()
    print("| first reason | programs |\n| --- | --- |")
    for reason, count in reasons.most_common():
        print(f"| {reason} | {count} |")
    return 0


def programs(repository: Path) -> Iterator[tuple[str, str]]:
    """The state and the first reason of each program with towers."""
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
            yield program.state.partition(",")[0], short(told[0] if told else "")


def _said(result: RunResult) -> Iterator[Finding]:
    return (one for one in result.findings if one.code in _CODES and one.state in _STAYS)


def short(message: str) -> str:
    """A reason, with names left out."""
    text = message.replace("the session stays, on the bridge: ", "")
    text = re.sub(r"(modules make sessions): .*", r"\1", text)
    return re.sub(r"`[^`]*`", "`...`", text.replace("the Estimator stays: ", ""))


def has_towers(path: Path, data: bytes) -> bool:
    """Whether a file builds towers in a loop, or by slim's `model_deploy`."""
    text = data.decode("utf-8", "replace")
    if not _WORDS.search(text) or not any(word in text for word in _TRAINS):
        return False
    try:
        if path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
            text = re.sub(r"^\s*[%!].*$", "", text, flags=re.MULTILINE)
        tree = ast.parse(text)
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
