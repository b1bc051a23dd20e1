"""Shapes that functions have a name for, of whose sizes they make variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, said

FOLDER = Path(__file__).parents[3] / "fixtures/session"
TEXT = (FOLDER / "shapes_in_functions/before.py").read_text()
SIZE = "a layer's size or setting depends on the tensor"


def test_a_layer_is_built_of_the_shape() -> None:
    text, _ = migrated(TEXT, native_sessions=True)
    assert "input_shape[-1]" in text
    assert "len(x.get_shape()) - 1" in text
    assert "self.unused" in text  # it has a value, and no gradient


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shape = x.get_shape()\n", "x = tf.nn.relu(x)\n    shape = x.get_shape()\n"),
        ("shape = x.get_shape()\n", "shape = list(x.get_shape())\n"),
        ("    return gamma * x + beta", "    x = gamma * x + beta\n    return x * len(shape)"),
    ],
)
def test_other_shapes_stay(old: str, new: str) -> None:
    result = run(changed(TEXT, (old, new)), bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    assert any(SIZE in one for one in said(result)), said(result)


CELLS = (FOLDER / "normalized_cells/before.py").read_text()


@pytest.mark.parametrize(
    "setting", ["layer_norm=False", "norm_gain=0.5", "norm_shift=0.1", "dropout_keep_prob=0.9"]
)
def test_other_normalized_cells_stay(setting: str) -> None:
    text = changed(CELLS, ("forget_bias=forget_bias", f"forget_bias=forget_bias, {setting}"))
    result = run(text, bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    name = setting.partition("=")[0]
    assert any(f"`{name}` of `tf.contrib.rnn." in one for one in said(result)), said(result)
