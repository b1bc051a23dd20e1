"""The function that a model_fn becomes: it makes the model, its optimizer, loss and metrics."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from migrate_mgpu.analysis.dataflow import loaded, stored
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import EVAL, TRAIN
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.model_fn.losses import settings_of
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.ir import (
    Clipping,
    Computation,
    LearningRate,
    Objective,
    Optimizer,
    Result,
    Training,
    Variation,
)
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.losses import loss_object, written_nodes
from migrate_mgpu.models.keras.metrics import function_names, result_object
from migrate_mgpu.models.keras.model.loss_functions import LossWriter
from migrate_mgpu.models.keras.model.rates import RateWriter, calculated_rate
from migrate_mgpu.models.keras.model.replicas import clipping_argument, clipping_class
from migrate_mgpu.models.keras.optimizers import OptimizerWriter
from migrate_mgpu.models.properties import fits_compile
from migrate_mgpu.source.blocks import Block, bracketed
from migrate_mgpu.source.style import FileStyle


class Compiling:
    """Writes the function.

    ``model`` writes the statement that makes the model of a name, and returns the author's
    names that it reads; ``variable`` is its author's name for it. Afterwards
    ``parameters`` are those of the function, ``units`` the author's statements that it
    took over.
    """

    def __init__(
        self,
        reading: Reading,
        loss: Objective,
        training: Training,
        results: Mapping[str, Result],
        style: FileStyle,
        model: Callable[[Block, str], list[str]],
        distributed: bool,
        variable: str = "",
    ) -> None:
        self.reading = reading
        self.module = reading.module
        self.loss = loss
        self.training = training
        self.results = results
        self.style = style
        self.make_model = model
        self.distributed = distributed
        self.clipping = ""
        self._begun: set[ast.stmt] = set()  # blocks whose comments are written
        self.flow = reading.flow
        self.parameters: list[str] = []
        self.units: list[ast.stmt] = []
        names = self.module.names
        self.scope = names.scopes[reading.function]
        self.variable = variable

    def write(self) -> str:
        """The function's text."""
        source, function = self.module.source, self.reading.function
        indent = source.indent_of(function)
        body = Block(source, indent)
        self._context()
        self.model = self.variable or self._own_name("model", "keras_model")
        settings = self.make_model(body, self.model)
        optimizer = self._statements(body)
        if {TRAIN, EVAL} & self.reading.specs.keys():
            self._compile(body, optimizer)
        body.line(f"return {self.model}", 1)
        used = {*settings, *self.context.used}
        self.parameters = [p for p in self.reading.parameters if p in used]
        for name in ("features", "labels", "mode", "config"):
            if name in self.parameters:
                node = self.context.used.get(name, function)
                text = f"optimizer or loss depend on `{name}`"
                raise Refused(self.module, node, text)
        block = Block(source, indent)
        block.line(f"def {function.name}({', '.join(self._signature())}):")
        doc = function.body[0]
        if isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant):
            block.statement(doc, [], 1)
        return block.text() + body.text()

    @property
    def classes(self) -> list[str]:
        """The classes that stand above the function, each with `\\n` between its lines."""
        found = [rate.written() for rate in self.rates.values()]
        found += [text for o in self.optimizers.values() for text in o.classes]
        return list(
            dict.fromkeys(
                [
                    *found,
                    *([self.clipping] if self.clipping and not self._clips_by_own_names() else []),
                ]
            )
        )

    @property
    def calculated(self) -> list[ast.stmt]:
        """The author's statements that rates are calculated in."""
        return [unit for rate in self.rates.values() for unit in rate.rate.units]

    @property
    def _trained(self) -> list[ast.expr]:
        """The author's expressions that training is made of."""
        value = self.training.value
        return [*([value] if value is not None else []), *self._limits]

    @property
    def _limits(self) -> list[ast.expr]:
        """The author's expressions that gradients are clipped by."""
        clipping = self.training.clipping
        return [clipping.limit] if clipping is not None else []

    def _clips_by_own_names(self) -> bool:
        """Whether the limit of a clipping is something that only the function knows."""
        names = (n for limit in self._limits for n in ast.walk(limit))
        homes = (
            self.module.names.defining_scope(name.id, self.scope)
            for name in names
            if isinstance(name, ast.Name)
        )
        return any(home is not None and not home.is_module for home in homes)

    def _signature(self) -> list[str]:
        arguments = self.reading.function.args
        every = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip([a.arg for a in every[::-1]], arguments.defaults[::-1]))
        return [
            f"{name}={self.module.source.code(defaults[name])}" if name in defaults else name
            for name in self.parameters
        ]

    def _own_name(self, *wished: str) -> str:
        """A name for what is made anew: also one whose author's statement goes away."""
        names = self.module.names
        averaged = [result.values for result in self.results.values()]
        plans = (self.loss, *(values for values in averaged if values is not None))
        written: list[ast.AST] = [*self.units, *self._trained]
        for plan in plans:
            written += written_nodes(plan)
        taken = {n.id for node in written for n in ast.walk(node) if isinstance(n, ast.Name)}
        taken |= {*self.reading.settings, self.loss.name or "loss", *names.module_scope.bindings}
        for name in wished:
            if name not in taken or names.fresh(self.scope, name) == name:
                return name
        return names.fresh(self.scope, *wished)

    # -- optimizer and loss ---------------------------------------------------

    def _context(self) -> None:
        """The statements of the optimizer, and how they are written."""
        training = self.training
        self.rates: dict[ast.AST, RateWriter] = {}
        self.optimizers = {
            call: self._writer(call, optimizer) for call, optimizer in training.optimizers.items()
        }
        made: dict[ast.AST, Replacement] = {
            call: self._optimizer(call, writer) for call, writer in self.optimizers.items()
        }
        self.context = Context(self.module, self.style, self.reading.modes, {}, made)
        self.units = self._needed(self._trained, training.unit)
        if fits_compile(self.loss) and self.loss.loss is not None and self.loss.loss.setting:
            self._loss_setting(self.loss.loss.setting)

    def _writer(self, call: ast.AST, optimizer: Optimizer) -> OptimizerWriter:
        """What writes an optimizer, whose rate may be a schedule of its own."""
        units = self.reading.paths[self.reading.base].units
        unit = next((one for one in units if call in ast.walk(one)), self.training.unit)
        rate = calculated_rate(self.reading, optimizer, unit)
        if rate is None:
            return OptimizerWriter(optimizer, self.style)
        made = self.rates[call] = RateWriter(self.reading, rate, self.style)
        known = LearningRate(rate.value, Variation.SCHEDULED)
        writer = OptimizerWriter(replaced(optimizer, learning_rate=known), self.style)
        writer.rate = made.constructor
        writer.reads += rate.given.values()
        return writer

    def _loss_setting(self, node: ast.expr) -> None:
        """What a loss object's argument is made of: `label_smoothing=smoothing`."""
        found = settings_of(self.flow, [node], self.loss.unit, (), None)
        more = [s for s in found if s not in self.units]
        self.units = sorted([*self.units, *more], key=lambda s: s.lineno)
        for name in loaded(node):
            self.context.used.setdefault(name.id, name)

    def _needed(self, nodes: list[ast.expr], unit: ast.stmt | None) -> list[ast.stmt]:
        """The statements that the written text reads: the global step is not among them."""
        found: set[ast.stmt] = set()
        stack: list[tuple[ast.AST, ast.stmt | None]] = [(node, unit) for node in nodes]
        while stack:
            node, place = stack.pop()
            probe = Context(
                self.module, self.style, self.reading.modes, {}, dict(self.context.replaced)
            )
            probe.edits(node)
            if probe.trains:
                raise Refused(self.module, node, "the optimizer depends on the mode")
            for name in sorted(probe.used):
                for statement in self.flow.definitions(name, place):
                    if statement not in found:
                        found.add(statement)
                        stack.append((statement, statement))
        return sorted(found, key=lambda s: s.lineno)

    def _optimizer(self, call: ast.Call, writer: OptimizerWriter) -> Replacement:
        def write(context: Context) -> str:
            clipping = self.training.clipping
            function, more = writer.function, None
            if clipping is not None and self.distributed:
                function = self._clipped(writer, clipping, context)
            elif clipping is not None:
                more = clipping_argument(clipping, context)
            for read in writer.reads:
                context.edits(read)
            return context.render_call(call, writer.edits(function, more))

        return write

    def _clipped(self, writer: OptimizerWriter, clipping: Clipping, context: Context) -> str:
        """The class whose replicas clip as the author did, which stands for an optimizer's."""
        names = self.module.names
        name = names.fresh(names.module_scope, f"Clipped{writer.name}")
        self.clipping = clipping_class(name, writer, clipping, context)
        return name

    def _statements(self, body: Block) -> str:
        """Adds loss, optimizer and what they need in the author's order; the optimizer's name."""
        loss = self.loss
        self.loss_name = self.loss.name or "loss"
        items: list[tuple[int, str, ast.stmt | None]] = [
            (unit.lineno, "unit", unit) for unit in self.units
        ]
        line = loss.unit.lineno if loss.unit is not None else 10**9
        if loss.of_output:
            items.append((line, "loss", loss.unit))
        optimizer = self.training.value
        name = optimizer.id if isinstance(optimizer, ast.Name) else ""
        if not name and optimizer is not None:
            name = self._own_name("optimizer")
            line = self.training.unit.lineno if self.training.unit is not None else 10**9
            items.append((line, "optimizer", self.training.unit))
        for _, kind, unit in sorted(items, key=lambda item: (item[0], item[1])):
            if kind == "unit":
                assert unit is not None
                edits = self.context.edits(unit)
                if any(call in self.optimizers for call in ast.walk(unit)):
                    self._own_class(body)
                self._comments(body, unit, own=False)
                body.statement(unit, edits, 1)
            elif kind == "optimizer":
                assert optimizer is not None
                if unit is not None:
                    self._comments(body, unit)
                base = body.indent + self.module.source.indent_unit
                text = self.context.render(optimizer, len(base) + len(name) + 3, base)
                self._own_class(body)
                body.line(f"{name} = {bracketed(text)}", 1)
            else:
                self._loss(body, unit)
        return name

    def _comments(self, body: Block, unit: ast.stmt, own: bool = True) -> None:
        """What stands above a statement, and above the `if` on the mode that it begins."""
        parent = self.module.names.parents[unit]
        if isinstance(parent, (ast.If, ast.With)) and parent.body[0] is unit:
            if parent not in self._begun:
                self._begun.add(parent)
                self._comments(body, parent)
        if own:
            body.comments(unit, 1)

    def _own_class(self, body: Block) -> None:
        """The class of an optimizer that reads the function's own names."""
        if self.clipping and self._clips_by_own_names():
            body.line()
            for line in self.clipping.split("\n"):
                body.line(line, 1) if line else body.line()
            body.line()

    def _own_settings(self) -> set[ast.stmt]:
        """Statements of the function that a loss within it need not repeat."""
        bindings = self.scope.bindings
        once = [s for s in self.units if all(len(bindings[n]) == 1 for n in stored(s)[0])]
        return {s for s in once if not stored(s)[1]}

    def _loss(self, body: Block, unit: ast.stmt | None) -> None:
        loss = self.loss.loss
        if loss is None or not fits_compile(self.loss):
            self._function(body, self.loss, self.loss_name, unit)
            return
        if unit is not None:
            self._comments(body, next(iter([*self.loss.units, unit])))
        body.line(f"{self.loss_name} = {loss_object(loss, self.style)}", 1)

    def _function(
        self, body: Block, plan: Computation, name: str, unit: ast.stmt | None = None
    ) -> None:
        """Adds a function of labels and output, below what stands above a statement."""
        block = Block(self.module.source, body.indent + self.module.source.indent_unit)
        block.lines = body.lines
        own = self._own_settings()
        plan.units = [u for u in plan.units if u not in own]
        body.line()
        if unit is not None:
            self._comments(body, unit)
        context = LossWriter(self.reading, plan, self.style, name).write(block)
        body.line()
        output, _ = self.reading.output
        for name, node in context.used.items():
            if name not in ("labels", output):
                self.context.used.setdefault(name, node)

    # -- compile --------------------------------------------------------------

    def _metrics(self, body: Block, metrics: list[str]) -> str:
        """`metrics=[...]`, one a line where they do not fit into one."""
        source = self.module.source
        line = f"metrics=[{', '.join(metrics)}]"
        hangs = source.has_hanging_brackets
        unit = source.indent_unit
        inner = body.indent + unit * (2 if hangs or len(unit) >= 4 else 3)
        if len(inner) + len(line) + 1 <= source.width:
            return line
        deeper = inner + unit
        fitted = [self.style.fitted(metric, deeper, len(deeper), 1) for metric in metrics]
        lines = "".join(f"\n{deeper}{metric}," for metric in fitted)
        return f"metrics=[{lines}\n{inner}]" if hangs else f"metrics=[{lines[:-1]}]"

    def _compile(self, body: Block, optimizer: str) -> None:
        functions = function_names(self.module, self.scope, self.results)
        for name, function in functions.items():
            values = self.results[name].values
            assert values is not None
            self._function(body, values, function)
        arguments = [f"optimizer={optimizer}"] * bool(optimizer)
        if self.loss.of_output:
            arguments.append(f"loss={self.loss_name}")
        metrics = [
            result_object(result, name, functions.get(name, ""), self.style)
            for name, result in self.results.items()
        ]
        if metrics:
            arguments.append(self._metrics(body, metrics))
        base = body.indent + self.module.source.indent_unit
        head = f"{self.model}.compile"
        body.line(self.style.call(head, arguments, base, len(base)), 1)
