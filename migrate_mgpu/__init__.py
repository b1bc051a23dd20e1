"""Bring TF1 multi-GPU code to TF2, and prove what was done."""

from __future__ import annotations

__version__ = "0.1.0"

# How messages tell to install what parity needs, and a TensorFlow beside it. Until there is a
# release, from the repository.
INSTALL = "in a checkout of migrate-mgpu: pip install '.[runtimes]'"
INSTALL_TENSORFLOW = "in a checkout of migrate-mgpu: pip install '.[parity]'"


def record(name: str, value: object) -> None:
    """Show a number or an array to ``migrate-mgpu parity``; without it, do nothing.

    Both versions of a program call it with the same names; the values are compared call by
    call (docs/parity.md, "What no hook can see"). The probe puts its own in this place.
    """
