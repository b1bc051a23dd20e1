"""Both hooks of .pre-commit-hooks.yaml, under the real pre-commit, in a real repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import CLEAN, GROWTH, GROWTH_AFTER

ROOT = Path(__file__).resolve().parents[2]
NO_NETWORK = (
    "Could not find a version", "No matching distribution", "Temporary failure in name resolution",
    "Max retries exceeded", "Network is unreachable", "Connection refused",
)  # fmt: skip

pytestmark = pytest.mark.external


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This tree as a repository that hooks come from, as it is now, committed or not."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("the tests do not run in a git repository")
    folder = tmp_path_factory.mktemp("hooks") / "migrate-mgpu"
    for name in listed.stdout.decode().split("\0"):
        wanted = name and not name.startswith(("fixtures/", "tests/", "benchmarks/"))
        if wanted and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q", ".")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "hooks")
    return folder


def run(hooks: Path, hook: str, project: Path) -> subprocess.CompletedProcess[str]:
    """pre-commit with one hook over all files of a project."""
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=hooks, check=True, capture_output=True, text=True
    ).stdout.strip()
    (project / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks: [{{id: {hook}}}]\n"
    )
    git(project, "add", "-A")
    # Kept between the two tests, and away from the user's own. What runs twice is not compiled.
    home = str(hooks.parent / "home")
    quick = {"PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment = {**os.environ, **quick, "PRE_COMMIT_HOME": home, "NO_COLOR": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never"],
        cwd=project, capture_output=True, text=True, env=environment, timeout=600,
    )  # fmt: skip
    if ran.returncode == 3 and any(words in ran.stdout for words in NO_NETWORK):
        pytest.skip("pre-commit cannot install the hook: no package index can be reached")
    return ran


@pytest.fixture
def project(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", ".")
    (tmp_path / "train.py").write_text(GROWTH)
    (tmp_path / "clean.py").write_text(CLEAN)
    (tmp_path / "notes.md").write_text("tf.ConfigProto\n")
    return tmp_path


def test_the_hook_that_rewrites(hooks: Path, project: Path) -> None:
    ran = run(hooks, "migrate-mgpu", project)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "files were modified by this hook" in ran.stdout
    assert "1 of 2 files changed" in ran.stdout
    assert (project / "train.py").read_text() == GROWTH_AFTER
    again = run(hooks, "migrate-mgpu", project)
    assert again.returncode == 0, again.stdout


def test_the_hook_that_checks(hooks: Path, project: Path) -> None:
    ran = run(hooks, "migrate-mgpu-check", project)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "files were modified" not in ran.stdout
    assert "train.py:4:1: MGPU103 available" in ran.stdout
    assert (project / "train.py").read_text() == GROWTH
    (project / "train.py").write_text(GROWTH_AFTER)
    again = run(hooks, "migrate-mgpu-check", project)
    assert again.returncode == 0, again.stdout
