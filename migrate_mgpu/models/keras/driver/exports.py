"""``export_saved_model`` as Keras's ``ExportArchive``, with the signatures that TF1 wrote.

``tf.saved_model.save`` of a Keras 3 model gives a SavedModel that TF2 loads and a v1 session,
as in TensorFlow Serving, does not: it does not find the variables (measured on 2.21).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.dataflow import items
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import PREDICT
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import Scope, constant
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.api.heads import Task
from migrate_mgpu.models.front.estimators.parts import CANNED, MADE_ELSEWHERE, EstimatorFlow
from migrate_mgpu.models.front.estimators.receivers import RECEIVER, receivers
from migrate_mgpu.models.front.estimators.visibility import known_at
from migrate_mgpu.models.front.inputs.lengths import Lengths
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.rewriters import DrivingRewriter
from migrate_mgpu.models.ir import Construction, DriverCall
from migrate_mgpu.models.keras.canned.estimator import CannedPlan
from migrate_mgpu.models.keras.driver.built_receivers import BuiltReceiver, builder
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.models.keras.driver.hooks import forget, forget_value
from migrate_mgpu.models.keras.driver.restoring import Manager
from migrate_mgpu.models.keras.driver.serving import Answer, serving_edit
from migrate_mgpu.models.keras.model_to_estimator import KerasPlan
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.source import Edit
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
STAMP = "str(int(time.time()))"  # TF1 named each export's folder by its time


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
        self._outputs: ast.expr | None = None
        self._of_texts: set[str] = set()  # receivers that take one text for each example

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
            self.model.notes = [note for note in notes if note.node is not self._outputs]

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
            self._plain(made.module, arguments, ("name", RECEIVER, "exports_to_keep"))
            if "name" not in arguments or RECEIVER not in arguments:
                raise Refused(module, node, f"a {made.kind} without a name or a receiver")
            self._note_exporter(call, made)
            quote = call.module.source.quote
            known = known_at(self.values, module, arguments["name"], call.module, call.node)
            if known is None:
                text = "an exporter's name of another function"
                raise Refused(module, arguments["name"], text, key=MADE_ELSEWHERE)
            parts = [f"{saved.name}.directory", f"{quote}export{quote}"]
            parts += [text_of(call.module, known), _stamp(call.module)]
            folder = f"os.path.join({', '.join(parts)})"
            receiver = self._receiver(module, arguments[RECEIVER])
            if module is not call.module:
                text = "an exporter that is made in another file"
                raise Refused(module, node, text, key=MADE_ELSEWHERE)
            lines += self._lines(call, receiver, folder, indent, self.quiet and not lines)
            self.changes.gone.add(node)
        return lines

    def _note_exporter(self, call: DriverCall, made: Construction) -> None:
        """What an exporter did besides, or not always."""
        spec = call.train_spec
        if made.kind == "LatestExporter":
            text = "exported once, after the training: TF1 did after each evaluation, and "
            text += "deleted all but the newest 5"
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
        if not self.flow.driving.calls:
            text = "an export of a model that nothing here has trained or shown its features"
            raise Refused(call.module, call.node, text, "train it in the same program")
        names = call.module.names
        first = min(self.flow.driving.calls, key=lambda u: (u.node.lineno, u.node.col_offset))
        same = call.module is first.module and (
            names.scope_at(call.node) is names.scope_at(first.node)
        )
        late = same and call.node.lineno > first.node.lineno
        if saved is not None and not late and not saved.name.startswith("self."):
            text = "an export before the model has its checkpoint, or in another function"
            raise Refused(call.module, call.node, text, "export it after the training")

    def _signatures(self, call: DriverCall) -> tuple[str, ...]:
        """The names of the signatures, all of which are the predictions."""
        function = self.flow.function
        if isinstance(self.model, KerasPlan) and self.model.model.output is not None:
            return (DEFAULT,)
        if self.flow.kind == CANNED:
            return (PREDICTIONS,)  # the others are of serialized examples, see `_of_examples`
        if function is None or not isinstance(function.node, ast.FunctionDef):
            raise Refused(
                call.module, call.node, "an export of an Estimator without a model_fn",
                "give the layer of its output a name, which its signature has in TF1",
            )  # fmt: skip
        reading = Reading(function.module, function.node)
        self._outputs = reading.argument(PREDICT, "export_outputs")
        value, _ = reading.resolved(PREDICT, "export_outputs")
        if value is None:
            return (DEFAULT,)
        outputs = items(value) or _by_constant(reading.module, value)
        if len(outputs) != 1:
            raise Refused(reading.module, value, "export_outputs with more than one signature")
        (key, output), flow = next(iter(outputs.items())), reading.flows[PREDICT]
        made, unit = flow.resolve(output, reading.specs[PREDICT].unit)
        name = tensorflow_name(reading.module, made.func) if isinstance(made, ast.Call) else ""
        if not isinstance(made, ast.Call) or name != "estimator.export.PredictOutput":
            text = "export_outputs that is not a PredictOutput"
            raise Refused(reading.module, output, text, "export the predictions by PredictOutput")
        given = [*made.args, *(keyword.value for keyword in made.keywords)]
        exported, unit = flow.resolve(given[0], unit) if given else (None, None)
        predictions, told = reading.resolved(PREDICT, "predictions")
        if exported is None or not flow.alike(exported, unit, predictions, told):
            raise Refused(reading.module, made, "export_outputs is not the predictions")
        return (DEFAULT,) if key == DEFAULT else (str(key), DEFAULT)

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
        receiver = self._receiver(module, call.arguments[RECEIVER])
        base = text_of(module, call.arguments["export_dir_base"])
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

    def _lines(
        self, call: DriverCall, receiver: str, folder: str, indent: str, quiets: bool
    ) -> list[str]:
        """What exports into a folder, without the indentation of the first line.

        ``quiets``: Keras is told to show nothing from here on.
        """
        module, names = call.module, call.module.names
        keys = self._signatures(call)
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
        lines = [
            f"{archive} = {tf}.keras.export.ExportArchive()",
            f"{archive}.track({model})",
        ]
        serve = f"{receiver}({model})"
        examples = receiver in self._of_texts and isinstance(self.model, CannedPlan)
        if len(keys) > 1 or examples:
            name = names.fresh(scope, "serve", "serving_function")
            lines.append(f"{name} = {serve}")
            serve = name
        for key in keys:
            pieces = [style.string(key), serve]
            lines.append(style.call(f"{archive}.add_endpoint", pieces, indent, len(indent)))
        if examples:
            lines += self._of_examples(archive, serve, style, scope)
        if quiets:  # as TF1 was: Keras shows what it has written
            lines.append(f"{tf}.keras.utils.disable_interactive_logging()")
        lines.append(style.call(f"{archive}.write_out", [folder], indent, len(indent)))
        return lines

    def _of_examples(self, archive: str, serve: str, style: FileStyle, scope: Scope) -> list[str]:
        """The signatures that a canned Estimator has for serialized examples as well.

        Measured on 1.15.5: TF1 calls their input `inputs`, and the first of them is the default.
        """
        assert isinstance(self.model, CannedPlan)
        tf, unit = style.tensorflow, style.indent
        names = self.flow.module.names
        lines: list[str] = []
        for index, (key, outputs) in enumerate(_EXAMPLES[self.model.task].items()):
            stem = {"classification": "classify", "regression": "regress"}[key]
            name = names.fresh(scope, stem, f"serve_{key}")
            spec = f"{tf}.TensorSpec([None], {tf}.string, name={style.string('inputs')})"
            given = [f"{style.string(o)}: answer[{style.string(k)}]" for o, k in outputs.items()]
            lines += [
                "",
                f"@{tf}.function(input_signature=[{spec}])",
                f"def {name}(inputs):",
                f"{unit}answer = {serve}(inputs)",
                f"{unit}return {{{', '.join(given)}}}",
                "",
                f"{archive}.add_endpoint({style.string(key)}, {name})",
            ]
            if not index:
                lines.append(f"{archive}.add_endpoint({style.string(DEFAULT)}, {name})")
        return lines

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
        function = self.graph.target(module, node)
        if function is None:
            origins = self.values.definitions(module, node)
            call = origins[0].node if len(origins) == 1 else None
            if isinstance(call, ast.Call) and builder(origins[0].module, call):
                if origins[0].module is module:
                    self._only_built(module, call)
                    built = BuiltReceiver(module, call, self.changes, self.answer)
                    name = built.write(module.names.statement(node))
                    self._of_texts |= {name} if built.takes_texts else set()
                    return name
            raise Refused(
                module, node, "which receiver function this is cannot be determined",
                "name a function of the program",
            )  # fmt: skip
        self._only_exports(function)
        edit, takes_texts = serving_edit(function, self.answer)
        self.changes.edit(function.module, edit)
        self.changes.gone.add(function.node)
        name = module.source.code(node)
        self._of_texts |= {name} if takes_texts else set()
        return name

    @property
    def answer(self) -> Answer:
        """What the served function gives."""
        canned = self.flow.kind == CANNED
        if isinstance(self.model, KerasPlan) and self.model.model.output is not None:
            return Answer(False, False, key=self.model.model.output)
        return Answer(self.model.predicts, self.model.steps or canned, canned)

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

    def _only_exports(self, function: Function) -> None:
        given = self._receivers()
        for reference in self.graph.references(function):
            if reference.node not in given:
                text = f"`{function.name}` is used for more than an export here"
                raise Refused(reference.module, reference.node, text)


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
