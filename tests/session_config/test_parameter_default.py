"""`if config is None: config = tf.ConfigProto(...)` of a parameter: it stays, its default moves."""

from __future__ import annotations

import pytest
from support.migration import run

HELPER = """\
import tensorflow as tf


def session(config=None):
    if config is None:
        config = tf.ConfigProto(log_device_placement=True)
    return tf.Session(config=config)


"""


@pytest.mark.parametrize(
    "calls",
    [
        "session()\n",
        "for _ in range(3):\n    session()\n",  # the condition holds each time
        "session(None)\n",
        "def outer(config=None):\n    return session(config)\nouter()\n",
    ],
)
def test_it_moves_where_no_call_gives_a_config(calls: str) -> None:
    result = run(HELPER + calls, bridge=True)
    after = result.files[0].after or ""
    assert [program.state for program in result.programs] == ["bridge"]
    assert "    if config is None:\n        tf.debugging.set_log_device_placement(True)\n" in after
    assert "return tf.Session(config=config)" in after  # whoever gives one is heard
    assert run(after, bridge=True).files == [] or not run(after, bridge=True).files[0].changed


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        # The options would hold for the session with a config as well.
        (HELPER + "session()\nsession(tf.ConfigProto(allow_soft_placement=True))\n", "condition"),
        (HELPER + "for make in (session, print):\n    make()\n", "condition"),
        (HELPER.replace("is None", "is not None") + "session()\n", "is a parameter"),
        (
            HELPER.replace("    return", "    else:\n        config.x = 1\n    return")
            + "session()\n",
            "is a parameter",
        ),
    ],
)
def test_it_stays_with_the_reason(code: str, reason: str) -> None:
    result = run(code, bridge=True)
    assert "bridge, config kept" in [program.state for program in result.programs]
    kept = [f.message for f in result.findings if f.code == "MGPU901"]
    assert any(reason in message for message in kept), kept


def test_a_default_that_is_written_out_is_told() -> None:
    code = """\
import tensorflow as tf
tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto({})))
with tf.device('/gpu:0'):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
"""
    for fields, told in (("log_device_placement=True", 1), ("allow_soft_placement=True", 0)):
        result = run(code.replace("{}", fields), bridge=True)
        assert "set_soft_device_placement" in (result.files[0].after or "")
        assert sum("this line keeps it off" in f.message for f in result.findings) == told
    plain = code.replace("{}", "log_device_placement=True")
    plain = plain.replace("with tf.device('/gpu:0'):\n    ", "")
    after = run(plain, bridge=True).files[0].after or ""
    assert "set_log_device" in after and "soft" not in after, "nothing names a device"
