"""A run that is killed leaves every file old or new, and every program one that runs."""

from __future__ import annotations

import ast
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from migrate_mgpu.cli import main
from tests.cli.test_bad_input import CALLER, HELPER

PAIRS = 12
# What a program of this test needs of TensorFlow, of either version.
STUB = """\
class ConfigProto:
    def __init__(self):
        self.gpu_options = self


class Session:
    def __init__(self, config=None):
        assert config is None or isinstance(config, ConfigProto)


class config:
    @staticmethod
    def list_physical_devices(kind):
        return []


def disable_v2_behavior():
    pass
"""


def make(folder: Path) -> Path:
    for number in range(PAIRS):
        program = folder / f"program{number:02}"
        program.mkdir(parents=True)
        (program / "helper.py").write_text(HELPER)
        (program / "caller.py").write_text(CALLER)
    return folder


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "migrate_mgpu", "-q", "."]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)


def changed(folder: Path) -> int:
    return sum(
        path.stat().st_size not in (len(HELPER), len(CALLER)) for path in folder.glob("*/*.py")
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], float]:
    """What a run that nobody kills writes, by file name, and how long its writing takes."""
    folder = make(tmp_path_factory.mktemp("finished") / "tree")
    run = start(folder)
    while not changed(folder) and run.poll() is None:
        time.sleep(0.001)
    began = time.monotonic()
    assert run.wait(60) == 1
    program = folder / "program00"
    after = {name: (program / name).read_bytes() for name in ("helper.py", "caller.py")}
    assert after["helper.py"] != HELPER.encode() and after["caller.py"] != CALLER.encode()
    return after, time.monotonic() - began


@pytest.mark.parametrize("attempt", range(8))
def test_killed_while_writing(
    tmp_path: Path, finished: tuple[dict[str, bytes], float], attempt: int
) -> None:
    new, seconds = finished
    old = {"helper.py": HELPER.encode(), "caller.py": CALLER.encode()}
    folder = make(tmp_path / "tree")
    run = start(folder)
    while not changed(folder) and run.poll() is None:
        time.sleep(0.0005)
    time.sleep(random.Random(attempt).uniform(0, seconds * 0.8))
    os.kill(run.pid, signal.SIGKILL)
    run.wait()

    halves = []
    for program in sorted(folder.iterdir()):
        files = {path.name: path.read_bytes() for path in program.glob("*.py")}
        for name in ("helper.py", "caller.py"):
            assert files[name] in (old[name], new[name])
            ast.parse(files[name])
        # What else there may be, Python does not import and the tool does not take.
        for path in set(program.iterdir()) - {program / name for name in new}:
            assert path.name.startswith(".") and path.suffix != ".py"
        if (files["helper.py"] == old["helper.py"]) != (files["caller.py"] == old["caller.py"]):
            assert files["helper.py"] == new["helper.py"], "the caller was written first"
            halves.append(program)

    stub = tmp_path / "stub/tensorflow/compat/v1"
    stub.mkdir(parents=True)
    for package in (stub, stub.parent, stub.parent.parent):
        (package / "__init__.py").write_text(STUB)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "stub")}
    for program in [*halves, folder / "program00", folder / f"program{PAIRS - 1}"]:
        subprocess.run([sys.executable, "caller.py"], cwd=program, env=environment, check=True)

    # Another run finishes the work. Between a new helper and an old caller it finds no
    # config to move: what the helper no longer returns stays an argument, and is None.
    for rest in folder.rglob(".*"):
        rest.unlink()
    for cache in folder.glob("*/__pycache__"):
        shutil.rmtree(cache)
    assert main(["-q", str(folder)], io.StringIO(), io.StringIO()) in (0, 1)
    for program in folder.iterdir():
        files = {path.name: path.read_bytes() for path in program.iterdir()}
        if program in halves:
            assert files["helper.py"] == new["helper.py"]
            assert b"tensorflow.compat.v1" in files["caller.py"]
        else:
            assert files == new
    for program in halves:
        subprocess.run([sys.executable, "caller.py"], cwd=program, env=environment, check=True)
