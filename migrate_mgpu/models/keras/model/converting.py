"""A model_fn becomes a function that builds, compiles and returns a Keras model."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.definitions import below_imports, defined_above
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import Note
from migrate_mgpu.analysis.modes import EVAL, TRAIN, Modes
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import names_in, walk
from migrate_mgpu.analysis.split_texts import split_lists
from migrate_mgpu.api.feature_columns import (
    COLUMN_TENSORS,
    COLUMN_VALUES,
    SHARED_COLUMN_TENSORS,
)
from migrate_mgpu.api.recurrent import cell_of
from migrate_mgpu.core.findings import NETWORK
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.canned.column_names import LISTED
from migrate_mgpu.models.front.canned.column_objects import (
    around,
    check_column_objects,
    may_embed,
    shared_columns,
)
from migrate_mgpu.models.front.model_fn.first_values import read_first_values
from migrate_mgpu.models.front.model_fn.in_place import moves_in_place
from migrate_mgpu.models.front.model_fn.label_use import compared_otherwise, has_named_labels
from migrate_mgpu.models.front.model_fn.lookups import check_lookups
from migrate_mgpu.models.front.model_fn.losses import LossReader
from migrate_mgpu.models.front.model_fn.metrics import read_metrics, read_results
from migrate_mgpu.models.front.model_fn.outputs import Outputs
from migrate_mgpu.models.front.model_fn.predictions import read_predictions
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.model_fn.residue import check_residue
from migrate_mgpu.models.front.model_fn.training import (
    ReportsOther,
    TrainingReader,
    read_optimizers,
)
from migrate_mgpu.models.front.network.functions import Helpers, Parameter
from migrate_mgpu.models.front.network.layers import Found, class_name, maker
from migrate_mgpu.models.front.network.network_classes import keeps_collections
from migrate_mgpu.models.front.network.summaries import (
    LEFT_OUT,
    unused_functions,
    without_summaries,
)
from migrate_mgpu.models.front.network.weights import double_weight
from migrate_mgpu.models.front.own_optimizers import elsewhere
from migrate_mgpu.models.front.variable_names import check_names
from migrate_mgpu.models.ir import (
    Objective,
    Predictions,
    Result,
    SharedColumns,
    Training,
    Variation,
    Weight,
)
from migrate_mgpu.models.keras.losses import definitions, written_nodes
from migrate_mgpu.models.keras.metrics import metric_classes, own_classes
from migrate_mgpu.models.keras.model.compiling import Compiling
from migrate_mgpu.models.keras.model.first_values import (
    INIT_FROM_CHECKPOINT,
    METHOD,
    NEVER_TRAINED,
    OLD_FILES,
    WARM_START,
    FirstValuesWriter,
    warm_start,
)
from migrate_mgpu.models.keras.model.predictions import PredictStep
from migrate_mgpu.models.keras.model.replicas import AVERAGE_STATISTICS
from migrate_mgpu.models.keras.model.steps import AVERAGE_NAMES, AVERAGES, Steps
from migrate_mgpu.models.keras.network.cells import class_edits
from migrate_mgpu.models.keras.network.class_plan import Plan
from migrate_mgpu.models.keras.network.classes import HelperClass, HelperClasses, PlainFunctions
from migrate_mgpu.models.keras.network.direct import direct, write_direct
from migrate_mgpu.models.keras.network.input_shapes import NeedsShape
from migrate_mgpu.models.keras.network.model_classes import ModelClass
from migrate_mgpu.models.keras.network.network import Network
from migrate_mgpu.models.keras.network.sequences import chain, write_sequence
from migrate_mgpu.models.keras.network.tf1_names import TF1Names
from migrate_mgpu.models.keras.own_optimizers import own_optimizer
from migrate_mgpu.models.keras.shared_columns import share_columns
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.models.properties import adds_up, lacks_rank, result_fits_compile
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit, Source
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle


def convert(
    function: Function,
    graph: CallGraph,
    style: FileStyle,
    predicts: bool,
    distributed: bool,
    bound: Collection[str] = (),
    towers: bool = False,
    uncounted: bool = False,
    optional: Collection[str] = (),
    warm: bool = False,
    trained: bool = True,
    told: Collection[Parameter] = (),
) -> ModelPlan:
    """The edits that turn a model_fn into a function that makes a compiled model.

    ``style`` is that of the file; ``predicts`` says whether the
    program asks for predictions, ``distributed`` whether several replicas may train;
    ``bound`` are parameters that ``functools.partial`` or a lambda gives it,; ``towers``
    share a batch, where replicas draw batches of their own; ``uncounted``: TF2 does not know
    how many batches an evaluation has; ``optional`` are those of ``bound`` that may be None;
    ``warm``: its trained variables may begin with a checkpoint's values; ``trained``: the program
    trains it; ``told`` are parameters that say in other models whether a function trains.

    Raises:
        Refused: a statement that is not understood; nothing is converted then.
    """
    given = (
        function,
        graph,
        style,
        predicts,
        distributed,
        bound,
        towers,
        uncounted,
        optional,
        warm,
        trained,
        told,
    )
    try:
        return _Conversion(*given).plan()
    except _NeedsSteps:
        return _Conversion(*given, stepwise=True).plan()
    except ReportsOther as other:
        if other.minimized is None:
            raise
        return _Conversion(*given, stepwise=True, minimized=other.minimized).plan()


class _NeedsSteps(Exception):
    """Keras's own training step would not train as TF1's."""


class _Conversion:
    def __init__(
        self,
        function: Function,
        graph: CallGraph,
        style: FileStyle,
        predicts: bool,
        distributed: bool,
        bound: Collection[str],
        towers: bool,
        uncounted: bool,
        optional: Collection[str],
        warm: bool,
        trained: bool,
        told: Collection[Parameter],
        stepwise: bool = False,
        minimized: ast.Name | None = None,
    ) -> None:
        self.function = function
        self.told = told
        self.uncounted = uncounted
        self.module = function.module
        self.style = style
        self.predicts = predicts
        self.distributed = distributed
        self.towers = towers
        node = function.node
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            raise Refused(self.module, node, "model_fn is decorated, or a coroutine")
        if function.owner is not None:
            text = "model_fn is a method"
            raise Refused(self.module, node, text, "make it a function, what it reads `params`")
        self.node = node
        self.normalizes = False
        self.has_layer_lists = False
        self.lookup: ast.AST | None = None
        self.tables: tuple[str, ...] = ()
        self.broadcasts: ast.expr | None = None  # what TF1 may compare with each label
        self.variable = ""  # of the model, where its author gave it one
        texts = split_lists(graph.modules)
        self.reading = Reading(self.module, node, bound, optional, trained, minimized, texts)
        self.outputs: Outputs | None = None
        self.summaries: list[tuple[Module, ast.AST]] = []  # of the network
        self.layers: list[tuple[str, Found]] = []  # by the class that they stand in
        self.applied: list[ast.Call] = []  # the calls of layers that it keeps in variables
        self.steps: Steps | None = None
        self.results: dict[str, Result] = {}  # the metrics of `compile`
        self.predictions: Predictions | None = None  # where they are not what the model gives
        if stepwise or TRAIN not in self.reading.specs or not self._fits_compile(graph):
            self._with_steps(graph)
        self.first = read_first_values(
            self.reading, self.network, self.training.unit, self.helpers.graph
        )
        self.warm = warm
        self.named = TF1Names(self.helpers.graph) if self.first is not None or warm else None
        self.classes = HelperClasses(self.helpers)
        self.plain = PlainFunctions(graph, style, self.helpers)

    def _fits_compile(self, graph: CallGraph) -> bool:
        """Reads loss, metrics and predictions as what Keras makes of one output and the labels.

        Returns whether they are that: else the model needs a training step of its own.
        """
        self.loss = LossReader(self.reading).read()
        if not self.loss.of_output:
            return False
        if self.distributed and self.loss.summed is not None:
            # Keras shares out the batches of an evaluation, and takes the mean over replicas;
            # what tf.losses sums up 1.15 does not even divide by the replicas in training.
            text = (
                "several replicas would have a different loss, because it is the sum over a batch"
            )
            raise Refused(self.module, self.loss.summed, text, "let the loss be a mean")
        if self.distributed and not self.loss.batch_mean:
            text = (
                "several replicas would have a different loss, because it is not the mean over "
                "the examples"
            )
            raise Refused(self.module, self.loss.value, text, "let the loss be a mean")
        self.broadcasts = compared_otherwise(self.reading, self.loss)
        if self.broadcasts is not None or lacks_rank(self.module, self.loss.value):
            return False
        if has_named_labels(self.reading.function):
            return False  # Keras takes their names for those of outputs
        self.training = TrainingReader(self.reading, graph).read()
        if self.training.averages is not None or (self.reading.metrics and self.reading.conditions):
            return False
        self.results = read_results(self.reading, read_metrics(self.reading))
        if not all(result_fits_compile(result) for result in self.results.values()):
            return False
        averaged = [one.values for one in self.results.values() if one.values is not None]
        if any(compared_otherwise(self.reading, values) is not None for values in averaged):
            return False
        self.helpers = Helpers(graph, self.reading.layers, self.loss.regularized, self.told)
        self.network = self.reading.network
        if double_weight(self.module, self.network) is not None:
            return False  # Keras calculates the losses that it compiles in float32
        self.predictions = read_predictions(self.reading) if self.predicts else None
        return self.predictions is None or self.predictions.of_output

    def _with_steps(self, graph: CallGraph) -> None:
        """Reads them as they are, for a model that has steps of its own."""
        modes = self.reading.specs.keys()
        self.training = Training()
        if TRAIN in modes:
            self.training = TrainingReader(self.reading, graph).read()
        self.loss = Objective(ast.Constant(None), None)  # predictions alone need none
        tested = None
        if {TRAIN, EVAL} & modes:
            reader = LossReader(self.reading)
            self.loss = reader.term()
            tested = reader.evaluated(self.loss)
        self.results = {}
        self.helpers = Helpers(graph, self.reading.layers, self.loss.regularized, self.told)
        outputs = Outputs(self.reading, self.loss, self.helpers, self.predicts, tested)
        if {TRAIN, EVAL} & modes:
            self.steps = Steps(
                self.reading,
                outputs,
                self.loss,
                tested,
                self.style,
                self.distributed,
                self.uncounted,
            )
        self._check_averages(outputs)
        if tested is not None:
            self.loss.terms |= tested.terms
        if self.reading.reported is not None:
            self._check_reported(tested, outputs)
        units = [*outputs.loss, *outputs.metrics, *outputs.tested]
        self.loss.units = [*units, *outputs.settings]
        self.outputs = outputs
        self.network = outputs.network | outputs.settings
        self.predictions = read_predictions(self.reading, outputs) if self.predicts else None

    def _check_averages(self, outputs: Outputs) -> None:
        """The averages that a step moves, and that the model is asked for, are of all it has.

        Raises:
            Refused: they are not, or nothing moves them.
        """
        averages = self.training.averages
        if averages is None:
            asked = {**outputs.averaged, **outputs.averaged_weights}
            if asked:
                text = "averages are read that no training step moves"
                raise Refused(self.module, self.node, text)
            return
        node, module = averages.made, self.module
        if self.steps is None or self.distributed or self.reading.twins is not None:
            raise Refused(module, node, "averages of variables on several replicas")
        if any(
            outputs.makes_layers(s) and s.lineno > averages.asked.lineno for s in outputs.network
        ):
            raise Refused(module, node, "averages of some of the variables only")
        taken = {*outputs.names, *self.reading.settings} & AVERAGE_NAMES
        if taken:
            text = f"`{min(taken)}` beside averages of variables"
            raise Refused(module, node, text, "give it another name")
        if not self._is_known(averages.decay):
            raise Refused(module, averages.decay, "the decay of an average cannot be determined")
        self.steps.averages = averages

    @property
    def _averages_values(self) -> bool:
        """Whether the program asks for the network's values with averages of its variables."""
        return self.outputs is not None and bool(self.outputs.averaged)

    def _check_averaged(self) -> None:
        """A second network has the averages: what is not averaged is the same in both.

        Raises:
            Refused: it is not known to be.
        """
        averages = self.training.averages
        if averages is None:
            return
        text = ""
        if self.normalizes:
            text = "averages of variables beside those of batch normalization"
        elif self.first is not None or self.warm:
            text = "averages of variables that begin with a checkpoint's values"
        elif any(_may_stay(found, self._averages_values) for _, found in self.layers):
            text = "averages of variables beside others that are not trained"
        if text:
            raise Refused(self.module, averages.made, text)

    def _check_reported(self, tested: Objective | None, outputs: Outputs) -> None:
        """What training reports beside what it minimizes is what an evaluation reports.

        Raises:
            Refused: it is another value, or made of other statements.
        """
        reading, reported = self.reading, self.reading.reported
        other = reading.argument(EVAL, "loss")
        assert reported is not None
        found = [
            set(reading.flows[mode].slice([node], reading.specs[mode].unit)) - outputs.network
            for mode, node in ((TRAIN, reported), (EVAL, other))
            if node is not None
        ]
        same = other is not None and ast.dump(reported) == ast.dump(other)
        if tested is None or not same or found[0] != found[1] or reading.twins is not None:
            text = "training reports another value than it minimizes, and than evaluations report"
            raise Refused(self.module, reported, text, "report the loss that is minimized")

    def plan(self) -> ModelPlan:
        """Everything about the model."""
        module = self.module
        plan = ModelPlan(module, self.node, metrics=tuple(self.reading.metrics))
        plan.by_batch = self.steps is not None
        plan.trains = self.training.value is not None
        plan.labels = any(name.id == "labels" for name in names_in(self.node))
        predictions = self.predictions
        read_optimizers(self.reading, self.training, self.helpers.graph)
        text, make_model = self._model(predictions)
        compiling = Compiling(
            self.reading,
            self.loss,
            self.training,
            self.results,
            self.style,
            make_model,
            self.distributed,
            self.variable,
        )
        builder = compiling.write()
        self._check_columns()
        self._check_averaged()
        share_columns(plan, self._shared())
        if self.lookup is not None:
            check_lookups(self.training.optimizers.values())
            if self.training.clipping is not None:
                text = "the gradients of looked up rows are clipped before equal ones are summed up"
                raise Refused(module, self.lookup, text, "do not clip them")
        if self.reading.twins is not None:
            self.reading.twins.share(module, self.helpers, self.normalizes)
        plan.parameters = tuple(compiling.parameters)
        plan.predicts = predictions is not None and predictions.named
        plan.prediction_keys = predictions.keys if predictions is not None else ()
        plan.steps = predictions is not None
        classes = [made.name for made in self.classes.all()]
        for optimizer in self.training.optimizers.values():
            known = [*classes, *self.classes.taken]
            check_names(optimizer, self.layers, self.applied, known, self.helpers.graph)
        residue = check_residue(
            self.reading,
            self.network,
            self.loss,
            self.training,
            [*compiling.units, *compiling.calculated, *self._first_units()],
            self.helpers.graph,
        )
        plan.averages = self.steps is not None and self.steps.averages is not None
        plan.warm = WARM_START if self.warm else ""
        if self.first is not None:
            plan.initializes = METHOD
            plan.notes.append(Note(module, self.first.calls[0], OLD_FILES))
            if not self.first.everywhere:
                plan.notes.append(Note(module, self.first.calls[0], NEVER_TRAINED))
        plan.notes += [*residue.notes, *self._warnings()]
        plan.notes += [Note(where, statement, LEFT_OUT) for where, statement in self.summaries]
        summaries = [*residue.summaries, *self.summaries]
        for other, function in unused_functions(summaries, self.helpers.graph):
            plan.edit(other, _without(other.source, function))
            plan.gone.add(function)
        self.plain.known.update(self.training.optimizers)
        for node in self._new_code(compiling):
            self.plain.visit(module, node)
        self._finish_classes(plan)
        written = dict.fromkeys(self.plain.summaries)
        plan.notes += [Note(where, statement, LEFT_OUT) for where, statement in written]
        plan.tells, plan.never = self.helpers.tells, self.helpers.never
        plan.has_layer_lists = self.has_layer_lists
        plan.tables = self.tables
        if self.training.averages is not None:  # a model of its own has them
            plan.tables += tuple(f"{AVERAGES}.{name}" for name in self.tables)
        newline = module.source.newline
        start, end = module.source.span(self.node)
        gap = (
            newline * 3 if isinstance(module.names.parents[self.node], ast.Module) else newline * 2
        )
        indent = module.source.indent_of(self.node)
        parts = [
            *([text.rstrip()] if text else []),
            *(self._at(indent, lines) for lines in self._beside(plan, compiling)),
            builder.rstrip(),
        ]
        whole = gap.join(parts)
        place = self._late_place()
        if place is None:
            plan.edit(module, Edit(start, end, whole[len(indent) :]))
        else:
            plan.edit(module, _without(module.source, self.node))
            plan.edit(module, defined_above(module, place, [whole.replace(newline, "\n")]))
        plan.gone.add(self.node)
        for other, edits in self.plain.edits.items():
            plan.edit(other, *edits)
        self._cells(plan)
        return plan

    def _late_place(self) -> ast.stmt | None:
        """The first statement below the imports, where TensorFlow's stands below the function.

        A class names TensorFlow where it stands, which a function of TF1's did when it was called.
        """
        module, imports = self.module, self.module.tensorflow_imports
        if self.node not in module.tree.body or not imports:
            return None
        if any(one.lineno < self.node.lineno for one in imports):
            return None
        place = below_imports(module)
        mentions = module.names.by_id.get(self.node.name, ())
        if place is None or any(one.lineno < place.lineno for one in mentions):
            return None
        return place

    def _cells(self, plan: ModelPlan) -> None:
        """Classes of recurrent cells, above the first code of a file that makes one."""
        nodes: dict[Module, list[ast.AST]] = {self.module: [*self.network]}
        made = [helper.function for helper in self.helpers.found.values()]
        for function in [*made, *self.plain.functions]:
            nodes.setdefault(function.module, []).append(function.node)
        for function in self.plain.functions:
            plan.gone.update(c for c in walk(function.node) if cell_of(function.module, c))
        for module, own in nodes.items():
            plan.edit(module, *class_edits(module, own, self.style))

    def _beside(self, plan: ModelPlan, compiling: Compiling) -> list[str]:
        """The classes that stand above the function."""
        weighted = definitions(self.module, self._computed(), self.style)
        metrics = metric_classes(self.results.values(), self.style)
        if self.steps is not None:
            metrics = own_classes((kept.metric for kept in self.steps.metrics), self.style)
        first = [INIT_FROM_CHECKPOINT.written(self._initializer(), self.style)] * bool(self.first)
        own = [*self._columns(), *self._callbacks(plan)]
        return [*own, *compiling.classes, *metrics, *weighted, *first]

    def _columns(self) -> list[str]:
        """The classes of feature columns that the program makes when it runs."""
        names = self.module.names
        values, tensors = (
            names.fresh(names.module_scope, one.name) for one in (COLUMN_VALUES, COLUMN_TENSORS)
        )
        made = [found.call for _, found in self.layers if found.kind == "DenseFeatures"]
        if not made:
            return []
        shown = SHARED_COLUMN_TENSORS if self._shared() else COLUMN_TENSORS
        return [
            self.style.code(COLUMN_VALUES.text, name=values).rstrip("\n"),
            self.style.code(shown.text, name=tensors, values=values).rstrip("\n"),
        ]

    def _shared(self) -> list[SharedColumns]:
        """What makes columns of one table, of those whose objects the network asks.

        Raises:
            Refused: several layers may ask them, which TF1 gave one table.
        """
        asking = [found for _, found in self.layers if found.kind == "DenseFeatures"]
        shared = shared_columns(around(self.module)) if asking else []
        if shared and len(asking) > 1:
            raise Refused(
                asking[1].module, asking[1].call, "several layers of feature columns, some of "
                "which share a table", "give each column a table of its own",
            )  # fmt: skip
        return shared

    def _check_columns(self) -> None:
        """Feature columns whose objects the network asks: whatever they are, they train as in TF1.

        Raises:
            Refused: ones that are not known to.
        """
        for _, found in self.layers:
            made = maker(found.call) if found.kind == "DenseFeatures" else None
            if made is None:
                continue
            text = "which feature columns these are cannot be determined"
            given = [*made.args, *(keyword.value for keyword in made.keywords)]
            if self.distributed or found.module is not self.module or len(given) != 1:
                raise Refused(found.module, made, text, LISTED)
            check_column_objects(found.module, [found.module], given[0])
            if may_embed(found.module):
                self.lookup = self.lookup or made

    def _initializer(self) -> str:
        names = self.module.names
        return names.fresh(names.module_scope, INIT_FROM_CHECKPOINT.name)

    def _first_units(self) -> tuple[ast.stmt, ...]:
        """The statements that give first values to variables."""
        return self.first.units if self.first is not None else ()

    def _computed(self) -> list[ast.AST]:
        """The author's nodes that the loss and the metrics of `compile` are written from."""
        averaged = [result.values for result in self.results.values()]
        computed = [self.loss, *(values for values in averaged if values is not None)]
        return [node for one in computed for node in written_nodes(one)]

    def _callbacks(self, plan: ModelPlan) -> list[str]:
        """Classes that training needs beside the model."""
        if not (self.normalizes and self.distributed):
            return []
        names = self.module.names
        name = names.fresh(names.module_scope, AVERAGE_STATISTICS.name)
        plan.callbacks = (name,)
        return [AVERAGE_STATISTICS.written(name, self.style)]

    def _warnings(self) -> list[Note]:
        """What TF1 itself did otherwise than its author may have meant."""
        found: list[Note] = []
        condition = self.training.condition
        if self.normalizes and condition is not None and not self._normalizes_by(condition):
            text = "when the update operations run with a step cannot be determined"
            raise Refused(self.module, condition, text, "let each step run them")
        if self.normalizes and self.training.scope is not None:
            text = "the update operations of one scope only run with a step"
            raise Refused(self.module, self.training.scope, text, "ask for all of them")
        if self.loss.regularized and self.distributed and not self.towers:
            text = (
                "under MirroredStrategy TF1 applied 1/replicas of this weight decay, Keras applies "
                "all of it: divide it by the replicas to train as before"
            )
            found.append(Note(self.module, self.loss.unit or self.node, text))
        changes = [o.learning_rate.variation for o in self.training.optimizers.values()]
        if self.training.beside is not None and changes != [Variation.CONSTANT]:
            text = (
                "TF1 counts the step while the optimizer asks for its rate, which is this step's "
                "or the next one's by chance; Keras takes this step's"
            )
            found.append(Note(self.module, self.training.beside, text))
        averages = self.training.averages
        if averages is not None and not averages.waited:
            text = (
                "TF1 moves an average by what its variable is before a step, now and then by what "
                "it is after, by chance; the Keras model always by what it is before"
            )
            found.append(Note(self.module, averages.made, text))
        if self.broadcasts is not None and self.distributed and EVAL in self.reading.specs:
            text = (
                "where labels have one dimension and the output is a column, TF1 compares each "
                "label of a batch with each output here; of an evaluation's batch, which Keras "
                "shares out, each replica compares its own part"
            )
            found.append(Note(self.module, self.broadcasts, text, NETWORK))
        never = self.training.value is not None and not self.training.updates
        if self.normalizes and never and not moves_in_place(self.module):
            text = (
                "TF1 never updated the moving averages of batch normalization here, for nothing "
                "ran its UPDATE_OPS; Keras does"
            )
            found.append(Note(self.module, self.node, text))
        return found

    def _normalizes_by(self, condition: ast.expr) -> bool:
        """Whether there is batch normalization by a condition alone, which has no other meaning.

        It asks a setting of the program's `params`, which other functions call the same.
        """
        names = {name.id for name in names_in(condition)}
        if names != {"params"} or any(isinstance(part, ast.Call) for part in walk(condition)):
            return False
        if self.applied or self.helpers.networks:
            return False
        told = ast.dump(condition)
        return all(
            any(
                isinstance(parent, ast.If)
                and ast.dump(parent.test) == told
                and any(found.call in walk(statement) for statement in parent.body)
                for parent in found.module.names.ancestors(found.call)
            )
            for _, found in self.layers
            if found.normalizes
        )

    def _at(self, indent: str, text: str) -> str:
        """Lines of a class at an indentation, with the file's line ends."""
        lines = (indent + line if line else "" for line in text.split("\n"))
        return self.module.source.newline.join(lines)

    def _new_code(self, compiling: Compiling) -> list[ast.AST]:
        found: list[ast.AST] = [*self.network, *self.loss.units, *compiling.units]
        found += compiling.calculated
        found += self._computed()
        found += self._first_units()
        if self.predictions is not None:
            found += self.predictions.units
        return found

    # -- the network --------------------------------------------------------

    def _model(
        self, predictions: Predictions | None
    ) -> tuple[str, Callable[[Block, str], list[str]]]:
        """The text of the model's class, if it needs one, and what writes `model = ...`."""
        reading, outputs, steps = self.reading, self.outputs, self.steps
        output = reading.output[0] if outputs is None else ", ".join(outputs.names)
        names = self.module.names
        name = names.fresh(names.module_scope, class_name(self.node.name), "KerasModel")
        self.classes.taken.add(name)
        body = [s for s in self.node.body if not _is_docstring(s)]
        plan = Plan(
            self.module,
            self.node,
            body,
            self._without_summaries(self.module, _with_inner(self.network)),
            ["features"],
            reading.settings,
            reading.modes,
            name,
            "Model",
            output,
            self.loss.regularized,
            self.loss.decay,
            self.distributed,
            steps.reserved if steps is not None else frozenset(),
            ["labels"] if steps is not None else [],
            saved=True,
        )
        network = Network(plan, self.style, self.classes)
        if outputs is not None:
            network.averaged = outputs.averaged_weights
        self.layers += ((name, found) for found in network.layers.values())
        self.applied += network.applied
        self.normalizes |= network.normalizes
        self.lookup = self.lookup or network.lookup
        self._write_helpers()
        self.tables = network.table_attributes
        plain = predictions is None and steps is None and self.named is None and not self.tables
        self._rows()
        own = direct(network) if plain else None
        if own is not None:
            self.variable = own
            return "", lambda body, _: write_direct(network, body)
        layers = chain(network) if plain else None
        if layers is not None:
            sequence = layers

            def sequential(body: Block, variable: str) -> list[str]:
                return list(write_sequence(network, sequence, body, variable).used)

            return "", sequential
        indent = self.module.source.indent_of(self.node)
        if steps is not None:
            steps.attach(network)
        if predictions is not None:
            step = PredictStep(reading, predictions, self.style, outputs)
            network.members.append(step.write)
        if self.named is not None:
            network.members.append(self.named.write)
        if self.first is not None:
            counts = bool({TRAIN, EVAL} & self.reading.specs.keys())
            values = FirstValuesWriter(self.first, self._initializer(), self.style, counts)
            network.members.append(values.write)
        if self.warm:
            network.members.append(warm_start)
        text = network.write(indent)
        self.has_layer_lists |= network.has_layer_lists
        if "config" in network.parameters:
            raise Refused(self.module, self.node, "the network reads the RunConfig")

        def instance(body: Block, variable: str) -> list[str]:
            made = f"{name}({', '.join(network.parameters)})"
            body.line(f"{variable} = {made}", 1)
            if self.training.averages is not None:
                body.line(f"{variable}.{AVERAGES} = {made}  # of its variables", 1)
            return network.parameters

        return text, instance

    def _rows(self) -> None:
        """Keras 3 squares each gradient of a row that a step looks up several times, TF1 their sum.

        TF1 clipped them before it added them up, Keras's optimizers clip the sum.

        Raises:
            _NeedsSteps: the model has no step of its own, which does as TF1.
        """
        optimizers = self.training.optimizers.values()
        looks = self.lookup is not None
        own = next((one for one in optimizers if one.own is not None), None)
        if own is not None and self.distributed:
            text = "an optimizer of the program's own under a strategy"
            raise Refused(own.module, own.node, text, "use one of tf.train")
        sums = looks and not all(adds_up(one) for one in optimizers)
        clipping = self.training.clipping
        clips = clipping is not None and not self.distributed and self._is_known(clipping.limit)
        clips = clips and (looks or own is not None)
        if own is not None and clipping is not None and not clips:
            text = "what the gradients are clipped by is not known in the model's training step"
            raise Refused(self.module, clipping.limit, text, "write the limit as a number")
        if not (sums or clips):
            return
        if self.steps is None:
            raise _NeedsSteps
        self.steps.sums_rows = sums
        if clips:
            self.steps.clipping = clipping
            self.training = replaced(self.training, clipping=None)

    def _is_known(self, limit: ast.expr) -> bool:
        """Whether the model knows what gradients are clipped by, as a setting or everywhere."""
        own = self.module.names.scopes[self.node].bindings
        settings = self.reading.settings
        return all(name.id not in own or name.id in settings for name in names_in(limit))

    def _write_helpers(self) -> None:
        """Writes the classes of helper functions, those that they use among them."""
        for made in self.classes.each():
            self._write_helper(made)

    def _write_helper(self, made: HelperClass, built: bool = False) -> None:
        helper = made.helper
        node, module = helper.function.node, helper.function.module
        assert isinstance(node, ast.FunctionDef)
        if node.decorator_list:
            raise Refused(module, node, f"{node.name} makes layers, and is decorated")
        kept = {s for s in walk(node) if isinstance(s, ast.stmt) and s is not node}
        kept = self._without_summaries(module, kept)
        plan = Plan(
            module,
            node,
            node.body,
            kept,
            helper.tensors,
            [n for n in helper.settings if n not in helper.known],
            Modes(module, node, helper.known),
            made.name,
            made.base,
            None,
            self.loss.regularized,
            self.loss.decay,
            self.distributed,
            plain=helper.plain,
            optional=helper.optional,
            saved=True,
        )
        style = FileStyle.of(module.source, self.style.tensorflow)
        network = Network(plan, style, self.classes, built)
        self.layers += ((made.name, found) for found in network.layers.values())
        self.applied += network.applied
        self.normalizes |= network.normalizes
        self.lookup = self.lookup or network.lookup
        for found in network.layers.values():
            if found.helper is not None:
                inner = self.classes.of(found.helper.function)
                if not inner.text and inner is not made:
                    self._write_helper(inner)
        if self.named is not None:
            network.members.append(self.named.write)
        try:
            made.text = network.write(module.source.indent_of(node))
        except NeedsShape:
            self._write_helper(made, built=True)
            return
        self.has_layer_lists |= network.has_layer_lists
        made.trains = network.trains
        made.parameters = tuple(network.parameters)
        for statement in node.body:
            self.plain.visit(module, statement)

    def _without_summaries(self, module: Module, kept: set[ast.stmt]) -> set[ast.stmt]:
        """The statements of a network that stay; of those that do not it is told."""
        stays, gone = without_summaries(module, kept, self.helpers.graph)
        self.summaries += [(module, statement) for statement in gone]
        return stays

    def _finish_classes(self, plan: ModelPlan) -> None:
        made_here = {c: one for c, one in self.training.optimizers.items() if one.own is not None}
        plan.calls = self.helpers.calls() | {call.func for call in made_here}
        others = [self.helpers.elsewhere()]
        others += (elsewhere(one, self.helpers.graph) for one in made_here.values())
        why = (refused.diagnostic for one in others for refused in one)
        plan.elsewhere = {one.node: one for one in why}
        for made in self.classes.all():
            module, node = made.helper.function.module, made.helper.function.node
            start, end = module.source.span(node)
            indent = module.source.indent_of(node)
            plan.edit(module, Edit(start, end, made.text.rstrip()[len(indent) :]))
            plan.gone.add(node)
        for network in self.helpers.networks.values():
            home, own = network.module, network.node
            text = ModelClass(network, self.style).text()
            plan.edit(home, Edit(*home.source.span(own), text))
            self.has_layer_lists |= keeps_collections(own)
            plan.gone.add(own)
            self.plain.visit(home, own)
        for module, edits in self.classes.import_edits().items():
            plan.edit(module, *edits)
        for made_by in (one.own for one in self.training.optimizers.values()):
            if made_by is not None:
                source = made_by.module.source
                style = FileStyle.of(source, self.style.tensorflow)
                text = own_optimizer(made_by, style)
                plan.edit(made_by.module, Edit(*source.span(made_by.node), text))
                plan.gone.add(made_by.node)

    # -- predictions ----------------------------------------------------------


def _may_stay(found: Found, again: bool) -> bool:
    """Whether a layer has variables that are no averages in a second network of these.

    Those that are not trained are others there, and those of `tf.Variable`, where TF1 made the
    network ``again``.
    """
    layer = found.layer
    if layer is None or "trainable" not in layer.arguments:
        return again and isinstance(layer, Weight) and layer.kind == "Variable"
    array = isinstance(layer, Weight) and layer.first is not None and layer.first.array
    return not array and constant(layer.arguments["trainable"]) is not True


def _with_inner(units: set[ast.stmt]) -> set[ast.stmt]:
    """Statements and all that stand inside of them."""
    return {node for unit in units for node in walk(unit) if isinstance(node, ast.stmt)}


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _without(source: Source, function: ast.FunctionDef) -> Edit:
    """The edit that takes a function away, and the blank lines behind it."""
    layout = Layout(source, function)
    end = layout.next_line
    while end < len(source.text) and source.text[end] in "\r\n":
        end += 1
    return Edit(layout.line_start, end, "")
