"""A session's program as TF2 code: variables, optimizers, a `tf.function` for each kind of step."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, partial

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside, name_unused
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.graph import CONTROL
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.findings import AVERAGES, BATCHES, CONFIGURATION
from migrate_mgpu.models.front.session.expressions import descriptions
from migrate_mgpu.models.front.session.folding import is_flag
from migrate_mgpu.models.front.session.host_objects import Iterator
from migrate_mgpu.models.front.session.placeholders import is_unshaped
from migrate_mgpu.models.front.session.program import (
    GraphClient,
    Role,
    SessionProgram,
    closure,
    given_by,
    is_late,
)
from migrate_mgpu.models.front.session.runs import mentions_of
from migrate_mgpu.models.front.session.scope import Entry, Header, header_of
from migrate_mgpu.models.front.towers.loop import shares
from migrate_mgpu.models.ir import Mover, Optimizer, Placeholder, Step, TowerInput, Unit, Update
from migrate_mgpu.models.keras.expressions import Context, Replacement, cast_to
from migrate_mgpu.models.keras.losses import calls_keras, definitions, replacements
from migrate_mgpu.models.keras.network.cells import cells_in, classes
from migrate_mgpu.models.keras.optimizers import OptimizerWriter
from migrate_mgpu.models.keras.session.batch_normalization import Normalization
from migrate_mgpu.models.keras.session.calls import RunWriter
from migrate_mgpu.models.keras.session.defined import defined_calls, defined_functions
from migrate_mgpu.models.keras.session.helper_classes import HelperClassWriter
from migrate_mgpu.models.keras.session.layers import LayerWriter
from migrate_mgpu.models.keras.session.metrics import MetricWriter
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.models.keras.session.rates import RateWriter
from migrate_mgpu.models.keras.session.savers import SaverWriter, dropped
from migrate_mgpu.models.keras.session.sharing import Part, Sharing
from migrate_mgpu.models.keras.session.step_parameters import StepParameterWriter
from migrate_mgpu.models.keras.session.steps import StepWriter
from migrate_mgpu.models.keras.session.summaries import SummaryWriter
from migrate_mgpu.models.keras.session.variables import (
    assignment_replacement,
    placeholder_text,
    variable_replacement,
)
from migrate_mgpu.models.keras.towers.steps import (
    TowerStepWriter,
    comments_of_towers,
    devices_of,
    inputs_of_towers,
)
from migrate_mgpu.source.blocks import Block, leading, outermost, render, trailing
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.header_edit import with_parameters, without_parameter
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, is_comment

_FORGOTTEN = (
    "no step runs tf.GraphKeys.UPDATE_OPS: its averages never move, here by `momentum=1.0`; "
    "without that they would"
)
_NEEDED = (
    "the strategy needs every device that the loop names; TF1's soft placement, where it was on, "
    "built the towers of missing GPUs on the CPU"
)
_AVERAGED = (
    "TF1 moves these averages while the variables change, in no fixed order; here they move after "
    "them, and after the count of steps"
)
_RACING = (
    "each tower moves these averages, in TF1 in any order: two runs of that differ; here each "
    "replica moves them from what they were before the step"
)
_NOT_WRITTEN = "the graph is not written for TensorBoard: there is none, and it is left out"
_DESCRIBED = (
    "it printed what a tensor of the graph is called, and not its value: TF2 has no such tensor, "
    "and it is left out"
)
_DRAWN = (
    "TF1's towers take their batches from the iterator in any order, here in the towers' order: a "
    "value that is read from one tower may be of another batch; the training step is the same"
)
_TOGETHER = (
    "what one of these optimizers minimizes may depend on variables that another one trains: TF1 "
    "computes it before or after these change, in no fixed order; here all of it is of before"
)
# Keras 2 compiles each variable's update where it finds a GPU.
_NO_XLA = "# XLA wants a variable and what is kept of it on one device."
# What is made where it stands, on the device that is told there.
_PLACED = (Role.VARIABLES, Role.CELLS)
# What a strategy has to own, where there is one.
OWNED = (Role.VARIABLES, Role.CELLS, Role.OPTIMIZER, Role.UPDATE)
_WRAPPED = 60  # columns: a shorter line of a comment is not one that goes on below
_OF_SESSIONS = ("session", "graph", "launch", "itializ", "itialis")


def write_programs(programs: Sequence[SessionProgram]) -> list[EditSet]:
    """The edits that make a module's session programs those of TF2: of each graph that it builds.

    Raises:
        Refused: something in them has no form in TF2.
    """
    writers = [_Writer(program) for program in programs]
    found = [writer.write() for writer in writers]
    writers[0].define(dict.fromkeys(text for one in writers for text in one.classes))
    return found


class _Writer:
    def __init__(self, program: SessionProgram) -> None:
        self.program = program
        self.scope = program.scope
        self.module = program.scope.module
        self.source = self.module.source
        self.style = style_at(self.module, self.scope.session)
        self.found = EditSet()
        self.context = Context(self.module, self.style)
        self.names = StepNames(program)
        self.sharing = Sharing(program)
        for operation in program.made:
            if not isinstance(operation, Placeholder):
                scope = program.scopes.get(operation.node, "")
                self.context.replaced[operation.node] = variable_replacement(operation, scope)
        nodes = [entry.statement for entry in self.scope.entries if not entry.opens]
        functions = [
            node
            for node, function in (*program.builders.items(), *program.makers.items())
            if function.module is self.module
        ]
        self.context.replaced.update(replacements(self.module, [*nodes, *functions]))
        unshaped = {
            placeholder
            for step in program.steps
            for placeholder in step.feeds
            if is_unshaped(placeholder) and placeholder not in program.numbers
        }
        self._check_ranks(unshaped)
        self.context.replaced.update(defined_calls(self.module, [*nodes, *functions]))
        self.normalization = Normalization(program, self.style)
        self.helper_classes = HelperClassWriter(
            program,
            bool(unshaped),
            self.normalization,
        )
        self.names.attributes.update(self.helper_classes.attributes)
        self.layers = LayerWriter(
            program, self.names, self.style, self.helper_classes.classes, self.normalization
        )
        self.context.replaced.update(self.layers.uses())
        building = {
            node
            for part in self.sharing.parts
            if part.builds is not None
            for unit in part.units
            for node in walk(unit.node)
        }
        self.context.replaced.update(self.layers.collected(building))
        self.context.replaced.update(self.layers.copied())
        self.context.replaced.update(
            (call, assignment_replacement(one)) for call, one in program.assigning.items()
        )
        self.savers = SaverWriter(program, self.names, self.style)
        self.metrics = MetricWriter(program, self.names, self.style)
        self.context.replaced.update(self.metrics.uses())
        self.rates = RateWriter(program, self.names, self.style)
        self.context.replaced.update(self.rates.uses())
        self.summaries = SummaryWriter(
            program, self.names, self.style, self._dedent_of, self._shown_at
        )
        self.context.replaced.update(self.summaries.uses())
        self.context.replaced.update(inputs_of_towers(program))
        self.context.replaced.update(self._predicates(self.module, [*nodes, *functions]))
        parts = (part for node in (*nodes, *functions) for part in walk(node))
        calls = (part for part in parts if isinstance(part, ast.Call))
        loops = [call for call in calls if name_of(self.module, call) == "while_loop"]
        self.context.replaced.update((loop, partial(_loop, loop)) for loop in loops)
        for one in program.iterators:
            if not one.name:
                self.context.replaced[one.call] = partial(_named, self.names.iterator(one))
        self.context.replaced.update(self._without_reuse())
        self.context.replaced.update(self._with_captures())
        self.classes: list[str] = []
        # What only names things, or says that these are there, by the unit behind: it has
        # their comments.
        self.heads: dict[ast.AST, ast.stmt] = {}
        pairs = list(zip(self.scope.entries, program.roles))
        for (entry, _), (first, role) in zip(pairs, pairs[1:]):
            names = entry.opens and first.scopes != entry.scopes
            if role is Role.UNIT and (names or shares(self.module, entry.statement)):
                self.heads[first.statement] = entry.statement
        for place, (entry, role) in enumerate(pairs):
            if role is Role.PLACEHOLDER and self._is_known(entry.statement):
                program.roles[place] = Role.GONE
        self.parameters = StepParameterWriter(program, self.names, self.context, self.style)
        self._has_strategy = False
        self._delayed: list[tuple[Entry, Role]] = []
        self.tower_comments = comments_of_towers(program)
        self.whole: list[tuple[int, int]] = []  # spans that are written anew

    def _check_ranks(self, unshaped: AbstractSet[Placeholder]) -> None:
        """Keras 3 asks for the rank of what its losses are given.

        Raises:
            Refused: it depends on something that is fed and has no shape.
        """
        for unit in dict.fromkeys(unit for step in self.program.steps for unit in step.units):
            calls = (node for node in walk(unit.node) if isinstance(node, ast.Call))
            if not any(calls_keras(self.module, call) for call in calls):
                continue
            fed = (p for one in closure([unit]) for p in one.feeds if p in unshaped)
            placeholder = next(fed, None)
            if placeholder is not None:
                text = f"a loss of Keras's, which asks for ranks, follows from `{placeholder.name}`"
                advice = "give that placeholder a shape"
                raise Refused(self.module, placeholder.node, text, advice)

    def write(self) -> EditSet:
        self._functions()
        self._helpers()
        self.helper_classes.edits(self.found, self.module)
        self.classes += classes(self.module, cells_in(self.module), self.style)
        self._regions()
        self._globals()
        for statement in self.program.dictionaries:
            assert isinstance(statement.value, ast.Dict)
            for key, value in zip(statement.value.keys, statement.value.values):
                assert key is not None
                if value in self.program.folded:
                    self._edit(self._without(statement.value, value))
                    continue
                name = self.program.fed[key].name
                self._edit(Edit(*self.source.span(key), self.style.string(name)))
        parameters = self.parameters
        for edit in parameters.edits():
            self._edit(edit)
        runs = RunWriter(
            self.program, self.names, self.context, self.style, self._dedent_of, parameters.step
        )
        for edit in runs.edits():
            self._edit(edit)
        kept = {entry.statement for entry in self.scope.entries}
        kept |= {e.statement for client in self.program.clients for e in client.entries}
        for writer in self.program.event_writers:
            if writer.statement not in kept:
                for edit in self.summaries.made(writer):
                    self._edit(edit)
        for edit in (*self.savers.calls(), *self.summaries.calls()):
            self._edit(edit)
        for one in self.program.assignments:
            text = assignment_replacement(one)(self.context)
            self._edit(Edit(*self.source.span(one.call), text))
        for call, path in self.program.checkpoint_queries.items():
            shown = self.context.render(path)
            shown = shown if isinstance(path, (ast.Name, ast.Attribute, ast.Call)) else f"({shown})"
            exists = f"{self.style.tensorflow}.io.gfile.exists"
            text = f"{exists}({shown} + {self.style.string('.index')})"
            self._edit(Edit(*self.source.span(call), text))
        self.found.merge(self.summaries.found)
        for restart, iterator in self.program.restarts.items():
            text = f"{iterator.name} = {self._begun(iterator)}"
            self._edit(Edit(*self.source.span(restart), text))
        for reset in self.program.metric_resets:
            indent = self.source.indent_of(reset)[self._dedent_of(reset) :]
            text = f"{self.source.newline}{indent}".join(self.metrics.begun())
            self._edit(Edit(*self.source.span(reset), text))
        for initializing in self.program.dropped:
            self._edit(dropped(self.module, initializing))
        self.found.merge(self.savers.found)
        self.classes += self.savers.classes
        self._dedent()
        self.classes += self.normalization.classes
        for layer in self.program.layers.values():
            if layer.normalizes and not self.program.moves_averages:
                self.found.note(self.module, layer.found.call, _FORGOTTEN, AVERAGES)
            elif layer.normalizes and self.program.mover is Mover.ALL:
                self.found.note(self.module, layer.found.call, _RACING, AVERAGES)
        for unit in self.program.units.values():
            if isinstance(unit, TowerInput) and unit.drawn:
                self.found.note(self.module, unit.node, _DRAWN, BATCHES)
        for run in self.program.runs:
            if _reads_trained(run.step):
                self.found.note(self.module, run.call, _TOGETHER)
        for written in self.program.graph_files:
            self.found.note(self.module, written, _NOT_WRITTEN)
        for printed in self.program.described:
            self.found.note(self.module, printed, _DESCRIBED)
        assert self.program.layer_helpers is not None
        layered = (one.function for one in self.program.layer_helpers.found.values())
        for function in (*self.program.builders.values(), *layered):
            for printed in descriptions(function.module, function.node):
                self.found.note(function.module, printed, _DESCRIBED)
        for node in self.program.idle:
            self.found.note(self.module, node, "no step needs what is built here: it is left out")
        return self.found

    def _globals(self) -> None:
        """`global prediction`, where that was a part of the graph and is nothing any more."""
        gone = {one.name for one in self.program.placeholders}
        gone |= {one.name for one in self.program.updates}
        gone |= {name for unit in self.program.units.values() for name in given_by(unit)}
        gone |= {self.scope.name}
        gone -= {one.name for one in self.program.variables}
        for client in self.program.clients:
            for entry in client.entries if self.scope.node is self.module.tree else ():
                statement = entry.statement
                if not isinstance(statement, ast.Global) or not gone & set(statement.names):
                    continue
                layout = Layout(self.source, statement)
                left = [name for name in statement.names if name not in gone]
                if left:
                    self._edit(Edit(*self.source.span(statement), f"global {', '.join(left)}"))
                elif layout.owns_lines:
                    self._edit(layout.replace([]))

    def _without(self, node: ast.Dict, value: ast.expr) -> Edit:
        """A dictionary without a member, with the comma on one side of it."""
        index = node.values.index(value)
        first = node.keys[index]
        assert first is not None
        if index + 1 < len(node.keys):
            after = node.keys[index + 1]
            assert after is not None
            return Edit(self.source.span(first)[0], self.source.span(after)[0], "")
        start = self.source.span(node.values[index - 1])[1] if index else self.source.span(first)[0]
        return Edit(start, self.source.span(value)[1], "")

    def _edit(self, *edits: Edit) -> None:
        self.found.edit(self.module, *edits)
        self.whole += ((edit.start, edit.end) for edit in edits)

    def _dedent_of(self, node: ast.AST) -> int:
        """How much indentation goes away at a node, with that of the function it stands in."""
        top = self._top(node)
        functions = (o for o in self.module.names.ancestors(top) if isinstance(o, ast.FunctionDef))
        around = next(functions, None)
        outer = self._dedent_of(around) if around in self._entry_of and around is not None else 0
        return self._entry_of[top].dedent + outer

    @cached_property
    def _entry_of(self) -> dict[ast.stmt, Entry]:
        entries = [*self.scope.entries]
        entries += (entry for client in self.program.clients for entry in client.entries)
        return {entry.statement: entry for entry in entries if not entry.opens}

    def _top(self, node: ast.AST) -> ast.stmt:
        known = self._entry_of
        statement = self.module.names.statement(node)
        while statement not in known:
            statement = self.module.names.statement(self.module.names.parents[statement])
        return statement

    # -- the author's functions -----------------------------------------------------

    def _without_reuse(self) -> dict[ast.AST, Replacement]:
        """Calls without the arguments that only say whether variables are there already."""
        assert self.program.layer_helpers is not None
        reuse = self.program.layer_helpers.reuse
        found: dict[ast.AST, Replacement] = {}
        for call in self.module.names.calls:
            target = reuse.graph.target(self.module, call.func)
            given = reuse.of_call(self.module, call)
            if given and target is not None and target.node in self.program.builders:
                found[call] = _without(self.module, call, given)
        return found

    def _predicates(self, module: Module, nodes: Iterable[ast.AST]) -> dict[ast.AST, Replacement]:
        """What `tf.cond` asks, where that may be a flag which some step knows as Python's value."""
        if not any(is_flag(one) for step in self.program.steps for one, _ in step.folded):
            return {}
        calls = (part for node in nodes for part in walk(node) if isinstance(part, ast.Call))
        asked = (
            by_parameter(call, CONTROL["cond"])["pred"]
            for call in calls
            if name_of(module, call) == "cond"
        )
        return {node: cast_to(node, "{tf}.bool") for node in asked if isinstance(node, ast.Name)}

    def _with_captures(self) -> dict[ast.AST, Replacement]:
        """Calls that are given the tensors which their function read as globals."""

        def with_names(call: ast.Call, names: list[str]) -> Replacement:
            def write(context: Context) -> str:
                edit = CallEdit(self.source, call)
                for name in names:
                    edit.add(name, name)
                return context.render_call(call, edit.edits())

            return write

        calls = self.program.captured.items()
        return {call: with_names(call, self.program.captures[node]) for call, node in calls}

    def _helpers(self) -> None:
        """Functions that only the graph needed go away, with the comments above them."""
        helpers = set(self.program.helpers)
        self._helpers_beside()
        for node in self.module.tree.body:
            if node not in helpers and not self._only_of(node, helpers):
                continue
            start, stop = self._above(node), Layout(self.source, node).next_line
            above, below = self._blank_above(start), self._blank_below(stop)
            start, stop = self._joined(start, stop, above, below)
            self._edit_region(start, stop, "")
            self.found.gone.add(node)

    def _helpers_beside(self) -> None:
        """Functions of other modules stay there, and are not imported any more."""
        names = {f.name for f in self.program.helpers.values() if f.module is not self.module}
        gone: set[ast.AST] = {update.statement for update in self.program.updates}
        for statement in self.module.tree.body if names else ():
            if not isinstance(statement, ast.ImportFrom):
                continue
            unused = [
                alias
                for alias in statement.names
                if alias.name in names and name_unused(self.module, statement, alias, gone)
            ]
            if len(unused) < len(statement.names) and unused:
                self._edit(import_edit(self.source, statement, unused))
            elif unused and Layout(self.source, statement).owns_lines:
                self._edit(Layout(self.source, statement).replace([]))

    def _only_of(self, statement: ast.stmt, functions: set[ast.AST]) -> bool:
        """Whether a statement makes a constant that only some functions read."""
        if not isinstance(statement, ast.Assign) or constant(statement.value) is None:
            return False
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or len(statement.targets) != 1:
            return False
        names = self.module.names
        read = [m for m in names.mentions(target.id, names.module_scope) if m is not target]
        return bool(read) and all(is_inside(self.module, one, functions) for one in read)

    def _functions(self) -> None:
        self._beside()
        for node, function in (*self.program.builders.items(), *self.program.makers.items()):
            if function.module is not self.module:
                continue
            printed = descriptions(self.module, node)
            for part in walk(node):
                if part in printed:
                    self._edit(Layout(self.source, part).replace([]))
                elif isinstance(part, ast.stmt) and not hasattr(part, "body"):
                    self._in_place(part)
                elif isinstance(part, ast.With):
                    self._edit(self._named(part))
                elif isinstance(part, (ast.If, ast.For)):
                    self._edit(
                        *self.context.edits(part.test if hasattr(part, "test") else part.iter)
                    )
            assert isinstance(node, ast.FunctionDef) and self.program.layer_helpers is not None
            gone = self.program.layer_helpers.reuse.parameters(function)
            if gone:
                self._edit(without_parameter(self.source, node, *gone))
            if node in self.program.captures:
                self._edit(with_parameters(self.source, node, *self.program.captures[node]))
            self._rewritten(self.module, node)
        nodes = [unit.node for step in self.program.steps for unit in step.units]
        own = [n for n, f in self.program.builders.items() if f.module is self.module]
        new = definitions(self.module, [*nodes, *own], self.style)
        new += defined_functions(self.module, [*nodes, *own], self.style)
        new += [one for one in self.helper_classes.definitions if one not in new]
        self.classes += new

    def _beside(self) -> None:
        """The functions of other modules that compute: their statements in TF2's words."""
        for module in self.program.layer_modules:
            own = (*self.program.builders.items(), *self.program.makers.items())
            builders = [node for node, function in own if function.module is module]
            if not builders:
                continue
            style = style_at(module, builders[0])
            if definitions(module, builders, style) or defined_calls(module, builders):
                text = "it needs a helper class, in a module beside the program's"
                raise Refused(module, builders[0], text)
            context = Context(module, style)
            context.replaced.update(replacements(module, builders))
            context.replaced.update(self._predicates(module, builders))
            for made in self.program.made:
                if made.module is module:
                    context.replaced[made.node] = variable_replacement(made)
            for node in builders:
                assert isinstance(node, ast.FunctionDef)
                for statement in node.body:
                    self.found.edit(module, *context.edits(statement))
                self._rewritten(module, node)

    def _rewritten(self, module: Module, function: ast.FunctionDef) -> None:
        """A function has TF2's words: what it mentions of `tf.contrib` is not there any more."""
        self.found.moved.add(function)
        for name in (part for part in walk(function) if isinstance(part, ast.Name)):
            if (module.names.qualname(name) or "").startswith("tensorflow.contrib"):
                self.found.gone.add(name)

    def _named(self, block: ast.With) -> Edit:
        """A scope in a function, which only names what is made in it."""
        call = block.items[0].context_expr
        assert isinstance(call, ast.Call)
        text = f"{self.style.tensorflow}.name_scope({self.source.code(call.args[0])})"
        return Edit(*self.source.span(call), text)

    def _in_place(self, statement: ast.stmt) -> None:
        """A statement that stays where it is, its lines below aligned as they were."""
        edits = self.context.edits(statement)
        if edits and statement.lineno != statement.end_lineno:
            start, end = self.source.span(statement)
            self._edit(Edit(start, end, render(self.source, statement, edits)))
        else:
            self._edit(*edits)

    def define(self, classes: Collection[str]) -> None:
        """Classes and functions that programs need beside their own, below the module's imports.

        Raises:
            Refused: there is no place for them, or two have one name.
        """
        if not classes:
            return
        parsed = (one for text in classes for one in ast.parse(text).body)
        names = [one.name for one in parsed if isinstance(one, (ast.ClassDef, ast.FunctionDef))]
        if len({*names}) < len(names):
            text = "it needs two helper classes of one name"
            raise Refused(self.module, self.scope.session, text)
        body = self.module.tree.body
        known = [s for s in self.module.tensorflow_imports if s in body]
        if not known:
            text = "it needs a helper class, and TensorFlow is imported inside of a function"
            raise Refused(self.module, self.scope.session, text)
        first = next(
            s
            for s in body[body.index(known[-1]) + 1 :]
            if not isinstance(s, (ast.Import, ast.ImportFrom))
        )
        start = self._above(first)
        above = "\n" * max(2 - self._blank_above(start), 0)
        text = above + "".join(f"{text}\n\n\n" for text in classes)
        self.found.edit(self.module, Edit(start, start, text.replace("\n", self.source.newline)))

    # -- the scope's statements ------------------------------------------------------

    def _regions(self) -> None:
        """Statements that go away, and what is written in their place.

        A region is a run of such statements: its text is written anew, with what stands
        above it for the steps whose last part it has.
        """
        slots: dict[int, list[Step | Part]] = {}
        for part in self.sharing.parts:
            slots.setdefault(part.place + 1, []).append(part)
        for step in self.program.steps:
            slots.setdefault(self._slot(step), []).append(step)
        scope = self.scope
        home = GraphClient(scope.node, scope.entries, scope.blocks, self.program.roles)
        self._write_client(home, slots)
        for client in self.program.clients:
            self._write_client(client, {})

    def _write_client(self, client: GraphClient, slots: dict[int, list[Step | Part]]) -> None:
        entries, roles = client.entries, client.roles
        index = 0
        while index <= len(entries):
            end, part = index, self._part(client, index)
            if index and part != self._part(client, index - 1) and index in slots:
                at_end = {index: slots.pop(index)}  # at the end of the cell above
                self._region(client, index, index, at_end)
            while end < len(entries) and self._goes(roles[end]) and self._part(client, end) == part:
                end += 1
            here = {slot: slots.pop(slot) for slot in range(index, end + 1) if slot in slots}
            if index == end and not here:
                if index < len(entries):
                    self._keep(entries[index], roles[index])
                index += 1
                continue
            self._region(client, index, end, here)
            if index < end < len(entries) and self._goes(roles[end]):
                index = end  # in another cell of the notebook
                continue
            if end < len(entries):
                self._keep(entries[end], roles[end])
            index = end + 1

    def _part(self, client: GraphClient, index: int) -> tuple[int, int] | None:
        """What is around the statement at an index: of a notebook its cell."""
        entries = client.entries
        if index == len(entries):
            return None
        return self.source.part_at(self.source.span(entries[index].statement)[0])

    def _slot(self, step: Step) -> int:
        """Before which statement a step's function stands."""
        late = [u for u in step.units if is_late(u) and not self._is_loss(u.node)]
        place = step.place
        return place if late and max(u.place for u in late) == place else place + 1

    def _shown_at(self, statement: ast.stmt) -> str:
        """The trace of a step that trains and is known at a statement; empty where none is.

        One that is given iterators gets new ones, which nothing is drawn from.
        """
        places = {entry.statement: place for place, entry in enumerate(self.scope.entries)}
        for step in self.program.steps:
            drawn = self.program.restarted(step.units)
            if drawn and step.feeds:
                continue
            if step.updates and self._slot(step) <= places.get(statement, len(places)):
                given = ", ".join(map(self._begun, drawn))
                return f"{self.names.step(step)}.get_concrete_function({given})"
        return ""

    def _is_loss(self, node: ast.AST) -> bool:
        return any(node in (one.loss, one.rate) for one in self.program.updates)

    def _goes(self, role: Role) -> bool:
        owned = self._owns and role in OWNED
        return owned or role in (Role.GONE, Role.UNIT)

    def _drawn(self, statement: ast.stmt) -> None:
        """A dataset stays; what draws from it is Python's own iterator."""
        if any(one.statement is statement for one in self.program.datasets):
            self._in_place(statement)
            if any(isinstance(n, ast.Attribute) and n.attr == "shuffle" for n in walk(statement)):
                text = "TF2 shuffles in a different order than TF1, even from the same seed"
                self.found.note(self.module, statement, text)
        for one in self.program.iterators:
            if one.statement is statement:
                self._edit(Edit(*self.source.span(one.call), self._begun(one)))

    def _begun(self, iterator: Iterator) -> str:
        return f"iter({self.context.render(iterator.source)})"

    def _is_known(self, statement: ast.stmt) -> bool:
        """Whether a statement makes a placeholder that is never fed: steps know its value."""
        made = next((p for p in self.program.placeholders if p.unit is statement), None)
        steps = self.program.steps
        return any(made is placeholder for step in steps for placeholder, _ in step.folded) and (
            not any(made in step.feeds for step in steps)
        )

    @property
    def _owns(self) -> bool:
        """Whether a strategy owns what is made once."""
        return self.scope.towers is not None

    def _region(
        self, client: GraphClient, index: int, end: int, slots: Mapping[int, list[Step | Part]]
    ) -> None:
        entries, source = client.entries, self.source
        body = client.node.body
        if index < end:
            first, last = entries[index], entries[end - 1]
            start = self._above(first.statement)
            stop = (
                self._header_end(last) if last.opens else Layout(source, last.statement).next_line
            )
        elif index < len(entries) and (
            not index or self._part(client, index) == self._part(client, index - 1)
        ):
            start = stop = self._above(entries[index].statement)
        else:
            above_it = entries[index - 1].statement if index < len(entries) else body[-1]
            start = stop = Layout(source, above_it).next_line
        if not source.is_code(start, stop):
            node = entries[index].statement
            raise Refused(self.module, node, "a magic command is among what it builds")
        kept: list[str] = []
        for entry, role in zip(entries[index:end], client.roles[index:end]):
            if role in OWNED:
                self.found.moved.add(entry.statement)
                continue
            self.found.gone.update(
                header_of(entry.statement)
                if entry.opens and isinstance(entry.statement, (ast.With, ast.For, ast.If))
                else [entry.statement]
            )
            kept += self._kept_comments(entry, entry is entries[index])
        home = entries[min(end, len(entries) - 1)]
        indent = source.indent_of(home.statement)
        indent = indent[: len(indent) - home.dedent]
        is_module = isinstance(client.node, ast.Module)
        texts, once = self._texts(client, index, end, slots, indent)
        gap = "\n" * (3 if is_module and not indent else 2)
        above = self._blank_above(start)
        below = self._blank_below(stop)
        lines = "".join(f"{indent}{line}\n" for line in kept)
        if not texts:
            text = lines
            if not kept:
                start, stop = self._joined(start, stop, above, below)
                text = ""
        else:
            functions = gap.join(one.rstrip("\n") for one in texts) + "\n"
            wanted = len(gap) - 1
            top, bottom = source.part_at(start)
            begins = not source.text[top:start].strip()
            wanted_above = self._gap_of_made(start) if once[0] else wanted
            before = "" if begins else "\n" * max(wanted_above - above, 0)
            at_end = not source.text[stop:bottom].strip()
            wanted_below = 1 if once[-1] and self._owns else wanted
            behind = "" if at_end else "\n" * max(wanted_below - (0 if kept else below), 0)
            if all(once) and not self._owns:  # no function stands there
                before = behind = ""
            text = before + functions + behind + lines
        self._edit_region(start, stop, text)

    def _gap_of_made(self, start: int) -> int:
        """How many blank lines stand above what is made once."""
        above = self.source.text[:start].rstrip()
        return 0 if self._owns and above.endswith(":") else 1

    def _texts(
        self,
        client: GraphClient,
        index: int,
        end: int,
        slots: Mapping[int, list[Step | Part]],
        indent: str,
    ) -> tuple[list[str], list[bool]]:
        """What stands in the place of a region; of each part, whether it is made once."""
        texts: list[str] = []
        once: list[bool] = []
        block = Block(self.source, indent)
        if not self._owns:
            for entry in client.entries[index:end]:
                block.lines += self._construction_lines(entry, indent)
        for place in range(index, end + 1):
            for made in slots.get(place, ()):
                if block.lines:
                    texts.append("\n".join(block.lines))
                    once.append(True)
                    block = Block(self.source, indent)
                functions = self._function(made, indent)
                texts += functions
                once += [False] * len(functions)
            if place < end and self._owns:
                self._once(client.entries[place], client.roles[place], block)
        if block.lines:
            texts.append("\n".join(block.lines))
            once.append(True)
        return texts, once

    def _construction_lines(self, entry: Entry, indent: str) -> list[str]:
        """The lines that make the layers and the schedules of a statement."""
        unnamed = [one for one in self.program.iterators if not one.name]
        own = [one for one in unnamed if one.statement is entry.statement]
        return [
            *(f"{indent}{self.names.iterator(one)} = {self._begun(one)}" for one in own),
            *self.metrics.made(entry.statement, indent),
            *self.layers.made(entry.statement, self.context, indent),
            *self.rates.made(entry.statement, self.context, indent),
        ]

    def _once(self, entry: Entry, role: Role, block: Block) -> None:
        """What is made once, in a strategy's scope: layers, and all that has variables."""
        inner = block.indent + self.source.indent_unit
        lines = self._construction_lines(entry, inner)
        if not lines and role not in OWNED:
            return
        if entry in self.scope.entries[: self._known_behind]:
            self._delayed.append((entry, role))
            return
        for other in self._delayed:
            self._owned(*other, block, inner)
        self._delayed.clear()
        self._owned(entry, role, block, inner)

    def _owned(self, entry: Entry, role: Role, block: Block, inner: str) -> None:
        lines = self._construction_lines(entry, inner)
        if not block.lines:
            self._strategy(block)
            block.line(f"with {self.names.strategy}.scope():")
        block.lines += lines
        if role is Role.UPDATE:
            block.comments(entry.statement, 1)
            block.lines += [inner + line for line in self._update_lines(entry, inner)]
        elif role in OWNED:
            if role is Role.OPTIMIZER:
                assert isinstance(entry.statement, ast.Assign)
                block.lines += [inner + line for line in self._rates_of(entry.statement)]
            edits = self._optimizer(entry) if role is Role.OPTIMIZER else None
            if edits is None:
                edits = tuple(self.context.edits(entry.statement))
            block.statement(entry.statement, edits, 1)

    @property
    def _tower_names(self) -> frozenset[str]:
        return self.scope.towers.names if self.scope.towers is not None else frozenset()

    @cached_property
    def _known_behind(self) -> int:
        """Where all is known that tells the devices: what is made before is made there.

        Raises:
            Refused: it could not be made there, or the devices change.
        """
        names = self.module.names
        home = names.scopes[self.scope.node]
        place = 0
        for node in devices_of(self.program)[0]:
            for name in mentions_of(names, node, home):
                if name.id in self._tower_names:
                    continue
                bound = {binding.node for binding in home.bindings[name.id]}
                above = [
                    index
                    for index, entry in enumerate(self.scope.entries)
                    if not entry.opens
                    and any(is_inside(self.module, one, {entry.statement}) for one in bound)
                ]
                if len(above) > 1:
                    text = f"`{name.id}`, which decides the devices, changes"
                    raise Refused(self.module, name, text, "give each value its own name")
                place = max([place, *(index + 1 for index in above)])
        for entry, role in list(zip(self.scope.entries, self.program.roles))[:place]:
            if role in OWNED and any(
                isinstance(call, ast.Call) and not name_of(self.module, call)
                for call in walk(entry.statement)
            ):
                text = "it is made above the values that decide the devices"
                raise Refused(self.module, entry.statement, text, "make it below those")
        return place

    def _strategy(self, block: Block) -> None:
        """The strategy stands above the first of what it owns."""
        if self._has_strategy:
            return
        self._has_strategy = True
        assert self.scope.towers is not None
        if self.scope.session.args or self.scope.session.keywords:
            self.found.note(self.module, self.scope.towers.loop, _NEEDED, CONFIGURATION)
        devices = devices_of(self.program)[1](self.context)
        made = f"{self.names.strategy} = {self.context.tf}.distribute.MirroredStrategy"
        call = self.style.call(made, [devices], block.indent, len(block.indent))
        block.lines += f"{block.indent}{call}".split("\n")

    def _function(self, made: Step | Part, indent: str) -> list[str]:
        program, names = self.program, self.names
        writer = (TowerStepWriter if self._owns else StepWriter)(
            program,
            names,
            self.sharing,
            self.context,
            self.style,
            indent,
            self.heads,
            self.layers.recurrents,
            self.metrics,
        )
        if isinstance(made, Part):
            texts = [writer.part(made)]
            if isinstance(made.builds, Unit):
                name = names.part(made, made is self.sharing.network)
                lines = self.layers.built(made, name, self.context, indent).split("\n")
                texts.append("".join(f"{indent}{line}\n" for line in lines))
            return texts
        texts = writer.step(made)
        if self.parameters.given_to_object(made):
            assert isinstance(self.scope.node, ast.FunctionDef)
            me, name = self.scope.node.args.args[0].arg, names.step(made)
            texts.append(f"{indent}{me}.{name} = {name}\n")
        return texts

    def _edit_region(self, start: int, stop: int, text: str) -> None:
        newline = self.source.newline
        if start != stop or text:
            self._edit(Edit(start, stop, text.replace("\n", newline)))

    def _joined(self, start: int, stop: int, above: int, below: int) -> tuple[int, int]:
        """Where lines go away without a trace, of the blank lines around the fewer ones go too.

        At the end of a file all do.
        """
        text = self.source.text
        if not text[stop:].strip() and text[:start].strip():
            return len(text[:start].rstrip()) + len(self.source.newline), len(text)
        for _ in range(min(above, below)):
            stop = text.index("\n", stop) + 1
        return start, stop

    def _blank_above(self, offset: int) -> int:
        return _blanks(list(reversed(self.source.text[:offset].split("\n")[:-1])))

    def _blank_below(self, offset: int) -> int:
        return _blanks(self.source.text[offset:].split("\n"))

    def _above(self, statement: ast.stmt) -> int:
        """Where a statement begins, with the comments directly above it."""
        line = Layout(self.source, statement).line_start
        number = self.source.place(line)[0]
        while number > 1 and is_comment(self.source.line_text(number - 1)):
            number -= 1
        return self.source.line_starts[number - 1]

    def _header_end(self, entry: Entry) -> int:
        """Behind the lines of a block's header."""
        block = entry.statement
        assert isinstance(block, (ast.With, ast.For, ast.If))
        line = max(getattr(p, "end_lineno", 0) or 0 for n in header_of(block) for p in walk(n))
        while not self.source.line_text(line).split("#")[0].rstrip().endswith(":"):
            line += 1
        return self.source.line_starts[line]

    def _kept_comments(self, entry: Entry, first: bool) -> list[str]:
        """Comments of a statement that goes away without another in its place.

        ``first``: those behind which there is a blank line stand above what is written anew.
        """
        if entry.statement not in self._gone_statements or entry.statement in self.heads.values():
            return []
        if entry.statement in self.program.described:
            return []
        if entry.statement in self.tower_comments or entry.statement in self._averaging:
            return []
        if entry.statement in self.program.lists.values():  # above the list that is written
            return []
        if entry.statement in self._listing:
            return []
        above = leading(self.source, entry.statement)
        if first and "" in above:
            above = above[len(above) - above[::-1].index("") :]
        found = [text for text in above if text.startswith("#")]
        behind = "" if entry.opens else trailing(self.source, entry.statement).strip()
        found += [behind] if behind else []
        return [
            line
            for comment in _comments(found)
            if not any(word in line.lower() for word in _OF_SESSIONS for line in comment)
            for line in comment
        ]

    @cached_property
    def _listing(self) -> set[ast.stmt]:
        """What lists the variables that are copied: the lists stand where they are."""
        copies = self.program.copies.values()
        lists = (one for copy in copies for one in copy.lists if isinstance(one, ast.Name))
        return {self.program.listing(one) for one in lists}

    @cached_property
    def _averaging(self) -> set[ast.stmt]:
        """What made averages of variables, whose comments stand where they are made now."""
        found = (update.averages for update in self.program.updates)
        return {self.module.names.statement(one.node) for one in found if one is not None}

    @property
    def _gone_statements(self) -> set[ast.stmt]:
        pairs = [*zip(self.scope.entries, self.program.roles)]
        for client in self.program.clients:
            pairs += zip(client.entries, client.roles)
        return {entry.statement for entry, role in pairs if role is Role.GONE}

    # -- what stays where it is --------------------------------------------------------

    def _keep(self, entry: Entry, role: Role) -> None:
        statement = entry.statement
        if role is Role.PLACEHOLDER:
            made = next(p for p in self.program.placeholders if p.unit is statement)
            is_number = made in self.program.numbers
            text = placeholder_text(made, self.names.spec(made), is_number, self.context)
            self._edit(Edit(*self.source.span(statement), text))
            self.found.moved.add(statement)
        elif role in _PLACED:
            if statement in self._placed:
                self._edit(self._placed[statement])
            self._edit(*outermost(self.context.edits(statement)))
            self.found.moved.add(statement)
        elif role is Role.COMPUTED:
            self._in_place(statement)
            self.found.moved.add(statement)
        elif role is Role.OPTIMIZER:
            self._edit(*outermost(self._optimizer(entry)))
            start = self.source.span(statement)[0]
            assert isinstance(statement, ast.Assign)
            for line in self._rates_of(statement):
                above = f"{line}\n{self.source.indent_of(statement)[: -entry.dedent or None]}"
                self.found.edit(self.module, Edit(start, start, above))
            self.found.moved.add(statement)
        elif role is Role.SCHEDULE:
            assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
            text = self.rates.schedule(statement.value, self.context)
            self._edit(Edit(*self.source.span(statement.value), text))
            self.found.moved.add(statement)
        elif role is Role.UPDATE:
            self._update(entry)
            self.found.moved.add(statement)
        elif role is Role.HOST_OBJECT:
            self._drawn(statement)
            for writer in self.program.event_writers:
                if writer.statement is statement:
                    self._edit(*self.summaries.made(writer))
            if any(saver.statement is statement for saver in self.program.savers):
                self._edit(*self.savers.made(statement, self._dedent_of(statement)))
            self.found.moved.add(statement)

    def _optimizer(self, entry: Entry) -> tuple[Edit, ...]:
        """The edits of an optimizer with a name of its own."""
        assert isinstance(entry.statement, ast.Assign)
        optimizer = self.program.optimizers[entry.statement]
        writer = OptimizerWriter(optimizer, self.style)
        self._classes(writer)
        return self._constructor(writer, optimizer)

    def _constructor(self, writer: OptimizerWriter, optimizer: Optimizer) -> tuple[Edit, ...]:
        """The edits of an optimizer's call; a rate that steps have has no value yet."""
        update = self._of_optimizer(optimizer)
        value = optimizer.learning_rate.value
        if isinstance(value, ast.Call) and value in self.program.own_schedules:
            text = self.rates.schedule(value, self.context)
            return (*writer.edits(), Edit(*self.source.span(value), text))
        if update is None or update.rate is None:
            return writer.edits()
        rate = self.names.rate(update)
        text = f"lambda step: {rate}" if optimizer.kind == "momentum" else "0.0"
        return (*writer.edits(), Edit(*self.source.span(update.rate), text))

    def _of_optimizer(self, optimizer: Optimizer) -> Update | None:
        return next((u for u in self.program.updates if u.optimizer is optimizer), None)

    def _rates_of(self, statement: ast.Assign) -> list[str]:
        return self._rates(self.program.optimizers[statement])

    def _rates(self, optimizer: Optimizer) -> list[str]:
        """A variable for the rate that steps give an optimizer, where Keras's will not do."""
        update = self._of_optimizer(optimizer)
        if update is None or update.rate is None:
            return []
        made = self.rates.made(update.rate, self.context, "")
        if optimizer.kind != "momentum":
            return made
        tf = self.style.tensorflow
        return [*made, f"{self.names.rate(update)} = {tf}.Variable(0.0, trainable=False)"]

    def _classes(self, writer: OptimizerWriter) -> None:
        for text in writer.classes:
            if text not in self.classes:
                self.classes.append(text)

    def _update(self, entry: Entry) -> None:
        """`train = tf.train.AdamOptimizer(rate).minimize(loss)`: the optimizer, built."""
        statement = entry.statement
        indent = self.source.indent_of(statement)
        indent = indent[: len(indent) - entry.dedent]
        lines = self._update_lines(entry, indent)
        layout = Layout(self.source, statement)
        if not layout.owns_lines:
            raise Refused(self.module, statement, "another statement is on its line")
        text = "".join(f"{indent}{line}\n" for line in lines).replace("\n", self.source.newline)
        if layout.next_line == len(self.source.text) and not self.source.text.endswith("\n"):
            text = text.rstrip("\r\n")
        self._edit(Edit(layout.line_start, layout.next_line, text))

    def _update_lines(self, entry: Entry, indent: str) -> list[str]:
        statement = entry.statement
        update = next(u for u in self.program.updates if u.statement is statement)
        lines: list[str] = []
        optimizer = self.names.optimizer(update)
        comment = trailing(self.source, statement)
        if not update.optimizer_name:
            writer = OptimizerWriter(update.optimizer, self.style)
            self._classes(writer)
            call = update.optimizer.node
            assert isinstance(call, ast.Call)
            edits = self.context.with_arguments(call, self._constructor(writer, update.optimizer))
            lines += self._rates(update.optimizer)
            head = f"{optimizer} = "
            text = render(self.source, call, edits, len(indent) + len(head), indent)
            lines.append(f"{head}{text}{comment}")
            comment = ""
        for part in self.sharing.parts:
            if part.builds is update:
                name = self.names.part(part, part is self.sharing.network)
                lines += self.layers.built(part, name, self.context, indent).split("\n")
        if update in self.program.lists:
            above = leading(self.source, self.program.lists[update])
            lines += [text for text in above if text.startswith("#")]
        head = f"{self.names.trained(update)} = "
        lines.append(self.layers.trained(update, self.context, head, indent) + comment)
        alike = [one for one in self.program.updates if one.optimizer is update.optimizer]
        every = [self.names.trained(one) for one in alike]
        if len(every) == 1:
            lines.append(f"{optimizer}.build({every[0]})")
        elif update is alike[-1]:
            lines.append(f"{optimizer}.build([{', '.join(f'*{name}' for name in every)}])")
        if self._names_devices and update is alike[-1]:
            lines += [_NO_XLA, f"{optimizer}.jit_compile = False"]
        if update.averages is not None:
            names = self.names
            made = f"{self.style.tensorflow}.Variable({names.variable}, trainable=False)"
            each = f"for {names.variable} in {names.trained(update)}"
            comments = leading(self.source, self.module.names.statement(update.averages.node))
            lines += [text for text in comments if text.startswith("#")]
            lines.append(f"{names.averages(update)} = [{made} {each}]")
            if not update.averages.ordered:
                self.found.note(self.module, update.averages.node, _AVERAGED)
        return lines

    # -- devices --------------------------------------------------------------------------

    @cached_property
    def _names_devices(self) -> bool:
        """Whether variables may lie on another device than what an optimizer keeps of them.

        On GPU 0 both lie without a word; under a strategy each replica has its own of both.
        """
        if self.scope.towers is not None:
            return False
        functions = (*self.program.builders.values(), *self.program.makers.values())
        modules = dict.fromkeys([self.module, *(one.module for one in functions)])
        calls = [(module, call) for module in modules for call in module.names.calls]
        return any(name_of(*one) == "device" and not _is_first_gpu(one[1]) for one in calls)

    @cached_property
    def _placed(self) -> dict[ast.stmt, Edit]:
        """The headers of blocks in which variables are made on a device, by their first ones."""
        found: dict[ast.stmt, Edit] = {}
        for first, *_ in self._placements:
            assert first.device is not None
            header = f"with {self.style.tensorflow}.device({self.source.code(first.device)}):"
            statement = first.statement
            if not Layout(self.source, statement).owns_lines:
                text = "another statement stands on its line, and on a device"
                raise Refused(self.module, statement, text)
            indent = self.source.indent_of(statement)
            outer = indent[: len(indent) - first.dedent]
            end = self.source.span(statement)[0]
            text = f"{outer}{header}{self.source.newline}{outer}{self.source.indent_unit}"
            found[statement] = Edit(end - len(indent), end, text)
        return found

    @cached_property
    def _placements(self) -> list[list[Entry]]:
        """The statements that make variables on a device, those in one block together."""
        found: list[list[Entry]] = []
        before: Entry | None = None
        for entry, role in zip(self.scope.entries, self.program.roles):
            if entry.opens or entry.device is None or role not in _PLACED:
                before = None
                continue
            if before is None or before.device is not entry.device:
                found.append([])
            found[-1].append(entry)
            before = entry
        return found

    @cached_property
    def _on_devices(self) -> dict[ast.stmt, set[int]]:
        """The lines that stay in a block that tells a device, by that."""
        found: dict[ast.stmt, set[int]] = {}
        for entries in self._placements:
            device = entries[0].device
            assert device is not None
            last = entries[-1].statement
            lines = range(entries[0].statement.lineno, (last.end_lineno or last.lineno) + 1)
            found.setdefault(self.module.names.statement(device), set()).update(lines)
        return found

    # -- indentation ------------------------------------------------------------------

    def _dedent(self) -> None:
        """The lines of blocks that go away move out of them."""
        lost: dict[int, int] = {}
        inside: set[int] = set()
        blocks = [*self.scope.blocks, *(b for one in self.program.clients for b in one.blocks)]
        for block in blocks:
            unit = len(self.source.indent_of(block.body[0])) - len(self.source.indent_of(block))
            first = self.source.place(self._header_end(Entry(block, True)))[0]
            inside |= _string_lines(block)
            stays = self._on_devices.get(block, set())
            for number in range(first, self._last_line(block) + 1):
                lost[number] = lost.get(number, 0) + unit * (number not in stays)
        for number, width in lost.items():
            text = self.source.line_text(number)
            start = self.source.line_starts[number - 1]
            if number in inside or not text.strip() or not text[:width].isspace():
                continue
            if not any(first <= start < last for first, last in self.whole):
                self.found.edit(self.module, Edit(start, start + width, ""))

    def _last_line(self, block: Header) -> int:
        """A block's last line, with the comments in it that follow its last statement."""
        depth = len(self.source.indent_of(block.body[0]))
        last = number = block.end_lineno or block.lineno
        while number < len(self.source.line_starts):
            number += 1
            text = self.source.line_text(number)
            comment = text.lstrip()
            if comment and (comment[0] != "#" or len(text) - len(comment) < depth):
                break
            last = number if comment else last
        return last


def _is_first_gpu(device: ast.Call) -> bool:
    """`tf.device("/gpu:0")`."""
    told = constant(device.args[0]) if device.args else None
    return isinstance(told, str) and told.lower().replace("device:", "") == "/gpu:0"


def _reads_trained(step: Step) -> bool:
    """Whether an optimizer of a step minimizes what depends on what another one trains."""
    for update in step.updates:
        read = {v for unit in closure([update.unit]) for v in (*unit.reads, *unit.collects)}
        read |= {v.whole for one in read for v in (one, *one.listed)}
        others = [one for one in step.updates if one is not update]
        every = {v.whole for o in others for some in o.variables for v in (some, *some.listed)}
        if read & every:
            return True
    return False


def _loop(call: ast.Call, context: Context) -> str:
    """`tf.while_loop`, of whose arguments the reader knows that they mean the same."""
    edit = CallEdit(context.module.source, call)
    edit.function(f"{context.tf}.while_loop")
    return context.render_call(call, edit.edits())


def _named(name: str, context: Context) -> str:
    del context
    return name


def _without(module: Module, call: ast.Call, given: list[ast.expr]) -> Replacement:
    def write(context: Context) -> str:
        edit = CallEdit(module.source, call)
        for value in given:
            edit.drop_value(value)
        return context.render_call(call, edit.edits())

    return write


def _comments(lines: list[str]) -> list[list[str]]:
    """Lines of comments, those together that are one which goes on."""
    found: list[list[str]] = []
    for line in lines:
        goes_on = line.lstrip("# ")[:1].islower() and found and len(found[-1][-1]) > _WRAPPED
        if goes_on:
            found[-1].append(line)
        else:
            found.append([line])
    return found


def _blanks(lines: list[str]) -> int:
    count = 0
    for line in lines:
        if line.strip():
            break
        count += 1
    return count


def _string_lines(block: ast.stmt) -> set[int]:
    """The lines of a block that begin inside a string."""
    return {
        line
        for part in walk(block)
        if isinstance(part, (ast.Constant, ast.JoinedStr))
        and (isinstance(part, ast.JoinedStr) or isinstance(part.value, (str, bytes)))
        for line in range(part.lineno + 1, (part.end_lineno or part.lineno) + 1)
        if not (
            isinstance(part, ast.Constant)
            and isinstance(part.value, str)
            and "\n" not in part.value
        )
    }
