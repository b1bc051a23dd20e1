"""New expressions as trees: what is too long for a line is broken by what it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from migrate_mgpu.core.records import record


@record(frozen=True)
class Call:
    """A call of a function with arguments by position; one by name is a text, and never broken."""

    function: str
    arguments: tuple[Code, ...]

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


@record(frozen=True)
class Items:
    """A list that is written as ``text`` where it fits."""

    text: str
    elements: tuple[Code, ...]

    def __str__(self) -> str:
        return self.text


Code = Union[str, Call, Items]

# Of a line of new code that stands at a known depth.
WIDTH = 96


def call(function: str, *arguments: Code) -> Call:
    return Call(function, arguments)


def items(*elements: Code) -> Items:
    return Items(f"[{', '.join(map(str, elements))}]", elements)


def lines(code: Code, indent: str, unit: str, head: str = "", tail: str = "") -> list[str]:
    """The lines of ``head code tail`` behind an indentation; ``unit`` is that of one level."""
    whole = f"{indent}{head}{code}{tail}"
    if isinstance(code, str) or len(whole) <= WIDTH:
        return [whole]
    inner = indent + unit
    parts = code.elements if isinstance(code, Items) else code.arguments
    opening, closing = ("[", "]") if isinstance(code, Items) else (f"{code.function}(", ")")
    joined = inner + ", ".join(map(str, parts))
    within = [joined]
    if isinstance(code, Items) or len(joined) > WIDTH:
        within = [line for part in parts for line in lines(part, inner, unit, tail=",")]
    return [f"{indent}{head}{opening}", *within, f"{indent}{closing}{tail}"]


def deeper(found: Iterable[str], unit: str) -> list[str]:
    """Lines one level deeper."""
    return [unit + line if line else "" for line in found]
