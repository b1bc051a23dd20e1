"""Run many programs under the probe, importing TensorFlow once.

    PYTHON batch.py JOBS.json

Importing TensorFlow costs 4 to 9 seconds of processor time, a small program well
under one. TensorFlow's state is the process's, so programs cannot share one; but
the import starts no TensorFlow thread, and this server forks one child for each
program after it. Environment variables that TensorFlow reads while it is imported
are therefore the server's; ``launch`` gives a program that sets one its own process.

``JOBS.json`` holds ``{"results": PATH, "parallel": N, "jobs": [JOB, ...]}``; a JOB
has ``program``, ``argv``, ``cwd``, ``out`` (the trace), ``stdout``, ``stderr``,
``gpus``, ``gpu_memory``, ``map_gpus``, ``timeout_s``, and ``watch`` (the probe's options,
when the training is recorded too). Results, in the order of the
jobs: ``{"status": exit status or minus the signal, "timed_out": bool, "seconds": s}``.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

# Plain strings for paths: pathlib's resolve() would follow links.

from __future__ import annotations

import atexit
import gc
import importlib
import importlib.util
import json
import os
import random
import signal
import sys
import time
import traceback
import warnings
from typing import Any, Callable

Run = Callable[[Any], int]  # a job, to its exit status


def _probe() -> Any:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe.py")
    spec = importlib.util.spec_from_file_location("_migrate_mgpu_probe", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def under_the_probe() -> Run:
    """How jobs run: their programs under the probe."""
    probe = _probe()

    def run(job: dict[str, Any]) -> int:
        machine = probe.fake_gpus.parse(job["gpus"], job["gpu_memory"])
        trace = probe.Trace(job["out"], job["program"], job["argv"], machine, job["map_gpus"])
        if job.get("watch"):
            trace.watch(job["watch"])
        status: int = probe.run(trace, job["program"], job["argv"])
        return status

    return run


def _child(run: Run, job: dict[str, Any]) -> None:
    """The forked process: becomes the program; never returns."""
    status = 1
    try:
        os.setsid()  # a program's own children end with it
        for number, name in ((1, "stdout"), (2, "stderr")):
            descriptor = os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(job["cwd"])
        random.seed()  # or all children would draw the same "random" numbers
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed()
        status = run(job)
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status & 0xFF)


def serve(request: dict[str, Any], run: Run) -> list[Any]:
    """Run all jobs, at most ``parallel`` at a time; returns their results."""
    jobs = request["jobs"]
    running: dict[int, tuple[int, float, bool]] = {}
    results: list[Any] = [None] * len(jobs)
    waiting = list(enumerate(jobs))
    while waiting or running:
        while waiting and len(running) < request["parallel"]:
            index, job = waiting.pop(0)
            sys.stdout.flush()
            sys.stderr.flush()
            process = os.fork()
            if process == 0:
                _child(run, job)
            running[process] = (index, time.monotonic(), False)
        ended, code = os.waitpid(-1, os.WNOHANG)
        if ended in running:
            index, start, timed_out = running.pop(ended)
            results[index] = {
                "status": -os.WTERMSIG(code) if os.WIFSIGNALED(code) else os.WEXITSTATUS(code),
                "timed_out": timed_out,
                "seconds": time.monotonic() - start,
            }
            continue
        for process, (index, start, timed_out) in list(running.items()):
            if not timed_out and time.monotonic() - start > jobs[index]["timeout_s"]:
                running[process] = (index, start, True)
                _kill(process)
        time.sleep(0.01)
    return results


def _kill(process: int) -> None:
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:  # it has not made its group yet, or is gone
        os.kill(process, signal.SIGKILL)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as stream:
        request = json.load(stream)
    sys.path.pop(0)  # this folder: programs must not import from it
    sys.path.insert(0, "")  # the probe puts the program's folder here
    # Python 3.12 warns of fork in a process with threads; the one there is after the
    # import is OpenBLAS's, which handles fork itself.
    warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
    importlib.import_module("tensorflow")
    gc.freeze()  # what all programs share stays: no collection looks at it again, or copies it

    results = serve(request, under_the_probe())
    with open(request["results"], "w", encoding="utf-8") as stream:
        json.dump(results, stream)


if __name__ == "__main__":
    main()
