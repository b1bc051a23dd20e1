"""The passes that bring a session program into a form that the session reader knows, in order.

Each is equal TF1 code. ``run/named_graphs.py`` applies them until none has an edit left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record
from migrate_mgpu.models.ir import SharedGraph
from migrate_mgpu.models.normalize.data import (
    called_feeds,
    contrib_pipelines,
    fed_datasets,
    fed_elements,
    fed_values,
    feedable_iterators,
    fetched_gradients,
    fetched_states,
    fetched_variables,
    given_placeholders,
    initializer_lists,
    named_tensors,
)
from migrate_mgpu.models.normalize.functions import (
    branch_parts,
    branches_apart,
    called_imports,
    collecting_functions,
    filled_tables,
    given_functions,
    given_optimizers,
    gradient_loops,
    graph_functions,
    graph_parameters,
    graph_statements,
    idle_globals,
    late_parts,
    loop_parts,
    mixed_indents,
    module_aliases,
    nested_functions,
    old_names,
    optimizer_choices,
    partial_calls,
    private_names,
    public_keras,
    reused_names,
    same_steps,
    script_statements,
    searched_functions,
    settled_arms,
    starred_names,
    turned_lists,
    version_arms,
)
from migrate_mgpu.models.normalize.layers import (
    arg_scopes,
    asserted_reuse,
    called_initializers,
    carried_sizes,
    conditional_normalization,
    crf_transitions,
    fed_dropout,
    first_turns,
    held_assertions,
    idle_reuse,
    last_dimensions,
    layer_loops,
    layer_objects,
    listed_tables,
    loop_collections,
    lower_triangles,
    moving_moments,
    named_shapes,
    own_rows,
    raised_again,
    returned_collections,
    scope_initializers,
    scope_regularizers,
    script_collections,
    shape_loops,
    shape_products,
    shared_initializers,
    static_branches,
    static_shapes,
    static_sizes,
    told_sizes,
    trained_globals,
    tried_items,
    turned_shapes,
    variable_lists,
    variable_names,
    variable_regularizers,
    variables_again,
    whole_pools,
)
from migrate_mgpu.models.normalize.objects import (
    applied_objects,
    attribute_loops,
    called_objects,
    class_constants,
    class_names,
    graph_objects,
    kept_objects,
    late_builders,
    lazy_properties,
    network_methods,
    object_lists,
    parts_behind,
    repeated_networks,
    settled_attributes,
    unread_parts,
    unread_states,
)
from migrate_mgpu.models.normalize.recurrent import (
    attended_starts,
    attention_cells,
    bidirectional,
    cell_loops,
    conditional_dropout,
    decoders,
    fed_states,
    kept_states,
    recurrent_dropout,
    recurrent_inputs,
    returned_networks,
    reused_decoders,
    sequence_losses,
    stacked_dropout,
    time_major,
)
from migrate_mgpu.models.normalize.sessions import (
    chosen_summaries,
    closed_sessions,
    default_sessions,
    early_constants,
    graph_names,
    graphs_in_turn,
    idle_resets,
    idle_sessions,
    kept_initializers,
    late_savers,
    later_graphs,
    listed_assignments,
    loaded_graphs,
    method_savers,
    monitored_sessions,
    named_assignments,
    needless_sessions,
    own_graphs,
    parsed_summaries,
    printed_parts,
    repeated_savers,
    repeated_settings,
    returned_sessions,
    run_names,
    script_savers,
    session_blocks,
    session_functions,
    session_loops,
    session_methods,
    summary_collections,
    tried_initializers,
    unread_steps,
    unrun_assignments,
    valued_updates,
)
from migrate_mgpu.models.normalize.towers import (
    batches_before_towers,
    built_again,
    collected_above,
    deployed_clones,
    device_choices,
    first_tower,
    made_before_towers,
    placeholder_lists,
    shown_values,
    templates,
    tower_averages,
    tower_lists,
    tower_losses,
    tower_sums,
)
from migrate_mgpu.source.source import Edit

Edits = Mapping[Module, list[Edit]]


@record(frozen=True, eq=False)
class PassInput:
    """What a pass sees of a program.

    ``modules`` are all of its modules, ``own`` those that no other program has: only they change.
    ``home`` is the module of the class that makes the session, if one does. ``shared``: what
    several programs want of that class. ``makes_parts``: a function leaves something in the graph.
    """

    modules: Sequence[Module]
    graph: CallGraph
    own: Sequence[Module]
    home: Module | None
    has_objects: bool
    makes_parts: bool
    shared: SharedGraph | None


Pass = Callable[[PassInput], Edits]


def _first(seen: PassInput, normalize: Callable[[Module], list[Edit]]) -> Edits:
    """The edits of the first module that has some."""
    for module in seen.own:
        edits = normalize(module)
        if edits:
            return {module: edits}
    return {}


def _alone(normalize: Callable[[Module], list[Edit]]) -> Pass:
    """A pass that reads each module by itself."""
    return lambda seen: _first(seen, normalize)


def _with_calls(normalize: Callable[[Module, CallGraph], list[Edit]]) -> Pass:
    """A pass that reads each module and who calls what."""
    return lambda seen: _first(seen, lambda one: normalize(one, seen.graph))


def _among(normalize: Callable[[Module, Sequence[Module]], list[Edit]]) -> Pass:
    """A pass that reads each module beside the others of its program."""
    return lambda seen: _first(seen, lambda one: normalize(one, seen.modules))


def _among_calls(normalize: Callable[[Module, CallGraph, Sequence[Module]], list[Edit]]) -> Pass:
    """A pass that reads each module beside the others, and who calls what."""
    return lambda seen: _first(seen, lambda one: normalize(one, seen.graph, seen.modules))


def _whole(
    normalize: Callable[[Sequence[Module], CallGraph, Set[Module]], dict[Module, list[Edit]]],
) -> Pass:
    """A pass that reads the modules of a program together."""
    return lambda seen: normalize(seen.modules, seen.graph, set(seen.own))


def _of_objects(of: Pass) -> Pass:
    """A pass for programs of which a class makes the session."""
    return lambda seen: of(seen) if seen.has_objects else {}


def _of_functions(of: Pass) -> Pass:
    """A pass for programs whose functions leave something in the graph."""
    return lambda seen: of(seen) if seen.makes_parts else {}


def _sizes(module: Module, graph: CallGraph) -> list[Edit]:
    """Sizes of variables that are asked of tensors, as numbers of Python's."""
    return (
        static_sizes.normalize(module)
        or carried_sizes.normalize(module)
        or static_shapes.normalize(module, graph)
    )


def _names_of_parts(seen: PassInput) -> Edits:
    """Names for the parts of the graph that a constructor builds."""
    if seen.home is None:
        return {}
    found = graph_objects.normalize(seen.home, seen.graph, seen.shared)
    return {seen.home: found} if found else {}


def _renamed(seen: PassInput) -> Edits:
    """Names of parts of the graph that are values of Python's later, in modules of their own."""
    found: dict[Module, list[Edit]] = {}
    for module in seen.own:
        edits = reused_names.renamed(module)
        if edits and not any(module in other.imported for other in seen.modules):
            found[module] = edits
    return found


PASSES: tuple[Pass, ...] = (
    _among_calls(deployed_clones.normalize),
    _with_calls(monitored_sessions.normalize),
    _alone(version_arms.normalize),
    _alone(called_imports.normalize),
    _alone(old_names.normalize),
    _alone(private_names.normalize),
    _alone(raised_again.normalize),
    _alone(fed_states.normalize),
    _whole(needless_sessions.normalize),
    _with_calls(returned_sessions.normalize),
    _whole(default_sessions.normalize),
    _whole(unread_steps.normalize),
    _with_calls(unrun_assignments.normalize),
    _whole(object_lists.normalize),
    _alone(same_steps.normalize),
    _whole(printed_parts.normalize),
    _whole(own_graphs.normalize),
    _whole(applied_objects.normalize),
    _alone(asserted_reuse.normalize),
    _alone(idle_globals.normalize),
    _alone(named_assignments.normalize),
    _alone(listed_assignments.normalize),
    _with_calls(listed_assignments.returned),
    _alone(listed_assignments.kept),
    _alone(held_assertions.normalize),
    _among_calls(idle_reuse.normalize),
    _alone(idle_reuse.repeated),
    _among_calls(idle_reuse.shared),
    _of_objects(_whole(unread_parts.normalize)),
    _with_calls(unread_parts.as_names),
    _with_calls(repeated_networks.normalize),
    _alone(first_turns.normalize),
    _with_calls(_sizes),
    _among(chosen_summaries.normalize),
    _among(summary_collections.normalize),
    _alone(lazy_properties.normalize),
    _with_calls(given_placeholders.normalize),
    _of_objects(_whole(session_methods.normalize)),
    _of_objects(_whole(session_methods.with_builders)),
    _of_objects(_with_calls(unread_parts.as_names_of_sessions)),
    _among(layer_objects.kept),
    _of_objects(_whole(late_builders.normalize)),
    _alone(attribute_loops.normalize),
    _of_objects(_alone(class_names.normalize)),
    _with_calls(settled_arms.types),
    _of_functions(_whole(graph_functions.normalize)),
    _of_objects(_names_of_parts),
    _whole(class_constants.normalize),
    _whole(called_objects.normalize),
    _alone(collecting_functions.normalize),
    _with_calls(variable_lists.normalize),
    _among_calls(variable_regularizers.normalize),
    _whole(network_methods.normalize),
    _among(trained_globals.normalize),
    _of_objects(_whole(kept_objects.normalize)),
    _whole(filled_tables.normalize),
    _among_calls(idle_resets.normalize),
    _whole(idle_sessions.normalize),
    _alone(mixed_indents.normalize),
    _alone(starred_names.normalize),
    _alone(tried_initializers.normalize),
    _among(kept_initializers.normalize),
    _whole(module_aliases.normalize),
    _alone(conditional_normalization.normalize),
    _among(moving_moments.normalize),
    _with_calls(arg_scopes.normalize),
    _alone(arg_scopes.normalizers_apart),
    _alone(partial_calls.normalize),
    _among(shared_initializers.normalize),
    _among(scope_initializers.normalize),
    _with_calls(scope_initializers.of_cells),
    _among_calls(scope_regularizers.normalize),
    _alone(public_keras.of_module),
    _alone(shape_products.normalize),
    _alone(shape_loops.normalize),
    _with_calls(static_branches.normalize),
    _with_calls(tried_items.normalize),
    _alone(last_dimensions.normalize),
    _alone(own_rows.normalize),
    _alone(named_shapes.normalize),
    _with_calls(told_sizes.normalize),
    _alone(whole_pools.normalize),
    _alone(lower_triangles.normalize),
    _among(graph_names.normalize),
    _alone(crf_transitions.normalize),
    _with_calls(feedable_iterators.normalize),
    _with_calls(fed_elements.normalize),
    _alone(initializer_lists.normalize),
    _alone(initializer_lists.named),
    _alone(contrib_pipelines.normalize),
    _alone(fed_datasets.normalize),
    _alone(sequence_losses.normalize),
    _alone(time_major.normalize),
    _with_calls(returned_networks.normalize),
    _alone(bidirectional.parted),
    _alone(attended_starts.normalize),
    _alone(attention_cells.normalize),
    _alone(decoders.normalize),
    _alone(reused_decoders.normalize),
    _alone(searched_functions.normalize),
    _of_objects(_whole(parts_behind.normalize)),
    _among(unread_states.normalize),
    _of_objects(_alone(settled_attributes.normalize)),
    _alone(fetched_states.normalize),
    _alone(fetched_gradients.normalize),
    _alone(fetched_gradients.unread),
    _alone(fetched_variables.normalize),
    _alone(conditional_dropout.normalize),
    _alone(cell_loops.normalize),
    _with_calls(kept_states.normalize),
    _alone(stacked_dropout.normalize),
    _alone(recurrent_dropout.normalize),
    _alone(recurrent_inputs.normalize),
    _with_calls(script_statements.normalize),
    _with_calls(given_optimizers.normalize),
    _alone(optimizer_choices.normalize),
    _alone(session_blocks.normalize),
    _alone(closed_sessions.normalize),
    _with_calls(script_savers.normalize),
    _with_calls(session_functions.normalize),
    _alone(repeated_savers.normalize),
    _among(repeated_settings.normalize),
    _alone(late_savers.normalize),
    _with_calls(method_savers.normalize),
    _with_calls(session_loops.normalize),
    _with_calls(returned_collections.normalize),
    _alone(fed_dropout.normalize),
    _alone(fed_values.normalize),
    _with_calls(called_feeds.normalize),
    _alone(valued_updates.grouped),
    _alone(valued_updates.valued),
    _alone(run_names.normalize),
    _alone(parsed_summaries.normalize),
    _alone(early_constants.normalize),
    _alone(called_initializers.normalize),
    _alone(layer_objects.normalize),
    _alone(layer_objects.flattened),
    _alone(late_parts.normalize),
    _with_calls(branch_parts.normalize),
    _alone(branches_apart.normalize),
    _alone(loop_parts.normalize),
    _among(loop_collections.normalize),
    _among(script_collections.normalize),
    _with_calls(given_functions.normalize),
    _alone(turned_shapes.normalize),
    _with_calls(layer_loops.normalize),
    _with_calls(listed_tables.normalize),
    _alone(loaded_graphs.normalize),
    _with_calls(named_tensors.normalize),
    _alone(turned_lists.normalize),
    _alone(graphs_in_turn.normalize),
    _alone(later_graphs.normalize),
    _renamed,
    _alone(reused_names.variables_apart),
    _alone(reused_names.constants_apart),
    _alone(reused_names.states_apart),
    _alone(reused_names.cells_apart),
    _alone(reused_names.shown_apart),
    _with_calls(variable_names.parted),
    _alone(variables_again.normalize),
    _alone(reused_names.renamed_in_towers),
    _with_calls(built_again.variables_of_towers),
    _with_calls(device_choices.worker_names),
    _with_calls(device_choices.setters),
    _with_calls(device_choices.normalize),
    _among_calls(first_tower.counted_items),
    _with_calls(first_tower.normalize),
    _among_calls(collected_above.normalize),
    _with_calls(shown_values.normalize),
    _with_calls(graph_statements.named_in_towers),
    _with_calls(graph_statements.chosen_in_towers),
    _with_calls(graph_statements.iterators_of_towers),
    _with_calls(tower_lists.normalize),
    _alone(tower_lists.shared_below),
    _alone(tower_lists.one_loop),
    _alone(tower_lists.gradients_in_loop),
    _among(tower_lists.lists_of_objects),
    _with_calls(tower_sums.normalize),
    _alone(tower_averages.normalize),
    _alone(gradient_loops.normalize),
    _alone(gradient_loops.without_none),
    _alone(gradient_loops.chosen),
    _among_calls(tower_losses.normalize),
    _with_calls(graph_statements.appended_in_towers),
    _with_calls(placeholder_lists.normalize),
    _with_calls(templates.normalize),
    _with_calls(graph_statements.splits_apart),
    _alone(graph_statements.datasets_apart),
    _among(graph_statements.without_averages),
    _among_calls(made_before_towers.settings_before),
    _with_calls(made_before_towers.unpacked_before),
    _among_calls(made_before_towers.shapes_before),
    _with_calls(batches_before_towers.normalize),
    _with_calls(graph_parameters.given),
    _alone(nested_functions.normalize),
)


def edits_of(seen: PassInput) -> Edits:
    """What the first pass changes that has something to do; nothing where none has.

    A pass may come to a call with arguments that TF1 does not know: the reader says so.
    """
    for normalize in PASSES:
        try:
            found = normalize(seen)
        except Refused:
            continue
        if found:
            return found
    return {}
