"""Savers that several methods make, in the phases of a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import run, said

FIXTURE = Path(__file__).parents[3] / "fixtures" / "session" / "network_in_phases" / "before"
AGAIN = "variables are initialized after"
STAYS = {
    "both phases": ("main.py", "if args.phase == 'test' :", "if args.epoch > 0 :", AGAIN),
    "the phase changes": ("utils.py", "def load_data():", "def f(a):\n    a.phase = 1\n\n"
                          "def load_data():", AGAIN),
    "the phase may change": ("utils.py", "def load_data():", "def f(a):\n    setattr(a, 'phase', 1)"
                             "\n\ndef load_data():", AGAIN),
    "another kind of saver": (
        "SmallNet.py", "tf.train.Saver()\n\n        # summary",
        "tf.train.Saver(max_to_keep=2)\n\n        # summary", "`self`, which has"),
    "both save": (
        "SmallNet.py", "        print(\"test_accuracy", "        self.save('other', 0)\n"
        "        print(\"test_accuracy", "`self`, which has"),
}  # fmt: skip


def _run(**changed: str) -> object:
    texts = ((one.name, one.read_text()) for one in sorted(FIXTURE.glob("*.py")))
    files = [(name, changed.get(name[:-3], text)) for name, text in texts]
    return run(*files, bridge=True, native_sessions=True)


@pytest.mark.parametrize(("name", "old", "new", "why"), STAYS.values(), ids=STAYS)
def test_stays(name: str, old: str, new: str, why: str) -> None:
    text = (FIXTURE / name).read_text()
    assert old in text
    result = _run(**{name[:-3]: text.replace(old, new)})
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    assert any(why in message for message in said(result)), said(result)
