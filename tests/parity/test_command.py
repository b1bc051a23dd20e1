"""``migrate-mgpu parity`` as a user calls it, with programs that behave badly too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest

from migrate_mgpu.parity.pair import NotMigrated
from migrate_mgpu.parity.probe import probe
from migrate_mgpu.parity.runs import supervise
from tests.support.parity import run

FIXTURES = Path(__file__).parents[2] / "fixtures" / "parity"
PAIR = [str(FIXTURES / "session_momentum" / name) for name in ("before.py", "after.py")]
V1 = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"
TRAINING = (
    V1
    + """
w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
loss = tf.reduce_sum(w * w)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
"""
)


@pytest.fixture(autouse=True)
def _records(tmp_path, monkeypatch):
    monkeypatch.setenv("MIGRATE_MGPU_TRACES", str(tmp_path / "records"))


def judge(tmp_path: Path, before: str, after: str | None = None, *more: str) -> dict:
    """Compare two texts on one device; returns the result with ``status``."""
    pytest.importorskip("numpy")
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in (("before.py", before), ("after.py", before if after is None else after)):
        (folder / name).write_text(textwrap.dedent(text))
    programs = [str(folder / "before.py"), str(folder / "after.py")]
    options = ["--devices", "1", "--json", *more]
    status, stdout, stderr = run(*programs, *options)
    assert stdout, stderr
    return {"status": status, **json.loads(stdout)["results"][0]}


@pytest.fixture
def live(runtime):
    """Programs run: the tests that take this need the runtimes."""
    runtime("tf1.15"), runtime("tf2.15")


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        ([], "give one program, or the old and the new one"),
        (["--all", "missing"], "no such folder"),
        (["--all", str(FIXTURES), PAIR[0]], "takes no programs"),
        (["--all", str(FIXTURES / "towers" / "none")], "no such folder"),
        (["--all", str(FIXTURES), "--steps", "0"], "at least one"),
        ([*PAIR, "--report", str(FIXTURES)], "a folder, not a file"),
        ([*PAIR, "--tensorboard", PAIR[0]], "a file, not a folder"),
        (["missing.py", "other.py"], "no such program"),
        ([*PAIR, "third.py"], "one program"),
        ([*PAIR, "--devices", "x"], "numbers"),
        ([*PAIR, "--devices", "0"], "at least one"),
        ([*PAIR, "--steps", "0"], "at least one"),
        ([*PAIR, "--rtol", "loss=x"], "not a number"),
        ([*PAIR, "--rtol", "nan"], "finite"),
        ([*PAIR, "--atol", "-1"], "zero or more"),
        ([PAIR[0]], "the old and the new"),
        (["show", "77"], "no comparison 77"),
        (["compare", "1", "2"], "no comparison 1"),
    ],
)
def test_usage_errors(argv, text):
    status, stdout, stderr = run(*argv)
    assert status == 2 and text in stderr and stdout == ""


def test_usage_help_and_light_import():
    assert run("--help")[0] == 0
    code = (
        "import sys, migrate_mgpu.parity.command\n"
        "print([m for m in ('numpy', 'tensorflow', 'libcst', 'rich') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_equal_pair_is_recorded_and_shown(live, tmp_path):
    pytest.importorskip("numpy")
    status, stdout, stderr = run(*PAIR, "--devices", "1,2", "--steps", "3")
    assert status == 0, stdout + stderr
    assert stdout.splitlines()[1:3] == ["1 device: EQUIVALENT", "2 devices: EQUIVALENT"]
    assert stdout.splitlines()[-1].startswith("comparison 1; to repeat: ")
    assert "stopped after the wanted steps" in stdout and ", 3 steps," in stdout
    assert run("show", "1")[1] == stdout
    assert "1 device equivalent, 2 devices equivalent" in run("show")[1]
    result = json.loads(run("show", "1", "--json")[1])
    assert result["results"][0]["reference"]["steps"] == [3]
    # Against another learning rate, from the records alone.
    text = Path(PAIR[1]).read_text().replace("SGD(0.1,", "SGD(0.2,")
    (tmp_path / "other.py").write_text(text)
    other = [PAIR[0], str(tmp_path / "other.py"), "--devices", "2", "--steps", "3"]
    status, stdout, _ = run(*other)
    assert status == 1 and "rung 6, weights after one step" in stdout
    assert run("compare", "1", "1")[0] == 0
    status, stdout, _ = run("compare", "1", "2")
    assert status == 1 and "rung 6, weights after one step" in stdout
    assert run("compare", "1", "2", "--side", "reference")[0] == 0


def test_one_program_is_migrated_in_a_copy(live, served, tmp_path):
    pytest.importorskip("numpy")
    program = tmp_path / "train.py"
    program.write_text(Path(PAIR[0]).read_text())

    def migrate(path: Path, copy: Path) -> str | None:
        (copy / path.name).write_text(Path(PAIR[1]).read_text())
        return None

    before = program.read_bytes()
    status, stdout, stderr = run(str(program), "--devices", "1", "--steps", "2", migrate=migrate)
    assert status == 0, stdout + stderr
    assert program.read_bytes() == before and list(tmp_path.glob("*.py")) == [program]

    def refuse(path: Path, copy: Path) -> None:
        raise NotMigrated("tf.contrib")

    status, _, stderr = run(str(program), migrate=refuse)
    assert status == 8 and "not migrated: tf.contrib" in stderr


def test_a_recorded_trace_stands_in(live, served, tmp_path, monkeypatch):
    pytest.importorskip("numpy")
    program = tmp_path / "before.py"
    program.write_text(Path(PAIR[0]).read_text())
    pair = [str(program), PAIR[1], "--devices", "1"]
    assert run(*pair, "--record")[0] == 0
    from migrate_mgpu import runtimes

    find = runtimes.find
    monkeypatch.setattr(runtimes, "find", lambda name: None if name == "tf1.15" else find(name))
    status, stdout, stderr = run(*pair)
    assert status == 0, stdout + stderr
    assert "recorded: it stands in" in stdout
    program.write_text(program.read_text() + "\n# changed\n")
    status, _, stderr = run(*pair)
    assert status == 8 and "of another before.py" in stderr


def test_isolation(live, served, tmp_path):
    """Nothing of the user's is touched: files beside the program, absolute paths, stdin."""
    outside = tmp_path / "outside"
    found = judge(
        tmp_path,
        TRAINING
        + f"""
import os, sys
print(repr(sys.stdin.read()), os.path.exists("before.py"))
os.chdir("/")
pid = os.fork()
if pid == 0:
    sys.exit(0)
os.waitpid(pid, 0)
for step in range(3):
    sess.run(train)
saver = tf.train.Saver()
os.makedirs({str(outside)!r}, exist_ok=True)
saver.save(sess, {str(outside / "model")!r})
saver.restore(sess, tf.train.latest_checkpoint({str(outside)!r}))
with open({str(outside / "log.txt")!r}, "w") as stream:
    stream.write("kept")
with open({str(outside / "log.txt")!r}) as stream:
    print(stream.read())
tf.summary.FileWriter({str(outside / "events")!r}).close()
""",
    )
    assert found["verdict"] == "equivalent", found["reason"]
    assert found["reference"]["steps"] == [3]
    assert not outside.exists()
    assert sorted(p.name for p in (tmp_path / "programs").iterdir()) == ["after.py", "before.py"]


def test_a_hanging_program_is_ended_with_its_children(live, tmp_path):
    text = (
        "import subprocess, time\n"
        "subprocess.Popen(['sleep', '7654.5'], start_new_session=True)\n"
        "time.sleep(1000)\n"
    )
    found = judge(tmp_path, text, "print(1)\n", "--timeout", "3")
    assert (found["status"], found["verdict"]) == (8, "not compared")
    assert "timed out after 3 s" in found["reason"]
    left = subprocess.run(["pgrep", "-f", "sleep 7654.5"], capture_output=True, text=True)
    assert left.stdout == ""


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ("raise ValueError('mine')\n", "ValueError: mine"),
        ("import os\nos._exit(0)\n", "exit 0 before the end of the program"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "signal 11"),
        ("import sys\nsys.exit(3)\n", "exit 3"),
        ("while True:\n    print('x' * 100000)\n", "it printed more than 64 MiB"),
        ("kept = []\nwhile True:\n    kept.append(bytearray(10**7))\n", "2000 MiB of memory"),
        ("import time\ntime.sleep(60)\n", "timed out after 6 s"),
    ],
)
def test_a_target_that_fails_is_not_equivalent(live, tmp_path, after, reason):
    limits = ["--timeout", "6" if "timed out" in reason else "20", "--memory", "2000"]
    found = judge(tmp_path, "print(1)\n", "print(1)\n" + after, *limits)
    assert (found["status"], found["verdict"]) == (1, "not equivalent")
    assert reason in found["reason"]


def test_a_run_without_steps_does_not_pass(live, served, tmp_path):
    found = judge(tmp_path, TRAINING)
    assert found["status"] == 1 and found["headline"] == 2


def test_a_program_without_training_has_two_rungs(live, served, tmp_path):
    text = V1 + "print(tf.Session().run(tf.constant(2.0)))\n"
    found = judge(tmp_path, text)
    assert found["status"] == 0
    compared = [rung["rung"] for rung in found["rungs"] if rung["status"] != "not compared"]
    assert compared == [1, 9]


@pytest.mark.parametrize(("old", "rung"), [("", None), ("Adam(0.01", 6)], ids=["equal", "broken"])
def test_keras_in_a_graph_has_all_rungs(live, served, tmp_path, old, rung):
    """TF 2.15's Keras trains there by other classes than eagerly."""
    folder = FIXTURES.parent / "keras" / "graph_training"
    before, after = ((folder / f"{one}.py").read_text("utf-8") for one in ("before", "after"))
    found = judge(tmp_path, before, after.replace(old, "Adam(0.02") if old else after)
    compared = [one["rung"] for one in found["rungs"] if one["status"] != "not compared"]
    assert compared == [*range(1, 10)]
    assert found["status"] == (0 if rung is None else 1)
    assert rung in (None, *(one["rung"] for one in found["rungs"] if one["status"] == "differs"))


def test_keras_2_by_its_other_name_is_watched():
    trace = SimpleNamespace(more_patches={"keras.src.engine.training_v1": lambda module: 1})
    patched = [
        probe._patch_for(trace, f"{name}.src.engine.training_v1")
        for name in ("keras", "tf_keras", "other")
    ]
    assert [one is not None for one in patched] == [True, True, False]


def test_times_that_are_printed_are_found_by_running_again(live, served, tmp_path):
    text = "import time\nprint('took', time.perf_counter_ns() % 1000003)\nprint('loss', 0.5)\n"
    found = judge(tmp_path, text + V1 + "tf.Session()\n")
    assert found["status"] == 0, found["reason"]
    assert any("1 printed numbers or lines differ" in note for note in found["reference"]["notes"])


def test_a_process_that_leaves_its_group_is_ended(live, tmp_path):
    script = "import subprocess; subprocess.Popen(['sleep', '7655.5'], start_new_session=True)"
    process = supervise.Process(
        [sys.executable, "-c", script],
        tmp_path,
        {},
        tmp_path / "out",
        tmp_path / "err",
        supervise.Limits(20),
    )
    supervise.run_all([process])
    assert process.ended == "exit 0"
    left = subprocess.run(["pgrep", "-f", "sleep 7655.5"], capture_output=True, text=True)
    assert left.stdout == ""


@pytest.mark.external
@pytest.mark.tensorflow
def test_the_first_comparison_of_a_machine_ends_in_a_verdict(tmp_path):
    """TF1 code, and no runtime was ever made: both are, and said to be."""
    program = tmp_path / "train.py"
    program.write_text(Path(PAIR[0]).read_text())
    answer = subprocess.run(
        [sys.executable, "-m", "migrate_mgpu", "parity", str(program), "--devices", "1"],
        env={**os.environ, "MIGRATE_MGPU_RUNTIMES": str(tmp_path / "runtimes")},
        capture_output=True,
        text=True,
    )
    if "cannot be reached" in answer.stderr:
        pytest.skip("no network")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "1 device: EQUIVALENT" in answer.stdout.splitlines()[1]
    for name in ("tf1.15", "tf2.15"):
        assert f"making the runtime {name} " in answer.stderr
        assert (tmp_path / "runtimes" / name).is_dir()
