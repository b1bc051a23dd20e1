"""The reader of MNIST that bridges get: what TF 1.15's does, and how its file comes and stays."""

from __future__ import annotations

import gzip
import json
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import migrate_mgpu.data
from migrate_mgpu.run.migrate import migrate
from migrate_mgpu.runtimes import Runtime
from tests.support import servers

RUNNER = Path(__file__).with_name("mnist_batches.py")
FILE = Path(migrate_mgpu.data.__file__).with_name("input_data.py")
PROGRAM = """\
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets("data", one_hot=True)
with tf.Session() as sess:
    print(sess.run(tf.placeholder(tf.float32), {"Placeholder:0": mnist.train.next_batch(2)[0]}))
"""


def images(folder: Path) -> None:
    """A small MNIST in the files of the real one."""
    numbers = random.Random(1)
    for part, count in (("train", 100), ("t10k", 33)):
        head = struct.pack(">IIII", 2051, count, 28, 28)
        pixels = bytes(numbers.randrange(256) for _ in range(count * 784))
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + pixels))
        head = struct.pack(">II", 2049, count)
        labels = bytes(numbers.randrange(10) for _ in range(count))
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(head + labels))


def batches(runtime: Runtime, *words: Path) -> object:
    return json.loads(servers.alone(runtime, RUNNER, *words).splitlines()[-1])


@pytest.mark.tensorflow
def test_the_same_arrays_and_batches(tmp_path: Path, runtime: Callable[[str], Runtime]) -> None:
    images(tmp_path)
    old = batches(runtime("tf1.15"), tmp_path)
    for name in ("tf2.15", "tf2-latest"):
        assert batches(runtime(name), tmp_path, FILE.parent) == old, name
    broken = tmp_path / "broken"
    broken.mkdir()
    text = FILE.read_text("utf-8").replace(
        "rest[1], self.labels[: self._start]", "self.labels[:7],"
    )
    (broken / "input_data.py").write_text(text, "utf-8")
    assert batches(runtime("tf2.15"), tmp_path, broken) != old


def run(folder: Path) -> dict[str, str]:
    contents = [(str(path), path.read_bytes()) for path in sorted(folder.glob("*.py"))]
    result = migrate(contents, bridge=True, write=True)
    assert [one.state for one in result.programs] == ["bridge"]
    return {path.name: path.read_text("utf-8") for path in folder.glob("*.py")}


def test_the_file_is_written_once(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    after = run(tmp_path)
    assert after["input_data.py"] == FILE.read_text("utf-8")
    assert "\nimport input_data\n" in after["train.py"]
    assert run(tmp_path) == after


def test_an_import_in_a_function(tmp_path: Path) -> None:
    head, tail = PROGRAM.split("\nmnist = ")
    head, line = head.split("\n")[:2]
    body = f"\n\ndef load():\n    {line}\n    return {tail.splitlines()[0]}\n\n\nmnist = load()\n"
    (tmp_path / "train.py").write_text(head + body + "\n".join(tail.splitlines()[1:]) + "\n")
    after = run(tmp_path)
    assert "def load():\n    import input_data\n    return input_data.read" in after["train.py"]
    assert "input_data.py" in after


def test_an_import_that_nothing_uses_goes_from_a_native_program(tmp_path: Path) -> None:
    text = (
        "import tensorflow as tf\n"
        "from tensorflow.examples.tutorials.mnist import input_data\n\n"
        "x = tf.placeholder(tf.float32, [2])\n"
        "y = x * 2.0\n"
        "with tf.Session() as sess:\n"
        "    print(sess.run(y, {x: [1.0, 2.0]}))\n"
    )
    result = migrate([(str(tmp_path / "train.py"), text.encode())], True, False)
    assert [one.state for one in result.programs] == ["native"]
    (file,) = result.files
    assert "input_data" not in file.after


def test_a_module_of_a_package(tmp_path: Path) -> None:
    home = tmp_path / "data"
    home.mkdir()
    (home / "__init__.py").touch()
    (home / "digits.py").write_text("\n".join(PROGRAM.splitlines()[:4]) + "\n")
    main = PROGRAM.replace(PROGRAM.splitlines()[1], "from data.digits import mnist")
    (tmp_path / "train.py").write_text(main.replace(PROGRAM.splitlines()[3] + "\n", ""))
    files = [tmp_path / "train.py", home / "__init__.py", home / "digits.py"]
    result = migrate([(str(one), one.read_bytes()) for one in files], bridge=True, write=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert "\nfrom data import input_data\n" in (home / "digits.py").read_text()
    assert (home / "input_data.py").read_text("utf-8") == FILE.read_text("utf-8")


def test_a_script_in_the_folder_of_a_package(tmp_path: Path) -> None:
    """Nothing says whether it is run by itself or as a module: it finds the file both ways."""
    home = tmp_path / "digits"
    home.mkdir()
    (home / "__init__.py").touch()
    (home / "train.py").write_text(PROGRAM.replace("input_data\n", "input_data  # digits\n", 1))
    files = [(str(one), one.read_bytes()) for one in (home / "__init__.py", home / "train.py")]
    assert [one.state for one in migrate(files, True, True).programs] == ["bridge"]
    text = (home / "train.py").read_text()
    assert (
        "\ntry:\n    from . import input_data  # digits\n"
        "except ImportError:  # without its package\n    import input_data\n"
    ) in text
    (home / "input_data.py").write_text("def read_data_sets(*_, **__):\n    return 3\n")
    (home / "train.py").write_text(text[text.index("try:") : text.index("with ")] + "print(mnist)")
    for words in (["digits/train.py"], ["-m", "digits.train"]):
        ran = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert ran.stdout == "3\n"


def test_a_file_of_the_author_stays(tmp_path: Path) -> None:
    (tmp_path / "input_data.py").write_text("SIZE = 3\n")
    (tmp_path / "train.py").write_text(PROGRAM)
    after = run(tmp_path)
    assert after["input_data.py"] == "SIZE = 3\n"
    assert after["mnist_input_data.py"] == FILE.read_text("utf-8")
    assert "\nimport mnist_input_data as input_data\n" in after["train.py"]


def test_a_name_is_not_imported_as_itself(tmp_path: Path) -> None:
    home = "tensorflow.examples.tutorials.mnist"
    line = f"from {home} import input_data"
    assert line in PROGRAM
    (tmp_path / "train.py").write_text(
        PROGRAM.replace(line, f"import {home}.input_data as input_data")
    )
    assert "\nimport input_data\n" in run(tmp_path)["train.py"]


def test_a_program_whose_file_cannot_be_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    monkeypatch.setattr("migrate_mgpu.run.migrate.open", _no_space, raising=False)
    contents = [(str(tmp_path / "train.py"), PROGRAM.encode())]
    result = migrate(contents, bridge=True, write=True)
    assert {file.path.name: file.error is not None for file in result.files} == {
        "input_data.py": True,
        "train.py": True,
    }
    assert (tmp_path / "train.py").read_text() == PROGRAM


def _no_space(*args: object, **keywords: object) -> None:
    raise OSError(28, "No space left on device")
