"""A model's own `train_step` and `test_step`, where `compile` has no place for loss and metrics.

They hand on what the input function gives, as TF1 did: labels of several parts, features as
labels, values of the network beside its logits.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.dataflow import loaded, stored
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import EVAL, TRAIN
from migrate_mgpu.api.metrics import METRICS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.model_fn.casts import casts
from migrate_mgpu.models.front.model_fn.means import averages
from migrate_mgpu.models.front.model_fn.metrics import read_metrics
from migrate_mgpu.models.front.model_fn.outputs import Outputs, Place
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.network.reserved import RESERVED
from migrate_mgpu.models.ir import ClippedBy, Clipping, Metric, MovedAverages, Objective
from migrate_mgpu.models.keras.expressions import Context, Replacement, cast_to
from migrate_mgpu.models.keras.losses import add_statement, replacements
from migrate_mgpu.models.keras.metrics import metric_object
from migrate_mgpu.models.keras.network.network import Network
from migrate_mgpu.models.properties import lacks_rank
from migrate_mgpu.source.blocks import Block, bracketed
from migrate_mgpu.source.style import FileStyle

AVERAGES = "averages"
# The names that a training step has beside averages.
AVERAGE_NAMES = {AVERAGES, "average", "moved", "variable"}
_JOINED = (ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda)
LOSS, TESTED, MEAN = "batch_loss", "test_loss", "mean_loss"
# Metrics that are means over all elements.
_MEANS = ("accuracy", "mean")
# Those that are of elements, in whichever shape these come.
_OF_ELEMENTS = (
    "accuracy", "mean_squared_error", "root_mean_squared_error", "mean_absolute_error",
    "precision", "recall", "true_positives", "true_negatives", "false_positives",
    "false_negatives", "auc", "auc_precision_recall",
)  # fmt: skip
_LONGEST = 100  # columns of a statement that is left on one line
_METHODS = {AVERAGES, LOSS, TESTED, MEAN, "predict_step", "test_step", "train_step"}


@record(frozen=True)
class _Kept:
    """A metric that is an attribute of the model."""

    name: str
    attribute: str
    metric: Metric
    unit: ast.stmt | None  # where it stands


class Steps:
    """The methods and attributes that train and test a model.

    Raises:
        Refused: a metric that Keras has not, or another loss on several replicas.
    """

    def __init__(
        self,
        reading: Reading,
        outputs: Outputs,
        loss: Objective,
        tested: Objective | None,
        style: FileStyle,
        distributed: bool,
        uncounted: bool,
    ) -> None:
        self.reading = reading
        self.module = reading.module
        self.outputs = outputs
        self.loss = loss
        self.tested = tested  # an evaluation's own loss
        # What training reports, where it minimizes another value: that loss of an evaluation.
        self.reports = reading.reported is not None
        self.given: dict[str, list[str]] = {}  # what the methods of the losses must be given
        self.style = style
        self.tf = style.tensorflow
        self.distributed = distributed
        self.uncounted = uncounted
        # What is known of the rows that a step looks up before it is written.
        self.sums_rows = False
        self.clipping: Clipping | None = None
        self.averages: MovedAverages | None = None
        if distributed and not averages(reading, loss.value, loss.unit):
            # An evaluation's batches are shared out, and the replicas' losses averaged.
            text = (
                "several replicas would have a different loss, because it is not the mean over "
                "the examples"
            )
            raise Refused(self.module, loss.value, text, "let the loss be a mean")
        if distributed and tested is not None:
            text = "evaluation has a different loss than training, on several replicas"
            raise Refused(self.module, tested.value, text, "use one loss for both")
        taken = RESERVED | _METHODS | set(reading.settings)
        self.metrics: list[_Kept] = []
        for name, metric in read_metrics(reading).items():
            made = _Kept(
                name, self._attribute(name, metric, taken), metric, reading.metrics[name][1]
            )
            taken.add(made.attribute)
            self.metrics.append(made)

    @property
    def reserved(self) -> frozenset[str]:
        """The attributes that no layer may have."""
        return frozenset({*_METHODS, *(kept.attribute for kept in self.metrics)})

    def _attribute(self, name: str, metric: Metric, taken: set[str]) -> str:
        if name == "loss":
            raise Refused(self.module, metric.node, f"no Keras metric is known for {name!r}")
        attribute = "".join(c if c.isalnum() else "_" for c in name)
        if attribute in taken or not attribute.isidentifier():
            attribute += "_metric"
        if attribute in taken or not attribute.isidentifier():
            raise Refused(self.module, metric.node, f"the metric {name!r} has a name of Keras's")
        return attribute

    # -- the class ------------------------------------------------------------

    def attach(self, network: Network) -> None:
        """Gives a network its metrics and methods."""
        mean = f"{self.tf}.keras.metrics.Mean(name={self.style.string('loss')})"
        network.made.append((f"self.{MEAN}", mean))
        settings = network.context({})
        for kept in self.metrics:
            made = metric_object(kept.metric, kept.name, self.style, settings.render)
            network.made.append((f"self.{kept.attribute}", made))
        network.reads(settings)
        if self.averages is not None:
            network.members.append(self._trained)
        network.members += [self._property, self._loss]
        if self.tested is not None and self.reports:
            network.members.append(self._tested)
        if TRAIN in self.reading.specs:
            network.members.append(self._train)
        if self.tested is not None and not self.reports:
            network.members.append(self._tested)
        if EVAL in self.reading.specs:
            network.members.append(self._test)

    def _block(self, indent: str) -> Block:
        return Block(self.module.source, indent + self.module.source.indent_unit)

    def _property(self, network: Network, indent: str) -> str:
        block = self._block(indent)
        block.line("@property")
        block.line("def metrics(self):")
        if self.reading.conditions:
            self._chosen(network, block)
            return block.text()
        names = [f"self.{name}" for name in (MEAN, *(m.attribute for m in self.metrics))]
        self._listed(block, f"return [{', '.join(names)}]", [f"{name}," for name in names])
        return block.text()

    def _trained(self, network: Network, indent: str) -> str:
        """The property that leaves the averages out of what an optimizer has."""
        block = self._block(indent)
        block.line("@property")
        block.line("def trainable_variables(self):")
        block.line("# Of the averages none: an optimizer keeps nothing for them.", 1)
        block.line(f"averages = getattr(self, {self.style.string(AVERAGES)}, None)", 1)
        every = "[] if averages is None else averages.trainable_variables"
        block.line(f"known = {{id(v) for v in ({every})}}", 1)
        rest = "v for v in super().trainable_variables if id(v) not in known"
        block.line(f"return [{rest}]", 1)
        return block.text()

    def _condition(self, network: Network, kept: _Kept) -> str:
        """What says whether there is a metric; empty where there always is."""
        statement = self.reading.conditions.get(kept.name)
        if statement is None:
            return ""
        context = network.context({})
        text = context.render(statement.test)
        self._done(network, context, statement.test)
        return f"if {text}:"

    def _chosen(self, network: Network, block: Block) -> None:
        """The metrics, where there are some by settings alone."""
        always = [m for m in self.metrics if m.name not in self.reading.conditions]
        names = [f"self.{name}" for name in (MEAN, *(m.attribute for m in always))]
        self._listed(block, f"metrics = [{', '.join(names)}]", [f"{name}," for name in names])
        for kept in self.metrics:
            condition = self._condition(network, kept)
            if condition:
                block.line(condition, 1)
                block.line(f"metrics.append(self.{kept.attribute})", 2)
        block.line("return metrics", 1)

    def _listed(self, block: Block, line: str, parts: Sequence[str]) -> None:
        """A statement that ends in a list, whose parts get lines of their own where it is long."""
        source = self.module.source
        if len(block.indent + source.indent_unit + line) <= source.width:
            block.line(line, 1)
            return
        block.line(line[: line.index("[") + 1], 1)
        for part in parts:
            block.line(part, 2)
        block.line("]", 1)

    def _context(self, network: Network, places: Sequence[Place], mode: str) -> Context:
        replaced: dict[ast.AST, Replacement] = {}
        flow, outputs = self.reading.flows[mode], self.outputs.names_of(mode == TRAIN)
        for node, unit in places:
            found = casts(self.module, flow, node, unit, outputs)
            replaced.update({one: cast_to(one, f"{output}.dtype") for one, output in found.items()})
        replaced.update(replacements(self.module, [node for node, _ in places]))
        return network.context(replaced)

    def _statements(
        self, network: Network, block: Block, units: Sequence[ast.stmt], context: Context
    ) -> None:
        for unit in units:
            if not network.tells_mode(unit):
                add_statement(block, unit, context, self.style)

    def _done(self, network: Network, context: Context, node: ast.AST) -> None:
        if context.trains:
            text = "the loss or a metric asks whether the model trains"
            raise Refused(self.module, node, text, "let the network ask")
        network.reads(context)

    def _loss(self, network: Network, indent: str) -> str:
        text, self.given[LOSS] = self._method(
            network, indent, LOSS, self.loss, self.outputs.loss, self.reading.base
        )
        return text

    def _tested(self, network: Network, indent: str) -> str:
        assert self.tested is not None
        text, self.given[TESTED] = self._method(
            network, indent, TESTED, self.tested, self.outputs.tested, EVAL
        )
        return text

    def _called(self, method: str) -> str:
        """A batch's loss, by one of the methods."""
        return f"self.{method}({', '.join(self.given[method])})"

    def _method(
        self,
        network: Network,
        indent: str,
        called: str,
        plan: Objective,
        between: Sequence[ast.stmt],
        mode: str,
    ) -> tuple[str, list[str]]:
        """A method that gives a loss, and what it must be given."""
        source = self.module.source
        value, units = plan.value, list(between)
        last = units[-1] if units else None
        if isinstance(value, ast.Name) and isinstance(last, ast.Assign):
            if value.id in stored(last)[0] and len(last.targets) == 1:
                value = last.value
                units.pop()
        places: list[Place] = [*((unit, unit) for unit in units), (value, plan.unit)]
        context = self._context(network, places, mode)
        block = self._block(indent)
        self._statements(network, block, units, context)
        above = plan.unit if plan.unit is not None and plan.unit not in units else None
        if above is not None:
            block.comments(above, 1)
        adds = plan.regularized or plan.decay is not None
        name = plan.name or "loss"
        head = f"{name} = " if adds else "return "
        base = block.indent + source.indent_unit
        text = context.render(value, len(base) + len(head), base)
        text = self.style.fitted(text, base, len(base) + len(head), nested=True)
        block.line(head + bracketed(text), 1)
        if adds:
            block.line(f"return {name} + sum(self.losses)", 1)
        self._done(network, context, value)
        given = self._free_names([*units, value], context)
        head_block = self._block(indent)
        head_block.line(f"def {called}({', '.join(['self', *given])}):")
        head_block.lines += block.lines
        return head_block.text(), given

    def _free_names(self, nodes: Sequence[ast.AST], context: Context) -> list[str]:
        """What a method must be given: names that it reads before it makes them."""
        free: set[str] = set()
        made: set[str] = set()
        for node in nodes:
            free |= {name.id for name in loaded(node)} - made
            if isinstance(node, ast.stmt):
                made |= stored(node)[0]
        every = ("features", "labels", *self.outputs.names)
        return [name for name in every if name in free and name in context.used]

    def _unpack(self, labels: bool) -> str:
        given = f"features, {'labels' if labels else '_'}, _"
        return f"{given} = {self.tf}.keras.utils.unpack_x_y_sample_weight(data)"

    def _forward(self, training: bool) -> str:
        return f"{', '.join(self.outputs.names_of(training))} = self(features, training={training})"

    def _train(self, network: Network, indent: str) -> str:
        block = self._block(indent)
        block.line("def train_step(self, data):")
        reported = TESTED if self.reports else LOSS
        block.line(self._unpack("labels" in {*self.given[LOSS], *self.given[reported]}), 1)
        block.line(f"with {self.tf}.GradientTape() as tape:", 1)
        block.line(self._forward(True), 2)
        block.line(f"loss = {self._called(LOSS)}", 2)
        target = "loss"
        if self.distributed:
            block.line("# The replicas' gradients are summed up.", 2)
            block.line("share = loss / self.distribute_strategy.num_replicas_in_sync", 2)
            target = "share"
        block.line(f"gradients = tape.gradient({target}, self.trainable_variables)", 1)
        if self.clipping is not None:
            block.line(self._clipped(network, self.clipping), 1)
        if self.sums_rows:
            block.line("# TF1 added up what a step looked up of a row, Keras 3 does not.", 1)
            each = f"None if g is None else {self.tf}.convert_to_tensor(g) for g in gradients"
            self._listed(block, f"gradients = [{each}]", [each])
        if self.averages is not None:
            self._moved(network, block, self.averages)
        pairs = "zip(gradients, self.trainable_variables)"
        block.line(f"self.optimizer.apply_gradients({pairs})", 1)
        loss = self._called(TESTED) if self.reports else "loss"
        block.line(f"self.{MEAN}.update_state({loss})", 1)
        quote = self.module.source.quote
        block.line(f"return {{{quote}loss{quote}: self.{MEAN}.result()}}", 1)
        return block.text()

    def _moved(self, network: Network, block: Block, moved: MovedAverages) -> None:
        """The statements that move the averages, which begin with the variables."""
        context = network.context({})
        decay = context.render(moved.decay)
        decay = f"({decay})" if isinstance(moved.decay, _JOINED) else decay
        network.reads(context)
        block.line(f"if not self.{AVERAGES}.built:", 1)
        block.line(f"self.{AVERAGES}(features)", 2)
        block.line("# The averages move before the variables do.", 1)
        pairs = f"zip(self.{AVERAGES}.trainable_variables, self.trainable_variables)"
        block.line(f"for average, variable in {pairs}:", 1)
        block.line(f"moved = average - (average - variable) * (1.0 - {decay})", 2)
        first = "self.optimizer.iterations == 0"
        block.line(f"average.assign({self.tf}.where({first}, variable, moved))", 2)

    def _clipped(self, network: Network, clipping: Clipping) -> str:
        """The statement that clips gradients, of rows one by one as in TF1."""
        context = network.context({})
        limit = context.render(clipping.limit)
        network.reads(context)
        if clipping.by is ClippedBy.GLOBAL_NORM:
            return f"gradients, _ = {self.tf}.clip_by_global_norm(gradients, {limit})"
        each = f"{self.tf}.clip_by_norm(g, {limit})"
        if clipping.by is ClippedBy.VALUE:
            plain = isinstance(clipping.limit, (ast.Constant, ast.Name))
            each = f"{self.tf}.clip_by_value(g, -{limit if plain else f'({limit})'}, {limit})"
        return f"gradients = [None if g is None else {each} for g in gradients]"

    def _by_elements(self, kept: _Kept) -> bool:
        """Whether a metric of sequences, whose batches have several lengths, is of their elements.

        Keras 3 takes each example's mean first, over the length of its batch. It asks for a rank.
        """
        compared = kept.metric.labels, kept.metric.predictions
        if kept.metric.kind in _OF_ELEMENTS and kept.metric.weights is None:
            if any(node is not None and lacks_rank(self.module, node) for node in compared):
                return True
        if kept.metric.kind not in _MEANS:
            return False
        weights = kept.metric.weights
        return "padded_batch" in self.module.names.attributes or (
            weights is not None and self._is_mask(weights, kept.unit)
        )

    def _is_mask(self, weights: ast.expr, unit: ast.stmt | None) -> bool:
        value, _ = self.reading.flows[EVAL].resolve(weights, unit)
        return isinstance(value, ast.Call) and name_of(self.module, value) == "sequence_mask"

    def _of_elements(self, kept: _Kept, text: str, compared: str) -> str:
        """The weights of all elements; a mask has them, others may be one for a row."""
        weights = kept.metric.weights
        if weights is not None and not self._is_mask(weights, kept.unit):
            text = f"{self.tf}.broadcast_to({text}, {self.tf}.shape({compared}))"
        return f"{self.tf}.reshape({text}, [-1])"

    def _test(self, network: Network, indent: str) -> str:
        units = self.outputs.metrics
        compared = [
            [node for node in (m.labels, m.predictions, m.weights) if node is not None]
            for m in (kept.metric for kept in self.metrics)
        ]
        flat = [node for nodes in compared for node in nodes]
        wheres = [kept.unit for kept in self.metrics]
        places: list[Place] = [(unit, unit) for unit in units]
        places += [(node, where) for nodes, where in zip(compared, wheres) for node in nodes]
        context = self._context(network, places, EVAL)
        block = self._block(indent)
        self._statements(network, block, units, context)
        source = self.module.source
        base = block.indent + source.indent_unit
        for kept, nodes in zip(self.metrics, compared):
            head = f"self.{kept.attribute}.update_state("
            given = [context.render(node, len(base) + len(head), base) for node in nodes]
            weight = [given.pop()] if kept.metric.weights is not None else []
            if self._by_elements(kept):
                weight = [self._of_elements(kept, text, given[0]) for text in weight]
                given = [f"{self.tf}.reshape({text}, [-1])" for text in given]
            if METRICS.by_kind[kept.metric.kind].boolean:
                given = [f"{self.tf}.cast({text}, {self.tf}.bool)" for text in given]
            line = f"{head}{', '.join(given)})"
            if weight:
                line = f"{line[:-1]}, sample_weight={weight[0]})"
            if weight or len(base + line) > _LONGEST:
                line = self.style.fitted(line, base, len(base), nested=True)
            condition = self._condition(network, kept)
            if condition:
                block.line(condition, 1)
            block.line(line, 2 if condition else 1)
        if flat:
            self._done(network, context, flat[0])
        called = LOSS if self.tested is None else TESTED
        free = self._free_names([*units, *flat], context)
        labels = "labels" in self.given[called] or "labels" in free
        head_block = self._block(indent)
        head_block.line("def test_step(self, data):")
        head_block.line(self._unpack(labels), 1)
        twins = self.reading.twins
        if twins is not None:
            head_block.line("# The loss is the training network's, in an evaluation too.", 1)
            head_block.line(self._forward(True), 1)
        if twins is None or flat:
            head_block.line(self._forward(False), 1)
        averaged = self.outputs.averages_of(n.id for s in (*units, *flat) for n in loaded(s))
        if averaged:
            head_block.line(f"{averaged} = self.{AVERAGES}(features, training=False)", 1)
        loss = self._called(called)
        if self.uncounted:
            unit = self.module.source.indent_unit
            head_block.line(f"loss = {loss}", 1)
            head_block.line("# Keras 3 would count a batch behind the last one.", 1)
            head_block.line(f"with {self.tf}.control_dependencies([loss]):", 1)
            head_block.line(f"self.{MEAN}.update_state(loss)", 2)
            newline = self.module.source.newline
            head_block.lines += [
                newline.join(unit + line if line else "" for line in text.split(newline))
                for text in block.lines
            ]
        else:
            head_block.line(f"self.{MEAN}.update_state({loss})", 1)
            head_block.lines += block.lines
        head_block.line("return {metric.name: metric.result() for metric in self.metrics}", 1)
        return head_block.text()
