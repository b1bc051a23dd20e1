"""Modules with a main guard that other programs import, beside what these change."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.core.findings import RunResult
from tests.support.migration import run, said

FIXTURE = Path(__file__).parents[2] / "fixtures" / "towers" / "guarded_modules" / "before"
FILES = {path.name: path.read_text(encoding="utf-8") for path in sorted(FIXTURE.glob("*.py"))}
GUARD = "    print(parser.parse_args())\n"


def planned(guard: str) -> RunResult:
    """The plan of the fixture's modules, of which ``network.py`` does something as a program."""
    assert GUARD in FILES["network.py"]
    network = FILES["network.py"].replace(GUARD, guard)
    return run(*({**FILES, "network.py": network}.items()), bridge=True, native_sessions=True)


def state(result: RunResult) -> str:
    return next(one.state for one in result.programs if one.entry.name == "main.py")


@pytest.mark.parametrize("guard", [GUARD, "    pass\n", "    args = parser.parse_args()\n"])
def test_what_a_program_does_not_come_to_may_change(guard: str) -> None:
    assert state(planned(guard)) == "native"


@pytest.mark.parametrize(
    "guard",
    [
        "    print(parts.dense_layer(tf.zeros([2, 6]), 6, 3, 'layer'))\n",
        "    globals()['inference'](tf.zeros([2, 6]), 3, parser.parse_args())\n",
    ],
)
def test_what_it_calls_stays(guard: str) -> None:
    result = planned(guard)
    assert state(result) == "bridge"
    assert any("serves network.py as it is" in one for one in said(result))
