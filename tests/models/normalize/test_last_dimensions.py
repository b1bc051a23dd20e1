"""Shapes of variables that are a slice of a tensor's, and NumPy by `from utils import *`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, said

FOLDER = Path(__file__).parents[3] / "fixtures/session/dilated_norms/before"
MAIN, UTILS = (FOLDER / "main.py").read_text(), (FOLDER / "utils.py").read_text()


def test_the_last_dimension_is_a_list() -> None:
    text, _ = migrated(("main.py", MAIN), ("utils.py", UTILS), native_sessions=True)
    assert "params_shape = [input_shape[-1]]" in text
    assert "shape=[input_shape[-1]]," in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "inputs.shape[-1:], tf.float32",
            "inputs.shape[-2:], tf.float32",
            "the shape of a variable is not a literal",
        ),
        (
            "return gamma * normalized + beta",
            "return gamma * normalized + beta * len(params_shape)",
            "the shape of a variable is not a literal",
        ),
    ],
)
def test_other_slices_stay(old: str, new: str, reason: str) -> None:
    files = ("main.py", changed(MAIN, (old, new))), ("utils.py", UTILS)
    result = run(*files, bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    assert any(reason in one for one in said(result)), said(result)


@pytest.mark.parametrize(
    "utils",
    [
        UTILS + "\n__all__ = ['batches', 'made']\n",
        UTILS + "\nnp = None\n",
        UTILS.replace("import numpy as np", "import numpy as _np").replace(
            "np.random", "_np.random"
        ),
    ],
)
def test_what_a_helper_does_not_give_is_not_known(utils: str) -> None:
    files = ("main.py", MAIN), ("utils.py", utils)
    result = run(*files, bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    reason = "`np.arange` is not supported in code that builds the graph"
    assert any(reason in one for one in said(result)), said(result)
