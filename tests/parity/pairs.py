"""The hand-written pairs of ``fixtures/parity`` and wrong variants of them.

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
from migrate_mgpu.parity import check, ladder
from migrate_mgpu.parity.check import Request

FOLDER = Path(__file__).parents[2] / "fixtures" / "parity"
CASES = sorted(path.name for path in FOLDER.iterdir() if (path / "after.py").is_file())

# name: the case, what is replaced in its after.py, by what, the rung that must break.
WRONG: dict[str, tuple[str, str, str, int]] = {
    "growth_lost": ("towers", "set_memory_growth(gpu, True)", "set_memory_growth(gpu, False)", 1),
    "soft_placement_lost": (
        "session_momentum",
        "device_placement(True)",
        "device_placement(False)",
        1,
    ),
    "bias_lost": ("session_momentum", "Dense(4)", "Dense(4, use_bias=False)", 2),
    "layer_added": (
        "session_momentum",
        "tf.keras.layers.Dense(4)",
        "tf.keras.layers.Dense(4), tf.keras.layers.Dense(4)",
        2,
    ),
    "batch_not_multiplied": (
        "estimator_mirrored",
        "BATCH * strategy.num_replicas_in_sync",
        "BATCH",
        3,
    ),
    "batch_multiplied_twice": (
        "towers",
        "dataset.batch(global_batch",
        "dataset.batch(2 * global_batch",
        3,
    ),
    "softmax_twice": (
        "session_momentum",
        "model(x, training=True))",
        "tf.nn.softmax(model(x, training=True)) * 1.0)",
        4,
    ),
    "loss_summed_over_replicas": ("towers", "size=global_batch", "size=BATCH", 4),
    "dropout_lost": ("keras_fit", "tf.keras.layers.Dropout(0.25),", "", 4),
    "mean_instead_of_sum": (
        "canned_estimator",
        'reduction="sum"',
        'reduction="sum_over_batch_size"',
        4,
    ),
    "other_data": ("towers", "RandomState(1)", "RandomState(2)", 4),
    "not_a_number": ("session_momentum", "model(x, training=True))", "model(x)) * float('nan')", 4),
    "clipping_lost": ("monitored_session", "variables), 0.5)", "variables), 50.0)", 5),
    "learning_rate": ("session_momentum", "SGD(0.1,", "SGD(0.11,", 6),
    "epsilon": ("estimator_mirrored", "epsilon=1e-8", "epsilon=1e-4", 6),
    "initial_slot": ("canned_estimator", "accumulator_value=0.1", "accumulator_value=0.0", 6),
    "momentum_lost": ("session_momentum", "momentum=0.9", "momentum=0.0", 7),
    "schedule_off_by_one": (
        "monitored_session",
        "ExponentialDecay(0.1, 10",
        "ExponentialDecay(0.1, 9",
        7,
    ),
    "a_step_too_many": ("session_momentum", "range(50)", "range(51)", 7),
    "a_step_too_few": ("estimator_mirrored", "steps_per_epoch=50", "steps_per_epoch=49", 7),
    "evaluated_on_other_data": ("estimator_mirrored", "data(1, 64)", "data(0, 64)", 9),
    "printed_otherwise": ("monitored_session", "last loss", "loss", 9),
}


def folder_of(case: str) -> Path:
    return FOLDER / case


def wrong_variant(name: str, copy: Path) -> Path:
    """Write the wrong ``after.py`` into a folder."""
    case, old, new, _ = WRONG[name]
    text = (folder_of(case) / "after.py").read_text(encoding="utf-8")
    assert old in text, f"{name}: {old!r} is not in {case}/after.py"
    program = copy / "after.py"
    program.write_text(text.replace(old, new), encoding="utf-8")
    return program


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
                    judged = check.run(request, Path(name))
                for one in judged:
                    runs += 1
                    if one.verdict != check.EQUIVALENT:
                        alarms += 1
                        print(f"{case} {target} {one.devices}: {one.verdict}: {one.reason}")
                    for rung in one.rungs:
                        for output in rung.outputs:
                            seen = output.largest_relative or 0.0
                            worst[rung.number] = max(worst.get(rung.number, 0.0), seen)
            print(f"{case} {target}: {options.times} times, so far {alarms} alarms", flush=True)
    for number, seen in sorted(worst.items()):
        print(
            f"rung {number} {ladder.NAMES[number - 1]:<30} largest relative difference {seen:.1e}"
        )
    print(f"{runs} comparisons, {alarms} false alarms")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
