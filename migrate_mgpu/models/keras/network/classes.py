"""Functions of the run with layers: each becomes a class beside the model's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import Modes, Value
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.network.functions import Helper, Helpers
from migrate_mgpu.models.front.network.layers import class_name
from migrate_mgpu.models.front.network.network_classes import OWN_CLASS
from migrate_mgpu.models.front.network.summaries import only_writes_summaries, without_summaries
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.source.blocks import outermost
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

# Packages whose functions make no variables of TensorFlow.
_KNOWN = {
    "builtins", "collections", "copy", "functools", "itertools", "logging", "math", "numpy",
    "operator", "os", "pathlib", "random", "re", "six", "sys", "time", "types", "typing",
    "warnings",
}  # fmt: skip


_ADVICE = "make it a function, or a Keras layer"


@record(eq=False)
class HelperClass:
    """The class that a function with layers becomes.

    ``parameters`` are those of its constructor, ``trains``: its `call` is told whether the
    model trains. Both are known once it is written.
    """

    helper: Helper
    name: str
    base: str = "layers.Layer"
    trains: bool = False
    parameters: tuple[str, ...] = ()
    text: str = ""


class HelperClasses:
    """The classes of one conversion's helpers, each with a name of its own in its module.

    ``taken`` are the names of other classes that the conversion makes.
    """

    def __init__(self, helpers: Helpers) -> None:
        self.helpers = helpers
        self.taken: set[str] = set()
        self._made: dict[ast.AST, HelperClass] = {}

    def of(self, function: Function) -> HelperClass:
        """The class of a function."""
        if function.node not in self._made:
            names, name = function.module.names, class_name(function.name)
            if name != function.name or name in self.taken:  # which is free again
                free = [n for n in (name, f"{name}Layer") if n not in self.taken]
                name = names.fresh(names.module_scope, *free)
            made = HelperClass(self.helpers.found[function.node], name)
            self._made[function.node] = made
        return self._made[function.node]

    def all(self) -> list[HelperClass]:
        """Every one that there is so far."""
        return [self.of(helper.function) for helper in self.helpers.found.values()]

    def each(self) -> Iterator[HelperClass]:
        """Every one, also those that are found as others are written."""
        done: set[ast.AST] = set()
        while len(done) < len(self.helpers.found):
            for made in self.all():
                if made.helper.function.node not in done:
                    done.add(made.helper.function.node)
                    yield made

    def spelled(self, module: Module, call: ast.Call, function: Function) -> str:
        """A function's class, as a module reaches it that called the function."""
        made = self.of(function)
        if isinstance(call.func, ast.Attribute):
            return f"{module.source.code(call.func.value)}.{made.name}"
        assert isinstance(call.func, ast.Name)
        for binding in module.names.bindings_of(call.func):
            if isinstance(binding.node, ast.ImportFrom):
                known = [a for a in binding.node.names if (a.asname or a.name) == call.func.id]
                if not known:
                    self._check_star(module, call, made)
                return (known[0].asname if known else None) or made.name
        return made.name

    def _check_star(self, module: Module, call: ast.Call, made: HelperClass) -> None:
        """`from ops import *` gives a module the class that a function becomes.

        Raises:
            Refused: it may not.
        """
        function = made.helper.function
        told = "__all__" in function.module.names.module_scope.bindings
        taken = made.name in module.names.module_scope.bindings and made.name != function.name
        if told or taken:
            text = f"`{made.helper.function.name}` is imported by `*`"
            raise Refused(module, call, text, "import it by its name")

    def import_edits(self) -> dict[Module, list[Edit]]:
        """`from nets import network` becomes `from nets import Network`, where nothing uses it too.

        Raises:
            Refused: a file that may not be written imports it.
        """
        renamed: dict[tuple[Module, ast.ImportFrom], dict[str, str]] = {}
        for made in self.all():
            function = made.helper.function
            calling = dict.fromkeys(module for module, _ in made.helper.calls)
            for module in dict.fromkeys([*calling, *self.helpers.graph.importers(function.module)]):
                for statement in module.names.imports:
                    if not isinstance(statement, ast.ImportFrom):
                        continue
                    names_it = any(alias.name == function.name for alias in statement.names)
                    if names_it and (module in calling or _is_from(statement, function.module)):
                        if not module.writable:
                            text = f"`{function.name}`, which becomes a class, is imported outside"
                            raise Refused(module, statement, text, "give that folder as a path too")
                        renamed.setdefault((module, statement), {})[function.name] = made.name
        found: dict[Module, list[Edit]] = {}
        for (module, statement), names in renamed.items():
            edit = import_edit(module.source, statement, renamed=names)
            found.setdefault(module, []).append(edit)
        return found


def _is_from(statement: ast.ImportFrom, module: Module) -> bool:
    """Whether an import takes something from a module, by the module's own name."""
    stem = module.path.stem
    own = module.path.parent.name if stem == "__init__" else stem
    return (statement.module or "").rpartition(".")[2] == own


def _nothing(context: Context) -> str:
    return ""


class PlainFunctions:
    """Functions without layers that the new code calls: TF2 must know what they use."""

    def __init__(self, graph: CallGraph, style: FileStyle, helpers: Helpers) -> None:
        self.graph = graph
        self.style = style
        self.helpers = helpers
        self.edits: dict[Module, list[Edit]] = {}
        self.functions: list[Function] = []
        self.summaries: list[tuple[Module, ast.stmt]] = []  # that go
        self.known: set[ast.AST] = set()  # calls of what is read apart
        self._seen: set[ast.AST] = set()

    def visit(self, module: Module, node: ast.AST) -> None:
        """Looks at every function of the run that a piece of code calls.

        Raises:
            Refused: one of them uses what TF2 has not.
        """
        for call in (c for c in walk(node) if isinstance(c, ast.Call)):
            function = self.helpers.target(module, call)
            if function is None:
                if call not in self.known:
                    self._check_unknown(module, call)
                continue
            if function.node in self._seen or self.helpers.makes_layers(function):
                continue
            if only_writes_summaries(function):
                continue  # it goes with its calls
            self._seen.add(function.node)
            same: dict[str, dict[str, Value]] = {}
            assert isinstance(function.node, ast.FunctionDef)
            style = FileStyle.of(function.module.source, self.style.tensorflow)
            context = Context(function.module, style, Modes(function.module, function.node, same))
            self.functions.append(function)
            gone = self._summaries(function)
            context.replaced.update(dict.fromkeys(gone, _nothing))
            edits = [e for statement in function.node.body for e in context.edits(statement)]
            source = function.module.source
            edits = outermost([*(Layout(source, s).replace([]) for s in gone), *edits])
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

    def _summaries(self, function: Function) -> list[ast.stmt]:
        """The statements of a function that only write summaries, beside others."""
        inside = {part for part in walk(function.node) if isinstance(part, ast.stmt)}
        inside.discard(function.node)
        _, gone = without_summaries(function.module, inside, self.graph)
        names = function.module.names
        gone = [
            s
            for s in gone
            if len(names.block(s)) > 1 and Layout(function.module.source, s).owns_lines
        ]
        self.summaries += [(function.module, statement) for statement in gone]
        return gone

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
            if binding.node in self.helpers.networks:
                continue
            if binding.kind == "class" and not self._is_keras(module, binding.node):
                text = f"`{base.id}` is a class, and classes are not converted inside of a model"
                raise Refused(module, call, text, _ADVICE, OWN_CLASS)
            made = binding.value
            if isinstance(made, ast.Call) and base is not call.func:
                function = self.helpers.graph.target(module, made.func)
                if function is not None and function.owner not in (None, *self.helpers.networks):
                    assert function.owner is not None
                    if not self._is_keras(function.module, function.owner):
                        text = (
                            f"`{base.id}` is an object of the program's own class, which cannot be "
                            f"analyzed"
                        )
                        raise Refused(module, call, text, _ADVICE, OWN_CLASS)

    def _is_keras(self, module: Module, node: ast.AST) -> bool:
        """Whether a class is a Keras model or layer."""
        return isinstance(node, ast.ClassDef) and any(
            "keras" in (module.names.qualname(base) or "") for base in node.bases
        )
