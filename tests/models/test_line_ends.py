"""A converted Estimator's lines end as its file's do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.migration import migrated

FIXTURES = Path(__file__).parents[2] / "fixtures" / "estimator"


@pytest.mark.parametrize("name", ["dense_classifier", "train_and_evaluate", "trainer_class"])
def test_lines_end_as_they_did(name: str) -> None:
    before = (FIXTURES / name / "before.py").read_bytes().replace(b"\n", b"\r\n")
    after, _ = migrated(("program.py", before))
    assert not re.search(r"(?<!\r)\n", after)
    assert after.replace("\r\n", "\n") == (FIXTURES / name / "after.py").read_text("utf-8")
