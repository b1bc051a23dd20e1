"""Optimizers of a session's program, and what they train, made and built once."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.api.optimizers import STEP_RATE
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.front.session.scope import Entry
from migrate_mgpu.models.ir import Optimizer, OptimizerChoice, Update
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.optimizers import OptimizerWriter
from migrate_mgpu.models.keras.session.devices import VariableDevices
from migrate_mgpu.models.keras.session.layers import LayerWriter
from migrate_mgpu.models.keras.session.loop_names import loop_names
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.models.keras.session.rates import RateWriter
from migrate_mgpu.models.keras.session.sharing import Sharing
from migrate_mgpu.source.blocks import leading, render, trailing
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

_AVERAGED = (
    "TF1 moves these averages while the variables change, in no fixed order; here they move before "
    "these and the count of steps do, as TF1's have wherever gradients take their time"
)
# Keras 2 compiles each variable's update where it finds a GPU.
_NO_XLA = "# XLA wants a variable and what is kept of it on one device."


class UpdateWriter:
    """Writes what stands for `train = tf.train.AdamOptimizer(rate).minimize(loss)`.

    Attributes:
      classes: the texts of classes that optimizers need.
    """

    def __init__(
        self,
        program: SessionProgram,
        names: StepNames,
        context: Context,
        style: FileStyle,
        sharing: Sharing,
        layers: LayerWriter,
        rates: RateWriter,
        devices: VariableDevices,
        found: EditSet,
    ) -> None:
        self.program = program
        self.names = names
        self.context = context
        self.style = style
        self.sharing = sharing
        self.layers = layers
        self.rates = rates
        self.devices = devices
        self.module = program.scope.module
        self.source = self.module.source
        self.found = found
        self.classes: list[str] = []

    def optimizer(self, statement: ast.stmt) -> tuple[Edit, ...]:
        """The edits of an optimizer with a name of its own, or of those of which it is one."""
        choice = self.program.optimizers[statement]
        edits = (edit for one in choice.arms for edit in self._constructor(self._writer(one), one))
        return tuple(edits)

    def _writer(self, optimizer: Optimizer) -> OptimizerWriter:
        update = self._of_optimizer(optimizer)
        own_rows = update is not None and optimizer in update.own_rows
        writer = OptimizerWriter(optimizer, self.style, own_rows)
        self._classes(writer.classes)
        return writer

    def _constructor(self, writer: OptimizerWriter, optimizer: Optimizer) -> tuple[Edit, ...]:
        """The edits of an optimizer's call; a rate that steps have has no value yet."""
        update = self._of_optimizer(optimizer)
        value = optimizer.learning_rate.value
        if isinstance(value, ast.Call) and value in self.program.own_schedules:
            text = self.rates.schedule(value, self.context)
            return (*writer.edits(), Edit(*self.source.span(value), text))
        if update is None or update.rate is None:
            return writer.edits()
        assert value is not None
        return (*writer.edits(), Edit(*self.source.span(value), self._first_rate(update)))

    def _first_rate(self, update: Update) -> str:
        """What an optimizer is made with whose rate steps have."""
        if "momentum" not in update.optimizer.kinds:
            return "0.0"
        rate = self.names.rate(update)
        if update.optimizer.kinds == {"momentum"}:
            return f"lambda step: {rate}"
        names = self.module.names
        name = names.fresh(names.module_scope, STEP_RATE.name)
        self._classes((STEP_RATE.written(name, self.style),))
        return f"{name}({rate})"

    def _of_optimizer(self, optimizer: Optimizer) -> Update | None:
        return next((u for u in self.program.updates if optimizer in u.optimizer.arms), None)

    def rates_of(self, statement: ast.stmt) -> list[str]:
        """The variables for the rates of an optimizer with a name of its own."""
        return self._rates(self.program.optimizers[statement])

    def _rates(self, optimizer: OptimizerChoice) -> list[str]:
        """A variable for the rate that steps give an optimizer, where Keras's will not do."""
        update = next((u for u in self.program.updates if u.optimizer is optimizer), None)
        if update is None or update.rate is None:
            return []
        made = self.rates.made(update.rate, self.context, "")
        if "momentum" not in optimizer.kinds:
            return made
        tf = self.style.tensorflow
        return [*made, f"{self.names.rate(update)} = {tf}.Variable(0.0, trainable=False)"]

    def _classes(self, texts: Iterable[str]) -> None:
        for text in texts:
            if text not in self.classes:
                self.classes.append(text)

    def edit(self, entry: Entry) -> Edit:
        """`train = tf.train.AdamOptimizer(rate).minimize(loss)`: the optimizer, built."""
        statement = entry.statement
        indent = self.source.indent_of(statement)
        indent = indent[: len(indent) - entry.dedent]
        lines = self.lines(entry.statement, indent)
        layout = Layout(self.source, statement)
        if not layout.owns_lines:
            raise Refused(self.module, statement, "another statement is on its line")
        text = "".join(f"{indent}{line}\n" for line in lines).replace("\n", self.source.newline)
        if layout.next_line == len(self.source.text) and not self.source.text.endswith("\n"):
            text = text.rstrip("\r\n")
        return Edit(layout.line_start, layout.next_line, text)

    def lines(self, statement: ast.stmt, indent: str) -> list[str]:
        """What makes an optimizer, where it has no name, and builds it."""
        update = next(u for u in self.program.updates if u.statement is statement)
        lines: list[str] = []
        optimizer = self.names.optimizer(update)
        comment = trailing(self.source, statement)
        if not update.optimizer_name:
            only = update.optimizer.only
            call = only.node
            assert isinstance(call, ast.Call)
            edits = self.context.with_arguments(call, self._constructor(self._writer(only), only))
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
        if update in self.program.loop_names:
            lines += loop_names(update, self.program, self.names, self.context, indent)
        alike = [one for one in self.program.updates if one.optimizer is update.optimizer]
        every = [self.names.trained(one) for one in alike]
        if len(every) == 1:
            lines.append(f"{optimizer}.build({every[0]})")
        elif update is alike[-1]:
            lines.append(f"{optimizer}.build([{', '.join(f'*{name}' for name in every)}])")
        if update.sums is not None:
            tf, variable = self.style.tensorflow, self.names.variable
            sums = update.sums.variables
            zeros = f"{tf}.Variable({tf}.zeros_like({variable}), trainable=False)"
            each = f"for {variable} in {self.names.trained(update)}"
            lines.append(f"{sums.name} = [{zeros} {each}]")
        if self.devices.are_named and update is alike[-1]:
            lines += [_NO_XLA, f"{optimizer}.jit_compile = False"]
        if update.averages is not None and update.averages.maker:
            if not self._is_below(update.averages.node, statement):
                lines.append(self.begun(update))
            self._tell_order(update)
        elif update.averages is not None:
            names = self.names
            made = f"{self.style.tensorflow}.Variable({names.variable}, trainable=False)"
            each = f"for {names.variable} in {names.trained(update)}"
            comments = leading(self.source, self.module.names.statement(update.averages.node))
            lines += [text for text in comments if text.startswith("#")]
            lines.append(f"{names.averages(update)} = [{made} {each}]")
            self._tell_order(update)
        return lines

    def _is_below(self, call: ast.Call, statement: ast.stmt) -> bool:
        return self.source.span(call)[0] > self.source.span(statement)[0]

    def _tell_order(self, update: Update) -> None:
        assert update.averages is not None
        if not update.averages.ordered:
            self.found.note(self.module, update.averages.node, _AVERAGED)

    def begun(self, update: Update) -> str:
        """`ema.apply(variables)`: averages that the program asks for begin as the variables do."""
        assert update.averages is not None
        return f"{update.averages.maker}.apply({self.names.trained(update)})"

    def begun_below(self, statement: ast.stmt) -> str:
        """The same, behind what makes averages below the optimizer; empty for anything else."""
        for update in self.program.updates:
            made = update.averages
            if made is not None and made.maker and self._is_below(made.node, update.statement):
                if self.module.names.statement(made.node) is statement:
                    return self.begun(update)
        return ""
