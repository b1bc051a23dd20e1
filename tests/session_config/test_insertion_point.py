"""Options of a session that a method makes stand before what the constructor makes."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self, rate):
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.w = tf.get_variable('w', [3, 1], initializer=tf.zeros_initializer())
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w) - 1.0))
        self.train_op = tf.train.GradientDescentOptimizer(rate).minimize(self.loss)

    def train(self, steps, fraction):
        config = tf.ConfigProto()
        config.gpu_options.allow_growth = True
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(steps):
                print(sess.run([self.loss, self.train_op], {self.x: np.ones((2, 3))}))


def main():
    model = Model(0.1)
    model.train(5, 0.5)


main()
"""


def test_constants_stand_before_the_object_is_made() -> None:
    after, _ = migrated(PROGRAM, bridge=True, native_sessions=True)
    assert after.index("set_memory_growth") < after.index("model = Model(0.1)")
    assert "train_step" in after


def test_what_is_not_known_there_keeps_the_program() -> None:
    program = PROGRAM.replace("allow_growth = True", "per_process_gpu_memory_fraction = fraction")
    after, told = migrated(program, bridge=True, native_sessions=True)
    assert "tf.disable_v2_behavior()" in after
    assert any("TensorFlow is initialized before it" in one for one in told)


LISTED = """\
import os
import tensorflow as tf

fraction = 0.5
config = tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))
config.gpu_options.per_process_gpu_memory_fraction = fraction
os.environ["CUDA_VISIBLE_DEVICES"] = "0"  # the fast one
total = tf.constant(1.0) + 2.0
with tf.Session(config=config) as sess:
    print(sess.run(total))
"""
CUDA = 'os.environ["CUDA_VISIBLE_DEVICES"] = "0"  # the fast one\n'
SESSION = "with tf.Session(config=config) as sess:\n"
MAY = "CUDA_VISIBLE_DEVICES may be set after it"


@pytest.mark.parametrize("native", [False, True])
def test_gpus_are_listed_behind_what_hides_them(native: bool) -> None:
    """Between the config and its session, where TF1 has not looked for them yet."""
    after, told = migrated(LISTED, bridge=True, native_sessions=native)
    above, _, below = after.partition(CUDA)
    moved = below[: below.index("total = ")]
    assert "list_physical_devices" in moved and "set_logical_device_configuration" in moved, told
    assert "list_physical_devices" not in above and "ConfigProto" not in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The session may be open by then, which has looked for them.
        (CUDA, ""),
        # It may not run, or run elsewhere.
        (CUDA, f"if fraction > 0.3:\n    {CUDA}"),
        (CUDA, f"def hide():\n    {CUDA}\n\nhide()\n"),
        # What the fraction is, is another thing there; and TensorFlow is initialized before.
        (CUDA, f"fraction = 0.25\n{CUDA}"),
        (CUDA, f"lines = tf.data.TextLineDataset('lines')\n{CUDA}"),
        (CUDA, f"print(config); {CUDA}"),
    ],
)
def test_gpus_that_are_hidden_in_another_way_keep_the_config(old: str, new: str) -> None:
    program = LISTED.replace(old, new)
    if not new:
        program += f"    {CUDA}"
    after, told = migrated(program, bridge=True)
    assert any(MAY in one for one in told), told
    assert "tf.Session(config=config)" in after


BOXES = """\
import os
import tensorflow as tf


def boxes():
    return tf.constant(1.0)
"""
TRAINS = """\
import tensorflow as tf
import boxes


def train():
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    with tf.Session(config=config) as sess:
        print(sess.run(boxes.boxes()))


if __name__ == "__main__":
    train()
"""
SETS = 'os.environ["CUDA_VISIBLE_DEVICES"] = "3"'


def kept_by_environment(boxes: str, trains: str = TRAINS) -> bool:
    after, messages = migrated(("boxes.py", BOXES + boxes), ("train.py", trains), bridge=True)
    moved = "set_memory_growth" in after
    assert moved != any(MAY in one for one in messages), messages
    return not moved


def test_what_another_script_sets_when_it_is_started_itself() -> None:
    assert not kept_by_environment(f'\n\nif __name__ == "__main__":\n    {SETS}\n')


def test_what_an_imported_file_sets_stands_before_all_functions() -> None:
    assert not kept_by_environment(f"\n\n{SETS}\n")
    through = TRAINS.replace("import boxes\n", "from networks import boxes\n")
    files = ("boxes.py", f"{BOXES}\n\n{SETS}\n"), ("networks.py", "import boxes\n")
    after, messages = migrated(*files, ("train.py", through), bridge=True)
    assert "set_memory_growth" in after, messages


CHOOSES = f"\n\ndef choose():\n    {SETS}\n"
IN_FUNCTION = TRAINS.replace("import boxes\n", "").replace("    with", "    import boxes\n    with")
BELOW = TRAINS.replace("import boxes\n", "").replace(
    "if __name__", "train()\nimport boxes\nif __name__"
)


@pytest.mark.parametrize(
    ("boxes", "trains"),
    [
        (CHOOSES, TRAINS.replace("print(sess", "boxes.choose()\n        print(sess")),
        (f"\n\n{SETS}\n", IN_FUNCTION),
        (f"\n\n{SETS}\n", BELOW),
        (f"\n\nif len(os.environ) > 9:\n    {SETS}\n", TRAINS),
    ],
)
def test_what_may_be_set_later(boxes: str, trains: str) -> None:
    assert kept_by_environment(boxes, trains)
