"""Functions within a constructor whose parameters are its names where they are not given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

FIXTURE = Path(__file__).parents[3] / "fixtures" / "session" / "rnn_beams_two_ways" / "before.py"
HEAD = "def cells(size_layer=size_layer, reuse=False):"


def program() -> str:
    return FIXTURE.read_text(encoding="utf-8")


def test_each_call_gives_what_the_function_had_around_it() -> None:
    after = native(program())
    assert "\n\ndef cells(size_layer, reuse=False):\n" in after
    assert "[cells(size_layer=size_layer) for _ in range(num_layers)]" in after
    assert "cells(size_layer // 2)" in after


@pytest.mark.parametrize(
    "head",
    [
        "def cells(size_layer=size_layer * 1, reuse=False):",
        "def cells(reuse=False, size_layer=size_layer):",
    ],
)
def test_another_default_stays(head: str) -> None:
    text = program()
    assert HEAD in text
    text = text.replace(HEAD, head).replace(
        "cells(size_layer // 2)", "cells(size_layer=size_layer // 2)"
    )
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state.partition(",")[0] for one in result.programs] == ["bridge"], said(result)
    reason = "a loop makes a layer, or a schedule, anew each time"
    assert any(reason in message for message in said(result)), said(result)


@pytest.mark.parametrize(
    "read", ["print(model.encoder_state)", "print(getattr(model, 'encoder_state'))"]
)
def test_a_state_that_is_put_together_stays_where_it_is_read(read: str) -> None:
    text = program().replace("rng = np.random", f"{read}\nrng = np.random")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state.partition(",")[0] for one in result.programs] == ["bridge"], said(result)
