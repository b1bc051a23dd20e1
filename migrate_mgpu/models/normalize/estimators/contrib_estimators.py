"""`tf.contrib.learn.Estimator` as the `tf.estimator.Estimator` that does the same.

``fit`` becomes ``train``, ``ModelFnOps`` an `EstimatorSpec`, and the parameters of the model_fn
get the names that `tf.estimator` knows them by; a model_fn that returns its predictions, loss and
step returns a spec. Arrays (``fit(x, y)``, also of ``SKCompat``) are fed by functions that give a
Dataset of them: `tf.contrib.learn` took each array in a new order, and what was left of it as a
smaller batch. A ``MetricSpec`` becomes a metric of the model_fn. What only `tf.contrib.learn` does
stays; so does one that predicts by an input function which no queue feeds: it ends with the first
batch.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import Names, constant, is_none
from migrate_mgpu.analysis.removal import binds_only_removed, is_inside
from migrate_mgpu.analysis.scopes import Scope, names_in, walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.api.queues import BATCHES, PRODUCERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.inputs.batches import BatchReader
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_ESTIMATOR = ("model_fn", "model_dir", "config", "params", "feature_engineering_fn")
_OPS = ("mode", "predictions", "loss", "train_op", "eval_metric_ops")
_METHODS = {
    "fit": ("x", "y", "input_fn", "steps", "batch_size", "monitors", "max_steps"),
    "evaluate": (
        "x", "y", "input_fn", "feed_fn", "batch_size", "steps", "metrics", "name",
        "checkpoint_path", "hooks", "log_progress",
    ),
    "predict": ("x", "input_fn", "batch_size", "outputs", "as_iterable", "iterate_batches"),
}  # fmt: skip
# Those of SKCompat, which takes arrays alone, and 128 rows at once.
_WRAPPED = {
    "fit": ("x", "y", "batch_size", "steps", "max_steps", "monitors"),
    "score": ("x", "y", "batch_size", "steps", "metrics", "name"),
    "predict": ("x", "batch_size", "outputs"),
}
_ROWS = 128
_ARRAYS = ("x", "y", "batch_size", "feed_fn", "metrics")
_NEW_NAMES = {"fit": "train", "score": "evaluate"}
_FUNCTIONS = {"fit": "train_input", "evaluate": "eval_input", "predict": "predict_input"}
_OF_CLASSES = (
    "softmax_cross_entropy", "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2", "sparse_softmax_cross_entropy",
)  # fmt: skip
_METRIC = ("metric_fn", "prediction_key", "label_key", "weight_key")
_MODES = {"TRAIN": "TRAIN", "EVAL": "EVAL", "INFER": "PREDICT"}


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of one Estimator with its model_fn; none for another form."""
    found = Restated(flow, ValueFlow(graph))
    return found.edits if found.restated() else {}


@record(frozen=True)
class _ReturnedSpec:
    """What a model_fn returns: a call of ModelFnOps, or its three values."""

    module: Module
    function: ast.FunctionDef
    node: ast.Call | ast.Tuple

    @property
    def predictions(self) -> ast.expr | None:
        if isinstance(self.node, ast.Tuple):
            return self.node.elts[0]
        return by_parameter(self.node, _OPS).get("predictions")


class Restated:
    """An Estimator of `tf.contrib.learn`'s as one of `tf.estimator`'s, with all of its uses."""

    name = "Estimator"  # of the class in tf.estimator

    def __init__(self, flow: EstimatorFlow, values: ValueFlow) -> None:
        self.flow = flow
        self.values = values
        self.edits: dict[Module, list[Edit]] = {}
        self.gone: dict[Module, set[ast.AST]] = {}  # names that are written otherwise
        self.returned: list[_ReturnedSpec] = []
        self.metrics: ast.Dict | None = None
        self.written: dict[tuple[Module, tuple[str, ...]], str] = {}  # functions above it
        self.functions: dict[Module, list[str]] = {}  # the names of those
        self.wrapped = False  # in SKCompat, whose predictions are arrays of all rows

    def restated(self) -> bool:
        """Whether all of it has another form; its edits are there then."""
        module, call = self.flow.module, self.flow.call
        if not self._model():
            return False
        made: ast.Call = call
        around = module.names.taker(call)
        wrapped = around is not None and _last(module, around.func) == "SKCompat"
        if around is not None and wrapped:
            self._unwrapped(module, around)
            made = around
            self.wrapped = True
        for use in self.values.uses(module, made):
            if use.node is not None and not self._used(use.module, use.node, wrapped):
                return False
        if not self._measured():
            return False
        self._named(module, call.func, self.name)
        self.without_imports()
        return True

    def without_imports(self) -> None:
        """The imports that nothing needs any more go."""
        for changed, gone in self.gone.items():
            for statement in changed.tensorflow_imports:
                if _binds_tensorflow(changed, statement):
                    continue  # what is written names it
                if binds_only_removed(changed, statement, gone):
                    self._edit(changed, without_paragraph(changed.source, statement))
            self._short_names(changed, gone)

    def _model(self) -> bool:
        """Whether the model that it is made with has another form."""
        module, given = self.flow.module, by_parameter(self.flow.call, _ESTIMATOR)
        node = given.get("model_fn")
        if node is None or not given.keys() <= set(_ESTIMATOR[:4]):
            return False
        origins = self.values.definitions(module, node)
        if len(origins) != 1 or origins[0].node is None:
            return False
        function = self.values.graph.target(origins[0].module, origins[0].node)
        return function is not None and self._function(function)

    def _unwrapped(self, module: Module, around: ast.Call) -> None:
        """`SKCompat(Estimator(...))` is the Estimator; what it does besides, its calls do."""
        start, end = module.source.span(around)
        first, last = module.source.span(self.flow.call)
        self._edit(module, Edit(start, first, ""), Edit(last, end, ""))
        self.gone.setdefault(module, set()).add(around.func)

    def _short_names(self, module: Module, gone: set[ast.AST]) -> None:
        """`learn = tf.contrib.learn`, where nothing needs it any more."""
        names = module.names
        for statement in module.tree.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if not isinstance(target, ast.Name) or not isinstance(statement, ast.Assign):
                continue
            if tensorflow_name(module, statement.value) != "contrib.learn":
                continue
            mentions = names.mentions(target.id, names.module_scope)
            rest = [one for one in mentions if one is not target]
            if rest and all(is_inside(module, one, gone) for one in rest):
                self._edit(module, without_paragraph(module.source, statement))

    def _edit(self, module: Module, *edits: Edit) -> None:
        self.edits.setdefault(module, []).extend(edits)

    def _named(self, module: Module, node: ast.expr, name: str) -> None:
        """A name of `tf.estimator` in the place of one of `tf.contrib.learn`."""
        tf = style_at(module, node).tensorflow
        self._edit(module, Edit(*module.source.span(node), f"{tf}.estimator.{name}"))
        self.gone.setdefault(module, set()).add(node)

    def _function(self, function: Function) -> bool:
        """Whether a model_fn has another form: its parameters, modes and what it returns."""
        module, node = function.module, function.node
        names, own = module.names, node.args.args
        taken = [parameter.arg for parameter in own]
        if len(own) < 2 or not set(taken[2:]) <= {"mode", "params", "config"}:
            return False
        if not isinstance(node, ast.FunctionDef):
            return False
        if not self._three_values(module, node, own):
            return False
        for parameter, name in zip(own, ("features", "labels")):
            if parameter.arg == name:
                continue
            scope = names.scopes[node]
            if name in scope.bindings or names.fresh(scope, name) != name:
                return False
            start, _ = module.source.span(parameter)
            self._edit(module, Edit(start, start + len(parameter.arg), name))
            for mention in names.mentions(parameter.arg, scope):
                self._edit(module, Edit(*module.source.span(mention), name))
        inside = set(ast.walk(node))
        for part in inside:
            if not isinstance(part, (ast.Attribute, ast.Name)):
                continue
            known = tensorflow_name(module, part)
            if not known.startswith("contrib.learn."):
                continue
            head, _, last = known.rpartition(".")
            if head.endswith(".ModeKeys") and last in _MODES:
                self._named(module, part, f"ModeKeys.{_MODES[last]}")
            elif last == "ModelFnOps":
                call = names.parents[part]
                if not isinstance(call, ast.Call) or call.func is not part:
                    return False
                if not by_parameter(call, _OPS).keys() <= set(_OPS):
                    return False
                self.returned.append(_ReturnedSpec(module, node, call))
                self._named(module, part, "EstimatorSpec")
        return True

    def _three_values(self, module: Module, node: ast.FunctionDef, own: list[ast.arg]) -> bool:
        """`return predictions, loss, train_op` becomes a spec; whether all returns have a form."""
        source, names = module.source, module.names
        scope = names.scopes[node]
        mode = any(one.arg == "mode" for one in own)
        for part in ast.walk(node):
            if not isinstance(part, ast.Return) or names.scope_at(part) is not scope:
                continue
            value = part.value
            if not isinstance(value, ast.Tuple):
                continue
            if len(value.elts) != 3 or any(isinstance(one, ast.Starred) for one in value.elts):
                return False
            tf = style_at(module, part).tensorflow
            code = [source.code(one) for one in value.elts]
            text = f"{tf}.estimator.EstimatorSpec(mode, predictions={code[0]}, loss={code[1]}"
            start, end = source.span(value)
            self._edit(module, Edit(start, end, f"{text}, train_op={code[2]})"))
            self.returned.append(_ReturnedSpec(module, node, value))
            if not mode:
                if node.args.vararg or node.args.kwonlyargs or "mode" in scope.bindings:
                    return False
                end = source.span(own[1])[0] + len(own[1].arg)
                self._edit(module, Edit(end, end, ", mode"))
                mode = True
        return True

    def _measured(self) -> bool:
        """The metrics of its evaluation, in the model_fn; whether they have a form there."""
        if self.metrics is None:
            return True
        if len(self.returned) != 1:
            return False
        (spec,) = self.returned
        module, node = spec.module, spec.node
        if not isinstance(node, ast.Call) or "eval_metric_ops" in by_parameter(node, _OPS):
            return False
        labels = spec.function.args.args[1].arg
        if len(module.names.scopes[spec.function].bindings.get(labels, ())) != 1:
            return False  # `tf.contrib.learn` measured with those that it was fed
        predictions = spec.predictions
        if predictions is None or not isinstance(predictions, (ast.Name, ast.Dict)):
            return False
        shown = module.source.code(predictions)
        entries = []
        quote, about = module.source.quote, self.flow.module
        for key, value in zip(self.metrics.keys, self.metrics.values):
            if not isinstance(value, ast.Call) or _last(about, value.func) != "MetricSpec":
                return False
            given = by_parameter(value, _METRIC)
            metric, name = given.get("metric_fn"), constant(given.get("prediction_key"))
            if given.keys() != {"metric_fn", "prediction_key"} or metric is None:
                return False
            known, title = tensorflow_name(about, metric), constant(key)
            if known.rpartition(".")[0] != "metrics" or not isinstance(name, str):
                return False
            if not isinstance(title, str):
                return False
            tf = style_at(module, node).tensorflow
            self.gone.setdefault(about, set()).add(value.func)
            row = f"{shown}[{quote}{name}{quote}]"
            entries.append(f"{quote}{title}{quote}: {tf}.{known}(labels, {row})")
        edit = CallEdit(module.source, node, _OPS)
        edit.add("eval_metric_ops", "{" + ", ".join(entries) + "}")
        self._edit(module, *edit.edits())
        return True

    def _used(self, module: Module, node: ast.expr, wrapped: bool) -> bool:
        """Whether a use of the Estimator has another form, or needs none."""
        names = module.names
        method, taker = names.parents[node], names.taker(node)
        if taker is not None and tensorflow_name(module, taker.func).endswith(".Experiment"):
            return True
        call = names.parents.get(method)
        if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call):
            return False
        signature = (_WRAPPED if wrapped else _METHODS).get(method.attr)
        if signature is None or call.func is not method:
            return False
        given = by_parameter(call, signature)
        given = {name: value for name, value in given.items() if not is_none(value)}
        if not given.keys() <= set(signature) or "feed_fn" in given:
            return False
        name = _NEW_NAMES.get(method.attr, method.attr)
        edit = CallEdit(module.source, call, signature)
        if "x" in given:
            function = self._fed(module, call, name, given, wrapped)
            if function is None:
                return False
            edit.add("input_fn", function)
        elif given.keys() & set(_ARRAYS):
            return False
        if "x" not in given and name == "predict":
            if not self._is_queue(module, given.get("input_fn")):
                return False
        if not self._taken(module, call, name, given):
            return False
        edit.drop(*_ARRAYS, "log_progress", "as_iterable")
        edit.rename("monitors", "hooks")
        edit.order(())
        self._edit(module, *edit.edits())
        end = module.source.span(method)[1]
        self._edit(module, Edit(end - len(method.attr), end, name))
        return True

    def _taken(
        self, module: Module, call: ast.Call, method: str, given: dict[str, ast.expr]
    ) -> bool:
        """Whether the rest of the program takes what a call gives as it takes `tf.estimator`'s."""
        one_by_one = given.get("as_iterable")
        if one_by_one is not None and constant(one_by_one) is not True:
            return False
        known = given.keys() <= {"x", "input_fn", "batch_size", "as_iterable"}
        return method != "predict" or (known and is_walked(call, module.names))

    def _is_queue(self, module: Module, node: ast.expr | None) -> bool:
        """Whether a queue feeds all that an input function gives, which is predicted then."""
        functions = [self.values.graph.target(module, node)] if node is not None else []
        if isinstance(node, ast.Call):
            functions = [*BatchReader(self.values.graph).made(module, node)]
        return bool(functions) and all(
            function is not None and _fills_queue(function) for function in functions
        )

    def _features(self, module: Module, array: str) -> str:
        """What the Estimator is fed of an array."""
        return array

    def _fed(
        self,
        module: Module,
        call: ast.Call,
        method: str,
        given: dict[str, ast.expr],
        wrapped: bool,
    ) -> str | None:
        """The function that feeds arrays, which is written above; None where that is no form."""
        source, names = module.source, module.names
        statement = names.statement(call)
        arrays = [given[one] for one in ("x", "y") if one in given]
        if not all(_is_named(one) for one in arrays):
            return None
        if len(arrays) != (1 if method == "predict" else 2):
            return None
        if not self._takes_classes():
            return None
        if "metrics" in given and not self._take_metrics(module, given["metrics"]):
            return None
        x, *rest = (source.code(one) for one in arrays)
        size = given.get("batch_size")
        rows = source.code(size) if size is not None else str(_ROWS) if wrapped else f"len({x})"
        tf = style_at(module, call).tensorflow
        features = self._features(module, x)
        taken = f"({features}, {rest[0]})" if rest else features
        data = f"{tf}.data.Dataset.from_tensor_slices({taken})"
        key = {"train": "fit"}.get(method, method)
        scope = names.scope_at(statement)
        name = names.fresh(scope, *self._free(module, _FUNCTIONS[key]))
        unit = source.indent_unit
        used = {n.id for one in (*arrays, *([size] if size else [])) for n in names_in(one)}
        rows_of = next(one for one in ("data", "dataset", "arrays") if one not in used)
        if method == "train":
            lines = [
                f"def {name}():",
                f"{unit}{rows_of} = {data}",
                f"{unit}return {rows_of}.shuffle(len({x})).batch({rows}).repeat()",
            ]
        else:
            lines = [f"def {name}():", f"{unit}return {data}.batch({rows})"]
        place = statement
        made = self.flow.statement
        if module is self.flow.module and names.scope_at(made) is scope:
            known = [part for one in (*arrays, *([size] if size else [])) for part in ast.walk(one)]
            if all(
                _known_above(names, part, made, scope)
                for part in known
                if isinstance(part, ast.Name)
            ):
                place = made
        if place is made:
            written = self.written.setdefault((module, tuple(lines[1:])), name)
            if written != name:
                return written  # of the same arrays
        layout = Layout(source, place)
        if not layout.owns_start:
            return None
        blank = ["", ""] if scope is names.module_scope and not layout.indent else [""]
        before = [source.line_text(n).strip() for n in range(1, place.lineno)]
        stands = any(edit.start == layout.line_start for edit in self.edits.get(module, ()))
        free = not before or before[-1].endswith(":") or before[-1].startswith("#")
        blanks = len(before) - _last_line(before)
        lead = [] if stands or free else blank[blanks:]
        self._edit(module, layout.insert_before([*lead, *lines, *blank]))
        self.functions.setdefault(module, []).append(name)
        return name

    def _free(self, module: Module, name: str) -> list[str]:
        """Names of a function that no other call's function has: `eval_input`, `eval_input_2`."""
        earlier = sum(one.startswith(name) for one in self.functions.get(module, ()))
        numbered = f"{name}_{earlier + 1}" if earlier else name
        return [numbered, f"{numbered}_fn"]

    def _takes_classes(self) -> bool:
        """Whether the labels are classes: a column of these is the same as a list of them.

        `tf.contrib.learn` took labels of one column as a list of numbers, which a Dataset does
        not. A loss of numbers would pair them otherwise, and each with each.
        """
        return any(
            name_of(spec.module, part).rpartition(".")[2] in _OF_CLASSES
            for spec in self.returned
            for part in ast.walk(spec.function)
            if isinstance(part, ast.Call)
        )

    def _take_metrics(self, module: Module, node: ast.expr) -> bool:
        """The dictionary of an evaluation's metrics, which goes."""
        names = module.names
        value = node
        if isinstance(node, ast.Name):
            binding = names.only_binding(node)
            home = names.defining_scope(node.id, names.scope_of_name[node])
            if binding is None or binding.value is None or home is None:
                return False
            value = binding.value
            statement = names.statement(value)
            if len(names.mentions(node.id, home)) != 2 or not isinstance(statement, ast.Assign):
                return False
            self._edit(module, without_paragraph(module.source, statement))
        if not isinstance(value, ast.Dict) or self.metrics is not None:
            return False
        self.metrics = value
        return module is self.flow.module


def _binds_tensorflow(module: Module, statement: ast.AST) -> bool:
    """Whether an import brings the name by which new text calls TensorFlow."""
    names = [one.asname or one.name for one in getattr(statement, "names", ())]
    return style_at(module, statement).tensorflow in names


def _is_named(node: ast.expr) -> bool:
    """An array that has a name, or is an item of one that does: `batch[0]`."""
    if isinstance(node, ast.Subscript) and isinstance(constant(node.slice), int):
        node = node.value
    return isinstance(node, (ast.Name, ast.Attribute))


def _last(module: Module, node: ast.expr) -> str:
    """The last name of something of `tf.contrib.learn`'s; empty for anything else."""
    known = tensorflow_name(module, node)
    return known.rpartition(".")[2] if known.startswith("contrib.learn.") else ""


def _known_above(names: Names, name: ast.Name, place: ast.stmt, scope: Scope) -> bool:
    """Whether a name has all of its values before a statement of its scope."""
    home = names.defining_scope(name.id, names.scope_of_name[name])
    if home is None:
        return True
    found = [one for one in names.mentions(name.id, home) if isinstance(one.ctx, ast.Store)]
    inside = home is scope or home is names.module_scope
    return inside and all(one.lineno < place.lineno for one in found)


def _last_line(lines: list[str]) -> int:
    """How many lines there are up to the last that is not blank."""
    return max((n for n, line in enumerate(lines, start=1) if line), default=0)


def _fills_queue(function: Function) -> bool:
    """Whether a function makes a queue each time that it is called."""
    line = in_line(function.node.body) if isinstance(function.node, ast.FunctionDef) else ()
    return any(
        name_of(function.module, part) in (*PRODUCERS, *BATCHES)
        for statement in line
        if isinstance(statement, (ast.Assign, ast.Return))
        for part in walk(statement)
    )


def is_walked(call: ast.Call, names: Names) -> bool:
    """Whether rows one after the other do as well as an array of them."""
    parent = names.parents[call]
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is call
    return isinstance(parent, ast.Call) and names.qualname(parent.func) in ("list", "builtins.list")
