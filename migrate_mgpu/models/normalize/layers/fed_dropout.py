"""Dropout layers whose rate is computed, as the function that takes any tensor for a rate.

`tf.contrib.layers.dropout(x, keep_prob)`, of a placeholder, becomes `tf.nn.dropout(x, keep_prob)`,
and `tf.layers.dropout(x, rate, training=True)` the same of `rate=rate`. A layer of Keras takes a
number when it is made. Those that are told by a tensor whether they train stay layers.

A rate that is `tf.constant(0.75)` by an only name is that number.

`tf.layers.dropout(x, 0.5, is_training)` gives that as the shape of its noise, and never drops
anything: without it, it does the same.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit

_CONTRIB = (
    "inputs", "keep_prob", "noise_shape", "is_training", "outputs_collections", "scope", "seed",
)  # fmt: skip
_LAYERS = ("inputs", "rate", "noise_shape", "seed", "training", "name")
# By names: the parameters, the one that says whether it trains and what it is by default, and
# what those that the function has as well are called there.
_FORMS = {
    **dict.fromkeys(
        ("contrib.layers.dropout", "contrib.slim.dropout"),
        (_CONTRIB, "is_training", True, {"keep_prob": "keep_prob", "scope": "name"}),
    ),
    "layers.dropout": (_LAYERS, "training", False, {"rate": "rate", "name": "name"}),
}
_SAME = ("noise_shape", "seed")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits; none where no such layer has a rate that is computed."""
    if any("arg_scope" in use.symbol.name for use in module.uses):
        return []  # it may say more than the call
    found: list[Edit] = []
    for name, calls in calls_of_names(module).items():
        for call in calls if name in _FORMS else ():
            number = _number(module, call, name)
            text = _written(module, call, name) if number is None else None
            if number is not None:
                found.append(number)
            elif text is not None:
                found.append(Edit(*module.source.span(call), text))
            elif name == "layers.dropout":
                found += _without_noise(module, call)
    return found


def _number(module: Module, call: ast.Call, name: str) -> Edit | None:
    """The edit for a rate that is a constant of the graph, of a number."""
    parameters, _, _, names = _FORMS[name]
    rate = by_parameter(call, parameters).get("rate" if "rate" in names else "keep_prob")
    made = module.names.only_value(rate) if isinstance(rate, ast.Name) else None
    if rate is None or not isinstance(made, ast.Call) or name_of(module, made) != "constant":
        return None
    if len(made.args) != 1 or made.keywords or not isinstance(constant(made.args[0]), float):
        return None
    return Edit(*module.source.span(rate), module.source.code(made.args[0]))


def _written(module: Module, call: ast.Call, name: str) -> str | None:
    parameters, told, trains, names = _FORMS[name]
    given = by_parameter(call, parameters)
    rate = given.get("rate" if "rate" in names else "keep_prob")
    if any(isinstance(one, ast.Starred) for one in call.args) or "inputs" not in given:
        return None
    if rate is None or constant(rate) is not None or not given.keys() <= {*parameters}:
        return None
    tensorflow = spelling(module, call)
    if (constant(given[told]) if told in given else trains) is not True or not tensorflow:
        return None
    code = module.source.code
    arguments = [code(given["inputs"])]
    for parameter in parameters[1:]:
        new = names.get(parameter, parameter if parameter in _SAME else "")
        if new and parameter in given:
            positional = new == "keep_prob" and len(arguments) == 1
            value = code(given[parameter])
            arguments.append(value if positional else f"{new}={value}")
    return f"{tensorflow}.nn.dropout({', '.join(arguments)})"


def _without_noise(module: Module, call: ast.Call) -> list[Edit]:
    """The edit for the shape of noise that a layer which never trains is given: none is drawn."""
    given = by_parameter(call, _LAYERS)
    shape = given.get("noise_shape")
    if not isinstance(shape, ast.Name) or any(isinstance(one, ast.Starred) for one in call.args):
        return []
    if any(keyword.arg is None for keyword in call.keywords) or not given.keys() <= {*_LAYERS}:
        return []
    if "training" in given and constant(given["training"]) is not False:
        return []
    if shape in call.args and len(call.args) > 1 + call.args.index(shape):
        return []  # what stands behind it would be the shape then
    edit = CallEdit(module.source, call)
    edit.drop_value(shape)
    return [*edit.edits()]
