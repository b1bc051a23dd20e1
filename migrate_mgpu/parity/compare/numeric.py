"""Two curves or two arrays within a tolerance."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from migrate_mgpu.parity.compare import tolerances
from migrate_mgpu.parity.compare.outcome import DIFFERS, EQUAL, Output
from migrate_mgpu.parity.compare.tolerances import Tolerances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

# The gradients that optimizers got may be further apart than the recorded ones by this factor.
GRADIENT_SHARE = 4.0
# An equal program's final weight may be called different with this probability, by the number of
# elements that rounding moves.
FALSE_ALARM = 1e-3
MANY = 300


def curve(series: Mapping[str, Any] | None) -> list[float]:
    """One loss a step: the mean over towers, the sum of replicas' (scaled) losses."""
    if not series or not series["losses"]:
        return []
    places = series["losses"]
    divide = len(places) if series["combine"] == "mean" else 1
    return [sum(losses) / divide for losses in zip(*places)]


def allowed_of(series: Mapping[str, Any] | None) -> float:
    """What a series may be apart by, relative, where nothing else is asked for."""
    return tolerances.GRADIENT if series and series.get("by_norm") else tolerances.LOSS


def losses(
    name: str,
    a: Any,
    b: Any,
    allowed: Tolerances,
    first_only: bool = False,
    rounding: Sequence[float] = (),
    scale: float = 1.0,
) -> Output:
    """One loss curve, or its first value.

    Args:
      rounding: what each step may differ by in addition.
      scale: of the target's loss, which is divided by it.
    """
    before, after = curve(a), [value / scale for value in curve(b)]
    if first_only:
        before, after = before[:1], after[:1]
    if not before or not after:
        sides = [s for s, c in (("reference", before), ("target", after)) if not c]
        return Output(name, DIFFERS, detail=f"no step in the {' and the '.join(sides)}")
    found = Output(name, EQUAL, largest_absolute=0.0, largest_relative=0.0, needed=0.0)
    default = allowed_of(a)
    limits = allowed_differences(name, before, allowed, rounding, default)
    spare = _spare(name, before, allowed)
    for step, (x, y) in enumerate(zip(before, after)):
        difference = abs(x - y)
        if difference != difference or difference == float("inf"):
            text = f"step {step + 1}: {x} and {y}"
            return Output(name, DIFFERS, found.first_bad or step + 1, detail=found.detail or text)
        growth = allowed.relative(name, default, step)
        base = allowed.relative(name, default)
        _widen(found, difference, abs(x))
        if x:
            at_start = max(0.0, difference - spare) / abs(x) / (growth / base if base else 1)
            found.needed = None if found.needed is None else max(found.needed, at_start)
        elif difference > spare:
            found.needed = None
        if found.status == EQUAL and difference > limits[step]:
            found.status, found.first_bad = DIFFERS, step + 1
            found.detail = f"step {step + 1}: {x:.7g} became {y:.7g}"
    if len(before) != len(after) and not first_only:
        found.status, found.needed = DIFFERS, None
        found.first_bad = found.first_bad or min(len(before), len(after)) + 1
        found.detail += f"{'; ' * bool(found.detail)}{len(before)} steps became {len(after)}"
    return found


def allowed_differences(
    name: str,
    before: Sequence[float],
    allowed: Tolerances,
    rounding: Sequence[float] = (),
    default: float = tolerances.LOSS,
) -> list[float]:
    """The largest difference from the reference's loss that each step may have."""
    spare = _spare(name, before, allowed)
    return [
        spare + allowed.relative(name, default, step) * abs(value) + (more or 0.0)
        for step, (value, more) in enumerate(zip_longest(before, rounding[: len(before)]))
    ]


def no_number(before: Sequence[float], after: Sequence[float]) -> int | None:
    """The step (from 0) from which on neither curve has numbers; None where one of them has."""
    if len(before) != len(after):
        return None
    for step, (x, y) in enumerate(zip(before, after)):
        if not math.isfinite(x) or not math.isfinite(y):
            return step if str(x) == str(y) else None
    return None


def _spare(name: str, before: Sequence[float], allowed: Tolerances) -> float:
    """What any step may differ by, however small its loss."""
    scale = max((abs(value) for value in before if math.isfinite(value)), default=0.0)
    return allowed.absolute(name) + tolerances.FLOOR * scale


def _widen(found: Output, difference: float, magnitude: float) -> None:
    found.largest_absolute = max(found.largest_absolute or 0.0, difference)
    if magnitude:
        found.largest_relative = max(found.largest_relative or 0.0, difference / magnitude)


def array(
    name: str,
    a: Array | None,
    b: Array | None,
    relative: float,
    absolute: float,
    more: Array | None = None,
    outliers: float = 0.0,
    tail: Array | None = None,
) -> Output:
    """Within the tolerance, relative to the reference's largest magnitude: an element near
    zero has the rounding of the terms that it is the sum of.

    Args:
      more: what each element may differ by in addition; of the arrays' shape.
      outliers: share of the elements that may be apart OUTLIER_FACTOR times as much.
      tail: as many elements as this has may be apart as much as ``more`` allows others, the largest
        as much as this says.
    """
    import numpy

    if a is None or b is None:
        side = "the reference" if a is None else "the target"
        return Output(name, DIFFERS, detail=f"missing in {side}")
    if a.shape != b.shape:
        return Output(name, DIFFERS, detail=f"shape {a.shape} became {b.shape}")
    if a.size == 0:
        return Output(name, EQUAL)
    x, y = a.astype("float64"), b.astype("float64")
    if not (numpy.isfinite(x).all() and numpy.isfinite(y).all()):
        return Output(name, DIFFERS, detail="not all values are finite numbers")
    whole = apart = numpy.abs(x - y)
    difference = float(apart.max())
    if more is not None and more.shape == apart.shape:
        apart = numpy.maximum(apart - more, 0.0)
    over = float(apart.max())
    few = int(outliers * apart.size)
    if few:
        rest = float(numpy.partition(apart, -1 - few, axis=None)[-1 - few])
        over = max(rest, over / tolerances.OUTLIER_FACTOR)
    scale = float(numpy.abs(x).max())
    found = Output(name, EQUAL, None, difference, difference / scale if scale else None)
    spare = absolute + (0.0 if scale else tolerances.FLOOR)
    found.needed = max(0.0, over - spare) / scale if scale else None
    if over <= spare:
        found.needed = 0.0
    limit = spare + relative * scale
    if over > limit and tail is not None and more is not None:
        beyond = int((apart > limit).sum())
        most = numpy.sort(more, axis=None)[::-1]
        most[: tail.size] = numpy.minimum(most[: tail.size], tail)
        largest = numpy.sort(whole, axis=None)[::-1]
        if beyond <= tail.size and _no_larger(largest, most + limit):
            text = f"{beyond} of {x.size} elements beyond what rounding alone does to them"
            found.detail, found.needed = f"{text}; it moves others as far", 0.0
            return found
    if over > limit:
        found.status = DIFFERS
        place = numpy.unravel_index(int(apart.argmax()), x.shape)
        at = ",".join(str(int(n)) for n in place)
        found.detail = f"[{at}]: {float(x[place]):.7g} became {float(y[place]):.7g}"
    elif few:
        beyond = int((apart > limit).sum())
        if beyond:
            found.detail = f"{beyond} of {x.size} elements beyond {limit:.1e}"
    return found


def _no_larger(largest: Array, allowed: Array) -> bool:
    """Whether differences are within what is allowed to as many, both the largest first. How many
    are so large is chance: as many as MANY are counted, more are taken to be all."""
    rank = 0
    for count in range(1, min(MANY, allowed.size) + 1):
        if rank >= largest.size or largest[rank] > allowed[count - 1]:
            break
        rank = most_by_chance(count)
    else:
        rest = largest[rank:]
        return bool((rest <= allowed[MANY : MANY + rest.size]).all())
    return rank >= largest.size


@functools.cache
def most_by_chance(expected: int) -> int:
    """How many rare events may be counted where so many are expected, by Poisson's law: more are
    less likely than FALSE_ALARM. A run that is measured shows one such count, and another run, or
    an equal program, has more than that one about every second time."""
    if expected < 1:
        return 0
    found = expected + 20 + int(12 * expected**0.5)  # what is above is less than 1e-9 likely
    likely = 0.0
    while True:
        log = found * math.log(expected) - expected - math.lgamma(found + 1)
        likely += math.exp(log)
        if likely >= FALSE_ALARM:
            return found
        found -= 1


def update_noise(
    initial: Array | None,
    after: Array | None,
    gradient: Array | None,
    other: Array | None,
    later: Array | None = None,
) -> Array | None:
    """How far a variable's first update may be apart, element by element, because the two
    gradients are.

    An optimizer's first update of an element has at most the relative error of the element's
    gradient (SGD has all of it, Adam and Adagrad less, unless the gradient is near their
    epsilon). Rung 5 has judged the gradients; here counts how far they really are apart.
    Where an element's gradient is no larger than that, its update can be anything.

    Args:
      after, later: the reference's weights after the update, and the target's.
      gradient, other: the reference's gradient, and the target's.
    """
    import numpy

    if initial is None or after is None or gradient is None or other is None:
        return None
    if not initial.shape == after.shape == gradient.shape == other.shape or not after.size:
        return None
    g = numpy.abs(gradient.astype("float64"))
    apart = GRADIENT_SHARE * numpy.abs(gradient.astype("float64") - other).max()
    share = numpy.where(g > apart, apart / numpy.where(g > apart, g, 1.0), 1.0)
    begin = initial.astype("float64")
    update = numpy.abs(after.astype("float64") - begin)
    if later is not None and later.shape == update.shape:
        # Of a gradient that is zero on one side, and rounding on the other.
        update = numpy.maximum(update, numpy.abs(later.astype("float64") - begin))
    noise: Array = share * update
    return noise


def identical(a: Array, b: Array) -> bool:
    """Equal as numbers of the narrower type."""
    import numpy

    kind = min(a.dtype, b.dtype, key=lambda t: t.itemsize)
    return bool(numpy.array_equal(a.astype(kind), b.astype(kind)))
