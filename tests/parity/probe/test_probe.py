"""The probe, on real TensorFlow: what it records, and that it changes nothing else.

The programs of a runtime run where TensorFlow is imported already; each test then looks at
one of them.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from migrate_mgpu.parity.compare import configuration
from migrate_mgpu.parity.probe import fake_gpus
from migrate_mgpu.parity.runs import launch
from migrate_mgpu.parity.runs.launch import Job, Run
from tests.support import servers

sys.path.insert(0, str(Path(__file__).parent))
from probe_programs import ALL, PROGRAMS, TF2

Ran = Callable[[str, str], Run]


@pytest.fixture(scope="module")
def ran(runtime, tmp_path_factory) -> Ran:
    """``ran("tf1.15", "sessions")``: the run of a program; all of a runtime's at once."""
    done: dict[str, dict[str, Run]] = {}

    def get(where: str, name: str) -> Run:
        if where not in done:
            interpreter = runtime(where)
            folder = tmp_path_factory.mktemp(where)
            names = [n for n, (_, _, runtimes) in PROGRAMS.items() if where in runtimes]
            jobs = [job(folder, n) for n in names]
            done[where] = dict(zip(names, servers.run_many(interpreter, jobs)))
        return done[where][name]

    return get


def job(folder: Path, name: str) -> Job:
    program = folder / f"{name}.py"
    head, body, _ = PROGRAMS[name]
    program.write_text(head + textwrap.dedent(body))
    return Job(
        program,
        argv=("--steps", "2"),
        gpu_memory_mib=(16384, 8192, 16384, 4096),
        timeout_s=3.0 if name == "hangs" else 120.0,
    )


def on(where: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("where", where)


@on(ALL)
def test_every_session_is_recorded(ran: Ran, where):
    run = ran(where, "sessions")
    assert run.status == 0, run.stderr
    first, second, given, bare, last = run.trace["sessions"]
    assert first["config"] == {
        "intra_op_parallelism_threads": 3,
        "gpu_options": {"per_process_gpu_memory_fraction": 0.4},
    }
    assert (first["kind"], first["given"], first["line"]) == ("Session", True, 7)
    # Without a config TensorFlow takes the context's.
    assert second["given"] is False
    assert second["config"]["device_count"] == {"CPU": 1, "GPU": 4}
    # InteractiveSession adds to what it is given, and more when it is given nothing.
    pruned = {"graph_options": {"place_pruned_graph": True}}
    assert given["config"] == pruned
    assert bare["config"] == {"gpu_options": {"allow_growth": True}, **pruned}
    assert last["config"]["allow_soft_placement"] is True
    assert (last["file"], last["line"]) == (first["file"], 14)


@on(ALL[:2])
def test_keras_session(ran: Ran, where):
    (session,) = ran(where, "keras_session").trace["sessions"]
    assert session["line"] == 5


@on(ALL[:2])
def test_estimator(ran: Ran, where):
    run = ran(where, "estimator")
    assert run.status == 0, run.stderr
    (session,) = run.trace["sessions"]
    assert session["config"]["gpu_options"] == {"allow_growth": True}
    assert session["line"] == 13


@on(ALL)
def test_server(ran: Ran, where):
    (server,) = ran(where, "server").trace["servers"]
    assert server["config"]["allow_soft_placement"] is True


@on(ALL)
def test_the_program_sees_its_own_surroundings(ran: Ran, where):
    run = ran(where, "surroundings")
    assert run.stdout == "__main__ surroundings.py ['--steps', '2'] True\n[]\n"
    assert run.status == run.trace["status"] == 3
    assert run.trace["exception"] is None


@on(ALL)
def test_ends_are_recorded(ran: Ran, where):
    fails, dies, killed, hangs = (ran(where, n) for n in ("fails", "dies", "killed", "hangs"))
    assert (fails.status, fails.exception) == (1, "ValueError")
    assert "as the user wrote it" in fails.trace["exception"]["traceback"]
    assert "as the user wrote it" in fails.stderr
    # What was seen before the end is kept.
    assert dies.status == 5 and dies.trace["status"] is None and len(dies.trace["sessions"]) == 1
    assert killed.status == -11
    assert hangs.status is None and hangs.seconds < 30


@on(ALL)
def test_native_lines_stand_where_they_were_printed(ran: Ran, where):
    lines = ran(where, "order").stdout.splitlines()
    placed = next(i for i, line in enumerate(lines) if line.startswith("named: (Const)"))
    assert lines.index("first") < placed < lines.index("last")


@on(ALL)
def test_gpus_are_those_of_the_session(ran: Ran, where):
    """Two visible GPUs: /gpu:1 runs, on a CPU, and /gpu:3 does not exist."""
    run = ran(where, "places")
    assert run.stdout == "3.0\n"
    assert run.exception == "InvalidArgumentError"
    (session,) = run.trace["sessions"]
    assert session["config"] == {"gpu_options": {"visible_device_list": "2,3"}}


@on(ALL)
def test_whole_graph_is_placed(ran: Ran, where):
    """A fact (docs/semantics.md): only InteractiveSession looks at what is run alone."""
    assert ran(where, "whole_graph").stdout == "refused\n3.0\n"


@on(ALL)
def test_cuda_visible_devices_of_the_program(ran: Ran, where):
    run = ran(where, "cuda_visible_devices")
    assert run.stdout == "[4096, 8192] True\n"
    (found,) = configuration.effective(run.trace)
    assert found.settings["visible_gpus"] == [3, 1]


@on(TF2)
def test_native_program(ran: Ran, where):
    run = ran(where, "native")
    assert run.status == 0, run.stderr
    names = ["/device:CPU:0", *(f"/device:GPU:{i}" for i in range(4))]
    assert run.stdout.splitlines() == ["3.0", str(names), "Fake GPU", "[4.0]"]
    (found,) = configuration.effective(run.trace)
    assert found.where.startswith("context at native.py:")
    limits = {0: [8192.0], 1: [4096.0], 2: [8192.0], 3: [2048.0]}
    assert found.settings["gpu_memory_limit_mib"] == limits
    assert found.settings["allow_soft_placement"] is False


@on(TF2)
def test_mirrored_strategy_on_fake_gpus(ran: Ran, where):
    assert ran(where, "mirrored").stdout == "4 [4.0]\n"


@on(["tf1.15"])
def test_a_model_is_copied_to_fake_gpus(ran: Ran, where):
    run = ran(where, "copied_model")
    assert run.stdout == "4 (3, 1)\nthere is no fifth GPU\n", run.stderr


@on(TF2)
def test_growth_on_one_gpu_only_is_refused(ran: Ran, where):
    (found,) = configuration.effective(ran(where, "growth_on_one").trace)
    assert found.error is not None and "cannot differ" in found.error


@on(TF2)
def test_tf2_puts_visible_gpus_into_physical_order(ran: Ran, where):
    """A fact of TF2 (docs/semantics.md): ``visible_device_list="2,0"`` has no equal."""
    (found,) = configuration.effective(ran(where, "visible_order").trace)
    assert found.settings["visible_gpus"] == [0, 2]


@on(ALL)
def test_shared_and_own_process_record_the_same(ran: Ran, runtime, tmp_path, where):
    one, other = ran(where, "sessions"), launch.run(runtime(where), job(tmp_path, "sessions"))
    assert other.status == 0, other.stderr
    assert one.stdout == other.stdout
    assert configuration.compare(one.trace, other.trace) == []
    assert one.trace["versions"] == other.trace["versions"]


def test_programs_that_set_tensorflow_variables_get_their_own_process(tmp_path):
    def shares(text, **options):
        program = tmp_path / "program.py"
        program.write_text(text)
        return servers.can_share(Job(program, **options))

    assert shares("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n") == (
        sys.platform == "linux"
    )
    assert not shares("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n")
    assert not shares("", env={"A": "b"})


def test_environment_of_this_process_does_not_leak(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("TF_XLA_FLAGS", "--x")
    monkeypatch.setenv("PYTHONPATH", "/x")
    monkeypatch.setenv("HOME_OF_MINE", "kept")
    found = launch.environment({"TF_XLA_FLAGS": "--y"})
    assert "CUDA_VISIBLE_DEVICES" not in found and "PYTHONPATH" not in found
    assert found["TF_XLA_FLAGS"] == "--y" and found["HOME_OF_MINE"] == "kept"


@pytest.mark.parametrize(
    "options", [["--gpus", "1", "--gpu-memory", "1,2"], ["--map-gpus"], ["--gpu-memory", "0"]]
)
def test_usage_errors(tmp_path, options):
    probe = launch.PROBE / "probe.py"
    command = [sys.executable, str(probe), "--out", str(tmp_path / "o"), *options]
    if options == ["--gpu-memory", "0"]:
        command += ["--gpus", "2"]
    answer = subprocess.run([*command, "x.py"], capture_output=True, text=True)
    assert answer.returncode == 2, answer.stderr


@pytest.mark.parametrize(
    ("named", "gpus", "id_"), [("0,1", 2, None), ("0,1", 1, 1), ("1", 0, None), ("", 1, None)]
)
def test_visible_gpus_that_are_not_there(named, gpus, id_):
    """As TensorFlow says it, which reads no list where there is no GPU."""
    config = SimpleNamespace(gpu_options=SimpleNamespace(visible_device_list=named))
    said = fake_gpus.not_there(fake_gpus.Machine([1024] * gpus), config)
    assert (said is None) == (id_ is None)
    assert said is None or f"invalid GPU id '{id_}' but visible device count is {gpus}" in said
