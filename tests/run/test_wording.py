"""No message decides anything: with every one of them worded otherwise, the output is the same."""

from __future__ import annotations

import estimator_proofs
import oracle
import pytest
from test_estimators import PROGRAMS
from test_estimators import modules as modules_of_program
from test_estimators import run as run_program
from test_fixtures import CASES, modules, run

from migrate_mgpu.analysis.diagnostics import Diagnostic


@pytest.fixture(autouse=True)
def reworded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every reason is "x", whoever reads it."""
    monkeypatch.setattr(Diagnostic, "reason", property(lambda _: "x"), raising=False)
    monkeypatch.setattr(Diagnostic, "advice", property(lambda _: "x"))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_fixtures(case: oracle.Case) -> None:
    before = modules(case.before)
    result, after = run(case, before)
    assert after == (modules(case.after) if case.state != "refused" else before)
    found = {p.entry: p.state for p in result.programs}
    assert set(found.values()) <= {case.state, *case.states.values()}
    assert case.state not in ("refused", "bridge, config kept") or not any(
        case.reason in finding.message for finding in result.findings
    ), "its reason is not a Diagnostic's"


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_estimators(program: estimator_proofs.Program) -> None:
    before = modules_of_program(program.before)
    result, after = run_program(program, before)
    if program.stays:
        assert {p.state for p in result.programs} <= {"refused", "bridge"}
    else:
        assert after == modules_of_program(program.after)
