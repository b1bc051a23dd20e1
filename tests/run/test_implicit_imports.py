"""A module of a package that imports its neighbour without a dot, as Python 2 did, is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_mgpu.core.findings import RunResult
from tests.support.migration import run

TRAIN = """\
import tensorflow as tf
from nets.resnet import network
{more}
sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
print(sess.run(network(tf.ones([2, 3]))))
"""
RESNET = """\
import tensorflow as tf
{imports}


def network(x):
    return tf.nn.relu(scaled(x))
"""
BLOCKS = "import tensorflow as tf\n\n\ndef scaled(x):\n    return 2. * tf.identity(x)\n"


def bridged(folder: Path, imports: str, more: str = "", **others: str) -> RunResult:
    files = {
        "train.py": TRAIN.format(more=more),
        "nets/__init__.py": "",
        "nets/resnet.py": RESNET.format(imports=imports),
        "nets/blocks.py": BLOCKS,
        **{f"{name.replace('__', '/')}.py": text for name, text in others.items()},
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return run(*[(str(folder / name), text) for name, text in files.items()], bridge=True)


def told(found: RunResult) -> list[tuple[str, int, str]]:
    (program,) = [one for one in found.programs if one.entry.name == "train.py"]
    assert program.state == "bridge"
    said = [(f.path.name, f.line, f.message) for f in found.findings if f.code == "MGPU908"]
    assert program.runs_on.endswith("but for what MGPU908 names") == bool(said)
    return said


@pytest.mark.parametrize("imports", ["from blocks import scaled", "from blocks import *"])
def test_a_neighbour_without_a_dot(tmp_path: Path, imports: str) -> None:
    assert told(bridged(tmp_path, imports)) == [
        ("resnet.py", 2, "Python 3 does not look for `blocks` in the package that imports it")
    ]


def test_a_file_that_has_nothing_of_tensorflow(tmp_path: Path) -> None:
    blocks = "def scaled(x):\n    return 2. * x\n"
    ((file, line, _),) = told(bridged(tmp_path, "from blocks import scaled", nets__blocks=blocks))
    assert (file, line) == ("resnet.py", 2)


@pytest.mark.parametrize(
    ("imports", "more"),
    [
        ("from .blocks import scaled", ""),
        ("from nets.blocks import scaled", ""),
        ("from blocks import scaled", "import sys\nsys.path.append('nets')"),  # it is found there
        ("try:\n    from .blocks import scaled\nexcept ImportError:\n"
         "    from blocks import scaled", ""),
    ],
)  # fmt: skip
def test_what_python_3_finds(tmp_path: Path, imports: str, more: str) -> None:
    assert told(bridged(tmp_path, imports, more)) == []


def test_a_module_beside_the_program(tmp_path: Path) -> None:
    found = bridged(tmp_path, "from blocks import scaled", blocks=BLOCKS)
    assert told(found) == []  # Python 3 takes that one; Python 2 took the package's


def test_a_name_of_the_standard_library(tmp_path: Path) -> None:
    imports = "import logging\nfrom .blocks import scaled"
    assert told(bridged(tmp_path, imports, nets__logging="level = 3\n")) == []


def test_a_program_in_the_package_s_folder(tmp_path: Path) -> None:
    """Its folder is where Python looks first."""
    train = TRAIN.format(more="").replace("nets.resnet", "resnet")
    found = bridged(tmp_path, "from blocks import scaled", nets__demo=train)
    (program,) = [one for one in found.programs if one.entry.name == "demo.py"]
    assert program.runs_on == "TF 2.15 and newest"
