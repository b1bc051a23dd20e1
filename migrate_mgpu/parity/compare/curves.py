"""Loss curves of both sides with the tolerance that they were judged by, for reports."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from migrate_mgpu.parity.compare import numeric
from migrate_mgpu.parity.compare.rounding import Rounding
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.probe import matching
from migrate_mgpu.parity.runs.sides import Side


def of(
    reference: Side, target: Side, allowed: Tolerances, rounding: Rounding | None = None
) -> list[dict[str, Any]]:
    """Each loss series: ``name``, ``reference`` and ``target`` (one value a step) and
    ``allowed``, the largest difference that a step may have, for the reference's steps.

    Numbers that are none are the words ``nan``, ``inf`` and ``-inf``: JSON has no others.
    """
    found = []
    pairs = matching.pair_series(dict(reference.training), dict(target.training))
    for name, one, other in pairs:
        before, after = numeric.curve(one), numeric.curve(other)
        more = rounding.losses.get(name, ()) if rounding else ()
        found.append(
            {
                "name": name,
                "reference": _plain(before),
                "target": _plain(after),
                "allowed": _plain(
                    numeric.allowed_differences(
                        name, before, allowed, more, numeric.allowed_of(one)
                    )
                ),
            }
        )
    return found


def _plain(values: Iterable[float]) -> list[float | str]:
    return [value if math.isfinite(value) else str(value) for value in values]
