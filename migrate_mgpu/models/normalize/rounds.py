"""A run planned again, with the Estimators that stay restated, as long as that helps."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Union

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place, internal_error
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.core.findings import FileResult, RunResult
from migrate_mgpu.core.records import field, record, replaced
from migrate_mgpu.models import NoEstimators
from migrate_mgpu.models.conversion import Conversion, Conversions
from migrate_mgpu.models.front.estimators.finding import CUSTOM
from migrate_mgpu.models.normalize import (
    branches,
    callables,
    closures,
    digits,
    feature_columns,
    helpers,
    local_functions,
    made_inside,
    methods,
    optimizers,
    public_keras,
    registries,
    total_loss,
    towers,
    variable_makers,
    variables,
)
from migrate_mgpu.models.normalize.obstacles import (
    Layers,
    Obstacle,
    before,
    obstacle,
    place,
    retell,
)
from migrate_mgpu.source.notebook import Notebook, decode
from migrate_mgpu.source.source import Edit, Source, splice

Files = Sequence[tuple[Path, bytes]]
Planned = tuple[RunResult, Union[Conversions, NoEstimators]]
Key = tuple[Path, int]  # an Estimator: its file, and which of the file's it is

_FORMS = (
    variables.restate,
    variable_makers.restate,
    closures.restate,
    callables.restate,
    methods.restate,
    helpers.restate,
    local_functions.restate,
    branches.restate,
    registries.restate,
    total_loss.restate,
    optimizers.restate,
    feature_columns.restate,
    towers.restate,
    digits.restate,
    public_keras.restate,
    made_inside.restate,
)
# Whatever keeps the Estimator.
_OF_ANY = (registries.restate, digits.restate, public_keras.restate, made_inside.restate)
_ROUNDS = 8  # forms within each other
_ATTEMPTS = 4  # after each of them the Estimators that stay are left as they were


def planned(files: Files, first: Planned, plan: Callable[[Project], Planned]) -> RunResult:
    """The plan of a run with as many Estimators converted as can be; ``first``: as it stands."""
    left_out: set[Key] = set()
    named: list[tuple[Obstacle, Obstacle]] = []
    some = _concerned(files, first)
    for _ in range(_ATTEMPTS if some else 0):
        attempt = _Attempt(some, plan, left_out)
        found = attempt.run(first)
        named += attempt.obstacles(first, attempt.mistakes)
        if found is None:
            break
        stays = attempt.stays(found)
        if not stays and len(some) < len(files):
            whole = [(path, attempt.contents.get(path, data)) for path, data in files]
            found = plan(Project(whole))
            stays = attempt.stays(found)
        if not stays:
            return retell(attempt.told(found[0]), named)
        kept = {key: one.refused for key, one in _keyed(found) if key in stays}
        named += attempt.obstacles(first, kept)
        left_out |= stays
    return retell(first[0], named)


def _concerned(files: Files, planned: Planned) -> Files:
    """The files of the programs in which an Estimator stays because of a form."""
    conversions = planned[1]
    if isinstance(conversions, NoEstimators):
        return []
    flows = [one.flow for one in conversions.all if _restatable(one)]
    homes = {module for flow in flows for module in flow.modules}
    programs = conversions.graph.project.programs() if flows else []
    concerned = [program.modules for program in programs if homes & set(program.modules)]
    paths = {module.path for modules in concerned for module in modules}
    return [(path, data) for path, data in files if path in paths]


def _keyed(planned: Planned) -> Iterator[tuple[Key, Conversion]]:
    _, conversions = planned
    if isinstance(conversions, NoEstimators):
        return
    counts: dict[Path, int] = {}
    for one in conversions.all:
        number = counts[one.flow.module.path] = counts.get(one.flow.module.path, 0) + 1
        yield (one.flow.module.path, number), one


@record()
class _Attempt:
    files: Files
    plan: Callable[[Project], Planned]
    left_out: set[Key]
    touched: set[Key] = field(default_factory=set)
    layers: Layers = field(default_factory=dict)
    contents: dict[Path, bytes] = field(default_factory=dict)
    mistakes: dict[Key, Diagnostic] = field(default_factory=dict)

    def stays(self, planned: Planned) -> set[Key]:
        """The restated Estimators that are not converted all the same."""
        return {key for key, one in _keyed(planned) if key in self.touched and one.refused}

    def obstacles(
        self, first: Planned, real: Mapping[Key, Diagnostic | None]
    ) -> list[tuple[Obstacle, Obstacle]]:
        """What was told of some Estimators, and what really stands in their way."""
        plain = {key: one.refused for key, one in _keyed(first)}
        pairs: list[tuple[Obstacle, Obstacle]] = []
        for key, refused in real.items():
            told = plain.get(key)
            if refused is not None and told is not None:
                here, there = obstacle(told, {}), obstacle(refused, self.layers)
                if here is not None and there is not None and here.text != there.text:
                    pairs.append((here, there))
        return pairs

    def run(self, found: Planned) -> Planned | None:
        """The plan of the restated run; None where there was nothing to restate."""
        self.contents = contents = dict(self.files)
        for _ in range(_ROUNDS):
            edits = self._edits(found)
            if not edits:
                break
            for module, own in edits.items():
                contents[module.path] = module.source.encode(module.source.apply(own))
                self.layers.setdefault(module.path, []).append((module.source, own))
            found = self.plan(Project([(path, contents[path]) for path, _ in self.files]))
        return found if self.touched else None

    def _edits(self, planned: Planned) -> dict[Module, list[Edit]]:
        """One form of each Estimator that stays, in files that no other one changes now."""
        found: dict[Module, list[Edit]] = {}
        if isinstance(planned[1], NoEstimators):
            return found
        for key, one in _keyed(planned):
            if key in self.left_out or not _restatable(one):
                continue
            for form in _FORMS if _about_its_model(one) else _OF_ANY:
                try:
                    edits = form(one.flow, planned[1].graph)
                except Exception as error:  # a mistake of ours: the Estimator stays, and it is told
                    place = Place(one.flow.module, one.flow.call)
                    self.mistakes[key] = internal_error(place, error)
                    continue
                if edits and _fits(edits) and not edits.keys() & found.keys():
                    found.update(edits)
                    self.touched.add(key)
                    break
        return found

    def told(self, result: RunResult) -> RunResult:
        """The result, told of the files as they were."""
        for file in result.files:
            if file.path in self.layers:
                self._file(file)
        return result

    def _file(self, file: FileResult) -> None:
        layers = self.layers[file.path]
        first, (last, edits) = layers[0][0], layers[-1]
        file.before = first.file_text
        restated: Source = Source(file.path, splice(last.text, edits))
        if isinstance(last, Notebook):
            restated = decode(file.path, self.contents[file.path])
        for index, finding in enumerate(file.findings):
            line = finding.line
            if finding.cell is not None and isinstance(restated, Notebook):
                line = restated.line_of(finding.cell, line)
            offset = restated.line_starts[line - 1] + finding.column - 1
            for _, made in reversed(layers):
                offset, _ = before(offset, made)
            cell, line, column = place(first, offset)
            file.findings[index] = replaced(finding, line=line, column=column, cell=cell)


def _fits(edits: dict[Module, list[Edit]]) -> bool:
    """Whether edits can be made: in files that may change, to text that Python understands."""
    for module, own in edits.items():
        if not module.writable:
            return False
        try:
            ast.parse(splice(module.source.text, own))
            module.source.apply(own)  # a notebook's edits stay within its cells
        except (SyntaxError, ValueError):
            return False
    return True


def _restatable(one: Conversion) -> bool:
    """Whether an Estimator stays because of a form that may be restated."""
    stays = one.refused
    if stays is None:
        return False
    of_any = digits.concerns(stays.module, stays.node) or public_keras.concerns(one.flow)
    of_any = of_any or made_inside.concerns(stays) or registries.concerns(stays.module, stays.node)
    return of_any or _about_its_model(one)


def _about_its_model(one: Conversion) -> bool:
    """Whether an Estimator stays because of its model_fn."""
    stays, flow = one.refused, one.flow
    if stays is None or flow.kind != CUSTOM or "model_fn" not in flow.arguments:
        return False
    if flow.function is None:
        return True
    module, node = flow.function.module, flow.function.node
    if stays.module is not module:
        return False
    inside = (stays.node, *module.names.ancestors(stays.node))
    return node in inside or variable_makers.concerns(module, inside)
