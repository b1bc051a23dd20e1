"""A session's program as TF2 code: variables, optimizers, a `tf.function` for each kind of step."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, partial

from migrate_mgpu.analysis.definitions import below_head
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.graph import SPARSE_TENSOR, SPARSE_VALUE
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.folding import is_computed
from migrate_mgpu.models.front.session.host_objects import IteratorStart
from migrate_mgpu.models.front.session.placeholders import is_unshaped
from migrate_mgpu.models.front.session.program import (
    GraphClient,
    Role,
    SessionProgram,
    closure,
    fed_pairs,
    given_by,
    is_late,
)
from migrate_mgpu.models.front.session.scope import Entry, header_of, is_reset
from migrate_mgpu.models.front.towers.loop import shares
from migrate_mgpu.models.ir import Placeholder, Step, Unit
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.losses import calls_keras, replacements
from migrate_mgpu.models.keras.network.cells import cells_in, classes
from migrate_mgpu.models.keras.session import places
from migrate_mgpu.models.keras.session.batch_normalization import Normalization
from migrate_mgpu.models.keras.session.beginnings import BeginningWriter
from migrate_mgpu.models.keras.session.calls import RunWriter, around_fed
from migrate_mgpu.models.keras.session.comments import KeptComments
from migrate_mgpu.models.keras.session.construction import ConstructionWriter
from migrate_mgpu.models.keras.session.defined import defined_calls
from migrate_mgpu.models.keras.session.devices import PLACED, VariableDevices
from migrate_mgpu.models.keras.session.edits import SessionEdits
from migrate_mgpu.models.keras.session.functions import FunctionWriter
from migrate_mgpu.models.keras.session.helper_classes import HelperClassWriter
from migrate_mgpu.models.keras.session.indentation import Indentation
from migrate_mgpu.models.keras.session.layers import LayerWriter
from migrate_mgpu.models.keras.session.metrics import MetricWriter
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.models.keras.session.notes import tell
from migrate_mgpu.models.keras.session.owned import OWNED, OwnedWriter
from migrate_mgpu.models.keras.session.rates import RateWriter
from migrate_mgpu.models.keras.session.savers import SaverWriter, dropped
from migrate_mgpu.models.keras.session.sharing import Part, Sharing
from migrate_mgpu.models.keras.session.step_parameters import StepParameterWriter
from migrate_mgpu.models.keras.session.steps import StepWriter
from migrate_mgpu.models.keras.session.summaries import SummaryWriter
from migrate_mgpu.models.keras.session.updates import UpdateWriter
from migrate_mgpu.models.keras.session.variables import (
    assignment_replacement,
    placeholder_text,
    variable_replacement,
)
from migrate_mgpu.models.keras.towers.steps import (
    TowerStepWriter,
    inputs_of_towers,
)
from migrate_mgpu.source.blocks import Block, outermost
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


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
        self.edits = SessionEdits(self.module)
        self.found = self.edits.found
        self.context = Context(self.module, self.style)
        self.names = StepNames(program)
        self.sharing = Sharing(program)
        self.devices = VariableDevices(program, self.style.tensorflow)
        self.indentation = Indentation(program, self.devices)
        for operation in program.made:
            if not isinstance(operation, Placeholder):
                scope = program.scopes.get(operation.node, "")
                indent_at = self._indent_at if operation.module is self.module else None
                self.context.replaced[operation.node] = variable_replacement(
                    operation, scope, indent_at, self._owns
                )
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
            self._asks_shapes(unshaped),
            self.normalization,
        )
        self.names.attributes.update(self.helper_classes.attributes)
        self.functions = FunctionWriter(
            program, self.edits, self.context, self.style, self.helper_classes
        )
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
            (call, partial(_named, self.source.code(call.func.value)))
            for one in program.assignments
            for call in one.read
            if isinstance(call.func, ast.Attribute)
        )
        self.context.replaced.update(
            (call, assignment_replacement(one)) for call, one in program.assigning.items()
        )
        self.beginnings = BeginningWriter(program, self.names, self.context)
        self.savers = SaverWriter(program, self.names, self.style, self._made_at)
        self.metrics = MetricWriter(program, self.names, self.style)
        self.context.replaced.update(self.metrics.uses())
        self.rates = RateWriter(program, self.names, self.style)
        self.context.replaced.update(self.rates.uses())
        self.updates = UpdateWriter(
            program,
            self.names,
            self.context,
            self.style,
            self.sharing,
            self.layers,
            self.rates,
            self.devices,
            self.found,
        )
        self.summaries = SummaryWriter(
            program, self.names, self.style, self.indentation.lost_at, self._shown_at
        )
        self.context.replaced.update(self.summaries.uses())
        self.context.replaced.update(inputs_of_towers(program))
        self.context.replaced.update(self.devices.in_loops())
        self.context.replaced.update(self.functions.predicates(self.module, [*nodes, *functions]))
        parts = (part for node in (*nodes, *functions) for part in walk(node))
        calls = (part for part in parts if isinstance(part, ast.Call))
        loops = [call for call in calls if name_of(self.module, call) == "while_loop"]
        self.context.replaced.update((loop, partial(_loop, loop)) for loop in loops)
        for own in program.own_iterators:
            self.context.replaced[own.statement.value] = partial(_begun, own.source)
        for one in program.iterators:
            if not one.name:
                self.context.replaced[one.call] = partial(_named, self.names.iterator(one))
        self.context.replaced.update(self.functions.without_reuse())
        self.context.replaced.update(self.functions.with_captures())
        self.classes: list[str] = []
        # What only names things, or says that these are there, by the unit behind it, or behind
        # variables that a strategy owns: it has their comments.
        self.heads: dict[ast.AST, ast.stmt] = {}
        pairs = list(zip(self.scope.entries, program.roles))
        head: ast.stmt | None = None
        for (entry, _), (first, role) in zip(pairs, pairs[1:]):
            names = entry.opens and first.scopes != entry.scopes
            if names or shares(self.module, entry.statement):
                head = entry.statement
            if head is not None and role is Role.UNIT:
                self.heads[first.statement] = head
            head = head if self._owns and role in OWNED else None
        for place, (entry, role) in enumerate(pairs):
            if role is Role.PLACEHOLDER and self._is_known(entry.statement):
                program.roles[place] = Role.GONE
        self.parameters = StepParameterWriter(program, self.names, self.context, self.style)
        self.construction = ConstructionWriter(
            program, self.names, self.context, self.metrics, self.layers, self.rates
        )
        self.owned = OwnedWriter(
            program,
            self.names,
            self.context,
            self.style,
            self.construction,
            self.updates,
            self.found,
        )
        self.comments = KeptComments(program, self.heads.values())

    def _asks_shapes(self, unshaped: AbstractSet[Placeholder]) -> bool:
        """Whether a layer is applied to what follows from something that is fed without a shape."""
        applied = {node for made in self.program.layers.values() for node, _ in made.applications}
        units = (u for step in self.program.steps for u in step.units if u.node in applied)
        return any(p in unshaped for unit in units for one in closure([unit]) for p in one.feeds)

    def _indent_at(self, statement: ast.AST) -> str:
        """The indentation that a statement which makes variables gets: a strategy's are in it."""
        if not self._owns:
            indent = self.source.indent_of(statement)[self.indentation.lost_at(statement) :]
            return indent + self.source.indent_unit * self.devices.keeps(statement)
        home, unit = self.scope.node, self.source.indent_unit
        return unit if isinstance(home, ast.Module) else self.source.indent_of(home) + 2 * unit

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

    def _fed(self, key: ast.expr, value: ast.expr | None) -> None:
        """A placeholder in a dictionary of feeds is its name; numbers become what feeds made."""
        placeholder = self.program.fed[key]
        self.edits.edit(Edit(*self.source.span(key), self.style.string(placeholder.name)))
        if value is None and placeholder.sparse:
            text = "what a sparse tensor is fed stands in no dictionary"
            raise Refused(self.module, key, text, "write `{placeholder: value}`")
        head, tail = around_fed(placeholder, value, self.names, self.context) if value else ("", "")
        if head and value is not None:
            start, end = self.source.span(value)
            self.edits.edit(Edit(start, start, head))
            self.edits.edit(Edit(end, end, tail))

    def write(self) -> EditSet:
        self.classes += self.functions.write()
        self.functions.leave_out_helpers()
        self.helper_classes.edits(self.found, self.module)
        self.classes += classes(self.module, cells_in(self.module), self.style)
        self._regions()
        self.classes += (text for text in self.updates.classes if text not in self.classes)
        if any(one.sparse for step in self.program.steps for one in step.feeds):
            self.classes.append(SPARSE_TENSOR.written(self.names.sparse, self.style))
        if self.names.sparse_value:
            self.classes.append(SPARSE_VALUE.written(self.names.sparse_value, self.style))
        self._globals()
        for statement in self.program.dictionaries:
            made = statement.value
            for key, value in fed_pairs(made):
                if isinstance(made, ast.Dict) and value in self.program.folded:
                    self.edits.edit(self._without(made, value))
                    continue
                self._fed(key, value)
        for item in self.program.fed_items:
            for key, value in item.pairs:
                self._fed(key, value)
        parameters = self.parameters
        for edit in parameters.edits():
            self.edits.edit(edit)
        runs = RunWriter(
            self.program,
            self.names,
            self.context,
            self.style,
            self.indentation.lost_at,
            parameters.step,
        )
        for edit in runs.edits():
            self.edits.edit(edit)
        kept = {entry.statement for entry in self.scope.entries}
        kept |= {e.statement for client in self.program.clients for e in client.entries}
        for writer in self.program.event_writers:
            if writer.statement not in kept:
                for edit in self.summaries.made(writer):
                    self.edits.edit(edit)
        for edit in (*self.savers.calls(), *self.summaries.calls()):
            self.edits.edit(edit)
        for one in self.program.assignments:
            text = assignment_replacement(one)(self.context)
            self.edits.edit(Edit(*self.source.span(one.call), text))
            self.found.gone.update(
                call.func
                for call in walk(one.call)
                if isinstance(call, ast.Call) and name_of(self.module, call) == one.kind
            )
        for call, path in self.program.checkpoint_queries.items():
            shown = self.context.render(path)
            shown = shown if isinstance(path, (ast.Name, ast.Attribute, ast.Call)) else f"({shown})"
            exists = f"{self.style.tensorflow}.io.gfile.exists"
            text = f"{exists}({shown} + {self.style.string('.index')})"
            self.edits.edit(Edit(*self.source.span(call), text))
        self.found.merge(self.summaries.found)
        for restart, start in self.program.restarts.items():
            text = self._restarted(start)
            self.edits.edit(Edit(*self.source.span(restart), text))
        for own in self.program.own_iterators:
            for edit in runs.own_iterator(own):
                self.edits.edit(edit)
        for reset in self.program.metric_resets:
            indent = self.source.indent_of(reset)[self.indentation.lost_at(reset) :]
            text = f"{self.source.newline}{indent}".join(self.metrics.begun())
            self.edits.edit(Edit(*self.source.span(reset), text))
        for beginning in self.program.beginnings:
            if beginning.acts:
                run = beginning.statement
                indent = self.source.indent_of(run)[self.indentation.lost_at(run) :]
                lines = self.beginnings.lines(beginning)
                text = f"{self.source.newline}{indent}".join(lines)
                self.edits.edit(Edit(*self.source.span(run), text))
        for initializing in self.program.dropped:
            self.edits.edit(dropped(self.module, initializing))
        self.found.merge(self.savers.found)
        self.classes += self.savers.classes
        self.found.edit(self.module, *self.indentation.edits(self.edits.whole))
        self.classes += self.normalization.classes
        tell(self.program, self.found)
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
                    self.edits.edit(Edit(*self.source.span(statement), f"global {', '.join(left)}"))
                elif layout.owns_lines:
                    self.edits.edit(layout.replace([]))

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
        first = below_head(self.module)
        if first is None or not any(s in body for s in self.module.tensorflow_imports):
            text = "it needs a helper class, and TensorFlow is imported inside of a function"
            raise Refused(self.module, self.scope.session, text)
        name = self.style.tensorflow.partition(".")[0]
        if not _binds(body[: body.index(first)], name):
            text = "it needs a helper class, and TensorFlow is imported below what uses it"
            raise Refused(self.module, first, text, "import it with the others")
        start = places.above(self.source, first)
        above = "\n" * max(2 - places.blank_above(self.source, start), 0)
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
        if self.program.saved is not None:
            slots.setdefault(len(scope.entries), [])  # what it keeps for savers stands there
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

    @cached_property
    def _parted(self) -> set[ast.stmt]:
        """The first statements of regions: what is above a blank line above them stays there."""
        scope, roles = self.scope, self.program.roles
        home = GraphClient(scope.node, scope.entries, scope.blocks, roles)
        return {
            entry.statement
            for index, entry in enumerate(home.entries)
            if not index
            or not self._goes(roles[index - 1])
            or self._part(home, index) != self._part(home, index - 1)
        }

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

    def _restarted(self, start: IteratorStart) -> str:
        """The statement that begins an iterator anew, or that of an object."""
        name = start.iterator.name
        own = f"{start.holder}.{self.program.attributes[name]}" if start.holder else name
        return f"{own} = {self._begun_anew(start)}"

    def _begun_anew(self, start: IteratorStart) -> str:
        """What draws from a dataset, or from that of an object, from its beginning."""
        source, known = start.source, self.program.attributes
        if not start.holder:
            return self.construction.begun(source)
        name = source.attr if isinstance(source, ast.Attribute) else known[ast.unparse(source)]
        return f"iter({start.holder}.{name})"

    def _kept(self, statement: ast.Assign, dedent: int, role: Role) -> None:
        """What an object keeps to begin an iterator by, in the place of its start, or beside it."""
        assert isinstance(self.scope.node, ast.FunctionDef)
        me = self.scope.node.args.args[0].arg
        lines = [f"{me}.{name} = {name}" for name in self.program.kept[statement]]
        if role is Role.HOST:
            lines.insert(0, self.source.code(statement))
        indent = self.source.indent_of(statement)[: -dedent or None]
        text = f"{self.source.newline}{indent}".join(lines)
        self.edits.edit(Edit(*self.source.span(statement), text))
        self.found.moved.add(statement)

    def _made_at(self, step: Step, statement: ast.stmt) -> str:
        """How a step is called at a statement; empty where it is not made yet."""
        places = {entry.statement: place for place, entry in enumerate(self.scope.entries)}
        made = self._slot(step) <= places.get(statement, -1)
        return self.parameters.known_at(step, statement) if made else ""

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
                shown = self.parameters.known_at(step, statement)
                holder = shown.rpartition(".")[0] if drawn else ""
                given = (IteratorStart(one, one.source, holder) for one in drawn)
                begun = ", ".join(map(self._begun_anew, given))
                if shown:
                    return f"{shown}.get_concrete_function({begun})"
        return ""

    def _is_loss(self, node: ast.AST) -> bool:
        return any(node in (one.loss, one.rate) for one in self.program.updates)

    def _goes(self, role: Role) -> bool:
        owned = self._owns and role in OWNED
        return owned or role in (Role.GONE, Role.UNIT)

    def _drawn(self, statement: ast.stmt) -> None:
        """A dataset stays; what draws from it is Python's own iterator."""
        if any(one.statement is statement for one in self.program.datasets):
            self.edits.in_place(statement, self.context)
            if any(isinstance(n, ast.Attribute) and n.attr == "shuffle" for n in walk(statement)):
                text = "TF2 shuffles in a different order than TF1, even from the same seed"
                self.found.note(self.module, statement, text)
        for one in self.program.iterators:
            if one.statement is statement:
                self.edits.edit(
                    Edit(*self.source.span(one.call), self.construction.begun(one.source))
                )

    def _is_known(self, statement: ast.stmt) -> bool:
        """Whether a statement makes a placeholder that is never fed: steps know its value."""
        made = next((p for p in self.program.placeholders if p.unit is statement), None)
        steps = self.program.steps
        if made is not None and is_computed(made):
            return False
        return any(made is placeholder for step in steps for placeholder, _ in step.folded) and (
            not any(made in step.feeds for step in steps)
        )

    @property
    def _owns(self) -> bool:
        """Whether a strategy owns what is made once."""
        return self.scope.towers is not None

    def _gives_options(self, client: GraphClient, statement: ast.stmt) -> bool:
        """Whether a function beside the graph opens a session with options."""
        if client.node is self.scope.node or not isinstance(statement, ast.With):
            return False
        made = [part for item in statement.items for part in walk(item.context_expr)]
        sessions = self.scope.sessions
        return any(call.args or call.keywords for call in sessions if call in made)

    def _region(
        self, client: GraphClient, index: int, end: int, slots: Mapping[int, list[Step | Part]]
    ) -> None:
        entries, source = client.entries, self.source
        body, optioned = client.node.body, False
        if index < end:
            first, last = entries[index], entries[end - 1]
            start = places.above(self.source, first.statement)
            optioned = self._gives_options(client, first.statement)
            if optioned:  # they are set here: what stands above is of them
                start = Layout(source, first.statement).line_start
            if last.opens:
                assert isinstance(last.statement, (ast.With, ast.For, ast.If))
                stop = places.header_end(source, last.statement)
            else:
                stop = Layout(source, last.statement).next_line
        elif index < len(entries) and (
            not index or self._part(client, index) == self._part(client, index - 1)
        ):
            start = stop = places.above(self.source, entries[index].statement)
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
            if entry is not entries[index] or not optioned:
                kept += self.comments.of(entry, entry is entries[index])
        home = entries[min(end, len(entries) - 1)]
        indent = source.indent_of(home.statement)
        indent = indent[: len(indent) - home.dedent]
        is_module = isinstance(client.node, ast.Module)
        texts, once = self._texts(client, index, end, slots, indent)
        gap = "\n" * (3 if is_module and not indent else 2)
        above = places.blank_above(self.source, start)
        below = places.blank_below(self.source, stop)
        if not texts and isinstance(client.node, ast.FunctionDef) and end - index == len(entries):
            kept.append("pass")  # nothing else is left of it
        lines = "".join(f"{indent}{line}\n" for line in kept)
        if not texts:
            text = lines
            if not kept:
                start, stop = places.joined(self.source, start, stop, above, below)
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
        starts = [source.line_starts[one.statement.lineno - 1] for one in entries[index:end]]
        resets = [is_reset(self.module, one.statement) for one in entries[index:end]]
        if (
            text and resets[:1] == [True] and not all(resets)
        ):  # options of devices may stand below it
            behind_resets = starts[resets.index(False)]
            if start < behind_resets < stop:
                self.edits.region(start, behind_resets, "")
                start = behind_resets
        self.edits.region(start, stop, text, starts)

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
                block.lines += self.construction.lines(entry, indent)
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
                self.owned.once(client.entries[place], client.roles[place], block)
        if block.lines:
            texts.append("\n".join(block.lines))
            once.append(True)
        node, saver = self.scope.node, self.program.saved
        if saver is not None and client.node is node and end == len(client.entries):
            assert isinstance(node, ast.FunctionDef)
            texts.append(self.savers.kept(saver, node.args.args[0].arg, indent))
            once.append(True)
        return texts, once

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
            self._parted,
        )
        if isinstance(made, Part):
            texts = [writer.part(made)]
            if isinstance(made.builds, Unit):
                name = names.part(made, made is self.sharing.network)
                lines = self.layers.built(made, name, self.context, indent).split("\n")
                if program.scope.towers is not None:
                    scope, inner = f"with {names.strategy}.scope():", self.source.indent_unit
                    lines = [scope, *(f"{inner}{line}" for line in lines)]
                texts.append("".join(f"{indent}{line}\n" for line in lines))
            if made.sizes:
                name = names.part(made, made is self.sharing.network)
                block = Block(self.source, indent)
                block.lines += self.layers.traced(made, name, self.context, indent)
                for unit in made.sizes:
                    assert isinstance(unit.node, ast.stmt)
                    block.statement(unit.node, tuple(self.context.edits(unit.node)))
                texts.append(block.text())
            return texts
        texts = writer.step(made)
        if self.parameters.given_to_object(made):
            assert isinstance(self.scope.node, ast.FunctionDef)
            me, name = self.scope.node.args.args[0].arg, names.step(made)
            texts.append(f"{indent}{me}.{name} = {name}\n")
        return texts

    # -- what stays where it is --------------------------------------------------------

    def _keep(self, entry: Entry, role: Role) -> None:
        statement = entry.statement
        if isinstance(statement, ast.Assign) and statement in self.program.kept:
            self._kept(statement, entry.dedent, role)
        elif role is Role.PLACEHOLDER:
            made = next(p for p in self.program.placeholders if p.unit is statement)
            is_number = made in self.program.numbers
            text = placeholder_text(made, self.names.spec(made), is_number, self.context)
            self.edits.edit(Edit(*self.source.span(statement), text))
            self.found.moved.add(statement)
        elif role in PLACED:
            if statement in self.devices.headers:
                self.edits.edit(self.devices.headers[statement])
            self.edits.edit(*outermost(self.context.edits(statement)))
            begun = self.updates.begun_below(statement)
            if begun:
                end = self.source.span(statement)[1]
                indent = self.source.indent_of(statement)[: -entry.dedent or None]
                self.found.edit(
                    self.module, Edit(end, end, f"{self.source.newline}{indent}{begun}")
                )
            self.found.moved.add(statement)
        elif role is Role.COMPUTED:
            self.edits.in_place(statement, self.context)
            self.found.moved.add(statement)
        elif role is Role.OPTIMIZER:
            self.edits.edit(*outermost(self.updates.optimizer(statement)))
            start = self.source.span(statement)[0]
            for line in self.updates.rates_of(statement):
                above = f"{line}\n{self.source.indent_of(statement)[: -entry.dedent or None]}"
                self.found.edit(self.module, Edit(start, start, above))
            self.found.moved.add(statement)
        elif role is Role.SCHEDULE:
            assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
            text = self.rates.schedule(statement.value, self.context)
            self.edits.edit(Edit(*self.source.span(statement.value), text))
            self.found.moved.add(statement)
        elif role is Role.UPDATE:
            self.edits.edit(self.updates.edit(entry))
            self.found.moved.add(statement)
        elif role is Role.HOST_OBJECT:
            self._drawn(statement)
            for writer in self.program.event_writers:
                if writer.statement is statement:
                    self.edits.edit(*self.summaries.made(writer))
            if any(saver.statement is statement for saver in self.program.savers):
                self.edits.edit(*self.savers.made(statement, self.indentation.lost_at(statement)))
            self.found.moved.add(statement)


def _loop(call: ast.Call, context: Context) -> str:
    """`tf.while_loop`, of whose arguments the reader knows that they mean the same."""
    edit = CallEdit(context.module.source, call)
    edit.function(f"{context.tf}.while_loop")
    return context.render_call(call, edit.edits())


def _begun(source: ast.expr, context: Context) -> str:
    return f"iter({context.render(source)})"


def _named(name: str, context: Context) -> str:
    del context
    return name


def _binds(statements: Sequence[ast.stmt], name: str) -> bool:
    """Whether one of some statements imports what a name stands for."""
    imports = [one for one in statements if isinstance(one, (ast.Import, ast.ImportFrom))]
    return any(
        name == (alias.asname or alias.name.partition(".")[0])
        for one in imports
        for alias in one.names
    )
