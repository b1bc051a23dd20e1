"""Real code: no crash, output that parses, a second run that changes nothing, every site counted.

``MIGRATE_MGPU_CORPUS`` names a folder with one repository a sub-folder; without it
nothing is compared. ``python tests/corpus/test_corpus.py FOLDER`` prints the table.
"""

from __future__ import annotations

import ast
import contextlib
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.run import files
from migrate_mgpu.run.migrate import migrate

FOLDER = os.environ.get("MIGRATE_MGPU_CORPUS", "")


@dataclass
class Tally:
    """Counts over many repositories."""

    repositories: int = 0
    files: int = 0
    changed: int = 0
    seconds: float = 0.0
    sites: Counter[str] = field(default_factory=Counter)
    programs: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, result: RunResult, seconds: float) -> None:
        self.repositories += 1
        self.files += result.scanned
        self.changed += sum(file.changed for file in result.files)
        self.seconds += seconds
        self.sites.update(result.sites)
        self.programs.update(program.state for program in result.programs)
        for finding in result.findings:
            if finding.state in ("kept", "refused") and finding.message.startswith(
                ("the config stays", "unchanged")
            ):
                reason = finding.message.partition(": ")[2].partition(" (")[0]
                self.reasons[f"{finding.state}: {reason}"] += 1


# What a refusal is about; the first that fits. The last is the device options' own.
KINDS = {
    "names that TF2 lacks": ("does not exist in TF2",),
    "Python 2, or not Python": ("Python 2", "not valid"),
    "Keras beside other TF1 code": (
        "Keras program",
        "Keras of TF2",
        "more than Keras",
        "in standalone Keras",
    ),
    "code for TF2, or for both": ("TF2 code", "only in TF1", "only in TF2", "TensorFlow's"),
    "a module outside": ("outside the given paths",),
    "device options": ("",),
}


def kind(reason: str) -> str:
    return next(name for name, words in KINDS.items() if any(word in reason for word in words))


def repositories(folder: str) -> list[Path]:
    return sorted(path for path in Path(folder).iterdir() if path.is_dir()) if folder else []


def contents_of(repository: Path) -> list[tuple[str, bytes]]:
    paths, _ = files.discover([str(repository)])
    found = []
    for path in paths:
        with contextlib.suppress(files.Unread):
            found.append((path, files.read(path)))
    return found


def copied(contents: list[tuple[str, bytes]], repository: Path, folder: Path) -> None:
    for path, data in contents:
        place = folder / Path(path).relative_to(repository)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def check(repository: Path, tally: Tally) -> None:
    """Runs the tool on a repository's files as a user does: in place, on a copy."""
    contents = contents_of(repository)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / repository.name
        copied(contents, repository, folder)
        written = contents_of(folder)
        start = time.perf_counter()
        first = migrate(written, bridge=True, write=True)
        tally.add(first, time.perf_counter() - start)
        sites_are_counted(first)
        changed = {str(file.path) for file in first.files if file.changed}
        for file in first.files:
            assert "internal error" not in (file.error or ""), (file.path, file.error)
            if file.changed:
                assert file.after is not None
                ast.parse(file.after)
        for path, data in written:
            assert (Path(path).read_bytes() != data) == (path in changed), path
        second = migrate(contents_of(folder), bridge=True, write=True)
        unstable = [str(file.path) for file in second.files if file.changed]
        assert not unstable, unstable


def sites_are_counted(result: RunResult) -> None:
    left = [
        finding
        for finding in result.findings
        if finding.message.startswith(("the config stays", "unchanged"))
    ]
    assert sum(result.sites.values()) == len(left) + result.sites["applied"]


@pytest.mark.skipif(not FOLDER, reason="MIGRATE_MGPU_CORPUS names no folder of repositories")
def test_repositories() -> None:
    tally = Tally()
    failed = []
    for repository in repositories(FOLDER):
        try:
            check(repository, tally)
        except Exception as error:
            failed.append(f"{repository.name}: {type(error).__name__}: {error}")
    assert tally.repositories
    assert not failed, "\n".join(failed)


def main() -> None:
    tally = Tally()
    for repository in repositories(sys.argv[1]):
        try:
            check(repository, tally)
        except Exception as error:
            print(f"FAILED {repository.name}: {type(error).__name__}: {str(error)[:300]}")
    total = sum(tally.sites.values())
    print(
        f"{tally.repositories} repositories, {tally.files} files, {tally.changed} changed, "
        f"{tally.seconds:.1f} s"
    )
    for state, count in tally.sites.most_common():
        print(f"configs {state:<8} {count:>5}  {100 * count / max(total, 1):.1f} %")
    for state, count in tally.programs.most_common():
        print(f"programs {state:<20} {count:>5}")
    refused: Counter[str] = Counter()
    for reason, count in tally.reasons.items():
        if reason.startswith("refused: "):
            refused[kind(reason)] += count
    for name, count in refused.most_common():
        print(f"refused for {name:<30} {count:>5}")
    able = total - sum(refused.values()) + refused["device options"]
    moved = tally.sites["applied"] + tally.sites["kept"]
    share = 100 * moved / max(able, 1)
    print(f"moved or kept, of those in programs that TF2 could run: {share:.1f} %")
    for reason, count in tally.reasons.most_common(60):
        print(f"{count:>5}  {reason}")


if __name__ == "__main__":
    main()
