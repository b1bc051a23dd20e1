"""What a parity run costs beside the two programs alone, on this machine.

    python benchmarks/parity.py [--runs 3] [CASE ...]

run    wall time of a comparison of a pair of ``fixtures/parity``, over that of its two
       programs alone, one after the other (target: under 1.2), taking turns
step   what the probe adds to a step, on a fast loop: a session's and a tf.function's

Both sides of a comparison run at the same time, so a ratio below 1 is no mistake where
there are two cores; the programs alone, both at once, are the third column. The
programs run in the runtimes tf1.15 and tf2.15 (`migrate-mgpu runtimes create`).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from migrate_mgpu import runtimes
from migrate_mgpu.parity.runs import launch, programs
from migrate_mgpu.parity.runs.programs import Options
from migrate_mgpu.runtimes import Runtime

FOLDER = Path(__file__).parents[1] / "fixtures" / "parity"
CASES = ("session_momentum", "estimator_mirrored", "keras_fit")
STEPS = (200, 1200)  # the difference of two lengths is free of start and import
SESSION = """
import sys, tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
x = tf.placeholder(tf.float32, [None, 8])
w = tf.get_variable("w", [8, 8])
train = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(tf.matmul(x, w) ** 2))
import numpy, time
batch = numpy.ones([16, 8], "float32")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: batch})
    begin = time.perf_counter()
    for _ in range(int(sys.argv[1])):
        sess.run(train, {x: batch})
    sys.stderr.write("SECONDS %r\\n" % (time.perf_counter() - begin))
"""
FUNCTION = """
import sys, time, tensorflow as tf
w = tf.Variable(tf.ones([8, 8]))
batch = tf.ones([16, 8])

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(x, w) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))

step(batch)
begin = time.perf_counter()
for _ in range(int(sys.argv[1])):
    step(batch)
sys.stderr.write("SECONDS %r\\n" % (time.perf_counter() - begin))
"""


def alone(runtime: Runtime, program: Path) -> subprocess.Popen[bytes]:
    """The program without a probe, on what the machine has: one CPU."""
    return subprocess.Popen(
        [str(runtime.python), str(program)],
        cwd=program.parent,
        env=launch.environment({"PYTHONDONTWRITEBYTECODE": "1"}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def compare(case: str, runs: int, both: Sequence[Runtime]) -> list[list[float]]:
    """Seconds of: the programs one after the other, both at once, the comparison."""
    programs = [FOLDER / case / name for name in ("before.py", "after.py")]
    found: list[list[float]] = [[], [], []]
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as name:
            copies = [_copy(program, Path(name) / "one") for program in programs]
            begin = time.perf_counter()
            for runtime, program in zip(both, copies):
                _fine(alone(runtime, program), program)
            found[0].append(time.perf_counter() - begin)
            copies = [_copy(program, Path(name) / "both") for program in programs]
            begin = time.perf_counter()
            started = [alone(runtime, program) for runtime, program in zip(both, copies)]
            for process, program in zip(started, copies):
                _fine(process, program)
            found[1].append(time.perf_counter() - begin)
        with tempfile.TemporaryDirectory() as name:
            begin = time.perf_counter()
            pairs = list(zip(both, programs))
            ended = programs.run_pair(pairs[0], pairs[1], 1, Options(), Path(name))
            found[2].append(time.perf_counter() - begin)
        for side in ended:
            if side.failure:
                sys.exit(f"{case}: {side.program}: {side.failure}")
    return found


def _copy(program: Path, folder: Path) -> Path:
    """Programs write beside themselves, and go on from what they find there."""
    place = folder / program.stem
    programs.copy_folder(program.parent, place)
    return place / program.name


def _fine(process: subprocess.Popen[bytes], program: Path) -> None:
    if process.wait():
        sys.exit(f"{program}: exit status {process.returncode} without the probe")


def per_step(runtime: Runtime, text: str, watched: bool) -> float:
    """Microseconds of a step."""
    found = []
    for steps in STEPS:
        with tempfile.TemporaryDirectory() as name:
            program = Path(name) / "programs" / "loop.py"
            program.parent.mkdir()
            program.write_text(text, encoding="utf-8")
            if watched:
                options = Options(argv=(str(steps),))
                side = programs.run_one(runtime, program, 1, options, Path(name) / "out")
                stderr = side.stderr
            else:
                stderr = subprocess.run(
                    [str(runtime.python), str(program), str(steps)],
                    env={**launch.environment({}), "TF_CPP_MIN_LOG_LEVEL": "2"},
                    capture_output=True,
                    text=True,
                ).stderr
        lines = [line for line in stderr.splitlines() if line.startswith("SECONDS ")]
        if not lines:
            sys.exit(stderr[-2000:])
        found.append(float(lines[0].split()[1]))
    return (found[1] - found[0]) / (STEPS[1] - STEPS[0]) * 1e6


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args(argv)
    both = [runtimes.ensure(name) for name in ("tf1.15", "tf2.15")]
    print(f"{os.cpu_count()} cores, medians of {options.runs} runs, seconds")
    print(f"{'pair':<22}{'one, then other':>17}{'both at once':>14}{'parity':>9}{'ratio':>8}")
    for case in options.cases:
        times = compare(case, options.runs, both)
        one, at_once, parity = (statistics.median(seconds) for seconds in times)
        print(f"{case:<22}{one:>17.1f}{at_once:>14.1f}{parity:>9.1f}{parity / one:>8.2f}")
    print(f"\n{'step of a fast loop':<30}{'alone':>10}{'watched':>10}   microseconds")
    for label, runtime, text in (
        ("Session.run, 1.15", both[0], SESSION),
        ("tf.function, 2.15", both[1], FUNCTION),
    ):
        found = [
            statistics.median(per_step(runtime, text, watched) for _ in range(options.runs))
            for watched in (False, True)
        ]
        print(f"{label:<30}{found[0]:>10.0f}{found[1]:>10.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
