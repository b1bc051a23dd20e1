"""What only a GPU can show, in one call on a machine that may be lent for minutes.

    python benchmarks/gpu_checks.py [--python PYTHON] [--wheels FOLDER] [--only NAME,...]
                                    [--json FILE]
    python benchmarks/gpu_checks.py --list-wheels
    python benchmarks/gpu_checks.py --rehearse

Run it where this package is installed, on a machine with an NVIDIA GPU. TensorFlow 2.15 is that of
PYTHON (this one, unless told). Each check runs in processes of its own and says what it saw:

memory      the bytes that a TF1 session takes by ``per_process_gpu_memory_fraction``, and those
            that the calls take that MGPU104 writes for it
growth      ``allow_growth``, and the calls of MGPU103
visible     ``visible_device_list``, and the calls of MGPU105
placement   an operation that a GPU has not, with and without soft placement, under Keras
log         the log of placements names the GPU
towers      each program of ``fixtures/towers`` as a bridge and as replicas of a strategy, on one
            GPU split into two: what they print, and the time of a step

``--wheels`` installs TensorFlow from a folder, without a network, for this run alone;
``--list-wheels`` says, where there is one, which files that folder needs, with their sizes.
``--rehearse`` does what can be done without a GPU: the towers, on logical CPUs. Without a GPU
the script says so and ends. Exit status: 1 when something differs, else 0.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOWERS = ROOT / "fixtures" / "towers"
TENSORFLOW = "tensorflow[and-cuda]==2.15.1"
FRACTION = 0.25
MIB = 2**20
# Begins every process that is measured: how much of GPU 0 is free.
FREE = """\
import ctypes
def free():
    left, total = ctypes.c_size_t(), ctypes.c_size_t()
    ctypes.CDLL("libcuda.so.1").cuMemGetInfo_v2(ctypes.byref(left), ctypes.byref(total))
    return left.value
"""
# A TF1 program whose config is measured, and how much of the GPU its first operation takes.
SESSION = """\
import tensorflow as tf

config = tf.ConfigProto()
config.gpu_options.{option} = {value}
sess = tf.Session(config=config)
{report}
"""
REPORT = """\
value = tf.reduce_sum(tf.random_uniform([64, 64]))
print("RESULT", {"value": float(sess.run(value)) > 0})
"""


class Machine:
    """Runs Python with TensorFlow, on a GPU or, in a rehearsal, on logical CPUs."""

    def __init__(self, python: str, site: str | None, rehearse: bool) -> None:
        self.python = python
        self.rehearse = rehearse
        self.environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0"}
        if site is not None:
            self.environment["PYTHONPATH"] = site

    def run(self, code: str, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program.py"
            program.write_text(code, encoding="utf-8")
            return subprocess.run(
                [self.python, str(program), *argv],
                env={**self.environment, **environment},
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=240,
            )

    def result(self, code: str, *argv: str, **environment: str) -> dict[str, Any]:
        """What a program prints behind RESULT.

        Raises:
            RuntimeError: it ends otherwise.
        """
        done = self.run(code, *argv, **environment)
        found = re.findall(r"^RESULT (.*)$", done.stdout, re.M)
        if done.returncode or not found:
            raise RuntimeError(done.stderr.strip().splitlines()[-1:] or ["no result"])
        known: dict[str, Any] = json.loads(found[-1].replace("'", '"').replace("True", "true"))
        return known


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


def migrated(code: str, native: bool = True) -> str:
    """What the tool makes of a program."""
    from migrate_mgpu.run.migrate import migrate

    given = [("program.py", code.encode())]
    result = migrate(given, bridge=True, write=False, native_sessions=native)
    return result.files[0].after or code


def as_v1(code: str) -> str:
    """A TF1 program as TF 2.15 runs it, its config as it is."""
    return code.replace(
        "import tensorflow as tf", "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()", 1
    )


def taken(machine: Machine, code: str) -> int:
    """The bytes of the GPU that a program takes."""
    end = '\nprint("RESULT", {"bytes": before - free()})\n'
    begin = FREE + (
        "ctypes.CDLL('libcuda.so.1').cuInit(0)\n"
        "context = ctypes.c_void_p()\n"
        "ctypes.CDLL('libcuda.so.1').cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)\n"
        "ctypes.CDLL('libcuda.so.1').cuCtxSetCurrent(context)\n"
        "before = free()\n"
    )
    return int(machine.result(begin + code + end)["bytes"])


# -- checks ---------------------------------------------------------------------------------


def _both(machine: Machine, option: str, value: str) -> tuple[int, int]:
    code = SESSION.format(option=option, value=value, report=REPORT)
    return taken(machine, as_v1(code)), taken(machine, migrated(code, native=False))


def memory(machine: Machine) -> tuple[bool, str]:
    before, after = _both(machine, "per_process_gpu_memory_fraction", str(FRACTION))
    same = abs(before - after) <= 2 * MIB
    return same, f"{before / MIB:.0f} MiB by the session, {after / MIB:.0f} MiB by tf.config"


def growth(machine: Machine) -> tuple[bool, str]:
    before, after = _both(machine, "allow_growth", "True")
    same = abs(before - after) <= 64 * MIB
    return same, f"{before / MIB:.0f} MiB by the session, {after / MIB:.0f} MiB by tf.config"


def visible(machine: Machine) -> tuple[bool, str]:
    code = SESSION.format(
        option="visible_device_list",
        value="'0'",
        report="names = [d.name for d in sess.list_devices() if d.device_type == 'GPU']\n"
        'print("RESULT", {"gpus": len(names)})\n',
    )
    before = machine.result(as_v1(code))["gpus"]
    after = machine.result(migrated(code, native=False))["gpus"]
    return before == after == 1, f"{before} GPU by the session, {after} by tf.config"


def placement(machine: Machine) -> tuple[bool, str]:
    code = """\
import sys
import tensorflow as tf
tf.config.set_soft_device_placement(sys.argv[1] == "soft")
class Words(tf.keras.layers.Layer):
    def call(self, inputs):
        with tf.device("/gpu:0"):
            return tf.strings.length(tf.strings.as_string(inputs))
model = tf.keras.Sequential([Words()])
try:
    model(tf.ones([2, 2]))
    done = 1
except (tf.errors.InvalidArgumentError, ValueError):
    done = 0
print("RESULT", {"done": done})
"""
    soft, hard = (machine.result(code, one)["done"] for one in ("soft", "hard"))
    return (soft, hard) == (
        1,
        0,
    ), f"soft: {'runs' if soft else 'fails'}; hard: {'runs' if hard else 'fails'}"


def log(machine: Machine) -> tuple[bool, str]:
    code = """\
import tensorflow as tf
tf.debugging.set_log_device_placement(True)
tf.linalg.matmul(tf.ones([2, 2]), tf.ones([2, 2]))
print("RESULT", {"done": 1})
"""
    done = machine.run(code)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "GPU:0" in line]
    return bool(lines), lines[0].strip()[-80:] if lines else "no line names GPU:0"


# Splits a GPU, or the CPU, and runs a program with a clock around its steps.
_SPLIT = """\
import runpy, sys, time
import tensorflow as tf
kind, count, program = sys.argv[1], int(sys.argv[2]), sys.argv[3]
device = tf.config.list_physical_devices(kind)[0]
limit = {"memory_limit": 4096} if kind == "GPU" else {}
parts = [tf.config.LogicalDeviceConfiguration(**limit) for _ in range(count)]
tf.config.set_logical_device_configuration(device, parts)
tf.config.set_logical_device_configuration = lambda *args: None
tf.config.experimental.set_memory_growth = lambda *args: None
tf.config.experimental.enable_tensor_float_32_execution(False)
sys.argv = [program, *sys.argv[4:]]
begin = time.perf_counter()
runpy.run_path(program, run_name="__main__")
print("SECONDS", time.perf_counter() - begin)
"""
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def towers(machine: Machine) -> tuple[bool, str]:
    """Towers and replicas on two devices: each begins with the values that the other has."""
    kind = "CPU" if machine.rehearse else "GPU"
    equal, lines = True, []
    for folder in sorted(TOWERS.iterdir()):
        before = (folder / "before.py").read_text("utf-8")
        pair = [migrated(before, native=False), (folder / "after.py").read_text("utf-8")]
        argv = ["2"] if "sys.argv[1]" in before else ["--num_gpus", "2"]
        printed: list[list[float]] = []
        times: list[float] = []
        for text in pair:
            text = _seeded(text)
            if machine.rehearse:
                text = text.replace("/gpu:", "/cpu:")
            with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
                file.write(text)
            done = machine.run(_SPLIT, kind, "2", file.name, *argv)
            os.unlink(file.name)
            if done.returncode:
                raise RuntimeError(f"{folder.name}: {done.stderr.strip().splitlines()[-1]}")
            head, _, seconds = done.stdout.rpartition("SECONDS ")
            printed.append([float(number) for number in _NUMBER.findall(head)])
            times.append(float(seconds))
        same = len(printed[0]) == len(printed[1]) > 0 and all(
            abs(one - other) <= 1e-3 * max(1.0, abs(one)) for one, other in zip(*printed)
        )
        equal &= same
        shown = "equal" if same else f"{printed[0][:3]} became {printed[1][:3]}"
        lines.append(f"{folder.name}: {shown}, {times[0]:.1f} s as a bridge, {times[1]:.1f} s")
    return equal, "\n            ".join(lines)


def _seeded(code: str) -> str:
    """A program whose first values are numbers that both sides draw alike."""
    stub = """
import numpy as _numpy
_draws = _numpy.random.RandomState(17)
def _drawn(shape, *args, **options):
    shape = [int(size) for size in shape]
    return tf.constant(_draws.uniform(-0.3, 0.3, shape).astype("float32"))
class _Initializer:
    def __init__(self, *args, **options): pass
    def __call__(self, shape, dtype=None, **options): return _drawn(shape)
for _home in (tf, tf.random):
    for _name in ("random_normal", "random_uniform", "truncated_normal", "normal", "uniform"):
        if hasattr(_home, _name): setattr(_home, _name, _drawn)
for _name in ("GlorotUniform", "RandomNormal", "TruncatedNormal"):
    setattr(tf.keras.initializers, _name, _Initializer)
for _name in ("random_normal_initializer", "truncated_normal_initializer"):
    if hasattr(tf, _name): setattr(tf, _name, _Initializer)
"""
    if "compat.v1" in code:  # `get_variable` without an initializer draws by itself
        stub += """
_get = tf.get_variable
def _variable(name, shape=None, dtype=None, initializer=None, **options):
    initializer = initializer or (lambda shape, dtype=None, **rest: _drawn(shape))
    return _get(name, shape, dtype, initializer, **options)
tf.get_variable = _variable
"""
    imported = re.search(
        r"^import tensorflow.* as tf\n(tf\.disable_v2_behavior\(\)\n)?", code, re.M
    )
    assert imported is not None
    return code[: imported.end()] + stub + code[imported.end() :]


CHECKS: dict[str, Callable[[Machine], tuple[bool, str]]] = {
    "memory": memory,
    "growth": growth,
    "visible": visible,
    "placement": placement,
    "log": log,
    "towers": towers,
}


# -- wheels ---------------------------------------------------------------------------------


def list_wheels(python: str) -> int:
    """The files that ``--wheels`` needs, with their sizes."""
    command = [python, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-"]
    command += ["--ignore-installed", "--only-binary=:all:", TENSORFLOW]
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
    print(f"pip download --only-binary=:all: -d FOLDER '{TENSORFLOW}'")
    return 0


def install(python: str, folder: Path, site: str) -> None:
    command = [python, "-m", "pip", "install", "--quiet", "--no-index", "--target", site]
    subprocess.run([*command, "--find-links", str(folder), TENSORFLOW], check=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--wheels", type=Path, metavar="FOLDER")
    parser.add_argument("--list-wheels", action="store_true")
    parser.add_argument("--rehearse", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.list_wheels:
        return list_wheels(options.python)
    if not options.rehearse and not gpus():
        print("no GPU: the CUDA driver is missing or lists none; nothing was checked")
        return 0
    wanted = [name for name in options.only.split(",") if name] or list(CHECKS)
    if options.rehearse:
        wanted = ["towers"]
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as site:
        if options.wheels is not None:
            install(options.python, options.wheels, site)
        machine = Machine(options.python, site if options.wheels else None, options.rehearse)
        for name in wanted:
            try:
                right, text = CHECKS[name](machine)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                right, text = False, f"could not be checked: {error}"
            found[name] = {"right": right, "seen": text}
            print(f"{'ok' if right else 'WRONG':6}{name:12}{text}", flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0 if all(one["right"] for one in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
