"""`migrate-mgpu parity train.py`: a copy is migrated and compared, the program stays as it is."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from migrate_mgpu import runtimes
from migrate_mgpu.cli import main, migrate_copy
from migrate_mgpu.parity.pair import Migration, Pair, added, as_tf1_code, programs, with_keras

FIXTURES = Path(__file__).parents[2] / "fixtures"

PROGRAM = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
config = tf.ConfigProto(allow_soft_placement=True)
config.gpu_options.allow_growth = True
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(4):
        print("%.5f" % sess.run([loss, train], {x: [[1.0, 2.0], [0.5, -1.0]]})[0])
"""


def parity(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(["parity", *argv], out, err), out.getvalue(), err.getvalue()


def test_a_program_and_its_migrated_copy(
    tmp_path: Path, runtime: Callable[[str], runtimes.Runtime]
) -> None:
    runtime("tf1.15"), runtime("tf2.15")
    program = tmp_path / "train.py"
    program.write_text(PROGRAM)
    status, out, err = parity(str(program), "--devices", "1", "--reference", "tf1.15")
    assert status == 0, out + err
    assert "1 device: EQUIVALENT" in out
    assert program.read_text() == PROGRAM


def test_a_program_that_cannot_be_migrated(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(PROGRAM + "tf.contrib.crf.CrfForwardRnnCell\n")
    status, out, err = parity(str(program))
    assert (status, out) == (8, "")
    assert "not migrated" in err and "tensorflow.contrib.crf" in err


SLIM = """\
import tensorflow as tf
import tensorflow.contrib.slim as slim

x = tf.placeholder(tf.float32, [None, 2])
out = slim.fully_connected(x, 2)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(out, {x: [[1.0, 2.0]]}), out.op.type)
"""


CELLS = """\
import tensorflow as tf
from tensorflow.contrib import rnn

x = tf.placeholder(tf.float32, [None, 3, 2])
out, _ = tf.nn.dynamic_rnn(rnn.BasicLSTMCell(4), x, dtype=tf.float32)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(out, {x: [[[1.0, 2.0]] * 3]}), out.op.type)
"""


def test_what_the_migrated_copy_needs_is_added_to_its_runtime(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SLIM)
    migration = migrate_copy(Path("train.py"), tmp_path)
    assert list(migration.packages) == ["tf-slim==1.1.0"]
    said = io.StringIO()

    def needed(**asked: object) -> list[str]:
        return added(replace(Pair(tmp_path / "train.py"), **asked), migration, said)

    assert needed() == needed(target="tf2.15") == ["tf-slim==1.1.0"]
    assert "needs tf-slim==1.1.0: added to its runtime" in said.getvalue()
    assert needed(packages=("tf-slim",)) == needed(packages=("tf-slim==1.1.0",)) == []
    assert needed(target="/usr/bin/python3") == needed(target="tf2.15+tf-slim==1.1.0") == []


OLD = """\
import tensorflow as tf
import helper

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
with tf.Session(config=config) as sess:
    print 'value', sess.run(tf.mul(2, tf.constant(helper.size())))
"""
HELPER = "def size():\n    return sum(i for i in xrange(3))\n"


def test_the_old_program_runs_as_python_3_and_1_15_take_it(tmp_path: Path) -> None:
    """With its syntax and its names of early TensorFlow converted, and the rest as it was."""
    folder = tmp_path / "given"
    folder.mkdir()
    for name, text in (("train.py", OLD), ("helper.py", HELPER), ("plain.py", "print(1)\n")):
        (folder / name).write_text(text)
    pair = Pair(folder / "train.py")
    before, after, roots, migration = programs(pair, tmp_path / "work", migrate_copy)
    assert migration is not None
    made = {str(path): tuple(rules) for path, (_, rules) in migration.reference.items()}
    assert made == {"helper.py": ("MGPU212",), "train.py": ("MGPU212", "MGPU213")}
    said = "sess.run(tf.mul(2, tf.constant(helper.size())))"
    wanted = OLD.replace(f"print 'value', {said}", f"print('value', {said})")
    assert before.read_text() == wanted.replace("tf.mul", "tf.multiply")
    assert before.with_name("helper.py").read_text() == HELPER.replace("xrange", "range")
    assert before.parent in roots and "ConfigProto" not in after.read_text()
    assert pair.before.read_text() == OLD


def test_cells_run_beside_the_legacy_keras_on_the_newest_tensorflow(tmp_path: Path) -> None:
    """A bridge that is said to run there with tf-keras and TF_USE_LEGACY_KERAS=1 has both."""
    place = tmp_path / "train.py"
    place.write_text(CELLS)
    migration = migrate_copy(Path("train.py"), tmp_path)
    assert migration.legacy_keras and not migration.native

    def needed(target: str | None) -> list[str]:
        return added(replace(Pair(place), target=target), migration, None)

    assert needed("tf2-latest") == [runtimes.LEGACY_KERAS]
    assert needed(None) == needed("tf2.15") == []
    asked = Pair(place, packages=("pandas", "tf-keras"))
    assert asked.more("tf2-latest") == ["pandas", "tf-keras"] and asked.more("tf1.15") == ["pandas"]


def test_keras_2_is_taken_where_the_program_needs_it_or_the_user_says_so(monkeypatch) -> None:
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)
    monkeypatch.setattr(runtimes, "describe", lambda runtime: {"tensorflow": runtime.name})
    old, new = (runtimes.Runtime(version, Path("python")) for version in ("2.15.1", "2.21.0"))
    cells, plain = Migration("", (), legacy_keras=True), Migration("", ())
    assert with_keras(new, cells).environment == {"TF_USE_LEGACY_KERAS": "1"}
    assert not with_keras(old, cells).environment and not with_keras(new, plain).environment
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    assert with_keras(new, None).environment == {"TF_USE_LEGACY_KERAS": "1"}


@pytest.mark.parametrize(
    ("name", "has_one"), [("session/replay_buffer", True), ("estimator/autoencoder", False)]
)
def test_the_old_program_as_tf1_code_on_the_new_ones_tensorflow(tmp_path, name, has_one) -> None:
    """Only a program of sessions has that form; another one's would be the new program itself."""
    program = FIXTURES / name / "before.py"
    new = tmp_path / "new"
    new.mkdir()
    (new / "before.py").write_text(program.read_text())
    assert migrate_copy(Path("before.py"), new).native
    found = as_tf1_code(Pair(program), tmp_path / "old", migrate_copy)
    assert (found is not None) == has_one
    assert found is None or "import tensorflow.compat.v1 as tf" in found.read_text()
