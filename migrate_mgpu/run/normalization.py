"""Programs whose Estimators stay, normalized and planned again, as long as that helps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place, Refused, internal_error
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.findings import KEPT, MANUAL, REFUSED, Finding, RunResult
from migrate_mgpu.core.records import field, record, replaced
from migrate_mgpu.models.conversion import Conversion
from migrate_mgpu.models.normalize.estimators.passes import answering
from migrate_mgpu.run.plan import Planned
from migrate_mgpu.run.relocation import Files, Rewritten, relocated, renamed, rewritten
from migrate_mgpu.run.reporting import finding
from migrate_mgpu.run.states import estimator_stays
from migrate_mgpu.source.history import History, before, place

Key = tuple[Path, int]  # an Estimator: its file, and which of the file's it is

_ROUNDS = 16  # passes within each other


def normalized(
    files: Files,
    first: Planned,
    plan: Callable[[Files], Planned],
    convert: Callable[[Files], Planned],
) -> RunResult:
    """The plan of a run with as many Estimators converted as can be; ``first``: as it stands.

    ``convert`` plans a run as well as ``plan`` as far as its Estimators are concerned.
    """
    left_out: set[Key] = set()
    named: list[tuple[Finding, Finding]] = []
    some = _concerned(files, first)
    while some:  # each time one Estimator more at least is left as it was
        attempt = _Attempt(some, convert, left_out)
        found = attempt.run(first)
        named += attempt.renamed(first, attempt.reasons)
        if found is None:
            break
        stays = attempt.stays(found)
        if not stays:
            whole = [(path, attempt.contents.get(path, data)) for path, data in files]
            found = plan(whole)
            stays = attempt.stays(found)
        if not stays:
            result = relocated(found.result, attempt.layers, attempt.contents)
            return renamed(_with(result, attempt.told), named)
        kept = {key: one.refused for key, one, _ in _keyed(found) if key in stays}
        named += attempt.renamed(first, kept)
        left_out = left_out | stays
    return renamed(first.result, named)


def _concerned(files: Files, planned: Planned) -> Files:
    """The files of the programs in which an Estimator stays in a form that some pass knows."""
    flows = [one.flow for _, one, _ in _keyed(planned) if _triggered(one)]
    homes = {module for flow in flows for module in flow.modules}
    programs = [one for part in planned.parts for one in part.graph.project.programs()]
    concerned = [program.modules for program in programs if homes & set(program.modules)]
    paths = {module.path for modules in concerned for module in modules}
    return [(path, data) for path, data in files if path in paths]


def _keyed(planned: Planned) -> Iterator[tuple[Key, Conversion, CallGraph]]:
    for part in planned.parts:
        counts: dict[Path, int] = {}
        for one in part.conversions.all:
            number = counts[one.flow.module.path] = counts.get(one.flow.module.path, 0) + 1
            yield (one.flow.module.path, number), one, part.graph


def _of(
    found: list[tuple[Key, Conversion, CallGraph]], path: Path
) -> list[tuple[Key, Conversion, CallGraph]]:
    """Those of one file."""
    return [one for one in found if one[0][0] == path]


@record()
class _Attempt:
    files: Files
    plan: Callable[[Files], Planned]
    left_out: set[Key]
    touched: set[Key] = field(default_factory=set)
    layers: History = field(default_factory=dict)
    contents: dict[Path, bytes] = field(default_factory=dict)
    reasons: dict[Key, Diagnostic] = field(default_factory=dict)  # what passes ended with
    told: list[Finding] = field(default_factory=list)
    numbered: list[Key] = field(default_factory=list)  # before anything was normalized

    def stays(self, planned: Planned) -> set[Key]:
        """The normalized Estimators that are not converted all the same.

        Where a pass left one out, the numbers of a file's others are not what they were: then it
        is all that were normalized there, if any of the file stays.
        """
        found = list(_keyed(planned))
        known = [path for path, _ in self.numbered]
        fewer = {path for path in known if known.count(path) != len(_of(found, path))}
        return {
            key
            for key in self.touched
            for other, one, _ in found
            if one.refused and (other == key or (key[0] in fewer and other[0] == key[0]))
        }

    def renamed(
        self, first: Planned, real: Mapping[Key, Diagnostic | None]
    ) -> list[tuple[Finding, Finding]]:
        """What was said of some Estimators, and what really stands in their way."""
        plain = {key: one.refused for key, one, _ in _keyed(first)}
        pairs: list[tuple[Finding, Finding]] = []
        for key, refused in real.items():
            stays = plain.get(key)
            if refused is not None and stays is not None:
                here = _finding(stays, {})
                # Where a pass wrote the place, it is told of the Estimator's own.
                moved = replaced(refused, place=stays.place)
                there = _finding(refused, self.layers) or _finding(moved, {})
                if here is not None and there is not None and here != there:
                    for state in (REFUSED, KEPT):
                        pairs.append((replaced(here, state=state), replaced(there, state=state)))
        return pairs

    def run(self, found: Planned) -> Planned | None:
        """The plan of the normalized run; None where there was nothing to normalize."""
        self.contents = contents = dict(self.files)
        self.numbered = [key for key, _, _ in _keyed(found)]
        for _ in range(_ROUNDS):
            edits = self._edits(found)
            if not edits:
                break
            for module, new in edits.items():
                contents[module.path] = new.data
                self.layers.setdefault(module.path, []).append((module.source, new.edits))
            found = self.plan([(path, contents[path]) for path, _ in self.files])
        return found if self.touched else None

    def _edits(self, planned: Planned) -> dict[Module, Rewritten]:
        """One pass for each Estimator that stays, in files that no other one changes now."""
        found: dict[Module, Rewritten] = {}
        for key, one, graph in _keyed(planned):
            if key in self.left_out or one.refused is None:
                continue
            waits = False  # an earlier pass does, for files that another one changes now
            for known in answering(one.flow, one.refused):
                try:
                    edits = known.normalize(one.flow, graph)
                except Refused as refused:  # what it would write cannot be said there
                    if known.explains and not waits:
                        self.reasons[key] = refused.diagnostic
                    continue
                except Exception as error:  # a mistake of ours: the Estimator stays
                    place = Place(one.flow.module, one.flow.call)
                    self.reasons[key] = internal_error(place, error)
                    continue
                new = rewritten(edits) if not edits.keys() & found.keys() else {}
                waits |= bool(edits) and not new
                if new:
                    told = [
                        _placed(why, MANUAL, self.layers) for why in known.tell(one.flow, graph)
                    ]
                    self.told += [one for one in told if one is not None]
                    found.update(new)
                    self.touched.add(key)
                    break
        return found


def _triggered(one: Conversion) -> bool:
    """Whether some pass may help an Estimator that stays."""
    return one.refused is not None and bool(answering(one.flow, one.refused))


def _with(result: RunResult, told: list[Finding]) -> RunResult:
    """The result, and what passes said."""
    files = {file.path: file for file in result.files}
    for one in told:
        if one.path in files and one not in files[one.path].findings:
            files[one.path].findings.append(one)
            files[one.path].findings.sort(key=lambda found: found.position)
    return result


def _finding(refused: Diagnostic, layers: History) -> Finding | None:
    return _placed(estimator_stays(refused), REFUSED, layers)


def _placed(said: Diagnostic, state: str, layers: History) -> Finding | None:
    """What is said of a place, in its file as it was; None for a place that a pass wrote.

    Code that a pass moved is known by its text, where that stands in the file once.
    """
    module, node = said.module, said.node
    source = module.source
    offset, code = source.span(node)[0], source.code(node)
    moved = False
    for original, edits in reversed(layers.get(module.path, [])):
        offset, stood = before(offset, edits)
        moved |= not stood
        source = original
    if moved:
        if source.text.count(code) != 1:
            return None
        offset = source.text.index(code)
    cell, line, column = place(source, offset)
    return replaced(finding(said, state), cell=cell, line=line, column=column)
