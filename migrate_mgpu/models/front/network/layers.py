"""The calls in a network that make a layer and apply it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.recurrent import TWO_WAYS
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.network.decoders import shares_with
from migrate_mgpu.models.front.network.keras_layers import is_sensitive, layer_name
from migrate_mgpu.models.front.network.layer_calls import LayerCalls
from migrate_mgpu.models.front.network.name_scopes import Named
from migrate_mgpu.models.ir import Decoding, Layer, Recurrent, Weight, WeightDecay
from migrate_mgpu.models.properties import keras_class, normalizes, takes_training

_VERBS = ("build_", "create_", "get_", "make_", "define_")


@record(frozen=True)
class HelperCall:
    """A call of a function of the run that makes layers, and what it is given.

    ``inputs`` are the tensors, by keyword or position, ``settings`` the rest by parameter, with
    whether each is given by position. ``trains``: where the model does; else it never does.
    """

    call: ast.Call
    function: Function
    inputs: tuple[tuple[str | None, ast.expr], ...]
    settings: tuple[tuple[str, ast.expr, bool], ...]
    trains: bool = True


@record(frozen=True)
class Found:
    """A layer in a network.

    ``name`` is what its author called it, ``stem`` what it is called where nothing better is
    known. ``takes_training``: it could be told whether it trains, and its author did not.
    ``shares`` is an earlier call whose variables it has.
    """

    module: Module
    call: ast.Call
    stem: str
    name: str | None = None
    inputs: tuple[ast.expr, ...] = ()
    keywords: tuple[tuple[str, ast.expr], ...] = ()
    training: ast.expr | None = None
    takes_training: bool = False
    layer: Layer | Weight | Recurrent | Decoding | None = None
    helper: HelperCall | None = None
    decay: WeightDecay | None = None
    shares: ast.Call | None = None

    @property
    def variable(self) -> bool:
        """Whether it is a weight of the model's own."""
        return isinstance(self.layer, Weight)

    @property
    def normalizes(self) -> bool:
        """Whether it is batch normalization."""
        if isinstance(self.layer, Layer):
            return normalizes(self.layer)
        return self.kind == "BatchNormalization"

    @property
    def kind(self) -> str:
        """Keras's class of it, where it is a layer of the library's."""
        if isinstance(self.layer, Layer):
            return keras_class(self.layer)
        made = maker(self.call)
        return layer_name(self.module, made) if made is not None else ""


def find_layers(
    module: Module,
    nodes: Iterable[ast.AST],
    calls: LayerCalls,
    helpers: dict[ast.Call, HelperCall],
    regularized: bool,
    decay: WeightDecay | None = None,
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
                _snake(class_name(helper.function.name)),
                _given_name(call),
                inputs=tuple(node for key, node in helper.inputs if key is None),
                keywords=tuple((key, node) for key, node in helper.inputs if key is not None),
                helper=helper,
            )
            continue
        inline = inline_layer(module, call)
        if inline is not None:
            found[call] = replaced(inline, decay=decay)
            continue
        layer = calls.read(module, call, regularized)
        if isinstance(layer, Weight):
            if decay is not None:
                text = "the weight decay over all variables takes one that is made by hand"
                raise Refused(module, call, text, "add its tf.nn.l2_loss to the loss")
            found[call] = Found(module, call, layer.name, layer=layer)
        elif isinstance(layer, Recurrent):
            if decay is not None:
                text = "the weight decay over all variables takes those of recurrent cells"
                raise Refused(module, call, text, "add it to the loss variable by variable")
            name = _run_name(call)
            found[call] = Found(module, call, _way(call) or "rnn", name, layer.inputs, layer=layer)
        elif isinstance(layer, Decoding):
            first = shares_with(module, call)
            found[call] = Found(
                module, call, "decoder", None, layer.inputs, layer=layer, shares=first
            )
        elif layer is not None:
            averages = layer.averaging.decay if layer.averaging is not None else None
            found[call] = Found(
                module,
                call,
                LAYERS.by_kind[layer.kind].stem,
                _given_name(call),
                layer.inputs,
                keywords=(("decay", averages),) if averages is not None else (),
                training=layer.training,
                takes_training=takes_training(layer),
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
        return Named(
            found.call, ast.Constant(f"{found.helper.function.name} {own and ast.dump(own)}")
        )
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
        name = layer_name(module, call)
        if name and call not in known and module.names.statement(call) not in settings:
            text = f"how the layer `{name}` is applied cannot be analyzed"
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
    given = _given_name(made)
    return Found(module, call, stem, given, inputs, (), training, takes_training=is_sensitive(name))


def _given_name(call: ast.Call, argument: str = "name") -> str | None:
    for keyword in call.keywords:
        if keyword.arg == argument and isinstance(keyword.value, ast.Constant):
            value = keyword.value.value
            if isinstance(value, str) and value.isidentifier():
                return value
    return None


def _run_name(call: ast.Call) -> str | None:
    """What a recurrent network is called by its scope: `fw` of `scope='bidirectional_rnn/fw'`."""
    scope = next((one.value for one in call.keywords if one.arg == "scope"), None)
    text = constant(scope) if scope is not None else None
    name = text.removeprefix(f"{TWO_WAYS}/").replace("/", "_") if isinstance(text, str) else ""
    return name if name.isidentifier() else None


def _way(call: ast.Call) -> str | None:
    """`fw` of `scope='layer_%d' % n + '/fw'`: what a computed name ends with."""
    scope = next((one.value for one in call.keywords if one.arg == "scope"), None)
    end = scope.right if isinstance(scope, ast.BinOp) and isinstance(scope.op, ast.Add) else None
    value = end.value if isinstance(end, ast.Constant) else None
    word = value.strip("_/") if isinstance(value, str) else ""
    return word if word.isidentifier() else None


def class_name(name: str) -> str:
    """`cnn_model_fn` -> `CnnModel`, `build_network` -> `Network`, `model_fn_builder` -> `Model`."""
    base = name.strip("_").removesuffix("_builder").removesuffix("_fn")
    for verb in _VERBS:
        if base.startswith(verb) and len(base) > len(verb):
            base = base[len(verb) :]
    parts = [part for part in base.split("_") if part]
    return "".join(part[:1].upper() + part[1:] for part in parts) or "Model"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
