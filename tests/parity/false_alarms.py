"""How often equal programs are called different: the loops of ``loops.py``, many times.

    python tests/parity/false_alarms.py [--times 7] [--targets tf2.15,tf2-latest] [NAME ...]

runs each with other data, first values and sizes, and counts false alarms; for each rung it
prints the largest relative difference that was seen. A program whose loss is nothing but rounding
after some steps is told so, which is no alarm: it is counted apart. Not part of the test suite: it
takes minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import live
from loops import LOOPS, texts

from migrate_mgpu.parity import second_run, verdict
from migrate_mgpu.parity.compare import outcome, rounding
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs import sides
from migrate_mgpu.parity.second_run import SecondRun

REFERENCE = "tf1.15"
ROUNDED = "rounded"  # otherwise: the runs that measure what rounding does


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(LOOPS), metavar="NAME")
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--targets", default="tf2.15,tf2-latest")
    parser.add_argument("--keep", type=Path, help="leave the runs in this folder")
    options = parser.parse_args(argv)
    pairs = {
        f"{name}.{n}": texts(name, n, LOOPS[name].sizes[n % len(LOOPS[name].sizes)])
        for name in options.names
        for n in range(options.times)
    }
    alarms = count = explained = lost = 0
    worst: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        references({name: one for name, (one, _) in pairs.items()}, folder)
        for target in options.targets.split(","):
            after = {f"{name}.{target}": (name, two) for name, (_, two) in pairs.items()}
            live.run(target, after, folder)
            for name in pairs:
                found = judge(folder, name, f"{name}.{target}", target)
                count += 1
                explained += bool(found.reference.training["notes"])
                if found.verdict != outcome.EQUIVALENT:
                    chaotic = found.verdict == verdict.NOT_COMPARABLE
                    lost += chaotic
                    alarms += not chaotic
                    print(f"{name} {target}: {found.verdict}: {found.reason}", flush=True)
                for rung in found.rungs:
                    for output in rung.outputs:
                        seen = output.largest_relative or 0.0
                        worst[rung.number] = max(worst.get(rung.number, 0.0), seen)
    for number, seen in sorted(worst.items()):
        print(f"rung {number} {outcome.NAMES[number - 1]:<30} largest relative {seen:.1e}")
    print(f"{explained} needed what rounding does to the old program")
    print(f"{lost} could not be compared for it in all steps")
    print(f"{count} comparisons, {alarms} false alarms")
    return 1 if alarms else 0


def references(programs: Mapping[str, str], folder: Path) -> None:
    """Run the old programs, and again with first values that are rounded otherwise."""
    live.run(REFERENCE, {name: (name, text) for name, text in programs.items()}, folder)
    for n in range(1, second_run.ROUNDING_RUNS[0] + 1):
        again = {f"{name}.{ROUNDED}{n}": (name, text) for name, text in programs.items()}
        live.run(REFERENCE, again, folder, rounded=n)


def judge(
    folder: Path, before: str, after: str, target: str, always: bool = False
) -> verdict.Judged:
    """The verdict on what lies in the folder.

    Args:
      always: with what rounding does to the reference also where the cause is known.
    """
    reference = sides.collect(folder, before, "before.py", REFERENCE)
    assert not reference.failure, f"{before}: {reference.failure}: {reference.stderr[-2000:]}"
    found = sides.collect(folder, after, "after.py", target)
    judged = verdict.judge(live.DEVICES, reference, found, Tolerances())
    if always or verdict.rounding_may_explain(judged):
        runs = sorted(folder.glob(f"{before}.{ROUNDED}?.json"))
        others = [sides.collect(folder, run.stem, "before.py", REFERENCE) for run in runs]
        measured = rounding.between(reference, others)
        assert measured is not None, before
        judged = verdict.with_rounding(judged, Tolerances(), SecondRun(), measured)
    return judged


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
