"""Time per step of Estimator programs and of the Keras programs that the tool makes of them.

    python benchmarks/estimators.py [--steps 4000] [--digit-steps 1000] [--image-steps 100]
        [--runs 3] [--only digits]

Three programs: `fixtures/estimator/dense_classifier`, whose step is so small that what TensorFlow
does around it counts, `benchmarks/digits.py`, a dense network as large as tutorials make it, and
`benchmarks/images.py`, whose convolutions are the step. The first is also shown with
`steps_per_execution`, Keras's own way to make small steps cheap.

All run without the harness, on one CPU device, the original on TensorFlow 1.15.5 and the
migrated one on 2.15 and the newest. Each runs with two numbers of steps; the difference is the
time of the steps alone, without imports and set-up. Medians of the runs are shown, wall time and
processor time (which other programs on the machine change less), and their ratios to the
original's.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from migrate_mgpu import runtimes

HERE = Path(__file__).parent
DENSE = HERE.parent / "fixtures" / "estimator" / "dense_classifier" / "before.py"
DIGITS = HERE / "digits.py"
IMAGES = HERE / "images.py"
FEW = 20
TOGETHER = 10  # divides FEW and the steps: Keras 3 would train up to the next multiple

Times = tuple[float, float]


def migrated(before: Path, folder: Path) -> Path:
    """The Keras program that the tool makes, as a file in the folder."""
    after = folder / f"{before.parent.name}_{before.stem}.py"
    after.write_bytes(before.read_bytes())
    command = [sys.executable, "-m", "migrate_mgpu", str(after)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 1:
        raise SystemExit(f"{before} was not migrated:\n{done.stdout}{done.stderr}")
    return after


def together(program: Path) -> Path:
    """The same program with several steps in one call."""
    text = program.read_text()
    compiled = text.replace(
        "model.compile(\n", f"model.compile(\n        steps_per_execution={TOGETHER},\n", 1
    )
    if compiled == text:
        raise SystemExit(f"no compile found in {program}")
    other = program.with_name(f"{program.stem}_together.py")
    other.write_text(compiled)
    return other


def seconds(python: Path, program: Path, steps: int) -> Times:
    """The wall and the processor time of a whole run."""
    with tempfile.TemporaryDirectory() as folder:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        command = [str(python), str(program), "--train_steps", str(steps)]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def per_step(python: Path, program: Path, steps: int) -> Times:
    """Milliseconds a step, wall and processor."""
    few, many = seconds(python, program, FEW), seconds(python, program, FEW + steps)
    return (many[0] - few[0]) / steps * 1000, (many[1] - few[1]) / steps * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=4000, help="of the small program")
    parser.add_argument("--digit-steps", type=int, default=1000)
    parser.add_argument("--image-steps", type=int, default=100)
    parser.add_argument("--only", choices=["16 units", "digits", "images"])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    if options.steps % TOGETHER:
        parser.error(f"--steps must be a multiple of {TOGETHER}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dense, digits, images = (migrated(one, folder) for one in (DENSE, DIGITS, IMAGES))
        fast = together(dense)
        targets = ("tf2.15", "tf2-latest")
        for title, before, steps, afters in (
            ("16 units", DENSE, options.steps, {"as written": dense, "together": fast}),
            ("digits", DIGITS, options.digit_steps, {"as written": digits}),
            ("images", IMAGES, options.image_steps, {"as written": images}),
        ):
            if options.only not in (None, title):
                continue
            sides = [("original", "tf1.15", before)]
            sides += [
                (kind, runtime, after) for kind, after in afters.items() for runtime in targets
            ]
            found: dict[tuple[str, str], list[Times]] = {side[:2]: [] for side in sides}
            for _ in range(options.runs):
                for kind, runtime, program in sides:  # side by side: noise meets all of them
                    python = runtimes.ensure(runtime).python
                    found[kind, runtime].append(per_step(python, program, steps))
            show(title, found)
    return 0


def show(title: str, found: dict[tuple[str, str], list[Times]]) -> None:
    """A line for each side; the first is the original."""
    medians = {
        side: [statistics.median(one) for one in zip(*times, strict=True)]
        for side, times in found.items()
    }
    first = next(iter(medians.values()))
    print(f"{title}: ms a step, ratio to the original: wall, processor")
    for (kind, runtime), (wall, processor) in medians.items():
        print(
            f"  {kind:10} {runtime:11} {wall:8.2f} {wall / first[0]:5.2f}"
            f" {processor:8.2f} {processor / first[1]:5.2f}"
        )


if __name__ == "__main__":
    sys.exit(main())
