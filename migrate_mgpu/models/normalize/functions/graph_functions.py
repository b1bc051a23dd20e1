"""Functions that build a graph and leave something in it, as functions of what they are given."""

from __future__ import annotations

from collections.abc import Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.normalize.data.batching_functions import written_where_called
from migrate_mgpu.models.normalize.data.coordinators import without_coordinators
from migrate_mgpu.models.normalize.data.drawing_functions import giving_datasets
from migrate_mgpu.models.normalize.data.input_queues import as_datasets
from migrate_mgpu.models.normalize.functions.maker_statements import inlined, named_by_text
from migrate_mgpu.models.normalize.functions.part_tables import apart as tables_apart
from migrate_mgpu.models.normalize.functions.part_tables import spread
from migrate_mgpu.models.normalize.functions.single_calls import called_once
from migrate_mgpu.models.normalize.layers.applied_regularizers import applied_at_once, written_out
from migrate_mgpu.models.normalize.layers.collection_lists import calls_apart, threaded
from migrate_mgpu.models.normalize.layers.decay_of_none import always_added
from migrate_mgpu.models.normalize.layers.summed_regularizers import summed
from migrate_mgpu.models.normalize.layers.unread_collections import dropped
from migrate_mgpu.models.normalize.objects.called_builders import by_constructors
from migrate_mgpu.models.normalize.objects.late_optimizers import (
    by_constructors as steps_by_constructors,
)
from migrate_mgpu.models.normalize.objects.single_objects import as_functions
from migrate_mgpu.models.normalize.sessions.moved_sessions import where_called
from migrate_mgpu.models.normalize.sessions.summary_tags import told
from migrate_mgpu.models.normalize.towers.built_again import apart
from migrate_mgpu.models.normalize.towers.made_before_towers import variables_from_first
from migrate_mgpu.models.normalize.towers.prefetch_queues import drawn_by_towers
from migrate_mgpu.models.normalize.towers.tower_batches import written_in_towers
from migrate_mgpu.source.source import Edit


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits of one round, in a program's modules; none where nothing is left to do.

    ``own`` are those that no other program has: nothing else changes.
    """
    passes = (
        written_where_called, as_datasets, _without_coordinators, giving_datasets, drawn_by_towers,
        apart, dropped, written_out, applied_at_once, summed, inlined, always_added, told,
        threaded, calls_apart, named_by_text, called_once, written_in_towers, tables_apart, spread,
        by_constructors, steps_by_constructors, as_functions, variables_from_first, where_called,
    )  # fmt: skip
    free = [module for module in modules if module in own]
    for one in passes:
        edits = one(modules if one in _READ_ALL else free, graph)
        if edits and edits.keys() <= own:
            return edits
    return {}


def _without_coordinators(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    del graph
    return without_coordinators(modules)


# These must know what all modules do with threads, and what they collect.
_READ_ALL = (
    as_datasets, _without_coordinators, drawn_by_towers, apart, dropped, written_out, always_added,
    told, threaded, calls_apart, variables_from_first,
)  # fmt: skip
