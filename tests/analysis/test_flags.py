"""Flags by their definitions, and those at which absl ends.

What it takes was asked of absl as TF 1.15.5 and TF 2.15 bring it along.
"""

from __future__ import annotations

import pytest

from migrate_mgpu.run.claims import CODE
from tests.support.migration import run

PROGRAM = """\
import tensorflow as tf

flags = tf.app.flags
{definition}
FLAGS = flags.FLAGS
with tf.Session() as sess:
    print(sess.run(tf.constant(FLAGS.x)))
"""


def told(definition: str) -> list[str]:
    result = run(("train.py", PROGRAM.format(definition=definition)), bridge=True)
    (file,) = result.files
    return [one.message for one in file.findings if one.code == CODE]


@pytest.mark.parametrize(
    "definition",
    [
        "flags.DEFINE_string('x', 3, '')",
        "tf.flags.DEFINE_string('x', False, '')",
        "flags.DEFINE_integer('x', 0.5, '')",
        "flags.DEFINE_integer('x', default_value=True, docstring='')",
        "flags.DEFINE_boolean('x', 40.0, '')",
        "flags.DEFINE_bool('x', 'maybe', '')",
        "flags.DEFINE_float('x', True, '')",
    ],
)
def test_a_default_that_absl_does_not_take_is_told(definition: str) -> None:
    (said,) = told(definition)
    assert said.startswith("absl, which has TensorFlow's flags since 1.5, takes no ")
    assert said.endswith(" for `x`")


@pytest.mark.parametrize(
    "definition",
    [
        "flags.DEFINE_string('x', 'a', '')",
        "flags.DEFINE_string('x', None, '')",
        "flags.DEFINE_integer('x', '3', '')",
        "flags.DEFINE_integer('x', -1, '')",
        "flags.DEFINE_boolean('x', 1, '')",
        "flags.DEFINE_bool('x', 'False', '')",
        "flags.DEFINE_float('x', 1, '')",
        "flags.DEFINE_float('x', '1e-3', '')",
        "flags.DEFINE_list('x', 'a', '')",
        "flags.DEFINE_integer('x', size(), '')",
    ],
)
def test_what_absl_takes_is_not(definition: str) -> None:
    assert not told(definition)


@pytest.mark.parametrize(
    ("definition", "count"),
    [
        ("absl_flags.DEFINE_string('log_dir', '', '')", 1),
        ("absl_flags.DEFINE_string('log_dir', '', '', allow_override=True)", 0),
        ("absl_flags.DEFINE_string('logs', '', '')", 0),
    ],
)
def test_a_flag_that_absl_has_too_is_told(definition: str, count: int) -> None:
    said = told(f"from absl import flags as absl_flags\n{definition}")
    assert len(said) == count
    assert all("absl has a flag `log_dir` of its own" in one for one in said)


def test_a_flag_of_a_helper_without_tensorflow_is_told() -> None:
    program = "import config\n" + PROGRAM.format(definition="")
    helper = "from absl import flags\nflags.DEFINE_string('log_dir', '', '')\n"
    result = run(("train.py", program), ("config.py", helper), bridge=True)
    (file,) = (one for one in result.files if one.path.name == "config.py")
    assert [one.code for one in file.findings] == [CODE]
