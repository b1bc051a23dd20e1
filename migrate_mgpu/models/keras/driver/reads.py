"""Settings of a RunConfig that the program reads: the values that they are."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.models.front.estimators.parts import Configuration, RunConfig
from migrate_mgpu.models.front.estimators.visibility import known_at, settled
from migrate_mgpu.models.ir import Query
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.source.source import Edit

# What a setting is that nothing gives.
_DEFAULTS = {
    "model_dir": None,
    "tf_random_seed": None,
    "save_summary_steps": 100,
    "save_checkpoints_secs": 600,
    "save_checkpoints_steps": None,
    "keep_checkpoint_max": 5,
    "keep_checkpoint_every_n_hours": 10000,
    "log_step_count_steps": 100,
}
_EITHER = {"save_checkpoints_secs", "save_checkpoints_steps"}  # giving one makes the other None


def substitute(config: Configuration, values: ValueFlow) -> None:
    """Says of each read what stands for it, wherever its text goes.

    Raises:
        Refused: what it reads is not known there.
    """
    for query in config.reads:
        query.module.substitutes[query.node] = _value(config, query, values)


def _value(config: Configuration, query: Query, values: ValueFlow) -> ast.expr:
    name = query.kind
    refused = Refused(
        query.module, query.node, f"`{name}` of the RunConfig is read here",
        "put the setting into a variable, and read that",
    )  # fmt: skip
    assert isinstance(query.node, ast.Attribute)
    if any(name in one.arguments for one in config.replaced):
        made = _giver(config, query.module, query.node.value, name, values)
    else:
        made = config.made[0] if len(config.made) == 1 else None
    if name not in _DEFAULTS or made is None:
        raise refused
    given = made.arguments.get(name)
    if given is None:
        other = _EITHER & made.arguments.keys() if name in _EITHER else ()
        return ast.Constant(None if other else _DEFAULTS[name])
    if not settled(made.module, given):
        raise refused
    known = known_at(values, made.module, given, query.module, query.node)
    if known is None:
        raise refused
    return known


def _giver(
    config: Configuration, module: Module, node: ast.expr, name: str, values: ValueFlow
) -> RunConfig | None:
    """The call that gave a setting to the configuration that an expression is: a `replace`, or else
    what made it. None where that may be several."""
    origins = values.definitions(module, node)
    if len(origins) != 1:
        return None
    found = next((one for one in config.all if one.place is origins[0].node), None)
    if found is None or found.kind != "replace" or name in found.arguments:
        return found
    called = found.node.func
    assert isinstance(called, ast.Attribute)
    return _giver(config, found.module, called.value, name, values)


def written(module: Module, changes: DriverEdits) -> None:
    """The reads that stand in the author's text still."""
    spans = [(e.start, e.end) for e in changes.edits.get(module, ()) if e.end > e.start]
    for node in module.substitutes:
        start, end = module.source.span(node)
        if not any(begin <= start and end <= stop for begin, stop in spans):
            if not changes.gone & {node, *module.names.ancestors(node)}:
                changes.edit(module, Edit(start, end, text_of(module, node)))
