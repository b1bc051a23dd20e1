"""The kept records of the mutants, unpacked and judged once for all tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import mutants
from mutant_list import MUTANTS

from migrate_mgpu.parity import verdict


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all records."""
    pytest.importorskip("numpy")
    folder = tmp_path_factory.mktemp("stored")
    mutants.unpack(folder)
    return folder


@pytest.fixture(scope="session")
def judged(stored: Path) -> dict[str, verdict.Judged]:
    """What the harness says of every mutant."""
    return {name: mutants.judge(name, stored) for name in MUTANTS}
