"""What the tool makes of a program, and what it says of it: the one way for tests to ask.

A file is its text, called ``program.py``, or a pair of a name and a text.
"""

from __future__ import annotations

from typing import Union

from migrate_mgpu.core.findings import RunResult
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.run.migrate import migrate

File = Union[str, tuple[str, Union[str, bytes]]]


def run(
    *files: File,
    bridge: bool = False,
    rules: Selection = Selection(),  # noqa: B008
    native_sessions: bool = False,
) -> RunResult:
    """The result of a run that writes nothing, fails for no file, and breaks nowhere inside."""
    contents = []
    for name, text in map(_named, files):
        contents.append((name, text if isinstance(text, bytes) else text.encode()))
    result = migrate(contents, bridge, False, rules, native_sessions)
    assert not (errors := [f"{file.path}: {file.error}" for file in result.files if file.error]), (
        errors
    )
    assert not (broken := [one for one in said(result) if "internal error" in one]), broken
    return result


def _named(file: File) -> tuple[str, str | bytes]:
    return ("program.py", file) if isinstance(file, str) else file


def said(result: RunResult) -> list[str]:
    """What the run has to say."""
    return [finding.message for finding in result.findings]


def after(result: RunResult, *files: File) -> str:
    """The files as the run leaves them, one behind the other."""
    changed = {str(file.path): file.after for file in result.files if file.changed}
    texts = []
    for name, text in map(_named, files):
        texts.append(changed.get(name) or (text if isinstance(text, str) else text.decode()))
    return "\n".join(texts)


def migrated(
    *files: File, bridge: bool = False, native_sessions: bool = False
) -> tuple[str, list[str]]:
    """What the tool makes of a program, or the program itself, and what it says."""
    result = run(*files, bridge=bridge, native_sessions=native_sessions)
    return after(result, *files), said(result)


def stays(text: File, reason: str, *others: File, bridge: bool = False) -> None:
    """The program is left as it is, to the byte, and a finding says why it stays."""
    result = run(text, *others, bridge=bridge)
    assert reason, "the test does not say why the program stays"
    assert after(result, text, *others) == after(RunResult([], [], {}), text, *others)
    refused = [one.message for one in result.findings if one.state in ("refused", "kept")]
    assert any(reason in message for message in refused), said(result)


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """A program with the second text of each pair in the place of the first, which it has."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text
