"""Copies of a Keras model on several GPUs (``multi_gpu_model``), and their strategy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from migrate_mgpu.analysis.call_graph import CallGraph
    from migrate_mgpu.analysis.module import Module
    from migrate_mgpu.analysis.project import Project
    from migrate_mgpu.core.selection import Selection
    from migrate_mgpu.models.keras.multi_gpu_model.planning import Copies, Copy

_WORD = b"multi_gpu_model"


class NoCopies:
    """The copies of a run without any."""

    all: tuple[Copy, ...] = ()

    def of(self, modules: Iterable[Module]) -> list[Copy]:
        return []


def copies(project: Project, graph: CallGraph, rules: Selection) -> Copies | NoCopies:
    """What becomes of a run's copied models, with the rules that are on."""
    if not any(_WORD in data for data in project.data.values()):
        return NoCopies()
    from migrate_mgpu.models.keras.multi_gpu_model.planning import Copies

    return Copies(project, graph, rules)
