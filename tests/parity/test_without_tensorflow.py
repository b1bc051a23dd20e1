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

from migrate_mgpu.parity.command import command
from migrate_mgpu.parity.runs import hardware

pytest.importorskip("numpy")
HERE = ["--reference", sys.executable, "--target", sys.executable, "--devices", "1"]


@pytest.fixture(autouse=True)
def _records(tmp_path, monkeypatch):
    monkeypatch.setenv("MIGRATE_MGPU_TRACES", str(tmp_path / "records"))
    hardware.describe.cache_clear()
    yield
    hardware.describe.cache_clear()


def run(*argv: str, migrate=None) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    status = command(list(argv), stdout, stderr, migrate)
    return status, stdout.getvalue(), stderr.getvalue()


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


def test_results_fit_the_schema(tmp_path):
    programs = pair(tmp_path / "p", "print('loss', 0.5)\n", "print('loss', 0.6)\n")
    status, stdout, _ = run(*programs, *HERE, "--json")
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


def test_the_terminal_names_the_hardware(tmp_path):
    _, stdout, _ = run(*pair(tmp_path / "p", "print(1)\n"), *HERE)
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
    (one,) = valid(run(*programs, *HERE, "--json")[1])["results"]
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


def test_both_crashes_are_told(tmp_path):
    _, stdout, _ = run(*pair(tmp_path / "p", "1 / 0\n"), *HERE)
    first, second = (f"{name}.py, line 1: ZeroDivisionError" for name in ("before", "after"))
    assert f"the reference crashed: {first}: division by zero; the target crashed: {second}" in (
        stdout
    )


def test_the_verdicts_come_first_and_the_broken_rung_before_the_others(tmp_path):
    programs = pair(tmp_path / "p", "print('loss', 0.5)\n", "print('loss', 0.6)\n")
    _, stdout, _ = run(*programs, *HERE)
    lines = stdout.splitlines()
    assert lines[1].startswith("1 device: NOT EQUIVALENT: rung 9, evaluation and printed results: ")
    assert lines[4].startswith("  X 9 ") and "0.5" in lines[5]
    assert [line[4] for line in lines if line.startswith(("  - ", "  = "))] == list("12345678")


# Runtimes that are not here ---------------------------------------------------------------------


def test_where_the_runtime_cannot_be_made_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("MIGRATE_MGPU_RUNTIMES", str(tmp_path / "runtimes"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    programs = pair(tmp_path / "p", "import tensorflow as tf\ntf.set_random_seed(1)\n")
    status, stdout, stderr = run(*programs, "--target", sys.executable)
    assert (status, stdout) == (8, "")
    assert stderr.endswith("when that is mended: migrate-mgpu runtimes create tf1.15\n")
    assert not (tmp_path / "records").exists() and not (tmp_path / "runtimes" / "tf1.15").exists()


def test_a_refused_program_needs_no_runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("MIGRATE_MGPU_RUNTIMES", str(tmp_path / "runtimes"))
    (program, _) = pair(tmp_path / "p", "import tensorflow as tf\n")
    status, _, stderr = run(program, migrate=lambda path, copy: "tf.contrib")
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
