"""What keeps programs from TF2 is named all at once: each reason once, the shortest list first."""

from __future__ import annotations

from tests.cli.running import Cli

PROGRAM = """\
import tensorflow as tf

a = tf.contrib.crf.CrfForwardRnnCell(1, 2)
{more}
sess = tf.Session(config=tf.ConfigProto(log_device_placement=True))
"""
MORE = "\n".join(
    f"tf.contrib.image.{name}(1)"
    for name in ("connected_components", "translate", "interpolate_spline", "dense_image_warp")
)
KERAS = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
x = tf.placeholder(tf.float32), tf.placeholder(tf.int32), tf.assign(1, 2)
y = tf.global_variables(), tf.get_variable(4), tf.get_collection("c")
model.fit([[1.0]], [[1.0]])
tape = tf.GradientTape()
tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto(log_device_placement=True)))
"""


def test_all_blockers_at_once(cli: Cli) -> None:
    cli.write(many=PROGRAM.format(more=MORE), one=PROGRAM.format(more=""), keras=KERAS)
    lines = cli("--check", ".").lines
    summary = lines[next(n for n, line in enumerate(lines) if line.startswith("Programs:")) :]
    named = [line.strip() for line in summary if line.strip() in ("one.py", "many.py", "keras.py")]
    assert named == ["one.py", "keras.py", "many.py"]
    for name in ("connected_components", "translate", "interpolate_spline", "dense_image_warp"):
        assert sum(name in line for line in summary) == 1
    for name in ("placeholder", "assign", "global_variables", "get_variable", "get_collection"):
        assert sum(f"`tf.{name}`" in line for line in summary) == 1
