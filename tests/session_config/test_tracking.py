"""Configurations are found by what their names mean, whatever they are called in a file."""

from __future__ import annotations

import pytest

from tests.support.migration import after, run, said

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


SETTINGS = "config = {'size': 3}\nprint(config['size'])\n"
MADE = "config = tf.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
OPENED = "with tf.Session(config=config) as sess:\n    print(sess.run(tf.constant(1)))\n"
PART = """\
part = tf.GPUOptions(per_process_gpu_memory_fraction=0.2)
tf.Session(config=tf.ConfigProto(gpu_options=part))
"""


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        (SETTINGS + MADE + OPENED, 1),
        (MADE + OPENED + SETTINGS, 1),
        (MADE + OPENED + "del config\n" + SETTINGS, 0),
        (MADE + OPENED + MADE + OPENED, 2),
        (PART + PART, 2),
        ("def main():\n" + indented(SETTINGS + MADE + OPENED) + "\n\nmain()\n", 1),
        # What is read may be the one or the other.
        (SETTINGS + "import sys\nif sys.argv:\n" + indented(MADE) + OPENED, 0),
        (MADE + "import sys\nif sys.argv:\n" + indented(SETTINGS) + OPENED, 0),
        ("for _ in range(2):\n" + indented(MADE + OPENED + SETTINGS), 0),
        (SETTINGS + MADE + "\n\ndef main():\n" + indented(OPENED) + "\n\nmain()\n", 0),
        ("def size():\n    return config['size']\n\n\n" + SETTINGS + MADE + OPENED, 0),
        ("def drop():\n    global config\n    config = {}\n\n\n" + MADE + "drop()\n" + OPENED, 0),
        (SETTINGS + MADE + OPENED + "print(config)\nconfig['size'] = 4\n", 0),
    ],
)
def test_a_name_that_is_used_again(text: str, moved: int) -> None:
    result = run("import tensorflow as tf\n" + text, bridge=True)
    assert result.sites["applied"] == moved, said(result)


def test_a_name_that_another_file_reads_is_one_variable() -> None:
    settings = "settings.py", "import tensorflow as tf\n" + SETTINGS + MADE
    train = "train.py", "import tensorflow as tf\nfrom settings import config\n" + OPENED
    result = run(settings, train, bridge=True)
    assert result.sites["applied"] == 0, said(result)


def test_a_config_moves_whose_lines_end_with_semicolons() -> None:
    lines = (MADE + OPENED).replace("e\n", "e;  # why\n")
    program = "train.py", "import tensorflow as tf\n" + lines
    result = run(program, bridge=True)
    assert "tf.config.experimental.set_memory_growth(" in after(result, program)
    assert "allow_growth" not in after(result, program)


def test_options_of_one_name_in_two_branches_move_from_both() -> None:
    """Each branch fills the one name `part` and makes the one name `config` of it."""
    branch = """\
    part = tf.GPUOptions(allow_growth=True)
    config = tf.ConfigProto(gpu_options=part)
"""
    text = f"import sys\nimport tensorflow as tf\nif sys.argv[1:]:\n{branch}else:\n{branch}{OPENED}"
    program = "train.py", text
    result = run(program, bridge=True)
    new = after(result, program)
    assert new.count("set_memory_growth(gpu, True)") == 2 and "GPUOptions" not in new
