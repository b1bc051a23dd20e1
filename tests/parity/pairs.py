"""The hand-written pairs of ``fixtures/parity``, many times.

    python tests/parity/pairs.py [--times 10] [--devices 1,2,4] [--targets tf2.15] [CASE ...]

repeats each pair and counts false alarms; for each rung it prints the largest relative
difference that was seen, which is what the default tolerances stand on. Not part of the
test suite: it takes minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from migrate_mgpu import runtimes
from migrate_mgpu.parity import comparison
from migrate_mgpu.parity.compare import outcome
from migrate_mgpu.parity.comparison import Request

FOLDER = Path(__file__).parents[2] / "fixtures" / "parity"
CASES = sorted(path.name for path in FOLDER.iterdir() if (path / "after.py").is_file())


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--devices", default="1,2,4")
    parser.add_argument("--reference", default="tf1.15")
    parser.add_argument("--targets", default="tf2.15,tf2-latest")
    options = parser.parse_args(argv)
    devices = tuple(int(text) for text in options.devices.split(","))
    reference = runtimes.ensure(options.reference)
    alarms = runs = 0
    worst: dict[int, float] = {}
    for case in options.cases:
        for target in options.targets.split(","):
            for _ in range(options.times):
                with tempfile.TemporaryDirectory() as name:
                    request = Request(
                        reference,
                        runtimes.ensure(target),
                        FOLDER / case / "before.py",
                        FOLDER / case / "after.py",
                        devices,
                    )
                    judged = comparison.run(request, Path(name))
                for one in judged:
                    runs += 1
                    if one.verdict != outcome.EQUIVALENT:
                        alarms += 1
                        print(f"{case} {target} {one.devices}: {one.verdict}: {one.reason}")
                    for rung in one.rungs:
                        for output in rung.outputs:
                            seen = output.largest_relative or 0.0
                            worst[rung.number] = max(worst.get(rung.number, 0.0), seen)
            print(f"{case} {target}: {options.times} times, so far {alarms} alarms", flush=True)
    for number, seen in sorted(worst.items()):
        print(
            f"rung {number} {outcome.NAMES[number - 1]:<30} largest relative difference {seen:.1e}"
        )
    print(f"{runs} comparisons, {alarms} false alarms")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
