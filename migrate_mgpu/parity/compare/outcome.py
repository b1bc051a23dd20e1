"""What a comparison finds: nine rungs, each with its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

NAMES = (
    "device configuration",
    "variables",
    "examples per step",
    "first loss",
    "first gradients",
    "weights after one step",
    "loss curve",
    "final weights",
    "evaluation and printed results",
)
EQUAL, DIFFERS, NOT_COMPARED = "equal", "differs", "not compared"
# Verdicts on all of them, beside NOT_COMPARED.
EQUIVALENT, NOT_EQUIVALENT = "equivalent", "not equivalent"
NOT_COMPARABLE = "not comparable"  # the reference differs from itself


@dataclass
class Output:
    """One compared thing.

    Attributes:
      first_bad: the first step (from 1) that is out of tolerance, where steps exist.
      needed: the smallest relative tolerance with which it would pass; None when none does.
      told: whether it is said of a rung that is equal: what is no result, and differs.
    """

    name: str
    status: str
    first_bad: int | None = None
    largest_absolute: float | None = None
    largest_relative: float | None = None
    needed: float | None = None
    detail: str = ""
    told: bool = False


@dataclass
class Rung:
    number: int
    outputs: list[Output] = field(default_factory=list)
    reason: str = ""  # why nothing was compared

    @property
    def name(self) -> str:
        return NAMES[self.number - 1]

    @property
    def status(self) -> str:
        found = {output.status for output in self.outputs}
        return DIFFERS if DIFFERS in found else EQUAL if EQUAL in found else NOT_COMPARED

    def as_data(self) -> dict[str, Any]:
        return {
            "rung": self.number,
            "name": self.name,
            "status": self.status,
            "reason": self.reason,
            "outputs": [asdict(output) for output in self.outputs],
        }


def headline(rungs: Sequence[Rung]) -> Rung | None:
    """The first broken rung."""
    return next((rung for rung in rungs if rung.status == DIFFERS), None)
