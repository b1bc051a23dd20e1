"""What a planned run has to say: findings at their places, results of files and programs."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.changed_values import changed_values
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.edit_set import Note
from migrate_mgpu.analysis.incompatibilities import incompatibilities
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.analysis.scopes import line_of
from migrate_mgpu.core import findings as f
from migrate_mgpu.core.prefilter import once_a_run
from migrate_mgpu.core.records import replaced
from migrate_mgpu.core.registry import Rule, only
from migrate_mgpu.core.states import BRIDGE, KEPT, NATIVE, NO_BRIDGE, REFUSED
from migrate_mgpu.models.front.multi_gpu_model.rewriter import CopiesRewriter
from migrate_mgpu.models.front.rewriters import EagerRewriter, SessionRewriter, TowerRewriter
from migrate_mgpu.models.front.towers.wrappers import wrappers
from migrate_mgpu.output.kept import advice
from migrate_mgpu.run.claims import CODE, limits, packages_trainers
from migrate_mgpu.run.joined_modules import BEGIN
from migrate_mgpu.run.keras_by_hand import copies_by_hand
from migrate_mgpu.run.new_names import LostNames
from migrate_mgpu.run.outcome import Outcome
from migrate_mgpu.run.states import State, estimator_stays
from migrate_mgpu.session_config.fields import GROWTH, SOFT_PLACEMENT
from migrate_mgpu.session_config.moves import Move
from migrate_mgpu.session_config.sessions import Session
from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.suppressions import named
from migrate_mgpu.source.unbound_names import unbound

if TYPE_CHECKING:
    from migrate_mgpu.models.conversion import Conversion
    from migrate_mgpu.models.keras.multi_gpu_model.planning import Copy
    from migrate_mgpu.models.session_programs import NativeSession

NEXT = {
    NATIVE: "run it on TF2, compare it with migrate-mgpu parity",
    BRIDGE: "run it on TF2, compare it with migrate-mgpu parity",
    KEPT: "run it on TF2; move the kept options by hand once the reason no longer applies",
    REFUSED: "fix what is named, then run migrate-mgpu again",
}

_ON = {NO_BRIDGE: "run migrate-mgpu without --no-bridge"}


class Report:
    """Collects findings by file."""

    def __init__(self) -> None:
        self.files: dict[Module, f.FileResult] = {}
        self.new: dict[Path, tuple[f.FileResult, list[Module]]] = {}

    def add(
        self,
        module: Module,
        node: ast.AST,
        code: str,
        state: str,
        message: str,
        advice: str = "",
        affects: str = "",
    ) -> None:
        """One finding at a node, once."""
        place = Place(module, node)
        self.diagnostic(Diagnostic(code, place, message, advice, code, "", affects), state)

    def note(self, note: Note, code: str) -> None:
        """What the owner of a program should know."""
        module, node, text, affects = note
        self.add(module, node, code, f.MANUAL, text, affects=affects)

    def diagnostic(self, why: Diagnostic, state: str) -> None:
        """What is to be said of a site, once."""
        one, found = finding(why, state), self.file(why.module).findings
        if one not in found:
            found.append(one)

    def file(self, module: Module) -> f.FileResult:
        if module not in self.files:
            self.files[module] = f.FileResult(module.path, module.source.file_text)
        return self.files[module]

    def flow(self, outcome: Outcome) -> None:
        """What became of one configuration."""
        flow, move = outcome.flow, outcome.move
        if move is None:
            self._stays(outcome)
            return
        for module, statement in move.stated:
            self.softness(module, statement)
        for setting, rewriter in move.applied:
            place = setting.keyword or setting.statement
            self.rule(setting.module, place, rewriter.rule)
            note = rewriter.note(setting)
            if note is not None:
                code = rewriter.rule.code
                self.add(setting.module, place, code, f.MANUAL, *note, f.CONFIGURATION)
        if outcome.spread:
            self._spread(move, outcome.spread)
        for setting, unless in move.overruled:
            left = f"has no effect where `{unless}` sets a limit" if unless else "is left out"
            self.add(
                setting.module,
                setting.keyword or setting.statement,
                "MGPU903",
                f.MANUAL,
                f"allow_growth {left}: TF2 takes a memory limit or growth, not both, and "
                "the limit wins",
                "drop the memory fraction if growth matters more",
                f.CONFIGURATION,
            )
        code = move.applied[0][1].rule.code if move.applied else "MGPU202"
        for module, statement in flow.shown:
            text = "this prints an object of TF1 that no longer exists: the statement is removed"
            self.add(module, statement, code, f.MANUAL, text)
        if not move.applied and not move.overruled:
            text = "an empty config is removed"
            self.add(flow.module, flow.place, "MGPU202", f.APPLIED, text)

    def _spread(self, move: Move, sessions: list[Session]) -> None:
        """Sessions that had not asked for it take what holds for the process."""
        other = sessions[0]
        config = "no config" if other.plain else "another config"
        where = _place(other.sink.module, other.sink.call)
        text = (
            f"this holds for the process: the session at {where} takes it too, which has {config}"
        )
        for setting, rewriter in move.applied:
            if setting.path in (GROWTH, SOFT_PLACEMENT):
                place = setting.keyword or setting.statement
                code = rewriter.rule.code
                self.add(setting.module, place, code, f.MANUAL, text, affects=f.CONFIGURATION)
                return

    def _stays(self, outcome: Outcome) -> None:
        flow = outcome.flow
        where, text, key = "", "it cannot be analyzed", "not-followed"
        if outcome.reasons:
            reason = outcome.reasons[0]
            text, key = reason.reason, reason.key
            if reason.module is not flow.module:
                where = f" ({_place(reason.module, reason.node)})"
            elif line_of(reason.node) != flow.place.lineno:
                cell, line = _line(reason.module, reason.node)
                where = f" (line {line})" if cell is None else f" (cell {cell}, line {line})"
        code = "MGPU901" if outcome.state == f.KEPT else "MGPU902"
        kept = "the config stays on its session" if outcome.state == f.KEPT else "unchanged"
        do = advice(key) if outcome.state == f.KEPT else ""
        place = Place(flow.module, flow.place)
        why = Diagnostic(key, place, f"{kept}: {text}{where}", do, code)
        self.diagnostic(why, outcome.state)

    def softness(self, module: Module, node: ast.AST) -> None:
        """TF1's default is written where its author wrote nothing."""
        text = (
            "soft placement is off by default in TF1 and on in TF2: this line keeps it off, so "
            "that an operation without a GPU kernel is an error under `tf.device` or a strategy"
        )
        advice = "delete the line if such operations may run on the CPU"
        self.add(module, node, "MGPU101", f.APPLIED, text, advice)

    def rule(self, module: Module, node: ast.AST, rule: Rule) -> None:
        """A rewriter did its work at a node."""
        self.add(module, node, rule.code, f.APPLIED, rule.summary)

    def estimator(self, one: Conversion, bridged: bool = False) -> None:
        """What became of one Estimator; TF 2.15 has what stays of a bridged program."""
        flow = one.flow
        if one.refused is not None:
            self.diagnostic(estimator_stays(one.refused), f.KEPT if bridged else f.REFUSED)
            return
        self.add(flow.module, flow.call, "MGPU401", f.APPLIED, "the Estimator is a Keras model")
        for module, node, kind in dict.fromkeys(one.sites):
            if node is not flow.call:
                self.rule(module, node, only(kind).rule)
        for note in one.notes:
            self.note(note, "MGPU401")

    def native_session(self, one: NativeSession) -> None:
        """What became of a program that drives a graph with a session."""
        towers = only(TowerRewriter).rule
        rule = only(SessionRewriter).rule
        if one.refused is not None:
            why = one.told or one.refused
            rule = towers if one.towers is not None else rule
            text = f"the session stays, on the bridge: {why.reason}"
            self.diagnostic(replaced(why, reason=text, code=rule.code), f.KEPT)
        elif one.session is not None:
            self.rule(one.module, one.session, rule)
            if one.towers is not None:
                self.rule(one.module, one.towers, towers)
            for note in one.notes:
                self.note(note, rule.code)

    def in_graph(self, state: State) -> None:
        """What keeps a program's Keras models in TF1's graph, where the bridge puts them."""
        for why in state.in_graph or ():
            text = f"Keras stays in TF1's graph, on the bridge: {why.reason}"
            self.diagnostic(replaced(why, reason=text, code="MGPU202"), f.KEPT)

    def eager(self, state: State) -> None:
        """What became of TF1's names in a program that runs eagerly."""
        rule, why = only(EagerRewriter).rule, state.not_eager
        if why is not None:
            text = f"the program stays on the bridge: {why.reason}"
            self.diagnostic(replaced(why, reason=text, code=rule.code), f.KEPT)
            return
        for module, node, kind in dict.fromkeys(state.rest.sites):
            if kind is EagerRewriter:
                self.rule(module, node, rule)
        for note in state.rest.notes:
            self.note(note, rule.code)

    def copied(self, copy: Copy) -> None:
        """A model's copies became a strategy, and what its owner is to know."""
        rule = only(CopiesRewriter).rule
        self.rule(copy.module, copy.call, rule)
        for note in copy.notes:
            self.note(note, rule.code)

    def state(self, state: State) -> None:
        """Why a program is refused."""
        for why in state.reasons:
            self.diagnostic(why, f.REFUSED)

    def wrappers(self, state: State, project: Project, graph: CallGraph) -> None:
        """What builds the towers of a program that stays on the bridge for it."""
        for why in packages_trainers(state.program, project):
            self.diagnostic(why, f.KEPT)
        if state.session is not None:
            for why in wrappers(state.program.modules, graph):
                self.diagnostic(why, f.KEPT)

    def limits(self, state: State, project: Project, graph: CallGraph, lost: LostNames) -> None:
        """What makes it smaller that a migrated program runs on TF2."""
        native = state.kind == NATIVE
        left = incompatibilities if native else lost.left
        found = [*state.limits, *limits(state.program, project, graph, left, native)]
        for why in found:
            self.diagnostic(why, f.MANUAL)
        if found and state.runs_on:
            state.runs_on += f", but for what {CODE} names"

    def changed_values(self, state: State) -> None:
        """Functions of a migrated program that answer otherwise in TF2."""
        for module in state.program.needed:
            for why in changed_values(module):
                self.diagnostic(why, f.MANUAL)

    def unknown_imports(self, state: State, project: Project) -> None:
        """Modules of a migrated program that are imported by a name known at run time only."""
        for module in state.program.modules:
            for one in project.unknown_imports.get(module, ()) if module.writable else ():
                text = "it imports a module by a name that is only known at run time"
                if one.found:
                    others = ", ".join(sorted(found.path.name for found in one.found)[:5])
                    more = len(one.found) - 5
                    others += f" and {more} more" if more > 0 else ""
                    verb = "is" if len(one.found) == 1 else "are"
                    text += f": {others}, which no other import names, {verb} migrated along"
                advice = "see that every module that it can name is migrated"
                self.add(module, one.node, "MGPU904", f.MANUAL, text, advice)

    def cells_left_out(self, state: State) -> None:
        """Cells of a migrated notebook that are not Python."""
        for module in state.program.modules:
            for line, why in module.source.left_out if isinstance(module.source, Notebook) else ():
                place = ast.Pass(lineno=line, col_offset=0, end_lineno=line, end_col_offset=0)
                text = f"this cell {why}; it is left out, and no other cell uses what it names"
                advice = "fix it, or make it a Markdown cell"
                self.add(module, place, "MGPU907", f.MANUAL, text, advice)

    def copies_by_hand(self, module: Module) -> None:
        """Keras models that a file outside of all programs puts on several GPUs."""
        for why in copies_by_hand(module):
            self.diagnostic(why, f.MANUAL)

    def unknown_suppressions(self, module: Module) -> None:
        """Comments that switch off what is no rule."""
        for line, word in named(module.source):
            from migrate_mgpu.output.catalogue import unknown

            problem = unknown(word)
            if problem is not None:
                place = ast.Pass(lineno=line, col_offset=0, end_lineno=line, end_col_offset=0)
                text = f"this comment switches nothing off: {problem}"
                self.add(module, place, "MGPU909", f.MANUAL, text)

    def changed(self, module: Module, edits: list[Edit]) -> None:
        """A file's new text; it must parse and know its names, or it is not written at all."""
        result = self.file(module)
        try:
            result.after = module.source.apply(edits)
            self.check_syntax(module, edits)
            check_names(module, edits)
            module.source.encode(result.after)
        except NameError as error:
            self.held_back(module, f"internal error: {error}; left unchanged")
        except (SyntaxError, ValueError, RecursionError) as error:
            text = f"internal error: the migrated text does not parse ({error}); left unchanged"
            self.held_back(module, text)

    def check_syntax(self, module: Module, edits: list[Edit]) -> None:
        """Raises ``SyntaxError`` or ``ValueError`` where a module's new text is no Python."""
        text = splice(module.source.text, edits)
        try:
            _compiled(text)
        except SyntaxError:
            ast.parse(text)
            if _is_taken(module.source.text):  # else it is what the author wrote
                raise

    def created(self, path: Path, text: str, module: Module) -> None:
        """A file that is not there, which the new text of a module imports."""
        if not path.exists():
            self.new.setdefault(path, (f.FileResult(path, "", text), []))[1].append(module)

    def held_back(self, module: Module, error: str) -> None:
        """A file that stays as it is after all: nothing that was to be said of it holds."""
        result = self.file(module)
        result.after, result.error, result.findings = None, error, []

    def results(self) -> list[f.FileResult]:
        """Every file with something to say, by path; findings by place."""
        for result in self.files.values():
            result.findings.sort(key=lambda one: one.position)
        needed = [
            new
            for new, modules in self.new.values()
            if any(self.file(module).changed for module in modules)
        ]
        return sorted([*self.files.values(), *needed], key=lambda result: str(result.path))


def finding(why: Diagnostic, state: str) -> f.Finding:
    """A diagnostic as it is reported."""
    module, node = why.module, why.node
    column = _column(module, node)
    cell, line = _line(module, node)
    return f.Finding(
        module.path,
        line,
        column,
        why.code,
        state,
        why.reason,
        why.advice,
        cell,
        why.key,
        why.affects,
    )


def program(state: State) -> f.ProgramResult:
    """A program's result."""
    reasons = tuple(finding(why, f.REFUSED) for why in state.reasons)
    kind = f"left ({state.left})" if state.left else state.kind
    return f.ProgramResult(
        state.program.entry.path,
        kind,
        len(state.program.modules),
        reasons,
        state.runs_on if kind != REFUSED else "",
        NEXT.get(kind, _ON.get(state.left, "select MGPU201 (v1-behavior) too: it makes bridges")),
        tuple(module.path for module in state.program.modules),
        state.legacy_keras and kind != REFUSED,
    )


def _line(module: Module, node: ast.AST) -> tuple[int | None, int]:
    """A node's 1-based line; in a notebook its cell, and the line in that."""
    line = getattr(node, "lineno", 1)
    if isinstance(module.source, Notebook):
        return module.source.place_in_cell(line)
    return None, line


def _place(module: Module, node: ast.AST) -> str:
    """Path and line, as findings have them."""
    cell, line = _line(module, node)
    return f"{module.path}:{line}" if cell is None else f"{module.path}:cell {cell}:{line}"


def _column(module: Module, node: ast.AST) -> int:
    """1-based, in characters: ast counts UTF-8 bytes."""
    source = module.source
    if not hasattr(node, "lineno"):
        return 1
    return source.place(source.span(node)[0])[1]


def check_names(module: Module, edits: list[Edit]) -> None:
    """Raises ``NameError`` where a module's new text reads a name that nothing binds there.

    One that its author's text reads so is no matter: no run comes to it. Nor are edits that do not
    fit together, of programs that want a module in different forms: that is told elsewhere.
    """
    if not edits:
        return
    try:
        text = splice(module.source.text, edits)
    except ValueError:
        return
    found = _unbound(text)
    new = found - _unbound(module.source.text) if found else found
    if new and BEGIN in text:  # each of two files has its imports above all of its own
        bound = module.names.module_scope.bindings
        new -= {one for one in new if {b.kind for b in bound.get(one, ())} == {"import"}}
    if new:
        raise NameError(f"the migrated text would not know {', '.join(sorted(new))}")


@once_a_run
def _unbound(text: str) -> frozenset[str]:
    """A run plans the same text many times."""
    return unbound(text)


@once_a_run
def _compiled(text: str) -> None:
    """More than parsing finds two parameters of one name; notebooks have `await` at the top."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    compile(text, "<written>", "exec", flags, dont_inherit=True)


def _is_taken(text: str) -> bool:
    try:
        _compiled(text)
    except SyntaxError:
        return False
    return True
