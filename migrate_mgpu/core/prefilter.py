"""One search over a file's bytes: most files of a repository end here.

Nothing but ``re`` is imported, so that a run over files without TF1 code costs
little more than Python's own start.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

# A file without any of these has no site, whatever else it holds.
HIT = re.compile(
    rb"ConfigProto|GPUOptions|Session\b|Supervisor\b|session_config|enable_eager_execution"
    rb"|[Ee]stimator\b|multi_gpu_model|learning.train\b|tensorpack|tflearn"
    rb"|contrib.distribute\b|contrib import distribute\b|gpu:[%{'\"]|GPU:[%{'\"]"
    rb"|DNNClassifier\b|DNNRegressor\b|LinearClassifier\b|LinearRegressor\b"
)
# What follows the first word of an import; a list in parentheses may go over several lines.
# (A notebook's line of code begins with a quotation mark.)
_IMPORT = re.compile(
    rb"\n(?:\xef\xbb\xbf)?[ \t\"]*(?:from|import)\b"
    rb"([^(#\n]*(?:(?<=\\)\n[^(#\n]*)*(?:\([^)]*)?[^#\n]*)"
)
_WORD = re.compile(rb"\w+")


_Text = TypeVar("_Text", bytes, str)
_Answer = TypeVar("_Answer")
_forget: list[Callable[[], None]] = []


def once_a_run(ask: Callable[[_Text], _Answer]) -> Callable[[_Text], _Answer]:
    """A question about a file's text, answered once: a run may be planned several times.

    Callers must not change the answer.
    """
    known = lru_cache(maxsize=None)(ask)
    _forget.append(known.cache_clear)
    return known


def forget() -> None:
    """Lets go of what was kept of a run's files."""
    for one in _forget:
        one()


@once_a_run
def has_hit(data: bytes) -> bool:
    """Whether a file may have a site."""
    return HIT.search(data) is not None


@once_a_run
def names_framework(data: bytes) -> bool:
    """Whether a file may belong to a program by itself."""
    words = (b"tensorflow", b"keras", b"tensorpack", b"tflearn")
    return any(word in data for word in words)


@once_a_run
def imported_words(data: bytes) -> set[bytes]:
    """Every word in the import statements of a file: those it imports are among them."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return set(_WORD.findall(b" ".join(_IMPORT.findall(b"\n" + data))))
