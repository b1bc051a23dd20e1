"""A class of the author's that is a network: layers in `__init__`, their use in `__call__`.

It becomes a Keras model with what it has: `__call__` is `call`, the layers of tf.layers are
Keras's, and what trains is told so. A class that already is a Keras model is checked alike.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.network.keras_layers import (
    check_layer,
    is_sensitive,
    layer_name,
    makes_model,
)
from migrate_mgpu.models.front.network.layer_calls import LayerCalls
from migrate_mgpu.models.front.network.layers import Found, find_layers
from migrate_mgpu.models.front.network.reserved import KERAS_OWN

_CALLS = ("call", "__call__")
OWN_CLASS = "class-in-a-network"  # the key of what stands in the way of one


@record()
class NetworkClass:
    """A class of the run that is a network.

    ``training`` is the parameter of its call that tells whether it trains, ``default`` its
    default. ``normalizes``: it has batch normalization of tf.layers. ``keras``: it is a Keras
    model already. ``layers`` are those that its call makes, ``sensitive`` its attributes that
    are layers, with whether each must be told if it trains.
    """

    module: Module
    node: ast.ClassDef
    call: ast.FunctionDef
    init: ast.FunctionDef | None
    training: str | None = None
    parameters: list[str] = field(default_factory=list)  # of its call, the input first
    default: bool = False
    normalizes: bool = False
    keras: bool = False
    sensitive: dict[str, bool] = field(default_factory=dict)
    layers: dict[ast.Call, Found] = field(default_factory=dict)


# What a list is made by, or another collection that may have layers in it.
_COLLECTIONS = (
    ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp,
    ast.GeneratorExp,
)  # fmt: skip


def is_collection(node: ast.expr) -> bool:
    """Whether an expression makes a list, or something else that may have layers in it."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("list", "dict", "tuple")
    return isinstance(node, _COLLECTIONS)


def keeps_collections(node: ast.ClassDef) -> bool:
    """Whether an attribute of a class's objects is a list, or something like it."""
    return any(
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
        and is_collection(part.value)
        for part in walk(node)
        if isinstance(part, ast.Assign)
        for target in part.targets
    )


def read_network_class(
    module: Module, node: ast.ClassDef, calls: LayerCalls, regularized: bool
) -> NetworkClass:
    """A class of the run as a network.

    Raises:
        Refused: it does more than to keep layers and to apply them.
    """
    return _Reader(module, node, calls, regularized).read()


class _Reader:
    def __init__(
        self, module: Module, node: ast.ClassDef, calls: LayerCalls, regularized: bool
    ) -> None:
        self.module = module
        self.node = node
        self.calls = calls
        self.regularized = regularized
        self.methods = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}

    def read(self) -> NetworkClass:
        module, node = self.module, self.node
        bases = [module.names.qualname(base) or "" for base in node.bases]
        keras = any(b.endswith(("keras.Model", "keras.models.Model")) for b in bases)
        plain = not bases or bases in (["object"], ["builtins.object"])
        if not (plain or (keras and len(bases) == 1)) or node.decorator_list or node.keywords:
            self._refuse(node, f"`{node.name}` is made of other classes")
        for statement in node.body:
            known = isinstance(statement, (ast.FunctionDef, ast.Assign, ast.AnnAssign))
            if not known and not _is_text(statement):
                self._refuse(statement, f"`{node.name}` does more than to keep layers")
        for name, method in self.methods.items():
            if name not in ("__init__", *_CALLS) or method.decorator_list:
                text = f"`{node.name}.{name}` is more than the layers of a network and their use"
                self._refuse(method, text)
        calls = [self.methods[name] for name in _CALLS if name in self.methods]
        if len(calls) != 1:
            self._refuse(node, f"`{node.name}` has no `__call__` that applies its layers")
        if keras and "__call__" in self.methods:
            self._refuse(calls[0], "a Keras model with its own `__call__`")
        self.call = calls[0]
        self.init = self.methods.get("__init__")
        self.found = NetworkClass(module, node, self.call, self.init, keras=keras)
        self._attributes()
        self._signature()
        self._layers_of_the_call()
        return self.found

    def _refuse(self, node: ast.AST, reason: str) -> None:
        advice = "make it a function, or a Keras model"
        raise Refused(self.module, node, reason, advice, OWN_CLASS)

    def _attributes(self) -> None:
        """What `__init__` keeps, and which of it must be told whether it trains."""
        names = self.module.names
        for part in walk(self.node):
            if not isinstance(part, ast.Attribute) or not isinstance(part.ctx, ast.Store):
                continue
            if not isinstance(part.value, ast.Name) or part.value.id != "self":
                continue
            if self.init is None or self.init not in names.ancestors(part):
                self._refuse(part, f"`self.{part.attr}` changes as the network runs")
            if part.attr in KERAS_OWN and not self.found.keras:
                self._refuse(part, f"`{part.attr}` is an attribute of every Keras model")
            statement = names.parents[part]
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                self._attribute(part.attr, statement.value)
        for call in (c for c in walk(self.node) if isinstance(c, ast.Call)):
            name = layer_name(self.module, call)
            if name:
                self._layer(call, name)
            qualname = names.qualname(call.func) or ""
            if ".slim." in qualname or qualname.endswith(("get_variable", ".Variable")):
                self._refuse(call, "a variable that the network's class makes itself")

    def _attribute(self, name: str, value: ast.expr) -> None:
        made = layer_name(self.module, value)
        if made:
            self.found.sensitive[name] = is_sensitive(made)
        elif makes_model(self.module, value):
            inner = [layer_name(self.module, part) for part in walk(value)]
            self.found.sensitive[name] = any(is_sensitive(part) for part in inner)

    def _layer(self, call: ast.Call, name: str) -> None:
        """A layer of Keras's is the same in TF2; one of tf.layers is kept in an attribute."""
        qualname = self.module.names.qualname(call.func) or ""
        parent = self.module.names.parents[call]
        if "keras.layers" in qualname:
            check_layer(self.module, call)
        elif any(k.arg is None or k.arg.endswith("regularizer") for k in call.keywords):
            self._refuse(call, f"the regularizer of `{name}` in a network's class")
        elif name == "BatchNormalization":
            self.found.normalizes = True
        if not is_sensitive(name):
            return
        kept = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Attribute)
        inside = any(makes_model(self.module, part) for part in self.module.names.ancestors(call))
        if not kept and not inside:
            self._refuse(call, f"`{name}` is stored where its use cannot be analyzed")

    def _signature(self) -> None:
        arguments = self.call.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            self._refuse(self.call, f"the call of `{self.node.name}` takes `*` or `**`")
        every = [*arguments.args[1:], *arguments.kwonlyargs]
        names = [a.arg for a in every]
        told = [name for name in names if name in ("training", "is_training", "train")]
        if not names or len(told) > 1:
            self._refuse(self.call, f"the call of `{self.node.name}` cannot be analyzed")
        self.found.training = told[0] if told else None
        if (
            told
            and told[0] != "training"
            and any(isinstance(n, ast.Name) and n.id == "training" for n in walk(self.call))
        ):
            self._refuse(self.call, "two parameters tell whether the network trains")
        self.found.parameters = [a.arg for a in arguments.args[1:]]
        defaults = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults))
        if told and told[0] in defaults:
            value = defaults[told[0]]
            if not isinstance(value, ast.Constant):
                self._refuse(
                    value, "whether the network is in training mode is not stated explicitly"
                )
            assert isinstance(value, ast.Constant)
            self.found.default = bool(value.value)

    def _layers_of_the_call(self) -> None:
        """Layers that are made where the network is called: made once, from now on."""
        found = find_layers(self.module, list(walk(self.call)), self.calls, {}, self.regularized)
        for call, layer in found.items():
            self._settled(call, layer.inputs, layer.training)
            self.found.normalizes |= layer.normalizes
        self.found.layers = found

    def _settled(
        self, call: ast.Call, inputs: tuple[ast.expr, ...], training: ast.expr | None
    ) -> None:
        """A layer that is made in the call is made once, of what `__init__` knows."""
        names = self.module.names
        for parent in names.ancestors(call):
            if parent is self.call:
                break
            if isinstance(parent, (ast.For, ast.While, ast.If, ast.comprehension, ast.Lambda)):
                self._refuse(call, "a layer is made under a condition or in a loop of the call")
        own = set(names.scopes[self.call].bindings) - {"self"}
        skipped = [*inputs, *([training] if training is not None else [])]
        left_out = {id(part) for value in skipped for part in walk(value)}
        for part in walk(call):
            if isinstance(part, ast.Name) and part.id in own and id(part) not in left_out:
                self._refuse(part, f"a layer's setting depends on `{part.id}`")


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
