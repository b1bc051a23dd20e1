"""Summaries in collections of the program's own, as those that are merged.

    tf.summary.scalar("loss", loss, collections=["train", "test"])
    tf.summary.scalar("rate", rate, collections=["train"])
    train_summaries = tf.summary.merge_all("train")

becomes `loss_summary = tf.summary.scalar("loss", loss)`, and so on, and
`train_summaries = tf.summary.merge([loss_summary, rate_summary])`, where all of them are made in
one place, one after the other, and each collection is one that some merge asks for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.api.summaries import MERGE_ALL, SUMMARIES
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit

_MERGE = "summary.merge_all"
_DEFAULT = "summaries"  # the value of `tf.GraphKeys.SUMMARIES`
_READS = ("get_collection", "get_collection_ref", "add_to_collection", "add_to_collections")
_WHOLE = ("train.Supervisor", "train.SummarySaverHook", "train.MonitoredTrainingSession",
          "train.Scaffold", "contrib.layers.optimize_loss", "contrib.layers.summarize_collection",
          "contrib.slim.learning.train", "GraphKeys.SUMMARIES")  # fmt: skip


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for the summaries of a module; none where one of them may be somewhere else."""
    calls = calls_of_names(module)
    made = {
        call: collections
        for name, row in SUMMARIES.by_name.items()
        for call in calls.get(name, ())
        for collections in [by_parameter(call, row.signature).get("collections")]
    }
    chosen = [one for one in made.values() if one is not None and not is_none(one)]
    merges = calls.get(_MERGE, ())
    if not chosen or not merges:
        return []
    known = {use.symbol.name for one in modules for use in one.uses}
    if known & {*_READS, *_WHOLE} or any(
        {*calls_of_names(one)} & {*SUMMARIES.by_name, _MERGE}
        for one in modules
        if one is not module
    ):
        return []
    names, source = module.names, module.source
    homes = {names.scope_at(node) for node in (*made, *merges)}
    home = homes.pop()
    if homes or not isinstance(home.node, (ast.Module, ast.FunctionDef)):
        return []
    lines = {*in_line(home.node.body)}
    found: list[Edit] = []
    listed: dict[str, list[tuple[ast.Call, str]]] = {}
    taken: set[str] = set()
    for call in sorted(made, key=position):
        keys = _keys(made[call])
        statement = names.parents.get(call)
        if keys is None or statement not in lines:
            return []
        name = ""
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
            if len(statement.targets) > 1 or not isinstance(target, ast.Name):
                return []
            if names.only_binding(target) is None:
                return []
            name = target.id
        elif isinstance(statement, ast.Expr):
            name = _name(module, call, taken)
            start = source.span(statement)[0]
            found.append(Edit(start, start, f"{name} = "))
        if not name:
            return []
        taken.add(name)
        given = made[call]
        if given is not None:
            edit = CallEdit(source, call)
            edit.drop_value(given)
            found += edit.edits()
        for key in keys:
            listed.setdefault(key, []).append((call, name))
    asked: set[str] = set()
    for call in merges:
        told = by_parameter(call, MERGE_ALL)
        shown = constant(told["key"]) if "key" in told else _DEFAULT
        if not isinstance(shown, str) or not told.keys() <= {"key", "name"}:
            return []
        if names.statement(call) not in lines:
            return []
        above = [name for one, name in listed.get(shown, ()) if position(one) < position(call)]
        if not above:
            return []  # it gives None
        asked.add(shown)
        tensorflow = source.code(call.func).rpartition(".")[0]
        named = f", name={source.code(told['name'])}" if "name" in told else ""
        if not tensorflow:
            return []
        found.append(Edit(*source.span(call), f"{tensorflow}.merge([{', '.join(above)}]{named})"))
    return found if listed.keys() <= asked else []


def _keys(given: ast.expr | None) -> list[str] | None:
    """The collections that a summary is in; None where they are computed."""
    if given is None or is_none(given):
        return [_DEFAULT]
    if not isinstance(given, (ast.List, ast.Tuple)):
        return None
    found = [constant(one) for one in given.elts]
    keys = [one for one in found if isinstance(one, str)]
    return keys if len(keys) == len(found) == len({*keys}) else None


def _name(module: Module, call: ast.Call, taken: set[str]) -> str:
    """What a summary is called that has no name in the program."""
    told = constant(call.args[0]) if call.args else None
    word = re.sub(r"\W+", "_", told.rpartition("/")[2]).strip("_") if isinstance(told, str) else ""
    if not word or not word.isidentifier():
        word = "value"
    first = f"{word}_summary"
    candidates = [first, *(f"{first}_{number}" for number in range(2, 100))]
    free = [one for one in candidates if one not in taken]
    return module.names.fresh(module.names.scope_at(call), *free)
