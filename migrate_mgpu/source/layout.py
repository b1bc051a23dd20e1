"""New calls in the layout of their file: on one line where it fits, else an argument a line."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from migrate_mgpu.source.source import Source

_HANGING = re.compile(r"^[ \t]*[)\]}]+,?:?[ \t]*\r?$", re.M)
_CLOSED = re.compile(r"^([ \t]*)[)\]}]+$")
WIDTH = 88


def width_of(source: Source) -> int:
    """How long this file lets its lines be: 79, or its second longest line, up to 100."""
    lines = range(1, len(source.line_starts) + 1)
    lengths = sorted(n for line in lines if (n := len(source.line_text(line))) <= 100)
    return max(79, lengths[-2]) if len(lengths) > 1 else 79


def hangs(source: Source) -> bool:
    """Whether closing brackets stand on lines of their own in this file."""
    return bool(_HANGING.search(source.text))


def call(
    source: Source,
    head: str,
    arguments: Sequence[str],
    indent: str,
    column: int,
    tail: int = 0,
) -> str:
    """``head(arguments)`` as it stands behind ``column`` characters of a line.

    ``indent`` is the line's indentation, ``tail`` what follows on the last line.
    Arguments of several lines keep their own line breaks, and end below their beginning.
    """
    line = f"{head}({', '.join(arguments)})"
    width = width_of(source)
    several = any("\n" in argument for argument in arguments)
    if not arguments or (not several and column + len(line) + tail <= width):
        return line
    if several and len(arguments) == 1:  # one argument that breaks within its own brackets
        first = line.split("\n", 1)[0]
        if column + len(first) <= width:
            return f"{head}({_ending_at(arguments[0], indent)})"
    unit = source.indent_unit
    if hangs(source):
        inner = indent + unit
        joined = ", ".join(arguments)
        arguments = [_ending_at(argument, inner) for argument in arguments]
        if not several and len(inner) + len(joined) <= width:
            return f"{head}(\n{inner}{joined}\n{indent})"
        body = "".join(f"\n{inner}{argument}," for argument in arguments)
        if len(arguments) == 1:
            body = body[:-1]
        return f"{head}({body}\n{indent})"
    inner = indent + unit + (unit if len(unit) < 4 else "")
    joined = ", ".join(arguments)
    if not several and len(inner) + len(joined) + 1 + tail <= width:
        return f"{head}(\n{inner}{joined})"
    return f"{head}(\n{inner}" + f",\n{inner}".join(arguments) + ")"


def _ending_at(argument: str, indent: str) -> str:
    """An argument whose last line is a bracket that closes, moved to an indentation."""
    first, *rest = argument.split("\n")
    closed = _CLOSED.match(rest[-1]) if rest else None
    if closed is None or "'''" in argument or '"""' in argument:
        return argument
    old = closed.group(1)
    if any(line.strip() and not line.startswith(old) for line in rest):
        return argument
    moved = [indent + line[len(old) :] if line.strip() else line for line in rest]
    return "\n".join([first, *moved])


def fitted(source: Source, text: str, indent: str, column: int, tail: int = 0) -> str:
    """A new call, broken where it does not fit behind ``column`` characters of a line."""
    if column + len(text) + tail <= width_of(source) or "\n" in text:
        return text
    made = ast.parse(text, mode="eval").body
    if not isinstance(made, ast.Call):
        return text
    head = ast.get_source_segment(text, made.func) or ""
    given = [ast.get_source_segment(text, node) or "" for node in (*made.args, *made.keywords)]
    return call(source, head, given, indent, column, tail)


def nested(source: Source, text: str, indent: str, column: int, tail: int = 0) -> str:
    """The same of a new call whose arguments may be new calls that do not fit either."""
    if column + len(text) + tail <= width_of(source) or "\n" in text:
        return text
    made = ast.parse(text, mode="eval").body
    if not isinstance(made, ast.Call):
        return text
    inner = indent + source.indent_unit
    if not hangs(source) and len(source.indent_unit) < 4:
        inner += source.indent_unit
    given = []
    for node in (*made.args, *made.keywords):
        part = ast.get_source_segment(text, node) or ""
        own = not isinstance(node, ast.keyword)
        given.append(nested(source, part, inner, len(inner), 1) if own else part)
    head = ast.get_source_segment(text, made.func) or ""
    return call(source, head, given, indent, column, tail)
