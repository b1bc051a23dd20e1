"""Why a rung broke: causes that were tested on the recorded numbers.

Each module of this folder has the causes of one family. Its ``CAUSES`` maps the number of a
rung to functions; a function takes ``evidence.Evidence``, both sides' numbers, and yields a
``Diagnosis`` only when its test was passed: a cause predicts a number of the target (or names
two recorded ones that must be equal), and that number is compared. Dropping a module in
registers it; ``OTHERWISE`` has those that are asked when no other passes. No diagnosis is an
answer too: an empty list means that the cause is unknown.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from migrate_mgpu.parity.compare import outcome

if TYPE_CHECKING:
    from migrate_mgpu.parity.compare.outcome import Rung
    from migrate_mgpu.parity.diagnose.evidence import Evidence
    from migrate_mgpu.parity.runs.sides import Side

# What a likelihood says. LIKELY: the cause predicts the target's numbers, or what was recorded
# of both programs differs in just this. POSSIBLE: the numbers do not speak against it.
LIKELY, POSSIBLE = "likely", "possible"
FAILED = 0  # in the place of a rung: the target did not finish
Cause = Callable[["Evidence"], "Iterator[Diagnosis]"]


@dataclass(frozen=True)
class Diagnosis:
    """One likely cause of a broken rung.

    Attributes:
      cause: its name, stable between versions (``learning-rate``).
      title: the cause in a few words, for people.
      likelihood: ``LIKELY`` or ``POSSIBLE``.
      rung: the broken rung that it explains.
      evidence: the numbers that speak for it, in words, the strongest first.
      advice: what to change.
      anchor: where the documentation explains it (``losses-differ.md#learning-rate``).
    """

    cause: str
    title: str
    likelihood: str
    rung: int
    evidence: list[str] = field(default_factory=list)
    advice: str = ""

    @property
    def anchor(self) -> str:
        return f"losses-differ.md#{self.cause}"

    def as_data(self) -> dict[str, Any]:
        return {**asdict(self), "anchor": self.anchor}


def diagnose(rungs: Sequence[Rung], reference: Side, target: Side) -> list[Diagnosis]:
    """The likely causes of the first broken rung, or of the target's failure.

    Returns:
      An empty list when nothing is broken, or when no cause passes its test: unknown.
    """
    from migrate_mgpu.parity.diagnose.evidence import Evidence

    rung = outcome.Rung(FAILED) if target.failure else outcome.headline(rungs)
    if rung is None or reference.failure:
        return []
    evidence = Evidence(rungs, rung, reference, target)
    found: list[Diagnosis] = []
    for name in ("CAUSES", "OTHERWISE"):
        for cause in causes(name).get(rung.number, ()):
            try:
                found += cause(evidence)
            except Exception as error:  # the comparison itself is not to be lost
                text = f"{type(error).__name__}: {error}"
                warnings.warn(f"the diagnosis {cause.__name__} failed: {text}", stacklevel=2)
        if found:
            break
    likely = [one for one in found if one.likelihood == LIKELY]
    # What only may be is not told beside what the numbers speak for.
    return likely or found


@lru_cache(maxsize=2)
def causes(name: str = "CAUSES") -> dict[int, list[Cause]]:
    """The tests of each rung, of all modules in the order of their names.

    Args:
      name: ``OTHERWISE`` for those that are asked when no other passes.
    """
    found: dict[int, list[Cause]] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for number, functions in getattr(module, name, {}).items():
            found.setdefault(number, []).extend(functions)
    return found
