"""Programs that drive a graph with a session: each becomes TF2's own code, or keeps its session."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place, Refused, internal_error
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.graph_files import readers_of
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.import_edits import binds_nothing_else, unused_lost_imports
from migrate_mgpu.analysis.incompatibilities import incompatibilities
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import NamedArguments, by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.project import Program, Project
from migrate_mgpu.analysis.removal import binds_only_removed, is_inside
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.checkpoints import SAVE
from migrate_mgpu.api.graph import COMPUTES, CONTROL, SETTINGS
from migrate_mgpu.api.optimizers import STEP_MAKERS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.core.records import field, record
from migrate_mgpu.core.registry import only
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.models.front.rewriters import SessionRewriter, TowerRewriter
from migrate_mgpu.models.front.session.device_options import sets_softness
from migrate_mgpu.models.front.session.host_objects import SaverCall
from migrate_mgpu.models.front.session.program import Role, SessionProgram
from migrate_mgpu.models.front.session.reading import read_program
from migrate_mgpu.models.front.session.scope import (
    ADVICE,
    SESSION,
    Entry,
    graph_owners,
    session_calls,
)
from migrate_mgpu.models.front.towers.loop import find_towers, moved_in_loop, places_in_loops
from migrate_mgpu.models.ir import SharedGraph
from migrate_mgpu.models.keras.module_names import import_edits, rest
from migrate_mgpu.models.keras.session.writing import write_programs
from migrate_mgpu.models.normalize.functions.mixed_indents import MIXED
from migrate_mgpu.models.normalize.functions.version_arms import other_arms
from migrate_mgpu.models.normalize.objects import class_obstacles
from migrate_mgpu.models.normalize.sessions.monitored_sessions import WORKERS_ADVICE, refusal
from migrate_mgpu.models.normalize.towers import deployed_clones
from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.suppressions import file_suppressed, suppressed

_GROWTH = """\
for gpu in {tf}.config.list_physical_devices({quote}GPU{quote}):
    {tf}.config.experimental.set_memory_growth(gpu, True)
"""


# Keys of diagnostics.
SEVERAL_MAKE_IT = "several-modules-make-sessions"
MADE_ELSEWHERE = "session-made-elsewhere"
SEVERAL_MACHINES = "several-machines"

_ASSIGNED = {"assign", "assign_add", "assign_sub"}
# Names of what steps take.
_INPUTS = ("placeholder", "Variable", "get_variable", "layers.", "contrib.layers.", "contrib.slim")
# What a dataset of TF2 has not.
_LOST = (
    "make_one_shot_iterator", "make_initializable_iterator", "output_types", "output_shapes",
    "output_classes",
)  # fmt: skip


@record(eq=False)
class NativeSession(EditSet):
    """What becomes of one program; with ``refused`` nothing. ``session`` is the call that goes.

    ``sessions`` are all such calls. ``towers`` is the loop that builds copies of its model, if
    there is one. ``read`` are the functions that build the graph, ``unread`` mentions of TensorFlow
    in modules that other programs import as well: one of those has to read them. ``wanted`` is what
    the program wants of the class that builds its graph. ``told`` is what a finding says of
    ``refused``.
    """

    module: Module
    refused: Diagnostic | None = None
    session: ast.Call | None = None
    sessions: set[ast.Call] = field(default_factory=set)
    towers: ast.For | None = None
    read: set[ast.AST] = field(default_factory=set)
    unread: list[tuple[Module, ast.AST]] = field(default_factory=list)
    wanted: SharedGraph | None = None
    told: Diagnostic | None = None

    def changes(self, module: Module) -> bool:
        """Whether anything changes in a module."""
        return bool(self.edits.get(module) or self.imports.get(module))

    def disturbed(self, module: Module, other: NativeSession) -> ast.AST | None:
        """What another program reads or changes in a module, and this one changes otherwise."""
        theirs = other.edits.get(module, [])
        changes = [edit for edit in self.edits.get(module, ()) if edit not in theirs]
        if not changes:
            return None
        for node in walk(module.tree):
            if node in other.read:
                start, end = module.source.span(node)
                if any(edit.touches(start, end) for edit in changes):
                    return node
        if any(edit.touches(one.start, one.end) for edit in changes for one in theirs):
            return module.tree
        return None


class NativeSessions:
    """The session programs of a run; ``kept`` are those that stay for another reason."""

    def __init__(
        self,
        project: Project,
        graph: CallGraph,
        rules: Selection,
        kept: Mapping[Module, Diagnostic],
        written: Callable[[Module], AbstractSet[ast.AST]],
        shared: SharedGraph | None = None,
    ) -> None:
        """``written`` are mentions of names that TF2 lost for which there is something else.

        ``shared`` is what several programs want of the class whose graph each of them builds.
        """
        self.project = project
        self.graph = graph
        self.rules = rules
        self.kept = kept
        self.written = written
        self.shared = shared
        self.rule = only(SessionRewriter).rule
        self.towers = only(TowerRewriter).rule
        self._users: dict[Module, list[Program]] = {}
        for program in project.programs():
            for module in program.modules:
                self._users.setdefault(module, []).append(program)
        self._known: dict[Module, NativeSession] = {}
        self._homes: dict[Module, Module | None] = {}  # by entry points

    def of(
        self, program: Program, configs: AbstractSet[ast.AST], opened: Sequence[Place]
    ) -> NativeSession | None:
        """What becomes of a program; None where it stays and trains nothing, or the rule is off.

        ``configs`` are the nodes that carry configurations, ``opened`` the calls that open
        sessions.
        """
        home = self._home(program)
        if not self.rules.enabled(self.rule.code, self.rule.name) or not self._is_ours(program):
            return None
        trains = any(map(_trains, program.modules)) or _moves_by_gradients(program.modules)
        inputs = (_has_inputs(one) or places_in_loops(one) for one in program.modules)
        if not trains and not any(inputs):
            return None
        if program.entry not in self._known:
            made = self._of_several_machines(program)
            if made is None and home is None:
                made = _without_home(program, opened[0], self.graph)
            if made is None:
                assert home is not None
                made = self._convert(program, home, configs)
            self._known[program.entry] = made
        found = self._known[program.entry]
        if found.refused is not None and not trains and found.towers is None:
            return None  # of one that only computes nobody is told why it stays
        node = found.session or (found.refused.node if found.refused is not None else None)
        line = getattr(node, "lineno", None)
        if line is not None and suppressed(found.module.source, line, line, self.rule):
            return None
        return found

    def _of_several_machines(self, program: Program) -> NativeSession | None:
        """A program stays that is one of a cluster: none in TF2 shares variables with others."""
        for module in program.modules:
            for call in calls_of_names(module).get("train.Server", ()):
                if self.graph.runs_in(program, module, call):
                    text = "it is one of several programs that train together (`tf.train.Server`)"
                    where = Place(module, call)
                    why = Diagnostic(SEVERAL_MACHINES, where, text, WORKERS_ADVICE)
                    return NativeSession(module, why)
        return None

    def _convert(
        self, program: Program, module: Module, configs: AbstractSet[ast.AST]
    ) -> NativeSession:
        """``module`` is the one that makes the session."""
        towers = find_towers(module, self.graph)
        loop = towers.loop if towers is not None else None
        try:
            for kept in (program.entry, module):  # whose session another module may make
                if kept in self.kept:
                    raise Refused.because(self.kept[kept])
            clones = deployed_clones.obstacle(program.modules, self.graph)
            if clones is not None:
                raise Refused.because(clones)
            beside = self._check(program, module)
            if loop is not None and not self.rules.enabled(self.towers.code, self.towers.name):
                raise Refused(module, loop, f"{self.towers.code} is off")
            graph = self.graph.within(program.modules)
            idle = [node for one in program.modules for node in _guarded(program, one)]
            idle += (node for one in beside for node in self._not_run(program, one))
            graph = graph.without(idle) if idle else graph
            if graph_owners(module):
                found = self._several(program, module, graph, configs, beside)
            else:
                readers = partial(self._graph_readers, program, module)
                read = read_program(
                    module, graph, configs, beside, shared=self.shared, graph_readers=readers
                )
                read.unread[:] = [one for one in read.unread if not self._is_like(*one, graph)]
                self._check_unread(read.unread)
                self._check_guards(program, read)
                found = NativeSession(module, None, read.scope.session, towers=loop)
                found.sessions.update(read.scope.sessions)
                found.read, found.unread, found.wanted = read.read, read.unread, read.wanted
                found.merge(*write_programs([read]))
                self._others(read, found, configs)
            for changed, edits in found.edits.items():
                changed.source.apply(edits)  # they do not overlap
        except Refused as refused:
            why = refused.diagnostic
            moves = moved_in_loop(module, why.node) if loop is None else None
            if moves is not None:
                text = "each tower moves the variables by itself, in no defined order"
                why = Diagnostic("towers-apart", Place(module, moves), text, _AVERAGED)
            told = class_obstacles.explained(why, self.graph)
            return NativeSession(module, why, towers=loop, told=told)
        except Exception as error:
            return NativeSession(module, internal_error(Place(module, module.tree), error))
        return found

    def _check_guards(self, program: Program, read: SessionProgram) -> None:
        """What a module shows when it is run by itself makes no network that becomes a class.

        Raises:
            Refused: it calls such a function, which is no longer there.
        """
        helpers = read.layer_helpers.found.values() if read.layer_helpers is not None else ()
        going = {one.function.node for one in helpers}
        for module in program.modules:
            calls = (one for one in _guarded(program, module) if isinstance(one, ast.Call))
            for node in calls:
                target = self.graph.target(module, node.func)
                if target is not None and target.node in going:
                    text = f"`{target.name}`, a network, is called where its module is run alone"
                    advice = "do that in a file of its own"
                    raise Refused(module, node, text, advice, "network-in-main-guard")

    def _not_run(self, program: Program, other: Module) -> Iterator[ast.AST]:
        """What is in functions of another program's module that this one never calls.

        `evaluate.py` imports `train.py` for its constants: the program that has the session
        there changes what that calls.
        """
        for node in other.tree.body if session_calls(other) else ():
            if isinstance(node, ast.FunctionDef):
                if not self.graph.runs_in(program, other, node.body[0]):
                    yield from walk(node)

    def _several(
        self,
        program: Program,
        module: Module,
        graph: CallGraph,
        configs: AbstractSet[ast.AST],
        beside: set[Module],
    ) -> NativeSession:
        """A program of several classes, or functions, that build a graph each.

        Raises:
            Refused: one of them stays.
        """
        owners = graph_owners(module)
        if beside and isinstance(owners[0], ast.ClassDef):
            text = "several classes build graphs, and other modules have parts of them"
            raise Refused(module, owners[0], text)
        reads = [read_program(module, graph, configs, beside, owner) for owner in owners]
        for read in reads:
            self._check_graph_files(program, read)
        if not any(run.step.updates for read in reads for run in read.runs):
            raise Refused(module, reads[0].scope.session, "nothing is trained in its sessions")
        if not isinstance(owners[0], ast.ClassDef):
            _check_clients(reads, graph)
        # The session whose defaults are written: an interactive one has some of its own.
        reads.sort(key=lambda one: name_of(module, one.scope.session) != "InteractiveSession")
        unread = [
            one
            for one in reads[0].unread
            if all(one in read.unread for read in reads) and not self._is_like(*one, graph)
        ]
        reads[0].unread[:] = unread
        self._check_unread(unread)
        found = NativeSession(module, None, reads[0].scope.session)
        found.sessions.update(call for read in reads for call in read.scope.sessions)
        found.unread = unread
        for read, written in zip(reads, write_programs(reads)):
            found.read |= read.read
            for one, edits in written.edits.items():
                known = found.edits.get(one, [])
                if any(
                    edit != other and edit.touches(other.start, other.end)
                    for edit in edits
                    for other in known
                ):
                    text = "what several classes, or functions, build is run together here"
                    raise Refused(module, read.scope.maker, text)
            found.merge(written)
        reads[0].settings[:] = dict.fromkeys(node for read in reads for node in read.settings)
        self._others(reads[0], found, configs)
        return found

    def _graph_readers(self, program: Program, module: Module, saved: SaverCall) -> list[Module]:
        """The modules of other programs that may read the graph beside a checkpoint."""
        given = by_parameter(saved.call, SAVE)
        if constant(given.get("write_meta_graph")) is False:
            return []
        return [*readers_of(self.project, program, module, given.get("save_path"))]

    def _check_graph_files(self, program: Program, read: SessionProgram) -> None:
        """Of several graphs none is written beside checkpoints.

        Raises:
            Refused: another program may read it.
        """
        module = read.scope.module
        for found in read.saver_calls:
            readers = self._graph_readers(program, module, found) if found.kind == "save" else []
            for reader in readers:
                text = f"{reader.path.name} reads the graph that TF1 saves beside the variables"
                text += " (`tf.train.import_meta_graph`), and this program builds several"
                advice = "let it build the graph in code and restore it with `tf.train.Saver`"
                raise Refused(module, found.call, text, advice)

    def _is_like(self, module: Module, node: ast.AST, graph: CallGraph) -> bool:
        """Whether a mention of TensorFlow does the same in TF2, where no program calls it.

        It stands in a function that only computes, or makes datasets. ``graph`` is that of the
        program.
        """
        around = (one for one in module.names.ancestors(node) if one in module.tree.body)
        function, uses = next(around, None), [one for one in module.uses if one.node is node]
        if not isinstance(function, ast.FunctionDef):
            return False
        if graph.references(Function(module, function)):
            return False
        parts = (part for part in walk(function) if isinstance(part, ast.Attribute))
        names = [one.symbol.name for one in uses]
        if any(part.attr in _LOST for part in parts) or not all(
            name in COMPUTES or name in CONTROL or name.startswith("data.Dataset.")
            for name in names
        ):
            return False
        made = rest(module, uses, set(), style_at(module, module.tree.body[0]), self.rules)
        return not made.left and not any(made.edits.values())

    def _home(self, program: Program) -> Module | None:
        """The module that makes a program's session: its entry point, or the only one that does."""
        if program.entry not in self._homes:
            homes = [module for module in program.modules if session_calls(module)]
            only = homes[0] if len(homes) == 1 else None
            self._homes[program.entry] = program.entry if program.entry in homes else only
        return self._homes[program.entry]

    def _check_unread(self, unread: Sequence[tuple[Module, ast.AST]]) -> None:
        for other, node in unread:
            if len(self._users[other]) == 1:
                shown = other.source.code(node)
                text = f"it is not known what `{shown}` in {other.path.name} is for"
                raise Refused(other, node, text)

    def _is_ours(self, program: Program) -> bool:
        """Whether a program may be changed."""
        return program.entry.writable and not file_suppressed(program.entry.source)

    def _check(self, program: Program, module: Module) -> set[Module]:
        """The other modules of a program that speak to TensorFlow.

        Raises:
            Refused: it is no program of its own.
        """
        beside: set[Module] = set()
        session = next(iter(session_calls(module)), module.tree.body[0])
        for other in program.modules:
            if other is module or not other.uses:
                continue
            if not other.writable:
                text = f"{other.path.name}, which it imports, is not migrated with it"
                raise Refused(module, session, text)
            if isinstance(other.source, Notebook) or other in self.kept:
                raise Refused(module, session, f"{other.path.name}, which it imports, stays")
            beside.add(other)
        for one in (module, *beside):
            arms = other_arms(one)
            if arms is not None:
                text = "what it does depends on TensorFlow's version"
                raise Refused(one, arms, text, "write what it does with the last one of TF1")
        for node in walk(module.tree):
            if isinstance(node, ast.stmt) and MIXED in module.source.indent_of(node):
                text = "its lines begin with spaces and tabs"  # moved ones would be ambiguous
                raise Refused(module, node, text, "indent it by one of the two", "mixed-indent")
        return beside

    def _is_early(self, module: Module, top: ast.stmt) -> bool:
        """Whether nothing of TensorFlow's is computed above a statement of the file itself."""
        if top not in module.tree.body:
            return False
        above = [use for use in module.uses if position(use.node) < position(top)]
        later = _only_defined(module, top) if isinstance(top, ast.ClassDef) else set[ast.AST]()
        if not all(
            use.symbol.name.startswith(SETTINGS) or is_inside(module, use.node, later)
            for use in above
        ):
            return False
        modules = {other for one in self._users[module] for other in one.modules}
        return not any(other.uses for other in modules if other is not module)

    def _others(
        self, read: SessionProgram, found: NativeSession, configs: AbstractSet[ast.AST]
    ) -> None:
        """What the program says of TensorFlow besides its graph, and its imports."""
        module = read.scope.module
        style = style_at(module, read.scope.session)
        imports = self._imports(module)
        written = self.written(module)
        settings = set(read.settings) - written
        uses = [use for use in module.uses if use.node in settings]
        for use in uses:  # the switch to v1 behaviour goes where it is a statement of its own
            switch = use.symbol.name.startswith("disable_")
            if switch and not is_inside(module, use.node, imports.gone):
                text = f"it is not known when `{module.source.code(use.node)}` is called"
                raise Refused(module, use.node, text)
        others = rest(module, uses, imports.gone, style, self.rules)
        if others.left:
            node = others.left[0].node
            text = f"`{module.source.code(node)}` has no form in TF2"
            raise Refused(module, node, text)
        changed = {*found.gone, *found.moved, *configs, *imports.gone}
        for why in incompatibilities(module, written):
            if (
                is_inside(module, why.node, changed)
                or binds_only_removed(module, why.node, changed)
                or binds_nothing_else(module, why.node, changed, self._together(module))
            ):
                continue
            if any(
                edit.start <= module.source.span(why.node)[0] < edit.end
                for edit in others.edits.get(module, ())
            ):
                continue
            raise Refused.because(why)
        session = read.scope.session
        config = NamedArguments(module, session, SESSION).rest.get("config")
        entry = _first_maker(read)
        lines: list[str] = []
        modules = {other for one in self._users[module] for other in one.modules}
        places = any(other.places_operations for other in modules)
        if places and read.scope.apart:
            _check_options(module, read.scope.sessions)
        if config is None or is_none(config):
            interactive = name_of(module, session) == "InteractiveSession"  # its own default
            if interactive and (read.options or read.below):
                text = "`InteractiveSession` does not read the options that `tf.config` sets"
                raise Refused(module, session, text)
            # A TF1 session does not place softly, TF2's eager code does.
            if places and not sets_softness(module):
                lines.append(f"{style.tensorflow}.config.set_soft_device_placement(False)")
            lines += style.lines(_GROWTH) if interactive else []
        for statement in read.below:
            code = module.source.indent_of(statement) + module.source.code(statement)
            lines += textwrap.dedent(code).splitlines()
        if lines and read.several:
            top = read.scope.owner or read.scope.node
            assert isinstance(top, ast.stmt)
            alone = read.scope.own or read.scope.owner is not None
            early = alone and self._is_early(module, top)
            if read.options or read.below or (len(lines) > 1 and not early):
                text = "several objects build graphs, and devices are set with them"
                raise Refused(module, session, text, "set them at the top of the program")
            entry = Entry(top)
        if lines:
            paragraph = Layout(module.source, entry.statement).insert_paragraph(lines)
            found.edit(module, _outer(paragraph, entry))
        found.merge(imports)
        found.merge(others)
        for other in read.layer_modules:
            imported = self._imports(other)
            spoken = [use for use in other.uses if use.symbol.name.startswith(SETTINGS)]
            spoken = [use for use in spoken if use.node not in self.written(other)]
            said = rest(
                other, spoken, imported.gone, style_at(other, other.tree.body[0]), self.rules
            )
            if said.left:
                text = f"`{other.source.code(said.left[0].node)}` has no form in TF2"
                raise Refused(other, said.left[0].node, text)
            found.merge(imported)
            found.merge(said)
            for why in incompatibilities(other, self.written(other)):
                unread = {node for _, node in read.unread}
                if not is_inside(other, why.node, {*found.gone, *found.moved, *unread}):
                    raise Refused.because(why)

    def _imports(self, module: Module) -> EditSet:
        """The imports of a module in TF2, without those of names that it lost and nothing uses."""
        found = import_edits(module)
        for statement in unused_lost_imports(module, self._together(module)):
            found.edit(module, Layout(module.source, statement).replace([]))
            found.gone.add(statement)
        return found

    def _together(self, module: Module) -> set[Module]:
        """All modules of the programs that have one."""
        return {one for program in self._users[module] for one in program.needed}


def _guarded(program: Program, module: Module) -> Iterator[ast.AST]:
    """What stands under the main guard of a module that a program only imports."""
    for statement in module.tree.body if module is not program.entry else ():
        if is_main_guard(statement) and isinstance(statement, ast.If):
            yield from (node for one in statement.body for node in walk(one))


def _check_clients(reads: Sequence[SessionProgram], graph: CallGraph) -> None:
    """A function that is given one graph's steps is given those of others wherever they call it.

    Raises:
        Refused: that is not seen.
    """
    for read in reads:
        module = read.scope.module
        for node in (client.node for client in read.clients if client.dropped):
            assert isinstance(node, ast.FunctionDef)
            for one in graph.references(Function(module, node)):
                around = graph.enclosing(one.module, one.node)
                callers = [other for other in reads if around and around.node in other.functions]
                known = all(node in other.functions for other in callers)
                if not callers or not known:
                    text = f"`{node.name}` is given parts of one graph, and is called elsewhere"
                    raise Refused(one.module, one.node, text, "give each graph its own function")


def _check_options(module: Module, sessions: Sequence[ast.Call]) -> None:
    """Sessions of functions have all a config, or none: TF1's default is to place strictly.

    Raises:
        Refused: some have one.
    """
    given = [NamedArguments(module, one, SESSION).rest.get("config") for one in sessions]
    if len({one is None or is_none(one) for one in given}) > 1:
        text = "one of its sessions has no options, and operations are put on devices"
        raise Refused(module, sessions[0], text, "give all of them the same config")


def _only_defined(module: Module, top: ast.stmt) -> set[ast.AST]:
    """The statements of functions above a statement of the file, where nothing calls any there."""
    names = module.names
    above = module.tree.body[: module.tree.body.index(top)]
    functions = [one for one in above if isinstance(one, ast.FunctionDef)]
    run = {one for one in above if not isinstance(one, ast.FunctionDef)}
    for function in functions:
        for mention in names.mentions(function.name, names.module_scope):
            if is_inside(module, mention, run) or is_inside(module, mention, {*_heads(function)}):
                return set()
    return {part for function in functions for part in function.body}


def _heads(function: ast.FunctionDef) -> list[ast.expr]:
    """What is computed where a function is defined."""
    arguments = function.args
    defaults = [one for one in arguments.kw_defaults if one is not None]
    return [*function.decorator_list, *arguments.defaults, *defaults]


def _first_maker(read: SessionProgram) -> Entry:
    """The first statement of the scope that builds the graph.

    One that is written anew goes with what is gone above it.
    """
    entries, roles = read.scope.entries, read.roles
    builds = (at for at, role in enumerate(roles) if role not in (Role.HOST, Role.GONE))
    first = next(builds, 0)
    if roles[first] is Role.UNIT:
        while first and roles[first - 1] is Role.GONE:
            first -= 1
    return entries[first]


def _outer(edit: Edit, entry: Entry) -> Edit:
    """New lines without the indentation that their place loses."""
    lines = edit.new.split("\n")
    text = "\n".join(line[entry.dedent :] if line.strip() else line for line in lines)
    return Edit(edit.start, edit.end, text)


_AVERAGED = "average the gradients of all towers, and apply these once"
_AS_A_LOOP = (
    "write its steps as a loop of `sess.run`, and clones of `model_deploy` as a loop over the GPUs"
    " whose gradients are averaged; on the bridge the clones run on all GPUs, as in TF1"
)


def _without_home(program: Program, opened: Place, graph: CallGraph) -> NativeSession:
    """A program stays whose session none of its modules makes, or several do."""
    homes = [module.path.name for module in program.modules if session_calls(module)]
    made = opened.node.func if isinstance(opened.node, ast.Call) else opened.node
    key, text = MADE_ELSEWHERE, opened.module.source.code(made)
    text = f"its session is made by `{text}`"
    if homes:
        key, text = SEVERAL_MAKE_IT, f"several of its modules make sessions: {', '.join(homes)}"
    advice = _AS_A_LOOP if text.endswith("learning.train`") else ADVICE
    why = Diagnostic(key, opened, text, advice)
    monitored = None if homes else refusal(opened.module, graph, opened.node)
    return NativeSession(opened.module, monitored or why)


def _moves_by_gradients(modules: Iterable[Module]) -> bool:
    """Whether a program takes gradients and assigns variables: its optimizer is its own."""
    known = [*modules]
    return any(use.symbol.name == "gradients" for one in known for use in one.uses) and any(
        not one.names.attributes.keys().isdisjoint(_ASSIGNED) for one in known if one.uses
    )


@fact_of_text
def _has_inputs(module: Module) -> bool:
    """Whether a module makes variables, layers or placeholders: constants alone are no steps."""
    return any(use.symbol.name.startswith(_INPUTS) for use in module.uses)


@fact_of_text
def _trains(module: Module) -> bool:
    """Whether a module makes an optimizer of TF1's, or has a function that makes it train."""
    names = (use.symbol.name for use in module.uses)
    return any(name.endswith("Optimizer") or name in STEP_MAKERS for name in names)
