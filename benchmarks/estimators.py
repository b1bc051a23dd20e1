"""Time per step of an Estimator program and of the Keras program that the tool makes of it.

    python benchmarks/estimators.py [--steps 300] [--runs 3]

Both run without the harness, on one CPU device, the original on TensorFlow 1.15.5 and the
migrated one on 2.15 and the newest. Each runs with two numbers of steps; the difference is the
time of the steps alone, without imports and set-up. The median of the runs is shown, beside the
original's.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from migrate_mgpu import runtimes

FIXTURE = Path(__file__).parents[1] / "fixtures" / "estimator" / "dense_classifier"
SIDES = (("before.py", "tf1.15"), ("after.py", "tf2.15"), ("after.py", "tf2-latest"))
FEW = 20


def seconds(python: Path, program: Path, steps: int) -> float:
    """The wall time of a whole run."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        command = [str(python), str(program), "--train_steps", str(steps)]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    found: dict[tuple[str, str], list[float]] = {side: [] for side in SIDES}
    for _ in range(options.runs):
        for name, runtime in SIDES:  # side by side: noise of the machine meets all of them
            python = runtimes.ensure(runtime).python
            few = seconds(python, FIXTURE / name, FEW)
            many = seconds(python, FIXTURE / name, FEW + options.steps)
            found[name, runtime].append((many - few) / options.steps * 1000)
    first = statistics.median(found[SIDES[0]])
    for side in SIDES:
        median = statistics.median(found[side])
        print(f"{side[0]:10} {side[1]:11} {median:8.2f} ms a step  {median / first:5.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
