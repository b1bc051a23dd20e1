"""Which head a canned Estimator has: its class says it, or the head that it is given.

Measured on 1.15.5: a head of its own takes the mean of a batch as its loss, the classes'
own ones the sum; weights count in every metric.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import bind
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.reaching_definitions import assigned
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.canned.column_names import changes
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.keras.canned.heads import BINARY, CLASSES, REGRESSION, Head
from migrate_mgpu.models.keras.driver.drive import text_of
from migrate_mgpu.source.style import FileStyle

_ADVICE = "write its model in Keras"
_MEANS = ("SUM_OVER_BATCH_SIZE", "SUM_BY_NONZERO_WEIGHTS", "MEAN", "SUM_OVER_NONZERO_WEIGHTS")
_LAST = ("loss_reduction", "loss_fn", "name")
_KINDS = {
    "BinaryClassHead": (BINARY, ("weight_column", "thresholds", "label_vocabulary", *_LAST)),
    "MultiClassHead": (CLASSES, ("n_classes", "weight_column", "label_vocabulary", *_LAST)),
    "RegressionHead": (
        REGRESSION,
        ("label_dimension", "weight_column", *_LAST[:2], "inverse_link_fn", "name"),
    ),
    "binary_classification_head": (
        BINARY, ("weight_column", "thresholds", "label_vocabulary", *_LAST),
    ),
    "multi_class_head": (CLASSES, ("n_classes", "weight_column", "label_vocabulary", *_LAST)),
    "regression_head": (
        REGRESSION,
        ("weight_column", "label_dimension", *_LAST[:2], "inverse_link_fn", "name"),
    ),
}  # fmt: skip
_REFUSED = ("thresholds", "loss_fn", "inverse_link_fn", "name")


@record()
class GivenHead:
    """A head; ``number`` is its n_classes as the model is given it, if it is.

    ``chosen``: the program says how its loss sums up. ``statements`` gave the head a
    variable, which goes with it; ``gone`` are TF1's own nodes.
    """

    head: Head
    number: str = ""
    chosen: bool = True
    statements: list[ast.stmt] = field(default_factory=list)
    gone: set[ast.AST] = field(default_factory=set)


def read_head(flow: EstimatorFlow, style: FileStyle) -> GivenHead:
    """The head of an Estimator.

    Raises:
        Refused: a head, or something that it is given, which is not known.
    """
    module = flow.module
    if not flow.class_name.endswith("Estimator"):
        kind = REGRESSION if flow.class_name.endswith("Regressor") else CLASSES
        chosen = "loss_reduction" in flow.arguments
        return _read(flow, flow.class_name, kind, flow.arguments, style, not chosen, chosen)
    node = flow.arguments.get("head")
    if node is None:
        raise Refused(module, flow.call, "an Estimator without a head")
    statements: list[ast.stmt] = []
    call: ast.expr = node
    if isinstance(node, ast.Name):
        bindings = module.names.bindings_of(node)
        statement = module.names.statement(bindings[0].node) if len(bindings) == 1 else None
        if isinstance(statement, ast.Assign) and bindings[0].value is not None:
            statements, call = [statement], bindings[0].value
    name = tensorflow_name(module, call.func) if isinstance(call, ast.Call) else ""
    place, _, last = name.rpartition(".")
    if place not in ("estimator", "contrib.estimator") or last not in _KINDS:
        shown = module.source.code(call.func if isinstance(call, ast.Call) else call)
        raise Refused(module, node, f"the head `{shown}`", _ADVICE)
    assert isinstance(call, ast.Call)
    kind, signature = _KINDS[last]
    arguments = bind(module, call, signature)
    found = _read(flow, last, kind, arguments, style, sums=False, chosen=True)
    found.statements, found.gone = statements, set(ast.walk(call))
    return found


def _read(
    flow: EstimatorFlow,
    shown: str,
    kind: str,
    arguments: dict[str, ast.expr],
    style: FileStyle,
    sums: bool,
    chosen: bool,
) -> GivenHead:
    module = flow.module
    for name in _REFUSED:
        if name in arguments and not is_none(arguments[name]):
            raise Refused(module, arguments[name], f"`{name}` of a {shown}", _ADVICE)
    weights = _weights(flow, shown, arguments, style)
    words = _words(flow, shown, arguments)
    reduction = arguments.get("loss_reduction")
    if reduction is not None:
        last = tensorflow_name(module, reduction).rpartition(".")[2]
        if last not in ("SUM", *_MEANS):
            raise Refused(module, reduction, "which loss_reduction this is cannot be told")
        if weights and last not in ("SUM", "SUM_OVER_BATCH_SIZE"):
            raise Refused(module, reduction, "a loss that is divided by its weights", _ADVICE)
        sums = last == "SUM"
    if kind == REGRESSION:
        dimension = arguments.get("label_dimension")
        if dimension is not None and constant(dimension) != 1:
            raise Refused(module, dimension, "a regression of several numbers", _ADVICE)
        return GivenHead(Head(REGRESSION, sums, weights), chosen=chosen)
    if kind == BINARY:
        return GivenHead(Head(BINARY, sums, weights, words), chosen=chosen)
    number = arguments.get("n_classes")
    value = assigned(module, number)
    known = 2 if number is None else _count(module, value)
    if not isinstance(known, int):
        raise Refused(
            module, number or flow.call, "how many classes there are cannot be told",
            "write the number out",
        )  # fmt: skip
    if known == 2 and not flow.class_name.endswith("Estimator"):
        return GivenHead(Head(BINARY, sums, weights, words), chosen=chosen)
    text = text_of(module, number) if number is not None else ""
    return GivenHead(Head(CLASSES, sums, weights, words), text, chosen)


def is_constant(module: Module, node: ast.expr) -> bool:
    """Whether a name is a variable of the module, which nothing changes."""
    if not isinstance(node, ast.Name):
        return False
    home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
    return home is not None and home.is_module and not changes(module, node)


def _weights(
    flow: EstimatorFlow, shown: str, arguments: dict[str, ast.expr], style: FileStyle
) -> str:
    """The weights of a batch's examples, as an expression of the features; mostly none."""
    node = arguments.get("weight_column")
    if node is None:
        return ""
    module = flow.module
    value = assigned(module, node)
    if value is not None and is_none(value):
        return ""
    if (
        not (isinstance(node, ast.Constant) or is_constant(module, node))
        or value is None
        or not isinstance(constant(value), str)
    ):
        raise Refused(
            module, node, f"the `weight_column` of this {shown} is no feature's key",
            "name the feature by a text, or by a constant of the module",
        )  # fmt: skip
    tf = style.tensorflow
    return f"{tf}.reshape({tf}.cast(features[{text_of(module, node)}], {tf}.float32), [-1])"


def _words(flow: EstimatorFlow, shown: str, arguments: dict[str, ast.expr]) -> str:
    """The texts that labels are, as the program writes them; mostly none."""
    node = arguments.get("label_vocabulary")
    if node is None:
        return ""
    module = flow.module
    value = assigned(module, node)
    written = value is node or is_constant(module, node)
    parts = value.elts if isinstance(value, (ast.List, ast.Tuple)) and written else []
    if not parts or not all(isinstance(constant(part), str) for part in parts):
        raise Refused(
            module, node, f"the `label_vocabulary` of this {shown} is not written out",
            "write it as a list, here or as a constant of the module",
        )  # fmt: skip
    if flow.config is not None and flow.config.train:
        raise Refused(
            module, node, "labels that are texts: Keras 3 does not give texts to several replicas",
            "make them numbers in the input function",
        )  # fmt: skip
    return text_of(module, node)


def _count(module: Module, node: ast.expr | None) -> object:
    """A number that is written out, or `len` of a list that is; else None."""
    if isinstance(node, ast.Call) and module.names.qualname(node.func) == "builtins.len":
        listed = node.args[0] if len(node.args) == 1 else None
        words = assigned(module, listed)
        if isinstance(words, (ast.List, ast.Tuple)) and listed is not None:
            fixed = is_constant(module, listed) and not any(
                isinstance(word, ast.Starred) for word in words.elts
            )
            return len(words.elts) if fixed else None
    return constant(node)
