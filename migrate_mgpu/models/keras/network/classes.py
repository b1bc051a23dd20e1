"""Functions of the run that hold a part of a network: each becomes a class beside the model's."""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import Modes, Value
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.api import variables
from migrate_mgpu.api.recurrent import is_recurrent
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.keras.expressions import FUNCTIONS, LAYERS, Context, rule
from migrate_mgpu.models.keras.network.kinds import Kinds
from migrate_mgpu.models.keras.network.layers import Helper
from migrate_mgpu.models.keras.network.model_classes import (
    NetworkClass,
    class_of,
    network_class,
)
from migrate_mgpu.models.keras.network.objects import returns_model
from migrate_mgpu.models.keras.network.summaries import only_writes_summaries
from migrate_mgpu.source.source import Edit

# Packages whose functions make no variables of TensorFlow.
_KNOWN = {
    "builtins", "collections", "copy", "functools", "itertools", "logging", "math", "numpy",
    "operator", "os", "random", "re", "six", "sys", "time", "types", "typing", "warnings",
}  # fmt: skip
_VERBS = ("build_", "create_", "get_", "make_", "define_")


@record()
class Made:
    """A function that becomes a class: which of its parameters are what, and its calls."""

    function: Function
    name: str
    tensors: list[str]
    settings: list[str]
    known: dict[str, dict[str, Value]]  # parameters that tell the mode
    calls: list[tuple[Module, ast.Call]] = field(default_factory=list)
    base: str = "layers.Layer"
    trains: bool = False
    text: str = ""


class Classes:
    """The classes of one conversion."""

    def __init__(self, graph: CallGraph, tf: str, regularized: bool) -> None:
        self.graph = graph
        self.tf = tf
        self.regularized = regularized
        self.made: dict[ast.AST, Made] = {}
        self.networks: dict[ast.AST, NetworkClass] = {}
        self._layered: dict[ast.AST, bool] = {}

    def makes_layers(self, function: Function) -> bool:
        """Whether a function makes layers, itself or through others."""
        if function.node not in self._layered:
            self._layered[function.node] = False  # ends a recursion
            self._layered[function.node] = not returns_model(function) and any(
                self._is_layer(function.module, call)
                or ((inner := self.target(function.module, call)) and self.makes_layers(inner))
                for call in ast.walk(function.node)
                if isinstance(call, ast.Call)
            )
        return self._layered[function.node]

    def target(self, module: Module, call: ast.Call) -> Function | None:
        """The function of the run that a call reaches; None for a class or anything else."""
        found = self.graph.target(module, call.func)
        return found if found is not None and found.owner is None else None

    def network(self, module: Module, call: ast.Call) -> NetworkClass | None:
        """The class of the run that a call makes an object of, if that is a network.

        Raises:
            Refused: it is a network that is not followed.
        """
        found = class_of(self.graph, module, call)
        if found is None:
            return None
        home, node = found
        if node not in self.networks:
            if not home.writable:
                text = f"{node.name} makes layers outside of the given paths"
                raise Refused(module, call, text, "give its folder as a path too")
            for inner in (part for part in ast.walk(node) if isinstance(part, ast.Call)):
                function = self.target(home, inner)
                if function is not None and self.makes_layers(function):
                    text = f"{function.name} makes layers for a class that is a network"
                    raise Refused(home, inner, text, "make them in the class's `__init__`")
            self.networks[node] = network_class(home, node, self.tf, self.regularized)
        return self.networks[node]

    def _is_layer(self, module: Module, call: ast.Call) -> bool:
        qualname = module.names.qualname(call.func) or ""
        if symbol(qualname) is None:
            return False
        if ".keras.layers." in qualname:
            return True
        found = symbol(qualname)
        assert found is not None
        made = found.name in variables.NAMES or is_recurrent(module, call)
        if not made and not found.name.startswith(("layers.", "contrib.layers.", "contrib.slim.")):
            return False
        try:
            return rule(LAYERS).layer(module, call, self.tf, True) is not None
        except Refused:
            return True

    def use(self, module: Module, call: ast.Call, kinds: Kinds) -> Helper | None:
        """What a call of a function with layers becomes; None for any other call.

        Raises:
            Refused: it is called in two ways that one class cannot serve.
        """
        function = self.target(module, call)
        if function is None or not self.makes_layers(function):
            return None
        if not function.module.writable:
            text = f"{function.name} makes layers outside of the given paths"
            raise Refused(module, call, text, "give its folder as a path too")
        given = self._bind(module, call, function)
        tensors, settings, known = [], [], {}
        for name, value in given.items():
            values = kinds.modes.values(value)
            if values is not None:
                known[name] = values
            elif kinds.runs(value):
                tensors.append(name)
            else:
                settings.append(name)
        made = self.made.get(function.node)
        if made is None:
            made = Made(function, self._class_name(function), tensors, settings, known)
            self.made[function.node] = made
            made.settings = [n for n in function.parameters() if n not in (*tensors, *known)]
        elif (set(made.tensors), made.known) != (set(tensors), known):
            text = f"{function.name} is called in two ways: with tensors, and with settings"
            raise Refused(module, call, text)
        if (module, call) not in made.calls:
            made.calls.append((module, call))
        if len(made.calls) > 1 and self._shares(function):
            text = f"the calls of {function.name} share weights by `reuse`"
            raise Refused(module, call, text, "call it once, and use its value twice")
        positions = [n for n in function.parameters() if n in tensors]
        by_position = positions == function.parameters()[: len(positions)]
        inputs = tuple(
            (None if by_position else name, given[name]) for name in positions if name in given
        )
        return Helper(
            call,
            self._spelled(module, call, made),
            _snake(made.name),
            inputs,
            tuple(
                (name, given[name], given[name] in call.args)
                for name in function.parameters()
                if name in settings
            ),
            bool(known),
        )

    def _bind(self, module: Module, call: ast.Call, function: Function) -> dict[str, ast.expr]:
        parameters = [*function.parameters(), *(a.arg for a in function.node.args.kwonlyargs)]
        starred = any(isinstance(a, ast.Starred) for a in call.args)
        if starred or any(k.arg is None for k in call.keywords):
            raise Refused(module, call, f"{function.name} gets its arguments from `*` or `**`")
        if function.node.args.vararg or function.node.args.kwarg:
            raise Refused(function.module, function.node, f"{function.name} takes `*` or `**`")
        found = dict(zip(parameters, call.args))
        found.update({k.arg: k.value for k in call.keywords if k.arg in parameters})
        return found

    def _shares(self, function: Function) -> bool:
        source = function.module.source
        code = source.code(function.node)
        return "reuse" in code or "AUTO_REUSE" in code or "get_variable_scope" in code

    def _class_name(self, function: Function) -> str:
        names = function.module.names
        return names.fresh(names.module_scope, class_name(function.name))

    def _spelled(self, module: Module, call: ast.Call, made: Made) -> str:
        if isinstance(call.func, ast.Attribute):
            return f"{module.source.code(call.func.value)}.{made.name}"
        assert isinstance(call.func, ast.Name)
        for binding in module.names.bindings_of(call.func):
            if isinstance(binding.node, ast.ImportFrom):
                alias = next(a for a in binding.node.names if (a.asname or a.name) == call.func.id)
                return alias.asname or made.name
        return made.name

    def check_uses(self) -> None:
        """Every mention of a function that became a class must be one that was rewritten.

        Raises:
            Refused: with the other mention.
        """
        for made in self.made.values():
            known = {id(call) for _, call in made.calls}
            for reference in self.graph.references(made.function):
                if reference.call is None or id(reference.call) not in known:
                    text = f"{made.function.name} makes layers, and is used here as well"
                    raise Refused(reference.module, reference.node, text)

    def import_edits(self) -> dict[Module, list[Edit]]:
        """`from nets import network` becomes `from nets import Network`."""
        found: dict[Module, list[Edit]] = {}
        for made in self.made.values():
            old = made.function.name
            for module in {module for module, _ in made.calls}:
                for statement in module.names.imports:
                    if not isinstance(statement, ast.ImportFrom):
                        continue
                    if not any(alias.name == old for alias in statement.names):
                        continue
                    start, end = module.source.span(statement)
                    head, keyword, rest = module.source.text[start:end].partition("import")
                    new = head + keyword + re.sub(rf"\b{old}\b", made.name, rest, count=1)
                    edits = found.setdefault(module, [])
                    if Edit(start, end, new) not in edits:
                        edits.append(Edit(start, end, new))
        return found


class PlainFunctions:
    """Functions without layers that the new code calls: TF2 must know what they use."""

    def __init__(self, graph: CallGraph, tf: str, classes: Classes) -> None:
        self.graph = graph
        self.tf = tf
        self.classes = classes
        self.edits: dict[Module, list[Edit]] = {}
        self.functions: list[Function] = []
        self._seen: set[ast.AST] = set()

    def visit(self, module: Module, node: ast.AST) -> None:
        """Looks at every function of the run that a piece of code calls.

        Raises:
            Refused: one of them uses what TF2 has not.
        """
        for call in (c for c in ast.walk(node) if isinstance(c, ast.Call)):
            function = self.classes.target(module, call)
            if function is None:
                self._check_unknown(module, call)
                continue
            if function.node in self._seen or self.classes.makes_layers(function):
                continue
            if only_writes_summaries(function):
                continue  # it goes with its calls
            self._seen.add(function.node)
            same: dict[str, dict[str, Value]] = {}
            assert isinstance(function.node, ast.FunctionDef)
            context = Context(function.module, self.tf, Modes(function.module, function.node, same))
            self.functions.append(function)
            edits = [e for statement in function.node.body for e in context.edits(statement)]
            inside = function.module.names.ancestors(function.node)
            if edits and any(isinstance(parent, ast.FunctionDef) for parent in inside):
                text = f"{function.name} needs TF2's names, inside of another function"
                raise Refused(module, call, text, "move it out of there")
            if edits and not function.module.writable:
                text = f"{function.name} needs TF1's names, outside of the given paths"
                raise Refused(module, call, text, "give its folder as a path too")
            self.edits.setdefault(function.module, []).extend(edits)
            for statement in function.node.body:
                self.visit(function.module, statement)

    def _check_unknown(self, module: Module, call: ast.Call) -> None:
        """A call that leads out of the run may make variables that nobody would find."""
        names = module.names
        for qualname in names.qualnames(call.func):
            root = qualname.split(".")[0]
            if symbol(qualname) is None and root not in _KNOWN:
                text = f"what `{qualname}` does in a model is not known"
                raise Refused(module, call, text, "write the network with tf.layers")
        base: ast.AST = call.func
        while isinstance(base, ast.Attribute):
            base = base.value
        if not isinstance(base, ast.Name):
            return
        for binding in names.bindings_of(base):
            if binding.node in self.classes.networks:
                continue
            if binding.kind == "class" and not self._is_keras(module, binding.node):
                text = f"`{base.id}` is a class, which is not followed into a model"
                raise Refused(module, call, text, "make it a function, or a Keras layer")
            made = binding.value
            if isinstance(made, ast.Call) and base is not call.func:
                function = self.classes.graph.target(module, made.func)
                if function is not None and function.owner not in (None, *self.classes.networks):
                    assert function.owner is not None
                    if not self._is_keras(function.module, function.owner):
                        text = f"`{base.id}` is an object of a class, which is not followed"
                        raise Refused(module, call, text, "make it a function, or a Keras layer")

    def _is_keras(self, module: Module, node: ast.AST) -> bool:
        """Whether a class is a Keras model or layer."""
        return isinstance(node, ast.ClassDef) and any(
            "keras" in (module.names.qualname(base) or "") for base in node.bases
        )


def class_name(name: str) -> str:
    """`cnn_model_fn` -> `CnnModel`, `build_network` -> `Network`."""
    base = name.strip("_")
    if base.endswith("_fn"):
        base = base[:-3]
    for verb in _VERBS:
        if base.startswith(verb) and len(base) > len(verb):
            base = base[len(verb) :]
    parts = [part for part in base.split("_") if part]
    return "".join(part[:1].upper() + part[1:] for part in parts) or "Model"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


__all__ = ["FUNCTIONS", "Classes", "Made", "PlainFunctions", "class_name"]
