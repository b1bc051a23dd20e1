"""Which of the four states each program ends in, and what keeps it there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import TYPE_CHECKING

from migrate_mgpu.analysis.api_version import (
    is_explicit_v1,
    is_mixed,
    is_plain_v1,
    is_tf2,
    needs_tf1,
    reads_eagerly,
    swaps,
    v1_uses,
)
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.definitions import may_be_called
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place, Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.import_edits import unused_lost_imports, with_imports
from migrate_mgpu.analysis.incompatibilities import (
    GONE_LATE,
    GONE_TOLD,
    NEVER_THERE,
    PYTHON_2,
    TF1_NAME,
    incompatibilities,
    outermost,
)
from migrate_mgpu.analysis.keras_graphs import only_builds_layers, trains_in_graph
from migrate_mgpu.analysis.module import Module, Use, fact_of_text, tensorflow_name
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.options import Options
from migrate_mgpu.analysis.project import Program
from migrate_mgpu.analysis.removal import binds_only_removed, is_inside, name_unused
from migrate_mgpu.analysis.runs_on import (
    bridge_runs_on,
    gone_keras_names,
    native_runs_on,
    needs_legacy_keras,
)
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.analysis.taken_names import Taken
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.mnist import is_read_by_object
from migrate_mgpu.core import findings as f
from migrate_mgpu.core.findings import NUMBERS
from migrate_mgpu.core.records import field, record, replaced
from migrate_mgpu.core.registry import Rule, of, only
from migrate_mgpu.core.states import BRIDGE, KEPT, NATIVE, NO_BRIDGE, REFUSED
from migrate_mgpu.models.front.estimators.parts import CUSTOM
from migrate_mgpu.models.front.rewriters import EagerRewriter
from migrate_mgpu.models.properties import row_of, strategies_of
from migrate_mgpu.run.claims import CODE as CLAIM
from migrate_mgpu.run.claims import packages_trainers
from migrate_mgpu.run.keras_by_hand import strategies_without_estimators
from migrate_mgpu.run.new_names import LostNames
from migrate_mgpu.run.outcome import Outcome, stays_on_tf1
from migrate_mgpu.run.shared_modules import NewText
from migrate_mgpu.session_config.flows import Flow
from migrate_mgpu.session_config.insertion_point import is_straight
from migrate_mgpu.session_config.program_rewriter import NativeRewriter, NewNames
from migrate_mgpu.session_config.sessions import Session, goes_away, is_opened, sessions_of
from migrate_mgpu.session_config.sinks import sink_calls
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle
from migrate_mgpu.source.suppressions import file_suppressed

if TYPE_CHECKING:
    from migrate_mgpu.models import NoEstimators
    from migrate_mgpu.models.conversion import Conversion, Conversions
    from migrate_mgpu.models.keras.multi_gpu_model import NoCopies
    from migrate_mgpu.models.keras.multi_gpu_model.planning import Copies, Copy
    from migrate_mgpu.models.session_programs import NativeSession, NativeSessions

# Names that changed between TF1 and TF2 only in arguments that TF2 rejects
# loudly: used without those, they do in eager code what they did before.
_SAME_WITHOUT = {
    "keep_dims", "reduction_indices", "dim", "dimension", "squeeze_dims", "axis_name", "seq_dim",
    "batch_dim",
}  # fmt: skip
_SAME = (
    "reduce_", "math.reduce_", "argmax", "argmin", "math.arg", "shape", "size", "expand_dims",
    "squeeze", "transpose", "zeros_like", "ones_like", "constant", "convert_to_tensor", "gather",
    "device", "name_scope", "executing_eagerly", "nn.softmax", "nn.log_softmax", "keras.",
    "image.ResizeMethod", "image.resize", "cond", "norm", "pad", "Variable", "data.", "map_fn",
    "nn.sigmoid_cross", "nn.conv2d", "nn.max_pool", "nn.avg_pool", "nn.moments", "distribute.",
    "losses.Reduction", "train.Checkpoint", "summary.", "reverse_sequence",
)  # fmt: skip
# Reached as tf.compat.v1.X these work in eager code too.
_FINE_EAGERLY = (
    "logging.", "flags.", "app.", "gfile.", "set_random_seed", "random.set_random_seed",
    "train.get_or_create_global_step", "enable_v2_behavior", "enable_eager_execution",
)  # fmt: skip

# Of those, what a Keras program may say of TF1's, and TF2 says too.
_SETTINGS = tuple(name for name in _FINE_EAGERLY if "eager" not in name and "v2" not in name)
_SEED = "the same seed draws other numbers in TF2 than in TF1"

# Keys of diagnostics.
_BROKEN = "broken-import"
_OUTSIDE = "outside-the-paths"
_NEEDED = "needed-as-it-is"


@record(eq=False)
class State:
    """A program's state while the run is planned."""

    program: Program
    kind: str
    reasons: list[Diagnostic] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    runs_on: str = ""
    limits: list[Diagnostic] = field(default_factory=list)  # what makes `runs_on` smaller
    legacy_keras: bool = False  # on the newest TensorFlow it needs tf-keras
    # Why Keras trains a program's models in TF1's graph, on the bridge; None where it does not.
    in_graph: list[Diagnostic] | None = None
    estimators: list[Conversion] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    rest: EditSet = field(default_factory=EditSet)  # of a native program, beside its Estimators
    # What else is written for names that TF2 lost, in modules of Estimators that become native.
    new_names: list[tuple[Module, Rule, NewNames]] = field(default_factory=list)
    left: str = ""  # why a bridge is not made, where nothing hinders it
    as_it_is: bool = False  # it stands on TF2's own names and ``tf.compat.v1``: a bridge already
    session: NativeSession | None = None  # what becomes of a program that drives a graph
    eager: ast.Call | None = None  # what makes TF1 run the program eagerly, as TF2 does
    not_eager: Diagnostic | None = None  # what keeps such a program from being TF2's

    def refuse(self, reason: Diagnostic) -> None:
        self.kind, self.left = REFUSED, ""
        self.reasons.append(reason)

    def keep_config(self) -> None:
        """A bridged program works with a config on its session as well."""
        self.kind = KEPT


# What keeps a program from TF2 only where it comes to the place, by the diagnostics' keys.
_WHEN_CALLED = (PYTHON_2, GONE_LATE)


def _is_seen(program: Program, module: Module) -> bool:
    """Whether somebody outside of a program may call the functions of a module."""
    return module is program.entry and not module.has_main_guard and may_be_called(module)


def _unless_called(why: Diagnostic) -> Diagnostic:
    """What would keep a program from running, in code that it never calls."""
    reason = f"{why.reason}; nothing here calls this code, and the program runs until it does"
    return replaced(why, reason=reason, code=CLAIM)


def _unless_asked(why: Diagnostic, asked: str) -> Diagnostic:
    """What would keep a program from running, where an option alone leads to it."""
    asked = " ".join(asked.split())
    reason = f"{why.reason}; the program runs as long as nobody asks for it: `{asked[:80]}`"
    return replaced(why, reason=reason, code=CLAIM)


def _refuses_itself(why: Diagnostic) -> Diagnostic:
    """What a program does on TF1 only, and raises on TF2 by its author's word."""
    reason = f"{why.reason}; this code raises on TF2 where it is called, as it says itself"
    return replaced(why, reason=reason, code=CLAIM)


def estimator_stays(why: Diagnostic) -> Diagnostic:
    """What keeps an Estimator, as what keeps its program."""
    text = f"the Estimator stays: {why.reason}"
    return Diagnostic("estimator-stays", why.place, text, why.advice, "MGPU401")


class ProgramStates:
    """Decides the states of a run's programs. Nothing else changes one.

    First by what the programs are (``decide``); then by what became of their configs
    (``settle``), and of their files (``hold_back``).
    """

    def __init__(
        self,
        flows: list[Flow],
        graph: CallGraph,
        conversions: Conversions | NoEstimators,
        copies: Copies | NoCopies,
        lost: LostNames,
        sessions: NativeSessions | None = None,
    ) -> None:
        self.flows = flows
        self.lost = lost
        self.sessions = sessions
        self.conversions = conversions
        self.copies = copies
        self._flow_of = {sink.call: flow for flow in flows for sink in flow.sinks}
        self.graph = graph
        self._options: dict[Module, Options] = {}
        self._incompatibilities = lru_cache(maxsize=None)(incompatibilities)
        self._obstacles = lru_cache(maxsize=None)(_obstacles)

    def decide(self, programs: Iterable[Program]) -> list[State]:
        """The programs' states; a model that one of its programs keeps stays in all."""
        programs = list(programs)
        while True:
            before = self._converted()
            self.graph.converted = self.conversions.calls()
            found = (self._state(program) for program in programs)
            states = [state for state in found if state is not None]
            self._keep_together(states)
            self._keep_apart(states, programs)
            if self._converted() == before:
                self.graph.converted |= {
                    call
                    for state in states
                    if state.kind == NATIVE and state.session is not None
                    for call in state.session.sessions
                }
                return states

    def _converted(self) -> int:
        """How many models are converted, as far as is known."""
        return sum(one.refused is None for one in (*self.conversions.all, *self.copies.all))

    def _keep_together(self, states: Iterable[State]) -> None:
        """A program that is not native keeps all of its models, for the other programs too."""
        for state in states:
            if state.kind == NATIVE:
                continue
            stays = next((one.refused for one in state.estimators if one.refused), None)
            for one in state.estimators:
                one.refused = one.refused or stays
            why = state.reasons[0].reason if state.reasons else ""
            text = f"a program that uses it stays: {why}" if why else "it stays"
            for copy in state.copies:
                if copy.refused is None:
                    place = Place(copy.module, copy.call)
                    copy.refused = Diagnostic("its-program-stays", place, text)
        self.conversions.share()

    def _keep_apart(self, states: Iterable[State], programs: Iterable[Program]) -> None:
        """A model stays where other programs need what changes with it as it is."""
        native = {state.program.entry: state for state in states if state.kind == NATIVE}
        bridged = {state.program.entry for state in states if state.kind in (BRIDGE, KEPT)}
        users: dict[Module, list[Program]] = {}
        taken: dict[Module, Taken] = {}  # by entry points
        for program in programs if any(state.estimators for state in native.values()) else ():
            for module in program.modules:
                if program.entry not in native and module is not program.entry:
                    users.setdefault(module, []).append(program)
        for state in native.values():
            changes = EditSet()
            for one in (*state.estimators, state.rest) if state.estimators else ():
                changes.merge(one)
            for module, edits in changes.edits.items():
                if module not in users:
                    continue
                imports = with_imports(module, changes.imports.get(module, set()))
                new = NewText(module, splice(module.source.text, [*edits, *imports]))
                for program in users.get(module, ()):
                    entry = program.entry
                    if entry not in taken:
                        taken[entry] = Taken(program, self.graph.project)
                    changed = new.changed_for(taken[entry], entry in bridged)
                    if changed is not None:
                        text = f"{program.entry.path.name} needs `{changed[0]}` as it is"
                        why = Diagnostic(_NEEDED, Place(module, changed[1]), text)
                        for one in state.estimators:
                            one.refused = one.refused or why
        self.conversions.share()

    def settle(
        self,
        states: list[State],
        outcomes: list[Outcome],
        programs_of: Callable[[Flow], list[State]],
        off: str,
    ) -> None:
        """A flow moves only if all that share a program with it and must agree move too.

        ``off`` says what switches bridges off; empty where nothing does.
        """
        by_state: dict[State, list[Outcome]] = {state: [] for state in states}
        for outcome in outcomes:
            for state in programs_of(outcome.flow):
                if is_opened(outcome.flow, state.program, self.graph):
                    by_state[state].append(outcome)
        changed = True
        while changed:
            changed = False
            for state, inside in by_state.items():
                stays = [o for o in inside if o.state == f.KEPT and o.flow.settings and not o.idle]
                if stays and state.kind == NATIVE:
                    self._keeps_config(state, stays[0], inside, programs_of)
                    changed = True
                elif stays:
                    other = stays[0].flow
                    text = "another config of the process stays on its session"
                    why = Diagnostic("another-stays", Place(other.module, other.place), text)
                    for outcome in inside:
                        if outcome.state == f.APPLIED and outcome.flow.settings:
                            outcome.stays(f.KEPT, why)
                            changed = True
        for outcome in outcomes:
            moves = outcome.state == f.APPLIED and off
            if moves and any(state.kind != NATIVE for state in programs_of(outcome.flow)):
                key = "bridge-switched-off" if off == NO_BRIDGE else "bridge-not-selected"
                text = "its program would become a bridge, but " + (
                    "--no-bridge is given" if off == NO_BRIDGE else off
                )
                place = Place(outcome.flow.module, outcome.flow.place)
                outcome.stays(f.KEPT, Diagnostic(key, place, text))
        for state, inside in by_state.items():
            if state.kind == BRIDGE and any(o.state == f.KEPT and not o.idle for o in inside):
                state.keep_config()
            if state.kind in (BRIDGE, KEPT):
                state.left = off

    def _keeps_config(
        self,
        state: State,
        first: Outcome,
        inside: list[Outcome],
        programs_of: Callable[[Flow], list[State]],
    ) -> None:
        """A native program has no session to keep a config on: it stays as it is, whole.

        One that imports both, Keras and the session, under a condition alone is native by nothing
        that surely runs: it becomes a bridge, as those are that import them at once.
        """
        if self._is_native_unasked(state):
            state.kind, state.rest = BRIDGE, EditSet()
            self._bridge(state)
            if state.kind == BRIDGE:
                return
            state.reasons = []
        reason = first.reasons[0]
        text = f"its config cannot move to tf.config: {reason.reason}"
        advice = "change that, then run migrate-mgpu again"
        why = Diagnostic("config-cannot-move", reason.place, text, advice)
        state.refuse(why)
        for outcome in inside:
            if all(s.kind == REFUSED for s in programs_of(outcome.flow)):
                outcome.stays(f.REFUSED, *(outcome.reasons or [why]))
            elif outcome.state == f.APPLIED:
                outcome.stays(f.KEPT, stays_on_tf1(outcome.flow, state.program))

    @staticmethod
    def _is_native_unasked(state: State) -> bool:
        """Whether nothing that a native program surely imports has Keras models or a config."""
        if state.session is not None or state.estimators or state.copies:
            return False
        needed = set(state.program.needed)
        configured = {module for flow in state.flows for module in flow.modules}
        return not needed & configured and not any(module.uses_keras_models for module in needed)

    def hold_back(self, states: list[State], module: Module) -> list[Module]:
        """A file cannot be written: its programs stay, whole. Gives their files."""
        text = f"{module.path.name} could not be migrated"
        place = Place(module, module.tree.body[0])
        stay = [s for s in states if module in s.program.modules and s.kind != REFUSED]
        for state in stay:
            state.refuse(Diagnostic("not-written", place, text, "please report it"))
        return [other for state in stay for other in state.program.modules]

    def _state(self, program: Program) -> State | None:
        """A program's first state, before its flows are looked at; None without a site."""
        modules = program.modules
        runs_in = self.graph.runs_in
        inside = set(modules)
        flows = [flow for flow in self.flows if flow.module in inside]
        sessions = sessions_of(modules, self._flow_of)
        made = [
            one
            for one in self.conversions.of(inside)
            if one.flow.module.writable and runs_in(program, one.flow.module, one.flow.call)
        ]
        idle = [m for m in made if self._is_idle(program, m.flow.module, m.flow.call, set())]
        if len(idle) < len(made):  # a library alone has no other ones
            made = [one for one in made if one not in idle]
        opened = any(session.sink.module.writable for session in sessions)
        copied = self.copies.of(modules)
        if not flows and not opened and not made and not copied:
            return self._without_sites(program)
        if (
            not flows
            and not made
            and not copied
            and not any(needs_tf1(module) for module in modules)
        ):
            return None  # a test case's `self.session()`, and nothing of TF1
        if not flows and not made and not copied and self._is_tf2_code(program):
            return None  # sessions that its author opens in TF2 as well
        ours = [one for one in sessions if runs_in(program, one.sink.module, one.sink.call)]
        state = State(program, BRIDGE, [], ours, flows, estimators=made, copies=copied)
        if made:
            self._estimators(state)
            if state.kind != BRIDGE:
                return state
        elif not copied and self._session(state):
            return state
        for copy in copied:
            why = copy.refused
            if why is not None:
                text = f"`multi_gpu_model` stays: {why.reason}"
                state.refuse(Diagnostic("copies-stay", why.place, text, why.advice, "MGPU501"))
        for module in program.needed:
            self._module_obstacles(state, module)
        for broken in program.broken:
            entry = program.entry
            text = f"it imports {broken.path.name}, which {broken.error}"
            node = entry.tree.body[0] if entry.tree.body else entry.tree
            state.refuse(Diagnostic(_BROKEN, Place(entry, node), text))
        if state.kind == REFUSED:
            return state
        state.eager = self._switch(state)
        trains_keras = self._trains_keras(state)
        stays = next((c.refused for c in state.estimators if c.refused is not None), None)
        if stays is not None and self._speaks_tf2(state):
            state.as_it_is = True
            state.runs_on = bridge_runs_on(state.program.modules)
        elif trains_keras and stays is not None:
            if trains_in_graph(program.needed) and not copied:
                state.in_graph = []
                self._bridge(state)
            else:
                state.refuse(estimator_stays(stays))  # all of TF1 that is left may be its own
        elif trains_keras or self._only_eager(state):
            self._native(state)
            if state.kind == REFUSED and trains_in_graph(program.needed) and not copied:
                # Where its author says `tf.compat.v1`, nobody has to be told.
                told = [why for why in state.reasons if not is_explicit_v1(why.place.module)]
                state.in_graph, state.reasons = told, []
                state.kind, state.rest = BRIDGE, EditSet()
                self._bridge(state)
        elif not self._eager(state):
            self._bridge(state)
        return state

    def _without_sites(self, program: Program) -> State | None:
        """A program that a package's trainer trains, or Keras under a strategy of `tf.contrib`;
        None for any other one."""
        found = packages_trainers(program, self.graph.project)
        found += strategies_without_estimators(program)
        if not found:
            return None
        state = State(program, BRIDGE)
        for why in found:
            state.refuse(why)
        return state

    def _is_tf2_code(self, program: Program) -> bool:
        """Whether a program is written for TF2: it has names of TF2's alone, and none of TF1's
        but as ``tf.compat.v1.X``."""
        modules = program.needed
        old = any(is_plain_v1(module) or self.lost.of(module) for module in modules)
        return not old and any(is_tf2(module) for module in modules)

    @staticmethod
    def _trains_keras(state: State) -> bool:
        """Whether Keras trains a program's models, or may: TF1 code may only call them."""
        modules = state.program.modules
        if not any(module.uses_keras_models for module in modules):
            return False
        driven = state.sessions or state.estimators
        return not (driven and only_builds_layers(modules, bool(state.estimators)))

    def _estimators(self, state: State) -> None:
        """Tries the native form of a program with Estimators; TF 2.15 still has them."""
        stays = next((c.refused for c in state.estimators if c.refused is not None), None)
        reason = self._unconverted(state) if stays is None else stays
        if reason is None:
            state.kind = NATIVE
            for note in state.rest.notes:
                state.estimators[0].note(*note)
            # Keras 3's fit stops with an error where there are several workers.
            choices = [c for one in state.estimators for c in one.flow.distribution.choices]
            workers = any(row_of(s).workers for s in strategies_of(choices))
            newest = "" if workers or self._has_late_names(state) else " and newest"
            state.runs_on = f"TF 2.15{newest}"
            return
        for one in state.estimators:
            one.refused = one.refused or reason
        if not state.flows and not state.sessions:
            tf1 = any(self._is_tf1(module) for module in state.program.needed)
            if not tf1 and not self._speaks_tf2(state):
                state.refuse(estimator_stays(reason))  # TF2 has Estimators with other defaults

    def _has_late_names(self, state: State) -> bool:
        """Whether a converted program uses private names that the newest TensorFlow has not."""
        gone = set(state.rest.gone)
        for one in state.estimators:
            gone |= one.gone | one.moved
        return any(
            use.symbol.flavour == "private" and use.status == "tf2.15_only" and not use.guarded
            for module in state.program.needed
            for use in module.uses
            if not is_inside(module, use.node, gone)
            and not binds_only_removed(module, use.node, gone)
        )

    def _speaks_tf2(self, state: State) -> bool:
        """Whether TF 2.15 runs a program with Estimators as it stands, as its author means it.

        All of TF1's names in it say ``tf.compat.v1``, and nothing in it needs v1 behaviour. Canned
        Estimators and those of Keras models are others in TF2: theirs may be TF1's.
        """
        needed = state.program.needed
        if state.flows or any(one.flow.kind != CUSTOM for one in state.estimators):
            return False
        if any(is_plain_v1(m) or self.lost.of(m) or _needs_v1_behavior(m) for m in needed):
            return False
        return any(use.symbol.flavour == "v1" for module in needed for use in module.uses)

    def _is_tf1(self, module: Module) -> bool:
        """Whether a module is surely TF1's, or on the bridge already.

        TF2's Estimators take TF1's optimizers, as ``tf.compat.v1.train.AdamOptimizer``.
        """
        named = (use.symbol.name for use in v1_uses(module) if use.symbol.flavour == "v1")
        bridged = any(name.startswith(("estimator.", "disable_v2_behavior")) for name in named)
        return bridged or is_plain_v1(module) or bool(self.lost.of(module))

    def _session(self, state: State) -> bool:
        """Whether a program that drives a graph becomes native."""
        modules = state.program.modules
        if self.sessions is None or any(module.uses_keras_models for module in modules):
            return False
        if not state.sessions:
            return False
        configs = {node for flow in state.flows for node in flow.own_nodes()}
        opened = [Place(one.sink.module, one.sink.call) for one in state.sessions]
        state.session = self.sessions.of(state.program, configs, opened)
        if state.session is None or state.session.refused is not None:
            return False
        state.kind = NATIVE
        state.runs_on = "TF 2.15 and newest"
        return True

    def _structures(
        self, state: State, module: Module, style: FileStyle, written: Sequence[Edit]
    ) -> ast.Attribute | None:
        """Has functions say what TF1's Datasets say; the first attribute that may be one's."""
        from migrate_mgpu.models.keras.inputs.structure import STRUCTURE, is_own, structure_edit

        values = ValueFlow(self.graph)
        for name in STRUCTURE:
            for node in module.names.attributes.get(name, ()):
                start, end = module.source.span(node)
                if any(e.start <= start and end <= e.end for e in written):
                    continue
                edit = structure_edit(module, node, values, style)
                if edit is not None:
                    state.rest.edit(module, edit)
                elif not is_own(module, node):
                    return node
        return None

    def _unconverted(self, state: State) -> Diagnostic | None:
        """What keeps a program from running on TF2 once its Estimators are converted, or that
        TF1 ran eagerly."""
        from migrate_mgpu.models.keras.eager_optimizers import eager_optimizers
        from migrate_mgpu.models.keras.embedding_projector import beside_estimators
        from migrate_mgpu.models.keras.functions import dimension
        from migrate_mgpu.models.keras.module_names import import_edits, rest

        outside = ", used outside of the Estimator" if state.estimators else ""
        gone: set[ast.AST] = removable_nodes(state, self.graph)
        moved: set[ast.AST] = set()
        idle: list[Diagnostic] = []  # what is in the way in code that the program never calls
        state.new_names = []
        for one in state.estimators:
            gone |= one.gone
            moved |= one.moved
        for broken in state.program.broken:
            entry = state.program.entry
            text = f"it imports {broken.path.name}, which {broken.error}"
            return Diagnostic(_BROKEN, Place(entry, entry.tree.body[0]), text)
        for module in state.program.needed:
            imports = import_edits(module, gone | moved)
            unused = unused_lost_imports(module, state.program.needed)
            for statement in (one for one in unused if one not in self.lost.written(module)):
                imports.edit(module, Layout(module.source, statement).replace([]))
                imports.gone.add(statement)
            gone |= imports.gone
            uses = [*v1_uses(module), *_silently_different(module)]
            # An incompatibility names the first of tf.contrib.data's names only.
            uses += [u for u in module.uses if u.status == "gone" and not u.guarded]
            uses = [u for u in uses if not binds_only_removed(module, u.node, gone)]
            rules = self.conversions.rules
            style = style_at(module, module.tree)
            beside = beside_estimators(module, style) if state.estimators else EditSet()
            gone |= beside.gone
            try:
                if state.eager is not None:
                    optimizers = eager_optimizers(module, state.program.modules, style)
                    moved |= optimizers.moved
                    state.rest.merge(optimizers)
                    for node in module.names.attributes.get("value", ()):
                        state.rest.edit(module, *(dimension(module, node) or ()))
                    restated = [u for u in uses if not is_inside(module, u.node, gone)]
                    state.rest.sites += [(module, u.node, EagerRewriter) for u in restated]
                    for use in restated:
                        if use.symbol.name.endswith("set_random_seed"):
                            state.rest.note(module, use.node, _SEED, NUMBERS)
                alone = bool(state.estimators) and state.eager is None
                found = rest(module, uses, gone | moved, style, rules, alone)
            except Refused as refused:
                return refused.diagnostic
            left = [
                u for u in found.left if not _is_import(u, imports.edits.get(module, []), module)
            ]
            if state.estimators:
                new = [*self._new_names(module, left, [imports, found])]
                state.new_names += [(module, rule, one) for rule, one in new]
                gone |= {node for _, one in new for node in one.nodes}
                left = [use for use in left if use.node not in gone]
            for use in left:
                text = f"`{_shown(use)}` is TF1 API{outside}"
                advice = "replace it first (tf_upgrade_v2 renames what can be renamed)"
                why = Diagnostic(TF1_NAME, Place(module, use.node), text, advice)
                if module is not state.program.entry and _of_script(module, use.node):
                    continue  # another program's, which it is told of
                if not self._is_idle(state.program, module, use.node, gone):
                    return why
                idle.append(why)
                around = outermost(module, use.node)  # which stays as it is, whole
                found.edits[module] = [
                    edit
                    for edit in found.edits.get(module, ())
                    if not _is_within(module, edit, around)
                ]
            written = [e for c in state.estimators for e in c.edits.get(module, ())]
            written += beside.edits.get(module, ())
            for method in _ITERATORS:
                for node in module.names.attributes.get(method, ()):
                    _, end = module.source.span(node)
                    inside = end - len(method), end
                    if not any(e.start <= inside[0] and inside[1] <= e.end for e in written):
                        text = f"`{method}` of a Dataset is TF1 API{outside}"
                        advice = "iterate over the dataset"
                        why = Diagnostic(TF1_NAME, Place(module, node), text, advice)
                        if not self._is_idle(state.program, module, node, gone):
                            return why
                        idle.append(why)
            if state.estimators:
                lost = self._structures(state, module, style, written)
                if lost is not None:
                    text = f"`{lost.attr}` of a Dataset is TF1 API{outside}"
                    advice = "ask tf.compat.v1.data.get_output_types and its like"
                    return Diagnostic(TF1_NAME, Place(module, lost), text, advice)
            for why in self._incompatibilities(module):
                if is_inside(module, why.node, gone | moved):
                    continue
                if binds_only_removed(module, why.node, gone):
                    continue
                if any(_covers(module, edit, why.node) for edit in found.edits.get(module, ())):
                    continue
                if why.key in _WHEN_CALLED and not self._runs(state.program, why):
                    idle.append(why)
                    continue
                return why
            imports.merge(beside)
            if (imports.edits or found.edits) and not module.writable:
                text = f"{module.path.name} needs TF1's names and lies outside the given paths"
                advice = "give its folder as a path too"
                return Diagnostic(_OUTSIDE, Place(module, module.tree.body[0]), text, advice)
            state.rest.merge(imports)
            state.rest.merge(found)
        state.limits += [_unless_called(why) for why in _first_of_each(idle)]
        return None

    def _new_names(
        self, module: Module, left: Sequence[Use], others: Sequence[EditSet]
    ) -> Iterator[tuple[Rule, NewNames]]:
        """What does without v1 behaviour what names did that are left, and TF2 lost.

        MNIST alone has a module of its own: where its arrays alone are read, Keras's do.
        """
        if not is_read_by_object(module):
            return
        edits = [edit for one in others for edit in one.edits.get(module, ())]
        for rule, new in self.lost.of(module):
            if not new.eager or not any(use.node in new.nodes for use in left):
                continue
            nodes = [module.source.span(node) for node in new.nodes]
            spans = [*nodes, *((edit.start, edit.end) for edit in new.edits)]
            if new.edits and not any(
                e.start < end and start < e.end for e in edits for start, end in spans
            ):
                yield rule, new

    def _switch(self, state: State) -> ast.Call | None:
        """The call that makes TF1 run a program eagerly, whatever becomes of it otherwise."""
        for module in state.program.needed:
            for sink in sink_calls(module):
                if sink.kind.name == "enable_eager_execution" and goes_away(sink, self.graph, None):
                    if is_straight(module, module.names.statement(sink.call)):
                        return sink.call
        return None

    def _names_are_wanted(self) -> bool:
        rule = only(EagerRewriter).rule
        return self.conversions.rules.enabled(rule.code, rule.name)

    def _restated(self, state: State, gone: AbstractSet[ast.AST]) -> set[ast.AST]:
        """TF1's names in a Keras program that become TF2's: all, where TF1 ran it eagerly."""
        from migrate_mgpu.models.keras.eager_optimizers import eager_optimizers
        from migrate_mgpu.models.keras.module_names import rest

        done: set[ast.AST] = set()
        for module in state.program.needed if self._names_are_wanted() else ():
            if not module.writable or speaks_both(module) or file_suppressed(module.source):
                continue
            style = style_at(module, module.tree)
            uses = [*v1_uses(module), *_silently_different(module)]
            if state.eager is None:
                uses = [u for u in uses if _is_setting(u) or _computes(u)]
            else:
                try:
                    optimizers = eager_optimizers(module, state.program.modules, style)
                except Refused:
                    continue
                state.rest.merge(optimizers)
                state.rest.sites += [(module, node, EagerRewriter) for node in optimizers.moved]
                done |= {part for node in optimizers.moved for part in walk(node)}
            for use in uses:
                if is_inside(module, use.node, gone) or use.node in done:
                    continue
                try:
                    found = rest(module, [use], gone, style, self.conversions.rules)
                except Refused:
                    continue
                if not found.left and not isinstance(use.node, (ast.Import, ast.ImportFrom)):
                    state.rest.merge(found)
                    done.add(use.node)
                    state.rest.sites += [(module, use.node, EagerRewriter)] * bool(found.edits)
                    if use.symbol.name.endswith("set_random_seed"):
                        state.rest.note(module, use.node, _SEED, NUMBERS)
        return done

    def _eager(self, state: State) -> bool:
        """Whether a program that TF1 ran eagerly becomes native, with TF2's names."""
        if state.sessions or any(self.lost.of(module) for module in state.program.needed):
            return False
        if state.eager is None or not self._names_are_wanted():
            return False
        state.not_eager = self._unconverted(state)
        if state.not_eager is None:
            state.kind = NATIVE
            gone = removable_nodes(state, self.graph)
            state.runs_on = native_runs_on(state.program.modules, gone)
        return state.not_eager is None

    def _only_eager(self, state: State) -> bool:
        """Whether nothing of TF1 is left once configs and `enable_eager_execution` are gone."""
        if any(self.lost.of(module) for module in state.program.needed):
            return False  # names of tf.contrib, which a bridge writes for a graph
        gone = removable_nodes(state, self.graph)
        if any(goes_away(s.sink, self.graph, s.flow) is None for s in state.sessions):
            return False
        if any(is_plain_v1(module) for module in state.program.needed):
            # Where a config of TF1's goes unseen there may be a session.
            if any(w.problems for w in state.flows) and not any(w.sinks for w in state.flows):
                return False
        return bool(gone) and all(
            is_inside(module, use.node, gone) or binds_only_removed(module, use.node, gone)
            for module in state.program.needed
            for use in [*v1_uses(module), *_silently_different(module)]
        )

    def _module_obstacles(self, state: State, module: Module) -> None:
        copied = {copy.call.func for copy in state.copies}
        told: set[str] = set()
        for why in self.lost.left(module):
            if why.key == NEVER_THERE:
                state.limits.append(replaced(why, code=CLAIM))
            elif why.key in _WHEN_CALLED and not self._runs(state.program, why):
                state.limits.append(_unless_called(why))
            elif why.key == GONE_LATE and (asked := self._asked(state.program, why)):
                state.limits.append(_unless_asked(why, asked))
            elif why.key == GONE_TOLD and not self.graph.surely_runs(
                state.program, why.module, why.node
            ):
                state.limits.append(_refuses_itself(why))
            elif why.key in _WHEN_CALLED and why.symbol in told:
                continue  # once for each file
            elif not (copied and _is_copied(module, why.node, why.symbol, copied)):
                told.add(why.symbol)
                state.refuse(why)
        for why in self._obstacles(module):
            state.refuse(why)

    def _runs(self, program: Program, why: Diagnostic) -> bool:
        """Whether a program may come to a place; what nobody outside sees is called from inside."""
        return self.graph.runs_in(program, why.module, why.node, _is_seen(program, why.module))

    def _is_idle(
        self, program: Program, module: Module, node: ast.AST, gone: AbstractSet[ast.AST]
    ) -> bool:
        """Whether a place is in a function that the program never calls, but for what goes."""
        part = outermost(module, node)
        around = list(module.names.ancestors(node))
        if isinstance(part, ast.ClassDef):  # whose body runs where it stands
            part = next((one for one in around[::-1] if isinstance(one, ast.FunctionDef)), part)
        if not isinstance(part, ast.FunctionDef):
            return False
        statement = [node, *around][around.index(part)] if part in around else part
        if not any(statement is one for one in part.body):  # a default, or a decorator
            return False
        seen = _is_seen(program, module)
        if not self.graph.runs_in(program, module, node, seen):
            return True
        left = self.graph.once_gone({inner for one in gone for inner in walk(one)})
        return not left.runs_in(program, module, node, seen)

    def _asked(self, program: Program, why: Diagnostic) -> str | None:
        """The condition under which a program comes to a name that is gone, if an option asks."""
        if program.entry not in self._options:
            gone = {use.node for module in program.needed for use in self.lost.gone(module)}
            self._options[program.entry] = Options(program, self.graph, gone)
        options = self._options[program.entry]
        around = outermost(why.module, why.node)
        asked = [  # of one that is told for all in a function or class
            options.asks_for(why.module, use.node)
            for use in self.lost.gone(why.module)
            if use.symbol.name == why.symbol and outermost(why.module, use.node) is around
        ]
        return None if None in asked or not asked else asked[0]

    def _bridge(self, state: State) -> None:
        needed = state.program.needed
        if not any(is_plain_v1(module) or self.lost.of(module) for module in needed):
            for module in needed:
                use = is_tf2(module)
                if state.not_eager is not None:
                    why = state.not_eager
                    text = f"it runs eagerly, and {why.reason}"
                    state.refuse(replaced(why, reason=text))
                    return
                if use is not None:
                    text = f"it is TF2 code already (`tf.{use.symbol.name}`) that opens v1 sessions"
                    advice = "v1 behaviour would change it; move its options by hand"
                    state.refuse(Diagnostic("tf2-code", Place(module, use.node), text, advice))
                    return
                for read in () if speaks_both(module) else reads_eagerly(module):
                    text = f"it runs eagerly (`{ast.unparse(read)[:60]}`) and opens v1 sessions"
                    advice = "v1 behaviour would break it; move its options by hand"
                    why = Diagnostic("eager-code", Place(module, read), text, advice)
                    if self._runs(state.program, why):
                        state.refuse(why)
                        return
                    state.limits.append(_unless_called(why))
        modules = self._perhaps_imported(state.program)
        named = set().union(*(self.lost.names(module) for module in modules))
        state.runs_on = bridge_runs_on(modules, named)
        state.legacy_keras = needs_legacy_keras(modules, named)

    def _perhaps_imported(self, program: Program) -> list[Module]:
        """A program's modules, and those that its imports of unclear meaning may load."""
        found = dict.fromkeys(program.modules)
        waiting = list(program.modules)
        while waiting:
            module = waiting.pop()
            unclear = self.graph.project.unresolved(module)
            meant = [one for other in unclear for one in other.candidates]
            if module not in program.modules:
                meant += module.imported
            new = [one for one in dict.fromkeys(meant) if one not in found]
            found.update(dict.fromkeys(new))
            waiting += new
        return list(found)

    def _native(self, state: State) -> None:
        """Keras trains eagerly, where nothing of TF1 is left; else it may train in TF1's graph."""
        gone = removable_nodes(state, self.graph) | {copy.call.func for copy in state.copies}
        restated = self._restated(state, gone)
        left = [
            (module, use)
            for module in state.program.needed
            if not speaks_both(module)
            for use in [*v1_uses(module), *_silently_different(module)]
            if not is_inside(module, use.node, gone)
            and use.node not in restated
            and not binds_only_removed(module, use.node, gone)
            and not (state.copies and _is_copied(module, use.node, use.spelled, gone))
            and not (use.symbol.flavour == "v1" and use.symbol.name.startswith(_FINE_EAGERLY))
        ]
        keras_left = [
            (module, node, name)
            for module in state.program.needed
            for node, name in gone_keras_names(module)
            if not is_inside(module, node, gone)
            and not binds_only_removed(module, node, gone)
            and not (state.copies and _is_copied(module, node, name, gone))
        ]
        for module in state.program.needed:
            if self.lost.of(module):  # what is written for them is graph code
                for why in self._incompatibilities(module):
                    state.refuse(why)
            for rewriter in of(NativeRewriter):
                for why in rewriter.refuses(module):
                    state.refuse(why)
        told: set[tuple[Module, str]] = set()  # each name once for a file
        for module, use in left:
            if (module, _shown(use)) in told:
                continue
            told.add((module, _shown(use)))
            text = f"a Keras program runs eagerly in TF2, and `{_shown(use)}` is TF1's"
            advice = "replace it first (tf_upgrade_v2 renames what can be renamed)"
            state.refuse(Diagnostic(TF1_NAME, Place(module, use.node), text, advice))
        for module, node, name in keras_left:
            if (module, name) in told:
                continue
            told.add((module, name))
            text = f"`{name}` is not in the Keras of TF2"
            state.refuse(Diagnostic(TF1_NAME, Place(module, node), text, "replace it first"))
        if state.kind != REFUSED:
            state.kind = NATIVE
            state.runs_on = native_runs_on(state.program.modules, gone)


def _obstacles(module: Module) -> list[Diagnostic]:
    """What keeps a module from becoming a bridge, in whatever program it is."""
    found = []
    mixed = is_mixed(module)
    if mixed is not None:
        text = f"`tf.{mixed.symbol.name}` exists only in TF2, other names of this file only in TF1"
        advice = "a version switch that is not recognised, or code for two versions: split it"
        found.append(Diagnostic("mixed-versions", Place(module, mixed.node), text, advice))
    if module.writable and file_suppressed(module.source) and swaps(module):
        text = "this file needs TF1's names, and `# mgpu: ignore-file` keeps it as it is"
        advice = "remove the comment, or migrate the whole program by hand"
        place = Place(module, module.tree.body[0])
        found.append(Diagnostic("file-switched-off", place, text, advice))
    if not module.writable and swaps(module):
        text = f"{module.path.name} needs TF1's names and lies outside the given paths"
        advice = "give its folder as a path too"
        place = Place(module, module.tree.body[0])
        found.append(Diagnostic(_OUTSIDE, place, text, advice))
    return found


def _first_of_each(found: list[Diagnostic]) -> list[Diagnostic]:
    """The first of what stands in one function."""
    seen: dict[tuple[Module, ast.AST], Diagnostic] = {}
    for why in found:
        seen.setdefault((why.module, outermost(why.module, why.node)), why)
    return list(seen.values())


def _needs_v1_behavior(module: Module) -> bool:
    """Whether a module asks tensors or datasets what only TF1's answer, or is a bridge already."""
    attributes = module.names.attributes
    methods = (node for name in _ITERATORS for node in attributes.get(name, ()))
    if _switches_off(module) or any(not tensorflow_name(module, node) for node in methods):
        return True
    asked = (ast.unparse(node.value) for node in attributes.get("value", ()))
    return any(".shape" in text or "get_shape" in text for text in asked)


def _switches_off(module: Module) -> bool:
    """Whether a module switches TF2's behaviour off itself."""
    named = {use.symbol.name for use in module.uses}
    return bool(named & {"disable_v2_behavior", "disable_eager_execution"})


# Methods of a Dataset that only TF1's graph code calls.
_ITERATORS = ("make_one_shot_iterator", "make_initializable_iterator")


def _is_import(use: Use, edits: list[Edit], module: Module) -> bool:
    """Whether a use is an import statement that is rewritten."""
    return any(_covers(module, edit, use.node) for edit in edits)


def _covers(module: Module, edit: Edit, node: ast.AST) -> bool:
    start, end = module.source.span(node)
    return edit.start <= start and end <= edit.end


def speaks_both(module: Module) -> bool:
    """Whether a module is written for TF1 and TF2: it asks which one it runs on.

    Such a module reaches TF1's names as ``tf.compat.v1.X``, so that they exist in
    TF2, and knows when to use them.
    """
    if not any(use.symbol.flavour == "v1" for use in module.uses):
        return False
    # Printed, logged or asserted, the version decides nothing.
    return any(
        not isinstance(module.names.statement(use.node), (ast.Expr, ast.Assert))
        for use in module.uses
        if use.symbol.name.endswith("executing_eagerly")
        or use.symbol.name in ("__version__", "VERSION")
    )


def _is_within(module: Module, edit: Edit, node: ast.AST) -> bool:
    start, end = module.source.span(node)
    return start <= edit.start and edit.end <= end


def _of_script(module: Module, node: ast.AST) -> bool:
    """Whether a place is below `if __name__ == "__main__"`, which runs where nobody imports it."""
    inside = node
    for around in module.names.ancestors(node):
        if isinstance(around, ast.If) and is_main_guard(around) and inside in around.body:
            test = around.test
            return (
                isinstance(test, ast.Compare)
                and isinstance(test.ops[0], ast.Eq)
                and {"__main__"}
                == {constant(one) for one in (test.left, *test.comparators)} - {None}
            )
        inside = around
    return False


def removable_nodes(state: State, graph: CallGraph) -> set[ast.AST]:
    """What goes away when a native program's flows move: constructors, sessions, set_session."""
    gone: set[ast.AST] = set()
    for flow in state.flows:
        gone.update(flow.own_nodes())
        for sink in flow.sinks:
            gone.update(g.statement for g in goes_away(sink, graph, flow) or ())
    for module in state.program.modules:
        for sink in sink_calls(module):
            if sink.argument is None:
                gone.update(g.statement for g in goes_away(sink, graph, None) or ())
    return gone


def _is_copied(module: Module, node: ast.AST, name: str, gone: AbstractSet[ast.AST]) -> bool:
    """Whether a name that TF2 has not is only ``multi_gpu_model``, which goes."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return is_inside(module, node, gone)
    copying = [alias for alias in node.names if alias.name == "multi_gpu_model"]
    return (
        bool(copying)
        and name.endswith("multi_gpu_model")
        and all(name_unused(module, node, alias, gone) for alias in copying)
    )


@fact_of_text
def _silently_different(module: Module) -> list[Use]:
    """Plain names that mean another thing in TF2, used by code that will now run on TF2."""
    found: list[Use] = []
    for use in module.uses:
        if use.guarded or use.symbol.flavour != "plain" or use.status != "v1_differs":
            continue
        call = module.names.parents.get(use.node)
        keywords = {k.arg for k in call.keywords} if isinstance(call, ast.Call) else set()
        if use.symbol.name == "where" and _asks_places(call, use.node):
            continue
        if not use.symbol.name.startswith(_SAME) or keywords & _SAME_WITHOUT:
            found.append(use)
    return found


def _asks_places(call: ast.AST | None, where: ast.AST) -> bool:
    """Whether a `tf.where` has a condition alone: of values, TF1 may choose whole rows."""
    if not isinstance(call, ast.Call) or call.func is not where:
        return False
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "condition")]
    alone = len(given) == 1 == len(call.args) + len(call.keywords)
    return alone and not isinstance(given[0], ast.Starred)


def _is_setting(use: Use) -> bool:
    """Whether a name makes no tensor: flags, the log, files, a seed."""
    return use.symbol.flavour == "plain" and use.symbol.name.startswith(_SETTINGS)


def _computes(use: Use) -> bool:
    """Whether a name gives tensors for tensors, in eager code as in a graph."""
    return use.symbol.name in COMPUTES and use.symbol.name != "gradients"


def _shown(use: Use) -> str:
    prefix = "tf.compat.v1." if use.symbol.flavour == "v1" else "tf."
    return prefix + use.symbol.name
