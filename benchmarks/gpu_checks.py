"""What only a GPU can show, in one call on a machine that may be lent for minutes.

    python benchmarks/gpu_checks.py [--python PYTHON] [--only NAME,...] [--programs FILE]
                                    [--jobs N] [--out FOLDER]
    python benchmarks/gpu_checks.py --write-programs FILE
    python benchmarks/gpu_checks.py --rehearse [--only towers]
    python benchmarks/gpu_checks.py --list-wheels [--tensorflow REQUIREMENT]

TensorFlow is that of PYTHON (this one, unless told). TensorFlow 1.15's wheels know no GPU made
since 2020: sessions of ``compat.v1``, which take their ConfigProto as 1.15 took it, stand for it.
Each check runs programs in processes of their own and says what it saw:

driver      the total memory that ``cuDeviceTotalMem_v2`` answers, which MGPU104 asks, and the
            one of ``cuMemGetInfo_v2``, which TensorFlow asks
memory      the bytes that a session takes by ``per_process_gpu_memory_fraction``, those that the
            calls take that MGPU104 writes, in a bridge and in native code, and the memory limit
            that TensorFlow's log names
growth      ``allow_growth``, and the calls of MGPU103; with a fraction too, where the limit wins
first       two sessions of one process, one of them without a config: whether the GPU's memory is
            taken as the first one says
visible     ``visible_device_list`` and ``device_count``, and the calls of MGPU106 and MGPU107
placement   an operation that a GPU has not, with and without soft placement
log         the log of placements names the GPU
tf32        how far products of float32 are from those of float64, as TensorFlow comes, and
            without TF32, which TensorFlow 1 has not
towers      each program of ``fixtures/towers`` as a bridge against replicas of a strategy, on one
            GPU split into two: ``migrate-mgpu parity``
steps       the time of a step of ``benchmarks/tower_programs``, as a bridge and as replicas

``--write-programs`` migrates what the checks run, without TensorFlow and without a GPU;
``--programs`` takes that file, so that a lent machine loses no time with it and needs none of this
package's requirements. Programs share one import of TensorFlow (``--fresh``: they do not);
``--jobs`` of them run side by side where the GPU's memory is not what is measured. Each check
writes its result into FOLDER when it ends, so a run that is cut short keeps what it found.
``--rehearse`` does what can be done without a GPU: towers and steps, on logical CPUs. Without a
GPU the script says so and ends. Exit status: 1 when something differs, else 0.

A machine without a network needs TensorFlow brought along (``--list-wheels`` says which files, and
how large: 3.5 GB with CUDA). Where little may travel, most of it can stay behind:

* TensorFlow 2.21 with all that it imports came in 148 MB (its wheel alone has 573). Not needed on
  one kind of GPU: headers, what ends a library behind its last loaded section (``.symtab``,
  ``.strtab``), and GPU code of other architectures. Each fat binary in a library begins with
  ``50 ed 55 ba``, version 1, header size 16 and its length in 8 bytes; then entries follow: kind
  (1 PTX, 2 ELF; 2 bytes), version, header size (4), payload size (8), compressed size (4), at 28
  the architecture, at 40 flags (0x2000: LZ4), at 56 the size without compression. One entry is
  enough; without compression (flag, and both sizes of it, 0) xz makes it smaller.
* CUDA's libraries may be those of the machine, also of the next major version: TensorFlow asks for
  file names (``libcublas.so.12``), and finds links of that name on ``LD_LIBRARY_PATH`` and in
  ``site-packages/nvidia/cublas/lib`` and its neighbours. The runtime (``libcudart.so.12``, 1 MB)
  must be the one that TensorFlow was built for.
* 16 cores unpack it in 4 s when blocks of 32 MiB are xz files of their own (code: x86 filter).
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOWERS = ROOT / "fixtures" / "towers"
SESSIONS = ROOT / "fixtures" / "session"
STEPPED = ROOT / "benchmarks" / "tower_programs"
TENSORFLOW = "tensorflow[and-cuda]==2.21.0"
FRACTIONS = ("0.25", "0.1", "1.0 / 3")
MIB = 2**20
SPLIT_MIB = 1024  # of each logical GPU
TIME_LIMIT_S = 120
# Steps of a program that is timed, and its first ones, which trace and warm up.
STEPS = 1000
FEW = 100

# Files by path; the first is run.
Program = dict[str, str]
Programs = dict[str, Program]

# A TF1 program whose config is measured.
TRAINS = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
kernel = tf.Variable(tf.zeros([4, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, kernel) - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
config = tf.ConfigProto()
{options}
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        _, value = sess.run([train, loss], {{x: np.eye(4, dtype=np.float32)}})
        print("loss", value)
"""
# Two sessions of one process; each gets a config or none.
TWICE = """\
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
x = tf.placeholder(tf.float32, [None, 4])
kernel = tf.Variable(tf.zeros([4, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, kernel) - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
config = tf.ConfigProto()
{options}
for given in ({first}, {second}):
    with tf.Session(config=given) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            _, value = sess.run([train, loss], {{x: np.eye(4, dtype=np.float32)}})
            print("loss", value)
"""
# One that asks a GPU for an operation that it has not.
WORDS = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None])
with tf.device("/gpu:0"):
    words = tf.as_string(x)
config = tf.ConfigProto()
config.allow_soft_placement = {soft}
with tf.Session(config=config) as sess:
    print("words", sess.run(words, {{x: [1.0, 2.0]}}))
"""
KERAS_WORDS = """\
import tensorflow as tf

tf.config.set_soft_device_placement({soft})


class Words(tf.keras.layers.Layer):
    def call(self, inputs):
        with tf.device("/gpu:0"):
            return tf.strings.length(tf.strings.as_string(inputs))


print("words", tf.keras.Sequential([Words()])(tf.ones([2, 2])))
"""
OPTIONS = {
    "none": "",
    **{
        f"fraction {one}": f"config.gpu_options.per_process_gpu_memory_fraction = {one}"
        for one in FRACTIONS
    },
    "growth": "config.gpu_options.allow_growth = True",
    "growth and fraction": "config.gpu_options.allow_growth = True\n"
    "config.gpu_options.per_process_gpu_memory_fraction = 0.1",
    "visible": "config.gpu_options.visible_device_list = '0'",
    "no gpu": "config.device_count['GPU'] = 0",
    "log": "config.log_device_placement = True",
}
# What may hold for the process, and who of two sessions asks for it.
FIRST = ("growth", "fraction 0.1")
ORDERS = {
    "first": ("config", "None"),
    "second": ("None", "config"),
    "both": ("config", "config"),
}


# -- programs -------------------------------------------------------------------------------


def programs() -> Programs:
    """All that the checks run, by name: the tool is asked once for each."""
    found: Programs = {}
    for name, options in OPTIONS.items():
        found |= _three(name, TRAINS.format(options=options))
    for name in ("none", *FIRST):
        for order, (first, second) in ORDERS.items():
            code = TWICE.format(options=OPTIONS[name], first=first, second=second)
            found[f"first {name}/{order}"] = {"program.py": code}
    for soft in (True, False):
        found |= _three(f"words {soft}", WORDS.format(soft=soft), native=False)
        found[f"words {soft}/keras"] = {"program.py": KERAS_WORDS.format(soft=soft)}
    for kind, fixtures in (("tower", TOWERS), ("session", SESSIONS)):
        for folder in sorted(fixtures.iterdir()):
            found |= _pair(kind, folder)
    for program in sorted(STEPPED.glob("*.py")):
        name, code = program.stem, program.read_text("utf-8")
        for kind, text in (("bridge", migrated(code, False)), ("native", migrated(code, True))):
            found[f"steps {name}/{kind}"] = {f"{name}.py": text}
    return found


def migrated(code: str, native: bool) -> str:
    """What the tool makes of a program of one file.

    Raises:
        ValueError: native code was wanted, and the program stays a session.
    """
    return _migrated({"program.py": code}, native)["program.py"]


def _migrated(files: Program, native: bool) -> Program:
    from migrate_mgpu.run.migrate import migrate

    given = [(name, text.encode()) for name, text in files.items()]
    result = migrate(given, bridge=True, write=False, native_sessions=native)
    after = {str(one.path): one.after for one in result.files if one.after is not None}
    found = {name: after.get(name, text) for name, text in files.items()}
    if native and re.search(r"\bcompat\.v1\b|\bSession\(", "".join(found.values())):
        raise ValueError("not all of it became native")
    return found


def _three(name: str, code: str, native: bool = True) -> Programs:
    """A program with its ConfigProto, its bridge, and native code."""
    as_v1 = code.replace(
        "import tensorflow as tf", "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()", 1
    )
    texts = {"session": as_v1, "bridge": migrated(code, False)}
    if native:
        texts["native"] = migrated(code, True)
    return {f"{name}/{kind}": {"program.py": text} for kind, text in texts.items()}


_KERAS_2 = "import os; os.environ['TF_USE_LEGACY_KERAS'] = '1'"


def _pair(kind: str, folder: Path) -> Programs:
    """A fixture's towers as a bridge, and what they become."""
    import tomllib  # of Python 3.11

    sides: dict[str, Program] = {}
    for side in ("before", "after"):
        if (folder / f"{side}.py").exists():
            sides[side] = {"program.py": (folder / f"{side}.py").read_text("utf-8")}
        else:
            files = sorted((folder / side).glob("**/*.py"), key=lambda path: path.name != "main.py")
            sides[side] = {
                str(path.relative_to(folder / side)): path.read_text("utf-8") for path in files
            }
    settings = folder / "parity.toml"
    argv = json.dumps(
        tomllib.loads(settings.read_text("utf-8")).get("argv", []) if settings.exists() else []
    )
    bridge = _migrated(sides["before"], False)
    first = next(iter(bridge))
    # `tf.layers` on the newest TensorFlow; `from __future__` stays the first statement.
    bridge[first] = re.sub(
        r"^(?=import|from(?! __future__))", f"{_KERAS_2}\n", bridge[first], count=1, flags=re.M
    )
    pair = {"bridge": bridge, "native": sides["after"]}
    return {
        f"{kind} {folder.name}/{side}": {**files, "argv.json": argv} for side, files in pair.items()
    }


# -- runs -----------------------------------------------------------------------------------


@dataclass
class Job:
    """A program to run.

    Attributes:
      program: its files.
      begin: code that runs before it, in its namespace's own process.
      end: code that runs after it.
      argv: of the program.
      keras_2: it runs beside tf-keras, as a bridge with `tf.layers` must.
      globals: what the program finds in its namespace, an expression of what ``begin`` made.
    """

    program: Program
    begin: str = ""
    end: str = ""
    argv: Sequence[str] = ()
    keras_2: bool = False
    globals: str = "{}"


@dataclass
class Done:
    """What a program did: its exit status (minus a signal), and what it printed."""

    status: int
    out: str
    err: str

    def result(self) -> dict[str, Any]:
        """What it prints behind RESULT, as JSON.

        Raises:
            RuntimeError: it ends otherwise.
        """
        found = re.findall(r"^RESULT (.*)$", self.out, re.M)
        if self.status or not found:
            raise RuntimeError(self.reason())
        known: dict[str, Any] = json.loads(found[-1])
        return known

    def reason(self) -> str:
        lines = [line for line in self.err.splitlines() if line.strip()] or ["no result"]
        return f"status {self.status}: {lines[-1].strip()[-300:]}"

    def limits(self) -> list[int]:
        """MiB of each GPU that TensorFlow made, as its log says."""
        return [int(n) for n in re.findall(r"Created device \S+ with (\d+) MB memory", self.err)]


# Imports TensorFlow once, and forks a child for each job: the import starts neither CUDA nor a
# thread of TensorFlow's.
_SERVER = """\
import json, os, signal, sys
work, parallel, limit = json.load(open(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
import tensorflow
tensorflow.keras.layers
def child(folder, argv):
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
    os.chdir(os.path.join(folder, "files"))
    signal.alarm(limit)
    status = 1
    try:
        sys.path[0] = os.getcwd()
        sys.argv = ["program.py", *argv]
        exec(compile(open(os.path.join(folder, "run.py")).read(), "run.py", "exec"),
             {"__name__": "__run__"})
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
running, statuses = {}, {}
while work or running:
    while work and len(running) < parallel:
        folder, argv = work.pop(0)
        pid = os.fork()
        if not pid:
            child(folder, argv)
        running[pid] = folder
    pid, status = os.wait()
    statuses[running.pop(pid)] = os.waitstatus_to_exitcode(status)
print("STATUSES " + json.dumps(statuses))
"""
# Runs a job in a process of its own.
_ALONE = """\
import os, sys
folder = sys.argv[1]
os.chdir(os.path.join(folder, "files"))
sys.path[0] = os.getcwd()
sys.argv = ["program.py", *sys.argv[2:]]
with open(os.path.join(folder, "run.py")) as file:
    exec(compile(file.read(), "run.py", "exec"), {"__name__": "__run__"})
"""


@dataclass
class Machine:
    """Runs programs with TensorFlow, on a GPU or, in a rehearsal, on logical CPUs."""

    python: str
    texts: Programs
    rehearse: bool = False
    jobs: int = 1
    fresh: bool = False
    every: int = 1
    out: Path | None = None
    # Of what was seen, for whoever wants more than a line.
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return "CPU" if self.rehearse else "GPU"

    def run(self, jobs: Sequence[Job], parallel: int = 1) -> list[Done]:
        """What each job did, in their order."""
        with tempfile.TemporaryDirectory() as name:
            folders = [Path(name) / str(number) for number in range(len(jobs))]
            for folder, job in zip(folders, jobs):
                self._write(folder, job)
            statuses: dict[str, int] = {}
            for keras_2 in sorted({job.keras_2 for job in jobs}):
                work = [
                    [str(folder), list(job.argv)]
                    for folder, job in zip(folders, jobs)
                    if job.keras_2 == keras_2
                ]
                environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0"}
                if keras_2:
                    environment["TF_USE_LEGACY_KERAS"] = "1"
                if self.fresh:
                    statuses |= self._alone(work, environment)
                else:
                    statuses |= self._forked(name, work, parallel, environment)
            return [
                Done(statuses.get(str(folder), 1), *(_text(folder / n) for n in ("out", "err")))
                for folder in folders
            ]

    def _write(self, folder: Path, job: Job) -> None:
        for name, text in job.program.items():
            path = folder / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("/gpu:", "/cpu:") if self.rehearse else text, "utf-8")
        first = next(iter(job.program))
        body = f"import runpy\nrunpy.run_path({first!r}, {job.globals}, '__main__')\n"
        (folder / "run.py").write_text(f"{job.begin}\n{body}\n{job.end}\n", "utf-8")

    def _forked(
        self, name: str, work: list[Any], parallel: int, environment: Mapping[str, str]
    ) -> dict[str, int]:
        listed, server = Path(name) / "work.json", Path(name) / "server.py"
        listed.write_text(json.dumps(work), "utf-8")
        server.write_text(_SERVER, "utf-8")
        command = [self.python, str(server), str(listed), str(parallel), str(TIME_LIMIT_S)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        found = re.findall(r"^STATUSES (.*)$", done.stdout, re.M)
        if not found:
            raise RuntimeError(Done(done.returncode, done.stdout, done.stderr).reason())
        known: dict[str, int] = json.loads(found[-1])
        return known

    def _alone(self, work: list[Any], environment: Mapping[str, str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for folder, argv in work:
            with open(Path(folder) / "out", "w") as out, open(Path(folder) / "err", "w") as err:
                found[folder] = subprocess.run(
                    [self.python, "-c", _ALONE, folder, *argv],
                    env=environment,
                    stdout=out,
                    stderr=err,
                    timeout=TIME_LIMIT_S,
                ).returncode
        return found


def _text(path: Path) -> str:
    return path.read_text("utf-8", errors="replace") if path.exists() else ""


def gpus() -> int:
    """How many GPUs the driver has; 0 without one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value


# Measures how much of GPU 0 a program takes, beside what CUDA's context takes.
_BEFORE = """\
import ctypes, json
_driver = ctypes.CDLL("libcuda.so.1")
def _free():
    left, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert not _driver.cuMemGetInfo_v2(ctypes.byref(left), ctypes.byref(total))
    return left.value
assert not _driver.cuInit(0)
_context = ctypes.c_void_p()
assert not _driver.cuDevicePrimaryCtxRetain(ctypes.byref(_context), 0)
assert not _driver.cuCtxSetCurrent(_context)
_left = _free()
"""
_AFTER = """\
assert not _driver.cuCtxSetCurrent(_context)
print("RESULT " + json.dumps({"bytes": _left - _free()}))
"""


# -- checks ---------------------------------------------------------------------------------

KINDS = ("session", "bridge", "native")


Taken = tuple[dict[str, int], dict[str, list[int]]]


def _taken(machine: Machine, *names: str) -> list[Taken]:
    """The bytes that each kind of a program takes, and the limits in its log, in MiB."""
    kinds = [(name, kind) for name in names for kind in KINDS]
    jobs = [Job(machine.texts[f"{name}/{kind}"], _BEFORE, _AFTER) for name, kind in kinds]
    done = dict(zip(kinds, machine.run(jobs)))
    found = []
    for name in names:
        taken = {kind: int(done[name, kind].result()["bytes"]) for kind in KINDS}
        limits = {kind: done[name, kind].limits() for kind in KINDS}
        machine.details[name] = {"bytes": taken, "limits_mib": limits}
        found.append((taken, limits))
    return found


def _shown(taken: Mapping[str, int], limits: Mapping[str, Sequence[int]]) -> str:
    return ", ".join(
        f"{kind} {taken[kind] / MIB:.0f} MiB (limit {' '.join(map(str, limits[kind])) or 'none'})"
        for kind in taken
    )


def driver(machine: Machine) -> tuple[bool, str]:
    code = """\
total, left, whole = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_size_t()
_driver.cuDeviceTotalMem_v2(ctypes.byref(total), 0)
_driver.cuMemGetInfo_v2(ctypes.byref(left), ctypes.byref(whole))
print("RESULT " + json.dumps({"total": total.value, "info": whole.value, "free": left.value}))
"""
    found = machine.run([Job({"program.py": ""}, _BEFORE, code)])[0].result()
    machine.details["driver"] = found
    return found["total"] == found["info"], (
        f"cuDeviceTotalMem_v2 {found['total']} bytes, cuMemGetInfo_v2 {found['info']} bytes,"
        f" {found['free']} free beside a context"
    )


def memory(machine: Machine) -> tuple[bool, str]:
    equal, lines = True, []
    names = ("none", *(f"fraction {one}" for one in FRACTIONS))
    for name, (taken, limits) in zip(names, _taken(machine, *names)):
        equal &= max(taken.values()) - min(taken.values()) <= 2 * MIB or name == "none"
        equal &= len({tuple(one) for one in limits.values()}) == 1 or name == "none"
        lines.append(f"{name}: {_shown(taken, limits)}")
    return equal, _lines(lines)


def growth(machine: Machine) -> tuple[bool, str]:
    (taken, limits), both = _taken(machine, "growth", "growth and fraction")
    equal = max(taken.values()) - min(taken.values()) <= 64 * MIB
    return equal, _lines(
        [f"growth: {_shown(taken, limits)}", f"growth and a fraction: {_shown(*both)}"]
    )


def first(machine: Machine) -> tuple[bool, str]:
    """Whether GPU memory is taken for the process as its first session says.

    Then the bytes are those of both sessions with the config where the first has it, and those
    without any config where only the second has it.
    """
    cases = [(name, order) for name in ("none", *FIRST) for order in ORDERS]
    jobs = [Job(machine.texts[f"first {name}/{order}"], _BEFORE, _AFTER) for name, order in cases]
    taken = {case: int(one.result()["bytes"]) for case, one in zip(cases, machine.run(jobs))}
    machine.details["first"] = {f"{name}/{order}": n for (name, order), n in taken.items()}
    none = taken["none", "both"]
    right = all(
        abs(taken[name, "first"] - taken[name, "both"]) <= 64 * MIB
        and abs(taken[name, "second"] - none) <= 64 * MIB
        for name in FIRST
    )
    shown = [
        f"{name}: " + ", ".join(f"{order} {taken[name, order] / MIB:.0f} MiB" for order in ORDERS)
        for name in ("none", *FIRST)
    ]
    return right, _lines(shown)


def visible(machine: Machine) -> tuple[bool, str]:
    one, none = (limits for _, limits in _taken(machine, "visible", "no gpu"))
    text = (
        f"GPUs made with visible_device_list='0': {_counted(one)};"
        f" with device_count of 0: {_counted(none)}"
    )
    right = all(len(limits) == 1 for limits in one.values())
    return right and not any(none.values()), text


def _counted(limits: Mapping[str, Sequence[int]]) -> str:
    return ", ".join(f"{kind} {len(one)}" for kind, one in limits.items())


def placement(machine: Machine) -> tuple[bool, str]:
    expected = {f"words {soft}/{k}": soft for soft in (True, False) for k in (*KINDS, "keras")}
    names = [name for name in expected if name in machine.texts]
    done = machine.run([Job(machine.texts[name]) for name in names])
    found = {name: not one.status for name, one in zip(names, done)}
    machine.details["placement"] = {n: one.reason() for n, one in zip(names, done) if one.status}
    right = all(found[name] == expected[name] for name in names)
    return right, ", ".join(
        f"{name.removeprefix('words ').replace('True/', 'soft ').replace('False/', 'hard ')}"
        f" {'runs' if ran else 'fails'}"
        for name, ran in found.items()
    )


def log(machine: Machine) -> tuple[bool, str]:
    done = dict(zip(KINDS, machine.run([Job(machine.texts[f"log/{kind}"]) for kind in KINDS])))
    counted, shown = {}, ""
    for kind, one in done.items():
        lines = [
            line
            for line in (one.out + one.err).splitlines()
            if "GPU:0" in line and "MatMul" in line
        ]
        counted[kind] = len(lines)
        shown = lines[0].strip()[-90:] if lines else shown
        machine.details[f"log {kind}"] = lines[:8]
    return all(counted.values()), f"lines with a MatMul on GPU:0: {counted}; {shown}"


# Splits a GPU, or the CPU, before a program begins; `{tf32}` says how float32 is multiplied.
_SPLIT = """\
import json, time
import tensorflow as tf
_device = tf.config.list_physical_devices({kind!r})[0]
_limit = {{"memory_limit": {limit}}} if {kind!r} == "GPU" else {{}}
_parts = [tf.config.LogicalDeviceConfiguration(**_limit) for _ in range({count})]
tf.config.set_logical_device_configuration(_device, _parts)
tf.config.set_logical_device_configuration = lambda *args: None
tf.config.experimental.set_memory_growth = lambda *args: None
tf.config.experimental.enable_tensor_float_32_execution({tf32})
"""


def _split(machine: Machine, count: int = 2, tf32: bool = False) -> str:
    return _SPLIT.format(kind=machine.kind, count=count, limit=SPLIT_MIB, tf32=tf32)


# Stands before the driver's own: each of several comparisons is told of a part of the memory.
_SMI = """\
#!/bin/sh
{tool} "$@" | awk -F', ' -v OFS=', ' '{{ $2 = int($2 / {parts}); print }}'
"""


def towers(machine: Machine) -> tuple[bool, str]:
    """Towers and replicas on one GPU that is split into two, or on two logical CPUs."""
    return _pairs(machine, "tower ")


def sessions(machine: Machine) -> tuple[bool, str]:
    """Sessions and native code on the first of two parts of a GPU."""
    return _pairs(machine, "session ")


def _pairs(machine: Machine, prefix: str) -> tuple[bool, str]:
    names = sorted({n.split("/")[0] for n in machine.texts if n.startswith(prefix)})
    names = names[:: machine.every]
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        search = os.environ["PATH"]
        tool = shutil.which("nvidia-smi")
        if tool is not None and machine.jobs > 1:
            shown = Path(folder) / "nvidia-smi"
            shown.write_text(_SMI.format(tool=tool, parts=machine.jobs), "utf-8")
            shown.chmod(0o755)
            search = f"{folder}{os.pathsep}{search}"
        with ThreadPoolExecutor(machine.jobs) as pool:
            found = dict(
                zip(names, pool.map(lambda one: _parity(machine, one, search, Path(folder)), names))
            )
    wall = time.perf_counter() - begin
    machine.details["pairs"] = found
    states = collections.Counter(one["verdict"] for one in found.values())
    apart = [one["apart"] for one in found.values() if one["verdict"] == "equivalent"]
    places = sorted({one["place"] for one in found.values() if one.get("place")})
    counted = ", ".join(f"{count} {state}" for state, count in states.items())
    lines = [f"{counted}; largest relative difference {max(apart, default=0):.1e}; {wall:.0f} s"]
    lines += places
    lines += [
        f"{name}: {one['verdict']}: {one['reason']}"
        for name, one in found.items()
        if one["verdict"] != "equivalent"
    ]
    return states["equivalent"] == len(names), _lines(lines)


def _parity(machine: Machine, name: str, search: str, place: Path) -> dict[str, Any]:
    """What ``migrate-mgpu parity`` says of a pair: its verdict, and the largest difference."""
    folder = place / name
    argv: list[str] = []
    programs_of = {}
    for kind, side in (("bridge", "before"), ("native", "after")):
        files = dict(machine.texts[f"{name}/{kind}"])
        argv = json.loads(files.pop("argv.json"))
        for path, text in files.items():
            (folder / side / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / side / path).write_text(text, "utf-8")
        programs_of[side] = str(folder / side / next(iter(files)))
    command = [machine.python, "-m", "migrate_mgpu", "parity", *programs_of.values(), "--json"]
    command += ["--reference", machine.python, "--target", machine.python, "--devices", "2"]
    command += ["--timeout", str(TIME_LIMIT_S), "--run-on", machine.kind.lower(), "--", *argv]
    environment = {**os.environ, "PATH": search, "MIGRATE_MGPU_TRACES": str(folder / "traces")}
    environment["PYTHONPATH"] = os.pathsep.join(
        one for one in (str(ROOT), os.environ.get("PYTHONPATH")) if one
    )
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    found = _verdict(done)
    if machine.out is not None:
        with open(machine.out / "pairs.jsonl", "a") as file:  # a line at once
            file.write(json.dumps({"name": name, **found}) + "\n")
    return found


def _verdict(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    try:
        result = json.loads(done.stdout)["results"][0]
    except (ValueError, LookupError):
        reason = Done(done.returncode, done.stdout, done.stderr).reason()
        return {"verdict": "no result", "reason": reason}
    outputs = [output for rung in result["rungs"] for output in rung["outputs"]]
    apart = max((output["largest_relative"] or 0.0 for output in outputs), default=0.0)
    kept = {key: result.get(key) for key in ("verdict", "reason", "headline")}
    text = result["target"]["devices"]["text"]
    return {**kept, "apart": apart, "place": text, "result": result}


# Notes the time between the steps of `for _ in range(steps)`: each fetches a value, so a step is
# over when the next one begins.
_CLOCK = """\
_stamps = []
def _range(*args):
    def steps():
        for step in range(*args):
            _stamps.append(time.perf_counter())
            yield step
    return steps() if args == ({steps},) else range(*args)
"""
_STAMPS = """\
print()
print("RESULT " + json.dumps({"stamps": _stamps}))
"""


def steps(machine: Machine) -> tuple[bool, str]:
    """Milliseconds of a step, without the first ones: the median, and the middle half."""
    place = "/gpu:" if machine.kind == "GPU" else "/cpu:"
    names = sorted({n.split("/")[0] for n in machine.texts if n.startswith("steps ")})
    cases = [(name, count, kind) for name in names for count in (1, 2) for kind in KINDS[1:]]
    jobs = []
    for name, count, kind in cases:
        files = {
            path: text.replace("/cpu:", place)
            for path, text in machine.texts[f"{name}/{kind}"].items()
        }
        begin = _split(machine, count) + _CLOCK.format(steps=STEPS)
        argv = [str(STEPS), str(count)]
        jobs.append(Job(files, begin, _STAMPS, argv, kind == "bridge", "{'range': _range}"))
    found = {}
    for (name, count, kind), one in zip(cases, machine.run(jobs)):
        stamps = one.result()["stamps"][FEW:]
        times = [(after - before) * 1000 for before, after in zip(stamps, stamps[1:])]
        found[f"{name}, {count} of {machine.kind}, {kind}"] = statistics.quantiles(times, n=4)
    machine.details["steps"] = found
    return True, _lines(
        [
            f"{name}: {half:.2f} ms ({first:.2f} to {last:.2f})"
            for name, (first, half, last) in found.items()
        ]
    )


def tf32(machine: Machine) -> tuple[bool, str]:
    """How far products of float32 are from those of float64, as TensorFlow comes and without TF32.

    TensorFlow 1 knows no TF32: there is no ConfigProto to migrate, so this is only measured.
    """
    code = """\
import numpy as np
import tensorflow as tf
_draw = np.random.RandomState(3)
_a, _b = (_draw.standard_normal((1024, 1024)).astype("float32") for _ in range(2))
_right = _a.astype("float64") @ _b.astype("float64")
_found = {}
for _on in (tf.config.experimental.tensor_float_32_execution_enabled(), False):
    tf.config.experimental.enable_tensor_float_32_execution(_on)
    with tf.device("/gpu:0"):
        _product = tf.linalg.matmul(_a, _b).numpy()
    _found[str(_on)] = float(np.linalg.norm(_product - _right) / np.linalg.norm(_right))
print("RESULT " + json.dumps(_found))
"""
    found = machine.run([Job({"program.py": ""}, "import json", code)])[0].result()
    machine.details["tf32"] = found
    return True, ", ".join(f"TF32 {on}: {apart:.1e}" for on, apart in found.items())


def _lines(lines: Sequence[str]) -> str:
    return ("\n" + " " * 18).join(lines)


CHECKS: dict[str, Callable[[Machine], tuple[bool, str]]] = {
    "driver": driver,
    "memory": memory,
    "growth": growth,
    "first": first,
    "visible": visible,
    "placement": placement,
    "log": log,
    "tf32": tf32,
    "towers": towers,
    "sessions": sessions,
    "steps": steps,
}
REHEARSED = ("towers", "sessions", "steps")


# -- wheels ---------------------------------------------------------------------------------


def list_wheels(python: str, requirement: str) -> int:
    """The files that a machine without a network needs, with their sizes."""
    command = [python, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-"]
    command += ["--ignore-installed", "--only-binary=:all:", requirement]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    total = 0
    for item in report["install"]:
        url = item["download_info"]["url"]
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=60) as answer:
            size = int(answer.headers["Content-Length"])
        total += size
        print(f"{size / MIB:8.1f} MiB  {url.rpartition('/')[2]}")
    print(f"{total / MIB:8.1f} MiB  all {len(report['install'])}")
    print(f"pip download --only-binary=:all: -d FOLDER '{requirement}'")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--programs", type=Path, metavar="FILE")
    parser.add_argument("--write-programs", type=Path, metavar="FILE")
    parser.add_argument("--list-wheels", action="store_true")
    parser.add_argument("--tensorflow", default=TENSORFLOW, metavar="REQUIREMENT")
    parser.add_argument("--rehearse", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    options = parser.parse_args(arguments)
    if options.list_wheels:
        return list_wheels(options.python, options.tensorflow)
    if options.write_programs is not None:
        options.write_programs.write_text(json.dumps(programs(), indent=1) + "\n", "utf-8")
        return 0
    if not options.rehearse and not gpus():
        print("no GPU: the CUDA driver is missing or lists none; nothing was checked")
        return 0
    texts = programs() if options.programs is None else json.loads(options.programs.read_text())
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    machine = Machine(
        options.python,
        texts,
        options.rehearse,
        options.jobs,
        options.fresh,
        options.every,
        options.out,
    )
    wanted = [name for name in options.only.split(",") if name]
    return (
        0
        if _check(machine, wanted or list(REHEARSED if options.rehearse else CHECKS), options.out)
        else 1
    )


def _check(machine: Machine, wanted: Sequence[str], out: Path | None) -> bool:
    """Makes the checks in their order; each is printed, and written, when it ends."""
    found = True
    for name in wanted:
        machine.details, begin = {}, time.perf_counter()
        try:
            right, text = CHECKS[name](machine)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            right, text = False, f"could not be checked: {error}"
        found &= right
        took = time.perf_counter() - begin
        print(f"{'ok' if right else 'WRONG':6}{name:12}{text}  ({took:.0f} s)", flush=True)
        if out is not None:
            result = {"right": right, "seen": text, "seconds": took, "details": machine.details}
            (out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return found


if __name__ == "__main__":
    sys.exit(main())
