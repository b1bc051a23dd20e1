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
* a time by the clock (``0:00:01``, a ``timedelta``) is none of its results;
* what Keras says of an export is its own.

Then the lines of both are aligned. Of two lines in one place numbers are compared where their text
agrees, and text where that is all that differs: a version, an address, a class of a library's
(``texts.py``) are told. A line that one side alone has is a difference, unless TensorFlow called
the function that printed it while it built a graph: how often it does that is no result.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from migrate_mgpu.parity.compare import texts
from migrate_mgpu.parity.compare.configuration import Difference
from migrate_mgpu.parity.compare.tolerances import FLOOR
from migrate_mgpu.parity.runs.printing import NOTHING_KNOWN, Known

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
    r"""|\bTensorSpec\(shape="""  # what stands for one in a function of TF2
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


# What Keras 2 and 3 print of an export, line by line.
_EXPORT = re.compile(r"Saved artifact at '.*'\. The following endpoints are available:")
_OF_EXPORT = re.compile(
    r"\* Endpoint '.*'|Args:|Output Type:|Captures:"
    r"|  .*\bTensorSpec\(.*|  (?:Dict|List|Tuple)\[.*|  None"
)


@dataclass
class _Line:
    """A line of a program's own.

    Attributes:
      number: of the program's own lines, from 1.
      within: how the line reads with ``<T>`` for the tensors that it shows with their values.
      built: whether TensorFlow called what printed it, to build a graph.
    """

    number: int
    text: str
    within: str = ""
    built: bool = False


def lines(text: str) -> list[str]:
    """The program's own lines, with even spacing; an array is one line."""
    return [line.text for line in _numbered(text)[0]]


def _numbered(text: str, built: frozenset[int] = frozenset()) -> tuple[list[_Line], set[str]]:
    """The same, each with the number that it has where arrays have several lines; and how the
    lines that show parts of a graph read without those.

    Args:
      built: the lines, from 0, that were printed while a graph was built.
    """
    found: list[_Line] = []
    open_brackets = 0
    own, of_graphs = _own_lines(text, built)
    for line in own:
        if open_brackets > 0 and not _BESIDE_NUMBERS.sub("", _NUMBER.sub("", line.text)):
            found[-1].text = f"{found[-1].text} {line.text}".replace("[ ", "[")
            open_brackets += line.text.count("[") - line.text.count("]")
            continue
        found.append(line)
        array = _OPEN_ARRAY.search(line.text)
        open_brackets = array.group().count("[") - array.group().count("]") if array else 0
    return found, of_graphs


def _raw_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines as terminals show them, with the number of the line end before them."""
    pieces = _TERMINAL.sub("", text).split("\n")
    if pieces and not pieces[-1]:
        pieces.pop()
    for number, piece in enumerate(pieces):
        for line in piece.splitlines() or [""]:
            yield number, line


def _own_lines(text: str, built: frozenset[int]) -> tuple[list[_Line], set[str]]:
    kept: list[_Line] = []
    of_graphs: set[str] = set()
    above = "-"  # the line before, as it was printed
    exporting = False
    raw = list(_raw_lines(text))
    for at, (number, line) in enumerate(raw):
        rest = _BAR.sub("", line)
        progress = bool(_PROGRESS.fullmatch(rest.strip()))
        if (progress or rest != line) and kept and not kept[-1].text and not above.strip():
            kept.pop()  # a bar begins with a line end
        above = line
        if progress or (rest != line and not rest.strip()):
            continue
        following = raw[at + 1][1] if at + 1 < len(raw) else ""
        blank = not rest.strip() and following.startswith("* Endpoint '")
        exporting = bool(
            _EXPORT.fullmatch(rest) or (exporting and (blank or _OF_EXPORT.fullmatch(rest)))
        )
        if exporting or _DIAGNOSTIC.fullmatch(rest.strip()):
            continue
        if _GRAPH.search(rest):
            of_graphs.add(_even(texts.without_tensors(rest)))
            continue
        line = _DEVICE_OF_RUN.sub(r"\1)", _XLA_DEVICE.sub("", rest))
        line = _CLOCK.sub("h:mm:ss", _NUMPY_SCALAR.sub(r"\1", line))
        shown = texts.with_values(line)
        within = _even(texts.without_tensors(line)) if shown != line else ""
        line = _DICTIONARY.sub(_in_order, _even(texts.plain_namespace(shown)))
        kept.append(_Line(len(kept) + 1, line, within, number in built))
    for place, kept_line in enumerate(kept, start=1):
        kept_line.number = place
    return kept, of_graphs


def _even(line: str) -> str:
    line = re.sub(r"\s+", " ", line.strip())
    return re.sub(r"(?<=[\[(]) | (?=[\]),])", "", line)


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


@dataclass
class Compared:
    """What came of comparing two outputs.

    Attributes:
      differences: one for each line that differs, is missing or was added.
      told: lines of which only what is no result differs, each with what that is.
      built: how many lines one side alone has that were printed while a graph was built.
      equal: how many lines are equal in what is compared.
    """

    differences: list[Difference] = field(default_factory=list)
    told: list[tuple[Difference, str]] = field(default_factory=list)
    built: int = 0
    equal: int = 0


def compare(
    reference: str,
    target: str,
    relative: float = RELATIVE_TOLERANCE,
    absolute: float = ABSOLUTE_TOLERANCE,
    noise: Noise | None = None,
    rounded: bool = False,
    moved: Moved | None = None,
) -> list[Difference]:
    """The lines that differ, as ``printed`` differences, see ``outputs``; empty when none does."""
    return outputs(reference, target, relative, absolute, noise, rounded, moved).differences


def outputs(
    reference: str,
    target: str,
    relative: float = RELATIVE_TOLERANCE,
    absolute: float = ABSOLUTE_TOLERANCE,
    noise: Noise | None = None,
    rounded: bool = False,
    moved: Moved | None = None,
    known: tuple[Known, Known] = (NOTHING_KNOWN, NOTHING_KNOWN),
) -> Compared:
    """Align two outputs and compare them line by line.

    With ``rounded`` a number that was printed with few decimals may differ by one in the last
    of them: both sides may have been rounded apart. Numbers in ``noise`` are not compared, those
    in ``moved`` may be apart by as much more.

    Whole numbers must be equal, others within ``absolute + relative * |reference|``; an array's
    are measured against its largest, and what is printed again and again, such as a loss, may
    differ by a ten-millionth of the largest that was printed there. A NaN equals nothing, itself
    included: a result that is none is not a match.
    """
    before, of_graphs = _numbered(reference, known[0].built)
    after, _ = _numbered(target, known[1].built)
    allowed = _numbers([line.text for line in before], moved or {})
    whole = {line for line, place in noise or () if place == WHOLE}
    found = Compared()

    def key(line: _Line) -> str:
        return _NUMBER.sub("#", texts.without_tokens(line.text))

    def pair(i: int, other: _Line) -> None:
        if i in whole:
            return
        one = before[i]
        ignored = {place for line, place in noise or () if line == i}
        same = texts.compare(one.text, other.text, known, _NUMBER, ignored)
        if same is None:
            shown = _excerpts(one.text, other.text)
            found.differences.append(Difference("printed", *shown, f"line {one.number}"))
            return
        for place, left, right in same.numbers:
            limits = allowed[i][place]
            spare = absolute + limits.spare
            both = left.group(), right.group()
            if place in ignored or _same_number(*both, relative, spare, rounded, limits.scale):
                continue
            if abs(float(both[0]) - float(both[1])) <= limits.moved:  # whole numbers, too
                continue
            shown = _excerpts(one.text, other.text, left.span(), right.span())
            found.differences.append(Difference("printed", *shown, f"line {one.number}"))
            return
        reasons = [*same.reasons, *["a tensor"] * (bool(one.within) != bool(other.within))]
        if reasons:
            difference = Difference(
                "printed", *_excerpts(one.text, other.text), f"line {one.number}"
            )
            found.told.append((difference, ", ".join(dict.fromkeys(reasons))))
        else:
            found.equal += 1

    # What is printed while a graph is built comes in the library's own time, with the same text
    # each time: it is no part of the order in which results come.
    built = {line.text for line in (*before, *after) if line.built}
    once = [n for n, line in enumerate(before) if line.built or line.text in built - {""}]
    again = [line for line in after if line.built or line.text in built - {""}]
    found.built = _alone([before[n].text for n in once], [line.text for line in again])
    texts_of_both = {before[n].text for n in once}, {line.text for line in again}
    # A text that the other side has with another number is a result of it.
    changed = {key(line): line for line in again if line.text not in texts_of_both[0]}
    for n in once:
        other = (
            changed.pop(key(before[n]), None) if before[n].text not in texts_of_both[1] else None
        )
        if other is not None:
            pair(n, other)
    apart = set(once)
    rest = [n for n in range(len(before)) if n not in apart]
    others = [line for line in after if not (line.built or line.text in built - {""})]
    one_keys: list[object] = [("noise", n) if n in whole else key(before[n]) for n in rest]
    for i, i_end, j, j_end in _aligned(one_keys, [key(line) for line in others]):
        left, right = rest[i:i_end], others[j:j_end]
        if one_keys[i:i_end] != [key(b) for b in right]:
            right = [b for b in right if b.within not in of_graphs]
            if sum(not before[n].text for n in left) != sum(not b.text for b in right):
                left = [n for n in left if before[n].text]  # nothing is no result
                right = [b for b in right if b.text]
        for n, other in zip(left, right):
            pair(n, other)
        both = min(len(left), len(right))
        end = "end of output"
        for n in left[both:]:
            shown = _excerpts(before[n].text, end if j_end == len(others) else "no line")
            found.differences.append(Difference("printed", *shown, f"line {before[n].number}"))
        for other in right[both:]:
            shown = _excerpts(end if i_end == len(rest) else "no line", other.text)
            found.differences.append(Difference("printed", *shown, f"line {other.number}"))
    return found


def _alone(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines one of the two has and the other has not."""
    before, after = Counter(one), Counter(other)
    return sum((before - after).values()) + sum((after - before).values())


# Comparisons of lines that an alignment may take; where it takes more, places decide.
_MOST_COMPARISONS = 4_000_000


def _aligned(
    before: Sequence[object], after: Sequence[object]
) -> Iterator[tuple[int, int, int, int]]:
    """Parts of both, in order, that are one another's: equal ones, or what stands between them."""
    begin = 0
    while begin < min(len(before), len(after)) and before[begin] == after[begin]:
        begin += 1
    end = 0
    most = min(len(before), len(after)) - begin
    while end < most and before[len(before) - 1 - end] == after[len(after) - 1 - end]:
        end += 1
    one, other = before[begin : len(before) - end], after[begin : len(after) - end]
    if begin:
        yield 0, begin, 0, begin
    counts = Counter(other)
    if sum(counts[key] for key in one) > _MOST_COMPARISONS:
        yield begin, begin + len(one), begin, begin + len(other)
    elif one or other:
        matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
        for _, i, i_end, j, j_end in matcher.get_opcodes():
            yield begin + i, begin + i_end, begin + j, begin + j_end
    if end:
        yield len(before) - end, len(before), len(after) - end, len(after)


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
