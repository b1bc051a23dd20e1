"""Blank lines around statements that went away."""

from __future__ import annotations

import re

from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.source import Edit, Source

_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")


def blank_lines(source: Source, edits: list[Edit]) -> list[Edit]:
    """The edits, with blank lines gone that stood around statements that went away.

    Between what stands above and below stay as many as the larger gap had; none
    at the beginning of a block.
    """
    text = source.text
    # Cells of a notebook end where their code does.
    if isinstance(source, Notebook):
        return edits
    removed = sorted((e for e in edits if _is_removal(text, e)), key=lambda e: e.start)
    result = [e for e in edits if not _is_removal(text, e)]
    fixed = [(e.start, e.end) for e in result]
    while removed:
        run = [removed.pop(0)]
        between = 0
        while removed and not text[run[-1].end : removed[0].start].strip():
            between = max(between, text.count("\n", run[-1].end, removed[0].start))
            run.append(removed.pop(0))
        start, end = run[0].start, run[-1].end
        before = text[:start].rstrip(" \t\r\n")
        if any(start <= first <= end or start <= last <= end for first, last in fixed):
            above = text.find("\n", len(before)) + 1
            follows = any(e.start == end and e.new.startswith(source.newline) for e in result)
            if follows and not any(above <= last <= start for _, last in fixed):
                run[0] = Edit(above, run[0].end, "")  # what follows brings a blank line
            result += run
            continue
        below = _BLANK_LINES.match(text, end)
        assert below is not None
        gaps = (text.count("\n", len(before), start) - 1, text.count("\n", end, below.end()))
        if not before or (before.endswith(":") and "#" not in before[before.rfind("\n") + 1 :]):
            keep = gaps[0]  # the beginning of the file or of a block
        else:
            keep = max(*gaps, between)
        for _ in range(min(max(sum(gaps) - keep, 0), gaps[1])):
            end = text.index("\n", end) + 1
        result.append(Edit(start, end, source.newline * max(keep - sum(gaps), 0)))
    return result


def _is_removal(text: str, edit: Edit) -> bool:
    """Whether an edit takes whole lines away."""
    return (
        not edit.new
        and edit.start < edit.end
        and (edit.start == 0 or text[edit.start - 1] == "\n")
        and text[edit.end - 1] == "\n"
    )
