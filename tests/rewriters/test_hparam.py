"""The module of hyperparameters that bridges get: what TF 1.15's does, and where it is found."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import migrate_mgpu.data
from migrate_mgpu.run.migrate import migrate
from migrate_mgpu.runtimes import Runtime
from tests.support import servers

RUNNER = Path(__file__).with_name("hparam_values.py")
FILE = Path(migrate_mgpu.data.__file__).with_name("hparam.py")
MODEL = """\
import tensorflow as tf


def params():
    return tf.contrib.training.HParams(rate=0.5)
"""
SESSION = """
with tf.Session() as sess:
    print(sess.run(tf.placeholder(tf.float32), {"Placeholder:0": params().rate}))
"""


def said(runtime: Runtime | None, *folder: Path) -> list[list[str]]:
    """What a runtime's Python finds, or this one's."""
    if runtime is None:
        command = [sys.executable, str(RUNNER), *map(str, folder)]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    else:
        shown = servers.alone(runtime, RUNNER, *folder)
    found: list[list[str]] = json.loads(shown.splitlines()[-1])
    return found


@pytest.mark.tensorflow
def test_it_does_what_tf1_does(tmp_path: Path, runtime: Callable[[str], Runtime]) -> None:
    old = said(runtime("tf1.15"))
    assert len(old) > 1000
    for one in (None, runtime("tf2.15"), runtime("tf2-latest")):
        new = said(one, FILE.parent)
        assert [one for one in zip(old, new) if one[0] != one[1]] == []
        assert len(new) == len(old)
    for right, wrong in (
        ("if is_list:\n                raise", "if False:\n                raise"),
        ("issubclass(kind, bool) != isinstance(value, bool)", "False"),
        ("texts = [text for text in", "texts = [text.lower() + '0' for text in"),
    ):
        text = FILE.read_text("utf-8")
        assert right in text
        (tmp_path / "hparam.py").write_text(text.replace(right, wrong), "utf-8")
        assert said(None, tmp_path) != old, right


def run(folder: Path) -> dict[str, str]:
    paths = sorted(folder.rglob("*.py"))
    result = migrate([(str(path), path.read_bytes()) for path in paths], bridge=True, write=True)
    states = {one.state for one in result.programs}
    after = {str(p.relative_to(folder)): p.read_text("utf-8") for p in folder.rglob("*.py")}
    return {**after, "state": ", ".join(sorted(states))}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)


PACKAGE = {"nmt/__init__.py": "", "nmt/utils/__init__.py": "", "nmt/utils/misc.py": MODEL}
RELATIVE = "import tensorflow as tf\nfrom .utils.misc import params\n"


def test_a_package_has_one_file(tmp_path: Path) -> None:
    # A module may be called as its package.
    test = (
        "import tensorflow as tf\nfrom . import nmt, utils\nfrom . import utils\nprint(nmt.more)\n"
    )
    train = RELATIVE + "more = tf.contrib.training.HParams(a=1)\n" + SESSION
    write(tmp_path, {**PACKAGE, "nmt/nmt.py": train, "nmt/test.py": test})
    after = run(tmp_path)
    assert after["state"] == "bridge"
    assert after["nmt/hparam.py"] == FILE.read_text("utf-8")
    assert "nmt/utils/hparam.py" not in after
    assert "\nfrom ..hparam import HParams\n" in after["nmt/utils/misc.py"]
    assert "\nfrom .hparam import HParams\n" in after["nmt/nmt.py"]
    assert run(tmp_path) == after


def test_a_package_itself_has_it_inside(tmp_path: Path) -> None:
    train = "import tensorflow as tf\nfrom nmt import params\n" + SESSION
    write(tmp_path, {"nmt/__init__.py": MODEL, "train.py": train})
    after = run(tmp_path)
    assert after["state"] == "bridge"
    assert "\nfrom .hparam import HParams\n" in after["nmt/__init__.py"]
    assert after["nmt/hparam.py"] == FILE.read_text("utf-8")
    (tmp_path / "nmt" / "hparam.py").write_text("HParams = 1\n")
    (tmp_path / "nmt" / "__init__.py").write_text("from .hparam import HParams\n")
    subprocess.run([sys.executable, "-c", "import nmt; nmt.HParams"], cwd=tmp_path, check=True)


def test_a_package_in_another_one_is_not_known_to_be_the_outermost(tmp_path: Path) -> None:
    train = "import tensorflow as tf\nfrom nmt.inner import params\n" + SESSION
    write(tmp_path, {"nmt/__init__.py": "", "nmt/inner/__init__.py": MODEL, "train.py": train})
    after = run(tmp_path)
    assert after["state"] == "refused"
    assert not any("hparam" in name for name in after)


def test_an_absolute_name_of_the_package(tmp_path: Path) -> None:
    train = "import tensorflow as tf\nfrom nmt.utils.misc import params\n"
    train += "more = tf.contrib.training.HParams(a=1)\n" + SESSION
    write(tmp_path, {**PACKAGE, "nmt/train.py": train})
    after = run(tmp_path)
    assert after["state"] == "bridge"
    assert "\nfrom nmt.hparam import HParams\n" in after["nmt/train.py"]


def test_a_folder_without_init_is_a_package_to_those_that_import_from_it(tmp_path: Path) -> None:
    train = "import tensorflow as tf\nfrom models.one import params\n" + SESSION
    write(tmp_path, {"train.py": train, "models/one.py": MODEL})
    after = run(tmp_path)
    assert after["state"] == "bridge"
    assert "\nfrom .hparam import HParams\n" in after["models/one.py"]
    assert "models/hparam.py" in after


TWO = """\
try:
    from .hparam import HParams
except ImportError:  # without its package
    from hparam import HParams
"""


@pytest.mark.parametrize(
    "files",
    [
        {"pkg/__init__.py": "", "pkg/a.py": MODEL + SESSION},  # as a script, or by its package
        {
            "pkg/b.py": "import tensorflow as tf\nfrom pkg.a import params\n" + SESSION,
            "pkg/a.py": MODEL,
            "pkg/two.py": "import tensorflow as tf\nfrom a import params\n" + SESSION,
        },
    ],
)
def test_a_module_of_two_names(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, files)
    after = run(tmp_path)
    assert after["state"] == "bridge"
    assert TWO in after["pkg/a.py"] and after["pkg/hparam.py"] == FILE.read_text("utf-8")
    assert run(tmp_path) == after
    (tmp_path / "pkg" / "only.py").write_text(TWO)
    for start in ("import pkg.only", "import sys; sys.path[0] = 'pkg'; import only"):
        subprocess.run([sys.executable, "-c", start], cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    "code",
    [
        "print(params().to_proto())",
        "print(tf.contrib.training.HParams)",
        "if type(params()) is tf.contrib.training.HParams: pass",
        "if issubclass(type(params()), tf.contrib.training.HParams): pass",
        "class Own(tf.contrib.training.HParams, metaclass=type): pass",
        "class Own(tf.contrib.training.HParams, dict): pass",
    ],
)
def test_it_stays(tmp_path: Path, code: str) -> None:
    files = {"a.py": MODEL + code + SESSION}
    write(tmp_path, files)
    after = run(tmp_path)
    assert after.pop("state") == "refused"
    assert after == files


def test_a_name_that_a_star_brings_is_written_where_it_is_used(tmp_path: Path) -> None:
    layers = "import tensorflow as tf\nfrom tensorflow.contrib.layers.python.layers import "
    use = "start = initializers.xavier_initializer()\n"
    train = "import tensorflow as tf\nfrom layers import *\n" + use
    files = {
        "layers.py": layers + "initializers\n" + use,
        "train.py": train + "params = dict" + SESSION,
    }
    write(tmp_path, files)
    after = run(tmp_path)
    assert after["state"] == "bridge"
    assert "initializers" not in after["layers.py"] + after["train.py"]


def test_an_object_of_another_package_is_one(tmp_path: Path) -> None:
    check = "import tensorflow as tf\n\n\ndef fits(one):\n"
    check += "    return isinstance(one, tf.contrib.training.HParams)\n"
    train = "import tensorflow as tf\nfrom one.a import fits\nfrom two.b import params\n"
    write(
        tmp_path,
        {
            "train.py": train + "assert fits(params())" + SESSION,
            "one/a.py": check,
            "two/b.py": MODEL,
        },
    )
    after = run(tmp_path)
    assert after["state"] == "bridge"
    assert after["one/hparam.py"] == after["two/hparam.py"]
    code = "from one.hparam import HParams as One\nfrom two.hparam import HParams as Two\n"
    code += "class Own(One): pass\nassert isinstance(Two(), One) and isinstance(Own(), Two)\n"
    code += "assert not isinstance(1, One) and not isinstance(Two(), Own)"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_mnist_too_is_not_looked_for_beside_a_module_of_a_package(tmp_path: Path) -> None:
    data = "from tensorflow.examples.tutorials.mnist import input_data\n"
    data += "mnist = input_data.read_data_sets('data')\n"
    train = "import tensorflow as tf\nfrom models.one import mnist\nparams = dict\n" + SESSION
    write(tmp_path, {"train.py": train, "models/one.py": data})
    after = run(tmp_path)
    assert after["state"] == "bridge" and "models/input_data.py" in after
    assert after["models/one.py"].startswith("from models import input_data\n")


def test_the_file_of_a_package_outside_the_paths_is_not_written(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            **PACKAGE,
            "nmt/utils/train.py": "import tensorflow as tf\nfrom .misc import params\n" + SESSION,
        },
    )
    after = run(tmp_path / "nmt" / "utils")
    assert after["state"] == "refused"
    assert not (tmp_path / "nmt" / "hparam.py").exists()


def test_a_relative_import_in_a_folder_without_init(tmp_path: Path) -> None:
    train = "import tensorflow as tf\nfrom models.two import params\n" + SESSION
    other = "from models.one import params as other\nfrom .one import params\n"
    write(tmp_path, {"train.py": train, "models/one.py": MODEL, "models/two.py": other})
    after = run(tmp_path)
    assert after["state"] == "bridge"
    assert "\nfrom .hparam import HParams\n" in after["models/one.py"]
    assert "models/hparam.py" in after


@pytest.mark.parametrize("folder", ["1. Regression", "package"])
def test_a_notebook_has_it_beside(tmp_path: Path, folder: str) -> None:
    """It runs where it lies: it is no module of a package, whatever it is called."""
    lines = (
        "import tensorflow as tf\n"
        "params = tf.contrib.training.HParams(rate=0.1)\n"
        "with tf.Session() as sess:\n    print(sess.run(tf.constant(params.rate)))\n"
    )
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": lines}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    name = f"{folder}/02.0 - Model.ipynb"
    write(tmp_path, {f"{folder}/__init__.py": "", name: text})
    result = migrate([(str(tmp_path / name), text.encode())], bridge=True, write=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert (tmp_path / folder / "hparam.py").read_text("utf-8") == FILE.read_text("utf-8")
    assert "from hparam import HParams" in (tmp_path / name).read_text("utf-8")


def test_below_future_imports(tmp_path: Path) -> None:
    text = "from __future__ import print_function\nfrom tensorflow.contrib import training\n"
    text += MODEL.replace("tf.contrib.", "").replace("tensorflow as", "tensorflow.compat.v1 as")
    write(tmp_path, {"train.py": text + SESSION})
    after = run(tmp_path)
    assert after["state"] == "bridge"
    compile(after["train.py"], "train.py", "exec")
    assert "from hparam import HParams\n" in after["train.py"]


def test_what_tf_slim_looks_for_stands_below_its_import(tmp_path: Path) -> None:
    text = "import tensorflow as tf\nfrom tensorflow.contrib import slim\n"
    text += "from tensorflow.contrib import training\n\n\ndef params():\n"
    text += "    slim.batch_norm(tf.ones([2, 2]))\n    return training.HParams(rate=0.5)\n"
    write(tmp_path, {"train.py": text + SESSION})
    lines = run(tmp_path)["train.py"].splitlines()
    assert "from hparam import HParams" in lines
    mend = next(number for number, line in enumerate(lines) if line.startswith("slim."))
    assert lines.index("import tf_slim as slim") < mend
