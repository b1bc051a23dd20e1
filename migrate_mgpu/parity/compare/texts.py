"""Text in a printed line that is no result of the program: what a library says of itself.

A version of TensorFlow's, the class that an Estimator became, an address, a file of the
interpreter's: two runtimes print them differently, and a migration may not make them equal. Each is
accepted by what is known of the side that printed it (``Known``), never by its looks alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from migrate_mgpu.parity.runs.printing import Known

LIBRARIES = frozenset(
    ("keras", "numpy", "tensorflow", "tensorflow_core", "tensorflow_estimator", "tf_keras")
)
_VERSION, _CLASS, _OBJECT, _PATH = "version", "class", "object", "path"
_TOKEN = re.compile(
    rf"(?P<{_VERSION}>(?<![\w.])v?\d+\.\d+\.\d+(?:[\w.+-]*\w)?)"
    rf"|(?P<{_CLASS}><class '(?P<name>[\w.]+)'>)"
    rf"|(?P<{_OBJECT}><(?:function )?(?P<what>[\w.<>]+)(?: object)? at 0x[0-9a-f]+>)"
    rf"|(?P<{_PATH}>(?<![\w/.:-])/[\w.+@%=~-]+(?:/[\w.+@%=~-]+)+)"
)
_REASONS = {
    _VERSION: "a version",
    _CLASS: "a class of a library",
    _OBJECT: "an object",
    _PATH: "a file of the interpreter",
}
# An eager tensor, or a variable of TF2, that is printed with its value.
_VALUE = re.compile(
    r"tf\.Tensor\((?P<plain>[^()]*), shape=\([\d, ]*\), dtype=\w+\)"
    r"|<tf\.(?:Tensor:|Variable '[^']*') shape=\([\d, ]*\),? dtype=\w+, numpy=(?P<own>[^()<>]*)>"
)
_TENSOR = re.compile(
    rf"{_VALUE.pattern}".replace("?P<plain>", "").replace("?P<own>", "")
    + r"""|Tensor\("[^"]*"(?:, shape=\([^)]*\))?(?:, dtype=\w+)?(?:, device=[^)]*)?\)"""
    r"|<tf\.(?:Variable|Tensor) '[^']*'[^<>]*>"
)
_NAMESPACE = re.compile(r"\bnamespace\((\w+=[^()]*)\)")


def with_values(line: str) -> str:
    """The line with the values of tensors for what shows them."""
    return _VALUE.sub(lambda m: (m["plain"] or m["own"] or "").strip(), line)


def without_tensors(line: str) -> str:
    return _TENSOR.sub("<T>", line)


def plain_namespace(line: str) -> str:
    """Parameters that were HParams of TF1's, whose text has no name and no spaces."""
    return _NAMESPACE.sub(lambda m: re.sub(r", (?=\w+=)", ",", m[1]), line)


def without_tokens(line: str) -> str:
    """A line as it is aligned: whatever a version, a class, an object or a path is."""
    return _TOKEN.sub(lambda m: f"<{_kind(m)}>", line)


@dataclass
class Same:
    """Two lines whose text agrees in what may be a result.

    Attributes:
      numbers: those to be compared: the place among the line's numbers, and both matches.
      reasons: what differs and is none.
    """

    numbers: list[tuple[int, re.Match[str], re.Match[str]]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


def compare(
    one: str,
    other: str,
    known: tuple[Known, Known],
    number: re.Pattern[str],
    ignored: Collection[int] = (),
) -> Same | None:
    """Whether two lines are the same but for their numbers and what is told; None when not.

    Args:
      number: what a number is.
      ignored: places of the first line's numbers that differ from run to run.
    """
    if number.sub("#", without_tokens(one)) != number.sub("#", without_tokens(other)):
        return None
    found = Same()
    tokens = [list(_TOKEN.finditer(line)) for line in (one, other)]
    numbers = [list(enumerate(number.finditer(line))) for line in (one, other)]
    for left, right in zip(*tokens):
        if left.group() == right.group():
            continue
        inside = {place for place, match in numbers[0] if _overlap(match, left)}
        if not inside & set(ignored) and not _accepted(left, right, known):
            return None
        found.reasons.append(_REASONS[_kind(left)])
    outside = [
        [(place, m) for place, m in matches if not any(_overlap(m, token) for token in side)]
        for matches, side in zip(numbers, tokens)
    ]
    found.numbers = [(place, left, right) for (place, left), (_, right) in zip(*outside)]
    return found


def _kind(token: re.Match[str]) -> str:
    return next(kind for kind in _REASONS if token[kind] is not None)


def _overlap(one: re.Match[str], other: re.Match[str]) -> bool:
    return one.start() < other.end() and other.start() < one.end()


def _accepted(one: re.Match[str], other: re.Match[str], known: tuple[Known, Known]) -> bool:
    kind = _kind(one)
    if kind == _VERSION:
        return all(m.group() in side.versions for m, side in zip((one, other), known))
    if kind == _CLASS:
        return _of_library(one["name"])
    if kind == _OBJECT:
        return one["what"] == other["what"] or _of_library(one["what"])
    return _file(one.group(), known[0]) == _file(other.group(), known[1]) != ""


def _of_library(name: str) -> bool:
    return name.partition(".")[0] in LIBRARIES


def _file(path: str, known: Known) -> str:
    """A file of the interpreter's, as it is called in each; nothing for another."""
    for folder in known.folders:
        if folder and path.startswith(f"{folder}/"):
            path = re.sub(r"\bpython3\.\d+\b", "python3", path[len(folder) :])
            return path.replace("/tensorflow_core/", "/tensorflow/")
    return ""
