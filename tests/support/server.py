"""Runs programs in forks of this process, which has imported TensorFlow.

    PYTHON server.py BATCH SOCKET       (the file probe/batch.py, and where it is asked)

A request is a line, the path of a file (``batch.py`` says what it holds); so is the answer. A
job has two things more: ``env``, variables of its program alone, and ``stdin``, the file that a
program without the probe reads: it has no ``gpus`` and leaves no trace. It ends with its input.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

import gc
import importlib.util
import json
import os
import runpy
import select
import socket
import sys
import tempfile
import warnings


def load(path):
    spec = importlib.util.spec_from_file_location("batch", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    batch = load(sys.argv[1])
    probed = batch.under_the_probe()

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
            results = batch.serve(request, run)
            with open(request["results"], "w") as file:
                json.dump(results, file)
            stream.write("served\n")
    os.unlink(sys.argv[2])


if __name__ == "__main__":
    main()
