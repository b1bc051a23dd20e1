"""New calls in the layout of their file: on one line where it fits, else an argument a line."""

from __future__ import annotations

from collections.abc import Sequence

from migrate_mgpu.source.source import Source
from migrate_mgpu.source.style import FileStyle


def width_of(source: Source) -> int:
    return source.width


def hangs(source: Source) -> bool:
    return source.has_hanging_brackets


def call(
    source: Source, head: str, arguments: Sequence[str], indent: str, column: int, tail: int = 0
) -> str:
    return FileStyle.of(source).call(head, arguments, indent, column, tail)


def fitted(source: Source, text: str, indent: str, column: int, tail: int = 0) -> str:
    return FileStyle.of(source).fitted(text, indent, column, tail)


def nested(source: Source, text: str, indent: str, column: int, tail: int = 0) -> str:
    return FileStyle.of(source).fitted(text, indent, column, tail, nested=True)
