"""Summaries of a session's program, what merges them, and the writers of event files."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments, by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import Binding, statement_value, walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.summaries import (
    ADD_SUMMARY,
    FILE_WRITER,
    MERGE,
    MERGE_ALL,
    SUMMARIES,
    clean_tag,
)
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.session.graph_collections import COLLECTION
from migrate_mgpu.models.front.session.graph_names import GraphNames
from migrate_mgpu.models.front.session.helper_calls import summaries_in, summarized
from migrate_mgpu.models.front.session.host_objects import (
    EventWriter,
    HelperVariable,
    Merge,
    NamedVariable,
    Summary,
    TowerSummary,
    WriterCall,
)
from migrate_mgpu.models.front.session.names_in_functions import operation_names
from migrate_mgpu.models.front.session.program import (
    Gradients,
    Holds,
    MadeLayer,
    Meaning,
    SessionProgram,
    SummaryList,
)
from migrate_mgpu.models.front.session.runs import RunReader
from migrate_mgpu.models.front.session.savers import keep_names
from migrate_mgpu.models.front.towers.loop import scope_of_towers
from migrate_mgpu.models.front.towers.summary_names import (
    TowerScope,
    check_free,
    check_label,
    is_label,
    is_plain_text,
    scope_of,
)
from migrate_mgpu.models.ir import Gathered, ShownGradients, Stage, Unit, Update

_EVERY = ("trainable_variables", "global_variables", "all_variables")
_WRITER_CALLS = ("add_summary", "add_graph", "flush", "close")
_GRAPHS = ("get_default_graph",)
_NO_TAG = ("TF1's tag of a summary cannot be determined", "write it as a constant")


class SummaryReader:
    """Reads what makes summaries; ``takes`` are the expressions that a call of them takes in."""

    def __init__(self, found: SessionProgram, names: GraphNames, runs: RunReader) -> None:
        self.found = found
        self.module = found.scope.module
        self.names = names
        self.runs = runs
        self.takes: dict[ast.Call, tuple[ast.expr, ...]] = {}
        self._values: dict[Summary, dict[str, Meaning | None]] = {}
        self._made: dict[Summary, tuple[Summary, ...]] = {}  # by what stands for them
        self._each: dict[str, Gathered] = {}  # values of all towers, by the name in each

    # -- summaries ------------------------------------------------------------------

    def stated(self, statement: ast.stmt) -> bool:
        """Reads a statement that makes summaries and gives them no name; False for others.

        Raises:
            Refused: TF1's tag of one cannot be determined.
        """
        told = self._told(statement)
        if told is not None:
            call, listed = told
            self._add(call, statement, listed=listed)
            return True
        return isinstance(statement, ast.For) and (
            self._goes_through_variables(statement) or self._goes_through_gradients(statement)
        )

    def _told(
        self, statement: ast.stmt, named: Mapping[str, ast.Call] | None = None
    ) -> tuple[ast.Call, SummaryList | None] | None:
        """The summary that a statement makes, perhaps for a list that is merged later.

        ``named`` are those that have names.
        """
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call):
            return None
        if self._is_summary(call):
            return call, None
        func, (given, *more) = call.func, call.args or [call]
        if not isinstance(func, ast.Attribute) or func.attr not in ("append", "add") or more:
            return None
        listed = self.runs.meaning(func.value) if isinstance(func.value, ast.Name) else None
        if isinstance(given, ast.Name) and named is not None:
            given = named.get(given.id, given)
        if not isinstance(listed, SummaryList) or not self._is_summary(given):
            return None
        assert isinstance(given, ast.Call)
        return given, listed

    def lists(self, value: ast.expr, target: ast.Name) -> SummaryList | None:
        """`tf.get_collection(tf.GraphKeys.SUMMARIES)`, or an empty list that summaries are put in.

        Raises:
            Refused: it asks for those of a scope.
        """
        if isinstance(value, ast.List):
            mentions = self.module.names.mentions(
                target.id, self.module.names.scopes[self.found.scope.node]
            )
            filled = any(self._is_filled(name) for name in mentions)
            return SummaryList([]) if filled and not value.elts else None
        if isinstance(value, ast.Call) and len(value.args) == 1:
            if self.module.names.qualname(value.func) == "builtins.set":
                value = value.args[0]
        if not isinstance(value, ast.Call) or name_of(self.module, value) != "get_collection":
            return None
        given = by_parameter(value, COLLECTION)
        key = given.get("key")
        if name_of(self.module, key) != "GraphKeys.SUMMARIES" and constant(key) != "summaries":
            return None
        scope, towers = given.get("scope", ast.Constant(None)), self.found.scope.towers
        if is_none(scope) and towers is None:
            return SummaryList([*self.found.summaries])
        block = scope_of_towers(self.module, towers, scope) if towers is not None else None
        if block is None or not isinstance(scope, ast.Name):
            text = "which summaries are asked for cannot be determined"
            raise Refused(self.module, value, text, "ask for those of the last tower's scope")
        own = [one for one in self.found.summaries if is_inside(self.module, one.call, {block})]
        for one in own:
            if one.tower is not None and one.tower.first:
                text = (
                    "the last tower's summaries are asked for, and one is made by the first alone"
                )
                raise Refused(self.module, one.call, text, "make it in each tower")
        return SummaryList(own)

    def _is_filled(self, name: ast.Name) -> bool:
        """`summaries.append(tf.summary.scalar("loss", loss))`, of which one may have a name."""
        names = self.module.names
        func = names.parents.get(name)
        call = names.parents.get(func) if isinstance(func, ast.Attribute) else None
        return isinstance(call, ast.Call) and any(
            self._is_summary(names.only_value(one) if isinstance(one, ast.Name) else one)
            for one in call.args
        )

    def _is_summary(self, node: ast.AST | None) -> bool:
        return isinstance(node, ast.Call) and name_of(self.module, node) in SUMMARIES.by_name

    def named(self, statement: ast.Assign, call: ast.Call) -> bool:
        """Whether an assignment makes a summary or merges some, which is a unit then."""
        name = name_of(self.module, call)
        if self._is_summary(call):
            if self._in_tower(statement):
                text = "each tower has a summary of its own here, by a name"
                raise Refused(self.module, call, text, "make it after the towers")
            self._add(call, statement)
        elif name == "summary.merge_all":
            given = NamedArguments(self.module, call, MERGE_ALL).rest
            for key, value in given.items():
                if key != "name":
                    raise Refused(self.module, value, f"`{key}` of merged summaries")
            self._merge(statement, call, tuple(self.found.summaries))
        elif name == "summary.merge":
            given = NamedArguments(self.module, call, MERGE).rest
            inputs = given.get("inputs")
            listed = self._listed(inputs)
            if listed is not None and given.keys() <= {"inputs", "name"}:
                self._merge(statement, call, tuple(listed.summaries))
                self.found.summarizing.add(statement)
                return True
            if not isinstance(inputs, (ast.List, ast.Tuple)) or not is_none(
                given.get("collections", ast.Constant(None))
            ):
                raise Refused(self.module, call, "which summaries are merged cannot be determined")
            for part in inputs.elts:
                if self._is_summary(part):
                    assert isinstance(part, ast.Call)
                    self._add(part, statement)
                elif not isinstance(part, ast.Name):
                    raise Refused(self.module, part, "what is merged here cannot be determined")
            self.takes[call] = (inputs,)
        else:
            return False
        self.found.summarizing.add(statement)
        return True

    def _listed(self, node: ast.expr | None) -> SummaryList | None:
        """The list that a name stands for, or a copy of it."""
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            copied = self.module.names.qualname(node.func) == "builtins.list"
            return self._listed(node.args[0]) if copied else None
        found = self.runs.meaning(node) if isinstance(node, ast.Name) else None
        return found if isinstance(found, SummaryList) else None

    def _add(
        self,
        call: ast.Call,
        statement: ast.stmt,
        variable: NamedVariable | None = None,
        listed: SummaryList | None = None,
        gradients: ShownGradients | None = None,
        index: int = 0,
    ) -> Summary:
        row = SUMMARIES.by_name[name_of(self.module, call)]
        in_tower = self._in_tower(statement)
        given = NamedArguments(self.module, call, row.signature).rest
        for parameter in row.parameters:
            value = given.get(parameter.name)
            if parameter.only and value is not None and not is_none(value):
                raise Refused(self.module, value, f"`{parameter.name}` of a summary")
        first = row.parameters[0].name
        told = given.get(first)
        if told is None:
            raise Refused(self.module, call, "this summary has no name")
        behind = self._behind_scope(statement, told) if in_tower else ""
        label = self._label(statement, told) if in_tower and not behind else None
        tower: TowerSummary | None = None
        if label is not None:
            own, tag = label
            tower = TowerSummary(own, around=self._around_towers(), label=True)
            name = tag
        elif in_tower:
            name = behind or self._name(told, variable)
            scope, towers = self._tower_scope(statement), self.found.scope.towers
            assert towers is not None
            around = self._around_towers()
            if behind and (around or scope.path or not is_plain_text(scope.own)):
                raise Refused(self.module, told, *_NO_TAG)
            tower = TowerSummary(
                scope.own, first=bool(scope.first), again=bool(behind), around=around
            )
            tag = (around if scope.first else "") + scope.path + clean_tag(name)
            check_free(
                self.names.modules, self.module, towers, scope, told, clean_tag(name),
                self.names.may_run,
            )  # fmt: skip
        else:
            name = self._name(told, variable)
            tag = self.names.fresh(statement, clean_tag(name), variable is not None)
        self._check_tag(tag, self.module, told)
        values = {key: value for key, value in given.items() if key != first}
        values = {key: value for key, value in values.items() if not is_none(value)}
        summary = Summary(row.kind, tag, call, statement, values, variable, gradients, index, tower)
        if gradients is None:
            self._keep(summary, listed)
        if variable is None:
            self.takes[call] = tuple(values.values())
            self._values[summary] = self._meanings(summary)
        return summary

    def _in_tower(self, node: ast.AST) -> bool:
        """Whether something stands in the loop that builds towers."""
        towers = self.found.scope.towers
        return towers is not None and is_inside(self.module, node, {towers.loop})

    def _tower_scope(self, statement: ast.stmt) -> TowerScope:
        """The scope of a statement in a tower.

        Raises:
            Refused: it is not known.
        """
        scope = self.found.scope
        assert scope.towers is not None
        first = any(one.first and one.statement is statement for one in scope.entries)
        return scope_of(self.module, scope.towers, statement, first)

    def _around_towers(self) -> str:
        """The names of the scopes around the loop that builds towers."""
        towers = self.found.scope.towers
        return self.names.scope_around(towers.loop) if towers is not None else ""

    def _label(self, statement: ast.stmt, told: ast.expr) -> tuple[ast.expr, str] | None:
        """The text that begins a summary's name and tells its tower by the number, and the rest.

        `label + '_loss'`, where `label = 'gpu_%d' % i` stands in the loop; None for another.

        Raises:
            Refused: something else may have the name.
        """
        towers = self.found.scope.towers
        assert towers is not None
        rest: object = ""
        own = told
        if isinstance(told, ast.BinOp) and isinstance(told.op, ast.Add):
            own, rest = told.left, constant(told.right)
        if isinstance(own, ast.Name):
            own = self.module.names.only_value(own) or own
        first = any(one.first and one.statement is statement for one in self.found.scope.entries)
        if first or not isinstance(rest, str) or not is_label(self.module, towers, own):
            return None
        check_label(self.names.modules, self.module, towers, own, statement, told)
        return own, clean_tag(rest)

    def _of_all(self, summary: Summary) -> Summary:
        """A summary of each tower, with the list of their values.

        Raises:
            Refused: it tells of more than one value of a tower's, or of a part of a batch.
        """
        assert summary.tower is not None
        names = {n.id: n for v in summary.values.values() for n in walk(v)
                 if isinstance(n, ast.Name)}  # fmt: skip
        units = {name: self.runs.meaning(node) for name, node in names.items()}
        own = [(n, u) for n, u in units.items() if isinstance(u, Unit) and u.stage is Stage.TOWER]
        if len(own) != 1:
            text = "a summary in a tower is not of one value that the tower computes"
            raise Refused(self.module, summary.call, text, "give it a name before")
        ((name, unit),) = own
        assert isinstance(unit, Unit)
        if name not in self._each:
            home = self.module.names.scopes[self.found.scope.node]
            plural = f"{name}es" if name.endswith("ss") else f"{name}s"
            listed = self.module.names.fresh(home, plural, f"{name}_values", f"tower_{plural}")
            self._each[name] = Gathered(
                summary.statement, unit.place, (unit,), stage=Stage.COMBINED, name=listed,
                value=names[name],
            )  # fmt: skip
        return replaced(summary, tower=replaced(summary.tower, each=self._each[name]))

    def _keep(self, summary: Summary, listed: SummaryList | None) -> None:
        self.found.summaries.append(summary)
        if listed is not None:
            listed.summaries.append(summary)

    def in_function(self, made: MadeLayer) -> None:
        """The summaries of a function whose call makes a layer: of its variables, of its value.

        Raises:
            Refused: TF1's tag of one cannot be determined, or the value has no name.
        """
        helper, statement = made.found.helper, made.variables.unit
        if helper is None:
            return
        module = helper.function.module
        tags: dict[ast.Call, str | None] = {}
        for summary in summaries_in(helper.function):
            call = summary.value
            assert isinstance(call, ast.Call) and isinstance(statement, ast.stmt)
            tags = tags or self.names.inside(statement, helper.call)
            tag = tags[call]
            if tag is None:
                text = "TF1's tag of a summary cannot be determined"
                raise Refused(module, call, text, "give the function a name that is a constant")
            self._check_tag(tag, module, call)
            row = SUMMARIES.by_name[name_of(module, call)]
            variable = summarized(helper.function, summary, self.names.graph)
            named = None
            if variable is not None:
                named = NamedVariable(tag, made.variables, HelperVariable((variable,)))
            value = self._given_name(statement, helper.call) if named is None else call
            told = Summary(row.kind, tag, call, summary, {row.parameters[1].name: value}, named)
            self.found.summaries.append(told)
            if named is None:
                self._values[told] = self._meanings(told)

    def _given_name(self, statement: ast.stmt, call: ast.Call) -> ast.Name:
        """A mention of the name that a statement gives what a call computes."""
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and statement_value(statement) is call:
            for name in self.module.names.mentions(
                target.id, self.module.names.scopes[self.found.scope.node]
            ):
                if isinstance(name.ctx, ast.Load):
                    return name
        raise Refused(self.module, call, "a summary in a function whose value gets no name here")

    def _check_tag(self, tag: str, module: Module, told: ast.AST) -> None:
        last = tag.rpartition("/")[2]
        if last.lower() in self._operations:
            text = f"TF1's tag of `{last}` cannot be determined: an operation may have that name"
            raise Refused(module, told, text, "give the summary another name")

    def _name(self, node: ast.expr, variable: NamedVariable | None) -> str:
        known = constant(node)
        if isinstance(known, str) and known:
            return known
        if variable is not None:
            text = _text(node, variable.name)
            if text:
                return text
        raise Refused(self.module, node, *_NO_TAG)

    def _behind_scope(self, statement: ast.stmt, told: ast.expr) -> str:
        """The text behind the scope of a tower in a name, `scope + "_loss"`; empty of another."""
        if not isinstance(told, ast.BinOp) or not isinstance(told.op, ast.Add):
            return ""
        towers, text = self.found.scope.towers, constant(told.right)
        block = scope_of_towers(self.module, towers, told.left) if towers is not None else None
        around = self.module.names.ancestors(statement)
        inside = isinstance(told.left, ast.Name) and block is not None and block in around
        return text if inside and isinstance(text, str) and text[:1] != "/" else ""

    @cached_property
    def _operations(self) -> set[str]:
        return operation_names(self.module)

    def _meanings(self, summary: Summary) -> dict[str, Meaning | None]:
        return {
            name.id: self._valued(self.runs.meaning(name))
            for value in summary.values.values()
            for name in walk(value)
            if isinstance(name, ast.Name)
        }

    def _valued(self, meaning: Meaning | None) -> Meaning | None:
        """What gives a name its value: `x.set_shape(...)` leaves that as it is."""
        while isinstance(meaning, Unit) and meaning in self.found.shaped:
            meaning = self.found.shaped[meaning]
        return meaning

    def _goes_through_variables(self, loop: ast.For) -> bool:
        """`for var in tf.trainable_variables(): tf.summary.histogram(var.op.name, var)`"""
        every, target = loop.iter, loop.target
        if not isinstance(every, ast.Call) or name_of(self.module, every) not in _EVERY:
            return False
        if every.args or every.keywords or loop.orelse or not isinstance(target, ast.Name):
            return False
        told = [self._told(one) for one in loop.body]
        calls = [one for one in told if one is not None]
        if len(calls) != len(told):
            return False
        trained = name_of(self.module, every) == "trainable_variables"
        for variables in self.found.variables:
            if trained and not variables.trainable:
                continue
            for named in self.names.of(variables):
                if trained and not named.trained:
                    continue
                for call, listed in calls:
                    self._of_each(call, loop, target, named, listed)
        return True

    def _goes_through_gradients(self, loop: ast.For) -> bool:
        """`for grad, var in grads: tf.summary.histogram(var.op.name + '/gradients', grad)`

        The gradients may be None where that is asked for.
        """
        pairs = self.runs.meaning(loop.iter) if isinstance(loop.iter, ast.Name) else None
        names = loop.target.elts if isinstance(loop.target, ast.Tuple) else []
        if not isinstance(pairs, Gradients) or pairs.holds is not Holds.PAIRS or loop.orelse:
            return False
        if len(names) != 2 or not all(isinstance(name, ast.Name) for name in names):
            return False
        gradient, variable = (ast.unparse(name) for name in names)
        body, first = loop.body, loop.body[0]
        if isinstance(first, ast.If) and len(body) == 1 and not first.orelse:
            body = first.body if ast.unparse(first.test) == f"{gradient} is not None" else body
        calls = self._told_by_name(body)
        if calls is None:
            return False
        towers = self.found.scope.towers is not None
        if pairs.clips or pairs.tower_clips or towers != (pairs.combined is not None):
            text = "a summary tells of gradients that are clipped, or of one tower's"
            raise Refused(self.module, loop, text)
        place = next(i for i, one in enumerate(self.found.scope.entries) if one.statement is loop)
        shown = ShownGradients(
            loop,
            place,
            (pairs.unit,),
            stage=Stage.COMBINED if towers else Stage.WHOLE,
            computed=pairs.node,
        )
        for call, listed in calls:
            row = SUMMARIES.by_name[name_of(self.module, call)]
            given = NamedArguments(self.module, call, row.signature).rest
            value = given.get(row.parameters[1].name)
            if value is None or not self._is_of(value, gradient) or len(given) != 2:
                raise Refused(self.module, call, "a gradient's summary is not of its value")
            told_name = given[row.parameters[0].name]
            own = {n.id for n in walk(told_name) if isinstance(n, ast.Name)}
            if own != {variable}:
                raise Refused(self.module, told_name, "TF1's tag of a summary cannot be determined")
            self._keep(Summary(row.kind, "", call, loop, {}, None, shown), listed)
        return True

    def _is_of(self, value: ast.expr, name: str) -> bool:
        """Whether a value is what a name stands for, or computed of that and of numbers."""
        if isinstance(value, ast.Call):
            computes = name_of(self.module, value) in COMPUTES and not value.keywords
            return computes and all(self._is_of(one, name) for one in value.args)
        return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id == name)

    def _told_by_name(
        self, body: Sequence[ast.stmt]
    ) -> list[tuple[ast.Call, SummaryList | None]] | None:
        """The summaries of a loop's turn, which may have names before they are put in a list.

        None where a statement does something else.
        """
        found: list[tuple[ast.Call, SummaryList | None]] = []
        named: dict[str, ast.Call] = {}
        for one in body:
            target = one.targets[0] if isinstance(one, ast.Assign) else None
            if isinstance(one, ast.Assign) and isinstance(target, ast.Name):
                home = self.module.names.scopes[self.found.scope.node]
                mentions = self.module.names.mentions(target.id, home)
                if len(one.targets) > 1 or not self._is_summary(one.value) or len(mentions) != 2:
                    return None
                assert isinstance(one.value, ast.Call)
                named[target.id] = one.value
                continue
            told = self._told(one, named)
            if told is None:
                return None
            found.append(told)
        return found if {*named.values()} <= {call for call, _ in found} else None

    def _apart(self, summary: Summary) -> tuple[Summary, ...]:
        """Those that a summary stands for: a loop over gradients makes each once, with one tag."""
        if summary not in self._made:
            every = self._of_gradients(summary) if summary.gradients else (summary,)
            self._made[summary] = tuple(every)
        return self._made[summary]

    def _of_gradients(self, summary: Summary) -> Iterator[Summary]:
        """The summaries of all gradients, by the variables that an update trains with them.

        Raises:
            Refused: none does, or a clipped loss of towers.
        """
        assert summary.gradients is not None
        computed = summary.gradients.computed
        update = next((one for one in self.found.updates if one.computed is computed), None)
        if update is None or computed is None:
            text = "a summary tells of gradients that no step applies"
            raise Refused(self.module, summary.call, text)
        if self.found.scope.towers is not None and (update.clips or update.tower_clips):
            text = "a summary tells of the towers' gradients, which are clipped later"
            raise Refused(self.module, summary.call, text)
        every = (one for some in update.variables for one in self.names.with_loops(some))
        named = tuple(one for one in every if one.trained and one.used)
        if any(one.rounds is not None for one in named):
            yield self._of_all_gradients(summary, update, named)
            return
        self.found.differentiated[update] = named
        for index, variable in enumerate(named):
            yield self._add(
                summary.call, summary.statement, variable, None, summary.gradients, index
            )

    def _of_all_gradients(
        self, summary: Summary, update: Update, named: tuple[NamedVariable, ...]
    ) -> Summary:
        """One that stands for those of all gradients, where a run knows the names of some.

        Raises:
            Refused: TF1's tag of one is not told by the name of its variable alone.
        """
        keep_names(self.found, self.names, update)
        call, statement = summary.call, summary.statement
        row = SUMMARIES.by_name[name_of(self.module, call)]
        given = NamedArguments(self.module, call, row.signature).rest
        told = given.pop(row.parameters[0].name)
        around: set[tuple[str, str]] = set()
        for one in named:
            rounds = one.rounds
            for name in [one.name] if rounds is None else rounds.names:
                name = name if rounds is None else f"{rounds.marker}/{name}"
                tag = clean_tag(_text(told, name))
                full = self.names.fresh(statement, tag, of_variable=True)
                before, _, behind = full.partition(name)
                if not tag.startswith(name) or not full.endswith(tag):
                    raise Refused(self.module, told, *_NO_TAG)
                self._check_tag(full, self.module, told)
                around.add((before, behind))
        if len(around) != 1:
            raise Refused(self.module, told, *_NO_TAG)
        return replaced(summary, values=given, around=around.pop())

    def _of_each(
        self,
        call: ast.Call,
        loop: ast.For,
        target: ast.Name,
        named: NamedVariable,
        listed: SummaryList | None,
    ) -> None:
        row = SUMMARIES.by_name[name_of(self.module, call)]
        given = NamedArguments(self.module, call, row.signature).rest
        value = given.get(row.parameters[1].name)
        if not isinstance(value, ast.Name) or value.id != target.id or len(given) != 2:
            raise Refused(self.module, call, "a variable's summary is not of its value")
        self._add(call, loop, named, listed)

    # -- what merges them --------------------------------------------------------------

    def _merge(self, statement: ast.Assign, call: ast.Call, summaries: tuple[Summary, ...]) -> None:
        if not summaries:
            raise Refused(self.module, call, "no summaries are merged here")
        if self._in_tower(statement):
            raise Refused(self.module, call, "each tower merges summaries")
        for summary in summaries:
            if summary.variable is None and self._meanings(summary) != self._values.get(
                summary, {}
            ):
                text = "the value of a summary has a different name where summaries are merged"
                raise Refused(self.module, summary.call, text, "give each value one name")
        every = name_of(self.module, call) == "summary.merge_all"
        summaries = tuple(
            self._of_all(one) if one.tower and (every or one.tower.first) else one
            for one in summaries
        )
        summaries = tuple(one for summary in summaries for one in self._apart(summary))
        self.takes[call] = tuple(value for one in summaries for value in one.taken)
        self.found.merges[call] = Merge(statement, summaries)

    # -- writers ------------------------------------------------------------------------

    def writer(self, statement: ast.Assign, call: ast.Call) -> EventWriter | None:
        """`writer = tf.summary.FileWriter(folder, sess.graph)`; None for another call.

        Raises:
            Refused: it is made in a way that is not understood.
        """
        if name_of(self.module, call) != "summary.FileWriter":
            return None
        for one in self.found.event_writers:
            if one.statement is statement:
                return one
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, (ast.Name, ast.Attribute)):
            raise Refused(self.module, call, "a summary writer that is not assigned to a name")
        given = NamedArguments(self.module, call, FILE_WRITER).rest
        for key, value in given.items():
            known = key in ("logdir", "graph", "graph_def", "max_queue", "flush_secs")
            if not known and not is_none(value):
                raise Refused(self.module, value, f"`{key}` of a writer of summaries")
        graph = given.get("graph", given.get("graph_def"))
        if graph is not None and not is_none(graph):
            self._graph(graph)
        gone = tuple(key for key in given if key not in ("logdir", "max_queue"))
        name = self.module.source.code(target)
        made = EventWriter(name, statement, call, graph is not None and not is_none(graph), gone)
        self.found.event_writers.append(made)
        return made

    def are_writers(self, bindings: Sequence[Binding]) -> bool:
        """Whether a name is given writers alone: one anew in each turn of a loop, say."""
        values = [binding.value for binding in bindings]
        calls = [value for value in values if isinstance(value, ast.Call)]
        made = all(name_of(self.module, call) == "summary.FileWriter" for call in calls)
        return made and len(calls) == len(values)

    def only_graph(self, statement: ast.stmt) -> bool:
        """Whether a statement does nothing but writing the graph to a file, perhaps if asked to.

        Raises:
            Refused: it is not seen to be the program's graph.
        """
        if isinstance(statement, ast.If):
            asked = isinstance(statement.test, (ast.Name, ast.Attribute)) and not statement.orelse
            return asked and all(map(self.only_graph, statement.body))
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or name_of(self.module, call) != "summary.FileWriter":
            return False
        given = NamedArguments(self.module, call, FILE_WRITER).rest
        if set(given) != {"logdir", "graph"}:
            return False
        self._graph(given["graph"])
        self.found.graph_files.append(statement)
        return True

    def _graph(self, node: ast.expr) -> None:
        """`sess.graph` and `tf.get_default_graph()` are all that there is.

        Raises:
            Refused: it is something else.
        """
        if isinstance(node, ast.Attribute) and node.attr in ("graph", "graph_def"):
            if self.runs.is_session(node.value):
                self.runs.known |= set(walk(node))
                return
        if isinstance(node, ast.Call) and name_of(self.module, node) in _GRAPHS:
            self.found.graphs.add(node)
            return
        raise Refused(self.module, node, "this cannot be recognized as the program's graph")

    def called(self, call: ast.Call, writer: EventWriter) -> None:
        """A call of a writer.

        Raises:
            Refused: it has no form in TF2.
        """
        func = call.func
        assert isinstance(func, ast.Attribute)
        statement = self.module.names.statement(call)
        if func.attr not in _WRITER_CALLS or not isinstance(statement, ast.Expr):
            text = f"`{self.module.source.code(func)}` has no form in TF2"
            raise Refused(self.module, call, text)
        if statement.value is not call:
            raise Refused(self.module, call, "what this gives is None, and is used")
        if func.attr == "add_summary":
            given = NamedArguments(self.module, call, ADD_SUMMARY).rest
            if "summary" not in given:
                raise Refused(self.module, call, "what is written here cannot be determined")
        elif func.attr == "add_graph":
            given = NamedArguments(self.module, call, ("graph", "global_step", "graph_def")).rest
            if set(given) != {"graph"}:
                raise Refused(self.module, call, "which graph is written cannot be determined")
            self._graph(given["graph"])
        elif call.args or call.keywords:
            raise Refused(self.module, call, "the arguments of this call cannot be analyzed")
        self.found.writer_calls.append(WriterCall(call, statement, writer, func.attr, func.value))
        self.runs.known |= {*walk(func.value)}


def _text(node: ast.expr, name: str) -> str:
    """A text that is made of a variable's name: `var.op.name + '/gradients'`; empty for others."""
    known = constant(node)
    if isinstance(known, str):
        return known
    if isinstance(node, ast.Attribute):
        shown = ast.unparse(node).partition(".")[2]
        return name + (":0" if shown == "name" else "") if shown in ("name", "op.name") else ""
    if isinstance(node, ast.BinOp):
        left, right = _text(node.left, name), _text(node.right, name)
        if isinstance(node.op, ast.Add) and left and right:
            return left + right
        if isinstance(node.op, ast.Mod) and left.count("%") == left.count("%s") == 1 and right:
            return left % right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        shape = _text(node.func.value, name)
        given = _text(node.args[0], name) if len(node.args) == 1 and not node.keywords else ""
        if node.func.attr == "format" and shape.count("{") == shape.count("{}") == 1 and given:
            return shape.format(given)
    return ""
