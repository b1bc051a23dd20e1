"""Which variable of one program is which of the other.

Used by the probe, in the interpreter under test, and by the ladder: Python 3.7,
standard library only.
"""

from __future__ import annotations

import re
from typing import Any


def plain(name: str) -> str:
    """A variable's name without what TensorFlow adds: ``:0`` and replica numbers."""
    return re.sub(r"(/replica_\d+)?(:\d+)?$", "", name)


def pair(
    reference: list[dict[str, Any]], target: list[dict[str, Any]]
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Pair variables by name where names agree, then by creation order and shape.

    Args:
      reference: the variables (``name``, ``shape``) of one program, in creation order.
      target: those of the other.

    Returns:
      Pairs of indices, the indices of ``reference`` without a partner, those of ``target``.
    """
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    names = {plain(v["name"]): i for i, v in enumerate(reference)}
    unique = len(names) == len(reference)
    for j, variable in enumerate(target):
        i: int | None = names.get(plain(variable["name"])) if unique else None
        if i is not None and i not in taken and _same_shape(reference[i], variable):
            pairs[j] = i
            taken.add(i)
    for j, variable in enumerate(target):
        if j in pairs:
            continue
        for i, candidate in enumerate(reference):
            if i not in taken and _same_shape(candidate, variable):
                pairs[j] = i
                taken.add(i)
                break
    found = sorted((i, j) for j, i in pairs.items())
    return (
        found,
        [i for i in range(len(reference)) if i not in taken],
        [j for j in range(len(target)) if j not in pairs],
    )


def _same_shape(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return list(one["shape"]) == list(other["shape"])


class Carrier:
    """Hands the reference's initial values to variables as the target creates them."""

    def __init__(self, variables: list[dict[str, Any]]) -> None:
        self.variables = variables
        self._used: set[int] = set()
        self._names = {plain(v["name"]): i for i, v in enumerate(variables)}

    def choose(self, name: str, shape: list[int]) -> int | None:
        """The index of the reference's variable whose value a new variable begins with."""
        wanted = {"name": name, "shape": shape}
        i = self._names.get(plain(name))
        candidates = ([] if i is None else [i]) + list(range(len(self.variables)))
        for i in candidates:
            if i not in self._used and _same_shape(self.variables[i], wanted):
                self._used.add(i)
                return i
        return None
