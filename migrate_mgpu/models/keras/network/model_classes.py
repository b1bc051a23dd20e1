"""A class of the author's that is a network: layers in `__init__`, their use in `__call__`.

It becomes a Keras model with what it has: `__call__` is `call`, the layers of tf.layers are
Keras's, and what trains is told so. A class that already is a Keras model is checked alike.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import Modes
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.network.layers import find_layers
from migrate_mgpu.models.keras.network.objects import (
    check_layer,
    is_sensitive,
    layer_name,
    makes_model,
)
from migrate_mgpu.models.keras.network.plan import RESERVED
from migrate_mgpu.source.blocks import outermost, render
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_CALLS = ("call", "__call__")
# Attributes that Keras keeps for itself, in one of its versions.
_KERAS_OWN = RESERVED | {
    "_call_spec", "_checkpoint", "_dtype", "_dtype_policy", "_dynamic", "_flatten", "_input_spec",
    "_layers", "_lock", "_losses", "_metrics", "_name", "_path", "_run_eagerly", "_stateful",
    "_tracker", "_trainable", "_trainable_variables", "_trainable_weights", "_updates",
}  # fmt: skip


@record()
class NetworkClass:
    """A class that is a network.

    ``training`` is the parameter of its call that tells whether it trains, ``default`` its
    default. ``normalizes``: it has batch normalization
    of tf.layers.
    """

    module: Module
    node: ast.ClassDef
    text: str = ""
    training: str | None = None
    parameters: list[str] = field(default_factory=list)  # of its call, the input first
    default: bool = False
    normalizes: bool = False
    keras: bool = False
    sensitive: dict[str, bool] = field(default_factory=dict)  # attributes that are layers


def class_of(
    graph: CallGraph, module: Module, call: ast.Call
) -> tuple[Module, ast.ClassDef] | None:
    """The class of the run that a call makes an object of."""
    if isinstance(call.func, ast.Name):
        for binding in module.names.bindings_of(call.func):
            if isinstance(binding.node, ast.ClassDef):
                return module, binding.node
    function = graph.target(module, call.func)
    if function is not None and function.name == "__init__" and function.owner is not None:
        return function.module, function.owner
    return None


def network_class(module: Module, node: ast.ClassDef, tf: str, regularized: bool) -> NetworkClass:
    """A class as a Keras model.

    Raises:
        Refused: it does more than to keep layers and to apply them.
    """
    return _Reader(module, node, tf, regularized).read()


class _Reader:
    def __init__(self, module: Module, node: ast.ClassDef, tf: str, regularized: bool) -> None:
        self.module = module
        self.node = node
        self.tf = tf
        self.regularized = regularized
        self.found = NetworkClass(module, node)
        self.methods = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}

    def read(self) -> NetworkClass:
        module, node, found = self.module, self.node, self.found
        bases = [module.names.qualname(base) or "" for base in node.bases]
        found.keras = any(b.endswith(("keras.Model", "keras.models.Model")) for b in bases)
        plain = not bases or bases in (["object"], ["builtins.object"])
        if not (plain or (found.keras and len(bases) == 1)) or node.decorator_list or node.keywords:
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
        if found.keras and "__call__" in self.methods:
            self._refuse(calls[0], "a Keras model with a `__call__` of its own")
        self.call = calls[0]
        self.init = self.methods.get("__init__")
        self._attributes()
        self._signature()
        self._write()
        return found

    def _refuse(self, node: ast.AST, reason: str) -> None:
        raise Refused(self.module, node, reason, "make it a function, or a Keras model")

    def _attributes(self) -> None:
        """What `__init__` keeps, and which of it must be told whether it trains."""
        names = self.module.names
        for part in ast.walk(self.node):
            if not isinstance(part, ast.Attribute) or not isinstance(part.ctx, ast.Store):
                continue
            if not isinstance(part.value, ast.Name) or part.value.id != "self":
                continue
            if self.init is None or self.init not in names.ancestors(part):
                self._refuse(part, f"`self.{part.attr}` changes as the network runs")
            if part.attr in _KERAS_OWN and not self.found.keras:
                self._refuse(part, f"`{part.attr}` is an attribute of every Keras model")
            statement = names.parents[part]
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                self._attribute(part.attr, statement.value)
        for call in (c for c in ast.walk(self.node) if isinstance(c, ast.Call)):
            name = layer_name(self.module, call)
            if name:
                self._layer(call, name)
            qualname = names.qualname(call.func) or ""
            if ".slim." in qualname or qualname.endswith(("get_variable", ".Variable")):
                self._refuse(call, "a variable of its own in a network's class")

    def _attribute(self, name: str, value: ast.expr) -> None:
        made = layer_name(self.module, value)
        if made:
            self.found.sensitive[name] = is_sensitive(made)
        elif makes_model(self.module, value):
            inner = [layer_name(self.module, part) for part in ast.walk(value)]
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
            self._refuse(call, f"`{name}` is kept where its use is not followed")

    def _signature(self) -> None:
        arguments = self.call.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            self._refuse(self.call, f"the call of `{self.node.name}` takes `*` or `**`")
        every = [*arguments.args[1:], *arguments.kwonlyargs]
        names = [a.arg for a in every]
        told = [name for name in names if name in ("training", "is_training", "train")]
        if not names or len(told) > 1:
            self._refuse(self.call, f"the call of `{self.node.name}` is not followed")
        self.found.training = told[0] if told else None
        if (
            told
            and told[0] != "training"
            and any(isinstance(n, ast.Name) and n.id == "training" for n in ast.walk(self.call))
        ):
            self._refuse(self.call, "two parameters tell whether the network trains")
        self.found.parameters = [a.arg for a in arguments.args[1:]]
        defaults = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults))
        if told and told[0] in defaults:
            value = defaults[told[0]]
            if not isinstance(value, ast.Constant):
                self._refuse(value, "whether the network trains is not told in so many words")
            assert isinstance(value, ast.Constant)
            self.found.default = bool(value.value)

    # -- what is written -----------------------------------------------------

    def _write(self) -> None:
        source, node = self.module.source, self.node
        nodes = list(ast.walk(self.call))
        functional = find_layers(self.module, nodes, self.tf, {}, self.regularized)
        replaced: dict[ast.AST, Replacement] = {}
        added: list[str] = []
        for call, layer in functional.items():
            name = self._attribute_for(layer.name or layer.stem)
            self._settled(call, layer.inputs, layer.training)
            base = source.indent_of(node) + source.indent_unit * 2
            context = Context(self.module, self.tf)
            added.append(f"self.{name} = {layer.make(context, len(base) + len(name) + 8, base)}")
            self.found.normalizes |= layer.stem.startswith("batch_norm")
            replaced[call] = self._use(name, layer.inputs, layer.training, layer.takes_training)
        for call in (c for c in nodes if isinstance(c, ast.Call) and c not in functional):
            if self._untold(call):
                replaced[call] = self._told(call)
        same: dict[str, dict[str, str]] = {}
        context = Context(self.module, self.tf, Modes(self.module, self.call, same), {}, replaced)
        edits = [e for statement in node.body for e in context.edits(statement)]
        edits += [*self._header(), *self._call_header(), *self._added(added)]
        self.found.text = render(source, node, outermost(edits))

    def _attribute_for(self, wished: str) -> str:
        taken = {
            part.attr
            for part in ast.walk(self.node)
            if isinstance(part, ast.Attribute)
            and isinstance(part.value, ast.Name)
            and part.value.id == "self"
        } | set(self.found.sensitive)
        name, number = wished, 1
        while name in taken or name in _KERAS_OWN:
            name = f"{wished}_{number}"
            number += 1
        self.found.sensitive[name] = False
        return name

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
        left_out = {id(part) for value in skipped for part in ast.walk(value)}
        for part in ast.walk(call):
            if isinstance(part, ast.Name) and part.id in own and id(part) not in left_out:
                self._refuse(part, f"a layer's setting depends on `{part.id}`")

    def _use(
        self, name: str, inputs: tuple[ast.expr, ...], training: ast.expr | None, takes: bool
    ) -> Replacement:
        def write(context: Context) -> str:
            arguments = [context.render(value) for value in inputs]
            if training is not None:
                arguments.append(f"training={context.render(training)}")
            elif takes:
                arguments.append("training=False")
            return f"self.{name}({', '.join(arguments)})"

        return write

    def _untold(self, call: ast.Call) -> bool:
        """Whether a layer that may train is applied without saying so by the argument's name."""
        function = call.func
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return False
        if function.value.id != "self" or not self.found.sensitive.get(function.attr):
            return False
        return not any(k.arg == "training" for k in call.keywords)

    def _told(self, call: ast.Call) -> Replacement:
        def write(context: Context) -> str:
            given = [context.render(value) for value in call.args[:1]]
            given += [f"{k.arg}={context.render(k.value)}" for k in call.keywords]
            training = context.render(call.args[1]) if len(call.args) > 1 else "False"
            return f"{context.render(call.func)}({', '.join([*given, f'training={training}'])})"

        return write

    def _header(self) -> list[Edit]:
        """`class Network(tf.keras.Model):`."""
        if self.found.keras:
            return []
        source = self.module.source
        base = f"{self.tf}.keras.Model"
        if self.node.bases:
            return [Edit(*source.span(self.node.bases[0]), base)]
        start = source.span(self.node)[0]
        place = source.text.index(self.node.name, start + len("class")) + len(self.node.name)
        end = source.text.index(":", place)
        return [Edit(place, end, f"({base})")]

    def _call_header(self) -> list[Edit]:
        """`def call(self, inputs, training=False):`."""
        source, found = self.module.source, []
        start = source.span(self.call)[0]
        if self.call.name == "__call__":
            place = source.text.index("__call__", start)
            found.append(Edit(place, place + len("__call__"), "call"))
        arguments = self.call.args.args
        last = arguments[-1]
        if last.arg == self.found.training and not self.call.args.defaults:
            found.append(Edit(source.span(last)[1], source.span(last)[1], "=False"))
        return found

    def _added(self, layers: list[str]) -> list[Edit]:
        """`super().__init__()` and the layers that the call made."""
        source = self.module.source
        unit, indent = source.indent_unit, source.indent_of(self.call)
        newline = source.newline
        if self.init is None:
            if not layers:
                return []
            lines = [
                "def __init__(self):",
                f"{unit}super().__init__()",
                *(unit + x for x in layers),
            ]
            place = source.line_starts[self.call.lineno - 1]
            text = "".join(f"{indent}{line}{newline}" for line in lines) + newline
            return [Edit(place - len(newline), place - len(newline), newline + text.rstrip("\r\n"))]
        body = [s for s in self.init.body if not _is_text(s)]
        found = []
        calls_super = any(
            isinstance(n, ast.Name) and n.id == "super" for s in body for n in ast.walk(s)
        )
        inner = source.indent_of(self.init.body[-1])
        if not calls_super:
            first = body[0] if body else self.init.body[-1]
            place = source.span(first)[0]
            found.append(Edit(place, place, f"super().__init__(){newline}{inner}"))
        end = Layout(source, self.init.body[-1]).line_end
        if layers:
            found.append(Edit(end, end, "".join(f"{newline}{inner}{line}" for line in layers)))
        return found


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
