"""The command line, run in process in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Cli


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """``cli("--check", "a.py")`` in an empty folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return Cli(tmp_path)
