"""What stands around the steps of a session's program: savers, summaries and their writers."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import Scope, walk
from migrate_mgpu.api.graph import INITIALIZES, INITIALIZES_METRICS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.session.assignments import AssignmentReader
from migrate_mgpu.models.front.session.expressions import Expressions
from migrate_mgpu.models.front.session.graph_names import GraphNames
from migrate_mgpu.models.front.session.host_objects import (
    Dataset,
    EventWriter,
    Iterator,
    Saver,
    SaverCall,
)
from migrate_mgpu.models.front.session.origins import Whole, class_of, is_of_another
from migrate_mgpu.models.front.session.program import Meaning, SessionProgram, only_computes
from migrate_mgpu.models.front.session.runs import RunReader
from migrate_mgpu.models.front.session.savers import SaverReader
from migrate_mgpu.models.front.session.scope import Maker
from migrate_mgpu.models.front.session.summaries import SummaryReader

_EXISTS = "train.checkpoint_exists"


class DrivingReader:
    """Reads what is made beside the graph, and the calls of it in any statement."""

    def __init__(
        self, found: SessionProgram, graph: CallGraph, runs: RunReader, expressions: Expressions
    ) -> None:
        self.module = found.scope.module
        self.found = found
        self.runs = runs
        names = GraphNames(found, graph)
        self.savers = SaverReader(found, names, runs.meaning)
        self.summaries = SummaryReader(found, names, runs)
        self.assignments = AssignmentReader(found, runs, expressions)
        self._without_values: list[Maker] = []  # later sessions that restore nothing
        self._partly: dict[Maker, tuple[ast.Call, Saver]] = {}  # those that restore some
        self._looked_into: dict[ast.AST, bool] = {}  # functions that only give first values
        self._asked: set[Scope] = set()  # functions whose writer is looked for

    def made(self, statement: ast.Assign, target: ast.Name, call: ast.Call) -> Meaning | None:
        """What an assignment makes beside the graph; None where it is nothing of that.

        Raises:
            Refused: it is made in a way that is not understood.
        """
        if name_of(self.module, call) == "train.Saver":
            saver = self.savers.made(statement, target, call)
            self.found.savers.append(saver)
            return saver
        return self.summaries.writer(statement, call)

    def made_elsewhere(self, statement: ast.stmt) -> bool:
        """Whether a statement of other code makes a writer of summaries."""
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            return False
        return self.summaries.writer(statement, statement.value) is not None

    def saver_elsewhere(self, statement: ast.stmt, call: ast.Call, holder: str) -> bool:
        """Whether a statement of other code makes a saver of all that an object's graph has.

        ``holder`` is what the object is called there.

        Raises:
            Refused: it saves less than that.
        """
        assert isinstance(statement, ast.Assign)
        if any(one.statement is statement for one in self.found.savers):
            return True
        target = statement.targets[0]
        key = self.runs.key(target) if len(statement.targets) == 1 else None
        if key is None:
            return False
        name = target if isinstance(target, ast.Name) else ast.Name("saver")
        saver = replaced(self.savers.made(statement, name, call), holder=holder)
        if not self.savers.is_whole(saver):
            text = "what a saver saves that is made outside of the graph's constructor"
            raise Refused(self.module, call, text, "save all variables, or make it there")
        self.found.savers.append(saver)
        self.found.saved = self.found.saved or saver
        self.runs.made[key] = saver
        return True

    def _made_within(self, statement: ast.Assign) -> None:
        """A writer of summaries that is made anew in each turn of a loop, or in a branch."""
        if all(one.statement is not statement for one in self.found.event_writers):
            self.made_elsewhere(statement)

    def read(self, statement: ast.stmt) -> None:
        """Reads the calls in a statement, and explains the names in them.

        Raises:
            Refused: one is not understood.
        """
        self.assignments.read(statement)
        for inner in walk(statement):
            if inner is not statement and isinstance(inner, ast.Assign):
                self._made_within(inner)
        for call in walk(statement):
            if isinstance(call, ast.Call) and name_of(self.module, call) == _EXISTS:
                if len(call.args) != 1 or call.keywords:
                    raise Refused(
                        self.module, call, "which checkpoint this is cannot be determined"
                    )
                self.found.checkpoint_queries[call] = call.args[0]
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            receiver = call.func.value
            if not isinstance(receiver, (ast.Name, ast.Attribute)):
                continue
            writer = self.writer(receiver)
            if writer is not None:
                if all(one.call is not call for one in self.found.writer_calls):
                    self.summaries.called(call, writer)
                continue
            meaning = self.runs.meaning(receiver)
            if isinstance(meaning, Saver) and all(c.call is not call for c in self._calls):
                found = self.savers.called(call, meaning)
                if found.session is None:
                    self._calls.append(found)
                    self.runs.known |= {*walk(receiver)}
                    continue
                if not self.runs.is_session(found.session):
                    text = "it cannot be recognized as this program's session"
                    raise Refused(self.module, found.session, text)
                self._calls.append(found)
                self.runs.known |= {*walk(receiver), *walk(found.session)}
                if found.step is not None:
                    self.runs.known |= {*walk(found.step)}

    def writer(self, node: ast.Name | ast.Attribute) -> EventWriter | None:
        """The writer of summaries that a name or an attribute stands for."""
        found = self.runs.meaning(node)
        if isinstance(found, EventWriter):
            return found
        if isinstance(node, ast.Attribute):
            return self._kept_writer(node)
        names = self.module.names
        home = names.defining_scope(node.id, names.scope_of_name[node])
        for one in self.found.event_writers:
            target = one.statement.targets[0]
            if (
                home is not None
                and isinstance(target, ast.Name)
                and target.id == node.id
                and (names.defining_scope(node.id, names.scope_of_name[target]) is home)
            ):
                if not self.summaries.are_writers(home.bindings[node.id]):
                    text = f"`{node.id}` is also assigned elsewhere"
                    raise Refused(self.module, node, text, "give the two different names")
                return one
        return self._given_writer(home, node.id) if home is not None else None

    def _given_writer(self, home: Scope, name: str) -> EventWriter | None:
        """The writer that all calls of a function give its parameter."""
        if [one.kind for one in home.bindings[name]] != ["parameter"] or home in self._asked:
            return None
        self._asked.add(home)
        values = list(self.runs.origins.arguments_for(home.node, name))
        found = {
            self.writer(one) if isinstance(one, (ast.Name, ast.Attribute)) else None
            for one in values
        }
        self._asked.discard(home)
        return found.pop() if len(found) == 1 else None

    def _check_writer_calls(self) -> None:
        """All summaries that are written are seen to be, by writers that are known.

        Raises:
            Refused: one is written by what may be none of those.
        """
        known = {one.call for one in self.found.writer_calls}
        functions = self.found.functions
        for call in self.module.names.calls:
            func = call.func
            if not isinstance(func, ast.Attribute) or func.attr != "add_summary" or call in known:
                continue
            home = self.module.names.scope_at(call).function() or self.module.tree
            if home in functions and self.runs.origins.target(call) is None:
                text = f"what writer `{self.module.source.code(func.value)}` is is not seen"
                raise Refused(self.module, call, text, "make it where it is used")

    def _kept_writer(self, node: ast.Attribute) -> EventWriter | None:
        """The writer that a method gives its object: `self.writer = tf.summary.FileWriter(...)`."""
        owner = class_of(self.module, node)
        if owner is None and self.runs.origins.of(node.value) is Whole.OBJECT:
            owner = self.found.scope.owner
        stored = [
            one
            for one in self.module.names.attributes[node.attr]
            if not isinstance(one.ctx, ast.Load) and not is_of_another(self.module, one, owner)
        ]
        statement = self.module.names.parents.get(stored[0]) if len(stored) == 1 else None
        if owner is None or not isinstance(statement, ast.Assign):
            return None
        call = statement.value
        if class_of(self.module, stored[0]) is not owner or not isinstance(call, ast.Call):
            return None
        return self.summaries.writer(statement, call)

    def begins_alone(self, maker: ast.stmt) -> None:
        """A session that is the only one where it is made: TF2's variables have first values."""
        if isinstance(maker, ast.With) and isinstance(maker.items[0].optional_vars, ast.Name):
            self._is_above_runs(maker.body)

    def _is_above_runs(self, body: Sequence[ast.stmt]) -> bool:
        """Whether statements do nothing with a session but giving first values."""
        for statement in body:
            if isinstance(statement, ast.If) and not self._uses_session(statement.test):
                arms = [self._is_above_runs(arm) for arm in (statement.body, statement.orelse)]
                if not all(arms):
                    return False
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                ran = statement.value in self.runs.calls(statement)
                if ran and self.runs.initializes(statement.value):
                    self.runs.anew.add(statement.value)
                elif self._runs_something(statement, statement.value):
                    return False
            elif self._runs_something(statement, getattr(statement, "value", None)):
                return False
        return True

    def _runs_something(self, statement: ast.stmt, value: ast.expr | None) -> bool:
        """Whether a statement does something with a session, or calls what does."""
        if not self._uses_session(statement):
            return False
        target = self.runs.origins.target(value) if isinstance(value, ast.Call) else None
        if not isinstance(value, ast.Call) or target is None or target.module is not self.module:
            return True
        if any(self._uses_session(one) for one in self._but_sessions(value)):
            return True
        key = target.node
        if key not in self._looked_into:
            self._looked_into[key] = False  # ends recursion
            self._looked_into[key] = self._is_above_runs(target.node.body)
        return not self._looked_into[key]

    def _but_sessions(self, call: ast.Call) -> list[ast.expr]:
        """What a call is given besides a session."""
        given = (*call.args, *(keyword.value for keyword in call.keywords))
        return [one for one in given if self.runs.origins.of(one) is not Whole.SESSION]

    def _uses_session(self, node: ast.AST) -> bool:
        """Whether something is done with a session, or with what knows its values."""
        parts = [part for part in walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
        known = any(self.runs.origins.of(part) is Whole.SESSION for part in parts)
        runs = isinstance(node, ast.stmt) and bool(self.runs.calls(node))
        return known or runs or any(getattr(part, "attr", "") == "restore" for part in parts)

    def begins_again(self, maker: Maker) -> None:
        """A later session has the values of a checkpoint from the first thing on that it runs.

        One that initializes and restores nothing is looked at in the end, with what it runs.

        Raises:
            Refused: it may have others.
        """
        known = {*self.runs.anew}
        if self.found.metrics:
            text = "a later session begins its metrics anew"
            raise Refused(self.module, maker, text, "give the program one session")
        for statement in self.found.scope.inside(maker):
            calls = self.runs.calls(statement)
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                call = statement.value
                if call in calls and self._initializes(call, maker):
                    self.runs.anew.add(call)
                    continue
                receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
                saver = self.runs.meaning(receiver) if receiver is not None else None
                if isinstance(saver, Saver) and self.savers.called(call, saver).kind == "restore":
                    if not self.savers.is_whole(saver):
                        self._partly[maker] = call, saver
                    return
            if calls:
                break
        if self.runs.anew > known:
            if maker not in self.found.scope.again:
                self._refuse_values(maker)
            self.runs.of_new_sessions |= self.runs.anew - known
            self.runs.anew = known
            return
        self._without_values.append(maker)

    def _initializes(self, call: ast.Call, maker: Maker) -> bool:
        """Whether a call of a session gives the variables first values, by a name made there."""
        if self.runs.initializes(call):
            return True
        run = call.args[0] if call.args else None
        inside = self.found.scope.inside(maker)
        made = [one for one in inside if isinstance(one, ast.Assign)]
        return isinstance(run, ast.Name) and any(
            isinstance(target, ast.Name)
            and target.id == run.id
            and name_of(self.module, one.value) in INITIALIZES - {*INITIALIZES_METRICS}
            for one in made
            for target in one.targets
        )

    def _refuse_values(self, maker: Maker) -> None:
        text = "a later session starts without restoring a checkpoint"
        raise Refused(self.module, maker, text, "restore one before anything runs")

    def _check_partly(self, maker: Maker, restored: ast.Call, saver: Saver) -> None:
        """A session that restores some variables needs no others.

        Raises:
            Refused: it may, or does more than computing.
        """
        text = "a later session restores some of the variables alone"
        refused = Refused(self.module, restored, text, "save and restore all of them")
        calls = self._calls_inside(maker) - {restored}
        others: set[ast.AST] = {call for call, _ in self.found.all_client_calls()}
        if calls & (others | self.runs.assigned | {one.call for one in self._calls}):
            raise refused
        saved = {id(named) for _, named in saver.saved}
        for run in self.found.runs:
            if run.call not in calls:
                continue
            units, step = run.step.units, run.step
            read = {one for unit in units for one in (*unit.reads, *unit.collects)}
            acts = step.updates or step.moves or any(unit.assigns for unit in units)
            if acts or any(fetch.value is None for fetch in run.fetches):
                raise refused
            if any(id(named) not in saved for one in read for named in self.savers.names.of(one)):
                raise refused

    def _check_without_values(self, maker: Maker) -> None:
        """A session without values of the variables is one that only computes with Python's own.

        Raises:
            Refused: it does something with variables, with what draws, or in other functions.
        """
        calls = self._calls_inside(maker)
        others: set[ast.AST] = {call for call, _ in self.found.all_client_calls()}
        others |= self.runs.assigned | self.runs.gone
        others |= {one.call for one in self._calls}
        others |= {one.call for one in self.found.writer_calls}
        if calls & others:
            self._refuse_values(maker)
        for run in self.found.runs:
            if run.call not in calls:
                continue
            step = run.step
            known = all(fetch.value is not None or fetch.computed for fetch in run.fetches)
            if step.updates or step.moves or not known:
                self._refuse_values(maker)
            for unit in step.units:
                if not only_computes(self.module, unit):
                    self._refuse_values(maker)

    def _calls_inside(self, maker: Maker) -> set[ast.Call]:
        """The calls that stand in a later session."""
        inside = self.found.scope.inside(maker)
        return {node for one in inside for node in walk(one) if isinstance(node, ast.Call)}

    @property
    def _calls(self) -> list[SaverCall]:
        return self.found.saver_calls

    def finish(self) -> None:
        """Each mention of what stands around the steps is one that is understood.

        Raises:
            Refused: one is not.
        """
        self.assignments.finish()
        for maker in self._without_values:
            self._check_without_values(maker)
        for maker, (restored, saver) in self._partly.items():
            self._check_partly(maker, restored, saver)
        for owner, attribute in self.runs.made:
            for node in self.module.names.attributes.get(attribute, ()):
                if not isinstance(owner, ast.ClassDef) or node in self.runs.known:
                    continue
                if isinstance(node.ctx, ast.Load) and isinstance(self.runs.meaning(node), Saver):
                    text = f"`{self.module.source.code(node)}` is used for more than saving"
                    raise Refused(self.module, node, f"{text} and restoring")
        followed = (Saver, Dataset, Iterator, EventWriter)
        meanings = self.runs.meanings.values()
        elsewhere = self.found.event_writers or self.runs.made
        if not elsewhere and not any(isinstance(m, followed) for m in meanings):
            return
        handed: set[ast.AST] = {
            argument
            for call, _ in self.found.all_client_calls()
            for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        }
        handed |= {part for one in self.found.exports for part in walk(one) if part is not one}
        self._check_kept_writers()
        self._check_writer_calls()
        for name in self.module.names.scope_of_name:
            if isinstance(name.ctx, ast.Load) and name not in self.runs.known:
                if name in handed:
                    continue
                if isinstance(self.runs.meaning(name), Saver):
                    text = f"`{name.id}` is used for more than saving and restoring"
                    raise Refused(self.module, name, text)
                if isinstance(self.runs.meaning(name), (Dataset, Iterator)):
                    text = f"`{name.id}` is used for more than drawing batches in steps"
                    raise Refused(self.module, name, text)
                if self.writer(name) is not None and not self.asks_for(name):
                    text = f"`{name.id}` is used for more than writing summaries"
                    raise Refused(self.module, name, text)

    def _check_kept_writers(self) -> None:
        """Writers that objects have are used for nothing but writing.

        Raises:
            Refused: one is.
        """
        targets = [one.statement.targets[0] for one in self.found.event_writers]
        for target in targets:
            if not isinstance(target, ast.Attribute):
                continue
            for node in self.module.names.attributes[target.attr]:
                if not isinstance(node.ctx, ast.Load) or node in self.runs.known:
                    continue
                if self._kept_writer(node) is not None and not self.asks_for(node):
                    text = f"`{self.module.source.code(node)}` is used for more than writing"
                    raise Refused(self.module, node, f"{text} summaries")

    def asks_for(self, name: ast.Name | ast.Attribute) -> bool:
        """Whether a mention only asks if there is a writer: `if writer:`, `writer is None`."""
        parent = self.module.names.parents[name]
        if self.writer(name) is None:
            return False
        if isinstance(parent, ast.Compare):
            return all(isinstance(one, (ast.Is, ast.IsNot)) for one in parent.ops)
        return isinstance(parent, (ast.If, ast.IfExp)) and parent.test is name
