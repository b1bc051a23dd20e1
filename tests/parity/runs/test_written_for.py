"""Which TensorFlow the old program runs on, when nothing is said: by what it imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.parity.runs.written_for import names_devices, names_later_ones, says_compat_v1

TF1 = "import tensorflow as tf\ntf.Session()\n"
COMPAT = "import tensorflow.compat.v1 as tf\ntf.Session()\n"


def folder(place: Path, **files: str) -> Path:
    for name, text in files.items():
        path = place / (name.replace("__in__", "/") + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return place / "train.py"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (TF1, False),
        (COMPAT, True),
        ("import tensorflow.compat.v1\n", True),
        ("from tensorflow.compat import v1 as tf\n", True),
        ("from tensorflow.compat.v1 import Session\n", True),
        ("import tensorflow as tf\ntf.compat.v1.Session()\n", True),  # after tf_upgrade_v2
        ("from tensorflow import compat\ncompat.v1.Session()\n", True),
        ("import tensorflow as tf  # not tensorflow.compat.v1\ntf.Session()\n", False),
        ("import tensorflow.compat.v1.train as tf\n", True),
        ("import tensorflow.compat.v2 as tf\n", False),
        ("print('no TensorFlow')\n", False),
        ("print 'Python 2'\nimport tensorflow.compat.v1 as tf\n", False),
    ],
)
def test_one_module(tmp_path, text, found):
    assert says_compat_v1(folder(tmp_path, train=text), tmp_path) is found


@pytest.mark.parametrize("how", ["import model", "from model import f", "from . import model"])
def test_each_module_of_the_program_counts(tmp_path, how):
    program = folder(tmp_path, train=f"{how}\n{COMPAT}", model=TF1)
    assert not says_compat_v1(program, tmp_path), "one module is TF1 code"
    (tmp_path / "model.py").write_text(COMPAT)
    assert says_compat_v1(program, tmp_path)


def test_modules_that_the_program_does_not_import_do_not_count(tmp_path):
    assert says_compat_v1(folder(tmp_path, train=COMPAT, old=TF1), tmp_path)


def test_packages_below_the_root(tmp_path):
    program = tmp_path / "scripts" / "train.py"
    folder(tmp_path, scripts__in__train="import nets.model\n" + COMPAT, nets__in__model=TF1)
    assert not says_compat_v1(program, tmp_path)
    assert says_compat_v1(program, program.parent), "it is not looked for there"


def test_modules_that_import_each_other_end(tmp_path):
    program = folder(tmp_path, train="import other\n" + COMPAT, other="import train\n")
    assert says_compat_v1(program, tmp_path)


BRIDGED = """\
import tensorflow.compat.v1 as tf
import tensorflow as tf2
tf.disable_v2_behavior()
{}
"""


@pytest.mark.parametrize(
    ("line", "later"),
    [
        ("gpus = tf.config.list_physical_devices('GPU')", True),
        ("tf2.random.set_seed(1)", True),
        ("gpus = tf.config.experimental.list_physical_devices('GPU')", False),
        ("tf.set_random_seed(1)", False),
        ("session = tf.Session()", False),
    ],
)
def test_names_that_1_15_does_not_have(tmp_path: Path, line: str, later: bool) -> None:
    assert names_later_ones(folder(tmp_path, train=BRIDGED.format(line)), tmp_path) is later


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("with tf.device('/cpu:0'):\n    pass\n", True),
        ("count = len(get_available_gpus())\n", True),
        ("config.gpu_options.allow_growth = True\n", True),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n", True),
        ("strategy = tf.distribute.MirroredStrategy()\n", True),
        ("tf.ConfigProto(log_device_placement=True)\n", True),
        ("from towers import build\n", True),
        ("print 'Python 2, which may say anything'\n", True),
        ("sess = tf.Session()  # on a GPU, where there is one\n", False),
        ("sess.run(train)\n", False),
    ],
)
def test_what_may_use_several_devices(tmp_path, text, found):
    program = folder(tmp_path, train="import tensorflow as tf\nimport model\n", model=text)
    assert names_devices(program) is found
