"""Programs that TF1 ran eagerly: which become TF2's, and what keeps one on the bridge."""

from __future__ import annotations

import pytest
from support.migration import run

PROGRAM = """\
import tensorflow as tf

tf.enable_eager_execution(config=tf.ConfigProto(log_device_placement=True))
w = tf.Variable(1.0)
optimizer = tf.train.AdamOptimizer(0.1)
with tf.GradientTape() as tape:
    loss = w * tf.log(w)
{rest}
"""


def test_one_becomes_tf2_code() -> None:
    code = PROGRAM.format(rest="optimizer.apply_gradients([(tape.gradient(loss, w), w)])")
    result = run(code, bridge=True)
    (program,) = result.programs
    assert (program.state, program.runs_on) == ("native", "TF 2.15 and newest")
    after = result.files[0].after or ""
    assert "compat.v1" not in after and "disable_v2_behavior" not in after
    assert "tf.math.log(w)" in after and "tf.keras.optimizers.Adam(0.1, epsilon=1e-8)" in after


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ("optimizer.minimize(lambda: w * w)", "`minimize`"),
        ("print(optimizer.get_slot(w, 'm'))", "`get_slot`"),
        ("optimizer.apply_gradients([], global_step=steps)", "global step"),
        ("print(tf.layers.dense(tf.ones([1, 2]), 3))", "tf.layers.dense"),
        ("print(tf.train.AdagradDAOptimizer(0.1, steps))", "AdagradDAOptimizer"),
    ],
)
def test_what_keeps_one_on_the_bridge(rest: str, told: str) -> None:
    result = run(PROGRAM.format(rest=rest), bridge=True)
    assert [program.state for program in result.programs] == ["bridge, config kept"]
    found = [f.message for f in result.findings if (f.code, f.state) == ("MGPU207", "kept")]
    assert len(found) == 1 and told in found[0]


def test_a_switch_that_only_some_runs_come_to() -> None:
    code = "import sys\n" + PROGRAM.format(rest="").replace(
        "tf.enable_eager", "if sys.argv[1:]:\n    tf.enable_eager"
    )
    assert "native" not in [program.state for program in run(code, bridge=True).programs]


def test_code_of_compat_v1_is_refused_for_the_name() -> None:
    code = PROGRAM.format(rest="print(tf.layers.dense(w, 1), w.numpy())")
    for name in ("enable_eager_execution", "ConfigProto", "train.", "log(", "layers"):
        code = code.replace(f"tf.{name}", f"tf.compat.v1.{name}")
    (program,) = run(code, bridge=True).programs
    assert program.state == "refused"
    assert "runs eagerly, and `tf.compat.v1.layers.dense`" in program.reasons[0].message


@pytest.mark.parametrize("line", ["tf.set_random_seed(1)", "tf.logging.info('x')"])
def test_settings_of_a_keras_program_become_tf2s(line: str) -> None:
    code = f"""\
import tensorflow as tf
tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto(log_device_placement=True)))
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
{line}
"""
    result = run(code, bridge=True)
    (program,) = result.programs
    assert (program.state, program.runs_on) == ("native", "TF 2.15 and newest")
    assert line not in (result.files[0].after or line)
    told = ["manual"] if "seed" in line else []
    assert [f.state for f in result.findings if "seed draws" in f.message] == told
