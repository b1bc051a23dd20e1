"""Colours and the progress bar: on a terminal only."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path

import pytest

from migrate_mgpu.core import colors
from migrate_mgpu.core import findings as f
from migrate_mgpu.output import diff, progress
from migrate_mgpu.output.report import Report
from migrate_mgpu.output.text import write

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    """A stream that says that somebody is looking."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def a_file() -> f.FileResult:
    path = Path("train.py")
    return f.FileResult(
        path,
        "old\t1\x0c\r\nsame\n",
        "new\t1\x0c\r\nsame\n",
        findings=[f.Finding(path, 1, 1, "MGPU103", f.APPLIED, "growth [bold] :smile:")],
    )


def a_report() -> Report:
    broken = f.FileResult(Path("bad.py"), error="is broken", error_line=2)
    program = f.ProgramResult(Path("train.py"), "bridge", 1, (), "TF 2.15", "run it")
    sites = {f.APPLIED: 1, f.KEPT: 0, f.REFUSED: 0}
    return Report(f.RunResult([a_file(), broken], [program], sites, 1), statistics=True)


def written(stream: io.StringIO) -> str:
    write(a_report(), stream, stream)
    return stream.getvalue()


def test_the_same_text_with_colours() -> None:
    plain, coloured = written(io.StringIO()), written(Terminal())
    assert "\x1b" not in plain
    assert "\x1b[1mtrain.py:1:1:\x1b[0m MGPU103 \x1b[32mapplied\x1b[0m: growth [bold]" in coloured
    assert ESCAPE.sub("", coloured) == plain


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_no_colours(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert "\x1b" not in written(Terminal())


def test_colours_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    assert not colors.wanted(stream) and colors.wanted(stream, "always")
    assert not colors.wanted(Terminal(), "never")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert colors.wanted(stream) and "\x1b[" in colors.painter(stream)("text", "bold")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colors.wanted(stream) and colors.wanted(stream, "always")


def test_a_coloured_diff_is_the_same_diff() -> None:
    coloured = diff.of(a_file(), colors.painter(Terminal()))
    assert "\x1b[31m-old\t1\x0c\x1b[0m\r\n" in coloured
    assert ESCAPE.sub("", coloured) == diff.of(a_file())


def test_line_ends_and_form_feeds_in_a_diff() -> None:
    file = f.FileResult(Path("a.py"), "a\x0c\nb\r\nc", "a\x0c\nB\r\nc")
    assert diff.of(file) == (
        "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n a\x0c\n-b\r\n+B\r\n c\n"
        "\\ No newline at end of file\n"
    )
    assert diff.of(f.FileResult(Path("a.py"), "a", "a")) == ""


# -- progress -----------------------------------------------------------------


def test_a_short_run_shows_nothing() -> None:
    stream = Terminal()
    with progress.Progress(stream) as bar:
        bar.doing, bar.total, bar.done = "reading", 10, 3
    assert stream.getvalue() == ""


def test_a_long_run_shows_a_bar_and_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.01)
    stream = Terminal()
    with progress.Progress(stream) as bar:
        bar.doing, bar.total, bar.done = "reading", 10, 3
        deadline = time.monotonic() + 20
        while "3/10" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        bar.doing, bar.total = "migrating", None
        while "migrating" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "reading" in stream.getvalue() and "3/10" in stream.getvalue()
    assert "migrating" in stream.getvalue() and "/None" not in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K")  # the line is empty again


def test_an_error_ends_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.0)
    with pytest.raises(KeyboardInterrupt), progress.Progress(Terminal()):
        raise KeyboardInterrupt
