"""The constructors of a network's layers as text, where a class or a Sequential makes them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.api.recurrent import DECODER_CLASS
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.network.layers import Found, maker
from migrate_mgpu.models.ir import Decoding, Recurrent, Weight, WeightDecay
from migrate_mgpu.models.keras.constructors import cell_class_name, made_edits, weight_arguments
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.network.classes import HelperClasses


@record(frozen=True)
class Making:
    """What makes a layer otherwise than its row says: another class, or other settings."""

    function: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


_AS_IT_IS = Making()


def constructor(
    found: Found, context: Context, column: int, base: str, making: Making = _AS_IT_IS
) -> str:
    """A layer's constructor as it stands behind ``column`` characters of a line.

    ``base`` is the indentation of that line.
    """
    source = found.module.source
    made, more, style = maker(found.call), _regularizers(found, context), context.style
    settings: dict[str, str] = {}
    if found.layer is None and made is not None:  # tf.keras.layers.Dense(10)(net)
        edits = context.made(made, more) if more else context.edits(made)
        text = context.render_call(made, edits, column, base)
    else:
        assert found.layer is not None
        if isinstance(found.layer, Decoding):
            parts = [context.render(found.layer.cell), context.render(found.layer.layer)]
            return f"{cell_class_name(found.module, DECODER_CLASS)}({', '.join(parts)})"
        settings.update({**more, **making.settings})
        edits = made_edits(found.layer, style, settings, making.function, context.render)
        text = context.render_call(found.call, edits, column, base)
    if isinstance(found.layer, Weight) and "#" not in source.code(found.call):
        first, *rest = text.split("\n")
        if max(column + len(first), *map(len, rest), 0) > style.width:
            name = settings.get("name", "")
            arguments = weight_arguments(found.layer, context.style, context.render, base, name)
            return style.call("self.add_weight", arguments, base, column)
    attends = isinstance(found.layer, Recurrent) and found.layer.memory is not None
    return style.fitted(text, base, column, nested=attends) if more or attends else text


def helper_constructor(found: Found, classes: HelperClasses, context: Context) -> str:
    """The constructor of the class that a function of the run became."""
    assert found.helper is not None
    function = found.helper.function
    parameters = classes.of(function).parameters
    given, by_position = [], True
    for name, value, positional in found.helper.settings:
        if name not in parameters:
            by_position = False
            continue
        by_position = by_position and positional
        text = context.render(value)
        given.append(text if by_position else f"{name}={text}")
    return f"{classes.spelled(found.module, found.call, function)}({', '.join(given)})"


def _regularizers(found: Found, context: Context) -> dict[str, str]:
    """What a decay over all variables comes to in one layer.

    Raises:
        Refused: it is a layer whose weights are not known.
    """
    decay, kind = found.decay, found.kind
    if decay is None:
        return {}
    if kind.startswith(("Dense", "Conv")):
        made = maker(found.call) or found.call
        bias = next((k.value for k in made.keywords if k.arg == "use_bias"), None)
        none = isinstance(bias, ast.Constant) and bias.value is False
        own = ["kernel"] if none else ["kernel", "bias"]
    elif found.normalizes:
        own = ["gamma", "beta"]
    elif kind.startswith(("Flatten", "Dropout", "MaxPool", "Average")):
        own = []
    else:
        text = f"the weight decay over all variables has no form for a {found.stem}"
        raise Refused(decay.module, decay.node, text, "give the layers their regularizers")
    text = f"{context.tf}.keras.regularizers.L2({_half(decay, context)})"
    return {f"{name}_regularizer": text for name in own if name in decay.weights}


def _half(decay: WeightDecay, context: Context) -> str:
    """tf.nn.l2_loss is half of the sum of squares."""
    factor = decay.factor
    if factor is None:
        return "0.5"
    if isinstance(factor, ast.Constant) and isinstance(factor.value, (int, float)):
        return repr(factor.value / 2)
    text = context.render(factor)
    simple = isinstance(factor, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    return f"{text} / 2" if simple else f"({text}) / 2"
