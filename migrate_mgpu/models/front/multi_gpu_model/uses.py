"""What a program does with a model and its copies, and whether one model can do all of it."""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.multi_gpu_model.building import keras
from migrate_mgpu.models.front.multi_gpu_model.reading import (
    NAME,
    Site,
    inside_strings,
    is_copy_of,
    stored,
)
from migrate_mgpu.source.source import Edit

DRIVING = {
    "compile", "evaluate", "evaluate_generator", "fit", "fit_generator", "history",
    "metrics_names", "optimizer", "predict", "predict_generator", "stop_training",
}  # fmt: skip
_FILES = {"load_weights", "save", "save_weights"}
PLAIN = {
    "add", "build", "built", "count_params", "get_config", "get_weights", "name",
    "non_trainable_weights", "save", "set_weights", "summary", "to_json", "to_yaml", "trainable",
    "trainable_weights", "variables", "weights", *_FILES,
}  # fmt: skip
# What the copies' model has of its own, and the model itself may be asked for.
LAYERS = {"get_layer", "input", "input_shape", "inputs", "layers", "output", "output_names",
           "output_shape", "outputs"}  # fmt: skip
BATCHES = {"predict_on_batch", "test_on_batch", "train_on_batch"}
_TRAINING = {"compile", "evaluate", "fit", "fit_generator", *BATCHES}
_ADVICE = "do this with the model itself, after the migration"


@record()
class Uses:
    """The mentions of both names, read: edits of them, and what the user is to know.

    ``dropped`` are the statements that say ``parallel_model = model``, ``returned`` those that
    hand the model to the function's callers.
    """

    edits: list[Edit] = field(default_factory=list)
    notes: list[tuple[ast.AST, str]] = field(default_factory=list)
    dropped: list[ast.stmt] = field(default_factory=list)
    returned: list[ast.Return] = field(default_factory=list)


def read_uses(site: Site, graph: CallGraph, built: list[ast.stmt]) -> Uses:
    """Reads every mention of the model and of its copies.

    Raises:
        Refused: what is done there is not followed, or needs both models.
    """
    return _Reader(site, graph, built).run()


class _Reader:
    def __init__(self, site: Site, graph: CallGraph, built: list[ast.stmt]) -> None:
        self.site = site
        self.graph = graph
        self.module = site.module
        self.names = site.module.names
        self.inside = {part for statement in built for part in ast.walk(statement)}
        self.inside |= set(ast.walk(site.statement))
        self.found = Uses()
        self.built = built
        self.files = False

    def run(self) -> Uses:
        site = self.site
        self._check_importers()
        self._check_others()
        for name in dict.fromkeys((site.model, site.target)):
            for mention in self.names.mentions(name, site.scope):
                if mention in self.inside:
                    continue
                statement = self.names.statement(mention)
                if is_copy_of(statement, site.target, site.model):
                    if site.model != site.target and statement not in self.found.dropped:
                        self.found.dropped.append(statement)
                    continue
                if name != site.model:
                    self._check_shadowed(mention)
                    self._rename(mention)
                if isinstance(mention.ctx, ast.Load):
                    self._mention(mention, self._is_copies(mention))
        if self.files:
            text = (
                "the copies' files held the model inside of another: those that TF1 wrote are not "
                "read any more, and new ones hold the model itself"
            )
            self.found.notes.append((site.call, text))
        return self.found

    def _check_importers(self) -> None:
        """A model of a module may be another module's as well."""
        site = self.site
        for other in self.graph.project.modules.values() if site.scope.is_module else ():
            if self.module in other.imported:
                for name in {site.model, site.target}:
                    if re.search(rf"\b{name}\b|import \*", other.source.text):
                        raise Refused(
                            self.module, site.call, f"{other.path.name} may use `{name}` as well",
                            "make and train the model in a function",
                        )  # fmt: skip

    def _check_others(self) -> None:
        """Parts of the model, and other names of it, must not be trained by themselves."""
        site = self.site
        made = {name for statement in self.built for name in stored(statement)}
        for name in sorted(made - {site.model, site.target}):
            for mention in self.names.mentions(name, site.scope):
                parent = self.names.parents[mention]
                if isinstance(parent, ast.Attribute) and parent.attr in _TRAINING:
                    raise Refused(
                        self.module, parent, f"`{name}`, of which the model is made, is compiled "
                        "or trained by itself as well", "train one model alone",
                    )  # fmt: skip

    def _check_shadowed(self, mention: ast.Name) -> None:
        """Where the copies are mentioned, the model's name must mean the model."""
        scope = self.names.scope_of_name[mention]
        if self.names.defining_scope(self.site.model, scope) is not self.site.scope:
            raise Refused(
                self.module, mention, f"`{self.site.model}` is something else here",
                "give it another name",
            )  # fmt: skip

    def _rename(self, mention: ast.Name) -> None:
        """Gives a mention of the copies the model's name; lines aligned to a bracket stay so."""
        source, name = self.module.source, self.site.model
        self.found.edits.append(Edit(*source.span(mention), name))
        grown = len(name) - len(mention.id)
        statement = self.names.statement(mention)
        shifted = {mention.lineno: source.place(source.span(mention)[0])[1]}  # from which column
        inside = inside_strings(statement)
        for line in range(mention.lineno + 1, (statement.end_lineno or 0) + 1):
            text = source.line_text(line)
            column = len(text) - len(text.lstrip(" "))
            opening = self._opening(line, column - 1, mention.lineno)
            if line in inside or opening is None or shifted.get(opening, column) >= column:
                continue
            shifted[line] = 0
            start = source.line_starts[line - 1]
            self.found.edits.append(Edit(start, start + max(-grown, 0), " " * max(grown, 0)))

    def _opening(self, line: int, column: int, first: int) -> int | None:
        """The line with the bracket that the text below it is aligned to."""
        for above in range(line - 1, first - 1, -1):
            text = self.module.source.line_text(above)
            if 0 <= column < len(text) and text[column] in "([{":
                return above
        return None

    def _is_copies(self, mention: ast.Name) -> bool:
        """Whether a mention means the copies, and not the model that was copied."""
        site = self.site
        if site.target != site.model:
            return mention.id == site.target
        return mention.lineno > site.statement.lineno

    def _mention(self, mention: ast.Name, copies: bool) -> None:
        parent = self.names.parents[mention]
        if isinstance(parent, ast.Attribute):
            self._attribute(mention, parent, copies)
            return
        above = self.names.parents[parent] if isinstance(parent, ast.Tuple) else parent
        if isinstance(above, ast.Return):
            if above not in self.found.returned:
                self.found.returned.append(above)
            return
        call = self.names.parents[parent] if isinstance(parent, ast.keyword) else parent
        if isinstance(call, ast.Call) and call.func is not mention:
            name = self.names.qualname(call.func) or ""
            if name == "builtins.print" or keras(name) == "utils.plot_model":
                return
            if not copies and self._is_callback(call):
                return
            if keras(name) == "models.save_model" and not copies:
                return
        shown = "the copies" if copies else f"`{self.site.model}`"
        text = f"{shown} of `{NAME}` are handed on here" if copies else f"{shown} is handed on here"
        raise Refused(
            self.module, mention, text, "make, compile and train the model in one function",
        )  # fmt: skip

    def _is_callback(self, call: ast.Call) -> bool:
        """`ParallelModelCheckpoint(model, path)`: a callback of the program's own."""
        function = self.graph.target(self.module, call.func)
        owner = function.owner if function is not None else None
        if owner is None or function is None:
            return False
        bases = [ast.unparse(base).rpartition(".")[2] for base in owner.bases]
        trains = {"compile", "fit", "fit_generator", *BATCHES}
        return any(b.endswith(("Callback", "Checkpoint")) for b in bases) and not any(
            isinstance(part, ast.Attribute) and part.attr in trains for part in ast.walk(owner)
        )

    def _attribute(self, mention: ast.Name, attribute: ast.Attribute, copies: bool) -> None:
        site, name = self.site, attribute.attr
        used = self.names.parents[attribute]
        if isinstance(attribute.ctx, ast.Store) and name not in ("stop_training", "trainable"):
            raise Refused(self.module, attribute, f"`{name}` of the model is changed", _ADVICE)
        if name in BATCHES:
            raise Refused(
                self.module, attribute, f"`{name}` gives every replica the whole batch in Keras 3",
                "use fit, evaluate and predict",
            )  # fmt: skip
        called = isinstance(used, ast.Call) and used.func is attribute
        if called and name in ("save_weights", "load_weights"):
            self._named(used)  # type: ignore[arg-type]
        if copies:
            self.files |= name in _FILES
            if name == "layers" and self._is_template(attribute):
                return
            if called and name == "fit":
                self._fitted(used)  # type: ignore[arg-type]
            if name in DRIVING or name in PLAIN:
                return
        elif name in PLAIN or name in LAYERS or name == "predict":
            if name == "save" and called and site.model != site.target:
                assert isinstance(used, ast.Call)
                self._saved(used)
            return
        elif name in DRIVING:
            if self.names.exclusive(mention, site.statement):
                return
            raise Refused(
                self.module, attribute, f"`{site.model}` is compiled or trained by itself as well",
                "train either the model or its copies",
            )  # fmt: skip
        owner = "the copies' model" if copies else "the model"
        raise Refused(
            self.module, attribute, f"what `{name}` of {owner} is used for is not followed", _ADVICE
        )

    def _fitted(self, call: ast.Call) -> None:
        """Measured on 2.21: under a strategy some batches of a generator are lost."""
        data = call.args[0] if call.args else next((k.value for k in call.keywords), None)
        made: list[ast.expr | None] = [data]
        if isinstance(data, ast.Name):
            made = [binding.value for binding in self.names.bindings_of(data)]
        for value in made:
            function = None
            if isinstance(value, ast.Call):
                function = self.graph.target(self.module, value.func)
            if function is not None and any(
                isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(function.node)
            ):
                text = (
                    "under a strategy Keras 3 loses some of a Python generator's first batches "
                    "(Keras 2 does not): give it Dataset.from_generator"
                )
                self.found.notes.append((call, text))

    def _is_template(self, attribute: ast.Attribute) -> bool:
        """`parallel_model.layers[-2]`: the model that was copied, where it has one output."""
        part = self.names.parents[attribute]
        if not isinstance(part, ast.Subscript) or ast.unparse(part.slice) != "-2":
            return False
        used = self.names.parents[part]
        if not isinstance(used, ast.Attribute) or used.attr not in PLAIN:
            return False
        _, start = self.module.source.span(attribute.value)
        _, end = self.module.source.span(part)
        self.found.edits.append(Edit(start, end, ""))
        return True

    def _named(self, call: ast.Call) -> None:
        """Keras 3 wants weights in files of one kind of name."""
        path = call.args[0] if call.args else None
        if isinstance(path, ast.Constant) and not str(path.value).endswith(".weights.h5"):
            text = "Keras 3 writes and reads weights in files whose names end in .weights.h5"
            self.found.notes.append((path, text))

    def _saved(self, call: ast.Call) -> None:
        """The model that was copied had no optimizer to save; now it has."""
        if any(k.arg in ("include_optimizer", None) for k in call.keywords) or len(call.args) != 1:
            return
        _, end = self.module.source.span(call.args[0])
        self.found.edits.append(Edit(end, end, ", include_optimizer=False"))


# -- what 1.15 calls a metric -----------------------------------------------------

_LONG = {
    "accuracy": "acc",
    "crossentropy": "ce",
    "mae": "mean_absolute_error",
    "mse": "mean_squared_error",
}


def metric_edits(modules: list[Module], module: Module, call: ast.Call) -> list[Edit]:
    """Keeps the names that logs and histories have for metrics, where the program uses them."""
    given = next((k.value for k in call.keywords if k.arg == "metrics"), None)
    if given is None and len(call.args) > 2:
        given = call.args[2]
    if not isinstance(given, (ast.List, ast.Tuple)):
        return []
    edits: list[Edit] = []
    for element in given.elts:
        long = _LONG.get(str(getattr(element, "value", "")))
        if long is None or not any(_mentions(one, long) for one in modules):
            continue
        quote = module.source.quote
        edits.append(Edit(*module.source.span(element), f"{quote}{long}{quote}"))
    return edits


def _mentions(module: Module, name: str) -> bool:
    """Whether a text of a module has the name of a metric: `'val_acc'`, `'{val_acc:.2f}'`."""
    if name not in module.source.text:
        return "metrics_names" in module.names.attributes
    word = re.compile(rf"(?<![A-Za-z0-9])(val_)?{name}(?![A-Za-z0-9_])")
    return "metrics_names" in module.names.attributes or any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) and word.search(node.value)
        for node in ast.walk(module.tree)
    )
