"""Run an unedited TensorFlow program and record the configuration it really uses.

    PYTHON probe.py --out trace.json [--gpus N] [--gpu-memory M,M]
        [--map-gpus | --split-gpu MIB | --real-gpus M,M] [--watch OPTIONS.json]
        [--module NAME] PROGRAM [ARGS]

The program runs as ``__main__`` with its own ``sys.argv``, ``sys.path[0]`` and
working directory; its standard output and exit status are its own. This file is
executed by the interpreter under test, so it is Python 3.7, standard library
only, and takes nothing but its siblings of that kind from the package that it lies in.

TensorFlow is watched from the moment the program imports it (an import hook, so
that a program which sets environment variables first still can):

* every ``ConfigProto`` that reaches ``BaseSession.__init__``, whoever makes the
  session; without one TensorFlow takes ``context.context().config``, and so does
  the record (tensorflow/python/client/session.py);
* ``context.context().config`` when the eager runtime initialises and at exit;
* ``--gpus N`` puts N fake physical GPUs on the machine: TensorFlow lists them,
  accepts configuration for them, and the CUDA driver's total memory call answers.
  A CPU build has no GPU device factory, so nothing is ever executed on them;
* ``--map-gpus`` executes what is placed on ``/gpu:i`` on a logical CPU ``i``,
  one for each visible fake GPU, so that a program without soft placement runs,
  and ``/gpu:9`` still fails where there is no GPU 9. What is recorded is the
  configuration before this change;
* ``--split-gpu MIB`` executes it on logical GPU ``i`` of the machine's first GPU;
* ``--real-gpus M,M`` leaves TensorFlow the machine's own GPUs, of these totals.

With ``--watch`` the training is recorded too (``watch.py``, which needs numpy).

The trace is rewritten after every event: a program that dies in native code
leaves what was seen until then, with ``"status": null``.
"""

# Plain strings for paths: pathlib's resolve() would follow links.

from __future__ import annotations

import argparse
import ctypes
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import linecache
import os
import random
import runpy
import sys
import time
import traceback
from typing import Any

FORMAT = 1
PACKAGE = "migrate_mgpu"  # from which programs import record()
# What changes a device configuration from outside of it.
ENVIRONMENT = (
    "CUDA_DEVICE_ORDER",
    "CUDA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_FORCE_UNIFIED_MEMORY",
    "TF_NUM_INTEROP_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_XLA_FLAGS",
)


def _sibling(name: str) -> Any:
    """A module of this folder, which must not be on the program's ``sys.path``."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    spec = importlib.util.spec_from_file_location("_migrate_mgpu_" + name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fake_gpus = _sibling("fake_gpus")
unordered = _sibling("unordered")
configuration = _sibling("watch_configuration")
configuration.fake_gpus = fake_gpus


class Trace:
    """What was seen, as one JSON file."""

    def __init__(
        self, path: str, program: str, argv: list[str], machine: Any, map_gpus: bool = False
    ) -> None:
        self.path = path
        self.machine = machine
        self.map_gpus = map_gpus
        self.data: dict[str, Any] = {
            "format": FORMAT,
            "program": program,
            "argv": argv,
            "gpus": machine.totals_mib if machine else None,
            "versions": {},
            "status": None,
            "exception": None,
            "sessions": [],
            "servers": [],
            "names_gpus": False,  # for operations of a graph
            "context": {"initialised": [], "exit": None},
        }
        self.real_gpus: list[int] | None = None  # their indices, when --real-gpus told of them
        self.recorder: Any = None  # of the training, with --watch
        self.more_patches: dict[str, Any] = {}
        self.isolation: Any = None
        self.printing: Any = None
        self.ends: dict[str, Any] | None = None  # of the workers: files that say they have ended
        self.program = os.path.abspath(program)
        self.folder = os.path.dirname(self.program)  # the program's own modules
        self._process = os.getpid()
        self._open = open  # a program's writes may be kept inside its copy
        self._replace = os.replace

    def watch(self, options: dict[str, Any]) -> None:
        """Record the training too, or convert a checkpoint for the program, or what it saves."""
        if "into" in options:
            name = "convert" if "source" in options else "template"
            found = _sibling(name).patches(_sibling, options)
        else:
            found = _sibling("watch").patches(_sibling, self.path, options)
        self.recorder, self.more_patches = found
        self.ends = options.get("ends")
        for name in ("hardware", "place"):  # of this side, for the result
            self.data[name] = options.get(name)
        self.recorder.save_trace = self.save
        self.printing = _sibling("watch_printing").Printing()
        if options.get("isolate"):
            isolation = _sibling("isolate").Isolation(options["isolate"], self.recorder)
            self.more_patches = _both(self.more_patches, isolation.patches())
            self.isolation = isolation
            self.folder = options["isolate"]

    def record(self, proto: Any, **more: Any) -> dict[str, Any]:
        """One configuration: the proto as a dict of its set fields, and its circumstances."""
        entry = dict(more)
        entry["config"] = self.as_dict(proto)
        entry["environment"] = {n: os.environ[n] for n in ENVIRONMENT if n in os.environ}
        entry["shown_gpus"] = self.machine.shown() if self.machine else self.real_gpus
        entry.update(_user_line())
        return entry

    def as_dict(self, proto: Any) -> dict[str, Any]:
        json_format = importlib.import_module("google.protobuf.json_format")
        found: dict[str, Any] = json_format.MessageToDict(proto, preserving_proto_field_name=True)
        return found

    def save(self) -> None:
        if os.getpid() != self._process:
            return  # a child that the program forked
        self.data["versions"] = _versions()
        if self.recorder is not None:
            self.data[self.recorder.part] = self.recorder.save()
        temporary = self.path + ".part"
        with self._open(temporary, "w", encoding="utf-8") as stream:
            json.dump(self.data, stream, indent=1, sort_keys=True, default=str)
        self._replace(temporary, self.path)


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Both patches where both have one."""

    def chain(first: Any, second: Any) -> Any:
        def patch(module: Any) -> None:
            first(module)
            second(module)

        return patch

    joined = {**one, **other}
    joined.update({key: chain(one[key], other[key]) for key in one if key in other})
    return joined


def _versions() -> dict[str, str]:
    found = {"python": ".".join(str(part) for part in sys.version_info[:3])}
    for name in ("tensorflow", "keras", "tf_keras", "numpy"):
        module = sys.modules.get(name)
        version = getattr(module, "__version__", None) if module else None
        if isinstance(version, str):
            found[name] = version
    return found


def _user_line() -> dict[str, Any]:
    """The innermost line outside TensorFlow, Keras, the standard library and this folder."""
    roots = [os.path.dirname(os.path.abspath(f)) + os.sep for f in (os.__file__, __file__)]
    for name in ("tensorflow", "tensorflow_core", "tensorflow_estimator", "keras", "tf_keras"):
        origin = getattr(sys.modules.get(name), "__file__", None)
        if origin:
            roots.append(os.path.dirname(os.path.abspath(origin)) + os.sep)
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        path = os.path.abspath(name)
        if not (name.startswith("<") or any(path.startswith(root) for root in roots)):
            path, line = _place(path, frame.f_lineno, path)
            return {"file": path, "line": line}
        frame = frame.f_back
    return {"file": None, "line": None}


def _own_frames(error: BaseException, folder: str) -> list[list[Any]]:
    """Those of a traceback that are the program's own: file, line, function, source."""
    found: list[list[Any]] = []
    for frame in traceback.extract_tb(error.__traceback__):
        found.append([frame.filename, frame.lineno, frame.name, frame.line])
    if isinstance(error, SyntaxError) and error.filename:
        found.append([error.filename, error.lineno, "<module>", (error.text or "").strip()])
    inside = folder + os.sep
    for entry in found:
        if not entry[0].startswith("<"):  # Python's own, and what was made by exec()
            entry[0] = os.path.abspath(entry[0])
    own = [entry for entry in found if entry[0].startswith(inside)]
    return [[*_place(file, line, file[len(inside) :]), *rest] for file, line, *rest in own]


def _place(file: str, line: int | None, shown: str) -> tuple[str, int | None]:
    """How a line is named: in a notebook by its cell, see ``Notebook.script``."""
    if line is not None and file.endswith(".ipynb"):
        for above in range(line - 1, 0, -1):
            head = linecache.getline(file, above)
            if head.startswith("# %% cell "):
                return f"{shown}, {head[len('# %% ') :].strip()}", line - above
    return shown, line


def _patch_for(trace: Trace, name: str) -> Any:
    """What is to be done to a module, as one function, or None."""
    package, dot, rest = name.partition(".")
    if package == "tf_keras":  # Keras 2, by another name
        key = f"keras{dot}{rest}"
    else:
        key = dot + rest if package in ("tensorflow", "tensorflow_core") else name
    first, second = configuration.PATCHES.get(key), trace.more_patches.get(key)
    if second is None:  # of a module beside a program, in whichever package
        second = trace.more_patches.get(f"*.{name.rpartition('.')[2]}")
    if first is None and second is None:
        return None

    def patch(module: Any) -> None:
        if first is not None:
            first(trace, module)
        if second is not None:
            second(module)

    return patch


class _EmptyModule(importlib.abc.Loader):
    def create_module(self, spec: Any) -> Any:
        return None  # as Python makes them

    def exec_module(self, module: Any) -> None:
        pass


class ImportHook(importlib.abc.MetaPathFinder):
    """Patches a TensorFlow module as soon as it has been executed."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        patch = _patch_for(self.trace, name)
        if patch is None:
            return None
        for finder in sys.meta_path:
            spec: Any = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                self._patch_after(spec.loader, patch)
                return spec
        if name == PACKAGE:  # this tool is not installed in this runtime: record() still works
            loader: Any = _EmptyModule()
            self._patch_after(loader, patch)
            return importlib.machinery.ModuleSpec(name, loader)
        return None

    def _patch_after(self, loader: Any, patch: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            # Keras 3 imports a module that draws: the program's own draws would be others.
            state = random.getstate()
            execute(module)
            random.setstate(state)
            patch(module)

        loader.exec_module = exec_module


# The run --------------------------------------------------------------------------------------


def install(trace: Trace) -> None:
    """Watch TensorFlow: what is imported already at once, the rest when it is imported."""
    for name, module in list(sys.modules.items()):
        patch = _patch_for(trace, name)
        if patch is not None and module.__name__ == name:
            patch(module)
    sys.meta_path.insert(0, ImportHook(trace))
    if trace.machine is not None:
        fake_gpus.patch_cuda_driver(trace.machine)


def _line_buffer_output() -> None:
    """Keep Python's and native lines whole and in order, also into a file."""
    stdout: Any = sys.stdout
    stdout.reconfigure(line_buffering=True)
    try:
        libc = ctypes.CDLL(None)
        libc.setvbuf(ctypes.c_void_p.in_dll(libc, "stdout"), None, 1, 0)  # 1 is _IOLBF
    except (OSError, TypeError, ValueError, AttributeError):
        pass  # not a C library of this form: native lines may come late


def run(trace: Trace, program: str, argv: list[str], module: str | None = None) -> int:
    """Execute the program, or as ``python -m`` does a module; returns its exit status. The
    trace is saved."""
    _line_buffer_output()
    if trace.printing is not None:
        trace.printing.begin()
    install(trace)
    if trace.isolation is not None:
        trace.isolation.patch_python()
    _save_before_os_exit(trace)
    sys.argv = [program, *argv]
    sys.path[0] = os.getcwd() if module else os.path.dirname(os.path.abspath(program))
    status = 0
    try:
        if module:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(program, run_name="__main__")
    except SystemExit as exit_:
        if exit_.code is not None and not isinstance(exit_.code, int):
            sys.stderr.write(f"{exit_.code}\n")
        status = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BaseException as error:
        if trace.recorder is not None and trace.recorder.stopped:
            return _end(trace, 0)  # the wanted steps are recorded
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
        text = traceback.format_exc()
        sys.stderr.write(text)
        trace.data["exception"] = {
            "type": type(error).__name__,
            "message": str(error),
            "traceback": text,
            "frames": _own_frames(error, trace.folder),
        }
    return _end(trace, status)


def _end(trace: Trace, status: int) -> int:
    trace.data["status"] = status
    if trace.printing is not None:
        trace.data["printing"] = trace.printing.data()
    _record_context_at_exit(trace)
    if trace.recorder is not None:
        trace.data["unordered"] = [
            _place(file, line, file[len(trace.folder) + 1 :])
            for file, line in unordered.places(trace.folder, trace.program)
        ]
        trace.recorder.finish(status)
    trace.save()
    if status == 0 and trace.ends is not None:
        _leave_together(trace)
    return status


LEAVE_S = 30.0


def _leave_together(trace: Trace) -> None:
    """A worker that leaves early takes from the others what their last step needs."""
    assert trace.ends is not None
    with trace._open(trace.ends["own"], "w"):
        pass
    begin = time.monotonic()
    while not all(map(os.path.exists, trace.ends["all"])):
        if time.monotonic() - begin > LEAVE_S:
            return
        time.sleep(0.02)


def _save_before_os_exit(trace: Trace) -> None:
    leave = os._exit

    @functools.wraps(leave)
    def _exit(status: int) -> None:
        if trace.recorder is not None:
            trace.save()
        leave(status)

    os._exit = _exit  # type: ignore[assignment]


def _record_context_at_exit(trace: Trace) -> None:
    for package in ("tensorflow", "tensorflow_core"):
        module = sys.modules.get(package + ".python.eager.context")
        if module is not None:
            try:
                entry = trace.record(module.context().config)
                entry["eager"] = bool(module.context().executing_eagerly())
                trace.data["context"]["exit"] = entry
            except Exception as error:  # TensorFlow refuses contradictory options here
                trace.data["context"]["exit"] = {"error": str(error)}
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="the trace, a JSON file")
    parser.add_argument("--gpus", type=int, help="number of fake physical GPUs")
    parser.add_argument("--gpu-memory", help="their total memory, MiB, by commas")
    parser.add_argument("--map-gpus", action="store_true", help="run /gpu:i on logical CPU i")
    parser.add_argument("--split-gpu", type=int, metavar="MIB", help="run them on parts of GPU 0")
    parser.add_argument("--real-gpus", metavar="MIB,...", help="total memory of the machine's own")
    parser.add_argument("--watch", help="record the training; a JSON file with options")
    parser.add_argument("--module", help="run this module of the program's file, as python -m")
    parser.add_argument("program")
    parser.add_argument("argv", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    try:
        machine = fake_gpus.parse(options.gpus, options.gpu_memory)
    except ValueError as error:
        parser.error(str(error))
    if (options.map_gpus or options.split_gpu) and machine is None:
        parser.error("--map-gpus and --split-gpu need --gpus")
    if options.map_gpus and options.split_gpu:
        parser.error("--map-gpus and --split-gpu exclude each other")
    if machine is not None:
        machine.split_mib = options.split_gpu
    out = os.path.abspath(options.out)
    elsewhere = bool(options.map_gpus or options.split_gpu)
    trace = Trace(out, options.program, options.argv, machine, elsewhere)
    if options.real_gpus:
        trace.data["gpus"] = [int(text) for text in options.real_gpus.split(",")]
        trace.real_gpus = list(range(len(trace.data["gpus"])))
    if options.watch:
        with open(options.watch, encoding="utf-8") as stream:
            trace.watch(json.load(stream))
    return run(trace, options.program, options.argv, options.module)


if __name__ == "__main__":
    sys.exit(main())
