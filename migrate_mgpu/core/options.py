"""What a run was asked for, and how it answers: options, exit bits, what ends it early."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Exit bits.
CHANGED = 1  # something changed, or would
USAGE = 2
LEFT = 4  # with --strict: something is left by hand
FAILED = 8  # a file could not be processed

FORMATS = ("text", "json", "sarif", "github")
COLORS = ("auto", "always", "never")
# Their names are words of the command line: a path of such a name is written ./rules.
SUBCOMMANDS = {
    "parity": "run the old and the new program and compare what they do",
    "checkpoint": "convert what the old program saved into what the new one goes on from",
    "runtimes": "list, make and delete the TensorFlow environments that parity uses",
    "rules": "list every code with its rule's name and summary",
    "explain": "say what a rule, a reason or a cause means, with examples",
}
STDIN = "-"


class UsageError(Exception):
    """A wrong command line or table of settings; the message is what the user reads."""


def documentation() -> str:
    """Where the documentation is: the address in pyproject.toml, or the repository's folder."""
    from importlib import metadata

    try:
        urls = metadata.metadata("migrate-mgpu").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # run from its sources
        urls = []
    found: dict[str, str] = dict(url.split(", ", 1) for url in urls)
    return found.get("Documentation", "the folder docs/ of the repository")


def meant(word: str, known: Iterable[str]) -> str:
    """A question to end a message with, where a known word is near the one that is not."""
    import difflib

    near = difflib.get_close_matches(word.lower(), list(known), 1, 0.7)
    return f"; did you mean `{near[0]}`?" if near else ""


class Answered(Exception):
    """Help or the version was printed, there is nothing else to do."""


class Options:
    """What the user asked for."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.diff = False
        self.check = False
        self.bridge: bool = True
        self.native_sessions: bool = True
        self.select: tuple[str, ...] = ()
        self.ignore: tuple[str, ...] = ()
        self.exclude: tuple[str, ...] = ()
        self.exclude_root = "."  # the folder that the patterns start from
        self.output_format = "text"
        self.color = "auto"
        self.strict = False
        self.statistics = False
        self.quiet = False
        self.jobs: int | None = None  # processes; None: as many as pay
        self.baseline: str | None = None
        self.write_baseline = False
        self.stdin_filename = "<stdin>"
        self.places: dict[str, str] = {}  # of what a table of settings says

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
