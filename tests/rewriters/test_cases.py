"""Every rewriter's CASES: the documented example is what the tool does, twice as well as once."""

from __future__ import annotations

import pytest

from migrate_mgpu.core import registry as rules
from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.run.migrate import migrate

CASES = [
    pytest.param(case, id=f"{module.RULE.name}: {case.name}")
    for module in rules.modules()
    for case in module.CASES
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
def test_case(case: rules.Case) -> None:
    result = run(case.before)
    changed = after(result, case.before)
    if case.refused is not None:
        assert any(case.refused in finding.message for finding in result.findings)
        assert case.after is None or changed == case.after
    else:
        assert changed == case.after
    assert after(run(changed), changed) == changed


def test_every_rule_is_complete() -> None:
    codes = [module.RULE.code for module in rules.modules()]
    names = [module.RULE.name for module in rules.modules()]
    assert len(set(codes)) == len(codes)
    assert len(set(names)) == len(names)
    for module in rules.modules():
        assert module.CASES, module.RULE.name
        for heading in ("What it does", "Why", "Safety", "References"):
            assert f"## {heading}" in module.__doc__, (module.RULE.name, heading)
