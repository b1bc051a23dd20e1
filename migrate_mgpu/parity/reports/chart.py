"""Loss curves as shapes that the page's template draws.

An own drawing instead of matplotlib's: two line charts are all that is needed, and these have
the page's colours (dark and light), words for screen readers, and some 10 KB instead of 100.
Lengths are SVG user units; y grows downwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

WIDTH, HEIGHT = 720, 250
LEFT, RIGHT, TOP, BOTTOM = 68, 14, 24, 38
MOST_POINTS = 400  # more steps are drawn as the least and the largest of each group
MARKERS = 8  # on each curve
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LOG_FROM = 1000.0  # a curve that falls by more is drawn on a log scale


@dataclass(frozen=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True)
class Line:
    """One curve.

    Attributes:
      kind: ``reference``, ``target``, ``difference`` or ``allowed``: its style.
      pieces: "x,y x,y ..."; a step without a number ends a piece.
      markers: some of its points.
    """

    kind: str
    pieces: list[str]
    markers: list[tuple[float, float]]


@dataclass(frozen=True)
class Chart:
    title: str
    text: str  # the same in words
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    lines: list[Line]
    first_bad: Tick | None = None
    notes: list[str] = field(default_factory=list)
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


class Axis:
    """From values to lengths, and the ticks between."""

    def __init__(
        self, low: float, high: float, begin: float, end: float, log: bool = False
    ) -> None:
        self.low, self.high, self.begin, self.end, self.log = low, high, begin, end, log

    def at(self, value: float) -> float:
        share = (self._scaled(value) - self._scaled(self.low)) / (
            self._scaled(self.high) - self._scaled(self.low)
        )
        return round(self.begin + share * (self.end - self.begin), 1)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value


def loss(curve: dict[str, Any], first_bad: int | None = None) -> Chart | None:
    """Both loss curves; None when there is no step."""
    before, after = _numbers(curve["reference"]), _numbers(curve["target"])
    steps = max(len(before), len(after))
    seen = [v for v in (*before, *after) if math.isfinite(v)]
    if not steps or not seen:
        return None
    log = min(seen) > 0 and max(seen) / min(seen) > LOG_FROM
    x = _steps(steps)
    y, ticks = _decades(seen) if log else _linear(seen)
    lines = [
        _line("reference", before, x, y, 0.25),
        _line("target", after, x, y, 0.75),
    ]
    text = f"{_range('reference', before)}; {_range('target', after)}."
    notes = _no_numbers("reference", before) + _no_numbers("target", after)
    if len(before) != len(after):
        notes.append(f"The reference has {len(before)} steps, the target {len(after)}.")
    title = f"{curve['name']}, each step{', log scale' if log else ''}"
    return Chart(title, text, _step_ticks(steps, x), ticks, lines, _bad(first_bad, x), notes)


def difference(curve: dict[str, Any], first_bad: int | None = None) -> Chart | None:
    """|reference - target| and what is allowed, on a log scale; None when no step is common."""
    before, after = _numbers(curve["reference"]), _numbers(curve["target"])
    found = [abs(a - b) for a, b in zip(before, after)]
    allowed = _numbers(curve["allowed"])[: len(found)]
    positive = [v for v in (*found, *allowed) if v > 0 and math.isfinite(v)]
    if not found or not positive:
        return None
    x = _steps(len(found))
    zeros = sum(v == 0 for v in found)
    y, ticks = _decades(positive, room=zeros > 0)
    floor = y.low if zeros else None
    lines = [
        _line("allowed", allowed, x, y, None, floor),
        _line("difference", found, x, y, 0.5, floor),
    ]
    notes = []
    if zeros:
        notes.append(f"{zeros} of {len(found)} steps are identical: drawn at 0.")
    worst = max((v for v in found if math.isfinite(v)), default=None)
    text = "no step has a finite difference." if worst is None else f"the largest is {worst:.3g}"
    if worst is not None:
        text += f", in step {found.index(worst) + 1}."
    title = f"{curve['name']}, difference of both sides, log scale"
    return Chart(title, text, _step_ticks(len(found), x), ticks, lines, _bad(first_bad, x), notes)


def _numbers(values: Iterable[float | str]) -> list[float]:
    return [float(value) for value in values]


def _steps(count: int) -> Axis:
    # A single step stands in the middle.
    low, high = (1, count) if count > 1 else (0, 2)
    return Axis(low, high, LEFT + 8, WIDTH - RIGHT - 8)


def _step_ticks(count: int, axis: Axis) -> list[Tick]:
    every = max(1, round(_nice(count / 8)))
    found = [1, *range(every, count + 1, every)]
    if len(found) > 1 and found[1] - 1 < every / 2:
        del found[1 if found[1] == 1 else 0]
    return [Tick(axis.at(step), str(step)) for step in found]


def _linear(values: Sequence[float]) -> tuple[Axis, list[Tick]]:
    low, high = min(values), max(values)
    if high - low <= abs(high) * 1e-9:  # a constant
        low, high = low - (abs(low) or 1.0) / 2, high + (abs(high) or 1.0) / 2
    every = _nice((high - low) / 4)
    first, last = math.floor(low / every), math.ceil(high / every)
    axis = Axis(first * every, last * every, HEIGHT - BOTTOM, TOP)
    digits = max(0, -math.floor(math.log10(every)))
    plain = 1e-4 <= every < 1e6
    return axis, [
        Tick(axis.at(n * every), f"{n * every:.{digits}f}" if plain else f"{n * every:.3g}")
        for n in range(first, last + 1)
    ]


def _decades(values: Sequence[float], room: bool = False) -> tuple[Axis, list[Tick]]:
    """A log axis; with ``room`` its lowest line stands for zero."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    if high - low < 2:
        low -= 1
    low -= room
    axis = Axis(10.0**low, 10.0**high, HEIGHT - BOTTOM, TOP, log=True)
    every = math.ceil((high - low) / 6)
    shown = [n for n in range(high, low - 1, -every) if not (room and n <= low)]
    found = [Tick(axis.at(10.0**n), _power(n)) for n in shown]
    return axis, found + ([Tick(axis.at(10.0**low), "0")] if room else [])


def _nice(length: float) -> float:
    """The next of 1, 2, 5, 10, 20, ..."""
    power = 10.0 ** math.floor(math.log10(length))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= length * (1 - 1e-9))


def _power(n: int) -> str:
    return f"{10.0**n:g}" if 0 <= n <= 3 else "10" + str(n).translate(_RAISED)


def _line(
    kind: str,
    values: Sequence[float],
    x: Axis,
    y: Axis,
    shift: float | None,
    floor: float | None = None,
) -> Line:
    """A curve; its markers begin at ``shift`` of their distance, so that those of two equal
    curves stand side by side."""
    pieces: list[list[str]] = [[]]
    for step, value in _thinned(values):
        if math.isfinite(value) and (value > 0 or floor is not None or not y.log):
            where = f"{x.at(step)},{y.at(value if value or not y.log else floor or 0)}"
            pieces[-1].append(where)
        elif pieces[-1]:
            pieces.append([])
    every = max(1, math.ceil(len(values) / MARKERS))
    chosen = [] if shift is None else range(int(shift * every), len(values), every)
    markers = [
        (x.at(i + 1), y.at(values[i] if values[i] or not y.log else floor or 0))
        for i in chosen
        if math.isfinite(values[i]) and (values[i] > 0 or floor is not None or not y.log)
    ]
    return Line(kind, [" ".join(piece) for piece in pieces if piece], markers)


def _thinned(values: Sequence[float]) -> list[tuple[int, float]]:
    """Steps (from 1) and values; of long runs the extremes of each group, in their order."""
    numbered = list(enumerate(values, start=1))
    if len(numbered) <= MOST_POINTS:
        return numbered
    size = math.ceil(len(numbered) / (MOST_POINTS // 2))
    kept = []
    for begin in range(0, len(numbered), size):
        group = numbered[begin : begin + size]
        # A step without a number stays: it is what the reader looks for.
        none = [point for point in group if not math.isfinite(point[1])]
        chosen = none[:1] or [min(group, key=lambda p: p[1]), max(group, key=lambda p: p[1])]
        kept += sorted(set(chosen))
    return kept


def _bad(step: int | None, axis: Axis) -> Tick | None:
    return Tick(axis.at(step), f"step {step}") if step and step <= axis.high else None


def _range(side: str, values: Sequence[float]) -> str:
    finite = [v for v in values if math.isfinite(v)]
    if not finite:
        return f"the {side} has no finite value"
    return f"the {side} goes from {finite[0]:.6g} to {finite[-1]:.6g} in {len(values)} steps"


def _no_numbers(side: str, values: Sequence[float]) -> list[str]:
    bad = [step for step, value in enumerate(values, start=1) if not math.isfinite(value)]
    if not bad:
        return []
    which = f"step {bad[0]}" if len(bad) == 1 else f"{len(bad)} steps from step {bad[0]} on"
    return [f"The {side}'s loss is not a finite number in {which}: a gap in its curve."]
