"""A head that says what a model_fn returns: its loss, metrics and predictions, written out.

``return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=...)`` becomes one
``EstimatorSpec`` for each mode, and ``head.logits_dimension`` the number, also of a head that
gives no spec. Read in TensorFlow
1.15.5, ``tensorflow_estimator/python/estimator/canned/head.py``: the labels get the logits' shape,
the steps of batch normalization are grouped with the training step, whether asked for or not.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.heads import HEADS, HeadRow, Task
from migrate_mgpu.api.losses import LOSSES, REDUCTIONS, Reduction
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.blocks import bracketed, leading, outermost, render, trailing
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments, without_function, without_paragraph

_EXPORTED = ("all_classes", "logistic", "predictions", "probabilities")
_METHOD, _WIDTH = "create_estimator_spec", "logits_dimension"
_SPEC = (
    "features", "mode", "logits", "labels", "optimizer", "train_op_fn", "regularization_losses",
)  # fmt: skip
_FIRST = 4  # of them, which all heads have in this order
# The heads that canned Estimators make for themselves: their parameters, and their own default.
_CANNED = "estimator.canned.head."
_BINARY = ("weight_column", "thresholds", "label_vocabulary", "loss_reduction", "loss_fn", "name")
_MULTI = ("n_classes", "weight_column", "label_vocabulary", "loss_reduction", "loss_fn", "name")
_OWN = {
    "_binary_logistic_head_with_sigmoid_cross_entropy_loss": ("two_classes", _BINARY),
    "_multi_class_head_with_softmax_cross_entropy_loss": ("classes", _MULTI),
    "_binary_logistic_or_multi_class_head": ("", _MULTI[:4]),
}
_KNOWN = {"n_classes", "thresholds", "loss_reduction", "label_dimension"}


@record(frozen=True, eq=False)
class _Head:
    """What is known of a head that a statement makes, which does no more.

    ``thresholds`` are the numbers, as they are written, that metrics are taken at besides.
    """

    row: HeadRow
    classes: ast.expr | None
    reduction: Reduction
    thresholds: tuple[tuple[float, str], ...]


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all specs of a model_fn; none where the head of one is not known.

    Raises:
        Refused: a head is given what has no form yet.
    """
    if flow.function is None or not isinstance(flow.function.node, ast.FunctionDef):
        return {}
    exports = flow.driving.exports or any(call.exporters for call in flow.driving.calls)
    module, node = flow.function.module, flow.function.node
    inside = set(walk(node))
    calls = [
        module.names.parents[attribute]
        for attribute in module.names.attributes.get(_METHOD, ())
        if attribute in inside
    ]
    edits: list[Edit] = []
    gone: set[ast.AST] = set()
    for call in calls:
        written = _Spec.of(module, node, call)
        if written is not None:
            written.exports = bool(exports)
        edit = written.edit() if written is not None else None
        if written is None or edit is None:
            return {}
        edits.append(edit)
        gone |= written.gone
    edits = edits or _asked_alone(module, inside)
    return {module: outermost([*edits, *_left_out(module, gone)])} if edits else {}


def _asked_alone(module: Module, inside: set[ast.AST]) -> list[Edit]:
    """The edits for a head of a function that only says how many logits there are."""
    names, found = module.names, []
    asked = [one for one in names.attributes.get(_WIDTH, ()) if one in inside]
    for attribute in asked:
        node = attribute.value
        made = names.only_value(node) if isinstance(node, ast.Name) else None
        if made is None or not isinstance(node, ast.Name) or not _width(module, attribute):
            continue
        home = names.defining_scope(node.id, names.scope_of_name[node])
        mentions = names.mentions(node.id, home) if home is not None else ()
        reads = [one for one in mentions if isinstance(one.ctx, ast.Load)]
        if made in inside and all(names.parents[one] in asked for one in reads):
            found.append(Edit(*module.source.span(attribute), _width(module, attribute)))
            if node is reads[0]:
                found.append(without_paragraph(module.source, names.statement(made)))
    return found


class _Spec:
    """One call that gives a spec, returned at once by a function."""

    def __init__(
        self,
        module: Module,
        function: ast.FunctionDef,
        call: ast.Call,
        statement: ast.Return,
        head: _Head,
        given: dict[str, ast.expr],
    ) -> None:
        self.module = module
        self.function = function
        self.call = call
        self.statement = statement
        self.head = head
        self.given = given
        self.style = style_at(module, call)
        self.layout = Layout(module.source, statement)
        self.gone: set[ast.AST] = set()
        self.exports = False  # the program exports the model

    @classmethod
    def of(cls, module: Module, function: ast.FunctionDef, call: ast.AST) -> _Spec | None:
        """The spec that a call gives; None where its head or an argument is not known."""
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        statement = module.names.parents[call]
        if not isinstance(statement, ast.Return) or len(call.args) > _FIRST:
            return None
        if any(isinstance(value, ast.Starred) for value in call.args):
            return None
        if module.names.scope_at(call) is not module.names.scopes[function]:
            return None
        if any(keyword.arg not in _SPEC for keyword in call.keywords):
            return None
        given = {
            name: value
            for name, value in arguments_of(module, call, _SPEC).items()
            if not is_none(value)
        }
        mode = given.get("mode")
        named = isinstance(mode, ast.Name) and module.names.is_parameter(mode)
        if not named or "logits" not in given or "regularization_losses" in given:
            return None
        head = _head(module, call.func.value)
        return None if head is None else cls(module, function, call, statement, head, given)

    def edit(self) -> Edit | None:
        """The statements in place of the one that returns it; None where there are none."""
        if not self.layout.owns_lines or "labels" not in self.given:
            return None
        trained = self._train_op()
        if trained is None:
            return None
        self.gone.add(self.call.func)
        said = [one.text for one in comments(self.module.source.code(self.statement))]
        lines = [*said, *self._predict(), *self._evaluate(), *trained]
        return self.layout.replace([line for text in lines for line in text.split("\n")])

    # -- the three modes ---------------------------------------------------------

    def _new(self, *candidates: str) -> str:
        """A name that the function does not have."""
        names = self.module.names
        scope = names.scopes[self.function]
        return names.fresh(scope, *candidates)

    @property
    def _logits(self) -> str:
        node = self.given["logits"]
        return self._code(node) if isinstance(node, ast.Name) else self._new("logits")

    def _lead(self) -> list[str]:
        """What the logits are, where they have no name."""
        node = self.given["logits"]
        if isinstance(node, ast.Name):
            return []
        return [f"{self._logits} = {bracketed(self._code(node))}"]

    def _code(self, node: ast.AST, edits: Sequence[Edit] = ()) -> str:
        """The author's text at the place of the spec, with the numbers that heads say."""
        module, indent = self.module, self.layout.indent
        widths = [
            Edit(*module.source.span(part), _width(module, part))
            for part in ast.walk(node)
            if isinstance(part, ast.Attribute) and part.attr == _WIDTH and _width(module, part)
        ]
        text = render(module.source, node, [*edits, *widths], len(indent), indent)
        first, *rest = text.split("\n")
        return "\n".join([first, *(line.removeprefix(indent) for line in rest)])

    def _call(self, head: str, *pieces: str, deeper: int = 0, column: int = 0) -> str:
        indent = self.layout.indent + self.style.indent * deeper
        text = self.style.call(head, list(pieces), indent, len(indent) + column)
        first, *rest = text.split("\n")
        return "\n".join([first, *(line.removeprefix(self.layout.indent) for line in rest)])

    def _is_mode(self, mode: str) -> str:
        name = self.module.source.code(self.given["mode"])
        return f"if {name} == {self.style.tensorflow}.estimator.ModeKeys.{mode}:"

    def _block(self, mode: str, lines: list[str]) -> list[str]:
        unit = self.style.indent
        body = [unit + line for text in lines for line in text.split("\n")]
        return [self._is_mode(mode), *body]

    def _returned(self, *pieces: str, deeper: int) -> str:
        mode = self.module.source.code(self.given["mode"])
        head = f"return {self.style.tensorflow}.estimator.EstimatorSpec"
        return self._call(head, mode, *pieces, deeper=deeper)

    def _both(self) -> list[str]:
        """The logits of two classes, where there is one, under the name that `_pair` says."""
        if self.head.row.task is not Task.TWO_CLASSES:
            return []
        tf, logits = self.style.tensorflow, self._logits
        return [f"{self._pair} = {tf}.concat([{tf}.zeros_like({logits}), {logits}], axis=-1)"]

    @property
    def _pair(self) -> str:
        if self.head.row.task is Task.TWO_CLASSES:
            return self._new("two_class_logits", "both_logits")
        return self._logits

    @property
    def _count(self) -> str:
        """How many classes there are, as it is written."""
        node = self.head.classes
        if node is None or self.head.row.task is Task.TWO_CLASSES:
            return "2"
        return self.module.source.code(node)

    def _predict(self) -> list[str]:
        tf, logits = self.style.tensorflow, self._logits
        string, unit = self.style.string, self.style.indent
        lines, entries = self._lead(), []
        if self.head.row.task is Task.NUMBER:
            entries.append(f"{string('predictions')}: {logits},")
            made = []
        else:
            ids = self._new("class_ids", "chosen_ids")
            pair = self._pair
            chosen = f"{tf}.expand_dims({tf}.argmax({pair}, axis=-1), axis=-1)"
            every, rows = self._new("all_class_ids", "all_ids"), f"{tf}.shape({logits})[0]"
            listed = f"{tf}.expand_dims({tf}.range({self._count}), 0)"
            made = [
                *self._both(),
                f"{ids} = {chosen}",
                f"{every} = {tf}.tile({listed}, [{rows}, 1])",
            ]
            entries.append(f"{string('logits')}: {logits},")
            if self.head.row.task is Task.TWO_CLASSES:
                entries.append(f"{string('logistic')}: {tf}.sigmoid({logits}),")
            entries += [
                f"{string('probabilities')}: {tf}.nn.softmax({pair}),",
                f"{string('class_ids')}: {ids},",
                f"{string('classes')}: {tf}.as_string({ids}),",
                f"{string('all_class_ids')}: {every},",
                f"{string('all_classes')}: {tf}.as_string({every}),",
            ]
        predictions = self._new("predictions", "predicted")
        made += [f"{predictions} = {{", *(unit + entry for entry in entries), "}"]
        given = [f"predictions={predictions}"]
        if self.exports:
            made += self._signatures(predictions)
            given.append(f"export_outputs={self._new('export_outputs', 'signatures')}")
        made.append(self._returned(*given, deeper=1))
        return [*lines, *self._block("PREDICT", made)]

    def _signatures(self, predictions: str) -> list[str]:
        """The statements that say what the head exports, the first of them by default."""
        string, unit = self.style.string, self.style.indent
        made = f"{self.style.tensorflow}.estimator.export."
        of = {key: f"{predictions}[{string(key)}]" for key in _EXPORTED}
        classes = f"{made}ClassificationOutput({of['probabilities']}, {of['all_classes']})"
        number = "predictions" if self.head.row.task is Task.NUMBER else "logistic"
        value = f"{made}RegressionOutput({of[number]})"
        kinds = {
            Task.NUMBER: {"regression": value},
            Task.TWO_CLASSES: {"classification": classes, "regression": value},
            Task.CLASSES: {"classification": classes},
        }[self.head.row.task]
        default = next(iter(kinds.values()))
        every = {
            "serving_default": default,
            **kinds,
            "predict": f"{made}PredictOutput({predictions})",
        }
        name = self._new("export_outputs", "signatures")
        entries = [f"{unit}{string(key)}: {text}," for key, text in every.items()]
        return [f"{name} = {{", *entries, "}"]

    def _evaluate(self) -> list[str]:
        tf, logits = self.style.tensorflow, self._logits
        string, unit = self.style.string, self.style.indent
        labels, loss = self._new("true_labels", "head_labels"), self._new("loss", "head_loss")
        known = self._code(self.given["labels"])
        task = self.head.row.task
        shaped = f"{tf}.reshape({known}, {tf}.shape({logits}))"
        if task is Task.CLASSES:
            lines, labels = [], known
        else:
            lines = [f"{labels} = {tf}.cast({shaped}, {tf}.float32)"]
        pieces = [labels, logits]
        if self.head.reduction is Reduction.SUM:
            pieces.append(f"reduction={tf}.losses.Reduction.SUM")
        function = next(n for n in LOSSES.by_kind[self.head.row.loss].names if n[:7] == "losses.")
        lines.append(self._call(f"{loss} = {tf}.{function}", *pieces))
        made, metrics = self._metrics(labels)
        entries = [f"{string(key)}: {value}," for key, value in metrics.items()]
        found = self._new("metrics", "measured")
        made += [f"{found} = {{", *(unit + entry for entry in entries), "}"]
        made.append(self._returned(f"loss={loss}", f"eval_metric_ops={found}", deeper=1))
        return [*lines, *self._block("EVAL", made)]

    def _metrics(self, labels: str) -> tuple[list[str], dict[str, str]]:
        """The statements before the metrics, and what each is."""
        tf, logits, task = self.style.tensorflow, self._logits, self.head.row.task
        metric = f"{tf}.metrics."
        if task is Task.NUMBER:
            return [], {
                "average_loss": f"{metric}mean_squared_error({labels}, {logits})",
                "label/mean": f"{metric}mean({labels})",
                "prediction/mean": f"{metric}mean({logits})",
            }
        if task is Task.CLASSES:
            none = f"reduction={tf}.losses.Reduction.NONE"
            each = f"{tf}.losses.sparse_softmax_cross_entropy({labels}, {logits}, {none})"
            return [], {
                "accuracy": f"{metric}accuracy({labels}, {tf}.argmax({logits}, axis=-1))",
                "average_loss": f"{metric}mean({each})",
            }
        chosen = self._new("chosen", "chosen_classes")
        logistic = self._new("logistic", "chances")
        mean = self._new("label_mean", "mean_of_labels")
        each = f"{tf}.nn.sigmoid_cross_entropy_with_logits(labels={labels}, logits={logits})"
        lines = [
            f"{logistic} = {tf}.sigmoid({logits})",
            f"{chosen} = {tf}.greater({logits}, 0.0)",
            f"{mean} = {metric}mean({labels})",
        ]
        baseline = f"({tf}.maximum({mean}[0], 1.0 - {mean}[0]), {mean}[1])"
        found = {
            "accuracy": f"{metric}accuracy({labels}, {tf}.cast({chosen}, {tf}.float32))",
            "accuracy_baseline": baseline,
            "auc": f"{metric}auc({labels}, {logistic})",
            "auc_precision_recall":
                f"{metric}auc({labels}, {logistic}, curve={self.style.string('PR')})",
            "average_loss": f"{metric}mean({each})",
            "label/mean": mean,
            "precision": f"{metric}precision({labels}, {chosen})",
            "prediction/mean": f"{metric}mean({logistic})",
            "recall": f"{metric}recall({labels}, {chosen})",
        }  # fmt: skip
        for number, text in self.head.thresholds:
            reached = f"{tf}.cast({tf}.greater_equal({logistic}, {text}), {tf}.float32)"
            above = f"{tf}.greater({logistic}, {text})"
            key = f"positive_threshold_{number:g}"
            found[f"accuracy/{key}"] = f"{metric}accuracy({labels}, {reached})"
            found[f"precision/{key}"] = f"{metric}precision({labels}, {above})"
            found[f"recall/{key}"] = f"{metric}recall({labels}, {above})"
        return lines, found

    # -- the training step -------------------------------------------------------

    def _train_op(self) -> list[str] | None:
        """The statements of training, the last of which returns its spec."""
        tf = self.style.tensorflow
        loss = self._new("loss", "head_loss")
        optimizer, function = self.given.get("optimizer"), self.given.get("train_op_fn")
        if (optimizer is None) == (function is None):
            return None
        lines: list[str] = []
        if optimizer is not None:
            step = f"global_step={tf}.train.get_global_step()"
            made = f"{bracketed(self._code(optimizer))}.minimize({loss}, {step})"
        else:
            assert function is not None
            found = self._of_function(function, loss)
            if found is None:
                return None
            lines, made = found
        train, update = self._new("train_op", "training"), f"{tf}.GraphKeys.UPDATE_OPS"
        lines.append(f"{train} = {bracketed(made)}")
        grouped = self._call(f"{tf}.group", train, f"{tf}.get_collection({update})", column=9)
        lines.append(f"{train} = {grouped}")
        return [*lines, self._returned(f"loss={loss}", f"train_op={train}", deeper=0)]

    def _of_function(self, node: ast.expr, loss: str) -> tuple[list[str], str] | None:
        """The statements of the function that makes the step, and the step itself."""
        module, names = self.module, self.module.names
        function: ast.AST | None = node
        if isinstance(node, ast.Name):
            function = names.only_definition(node)
            self.gone.add(node)
        if not isinstance(function, (ast.Lambda, ast.FunctionDef)):
            return None
        arguments = function.args
        plain = [*arguments.posonlyargs, *arguments.args]
        if len(plain) != 1 or len(list(ast.iter_child_nodes(arguments))) != 1:
            return None
        if isinstance(function, ast.Lambda):
            return [], self._renamed(function.body, function, plain[0].arg, loss)
        if function.decorator_list or names.parents[function] is not self.function:
            return None
        *body, last = function.body
        scope = names.scopes[function]
        if not isinstance(last, ast.Return) or last.value is None:
            return None
        own = set(scope.bindings) - {plain[0].arg}
        outer = names.scopes[self.function]
        known = any(name in outer.bindings for name in own)
        if known or not all(isinstance(s, (ast.Assign, ast.Expr)) for s in body):
            return None
        lines: list[str] = []
        for statement in body:
            lines += [text for text in leading(module.source, statement) if text]
            text = self._renamed(statement, function, plain[0].arg, loss)
            lines.append(text + trailing(module.source, statement))
        lines += [text for text in leading(module.source, last) if text]
        return lines, self._renamed(last.value, function, plain[0].arg, loss)

    def _renamed(self, node: ast.AST, function: ast.AST, parameter: str, loss: str) -> str:
        """The text of a function's part in the model_fn, with the loss for its parameter."""
        module, scope = self.module, self.module.names.scopes[function]
        edits = [
            Edit(*module.source.span(name), loss)
            for name in ast.walk(node)
            if isinstance(name, ast.Name) and name.id == parameter
            if module.names.defining_scope(name.id, module.names.scope_of_name[name]) is scope
        ]
        return self._code(node, edits)


def _head(module: Module, node: ast.expr) -> _Head | None:
    """The head that a variable holds; None where it is more than one, or none that is known.

    Raises:
        Refused: it is given what has no form yet.
    """
    made = module.names.only_value(node) if isinstance(node, ast.Name) else None
    statement = module.names.statement(made) if made is not None else None
    if not isinstance(made, ast.Call) or not isinstance(statement, ast.Assign):
        return None
    if statement.value is not made or len(statement.targets) != 1:
        return None
    name = tensorflow_name(module, made.func)
    own = name.rpartition(_CANNED)[2] if _CANNED in name else ""
    row = HEADS.by_name.get(name)
    if own in _OWN:
        kind, signature = _OWN[own]
        arguments = arguments_of(module, made, signature)
        if not kind:
            count = constant(arguments.get("n_classes"))
            if not isinstance(count, int):
                return None
            kind = "two_classes" if count == 2 else "classes"
        row = HEADS.by_kind[kind]
    elif row is not None and name.startswith("contrib."):
        arguments = arguments_of(module, made, row.signature)
    else:
        return None
    arguments = {key: value for key, value in arguments.items() if not is_none(value)}
    dimension = arguments.get("label_dimension")
    more = [name for name in arguments if name not in _KNOWN]
    if more:
        advice = "write the loss, the metrics and the predictions of the head out"
        raise Refused(module, arguments[more[0]], f"`{more[0]}` of a head is not converted", advice)
    if dimension is not None and constant(dimension) != 1:
        return None
    reduction = Reduction.SUM if own else Reduction.BATCH
    if "loss_reduction" in arguments:
        said = module.names.qualname(arguments["loss_reduction"]) or ""
        reduction = REDUCTIONS.get(said.rpartition(".")[2], Reduction.NONE)
        if ".Reduction." not in said or reduction is Reduction.NONE:
            return None
    thresholds = _thresholds(module, arguments.get("thresholds"))
    if thresholds is None:
        return None
    classes = arguments.get("n_classes")
    if row.task is Task.CLASSES and (classes is None or not _is_steady(module, classes)):
        return None
    return _Head(row, classes, reduction, thresholds)


def _is_steady(module: Module, node: ast.expr) -> bool:
    """Whether an expression is the same wherever a function reads it."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    return all(len(module.names.bindings_of(name)) < 2 for name in names)


def _thresholds(module: Module, node: ast.expr | None) -> tuple[tuple[float, str], ...] | None:
    """The numbers of a list that is written out."""
    if node is None:
        return ()
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    numbers = [(constant(one), module.source.code(one)) for one in node.elts]
    if not all(isinstance(number, float) for number, _ in numbers):
        return None
    return tuple((number, text) for number, text in numbers if isinstance(number, float))


def _width(module: Module, node: ast.Attribute) -> str:
    """How many logits a head asks for, as it is written; empty where it is none that is known."""
    head = _head(module, node.value)
    if head is None or head.classes is None or head.row.task is Task.TWO_CLASSES:
        return "" if head is None else "1"
    return module.source.code(head.classes)


def _left_out(module: Module, gone: set[ast.AST]) -> list[Edit]:
    """Edits that take away heads and functions which only the specs needed."""
    names, found = module.names, []
    needed: dict[ast.stmt, list[ast.Name]] = {}
    for node in gone:
        name = node.value if isinstance(node, ast.Attribute) else node
        if not isinstance(name, ast.Name):
            continue
        definition = names.only_definition(name) or names.only_value(name)
        if definition is None:
            continue
        statement = definition if isinstance(definition, ast.stmt) else names.statement(definition)
        needed.setdefault(statement, []).append(name)
    for statement, used in needed.items():
        home = names.defining_scope(used[0].id, names.scope_of_name[used[0]])
        rest = []
        for mention in names.mentions(used[0].id, home) if home is not None else ():
            parent = names.parents[mention]
            if mention in used or isinstance(mention.ctx, ast.Store):
                continue
            if isinstance(parent, ast.Attribute) and parent.attr == _WIDTH:
                found.append(Edit(*module.source.span(parent), _width(module, parent)))
                continue
            rest.append(mention)
        if rest:
            continue
        if isinstance(statement, ast.FunctionDef):
            found.append(without_function(module.source, statement))
        else:
            found.append(without_paragraph(module.source, statement))
    return found
