"""MGPU906: requirement files that keep a migrated program on TF1."""

from __future__ import annotations

import pytest

from migrate_mgpu.output.requirements import outdated
from tests.cli.running import CLEAN, GROWTH, REFUSED, Cli

FINDING = (
    "requirements.txt:2:1: MGPU906 manual: `tensorflow-gpu==1.15.2` keeps train.py on TF1 "
    "(write `tensorflow>=2.15`: `tensorflow-gpu` is no longer published, `tensorflow` uses GPUs "
    "as well)"
)


def findings(cli: Cli, *argv: str) -> list[str]:
    return [line for line in cli(*argv).lines if "MGPU906" in line]


def test_beside_the_program(cli: Cli) -> None:
    cli.write(train=GROWTH)
    text = "numpy\ntensorflow-gpu==1.15.2  # CUDA 10\n"
    cli.put("requirements.txt", text)
    assert findings(cli, "--check", "train.py") == [FINDING]
    assert findings(cli, "--check", ".") == [FINDING]
    assert cli("--check", "--strict", ".").status == 5
    assert findings(cli, "--check", "--no-bridge", ".") == []
    assert findings(cli, ".") == [FINDING]
    assert cli.read("requirements.txt") == text  # never edited


def test_above_the_program_up_to_the_repository(cli: Cli) -> None:
    cli.write(repo__src__a__train=GROWTH)
    for folder in ("", "repo/", "repo/src/"):
        cli.put(f"{folder}requirements-gpu.txt", "tensorflow<2\n")
    assert len(findings(cli, "--check", "repo/src/a")) == 0
    assert len(findings(cli, "--check", "repo/src")) == 1
    (cli.folder / "repo/.git").mkdir()
    assert [line.split(":")[0] for line in findings(cli, "--check", "repo/src/a")] == [
        "repo/requirements-gpu.txt",
        "repo/src/requirements-gpu.txt",
    ]


def test_only_beside_programs_that_are_migrated(cli: Cli) -> None:
    cli.put("requirements.txt", "tensorflow==1.15\n")
    cli.write(old=REFUSED, clean=CLEAN)
    assert findings(cli, "--check", ".") == []
    cli.put("other/requirements.txt", "tensorflow==1.15\n")
    cli.write(train=GROWTH, again=GROWTH)
    found = findings(cli, "--check", ".")
    assert found == [
        "requirements.txt:1:1: MGPU906 manual: `tensorflow==1.15` keeps 2 migrated programs on "
        "TF1 (write `tensorflow>=2.15`)"
    ]


def test_the_advice_knows_what_the_program_runs_on(cli: Cli) -> None:
    cli.write(train=GROWTH + "images = tf.estimator.inputs.numpy_input_fn\n")
    cli.put("requirements.txt", "tensorflow==1.15\n")
    assert "(write `tensorflow==2.15.*`)" in findings(cli, "--check", ".")[0]


def test_it_can_be_silenced(cli: Cli) -> None:
    cli.write(train=GROWTH)
    cli.put("requirements.txt", "tensorflow==1.15  # mgpu: ignore\n")
    assert findings(cli, "--check", ".") == []
    cli.put("requirements.txt", "tensorflow==1.15\n")
    assert findings(cli, "--check", "--ignore", "tf1-requirement", ".") == []


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("requirements/base.txt", "tensorflow-gpu == 1.14.0", (1, 1)),
        ("requirements.in", "six\ntensorflow~=1.15", (2, 1)),
        ("setup.py", "setup(install_requires=['tensorflow>=1.4,<2.0'])", (1, 26)),
        ("setup.cfg", "[options]\ninstall_requires =\n    tensorflow_gpu<=1.15", (3, 5)),
        ("pyproject.toml", 'dependencies = ["numpy", "tensorflow (==1.15.*)"]', (1, 27)),
        ("pyproject.toml", 'tensorflow = "^1.15"', (1, 1)),
        ("pyproject.toml", 'tensorflow = {version = "1.15", optional = true}', None),
        ("Pipfile", 'tensorflow-gpu = "==1.15.0"', (1, 1)),
        ("Pipfile", 'tensorflow = {version = "~=1.15"}', (1, 1)),
        ("environment.yml", "dependencies:\n  - tensorflow-gpu=1.15", (2, 5)),
        ("environment_gpu.yaml", "  - pip:\n    - tensorflow==1.15", (2, 7)),
    ],
)
def test_kinds_of_files(cli: Cli, name: str, text: str, place: tuple[int, int] | None) -> None:
    cli.write(train=GROWTH)
    cli.put(name, text + "\n")
    found = findings(cli, "--check", "train.py")
    if place is None:
        assert found == []
    else:
        assert len(found) == 1
        assert found[0].startswith(f"{name}:{place[0]}:{place[1]}: MGPU906 manual: ")


@pytest.mark.parametrize(
    "line",
    [
        "tensorflow", "tensorflow>=1.15", "tensorflow==2.15.0", "tensorflow<3", "tensorflow<2.16",
        "# tensorflow==1.15", "tensorflow-estimator==1.15", "tensorflow-probability<1",
        "my-tensorflow==1.15", "tensorflow!=1.15", "x = tensorflow.constant(1)", "tensorflow>2",
        "tensorflow>=2,!=1.15", "tensorflow==12.0",
    ],
)  # fmt: skip
def test_what_is_no_obstacle(line: str) -> None:
    assert list(outdated(line)) == []


SLIM = """\
import tensorflow as tf
import tensorflow.contrib.slim as slim

net = slim.flatten(tf.ones([1, 2, 2]))
sess = tf.Session(config=tf.ConfigProto(log_device_placement=True))
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("numpy\ntensorflow\n", "numpy\ntensorflow\ntf-slim==1.1.0\n"),
        ("tensorflow>=1.4", "tensorflow>=1.4\ntf-slim==1.1.0\n"),
        ("tensorflow\r\nsix\r\n", "tensorflow\r\nsix\r\ntf-slim==1.1.0\r\n"),
        ("tensorflow\ntf_slim\n", None),
        ("tensorflow==1.15 --hash=sha256:ab\n", None),  # a line without one would be refused
    ],
)
def test_what_code_needs_now_is_added(cli: Cli, before: str, after: str | None) -> None:
    cli.write(src__train=SLIM)
    cli.put("requirements.txt", before)
    cli("--check", ".")
    assert cli.read("requirements.txt") == before
    assert ("+tf-slim==1.1.0" in cli("--diff", ".").out) == (after is not None)
    cli(".")
    written = cli.data("requirements.txt").decode()
    assert written == (after or before)
    cli(".")  # the second run needs nothing
    assert cli.data("requirements.txt").decode() == written


def test_the_file_that_names_tensorflow_is_the_one(cli: Cli) -> None:
    cli.write(src__train=SLIM)
    cli.put("src/requirements-docs.txt", "sphinx\n")
    cli.put("requirements/base.txt", "tensorflow\n")
    cli.put("requirements/test.txt", "pytest\n")
    cli.put("setup.py", "from setuptools import setup\nsetup(install_requires=['tensorflow'])\n")
    found = cli(".")
    assert cli.read("requirements/base.txt") == "tensorflow\ntf-slim==1.1.0\n"
    assert cli.read("src/requirements-docs.txt") == "sphinx\n"
    assert cli.read("requirements/test.txt") == "pytest\n"
    assert "install_requires=['tensorflow']" in cli.read("setup.py")  # told at the code
    assert any("add tf-slim to the requirements" in line for line in found.lines)
    assert any(line.startswith("requirements/base.txt:2:1: MGPU210") for line in found.lines)


def test_nothing_is_added_for_code_that_stays(cli: Cli) -> None:
    cli.write(train=SLIM.replace("slim.flatten", "slim.cannot"))
    cli.put("requirements.txt", "tensorflow\n")
    cli(".")
    assert cli.read("requirements.txt") == "tensorflow\n"
