"""What becomes of one configuration."""

from __future__ import annotations

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.project import Program
from migrate_mgpu.core.records import field, record
from migrate_mgpu.session_config.flows import Flow
from migrate_mgpu.session_config.moves import Move
from migrate_mgpu.session_config.sessions import Session


@record()
class Outcome:
    """What becomes of one flow.

    Attributes:
      spread: sessions with another config, or none, that take a moved option as well.
    """

    flow: Flow
    state: str  # findings.APPLIED, KEPT or REFUSED
    reasons: list[Diagnostic] = field(default_factory=list)
    move: Move | None = None
    idle: bool = False  # no session of TF2's gets it: unused, or behind a version switch
    spread: list[Session] = field(default_factory=list)

    def stays(self, state: str, *reasons: Diagnostic) -> None:
        self.state, self.move, self.reasons = state, None, list(reasons)


def stays_on_tf1(flow: Flow, program: Program) -> Diagnostic:
    """Why a flow stays that a program of TF1 runs as well."""
    text = f"{program.entry.path.name}, which stays on TF1, uses it as well"
    return Diagnostic("used-on-tf1", Place(flow.module, flow.place), text)
