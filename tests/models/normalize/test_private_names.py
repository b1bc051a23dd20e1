"""Names of TensorFlow's own files, and steps that are asked for again: what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.models.normalize.functions.private_names import public_name
from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
PROGRAM = (FOLDER / "private_names" / "before.py").read_text()
STEP = "    step = tf.train.get_global_step()\n"

# What is changed.
STAYS = {
    "TensorFlow has another name in a function": [
        ("def main():\n", "def main():\n    import tensorflow as tf\n")
    ],
    "the name is not public": [("array_ops.concat(", "array_ops.concat_v2(")],
    "the step may be another graph's": [("    rng =", "    other = tf.Graph()\n    rng =")],
    "there is no step above": [
        ("    global_step = tf.train.get_or_create_global_step()\n", ""),
        ("    rng =", "    global_step = tf.train.get_or_create_global_step()\n    rng ="),
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    result = run(changed(PROGRAM, *STAYS[case]), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)


@pytest.mark.parametrize(
    ("private", "public"),
    [
        ("layers.core.Dense", "layers.Dense"),
        ("ops.nn_ops.l2_loss", "nn.l2_loss"),
        ("ops.array_ops.concat", "concat"),
        ("ops.rnn_cell.GRUCell", "nn.rnn_cell.GRUCell"),
        ("ops.array_ops.concat_v2", ""),
    ],
)
def test_public_names(private: str, public: str) -> None:
    assert public_name(f"tensorflow.python.{private}") == public
