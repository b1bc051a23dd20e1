"""What every output format is given: the run's result, and what was asked for."""

from __future__ import annotations

from migrate_mgpu.core import findings as f
from migrate_mgpu.core.records import field, record
from migrate_mgpu.core.states import BRIDGE, KEPT, NATIVE

# Beside the states of findings.py: what a run that writes nothing would do.
AVAILABLE = "available"

# How much a finding matters: something to do, something to know, or done.
WARNING, NOTE = "warning", "note"


@record()
class Report:
    """One run, as it is reported.

    ``accepted`` findings are those that a baseline silenced, ``outdated`` is the
    number of its entries that no finding matches any more.
    """

    result: f.RunResult
    writes: bool = True
    statistics: bool = False
    quiet: bool = False
    color: str = "auto"
    accepted: list[f.Finding] = field(default_factory=list)
    outdated: int = 0

    @property
    def changed(self) -> int:
        return sum(file.changed for file in self.result.files)

    @property
    def failed(self) -> int:
        return sum(file.error is not None for file in self.result.files)

    @property
    def left_by_hand(self) -> bool:
        """Whether a person still has something to do."""
        return any(finding.state in (f.REFUSED, f.MANUAL) for finding in self.result.findings)

    def state(self, file: f.FileResult, finding: f.Finding) -> str:
        """A finding's state; what was not written is only available."""
        if finding.state == f.APPLIED and not (self.writes and file.error is None):
            return AVAILABLE
        return finding.state


def migrated(program: f.ProgramResult) -> bool:
    """Whether the run makes a program one for TF2; others stay as they were."""
    return program.state in (NATIVE, BRIDGE, KEPT)


def severity(finding: f.Finding) -> str:
    """How much a finding matters to its reader."""
    return WARNING if finding.state in (f.REFUSED, f.MANUAL) else NOTE


def failure(path: str, reason: str) -> f.FileResult:
    """A path that could not be processed, and no line is to blame."""
    from pathlib import Path

    return f.FileResult(Path(path), error=reason, error_line=0)
