"""Time per step of session programs and of the native programs that the tool makes of them.

    python benchmarks/sessions.py [--runs 5] [--only tiny]
    python benchmarks/sessions.py --towers [1,2,4] [--runs 5] [--only dense]

The programs of `benchmarks/session_programs`: a line through eight points, whose step is nothing
but what TensorFlow does around it, a dense network of the size of MNIST's, a convolutional one and
a recurrent one; with ``--towers`` those of `benchmarks/tower_programs`, a dense and a convolutional
one with a tower for each of so many logical CPUs, each with a batch of its own. The original runs
on TensorFlow 1.15.5, the migrated one on 2.15 and the newest, as they are and without oneDNN, which
TensorFlow 2 has switched on and TensorFlow 1 has not.

All run without the harness, side by side. Each runs with two numbers of steps; the difference is
the time of the steps alone, without imports and tracing. Medians of the runs are shown, wall time
and processor time (which other programs on the machine change less), and their ratios to the
original's.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from migrate_mgpu import runtimes

SESSIONS = Path(__file__).parent / "session_programs"
TOWERS = SESSIONS.with_name("tower_programs")
STEPS = {"tiny": 4000, "dense": 500, "image": 40, "recurrent": 400}
TOWER_STEPS = {"dense": 400, "image": 150}
FEW = 20
PLAIN = {"TF_ENABLE_ONEDNN_OPTS": "0"}

Times = tuple[float, float]


def migrated(programs: Path, folder: Path) -> None:
    """Copies of all programs of a folder, native."""
    found = list(programs.glob("*.py"))
    for program in found:
        (folder / program.name).write_bytes(program.read_bytes())
    command = [sys.executable, "-m", "migrate_mgpu", "--no-bridge", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if f"{len(found)} native" not in done.stdout:
        raise SystemExit(f"not all programs became native:\n{done.stdout}{done.stderr}")


def seconds(command: list[str], env: dict[str, str]) -> Times:
    """The wall and the processor time of a whole run."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **env})
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def per_step(
    python: Path, program: Path, steps: int, argv: list[str], env: dict[str, str]
) -> Times:
    """Milliseconds a step, wall and processor."""
    few, many = (
        seconds([str(python), str(program), str(n), *argv], env) for n in (FEW, FEW + steps)
    )
    return (many[0] - few[0]) / steps * 1000, (many[1] - few[1]) / steps * 1000


def compare(title: str, before: Path, after: Path, steps: int, runs: int, argv: list[str]) -> None:
    """Time and show a program beside what became of it."""
    sides: dict[tuple[str, str], tuple[Path, dict[str, str]]] = {
        ("original", "tf1.15"): (before, {})
    }
    for runtime in ("tf2.15", "tf2-latest"):
        sides["native", runtime] = after, {}
        sides["no oneDNN", runtime] = after, PLAIN
    found: dict[tuple[str, str], list[Times]] = {side: [] for side in sides}
    for _ in range(runs):
        for side, (program, env) in sides.items():  # noise meets all of them
            python = runtimes.ensure(side[1]).python
            found[side].append(per_step(python, program, steps, argv, env))
    show(title, found)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=STEPS)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--towers", nargs="?", const="1,2,4", metavar="N,N")
    options = parser.parse_args()
    programs, chosen = (SESSIONS, STEPS) if options.towers is None else (TOWERS, TOWER_STEPS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        migrated(programs, folder)
        for title, steps in chosen.items():
            if options.only not in (None, title):
                continue
            pair = programs / f"{title}.py", folder / f"{title}.py"
            for towers in options.towers.split(",") if options.towers else ():
                compare(f"{title}, {towers} towers", *pair, steps, options.runs, [towers])
            if not options.towers:
                compare(title, *pair, steps, options.runs, [])
    return 0


def show(title: str, found: dict[tuple[str, str], list[Times]]) -> None:
    """A line for each side; the first is the original."""
    medians = {
        side: [statistics.median(one) for one in zip(*times)] for side, times in found.items()
    }
    first = next(iter(medians.values()))
    print(f"{title}: ms a step, ratio to the original: wall, processor")
    for (kind, runtime), (wall, processor) in medians.items():
        print(
            f"  {kind:10} {runtime:11} {wall:8.3f} {wall / first[0]:5.2f}"
            f" {processor:8.3f} {processor / first[1]:5.2f}",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
