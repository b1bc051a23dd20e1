"""Rung 9: which variables are in the files that programs save, by their names and shapes.

Old files load in the migrated program, and its files in the old one, where these are the same.
The values of weights are compared by rung 8. Those of slots, of averages and of single numbers are
compared here, in the last file: a slot under another variable's name loads without an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from migrate_mgpu.parity.compare import numeric, tolerances
from migrate_mgpu.parity.compare.outcome import DIFFERS, EQUAL, NOT_COMPARED, Output
from migrate_mgpu.parity.compare.rounding import SAVED, Rounding, is_lost
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs.sides import Side

if TYPE_CHECKING:
    from migrate_mgpu.parity.compare.numeric import Array

NAME = "checkpoints"
_MOST_TOLD = 3  # names
_SLOT = re.compile(r"(.+/[A-Z]\w*?)(?:_\d+)?")  # `w/Momentum`, `w/RMSProp_1`

Shapes = Mapping[str, Sequence[int]]


def compare(
    reference: Side,
    target: Side,
    stopped: bool = False,
    allowed: Tolerances | None = None,
    rounding: Rounding | None = None,
) -> list[Output]:
    """What both save, file by file; nothing where one of them saves no such files.

    Args:
      stopped: the programs were ended in the middle: one may have saved once more.
      rounding: what rounding alone changes in the reference, where that was measured.
    """
    before, after = _saved(reference.training), _saved(target.training)
    if not before or not after:
        return []
    found: dict[str, Output] = {}
    for number, (one, other) in enumerate(zip(before, after), start=1):
        output = _file(one, other, number)
        found.setdefault(output.status, output)
    files = "1 file" if len(before) == 1 else f"{len(before)} files"
    outputs = [one for status, one in found.items() if status != EQUAL]
    if len(before) != len(after) and not (stopped and abs(len(before) - len(after)) == 1):
        text = f"{files} became {len(after)}"
        outputs.append(Output(NAME, DIFFERS, detail=text))
    if len(before) == len(after):
        first, second = _saved_values(reference), _saved_values(target)
        steps = max((len(one["losses"][0]) for one in _series(reference)), default=0)
        outputs += _values(first, second, allowed or Tolerances(), steps, rounding)
        both = len(first.keys() & second.keys())
        files += f", and {both} values of slots, averages and numbers in the last one" * bool(both)
    if all(one.status == EQUAL for one in outputs):
        outputs.insert(0, Output(NAME, EQUAL, detail=files))
    return outputs


def _saved_values(side: Side) -> dict[str, Array]:
    return {key: a for key, a in side.load_arrays().items() if key.startswith(SAVED)}


def _series(side: Side) -> list[Mapping[str, Any]]:
    return [one for one in side.training.get("series", ()) if one["losses"]]


def _values(
    first: Mapping[str, Array],
    second: Mapping[str, Array],
    allowed: Tolerances,
    steps: int,
    rounding: Rounding | None,
) -> list[Output]:
    """Of the last file: what differs, and what rounding alone makes of some."""
    largest: dict[str, float] = {}
    for key, a in first.items():
        scale = float(abs(a).max()) if a.size else 0.0
        largest[_kind(key)] = max(scale, largest.get(_kind(key), 0.0))
    found, lost, moved = [], 0, 0
    for key in first.keys() & second.keys():
        if first[key].shape != second[key].shape:
            continue  # as is told of the file
        apart = rounding.arrays.get(key) if rounding else None
        floor = tolerances.GRADIENT_FLOOR * largest[_kind(key)]
        if apart is not None and is_lost(apart, first[key], floor):
            lost += 1
            continue
        judged = _judge(key, first[key], second[key], allowed, steps, floor, apart)
        if judged.status == DIFFERS and apart is not None and _is_as_far(key, first, second, apart):
            moved += 1
            continue
        if judged.status == DIFFERS:
            alike = [
                other
                for other, a in first.items()
                if _kind(other) == _kind(key)
                and _judge(key, a, second[key], allowed, steps, floor, apart).status == EQUAL
            ]
            if alike:
                judged.detail += f": the reference's {_told_name(alike[0])}"
            found.append(judged)
    found.sort(key=lambda output: output.name)
    if lost:
        text = f"rounding alone moves {lost} of the values in the last file"
        found.append(Output(NAME, NOT_COMPARED, detail=text))
    if moved:
        text = (
            f"rounding alone moves {moved} of the values in the last file as far, taken as a whole"
        )
        found.append(Output(NAME, EQUAL, detail=text))
    return found


def _is_as_far(
    key: str, first: Mapping[str, Array], second: Mapping[str, Array], apart: Array
) -> bool:
    """Whether an array as a whole is no further apart than rounding moves it, in other elements.

    A unit whose input is near zero is on in one run and off in another: which one is chance.
    """
    import numpy

    if first[key].dtype.kind != "f" or apart.shape != first[key].shape:
        return False
    distance = numpy.linalg.norm(first[key].astype("float64") - second[key].astype("float64"))
    return bool(distance <= numpy.linalg.norm(apart))


def _judge(
    key: str,
    a: Array,
    b: Array,
    allowed: Tolerances,
    steps: int,
    floor: float,
    apart: Array | None,
) -> Output:
    name = f"{NAME}/{_told_name(key)}"
    if a.dtype.kind != "f":
        return numeric.array(name, a, b, 0.0, 0.0)
    relative = allowed.relative(name, tolerances.GRADIENT, steps)
    few = tolerances.OUTLIERS
    return numeric.array(name, a, b, relative, allowed.absolute(name) + floor, apart, few)


def _told_name(key: str) -> str:
    return key[len(SAVED) :]


def _kind(key: str) -> str:
    """What a slot is called, without its variable."""
    return key.rpartition("/")[2]


def _saved(training: Mapping[str, Any]) -> list[Shapes]:
    known = training.get("saved_shapes", [])
    return [known[index] for index in training.get("saved", [])]


def _file(one: Shapes, other: Shapes, number: int) -> Output:
    """One file of each: their names, and the shapes of those that both have."""
    gone = sorted(one.keys() - other.keys())
    new = sorted(other.keys() - one.keys())
    shapes = [n for n in sorted(one.keys() & other.keys()) if [*one[n]] != [*other[n]]]
    kept = {name for name in gone if _is_kept_otherwise(name, new, one.keys() & other.keys())}
    bases = tuple(f"{_base(name)}/" for name in kept)
    own = {name for name in new if name.startswith(bases) or name.endswith("/steps")}
    parts = [
        _told([n for n in gone if n not in kept], "are in the reference's alone"),
        _told([n for n in new if n not in own], "are in the target's alone"),
        _told(shapes, "have another shape"),
    ]
    detail = "; ".join(part for part in parts if part)
    if detail:
        return Output(NAME, DIFFERS, number, detail=f"file {number}: {detail}")
    if kept or own:
        text = "Keras's optimizer keeps other values than TF1's, by names of its own"
        return Output(NAME, NOT_COMPARED, detail=text, told=True)
    return Output(NAME, EQUAL)


def _base(name: str) -> str:
    found = _SLOT.fullmatch(name)
    return found[1] if found is not None else name


def _is_kept_otherwise(name: str, new: Sequence[str], variables: Set[str]) -> bool:
    """Whether a slot of TF1's optimizer, of a variable of both, is `w/Momentum/velocity` now.

    An optimizer that minimizes in a scope has slots below it: `net/net/w/Momentum`.
    """
    base = _base(name)
    path = base.rpartition("/")[0]
    of_variable = any(path == one or path.endswith(f"/{one}") for one in variables)
    return of_variable and any(one.startswith(f"{base}/") for one in new)


def _told(names: Sequence[str], text: str) -> str:
    if not names:
        return ""
    shown = ", ".join(names[:_MOST_TOLD])
    more = f" and {len(names) - _MOST_TOLD} more" if len(names) > _MOST_TOLD else ""
    return f"{shown}{more} {text}"
