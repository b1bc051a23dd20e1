"""Colours, by rich, on a terminal only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

    # A text and a style ("bold red") in, what is written out.
    Paint = Callable[[str, str], str]


def painter(stream: TextIO) -> Paint:
    """How texts are written to a stream: as they are, or with the colours of a terminal."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return plain
    from rich.color import ColorSystem
    from rich.console import Console
    from rich.style import Style

    name = Console(file=stream).color_system
    if name is None or name == "windows":  # a console that knows no escape sequences
        return plain
    system = {
        "standard": ColorSystem.STANDARD,
        "256": ColorSystem.EIGHT_BIT,
        "truecolor": ColorSystem.TRUECOLOR,
    }[name]
    return lambda text, style: Style.parse(style).render(text, color_system=system)


def plain(text: str, style: str) -> str:
    """Without colours."""
    return text
