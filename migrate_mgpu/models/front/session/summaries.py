"""Summaries of a session's program, what merges them, and the writers of event files."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import Binding, statement_value, walk
from migrate_mgpu.api.summaries import (
    ADD_SUMMARY,
    FILE_WRITER,
    MERGE,
    MERGE_ALL,
    SUMMARIES,
    clean_tag,
)
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.graph_names import GraphNames
from migrate_mgpu.models.front.session.helper_calls import summaries_in, summarized
from migrate_mgpu.models.front.session.host_objects import (
    EventWriter,
    HelperVariable,
    Merge,
    NamedVariable,
    Summary,
    WriterCall,
)
from migrate_mgpu.models.front.session.program import MadeLayer, Meaning, SessionProgram
from migrate_mgpu.models.front.session.runs import RunReader

_EVERY = ("trainable_variables", "global_variables", "all_variables")
_WRITER_CALLS = ("add_summary", "add_graph", "flush", "close")
_GRAPHS = ("get_default_graph",)


class SummaryReader:
    """Reads what makes summaries; ``takes`` are the expressions that a call of them takes in."""

    def __init__(self, found: SessionProgram, names: GraphNames, runs: RunReader) -> None:
        self.found = found
        self.module = found.scope.module
        self.names = names
        self.runs = runs
        self.takes: dict[ast.Call, tuple[ast.expr, ...]] = {}
        self._values: dict[Summary, dict[str, Meaning | None]] = {}

    # -- summaries ------------------------------------------------------------------

    def stated(self, statement: ast.stmt) -> bool:
        """Reads a statement that makes summaries and gives them no name; False for others.

        Raises:
            Refused: TF1's tag of one cannot be determined.
        """
        if isinstance(statement, ast.Expr) and self._is_summary(statement.value):
            assert isinstance(statement.value, ast.Call)
            self._add(statement.value, statement)
            return True
        return isinstance(statement, ast.For) and self._goes_through_variables(statement)

    def _is_summary(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and name_of(self.module, node) in SUMMARIES.by_name

    def named(self, statement: ast.Assign, call: ast.Call) -> bool:
        """Whether an assignment makes a summary or merges some, which is a unit then."""
        name = name_of(self.module, call)
        if self._is_summary(call):
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

    def _add(
        self, call: ast.Call, statement: ast.stmt, variable: NamedVariable | None = None
    ) -> None:
        row = SUMMARIES.by_name[name_of(self.module, call)]
        if any(e.towers is not None and e.statement is statement for e in self.found.scope.entries):
            text = "each tower has a summary of its own here"
            raise Refused(
                self.module, call, text, "make it after the towers, of the last tower's value"
            )
        given = NamedArguments(self.module, call, row.signature).rest
        for parameter in row.parameters:
            value = given.get(parameter.name)
            if parameter.only and value is not None and not is_none(value):
                raise Refused(self.module, value, f"`{parameter.name}` of a summary")
        first = row.parameters[0].name
        told = given.get(first)
        if told is None:
            raise Refused(self.module, call, "this summary has no name")
        name = self._name(told, variable)
        tag = self.names.fresh(statement, clean_tag(name))
        self._check_tag(tag, self.module, told)
        values = {key: value for key, value in given.items() if key != first}
        values = {key: value for key, value in values.items() if not is_none(value)}
        summary = Summary(row.kind, tag, call, statement, values, variable)
        self.found.summaries.append(summary)
        if variable is None:
            self.takes[call] = tuple(values.values())
            self._values[summary] = self._meanings(summary)

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
            shown = ast.unparse(node).partition(".")[2]
            if shown in ("name", "op.name"):
                return variable.name + (":0" if shown == "name" else "")
        raise Refused(
            self.module,
            node,
            "TF1's tag of a summary cannot be determined",
            "write it as a constant",
        )

    @cached_property
    def _operations(self) -> set[str]:
        """Names that TF1 gives the operations of the program's calls, where they have no own."""
        found: set[str] = set()
        for use in self.module.uses:
            name = use.symbol.name
            if name.startswith(("summary.", "train.", "app.", "flags.")):
                continue
            last = name.rpartition(".")[2].lower()
            found |= {last, last.replace("_", ""), last.removeprefix("reduce_")}
        return found

    def _meanings(self, summary: Summary) -> dict[str, Meaning | None]:
        return {
            name.id: self.runs.meaning(name)
            for value in summary.values.values()
            for name in walk(value)
            if isinstance(name, ast.Name)
        }

    def _goes_through_variables(self, loop: ast.For) -> bool:
        """`for var in tf.trainable_variables(): tf.summary.histogram(var.op.name, var)`"""
        every, target = loop.iter, loop.target
        if not isinstance(every, ast.Call) or name_of(self.module, every) not in _EVERY:
            return False
        if every.args or every.keywords or loop.orelse or not isinstance(target, ast.Name):
            return False
        calls = [one.value if isinstance(one, ast.Expr) else None for one in loop.body]
        if not all(call is not None and self._is_summary(call) for call in calls):
            return False
        trained = name_of(self.module, every) == "trainable_variables"
        for variables in self.found.variables:
            if trained and not variables.trainable:
                continue
            for named in self.names.of(variables):
                if trained and not named.trained:
                    continue
                for call in calls:
                    assert isinstance(call, ast.Call)
                    self._of_each(call, loop, target, named)
        return True

    def _of_each(
        self, call: ast.Call, loop: ast.For, target: ast.Name, named: NamedVariable
    ) -> None:
        row = SUMMARIES.by_name[name_of(self.module, call)]
        given = NamedArguments(self.module, call, row.signature).rest
        value = given.get(row.parameters[1].name)
        if not isinstance(value, ast.Name) or value.id != target.id or len(given) != 2:
            raise Refused(self.module, call, "a variable's summary is not of its value")
        self._add(call, loop, named)

    # -- what merges them --------------------------------------------------------------

    def _merge(self, statement: ast.Assign, call: ast.Call, summaries: tuple[Summary, ...]) -> None:
        if not summaries:
            raise Refused(self.module, call, "no summaries are merged here")
        for summary in summaries:
            if summary.variable is None and self._meanings(summary) != self._values[summary]:
                text = "the value of a summary has a different name where summaries are merged"
                raise Refused(self.module, summary.call, text, "give each value one name")
        self.takes[call] = tuple(
            value
            for summary in summaries
            for value in (summary.values.values() if summary.variable is None else ())
        )
        self.found.merges[call] = Merge(statement, summaries)

    # -- writers ------------------------------------------------------------------------

    def writer(self, statement: ast.Assign, call: ast.Call) -> EventWriter | None:
        """`writer = tf.summary.FileWriter(folder, sess.graph)`; None for another call.

        Raises:
            Refused: it is made in a way that is not understood.
        """
        if name_of(self.module, call) != "summary.FileWriter":
            return None
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Name):
            raise Refused(self.module, call, "a summary writer that is not assigned to a name")
        given = NamedArguments(self.module, call, FILE_WRITER).rest
        for key, value in given.items():
            if key not in ("logdir", "graph", "max_queue", "flush_secs") and not is_none(value):
                raise Refused(self.module, value, f"`{key}` of a writer of summaries")
        graph = given.get("graph")
        if graph is not None and not is_none(graph):
            self._graph(graph)
        gone = tuple(key for key in given if key not in ("logdir", "max_queue"))
        made = EventWriter(
            target.id, statement, call, graph is not None and not is_none(graph), gone
        )
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
        assert isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)
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
        self.runs.known.add(func.value)
