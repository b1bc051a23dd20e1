"""What is known of a program's output beside its text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """What the probe knows of a program that printed (``probe/watch_printing.py``).

    Attributes:
      versions: of the modules that it has imported, and of its Python.
      folders: of its interpreter.
      built: lines of its output, from 0, that TensorFlow had printed by calling a function of the
        program's to build a graph.
    """

    versions: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()
    built: frozenset[int] = frozenset()


NOTHING_KNOWN = Known()
