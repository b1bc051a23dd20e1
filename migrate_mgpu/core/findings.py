"""What a run has to say: findings, states, and the result of each file."""

from __future__ import annotations

from pathlib import Path

from migrate_mgpu.core.records import field, record

# What became of a site.
APPLIED = "applied"  # rewritten
KEPT = "kept"  # stays as it is and works in a bridge: a config on its session, an Estimator
REFUSED = "refused"  # stays as it is: its program cannot run on TF2 yet
MANUAL = "manual"  # something for a person to do or to know

# What of a program's behaviour is not what it was, by a finding: where a comparison would see it.
CONFIGURATION = "configuration"  # of the devices
BATCHES = "batches"  # which examples a step has, and what each counts
NETWORK = "network"  # what the layers compute
NUMBERS = "numbers"  # that are drawn
OPTIMIZER = "optimizer"
AVERAGES = "averages"  # of normalizations
STEPS = "steps"  # how many there are
EVALUATION = "evaluation"  # how often there is one, and what it returns


@record(frozen=True)
class Finding:
    """One remark about one place. Line and column are 1-based."""

    path: Path
    line: int
    column: int
    code: str
    state: str
    message: str
    advice: str = ""
    cell: int | None = None  # of a notebook; the line is then the cell's
    key: str = ""  # of the diagnostic: why, short and stable
    affects: str = ""  # one of those above, where that can be said

    @property
    def where(self) -> str:
        """File and line, as findings are printed."""
        cell = f"cell {self.cell}:" if self.cell is not None else ""
        return f"{self.path}:{cell}{self.line}"

    @property
    def position(self) -> tuple[int, int, int, str]:
        """By which the findings of a file are ordered."""
        return self.cell or 0, self.line, self.column, self.code


@record(frozen=True)
class ProgramResult:
    """One program's state: ``native``, ``bridge``, ``kept`` (bridge, config kept) or ``refused``.

    ``runs_on`` names the runtimes that the migrated program can run on; ``next``
    is what its owner does now. With ``legacy_keras`` it runs on the newest TensorFlow beside
    tf-keras only.
    """

    entry: Path
    state: str
    modules: int
    reasons: tuple[Finding, ...] = ()
    runs_on: str = ""
    next: str = ""
    paths: tuple[Path, ...] = ()  # of its modules
    legacy_keras: bool = False


@record()
class FileResult:
    """One file: its text before and after, and what was found in it."""

    path: Path
    before: str | None = None
    after: str | None = None
    error: str | None = None
    error_line: int = 1
    findings: list[Finding] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return self.after is not None and self.after != self.before


@record()
class RunResult:
    """Everything about one run, in the order of the files."""

    files: list[FileResult]
    programs: list[ProgramResult]
    sites: dict[str, int]  # applied, kept, refused
    scanned: int = 0
    order: list[Path] = field(default_factory=list)  # in which those that change are written
    unused: list[Path] = field(default_factory=list)  # with TF1 code that no program imports
    # Files, and what they need now, as pip calls it.
    packages: list[tuple[Path, str]] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        return [finding for file in self.files for finding in file.findings]
