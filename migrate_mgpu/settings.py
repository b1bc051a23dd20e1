"""The options of a run: the command line, and ``[tool.migrate-mgpu]`` where it says nothing."""

# pathlib, typing and dataclasses would cost more than all the rest of a run
# over a file without TF1 code.
from __future__ import annotations

import os

from migrate_mgpu.core.options import (
    COLORS,
    FORMATS,
    STDIN,
    SUBCOMMANDS,
    Answered,
    Options,
    UsageError,
    documentation,
    meant,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any, NoReturn, TextIO


def parse(argv: Sequence[str], stdout: TextIO) -> Options:
    """The options of a run.

    Raises:
        Answered: only help or version was asked for.
        UsageError: a wrong command line or table of settings.
    """
    options = Options()
    said: set[str] = set()
    options.paths = [word for word in argv if not word.startswith("-")]
    flags = [word for word in argv if word.startswith("-")]
    if options.paths and flags in ([], ["--check"], ["--diff"]):
        # The usual runs, without what argparse costs.
        options.check, options.diff = "--check" in flags, "--diff" in flags
    else:
        said = _parse(argv, options, stdout)
    first = options.stdin_filename if options.stdin else options.paths[0]
    _check_word(first)
    table = _table(os.path.abspath(first))
    if table is not None:
        from migrate_mgpu.settings_table import apply

        apply(*table, options, said)
    if options.write_baseline and options.baseline is None:
        raise UsageError("migrate-mgpu: error: --write-baseline needs --baseline FILE")
    if options.select or options.ignore:
        _check_rules(options)
    return options


# The table, and as it is sometimes written.
_TABLES = (b"tool.migrate-mgpu", b"tool.migrate_mgpu", b'tool."migrate-mgpu"')


def _table(path: str) -> tuple[str, bytes] | None:
    """The nearest pyproject.toml above a path and its bytes, if it speaks of this tool."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    while True:
        name = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(name):
            try:
                with open(name, "rb") as stream:
                    data = stream.read()
            except OSError as error:
                raise UsageError(f"{name}: cannot be read: {error.strerror}") from None
            # Reading TOML costs half a start: only where the table can be.
            return (name, data) if any(table in data for table in _TABLES) else None
        outer = os.path.dirname(folder)
        if outer == folder:
            return None
        folder = outer


def _check_word(first: str) -> None:
    """The first path is no subcommand with a slip: the paths after it would be rewritten."""
    if "." in first or os.sep in first or os.path.lexists(first):
        return
    found = meant(first, SUBCOMMANDS)
    if found:
        raise UsageError(f"migrate-mgpu: error: there is no path {first!r}{found}")


def _check_rules(options: Options) -> None:
    """Every word of --select and --ignore names a rule, or the user believes what is not so."""
    from migrate_mgpu.output.catalogue import unknown

    for name, words in (("select", options.select), ("ignore", options.ignore)):
        place = options.places.get(name, f"migrate-mgpu: error: --{name}")
        for word in words:
            problem = unknown(word)
            if problem is not None:
                raise UsageError(f"{place}: {problem}")


# -- the command line ---------------------------------------------------------

_DESCRIPTION = """\
Migrate TensorFlow 1 multi-GPU code to TensorFlow 2. Files are rewritten in place.

Device options move from ConfigProto to tf.config, Estimators become Keras models
under a distribution strategy, and programs that still need sessions keep running
under tf.compat.v1. What cannot be migrated is reported with its place, the reason
and what to do."""
_EXAMPLES = """\
examples:
  migrate-mgpu --diff src/           show what would change
  migrate-mgpu src/                  rewrite the files
  migrate-mgpu parity src/train.py   migrate a copy, run both programs and compare them
  migrate-mgpu explain MGPU901       what a finding means

Settings: [tool.migrate-mgpu] in the nearest pyproject.toml above the first path, with
the names of the options; the command line takes precedence.

exit status, added up: 1 files changed or would change, 2 wrong usage, 4 something is
left to do by hand (with --strict), 8 a file could not be processed"""


def _epilog() -> str:
    rows = "".join(f"\n  {name:<10} {text}" for name, text in SUBCOMMANDS.items())
    return (
        f"subcommands (each has --help):{rows}\n\n{_EXAMPLES}\n\ndocumentation: {documentation()}"
    )


def _parse(argv: Sequence[str], options: Options, stdout: TextIO) -> set[str]:
    """Sets what the command line says, and returns the names of the options that it names."""
    made = parser(stdout)
    words = list(argv)
    after = words.index("--") if "--" in words else len(words)
    found = vars(made.parse_intermixed_args(words[:after]))
    found["paths"] = found["paths"] + words[after + 1 :]
    if found.pop("version", False):
        from migrate_mgpu import __version__

        stdout.write(f"migrate-mgpu {__version__}\n")
        raise Answered
    for name, value in found.items():
        setattr(options, name, value)
    if not options.paths:
        made.error("give at least one path, or - for standard input")
    if STDIN in options.paths and not options.stdin:
        made.error("- (standard input) stands alone")
    if "stdin_filename" in found and not options.stdin:
        made.error("--stdin-filename goes with - (standard input)")
    return set(found)


def parser(stdout: TextIO) -> argparse.ArgumentParser:
    """The parser of ``migrate-mgpu PATH...``; what is not said is not in its result."""
    import argparse

    from migrate_mgpu.core import parser as core

    class Parser(core.Parser):
        """It raises instead of ending the process, and prints where it is told."""

        def error(self, message: str) -> NoReturn:
            text = f"{self.format_usage()}migrate-mgpu: error: {self.answered(message)}"
            raise UsageError(f"{text}\n`migrate-mgpu --help` says more")

        def format_help(self) -> str:
            self.epilog = _epilog()  # it asks for the package's metadata, which takes a while
            return super().format_help()

        def print_help(self, file: object = None) -> None:
            stdout.write(self.format_help())

        def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
            raise Answered

    def words(text: str) -> tuple[str, ...]:
        found = tuple(word.strip() for word in text.split(",") if word.strip())
        if not found:
            raise argparse.ArgumentTypeError("give at least one, separated by commas")
        return found

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise argparse.ArgumentTypeError("give a number, 1 or more")
        return int(text)

    class Extend(argparse.Action):
        """Adds up what an option that may be repeated says."""

        def __call__(self, _parser: Any, space: Any, values: Any, _option: Any = None) -> None:
            more = values if isinstance(values, tuple) else (values,)
            setattr(space, self.dest, (*getattr(space, self.dest, ()), *more))

    made = Parser(
        prog="migrate-mgpu",
        usage=f"migrate-mgpu [options] PATH...\n       migrate-mgpu {' | '.join(SUBCOMMANDS)} ...",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    made.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        default=[],
        help="files and folders; - is standard input, with the result on standard output; a "
        "path named like a subcommand is written ./rules",
    )
    mode = made.add_mutually_exclusive_group()
    mode.add_argument("--diff", action="store_true", help="show what would change, write nothing")
    mode.add_argument("--check", action="store_true", help="only answer, write nothing")
    made.add_argument(
        "--select",
        action=Extend,
        type=words,
        metavar="RULES",
        help="use only these rules: codes, beginnings of codes, names, separated by commas",
    )
    made.add_argument(
        "--ignore", action=Extend, type=words, metavar="RULES", help="do not use these rules"
    )
    made.add_argument(
        "--exclude",
        action=Extend,
        metavar="PATTERN",
        help="leave out what matches, as in .gitignore; may be repeated",
    )
    flag = argparse.BooleanOptionalAction
    made.add_argument(
        "--bridge",
        action=flag,
        help="let programs that cannot become native TF2 code run under compat.v1 (the default)",
    )
    made.add_argument(
        "--native-sessions",
        action=flag,
        help="let programs that drive a graph with a session become native TF2 code (the default); "
        "without it they are bridged",
    )
    made.add_argument("--output-format", choices=FORMATS, help="how findings are written")
    made.add_argument("--color", choices=COLORS, help="colours: on a terminal (auto, the default)")
    made.add_argument("--strict", action=flag, help="exit status 4 when something is left by hand")
    made.add_argument(
        "--baseline", metavar="FILE", help="do not report the findings that FILE accepts"
    )
    made.add_argument(
        "--write-baseline",
        action="store_true",
        help="accept all findings of this run in the --baseline file",
    )
    made.add_argument("--statistics", action=flag, help="tables of sites and programs at the end")
    made.add_argument("-q", "--quiet", action=flag, help="no findings for what was rewritten")
    made.add_argument(
        "-j",
        "--jobs",
        type=number,
        metavar="N",
        help="plan programs without a common module in up to N processes (default: one for each "
        "processor, where there is enough to do)",
    )
    made.add_argument(
        "--stdin-filename", metavar="NAME", help="what standard input is called in messages"
    )
    made.add_argument("--version", action="store_true", help="print the version")
    return made
