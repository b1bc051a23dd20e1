"""Every rewriter's CASES: the documented example is what the tool does, twice as well as once."""

from __future__ import annotations

import pytest

from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.core.registry import Case, documented
from migrate_mgpu.run.migrate import migrate

CASES = [
    pytest.param(case, id=f"{rewriter.rule.name}: {case.name}")
    for rewriter, _ in documented()
    for case in rewriter.cases
]


def run(code: str) -> RunResult:
    return migrate([("case.py", code.encode())], bridge=True, write=False)


def after(result: RunResult, code: str) -> str:
    for file in result.files:
        assert file.error is None, file.error
        if file.changed:
            assert file.after is not None
            return file.after
    return code


@pytest.mark.parametrize("case", CASES)
def test_case(case: Case) -> None:
    result = run(case.before)
    changed = after(result, case.before)
    if case.refused is not None:
        assert any(case.refused in finding.message for finding in result.findings)
        assert case.after is None or changed == case.after
    else:
        assert changed == case.after
    assert after(run(changed), changed) == changed


def test_every_rule_is_complete() -> None:
    codes = [rewriter.rule.code for rewriter, _ in documented()]
    names = [rewriter.rule.name for rewriter, _ in documented()]
    assert len(set(codes)) == len(codes)
    assert len(set(names)) == len(names)
    for rewriter, doc in documented():
        assert rewriter.cases, rewriter.rule.name
        for heading in ("What it does", "Why", "Safety", "References"):
            assert f"## {heading}" in doc, (rewriter.rule.name, heading)
