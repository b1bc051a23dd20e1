"""Programs under the probe, in one process for each TensorFlow: it imports it once, and forks."""

from __future__ import annotations

import argparse
import atexit
import functools
import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from migrate_mgpu import runtimes
from migrate_mgpu.parity.runs import launch, supervise

# A program has the environment and the empty input that a process of its own would have.
SERVER = """
import gc, importlib.util, json, os, sys, tempfile, warnings
spec = importlib.util.spec_from_file_location("batch", sys.argv[1])
batch = importlib.util.module_from_spec(spec)
spec.loader.exec_module(batch)
warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
requests = os.fdopen(os.dup(0))
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
import tensorflow
gc.freeze()  # TensorFlow's own objects stay: a fifth of a small program's time is to look at them
gc.set_threshold(100_000, 20, 50)

def become(probe, job, plain=batch._child):
    os.environ.update(job["env"])
    tempfile.tempdir = None
    sys.path[1:1] = [path for path in job["env"].get("PYTHONPATH", "").split(os.pathsep) if path]
    plain(probe, job)

batch._child = become
for line in requests:
    with open(line.rstrip("\\n")) as stream:
        request = json.load(stream)
    with open(request["results"], "w") as stream:
        json.dump(batch.serve(request), stream)
    print("served", flush=True)
"""


@functools.cache
def _server(python: Path) -> subprocess.Popen[str]:
    """The process of an interpreter, which ends with this one."""
    command = [str(python), "-c", SERVER, str(launch.PROBE / "batch.py")]
    pipe, environment = subprocess.PIPE, launch.environment({})
    made = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)
    atexit.register(made.communicate)  # no more requests: it ends, and is waited for
    return made


def _serve(python: Path, jobs: Sequence[dict[str, Any]]) -> list[Any]:
    server = _server(python)
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as folder:
        request, results = Path(folder) / "jobs", Path(folder) / "results"
        given = [{"timeout_s": 300, "env": {}, **job} for job in jobs]
        whole = {"results": str(results), "parallel": 2, "jobs": given}
        request.write_text(json.dumps(whole), encoding="utf-8")
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(f"{request}\n")
        server.stdin.flush()
        assert server.stdout.readline() == "served\n"
        found: list[Any] = json.loads(results.read_text(encoding="utf-8"))
        return found


def serve(runtime: str, jobs: Sequence[dict[str, Any]]) -> list[Any]:
    """Run programs in a runtime (``probe/batch.py`` says what a job is, and its result)."""
    return _serve(runtimes.ensure(runtime).python, jobs)


def _options() -> argparse.ArgumentParser:
    """Those of the probe's command line that these programs have."""
    found = argparse.ArgumentParser()
    for name in ("--out", "--watch", "--gpus", "--gpu-memory"):
        found.add_argument(name)
    found.add_argument("--map-gpus", action="store_true")
    found.add_argument("program")
    found.add_argument("argv", nargs=argparse.REMAINDER)
    return found


def run_all(processes: Sequence[supervise.Process], meanwhile: object = None) -> None:
    """In the place of ``supervise.run_all``, one after the other: without limits, but for time."""
    for process in processes:
        given = _options().parse_args(process.command[2:])
        job = {
            "program": given.program, "argv": given.argv, "cwd": str(process.cwd),
            "out": given.out, "stdout": str(process.stdout), "stderr": str(process.stderr),
            "gpus": int(given.gpus), "gpu_memory": given.gpu_memory or "",
            "map_gpus": given.map_gpus, "timeout_s": process.limits.seconds,
            "watch": json.loads(Path(given.watch).read_text(encoding="utf-8")),
            "env": dict(process.env),
        }  # fmt: skip
        (result,) = _serve(Path(process.command[0]), [job])
        process.seconds = result["seconds"]
        code = process.status = result["status"]
        process.ended = f"signal {-code}" if code < 0 else f"exit {code}"
        if process.on_end is not None:
            process.on_end(process)
