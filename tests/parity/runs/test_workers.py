"""Workers that train together: how they are started, what is made of their traces."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from migrate_mgpu.parity import verdict
from migrate_mgpu.parity.command import command
from migrate_mgpu.parity.compare.outcome import NOT_EQUIVALENT
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs import sides, workers
from migrate_mgpu.parity.runs.supervise import Limits, Process, run_all

numpy = pytest.importorskip("numpy")
FIXTURES = Path(__file__).parents[3] / "fixtures" / "workers"


def process(folder: Path, number: int, code: str) -> Process:
    return Process(
        [sys.executable, "-c", code],
        folder,
        dict(os.environ),
        folder / f"target.worker-{number}.stdout",
        folder / f"target.worker-{number}.stderr",
        Limits(seconds=60),
    )


def test_each_worker_is_told_all_and_which_it_is():
    told = [json.loads(one["TF_CONFIG"]) for one in workers.cluster(3)]
    assert [one["task"]["index"] for one in told] == [0, 1, 2]
    addresses = told[0]["cluster"]["worker"]
    assert len(set(addresses)) == 3 and all(re.fullmatch(r"localhost:\d+", a) for a in addresses)
    assert all(one["cluster"] == told[0]["cluster"] for one in told)


def test_when_one_dies_the_others_are_ended(tmp_path):
    ended = []
    codes = ["import time; time.sleep(60)", "import os; os.kill(os.getpid(), 9)"]
    both = [process(tmp_path, n, code) for n, code in enumerate(codes)]
    workers.tie(both, lambda: ended.append(True))
    begin = time.monotonic()
    run_all(both)
    assert time.monotonic() - begin < 20
    assert [one.ended for one in both] == ["ended, for worker 1 did not finish", "signal 9"]
    assert ended == [True]
    joined = workers.gather(tmp_path, "target", "after.py", "tf2.15", both, [])
    assert str(joined.crash) == "did not finish: worker 1: signal 9"


def test_workers_that_end_well_wait_for_nobody(tmp_path):
    both = [process(tmp_path, n, f"print({n})") for n in range(2)]
    ended = []
    workers.tie(both, lambda: ended.append(True))
    run_all(both)
    assert [one.ended for one in both] == ["exit 0", "exit 0"] and ended == [True]


def trace(folder: Path, number: int, losses: list[float], weight: float, together: int) -> None:
    series = {"combine": "sum", "variables": [0], "losses": [losses], "rates": []}
    series["examples"] = [[4] * len(losses)]
    training = {"declared": True, "together": together, "summed": [], "series": [series]}
    training["variables"] = [{"name": "w", "shape": [2], "dtype": "float32", "model": 0}]
    training |= {"outputs": [], "records": [], "pins": {}, "notes": [], "declares": {}}
    context = {"initialised": [], "exit": None}
    found = {"status": 0, "sessions": [], "servers": [], "context": context, "training": training}
    path = folder / f"target.worker-{number}.json"
    path.write_text(json.dumps(found))
    arrays = {"initial/0": [0.0, 0.0], "gradient/0": [1.0, 2.0], "final/0": [weight, weight]}
    numpy.savez(f"{path}.npz", **{name: numpy.array(value) for name, value in arrays.items()})


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (([3.0, 4.0], 5.0, 2), None),
        (([3.0, 4.0], 5.0, 1), "its 2 workers did not train together: the strategy"),
        (([3.0], 5.0, 2), "its workers did not train equally long: 2, 1 steps"),
        (([3.0, 4.0], 6.0, 2), "w of worker 1 is not worker 0's at the end: 1 apart"),
    ],
)
def test_a_step_is_of_all_workers(tmp_path, second, reason):
    both = [process(tmp_path, n, "pass") for n in range(2)]
    workers.tie(both, lambda: None)
    run_all(both)
    trace(tmp_path, 0, [1.0, 2.0], 5.0, 2)
    trace(tmp_path, 1, *second)
    found = workers.gather(tmp_path, "target", "after.py", "tf2.15", both, ["one", "other"])
    assert sides.summary(found)["workers"] == ["one", "other"]
    if reason is None:
        (series,) = found.training["series"]
        assert series["losses"] == [[1.0, 2.0], [3.0, 4.0]]
        assert series["examples"] == [[4, 4], [4, 4]]
        assert found.workers["own_gradients"] == [0]
        return
    judged = verdict.judge(1, found, found, Tolerances())
    assert judged.reason.startswith(f"the reference: {reason}")
    reference = sides.Side("before.py", "tf1.15", found.trace, None, "", "", "exit 0", 0, 1.0)
    reference.trace = {**found.trace, "workers": {}}
    judged = verdict.judge(1, reference, found, Tolerances())
    assert judged.verdict == NOT_EQUIVALENT and judged.reason.startswith(f"the target: {reason}")


@pytest.fixture
def tower(runtime, tmp_path, monkeypatch) -> Path:
    runtime("tf1.15"), runtime("tf2.15")
    monkeypatch.setenv("MIGRATE_MGPU_TRACES", str(tmp_path / "records"))
    (tmp_path / "p").mkdir()
    for name in ("before.py", "after.py"):
        (tmp_path / "p" / name).write_text((FIXTURES / "tower" / name).read_text())
    return tmp_path / "p"


@pytest.mark.tensorflow
def test_a_loss_that_is_not_divided_by_the_replicas_of_all_workers(tower):
    after = tower / "after.py"
    right = "scaled_loss = loss / strategy.num_replicas_in_sync"
    assert right in after.read_text()
    after.write_text(after.read_text().replace(right, "scaled_loss = loss"))
    stdout, stderr = io.StringIO(), io.StringIO()
    programs = [str(tower / "before.py"), str(after)]
    options = ["--workers", "2", "--reference", "tf1.15", "--target", "tf2.15", "--json"]
    assert command([*programs, *options], stdout, stderr) == 1, stderr.getvalue()
    (found,) = json.loads(stdout.getvalue())["results"]
    # The reference is equal up to here: the same examples, in the same order.
    assert [rung["status"] for rung in found["rungs"][:3]] == ["equal"] * 3
    assert found["headline"] == 4
    assert found["diagnosis"][0]["cause"] == "loss-reduction"
    assert len(found["target"]["workers"]) == 2


@pytest.mark.tensorflow  # it starts runtimes, whose programs import none
def test_nothing_is_left_when_it_is_interrupted(tower):
    for name in ("before.py", "after.py"):
        text = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(100)\n"
        (tower / name).write_text(text)
    programs = [str(tower / "before.py"), str(tower / "after.py")]
    start = [sys.executable, "-m", "migrate_mgpu", "parity", *programs, "--workers", "2"]
    running = subprocess.Popen(
        start,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A shell has its background jobs ignore it, and they hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    printed = tower.parent / "records"
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = [one.read_text() for one in printed.glob("*/devices-1/*.stdout")]
            if len(found) == 3 and all(found):
                break
            time.sleep(0.1)
        assert len(found) == 3 and all(Path("/proc", one.strip()).exists() for one in found)
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
    finally:
        running.kill()
    assert not any(Path("/proc", one.strip()).exists() for one in found)
