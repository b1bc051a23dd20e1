"""What a run that has nothing to do must not import: starting is most of its time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from migrate_mgpu import cli as command_line
from migrate_mgpu.core import prefilter
from tests.cli.running import CLEAN, Cli

# Imported by a run, beyond what Python imports to start.
PROGRAM = """\
import io, os, sys
before = set(sys.modules)
from migrate_mgpu.cli import main
main(sys.argv[1:], io.StringIO(), io.StringIO())
print(*sorted(set(sys.modules) - before))
"""


def imported(*argv: str) -> set[str]:
    # -S: what a virtual environment's .pth files import is not ours.
    path = [entry for entry in sys.path if entry]
    start = f"import sys; sys.path[:] = {path!r}\n"
    command = [sys.executable, "-S", "-c", start + PROGRAM, *argv]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("options", [[], ["--check"], ["--diff"]])
def test_a_file_without_a_hit(cli: Cli, options: list[str]) -> None:
    cli.write(clean=CLEAN, eager="import tensorflow as tf\nprint(tf.constant(1))\n")
    cli.put("pyproject.toml", "[project]\nname = 'x'\n")
    assert imported(*options, "clean.py", "eager.py") <= {
        "__future__",
        "gc",  # compiled into Python
        "migrate_mgpu",
        "migrate_mgpu.cli",
        "migrate_mgpu.core",
        "migrate_mgpu.core.options",
        "migrate_mgpu.run",
        "migrate_mgpu.run.files",
        "migrate_mgpu.settings",
    }


HEAVY = {"libcst", "rich", "ast", "difflib", "json", "dataclasses", "multiprocessing"}


@pytest.mark.parametrize(
    "argv", [["--help"], ["--version"], ["--strict", "-q", "."], ["--exclude", "x*", "."]]
)
def test_nothing_heavy_without_a_hit(cli: Cli, argv: list[str]) -> None:
    cli.write(clean=CLEAN)
    cli.put(".gitignore", "*.log\nbuild/\n[ab]*.txt\n")
    assert not imported(*argv) & (HEAVY | {"tomllib", "tomli"})
    cli.put("pyproject.toml", "[tool.migrate-mgpu]\nstrict = true\n")
    assert not imported(*argv) & HEAVY


SESSION = """\
import tensorflow as tf

config = tf.ConfigProto(allow_soft_placement=True, intra_op_parallelism_threads=4)
config.gpu_options.per_process_gpu_memory_fraction = 0.4
with tf.Session(graph=tf.get_default_graph(), config=config) as sess:
    sess.run(tf.constant(1))
"""


def test_plain_sessions_without_libcst(cli: Cli) -> None:
    """Its import takes as long as sixty such files."""
    cli.write(session=SESSION)
    command = [sys.executable, "-c", PROGRAM, "session.py"]  # with site, for the rewriters
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "migrate_mgpu.run.plan" in done.stdout and "libcst" not in done.stdout
    assert "LogicalDeviceConfiguration" in cli.read("session.py")


def test_the_words_that_are_looked_for_first_miss_nothing() -> None:
    """cli.WORDS stands before prefilter.HIT: each alternative holds one of the words."""
    for alternative in prefilter.HIT.pattern.split(b"|"):
        assert any(word in alternative for word in command_line.WORDS), (
            f"add a word of {alternative!r} to migrate_mgpu.cli.WORDS"
        )
