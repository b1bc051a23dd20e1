"""Calls that take a configuration, in libraries that the runtimes do not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.run.migrate import migrate

PROGRAM = """\
import tensorflow as tf
{imported}

config = tf.ConfigProto(allow_soft_placement=True)
{call}(train_op, session_config=config)
"""


def migrated(tmp_path: Path, imported: str, call: str) -> tuple[str, str]:
    path = tmp_path / "train.py"
    text = PROGRAM.format(imported=imported, call=call)
    path.write_text(text)
    result = migrate([(path, text.encode())], bridge=True, write=True)
    return result.programs[0].state, path.read_text()


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("import tf_slim as slim", "slim.learning.train"),
        ("import tf_slim", "tf_slim.evaluation.evaluate_once"),
        ("from tf_slim import evaluation", "evaluation.evaluation_loop"),
        ("from tf_slim.learning import train", "train"),
    ],
)
def test_slim_takes_its_options_from_tf_config(tmp_path: Path, imported: str, call: str) -> None:
    """Measured with tf_slim 1.1.0 on 2.15 and 2.21 (docs/semantics.md)."""
    state, text = migrated(tmp_path, imported, call)
    assert state == "bridge"
    assert "tf.config.set_soft_device_placement(True)\n" in text
    assert f"{call}(train_op)\n" in text and "ConfigProto" not in text


def test_what_is_not_known_may_open_a_session(tmp_path: Path) -> None:
    state, text = migrated(tmp_path, "import slim", "slim.learning.train")
    assert state == "bridge, config kept"
    assert "tf.disable_v2_behavior()" in text and "session_config=config" in text


def test_what_may_run_eagerly_is_not_bridged_for_a_config(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = PROGRAM.format(imported="import agent", call="agent.run").replace(".C", ".compat.v1.C")
    result = migrate([(path, text.encode())], bridge=True, write=False)
    assert result.programs[0].state == "refused"
