"""Compare what two programs print: text exactly, numbers within a tolerance.

Both are brought to one form first, each step for a difference of the runtimes that is
none of the programs:

* TensorFlow 1.15 prints its device mapping, and every TensorFlow the placements of
  ``log_device_placement``, on standard output;
* NumPy changed its spacing in 1.14 (``[[ 22.  28.]``) and its scalars' form in 2.0
  (``np.float32(1.0)``).
"""

from __future__ import annotations

import math
import re

from migrate_mgpu.parity.configuration import Difference

RELATIVE_TOLERANCE = 1e-5
ABSOLUTE_TOLERANCE = 1e-7

_DEVICE = r"/job:\S+/replica:\d+/task:\d+/device:\w+:\d+"
_DIAGNOSTIC = re.compile(
    r"Device mapping:( no known devices\.)?"
    rf"|{_DEVICE} -> .*"  # the mapping's entries
    rf"|\S+: \(\w+\): ?{_DEVICE}"  # a placement
)
_NUMPY_SCALAR = re.compile(r"\bnp\.(?:float|int|uint|bool|str)\w*\(([^()]*)\)")
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)(?![\w])", re.IGNORECASE
)


def lines(text: str) -> list[str]:
    """The program's own lines, with even spacing."""
    kept = []
    for line in text.splitlines():
        if not _DIAGNOSTIC.fullmatch(line.strip()):
            line = _NUMPY_SCALAR.sub(r"\1", line)
            line = re.sub(r"\s+", " ", line.strip())
            kept.append(re.sub(r"(?<=[\[(]) | (?=[\])])", "", line))
    return kept


def compare(
    reference: str,
    target: str,
    relative: float = RELATIVE_TOLERANCE,
    absolute: float = ABSOLUTE_TOLERANCE,
) -> list[Difference]:
    """The first line that differs, as a ``printed`` difference; empty when none does.

    Whole numbers must be equal, others within ``absolute + relative * |reference|``.
    A NaN equals nothing, itself included: a result that is none is not a match.
    """
    before, after = lines(reference), lines(target)
    for number, (one, other) in enumerate(zip(before, after), start=1):
        if not _same(one, other, relative, absolute):
            return [Difference("printed", one, other, f"line {number}")]
    if len(before) != len(after):
        at = min(len(before), len(after))
        one = before[at] if at < len(before) else "end of output"
        other = after[at] if at < len(after) else "end of output"
        return [Difference("printed", one, other, f"line {at + 1}")]
    return []


def _same(one: str, other: str, relative: float, absolute: float) -> bool:
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    for left, right in zip(_NUMBER.findall(one), _NUMBER.findall(other)):
        if left.lstrip("+-").isdigit() and right.lstrip("+-").isdigit():
            if int(left) != int(right):
                return False
        elif not _close(float(left), float(right), relative, absolute):
            return False
    return True


def _close(left: float, right: float, relative: float, absolute: float) -> bool:
    if math.isinf(left) or math.isinf(right):
        return left == right
    return abs(left - right) <= absolute + relative * abs(left)  # false for NaN
