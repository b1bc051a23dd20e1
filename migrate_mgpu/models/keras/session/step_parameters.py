"""Functions are given the steps that they run, where they were given a session and a graph."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.models.front.session.origins import arguments_by_name
from migrate_mgpu.models.front.session.program import GraphClient, SessionProgram
from migrate_mgpu.models.ir import Run, Step
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.source.blocks import render
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle


class StepParameterWriter:
    """Writes parameters, arguments and returned values. ``dedent``: as for the calls of steps."""

    def __init__(
        self, program: SessionProgram, names: StepNames, context: Context, style: FileStyle
    ) -> None:
        self.program = program
        self.module = program.scope.module
        self.source = self.module.source
        self.names = names
        self.context = context
        self.style = style
        self._needs: dict[ast.AST, list[Step]] = {}
        self._bundle = self._is_bundle()

    def step(self, run: Run) -> str:
        """How a run's step is called where it runs."""
        name = self.names.step(run.step)
        if self.program.scope.owner is not None:
            return self._of_object(run, name)
        if not self._bundle:
            return name
        for fetch in run.fetches:
            if isinstance(fetch.node, ast.Subscript):
                whole = self.source.code(fetch.node.value)
                return f"{whole}[{self.style.string(name)}]"
        return name

    def _of_object(self, run: Run, name: str) -> str:
        """A step as the object has it whose constructor builds it."""
        home = self.program.scope.node
        if home in self.module.names.ancestors(run.call):
            return name
        for fetch in run.fetches:
            if isinstance(fetch.node, ast.Attribute):
                return f"{self.source.code(fetch.node.value)}.{name}"
        text = "it cannot be determined which object has this step"
        raise Refused(self.module, run.call, text, "fetch an attribute of the object")

    def known_at(self, step: Step, statement: ast.stmt) -> str:
        """How a step may be called in other code than its runs; empty where that has it not."""
        names, name = self.module.names, self.names.step(step)
        around = list(names.ancestors(statement))
        by_name = self.program.scope.owner is None and not self._bundle
        if self.program.scope.node in around and (by_name or name not in names.attributes):
            return name
        clients = {one.node: one for one in self.program.clients}
        client = next((clients[node] for node in around if node in clients), None)
        if client is None:
            return ""
        if by_name:
            given = self._is_given(client) and step in self.needs(client)
            return name if given or self._sees(client) else ""
        for run in client.runs:
            shown = self.step(run) if run.step is step else ""
            root = shown.partition(".")[0].partition("[")[0]
            scope = names.scopes[client.node]
            made = [names.statement(one.node) for one in scope.bindings.get(root, ())]
            if shown and all(one is client.node or one.lineno < statement.lineno for one in made):
                return shown
        owner, method = self.program.scope.owner, client.node
        if isinstance(method, ast.FunctionDef) and names.parents.get(method) is owner:
            if self.given_to_object(step) and method.args.args:
                return f"{method.args.args[0].arg}.{name}"
        return ""

    def given_to_object(self, step: Step) -> bool:
        """Whether a step becomes an attribute of the object whose constructor builds it."""
        return self.program.scope.owner is not None and step in self._given_away()

    def edits(self) -> Iterator[Edit]:
        for client in self.program.clients:
            if client.dropped:
                yield self._parameters(client)
            for call, callee in client.client_calls:
                yield from self._arguments(call, callee)
            for statement in client.unpacked:
                yield from self._unpacked(statement)
        for call, callee in self.program.client_calls:
            yield from self._arguments(call, callee)
        if self.program.returned is not None:
            yield self._returned(self.program.returned)

    # -- which steps go where ------------------------------------------------------

    def _is_bundle(self) -> bool:
        """Whether the steps are kept in a dictionary, by their names."""
        returned = self.program.returned
        return returned is not None and isinstance(returned.value, ast.Dict)

    def _sees(self, client: GraphClient) -> bool:
        """Whether a function knows the names of the steps without being given them."""
        if self._bundle or self.program.scope.owner is not None:
            return True  # it knows the dictionary, or the object
        carriers: set[ast.AST] = {self.program.scope.node}
        carriers |= {one.node for one in self.program.clients if one.unpacked}
        around = {client.node, *self.module.names.ancestors(client.node)}
        return bool(carriers & around)

    def _is_given(self, client: GraphClient) -> bool:
        """Whether a function has its steps as parameters: as it had parts of the graph."""
        if self._bundle or self.program.scope.owner is not None:
            return False
        return bool(client.dropped) and (client.takes_parts or not self._sees(client))

    def needs(self, client: GraphClient) -> list[Step]:
        """The steps that a function, or one that it calls, runs and does not know by itself."""
        if client.node not in self._needs:
            self._needs[client.node] = []  # ends recursion
            steps = [run.step for run in client.runs]
            for _, callee in client.client_calls:
                steps += self.needs(callee) if self._is_given(callee) else []
            shown = [step for step in dict.fromkeys(steps) if step.acts]
            self._needs[client.node] = sorted(shown, key=self.program.steps.index)
            if shown and not self._sees(client) and not self._is_given(client):
                text = "it cannot be determined how this function gets the steps that it runs"
                raise Refused(self.module, client.node, text)
        return self._needs[client.node]

    def _given_away(self) -> list[Step]:
        """The steps that run where the scope that builds them does not show them."""
        home = self.program.scope.node
        found: list[Step] = list(self.program.shared)
        for client in self.program.clients:
            if home not in (client.node, *self.module.names.ancestors(client.node)):
                found += (run.step for run in client.runs)
        steps = [step for step in dict.fromkeys(found) if step.acts]
        return sorted(steps, key=self.program.steps.index)

    # -- parameters and arguments -----------------------------------------------------

    def _new(self, client: GraphClient) -> list[str]:
        steps = self.needs(client) if self._is_given(client) else []
        return [self.names.step(step) for step in steps]

    def _position(self, client: GraphClient) -> int:
        """Where the steps stand among the parameters that stay."""
        assert isinstance(client.node, ast.FunctionDef)
        parameters = Function(self.module, client.node).parameters()
        first = min(parameters.index(name) for name in client.dropped)
        required = len(parameters) - len(client.node.args.defaults)
        return sum(name not in client.dropped for name in parameters[: min(first, required)])

    def _parameters(self, client: GraphClient) -> Edit:
        node = client.node
        assert isinstance(node, ast.FunctionDef)
        arguments = node.args
        by_name = {one.arg for one in arguments.kwonlyargs}
        unknown = arguments.posonlyargs or arguments.vararg or arguments.kwarg or not arguments.args
        if unknown or not by_name.isdisjoint(client.dropped):
            raise Refused(self.module, node, "parameters of a kind that is not supported")
        blank: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
        kept: list[str] = []
        for one, default in zip(arguments.args, [*blank, *arguments.defaults]):
            if one.arg not in client.dropped:
                begin, end = self.source.span(one)  # with its type, if that is said
                if default is not None:
                    end = self.source.span(default)[1]
                kept.append(self.source.text[begin:end])
        position = self._position(client)
        kept[position:position] = self._new(client)
        first, last = arguments.args[0], [*arguments.args, *arguments.defaults]
        start = self.source.span(first)[0]
        end = max(self.source.span(one)[1] for one in last)
        if by_name and not kept:  # what comes first then is the star
            end = self.source.text.index("*", end)
        return Edit(start, end, ", ".join(kept))

    def _arguments(self, call: ast.Call, callee: GraphClient) -> Iterator[Edit]:
        if not callee.dropped:
            return
        assert isinstance(callee.node, ast.FunctionDef)
        function = Function(self.module, callee.node)
        dropped = {
            value
            for name, value in arguments_by_name(function, call).items()
            if name in callee.dropped
        }
        positional = [self._text(one) for one in call.args if one not in dropped]
        named = [f"{k.arg}={self._text(k.value)}" for k in call.keywords if k.value not in dropped]
        new, position = self._new(callee), self._position(callee)
        if len(positional) >= position:
            positional[position:position] = new
        else:
            named += [f"{name}={name}" for name in new]
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        start = min(self.source.span(one)[0] for one in (*call.args, *call.keywords))
        end = max(self.source.span(one)[1] for one in values)
        if self.source.text[end:].lstrip().startswith(",") and not (positional or named):
            end = self.source.text.index(",", end) + 1
        yield Edit(start, end, ", ".join([*positional, *named]))

    def _text(self, node: ast.expr) -> str:
        return render(self.source, node, self.context.edits(node))

    # -- what the scope returns ------------------------------------------------------

    def _replaced(self, elements: Sequence[ast.expr], shown: Iterable[ast.expr]) -> list[str]:
        """Elements with the steps where parts of the graph were; ``shown`` stay."""
        kept: list[str] = []
        new = [self.names.step(step) for step in self._given_away()]
        staying = set(shown)
        for element in elements:
            if element in staying:
                kept.append(self.source.code(element))
            else:
                kept += new
                new = []
        return kept

    def _returned(self, statement: ast.Return) -> Edit:
        value = statement.value
        assert value is not None
        if isinstance(value, ast.Dict):
            pairs = [
                f"{self.source.code(key)}: {self.source.code(one)}"
                for key, one in zip(value.keys, value.values)
                if key is not None and one in self.program.shown
            ]
            for step in self._given_away():
                name = self.names.step(step)
                pairs.append(f"{self.style.string(name)}: {name}")
            if value.lineno == value.end_lineno:
                return Edit(*self.source.span(value), "{" + ", ".join(pairs) + "}")
            indent = self.source.indent_of(statement)
            inner = self.style.continued(indent)
            lines = "".join(f"{inner}{pair},{self.source.newline}" for pair in pairs)
            text = "{" + self.source.newline + lines + indent + "}"
            return Edit(*self.source.span(value), text)
        elements = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
        names = self._replaced(elements, self.program.shown)
        return Edit(*self.source.span(value), ", ".join(names))

    def _unpacked(self, statement: ast.Assign) -> Iterator[Edit]:
        target = statement.targets[0]
        if self._bundle:
            return
        assert self.program.returned is not None and self.program.returned.value is not None
        value = self.program.returned.value
        elements = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
        names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        shown = [n for n, element in zip(names, elements) if element in self.program.shown]
        text = ", ".join(self._replaced(names, shown))
        yield Edit(*self.source.span(target), text)
