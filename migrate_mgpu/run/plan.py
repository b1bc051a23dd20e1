"""The whole run, planned: states of programs, what becomes of configs, edits of files."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

from migrate_mgpu.analysis.api_version import (
    calls_v1_methods,
    is_plain_v1,
    needs_tf1,
    reads_eagerly,
)
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place, internal_error
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.import_edits import remove_imports, unused_roots, with_imports
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Program, Project
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.analysis.taken_names import Taken, finds_functions
from migrate_mgpu.core import findings as f
from migrate_mgpu.core.records import field, record, replaced
from migrate_mgpu.core.registry import Rule, of, only
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.core.states import BRIDGE, KEPT, NATIVE, NO_BRIDGE, NOT_SELECTED, REFUSED
from migrate_mgpu.models import NoEstimators, conversions
from migrate_mgpu.models.keras.multi_gpu_model import copies
from migrate_mgpu.run.decisions import ConfigDecisions
from migrate_mgpu.run.new_names import LostNames
from migrate_mgpu.run.outcome import Outcome
from migrate_mgpu.run.reporting import Report, check_names, program
from migrate_mgpu.run.shared_modules import NewText
from migrate_mgpu.run.states import ProgramStates, State
from migrate_mgpu.run.tidy import one_scope, orphans
from migrate_mgpu.session_config.program_rewriter import BridgeRewriter, NativeRewriter, NewNames
from migrate_mgpu.session_config.sessions import Gone, goes_away, is_for_nobody, leaves
from migrate_mgpu.session_config.sinks import SinkCall, sink_calls
from migrate_mgpu.session_config.tracking import find_flows
from migrate_mgpu.source.alignment import aligned
from migrate_mgpu.source.blank_lines import blank_lines
from migrate_mgpu.source.blocks import without_lost_indents
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.suppressions import file_suppressed

if TYPE_CHECKING:
    from migrate_mgpu.models.conversion import Conversions
    from migrate_mgpu.models.ir import SharedGraph
    from migrate_mgpu.models.session_programs import NativeSessions


_KEPT = 16  # parts whose plan is kept: what is asked for again is asked for soon
# Bytes that are planned before what earlier plans left is collected: at least so many, or so many
# times a part's, whose own facts are gone through as well.
_COLLECTED = 3_000_000
_OF_A_PART = 2
_OBJECTS = 300_000  # that are new since then: what goes through all of them must find some

KnownPart = tuple[object, Project]  # a part of a run by what is known of it

_WORTH_A_PROCESS = 16_000  # bytes: a fifth of a second; to copy a process takes a twentieth


@record()
class Options:
    """What the user asked for."""

    bridge: bool = True
    native_sessions: bool = True
    rules: Selection = field(default_factory=Selection)


@record(eq=False)
class Part:
    """The plan of programs that share modules, with the facts that it is made from."""

    planner: _Planner
    conversions: Conversions | NoEstimators
    graph: CallGraph
    states: list[State]

    @cached_property
    def result(self) -> f.RunResult:
        """The new texts and what is said of them: for many plans nobody asks."""
        return self.planner.result()


@record(eq=False)
class Planned:
    """The plan of a run; its parts have nothing to do with each other."""

    project: Project
    parts: list[Part]

    @cached_property
    def result(self) -> f.RunResult:
        """What becomes of all files, which may be changed."""
        return joined(self.project, [part.result for part in self.parts])

    def with_result(self, result: f.RunResult) -> Planned:
        """The same, with another result."""
        found = Planned(self.project, self.parts)
        found.result = result
        return found


class Plans:
    """Plans a run, and again with other texts of some files: only the parts that they concern."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._known: dict[object, Part] = {}  # the last ones, by their facts
        self._length = 0  # bytes that were planned since the last collection

    def plan(self, project: Project, shared: SharedGraph | None = None) -> Planned:
        """Plans every edit of a run, or of a part of one; nothing is written.

        ``shared`` is what several programs want of a class whose graph each of them builds.
        """
        parts: list[Part] = []
        for part in project.parts():
            facts = (part.facts(), shared)
            planned = self._known.pop(facts, None) or self._plan(part, shared)
            self._known[facts] = planned
            if len(self._known) > _KEPT:
                del self._known[next(iter(self._known))]
            parts.append(planned)
        return Planned(project, parts)

    def _plan(self, part: Project, shared: SharedGraph | None) -> Part:
        self._length += part.length
        much = self._length > max(_COLLECTED, _OF_A_PART * part.length)
        if much and gc.get_count()[0] > _OBJECTS:
            self._length = 0
            gc.collect()  # modules that import each other are a circle
        return _planned(part, self.options, shared)

    def forget(self) -> None:
        """Lets go of what was planned, of files that will not be asked for again."""
        self._known.clear()


def shares(parts: Sequence[KnownPart], most: int) -> list[list[KnownPart]]:
    """Parts of a run, the longest first, in shares of about the same length, as many as pay."""
    count = max(1, min(most, sum(part.length for _, part in parts) // _WORTH_A_PROCESS))
    found: list[list[KnownPart]] = [[] for _ in range(count)]
    lengths = [0] * count
    for one in parts:
        shortest = lengths.index(min(lengths))
        lengths[shortest] += one[1].length
        found[shortest].append(one)
    return [share for share in found if share] or [[]]


def _planned(project: Project, options: Options, shared: SharedGraph | None) -> Part:
    kept: dict[Module, Diagnostic] = {}
    while True:
        planner = _Planner(project, options, kept, shared)
        planner.decide()
        if not planner.stay:
            return Part(planner, planner.conversions, planner.graph, planner.states)
        kept.update(planner.stay)


def joined(project: Project, results: list[f.RunResult]) -> f.RunResult:
    """The results of a run's parts as one, which may be changed."""
    found = {file.path: file for result in results for file in result.files}
    files = [replaced(file, findings=list(file.findings)) for file in found.values()]
    for unreadable in project.unreadable.values():
        error = unreadable.error
        if unreadable.path not in found:
            files.append(f.FileResult(unreadable.path, error=str(error), error_line=error.line))
    files.sort(key=lambda file: str(file.path))
    sites = dict.fromkeys((f.APPLIED, f.KEPT, f.REFUSED), 0)
    for result in results:
        for state, count in result.sites.items():
            sites[state] += count
    order = {one.entry.path: number for number, one in enumerate(project.programs())}
    programs = [program for result in results for program in result.programs]
    return f.RunResult(
        files,
        sorted(programs, key=lambda program: order[program.entry]),
        sites,
        order=_order(project),
        unused=sorted(path for result in results for path in result.unused),
        packages=sorted({one for result in results for one in result.packages}),
    )


def _order(project: Project) -> list[Path]:
    """Modules before the modules that import them: a helper before its callers."""
    found: list[Path] = []
    seen: set[int] = set()

    def visit(module: Module) -> None:
        if id(module) in seen:
            return
        seen.add(id(module))
        for imported in module.imported:
            visit(imported)
        found.append(module.path)

    for module in project.modules.values():
        visit(module)
    return found


class _Planner:
    def __init__(
        self,
        project: Project,
        options: Options,
        kept: Mapping[Module, Diagnostic],
        shared: SharedGraph | None,
    ) -> None:
        """``kept``: programs of sessions, or Estimators, that stay, found by planning before."""
        self.project = project
        self.shared = shared
        self.kept = kept
        self.native_sessions = options.native_sessions
        self.stay: dict[Module, Diagnostic] = {}
        self.rules = options.rules
        self.graph = CallGraph(project)
        self.bridge = only(BridgeRewriter)
        rule = self.bridge.rule
        self.off = "" if options.bridge else NO_BRIDGE
        if options.bridge and not options.rules.enabled(rule.code, rule.name):
            self.off = NOT_SELECTED
        self.lost = LostNames(project, options.rules)
        self.report = Report()
        self.changes = EditSet()
        self.edits = self.changes.edits
        self.packages: set[tuple[Path, str]] = set()
        self.written = False

    def decide(self) -> None:
        """Which programs become what; those that cannot after all are in ``stay``."""
        flows = find_flows(self.project, self.graph)
        self.conversions = conversions(self.project, self.graph, self.rules, self.kept)
        self.copies = copies(self.project, self.graph, self.rules)
        self.deciding = ProgramStates(
            flows, self.graph, self.conversions, self.copies, self.lost, self._sessions()
        )
        self.states = self.deciding.decide(self.project.programs())
        self.configs = ConfigDecisions(self.graph, self.states, self.rules)
        self.outcomes = self.configs.decide(flows)
        self._unmoved(self.outcomes)
        self._shared()
        self.deciding.settle(self.states, self.outcomes, self.configs.programs_of, self.off)
        if any(map(_has_native, self.states)):
            self._write()
            self._unwritable()

    def result(self) -> f.RunResult:
        """The new texts, and what is said of them."""
        self._write()
        for module, edits in self.edits.items():
            if edits:
                self.report.changed(module, edits)
        self._hold_back(self.deciding)
        return self._result(self.outcomes)

    def _write(self) -> None:
        """The edits, and what is said of programs, once."""
        if self.written:
            return
        self.written = True
        for outcome in self.outcomes:
            self.report.flow(outcome)
        self._edit(self.outcomes)
        bridges = [] if self.off else [s for s in self.states if s.kind in (BRIDGE, KEPT)]
        bridged = {one for state in bridges for one in state.estimators}
        for state in self.states:
            self.report.state(state)
            if state.kind != REFUSED:
                self.report.limits(state, self.project, self.graph, self.lost)
                self.report.changed_values(state)
                self.report.unknown_imports(state, self.project)
                self.report.cells_left_out(state)
            for one in state.estimators:
                if one.refused is not None:
                    self.report.estimator(one, one in bridged)
            if state.kind in (BRIDGE, KEPT) and not self.off:
                self.report.wrappers(state, self.project, self.graph)
            if state.session is not None and state.kind in (BRIDGE, KEPT) and not self.off:
                self.report.native_session(state.session)
            if state.not_eager is not None and state.kind in (BRIDGE, KEPT) and not self.off:
                self.report.eager(state)
            if state.in_graph is not None and state.kind in (BRIDGE, KEPT) and not self.off:
                self.report.in_graph(state)
        inside = {module for state in self.states for module in state.program.modules}
        for module in self.project.modules.values():
            self.report.unknown_suppressions(module)
            if module not in inside:
                self.report.copies_by_hand(module)

    def _sessions(self) -> NativeSessions | None:
        """The session programs of the run, if there may be any.

        `managed_session` makes one too, and so does `slim.learning.train`.
        """
        data = self.project.data.values()
        words = (b"ession", b"learning.train")
        if not self.native_sessions or not any(word in one for one in data for word in words):
            return None
        from migrate_mgpu.models.session_programs import NativeSessions

        written = self.lost.written
        return NativeSessions(self.project, self.graph, self.rules, self.kept, written, self.shared)

    def _unmoved(self, outcomes: list[Outcome]) -> None:
        """Native programs whose configs cannot move: they are planned again, with what they had."""
        for outcome in outcomes:
            if outcome.state == f.APPLIED or outcome.idle:
                continue
            for state in self.configs.programs_of(outcome.flow):
                if state.kind == NATIVE and (state.session is not None or state.estimators):
                    text = "as eager code, its config cannot move to tf.config"
                    text += f": {outcome.reasons[0].reason}" if outcome.reasons else ""
                    place = outcome.reasons[0].place if outcome.reasons else None
                    place = place or Place(outcome.flow.module, outcome.flow.place)
                    self.stay[state.program.entry] = Diagnostic("config-stays", place, text)

    def _shared(self) -> None:
        """Programs whose sessions would go, if others that import a module of theirs agreed."""
        states = {state.program.entry: state for state in self.states}
        users: dict[Module, list[Program]] = {}
        taken: dict[Module, Taken] = {}  # by entry points
        for one in self.project.programs():
            for module in one.modules:
                if module.uses:
                    users.setdefault(module, []).append(one)
        for module, programs in users.items():
            entries = [one.entry for one in programs]
            native = [states[e] for e in entries if e in states and _has_native(states[e])]
            texts = [
                NewText(module, module.source.apply(one.session.edits[module]))
                for one in native
                if one.session is not None and one.session.changes(module)
            ]
            own = {state.program.entry for state in native}
            others: list[Module] = []
            for one in programs if texts else ():  # else it serves them as it did
                if one.entry not in own:
                    if one.entry not in taken:
                        runs = one.entry not in states and self._is_known(one.entry)
                        taken[one.entry] = Taken(one, self.project, runs)
                    state = states.get(one.entry)
                    if not self._serves(module, texts, taken[one.entry], state):
                        others.append(one.entry)
            why = None if others else _unlike(native, module)
            if not others and why is None:
                continue
            for state in native:
                entry = state.program.entry
                other = next(one for one in (*others, *entries) if one is not entry)
                text = f"{module.path.name}, which it imports, serves {other.path.name} as it is"
                place = Place(entry, entry.tree)
                self.stay[entry] = why or Diagnostic("shared-module", place, text)

    def _serves(
        self, module: Module, texts: Iterable[NewText], taken: Taken, state: State | None
    ) -> bool:
        """Whether a program that stays has all that it takes of a module in its new texts.

        It does not get TensorFlow from it.
        """
        program = taken.program
        if state is not None and state.kind == NATIVE:
            return False
        if module is program.entry and not (state is None and self._is_known(module)):
            return False
        if any(
            user in module.borrowers or (module in user.imported and user.names.star_imports)
            for user in program.modules
        ):
            return False
        bridged = state is not None and state.kind in (BRIDGE, KEPT) and not self.off
        return all(text.changed_for(taken, bridged) is None for text in texts)

    def _is_known(self, module: Module) -> bool:
        """Whether all that calls a program's own functions is known.

        `if __name__ == '__main__':` in a module that others import: they are no programs' then.
        """
        imported = any(module in one.imported for one in self.project.modules.values())
        return imported and not finds_functions(module)

    def _unwritable(self) -> None:
        """Programs whose sessions would go, if all that changes in them fitted together."""
        for state in self.states:
            module = state.program.entry
            if state.kind == NATIVE and state.session is not None:
                try:
                    self.report.check_syntax(module, self.edits.get(module, []))
                    for one in state.program.modules:
                        check_names(one, self.edits.get(one, []))
                except (SyntaxError, ValueError, NameError) as error:
                    node = state.session.session or module.tree
                    self.stay[module] = internal_error(Place(module, node), error)

    # -- edits ------------------------------------------------------------

    def _bridge_modules(self) -> list[Module]:
        """The modules that must speak of TF1 because a bridged program runs them."""
        if self.off:
            return []
        left = [s for s in self.states if s.kind == NATIVE or s.as_it_is]
        native = {id(module) for state in left for module in state.program.modules}
        native |= self._of_tf2()
        found: dict[int, Module] = {}
        for state in self.states:
            if state.kind not in (BRIDGE, KEPT):
                continue
            for module in state.program.modules:
                if module.writable and id(module) not in native:
                    if not file_suppressed(module.source):
                        found.setdefault(id(module), module)
        return list(found.values())

    def _led(self, bridged: list[Module]) -> set[int]:
        """Modules of bridged programs in each of which another one chooses v1 behaviour.

        That is the entry point, or else each module that opens sessions.
        """
        given = {id(module) for module in bridged}
        led = set(given)
        bridges = [state for state in self.states if state.kind in (BRIDGE, KEPT)]
        leaders = {id(state.program.entry) for state in bridges}
        leaders |= {id(session.sink.module) for state in bridges for session in state.sessions}
        leaders &= {id(module) for module in bridged if self.bridge.leads(module, False)}
        for state in bridges:
            program = state.program
            if id(program.entry) in given and self.bridge.leads(program.entry, True):
                continue
            found = {id(module) for module in program.needed} & leaders
            led -= found or {id(module) for module in program.modules}
        return led

    def _of_tf2(self) -> set[int]:
        """Modules that programs of TF2 run, with Keras or eagerly, such as an earlier run made.

        v1 behaviour would break those; a module without TF1's names works with both, unless
        TF2 lost some of them: then it works with neither as it stands.
        """
        judged = {id(state.program.entry) for state in self.states}
        found: set[int] = set()
        for one in self.project.programs():
            modules = one.modules
            eager = any(m.uses_keras_models or reads_eagerly(m) for m in modules)
            if id(one.entry) not in judged and eager:
                found |= {id(m) for m in modules if not needs_tf1(m) and not self.lost.of(m)}
        return found

    def _edit(self, outcomes: list[Outcome]) -> None:
        bridged = self._bridge_modules()
        gone = self.changes.gone
        for outcome in outcomes:
            if outcome.move is None:
                continue
            self.changes.merge(outcome.move)
            for module, name in outcome.move.spellings.items():
                root = "tensorflow.compat.v1" if module in bridged else "tensorflow"
                self.changes.needs(module, f"{root} as {name}")
            flow = outcome.flow
            gone.update(flow.own_nodes())
            native = all(s.kind in (NATIVE, REFUSED) for s in self.configs.programs_of(flow))
            for sink in flow.sinks if native else ():
                for one in goes_away(sink, self.graph, flow) or ():
                    gone.add(one.statement)
                    self._drop(one)
        self._orphans(outcomes)
        done: set[Module] = set()
        named: set[Module] = set()
        for state in self.states:
            if state.kind == NATIVE:
                for estimator in state.estimators:
                    self.changes.merge(estimator)
                    self.report.estimator(estimator)
                self.changes.merge(state.rest)
                for module, rule, new in state.new_names:
                    if module not in bridged and module not in named:
                        self._new_names(module, [(rule, new)])
                named.update(module for module, _, _ in state.new_names)
                if not state.estimators:
                    self.report.eager(state)
                if state.session is not None:
                    self.changes.merge(state.session)
                    self.report.native_session(state.session)
                    for module in state.program.modules:
                        if module.writable and module not in named:
                            named.add(module)
                            self._new_names(module, self.lost.of_native(module))
                for copy in state.copies:
                    self.changes.merge(copy)
                    self.report.copied(copy)
                self._native_extras(state)
                for module in state.program.modules:
                    if module.writable and module not in done:
                        done.add(module)
                        self._native_calls(module)
                        if not state.estimators and state.session is None:
                            self._remarks(module)
        entries = {id(state.program.entry) for state in self.states}
        led = self._led(bridged)
        for module in bridged:
            edits = self.bridge.apply(module, id(module) in entries, id(module) in led, gone)
            if edits:
                # First, so that at one place `disable_v2_behavior()` precedes the calls.
                self.edits[module] = [*edits, *self.edits.get(module, [])]
                place = module.tensorflow_imports[0] if module.tensorflow_imports else module.tree
                self.report.rule(module, place, self.bridge.rule)
            self._new_names(module, self.lost.of(module))
        for module in list(self.edits):
            roots, obsolete = unused_roots(module, self.edits[module])
            self.edits[module] = [e for e in self.edits[module] if e not in obsolete] + roots
            changed = {*gone, *self.changes.moved}
            importers = self.lost.importers[module]
            self.edits[module] += remove_imports(module, changed, self.edits[module], importers)
            self.edits[module] += with_imports(module, self.changes.imports.get(module, set()))
            self.edits[module] = without_lost_indents(module.source, self.edits[module])
            self.edits[module] = one_scope(module.source, self.edits[module])
            self.edits[module] = blank_lines(module.source, self.edits[module])
            self.edits[module] = aligned(module.source, self.edits[module])

    def _new_names(self, module: Module, found: Iterable[tuple[Rule, NewNames]]) -> None:
        """What is written for names that TF2 lost."""
        for rule, new in found:
            if not new.edits:
                continue  # the module runs under a condition only, and cannot on TF2
            self.changes.edit(module, *new.edits)
            for path, text in new.files.items():
                self.report.created(path, text, module)
            first = min(new.nodes, key=position)
            self.report.add(module, first, rule.code, f.APPLIED, rule.summary, _advice(new))
            self.packages |= {(module.path, package) for package in new.packages}

    def _orphans(self, outcomes: list[Outcome]) -> None:
        """Variables that only fed options which moved."""
        moved = (s for o in outcomes if o.move is not None for s in o.flow.settings)
        imported = {m for module in self.project.modules.values() for m in module.imported}
        for module, statement in orphans(moved, self.changes, imported):
            self.changes.gone.add(statement)
            self.edits[module].append(Layout(module.source, statement).replace([]))

    def _drop(self, gone: Gone) -> None:
        layout = Layout(gone.module.source, gone.statement)
        edits = self.edits.setdefault(gone.module, [])
        if any(e.start <= layout.line_start and e.end >= layout.next_line for e in edits):
            return
        lines = [gone.module.source.code(gone.call)] if gone.call else []
        lines = ["return"] if not lines and leaves(gone.module, gone.statement) else lines
        self.changes.moved.update([gone.call] if gone.call else [])
        if gone.states_default:
            tf = spelling(gone.module, gone.statement)
            if tf is not None:
                lines = [f"{tf}.config.set_soft_device_placement(False)"]
                self.report.softness(gone.module, gone.statement)
        comment = layout.trailing_comment
        if comment:
            lines = [f"{lines[0]}  {comment}"] if lines else [comment]
        edits.append(layout.replace(lines))

    def _native_extras(self, state: State) -> None:
        """Sessions without a config that only served Keras, and the switch to eager code."""
        places = any(module.places_operations for module in state.program.modules)
        for module in state.program.modules:
            for sink in sink_calls(module) if module.writable else ():
                if sink.argument is None:
                    for one in goes_away(sink, self.graph, None) or ():
                        if one.statement not in self.changes.gone:
                            self.changes.gone.add(one.statement)
                            default = places and _is_session(one, sink)
                            default = default and not is_for_nobody(sink, self.graph)
                            self._drop(replaced(one, states_default=default))

    def _remarks(self, module: Module) -> None:
        """What Keras does otherwise in TF2, in a program that loses TF1's session for it."""
        for rewriter in of(NativeRewriter):
            for note in rewriter.remarks(module):
                if note.node not in self.changes.moved:
                    self.report.note(note, rewriter.rule.code)

    def _native_calls(self, module: Module) -> None:
        """Calls that do something else in a program without sessions."""
        written = {node for state in self.states for one in state.estimators for node in one.moved}
        for rewriter in of(NativeRewriter):
            if not self.rules.enabled(rewriter.rule.code, rewriter.rule.name):
                continue
            for edit in rewriter.apply(module):
                edits = edit.edits() if edit.call not in written else ()
                if edits:
                    self.changes.edit(module, *edits)
                    self.report.rule(module, edit.call, rewriter.rule)
            made = rewriter.write(module)
            self.changes.merge(made)
            for home, node, text, _ in made.notes:
                self.report.add(home, node, rewriter.rule.code, f.APPLIED, text)

    def _hold_back(self, deciding: ProgramStates) -> None:
        """Files fit together: with one that cannot be written its programs stay, whole."""
        failed = [module for module, result in self.report.files.items() if result.error]
        for module in failed:  # grows as it is walked
            for other in deciding.hold_back(self.states, module):
                if self.edits.get(other) and other not in failed:
                    text = f"left unchanged, because {module.path.name} could not be migrated"
                    self.report.held_back(other, text)
                    failed.append(other)

    # -- the result -------------------------------------------------------

    def _result(self, outcomes: list[Outcome]) -> f.RunResult:
        sites = {f.APPLIED: 0, f.KEPT: 0, f.REFUSED: 0}
        for outcome in outcomes:
            sites[outcome.state] += 1
        programs = [program(state) for state in self.states]
        packages = sorted(self.packages)
        files = self.report.results()
        return f.RunResult(files, programs, sites, unused=self._unused(), packages=packages)

    def _unused(self) -> list[Path]:
        """Files with TF1 code that no program of the run imports: nothing migrates them."""
        used = {module for state in self.states for module in state.program.modules}
        modules = self.project.modules.values()
        return sorted(
            m.path for m in modules if m not in used and (is_plain_v1(m) or calls_v1_methods(m))
        )


def _advice(new: NewNames) -> str:
    """What the owner installs for new names."""
    named = ", ".join(sorted(package.partition("==")[0] for package in new.packages))
    return f"add {named} to the requirements" if named else ""


def _has_native(state: State) -> bool:
    """Whether a program's session becomes functions."""
    return state.kind == NATIVE and state.session is not None


def _unlike(states: Iterable[State], module: Module) -> Diagnostic | None:
    """Why programs that import a module cannot all change it, if they cannot.

    What one of them changes and another does not must be nothing that the other one reads or
    changes: a function that only the first one calls.
    """
    found = [state.session for state in states if state.session is not None]
    for one, other in permutations(found, 2):
        node = one.disturbed(module, other)
        if node is not None:
            names = f"{one.module.path.name} and {other.module.path.name}"
            text = f"{names} need this in different forms"
            return Diagnostic("shared-module", Place(module, node), text)
    read = {node for one in found for node in one.read}
    for where, use in (unread for one in found for unread in one.unread):
        if where is module and not is_inside(module, use, read):
            text = f"it is not known what `{module.source.code(use)}` in {module.path.name} is for"
            return Diagnostic("shared-module", Place(module, use), text)
    return None


def _is_session(gone: Gone, sink: SinkCall) -> bool:
    """Whether a statement is the one that made a plain session for Keras.

    Such a session does not place softly, which TF2's eager code does.
    """
    return sink.kind.name == "Session" and gone.statement is gone.module.names.statement(sink.call)
