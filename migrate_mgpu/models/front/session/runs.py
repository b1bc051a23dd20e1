"""Runs of a session: what each feeds and fetches, and the kinds of steps that they are."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import Names
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, Scope, names_in, walk
from migrate_mgpu.api.graph import COMPUTES, INITIALIZES, INITIALIZES_METRICS, MAKES_SPARSE
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.fed_units import FedUnits, check_trained
from migrate_mgpu.models.front.session.feeds import Fed, FeedReader
from migrate_mgpu.models.front.session.folding import fold, is_computed
from migrate_mgpu.models.front.session.host_objects import Saver
from migrate_mgpu.models.front.session.nested_values import holds_several, is_nested
from migrate_mgpu.models.front.session.origins import (
    Named,
    Origins,
    Whole,
    class_of,
    is_of_another,
)
from migrate_mgpu.models.front.session.program import (
    GRAPH,
    AverageUpdates,
    Beginning,
    Computed,
    GradientNorm,
    Host,
    Init,
    Meaning,
    MetricValue,
    Role,
    SessionProgram,
    UpdateGroup,
    closure,
    is_late,
    reads_others,
    targets_of,
)
from migrate_mgpu.models.front.session.scope import SessionScope
from migrate_mgpu.models.front.session.sparse_tensors import is_dense, is_sparse
from migrate_mgpu.models.ir import (
    Collected,
    Fetch,
    Gathered,
    Placeholder,
    Run,
    SharedStep,
    Step,
    Unit,
    Update,
    Variables,
)

_RUN = ("fetches", "feed_dict")
_EVAL = ("feed_dict", "session")


def mentions_of(names: Names, node: ast.AST, home: Scope) -> Iterator[ast.Name]:
    """The names in a node that are a scope's own."""
    for part in names_in(node):
        if part in names.scope_of_name:
            if names.defining_scope(part.id, names.scope_of_name[part]) is home:
                yield part


class RunReader:
    """Reads the statements in which a session runs something."""

    def __init__(
        self,
        scope: SessionScope,
        found: SessionProgram,
        meanings: dict[str, Meaning],
        unit: Callable[[ast.stmt | ast.expr, int], Unit],
        origins: Origins,
        is_client_call: Callable[[ast.Call], bool],
        moved: Callable[[AverageUpdates], None],
    ) -> None:
        """``is_client_call`` says whether a call is one of a function that runs something.

        ``moved`` is told what moves averages.
        """
        self.moved = moved
        self.scope = scope
        self.module = scope.module
        self.names = scope.module.names
        self.home = self.names.scopes[scope.node]
        self.found = found
        self.meanings = meanings
        self.unit = unit
        self.origins = origins
        self.is_client_call = is_client_call
        self.anew: set[ast.Call] = set()  # calls before a checkpoint is restored
        self.of_new_sessions: set[ast.Call] = set()  # those that give all variables new values
        self.assigned: set[ast.Call] = set()  # runs that only assign a value
        self.gone: set[ast.AST] = set()  # calls that initialize variables
        self.known: set[ast.AST] = set()  # what runs fetch and feed, elsewhere
        self.computed: set[tuple[Scope, str]] = set()  # names of other scopes: such values
        self.made: dict[tuple[object, str], Saver] = {}  # by names and attributes elsewhere
        self._asked: set[tuple[object, str]] = set()  # parameters whose savers are looked for
        self.is_eager: Callable[[ast.expr], bool] = lambda node: False
        self.are_apart: Callable[[ast.AST, ast.AST], bool] = lambda one, other: False
        self.comes_later: Callable[[ast.AST, ast.AST], bool] = lambda first, node: False
        self.begun: ast.stmt | None = None  # what gave first values, the last one so far
        self._earlier = 0  # how many runs are of graphs before this one
        self.fed_units = FedUnits(self.module, origins.graph, self.home, meanings, found)
        self.feeds = FeedReader(
            self.module, origins, found, self.meaning, self.known, self.fed_units.of
        )
        self._kinds: dict[tuple[object, ...], Step] = {}
        self.shared: dict[Step, SharedStep] = {}  # those that other programs run as well
        self._expressions: dict[tuple[object, ...], Unit] = {}  # those that runs compute
        self._homes: dict[Scope, bool] = {}

    @property
    def initialized(self) -> bool:
        """Whether the variables are given their first values."""
        restored = any(one.kind == "restore" for one in self.found.saver_calls)
        return self.begun is not None or restored

    def begin_graph(self) -> None:
        """What follows is about another graph."""
        self.begun, self._earlier = None, len(self.found.runs)

    # -- what expressions mean --------------------------------------------------------

    def is_home(self, node: ast.AST) -> bool:
        """Whether a node is code of the scope that builds, or of a lambda in it."""
        scope = self.names.scope_at(node)
        if scope not in self._homes:
            outer = scope
            while (
                isinstance(outer.node, (*COMPREHENSIONS, ast.Lambda)) and outer.parent is not None
            ):
                outer = outer.parent
            home = self.home
            self._homes[scope] = outer is home or outer.function() is home.function()
        return self._homes[scope]

    def meaning(self, node: ast.AST) -> Meaning | None:
        """What an expression stands for, wherever it is."""
        if isinstance(node, ast.Name) and self.is_home(node):
            home = self.names.defining_scope(node.id, self.names.scope_of_name[node])
            if home is self.home:
                return self.meanings.get(node.id)
        if not isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)):
            return None
        if isinstance(node, ast.Name) and self.computed:
            scope = self.names.defining_scope(node.id, self.names.scope_of_name[node])
            if (scope, node.id) in self.computed:
                return Computed()
        made = self._saver(node) if self.made else None
        if made is not None:
            return made
        origin = self.origins.of(node)
        if isinstance(origin, Named):
            return self.meanings.get(origin.name)
        if origin is None and isinstance(node, ast.Name) and not self.is_home(node):
            value = self.names.only_value(node)
            if value is not None and name_of(self.module, value) in INITIALIZES:
                return Init()
        return None

    def _saver(self, node: ast.expr) -> Saver | None:
        """The saver that a name or an attribute of other code is, or that a function is given."""
        key = self.key(node)
        if key is None or key in self.made:
            return self.made.get(key or (None, ""))
        scope = key[0]
        if not isinstance(scope, Scope) or scope.bindings[key[1]][0].kind != "parameter":
            return None
        if key in self._asked:
            return None
        self._asked.add(key)
        values = list(self.origins.arguments_for(scope.node, key[1]))
        found = {self._saver(one) if one is not None else None for one in values}
        self._asked.discard(key)
        return found.pop() if len(found) == 1 else None

    def key(self, node: ast.expr) -> tuple[object, str] | None:
        """What stands for a name of other code with one value, or an attribute of another class."""
        if isinstance(node, ast.Name):
            scope = self.names.defining_scope(node.id, self.names.scope_of_name[node])
            plain = scope is not None and len(scope.bindings[node.id]) == 1
            return (scope, node.id) if plain and scope is not self.home else None
        owner = class_of(self.module, node) if isinstance(node, ast.Attribute) else None
        if not isinstance(node, ast.Attribute) or owner is None or owner is self.scope.owner:
            return None
        stored = [
            one
            for one in self.names.attributes[node.attr]
            if not isinstance(one.ctx, ast.Load) and not is_of_another(self.module, one, owner)
        ]
        plain = len(stored) == 1 and class_of(self.module, stored[0]) is owner
        return (owner, node.attr) if plain else None

    def named(self, node: ast.expr) -> ast.expr:
        """A part of the graph as the scope that builds calls it.

        Raises:
            Refused: it calls several so.
        """
        if isinstance(node, ast.Name) and self.is_home(node):
            return node
        origin = self.origins.of(node)
        if isinstance(origin, Named):
            statement = self._last_meaning(origin.name)
            if statement is None:
                text = f"`{origin.name}` stands for more than one part of the graph"
                raise Refused(self.module, node, text, "give each its own name")
            return next(
                part
                for part in walk(statement)
                if isinstance(part, ast.Name) and part.id == origin.name
            )
        return node

    def _last_meaning(self, name: str) -> ast.stmt | None:
        """The statement that makes what a name is where the scope's other code gets it.

        None where it may get an earlier meaning of the name.
        """
        bound = [self.names.statement(one.node) for one in self.home.bindings[name]]
        if len(bound) == 1:
            return bound[0]
        places = {entry.statement: place for place, entry in enumerate(self.scope.entries)}
        entries = [self._entry(statement, places) for statement in bound]
        last = max((one for one in entries if one), key=places.__getitem__, default=None)
        if last is None or None in entries:
            return None
        for mention in self.names.mentions(name, self.home):
            inside = self.names.scope_of_name[mention] is not self.home
            if inside and mention.lineno > (last.end_lineno or 0):
                continue  # a function that there is only behind it
            around = self._entry(self.names.statement(mention), places)
            place = places[around] if around is not None else None
            if place is None or place < places[last]:
                role = self.found.roles[place] if place is not None else None
                if role not in (Role.UNIT, Role.UPDATE):
                    return None
        return last

    def _entry(self, statement: ast.stmt, places: Mapping[ast.stmt, int]) -> ast.stmt | None:
        """A statement of the scope, or the one around it that repeats it, or chooses."""
        around: ast.AST | None = statement
        while isinstance(around, (ast.If, ast.For)) or around is statement:
            assert isinstance(around, ast.stmt)
            if around in places:
                return around
            around = self.names.parents.get(around)
        return None

    # -- which calls run something -------------------------------------------------

    def calls(self, statement: ast.stmt) -> list[ast.Call]:
        """The calls in a statement that run something."""
        return [node for node in walk(statement) if isinstance(node, ast.Call) and self._runs(node)]

    def concerns(self, statement: ast.stmt) -> bool:
        """Whether a statement runs something."""
        return bool(self.calls(statement))

    def _runs(self, call: ast.Call) -> bool:
        func = call.func
        if not isinstance(func, ast.Attribute) or call in self.assigned:
            return False
        if func.attr == "run" and self.is_session(func.value):
            return True
        if func.attr not in ("run", "eval") or self.origins.is_method(func):
            return False
        if isinstance(func.value, ast.Call):
            return name_of(self.module, func.value) in INITIALIZES or func.attr == "eval"
        if isinstance(func.value, (ast.Name, ast.Subscript, ast.Attribute)):
            meaning = self.meaning(func.value)
            if meaning is None and isinstance(func.value, ast.Subscript):
                meaning = self.meaning(func.value.value)
            return meaning is not None and not isinstance(meaning, Host)
        return isinstance(func.value, ast.BinOp)

    def is_session(self, node: ast.expr) -> bool:
        """Whether an expression is the program's session."""
        return self.origins.of(node) is Whole.SESSION

    # -- one statement ----------------------------------------------------------------

    def read(self, statement: ast.stmt, place: int) -> Role:
        """What a statement that runs something is.

        Raises:
            Refused: what it runs is not understood.
        """
        calls = self.calls(statement)
        first = self._initializing(statement, calls, place)
        if isinstance(statement, ast.Expr) and statement.value in first:
            return Role.GONE
        calls = [call for call in calls if call not in first and call not in self.gone]
        dictionaries = [
            s for s in walk(statement) if isinstance(s, ast.stmt) and self.feeds.concerns(s)
        ]
        if self.is_home(statement):
            self._check_mentions(statement, calls, dictionaries)
        for call in calls:
            if any(other is not call and other in walk(call) for other in calls):
                raise Refused(self.module, call, "a `Session.run` within another one")
            self._run(call, place)
        return Role.RUN

    def _check_mentions(
        self, statement: ast.stmt, calls: list[ast.Call], dictionaries: list[ast.stmt]
    ) -> None:
        own = (part for part in walk(statement) if isinstance(part, ast.Call))
        inside = {
            node for call in (*calls, *filter(self.is_client_call, own)) for node in walk(call)
        }
        local = {
            name.id
            for name in mentions_of(self.names, statement, self.home)
            if isinstance(name.ctx, ast.Store) and name not in self.found.rebound
        }
        for name in mentions_of(self.names, statement, self.home):
            if name.id in local and isinstance(self.meanings.get(name.id), GRAPH):
                text = f"`{name.id}`, a part of the graph, is assigned again"
                raise Refused(self.module, name, text, "give the two different names")
        keys = {key for s in dictionaries for key in _keys(s)}
        fine = inside | keys | self.known
        for name in mentions_of(self.names, statement, self.home):
            if name in fine or not isinstance(name.ctx, ast.Load):
                continue
            meaning = self.meanings.get(name.id)
            if name.id == self.scope.name:
                text = "the session is used for more than `run`"
                raise Refused(self.module, name, text)
            if meaning is not None and not isinstance(meaning, (Host, Computed)):
                text = f"`{name.id}`, a part of the graph, is used outside of `Session.run`"
                raise Refused(self.module, name, text, "run it, and use its value")

    def _initializing(
        self, statement: ast.stmt, calls: list[ast.Call], place: int
    ) -> list[ast.Call]:
        """The calls that give the variables their first values, where that is nothing in TF2.

        Raises:
            Refused: something has run before, or may have.
        """
        first = [call for call in calls if self.initializes(call)]
        first = [call for call in first if not self._begins_metrics(call, statement)]
        first = [call for call in first if not self._begins_anew(call, statement, place)]
        for call in first:
            own = self.names.statement(call)
            if call in self.anew:
                if own is not statement:
                    self.found.dropped.append(own)
                    self.known |= set(walk(own))
                self.gone.add(call)
                continue
            if not isinstance(own, ast.Expr) or own.value is not call:
                text = "variables are initialized together with something else"
                raise Refused(self.module, call, text)
            restored = [
                one.call
                for one in self.found.saver_calls
                if one.kind == "restore" and not self._restores_later(call, one.call, statement)
            ]
            # What runs elsewhere comes behind it: no variable has a value before.
            before = self.begun
            if before is not None and self.are_apart(before, call):
                before = None
            begun = restored or before is not None
            runs = [
                one
                for one in self.found.runs[self._earlier :]
                if not self.are_apart(one.call, call)
            ]
            ran = (runs or self.assigned) and (begun or self.is_home(statement))
            if ran or min(calls, key=_position) not in first:
                text = "variables are initialized after something has run"
                raise Refused(self.module, call, text)
            if own is not statement and not self._only_under_conditions(own, statement):
                text = "variables are initialized in a loop or a block"
                raise Refused(self.module, call, text)
            if any(not self._excludes(one, call) for one in restored):
                text = "variables are initialized after they were restored"
                raise Refused(self.module, call, text)
            if before is not None and self._acts_between(before, statement):
                text = "variables are initialized again, after something may have run"
                raise Refused(self.module, call, text)
            if own is not statement:
                self.found.dropped.append(own)
                self.known |= set(walk(own))
            self.gone.add(call)
            if own is statement and self.is_home(own) and place >= 0:
                self._adds_beginning(own, call, place)
        if first:
            self.begun = statement
        return first

    def _restores_later(self, call: ast.Call, restored: ast.Call, statement: ast.stmt) -> bool:
        """Whether variables are restored only behind a call that initializes them."""
        if restored in {*walk(statement)} and _position(restored) > _position(call):
            return True  # below it in a block that runs once
        elsewhere = self.names.scope_at(restored).function()
        if elsewhere is None or elsewhere is self.names.scope_at(call).function():
            return False
        return not self.is_home(restored) and self.comes_later(call, restored)

    def _adds_beginning(self, statement: ast.Expr, call: ast.Call, place: int) -> Beginning:
        known: list[Variables] = []
        for part in self._initialized_by(call):
            found = self.meaning(part)
            known += found.variables if isinstance(found, Init) else self.found.variables
        made = Beginning(statement, place, tuple(dict.fromkeys(known)))
        self.found.beginnings.append(made)
        return made

    def _begins_anew(self, call: ast.Call, statement: ast.stmt, place: int) -> bool:
        """Whether a run gives variables first values once more, behind runs of the scope.

        What TF2 does there is known where all is read that needs them.
        """
        own = self.names.statement(call)
        again = call in self.of_new_sessions
        if call in self.anew or not self.found.beginnings or not isinstance(own, ast.Expr):
            return False
        if own is not statement or own.value is not call or not self.is_home(own):
            return False
        if not again and not self.found.runs[self._earlier :] and not self.assigned:
            return False
        if self.scope.resets or self.scope.towers is not None or self._earlier:
            return False
        made = self._adds_beginning(own, call, place)
        made.anew, made.session = True, again
        self.known |= set(walk(own))
        self.gone.add(call)
        self.begun = statement
        return True

    def _begins_metrics(self, call: ast.Call, statement: ast.stmt) -> bool:
        """Whether a run begins metrics anew, which have had values.

        Raises:
            Refused: it does something else with that.
        """
        if not self.found.metrics or not self.initializes(call, local=True):
            return False
        own = self.names.statement(call)
        if own is statement and not self.found.runs:
            return False
        if not isinstance(own, ast.Expr) or own.value is not call or not self.is_home(own):
            text = "metrics begin anew together with something else, or in another function"
            raise Refused(self.module, call, text, "do that in a statement of its own")
        self.found.metric_resets.append(own)
        self.known |= set(walk(own))
        self.gone.add(call)
        return True

    def _only_under_conditions(self, own: ast.stmt, statement: ast.stmt) -> bool:
        """Whether a statement stands in conditions alone, up to one of the scope's."""
        parent: ast.AST = own
        while parent is not statement:
            parent = self.names.parents[parent]
            if not isinstance(parent, ast.If):
                return False
        return True

    def _excludes(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether two nodes stand in the two branches of one condition."""
        above = {*self.names.ancestors(other)}
        common = next((p for p in self.names.ancestors(one) if p in above), None)
        if not isinstance(common, ast.If):
            return False

        def branch(node: ast.AST) -> bool:
            return any(node in walk(statement) for statement in common.body)

        return branch(one) != branch(other)

    def initializes(self, call: ast.Call, local: bool = False) -> bool:
        """Whether a run only gives variables their first values; ``local``: those of metrics."""
        parts = self._initialized_by(call)
        if local:
            meanings = [self.meaning(part) for part in parts]
            return bool(parts) and all(
                name_of(self.module, part) in INITIALIZES_METRICS
                or (isinstance(one, Init) and one.local)
                for part, one in zip(parts, meanings)
            )
        return bool(parts) and all(
            name_of(self.module, part) in INITIALIZES
            or isinstance(self.meaning(part), Init)
            or (
                isinstance(part, ast.Call)
                and name_of(self.module, part) == "group"
                and all(name_of(self.module, a) in INITIALIZES for a in part.args)
            )
            for part in parts
        )

    def _initialized_by(self, call: ast.Call) -> list[ast.expr]:
        """What a run runs, as the parts of a list."""
        func = call.func
        assert isinstance(func, ast.Attribute)
        what = (
            call.args[0]
            if func.attr == "run" and self.is_session(func.value) and call.args
            else func.value
        )
        return what.elts if isinstance(what, (ast.List, ast.Tuple)) else [what]

    def _acts_between(self, first: ast.stmt, second: ast.stmt) -> bool:
        """Whether anything is called between two statements that give first values."""
        block = self.names.block(first)
        if second not in block:
            return True
        between = block[block.index(first) + 1 : block.index(second)]
        return any(isinstance(node, ast.Call) for one in between for node in walk(one))

    # -- one run --------------------------------------------------------------------

    def _run(self, call: ast.Call, place: int) -> None:
        func = call.func
        assert isinstance(func, ast.Attribute)
        parameters: tuple[str, ...] = _RUN if self.is_session(func.value) else _EVAL
        given: dict[str, ast.expr] = {}
        if parameters is _EVAL:
            given["fetches"] = func.value
            if func.attr == "eval" and isinstance(self.meaning(func.value), Variables):
                parameters = ("session",)  # `variable.eval(sess)`
        for index, argument in enumerate(call.args):
            if isinstance(argument, ast.Starred) or index >= len(parameters):
                raise Refused(
                    self.module, call, "the arguments of this `Session.run` cannot be analyzed"
                )
            given[parameters[index]] = argument
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg not in parameters:
                raise Refused(
                    self.module, call, "the arguments of this `Session.run` cannot be analyzed"
                )
            given[keyword.arg] = keyword.value
        if "fetches" not in given:
            raise Refused(self.module, call, "what is fetched cannot be determined")
        session = given.get("session")
        if session is not None and not self.is_session(session):
            raise Refused(
                self.module, session, "this cannot be recognized as the program's session"
            )
        self.known |= {node for part in given.values() for node in walk(part)}
        self.known |= set(walk(func.value))
        wanted = given["fetches"]
        many = isinstance(wanted, (ast.List, ast.Tuple))
        nodes = wanted.elts if isinstance(wanted, (ast.List, ast.Tuple)) else [wanted]
        fetches: list[Fetch] = []
        units: list[Unit] = []
        for node in nodes:
            fetches.append(self._fetch(node, units, place))
        told, fed = self.feeds.of(given.get("feed_dict"))
        values = [_same(fetch.value) for fetch in fetches if fetch.value is not None]
        if len({*values}) < len(values):
            text = "it fetches a value twice, which its step gives once"
            raise Refused(self.module, call, text, "fetch it once")
        taken = self._taken(call, told, fetches, units)
        feeds, folded = self._folded(
            [(one.placeholder, one.value) for one in taken], fed is not None
        )
        step = self._kind(call, fetches, units, [one for one, _ in feeds], folded)
        if fed is not None:
            feeds = []
        picks = len(taken) < len(told)
        self.found.runs.append(Run(call, tuple(fetches), many, tuple(feeds), fed, step, picks))

    def _taken(
        self, call: ast.Call, told: Sequence[Fed], fetches: list[Fetch], units: list[Unit]
    ) -> list[Fed]:
        """What a run takes of a dictionary that may be without some of it.

        What it needs: TF1 stops without that, as TF2 does. A function of TF2 takes no more.

        Raises:
            Refused: what may be missing has a value of its own, which TF1 takes.
        """
        updates = _updates(fetches)
        made = [*units, *(u for o in updates for u in o.made_of)]
        needed = self._needed(closure(made, (one.placeholder for one in told)), updates)
        for one in told:
            own = one.placeholder.default is not None or one.placeholder.computed is not None
            if not one.certain and own:
                text = f"whether `{one.placeholder.name}` is fed here cannot be determined"
                raise Refused(self.module, call, text, "feed what the run needs")
        return [one for one in told if one.certain or one.placeholder in needed]

    def _needed(self, units: Iterable[Unit], updates: Iterable[Update]) -> list[Placeholder]:
        """The placeholders that a step depends on."""
        found = [placeholder for unit in units for placeholder in unit.feeds]
        found += [one.rate_of for one in updates if isinstance(one.rate_of, Placeholder)]
        return found

    def read_shared(self, wanted: SharedStep) -> None:
        """A step that another program runs of the same class's graph.

        Raises:
            Refused: it cannot be found here.
        """
        self.shared[self.step_of(wanted)] = wanted

    def step_of(self, wanted: SharedStep) -> Step:
        """A step by the names that its parts have.

        Raises:
            Refused: it cannot be found here.
        """
        session = self.scope.session
        known = {one.name: one for one in self.found.placeholders}
        given = [*wanted.feeds, *(name for name, _ in wanted.folded)]
        missing = next((name for name in given if name not in known), None)
        nodes: list[ast.expr] = []
        for name in wanted.fetches:
            statement = self._last_meaning(name) if name in self.home.bindings else None
            if statement is None:
                missing = name
                break
            nodes += [
                one for one in walk(statement) if isinstance(one, ast.Name) and one.id == name
            ][:1]
        if missing is not None:
            text = f"`{missing}`, which another program runs, is not in the graph here"
            raise Refused(self.module, session, text)
        units: list[Unit] = []
        fetches = [self._fetch(node, units, -1) for node in nodes]
        folded: list[tuple[Placeholder, ast.expr]] = []
        for name, flag in wanted.folded:
            value = known[name].default if flag is None else ast.Constant(flag)
            if value is None:
                text = f"`{name}` has no default here, and another program needs it"
                raise Refused(self.module, session, text)
            folded.append((known[name], value))
        feeds = [known[name] for name in wanted.feeds]
        return self._kind(session, fetches, units, feeds, tuple(folded))

    def _kind(
        self,
        call: ast.Call,
        fetches: Sequence[Fetch],
        units: list[Unit],
        feeds: Sequence[Placeholder],
        folded: tuple[tuple[Placeholder, ast.expr], ...],
    ) -> Step:
        """The step of a run.

        Raises:
            Refused: TF1 does not define what it does, or TF2 has no form for it.
        """
        self.found.placeholders += (
            one for one in feeds if one.computed is not None and one not in self.found.placeholders
        )
        placeholders = tuple(p for p in self.found.placeholders if any(p is one for one in feeds))
        updates = tuple(_updates(fetches))
        values = tuple({_same(f.value): f.value for f in fetches if f.value is not None}.values())
        clips = [clip for update in updates for clip in update.clips]
        for fetch in fetches:
            meaning = self.meaning(fetch.node)
            if isinstance(meaning, GradientNorm):
                if meaning.name not in [clip.norm for clip in clips]:
                    text = f"`{meaning.name}`, the norm of the gradients, is read without the step"
                    raise Refused(self.module, call, text, "fetch the two in one run")
        assigned = {one for unit in units for one in unit.assigns}
        trained = [unit for update in updates for unit in update.made_of]
        made = [unit.node for unit in closure([*units, *trained], placeholders)]
        for fetch in fetches:
            meaning = self.meaning(fetch.node)
            if isinstance(meaning, MetricValue) and meaning.metric.statement in made:
                text = "a metric is added to and read in one step, in no defined order"
                raise Refused(self.module, call, text, "run the two one after the other")
        if any(fetch.variable and self.meaning(fetch.node) in assigned for fetch in fetches):
            text = "a variable is assigned and fetched in one step"
            raise Refused(self.module, call, text, "run the two one after the other")
        moves = any(fetch.moves for fetch in fetches)
        if moves and not updates:
            text = "moving averages are updated in a step that trains nothing"
            raise Refused(self.module, call, text, "run tf.GraphKeys.UPDATE_OPS with the training")
        self.found.moves_averages |= moves
        return self._step(call, placeholders, values, updates, units, folded, moves)

    def _folded(
        self, feeds: list[tuple[Placeholder, ast.expr]], named: bool
    ) -> tuple[list[tuple[Placeholder, ast.expr]], tuple[tuple[Placeholder, ast.expr], ...]]:
        """What is fed as a tensor, and the placeholders that have a value which is known."""
        given = dict(feeds)
        folded: dict[Placeholder, ast.expr] = {}
        for placeholder in self.found.placeholders:
            fed = given.get(placeholder)
            known = self.names.only_value(fed) if isinstance(fed, ast.Name) else None
            value = fold(placeholder, known if isinstance(known, ast.Constant) else fed)
            if value is not None:
                folded[placeholder] = value
                if named and fed is not None:
                    self.found.folded.add(fed)
        left = [(placeholder, value) for placeholder, value in feeds if placeholder not in folded]
        return left, tuple(folded.items())

    def _fetch(self, node: ast.expr, units: list[Unit], place: int) -> Fetch:
        meaning = self.meaning(node)
        if isinstance(meaning, Update):
            if meaning.is_loss and self._is_read(node):
                units.append(meaning.unit)
                return Fetch(node, update=meaning, value=meaning.loss)
            return Fetch(node, update=meaning)
        if isinstance(meaning, UpdateGroup):
            return Fetch(node, update=meaning.updates[0], also=meaning.updates[1:])
        if isinstance(meaning, AverageUpdates):
            self.moved(meaning)
            return Fetch(node, moves=True)
        if isinstance(meaning, Variables):
            if meaning.collected is not Collected.ONE:
                raise Refused(self.module, node, "a dictionary or list of variables is fetched")
            return Fetch(node, variable=True)
        if isinstance(meaning, Computed) or self.is_eager(node):
            return Fetch(node, variable=True, computed=True)
        if isinstance(meaning, GradientNorm):
            return Fetch(node, value=self.named(node))
        if isinstance(meaning, MetricValue):
            if not self.is_home(node):
                text = f"`{meaning.metric.value}`, a metric, is read in another function"
                raise Refused(self.module, node, text)
            return Fetch(node, variable=True, of_metric=True)
        if isinstance(meaning, Gathered):
            if not self.is_home(node) or not isinstance(node, ast.Name):
                text = f"`{meaning.name}` is a list of what all towers have"
                raise Refused(self.module, node, text, "make one tensor of it before")
            units.append(meaning)
            return Fetch(node, value=self.named(node), nested=True)
        if isinstance(meaning, Unit):
            units.append(meaning)
            if meaning.node in self.found.copies:
                return Fetch(node, copies=True)
            named = self.named(node)
            graph = self.origins.graph
            several = isinstance(named, ast.Name) and is_nested(
                self.module, graph, named.id, meaning.node
            )
            return Fetch(node, value=named, nested=several, sparse=self._is_sparse(named))
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            variables = self.meaning(node.value)
            if isinstance(variables, Variables):
                if variables.collected is not Collected.ONE and isinstance(
                    node.slice, ast.Constant
                ):
                    return Fetch(node, variable=True)
        if isinstance(node, ast.Name) and not isinstance(meaning, Placeholder):
            raise Refused(self.module, node, f"what `{node.id}` fetches cannot be determined")
        if isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.Starred, ast.Constant)):
            raise Refused(self.module, node, "what is fetched is not a list of parts of the graph")
        if isinstance(meaning, Placeholder) and meaning.count is None and not self.is_home(node):
            statements = [entry.statement for entry in self.scope.entries]
            named = self.named(node)
            if isinstance(named, ast.Name) and meaning.unit in statements:
                same = self._computed_before(self.unit(named, statements.index(meaning.unit)))
                units.append(same)
                return Fetch(node, value=named)
        if not self.is_home(node):
            text = f"what `{self.module.source.code(node)}` fetches cannot be determined"
            raise Refused(self.module, node, text, "name it where the graph is built")
        if self.scope.entries[place].device is not None:
            text = "a part of the graph is built where it is run, on a device"
            raise Refused(self.module, node, text, "give it a name before")
        unit = self.unit(node, place)
        same = self._computed_before(unit)
        units.append(same)
        assert isinstance(same.node, ast.expr)
        several = holds_several(self.module, self.origins.graph, same.node)
        sparse = self._is_sparse(same.node)
        return Fetch(node, value=same.node, nested=several, sparse=sparse)

    def _is_sparse(self, fetched: ast.expr) -> bool:
        """Whether what is fetched is a sparse tensor.

        Raises:
            Refused: it may be one.
        """
        graph = self.origins.graph
        if not any(calls_of_names(one).get(name) for one in graph.modules for name in MAKES_SPARSE):
            return False
        if is_dense(graph, self.module, fetched):
            return False
        if not is_sparse(self.module, fetched):
            text = "what is fetched may be a sparse tensor"
            raise Refused(self.module, fetched, text, "fetch its indices and values")
        return True

    def _is_read(self, node: ast.expr) -> bool:
        """Whether anything reads what a run gives for one of its fetches."""
        names = self.module.names
        statement, wanted = names.statement(node), names.parents[node]
        many = isinstance(wanted, (ast.List, ast.Tuple))
        call = names.parents[wanted] if many else wanted
        if isinstance(statement, ast.Expr) and statement.value is call:
            return False
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(wanted, (ast.List, ast.Tuple)):
            target = dict(zip(wanted.elts, target.elts)).get(node)
        if not isinstance(target, ast.Name) or target not in names.scope_of_name:
            return True
        home = names.defining_scope(target.id, names.scope_of_name[target])
        mentions = names.mentions(target.id, home) if home is not None else ()
        return any(isinstance(one.ctx, ast.Load) for one in mentions)

    def _computed_before(self, unit: Unit) -> Unit:
        """The same expression of an earlier run, which is of TensorFlow's functions alone.

        One that draws has numbers of its own each time that it is written.
        """
        key = (ast.dump(unit.node), unit.after, unit.feeds, unit.reads, unit.collects)
        for part in walk(unit.node):
            if isinstance(part, ast.Call) and name_of(self.module, part) not in COMPUTES:
                return unit
            if isinstance(part, ast.Name) and not isinstance(self.meaning(part), GRAPH):
                if not self.module.names.qualname(part):
                    return unit  # Python's own, which may have another value here
        return self._expressions.setdefault(key, unit)

    def _step(
        self,
        call: ast.Call,
        feeds: tuple[Placeholder, ...],
        values: tuple[ast.expr, ...],
        updates: tuple[Update, ...],
        fetched: list[Unit],
        folded: tuple[tuple[Placeholder, ast.expr], ...],
        moves: bool,
    ) -> Step:
        trained = [unit for update in updates for unit in update.made_of]
        units = closure([*fetched, *trained], feeds)
        fed = [one.computed for one in feeds if one.computed is not None]
        check_trained(self.module, call, updates, fed)
        needed = self._needed(units, updates)
        folded = tuple(one for one in folded if one[0] in needed)
        known = [placeholder for placeholder, _ in folded]
        needed += [
            meaning
            for placeholder, value in folded
            if is_computed(placeholder)
            for part in walk(value)
            if isinstance(meaning := self.meaning(part), Placeholder)
        ]
        for placeholder in dict.fromkeys(needed):
            if placeholder not in feeds and placeholder not in known:
                text = f"`{placeholder.name}` is not fed here, and is needed"
                raise Refused(self.module, call, text)
        if len(updates) > 1:
            self._check_together(call, updates)
        if updates:
            inside = set(closure(trained, feeds))
            for unit in units:
                tells = unit.node in self.found.summarizing  # TF1 gave either value
                behind = unit.assigns or is_late(unit) or self.scope.towers is not None
                if behind and not tells and unit not in inside and reads_others(unit):
                    text = "TF1 may compute it before or after the variables change"
                    raise Refused(self.module, unit.node, f"it is fetched with a step: {text}")
        if any(one.averages is not None for one in updates):
            read = next((unit for unit in units if unit.averages), None)
            if read is not None:
                text = "moving averages are read in the run that moves them, in no defined order"
                raise Refused(self.module, call, text, "run the two one after the other")
        for update in updates:
            self._check_last(update, units)
        for unit in units:
            self._check_assigning(unit, units, updates)
        own = {unit for update in self.found.updates for unit in update.made_of}
        late = [unit for unit in units if is_late(unit) and unit not in own]
        constants = tuple((placeholder, ast.dump(value)) for placeholder, value in folded)
        made = tuple(units) if not late or set(late) <= {*self._expressions.values()} else call
        key = (feeds, tuple(map(_same, values)), updates, made, constants, moves)
        step = self._kinds.get(key)
        if step is None:
            step = self._kinds[key] = Step(feeds, values, updates, tuple(units), folded, moves)
            if step.acts:  # variables alone are read where they are
                self.found.steps.append(step)
        return step

    def _check_together(self, call: ast.Call, updates: tuple[Update, ...]) -> None:
        """Several optimizers in one step train different variables.

        Raises:
            Refused: what one does is what another one has done, or they cannot be told apart.
        """
        text = "two optimizers run in one step, in no defined order"
        every = [v for one in updates for some in one.variables for v in (some.listed or (some,))]
        twice = len({*every}) != len(every) or any(one.item_of in every for one in every)
        # Of one loss: the gradients of one may read what another one changes, which is told.
        one_loss = len({(one.unit, ast.dump(one.loss)) for one in updates}) == 1
        if twice or (self.scope.towers is not None and not one_loss):
            raise Refused(self.module, call, text, "run the two one after the other")
        if len({one.optimizer for one in updates}) != len(updates):
            raise Refused(self.module, call, f"{text}: they are one", "run them one by one")
        if not all(isinstance(one.loss, ast.Name) for one in updates):
            text = "two optimizers run in one step, and what one minimizes has no name"
            raise Refused(self.module, call, text, "give it one")
        if any(self.scope.entries[one.place].device is not None for one in updates):
            raise Refused(self.module, call, f"{text}, on devices that are told")
        counted = any(one.averages is not None and one.averages.counted for one in updates)
        read = any(one.averages is not None and one.averages.maker for one in updates)
        if counted or read or any(one.rate_of is not None for one in updates):
            text = "two optimizers run in one step, with rates that change or averages"
            raise Refused(self.module, call, text, "run the two one after the other")

    def _check_assigning(
        self, unit: Unit, units: Sequence[Unit], updates: Sequence[Update]
    ) -> None:
        """Nothing else in a step has to do with a variable that the step assigns.

        Raises:
            Refused: TF1 may use the variable's value of before or after.
        """
        others = [one for one in units if one is not unit]
        read: set[object] = {v for one in others for v in one.assigns}
        if not self.found.limits_trained(unit, updates):
            read.update(v for one in others for v in (*one.reads, *one.collects))
            read.update(
                v for one in updates for some in one.variables for v in (some, *some.listed)
            )
        read.update(one for update in updates for one in (update.counts, update.rate_of))
        read.update(one.sums.variables for one in updates if one.sums is not None)
        twice = next((one for one in unit.assigns if one in read), None)
        if twice is not None:
            text = f"`{twice.name or 'a layer'}` is assigned and used in one step"
            advice = "TF1 may use its value of before or after: run the two one after the other"
            raise Refused(self.module, unit.node, text, advice)

    def _check_last(self, update: Update, units: list[Unit]) -> None:
        """In a step that trains, the loss is the last value of its name, as is the rate."""
        upstream = (update.upstream,) if update.upstream is not None else ()
        for node, unit in (
            (update.loss, update.unit), (update.rate, update.rate_of), *upstream
        ):  # fmt: skip
            if not isinstance(node, ast.Name):
                continue
            making = [other for other in units if node.id in targets_of(other.node)]
            if making and making[-1] is not unit:
                text = f"`{node.id}` is more than one part of the graph in this step"
                raise Refused(self.module, node, text, "give each its own name")


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _keys(statement: ast.stmt) -> list[ast.expr]:
    value = statement.value if isinstance(statement, ast.Assign) else None
    return [key for key in value.keys if key is not None] if isinstance(value, ast.Dict) else []


def _same(node: ast.expr) -> object:
    """What is equal for expressions that mean the same: a name's text, else the node."""
    return node.id if isinstance(node, ast.Name) else node


def _updates(fetches: Iterable[Fetch]) -> list[Update]:
    """All that the operations which are fetched train, each once."""
    every = (one for fetch in fetches for one in (fetch.update, *fetch.also))
    return [one for one in dict.fromkeys(every) if one is not None]
