"""Scopes that share nothing by AUTO_REUSE: they are entered once, each by a name of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, said

TEXTS = Path(__file__).parents[3].joinpath("fixtures/session/siamese_scopes/before.py").read_text()
RIGHT = 'self.output_right = birnn(embedded_right, "right")'
AUTO = "weights may be shared by AUTO_REUSE"


def test_a_network_for_each_side() -> None:
    text, _ = migrated(TEXTS, native_sessions=True)
    assert "AUTO_REUSE" not in text
    assert "tf.function" in text


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([(RIGHT, RIGHT.replace('"right"', '"left"'))], AUTO),
        ([(RIGHT, RIGHT.replace('"right"', 'str("right")'))], AUTO),
        ([("near = self.Y", 'print("left")\n        near = self.Y')], AUTO),
        (
            [(RIGHT, f"for _ in range(1):\n            {RIGHT}")],
            "`embedded_right`, a part of the graph, is used outside of",
        ),
        (
            [("model = Model(", "other = Model(6, 2, 4, 20, 0.01, 1.0)\nmodel = Model(")],
            "several objects build graphs, and `tf.AUTO_REUSE` is about all of them",
        ),
    ],
)
def test_others_stay(pairs: list[tuple[str, str]], reason: str) -> None:
    result = run(changed(TEXTS, *pairs), bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    assert any(reason in one for one in said(result)), said(result)
