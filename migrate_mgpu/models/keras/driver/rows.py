"""What ``predict`` gives: a generator of examples in TF1, arrays of all of them in Keras."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import COMPREHENSIONS
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.models.front.estimators.parts import CANNED, EstimatorFlow
from migrate_mgpu.models.ir import DriverCall
from migrate_mgpu.models.model_plan import ModelPlan

# Calls that walk over what they get, once.
_WALKS = {
    "list",
    "tuple",
    "zip",
    "enumerate",
    "sorted",
    "map",
    "filter",
    "set",
    "sum",
    "max",
    "min",
}
_LOOPS = (ast.For, ast.While, ast.AsyncFor, ast.comprehension)
# The predictions of TensorFlow's own Estimators.
_CANNED = {"predictions", "logits", "logistic", "probabilities", "class_ids", "classes"}


def rows_of(
    call: DriverCall, flow: EstimatorFlow, model: ModelPlan, values: ValueFlow, name: str
) -> str:
    """The examples one by one, out of the arrays that the variable ``name`` holds.

    A list where the program walks over it once, an iterator as in TF1 where it does more.

    Raises:
        Refused: which of the predictions are asked for is not written out.
    """
    key = _key(call, flow, model)
    if key is None:
        text = f"dict(zip({name}, row)) for row in zip(*{name}.values())"
    else:
        quote = call.module.source.quote
        shown = f"{quote}{key}{quote}"
        text = f"{{{shown}: row}} for row in {name}[{shown}]"
    return listed(call, values, text)


def listed(call: DriverCall, values: ValueFlow, rows: str) -> str:
    """What goes through rows, as it is walked over: a list, an iterator, one that may be closed."""
    if walked_once(call, values):
        return f"[{rows}]"
    return f"({rows})" if is_closed(call, values) else f"iter([{rows}])"


def is_closed(call: DriverCall, values: ValueFlow) -> bool:
    """Whether `close()` is called, which TF1's generator has."""
    for mention in values.uses(call.module, call.node):
        assert mention.node is not None
        method = mention.module.names.parents[mention.node]
        if isinstance(method, ast.Attribute) and method.attr == "close":
            return True
    return False


def _key(call: DriverCall, flow: EstimatorFlow, model: ModelPlan) -> str | None:
    """The one prediction that is asked for; None for all of them."""
    node = call.arguments.get("predict_keys")
    if node is None:
        return None
    one = node
    if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) == 1:
        one = node.elts[0]
    found = constant(one)
    # TF1 asks whether each name is `in` it: a part of a string is.
    if isinstance(found, str) and one is node:
        known = [key for key in model.prediction_keys if isinstance(key, str) and key in found]
        if asks_for_none(call, flow, model):
            return None
        if not (flow.kind == CANNED and found in _CANNED) and known != [found]:
            found = None
    if not isinstance(found, str):
        raise Refused(
            call.module, node, "`predict_keys` of predict is not a list literal",
            "leave it out, and take the keys from the rows",
        )  # fmt: skip
    return found


def asks_for_none(call: DriverCall, flow: EstimatorFlow, model: ModelPlan) -> bool:
    """Whether none of the predictions is asked for, by a text: TF1 raises a ValueError there."""
    node = call.arguments.get("predict_keys")
    asked, known = constant(node) if node is not None else None, model.prediction_keys
    if not isinstance(asked, str) or not known or flow.kind == CANNED:
        return False
    return all(isinstance(key, str) and key not in asked for key in known)


def walked_once(call: DriverCall, values: ValueFlow) -> bool:
    """Whether what `predict` returns is gone through in one place, from start to end."""
    mentions = values.uses(call.module, call.node)
    return len(mentions) < 2 and all(_walks(call, mention) for mention in mentions)


def _walks(call: DriverCall, mention: Value) -> bool:
    names, node = mention.module.names, mention.node
    assert node is not None
    parent = names.parents[node]
    made = set(call.module.names.ancestors(call.node))
    child: ast.AST = node
    for around in names.ancestors(node):
        if isinstance(around, _LOOPS) and around not in made:
            if not (isinstance(around, (ast.For, ast.comprehension)) and around.iter is child):
                return False  # it goes on, in the second round, where the first one stopped
        if isinstance(around, COMPREHENSIONS) and around not in made:
            if child is not around.generators[0]:
                return False
        child = around
    if isinstance(parent, (ast.For, ast.comprehension, ast.Expr)):
        return True
    if isinstance(parent, ast.Call) and node is not parent.func:
        name = names.qualname(parent.func) or ""
        return name.removeprefix("builtins.") in _WALKS or name == "itertools.islice"
    return False
