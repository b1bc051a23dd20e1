"""The whole run, planned: states of programs, fates of flows, edits of files, findings."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from pathlib import Path

from migrate_mgpu.engine import findings as f
from migrate_mgpu.engine.calls import CallGraph
from migrate_mgpu.engine.flows import Flow, Problem, Setting
from migrate_mgpu.engine.imports import remove_imports, with_imports
from migrate_mgpu.engine.module import Module
from migrate_mgpu.engine.moves import Move, build, check, spelling
from migrate_mgpu.engine.notebook import Notebook
from migrate_mgpu.engine.order import is_main_guard
from migrate_mgpu.engine.project import Project
from migrate_mgpu.engine.rules import field_rules
from migrate_mgpu.engine.rules import modules as rule_modules
from migrate_mgpu.engine.selection import Selection, file_suppressed, suppressed
from migrate_mgpu.engine.sessions import Gone, conflict, goes_away
from migrate_mgpu.engine.sinks import SinkCall, sink_calls
from migrate_mgpu.engine.source import Edit, splice
from migrate_mgpu.engine.states import BRIDGE, KEPT, NATIVE, REFUSED, Judge, Reason, State
from migrate_mgpu.engine.text import Layout
from migrate_mgpu.engine.timing import Hoist, Timing
from migrate_mgpu.engine.tracking import find_flows

NEXT = {
    NATIVE: "run it on TF2 and compare its losses with TF1's",
    BRIDGE: "run it on TF2 and compare its losses with TF1's",
    KEPT: "run it on TF2; move the kept options by hand when their reason is gone",
    REFUSED: "mend what is named, then run migrate-mgpu again",
}


@dataclass
class Options:
    """What the user asked for."""

    bridge: bool = True
    rules: Selection = field(default_factory=Selection)


@dataclass
class Outcome:
    """What becomes of one flow."""

    flow: Flow
    state: str  # findings.APPLIED, KEPT or REFUSED
    reasons: list[Problem] = field(default_factory=list)
    move: Move | None = None
    idle: bool = False  # no session of TF2's gets it: unused, or behind a version switch


def plan(project: Project, options: Options) -> f.RunResult:
    """Plans every edit of a run; nothing is written."""
    return _Planner(project, options).run()


class _Planner:
    def __init__(self, project: Project, options: Options) -> None:
        self.project = project
        self.options = options
        self.graph = CallGraph(project)
        self.flows = find_flows(project, self.graph)
        by_name = {module.RULE.name: module for module in rule_modules()}
        self.bridge = by_name["v1-behavior"]
        self.optimizers = by_name["keras-learning-rate"]
        self.judge = Judge(self.flows, self.graph, self.bridge, self.optimizers)
        self.edits: dict[Module, list[Edit]] = {}
        self.results: dict[Module, f.FileResult] = {}

    def run(self) -> f.RunResult:
        self.states = [
            state for program in self.project.programs() if (state := self.judge.state(program))
        ]
        self._by_module: dict[Module, list[State]] = {}
        for state in self.states:
            for module in state.program.modules:
                self._by_module.setdefault(module, []).append(state)
        self._programs: dict[Flow, list[State]] = {}
        outcomes = [self._decide(flow) for flow in self.flows]
        self._settle(outcomes)
        for outcome in outcomes:
            self._report_flow(outcome)
        bridged = self._bridge_modules()
        gone = self._apply_moves(outcomes, bridged)
        for state in self.states:
            self._report_state(state)
        return self._result(outcomes, bridged, gone)

    # -- what becomes of each flow ----------------------------------------

    def _programs_of(self, flow: Flow) -> list[State]:
        if flow not in self._programs:
            states = (s for m in flow.modules for s in self._by_module.get(m, ()))
            self._programs[flow] = list(dict.fromkeys(states))
        return self._programs[flow]

    def _decide(self, flow: Flow) -> Outcome:
        states = self._programs_of(flow)
        alive = [state for state in states if state.kind != REFUSED]
        if not alive:
            reasons = [
                Problem(reason.module, reason.node, reason.text)
                for state in states
                for reason in state.reasons[:1]
            ]
            return Outcome(flow, f.REFUSED, reasons[:1])
        if flow.module.is_guarded(flow.place):
            problem = Problem(flow.module, flow.place, "a version switch already chooses it")
            return Outcome(flow, f.KEPT, [problem], idle=True)
        if not flow.sinks and not flow.problems:
            problem = Problem(flow.module, flow.place, "no session uses it")
            return Outcome(flow, f.KEPT, [problem], idle=True)
        native = all(state.kind == NATIVE for state in alive)
        problems = [*check(flow, native), *self._switched_off(flow), *self._leaks(flow)]
        for state in states:
            if state.kind == REFUSED:
                entry = state.program.entry.path.name
                text = f"{entry}, which stays on TF1, uses it as well"
                problems.append(Problem(flow.module, flow.place, text))
            elif state.kind == BRIDGE:
                other = conflict(flow, state.sessions)
                if other is not None:
                    problems.append(_differs(other.sink.module, other.sink.call, other.plain))
        if native:
            for sink in flow.sinks:
                if goes_away(sink, self.graph) is None:
                    text = "its session serves more than Keras"
                    problems.append(Problem(sink.module, sink.call, text))
        if problems or any(not module.writable for module in flow.modules):
            return Outcome(flow, f.KEPT, problems)
        modules = list(dict.fromkeys(m for state in alive for m in state.program.modules))
        place = Timing(self.graph, modules, native).place(flow)
        if isinstance(place, Problem):
            return Outcome(flow, f.KEPT, [place])
        drop = {
            gone.statement
            for sink in flow.sinks
            if native
            for gone in goes_away(sink, self.graph) or ()
        }
        hoist = (place.module, place.statement) if isinstance(place, Hoist) else None
        return Outcome(flow, f.APPLIED, [], build(flow, hoist, drop, native))

    def _leaks(self, flow: Flow) -> list[Problem]:
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
                or any(
                    isinstance(parent, (ast.If, ast.Try)) and parent not in always
                    for parent in names.ancestors(setting.statement)
                )
            )
            if conditional and not self.graph.runs_once(setting.module, setting.statement):
                text = "it is set under a condition, in code that may run more than once"
                return [Problem(setting.module, setting.statement, text)]
        return []

    def _switched_off(self, flow: Flow) -> list[Problem]:
        """Settings whose rule the user does not want, here or at all: the config stays whole."""
        found: list[Problem] = []
        for setting in flow.settings:
            rule = field_rules().get(setting.path)
            if rule is None:
                continue
            code, name = rule.rule.code, rule.rule.name
            node = setting.keyword or setting.statement
            first, last = _lines(setting.keyword or setting.statement, setting.value)
            if not self.options.rules.enabled(code, name):
                found.append(Problem(setting.module, node, f"{code} ({name}) is not selected"))
            elif suppressed(setting.module.source, first, last, code):
                found.append(Problem(setting.module, node, f"a comment switches {code} off"))
        for module in flow.modules:
            if file_suppressed(module.source):
                found.append(Problem(module, flow.place, "a comment switches the file off"))
        return found

    def _settle(self, outcomes: list[Outcome]) -> None:
        """A flow moves only if all that share a program with it and must agree move too."""
        by_state: dict[State, list[Outcome]] = {state: [] for state in self.states}
        for outcome in outcomes:
            for state in self._programs_of(outcome.flow):
                by_state[state].append(outcome)
        changed = True
        while changed:
            changed = False
            for state in self.states:
                inside = by_state[state]
                stays = [o for o in inside if o.state == f.KEPT and o.flow.settings and not o.idle]
                if not stays:
                    continue
                if state.kind == NATIVE:
                    # A native program has no session to keep a config on.
                    first = stays[0]
                    problem = first.reasons[0] if first.reasons else None
                    place = problem or Problem(first.flow.module, first.flow.place, "")
                    state.refuse(
                        Reason(
                            place.module,
                            place.node,
                            f"its config cannot move to tf.config: {place.reason}",
                            "change that, then run migrate-mgpu again",
                        )
                    )
                    for outcome in inside:
                        alive = [s for s in self._programs_of(outcome.flow) if s.kind != REFUSED]
                        if not alive:
                            outcome.state, outcome.move = f.REFUSED, None
                    changed = True
                    continue
                for outcome in inside:
                    sessions_matter = outcome.state == f.APPLIED and outcome.flow.settings
                    if sessions_matter:
                        other = stays[0].flow
                        outcome.state, outcome.move = f.KEPT, None
                        outcome.reasons = [
                            Problem(
                                other.module,
                                other.place,
                                "another config of the process stays on its session",
                            )
                        ]
                        changed = True
        for state in self.states:
            if state.kind == BRIDGE:
                inside = by_state[state]
                if any(outcome.state == f.KEPT and not outcome.idle for outcome in inside):
                    state.kind = KEPT
        if not self.options.bridge:
            for outcome in outcomes:
                states = self._programs_of(outcome.flow)
                if outcome.state == f.APPLIED and any(s.kind != NATIVE for s in states):
                    outcome.state, outcome.move = f.KEPT, None
                    outcome.reasons = [
                        Problem(outcome.flow.module, outcome.flow.place, "--no-bridge")
                    ]

    # -- edits ------------------------------------------------------------

    def _bridge_modules(self) -> list[Module]:
        """The modules that must speak of TF1 because a bridged program runs them."""
        rule = self.bridge.RULE
        if not self.options.bridge or not self.options.rules.enabled(rule.code, rule.name):
            return []
        native = {id(m) for s in self.states if s.kind == NATIVE for m in s.program.modules}
        found: dict[int, Module] = {}
        for state in self.states:
            if state.kind not in (BRIDGE, KEPT) or _already_switched(state):
                continue
            for module in state.program.modules:
                if module.writable and id(module) not in native:
                    if not file_suppressed(module.source):
                        found.setdefault(id(module), module)
        return list(found.values())

    def _apply_moves(self, outcomes: list[Outcome], bridged: list[Module]) -> set[ast.AST]:
        gone: set[ast.AST] = set()
        imports: dict[Module, set[str]] = {}
        for outcome in outcomes:
            if outcome.move is None:
                continue
            for module, edits in outcome.move.edits.items():
                self.edits.setdefault(module, []).extend(edits)
            for module, needed in outcome.move.imports.items():
                imports.setdefault(module, set()).update(needed)
            for module, name in outcome.move.spellings.items():
                root = "tensorflow.compat.v1" if module in bridged else "tensorflow"
                imports.setdefault(module, set()).add(f"{root} as {name}")
            flow = outcome.flow
            gone.update(flow.own_nodes())
            native = all(s.kind in (NATIVE, REFUSED) for s in self._programs_of(flow))
            for sink in flow.sinks if native else ():
                for one in goes_away(sink, self.graph) or ():
                    gone.add(one.statement)
                    self._drop(one)
        done: set[Module] = set()
        for state in self.states:
            if state.kind == NATIVE:
                self._native_extras(state, gone)
                for module in state.program.modules:
                    if module.writable and module not in done:
                        done.add(module)
                        self._learning_rates(module)
        entries = {id(state.program.entry) for state in self.states}
        for module in bridged:
            edits = self.bridge.apply(module, id(module) in entries, gone)
            if edits:
                # First, so that at one place `disable_v2_behavior()` precedes the calls.
                self.edits[module] = [*edits, *self.edits.get(module, [])]
                self._note_bridge(module)
        for module in list(self.edits):
            self.edits[module] += remove_imports(module, gone, self.edits[module])
            self.edits[module] += with_imports(module, imports.get(module, set()))
        return gone

    def _drop(self, gone: Gone) -> None:
        layout = Layout(gone.module.source, gone.statement)
        edits = self.edits.setdefault(gone.module, [])
        if any(e.start <= layout.line_start and e.end >= layout.next_line for e in edits):
            return
        lines = [gone.module.source.code(gone.call)] if gone.call else []
        if gone.states_default:
            tf = spelling(gone.module, gone.statement)
            if tf is not None:
                lines = [f"{tf}.config.set_soft_device_placement(False)"]
        comment = layout.trailing_comment
        if comment:
            lines = [f"{lines[0]}  {comment}"] if lines else [comment]
        edits.append(layout.replace(lines))

    def _native_extras(self, state: State, gone: set[ast.AST]) -> None:
        """Sessions without a config that only served Keras, and the switch to eager code."""
        for module in state.program.modules:
            for sink in sink_calls(module) if module.writable else ():
                if sink.argument is None:
                    for one in goes_away(sink, self.graph) or ():
                        if one.statement not in gone:
                            gone.add(one.statement)
                            self._drop(replace(one, states_default=_is_session(one, sink)))

    def _learning_rates(self, module: Module) -> None:
        rule = self.optimizers.RULE
        if not self.options.rules.enabled(rule.code, rule.name):
            return
        for call, edits in self.optimizers.apply(module):
            self.edits.setdefault(module, []).extend(edits)
            self._finding(module, call, rule.code, f.APPLIED, rule.summary)

    # -- findings ---------------------------------------------------------

    def _finding(
        self, module: Module, node: ast.AST, code: str, state: str, message: str, advice: str = ""
    ) -> None:
        line = getattr(node, "lineno", 1)
        column = _column(module, node)
        cell = None
        if isinstance(module.source, Notebook):
            cell, line = module.source.place_in_cell(line)
        finding = f.Finding(module.path, line, column, code, state, message, advice, cell)
        found = self._file(module).findings
        if finding not in found:
            found.append(finding)

    def _file(self, module: Module) -> f.FileResult:
        if module not in self.results:
            self.results[module] = f.FileResult(module.path, module.source.file_text)
        return self.results[module]

    def _report_flow(self, outcome: Outcome) -> None:
        flow = outcome.flow
        if outcome.move is not None:
            for setting, rule in outcome.move.applied:
                self._finding(
                    setting.module,
                    setting.keyword or setting.statement,
                    rule.rule.code,
                    f.APPLIED,
                    rule.rule.summary,
                )
            for setting in outcome.move.overruled:
                self._finding(
                    setting.module,
                    setting.keyword or setting.statement,
                    "MGPU903",
                    f.MANUAL,
                    "allow_growth is left out: TF2 takes a memory limit or growth, not both, and "
                    "the limit wins",
                    "drop the memory fraction if growth matters more",
                )
            if not outcome.move.applied and not outcome.move.overruled:
                self._finding(
                    flow.module, flow.place, "MGPU202", f.APPLIED, "an empty config is left out"
                )
            return
        reason = outcome.reasons[0] if outcome.reasons else None
        where = ""
        text = "it is not followed"
        if reason is not None:
            line = getattr(reason.node, "lineno", 0)
            if reason.module is not flow.module:
                where = f" ({reason.module.path}:{line})"
            elif line != flow.place.lineno:
                where = f" (line {line})"
            text = reason.reason
        code = "MGPU901" if outcome.state == f.KEPT else "MGPU902"
        kept = "the config stays on its session" if outcome.state == f.KEPT else "unchanged"
        self._finding(flow.module, flow.place, code, outcome.state, f"{kept}: {text}{where}")

    def _note_bridge(self, module: Module) -> None:
        place = module.tensorflow_imports[0] if module.tensorflow_imports else module.tree
        rule = self.bridge.RULE
        self._finding(module, place, rule.code, f.APPLIED, rule.summary)

    def _report_state(self, state: State) -> None:
        for reason in state.reasons:
            self._finding(
                reason.module, reason.node, reason.code, f.REFUSED, reason.text, reason.advice
            )

    # -- the result -------------------------------------------------------

    def _result(
        self, outcomes: list[Outcome], bridged: list[Module], gone: set[ast.AST]
    ) -> f.RunResult:
        for module, edits in self.edits.items():
            if edits:
                result = self._file(module)
                result.after = module.source.apply(edits)
                _self_check(module, edits, result)
        for unreadable in self.project.unreadable.values():
            error = unreadable.error
            self.results[id(unreadable)] = f.FileResult(  # type: ignore[index]
                unreadable.path, error=str(error), error_line=error.line
            )
        sites = {f.APPLIED: 0, f.KEPT: 0, f.REFUSED: 0}
        for outcome in outcomes:
            sites[outcome.state] += 1
        files = sorted(self.results.values(), key=lambda result: str(result.path))
        for result in files:
            result.findings.sort(
                key=lambda finding: (finding.cell or 0, finding.line, finding.column, finding.code)
            )
        return f.RunResult(
            files, [self._program(s) for s in self.states], sites, order=self._order()
        )

    def _program(self, state: State) -> f.ProgramResult:
        reasons = tuple(
            f"{reason.module.path}:{getattr(reason.node, 'lineno', 1)}: {reason.text}"
            for reason in state.reasons
        )
        kind = state.kind
        if kind in (BRIDGE, KEPT) and not self.options.bridge:
            kind = "left (--no-bridge)"
        return f.ProgramResult(
            state.program.entry.path,
            kind,
            len(state.program.modules),
            reasons,
            state.runs_on if kind != REFUSED else "",
            NEXT.get(kind, "run migrate-mgpu without --no-bridge"),
        )

    def _order(self) -> list[Path]:
        """Modules before the modules that import them: a helper before its callers."""
        found: list[Path] = []
        seen: set[int] = set()

        def visit(module: Module) -> None:
            if id(module) in seen:
                return
            seen.add(id(module))
            for imported in module.imported:
                visit(imported)
            if module in self.edits:
                found.append(module.path)

        for module in self.project.modules.values():
            visit(module)
        return found


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
    return main.union(set.intersection(*found) if found else set())


def _column(module: Module, node: ast.AST) -> int:
    """1-based, in characters: ast counts UTF-8 bytes."""
    source = module.source
    if not hasattr(node, "lineno"):
        return 1
    return source.place(source.span(node)[0])[1]


def _lines(*nodes: ast.AST) -> tuple[int, int]:
    first = min(getattr(node, "lineno", 1) for node in nodes)
    last = max(getattr(node, "end_lineno", 1) or 1 for node in nodes)
    return first, last


def _is_session(gone: Gone, sink: SinkCall) -> bool:
    """Whether a statement is the one that made a plain session for Keras.

    Such a session does not place softly, which TF2's eager code does.
    """
    return sink.kind.name == "Session" and gone.statement is gone.module.names.statement(sink.call)


def _already_switched(state: State) -> bool:
    """Whether the program turns TF2's behaviour off by itself and runs on TF2 as it is."""
    return False


def _differs(module: Module, call: ast.Call, plain: bool) -> Problem:
    text = "has no config" if plain else "has another config"
    return Problem(module, call, f"another session of the process {text}")


def _self_check(module: Module, edits: list[Edit], result: f.FileResult) -> None:
    """The output must parse, or it is not written at all."""
    assert result.after is not None
    try:
        ast.parse(splice(module.source.text, edits))
        module.source.encode(result.after)
    except (SyntaxError, ValueError, RecursionError) as error:
        result.after = None
        result.error = f"internal error: the migrated text does not parse ({error}); left unchanged"
