"""Both sides' recorded numbers, in the form in which causes are tested on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from migrate_mgpu.parity.compare import numeric
from migrate_mgpu.parity.compare.outcome import DIFFERS, Output, Rung
from migrate_mgpu.parity.probe import matching
from migrate_mgpu.parity.runs.sides import Side

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

CLOSE = 1e-4  # relative: two recorded numbers are the same but for rounding
ROWS = 2e-6  # two sums of an example's elements, which are taken in float64


@dataclass
class Pair:
    """An array of one variable, as both sides have it."""

    name: str
    before: Array
    after: Array


class Evidence:
    """What was recorded of a comparison.

    Attributes:
      rung: the first broken one.
      broken: its outputs that differ.
    """

    def __init__(self, rungs: Sequence[Rung], rung: Rung, reference: Side, target: Side) -> None:
        self.rungs, self.rung = rungs, rung
        self.broken: list[Output] = [o for o in rung.outputs if o.status == DIFFERS]
        self.reference, self.target = reference, target
        self.before, self.after = reference.training, target.training

    @property
    def replicas(self) -> int:
        """The most replicas or towers that either side has."""
        places = [len(s["losses"]) for t in (self.before, self.after) for s in t.get("series", [])]
        return max(places, default=1)

    @cached_property
    def series(self) -> tuple[int, int]:
        """The loss series that the first broken output is of, as each side counts it: causes are
        looked for in what one optimizer trains."""
        if not self.broken:
            return 0, 0
        name = self.broken[0].name
        old, new = self.before.get("series") or [], self.after.get("series") or []
        paired = matching.pair_series(dict(self.before), dict(self.after))
        for at, (label, a, b) in enumerate(paired):
            titles = [
                matching.title(self.before["variables"][i]) for i in (a or {}).get("variables", ())
            ]
            mine = {label, matching.of_examples(at)}
            mine |= {f"{kind}/{title}" for kind in ("gradients", "weights") for title in titles}
            if name in mine and a is not None and b is not None:
                numbers = [
                    next(n for n, s in enumerate(side) if s is one)
                    for side, one in ((old, a), (new, b))
                ]
                return numbers[0], numbers[1]
        return 0, 0

    def series_of(self, after: bool) -> Mapping[str, Any]:
        """That series of a side; empty where it has none."""
        found = (self.after if after else self.before).get("series") or []
        number = self.series[after]
        one: Mapping[str, Any] = found[number] if number < len(found) else {}
        return one

    # Arrays -----------------------------------------------------------------------------------

    @cached_property
    def first(self) -> dict[str, Array]:
        return self.reference.load_arrays()

    @cached_property
    def second(self) -> dict[str, Array]:
        return self.target.load_arrays()

    @cached_property
    def matched(self) -> tuple[list[tuple[int, int]], list[int], list[int]]:
        return matching.pair(self.before.get("variables", []), self.after.get("variables", []))

    def pairs(self, kind: str) -> list[Pair]:
        """``initial``, ``gradient``, ``after_one`` or ``final`` of the variables of both sides,
        where there are several optimizers of those that the broken one trains."""
        found = []
        several = len(self.before.get("series") or []) > 1
        trained = self.series_of(False).get("variables") if several else None
        for i, j in self.matched[0]:
            if trained and i not in trained:
                continue
            one, other = self.first.get(f"{kind}/{i}"), self.second.get(f"{kind}/{j}")
            if one is not None and other is not None and one.shape == other.shape:
                name = matching.title(self.before["variables"][i])
                found.append(Pair(name, one.astype("float64"), other.astype("float64")))
        return found

    def steps(self) -> list[tuple[Pair, Array, Array]]:
        """For each variable its gradients, and how far the first step moved it on each side."""
        found = []
        gradients = {p.name: p for p in self.pairs("gradient")}
        moved = {p.name: p for p in self.pairs("after_one")}
        for start in self.pairs("initial"):
            if start.name in gradients and start.name in moved:
                end = moved[start.name]
                gradient = gradients[start.name]
                found.append((gradient, end.before - start.before, end.after - start.after))
        return found

    # Losses -----------------------------------------------------------------------------------

    def losses(self) -> tuple[list[float], list[float]]:
        """The loss of each step, on both sides; the norm of the gradients that it is given."""
        before, after = (numeric.curve(self.series_of(side) or None) for side in (False, True))
        return before, after

    @property
    def by_norm(self) -> bool:
        """Whether its steps are given gradients, and have no loss."""
        return any(self.series_of(side).get("by_norm") for side in (False, True))

    def first_losses(self) -> tuple[float, float] | None:
        one, other = self.losses()
        if (
            self.by_norm
            or not one
            or not other
            or not math.isfinite(one[0])
            or not math.isfinite(other[0])
        ):
            return None
        return one[0], other[0]

    # Batches ----------------------------------------------------------------------------------

    def rows(self, after: bool, step: int, kind: str = "rows") -> dict[str, Array]:
        """The sums of each example's elements, by tensor; replicas one after the other."""
        import numpy

        arrays = self.second if after else self.first
        parts: dict[str, dict[int, Array]] = {}
        for key, value in arrays.items():
            words = key.split("/")
            if words[0] == kind and words[1] == str(self.series[after]) and int(words[3]) == step:
                parts.setdefault(words[4], {})[int(words[2])] = value
        return {n: numpy.concatenate([p[k] for k in sorted(p)]) for n, p in parts.items()}

    def entropy(self, after: bool) -> tuple[Array, Array] | None:
        """Logits and labels of the first step's cross-entropy, replicas one after the other."""
        import numpy

        arrays = self.second if after else self.first
        found = []
        for kind in ("logits", "labels"):
            keys = sorted(
                (k for k in arrays if k.startswith(f"{kind}/{self.series[after]}/")),
                key=lambda k: int(k.split("/")[2]),
            )
            if not keys:
                return None
            found.append(numpy.concatenate([arrays[k] for k in keys]).astype("float64"))
        return found[0], found[1]

    # Declarations -----------------------------------------------------------------------------

    def declared(self, after: bool, kind: str, when: str) -> list[dict[str, Any]]:
        """Dropouts or batch normalizations that act in ``training`` or ``evaluation``."""
        known = (self.after if after else self.before).get("declares", {}).get(kind, [])
        return [entry for entry in known if entry["when"] == when]

    def rates(self) -> tuple[list[float], list[float]]:
        """The learning rate of each step, as far as it is known, on both sides."""
        return self._rates(False), self._rates(True)

    def _rates(self, after: bool) -> list[float]:
        series = self.series_of(after)
        rates = series.get("rates", [])
        if not rates and series.get("losses"):
            # Keras in a graph: only what the optimizer was made with is known.
            declares = (self.after if after else self.before).get("declares", {})
            values = declares.get("optimizers", {}).get(str(self.series[after]), {})
            rate = values.get("values", {}).get("learning_rate")
            return [] if rate is None else [rate] * len(series["losses"][0])
        known = rates.index(None) if None in rates else len(rates)
        return list(rates[:known])

    @property
    def rates_are_seen(self) -> bool:
        """Whether the rate of each step was recorded, on both sides."""
        return all(self.series_of(side).get("rates") for side in (False, True))

    def broken_names(self) -> Iterator[str]:
        for output in self.broken:
            yield output.name


def close(one: float, other: float, relative: float = CLOSE) -> bool:
    """Whether two numbers are the same but for rounding."""
    return abs(one - other) <= relative * max(abs(one), abs(other))


def same(one: Array, other: Array, relative: float = CLOSE) -> bool:
    """Whether two arrays are, measured against their largest magnitude."""
    import numpy

    if one.shape != other.shape:
        return False
    if not one.size:
        return True
    largest = max(float(numpy.abs(one).max()), float(numpy.abs(other).max()))
    return bool(numpy.abs(one - other).max() <= relative * largest)


def show(value: float) -> str:
    """A number as people read it."""
    return f"{value:.6g}"


def factor(ratio: float, replicas: int, examples: int | None = None) -> str | None:
    """What a whole-numbered factor may stand for, or None when the ratio is no such number."""
    for number, meaning in (
        (replicas, f"the number of replicas, {replicas}"),
        (replicas**2, f"the square of the number of replicas, {replicas}"),
        (examples or 0, f"the number of examples of a step, {examples}"),
        ((examples or 0) / replicas, "the number of examples of a replica's step"),
        (2, "2"),
    ):
        if number > 1:
            if close(ratio, number):
                return f"{meaning}"
            if close(ratio, 1 / number):
                return f"one divided by {meaning}"
    return None
