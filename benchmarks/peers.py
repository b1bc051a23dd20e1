"""The environments of the contenders, made by uv in a folder that goes away again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from migrate_mgpu import runtimes

ROOT = Path(__file__).resolve().parents[1]
# Pinned, so that two measurements are of the same thing.
DJANGO_UPGRADE = "django-upgrade==1.33.0"
LIBCST = "libcst==1.9.0"


class Missing(Exception):
    """A contender cannot be had on this machine; the message says why."""


def uv() -> str:
    """uv's executable, of the package or on PATH."""
    try:
        import uv as package

        return str(package.find_uv_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
        if found:
            return found
    raise Missing("uv is not installed (pip install uv)")


def environment(folder: Path, requirement: str) -> Path:
    """A virtual environment with one package installed; its folder of executables."""
    steps = [
        [uv(), "venv", "--quiet", "--no-project", "--python", sys.executable, str(folder)],
        [uv(), "pip", "install", "--quiet", "--compile-bytecode", "--python", str(folder)]
        + [requirement],
    ]
    for step in steps:
        answer = subprocess.run(step, capture_output=True, text=True, cwd=folder.parent)
        if answer.returncode:
            raise Missing(f"{requirement} cannot be installed: {' '.join(answer.stderr.split())}")
    return folder / ("Scripts" if sys.platform == "win32" else "bin")


def this_tool(folder: Path) -> Path:
    """This checkout, installed as a user has it: an editable install starts slower."""
    # A copy, because setuptools leaves build/ behind and would install its old files again.
    return environment(folder / "env", str(package_sources(folder / "source")))


def package_sources(folder: Path) -> Path:
    """A copy of what the package is built from."""
    folder.mkdir(parents=True)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("migrate_mgpu", "rewriters"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def tensorflow() -> tuple[Path, dict[str, str]]:
    """The interpreter whose tf_upgrade_v2 is measured, and its versions."""
    try:
        found = runtimes.ensure("tf2.15")
        return found.python, runtimes.describe(found)
    except runtimes.RuntimeUnavailable as error:
        raise Missing(str(error).splitlines()[0]) from error


def version(python: Path, package: str) -> str:
    """The version of an installed package."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    answer = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    return answer.stdout.strip()
