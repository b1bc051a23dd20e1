"""The patterns of ``.gitignore`` files, as git reads them.

Written here rather than taken from a library: importing one costs more than the
whole search of a tree, and an entry must be asked for itself, without the
folders above it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable
    from typing import Union

    # How to match, with what, whether it takes back ("!"), whether only folders.
    _Rule = tuple[str, Union[str, re.Pattern[str]], bool, bool]


class Ignored:
    """The patterns of one file; paths are relative to its folder and use ``/``.

    A character of both stands for a byte: names are bytes to git.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        rules = [rule for line in lines if (rule := _rule(line)) is not None]
        self._rules = rules[::-1]  # the last one that matches decides

    def __call__(self, path: str, folder: bool) -> bool | None:
        """Whether an entry is left out; None when no pattern speaks of it."""
        name = path.rpartition("/")[2]
        for kind, what, takes_back, only_folders in self._rules:
            if only_folders and not folder:
                continue
            if kind == "name":
                matches = name == what
            elif kind == "path":
                matches = path == what
            elif kind == "suffix":
                matches = name.endswith(what)  # type: ignore[arg-type]
            else:
                tested = name if kind == "name pattern" else path
                matches = what.match(tested) is not None  # type: ignore[union-attr]
            if matches:
                return not takes_back
        return None


def _rule(line: str) -> _Rule | None:
    line = _without_trailing_spaces(line.rstrip("\n").removesuffix("\r"))  # one, as git
    if not line or line.startswith("#"):
        return None
    takes_back = line.startswith("!")
    pattern = line[1:] if takes_back else line
    only_folders = pattern.endswith("/")
    pattern = pattern[:-1] if only_folders else pattern
    anchored = "/" in pattern
    pattern = pattern[1:] if pattern.startswith("/") else pattern
    if not pattern:
        return None
    if not any(character in pattern for character in "*?[\\"):
        return "path" if anchored else "name", pattern, takes_back, only_folders
    if not anchored and pattern[0] == "*" and not any(c in pattern[1:] for c in "*?[\\"):
        return "suffix", pattern[1:], takes_back, only_folders
    expression = _expression(pattern)
    if expression is None:
        return None
    kind = "path pattern" if anchored else "name pattern"
    return kind, expression, takes_back, only_folders


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    if backslashes % 2 and bare != line:  # the first space is escaped
        bare += " "
    return bare


def _expression(pattern: str) -> re.Pattern[str] | None:
    import re

    pieces: list[str] = []
    i, end = 0, len(pattern)
    literal = min(pattern.find(wildcard) % (end + 1) for wildcard in "*?[\\")
    while i < end:
        character = pattern[i]
        if character == "*":
            stars = i
            while i < end and pattern[i] == "*":
                i += 1
            # git compares the text before the first wildcard by itself, so that
            # a `**` directly after it counts as one at the start.
            starts = stars == literal or pattern[stars - 1] == "/"
            alone = starts and (i == end or pattern.startswith(("/", "\\/"), i))
            if i - stars < 2 or not alone:
                pieces.append("[^/]*")
            elif pattern.startswith("/", i):
                pieces.append("(?:.*/)?")
                i += 1
            else:
                pieces.append(".*")
        elif character == "?":
            pieces.append("[^/]")
            i += 1
        elif character == "[":
            found = _bracket(pattern, i)
            if found is None:
                return None  # git matches nothing with an unclosed bracket
            piece, i = found
            pieces.append(piece)
        else:
            if character == "\\":
                i += 1
                if i == end:
                    return None
                character = pattern[i]
            pieces.append(re.escape(character))
            i += 1
    try:
        return re.compile("".join(pieces) + r"\Z", re.DOTALL)
    except re.error:
        return None


def _bracket(pattern: str, start: int) -> tuple[str, int] | None:
    """A bracket expression as Python writes it, and where it ends; steps as in git's wildmatch."""
    import re

    i, end = start + 1, len(pattern)
    negated = pattern[i : i + 1] in ("!", "^")
    i += negated
    members: list[str] = []
    low = ""  # the character before, where a range may begin with it
    first = True
    while i < end:
        character = pattern[i]
        if character == "]" and not first:
            inside = "".join(members)
            if negated:
                return f"[^/{inside}]", i + 1
            return f"(?!/)[{inside}]" if inside else "(?!)", i + 1
        first = False
        # A class goes to the next bracket; with no colon before that, "[" is a character.
        closing = pattern.find("]", i + 2) if pattern.startswith("[:", i) else 0
        if character == "-" and low and i + 1 < end and pattern[i + 1] != "]":
            i += 1 + (pattern[i + 1] == "\\")
            if low <= pattern[i : i + 1]:  # the other way round it has no members
                members.append(f"{re.escape(low)}-{re.escape(pattern[i])}")
            low = ""
        elif closing and closing > i + 2 and pattern[closing - 1] == ":":
            known = _CLASSES.get(pattern[i + 2 : closing - 1])
            if known is None:
                return None
            members.append(known)
            i, low = closing, ""
        elif closing < 0:
            return None
        else:
            i += character == "\\"
            low = pattern[i : i + 1]
            members.append(re.escape(low))
        i += 1
    return None


_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z",
    "space": r" \t\r\n\f\v", "blank": r" \t", "xdigit": "0-9a-fA-F",
    "punct": r"!-/:-@\[-`{-~", "print": " -~", "graph": "!-~", "cntrl": r"\x00-\x1f\x7f",
}  # fmt: skip
