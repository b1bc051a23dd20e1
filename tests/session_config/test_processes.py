"""Sessions of one process agree; what runs in another process has no say."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated

HELPER = """\
import tensorflow as tf


def build():
    return tf.placeholder(tf.float32)


def main():
    with tf.Session() as sess:
        print(sess.run(tf.constant(1)))


if __name__ == "__main__":
    {start}
"""
TRAIN = """\
import tensorflow as tf
import helper

x = helper.build()
config = tf.ConfigProto(allow_soft_placement=True)
sess = tf.Session(config=config)
"""


@pytest.mark.parametrize("start", ["main()", "tf.app.run()", "tf.app.run(main=main)"])
def test_a_session_of_another_script(start: str) -> None:
    """The helper is a program of its own, with its own session; training never opens that."""
    files = ("helper.py", HELPER.format(start=start)), ("train.py", TRAIN)
    left, messages = migrated(*files, bridge=True)
    assert "tf.config.set_soft_device_placement(True)\nsess = tf.Session()\n" in left, messages


@pytest.mark.parametrize(
    "called",
    [
        "helper.main()\n",
        "from helper import main as check\ncheck()\n",
        "def run(module):\n    module.main()\n\n\nrun(helper)\n",
    ],
)
def test_a_session_that_the_program_opens_as_well(called: str) -> None:
    helper = "helper.py", HELPER.format(start="main()")
    _, messages = migrated(("train.py", TRAIN + called), helper, bridge=True)
    assert any(
        "another session of the process has no config (helper.py:9)" in one for one in messages
    ), messages


SCRIPT = """\
import tensorflow as tf
{above}

def build():
    return tf.placeholder(tf.float32)


if __name__ == "__main__":
    config = tf.ConfigProto({option})
    sess = tf.Session(config=config)
"""
USER = """\
import tensorflow as tf
import script

with tf.Session() as sess:
    sess.run(script.build())
"""


def test_a_config_of_another_script() -> None:
    """Its calls stand under the guard, where the user of the module never comes."""
    script = SCRIPT.format(above="", option="allow_soft_placement=True")
    left, messages = migrated(("script.py", script), ("user.py", USER), bridge=True)
    moved = "    tf.config.set_soft_device_placement(True)\n    sess = tf.Session()\n"
    assert moved in left, messages


def test_a_config_that_would_be_set_above_the_guard() -> None:
    """There it would hold for the programs that import the module, too."""
    option = "intra_op_parallelism_threads=2"
    script = SCRIPT.format(above="\nDATA = tf.data.TextLineDataset(__file__)\n", option=option)
    left, messages = migrated(("script.py", script), bridge=True)
    assert left.index("set_intra_op") < left.index("DATA ="), messages
    left, messages = migrated(("script.py", script), ("user.py", USER), bridge=True)
    assert option in left
    assert any("another session of the process has no config" in one for one in messages), messages
