"""Comparisons of programs that import no TensorFlow: crashes, copies, interruption, the schema.

Both sides run in this Python.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from migrate_mgpu.parity.pair import Migration, NotMigrated, with_announced
from migrate_mgpu.parity.runs import hardware
from tests.support.parity import run

pytest.importorskip("numpy")
HERE = ["--reference", sys.executable, "--target", sys.executable, "--devices", "1"]


@pytest.fixture(autouse=True)
def _records(tmp_path, monkeypatch):
    monkeypatch.setenv("MIGRATE_MGPU_TRACES", str(tmp_path / "records"))
    hardware.describe.cache_clear()
    yield
    hardware.describe.cache_clear()


def pair(folder: Path, before: str, after: str | None = None) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("before.py", before), ("after.py", before if after is None else after)):
        (folder / name).write_text(text)
    return [str(folder / "before.py"), str(folder / "after.py")]


# The result -----------------------------------------------------------------------------------


def schema() -> dict:
    text = resources.files("migrate_mgpu.parity").joinpath("result.schema.json").read_text()
    return json.loads(text)


def strict(part):
    """The same schema, that allows nothing which it does not describe."""
    if isinstance(part, dict):
        found = {key: strict(value) for key, value in part.items()}
        if found.get("additionalProperties") is True and "properties" in found:
            found["additionalProperties"] = False
        return found
    return [strict(one) for one in part] if isinstance(part, list) else part


def valid(text: str) -> dict:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    result = json.loads(text, parse_constant=refuse)
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(result, strict(schema()))
    return result


def kept(records: Path) -> str:
    """The newest comparison's result, as `--json` would have printed it."""
    return max(records.glob("*/result.json")).read_text()


@pytest.fixture(scope="module")
def unequal(tmp_path_factory) -> tuple[int, str, str, str]:
    """A pair that prints another loss: the exit status, what is printed, the result."""
    folder = tmp_path_factory.mktemp("unequal")
    programs = pair(folder / "p", "print('loss', 0.5)\n", "print('loss', 0.6)\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIGRATE_MGPU_TRACES", str(folder / "records"))
        return (*run(*programs, *HERE), kept(folder / "records"))


def test_results_fit_the_schema(unequal):
    status, _, _, stdout = unequal
    result = valid(stdout)
    (one,) = result["results"]
    assert status == 1 and one["headline"] == 9
    assert one["reference"]["hardware"] == one["target"]["hardware"] == hardware.describe()
    assert one["target"]["devices"]["kind"] == "cpus"
    assert one["target"]["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    broken = json.loads(stdout)
    del broken["results"][0]["rungs"][0]["status"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema())


def test_the_terminal_names_the_hardware(unequal):
    _, stdout, _, _ = unequal
    about = hardware.describe()
    assert f"{about['cpu']}, {about['cores']} cores, {about['memory_mib']} MiB" in stdout
    assert "1 device, logical CPUs in the place of GPUs: this machine shows no GPU" in stdout


# A side that crashes ----------------------------------------------------------------------------

HELPER = "def build():\n    raise ValueError('mine')\n"


def test_a_crash_is_the_message(tmp_path):
    programs = pair(tmp_path / "p", "print(1)\n", "import helper\n\nhelper.build()\n")
    (tmp_path / "p" / "helper.py").write_text(HELPER)
    status, stdout, _ = run(*programs, *HERE)
    assert status == 1
    head, _, body = stdout.partition("\n\n")
    assert head.splitlines()[1] == (
        "1 device: NOT EQUIVALENT: the target crashed: helper.py, line 2: ValueError: mine"
    )
    assert body.splitlines()[1:7] == [
        "  the target, after.py on " + sys.executable + ":",
        '      File "after.py", line 3, in <module>',
        "        helper.build()",
        '      File "helper.py", line 2, in build',
        "        raise ValueError('mine')",
        "      ValueError: mine",
    ]
    for consequence in ("neither program", "not compared", "evaluation", "differs"):
        assert consequence not in stdout
    (one,) = valid(kept(tmp_path / "records"))["results"]
    assert (one["target"]["crash"]["file"], one["target"]["crash"]["line"]) == ("helper.py", 2)
    assert one["reference"]["crash"] is None
    assert {rung["reason"] for rung in one["rungs"]} == {"the target did not finish"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = (\n", "crashed: before.py, line 1: SyntaxError"),
        ("import sys\nsys.exit('no data')\n", "did not finish: exit 1"),
        ("import os\nos.abort()\n", "crashed: signal 6"),
        ("import os\nos._exit(0)\n", "did not finish: exit 0 before the end"),
    ],
)
def test_a_reference_that_ends_early(tmp_path, text, reason):
    status, stdout, _ = run(*pair(tmp_path / "p", text, "print(1)\n"), *HERE)
    assert status == 8
    assert f"1 device: NOT COMPARED: the reference {reason}" in stdout
    assert ("no data" in stdout) == ("no data" in text), "the last lines of stderr"


# As Keras says it; 1 is the number of devices of a comparison.
_WANTS = """\
import sys
if int(sys.argv[1]) < {}:
    raise ValueError("we expect the following devices to be available: ['/gpu:9']")
print("loss", 0.5)
"""


@pytest.mark.parametrize(
    ("wants", "compared", "left_out"), [(2, [2], [1]), (3, [4], [1, 2]), (9, [1, 2, 4, 8], [])]
)
def test_default_numbers_of_devices_are_those_a_program_can_run_on(
    tmp_path, wants, compared, left_out
):
    programs = pair(tmp_path / "p", _WANTS.format(wants))
    status, stdout, _ = run(*programs, *HERE[:4], "--", "{devices}")
    result = valid(kept(tmp_path / "records"))
    assert [one["devices"] for one in result["results"]] == compared
    assert [one["devices"] for one in result["left_out"]] == left_out
    assert status == (0 if left_out else 8)
    for n in left_out:
        assert f"{n} device{'s' * (n > 1)}: left out, the program names more devices" in stdout
    assert f"--devices {','.join(map(str, compared))}" in result["command"]


def test_a_strategy_that_needs_more_devices_than_the_towers_before_it(tmp_path):
    """TF1 builds the towers of missing GPUs on the CPU, where placement is soft."""
    towers = "import sys\nprint('loss', 0.5, len('/gpu:1'))\n"
    text = "the strategy names /gpu:1, and --devices gives the program 1: let it ask for as many"
    strategy = f"import sys\nif sys.argv[1] == '1':\n    raise ValueError({text!r})\n{towers}"
    status, stdout, _ = run(*pair(tmp_path / "p", towers, strategy), *HERE[:4], "--", "{devices}")
    result = valid(kept(tmp_path / "records"))
    assert status == 0 and [one["devices"] for one in result["results"]] == [2]
    assert "1 device: left out, the program names more devices than that: crashed" in stdout


def test_a_program_that_says_nothing_of_devices_runs_on_one(tmp_path):
    status, stdout, _ = run(*pair(tmp_path / "p", "print('loss', 0.5)\n"), *HERE[:4])
    result = valid(kept(tmp_path / "records"))
    assert status == 0 and [one["devices"] for one in result["results"]] == [1]
    assert [one["devices"] for one in result["left_out"]] == [2]
    assert "2 devices: left out, no module of the program says anything of GPUs" in stdout


def test_numbers_of_devices_that_were_asked_for_are_compared(tmp_path):
    programs = pair(tmp_path / "p", _WANTS.format(2))
    status, stdout, _ = run(*programs, *HERE[:4], "--devices", "1,2", "--", "{devices}")
    assert [one["devices"] for one in valid(kept(tmp_path / "records"))["results"]] == [1, 2]
    assert status == 8 and "left out" not in stdout


def test_both_crashes_are_told(tmp_path):
    _, stdout, _ = run(*pair(tmp_path / "p", "1 / 0\n"), *HERE)
    first, second = (f"{name}.py, line 1: ZeroDivisionError" for name in ("before", "after"))
    assert f"the reference crashed: {first}: division by zero; the target crashed: {second}" in (
        stdout
    )


def test_the_verdicts_come_first_and_the_broken_rung_before_the_others(unequal):
    _, stdout, _, _ = unequal
    lines = stdout.splitlines()
    assert lines[1].startswith("1 device: NOT EQUIVALENT: rung 9, evaluation and printed results: ")
    assert lines[4].startswith("  X 9 ") and "0.5" in lines[5]
    assert [line[4] for line in lines if line.startswith(("  - ", "  = "))] == list("12345678")


def not_migrated(place: Path, copy: Path) -> None:
    raise NotMigrated("tf.contrib")


# Runtimes that are not here ---------------------------------------------------------------------


@pytest.mark.external
def test_where_the_runtime_cannot_be_made_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("MIGRATE_MGPU_RUNTIMES", str(tmp_path / "runtimes"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    programs = pair(tmp_path / "p", "import tensorflow as tf\ntf.set_random_seed(1)\n")
    status, stdout, stderr = run(*programs, "--target", sys.executable)
    assert (status, stdout) == (8, "")
    assert stderr.endswith("when that is fixed: migrate-mgpu runtimes create tf1.15\n")
    assert not (tmp_path / "records").exists() and not (tmp_path / "runtimes" / "tf1.15").exists()


def test_a_refused_program_needs_no_runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("MIGRATE_MGPU_RUNTIMES", str(tmp_path / "runtimes"))
    (program, _) = pair(tmp_path / "p", "import tensorflow as tf\n")
    status, _, stderr = run(program, migrate=not_migrated)
    assert status == 8 and stderr == f"{program}: not migrated: tf.contrib\n"


def test_gpus_that_were_asked_for_are_not_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(hardware, "gpus", list)
    programs = pair(tmp_path / "p", "print(1)\n")
    status, stdout, stderr = run(*programs, *HERE, "--run-on", "gpu")
    assert (status, stdout) == (8, "") and "shows no GPU" in stderr


# What is copied ---------------------------------------------------------------------------------


def test_a_root_is_copied_and_programs_begin_in_it(tmp_path):
    root = tmp_path / "project"
    text = (
        "import os\nprint(open('data/x.txt').read(), os.path.basename(os.getcwd()))\n"
        "open('data/x.txt', 'w').write('changed')\n"
    )
    programs = pair(root / "scripts", text)
    (root / "data").mkdir()
    (root / "data" / "x.txt").write_text("here")
    status, stdout, stderr = run(*programs, *HERE)
    assert status == 8 and "FileNotFoundError" in stdout
    status, stdout, stderr = run(*programs, *HERE, "--root", str(root), "--json")
    (one,) = json.loads(stdout)["results"]
    printed = one["rungs"][8]["outputs"][-1]
    assert (printed["status"], printed["detail"]) == ("equal", "1 lines"), stderr
    assert (root / "data" / "x.txt").read_text() == "here"
    status, _, stderr = run(*programs, *HERE, "--root", str(tmp_path / "elsewhere"))
    assert status == 2 and "is not in it" in stderr


def test_the_root_is_what_is_migrated(tmp_path):
    root = tmp_path / "project"
    (program, _) = pair(root / "scripts", "print(open('mark.txt').read())\n")
    (root / "mark.txt").write_text("old")

    def migrate(path: Path, copy: Path) -> None:
        assert (path, (copy / path).is_file()) == (Path("scripts/before.py"), True)
        (copy / "mark.txt").write_text("new")

    status, stdout, _ = run(program, *HERE, "--root", str(root), "--json", migrate=migrate)
    found = json.loads(stdout)["results"][0]
    assert status == 1 and "'old' became 'new'" in found["reason"]


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    from migrate_mgpu.parity import comparison

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(comparison, "run", full)
    status, _, stderr = run(*pair(tmp_path / "p", "print(1)\n"), *HERE)
    assert status == 8 and "No space left on device" in stderr and "MIGRATE_MGPU_TRACES" in stderr


# Interruption -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_everything(tmp_path, number):
    """Both programs, what they started in sessions of their own, and the copies."""
    mark = f"76{number}.5{os.getpid()}"
    text = (
        "import subprocess, time\n"
        f"subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n"
        "time.sleep(1000)\n"
    )
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "migrate_mgpu", "parity", *pair(tmp_path / "p", text), *HERE],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job, such as a CI's, has SIGINT ignored, and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )

    def sleeping() -> int:
        answer = subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True, text=True)
        return len(answer.stdout.split())

    deadline = time.monotonic() + 60
    while sleeping() < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sleeping() == 2 and list(temporary.iterdir())
    process.send_signal(number)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in stderr and "Traceback" not in stderr
    assert sleeping() == 0
    assert list(temporary.iterdir()) == []


# What people have ------------------------------------------------------------------------------


def package(folder: Path) -> Path:
    """A project with its package below ``src/``, whose modules import each other by its name."""
    inside = folder / "project" / "src" / "churn"
    inside.mkdir(parents=True)
    (inside.parents[1] / "pyproject.toml").write_text("[project]\nname = 'churn'\n")
    (inside / "__init__.py").write_text("")
    (inside / "data.py").write_text("ROWS = 3\n")
    (inside / "__main__.py").write_text("from . import train\n\ntrain.main()\n")
    (inside / "train.py").write_text(
        "import os, sys\nfrom churn import data\n\n\ndef main():\n"
        "    print(data.ROWS, __name__, os.path.basename(os.getcwd()), *sys.argv[1:])\n\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    return inside.parents[1]


def printed(stdout: str, traces: Path) -> str:
    """What the target of the newest comparison printed."""
    number = json.loads(stdout)["comparison"]
    return (traces / f"{number:04}" / "devices-1" / "target.stdout").read_text()


def as_it_is(place: Path, copy: Path) -> None:
    assert (copy / place).is_file()


@pytest.mark.parametrize(
    ("argv", "cwd", "expected"),
    [
        (["src/churn/train.py"], ".", "3 __main__ src x"),
        (["src/churn/train.py", "--root", "."], ".", "3 __main__ project x"),
        (["-m", "churn.train"], ".", "3 __main__ project x"),
        (["-m", "churn.train"], "src", "3 __main__ src x"),
        (["-m", "churn"], ".", "3 churn.train project x"),
        (["-m", "churn.train", "--root", "project"], "..", "3 __main__ project x"),
    ],
)
def test_packages(tmp_path, monkeypatch, argv, cwd, expected):
    monkeypatch.chdir(package(tmp_path) / cwd)
    status, stdout, stderr = run(*argv, *HERE, "--json", "--", "x", migrate=as_it_is)
    assert status == 0, stdout + stderr
    assert printed(stdout, tmp_path / "records") == expected + "\n"


def test_pythonpath_leads_into_the_copies(tmp_path, monkeypatch):
    root = tmp_path / "p"
    (program, _) = pair(root / "scripts", "import helper\nprint(helper.__file__)\n")
    (root / "lib").mkdir()
    (root / "lib" / "helper.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(root / "lib"))
    argv = [program, *HERE, "--root", str(root), "--json"]
    status, stdout, _ = run(*argv, migrate=as_it_is)
    assert status == 0
    found = printed(stdout, tmp_path / "records")
    assert found.endswith("lib/helper.py\n") and str(root) not in found, "that of the copy"


def test_a_module_that_is_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, _, stderr = run("-m", "churn.trian", *HERE, migrate=as_it_is)
    assert status == 2 and stderr.startswith("-m churn.trian: no such module in ")


def test_a_notebook_is_its_cells(tmp_path):
    cells = [("markdown", "# A title"), ("code", "%matplotlib inline\nx = 2"), ("code", "print(x)")]
    content = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [{"cell_type": kind, "metadata": {}, "source": text} for kind, text in cells],
    }
    notebook = tmp_path / "p" / "demo.ipynb"
    notebook.parent.mkdir()
    notebook.write_text(json.dumps(content))

    def migrate(place: Path, copy: Path) -> None:
        text = (copy / place).read_text()
        (copy / place).write_text(text.replace("x = 2", "x = 3"))

    status, stdout, stderr = run(str(notebook), *HERE, "--json", migrate=as_it_is)
    assert (status, printed(stdout, tmp_path / "records")) == (0, "2\n"), stderr
    status, stdout, _ = run(str(notebook), *HERE, "--json", migrate=migrate)
    assert (status, printed(stdout, tmp_path / "records")) == (1, "3\n")
    content["cells"][-1]["source"] = "y = 1\nprint(z)"
    notebook.write_text(json.dumps(content))
    _, stdout, _ = run(str(notebook), *HERE, migrate=as_it_is)
    assert "crashed: demo.ipynb, cell 3, line 2: NameError: " in stdout
    assert 'File "demo.ipynb, cell 3", line 2, in <module>\n        print(z)\n' in stdout
    assert "demo.ipynb.py" not in stdout, "it has the notebook's name"
    other = tmp_path / "p" / "other.ipynb"
    other.write_text("no JSON")
    status, _, stderr = run(str(notebook), str(other), *HERE)
    assert status == 8 and stderr.startswith("other.ipynb: is not valid JSON")


def test_virtual_environments_are_known_by_what_they_are(tmp_path):
    text = "import os\nprint(*sorted(os.listdir('.')))\n"
    programs = pair(tmp_path / "p", text)
    for name, sign in (("env-3.7", "pyvenv.cfg"), ("conda", "conda-meta/x"), ("venv", "code.py")):
        path = tmp_path / "p" / name / sign
        path.parent.mkdir(parents=True)
        path.write_text("")
    _, stdout, _ = run(*programs, *HERE, "--json")
    assert printed(stdout, tmp_path / "records") == ".tmp after.py before.py venv\n"


def test_a_program_among_temporary_files_is_copied_once(tmp_path, monkeypatch):
    programs = pair(tmp_path, "import os\nprint(*sorted(os.listdir('.')))\n")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    status, stdout, _ = run(*programs, *HERE, "--json")
    assert status == 0, stdout
    assert "migrate-mgpu-" not in printed(stdout, tmp_path / "records")


def test_a_program_that_was_migrated_in_place_is_told(tmp_path):
    """It would be compared with itself; where the old version is, git knows."""
    from migrate_mgpu.cli import migrate_copy
    from migrate_mgpu.parity.pair import Pair, compare

    program = tmp_path / "train.py"
    alone = Pair(program, devices=(1,), reference=sys.executable, target=sys.executable)
    old = Path(__file__).parents[2].joinpath("fixtures/seed/allow_growth/before.py").read_text()
    for text, told in (("print(1)\n", True), (old, False)):
        program.write_text(text)
        stderr = io.StringIO()
        compare(alone, migrate_copy, progress=stderr)
        said = stderr.getvalue()
        assert (f"there is nothing to migrate in {program}: both sides run" in said) is told
        assert (f"migrate-mgpu parity ../before/train.py {program})" in said) is told


def test_that_much_is_copied_is_said(unequal, tmp_path, monkeypatch):
    from migrate_mgpu.parity import pair as pairs

    programs = pair(tmp_path / "p", "print(1)\n")
    assert "copying" not in unequal[2]
    monkeypatch.setattr(pairs, "_MUCH_FILES", 1)
    said = run(*programs, *HERE)[2]
    assert said.startswith(
        f"copying 2 files (0 MB) of {tmp_path / 'p'} for each run; --root FOLDER"
    )


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("import sklearn\n", "if `sklearn` is a package, add it: --with scikit-learn; if it"),
        ("open('data.csv')\n", "--root FOLDER copies more, and starts them there"),
        (
            "raise AssertionError('Some objects had attributes which were not restored: w')\n",
            "TF1's becomes its own by `migrate-mgpu checkpoint`",
        ),
        (
            "class NotFoundError(Exception):\n    pass\n\n\n"
            "raise NotFoundError('Key w/Momentum/velocity not found in checkpoint [Op]')\n",
            "TF1's becomes its own by `migrate-mgpu checkpoint`",
        ),
    ],
)
def test_a_crash_that_comes_from_how_it_is_run_has_an_advice(tmp_path, text, advice):
    _, stdout, _ = run(*pair(tmp_path / "p", text), *HERE)
    assert advice in stdout


def test_the_steps_of_both_sides_on_a_terminal(tmp_path, monkeypatch):
    from migrate_mgpu.parity.runs.programs import Steps

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(Steps, "EVERY_S", 0.0)
    losses = [[0.5, 0.4, 0.3], [0.5, 0.4]]
    trace = {"training": {"series": [{"losses": losses}]}}
    (tmp_path / "target.json").write_text(json.dumps(trace))
    stream = Terminal()
    shown = Steps(stream, 2, tmp_path)
    shown.show()
    assert "\rrunning on 2 devices: steps: reference 0, target 2 (0 s)" in stream.getvalue()
    shown.clear()
    assert stream.getvalue().endswith("\r\x1b[K")
    silent = io.StringIO()
    Steps(silent, 2, tmp_path).show()
    assert silent.getvalue() == ""


# What the migration of a program said ---------------------------------------------------------


def finding(state: str, message: str, affects: str | None = None) -> dict:
    about = {"path": "before.py", "cell": None, "line": 2, "code": "MGPU401", "advice": None}
    return {**about, "state": state, "message": message, "affects": affects}


def test_what_the_migration_did_and_said_is_in_every_report(tmp_path):
    (program, _) = pair(tmp_path / "p", "print('loss', 0.5)\n")
    diff = "--- before.py\n+++ before.py\n@@ -1 +1 @@\n-print('loss', 0.5)\n+print('loss', 0.6)\n"
    told = [finding("applied", "moved"), finding("manual", "the model is evaluated once")]

    def migrate(place: Path, copy: Path) -> Migration:
        (copy / place).write_text("print('loss', 0.6)\n")
        return Migration(diff, told)

    page = tmp_path / "page.html"
    status, stdout, _ = run(program, *HERE, "--report", str(page), migrate=migrate)
    assert status == 1 and stdout.splitlines()[0] == f"{program} -> its migrated copy"
    assert "the migration reported:\n  before.py:2: MGPU401 manual: the model is evalu" in stdout
    assert "moved" not in stdout
    html = page.read_text()
    assert '<span class="removed">-print(&#39;loss&#39;, 0.5)</span>' in html
    assert "<li>before.py:2: MGPU401 manual: the model is evaluated once</li>" in html
    result = valid(kept(tmp_path / "records"))
    assert result["migration"] == {"diff": diff, "findings": told, "reference": []}


def test_a_program_of_python_2_is_compared_as_python_3(tmp_path):
    (program, _) = pair(tmp_path / "p", "print 'loss', 0.5\n")
    page = tmp_path / "page.html"

    def migrate(place: Path, copy: Path) -> Migration:
        (copy / place).write_text("print('loss', 0.5)\n")
        return Migration("", (), reference={place: (b"print('loss', 0.5)\n", ["MGPU212"])})

    status, stdout, _ = run(program, *HERE, "--report", str(page), migrate=migrate)
    said = "old program is Python 2: it ran as Python 3 (before.py), and otherwise unchanged"
    assert status == 0 and said in stdout and said in page.read_text()
    assert valid(kept(tmp_path / "records"))["migration"]["reference"] == [
        {"path": "before.py", "rules": ["MGPU212"]}
    ]


def test_what_was_announced_is_a_possible_cause_where_no_other_is_known(tmp_path):
    (program, _) = pair(tmp_path / "p", "print('loss', 0.5)\n")
    told: list = []

    def migrate(place: Path, copy: Path) -> Migration:
        (copy / place).write_text("print('loss', 0.5, 'and more')\n")
        return Migration("", told)

    (one,) = json.loads(run(program, *HERE, "--json", migrate=migrate)[1])["results"]
    known = [cause["cause"] for cause in one["diagnosis"]]
    assert one["verdict"] == "not equivalent" and "announced" not in known
    told.append(finding("manual", "the model is evaluated once"))
    (one,) = json.loads(run(program, *HERE, "--json", migrate=migrate)[1])["results"]
    causes = [cause["cause"] for cause in one["diagnosis"]]
    assert causes == (known or ["announced"]), "a cause that was found is not hidden"


def test_a_finding_that_says_what_differs_is_the_cause():
    """Instead of causes that only may be, beside those that predict the numbers."""
    told = [
        finding("manual", "`Nadam`: its momentum follows another schedule", "optimizer"),
        finding("manual", "evaluated once", "evaluation"),
        finding("manual", "checkpoints do not load"),
    ]
    guess = {"cause": "learning-rate", "likelihood": "possible"}
    sure = {"cause": "epsilon", "likelihood": "likely"}

    def causes(rung: int | None, *known: dict) -> list[str]:
        one = {"headline": rung, "diagnosis": list(known)}
        found = with_announced(one, Migration("", told))
        titles.extend(cause["title"] for cause in found if cause["cause"] == "announced")
        return [cause["cause"] for cause in found]

    titles: list[str] = []
    assert causes(6, guess) == ["announced"]
    assert causes(6, sure) == ["epsilon", "announced"]
    assert titles == ["the migration announced it: " + told[0]["message"]] * 2
    assert causes(9) == ["announced"] and titles[-1].endswith("evaluated once")
    assert causes(4, guess) == ["learning-rate"]
    assert causes(4) == ["announced"] and titles[-1].endswith("may behave differently")
    assert causes(None, sure) == ["epsilon"]
