"""How far two numbers may be apart. The measurements behind it are in docs/parity.md."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field

# Relative. One step's rounding in float32 is about 1e-7 and was measured up to 3e-7 for
# losses, more for gradients, which are sums of terms that cancel.
LOSS = 1e-5
GRADIENT = 1e-4
WEIGHT = 1e-5
RESULT = 1e-5
# Each step passes its rounding on to the next: what is allowed grows with the step.
GROWTH = 0.02
# Of an array of final weights, this share may be apart by this much more: an adaptive
# optimizer moves an element whose gradient is nothing but rounding as far as any other.
OUTLIERS = 1e-3
OUTLIER_FACTOR = 10.0
# Of a model's gradients each may be apart by this share of the largest: one that is zero but for
# rounding has the rounding of the terms that it is the sum of, which are as large as the others'.
GRADIENT_FLOOR = 1e-6
# Below this, relative to the largest value of the array or series, a difference is of
# values that are zero but for rounding.
FLOOR = 1e-7


@dataclass(frozen=True)
class Tolerances:
    """The defaults, one value for all (``--rtol``), or one for outputs by name.

    Attributes:
      rtol: for every output, instead of the defaults.
      atol: added to what is allowed.
      named_rtol: by the output's name or a pattern of it (``loss``, ``weights/*``).
      named_atol: the same.
    """

    rtol: float | None = None
    atol: float = 0.0
    named_rtol: Mapping[str, float] = field(default_factory=dict)
    named_atol: Mapping[str, float] = field(default_factory=dict)

    def relative(self, output: str, default: float, step: int = 0) -> float:
        """Allowed at a step (from 0), relative to the reference's magnitude."""
        chosen = self._named(self.named_rtol, output)
        if chosen is None:
            chosen = default if self.rtol is None else self.rtol
        return chosen * (1 + GROWTH * step)

    def absolute(self, output: str) -> float:
        chosen = self._named(self.named_atol, output)
        return self.atol if chosen is None else chosen

    @staticmethod
    def _named(values: Mapping[str, float], output: str) -> float | None:
        if output in values:
            return values[output]
        for pattern, value in values.items():
            if fnmatch.fnmatchcase(output, pattern):
                return value
        return None
