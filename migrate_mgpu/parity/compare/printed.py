"""Compare what two programs print: text exactly, numbers within a tolerance.

Both are brought to one form first, each step for a difference of the runtimes that is
none of the programs:

* TensorFlow 1.15 prints its device mapping, and every TensorFlow the placements of
  ``log_device_placement``, on standard output;
* NumPy changed its spacing in 1.14 (``[[ 22.  28.]``) and its scalars' form in 2.0
  (``np.float32(1.0)``);
* a dictionary of numbers is the same in any order: an Estimator's ``evaluate`` sorts its
  results, Keras gives the loss first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection

from migrate_mgpu.parity.compare.configuration import Difference

RELATIVE_TOLERANCE = 1e-5
ABSOLUTE_TOLERANCE = 1e-7

_DEVICE = r"/job:\S+/replica:\d+/task:\d+/device:\w+:\d+"
_DIAGNOSTIC = re.compile(
    r"Device mapping:( no known devices\.)?"
    rf"|{_DEVICE} -> .*"  # the mapping's entries
    rf"|\S+: \(\w+\): ?{_DEVICE}"  # a placement
)
# Keras' progress, whose form is each Keras' own; its numbers are compared as history.
_PROGRESS = re.compile(
    r"Epoch \d+/\d+"
    r"|\d+/(\d+|Unknown) - \d+m?s( - .*)?"  # verbose=2
    r"|Train (on (\d+ samples|None steps)|for \d+ steps)(, validate (on|for) \d+ (samples|steps))?"
)
# verbose=1: a bar has no line end until its epoch has ended, so a callback's or an
# exception's text stands on its line.
_BAR = re.compile(
    r" *\d+/(?:\d+ (?:\[[=>.]*\]|━+)|Unknown)"
    r"(?:(?: -)?(?: ETA:)? \d+(?:s|:\d\d(?::\d\d)?))?(?: \d+[mu]?s/\w+)?"
    r"(?: - [^:\n]+: (?:-?\d+\.\d{4}(?:e[-+]\d\d)?|-?inf|nan))*"
)
_TERMINAL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\x08")  # colours, and steps back
_NUMPY_SCALAR = re.compile(r"\bnp\.(?:float|int|uint|bool|str)\w*\(([^()]*)\)")
_ITEM = r"'[^'\\]*': [^,'{}\[\]]+"
_DICTIONARY = re.compile(rf"{{{_ITEM}(?:, {_ITEM})+}}")
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)(?![\w])", re.IGNORECASE
)


def lines(text: str) -> list[str]:
    """The program's own lines, with even spacing."""
    kept: list[str] = []
    above = "-"  # the line before, as it was printed
    for line in _TERMINAL.sub("", text).splitlines():
        rest = _BAR.sub("", line)
        progress = bool(_PROGRESS.fullmatch(rest.strip()))
        if (progress or rest != line) and kept and not kept[-1] and not above.strip():
            kept.pop()  # a bar begins with a line end
        above = line
        if progress or (rest != line and not rest.strip()):
            continue
        if not _DIAGNOSTIC.fullmatch(rest.strip()):
            line = _NUMPY_SCALAR.sub(r"\1", rest)
            line = re.sub(r"\s+", " ", line.strip())
            line = re.sub(r"(?<=[\[(]) | (?=[\])])", "", line)
            kept.append(_DICTIONARY.sub(_in_order, line))
    return kept


def _in_order(dictionary: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(dictionary.group()[1:-1].split(", "))) + "}"


# Numbers (line, place in it) that differ between two runs of one program: times, rates.
# Of a line whose text differs, a path or a date, the place is WHOLE.
Noise = frozenset[tuple[int, int]]
WHOLE = -1


def skeleton(text: str) -> list[str]:
    """The program's lines without their numbers."""
    return [_NUMBER.sub("#", line) for line in lines(text)]


def noise(one: str, other: str) -> Noise | None:
    """What differs between two runs of the reference, beyond rounding; None when the runs
    have not as many lines."""
    first, second = lines(one), lines(other)
    if len(first) != len(second):
        return None
    found = set()
    for number, (a, b) in enumerate(zip(first, second)):
        if _NUMBER.sub("#", a) != _NUMBER.sub("#", b):
            found.add((number, WHOLE))
            continue
        for place, pair in enumerate(zip(_NUMBER.findall(a), _NUMBER.findall(b))):
            if not _same_number(*pair, RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE, True):
                found.add((number, place))
    return frozenset(found)


def compare(
    reference: str,
    target: str,
    relative: float = RELATIVE_TOLERANCE,
    absolute: float = ABSOLUTE_TOLERANCE,
    noise: Noise | None = None,
    rounded: bool = False,
) -> list[Difference]:
    """The first line that differs, as a ``printed`` difference; empty when none does.

    With ``rounded`` a number that was printed with few decimals may differ by one in the last
    of them: both sides may have been rounded apart. Numbers in ``noise`` are not compared.

    Whole numbers must be equal, others within ``absolute + relative * |reference|``.
    A NaN equals nothing, itself included: a result that is none is not a match.
    """
    before, after = lines(reference), lines(target)
    for number, (one, other) in enumerate(zip(before, after), start=1):
        ignored = {place for line, place in noise or () if line == number - 1}
        if not _same(one, other, relative, absolute, ignored, rounded):
            return [Difference("printed", one, other, f"line {number}")]
    if len(before) != len(after):
        at = min(len(before), len(after))
        one = before[at] if at < len(before) else "end of output"
        other = after[at] if at < len(after) else "end of output"
        return [Difference("printed", one, other, f"line {at + 1}")]
    return []


def _same(
    one: str,
    other: str,
    relative: float,
    absolute: float,
    ignored: Collection[int],
    rounded: bool,
) -> bool:
    if WHOLE in ignored:
        return True
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    return all(
        place in ignored or _same_number(left, right, relative, absolute, rounded)
        for place, (left, right) in enumerate(zip(_NUMBER.findall(one), _NUMBER.findall(other)))
    )


def _same_number(left: str, right: str, relative: float, absolute: float, rounded: bool) -> bool:
    if left.lstrip("+-").isdigit() and right.lstrip("+-").isdigit():
        return int(left) == int(right)
    spare = max(absolute, _last_digit(left, right) if rounded else 0.0)
    return _close(float(left), float(right), relative, spare)


def _last_digit(left: str, right: str) -> float:
    """One unit of the last digit, where both were printed with the same few decimals.

    Not below four decimals, where rounding apart is rare and a real difference is not; not
    from six digits on, which show what the tolerance speaks of.
    """
    decimals = len(left.partition(".")[2])
    digits = re.sub(r"\D", "", left).lstrip("0")
    plain = re.fullmatch(r"[-+]?\d*\.\d+", left) and re.fullmatch(r"[-+]?\d*\.\d+", right)
    if not plain or decimals < 4 or decimals != len(right.partition(".")[2]) or len(digits) >= 6:
        return 0.0
    return 1.01 * 10.0**-decimals


def _close(left: float, right: float, relative: float, absolute: float) -> bool:
    if math.isinf(left) or math.isinf(right):
        return left == right
    return abs(left - right) <= absolute + relative * abs(left)  # false for NaN
