"""Every leaf field of ConfigProto has an outcome, and what it becomes sets the same on TF2.

Each field's program (``field_samples``) is migrated and run on TF 1.15.5, 2.15 and
the newest with fake GPUs. A field that no rule moves stays on its session's config,
which must work there as before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import oracle
import pytest
from field_samples import FIELDS, program, statement

from migrate_mgpu import runtimes
from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.session_config.field_rewriter import field_rewriters
from tests.support.migration import run


@dataclass(frozen=True)
class Outcome:
    path: str
    after: str
    result: RunResult


def outcome(path: str) -> Outcome:
    code = program(path)
    result = run(code, bridge=True)
    after = next((f.after for f in result.files if f.changed), None)
    assert after is not None
    return Outcome(path, after, result)


@pytest.mark.parametrize("path", FIELDS)
def test_every_field_moves_or_stays(path: str) -> None:
    got = outcome(path)
    moves = path in field_rewriters() or path == "device_count"
    assert got.result.sites["applied" if moves else "kept"] == 1
    if moves:
        assert "ConfigProto" not in got.after
    else:
        assert statement(path) in got.after
        assert any(f.state == "kept" and f.message for f in got.result.findings)


def test_every_rule_moves_a_field_of_tensorflow() -> None:
    devices = {f"device_count.{name}" for name in ("GPU", "CPU", "gpu", "cpu")}  # the last: none
    known = {*FIELDS, *devices}
    assert set(field_rewriters()) <= known


def test_every_field_sets_the_same(
    tmp_path: Path, runtime: Callable[[str], runtimes.Runtime]
) -> None:
    """The oracle's word on all of them."""
    runtime("tf1.15")
    cases = []
    for number, path in enumerate(FIELDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        before, after = folder / "before.py", folder / "after.py"
        before.write_text(program(path))
        after.write_text(outcome(path).after)
        cases.append(oracle.Case(before, after))
    wrong = {
        f"{path} on {target}": [str(difference) for difference in differences]
        for path, results in zip(FIELDS, oracle.check_all(cases))
        for target, differences in results.items()
        if differences
    }
    assert not wrong
