"""Completion in the shell, asked as argcomplete's function in bash asks."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("argcomplete", reason="the extra `completion`")


def completed(line, tmp_path):
    answer = tmp_path / "answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "MIGRATE_MGPU_RUNTIMES": str(tmp_path / "runtimes"),
    }
    command = [sys.executable, "-m", "migrate_mgpu"]
    subprocess.run(command, env={**os.environ, **asked}, check=False, timeout=60)
    return [word.strip() for word in answer.read_text().split("\n")]


@pytest.mark.parametrize(
    "line, words",
    [
        ("migrate-mgpu par", ["parity"]),
        ("migrate-mgpu --ch", ["--check"]),
        ("migrate-mgpu --color a", ["auto", "always"]),
        ("migrate-mgpu parity --ref", ["--reference"]),
        ("migrate-mgpu parity --reference tf1", ["tf1.15"]),
        ("migrate-mgpu runtimes remove tf2", ["tf2.15", "tf2-latest"]),
        ("migrate-mgpu explain MGPU21", ["MGPU210", "MGPU211", "MGPU212", "MGPU213"]),
    ],
)
def test_words(line, words, tmp_path):
    assert completed(line, tmp_path) == words
