"""Configurations are found by what their names mean, whatever they are called in a file."""

from __future__ import annotations

import pytest

from tests.support.migration import after, run

NAMED = ("settings.py", "from tensorflow import ConfigProto as Config\n")
PROGRAM = """\
import tensorflow as tf
{imported}

config = {made}()
config.gpu_options.allow_growth = True
with tf.Session(config=config) as sess:
    print(sess.run(tf.constant(1)))
"""


@pytest.mark.parametrize(
    ("imported", "made"),
    [
        ("", "tf.ConfigProto"),
        ("from tensorflow import ConfigProto as Made", "Made"),
        ("from settings import *", "Config"),
    ],
)
def test_a_configuration_by_another_name_moves(imported: str, made: str) -> None:
    program = "train.py", PROGRAM.format(imported=imported, made=made)
    result = run(program, NAMED, bridge=True)
    assert "tf.config.experimental.set_memory_growth(" in after(result, program)
    assert "allow_growth" not in after(result, program)
