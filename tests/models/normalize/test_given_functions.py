"""Functions that are given a function which makes layers, and loops of layers within loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, said

SERIES = Path(__file__).parents[3].joinpath("fixtures/session/nested_loops/before.py").read_text()
CALL = "z = layer(embedded, encoder_block, 3, size_layer * 2, embedded)"


def test_an_inner_loop_gives_what_the_next_turn_reads() -> None:
    text, _ = migrated(SERIES, native_sessions=True)
    assert "embedded, skips = residual_block_layers_layer(embedded=embedded, skips=skips)" in text
    assert "class EncoderBlockLayer(tf.keras.layers.Layer):" in text
    assert "class DecoderBlockLayer(tf.keras.layers.Layer):" in text


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        (
            [(CALL, f"block = [encoder_block][0]\n            {CALL.replace('encoder_', '')}")],
            "`conv_block` is not supported in code that builds the graph",
        ),
        (
            [("    return glu(z) + (res", "    print(conv_block)\n    return glu(z) + (res")],
            "`conv_block` is not supported in code that builds the graph",
        ),
    ],
)
def test_others_stay(pairs: list[tuple[str, str]], reason: str) -> None:
    result = run(changed(SERIES, *pairs), bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    assert any(reason in one for one in said(result)), said(result)
