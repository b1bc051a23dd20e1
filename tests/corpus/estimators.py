"""What becomes of the Estimators of real code, as a table.

    python tests/corpus/estimators.py FOLDER ...

Each ``FOLDER`` has one repository a sub-folder, which is read, and not changed. A program counts
whose entry point makes an Estimator, or about whose Estimator the tool says something there. The
programs of `TPUEstimator`, those of tests and of TensorFlow's own Estimators are counted apart.
Prints Markdown.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_CANNED = r"(DNN\w*|Linear|Baseline|BoostedTrees)(Classifier|Regressor|Estimator)"
_MADE = re.compile(rf"(?<!class )(?<![\w.])([\w.]+\.)?((TPU)?Estimator|{_CANNED})\(")
_KERAS = re.compile(r"\bmodel_to_estimator\(")
_OWN = re.compile(r"\bclass Estimator\b")  # not TensorFlow's
_WORDS = ("estimator", "contrib.learn", "contrib import learn", "tpu")
_CODE = "MGPU401"
_STAYS = ("kept", "refused")
_LIMIT_S = 600
_EVERY = ("native", "bridge", "refused")


def main(folders: list[str]) -> int:
    rows: list[tuple[str, Counter[str]]] = []
    kinds: dict[str, Counter[str]] = {}
    reasons: Counter[str] = Counter()
    for repository in sorted(
        (one for folder in folders for one in Path(folder).iterdir() if one.is_dir()),
        key=lambda one: one.name.lower(),
    ):
        found = result_of(repository)
        states: Counter[str] = Counter()
        for kind, state, reason in programs(repository, found):
            states[state] += 1
            kinds.setdefault(kind, Counter())[state] += 1
            if state != "native":
                reasons[reason or "another part of its program"] += 1
        if states:
            rows.append((repository.name.replace("+", "/", 1), states))
    print("\n".join(table("repository", rows)))
    print()
    print("\n".join(table("programs", sorted(kinds.items()))))
    print()
    print("| first reason | programs |\n| --- | --- |")
    for reason, count in reasons.most_common(25):
        print(f"| {reason} | {count} |")
    return 0


def result_of(repository: Path) -> dict[str, Any]:
    """What the tool says of a repository, or what it said before in `NAME.json` beside it."""
    kept = repository.with_name(f"{repository.name}.json")
    if kept.is_file():
        return dict(json.loads(kept.read_text(encoding="utf-8")))
    command = [sys.executable, "-m", "migrate_mgpu", "--check", "--output-format", "json", "."]
    done = subprocess.run(
        command, cwd=repository, capture_output=True, check=False, timeout=_LIMIT_S
    )
    return dict(json.loads(done.stdout))


def programs(repository: Path, found: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The kind, state and first reason of each program that makes an Estimator."""
    said: dict[str, list[str]] = {}
    for one in found["findings"]:
        if one["code"] == _CODE and one["state"] in _STAYS:
            said.setdefault(one["path"], []).append(one["message"])
    told = {one["path"] for one in found["findings"] if one["code"] == _CODE}
    for program in found["programs"]:
        entry = program["entry"]
        text = (repository / entry).read_text(encoding="utf-8", errors="replace")
        if not any(word in text for word in _WORDS):
            continue
        if not (_MADE.search(text) or _KERAS.search(text) or entry in told):
            continue
        if _OWN.search(text) and entry not in told:
            continue
        kind = "plain Estimators"
        if re.search(r"(^|/)(tests?/|test_)|_test\.py$", entry) or "tensorflow+estimator" in str(
            repository
        ):
            kind = "tests"
        elif "TPUEstimator" in text:
            kind = "TPUEstimators"
        near = [m for path, every in said.items() for m in every if _near(path, entry)]
        reason = next(iter([*said.get(entry, ()), *near]), "")
        reason = re.sub(r"`[^`]*`", "`...`", reason.replace("the Estimator stays: ", ""))
        yield kind, program["state"].partition(",")[0], reason


def _near(path: str, entry: str) -> bool:
    return Path(path).parent == Path(entry).parent


def table(head: str, rows: list[tuple[str, Counter[str]]]) -> list[str]:
    """The lines of a table of states, with their sum."""
    lines = [f"| {head} | {' | '.join(_EVERY)} |", "| --- |" + " --- |" * len(_EVERY)]
    whole: Counter[str] = Counter()
    for name, states in rows:
        whole += states
        lines.append(f"| {name} | {' | '.join(str(states[one] or '') for one in _EVERY)} |")
    lines.append(f"| all {len(rows)} | {' | '.join(str(whole[one]) for one in _EVERY)} |")
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
