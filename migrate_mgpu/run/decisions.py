"""What becomes of each configuration: it moves, stays on its session, or waits with its program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.alternatives import always_before, never_both
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.core import findings as f
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.core.states import BRIDGE, NATIVE, REFUSED
from migrate_mgpu.run.outcome import Outcome, stays_on_tf1
from migrate_mgpu.run.states import State
from migrate_mgpu.session_config.checks import check
from migrate_mgpu.session_config.effective_options import holds_for_all
from migrate_mgpu.session_config.field_rewriter import field_rewriters
from migrate_mgpu.session_config.fields import FRACTION
from migrate_mgpu.session_config.flows import Flow, Setting
from migrate_mgpu.session_config.insertion_point import Hoist, Timing
from migrate_mgpu.session_config.moves import build
from migrate_mgpu.session_config.sessions import (
    Session,
    goes_away,
    is_for_nobody,
    is_opened,
    is_set_session,
    with_other_options,
)
from migrate_mgpu.source.suppressions import file_suppressed, suppressed

_OFF = "switched-off"


class ConfigDecisions:
    """Decides on each flow of a run by itself; what follows for its programs, ``states`` says."""

    def __init__(self, graph: CallGraph, states: list[State], rules: Selection) -> None:
        self.graph = graph
        self.states = states
        self.rules = rules
        self._by_module: dict[Module, list[State]] = {}
        for state in states:
            for module in state.program.modules:
                self._by_module.setdefault(module, []).append(state)
        self._programs: dict[Flow, list[State]] = {}

    def decide(self, flows: list[Flow]) -> list[Outcome]:
        """An outcome for each flow, in their order."""
        outcomes = [self._decide(flow) for flow in flows]
        for outcome in outcomes if any(flow.shares for flow in flows) else ():
            others = [one for one in outcomes if _share(outcome.flow, one.flow)]
            stays = next((one for one in others if one.move is None), None)
            if outcome.move is not None and stays is not None:
                return self._stay(outcomes, outcome, stays.flow)
        return outcomes

    def _stay(self, outcomes: list[Outcome], moved: Outcome, other: Flow) -> list[Outcome]:
        """The same, where a configuration stays since one that has a part of it does."""
        place = Place(other.module, other.place)
        why = Diagnostic("shared-part", place, "another config that stays has a part of it")
        moved.flow.problems.append(why)
        return self.decide([one.flow for one in outcomes])

    def programs_of(self, flow: Flow) -> list[State]:
        """The programs that run some module of a flow."""
        if flow not in self._programs:
            states = (s for m in flow.modules for s in self._by_module.get(m, ()))
            self._programs[flow] = list(dict.fromkeys(states))
        return self._programs[flow]

    def _decide(self, flow: Flow) -> Outcome:
        states = self.programs_of(flow)
        alive = [state for state in states if state.kind != REFUSED]
        if not alive:
            reasons = [reason for state in states for reason in state.reasons[:1]]
            return Outcome(flow, f.REFUSED, reasons[:1])
        place = Place(flow.module, flow.place)
        if flow.module.is_guarded(flow.place):
            why = Diagnostic("version-switch", place, "a version switch already chooses it")
            return Outcome(flow, f.KEPT, [why], idle=True)
        if not flow.sinks and not flow.problems:
            why = Diagnostic("unused", place, "no session uses it")
            return Outcome(flow, f.KEPT, [why], idle=True)
        native = all(state.kind == NATIVE for state in alive)
        problems = [*check(flow, native), *self._switched_off(flow), *self._leaks(flow)]
        spread: list[Session] = []  # sessions that take an option which they had not
        # Those that are opened once, before the options are set.
        over: list[tuple[Session, State]] = []
        for state in states:
            if state.kind == REFUSED:
                problems.append(stays_on_tf1(flow, state.program))
            elif state.kind == BRIDGE and is_opened(flow, state.program, self.graph):
                for one in with_other_options(flow, state.sessions):
                    if self._is_over(flow, one, state):
                        over.append((one, state))
                    elif not self._apart(flow, one, state):
                        precedes = self._precedes(flow, one, state)
                        if not _bears(flow, one, precedes, state):
                            problems.append(_differs(one))
                        elif not precedes:
                            spread.append(one)
                problems += _bare(flow, state, self.graph)
                problems += _of_keras(flow, state)
        if native:
            for sink in flow.sinks:
                if goes_away(sink, self.graph, flow) is None:
                    text = "its session does more than serve Keras"
                    where = Place(sink.module, sink.call)
                    problems.append(Diagnostic("session-serves-more", where, text))
        if problems or any(not module.writable for module in flow.modules):
            return Outcome(flow, f.KEPT, problems)
        modules = list(dict.fromkeys(m for state in alive for m in state.program.modules))
        point = Timing(self.graph, [state.program for state in alive], native).place(flow)
        if isinstance(point, Diagnostic):
            return Outcome(flow, f.KEPT, [point])
        for state in states:  # where the calls go, programs may run that open no session of it
            if state.kind == BRIDGE and isinstance(point, Hoist):
                if self.graph.runs_in(state.program, point.module, point.statement):
                    problems += map(_differs, with_other_options(flow, state.sessions))
        for state in states if flow.sinks else ():
            if state.kind == NATIVE:
                problems += self._beside(flow, state, point)
        if isinstance(point, Hoist):
            problems += [_differs(one) for one, s in over if not _bears(flow, one, False, s)]
            spread += [one for one, _ in over]
        if problems:
            return Outcome(flow, f.KEPT, problems)
        drop = {
            gone.statement
            for sink in flow.sinks
            if native
            for gone in goes_away(sink, self.graph, flow) or ()
        }
        places = any(module.places_operations for module in modules)
        if all(is_for_nobody(sink, self.graph) for sink in flow.sinks):
            places = False  # it places nothing, and Keras's own session does so softly
        move = build(flow, point, drop, native, places, self.graph.converted)
        return Outcome(flow, f.APPLIED, [], move, spread=spread)

    def _beside(self, flow: Flow, state: State, point: Hoist | None) -> Iterator[Diagnostic]:
        """The sessions of a native program that may not have a flow's options, and would."""
        for one in with_other_options(flow, state.sessions):
            apart = self._apart(flow, one, state)
            if apart and point is not None:
                where = point.module, point.statement
                other = one.sink.module, one.sink.call
                apart = never_both(self.graph, state.program, where, other)
            if not apart and not _bears(flow, one, False, state):
                yield _differs(one)

    def _apart(self, flow: Flow, session: Session, state: State) -> bool:
        """Whether a process that opens a session comes to nothing of a flow, by an `if`."""
        if session.flow is flow or not flow.sinks:
            return False
        theirs = {s.value for s in session.flow.settings} if session.flow is not None else set()
        own = (setting for setting in flow.settings if setting.value not in theirs)
        places: list[tuple[Module, ast.AST]] = [(s.module, s.statement) for s in own]
        places += [(sink.module, sink.call) for sink in flow.sinks]
        other = session.sink.module, session.sink.call
        return all(never_both(self.graph, state.program, one, other) for one in places)

    def _is_over(self, flow: Flow, session: Session, state: State) -> bool:
        """Whether a session is opened once, and always before a flow's options are set.

        Not beside a memory limit: TensorFlow's GPU is one device by then, in TF1 as well.
        """
        place = session.sink.module, session.sink.call
        if any(one.path == FRACTION for one in flow.settings):
            return False
        return self.graph.runs_once(*place, state.program.modules) and all(
            always_before(self.graph, state.program, place, (one.module, one.statement))
            for one in flow.settings
        )

    def _precedes(self, flow: Flow, session: Session, state: State) -> bool:
        """Whether a session of a flow is always opened before another one."""
        place = session.sink.module, session.sink.call
        firsts = ((sink.module, sink.call) for sink in flow.sinks)
        return any(always_before(self.graph, state.program, one, place) for one in firsts)

    def _leaks(self, flow: Flow) -> list[Diagnostic]:
        """Options that hold under a condition only, in code that may run again with another one.

        On a config they are gone with it; in ``tf.config`` they would stay for the
        next session.
        """
        for setting in flow.settings:
            names = setting.module.names
            always = _conditions(flow, setting)
            conditional = (
                len(flow.creations) > 1
                or flow.may_be_none
                or setting.choice is not None
                or any(
                    isinstance(parent, (ast.If, ast.Try)) and parent not in always
                    for parent in names.ancestors(setting.statement)
                )
            )
            if conditional and not self._runs_once(flow, setting):
                text = "it is set under a condition, in code that may run more than once"
                where = Place(setting.module, setting.statement)
                return [Diagnostic("conditional-and-repeated", where, text)]
        return []

    def _runs_once(self, flow: Flow, setting: Setting) -> bool:
        """Whether no program runs a setting twice; each is a process of its own."""
        return all(
            self.graph.runs_once(setting.module, setting.statement, state.program.modules)
            for state in self.programs_of(flow)
            if setting.module in state.program.modules
        )

    def _switched_off(self, flow: Flow) -> list[Diagnostic]:
        """Settings whose rule the user does not want, here or at all: the config stays whole."""
        found: list[Diagnostic] = []
        for setting in flow.settings:
            rewriter = field_rewriters().get(setting.path)
            if rewriter is None:
                continue
            code, name = rewriter.rule.code, rewriter.rule.name
            place = Place(setting.module, setting.keyword or setting.statement)
            first, last = _lines(setting.keyword or setting.statement, setting.value)
            if not self.rules.enabled(code, name):
                text = f"{code} ({name}) is not selected"
                found.append(Diagnostic("not-selected", place, text))
            elif suppressed(setting.module.source, first, last, rewriter.rule):
                found.append(Diagnostic(_OFF, place, f"a comment switches {code} off"))
        for module in flow.modules:
            if file_suppressed(module.source):
                place = Place(module, flow.place)
                found.append(Diagnostic(_OFF, place, "a comment switches the file off"))
        return found


def _share(one: Flow, other: Flow) -> bool:
    """Whether two configurations are given the same object as a part of them."""
    return one is not other and bool(
        one.shares & {*other.creations} or other.shares & {*one.creations}
    )


def _conditions(flow: Flow, setting: Setting) -> set[ast.AST]:
    """The `if` and `try` statements that the session, or else the config, stands in as well.

    Under those the setting is no more conditional than the session itself.
    """
    names = setting.module.names
    scope = names.scope_at(setting.statement)
    sinks = [s.call for s in flow.sinks if s.module is setting.module]
    places = [call for call in sinks if names.scope_at(names.statement(call)) is scope]
    places = places or [c for c in flow.creations if flow.module is setting.module]
    found = [set(names.ancestors(place)) for place in places]
    main = {node for node in names.ancestors(setting.statement) if is_main_guard(node)}
    main |= {block for block, always in flow.defaults.items() if always}
    return main.union(set.intersection(*found) if found else set())


def _lines(*nodes: ast.AST) -> tuple[int, int]:
    first = min(getattr(node, "lineno", 1) for node in nodes)
    last = max(getattr(node, "end_lineno", 1) or 1 for node in nodes)
    return first, last


def _bare(flow: Flow, state: State, graph: CallGraph) -> list[Diagnostic]:
    """Calls that leave the config out, in a program that hands it to the same function as well."""
    modules = state.program.modules
    given = (h for h in flow.handovers if h.module in modules and not is_none(h.argument))
    if not flow.settings or not any(given) or _suits_all(flow, state):
        return []
    return [
        _another(module, call, "no config")
        for module, call in flow.without
        if module in modules and graph.runs_in(state.program, module, call)
    ]


def _of_keras(flow: Flow, state: State) -> list[Diagnostic]:
    """Where Keras trains by a session that nobody gave it: that one has no config."""
    if state.in_graph is None or _suits_all(flow, state):
        return []
    calls = ((module, call) for module in state.program.modules for call in module.names.calls)
    if any(is_set_session(module, call) for module, call in calls):
        return []
    if any(sink.kind.name == "InteractiveSession" for sink in flow.sinks):
        return []  # the default session, which Keras takes
    place = Place(flow.module, flow.place)
    text = "Keras trains in a session that it opens itself, which has no config"
    return [Diagnostic("another-session", place, text)]


def _bears(flow: Flow, session: Session, precedes: bool, state: State) -> bool:
    """Whether a session may have a flow's options as well; what another has must be known."""
    known = session.plain or session.flow is not None
    return known and holds_for_all(flow, session.flow, precedes, _places(state))


def _suits_all(flow: Flow, state: State) -> bool:
    """Whether any session without a config may have a flow's options as well."""
    return holds_for_all(flow, None, False, _places(state))


def _places(state: State) -> bool:
    """Whether a program puts operations on devices."""
    return any(module.places_operations for module in state.program.modules)


def _differs(session: Session) -> Diagnostic:
    config = "no config" if session.plain else "another config"
    return _another(session.sink.module, session.sink.call, config)


def _another(module: Module, call: ast.Call, config: str) -> Diagnostic:
    text = f"another session of the process has {config}"
    return Diagnostic("another-session", Place(module, call), text)
