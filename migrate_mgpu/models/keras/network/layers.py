"""The calls in a network that make a layer and apply it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.keras.expressions import LAYERS, Context, rule
from migrate_mgpu.models.keras.model.decay import Decay, with_arguments
from migrate_mgpu.models.keras.network.scopes import Named
from migrate_mgpu.models.types import Layer
from migrate_mgpu.source import layout
from migrate_mgpu.source.blocks import outermost, render


@record(frozen=True)
class Helper:
    """A call of a function of the run that becomes a class of its own."""

    call: ast.Call
    name: str  # of the class, as the caller's module reaches it
    stem: str
    inputs: tuple[tuple[str | None, ast.expr], ...]  # tensors, by keyword or position
    settings: tuple[tuple[str, ast.expr, bool], ...]  # the last: whether by position
    trains: bool


@record(frozen=True)
class Found:
    """A layer in a network.

    ``name`` is what its author called it. ``trains``: it is told whether the model
    trains; ``takes_training``: it could be told, and its author did not.
    """

    module: Module
    call: ast.Call
    stem: str
    name: str | None = None
    inputs: tuple[ast.expr, ...] = ()
    keywords: tuple[tuple[str, ast.expr], ...] = ()
    training: ast.expr | None = None
    takes_training: bool = False
    trains: bool = False
    layer: Layer | None = None
    helper: Helper | None = None
    parameters: tuple[str, ...] = ()  # of the helper's class
    decay: Decay | None = None

    @property
    def variable(self) -> bool:
        """Whether it is a weight of the model's own."""
        return self.layer is not None and self.layer.variable

    def make(self, context: Context, column: int, base: str) -> str:
        """The constructor's text, as it stands behind ``column`` characters of a line."""
        if self.helper is not None:
            given, by_position = [], True
            for name, value, positional in self.helper.settings:
                if name not in self.parameters:
                    by_position = False
                    continue
                by_position = by_position and positional
                text = context.render(value)
                given.append(text if by_position else f"{name}={text}")
            return f"{self.helper.name}({', '.join(given)})"
        text = self._constructor(context, column, base)
        return with_arguments(text, self._decay(context), self.module.source, column, base)

    def _decay(self, context: Context) -> list[str]:
        """The regularizers that a decay over all variables comes to."""
        if self.decay is None:
            return []
        made = maker(self.call) or self.call
        given = {keyword.arg: keyword.value for keyword in made.keywords}
        bias = given.get("use_bias")
        uses_bias = not (isinstance(bias, ast.Constant) and bias.value is False)
        return self.decay.arguments(self.stem, context, uses_bias)

    def _constructor(self, context: Context, column: int, base: str) -> str:
        source = self.module.source
        made = maker(self.call)
        if self.layer is None and made is not None:  # tf.keras.layers.Dense(10)(net)
            return context.render(made, column, base)
        assert self.layer is not None
        edits = list(self.layer.edits)
        for argument in [*self.call.args, *(k.value for k in self.call.keywords)]:
            start, end = source.span(argument)
            if not any(e.start <= start and end <= e.end for e in edits if e.end > e.start):
                edits += context.edits(argument)
        text = render(source, self.call, outermost(edits), column, base)
        first, *rest = text.split("\n")
        long = max(column + len(first), *map(len, rest), 0) > layout.width_of(source)
        if not (self.variable and long) or "#" in text:
            return text
        weight = ast.parse(text, mode="eval").body
        assert isinstance(weight, ast.Call)
        pieces = [ast.get_source_segment(text, keyword) or "" for keyword in weight.keywords]
        return layout.call(source, "self.add_weight", pieces, base, column)


def find_layers(
    module: Module,
    nodes: Iterable[ast.AST],
    tf: str,
    helpers: dict[ast.Call, Helper],
    regularized: bool,
    decay: Decay | None = None,
) -> dict[ast.Call, Found]:
    """Every layer among the nodes.

    Raises:
        Refused: a layer has an argument that Keras's has not.
    """
    found: dict[ast.Call, Found] = {}
    for call in nodes:
        if not isinstance(call, ast.Call):
            continue
        if call in helpers:
            helper = helpers[call]
            found[call] = Found(
                module,
                call,
                helper.stem,
                _given_name(call),
                inputs=tuple(node for key, node in helper.inputs if key is None),
                keywords=tuple((key, node) for key, node in helper.inputs if key is not None),
                trains=helper.trains,
                helper=helper,
            )
            continue
        inline = inline_layer(module, call)
        if inline is not None:
            found[call] = replaced(inline, decay=decay)
            continue
        layer = rule(LAYERS).layer(module, call, tf, regularized)
        if layer is not None and layer.variable:
            if decay is not None:
                text = "the weight decay over all variables takes one that is made by hand"
                raise Refused(module, call, text, "add its tf.nn.l2_loss to the loss")
            found[call] = Found(module, call, layer.stem, layer=layer)
        elif layer is not None:
            if layer.recurrent and decay is not None:
                text = "the weight decay over all variables takes those of recurrent cells"
                raise Refused(module, call, text, "add it to the loss variable by variable")
            found[call] = Found(
                module,
                call,
                layer.stem,
                _given_name(call, "scope" if layer.recurrent else "name"),
                layer.inputs,
                training=layer.training,
                takes_training=layer.takes_training,
                layer=layer,
                decay=decay,
            )
    return found


def named(found: Found) -> Named:
    """A layer with its name in TF1; of a function's class the name is the function's, too."""
    arguments: dict[str | None, ast.expr] = {k.arg: k.value for k in found.call.keywords}
    if found.helper is not None:
        given = {name: value for name, value, _ in found.helper.settings}
        own = next((given[name] for name in ("name", "scope") if name in given), None)
        if own is not None and not isinstance(own, ast.Constant):
            return Named(found.call, own)
        return Named(found.call, ast.Constant(f"{found.helper.name} {own and ast.dump(own)}"))
    if found.variable and found.call.args:
        arguments.setdefault("name", found.call.args[0])
    return Named(found.call, arguments.get("name", arguments.get("scope")))


def maker(call: ast.Call) -> ast.Call | None:
    """The constructor in `Dense(10)(net)` and `Dense(10).apply(net)`."""
    made = call.func
    if isinstance(made, ast.Attribute) and made.attr in ("apply", "__call__", "call"):
        made = made.value
    return made if isinstance(made, ast.Call) else None


def check_all_found(
    module: Module, calls: Iterable[ast.Call], found: dict[ast.Call, Found], settings: set[ast.stmt]
) -> None:
    """Every layer of the network is one that was found, or a setting's value.

    Raises:
        Refused: a layer that would be made anew in every call of the model.
    """
    known = {made for call in found if (made := maker(call)) is not None} | set(found)
    for call in calls:
        qualname = module.names.qualname(call.func) or ""
        head, _, name = qualname.rpartition(".")
        if not (head.endswith(("keras.layers", ".layers")) and name[:1].isupper()):
            continue
        if call not in known and module.names.statement(call) not in settings:
            text = f"how the layer `{name}` is applied is not followed"
            raise Refused(module, call, text, "apply it where it is made, or keep it in a variable")


def inline_layer(module: Module, call: ast.Call) -> Found | None:
    """The layer of `tf.keras.layers.Dense(10)(net)`: made where it is applied."""
    made = maker(call)
    if made is None:
        return None
    qualname = module.names.qualname(made.func) or ""
    head, _, name = qualname.rpartition(".")
    if not head.endswith(("keras.layers", "tensorflow.layers", "tensorflow.compat.v1.layers")):
        return None
    if len(call.args) != 1:
        raise Refused(module, call, f"{name} is applied to more than one value")
    training = None
    for keyword in call.keywords:
        if keyword.arg != "training":
            raise Refused(module, call, f"{name} is applied with `{keyword.arg}`")
        training = keyword.value
    parts = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    stem = re.sub(r"([a-z])([A-Z])", r"\1_\2", parts).lower()  # as Keras names its layers
    inputs = tuple(call.args)
    sensitive = any(word in name for word in ("Dropout", "BatchNormalization", "Noise"))
    return Found(
        module, call, stem, _given_name(made), inputs, (), training, takes_training=sensitive
    )


def _given_name(call: ast.Call, argument: str = "name") -> str | None:
    for keyword in call.keywords:
        if keyword.arg == argument and isinstance(keyword.value, ast.Constant):
            value = keyword.value.value
            if isinstance(value, str) and value.isidentifier():
                return value
    return None
