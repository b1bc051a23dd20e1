"""Loops over the shapes of an earlier loop, with sizes asked of its weights: what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
PROGRAM = (FOLDER / "turned_shapes" / "before.py").read_text()
ADDED = "        shapes.append(net.get_shape().as_list())\n"
ASKED = "tf.zeros([kernel.get_shape().as_list()[2]])"

# What is changed.
STAYS = {
    "one of the lists is not turned": [("    shapes.reverse()\n", "")],
    "a list is turned twice": [("    kernels.reverse()\n", "    kernels.reverse()\n" * 2)],
    "a shape is added twice": [(ADDED, ADDED * 2)],
    "a shape is taken away": [
        ("    shapes.reverse()\n", "    shapes.reverse()\n    shapes.pop()\n")
    ],
    "the first loop may end early": [
        (ADDED, ADDED + "        if size > 9:\n            break\n")
    ],
    "the weights are of the round before": [("kernel = kernels[at]", "kernel = kernels[at - 1]")],
    "the decoder has no round for the last": [("enumerate(shapes)", "enumerate(shapes[:-1])")],
    "the list of sizes is changed": [("    code = net\n", "    code = net\n    sizes.append(2)\n")],
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    result = run(changed(PROGRAM, *STAYS[case]), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one for one in said(result)), said(result)
