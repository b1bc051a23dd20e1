"""Steps of a program of towers: what each replica does, and what is made of all of it."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Iterable, Sequence

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.program import Role, SessionProgram, given_by
from migrate_mgpu.models.front.session.scope import Entry
from migrate_mgpu.models.front.towers.loop import device_spec, is_cpu
from migrate_mgpu.models.ir import (
    Combined,
    Gathered,
    GradientClip,
    ShownGradients,
    Stage,
    Step,
    TowerInput,
    Unit,
    Update,
)
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.session.sharing import Part
from migrate_mgpu.models.keras.session.steps import StepWriter
from migrate_mgpu.source.blocks import bracketed, leading

Items = Sequence["Unit | Part"]


def devices_of(program: SessionProgram) -> tuple[list[ast.expr], Callable[[Context], str]]:
    """What tells the devices of all towers, and what writes them as a list.

    Raises:
        Refused: it is not known before the towers are built how many there are.
    """
    towers = program.scope.towers
    assert towers is not None
    loop, device, count = towers.loop, towers.device, program.count

    def shown(context: Context) -> str:
        told = device_spec(program.scope.module, device)
        if told is None:
            return context.render(device)
        kind, index = told
        number = context.render(index)
        number = number if isinstance(index, (ast.Name, ast.Constant)) else f"({number})"
        return f"{context.style.string(f'/{kind}:%d')} % {number}"

    used = {part.id for part in walk(device) if isinstance(part, ast.Name)} & towers.names
    items = [(name, sequence) for name, sequence in towers.items if name in used]
    if isinstance(device, ast.Name) and len(items) == 1:
        sequence = items[0][1]
        return [sequence], lambda context: context.render(sequence)
    if len(items) == 1 and used == {items[0][0]}:
        name, sequence = items[0]
        return [
            device,
            sequence,
        ], lambda context: f"[{shown(context)} for {name} in {context.render(sequence)}]"
    if not items and towers.items and count is not None:
        return (
            [device, count],
            lambda context: (
                f"[{shown(context)} for {towers.index} in range({context.render(count)})]"
            ),
        )
    if towers.items:
        module = program.scope.module
        raise Refused(module, loop, "how many towers there are is not known before they are built")
    return (
        [device, loop.iter],
        lambda context: (
            f"[{shown(context)} for {context.render(loop.target)} in {context.render(loop.iter)}]"
        ),
    )


def stage_of(item: Unit | Part) -> Stage:
    return item.units[0].stage if isinstance(item, Part) else item.stage


@record(frozen=True, eq=False)
class _Plan:
    """A step taken apart: what is computed when, and what passes from one to the next.

    ``split`` are the units that only make the ``inputs``, which replicas ``take``, besides
    what all of them are ``given``. They ``give`` values back, of which ``last`` are those of
    one replica.
    """

    split: tuple[Unit, ...]
    inputs: tuple[TowerInput, ...]
    whole: Items
    tower: Items
    combined: tuple[Unit, ...]
    take: tuple[str, ...]
    given: tuple[str, ...]
    give: tuple[str, ...]
    last: tuple[str, ...]


class TowerStepWriter(StepWriter):
    """Writes a step as functions: its batch's parts, a replica's work, and the step itself."""

    def step(self, step: Step) -> list[str]:
        items = self.sharing.ordered(step) or []
        if all(unit.stage is Stage.WHOLE for unit in step.units):
            return super().step(step)
        plan = self._plan(step, items)
        texts: list[str] = []
        name, is_new = "", False
        if plan.inputs:
            name, is_new = self.names.split(plan.inputs, (*plan.take, *self._parameters(plan)))
        if is_new:
            texts.append(self._split(plan, name))
        texts.append(self._replica(step, plan))
        texts.append(self._whole(step, plan, name))
        return texts

    # -- taking apart -----------------------------------------------------------------

    def _plan(self, step: Step, items: Items) -> _Plan:
        by_stage = {stage: [item for item in items if stage_of(item) is stage] for stage in Stage}
        tower = by_stage[Stage.TOWER]
        combined = tuple(unit for unit in by_stage[Stage.COMBINED] if isinstance(unit, Unit))
        inputs = tuple(unit for unit in by_stage[Stage.INPUT] if isinstance(unit, TowerInput))
        inputs = tuple(sorted(inputs, key=_position))
        read = self._reads(tower)
        take = [name for one in inputs for name in one.names if name in read]
        later = {*read, *self._reads(combined)}
        rates = [update.rate for update in step.updates if update.rate is not None]
        later |= {
            part.id for one in (*step.values, *rates) for part in walk(one)
            if isinstance(part, ast.Name)
        }  # fmt: skip
        split: list[Unit] = []
        for item in reversed(by_stage[Stage.WHOLE]):
            if isinstance(item, Unit) and not given_by(item) & later:
                split.insert(0, item)
            else:
                later.update(self._reads([item]))
        whole = [item for item in by_stage[Stage.WHOLE] if item not in split]
        self._check(step, by_stage)
        self._check_drawn(step, inputs)
        own = {name for item in tower for unit in _units(item) for name in given_by(unit)}
        given = [n for n in dict.fromkeys(read) if n not in {*own, *take} and self._is_value(n)]
        last = [
            name
            for unit in combined
            for other in unit.after
            if other.stage in (Stage.TOWER, Stage.INPUT) and not isinstance(unit, Gathered)
            for name in dict.fromkeys(self.sharing.reads(unit))
            if name in given_by(other)
        ]
        norms = {clip.norm for update in step.updates for clip in update.clips}
        last += [
            value.id
            for value in step.values
            if isinstance(value, ast.Name) and (value.id in norms or self._is_last(value.id, step))
        ]
        give = [u.value.id for u in combined if isinstance(u, Gathered) and u.value is not None]
        give += last
        give += [self.names.gradients] if self.program.shown_in(step) else []
        if not give and step.updates and self._may_end(step):
            loss = step.updates[0].loss  # what is counted waits for it
            give += [loss.id] if isinstance(loss, ast.Name) else []
        return _Plan(
            tuple(split),
            inputs,
            whole,
            tower,
            combined,
            tuple(dict.fromkeys(take)),
            tuple(given),
            tuple(dict.fromkeys(give)),
            tuple(dict.fromkeys(last)),
        )

    def _is_last(self, name: str, step: Step) -> bool:
        """Whether a value that is fetched is that of one tower."""
        making = [unit for unit in step.units if name in given_by(unit)]
        return bool(making) and making[-1].stage is Stage.TOWER

    def _check(self, step: Step, by_stage: dict[Stage, list[Unit | Part]]) -> None:
        """A name has one value outside of the towers, or is theirs."""
        module = self.program.scope.module
        names = {
            stage: {name for item in items for unit in _units(item) for name in given_by(unit)}
            for stage, items in by_stage.items()
        }
        outside, inside = names[Stage.WHOLE], names[Stage.TOWER] | names[Stage.INPUT]
        for name in sorted(outside & (inside | names[Stage.COMBINED])):
            making = next(unit for unit in step.units if name in given_by(unit))
            text = f"`{name}` has a value in the towers, and another one outside of them"
            raise Refused(module, making.node, text, "give the two different names")

    def _check_drawn(self, step: Step, inputs: Iterable[TowerInput]) -> None:
        """Each tower that computes something draws a batch, and no other does."""
        drawn = [one for one in inputs if one.drawn]
        gathers = (Gathered, ShownGradients)
        every = step.updates or any(isinstance(unit, gathers) for unit in step.units)
        if drawn and not every:
            text = "this is run for one tower, which alone draws a batch: a strategy runs all"
            raise Refused(
                self.program.scope.module,
                step.values[0] if step.values else drawn[0].node,
                text,
                "fetch it with the step that trains",
            )

    def _reads(self, items: Iterable[Unit | Part]) -> list[str]:
        found: list[str] = []
        for item in items:
            found += item.takes if isinstance(item, Part) else self.sharing.reads(item)
        return found

    def _is_value(self, name: str) -> bool:
        return self.sharing.is_value(name)

    # -- the parts of a batch -----------------------------------------------------------

    def _split(self, plan: _Plan, name: str) -> str:
        """A function that gives each replica its part of a batch."""
        block = self.block = self.block.beside()
        block.line(f"def {name}({', '.join(self._parameters(plan))}):")
        self._items(plan.split, 1)
        if plan.split:
            block.line()
        towers = self.program.scope.towers
        assert towers is not None
        context, index = self.names.of_replica, towers.index or self.names.index
        block.line(f"def {self.names.part_of}({context}):", 1)
        taken = [u for u in plan.inputs if u.item or self._asks(u, index)]
        if taken:
            block.line(f"{index} = {context}.replica_id_in_sync_group", 2)
        mentioned = {name for unit in plan.inputs for name in self._mentions(unit)}
        for item, sequence in towers.items:
            if item in mentioned and not any(item in unit.names for unit in plan.inputs):
                block.line(f"{item} = {self.context.render(sequence)}[{index}]", 2)
        texts: dict[str, str] = {}
        for unit in plan.inputs:
            if isinstance(unit.node, ast.stmt):
                block.statement(unit.node, self.context.edits(unit.node), 2)
                texts.update((name, name) for name in unit.names)
            else:
                text = self._original(unit.node)
                texts[unit.names[0]] = f"{text}[{index}]" if unit.item else text
        for unit in plan.inputs:
            if unit.item and any(unit in other.after for other in plan.inputs):
                raise Refused(
                    self.program.scope.module, unit.node, "parts of a batch are taken apart again"
                )
        block.line(f"return {', '.join(texts[name] for name in plan.take)}", 2)
        block.line()
        strategy = self.names.strategy
        made = f"{strategy}.experimental_distribute_values_from_function({self.names.part_of})"
        block.line(f"return {made}", 1)
        return self._text()

    def _asks(self, unit: TowerInput, index: str) -> bool:
        """Whether a part of a batch is told by the number of its tower."""
        towers = self.program.scope.towers
        assert towers is not None
        return not {index, *(name for name, _ in towers.items)}.isdisjoint(self._mentions(unit))

    def _original(self, node: ast.expr) -> str:
        """An expression that stands for a parameter where the replicas have it."""
        replaced = {other: text for other, text in self.context.replaced.items() if other != node}
        context = self.context
        return Context(context.module, context.style, None, context.names, replaced).render(node)

    def _mentions(self, unit: TowerInput) -> set[str]:
        return {part.id for part in walk(unit.node) if isinstance(part, ast.Name)}

    def _parameters(self, plan: _Plan) -> list[str]:
        """What the parts are made of: what is fed, or computed before."""
        own = {name for unit in (*plan.split, *plan.inputs) for name in given_by(unit)}
        read = self._reads([*plan.split, *plan.inputs])
        found = [name for name in dict.fromkeys(read) if name not in own and self._is_value(name)]
        order = [placeholder.name for placeholder in self.program.placeholders]
        return sorted(found, key=lambda n: order.index(n) if n in order else len(order))

    # -- a replica ------------------------------------------------------------------------

    def _replica(self, step: Step, plan: _Plan) -> str:
        block = self.block = self.block.beside()
        if step.updates:
            self._comments(Above.REPLICA, 0)
        given = [*plan.take, *plan.given, *self._noise(step)]
        block.line(f"def {self.names.replica(step)}({', '.join(given)}):")
        updates = step.updates or tuple(self.program.shown_in(step))
        if updates:
            applies = bool(step.updates)
            self._training(updates, plan.tower, applies and self._may_end(step), applies)
        else:
            self._items(plan.tower, 1)
        if plan.give:
            block.line(f"return {', '.join(plan.give)}", 1)
        return self._text()

    def _comments(self, above: Above, deeper: int) -> None:
        """Comments of statements that go away."""
        source = self.program.scope.module.source
        for statement, place in comments_of_towers(self.program).items():
            if place is above:
                for text in leading(source, statement):
                    if text.startswith("#"):
                        self.block.line(text, deeper)

    def _loss(self, update: Update) -> str:
        loss = super()._loss(update)
        if update.mean:
            loss = f"{self.style.tensorflow}.reduce_mean({loss})"
        if update.combined is not Combined.MEAN:
            return loss
        line = f"{self.names.scaled} = {loss} / {self._count}"
        if self.block.lines[-1:] and self.block.lines[-1].strip() == line:
            return self.names.scaled  # two optimizers have one loss
        self.block.line(line, 2)
        return self.names.scaled

    def _computing(self) -> None:
        self._comments(Above.GRADIENTS, 1)

    def _averaged_first(self, updates: Iterable[Update], outer: int) -> None:
        """Not in the replicas: the step does it once, before it runs them."""

    @property
    def _count(self) -> str:
        return f"{self.names.strategy}.num_replicas_in_sync"

    def _changed(self, update: Update) -> None:
        """What happens to the gradients; the optimizer adds up those of all replicas."""
        tf, gradients = self.style.tensorflow, self.names.gradients
        for clip in update.tower_clips:
            self.block.line(self._clipped(clip, update, update.combined is Combined.MEAN), 1)
        self._comments(Above.APPLIED, 1)
        if update.clips:
            if update.sparse:  # an average of TF1's is a gradient of all rows, clipped as such
                self._added_up(gradients, update)
            replica = f"{tf}.distribute.get_replica_context()"
            add = f"{replica}.all_reduce({tf}.distribute.ReduceOp.SUM, {gradients})"
            self.block.line(f"{gradients} = {add}", 1)
            for clip in update.clips:
                self.block.line(self._clipped(clip, update), 1)
            each = f"{self.names.value} / {self._count}"
            self.block.line(f"{gradients} = [{each} for {self.names.value} in {gradients}]", 1)

    def _noise(self, step: Step) -> dict[str, str]:
        """What is drawn for the averaged gradients of a step: names, and what draws it.

        TF1 draws it once; what a replica draws is its own.
        """
        found: dict[str, str] = {}
        for update in step.updates:
            for clip in update.clips:
                if clip.drawn is not None:
                    name, each = self.names.drawn[clip][0], self.names.value
                    shape = by_parameter(clip.drawn, ("shape",))["shape"]
                    draws = self._rendered(clip.drawn, shape, f"{each}.shape")
                    found[name] = self._each(name, draws, {each: self.names.trained(update)})
        return found

    def _of_each(self, clip: GradientClip, change: ast.expr, update: Update) -> str:
        if clip.drawn is None:
            return super()._of_each(clip, change, update)
        noise, each = self.names.drawn[clip]
        lists = self._lists(clip, change, update, but=clip.drawn)
        one = self._rendered(change, clip.drawn, each)
        return self._each(self.gradients, one, {**lists, each: noise})

    def _rendered(self, node: ast.expr, part: ast.AST, text: str) -> str:
        """An expression in which a text stands for one of its parts."""
        context = self.context
        replaced = {**context.replaced, part: lambda _: text}
        return Context(context.module, context.style, None, context.names, replaced).render(node)

    def _clipped(self, clip: GradientClip, update: Update, shared: bool = False) -> str:
        """A line that limits the gradients: those of a share of the loss by one of the limit."""
        if not shared:
            return super()._clipped(clip, update)
        limits = [f"{self.context.render(limit)} / {self._count}" for limit in clip.limits]
        return self._limited(clip, update, limits)

    # -- the step ---------------------------------------------------------------------------

    def _gathered(self, outer: int) -> None:
        tf, value, gradients = self.style.tensorflow, self.names.value, self.names.gradients
        added = f"{self.names.strategy}.reduce({tf}.distribute.ReduceOp.SUM, {value}, axis=None)"
        each, unit = f"{added} for {value} in {gradients}", self.block.source.indent_unit
        indent = self.block.indent + unit * outer
        if len(f"{indent}{gradients} = [{each}]") > self.style.width:
            each = f"\n{indent}{unit}{each}"
        self.block.lines.append(f"{indent}{gradients} = [{each}]")

    def _whole(self, step: Step, plan: _Plan, split: str) -> str:
        self.block = self.block.beside()
        block, strategy = self.block, self.names.strategy
        self._header(step)
        self._items(plan.whole, 1)
        parts = f"{split}({', '.join(self._parameters(plan))})" if plan.inputs else ""
        one = len(plan.take) == 1
        noise = self._noise(step)
        more = [*plan.given, *noise]
        if more:
            arguments = [parts if one else f"*{parts}", *more] if parts else more
            given = f"({', '.join(arguments)}{',' if len(arguments) == 1 else ''})"
        else:
            given = f"({parts},)" if one else parts
        arguments = [self.names.replica(step), *([f"args={given}"] if given else [])]
        head = f"{', '.join(plan.give)} = " if plan.give else ""
        indent = block.indent + block.source.indent_unit
        for update in step.updates:
            self._rated(update)
        super()._averaged_first(step.updates, 1)
        for line in noise.values():
            block.line(line, 1)
        call = self.style.call(f"{strategy}.run", arguments, indent, len(indent + head))
        block.line(f"{head}{call}", 1)
        results = f"{strategy}.experimental_local_results"
        counts = any((one.counts, one.averages) != (None, None) for one in step.updates)
        waits = counts and bool(plan.give) and self._may_end(step)
        if waits:
            ends = f"{results}({plan.give[0]})"
            block.line(f"with {self.style.tensorflow}.control_dependencies({ends}):", 1)
        for update in step.updates:
            self._counted(update, 1 + waits)
        fetched = {value.id for value in step.values if isinstance(value, ast.Name)}
        for unit in plan.combined:
            if isinstance(unit, Gathered) and unit.value is not None:
                listed = f"{results}({unit.value.id})"
                listed = f"list({listed})" if unit.name in fetched else listed
                block.line(f"{unit.name} = {listed}", 1)
        first = {name for unit in step.units if unit.first for name in given_by(unit)}
        picked = {n: f"{results}({n})[{0 if n in first else -1}]" for n in plan.last}
        values = [bracketed(self.context.render(value)) for value in step.values]
        if len(values) == 1 and plan.last == (values[0],) and not self._named(plan):
            block.line(f"return {picked[values[0]]}", 1)
            return self._text()
        for name, text in picked.items():
            block.line(f"{name} = {text}", 1)
        self._items((unit for unit in plan.combined if not isinstance(unit, Gathered)), 1)
        if values:
            block.line(f"return {', '.join(values)}", 1)
        return self._text()

    @staticmethod
    def _named(plan: _Plan) -> bool:
        """Whether something is computed of what the replicas gave."""
        return any(not isinstance(unit, Gathered) for unit in plan.combined)


def _position(unit: Unit) -> tuple[int, int]:
    return unit.node.lineno, unit.node.col_offset


def _units(item: Unit | Part) -> tuple[Unit, ...]:
    return item.units if isinstance(item, Part) else (item,)


class Above(enum.Enum):
    """Above what a comment stands in TF2, whose statement goes away."""

    NOTHING = enum.auto()
    REPLICA = enum.auto()
    GRADIENTS = enum.auto()
    APPLIED = enum.auto()


def comments_of_towers(program: SessionProgram) -> dict[ast.stmt, Above]:
    """The statements of towers that go away, and where their comments go."""
    if program.scope.towers is None:
        return {}
    found: dict[ast.stmt, Above] = {}
    place = Above.REPLICA
    last = max((update.place for update in program.updates), default=-1)
    first = min(u.place for u in program.units.values() if u.stage is Stage.TOWER)
    for index, (entry, role) in enumerate(zip(program.scope.entries, program.roles)):
        inside = entry.towers is not None
        if entry.towers is not None and entry.statement is entry.towers.loop:
            found[entry.statement] = Above.REPLICA
        elif role is Role.GONE and inside:
            is_gradient = isinstance(entry.statement, ast.Assign)
            found[entry.statement] = Above.GRADIENTS if is_gradient else Above.NOTHING
        elif role is Role.GONE and index < last and program.scope.maker is not entry.statement:
            is_list = isinstance(entry.statement, ast.Assign) and index < first
            place = Above.REPLICA if is_list else Above.APPLIED
            if is_list or index > first:
                found[entry.statement] = place
            elif entry.opens and any(is_cpu(program.scope.module, n) for n in _calls(entry)):
                found[entry.statement] = Above.NOTHING
    return found


def _calls(entry: Entry) -> list[ast.expr]:
    block = entry.statement
    return [i.context_expr for i in block.items] if isinstance(block, ast.With) else []


def inputs_of_towers(program: SessionProgram) -> dict[ast.AST, Replacement]:
    """The parts of units that are parameters of a replica, with their names."""

    def named(text: str) -> Replacement:
        return lambda context: text

    units = [unit for step in program.steps for unit in step.units]
    return {node: named(one.names[0]) for unit in units for node, one in unit.inputs}
