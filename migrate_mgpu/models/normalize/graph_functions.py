"""Functions that build a graph and leave something in it, as functions of what they are given."""

from __future__ import annotations

from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.normalize.collection_lists import threaded
from migrate_mgpu.models.normalize.coordinators import without_coordinators
from migrate_mgpu.models.normalize.drawing_functions import giving_datasets
from migrate_mgpu.models.normalize.input_queues import as_datasets
from migrate_mgpu.models.normalize.maker_statements import inlined, named_by_text
from migrate_mgpu.models.normalize.single_calls import called_once
from migrate_mgpu.source.source import Edit


def normalize(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of one round, in a program's modules; none where nothing is left to do."""
    return (
        as_datasets(modules, graph)
        or without_coordinators(modules)
        or giving_datasets(modules, graph)
        or inlined(modules, graph)
        or threaded(modules, graph)
        or named_by_text(modules)
        or called_once(modules, graph)
    )
