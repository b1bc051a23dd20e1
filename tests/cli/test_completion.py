"""What the shell is answered when somebody presses Tab."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("argcomplete")
COMMAND = "import migrate_mgpu.cli as cli; cli.main_command()"


def answered(line: str) -> list[str]:
    """The words for a command line, as argcomplete's function in the shell asks for them."""
    read, write = os.pipe()
    more = {"COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9"}
    more |= {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SUPPRESS_SPACE": "1"}
    # argcomplete writes to descriptor 8.
    script = f"import os; os.dup2({write}, 8); {COMMAND}"
    subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **more}, pass_fds=[write], timeout=120
    )
    os.close(write)
    with os.fdopen(read) as stream:
        return stream.read().split()


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("migrate-mgpu --stat", "--statistics"),
        ("migrate-mgpu par", "parity"),
        ("migrate-mgpu parity --dev", "--devices"),
        ("migrate-mgpu runtimes cre", "create"),
        ("migrate-mgpu explain MGPU90", "MGPU901"),
    ],
)
def test_what_fits_is_offered(line: str, word: str) -> None:
    assert word in answered(line)


def test_a_subcommand_stands_first_only() -> None:
    assert "parity" not in answered("migrate-mgpu src par")
