"""Compare what two programs print: text exactly, numbers within a tolerance.

Both are brought to one form first, each step for a difference of the runtimes that is
none of the programs:

* TensorFlow 1.15 prints its device mapping, and every TensorFlow the placements of
  ``log_device_placement``, on standard output;
* a line that shows a tensor of a graph, its shape where a size is not known, or a variable
  without its value, is of code that TF2 has not;
* NumPy changed its spacing in 1.14 (``[[ 22.  28.]``) and its scalars' form in 2.0
  (``np.float32(1.0)``);
* a dictionary of numbers is the same in any order: an Estimator's ``evaluate`` sorts its
  results, Keras gives the loss first;
* an array of several lines is one line: where NumPy breaks them follows from the digits;
* what a session says of its devices (``list_devices``) has a number of the run, their memory,
  and in 1.15 each device once more for XLA;
* a time by the clock (``0:00:01``, a ``timedelta``) is none of its results.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from migrate_mgpu.parity.compare.configuration import Difference
from migrate_mgpu.parity.compare.tolerances import FLOOR

RELATIVE_TOLERANCE = 1e-5
ABSOLUTE_TOLERANCE = 1e-7

_DEVICE = r"/job:\S+/replica:\d+/task:\d+/device:\w+:\d+"
_DIAGNOSTIC = re.compile(
    r"Device mapping:( no known devices\.)?"
    rf"|{_DEVICE} -> .*"  # the mapping's entries
    rf"|\S+: \(\w+\): ?{_DEVICE}"  # a placement
)
_XLA_DEVICE = re.compile(r"(?:, )?_DeviceAttributes\([^(),]*, XLA_\w+, [^()]*\)")
_DEVICE_OF_RUN = re.compile(r"(_DeviceAttributes\([^(),]*, \w+), \d+, -?\d+\)")
# What a part of a graph is called: it tells nothing of what that computes.
_GRAPH = re.compile(
    r"""\bTensor\("[^"\s]+", (?:shape|dtype)=|<tf\.Variable '\S+' [^<>]*dtype=\w+>"""
    r"""|<tf\.Tensor '[^'\s]+:\d+' shape="""  # in a list
    r"""|[\[(](?:\d+, )*(?:None|\?), (?:\d+|None|\?)(?:, (?:\d+|None|\?))*[\])]"""  # a shape
    r"""|[\[(](?:\d+, )+(?:None|\?)[\])]"""
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
_CLOCK = re.compile(r"(?<![\w.:])(?:\d+ days?, )?\d{1,2}:[0-5]\d:[0-5]\d(?:\.\d+)?(?![\w:])")
_NUMPY_SCALAR = re.compile(r"\bnp\.(?:float|int|uint|bool|str)\w*\(([^()]*)\)")
_ITEM = r"'[^'\\]*': [^,'{}\[\]]+"
_DICTIONARY = re.compile(rf"{{{_ITEM}(?:, {_ITEM})+}}")
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)(?![\w])", re.IGNORECASE
)
# An array that is continued on the next line, and what its lines have beside numbers.
# A list of arrays names them and their types: `[array([1., 2.], dtype=float32), 3]`.
_WORDS = r"\.\.\.|array\(|dtype=\w+"
_OPEN_ARRAY = re.compile(rf"\[(?:{_NUMBER.pattern}|[\s,\[\])]|{_WORDS})*$", re.IGNORECASE)
_BESIDE_NUMBERS = re.compile(rf"[\s,\[\])]|{_WORDS}")


def lines(text: str) -> list[str]:
    """The program's own lines, with even spacing; an array is one line."""
    return [line for _, line in _numbered(text)]


def _numbered(text: str) -> list[tuple[int, str]]:
    """The same, each with the number that it has where arrays have several lines."""
    found: list[tuple[int, str]] = []
    open_brackets = 0
    for number, line in enumerate(_own_lines(text), start=1):
        if open_brackets > 0 and not _BESIDE_NUMBERS.sub("", _NUMBER.sub("", line)):
            begin, first = found[-1]
            found[-1] = (begin, f"{first} {line}".replace("[ ", "["))
            open_brackets += line.count("[") - line.count("]")
            continue
        found.append((number, line))
        array = _OPEN_ARRAY.search(line)
        open_brackets = array.group().count("[") - array.group().count("]") if array else 0
    return found


def _own_lines(text: str) -> list[str]:
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
        if not _DIAGNOSTIC.fullmatch(rest.strip()) and not _GRAPH.search(rest):
            line = _DEVICE_OF_RUN.sub(r"\1)", _XLA_DEVICE.sub("", rest))
            line = _CLOCK.sub("h:mm:ss", _NUMPY_SCALAR.sub(r"\1", line))
            line = re.sub(r"\s+", " ", line.strip())
            line = re.sub(r"(?<=[\[(]) | (?=[\]),])", "", line)
            kept.append(_DICTIONARY.sub(_in_order, line))
    return kept


def _in_order(dictionary: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(dictionary.group()[1:-1].split(", "))) + "}"


# Numbers (line, place in it) that differ from run to run of one program: times, rates.
# Of a line whose text differs, a path or a date, the place is WHOLE.
Noise = frozenset[tuple[int, int]]
WHOLE = -1


def skeleton(text: str) -> list[str]:
    """The program's lines without their numbers."""
    return [_NUMBER.sub("#", line) for line in lines(text)]


def noise(one: str, other: str) -> Noise | None:
    """What differs between two runs of the reference, beyond rounding; None when the runs
    have not as many lines.

    A whole number that is in most lines of one text another is so in all of them: a rate may be
    the same twice by chance.
    """
    first, second = lines(one), lines(other)
    if len(first) != len(second):
        return None
    found = set()
    whole: dict[tuple[str, int], list[int]] = {}  # lines, by their text and a place in it
    for number, (a, b) in enumerate(zip(first, second)):
        text = _NUMBER.sub("#", a)
        if text != _NUMBER.sub("#", b):
            found.add((number, WHOLE))
            continue
        for place, pair in enumerate(zip(_NUMBER.findall(a), _NUMBER.findall(b))):
            if not _same_number(*pair, RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE, True):
                found.add((number, place))
            if all(one.isdigit() for one in pair) and any(letter.isalpha() for letter in text):
                whole.setdefault((text, place), []).append(number)
    for (_, place), numbers in whole.items():
        everywhere = {(number, place) for number in numbers}
        if 2 * len(everywhere & found) > len(everywhere):
            found |= everywhere
    return frozenset(found)


def compare(
    reference: str,
    target: str,
    relative: float = RELATIVE_TOLERANCE,
    absolute: float = ABSOLUTE_TOLERANCE,
    noise: Noise | None = None,
    rounded: bool = False,
    moved: Moved | None = None,
) -> list[Difference]:
    """The first line that differs, as a ``printed`` difference; empty when none does.

    With ``rounded`` a number that was printed with few decimals may differ by one in the last
    of them: both sides may have been rounded apart. Numbers in ``noise`` are not compared, those
    in ``moved`` may be apart by as much more.

    Whole numbers must be equal, others within ``absolute + relative * |reference|``; an array's
    are measured against its largest, and what is printed again and again, such as a loss, may
    differ by a ten-millionth of the largest that was printed there. A NaN equals nothing, itself
    included: a result that is none is not a match.
    """
    before, after = _numbered(reference), _numbered(target)
    numbers = _numbers([line for _, line in before], moved or {})
    for place, ((number, one), (_, other)) in enumerate(zip(before, after)):
        ignored = {at for line, at in noise or () if line == place}
        if WHOLE in ignored:
            continue
        if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
            return [Difference("printed", *_excerpts(one, other), f"line {number}")]
        found = zip(numbers[place], _NUMBER.finditer(one), _NUMBER.finditer(other))
        for at, (allowed, left, right) in enumerate(found):
            spare = absolute + allowed.spare
            both = left.group(), right.group()
            if at in ignored or _same_number(*both, relative, spare, rounded, allowed.scale):
                continue
            if abs(float(both[0]) - float(both[1])) <= allowed.moved:  # whole numbers, too
                continue
            shown = _excerpts(one, other, left.span(), right.span())
            return [Difference("printed", *shown, f"line {number}")]
    if len(before) != len(after):
        at = min(len(before), len(after))
        one = before[at][1] if at < len(before) else "end of output"
        other = after[at][1] if at < len(after) else "end of output"
        rest = before[at:] or after[at:]
        return [Difference("printed", *_excerpts(one, other), f"line {rest[0][0]}")]
    return []


# How far numbers (line, place in it) of two runs are apart that differ in their rounding alone.
Moved = dict[tuple[int, int], float]


def moved(one: str, other: str) -> Moved | None:
    """That of two outputs; None when they have not the same text or whole numbers."""
    first, second = lines(one), lines(other)
    if [_NUMBER.sub("#", a) for a in first] != [_NUMBER.sub("#", b) for b in second]:
        return None
    found: Moved = {}
    for line, (a, b) in enumerate(zip(first, second)):
        for place, (left, right) in enumerate(zip(_NUMBER.findall(a), _NUMBER.findall(b))):
            apart = abs(float(left) - float(right))
            if apart > 0:
                found[line, place] = apart
    return found


@dataclass
class _Allowed:
    """What a printed number is measured against, and may differ by in addition."""

    scale: float
    spare: float
    moved: float


def _numbers(before: Sequence[str], moved: Moved) -> list[list[_Allowed]]:
    """For each line that of its numbers."""
    largest: dict[tuple[str, int], float] = {}
    apart: dict[tuple[str, int], float] = {}
    found = []
    for line, text in enumerate(before):
        skeleton = _NUMBER.sub("#", text)
        matches = list(_NUMBER.finditer(text))
        values = [float(one.group()) for one in matches]
        groups = _groups(text, [one.start() for one in matches])
        for place, (value, group) in enumerate(zip(values, groups)):
            key = skeleton, group
            if math.isfinite(value):
                largest[key] = max(largest.get(key, 0.0), abs(value))
            apart[key] = max(apart.get(key, 0.0), moved.get((line, place), 0.0))
        scales: dict[int, float] = {}
        for value, group in zip(values, groups):
            if math.isfinite(value):
                scales[group] = max(scales.get(group, 0.0), abs(value))
        # Rounding grows: what it did to this line before, it may do here.
        found.append(
            [
                (
                    _Allowed(scales.get(g, 0.0), apart[skeleton, g], apart[skeleton, g]),
                    (skeleton, g),
                )
                for g in groups
            ]
        )
    for entries in found:
        for allowed, key in entries:
            allowed.spare += FLOOR * largest.get(key, 0.0)
    return [[allowed for allowed, _ in entries] for entries in found]


def _groups(line: str, starts: Sequence[int]) -> list[int]:
    """For each number of a line what it shares with its array's others; alone, its place."""
    found, depth, array, at = [], 0, 0, 0
    for place, start in enumerate(starts):
        for letter in line[at:start]:
            if letter == "[":
                array -= depth == 0
                depth += 1
            elif letter == "]":
                depth = max(0, depth - 1)
        at = start
        found.append(array if depth else place)
    return found


_LONGEST = 160  # of a line that is shown whole
_AROUND = 40


def _excerpts(
    one: str, other: str, left: tuple[int, int] = (0, 0), right: tuple[int, int] = (0, 0)
) -> tuple[str, str]:
    """Two lines as they are shown: of long ones what is around the numbers that differ."""
    return _excerpt(one, left), _excerpt(other, right)


def _excerpt(line: str, span: tuple[int, int]) -> str:
    if len(line) <= _LONGEST:
        return line
    begin, end = max(0, span[0] - _AROUND), span[1] + _AROUND
    return "... " * (begin > 0) + line[begin:end] + " ..." * (end < len(line))


def _same_number(
    left: str,
    right: str,
    relative: float,
    absolute: float,
    rounded: bool,
    scale: float | None = None,
) -> bool:
    if left.lstrip("+-").isdigit() and right.lstrip("+-").isdigit():
        return int(left) == int(right)
    spare = max(absolute, _last_digit(left, right) if rounded else 0.0)
    one, other = float(left), float(right)
    if math.isinf(one) or math.isinf(other):
        return one == other
    return abs(one - other) <= spare + relative * max(abs(one), scale or 0.0)  # false for NaN


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
