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
from migrate_mgpu.core.registry import Case
from tests.models.whole import converted
from tests.rewriters import test_cases
from tests.support.migration import migrated


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
    elif program.workers == 1:  # others are adapted by hand
        assert after == modules_of_program(program.after)


@pytest.mark.parametrize(("case", "native"), test_cases.CASES)
def test_rewriters(case: Case, native: bool) -> None:
    if case.after is not None:
        found, _ = migrated(case.before, bridge=True, native_sessions=native)
        assert found == case.after


def test_normalization() -> None:
    """A pass is called for by a key, not by what a message says."""
    made = "tf.estimator.Estimator(model_fn).train(input_fn, steps=5)\n"
    fit = "estimator.fit(input_fn(), steps_per_epoch=5, verbose=0)\n"
    assert converted(made) == f"estimator = model_fn()\n{fit}"
