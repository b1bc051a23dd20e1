"""Colours, by rich: on a terminal, or where somebody asks for them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

    # A text and a style ("bold red") in, what is written out.
    Paint = Callable[[str, str], str]


def wanted(stream: TextIO, color: str = "auto") -> bool:
    """Whether a stream gets colours: by ``--color``, NO_COLOR, FORCE_COLOR, or what it is."""
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def painter(stream: TextIO, color: str = "auto") -> Paint:
    """How texts are written to a stream: as they are, or with the colours of a terminal."""
    if not wanted(stream, color):
        return plain
    from rich.color import ColorSystem
    from rich.console import Console
    from rich.style import Style

    name = Console(file=stream).color_system
    if name == "windows":  # a console that knows no escape sequences
        return plain
    system = {
        "standard": ColorSystem.STANDARD,
        "256": ColorSystem.EIGHT_BIT,
        "truecolor": ColorSystem.TRUECOLOR,
    }[name or "standard"]  # no terminal: colours were asked for
    return lambda text, style: Style.parse(style).render(text, color_system=system)


def plain(text: str, style: str) -> str:
    """Without colours."""
    return text
