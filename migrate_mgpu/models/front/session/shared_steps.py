"""What several programs want of a graph that one class builds, by the names in its constructor."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.session.folding import is_flag
from migrate_mgpu.models.front.session.placeholders import is_unshaped
from migrate_mgpu.models.front.session.program import SessionProgram, is_late
from migrate_mgpu.models.front.session.runs import RunReader
from migrate_mgpu.models.ir import SharedGraph, SharedStep, Step


def graph_of(found: SessionProgram, runs: RunReader) -> SharedGraph | None:
    """What a program that is read wants of the class that builds its graph.

    None where that is no class's, or something that the program runs has no name there.
    """
    owner = found.scope.owner
    if owner is None:
        return None
    steps: list[SharedStep] = []
    for step in found.steps:
        wanted = _step(found, runs, step)
        if wanted is None:
            return None
        steps.append(wanted)
    fed = set(found.fed.values())
    unshaped = [one for one in found.placeholders if is_unshaped(one)]
    numbers = frozenset(one.name for one in unshaped if one in found.numbers)
    others = frozenset(one.name for one in unshaped if one in fed and one not in found.numbers)
    names, inside = found.scope.module.names, set(walk(owner))
    taken = {name.id for name in names.scope_of_name if name not in inside}
    for scope in (one for node, one in names.scopes.items() if node not in inside):
        taken.update(scope.bindings)
    return SharedGraph(
        owner.name, tuple(steps), numbers, others, frozenset(taken), found.saved is not None
    )


def _step(found: SessionProgram, runs: RunReader, step: Step) -> SharedStep | None:
    if any(map(is_late, step.units)) and not step.updates:
        return None
    run = next((one for one in found.runs if one.step is step), None)
    if run is None:
        return runs.shared.get(step)
    fetches: list[str] = []
    for fetch in run.fetches:
        if fetch.variable:
            continue  # it is read behind the step, of the object
        if fetch.update is not None and fetch.update.is_loss:
            return None
        node = fetch.value if fetch.value is not None else runs.named(fetch.node)
        if not isinstance(node, ast.Name):
            return None
        fetches.append(node.id)
    folded = tuple(
        (one.name, bool(constant(value)) if is_flag(one) else None) for one, value in step.folded
    )
    return SharedStep(tuple(fetches), tuple(one.name for one in step.feeds), folded)


def together(graphs: Iterable[SharedGraph]) -> SharedGraph | None:
    """What several programs want of one class; None where they name different ones."""
    found: SharedGraph | None = None
    for one in graphs:
        if found is None:
            found = one
            continue
        if one.owner != found.owner:
            return None
        found = SharedGraph(
            found.owner,
            tuple(dict.fromkeys((*found.steps, *one.steps))),
            found.numbers | one.numbers,
            found.others | one.others,
            found.taken | one.taken,
            found.saved or one.saved,
        )
    return found
