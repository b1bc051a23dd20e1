"""Session programs whose graph is built by a constructor, planned with names for its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.core.findings import Finding, RunResult
from migrate_mgpu.core.registry import only
from migrate_mgpu.core.states import NATIVE
from migrate_mgpu.models.front.rewriters import SessionRewriter
from migrate_mgpu.models.normalize.graph_objects import normalize
from migrate_mgpu.run.normalization import Files, Planned, fits, relocated, renamed
from migrate_mgpu.source.history import History

_ROUNDS = 12  # methods of a class that are written where they are called
_WORDS = (b"Session", b"class ", b"placeholder")


def with_named_graphs(files: Files, first: Planned, plan: Callable[[Files], Planned]) -> Planned:
    """The plan of a run with as many such programs native as can be; ``first``: as it stands."""
    stays = {one.entry for one in first[0].programs if one.state != NATIVE}
    chosen: dict[Path, tuple[bytes, History]] = {}
    for path, data in files:
        if path in stays and all(word in data for word in _WORDS):
            found = _named(path, data)
            if found is not None:
                chosen[path] = found
    said: list[tuple[Finding, Finding]] = []
    code = only(SessionRewriter).rule.code
    while chosen:
        attempt = plan([(path, chosen[path][0] if path in chosen else d) for path, d in files])
        native = {one.entry for one in attempt[0].programs if one.state == NATIVE}
        layers = {path: one[path] for path, (_, one) in chosen.items()}
        result = relocated(attempt[0], layers, {path: data for path, (data, _) in chosen.items()})
        if chosen.keys() <= native:
            return renamed(result, said), first[1]
        said += _reasons(first[0], result, chosen.keys() - native, code)
        chosen = {path: one for path, one in chosen.items() if path in native}
    return renamed(first[0], said), first[1]


def _reasons(
    first: RunResult, named: RunResult, stays: AbstractSet[Path], code: str
) -> Iterator[tuple[Finding, Finding]]:
    """What was said of programs that stay, and what stands in the way of those with names."""
    for path in stays:
        here, there = (
            [one for one in result.findings if one.path == path and one.code == code]
            for result in (first, named)
        )
        if here and there:
            yield here[0], there[0]


def _named(path: Path, data: bytes) -> tuple[bytes, History] | None:
    """A file whose classes' graphs have names, with what was changed for that."""
    layers: History = {}
    for _ in range(_ROUNDS):
        project = Project([(path, data)])
        module = next(iter(project.modules.values()), None)
        edits = normalize(module, CallGraph(project)) if module is not None else []
        if module is None or not edits or not fits({module: edits}):
            break
        data = module.source.encode(module.source.apply(edits))
        layers.setdefault(path, []).append((module.source, edits))
    return (data, layers) if layers else None
