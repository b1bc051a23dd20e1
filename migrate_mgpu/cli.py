"""The command line: arguments in, exit status out. Everything heavy is imported late."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from migrate_mgpu.engine.findings import RunResult


def main_command() -> None:
    """The console script."""
    try:
        status = main(sys.argv[1:], sys.stdout, sys.stderr)
    except BrokenPipeError:  # `| head` has seen enough
        sys.stderr.close()
        status = 0
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted; every file is either as it was or migrated\n")
        status = 130
    sys.exit(status)


def main(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool and returns its exit status; prints to the given streams only."""
    if argv and argv[0] == "runtimes":
        from migrate_mgpu.runtimes_command import command

        return command(argv[1:], stdout, stderr)
    from migrate_mgpu import settings

    try:
        options = settings.parse(argv, stdout)
    except settings.UsageError as error:
        stderr.write(f"{error}\n")
        return settings.USAGE
    return 0 if options is None else _migrate(options, stdout, stderr)


def _migrate(options: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> int:
    from migrate_mgpu import settings
    from migrate_mgpu.engine import files, prefilter

    status = 0
    paths, unread = files.discover(options.paths, tuple(options.exclude))
    contents: list[tuple[str, bytes]] = []
    for path in paths:
        data, reason = files.read(path)
        if data is None:
            unread.append(files.Unread(path, reason))
        else:
            contents.append((path, data))
    for path, reason in unread:
        stderr.write(f"{path}: cannot be read: {reason}\n")
        status |= settings.FAILED
    if not any(prefilter.HIT.search(data) for _, data in contents):
        if options.statistics:
            stdout.write(f"{len(contents)} files, no TF1 sessions or configs\n")
        return status

    from migrate_mgpu.engine.run import migrate

    result = migrate(contents, bridge=not options.no_bridge, write=_writes(options))
    return status | _report(result, options, stdout, stderr)


def _writes(options: argparse.Namespace) -> bool:
    return not (options.diff or options.check)


def _report(result: RunResult, options: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> int:
    from migrate_mgpu import settings
    from migrate_mgpu.output import diff, text

    if options.diff:
        for file in result.files:
            stdout.write(diff.of(file))
    text.write(result, stderr if options.diff else stdout, options)
    status = 0
    if any(file.changed for file in result.files):
        status |= settings.CHANGED
    if any(file.error for file in result.files):
        status |= settings.FAILED
    if options.strict and text.left_by_hand(result):
        status |= settings.LEFT
    return status
