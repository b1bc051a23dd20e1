"""Session programs whose graph a constructor builds, or functions that leave something in it.

They are planned with names for its parts, and with what is left as values.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Place, internal_error
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.api.queues import BATCHES, PRODUCERS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.core.findings import KEPT, MANUAL, REFUSED, Finding, ProgramResult, RunResult
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.core.registry import only
from migrate_mgpu.core.states import NATIVE
from migrate_mgpu.models.front.rewriters import SessionRewriter, TowerRewriter
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.front.session.unknown_calls import CLASS_IN_GRAPH
from migrate_mgpu.models.ir import SharedGraph
from migrate_mgpu.models.normalize.functions import (
    builders_in_place,
    graph_settings,
    unread_functions,
)
from migrate_mgpu.models.normalize.objects import unread_states
from migrate_mgpu.models.normalize.objects.class_obstacles import CLASS_STAYS
from migrate_mgpu.models.normalize.sessions import (
    monitored_sessions,
    printed_parts,
    unread_steps,
    unrun_assignments,
)
from migrate_mgpu.models.normalize.sessions.session_passes import PassInput, edits_of
from migrate_mgpu.models.normalize.towers.deployed_clones import is_slims_module
from migrate_mgpu.models.session_programs import SEVERAL_MAKE_IT
from migrate_mgpu.run.joined_modules import (
    Joined,
    candidates,
    has_trained_class,
    joined,
    modules_of_bases,
    why_apart,
)
from migrate_mgpu.run.merged_classes import (
    Merged,
    Written,
    home_of,
    merged,
    with_constructor,
)
from migrate_mgpu.run.plan import Planned
from migrate_mgpu.run.reduced_modules import Reduced, reduced, reduced_texts
from migrate_mgpu.run.relocation import Files, relocated, renamed, rewritten
from migrate_mgpu.run.shared_classes import Alone, Sharing, agreed, sharings
from migrate_mgpu.run.states import State
from migrate_mgpu.source.history import History, place
from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.two_texts import Unlike, one_text
from migrate_mgpu.source.unbound_names import unbound

_CHOICES = 3  # settings of a program that are tried, each with both of its values
_CLASSES = 4  # classes that are read with what they inherit
_JOINS = 3  # modules that are read as one with the one that makes the session
_ROUNDS = 80  # passes over a program, one behind the other
_BUILDERS = 12  # functions of a program that are written where they are called
_WORDS = (b"Session", b"class ", b"__init__")
# What a module has whose functions leave something in the graph.
_MAKERS = (
    (b"add_to_collection",),
    (b"def ", b"get_variable"),
    (b"def ", b".Variable("),
    (b"def ", b"placeholder"),
    (b"def ", b"Optimizer"),
    (b"def ", b"summary."),
    (b"def ", b"make_one_shot_iterator", b"get_next"),
    (b"_input_producer",),
    (b"start_queue_runners",),
)


Text = tuple[bytes, History]  # a file with names for the parts of its graph, and what was changed
Texts = dict[Path, Text]


def with_named_graphs(
    files: Files, first: Planned, plan_sharing: Callable[[Files, SharedGraph | None], Planned]
) -> Planned:
    """The plan of a run with as many such programs native as can be; ``first``: as it stands.

    ``plan_sharing`` plans some files, with what several programs want of one class.
    """

    def plan(some: Files) -> Planned:
        return plan_sharing(some, None)

    named = _with_named_graphs(files, first, plan)
    for sharing in sharings(first.parts, _native(named.result)):
        again = sharing.part.graph.project.again
        alone = partial(
            _alone_or_not,
            data=dict(files),
            plan=plan_sharing,
            again=again,
            before=sharing.part.graph,
        )
        found, stays = agreed(sharing, alone)
        if found is None:
            said = list(_of_sharing(sharing, stays, named))
            named = named.with_result(renamed(named.result, said))
            continue
        users: dict[Path, set[Path]] = {}
        for program in first.result.programs:
            for path in program.paths:
                users.setdefault(path, set()).add(program.entry)
        left = [one for one in files if not users.get(one[0]) or users[one[0]] - sharing.entries]
        rest = with_named_graphs(left, plan(left), plan_sharing)
        merged = found.merged(rest.result, named.result)
        if merged is not None and _native(named.result) <= _native(merged):
            return named.with_result(merged)
    return named


def _of_sharing(
    sharing: Sharing, stays: Sequence[tuple[State, Finding]], named: Planned
) -> Iterator[tuple[Finding, Finding]]:
    """What was said of programs that stay, and which other one their class has to serve."""
    codes = {only(kind).rule.code for kind in (SessionRewriter, TowerRewriter)}
    for state in sharing.states:
        entry = state.program.entry.path
        here = _kept(named.result, {entry}, codes)[:1]
        own = [why for one, why in stays if one is state]
        other = next(((one, why) for one, why in stays if one is not state), None)
        if here and own:
            yield here[0], own[0]
        elif here and other is not None and state in sharing.readable:
            name = other[0].program.entry.path.name
            text = f"{sharing.module.path.name}, which it imports, has to serve {name} as well"
            yield here[0], replaced(here[0], message=f"the session stays, on the bridge: {text}")


def _alone_or_not(
    state: State,
    shared: SharedGraph,
    data: Mapping[Path, bytes],
    plan: Callable[[Files, SharedGraph | None], Planned],
    again: Callable[[Files], Project],
    before: CallGraph,
) -> Alone:
    """The same as `_alone`; a defect of ours keeps the programs of a class as they are."""
    try:
        return _alone(state, shared, data, plan, again, before)
    except Exception as error:
        return Alone(None, None, _defect(state, error))


def _defect(state: State, error: Exception) -> Finding:
    """What is said of a program for which an attempt ended with an exception."""
    entry = state.program.entry
    why = internal_error(Place(entry, entry.tree), error).reason
    cell, line, column = place(entry.source, 0)
    text = f"the session stays, on the bridge: {why}"
    return Finding(entry.path, line, column, only(SessionRewriter).rule.code, KEPT, text, cell=cell)


def _alone(
    state: State,
    shared: SharedGraph,
    data: Mapping[Path, bytes],
    plan: Callable[[Files, SharedGraph | None], Planned],
    again: Callable[[Files], Project],
    before: CallGraph,
) -> Alone:
    """What becomes of a program that is planned as if no other had its modules.

    ``before`` is the graph of all programs as they stand.
    """
    codes = {only(kind).rule.code for kind in (SessionRewriter, TowerRewriter)}
    entry = state.program.entry.path
    own = {one.path: data[one.path] for one in state.program.modules if one.path in data}
    assert state.session is not None
    project = again(list(own.items()))
    graph = CallGraph(project)
    homes = [one for one in project.modules.values() if one.path == state.session.module.path]
    if len(own) < len(state.program.modules) or not homes:
        return Alone(None)

    def planned(some: Files) -> Planned:
        return plan(some, shared)

    as_one = partial(_as_one, homes[0], entry, own, own.keys(), graph, planned, codes, shared)
    every = [*before.project.modules.values()]
    found, left = as_one()
    without = reduced(every, before, own.keys()) if found is None else []
    told: Iterable[Finding] = ()
    if without:
        found, _ = as_one(without)
        told = _of_unread(every, own.keys(), before)
    if found is None:
        return Alone(None, None, left)
    _tell(found.result, (*_lost(state, before), *told))
    return Alone(found.result, found.wanted)


def _lost(state: State, graph: CallGraph) -> Iterator[Finding]:
    """What TF1 told of a program besides, and goes where it becomes native."""
    yield from _of_queues(state, graph)
    yield from _of_monitored(state)
    yield from _of_prints(state, graph)
    yield from _of_states(state)
    yield from _of_steps(state)
    yield from _of_assignments(state, graph)


def _tell(result: RunResult, told: Iterable[Finding]) -> None:
    """Adds findings to the files that they are about."""
    every = list(told)
    for file in result.files:
        file.findings += (one for one in every if one.path == file.path)
        file.findings.sort(key=lambda one: one.position)


def _with_named_graphs(files: Files, first: Planned, plan: Callable[[Files], Planned]) -> Planned:
    """The same, where each class is of one program."""
    data = dict(files)
    found = _Attempts(first, data, plan)
    before = _native(first.result)
    together: dict[Path, Texts] = {}
    broken: dict[Path, Finding] = {}  # what is said of those that ended with a defect of ours
    for part in first.parts:
        sessions = [one for one in part.states if _may_help(one) and one.program.entry.path in data]
        stops: set[Path] = set()  # the files in which something keeps programs as they are
        for state in sessions:
            if state.program.entry.path in before:
                continue
            try:
                stops |= found.attempt(state, part.graph)
            except Exception as error:
                broken[state.program.entry.path] = _defect(state, error)
        if any(len(found.users[path]) > 1 for path in stops):
            try:
                known, lost = _together(sessions, data, found.users, part.graph, plan)
                together.update(known)
                found.lost += lost
            except Exception as error:
                broken.update((one.program.entry.path, _defect(one, error)) for one in sessions)
    alone, ones = found.alone, found.ones
    attempts = ([{**alone, **together}] if together else []) + [alone]
    if ones:
        attempts = [
            {**one, **{e: of.texts for e, of in ones.items()}} for one in attempts
        ] + attempts
    for chosen in attempts:
        texts = {path: text for found in chosen.values() for path, text in found.items()}
        joins = [ones[entry] for entry in chosen.keys() & ones.keys()]
        if texts or joins:
            some = dict(data)
            for one in joins:
                some = one.files(some)
            result = _planned(some, texts, plan)
            apart = all(one.relocated(result) for one in joins)
            if apart and before | chosen.keys() <= _native(result):
                for entry in found.choices.keys() & chosen.keys():
                    found.choices[entry].write(result)
                _tell(result, (one for entry, one in found.lost if entry in chosen))
                _tell(result, (broken[entry] for entry in broken.keys() - _native(result)))
                return first.with_result(renamed(result, found.said))
    kept = renamed(first.result, found.said)
    _tell(kept, (broken[entry] for entry in broken.keys() - _native(kept)))
    return first.with_result(kept)


class _Attempts:
    """What makes programs native, each by itself: names for its graph, modules read as one."""

    def __init__(
        self, first: Planned, data: Mapping[Path, bytes], plan: Callable[[Files], Planned]
    ) -> None:
        self.first = first
        self.data = data
        self.plan = plan
        self.codes = {only(kind).rule.code for kind in (SessionRewriter, TowerRewriter)}
        self.users: dict[Path, set[Path]] = {}  # of each file, the programs that have it
        for program in first.result.programs:
            for path in program.paths:
                self.users.setdefault(path, set()).add(program.entry)
        self.alone: dict[Path, Texts] = {}
        self.choices: dict[Path, _Chosen] = {}
        self.ones: dict[Path, _AsOne] = {}
        self.said: list[tuple[Finding, Finding]] = []
        self.lost: list[tuple[Path, Finding]] = []  # what TF1 told of a program besides, and goes

    def attempt(self, state: State, graph: CallGraph) -> set[Path]:
        """Makes a program native, if it can be; otherwise the files that keep it as it is."""
        entry = state.program.entry.path
        first, plan, codes = self.first, self.plan, self.codes
        self.lost += ((entry, one) for one in _lost(state, graph))
        assert state.session is not None
        refused = state.session.refused
        home = refused.module.path if refused is not None else entry
        modules = [module for module in state.program.modules if module.path in self.data]
        own = {module.path: self.data[module.path] for module in modules}
        free = self._free(state)
        inside = graph.within(modules)
        # A class that has all of its graph stays one: it is read with its module first.
        whole = any(map(has_trained_class, candidates(state.session.module, inside)))
        as_one = partial(_as_one, state.session.module, entry, own, free, inside, plan, codes)
        one, left = as_one() if whole else (None, None)
        if one is not None:
            self._is_one(entry, one, modules, inside)
            return set()
        found = _named(entry, own, free, modules, inside)
        result = _planned(own, found, plan) if found else None
        if result is not None and entry in _native(result):
            self.alone[entry] = found
            return set()
        unread = _without_unread(entry, own, free, modules, inside)
        if unread and entry in _native(_planned(own, unread, plan)):
            self.alone[entry] = unread
            self.lost += ((entry, one) for one in _of_unread(modules, free, inside))
            return set()
        both = _chosen(entry, own, free, modules, graph, plan) if found else None
        if both is not None:
            self.alone[entry] = both.first
            self.choices[entry] = both
            return set()
        if not whole:
            one, left = as_one()
        without = reduced(modules, inside, free) if unread and one is None else []
        if without:
            one, less = as_one(without=without)
            left = less or left
            if one is not None:
                self.lost += ((entry, said) for said in _of_unread(modules, free, inside))
        if one is not None:
            self._is_one(entry, one, modules, inside)
            return set()
        written = _with_builders_written(entry, own, free, found, modules, inside, plan)
        if written is not None:
            self.alone[entry] = written
            return set()
        if unread:
            written = _with_builders_written(entry, own, free, unread, modules, inside, plan)
        if written is not None:
            self.alone[entry] = written
            self.lost += ((entry, one) for one in _of_unread(modules, free, inside))
            return set()
        here = _kept(first.result, {entry, *free}, codes)
        if left is not None and here:
            self.said.append((here[0], left))
        named = _reasons(first.result, result, {entry, *free}, codes) if result is not None else ()
        told = [*named]
        for said in [left] if left is not None else [one for _, one in told] or here[:1]:
            self.said += self._of_class(state, inside, said)
        self.said += told
        if result is None:
            return {home}
        return {one.path for one in _kept(result, own.keys(), codes)[:1]} or {home}

    def _of_class(
        self, state: State, graph: CallGraph, said: Finding
    ) -> Iterator[tuple[Finding, Finding]]:
        """Why a class that was not understood is not read with the module that makes its object."""
        if said.key not in (CLASS_IN_GRAPH, CLASS_STAYS) or state.session is None:
            return
        home, every = state.session.module, graph.project.modules.values()
        for origin in candidates(home, graph):
            why = why_apart(home, origin, graph.project, every)
            if why is None or not (said.key == CLASS_IN_GRAPH or has_trained_class(origin)):
                continue
            if why.module.path in self._free(state):
                cell, line, column = place(why.module.source, why.module.source.span(why.node)[0])
                text = f"the session stays, on the bridge: {why.reason}"
                yield said, replaced(
                    said, path=why.module.path, cell=cell, line=line, column=column, message=text,
                    key=why.key, advice=why.advice,
                )  # fmt: skip
                return

    def _is_one(
        self, entry: Path, one: _AsOne, modules: Sequence[Module], graph: CallGraph
    ) -> None:
        """A program is native with modules that are read as one."""
        self.ones[entry] = one
        if one.left_out:
            free = {path for path, users in self.users.items() if len(users) == 1}
            self.lost += ((entry, said) for said in _of_unread(modules, free, graph))

    def _free(self, state: State) -> set[Path]:
        """The files of a program that no other one has."""
        paths = (module.path for module in state.program.modules)
        return {path for path in paths if path in self.data and len(self.users[path]) == 1}


@record(frozen=True, eq=False)
class _AsOne:
    """A program that is native where modules are read as one: these, and what changes there.

    ``result`` is what becomes of it alone, ``wanted`` what it wants of the class that builds.
    ``left_out``: it is without the functions that nothing calls.
    """

    joins: tuple[Joined | Merged | Written | Reduced, ...]
    texts: Texts
    result: RunResult
    wanted: SharedGraph | None
    left_out: bool = False

    def files(self, data: Mapping[Path, bytes]) -> dict[Path, bytes]:
        """The files of a run, with those modules as one."""
        found = dict(data)
        for one in self.joins:
            found[one.home.path] = one.data
            for path in one.origins:
                del found[path]
        return found

    def relocated(self, result: RunResult) -> bool:
        """Puts the modules into their own files again; whether that can be done.

        Each file knows the names that it reads then, as it did in one module with the others.
        """
        if not all(one.relocated(result) for one in reversed(self.joins)):
            return False
        texts = ((file.before or "", file.after) for file in result.files if file.after is not None)
        return all(unbound(after) <= unbound(before) for before, after in texts)

    def moved(self, finding: Finding) -> Finding:
        """What is said of the modules as one, of the file where it stands."""
        for one in reversed(self.joins):
            finding = one.moved(finding)
        return finding


def _as_one(
    home: Module,
    entry: Path,
    own: Mapping[Path, bytes],
    free: Set[Path],
    graph: CallGraph,
    plan: Callable[[Files], Planned],
    codes: Set[str],
    shared: SharedGraph | None = None,
    without: Sequence[Reduced] = (),
) -> tuple[_AsOne | None, Finding | None]:
    """A program whose classes stand in modules of their own, if it is native with them as one.

    ``home`` is the module that makes the session, ``shared`` what several programs want of the
    class, ``without`` files that lose functions. Otherwise what stands in the way then.
    """
    data, joins, rounds = reduced_texts(without, own), list[Joined | Reduced](without), 0
    left: Finding | None = None
    if without:
        home, graph = _read_again(home, data, graph)
    derived = home_of(home, graph)
    home = derived if derived.path in free else home

    def tried(classes: Sequence[Merged | Written], graph: CallGraph) -> _AsOne:
        files = {**data, home.path: classes[-1].data} if classes else data
        modules = [one for one in graph.project.modules.values() if one.path in files]
        makers = [module.path for module in modules if session_calls(module)]
        several = len(makers) > 1 and entry not in makers  # names do not help then
        texts = {} if several else _named(entry, files, free, modules, graph, shared)
        planned, result = _planned_parts(files, texts, plan)
        left_out = False
        if shared is None and not several and _stays_for_unread(planned, entry, modules, graph):
            less = _without_unread(entry, files, free, modules, graph)
            if less:
                texts, left_out = less, True
                planned, result = _planned_parts(files, texts, plan)
        wanted = _wanted(planned, entry)
        return _AsOne((*joins, *classes), texts, result, wanted, left_out)

    while home.path in free:
        classes, inside = _merged_classes(home, data, graph)
        attempts = [(classes, inside)] if classes else []
        # What several programs want of a class is known where it is read with its module.
        if len(joins) > (len(without) if shared is not None else 0):
            attempts.append(([], graph))
        for number, (some, read) in enumerate(attempts):
            as_one = tried(some, read)
            if entry in _native(as_one.result) and as_one.relocated(as_one.result):
                return as_one, None
            kept = _kept(as_one.result, {entry, *data}, codes)
            if not number:
                left = next(map(as_one.moved, kept), left)
        if rounds == _JOINS:
            break
        rounds, origins = rounds + 1, list(candidates(home, graph))
        size = len(joins)
        while origins:
            project = graph.project
            found = (
                joined(home, origin, project, project.modules.values())
                for origin in origins
                if origin.path in free
            )
            one = next((one for one in found if one is not None), None)
            if one is None:
                break
            joins.append(one)
            data[home.path] = one.data
            del data[one.origin.path]
            home, graph = _read_again(home, data, graph)
            # What a class inherits comes with it.
            origins = [origin for origin in modules_of_bases(home, graph) if origin.uses]
        if len(joins) == size:
            break
    return None, left


def _merged_classes(
    home: Module, data: Mapping[Path, bytes], graph: CallGraph
) -> tuple[list[Merged | Written], CallGraph]:
    """A module's classes with what they inherit from others of it, one after the other."""
    found: list[Merged | Written] = []
    for _ in range(_CLASSES):
        one = merged(home, graph)
        if one is None:
            break
        found.append(one)
        home, graph = _again(home, one.data, data, graph)
        constructor = with_constructor(one, home, graph)
        if constructor is not None:
            found.append(constructor)
            home, graph = _again(home, constructor.data, data, graph)
    return found, graph


def _again(
    home: Module, text: bytes, data: Mapping[Path, bytes], graph: CallGraph
) -> tuple[Module, CallGraph]:
    """A module with another text, and the calls of all."""
    return _read_again(home, {**data, home.path: text}, graph)


def _read_again(
    home: Module, data: Mapping[Path, bytes], graph: CallGraph
) -> tuple[Module, CallGraph]:
    """A module of other files than before, and the calls of all."""
    project = graph.project.again(list(data.items()))
    modules = project.modules.values()
    return next(one for one in modules if one.path == home.path), CallGraph(project)


@record(frozen=True, eq=False)
class _Chosen:
    """A program that is native with each value of a setting: its texts, and what they become."""

    first: Texts  # where the condition holds
    after: Mapping[Path, str]  # what becomes of both
    said: Mapping[Path, Sequence[Finding]]  # where it does not

    def write(self, result: RunResult) -> None:
        """What becomes of both stands in the place of what becomes of one."""
        for file in result.files:
            file.after = self.after.get(file.path, file.after)
            file.findings += (
                one for one in self.said.get(file.path, ()) if one not in file.findings
            )
            file.findings.sort(key=lambda one: one.position)


def _chosen(
    entry: Path,
    own: Mapping[Path, bytes],
    free: Set[Path],
    modules: Sequence[Module],
    graph: CallGraph,
    plan: Callable[[Files], Planned],
) -> _Chosen | None:
    """A program with branches that a setting chooses, if it is native with each of its values."""
    for module in (one for one in modules if one.path in free):
        if isinstance(module.source, Notebook):
            continue
        for choice in graph_settings.choices(module, modules)[:_CHOICES]:
            texts: list[Texts] = []
            results: list[RunResult] = []
            for value in (True, False):
                new = rewritten({module: graph_settings.resolved(module, choice, value)})
                if not new:
                    break
                layer = module.source, new[module].edits
                data = {**own, module.path: new[module].data}
                project = graph.project.again(list(data.items()))
                inside = list(project.modules.values())
                found = _named(entry, data, free, inside, CallGraph(project))
                below = found.pop(module.path, (new[module].data, {module.path: []}))
                found[module.path] = below[0], {module.path: [layer, *below[1][module.path]]}
                result = _planned(own, found, plan)
                if entry not in _native(result):
                    break
                texts.append(found)
                results.append(result)
            else:
                after = _merged(choice, results[0], results[1], module)
                if after is not None and _claims(results[0]) == _claims(results[1]):
                    said = {file.path: file.findings for file in results[1].files}
                    return _Chosen(texts[0], after, said)
    return None


def _claims(result: RunResult) -> list[ProgramResult]:
    return [replaced(one, reasons=()) for one in result.programs]


def _merged(
    choice: graph_settings.Choice, first: RunResult, second: RunResult, module: Module
) -> dict[Path, str] | None:
    """The texts of the files that differ, as one each; None where that cannot be written."""
    ours, theirs = ({file.path: file.after for file in one.files} for one in (first, second))
    others = {path for path in ours.keys() | theirs.keys() if ours.get(path) != theirs.get(path)}
    after, other = ours.get(module.path), theirs.get(module.path)
    if others != {module.path} or after is None or other is None:
        return None
    try:
        text = one_text(choice.test, choice.names, after, other, module.source.indent_unit)
    except Unlike:
        return None
    return {module.path: text}


def _stays_for_unread(
    planned: Planned, entry: Path, modules: Sequence[Module], graph: CallGraph
) -> bool:
    """Whether a program stays for something in a function or a class that nothing calls."""
    state = _state_of(planned, entry)
    refused = state.session.refused if state is not None and state.session else None
    if refused is None:
        return False
    around = [refused.node, *refused.module.names.ancestors(refused.node)]
    home = next((one for one in around if one in refused.module.tree.body), None)
    names = {node.name for _, node in unread_functions.unread(modules, graph)}
    return isinstance(home, (ast.FunctionDef, ast.ClassDef)) and home.name in names


def _without_unread(
    entry: Path | None,
    own: Mapping[Path, bytes],
    free: Set[Path],
    modules: Sequence[Module],
    graph: CallGraph,
) -> Texts:
    """A program without the functions and classes that nothing calls; nothing where it has none."""
    edits = unread_functions.normalize(
        modules, graph, {module for module in modules if module.path in free}
    )
    new = rewritten(edits)
    if not new:
        return {}
    data = {**own, **{module.path: one.data for module, one in new.items()}}
    project = graph.project.again(list(data.items()))
    found = _named(entry, data, free, list(project.modules.values()), CallGraph(project))
    for module, one in new.items():
        text, layers = found.get(module.path, (one.data, {}))
        first = module.source, one.edits
        found[module.path] = text, {module.path: [first, *layers.get(module.path, [])]}
    return found


def _with_builders_written(
    entry: Path,
    own: Mapping[Path, bytes],
    free: Set[Path],
    named: Texts,
    modules: Sequence[Module],
    graph: CallGraph,
    plan: Callable[[Files], Planned],
    settled: bool = False,
) -> Texts | None:
    """A program whose builders are written where they are called, if it is native only so.

    One after the other, each that the program stays for. ``named`` is what the program is with
    names for the parts of its graph. ``settled``: a function that needs no more stays, without what
    no call of it asks for.
    """
    found, again = dict(named), False
    stays = modules, graph
    for _ in range(_BUILDERS):
        planned, result = _planned_parts(own, found, plan)
        if entry in _native(result):
            return found
        state = _state_of(planned, entry)
        refused = state.session.refused if state is not None and state.session else None
        part = next((one for one in planned.parts if state in one.states), None)
        if state is None or refused is None or part is None:
            break
        towers = state.session.towers if state.session is not None else None
        modules = state.program.modules
        theirs = {module for module in modules if module.path in free}
        graph = part.graph.within(modules)
        if towers is None and not settled:
            again = again or builders_in_place.settles(refused, graph, theirs)
        edits = builders_in_place.normalize(refused, modules, graph, theirs, settled, towers)
        new = rewritten(edits)
        if not new:
            break
        data = {path: found[path][0] if path in found else one for path, one in own.items()}
        layers = {path: list(one[1].get(path, ())) for path, one in found.items()}
        for module, one in new.items():
            data[module.path] = one.data
            layers.setdefault(module.path, []).append((module.source, one.edits))
        project = part.graph.project.again(list(data.items()))
        more = _named(entry, data, free, list(project.modules.values()), CallGraph(project))
        for path, (text, later) in more.items():
            data[path] = text
            layers.setdefault(path, []).extend(later[path])
        found = {path: (data[path], {path: one}) for path, one in layers.items()}
    if not again:
        return None
    return _with_builders_written(entry, own, free, named, *stays, plan, settled=True)


def _state_of(planned: Planned, entry: Path) -> State | None:
    states = (state for part in planned.parts for state in part.states)
    return next((one for one in states if one.program.entry.path == entry), None)


def _of_queues(state: State, graph: CallGraph) -> Iterator[Finding]:
    """What is said where a program gathers summaries, if TF1's queues add some of their own."""
    program = state.program

    def calls(*names: str) -> Iterator[tuple[Module, ast.Call]]:
        for module in program.modules:
            known = calls_of_names(module)
            for call in (call for name in names for call in known.get(name, ())):
                if graph.runs_in(program, module, call):
                    yield module, call

    gathered = (
        (module, call)
        for module, call in calls("summary.merge_all", "get_collection")
        if not call.args or name_of(module, call.args[0]) == "GraphKeys.SUMMARIES"
    )
    found = next(gathered, None) if next(calls(*PRODUCERS, *BATCHES), None) else None
    if found is not None:
        module, call = found
        cell, line, column = place(module.source, module.source.span(call)[0])
        text = "TF1's queues add summaries of how full they are to these: no dataset does"
        code = only(SessionRewriter).rule.code
        yield Finding(module.path, line, column, code, MANUAL, text, cell=cell)


def _of_monitored(state: State) -> Iterator[Finding]:
    """What a monitored session tells of itself, and no plain one does."""
    for module in state.program.modules:
        for call, text in monitored_sessions.told(module):
            cell, line, column = place(module.source, module.source.span(call)[0])
            code = only(SessionRewriter).rule.code
            yield Finding(module.path, line, column, code, MANUAL, text, cell=cell)


def _of_prints(state: State, graph: CallGraph) -> Iterator[Finding]:
    """The lines that print what tensors are called, which go."""
    modules = state.program.modules
    for module, statement in printed_parts.printed(modules, graph.within(modules)):
        cell, line, column = place(module.source, module.source.span(statement)[0])
        code = only(SessionRewriter).rule.code
        yield Finding(module.path, line, column, code, MANUAL, printed_parts.TOLD, cell=cell)


def _of_states(state: State) -> Iterator[Finding]:
    """The states of recurrent networks that an object keeps for nobody."""
    for module, node in unread_states.kept_for_nobody(state.program.modules):
        cell, line, column = place(module.source, module.source.span(node)[0])
        code = only(SessionRewriter).rule.code
        text = unread_states.TOLD.format(node.attr)
        yield Finding(module.path, line, column, code, MANUAL, text, cell=cell)


def _of_steps(state: State) -> Iterator[Finding]:
    """The global step that is counted for nobody."""
    for module, node in unread_steps.counted_for_nobody(state.program.modules):
        cell, line, column = place(module.source, module.source.span(node)[0])
        code = only(SessionRewriter).rule.code
        yield Finding(module.path, line, column, code, MANUAL, unread_steps.TOLD, cell=cell)


def _of_assignments(state: State, graph: CallGraph) -> Iterator[Finding]:
    """The assignments that nothing runs."""
    within, text = graph.within(state.program.modules), unrun_assignments.TOLD
    for module in state.program.modules:
        for node in unrun_assignments.unrun(module, within):
            cell, line, column = place(module.source, module.source.span(node)[0])
            code = only(SessionRewriter).rule.code
            yield Finding(module.path, line, column, code, MANUAL, text, cell=cell)


def _of_unread(modules: Sequence[Module], free: Set[Path], graph: CallGraph) -> Iterator[Finding]:
    """The functions that nothing calls, where they go."""
    for module, node in unread_functions.unread(modules, graph):
        if module.path in free:
            cell, line, column = place(module.source, module.source.span(node)[0])
            code = only(SessionRewriter).rule.code
            text = unread_functions.told(module, node, graph)
            yield Finding(module.path, line, column, code, MANUAL, text, cell=cell)


def _may_help(state: State) -> bool:
    """Whether a program's graph may get names: one module of it makes the session."""
    refused = state.session.refused if state.session is not None else None
    return state.session is not None and (refused is None or refused.key != SEVERAL_MAKE_IT)


def _native(result: RunResult) -> set[Path]:
    return {one.entry for one in result.programs if one.state == NATIVE}


def _together(
    group: Sequence[State],
    data: Mapping[Path, bytes],
    users: Mapping[Path, Set[Path]],
    graph: CallGraph,
    plan: Callable[[Files], Planned],
) -> tuple[dict[Path, Texts], list[tuple[Path, Finding]]]:
    """Programs that become native together, with what changes for all of them.

    A module that some of them share changes once, where no other program has it. With what is said
    of functions that nothing calls, where the programs are native without these alone.
    """
    while len(group) > 1:
        entries = {state.program.entry.path for state in group}
        inside = (module for state in group for module in state.program.modules)
        modules = [module for module in dict.fromkeys(inside) if module.path in data]
        own = {module.path: data[module.path] for module in modules}
        free = {path for path in own if users[path] <= entries}
        within = graph.within(modules)
        found = _named(None, own, free, modules, within)
        shared = any(len(users[path]) > 1 for path in found)
        native = _native(_planned(own, found, plan)) if shared else set()
        if entries <= native:
            return dict.fromkeys(entries, found), []
        less = _without_unread(None, own, free, modules, within)
        if any(len(users[path]) > 1 for path in less):
            others = _native(_planned(own, less, plan))
            if entries <= others:
                told = [*_of_unread(modules, free, within)]
                return dict.fromkeys(entries, less), [(min(entries), one) for one in told]
            native = max(native, others, key=lambda some: len(some & entries))
        group = [state for state in group if state.program.entry.path in native]
    return {}, []


def _planned(
    data: Mapping[Path, bytes],
    named: Texts,
    plan: Callable[[Files], Planned],
) -> RunResult:
    """The plan of some files, of which some have graphs with names, as if these had none."""
    return _planned_parts(data, named, plan)[1]


def _planned_parts(
    data: Mapping[Path, bytes],
    named: Texts,
    plan: Callable[[Files], Planned],
) -> tuple[Planned, RunResult]:
    """The same, with what the plan was made from."""
    contents = {path: one for path, (one, _) in named.items()}
    layers = {path: one[path] for path, (_, one) in named.items()}
    planned = plan([(path, contents.get(path, one)) for path, one in data.items()])
    return planned, relocated(planned.result, layers, contents)


def _wanted(planned: Planned, entry: Path) -> SharedGraph | None:
    """What a program wants of the class that builds its graph."""
    states = (state for part in planned.parts for state in part.states)
    found = (one.session for one in states if one.program.entry.path == entry)
    return next((one.wanted for one in found if one is not None), None)


def _reasons(
    first: RunResult, named: RunResult, paths: Set[Path], codes: Set[str]
) -> Iterator[tuple[Finding, Finding]]:
    """What was said of a program that stays, and what stands in the way of one with names."""
    here, there = (_kept(result, paths, codes) for result in (first, named))
    if here and there:
        yield here[0], there[0]


def _kept(result: RunResult, paths: Set[Path], codes: Set[str]) -> list[Finding]:
    """What is said of programs that stay, in some files."""
    return [
        one
        for one in result.findings
        if one.path in paths and one.code in codes and one.state in (KEPT, REFUSED)
    ]


def _named(
    entry: Path | None,
    data: Mapping[Path, bytes],
    free: Set[Path],
    modules: Sequence[Module],
    graph: CallGraph,
    shared: SharedGraph | None = None,
) -> dict[Path, Text]:
    """A program's files with names for the parts of its graph, and what was changed for that.

    ``free`` are the files that are no other program's, ``modules`` all of them as they stand.
    ``entry`` is where the program begins; None of several ones. ``shared`` is what several
    programs want of a class.
    """
    homes = [path for path, one in data.items() if all(word in one for word in _WORDS)]
    objects = entry in homes or len(homes) == 1
    at = entry if entry in homes else homes[0] if objects else None
    functions = any(all(w in one for w in words) for one in data.values() for words in _MAKERS)
    contents = dict(data)
    layers: History = {}
    for _ in range(_ROUNDS):
        if layers:
            project = graph.project.again(list(contents.items()))
            modules, graph = list(project.modules.values()), CallGraph(project)
        seen = PassInput(
            modules=modules,
            graph=graph,
            own=[one for one in modules if one.path in free and not is_slims_module(one)],
            home=next((module for module in modules if module.path == at), None),
            has_objects=objects,
            makes_parts=functions,
            shared=shared,
        )
        new = rewritten(edits_of(seen))
        if not new:
            break
        for module, one in new.items():
            contents[module.path] = one.data
            layers.setdefault(module.path, []).append((module.source, one.edits))
    if any(_misses_names(data[path], contents[path]) for path in layers):
        return {}  # a defect of a pass: the program stays as it is
    return {path: (contents[path], {path: one}) for path, one in layers.items()}


def _misses_names(before: bytes, after: bytes) -> bool:
    """Whether a text would end at a name that nothing binds, where the one before did not."""
    texts = [one.decode("utf-8", "replace") for one in (before, after)]
    return not unbound(texts[1]) <= unbound(texts[0])
