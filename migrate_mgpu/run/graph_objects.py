"""Session programs whose graph is built by a constructor, planned with names for its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.core.findings import Finding, RunResult
from migrate_mgpu.core.registry import only
from migrate_mgpu.core.states import NATIVE
from migrate_mgpu.models.front.rewriters import SessionRewriter
from migrate_mgpu.models.normalize.graph_objects import normalize
from migrate_mgpu.run.normalization import Files, Planned, fits, relocated, renamed
from migrate_mgpu.source.alignment import aligned
from migrate_mgpu.source.history import History

_ROUNDS = 12  # methods of a class that are written where they are called
_WORDS = (b"Session", b"class ", b"placeholder")


def with_named_graphs(files: Files, first: Planned, plan: Callable[[Files], Planned]) -> Planned:
    """The plan of a run with as many such programs native as can be; ``first``: as it stands."""
    code = only(SessionRewriter).rule.code
    data = dict(files)
    chosen: dict[Path, tuple[bytes, History]] = {}
    said: list[tuple[Finding, Finding]] = []
    for program in first[0].programs:
        path = program.entry
        if program.state == NATIVE or path not in data:
            continue
        found = _named(path, data[path]) if all(w in data[path] for w in _WORDS) else None
        if found is None:
            continue
        own = {path: data[path] for path in program.paths if path in data}
        result = _planned(own, {path: found}, plan)
        if all(one.state == NATIVE for one in result.programs if one.entry == path):
            chosen[path] = found
        else:
            said += _reasons(first[0], result, path, code)
    if chosen:
        result = _planned(data, chosen, plan)
        native = {one.entry for one in result.programs if one.state == NATIVE}
        if chosen.keys() <= native:
            return renamed(result, said), first[1]
    return renamed(first[0], said), first[1]


def _planned(
    data: Mapping[Path, bytes],
    named: Mapping[Path, tuple[bytes, History]],
    plan: Callable[[Files], Planned],
) -> RunResult:
    """The plan of some files, of which some have graphs with names, as if these had none."""
    contents = {path: one for path, (one, _) in named.items()}
    layers = {path: one[path] for path, (_, one) in named.items()}
    result, _ = plan([(path, contents.get(path, one)) for path, one in data.items()])
    return relocated(result, layers, contents)


def _reasons(
    first: RunResult, named: RunResult, path: Path, code: str
) -> Iterator[tuple[Finding, Finding]]:
    """What was said of a program that stays, and what stands in the way of one with names."""
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
        edits = aligned(module.source, edits)
        data = module.source.encode(module.source.apply(edits))
        layers.setdefault(path, []).append((module.source, edits))
    return (data, layers) if layers else None
