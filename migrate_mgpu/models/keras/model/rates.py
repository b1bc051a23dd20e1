"""A learning rate that is calculated from the global step: a schedule of the program's own."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.dataflow import loaded, stored
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import TRAIN
from migrate_mgpu.analysis.scopes import names_in, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.optimizers import schedule_at
from migrate_mgpu.models.ir import Optimizer
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.optimizers import schedule_edits
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.style import FileStyle

# What may say another thing each time: a schedule is asked more than once.
_ONCE = ("random.", "numpy.random.", "time.", "datetime.", "os.", "builtins.input", "builtins.open")


@record()
class CalculatedRate:
    """A rate with the statements that it comes from; ``given`` are the names that these read."""

    value: ast.expr
    units: list[ast.stmt]
    given: dict[str, ast.Name]


def calculated_rate(
    reading: Reading, optimizer: Optimizer, unit: ast.stmt | None
) -> CalculatedRate | None:
    """The rate of an optimizer that ``unit`` makes; None for a number, or one schedule alone.

    Raises:
        Refused: it depends on something that only the model_fn knows.
    """
    value, flow, module = optimizer.learning_rate.value, reading.flows[TRAIN], reading.module
    if value is None or optimizer.learning_rate.schedule is not None:
        return None
    known, _ = flow.resolve(value, unit)
    if isinstance(known, ast.Call) and schedule_at(module, known) is not None:
        return None
    units = sorted(flow.slice([value], unit), key=lambda one: one.lineno)
    nodes: list[ast.AST] = [*units, value]
    if not any(name_of(module, part) in COUNTERS for node in nodes for part in walk(node)):
        return None
    for call in (part for node in nodes for part in walk(node) if isinstance(part, ast.Call)):
        asked = module.names.qualname(call.func) or ""
        if asked.startswith(_ONCE):
            text = f"the learning rate is calculated of `{asked}`, which TF1 asked once"
            raise Refused(module, call, text, "ask it above the model_fn")
    made = {name for one in units for name in stored(one)[0] | stored(one)[1]}
    own = module.names.scopes[reading.function].bindings
    given: dict[str, ast.Name] = {}
    for name in (name for node in nodes for name in loaded(node)):
        if name.id in own and name.id not in made:
            given.setdefault(name.id, name)
    for name in given.values():
        if name.id not in reading.settings:
            text = f"the learning rate depends on `{name.id}`"
            raise Refused(module, name, text, "calculate it of the global step and settings")
    return CalculatedRate(value, units, given)


class RateWriter:
    """Writes the class that a rate becomes, and what makes it."""

    def __init__(self, reading: Reading, rate: CalculatedRate, style: FileStyle) -> None:
        self.reading = reading
        self.module = reading.module
        self.rate = rate
        self.style = style
        names = self.module.names
        self.name = names.fresh(names.module_scope, "LearningRate")
        self.step = names.fresh(names.scopes[reading.function], "step", "training_step")

    @property
    def constructor(self) -> str:
        """What makes it."""
        return f"{self.name}({', '.join(self.rate.given)})"

    def written(self) -> str:
        """The class, with `\\n` between its lines."""
        source, given = self.module.source, [*self.rate.given]
        nodes: list[ast.AST] = [*self.rate.units, self.rate.value]
        replaced: dict[ast.AST, Replacement] = {}
        for call in (part for node in nodes for part in walk(node) if isinstance(part, ast.Call)):
            if name_of(self.module, call) in COUNTERS:
                replaced[call] = self._step
            elif schedule_at(self.module, call) is not None:
                replaced[call] = self._asked(call)
        names = {name: f"self.{name}" for name in given}
        context = Context(self.module, self.style, self.reading.modes, names, replaced)
        block = Block(source, "")
        base = f"{self.style.tensorflow}.keras.optimizers.schedules.LearningRateSchedule"
        block.line(f"class {self.name}({base}):")
        block.line('"""The rate of each step."""', 1)
        block.line()
        if given:
            block.line(f"def __init__({', '.join(['self', *given])}):", 1)
            for name in given:
                block.line(f"self.{name} = {name}", 2)
            block.line()
        block.line(f"def __call__(self, {self.step}):", 1)
        absent = [f"self.{name} is None" for name in given if self._stops(name)]
        if absent:
            block.line(f"if {' or '.join(absent)}:  # Keras 2 asks where nothing trains, too", 2)
            block.line("return 0.0", 3)
        for unit in self.rate.units:
            block.statement(unit, context.edits(unit), 2)
        block.line(f"return {context.render(self.rate.value)}", 2)
        block.line()
        block.line("def get_config(self):", 1)
        block.line("return {", 2)
        for name in given:
            block.line(f"{self.style.string(name)}: self.{name},", 3)
        block.line("}", 2)
        if context.trains:
            raise Refused(self.module, self.rate.value, "the optimizer depends on the mode")
        return block.text().rstrip().replace(source.newline, "\n")

    def _stops(self, name: str) -> bool:
        """Whether a setting may be None where nothing trains, which its author never asks."""
        tests = (
            part.test
            for unit in self.rate.units
            for part in walk(unit)
            if isinstance(part, (ast.If, ast.IfExp))
        )
        asked = {one.id for test in tests for one in names_in(test)}
        return name in self.reading.optional and name not in asked

    def _step(self, context: Context) -> str:
        """TF1's global step, which has its type."""
        return f"{context.tf}.cast({self.step}, {context.tf}.int64)"

    def _asked(self, call: ast.Call) -> Replacement:
        """A schedule among what is calculated: its value at the step."""

        def write(context: Context) -> str:
            known = schedule_at(self.module, call)
            assert known is not None
            made = context.render_call(call, schedule_edits(known[0], self.style))
            return f"{made}({context.render(known[1])})"

        return write
