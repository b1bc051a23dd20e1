"""The ``parity`` fixture in a pytest run of its own.

``stand_in`` replaces the running of programs: what a program "prints" decides. The last test
runs TensorFlow.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parents[1] / "parity" / "reports"))
import report_samples as samples

from migrate_mgpu import runtimes
from migrate_mgpu.parity.runs import programs, sides

pytest_plugins = "pytester"
RUNTIMES = runtimes.folder()  # pytester gives its runs another home
FIXTURES = Path(__file__).parents[2] / "fixtures" / "parity" / "session_momentum"
TEST = """
    def test_train(parity):
        result = parity.assert_equivalent("train_v1.py", "train_v2.py"{more})
        assert result["results"][0]["verdict"] == "equivalent"
"""


@pytest.fixture(autouse=True)
def records(tmp_path_factory, monkeypatch) -> Path:
    """The records' folder."""
    place = tmp_path_factory.mktemp("records")
    monkeypatch.setenv("MIGRATE_MGPU_TRACES", str(place))
    monkeypatch.setenv("COLUMNS", "200")
    return place


class StandIn:
    """In the place of runtimes and runs.

    Attributes:
      runtimes: the names of those that are here.
      runs: (runtime, program, devices, role) of each run.
    """

    def __init__(self) -> None:
        self.runtimes = {"tf1.15", "tf2.15"}
        self.runs: list[tuple[str, str, int, str]] = []

    def find(self, name: str) -> runtimes.Runtime | None:
        return runtimes.Runtime(name, Path(sys.executable)) if name in self.runtimes else None

    def run_one(
        self,
        runtime: runtimes.Runtime,
        program: Path,
        devices: int,
        options: programs.Options,
        folder: Path,
        name: str = "reference",
        initial: Path | None = None,
        place: Any = None,
    ) -> sides.Side:
        """A program that says ``wrong`` takes larger steps; one that says ``raise`` does."""
        import json

        self.runs.append((runtime.name, program.name, devices, name))
        text = program.read_text()
        old = name == "reference"
        exception = {"type": "ValueError", "message": "mine"} if "raise" in text else None
        losses, step = samples.falling(), 0.11 if "wrong" in text else 0.1
        made = samples.side(
            folder, program.name, losses, step=step, exception=exception, devices=devices, old=old
        )
        (folder / f"{name}.npz").replace(folder / f"{name}.json.npz")
        (folder / f"{name}.json").write_text(json.dumps(made.trace))
        (folder / f"{name}.stdout").write_text(made.stdout)
        if old:
            for more in ("reference.options.json", "reference.stderr", "initial.npz"):
                (folder / more).write_text("")
        return sides.collect(folder, name, program.name, runtime.name)

    def run_pair(
        self, reference: Any, target: Any, devices: int, options: Any, folder: Path
    ) -> tuple[sides.Side, sides.Side]:
        return (
            self.run_one(*reference, devices, options, folder),
            self.run_one(*target, devices, options, folder, "target"),
        )


@pytest.fixture
def stand_in(monkeypatch) -> StandIn:
    stand_in = StandIn()
    monkeypatch.setattr(runtimes, "find", stand_in.find)
    monkeypatch.setattr(runtimes, "_current", lambda: exec("raise runtimes.RuntimeUnavailable('')"))
    monkeypatch.setattr(programs, "run_one", stand_in.run_one)
    monkeypatch.setattr(programs, "run_pair", stand_in.run_pair)
    return stand_in


def write(pytester: pytest.Pytester, after: str = "equal", more: str = "") -> None:
    pytester.makefile(".py", train_v1="num_gpus = 2", train_v2=f"# {after}")
    pytester.makepyfile(TEST.format(more=more))


def run(pytester: pytest.Pytester, *argv: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *argv)


def test_equal_programs_pass_and_leave_nothing(pytester, stand_in, records):
    write(pytester, more=", devices=[1, 4]")
    run(pytester).assert_outcomes(passed=1)
    assert [(p, n) for _, p, n, _ in stand_in.runs] == [
        ("train_v1.py", 1),
        ("train_v2.py", 1),
        ("train_v1.py", 4),
        ("train_v2.py", 4),
    ]
    assert list(records.iterdir()) == []


def test_a_failure_shows_ladder_and_diagnosis_and_no_traceback(pytester, stand_in, records):
    write(pytester, "wrong")
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            '>*result = parity.assert_equivalent("train_v1.py", "train_v2.py")',
            "E*Failed: not equivalent on 1 device: rung 6, weights after one step: *",
            "E*train_v1.py -> train_v2.py",
            "E*= 5 first gradients *",
            "E*X 6 weights after one step *differs*",
            "E*cause*",
            "E*comparison 1; to repeat: migrate-mgpu parity train_v1.py train_v2.py --devices 1,2*",
            "E*more: migrate-mgpu parity show 1 --report page.html",
            "FAILED *test_train - Failed: not equivalent on 1 device: rung 6*",
        ]
    )
    text = result.stdout.str()
    assert "pytest_plugin.py" not in text and "Traceback" not in text
    assert (records / "0001" / "result.json").is_file()


@pytest.mark.parametrize("which", ["train_v1", "train_v2"])
def test_a_program_that_raises_fails_the_test(pytester, stand_in, which):
    write(pytester)
    pytester.makefile(".py", **{which: "raise"})
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*crashed: ValueError: mine"])
    assert "neither program trains" not in result.stdout.str(), "what follows from the crash"


@pytest.mark.parametrize("gone", ["tf1.15", "tf2.15"])
def test_a_missing_runtime_skips_with_its_reason(pytester, stand_in, gone):
    stand_in.runtimes.discard(gone)
    more = ', reference="tf1.15", target="tf2.15"'
    write(pytester, more=more)
    result = run(pytester, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines([f"SKIPPED*{gone} is not installed*runtimes create {gone}"])
    assert stand_in.runs == []


def test_tf1_code_is_skipped_where_there_is_no_1_15(pytester, stand_in):
    """2.15 does not run it: its reference would crash, and the test fail."""
    stand_in.runtimes.discard("tf1.15")
    write(pytester)
    result = run(pytester, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*tf1.15 is not installed*runtimes create tf1.15"])
    assert stand_in.runs == []
    pytester.makefile(".py", train_v1="import tensorflow.compat.v1 as tf")
    run(pytester).assert_outcomes(passed=1)
    assert {runtime for runtime, *_ in stand_in.runs} == {"tf2.15"}


def test_one_command_makes_all_that_is_missing(pytester, stand_in):
    stand_in.runtimes.clear()
    write(pytester)
    result = run(pytester, "-rs")
    result.stdout.fnmatch_lines(["SKIPPED*: migrate-mgpu runtimes create tf1.15 tf2.15"])


def test_no_runtime_is_ever_made(pytester, stand_in, monkeypatch):
    """That takes minutes and gigabytes: no test run may do it by itself."""
    stand_in.runtimes.clear()
    monkeypatch.setattr(runtimes, "_make", lambda *_: pytest.fail("a runtime was made"))
    write(pytester)
    run(pytester).assert_outcomes(skipped=1)


def test_a_missing_trace_is_written_and_fails_once(pytester, stand_in):
    write(pytester, more=", recorded=True")
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*recorded trace written to *recorded/train_v1: *run again"])
    assert (pytester.path / "recorded/train_v1/devices-2/record.json").is_file()
    stand_in.runs.clear()
    stand_in.runtimes.discard("tf1.15")  # from now on it is not needed
    run(pytester).assert_outcomes(passed=1)
    assert [(p, n) for _, p, n, _ in stand_in.runs] == [("train_v2.py", 1), ("train_v2.py", 2)]
    pytester.makefile(".py", train_v2="wrong")
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*recorded: it stands in*", "E*X 6 weights after one step*"])


def test_a_trace_of_another_program_is_written_anew_and_fails_once(pytester, stand_in):
    write(pytester, more=", recorded=True")
    run(pytester).assert_outcomes(failed=1)
    run(pytester).assert_outcomes(passed=1)
    pytester.makefile(".py", train_v1="num_gpus = 1")
    stand_in.runtimes.discard("tf1.15")
    result = run(pytester)  # it cannot be recorded here: no pass, and no skip that hides it
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*is of another train_v1.py*cannot be recorded anew: tf1.15 *"])
    assert stand_in.runs[-1][0] != "tf2.15" or stand_in.runs[-1][1] == "train_v2.py"
    stand_in.runtimes.add("tf1.15")
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*recorded trace written to *"])
    run(pytester).assert_outcomes(passed=1)


def test_record_option_and_ini_options(pytester, stand_in):
    write(pytester)
    pytester.makeini(
        "[pytest]\nparity_recorded = true\nparity_devices = 3\nparity_target = tf2-latest\n"
        "parity_timeout = 5\n"
    )
    stand_in.runtimes.add("tf2-latest")
    run(pytester).assert_outcomes(failed=1)
    run(pytester, "--parity-record").assert_outcomes(failed=1)
    stand_in.runs.clear()
    run(pytester).assert_outcomes(passed=1)
    assert stand_in.runs == [("tf2-latest", "train_v2.py", 3, "target")]
    stand_in.runs.clear()
    result = run(pytester, "--parity-devices", "1,2", "--parity-target", "tf2.15")
    result.assert_outcomes(failed=1)  # no trace on 1 and 2 devices yet
    run(pytester, "--parity-devices", "1,2", "--parity-target", "tf2.15").assert_outcomes(passed=1)
    assert stand_in.runs[-1] == ("tf2.15", "train_v2.py", 2, "target")
    stand_in.runtimes.clear()
    result = run(pytester, "--parity-record", "-rs")
    result.assert_outcomes(skipped=1)


def test_what_is_asked_for_wrongly_fails(pytester, stand_in):
    pytester.makepyfile(
        """
        def test_path(parity):
            parity.assert_equivalent("gone.py", "train_v2.py")

        def test_devices(parity):
            parity.assert_equivalent("test_x.py", "test_x.py", devices=[0])
        """
    )
    pytester.path.joinpath("test_x.py").write_text("")
    result = run(pytester)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["E*gone.py: no such program", "E*at least one device"])
    result = run(pytester, "--parity-devices", "x", "-k", "devices")
    result.stdout.fnmatch_lines(["E*parity_devices x: numbers, separated by commas"])
    assert stand_in.runs == []


def test_one_page_for_the_run(pytester, stand_in):
    pytest.importorskip("jinja2")
    write(pytester)
    pytester.makefile(".py", other="wrong")
    pytester.makepyfile(
        test_other="def test_other(parity): parity.assert_equivalent('train_v1.py', 'other.py')"
    )
    result = run(pytester, "--parity-report", "page.html")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*parity report: page.html*"])
    text = (pytester.path / "page.html").read_text(encoding="utf-8")
    assert "2 pairs: 1 not equivalent, 1 equivalent" in text or (
        "2 pairs: 1 equivalent, 1 not equivalent" in text
    )


def test_one_program_is_migrated(pytester, stand_in):
    """The real migration, by the tool that the plugin belongs to."""
    pytester.makefile(
        ".py",
        train="import tensorflow as tf\n\n"
        "with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:\n"
        "    print(sess.run(tf.constant(1.0)))\n",
    )
    pytester.makepyfile("def test_it(parity): parity.assert_equivalent('train.py')")
    run(pytester).assert_outcomes(passed=1)
    assert "ConfigProto" in (pytester.path / "train.py").read_text()
    text = "import tensorflow as tf\nx = tf.contrib.crf.CrfForwardRnnCell(1)\ntf.Session().run(x)\n"
    pytester.makefile(".py", train=text)
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*not compared: *train.py: not migrated: *contrib*"])


def test_it_can_be_switched_off(pytester):
    pytester.makepyfile("def test_it(parity): pass")
    result = pytester.runpytest_subprocess("-p", "no:migrate_mgpu")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'parity' not found"])


def test_importing_it_is_light():
    code = (
        "import sys, pytest\n"
        "before = set(sys.modules)\n"
        "import migrate_mgpu.pytest_plugin\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    found = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert found == "['migrate_mgpu', 'migrate_mgpu.pytest_plugin']\n"


def test_live(pytester, runtime, monkeypatch):
    """TensorFlow on both sides: equal programs pass, another learning rate fails."""
    monkeypatch.setenv("MIGRATE_MGPU_RUNTIMES", str(RUNTIMES))
    runtime("tf1.15"), runtime("tf2.15")
    old, new = ((FIXTURES / f"{name}.py").read_text() for name in ("before", "after"))
    wrong = new.replace("SGD(0.1,", "SGD(0.2,")
    assert wrong != new
    pytester.makefile(".py", train_v1=old, train_v2=new, wrong=wrong)
    pytester.makepyfile(
        """
        OPTIONS = {"devices": [1], "steps": 3, "recorded": True}

        def test_equal(parity):
            result = parity.assert_equivalent("train_v1.py", "train_v2.py", **OPTIONS)
            assert result["results"][0]["target"]["steps"] == [3]

        def test_wrong(parity):
            parity.assert_equivalent("train_v1.py", "wrong.py", **OPTIONS)
        """
    )
    result = pytester.runpytest_subprocess("-k", "equal")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["E*recorded trace written to *"])
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["E*X 6 weights after one step*"])
