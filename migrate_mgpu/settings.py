"""The command line's options."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn, Optional, TextIO

from migrate_mgpu import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

# Exit bits.
CHANGED = 1  # something changed, or would
USAGE = 2
LEFT = 4  # with --strict: something is left by hand
FAILED = 8  # a file could not be processed


class UsageError(Exception):
    """A wrong command line; the message is what the user reads."""


class _Parser(argparse.ArgumentParser):
    """argparse that raises instead of ending the process, and prints where it is told."""

    stdout: TextIO

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.format_usage()}{self.prog}: error: {message}")

    def print_help(self, file: object = None) -> None:
        self.stdout.write(self.format_help())

    def exit(self, status: int = 0, message: Optional[str] = None) -> NoReturn:
        raise _Answered


class _Answered(Exception):
    """Help was printed, there is nothing else to do."""


def parser() -> _Parser:
    """The parser of ``migrate-mgpu PATH...``."""
    made = _Parser(
        prog="migrate-mgpu",
        description="Bring TF1 multi-GPU code to TF2: device options move from ConfigProto to "
        "tf.config, programs that need sessions keep running under compat.v1.",
        epilog="exit status: 1 something changed or would change, 2 usage, 4 something is left "
        "by hand (with --strict), 8 a file could not be processed; they add up",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="files and folders")
    mode = made.add_mutually_exclusive_group()
    mode.add_argument("--diff", action="store_true", help="show what would change, write nothing")
    mode.add_argument("--check", action="store_true", help="only answer, by the exit status")
    made.add_argument(
        "--no-bridge",
        action="store_true",
        help="leave programs as they are that cannot become native TF2 code",
    )
    made.add_argument(
        "--statistics", action="store_true", help="count sites and programs at the end"
    )
    made.add_argument("-q", "--quiet", action="store_true", help="findings only for what is left")
    made.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="leave out what matches (as in .gitignore); may be repeated",
    )
    made.add_argument("--strict", action="store_true", help="status 4 when something is left")
    made.add_argument("--version", action="store_true", help="print the version")
    return made


def parse(argv: Sequence[str], stdout: TextIO) -> Optional[argparse.Namespace]:
    """The options, or None when only help or version was asked for.

    Raises:
        UsageError: a wrong command line.
    """
    made = parser()
    made.stdout = stdout
    try:
        options = made.parse_args(argv)
    except _Answered:
        return None
    if options.version:
        stdout.write(f"migrate-mgpu {__version__}\n")
        return None
    if not options.paths:
        raise UsageError(f"{made.format_usage()}migrate-mgpu: error: give at least one path")
    return options
