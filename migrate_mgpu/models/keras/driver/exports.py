"""``export_saved_model`` as Keras's ``ExportArchive``, with the signatures that TF1 wrote.

``tf.saved_model.save`` of a Keras 3 model gives a SavedModel that TF2 loads and a v1 session,
as in TensorFlow Serving, does not: it does not find the variables (measured on 2.21).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import partial

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.dataflow import items
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import PREDICT
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of, by_parameter
from migrate_mgpu.analysis.names import Names, constant, is_none
from migrate_mgpu.analysis.scopes import statement_value, walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.analysis.value_flow import ValueFlow, returns
from migrate_mgpu.api.heads import Task
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.estimators.parts import CANNED, MADE_ELSEWHERE, EstimatorFlow
from migrate_mgpu.models.front.estimators.receivers import (
    RECEIVER,
    ReceiverTable,
    receiver_table,
    receivers,
)
from migrate_mgpu.models.front.estimators.specs import EXPORTERS
from migrate_mgpu.models.front.estimators.visibility import known_at
from migrate_mgpu.models.front.inputs.lengths import Lengths
from migrate_mgpu.models.front.keras_model.model import NAMED
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.rewriters import DrivingRewriter
from migrate_mgpu.models.ir import Construction, DriverCall, KerasModel, Operation
from migrate_mgpu.models.keras.canned.estimator import CannedPlan
from migrate_mgpu.models.keras.driver.built_receivers import BuiltReceiver, builder
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.models.keras.driver.hooks import forget, forget_value
from migrate_mgpu.models.keras.driver.restoring import Manager
from migrate_mgpu.models.keras.driver.serving import Answer, serving_edit
from migrate_mgpu.models.keras.model_to_estimator import KerasPlan
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

DEFAULT = "serving_default"
PREDICTIONS = "predict"  # the signature of a canned Estimator's
# What a canned Estimator's signatures of serialized examples give, of its predictions.
_CLASSIFIED = {"classes": "all_classes", "scores": "probabilities"}
_EXAMPLES = {
    Task.NUMBER: {"regression": {"outputs": "predictions"}},
    Task.TWO_CLASSES: {"classification": _CLASSIFIED, "regression": {"outputs": "logistic"}},
    Task.CLASSES: {"classification": _CLASSIFIED},
}
# The arguments of ExportOutputs, and what a signature calls them.
_OUTPUTS: dict[str, dict[str, str]] = {
    "PredictOutput": {"outputs": ""},
    "ClassificationOutput": {"scores": "scores", "classes": "classes"},
    "RegressionOutput": {"value": "outputs"},
}
_BY_PREDICT = (
    "TensorFlow Serving answers all signatures by its predict API now: classification and "
    "regression had APIs of their own"
)
_ADDED = "what this adds to the inputs is no input of the exported model: TF1 took it for one"
_GIVEN_NOW = (
    "the exported model asks for this input now: TF1 took the default where a client gave none"
)
STAMP = "str(int(time.time()))"  # TF1 named each export's folder by its time


@record(frozen=True)
class _Signature:
    """A signature: the outputs that it has of the predictions, by its own names; None: all.

    ``examples``: it is for one text for each example alone.
    """

    key: str
    outputs: dict[str, str] | None = None
    examples: bool = False


class Exports:
    """Writes the exports of one Estimator."""

    def __init__(
        self,
        flow: EstimatorFlow,
        model: ModelPlan,
        graph: CallGraph,
        changes: DriverEdits,
        quiet: bool,
    ) -> None:
        self.flow = flow
        self.model = model
        self.graph = graph
        self.changes = changes
        self.quiet = quiet
        self.values = ValueFlow(graph)
        self.lengths = Lengths(graph)
        self._outputs: list[ast.expr] = []
        self._known: tuple[_Signature, ...] | None = None
        # Receivers that take one text for each example, with the condition that one does.
        self._of_texts: dict[str, str] = {}

    def write(self, saved: Manager | None) -> None:
        """All calls of an export.

        Raises:
            Refused: a signature that would be another one, or a model that is not there yet.
        """
        for call in self.flow.driving.exports:
            self._in_time(call, saved)
            self._export(call)
        if self.flow.driving.exports or any(call.exporters for call in self.flow.driving.calls):
            # What the model's conversion says is left out is not.
            notes = self.model.notes
            self.model.notes = [note for note in notes if note.node not in self._outputs]

    def behind(self, call: DriverCall, saved: Manager | None, indent: str) -> list[str]:
        """The lines for the exporters of a ``train_and_evaluate``, behind its evaluation.

        Raises:
            Refused: as ``write`` does; or TF1 would not have exported, or nobody knows where.
        """
        lines: list[str] = []
        for made in call.exporters:
            module, node, arguments = made.module, made.node, made.arguments
            if saved is None:
                text = f"a {made.kind} of an Estimator without a model_dir"
                raise Refused(module, node, text, "give the Estimator a model_dir")
            total = call.train_spec.arguments.get("max_steps") if call.train_spec else None
            if made.kind == "FinalExporter" and total is None:
                text = "a FinalExporter exports nothing where TrainSpec has no max_steps"
                raise Refused(module, node, text, "give TrainSpec its max_steps")
            best = made.kind == "BestExporter"
            known: tuple[str, ...] = ("name", RECEIVER, "exports_to_keep")
            if best:
                self._check_best(made)
                known = (*known, "compare_fn", "event_file_pattern")
            self._plain(made.module, arguments, known)
            if ("name" not in arguments and not best) or RECEIVER not in arguments:
                raise Refused(module, node, f"a {made.kind} without a name or a receiver")
            self._note_exporter(call, made)
            quote = call.module.source.quote
            parts = [f"{saved.name}.directory", f"{quote}export{quote}"]
            parts += [self._name(call, made), _stamp(call.module)]
            folder = f"os.path.join({', '.join(parts)})"
            self._signatures(call)  # which the receiver has to know
            receiver = self._receiver(module, arguments[RECEIVER])
            if module is not call.module:
                text = "an exporter that is made in another file"
                raise Refused(module, node, text, key=MADE_ELSEWHERE)
            lines += self._lines(call, receiver, folder, indent, self.quiet and not lines)
            self.changes.gone.add(node)
        return lines

    def _check_best(self, made: Construction) -> None:
        """Measured on 1.15.5: what the evaluation has just written is among its event files.

        A first evaluation is not better than itself, and is not exported where they are read.
        """
        assert isinstance(made.node, ast.Call)
        pattern = by_parameter(made.node, EXPORTERS[made.kind]).get("event_file_pattern")
        if pattern is None or not is_none(pattern):
            text = "a BestExporter that compares with earlier evaluations, by their event files"
            advice = (
                "give it event_file_pattern=None, or call export_saved_model after the training"
            )
            raise Refused(made.module, pattern or made.node, text, advice)

    def _name(self, call: DriverCall, made: Construction) -> str:
        """The folder of an exporter, below that of all exports."""
        given = made.arguments.get("name")
        if given is None:
            return style_at(call.module, call.node).string("best_exporter")
        known = known_at(self.values, made.module, given, call.module, call.node)
        if known is None:
            text = "an exporter's name of another function"
            raise Refused(made.module, given, text, key=MADE_ELSEWHERE)
        return text_of(call.module, known)

    def _note_exporter(self, call: DriverCall, made: Construction) -> None:
        """What an exporter did besides, or not always."""
        spec = call.train_spec
        if made.kind == "LatestExporter":
            text = "exported once, after the training: TF1 did after each evaluation, and "
            text += "deleted all but the newest 5"
            self.changes.note(made.module, made.node, text)
        elif made.kind == "BestExporter":
            text = "exported once, after the training: TF1 did after each evaluation that was the "
            text += "best one until then"
            self.changes.note(made.module, made.node, text)
        elif spec is not None and not self.lengths.endless(spec.module, spec.arguments["input_fn"]):
            text = "exported whenever the training ends: TF1's FinalExporter did only where "
            text += "max_steps were reached"
            self.changes.note(made.module, made.node, text)

    def forget(self) -> None:
        """The statements of exporters that nothing needs any more.

        Raises:
            Refused: something does.
        """
        lists = [call.eval_spec for call in self.flow.driving.calls if call.exporters]
        nodes = [(s.module, s.arguments["exporters"]) for s in lists if s is not None]
        self.changes.gone.update(node for _, node in nodes)
        for module, node in nodes:
            if isinstance(node, ast.Name):
                forget_value(self.changes, module, node)
        for made in [made for call in self.flow.driving.calls for made in call.exporters]:
            names = made.module.names
            statement = names.statement(made.node)
            if any(spec is not None and spec.node in names.ancestors(made.node) for spec in lists):
                continue  # it goes with the EvalSpec
            if isinstance(statement, ast.Assign) and statement not in self.changes.gone:
                if statement.value is made.node:
                    forget(self.changes, made.module, statement)
                if statement not in self.changes.gone:
                    text = f"the {made.kind} is used for more than an EvalSpec"
                    raise Refused(made.module, made.node, text, "write it into the EvalSpec")

    def _in_time(self, call: DriverCall, saved: Manager | None) -> None:
        """The model that TF1 exported is the one of the folder's latest checkpoint."""
        if not self.flow.driving.calls and saved is not None:
            return  # it is restored where it is made
        if not self.flow.driving.calls:
            text = "an export of a model that nothing here has trained or shown its features"
            raise Refused(call.module, call.node, text, "train it in the same program")
        names = call.module.names
        first = min(self.flow.driving.calls, key=lambda u: (u.node.lineno, u.node.col_offset))
        same = call.module is first.module and (
            names.scope_at(call.node) is names.scope_at(first.node)
        )
        late = same and call.node.lineno > first.node.lineno
        in_time = late or (saved is not None and (saved.first or saved.name.startswith("self.")))
        if saved is not None and not in_time:
            text = "an export before the model has its checkpoint, or in another function"
            raise Refused(call.module, call.node, text, "export it after the training")

    def _signatures(self, call: DriverCall) -> tuple[_Signature, ...]:
        """The signatures of a model, each of which is some of the predictions.

        Raises:
            Refused: one is something else.
        """
        if self._known is None:
            self._known = self._read_signatures(call)
        return self._known

    def _read_signatures(self, call: DriverCall) -> tuple[_Signature, ...]:
        function = self.flow.function
        if isinstance(self.model, KerasPlan) and self.model.model.output is not None:
            return (_Signature(DEFAULT),)
        if self.flow.kind == CANNED:
            # The others are of serialized examples. Measured on 1.15.5: the first is the default.
            assert isinstance(self.model, CannedPlan)
            every = _EXAMPLES[self.model.task].items()
            found = [_Signature(key, outputs, True) for key, outputs in every]
            default = _Signature(DEFAULT, found[0].outputs, True)
            return (_Signature(PREDICTIONS), found[0], default, *found[1:])
        if function is None or not isinstance(function.node, ast.FunctionDef):
            raise Refused(
                call.module, call.node, "an export of an Estimator without a model_fn",
                "give the layer of its output a name, which its signature has in TF1", NAMED,
            )  # fmt: skip
        reading = Reading(function.module, function.node)
        given = reading.argument(PREDICT, "export_outputs")
        value, unit = reading.resolved(PREDICT, "export_outputs")
        if value is None or given is None:
            return (_Signature(DEFAULT),)
        self._outputs.append(given)
        outputs = items(value) or _by_constant(reading.module, value)
        if not outputs or (len(outputs) > 1 and DEFAULT not in outputs):
            text = (
                "export_outputs without `serving_default`, which ends TF1 where there are several"
            )
            text = text if outputs else "export_outputs is not a dictionary literal"
            raise Refused(reading.module, value, text)
        found = [self._signature(reading, str(key), one, unit) for key, one in outputs.items()]
        if len(found) == 1 and found[0].key != DEFAULT:
            found.append(replaced(found[0], key=DEFAULT))
        return tuple(found)

    def _signature(
        self, reading: Reading, key: str, output: ast.expr, unit: ast.stmt | None
    ) -> _Signature:
        """What an ExportOutput has of the predictions, under TF1's names."""
        module, flow = reading.module, reading.flows[PREDICT]
        made, unit = flow.resolve(output, unit)
        name = tensorflow_name(module, made.func) if isinstance(made, ast.Call) else ""
        kind = name.rpartition(".")[2]
        if not isinstance(made, ast.Call) or name != f"estimator.export.{kind}":
            kind = ""
        if kind not in _OUTPUTS:
            text = "export_outputs that is not a PredictOutput"
            raise Refused(module, output, text, "export the predictions by PredictOutput")
        assert isinstance(made, ast.Call)
        given = arguments_of(module, made, tuple(_OUTPUTS[kind]))
        predictions, told = reading.resolved(PREDICT, "predictions")
        if kind == "PredictOutput" and "outputs" in given:
            value, where = flow.resolve(given["outputs"], unit)
            if value is not None and flow.alike(value, where, predictions, told):
                return _Signature(key)
            known = {str(k): v for k, v in items(value).items()} if value is not None else {}
            known = known or {"output": given["outputs"]}
        else:
            known = {_OUTPUTS[kind][argument]: node for argument, node in given.items()}
        of = items(predictions) if predictions is not None else {}
        outputs: dict[str, str] = {}
        for shown, node in known.items():
            value, where = flow.resolve(node, unit)
            keys = [
                str(k)
                for k, one in of.items()
                if value is not None and flow.alike(value, where, *flow.resolve(one, told))
            ]
            if not keys:
                raise Refused(module, made, "export_outputs is not the predictions")
            outputs[shown] = keys[0]
        return _Signature(key, outputs, kind != "PredictOutput")

    def _plain(
        self, module: Module, arguments: Mapping[str, ast.expr], known: tuple[str, ...]
    ) -> None:
        """Nothing else may be said of an export than what is known."""
        for name, value in arguments.items():
            harmless = name == "strip_default_attrs" or constant(value) is False
            if name == "as_text" and not harmless:
                text = "exported as saved_model.pb: TF2 writes no saved_model.pbtxt"
                self.changes.note(module, value, text)
            elif name not in known and not harmless:
                raise Refused(module, value, f"`{name}` of an export is not converted")

    def _export(self, call: DriverCall) -> None:
        module, source, names = call.module, call.module.source, call.module.names
        self._plain(module, call.arguments, ("export_dir_base", RECEIVER))
        for name in ("export_dir_base", RECEIVER):
            if name not in call.arguments:
                raise Refused(module, call.node, f"an export without {name}")
        statement = names.statement(call.node)
        layout = Layout(source, statement)
        lead = self._path_variable(call, statement)
        self._signatures(call)  # which the receiver has to know
        receiver = self._receiver(module, call.arguments[RECEIVER])
        base = self._base(module, call.arguments["export_dir_base"])
        folder = f"os.path.join({base}, {_stamp(module)})"
        lines: list[str] = []
        if lead:
            lines.append(f"{lead} = {folder}")
            folder = lead
        lines += self._lines(call, receiver, folder, layout.indent, self.quiet)
        rest = [layout.indent + line if line else "" for line in lines[1:]]
        text = source.newline.join([lines[0], *rest])
        self.changes.edit(module, Edit(layout.start, layout.end, text))
        self.changes.replaced(module, call.node, DrivingRewriter)

    def _base(self, module: Module, node: ast.expr) -> str:
        """The folder of an export, with the edits of what it reads of the Estimator.

        Those go: the export's own edit has their text.
        """
        text, (start, end) = text_of(module, node), module.source.span(node)
        edits = self.changes.edits.get(module, [])
        inside = [one for one in edits if start <= one.start < one.end <= end]
        if not inside:
            return text
        if text != module.source.code(node):
            raise Refused(module, node, "the folder of this export cannot be written")
        self.changes.edits[module] = [one for one in edits if one not in inside]
        return splice(module.source.text, inside, start, end)

    def _lines(
        self, call: DriverCall, receiver: str, folder: str, indent: str, quiets: bool
    ) -> list[str]:
        """What exports into a folder, without the indentation of the first line.

        ``quiets``: Keras is told to show nothing from here on.
        """
        module, names = call.module, call.module.names
        every = self._signatures(call)
        for name in ("os", "time"):
            bound = names.module_scope.bindings.get(name, [])
            if name == "time" and _stamp(module) != STAMP:
                continue
            if any(binding.qualname != name for binding in bound):
                text = f"`{name}` is not a module here, and the export's folder needs it"
                raise Refused(module, call.node, text, "give it another name")
            self.changes.needs(module, name)
        style = style_at(module, call.node)
        tf = style.tensorflow
        scope = names.scope_at(call.node)
        archive = names.fresh(scope, "archive", "export_archive", "saved")
        model = self.changes.receiver(call)
        lines = [f"{archive} = {tf}.keras.export.ExportArchive()"]
        if self._may_have_tables():
            lines.append(f"{archive}.track({model})")
        if self.model.tables:  # Keras 2 saves what the archive has, Keras 3 what it is told of
            table = names.fresh(scope, "table", "table_of_words")
            named = ", ".join(f"{model}.{name}" for name in self.model.tables)
            lines.append(f"{archive}.tables = [{named}]")
            lines.append(f"for {table} in {archive}.tables:")
            lines.append(f"{style.indent}{archive}.track({table})")
        serve = f"{receiver}({model})"
        texts = receiver in self._of_texts
        asks = self._of_texts.get(receiver, "")
        keys = tuple(one for one in every if texts or not one.examples)
        if any(one.examples for one in keys):
            self.changes.note(module, call.node, _BY_PREDICT)
        if not keys:
            text = "signatures of serialized examples alone, and the receiver is given none"
            raise Refused(module, call.node, text)
        if len(keys) > 1 or keys[0].outputs is not None:
            name = names.fresh(scope, "serve", "serving_function")
            lines.append(f"{name} = {serve}")
            serve = name
        made: dict[tuple[object, ...], str] = {}
        always = [one for one in keys if not (asks and one.examples)]
        if asks and not always:
            text = "signatures of serialized examples alone, and a receiver is given none"
            raise Refused(module, call.node, text)
        for one in [*always, *(one for one in keys if one not in always)]:
            unit = style.indent if one not in always else ""
            if unit and one is next(other for other in keys if other not in always):
                lines.append(f"if {asks}:")
            given = serve
            if one.outputs is not None:
                alike = (*one.outputs.items(), one.examples)
                if alike not in made:
                    stem = f"serve_{one.key if one.key.isidentifier() else len(made)}"
                    if one.examples:
                        stem = "regress" if "outputs" in one.outputs else "classify"
                    made[alike] = names.fresh(scope, stem, f"{stem}_{len(made)}")
                    chosen = self._selection(made[alike], one, serve, style)
                    lines += [unit + line if line else "" for line in chosen]
                given = made[alike]
            pieces, deep = [style.string(one.key), given], indent + unit
            lines.append(unit + style.call(f"{archive}.add_endpoint", pieces, deep, len(deep)))
        if quiets:  # as TF1 was: Keras shows what it has written
            lines.append(f"{tf}.keras.utils.disable_interactive_logging()")
        lines.append(style.call(f"{archive}.write_out", [folder], indent, len(indent)))
        return lines

    def _may_have_tables(self) -> bool:
        """Whether a model may have lookup tables, which an archive must be told of.

        It finds variables itself. Where it is told of a model, Keras 3 traces the model with
        numbers for all features, and columns of texts raise.
        """
        if isinstance(self.model, KerasPlan):
            return True
        if self.flow.kind == CANNED:  # it has its columns alone, and their words are no tables
            return False
        uses = (use.symbol.name for module in self.flow.modules for use in module.uses)
        return any("lookup." in name and "embedding_lookup" not in name for name in uses)

    def _selection(
        self, name: str, signature: _Signature, serve: str, style: FileStyle
    ) -> list[str]:
        """A function that answers some of the predictions.

        Measured on 1.15.5: TF1 calls serialized examples `inputs`.
        """
        assert signature.outputs is not None
        tf, unit, outputs = style.tensorflow, style.indent, signature.outputs
        spec = f"[{tf}.TensorSpec([None], {tf}.string, name={style.string('inputs')})]"
        parameters = given = "inputs"
        if not signature.examples:
            spec, parameters, given = f"{serve}.input_signature", "*inputs", "*inputs"
        told = [f"{style.string(o)}: answer[{style.string(k)}]" for o, k in outputs.items()]
        return [
            "",
            f"@{tf}.function(input_signature={spec})",
            f"def {name}({parameters}):",
            f"{unit}answer = {serve}({given})",
            f"{unit}return {{{', '.join(told)}}}",
            "",
        ]

    def _path_variable(self, call: DriverCall, statement: ast.stmt) -> str:
        """The variable that gets the path; TF1 gave bytes, so that it was decoded."""
        if isinstance(statement, ast.Expr) and statement.value is call.node:
            return ""
        module, names = call.module, call.module.names
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        value = statement_value(statement)
        if isinstance(target, ast.Name) and _decoded(value) is call.node:
            return target.id
        if not isinstance(target, ast.Name) or value is not call.node:
            raise Refused(module, call.node, "what the export returns is used here",
                          "assign it to a separate variable")  # fmt: skip
        home = names.defining_scope(target.id, names.scope_of_name[target])
        for mention in names.mentions(target.id, home) if home is not None else ():
            parent = names.parents[mention]
            if mention is target:
                continue
            if isinstance(parent, ast.Attribute) and parent.attr == "decode":
                decoded = names.parents[parent]
                self.changes.edit(module, Edit(*module.source.span(decoded), target.id))
            elif not (isinstance(parent, ast.Call) and _shows(module, parent)):
                raise Refused(module, mention, "TF1's export gave bytes, which is used here",
                              "decode() it")  # fmt: skip
        return target.id

    def _receiver(self, module: Module, node: ast.expr) -> str:
        """The receiver function's name, once it is a function of the model."""
        function = self.graph.target(module, node) or self._made(module, node)
        table = receiver_table(self.graph, module, node) if function is None else None
        if table is not None:
            return self._of_table(module, node, table)
        if function is None:
            origins = self.values.definitions(module, node)
            call = origins[0].node if len(origins) == 1 else None
            if isinstance(call, ast.Call) and builder(origins[0].module, call):
                if origins[0].module is module:
                    self._only_built(module, call)
                    built = BuiltReceiver(module, call, self.changes, self.answer)
                    name = built.write(module.names.statement(node))
                    self._of_texts.update({name: ""} if built.takes_texts else {})
                    return name
            raise Refused(
                module, node, "which receiver function this is cannot be determined",
                "name a function of the program",
            )  # fmt: skip
        if not isinstance(node, ast.Call):
            self._only_exports(function)
        name = module.source.code(node)
        self._of_texts.update({name: ""} if self._serve(function) else {})
        return name

    def _serve(self, function: Function) -> bool:
        """Writes a receiver function; whether it takes one text for each example."""
        if isinstance(self.model, KerasPlan):
            self._check_shape(self.model.model, function)
        served = serving_edit(function, self.answer, self.values)
        self.changes.edit(function.module, served.edit)
        for default in served.defaults:
            self.changes.note(function.module, default, _GIVEN_NOW)
        for added in served.added:
            self.changes.note(function.module, added, _ADDED)
        self.changes.gone.add(function.node)
        return served.takes_texts

    def _check_shape(self, model: KerasModel, function: Function) -> None:
        """Measured: TF1 makes the model anew for any shape, Keras takes its input's alone."""
        module, names = function.module, function.module.names
        shapes = [shape for part in model.parts if (shape := _input_shape(part)) is not None]
        for call in walk(function.node):
            if not isinstance(call, ast.Call) or len(set(shapes)) != 1:
                continue
            if not tensorflow_name(module, call.func).endswith("ServingInputReceiver"):
                continue
            features = _made(names, by_parameter(call, ("features",)).get("features"))
            parts = features.values if isinstance(features, ast.Dict) else [features]
            for one in map(partial(_made, names), parts):
                if not isinstance(one, ast.Call):
                    continue
                if not tensorflow_name(module, one.func).endswith("placeholder"):
                    continue
                given = _literal(by_parameter(one, ("dtype", "shape")).get("shape"))
                if given is not None and _differs(given[1:], shapes[0]):
                    text = "the exported model's input has another shape than the Keras model's"
                    raise Refused(module, one, text, "reshape it in the receiver function")

    def _of_table(self, module: Module, node: ast.expr, table: ReceiverTable) -> str:
        """`RECEIVERS[args.format]`, once all functions of the table are of the model."""
        assert isinstance(node, ast.Subscript)
        given, names = self._receivers(), module.names
        for use in table.uses:
            assert use.node is not None
            parent = use.module.names.parents[use.node]
            if parent not in given and not _tells_keys(parent):
                text = "the receivers of this dictionary are used for more than an export"
                raise Refused(use.module, use.node, text)
        if not self._stands_by(module, node) or not self._stays(module, node.slice):
            text = "which receiver is exported is not known where the export is written"
            raise Refused(module, node, text, "name a function of the program")
        served: dict[ast.AST, bool] = {}
        texts: list[str] = []
        for key, function in table.functions.items():
            if function.node not in served:
                self._only_exports(function, frozenset(table.node.values))
                served[function.node] = self._serve(function)
            if served[function.node]:
                texts.append(table.module.source.code(key))
        name, asked = module.source.code(node), names.parents[node.slice]
        assert asked is node
        if len(texts) == len(table.functions):
            self._of_texts[name] = ""
        elif texts:
            told = f"== {texts[0]}" if len(texts) == 1 else f"in ({', '.join(texts)})"
            self._of_texts[name] = f"{module.source.code(node.slice)} {told}"
        return name

    def _stays(self, module: Module, key: ast.expr) -> bool:
        """Whether a key is the same where the export is: a variable's, or one of its fields."""
        steady = (ast.Name, ast.Attribute, ast.expr_context)
        parts = list(ast.walk(key))
        if not all(isinstance(one, steady) for one in parts):
            return False
        names = module.names
        for one in parts:
            if isinstance(one, ast.Attribute):
                if any(isinstance(a.ctx, ast.Store) for a in names.attributes.get(one.attr, ())):
                    return False
            if isinstance(one, ast.Name):
                home = names.defining_scope(one.id, names.scope_of_name[one])
                if home is None or len(home.bindings.get(one.id, ())) != 1:
                    return False
        return True

    def _made(self, module: Module, node: ast.expr) -> Function | None:
        """The receiver function in `make_receiver(names)`, which makes nothing else."""
        maker = self.graph.target(module, node.func) if isinstance(node, ast.Call) else None
        if maker is None or not isinstance(node, ast.Call) or not maker.module.writable:
            return None
        given = [one.value for one in returns(maker)]
        named = given[0] if len(given) == 1 else None
        inner = self.graph.target(maker.module, named) if isinstance(named, ast.Name) else None
        if inner is None or inner.module is not maker.module or maker.owner is not None:
            return None
        names = module.names
        inside = maker.node in maker.module.names.ancestors(inner.node)
        if not inside or [one.node for one in self.graph.references(inner)] != [named]:
            return None
        receivers = self._receivers()
        for reference in self.graph.references(maker):
            taker = reference.module.names.parents.get(reference.node)
            if taker not in receivers:
                return None
        if not self._stands_by(module, node):
            return None
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part is not node.func:
                if names.only_binding(part) is None:
                    return None
            elif part is not node and not isinstance(part, (ast.Name, *_STEADY)):
                return None
        return inner

    def _stands_by(self, module: Module, node: ast.expr) -> bool:
        """Whether all exports are in a receiver's scope: they ask for it there, by its names."""
        driving, names = self.flow.driving, module.names
        places = [*driving.exports, *(one for one in driving.calls if one.exporters)]
        scope = names.scope_at(node)
        return all(one.module is module and names.scope_at(one.node) is scope for one in places)

    @property
    def answer(self) -> Answer:
        """What the served function gives."""
        canned = self.flow.kind == CANNED
        if isinstance(self.model, KerasPlan) and self.model.model.output is not None:
            made = self.model.model
            return Answer(False, False, key=str(made.output), layered=made.is_sequential)
        examples = any(one.examples for one in self._known or ())
        return Answer(self.model.predicts, self.model.steps or canned, canned, examples=examples)

    def _receivers(self) -> set[ast.expr]:
        """The receivers of all exports, also of the Estimators that have one in common with it."""
        every = (self.flow, *self.flow.served)
        return {node for flow in every for _, node in receivers(flow)}

    def _only_built(self, module: Module, call: ast.Call) -> None:
        given = self._receivers()
        for mention in self.values.uses(module, call):
            if mention.node not in given:
                assert mention.node is not None
                text = "this receiver is used for more than an export"
                raise Refused(mention.module, mention.node, text)

    def _only_exports(self, function: Function, members: frozenset[ast.expr] = frozenset()) -> None:
        """``members`` are those of a table of receivers.

        Raises:
            Refused: something else is done with a receiver.
        """
        given = self._receivers() | members
        for reference in self.graph.references(function):
            if reference.node not in given:
                text = f"`{function.name}` is used for more than an export here"
                raise Refused(reference.module, reference.node, text)


# What an argument may be made of that is the same wherever it stands.
_STEADY = (ast.Attribute, ast.Constant, ast.keyword, ast.expr_context)


def _tells_keys(node: ast.AST) -> bool:
    """`RECEIVERS.keys()`, which argparse is given."""
    return isinstance(node, ast.Attribute) and node.attr == "keys"


def _decoded(node: ast.expr | None) -> ast.expr | None:
    """The bytes in `bytes.decode()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr == "decode" else None
    return None


def _shows(module: Module, call: ast.Call) -> bool:
    name = module.names.qualname(call.func) or ""
    return name == "builtins.print" or ".logging." in name


def _by_constant(module: Module, node: ast.expr) -> dict[object, ast.expr]:
    """`{signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: output}`."""
    if not isinstance(node, ast.Dict) or len(node.keys) != 1 or node.keys[0] is None:
        return {}
    name = module.names.qualname(node.keys[0]) or ""
    last = name.rpartition(".")[2]
    known = {"DEFAULT_SERVING_SIGNATURE_DEF_KEY": DEFAULT, "PREDICT_METHOD_NAME":
             "tensorflow/serving/predict"}  # fmt: skip
    return {known[last]: node.values[0]} if last in known and "tensorflow" in name else {}


def _stamp(module: Module) -> str:
    """`time.time()` as the module says it."""
    bound = module.names.module_scope.bindings.get("time", [])
    if bound and all(binding.qualname == "time.time" for binding in bound):
        return STAMP.replace("time.time()", "time()")
    return STAMP


def _made(names: Names, node: ast.expr | None) -> ast.expr | None:
    """What a variable is, through others."""
    while isinstance(node, ast.Name) and (made := names.only_value(node)) is not None:
        node = made
    return node


def _input_shape(part: Operation) -> tuple[object, ...] | None:
    """The shape of one example that a layer or an input of a Keras model says."""
    for name in ("input_shape", "shape"):
        shape = _literal(part.arguments.get(name))
        if shape is not None:
            return shape
    return None


def _differs(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether two shapes are surely not the same; what is None may be any number."""
    return len(one) != len(other) or any(None not in (a, b) and a != b for a, b in zip(one, other))


def _literal(node: ast.expr | None) -> tuple[object, ...] | None:
    """The numbers of a tuple or list that is written out; those that are not are None."""
    if not isinstance(node, (ast.Tuple, ast.List)):
        return None
    return tuple(constant(one) for one in node.elts)
