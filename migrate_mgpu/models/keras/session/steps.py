"""The steps of a session's program as functions of TF2."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.optimizers import OWN_ROWS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.session.folding import is_computed, is_flag
from migrate_mgpu.models.front.session.host_objects import Iterator, VariableCopy
from migrate_mgpu.models.front.session.program import SessionProgram, closure
from migrate_mgpu.models.ir import (
    ClippedBy,
    GradientClip,
    NamedUnit,
    Placeholder,
    ShownGradients,
    Step,
    Unit,
    Update,
    VariableAverages,
)
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.network.recurrent import Recurrents
from migrate_mgpu.models.keras.session.metrics import MetricWriter
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.models.keras.session.sharing import Part, Sharing
from migrate_mgpu.models.normalize.layers.layer_loops import is_last_alone
from migrate_mgpu.source.blocks import Block, behind_header, bracketed, leading, outermost
from migrate_mgpu.source.style import FileStyle


class StepWriter:
    """Writes the functions of steps, and of the parts that they share, at an indentation."""

    def __init__(
        self,
        program: SessionProgram,
        names: StepNames,
        sharing: Sharing,
        context: Context,
        style: FileStyle,
        indent: str,
        heads: Mapping[ast.AST, ast.stmt],
        recurrents: Recurrents,
        metrics: MetricWriter,
        parted: Collection[ast.stmt],
    ) -> None:
        """``heads`` are the blocks whose comments units have, ``parted`` as ``Block`` says."""
        self.heads = heads
        self.gradients = names.gradients  # what those are called that are limited
        self.metrics = metrics
        self.recurrents = recurrents
        self.program = program
        self.names = names
        self.sharing = sharing
        self.context = context
        self.style = style
        self.block = Block(program.scope.module.source, indent, parted)

    def part(self, part: Part) -> str:
        """A shared function, with ``\\n`` between its lines."""
        self.block.line(f"def {self._name(part)}({', '.join(part.takes)}):")
        self._items(part.units, 1)
        self.block.line(f"return {', '.join(part.gives)}", 1)
        return self._text()

    def step(self, step: Step) -> list[str]:
        """A step's function, below those that only it needs, with ``\\n`` between their lines."""
        self._header(step)
        self._keep_averages(step)
        items = self.sharing.ordered(step) or []
        if step.updates:
            limits = [u for u in step.units if self.program.limits_trained(u, step.updates)]
            items = [item for item in items if item not in limits]
            if any(one.given or one.sums is not None for one in step.updates):
                self._given(step.updates, items)
            else:
                self._training(step.updates, items, self._may_end(step))
            self._items(limits, 1 + self._may_end(step))
            for update in step.updates:
                self._counted(update, 1 + self._may_end(step))
        elif shown := self.program.shown_in(step):
            self._training(shown, items, applies=False)
        else:
            self._items(items, 1)
        self._put_averages_back(step)
        values = [bracketed(self.context.render(value)) for value in step.values]
        if values:
            self.block.line(f"return {', '.join(values)}", 1)
        return [self._text()]

    def _keep_averages(self, step: Step) -> None:
        """The averages of layers that a step trains without moving them."""
        frozen = self.program.frozen.get(step, ())
        if not frozen:
            return
        listed = [f"{self.names.variables(one)}.non_trainable_variables" for one in frozen]
        every = listed[0] if len(listed) == 1 else f"[{', '.join(f'*{one}' for one in listed)}]"
        self.block.line("# These averages move in other steps.", 1)
        self.block.line(f"{self.names.frozen} = {every}", 1)
        values = f"[{self.style.tensorflow}.convert_to_tensor({self.names.value})"
        values += f" for {self.names.value} in {self.names.frozen}]"
        self.block.line(f"{self.names.kept} = {values}", 1)

    def _put_averages_back(self, step: Step) -> None:
        if self.program.frozen.get(step):
            pair = f"{self.names.frozen_one}, {self.names.value}"
            given = f"zip({self.names.frozen}, {self.names.kept})"
            self.block.line(f"for {pair} in {given}:", 1)
            self.block.line(f"{self.names.frozen_one}.assign({self.names.value})", 2)

    def _header(self, step: Step) -> None:
        tf = self.style.tensorflow
        iterators = self.program.restarted(step.units)
        if step.feeds:
            specs = [iterator_spec(one, tf) for one in iterators]
            specs += (self.names.spec(placeholder) for placeholder in step.feeds)
            self.block.line(f"@{tf}.function(input_signature=[{', '.join(specs)}])")
        else:
            self.block.line(f"@{tf}.function")
        parameters = [*(one.name for one in iterators), *(one.name for one in step.feeds)]
        self.block.line(f"def {self.names.step(step)}({', '.join(parameters)}):")
        for one, value in step.folded:
            self.block.line(f"{one.name} = {known_text(one, value, self.context)}", 1)

    def _clipped(self, clip: GradientClip, update: Update) -> str:
        """A line that limits the gradients, or changes each."""
        return self._limited(clip, update, [self.context.render(limit) for limit in clip.limits])

    def _limited(self, clip: GradientClip, update: Update, given: Iterable[str]) -> str:
        tf, gradients = self.style.tensorflow, self.gradients
        limits = ", ".join(given)
        if clip.by is ClippedBy.NOTHING:
            return f"{clip.norm} = {tf}.linalg.global_norm({gradients})"
        if clip.change is not None:
            return self._of_each(clip, clip.change, update)
        if clip.by is ClippedBy.GLOBAL_NORM:
            norm = clip.norm or "_"
            return f"{gradients}, {norm} = {tf}.clip_by_global_norm({gradients}, {limits})"
        name = "value" if clip.by is ClippedBy.VALUE else "norm"
        one = f"{tf}.clip_by_{name}({clip.gradient}, {limits})"
        return f"{gradients} = [{one} for {clip.gradient} in {gradients}]"

    def _of_each(self, clip: GradientClip, change: ast.expr, update: Update) -> str:
        """A line that puts what an expression of the author's makes of each in its place."""
        lists = self._lists(clip, change, update)
        return self._each(self.gradients, self.context.render(change), lists)

    def _lists(
        self, clip: GradientClip, change: ast.expr, update: Update, but: ast.AST | None = None
    ) -> dict[str, str]:
        """What a change goes through, by its names for each; ``but`` is a part that is none."""
        lists = {clip.gradient: self.gradients}
        inside = {*walk(but)} if but is not None else set()
        read = {n.id for n in walk(change) if isinstance(n, ast.Name) and n not in inside}
        if clip.variable in read:
            lists[clip.variable] = self.names.trained(update)
        return lists

    def _each(self, target: str, one: str, lists: Mapping[str, str]) -> str:
        """`gradients = [one for g, v in zip(gradients, variables)]`"""
        over = [*lists.values()]
        sequence = over[0] if len(over) == 1 else f"zip({', '.join(over)})"
        return f"{target} = [{one} for {', '.join(lists)} in {sequence}]"

    def _text(self) -> str:
        return "\n".join(self.block.lines) + "\n"

    def _name(self, part: Part) -> str:
        return self.names.part(part, part is self.sharing.network)

    def _on(self, place: int) -> str:
        """The header of a block for what an entry computes on a device that is told."""
        device = self.program.scope.entries[place].device
        shown = "" if device is None else self.context.render(device)
        return shown and f"with {self.style.tensorflow}.device({shown}):"

    def _items(self, items: Iterable[Unit | Part], outer: int) -> None:
        around = ""
        for item in items:
            header = "" if isinstance(item, Part) else self._on(item.place)
            if (
                isinstance(item, Unit)
                and header
                and header != around
                and isinstance(item.node, ast.stmt)
            ):
                self.block.line(header, outer)
            around, deeper = header, outer + bool(header)
            if isinstance(item, Part):
                call = f"{self._name(item)}({', '.join(item.takes)})"
                self.block.line(f"{', '.join(item.gives)} = {call}", deeper)
            elif isinstance(item, ShownGradients):
                self._gathered(deeper)
            elif isinstance(item, NamedUnit):
                self.block.line(f"{item.name} = {self.context.render(item.node)}", deeper)
            elif item.node in self.program.copies:
                self._copied(item.node, deeper)
            elif isinstance(item.node, ast.stmt):
                head = self.heads.get(item.node)
                if head is not None:
                    self.block.comments(head, deeper)
                if isinstance(head, ast.With) and (told := behind_header(self.block.source, head)):
                    self.block.line(told, deeper)
                above = self.recurrents.above(item.node, self.context, self.names.layer)
                draws = any(unit.node in self.program.drawn for unit in closure([item]))
                above = [*above, *self.metrics.added(item.node, self.context, draws)]
                more = self.recurrents.edits(item.node)
                edits = outermost([*self.context.edits(item.node), *more])
                self.block.statement(item.node, edits, deeper, above)
                if item.node in self.program.summarizing:  # a list that may have several lines
                    base = self.block.indent + self.block.source.indent_unit * deeper
                    self.block.lines[-1] = self.block.lines[-1].replace("\n", f"\n{base}")

    def _gathered(self, outer: int) -> None:
        """What makes gradients of several replicas one."""

    def _copied(self, node: ast.AST, outer: int) -> None:
        """Variables get the values of others, one after the other."""
        assert isinstance(node, ast.stmt)
        copy = self.program.copies[node]
        self.block.comments(node, outer)
        if copy.adds:
            total, value, sums = self.names.total, self.names.value, copy.variable.id
            update = self._summing(copy)
            gradients = self.names.gradients_of(update, several=False)
            self.block.line(f"for {total}, {value} in zip({sums}, {gradients}):", outer)
            added = value
            if isinstance(copy.value, ast.BinOp):  # a share of the gradient
                added = f"{value} / {self._divisor(copy.value.right)}"
            self.block.line(f"{total}.assign_add({added})", outer + 1)
            return
        for listed, variables in copy.lists.items():
            if isinstance(listed, ast.Name):
                above = leading(self.block.source, self.program.listing(listed))
                for text in above if copy is self._first(listed) else ():
                    if text:
                        self.block.line(text, outer)
                self.block.line(f"{listed.id} = {self.names.every(variables)}", outer)
        pairs, value = self.context.render(copy.pairs), self.context.render(copy.value)
        self.block.line(f"for {self._loop_names(copy.loop)} in {pairs}:", outer)
        self.block.line(f"{copy.variable.id}.assign({value})", outer + 1)

    def _divisor(self, node: ast.expr) -> str:
        """A number behind a sign of division: what is computed has brackets."""
        text = self.context.render(node)
        plain = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript)
        return text if isinstance(node, plain) else f"({text})"

    def _summing(self, copy: VariableCopy) -> Update:
        """What applies the sums that gradients are added to."""
        return next(
            one
            for one in self.program.updates
            if one.sums is not None and one.sums.variables.name == copy.variable.id
        )

    def _first(self, listed: ast.Name) -> VariableCopy:
        """The first that needs a list, which has its comments."""
        found = self.program.copies.values()
        same = ast.dump(listed)
        return next(one for one in found if any(ast.dump(other) == same for other in one.lists))

    def _loop_names(self, node: ast.expr) -> str:
        parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
        return ", ".join(self.program.scope.module.source.code(part) for part in parts)

    def _may_end(self, step: Step) -> bool:
        """Whether something counts a program's steps, and not one whose iterator has ended.

        An optimizer of Keras 3's counts it, for that waits for no gradient.
        """
        program = self.program
        counted = any(one.counts is not None or one.averages is not None for one in step.updates)
        return any(unit.node in program.drawn for unit in step.units) and bool(
            counted or program.restarts or program.savers
        )

    def _training(
        self,
        updates: Sequence[Update],
        items: Iterable[Unit | Part],
        may_end: bool = False,
        applies: bool = True,
    ) -> None:
        """The gradients of all losses, then what they do to the variables.

        Not ``applies``: that is nothing, they are computed alone.
        """
        tf, several = self.style.tensorflow, len(updates) > 1
        items = [*items]
        within = self._within(items, closure([update.unit for update in updates]))
        late = [item for item in items if any(map(shows_gradients, _units(item)))]
        if late and several:
            text = "summaries of the gradients of several optimizers, in one step"
            raise Refused(self.program.scope.module, updates[0].statement, text)
        persistent = "persistent=True" if several else ""
        self.block.line(f"with {tf}.GradientTape({persistent}) as {self.names.tape}:", 1)
        self._items(within, 2)
        losses = [self._loss(update) for update in updates]
        self._items((item for item in items if item not in within and item not in late), 1)
        begin, header = len(self.block.lines), self._on(updates[0].place)
        self._computing()
        names = {one: self.names.gradients_of(one, several) for one in updates}
        for update, loss in zip(updates, losses):
            gradients, trained = names[update], self.names.trained(update)
            more = ""
            if update.upstream is not None:
                more = f", output_gradients={self.context.render(update.upstream[0])}"
            line = f"{gradients} = {self.names.tape}.gradient({loss}, {trained}{more})"
            self.block.line(line, 1)
            if update.sparse and not update.clips:
                self._added_up(gradients, update)
        self._items(late, 1)
        for update in updates if applies else ():
            self.gradients = names[update]
            self._changed(update)
        if may_end:
            comment = "  # not counted where the data has ended"
            given = ", ".join(losses)
            self.block.line(f"with {tf}.control_dependencies([{given}]):{comment}", 1)
        if applies:
            self._averaged_first(updates, 1 + may_end)
        for update in updates if applies else ():
            pairs = f"zip({names[update]}, {self.names.trained(update)})"
            line = f"{self.names.optimizer(update)}.apply_gradients({pairs})"
            self.block.line(line, 1 + may_end)
        if header:  # as the operations of TF1's gradients
            unit = self.block.source.indent_unit
            self.block.lines[begin:] = [unit + line for line in self.block.lines[begin:]]
            self.block.lines.insert(begin, f"{self.block.indent}{unit}{header}")

    def _given(self, updates: Sequence[Update], items: Iterable[Unit | Part]) -> None:
        """Gradients that are computed elsewhere are applied.

        Raises:
            Refused: others are computed in the same step, or averages move in no defined order.
        """
        update = updates[0]
        if update.averages is not None and not update.averages.ordered:
            text = "averages of variables move beside gradients that nothing is to compute"
            advice = "TF1 has no order there: let the averages wait for the training operation"
            raise Refused(self.program.scope.module, update.averages.node, text, advice)
        if len(updates) > 1:
            text = "gradients that are fed are applied in a step with others"
            raise Refused(self.program.scope.module, update.statement, text)
        self._items(items, 1)
        header = self._on(update.place)
        if header:
            self.block.line(header, 1)
        given = self.context.render(update.loss)
        if update.sums is not None:
            total, given = self.names.total, update.sums.variables.name
            if update.sums.divisor is not None:
                divided = f"{total} / {self._divisor(update.sums.divisor)}"
                given = f"[{divided} for {total} in {given}]"
        pairs = f"zip({given}, {self.names.trained(update)})"
        line = f"{self.names.optimizer(update)}.apply_gradients({pairs})"
        self.block.line(line, 1 + bool(header))

    def _within(
        self, items: Sequence[Unit | Part], differentiated: Iterable[Unit]
    ) -> list[Unit | Part]:
        """The items that stand under the tape: with what is differentiated, and what these need.

        A shared part that has some of it may take more than that.
        """
        inside = set(differentiated)
        while True:
            within = [item for item in items if inside & _units(item)]
            needed = set(closure([unit for item in within for unit in _units(item)]))
            if needed <= inside:
                return within
            inside |= needed

    def _computing(self) -> None:
        """What stands above the gradients."""

    def _loss(self, update: Update) -> str:
        """What is differentiated; it has a line of its own where it has no name."""
        if isinstance(update.loss, ast.Name):
            return update.loss.id
        header = self._on(update.place)
        if header:
            self.block.line(header, 2)
        line = f"{self.names.loss} = {self.context.render(update.loss)}"
        self.block.line(line, 2 + bool(header))
        return self.names.loss

    def _changed(self, update: Update) -> None:
        """What happens to the gradients before they are applied."""
        for clip in update.clips:
            self.block.line(self._clipped(clip, update), 1)
        if update.sparse and update.clips:  # TF1 clips the rows, repeated ones one by one
            self._added_up(self.gradients, update)
        self._rated(update)

    def _added_up(self, gradients: str, update: Update) -> None:
        """A gradient of some rows of a table becomes one of all: Keras 3 takes no repeated row.

        Not for an optimizer that has to know which rows they are.
        """
        outer = 1
        if len(update.own_rows) == len(update.optimizer.arms):
            return
        if update.own_rows:
            names = self.program.scope.module.names
            rows = names.fresh(names.module_scope, OWN_ROWS.name)
            test = f"isinstance({self.names.optimizer(update)}, {rows})"
            self.block.line(f"if not {test}:", 1)
            outer = 2
        each = f"{self.style.tensorflow}.convert_to_tensor({self.names.value})"
        units = closure([update.unit])
        if any(unit.node in self.program.settled for unit in units) or self._leaves_weights():
            each = f"{self.names.value} if {self.names.value} is None else {each}"
        self.block.line(f"{gradients} = [{each} for {self.names.value} in {gradients}]", outer)

    def _leaves_weights(self) -> bool:
        """Whether a function makes layers in a loop of which the last turn's value alone is read.

        Or a variable that it does not read. These have no gradient, and no optimizer changes them.
        """
        helpers = self.program.layer_helpers
        if helpers is None:
            return False
        for helper in helpers.found.values():
            module, function = helper.function.module, helper.function.node
            scope = module.names.scopes[function]
            for node in walk(function):
                if isinstance(node, ast.For) and is_last_alone(node):
                    return True
                made = node.value if isinstance(node, ast.Assign) else None
                target = node.targets[0] if isinstance(node, ast.Assign) else None
                if not isinstance(target, ast.Name) or not isinstance(made, ast.Call):
                    continue
                if name_of(module, made) in VARIABLES.by_name:
                    mentions = module.names.mentions(target.id, scope)
                    if not any(isinstance(one.ctx, ast.Load) for one in mentions):
                        return True
        return False

    def _rated(self, update: Update) -> None:
        """A learning rate that is fed."""
        if update.rate is not None:
            rate = self.context.render(update.rate)
            if update.double_rate:
                rate = f"{self.style.tensorflow}.cast({rate}, {self.style.tensorflow}.float32)"
            self.block.line(f"{self.names.rate(update)}.assign({rate})", 1)

    def _counted(self, update: Update, outer: int = 1) -> None:
        if update.counts is not None:
            self.block.line(f"{update.counts.name}.assign_add(1)", outer)
        if update.averages is not None and update.averages.ordered:
            self._averaged(update, update.averages, outer)

    def _averaged_first(self, updates: Iterable[Update], outer: int) -> None:
        """Averages that wait for nothing: TF1 has moved them before there is a gradient."""
        for update in updates:
            if update.averages is not None and not update.averages.ordered:
                self._averaged(update, update.averages, outer)

    def _averaged(self, update: Update, averages: VariableAverages, outer: int) -> None:
        """Averages move by the variables, and the count of steps, as they are."""
        tf, names, line = self.style.tensorflow, self.names, self.block.line
        if averages.maker:
            if self.program.scope.towers is not None:  # the replicas have the variables
                line(f"with {names.strategy}.scope():", outer)
                outer += 1
            line(f"{averages.maker}.apply({names.trained(update)})", outer)
            return
        decay = self.context.render(averages.decay)
        if averages.counted:
            assert update.counts is not None
            line(f"{names.count} = {tf}.cast({update.counts.name}, {tf}.float32)", outer)
            share = f"(1.0 + {names.count}) / (10.0 + {names.count})"
            line(f"{names.decay} = {tf}.minimum({decay}, {share})", outer)
            decay = names.decay
        pairs = f"zip({names.averages(update)}, {names.trained(update)})"
        line(f"for {names.average}, {names.variable} in {pairs}:", outer)
        difference = f"({names.average} - {names.variable})"
        share = f"(1.0 - {decay})"
        if any(isinstance(one.arguments.get("dtype"), ast.IfExp) for one in self.program.made):
            share = f"{tf}.cast({share}, {names.average}.dtype)"
        line(f"{names.average}.assign_sub({share} * {difference})", outer + 1)


def iterator_spec(iterator: Iterator, tf: str) -> str:
    """The type of an iterator, as a step's signature has it."""
    return f"{tf}.data.IteratorSpec({iterator.name}.element_spec)"


def known_text(placeholder: Placeholder, value: ast.expr, context: Context) -> str:
    """What a placeholder is where it has one value: Python's own for a flag."""
    if is_flag(placeholder):
        return repr(bool(constant(value)))
    if is_computed(placeholder):
        return context.render(value)
    return f"{context.tf}.constant({context.render(value)})"


def shows_gradients(unit: Unit) -> bool:
    """Whether a unit is gradients, or computed of some, that a summary tells of."""
    return any(isinstance(one, ShownGradients) for one in closure([unit]))


def _units(item: Unit | Part) -> set[Unit]:
    return set(item.units) if isinstance(item, Part) else {item}
