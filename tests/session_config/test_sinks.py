"""Calls that take a configuration, in libraries that the runtimes do not have."""

from __future__ import annotations

import pytest

from tests.support.migration import after, run, said

PROGRAM = """\
import tensorflow as tf
{imported}

config = tf.ConfigProto(allow_soft_placement=True)
{call}(train_op, session_config=config)
"""


def bridged(imported: str, call: str) -> tuple[str, str]:
    """The program's state, and what became of it."""
    text = PROGRAM.format(imported=imported, call=call)
    result = run(text, bridge=True)
    return result.programs[0].state, after(result, text)


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("import tf_slim as slim", "slim.learning.train"),
        ("import tf_slim", "tf_slim.evaluation.evaluate_once"),
        ("from tf_slim import evaluation", "evaluation.evaluation_loop"),
        ("from tf_slim.learning import train", "train"),
        ("slim = tf.contrib.slim", "slim.learning.train"),
    ],
)
def test_slim_takes_its_options_from_tf_config(imported: str, call: str) -> None:
    """Measured with tf_slim 1.1.0 on 2.15 and 2.21 (docs/semantics.md)."""
    state, text = bridged(imported, call)
    assert state == "bridge"
    assert "tf.config.set_soft_device_placement(True)\n" in text
    assert f"{call}(train_op)\n" in text and "ConfigProto" not in text


def test_what_is_not_known_may_open_a_session() -> None:
    state, text = bridged("import slim", "slim.learning.train")
    assert state == "bridge, config kept"
    assert "tf.disable_v2_behavior()" in text and "session_config=config" in text


def test_what_may_run_eagerly_is_not_bridged_for_a_config() -> None:
    text = PROGRAM.format(imported="import agent", call="agent.run").replace(".C", ".compat.v1.C")
    assert [program.state for program in run(text, bridge=True).programs] == ["refused"]


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ("tf.estimator.RunConfig('/tmp/m', session_config=config)", "the sessions of an Estimator"),
        ("tf.estimator.RunConfig().replace(session_config=config)", "the sessions of an Estimator"),
        ("tf.InteractiveSession(config=config)", "InteractiveSession"),
        ("tf.train.Server(spec, config=config)", "tf.train.Server"),
    ],
)
def test_what_reads_no_tf_config_is_called_so(use: str, reason: str) -> None:
    """The reason is about this call, which has a config: none says what one without does."""
    text = (
        "import tensorflow as tf\n\nconfig = tf.ConfigProto(log_device_placement=True)\n"
        f"made = {use}\nprint(tf.Session().run(tf.constant(1)), made)\n"
    )
    result = run(text, bridge=True)
    assert result.programs[0].state == "bridge, config kept"
    reasons = [one for one in said(result) if "read tf.config" in one]
    assert any(reason in one for one in reasons) and not any("without" in one for one in reasons)
