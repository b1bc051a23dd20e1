"""Runs programs in forks of this process, which has imported TensorFlow.

    PYTHON server.py PROBE SOCKET       (the file probe.py, and where it is asked)

Importing TensorFlow costs 2 to 6 seconds of processor time, a small program well under one.
TensorFlow's state is the process's, so programs cannot share one; but the import starts no
thread of TensorFlow's, and this server forks a child for each program after it. Environment
variables that TensorFlow reads while it is imported are therefore the server's.

A request is a line, the path of a file that holds ``{"results": PATH, "parallel": N, "jobs":
[JOB, ...]}``; the answer is a line as well. A JOB has ``program``, ``argv``, ``cwd``, ``env``
(variables of the program alone), ``stdout``, ``stderr`` and ``timeout_s``. One under the probe
has ``out`` (the trace), ``gpus``, ``gpu_memory``, ``map_gpus`` and ``watch`` (the probe's
options, when the training is recorded too); another has ``stdin``, the file that it reads.
Results, in the order of the jobs: ``{"status": exit status or minus the signal, "timed_out":
bool, "seconds": s}``. The server ends when its input does.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

import atexit
import gc
import importlib.util
import json
import os
import random
import runpy
import select
import signal
import socket
import sys
import tempfile
import time
import traceback
import warnings


def load(path):
    spec = importlib.util.spec_from_file_location("_migrate_mgpu_probe", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def under(probe):
    """How jobs run under the probe."""

    def run(job):
        machine = probe.fake_gpus.parse(job["gpus"], job["gpu_memory"])
        trace = probe.Trace(job["out"], job["program"], job["argv"], machine, job["map_gpus"])
        if job.get("watch"):
            trace.watch(job["watch"])
        return probe.run(trace, job["program"], job["argv"])

    return run


def child(run, job):
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


def serve(request, run):
    """Run all jobs, at most ``parallel`` at a time; returns their results."""
    jobs = request["jobs"]
    running = {}
    results = [None] * len(jobs)
    waiting = list(enumerate(jobs))
    while waiting or running:
        while waiting and len(running) < request["parallel"]:
            index, job = waiting.pop(0)
            sys.stdout.flush()
            sys.stderr.flush()
            process = os.fork()
            if process == 0:
                child(run, job)
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
                kill(process)
        time.sleep(0.01)
    return results


def kill(process):
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:  # it has not made its group yet, or is gone
        os.kill(process, signal.SIGKILL)


def alone(job):
    """Run a program as it is: its exit status."""
    os.dup2(os.open(job["stdin"], os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0)
    sys.argv = [job["program"], *job["argv"]]
    sys.path[0] = os.path.dirname(job["program"])
    try:
        runpy.run_path(job["program"], run_name="__main__")
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            sys.stderr.write(f"{end.code}\n")
            return 1
        return end.code or 0
    return 0


def main():
    probed = under(load(sys.argv[1]))

    def run(job):
        os.environ.update(job["env"])
        tempfile.tempdir = None
        sys.path[1:1] = [one for one in job["env"].get("PYTHONPATH", "").split(os.pathsep) if one]
        return alone(job) if "stdin" in job else probed(job)

    sys.path[0] = ""  # this folder: programs must not import from it
    warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
    # A program has the empty input that a process of its own would have.
    starter = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[2] + ".new")
    listener.listen(8)
    os.rename(sys.argv[2] + ".new", sys.argv[2])  # who sees it can ask
    importlib.import_module("tensorflow")
    gc.freeze()  # TensorFlow's own objects: a fifth of a small program's time is to look at them
    gc.set_threshold(100000, 20, 50)
    while listener in select.select([listener, starter], [], [])[0]:
        connection = listener.accept()[0]
        with connection, connection.makefile("rw") as stream:
            with open(stream.readline().rstrip("\n")) as file:
                request = json.load(file)
            results = serve(request, run)
            with open(request["results"], "w") as file:
                json.dump(results, file)
            stream.write("served\n")
    os.unlink(sys.argv[2])


if __name__ == "__main__":
    main()
