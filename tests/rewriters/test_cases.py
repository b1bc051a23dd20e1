"""Every rewriter's CASES: the documented example is what the tool does, twice as well as once."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.core.registry import Case, documented
from migrate_mgpu.models.front.rewriters import SessionRewriter, TowerRewriter
from migrate_mgpu.session_config.program_rewriter import PythonRewriter
from tests.support.migration import after, migrated, run, said

NO_FISSIX = pytest.mark.skipif(find_spec("fissix") is None, reason="fissix is not installed")
CASES = [
    pytest.param(
        case,
        isinstance(rewriter, (SessionRewriter, TowerRewriter)),
        id=f"{rewriter.rule.name}: {case.name}",
        marks=NO_FISSIX if isinstance(rewriter, PythonRewriter) else (),
    )
    for rewriter, _ in documented()
    for case in rewriter.cases
]


BRIDGE = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"


# All other rewriters' examples are of bridged programs, whatever their sessions do.
@pytest.mark.parametrize(("case", "native"), CASES)
def test_case(case: Case, native: bool) -> None:
    result = run(case.before, bridge=True, native_sessions=native)
    assert after(result, case.before) == expected(case, result)
    if case.refused is not None:
        assert any(case.refused in message for message in said(result)), said(result)
    again, _ = migrated(expected(case, result), bridge=True, native_sessions=native)
    assert again == expected(case, result)


def expected(case: Case, result: RunResult) -> str:
    """The whole output. What is refused without an ``after`` stays as it is, in a program that
    stays or in one that is bridged around it."""
    if case.after is not None:
        return case.after
    assert case.refused is not None
    if {program.state for program in result.programs} <= {"refused"}:
        return case.before
    assert case.before.count("import tensorflow as tf\n") == 1
    return case.before.replace("import tensorflow as tf\n", BRIDGE)


def test_every_rule_is_complete() -> None:
    codes = [rewriter.rule.code for rewriter, _ in documented()]
    names = [rewriter.rule.name for rewriter, _ in documented()]
    assert len(set(codes)) == len(codes)
    assert len(set(names)) == len(names)
    for rewriter, doc in documented():
        assert rewriter.cases, rewriter.rule.name
        for heading in ("What it does", "Why", "Safety", "References"):
            assert f"## {heading}" in doc, (rewriter.rule.name, heading)
