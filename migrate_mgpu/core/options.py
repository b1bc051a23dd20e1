"""What a run was asked for, and how it answers: options, exit bits, what ends it early."""

from __future__ import annotations

# Exit bits.
CHANGED = 1  # something changed, or would
USAGE = 2
LEFT = 4  # with --strict: something is left by hand
FAILED = 8  # a file could not be processed

FORMATS = ("text", "json", "sarif", "github")
STDIN = "-"


class UsageError(Exception):
    """A wrong command line or table of settings; the message is what the user reads."""


class Answered(Exception):
    """Help or the version was printed, there is nothing else to do."""


class Options:
    """What the user asked for."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.diff = False
        self.check = False
        self.bridge: bool = True
        self.select: tuple[str, ...] = ()
        self.ignore: tuple[str, ...] = ()
        self.exclude: tuple[str, ...] = ()
        self.exclude_root = "."  # the folder that the patterns start from
        self.output_format = "text"
        self.strict = False
        self.statistics = False
        self.quiet = False
        self.baseline: str | None = None
        self.write_baseline = False
        self.stdin_filename = "<stdin>"

    @property
    def writes(self) -> bool:
        """Whether files are rewritten."""
        return not (self.diff or self.check or self.stdin)

    @property
    def plain(self) -> bool:
        """Whether a run that finds nothing has nothing to say."""
        return (
            self.output_format == "text"
            and not self.stdin
            and not self.statistics
            and self.baseline is None
        )

    @property
    def stdin(self) -> bool:
        return self.paths == [STDIN]
