"""How far rounding alone drives a program: the reference, run with first values rounded otherwise.

Two runtimes add up in other orders. What becomes of that depends on the program: a recurrent
network multiplies it, Adam moves a weight whose gradient is nothing but rounding as far as any
other. So it is measured: the reference runs again with the first value of each variable, and of the
optimizer's own, moved to the next number of its type, and what that changes is allowed, a few
times over, wherever the default tolerances are not enough.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from migrate_mgpu.parity.compare import numeric, printed, tolerances
from migrate_mgpu.parity.probe import matching
from migrate_mgpu.parity.runs.sides import Side

if TYPE_CHECKING:
    from migrate_mgpu.parity.compare.numeric import Array
    from migrate_mgpu.parity.compare.printed import Moved

# What two runtimes do to a program may be this many times as large as what was measured.
FACTOR = 4.0
# Where that is more than this share of what is compared, nothing can be said of it.
LOST = 0.05
MOST = 90.0  # per cent
KINDS = ("gradient", "after_one", "final")
SAVED = "saved/"  # before the name, of what the last checkpoint has
_TAIL = "tail/"  # before the key, in the file
SUMMARY = "summary "  # what the names of recorded summaries begin with


@dataclass(frozen=True)
class Rounding:
    """What may be apart by rounding, as absolute differences.

    Attributes:
      losses: by series, of each step.
      arrays: by the key in the trace, of each element.
      outputs: by the result's number and name, and by the record's label.
      printed: [line, place, difference]; None where the printed text changes.
      tails: by the key of a final weight of which rounding moves some elements in one run and
        others in another, what those may differ by that are moved the furthest, the largest
        first, whichever they are: of as many as chance may move.
    """

    losses: Mapping[str, Sequence[float]]
    arrays: Mapping[str, Array]
    outputs: Mapping[str, float]
    printed: Sequence[tuple[int, int, float]] | None
    tails: Mapping[str, Array] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        import numpy

        rest = {"losses": self.losses, "outputs": self.outputs, "printed": self.printed}
        text = json.dumps(rest).encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            arrays: dict[str, Any] = {"rest": numpy.frombuffer(text, dtype="uint8"), **self.arrays}
            arrays.update({f"{_TAIL}{key}": tail for key, tail in self.tails.items()})
            numpy.savez(stream, **arrays)

    @classmethod
    def load(cls, path: Path) -> Rounding:
        import numpy

        with numpy.load(path) as stored:
            arrays = {name: stored[name] for name in stored.files}
        rest = json.loads(bytes(arrays.pop("rest")).decode())
        names = [name for name in arrays if name.startswith(_TAIL)]
        tails = {name[len(_TAIL) :]: arrays.pop(name) for name in names}
        return cls(arrays=arrays, tails=tails, **rest)

    def lost_at(self, name: str, curve: Sequence[float]) -> int | None:
        """The step (from 0) from which on rounding is all that a loss curve shows."""
        scale = max((abs(value) for value in curve if math.isfinite(value)), default=0.0)
        known = enumerate(self.losses.get(name, ()))
        return next((step for step, apart in known if apart > LOST * scale), None)

    def moved(self) -> Moved:
        return {(line, place): apart for line, place, apart in self.printed or ()}


def between(first: Side, others: Sequence[Side]) -> Rounding | None:
    """What may be apart, from runs that differ in their rounding alone; None where one of them
    did not finish, or took another number of steps."""
    losses: dict[str, list[float]] = {}
    arrays: dict[str, Array] = {}
    outputs: dict[str, float] = {}
    moved: printed.Moved | None = {}
    for other in others:
        if other.failure:
            return None
        for name, a, b in matching.pair_series(dict(first.training), dict(other.training)):
            one, two = numeric.curve(a), numeric.curve(b)
            if len(one) != len(two):
                return None
            apart = [_finite(FACTOR * abs(x - y)) for x, y in zip(one, two)]
            grown = list(accumulate(apart, max))
            losses[name] = [max(*both) for both in zip(grown, losses.get(name, grown))]
        _arrays(first, other, arrays)
        _outputs(first, other, outputs)
        seen = printed.moved(first.stdout, other.stdout)
        if seen is None or moved is None:
            moved = None
        else:
            for key, value in seen.items():
                moved[key] = max(FACTOR * value, moved.get(key, 0.0))
    lines = None if moved is None else [(*key, value) for key, value in sorted(moved.items())]
    return Rounding(losses, arrays, outputs, lines, _tails(first, others))


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def _apart(a: Array, b: Array) -> float:
    import numpy

    if a.shape != b.shape or not a.size or a.dtype.kind not in "fiub":
        return 0.0
    return _finite(FACTOR * float(numpy.abs(a.astype("float64") - b.astype("float64")).max()))


def _arrays(first: Side, other: Side, found: dict[str, Array]) -> None:
    import numpy

    one, two = first.load_arrays(), other.load_arrays()
    pairs = matching.pair(first.training["variables"], other.training["variables"])[0]
    both = [(f"{kind}/{i}", f"{kind}/{j}") for kind in KINDS for i, j in pairs]
    both += [(key, key) for key in one if key.startswith(SAVED)]
    for key, other_key in both:
        a, b = one.get(key), two.get(other_key)
        if a is None or b is None or a.shape != b.shape or not a.size:
            continue
        apart = _allowed(numpy.abs(a.astype("float64") - b.astype("float64")))
        found[key] = numpy.maximum(apart, found[key]) if key in found else apart


def _allowed(apart: Array) -> Array:
    """What two runs' differences allow each element to differ by."""
    import numpy

    apart = FACTOR * numpy.where(numpy.isfinite(apart), apart, 0.0)
    # An element that was lucky in these runs has the rounding of most others.
    allowed: Array = numpy.maximum(apart, numpy.percentile(apart, MOST))
    return allowed


def is_lost(apart: Array, a: Array, floor: float) -> bool:
    """Whether rounding moves an array by so much that nothing can be said of it."""
    if a.shape != apart.shape:
        return False
    typical = float(apart.min())  # none is below most of those that move
    return typical > LOST * float(abs(a).max()) + floor


def _moved_by_chance(first: Side, others: Sequence[Side]) -> dict[str, int]:
    """How many of each final weight's elements one run moved further than another allows.

    The reference is one of these runs: where it is the odd one out, the others agree on what
    differs from it, and a further run may be as far from all of them.
    """
    import numpy

    found: dict[str, int] = {}
    runs = [_final_weights(first, side) for side in (first, *others)]
    for one in runs:
        for key, a in one.items():
            known = [run[key] for run in runs if run is not one and key in run]
            apart = [numpy.abs(a - b) for b in known if b.shape == a.shape and a.size]
            least = tolerances.WEIGHT * float(numpy.abs(a).max(initial=0.0))
            limits = [_allowed(distance) + least for distance in apart]
            for limit, distance in permutations(range(len(apart)), 2):
                count = int(numpy.sum(apart[distance] > limits[limit]))
                found[key] = max(count, found.get(key, 0))
    return found


def _final_weights(first: Side, side: Side) -> dict[str, Array]:
    """A run's, by the first run's keys."""
    arrays = side.load_arrays()
    pairs = matching.pair(first.training["variables"], side.training["variables"])[0]
    found = {f"final/{i}": arrays.get(f"final/{j}") for i, j in pairs}
    return {key: array.astype("float64") for key, array in found.items() if array is not None}


def _tails(first: Side, others: Sequence[Side]) -> dict[str, Array]:
    """The largest differences of one run, of as many elements as chance may move."""
    import numpy

    counts, one = _moved_by_chance(first, others), first.load_arrays()
    found: dict[str, Array] = {}
    for other in others:
        two = other.load_arrays()
        for i, j in matching.pair(first.training["variables"], other.training["variables"])[0]:
            key = f"final/{i}"
            a, b = one.get(key), two.get(f"final/{j}")
            if not counts.get(key) or a is None or b is None or a.shape != b.shape:
                continue
            most = min(numeric.most_by_chance(counts[key]), a.size)
            apart = FACTOR * numpy.abs(a.astype("float64") - b.astype("float64"))
            tail = numpy.sort(apart, axis=None)[::-1][:most]
            found[key] = numpy.maximum(tail, found[key]) if key in found else tail
    return found


def _outputs(first: Side, other: Side, found: dict[str, float]) -> None:
    one, two = first.load_arrays(), other.load_arrays()
    both = zip(first.training.get("outputs", []), other.training.get("outputs", []))
    for number, (a, b) in enumerate(both):
        for name in a["values"].keys() & b["values"].keys():
            key = output_key(number, name)
            apart = _finite(FACTOR * abs(a["values"][name] - b["values"][name]))
            found[key] = max(found.get(key, 0.0), apart)
        for name in a["arrays"].keys() & b["arrays"].keys():
            key = output_key(number, name)
            apart = _apart(one[a["arrays"][name]], two[b["arrays"][name]])
            found[key] = max(found.get(key, 0.0), apart)
    records = zip(first.training.get("records", []), other.training.get("records", []))
    for i, (a, b) in enumerate(records):
        key = record_label(a["name"])
        if a["name"] == b["name"] and f"record/{i}" in one and f"record/{i}" in two:
            apart = _apart(one[f"record/{i}"], two[f"record/{i}"])
            found[key] = max(found.get(key, 0.0), apart)


def record_label(name: str) -> str:
    """What the output of something recorded is called: a summary, or by ``record(name, value)``."""
    return name if name.startswith(SUMMARY) else f"record {name}"


def output_key(number: int, name: str) -> str:
    """What a result's rounding is kept under: its number among all results, and its name."""
    return f"{number} {name}"
