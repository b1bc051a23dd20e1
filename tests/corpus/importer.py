"""Import programs under a TensorFlow, each in a process of its own; runs in a runtime.

    PYTHON importer.py JOBS.json RESULTS.json

A job has ``entry`` (a script's path), ``root`` (its repository), ``above`` (a PYTHONPATH: the
folders around it) and ``path`` (all folders where its repository's modules may lie: of these,
each that has a module which is lacking), ``package`` (its dotted name, if it is in a package) and
``own`` (names of the run's modules: of those that lie in packages alone, the ones that are found).
Modules that are neither of the run, nor installed, nor TensorFlow's or Keras's stand for anything:
what is asked is whether the program's own code meets a TensorFlow that it can use. A script without
a main guard runs, for ``LIMIT`` seconds at most. A result is the job with ``error`` and ``where``,
None when all went well or time ran out.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import json
import os
import re
import runpy
import select
import signal
import sys
import traceback
import types

LIMIT = 20
NEVER = {"tensorflow", "keras", "tf_keras", "tensorflow_estimator", "tf_slim"}


class Anything(type):
    """A class that is whatever is asked of it."""

    def __getattr__(cls, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return another()

    def __iter__(cls):
        return iter(())

    def __getitem__(cls, key):
        return Stub

    def __mro_entries__(cls, bases):
        return (Stub,)


class Stub(metaclass=Anything):
    def __init__(self, *args, **keywords):
        pass

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Stub()

    def __call__(self, *args, **keywords):
        # A decorator leaves its function.
        return args[0] if len(args) == 1 and callable(args[0]) and not keywords else Stub()

    def __iter__(self):
        return iter(())

    def __getitem__(self, key):
        return Stub()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def another():
    """A class of its own each time: one may have two of them as bases."""
    return Anything("Stub", (Stub,), {})


class StubModule(types.ModuleType):
    __path__ = ()
    __version__ = "1.0"

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return another()


class Finder:
    """Asked last: what nobody else finds is a stub, unless it had to be found."""

    def __init__(self, own):
        self.own = own

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in NEVER or top in self.own or top in sys.stdlib_module_names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return StubModule(spec.name)

    def exec_module(self, module):
        pass


class Shadows:
    """Asked first: a folder of data is no package, though Python takes it for one.

    Where the real package is installed, Python finds that.
    """

    def find_spec(self, name, path=None, target=None):
        found = importlib.machinery.PathFinder.find_spec(name, path)
        if path is not None or found is None or found.loader is not None:
            return None
        if any(files_of_python(folder) for folder in found.submodule_search_locations):
            return None
        return importlib.machinery.ModuleSpec(name, Finder(()), is_package=True)


def files_of_python(folder):
    return any(name.endswith(".py") for _, _, names in os.walk(folder) for name in names)


class OutOfTime(BaseException):
    pass


STOPPED = []


def stop(*_):
    STOPPED.append(True)
    raise OutOfTime


def attempt(job, path):
    """The error of one import and the line of the job's folder that raised it; None for none."""
    folder = os.path.dirname(os.path.abspath(job["entry"]))
    os.chdir(folder)
    sys.argv = [job["entry"]]
    sys.path[:0] = [folder]
    sys.path += path
    sys.meta_path.insert(0, Shadows())
    sys.meta_path.append(Finder(set(job["own"])))
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        if job["package"]:
            importlib.import_module(job["package"])
        else:
            runpy.run_path(job["entry"], run_name="__imported__")
    except (OutOfTime, SystemExit):
        return None
    except BaseException as error:
        if STOPPED:  # raised in TensorFlow's own C++, which made another error of it
            return None
        frames = [f for f in traceback.extract_tb(error.__traceback__) if job["root"] in f.filename]
        where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else job["entry"]
        return f"{type(error).__name__}: {error}", where
    return None


def forked(job, path):
    """What ``attempt`` finds in a process of its own."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        found = attempt(job, path)
        signal.alarm(0)
        os.write(writer, json.dumps(found).encode()[:60000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        # What waits in C++ (a `Server` that is joined) is not woken by its own alarm.
        if not select.select([stream], [], [], 2 * LIMIT)[0]:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None, None
        text = stream.read()
    os.waitpid(pid, 0)
    return (json.loads(text) if text else ("died", job["entry"])) or (None, None)


MISSING = re.compile(
    r"ModuleNotFoundError: No module named '([\w.]+)'"
    r"|AttributeError: module '(\w+)' has no attribute"
)


def lacking(error, where, folders, path):
    """The first folder, of those not on a path, with the module that an import did not find."""
    found = MISSING.match(error or "")
    if found is None:
        return None
    # A folder has no attribute: a package of its name lies somewhere else.
    needed = ["__init__.py"] if found[2] else []
    for folder in having(found[1] or found[2], folders, *needed):
        # What lies in a package is found from its own folder alone.
        beside = folder == os.path.dirname(where.rpartition(":")[0])
        if folder not in path and (beside or not is_package(folder)):
            return folder
    return None


def having(name, folders, *needed):
    """The folders with a module of a dotted name, or with a package that has a file."""
    for folder in folders:
        place = os.path.join(folder, *name.split("."))
        is_file = os.path.isfile(place + ".py")
        if is_file or (os.path.isdir(place) and os.path.exists(os.path.join(place, *needed))):
            yield folder


def is_package(folder):
    return os.path.isfile(os.path.join(folder, "__init__.py"))


def hiding(error, own, folders):
    """A name of the run's that is none where it was asked for: parts of packages alone have it."""
    found = MISSING.match(error or "")
    if found is None or found[1] not in own:
        return None
    places = list(having(found[1], folders))
    return found[1] if places and all(map(is_package, places)) else None


def imported(job):
    """What ``forked`` finds at last, when what is lacking is on the path."""
    path, own = list(job["above"]), set(job["own"])
    while True:
        error, where = forked({**job, "own": sorted(own)}, path)
        folder = lacking(error, where, job["path"], path)
        name = hiding(error, own, job["path"])
        if folder is not None:
            path.append(folder)
        elif name is not None:
            own.remove(name)
        else:
            return error, where


def main():
    with open(sys.argv[1]) as file:
        jobs = json.load(file)
    if any(job.get("legacy") for job in jobs):
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow  # noqa: F401 - once, for all that are forked

    results = []
    for job in jobs:
        error, where = imported(job)
        results.append({**job, "error": error, "where": where})
    with open(sys.argv[2], "w") as file:
        json.dump(results, file)


if __name__ == "__main__":
    main()
