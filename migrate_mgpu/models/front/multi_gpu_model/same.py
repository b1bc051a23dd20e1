"""What of a copied model does in TF2, under a strategy, what it did in TF1; all else is refused."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import Note
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.api.keras import LOSSES
from migrate_mgpu.api.optimizers import KERAS_OPTIMIZERS
from migrate_mgpu.core.findings import EVALUATION
from migrate_mgpu.models.front.multi_gpu_model.building import keras

# Optimizers with the same steps in TF 1.15 and TF2; those of standalone Keras without Adagrad's
# first accumulator.
_OPTIMIZERS = {"adam", "sgd"}
_OF_TENSORFLOW = {name.rpartition(".")[2].lower() for name in KERAS_OPTIMIZERS.by_name}
_LOSSES = {name.rpartition(".")[2] for name in LOSSES.by_name}
_MEANS = {"mean", "reduce_mean", "sum", "reduce_sum"}
_KEYWORDS = {
    "activity_regularizer": "adds up the copies' terms in TF1, and takes their mean in TF2",
    "stateful": "keeps a state for each place in a batch, and copies have several",
    "clipnorm": "clips each replica's gradients in Keras 3, and the whole batch's in TF1",
    "clipvalue": "clips each replica's gradients in Keras 3, and the whole batch's in TF1",
    "target_tensors": "feeds tensors of a graph",
    "amsgrad": "was not compared with TF1's",
}
# 1.15's recurrent activation is the hard sigmoid, which Keras 3 calculates in another way; its
# GRU resets the state before the product.
_RECURRENT = {"LSTM", "GRU", "ConvLSTM2D", "CuDNNLSTM", "CuDNNGRU"}
_MASKED = {"Masking"}


def reach(*modules: Module) -> list[Module]:
    """Some modules, and what they import of the run."""
    found = list(dict.fromkeys(modules))
    for one in found:
        found += [other for other in one.imported if other not in found]
    return found


def check_parts(modules: list[Module]) -> None:
    """Looks at layers and optimizers, by their names.

    Raises:
        Refused: one of them is another thing in TF2, or on several replicas.
    """
    for module in modules:
        for call in module.names.calls:
            name = keras(module.names.qualname(call.func) or "")
            short = name.rpartition(".")[2]
            given = {k.arg: k.value for k in call.keywords}
            for keyword, text in _KEYWORDS.items():
                value = given.get(keyword)
                if value is not None and constant(value) not in (False, 0):
                    if not (isinstance(value, ast.Constant) and value.value is None):
                        raise Refused(module, value, f"`{keyword}` {text}", "leave it out first")
            if name.startswith("layers.") and short in _RECURRENT:
                inner = given.get("recurrent_activation", ast.Constant(None))
                if short != "LSTM" or constant(inner) != "sigmoid":
                    raise Refused(
                        module, call, f"`{short}` computes something different in TF2",
                        "an LSTM with recurrent_activation='sigmoid' is the same",
                    )  # fmt: skip
            mask = given.get("mask_zero")
            if short in _MASKED or (mask is not None and constant(mask) is not False):
                raise Refused(
                    module, call, "masks on several replicas were not compared with TF1's",
                    "leave the mask out",
                )  # fmt: skip
        for node in module.names.attributes.get("add_loss", ()):
            raise Refused(
                module, node, "`add_loss` adds up the copies' terms in TF1, and takes their mean "
                "in TF2", "put it into the compiled loss",
            )  # fmt: skip
        for method in ("make_one_shot_iterator", "make_initializable_iterator"):
            for node in module.names.attributes.get(method, ()):
                raise Refused(module, node, f"`{method}` is TF1's", "give fit the dataset itself")


def check_compiled(
    module: Module,
    values: ValueFlow,
    call: ast.Call,
    mended: Callable[[Module, ast.expr], bool],
) -> list[Note]:
    """Looks at a call of ``compile``; what its owner is to know about metrics.

    Args:
        mended: whether an optimizer whose arithmetic TF2 changed gets the old one.

    Raises:
        Refused: its optimizer or its loss is not known to do the same.
    """
    given = by_parameter(call, ("optimizer", "loss", "metrics"))
    if "**" in given:
        raise Refused(module, call, "what this model is compiled with cannot be determined")
    if "optimizer" in given:
        for where, optimizer in _definitions(values, module, given["optimizer"]):
            _optimizer(where, optimizer, mended)
    if "loss" in given:
        for where, loss in _parts(values, module, given["loss"]):
            _loss(where, values.graph, loss)
    notes: list[Note] = []
    for where, metric in _parts(values, module, given["metrics"]) if "metrics" in given else ():
        named = where.names.qualname(metric) or ""
        if constant(metric) is None and not keras(named) and not isinstance(metric, ast.Call):
            text = "of a metric function Keras reports the mean over the GPUs' parts of a batch"
            notes.append(Note(where, metric, text, EVALUATION))
    return notes


def _definitions(
    values: ValueFlow, module: Module, node: ast.expr
) -> Iterator[tuple[Module, ast.expr]]:
    for value in values.definitions(module, node):
        yield value.module, value.node if value.node is not None else node


def _parts(values: ValueFlow, module: Module, node: ast.expr) -> Iterator[tuple[Module, ast.expr]]:
    """What a loss or metrics consist of: members of lists and dictionaries."""
    for where, one in _definitions(values, module, node):
        if isinstance(one, (ast.List, ast.Tuple, ast.Dict)):
            for member in one.values if isinstance(one, ast.Dict) else one.elts:
                yield from _parts(values, where, member)
        else:
            yield where, one


def _optimizer(module: Module, node: ast.expr, mended: Callable[[Module, ast.expr], bool]) -> None:
    short, standalone = str(constant(node) or ""), _is_standalone(module)
    if isinstance(node, ast.Call):
        qualname = module.names.qualname(node.func) or ""
        if keras(qualname).startswith("optimizers."):
            short, standalone = qualname.rpartition(".")[2], qualname.startswith("keras.")
    known = _OPTIMIZERS if standalone else _OF_TENSORFLOW
    if short.lower() == "rmsprop":
        if mended(module, node):
            return
        raise Refused(
            module, node, "RMSprop: TF1 adds epsilon to the root of the mean squares, TF2 to "
            "the mean squares", "train with another optimizer, or compare by parity",
        )  # fmt: skip
    if short.lower() not in known:
        shown = module.source.code(node)
        raise Refused(
            module, node, f"`{shown}` is not known to be the same optimizer in TF2",
            "give the model Adam or SGD of Keras",
        )  # fmt: skip


def _is_standalone(module: Module) -> bool:
    return any(name.startswith("keras") for name in module.keras_names)


def _loss(module: Module, graph: CallGraph, node: ast.expr) -> None:
    named = constant(node)
    if isinstance(named, str) and named in _LOSSES and named.islower():
        return
    made = node.func if isinstance(node, ast.Call) else node
    short = keras(module.names.qualname(made) or "").rpartition(".")[2]
    if short in _LOSSES and short[0].isupper() == isinstance(node, ast.Call):
        reduced = isinstance(node, ast.Call) and any(k.arg == "reduction" for k in node.keywords)
        if not reduced:
            return
    function = graph.target(module, node)
    if function is not None and isinstance(function.node, ast.FunctionDef):
        if _by_example(function.module, function.node):
            return
    shown = module.source.code(node)
    raise Refused(
        module, node, f"the loss `{shown}` may not be one number for each example: a strategy "
        "calculates it of every GPU's part of a batch", "return K.mean(..., axis=-1)",
    )  # fmt: skip


def _by_example(module: Module, function: ast.FunctionDef) -> bool:
    """Whether a loss function's value is plainly one number for each example."""
    returns = [part for part in ast.walk(function) if isinstance(part, ast.Return)]
    if len(returns) != 1 or not isinstance(returns[0].value, ast.Call):
        return False
    call = returns[0].value
    if keras(module.names.qualname(call.func) or "").rpartition(".")[2] in _LOSSES:
        return not _reduces(function, call)
    name = (module.names.qualname(call.func) or "").rpartition(".")[2]
    axis = next((k.value for k in call.keywords if k.arg == "axis"), None)
    axis = call.args[1] if axis is None and len(call.args) > 1 else axis
    if name not in _MEANS or axis is None or constant(axis) != -1:
        return False
    return not _reduces(function, call)


def _reduces(function: ast.FunctionDef, last: ast.Call) -> bool:
    """Whether something but the last step may reduce the batch."""
    known = {"abs", "square", "log", "exp", "pow", "cast", "epsilon", "clip", "maximum", "minimum",
             "clip_by_value", "squared_difference", "sqrt"}  # fmt: skip
    for part in ast.walk(function):
        if isinstance(part, ast.Call) and part is not last:
            name = part.func.attr if isinstance(part.func, ast.Attribute) else ""
            if name not in known:
                return True
    return False
