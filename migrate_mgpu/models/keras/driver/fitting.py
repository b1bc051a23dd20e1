"""`fit` in the place of `train`: how many steps, what happens between them, which callbacks."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.core.findings import NUMBERS, STEPS
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.inputs.effects import shows_calls
from migrate_mgpu.models.front.inputs.lengths import Lengths
from migrate_mgpu.models.front.inputs.step_counts import StepCounts
from migrate_mgpu.models.ir import DriverCall
from migrate_mgpu.models.keras.driver.datasets import Datasets
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.models.keras.driver.hooks import Callbacks
from migrate_mgpu.models.keras.driver.restoring import Manager
from migrate_mgpu.models.keras.inputs.inputs import MODES
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

# The step that finds the end fails, and whether it has counted by then is a race. One pass over 13
# examples of `Dataset.from_generator`: `optimizer.iterations` is 14, three passes: 42, on 2.15 and
# 2.21 alike; it is 13 where a logical CPU stands for a GPU.
_ONE_MORE = (
    "how long this input is cannot be determined, and Keras may count one step more where such an "
    "input ends: `optimizer.iterations`, and with it Adam's bias correction, schedules and the "
    "steps of checkpoints, are ahead of TF1's by one from then on; with `steps` given to train "
    "they are not"
)


@record()
class Between:
    """Evaluations while training: after every so many steps, and how often that is."""

    steps: str
    epochs: str
    arguments: list[str]


@record()
class Training:
    """One training: its input function in ``module``, ``steps`` or ``max_steps``.

    ``dataset`` is the variable that holds the dataset already, "" where none does.
    """

    call: DriverCall
    module: Module
    node: ast.expr
    steps: ast.expr | None
    total: ast.expr | None
    callbacks: Callbacks
    dataset: str = ""
    between: Between | None = None


class Fitting:
    """Writes the statements that train; ``saved`` are the model's checkpoints, if it has any."""

    saved: Manager | None = None
    quiet = True

    def __init__(
        self,
        flow: EstimatorFlow,
        model: ModelPlan,
        graph: CallGraph,
        datasets: Datasets,
        changes: DriverEdits,
    ) -> None:
        self.flow = flow
        self.model = model
        self.graph = graph
        self.datasets = datasets
        self.changes = changes
        self.lengths = Lengths(graph)
        self.counts = StepCounts(graph)

    def deeper(self, training: Training) -> str:
        """One level of indentation where `fit` stands under an `if`; else empty."""
        counted = training.steps is not None or training.total is None
        nested = not counted and not self._trains_once(training.call)
        return training.call.module.source.indent_unit if nested else ""

    def lines(self, training: Training) -> list[str]:
        """The statements, without the indentation of the one that they take the place of."""
        call = training.call
        module, source = call.module, call.module.source
        layout = Layout(source, module.names.statement(call.node))
        receiver = self.changes.receiver(call)
        deeper = self.deeper(training)
        indent = layout.indent + deeper
        inner = indent + source.indent_unit
        dataset = training.dataset or self.datasets.text(
            call, training.module, training.node, inner, len(inner), True
        )
        lines: list[str] = []
        count = self._count(training)
        name = ""
        if deeper:
            name = module.names.fresh(
                module.names.scope_at(call.node), "steps", "remaining_steps", "steps_left"
            )
            done = f"int({receiver}.optimizer.iterations.numpy())"
            assert training.total is not None
            whole = self._is_fraction(training)  # a call, which needs no parentheses
            left = count if whole else operand(training.total, count)
            lines += [f"{name} = {left} - {done}", f"if {name} > 0:"]
            count = name
        pieces = [dataset]
        if training.between is not None:
            epochs = f"{name} // {training.between.steps}" if deeper else training.between.epochs
            pieces += [f"steps_per_epoch={training.between.steps}", f"epochs={epochs}"]
            pieces += training.between.arguments
        elif count:
            pieces.append(f"steps_per_epoch={count if deeper else self._given(training, count)}")
        elif not self.lengths.counts(training.module, training.node):
            self.changes.note(module, call.node, _ONE_MORE, STEPS)
        before = [f"{self._beside(module, known)}()" for known in self.model.callbacks]
        saving = [self.saved.callback] if self.saved is not None and self.saved.callback else []
        # TF1 saved a step's checkpoint before it asked the other hooks.
        callbacks = training.callbacks.argument([*before, *saving])
        if callbacks:
            pieces.append(f"callbacks={callbacks}")
        if self.quiet:
            pieces.append("verbose=0")
        lines.append(
            deeper + FileStyle.of(source).call(f"{receiver}.fit", pieces, indent, len(indent))
        )
        if self.saved is not None:
            lines.append(deeper + self.saved.save)
        return lines

    def _count(self, training: Training) -> str:
        """The number of steps; empty where Keras finds the end of the input itself."""
        wanted = training.steps if training.steps is not None else training.total
        if wanted is not None:
            return self.whole(training.call.module, *self._wanted(training, wanted))
        if self.datasets.setup.strategy is None:
            return ""
        if not self.lengths.counts(training.module, training.node):
            raise Refused(
                training.module, training.node, "training until the input ends, and how long "
                "that is cannot be determined before",
                "give the training its number of steps",
            )  # fmt: skip
        call = training.call
        made = self.datasets.inputs.dataset(training.module, training.node, MODES["train"])
        replicas = f"{self.datasets.strategy_at(call, call.module, call.node)}.num_replicas_in_sync"
        return f"int({made}.cardinality()) // {replicas}"

    def whole(self, home: Module, module: Module, node: ast.expr) -> str:
        """A number of steps, written in a module: whole, as Keras 3 needs it and TF1 counts it."""
        text = text_of(module, node)
        if not self.counts.may_be_fraction(module, node):
            return text
        self.changes.needs(home, "math")
        return f"math.ceil({text})"

    def optional(self, home: Module, module: Module, node: ast.expr) -> str:
        """As ``whole``, of a number that may be left out."""
        text, whole = text_of(module, node), self.whole(home, module, node)
        if whole == text or not self.counts.may_be_none(module, node):
            return whole
        return f"{operand(node, text)} and {whole}"

    def _given(self, training: Training, count: str) -> str:
        if training.steps is None:
            return count
        return self.optional(training.call.module, *self._wanted(training, training.steps))

    def _wanted(self, training: Training, node: ast.expr) -> tuple[Module, ast.expr]:
        spec = training.call.train_spec
        return (spec.module if spec is not None else training.call.module), node

    def _is_fraction(self, training: Training) -> bool:
        node = training.steps if training.steps is not None else training.total
        return node is not None and self.counts.may_be_fraction(*self._wanted(training, node))

    def between(self, training: Training, evaluated: str, steps: str) -> Between | None:
        """Evaluations after every ``save_checkpoints_steps``, where TF1 did just that.

        TF1 evaluates after the first of these checkpoints, then no sooner than
        ``throttle_secs`` (600) after the last time, and at the end. So with two
        checkpoints, or without throttling, an evaluation follows each.
        """
        spec, given = training.call.eval_spec, self.flow.config.values("save_checkpoints_steps")
        if spec is None or len(given) != 1 or self.model.callbacks:
            return None
        module, node = given[0].module, given[0].node
        every = _number(module, node)
        train = training.call.train_spec
        total = _number(train.module, training.total) if train is not None else None
        if not every or not total or total % every or total == every:
            return None
        throttle = spec.arguments.get("throttle_secs")
        unthrottled = throttle is not None and _number(spec.module, throttle) in (0, 1)
        if total // every > 2 and not unthrottled:
            return None
        shown = spec.arguments.get("input_fn")
        if shown is not None and shows_calls(self.graph, spec.module, shown):
            text = (
                "TF1 called this input function for each evaluation, here it is called once: what "
                "it prints, or draws at random, comes once"
            )
            self.changes.note(spec.module, shown, text, NUMBERS)
        arguments = [f"validation_data={evaluated}"]
        if steps:
            arguments.append(f"validation_steps={steps}")
        text = text_of(module, node)
        both = f"{self._count(training)} // {text}"
        literal = isinstance(node, ast.Constant) and isinstance(training.total, ast.Constant)
        return Between(text, str(total // every) if literal else both, arguments)

    def _trains_once(self, call: DriverCall) -> bool:
        """Whether a training is the only one of its model: `max_steps` is the same as `steps`."""
        trainings = [one for one in self.flow.driving.calls if one.trains]
        modules = list(self.graph.project.modules.values())
        once = self.graph.runs_once(call.module, call.node, modules)
        return len(trainings) == 1 and once and self.saved is None

    def _beside(self, module: Module, name: str) -> str:
        """A class that is written beside the model_fn, as another module knows it."""
        function = self.flow.function
        assert function is not None
        if module is function.module:
            return name
        node = self.flow.arguments["model_fn"]
        if module is self.flow.module and isinstance(node, ast.Attribute):
            return f"{module.source.code(node.value)}.{name}"
        for statement in module.names.imports:
            if isinstance(statement, ast.ImportFrom):
                for alias in statement.names:
                    targets = self.graph.project.resolve(module, module.names.absolute(statement))
                    if alias.name == function.name and function.module in targets[-1:]:
                        start, _ = module.source.span(alias)
                        self.changes.edit(module, Edit(start, start, f"{name}, "))
                        return name
        raise Refused(
            module, node, f"`{name}` is needed here and stands in {function.module.path.name}",
            "import the model_fn by its name",
        )  # fmt: skip


def operand(node: ast.expr, text: str) -> str:
    """An expression that something is subtracted from, or multiplied."""
    simple = (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript)
    product = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div, ast.FloorDiv))
    return text if isinstance(node, simple) or product else f"({text})"


def _number(module: Module, node: ast.expr | None) -> int | None:
    """A whole number that is written out, or a name that is bound once, to one."""
    value = constant(module.names.assigned(node))
    return value if isinstance(value, int) else None
