"""What a program does with a model and its copies, and whether one model can do all of it."""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.runs_on import refuses_weight_file
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.api.keras import METRICS
from migrate_mgpu.core import findings
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.multi_gpu_model.building import MUTATING, keras
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


@record(eq=False)
class Use:
    """A call of ``compile``: ``receiver`` is how the model is called there."""

    module: Module
    call: ast.Call
    receiver: str


@record()
class Uses(EditSet):
    """What is done with a model and its copies: edits, and what the user is to know.

    ``dropped`` are the statements that say ``parallel_model = model``, ``compiled`` the calls
    that compile the copies.
    """

    dropped: list[ast.stmt] = field(default_factory=list)
    compiled: list[Use] = field(default_factory=list)


def read_uses(site: Site, values: ValueFlow, built: list[ast.stmt]) -> Uses:
    """Reads every use of the model and of its copies.

    Raises:
        Refused: what is done there cannot be analyzed, or needs both models.
    """
    return _Reader(site, values, built).run()


class _Reader:
    def __init__(self, site: Site, values: ValueFlow, built: list[ast.stmt]) -> None:
        self.site = site
        self.values = values
        self.graph = values.graph
        self.module = site.module
        self.names = site.module.names
        self.inside = {part for statement in built for part in ast.walk(statement)}
        self.inside |= set(ast.walk(site.statement))
        self.found = Uses()
        self.built = built
        self.files = False
        # What a use of the model or its copies may be, and nothing else.
        origins = values.definitions(site.module, site.copied)
        self.known = {value.node for value in origins} | {site.call}
        self.copies = {value.node for value in values.uses(site.module, site.call)}

    def run(self) -> Uses:
        site = self.site
        for name in dict.fromkeys((site.model, site.target)):
            if name:
                self._named(name)
        if site.origin is not None:
            self._check_bound()
            for use in self.values.uses(site.origin.module, site.origin.call):
                self._far(use)
        if not site.model:
            for use in self.values.uses(site.module, site.call):
                self._far(use)
        if site.origin is None:
            self._check_others()
        if self.files:
            text = (
                "the copies' files held the model inside of another, new ones hold the model "
                "itself: `migrate-mgpu checkpoint` converts the weights in those that TF1 wrote"
            )
            self.found.note(self.module, site.call, text)
        return self.found

    # -- the variables of the function that copies the model -----------------------

    def _named(self, name: str) -> None:
        """Reads the mentions of a variable, and where the model goes from them."""
        site = self.site
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
                copies = self._is_copies(mention)
                uses = self.values.uses(self.module, mention)
                if self._is_handed_on(mention) and uses != [Value(self.module, mention)]:
                    for use in uses:
                        self._far(use, copies)
                else:
                    self._use(self.module, mention, copies)
        if site.scope.is_module:
            self._imported(name)

    def _is_handed_on(self, mention: ast.Name) -> bool:
        """Whether a mention gives the model to another name, whatever the model is called here."""
        parent = self.names.parents[mention]
        return not isinstance(parent, (ast.Attribute, ast.IfExp, ast.BoolOp))

    def _imported(self, name: str) -> None:
        """What other modules do with a variable of this one."""
        for read in self.values.reads(self.module, name, self.site.scope):
            if read.module is not self.module and read.node is not None:
                if name != self.site.model:
                    text = f"{read.module.path.name} may use `{name}` as well"
                    raise Refused(
                        self.module, self.site.call, text, "make and train the model in a function"
                    )
                for use in self.values.uses(read.module, read.node):
                    self._far(use, self.site.model == self.site.target)

    def _check_bound(self) -> None:
        """The variables of a model that is made elsewhere hold nothing else."""
        for name in filter(None, dict.fromkeys((self.site.model, self.site.target))):
            bindings = self.site.scope.bindings[name]
            others = [
                b for b in bindings if self.names.statement(b.node) is not self.site.statement
            ]
            if len(others) > (name == self.site.model):
                raise self._another(self.module, others[-1].node, name)

    # -- all other places ---------------------------------------------------------

    def _far(self, use: Value, copies: bool | None = None) -> None:
        """A use that the model comes to by more than a variable."""
        node, module = use.node, use.module
        assert node is not None
        if node in self.inside or (module is self.module and self._is_mention(node)):
            return
        if {value.node for value in self.values.definitions(module, node)} - self.known:
            raise self._another(module, node, module.source.code(node))
        if isinstance(node, ast.Call) or not module.writable:
            raise self._lost(module, node)
        self._use(module, node, copies if copies is not None else node in self.copies)

    def _is_mention(self, node: ast.expr) -> bool:
        """Whether a use is read as a mention of one of the two variables."""
        site = self.site
        if not isinstance(node, ast.Name) or node.id not in (site.model, site.target):
            return False
        return self.names.defining_scope(node.id, self.names.scope_of_name[node]) is site.scope

    def _another(self, module: Module, node: ast.AST, name: str) -> Refused:
        return Refused(
            module, node, f"`{name}` is also another model", "give each model its own name"
        )

    def _lost(self, module: Module, node: ast.AST) -> Refused:
        return Refused(
            module, node, "what becomes of the copies here cannot be analyzed",
            "make, compile and train the model in one function",
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
        self.found.edit(self.module, Edit(*source.span(mention), name))
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
            shift = Edit(start, start + max(-grown, 0), " " * max(grown, 0))
            self.found.edit(self.module, shift)

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

    # -- what is done with them -----------------------------------------------------

    def _use(self, module: Module, node: ast.expr, copies: bool) -> None:
        parents = module.names.parents
        parent = parents[node]
        if isinstance(parent, ast.Attribute):
            self._attribute(module, node, parent, copies)
            return
        call = module.names.taker(node)
        if call is not None:
            name = module.names.qualname(call.func) or ""
            if name == "builtins.print" or keras(name) == "utils.plot_model":
                return
            if not copies and self._is_callback(module, call):
                return
            if keras(name) == "models.save_model" and not copies:
                return
        if isinstance(parent, ast.Return) or (
            isinstance(parent, ast.Tuple) and isinstance(parents[parent], ast.Return)
        ):
            raise self._lost(module, node)
        text = (
            f"the copies of `{NAME}` are passed on here"
            if copies
            else (f"`{module.source.code(node)}` is passed on here")
        )
        raise Refused(module, node, text, "make, compile and train the model in one function")

    def _is_callback(self, module: Module, call: ast.Call) -> bool:
        """`ParallelModelCheckpoint(model, path)`: a callback of the program's own."""
        function = self.graph.target(module, call.func)
        owner = function.owner if function is not None else None
        if owner is None:
            return False
        bases = [ast.unparse(base).rpartition(".")[2] for base in owner.bases]
        trains = {"compile", "fit", "fit_generator", *BATCHES}
        return any(b.endswith(("Callback", "Checkpoint")) for b in bases) and not any(
            isinstance(part, ast.Attribute) and part.attr in trains for part in ast.walk(owner)
        )

    def _attribute(
        self, module: Module, node: ast.expr, attribute: ast.Attribute, copies: bool
    ) -> None:
        site, name = self.site, attribute.attr
        used = module.names.parents[attribute]
        if isinstance(attribute.ctx, ast.Store) and name not in ("stop_training", "trainable"):
            raise Refused(module, attribute, f"`{name}` of the model is changed", _ADVICE)
        if name in BATCHES:
            raise Refused(
                module, attribute, f"`{name}` gives every replica the whole batch in Keras 3",
                "use fit, evaluate and predict",
            )  # fmt: skip
        call = used if isinstance(used, ast.Call) and used.func is attribute else None
        alone = module is self.module and module.names.exclusive(node, site.statement)
        if call is not None and name in ("save_weights", "load_weights"):
            self._check_path(module, call)
        if call is not None and name in MUTATING and site.origin is not None:
            self._extended(module, call)
        if copies:
            self.files |= name in _FILES
            if name == "layers" and self._is_template(module, attribute):
                return
            if call is not None and name == "fit":
                self._fitted(module, call)
            if call is not None and name == "compile" and not alone:
                self.found.compiled.append(Use(module, call, self._receiver(module, node)))
            if name in DRIVING or name in PLAIN:
                return
        elif name in PLAIN or name in LAYERS or name == "predict":
            if (
                name == "save"
                and call is not None
                and (not site.model or site.model != site.target)
            ):
                self._saved(module, call)
            return
        elif name in DRIVING:
            if alone:
                return
            shown = site.model or module.source.code(node)
            raise Refused(
                module, attribute, f"`{shown}` is compiled or trained by itself as well",
                "train either the model or its copies",
            )  # fmt: skip
        owner = "the copies' model" if copies else "the model"
        raise Refused(
            module, attribute, f"what `{name}` of {owner} is used for cannot be analyzed", _ADVICE
        )

    def _receiver(self, module: Module, node: ast.expr) -> str:
        """How the one model that is left is called at a use."""
        named = module is self.module and self._is_mention(node)
        return self.site.model if named else module.source.code(node)

    def _extended(self, module: Module, call: ast.Call) -> None:
        """`self.model.add(...)` beside the statement that makes the model is a part of that."""
        origin = self.site.origin
        assert origin is not None
        statement = module.names.statement(call)
        if module is not origin.module or module.names.scope_at(call) is not origin.scope:
            raise Refused(module, call, "the model is made in several functions", "make it in one")
        if statement not in self.built:
            self.built.append(statement)

    def _fitted(self, module: Module, call: ast.Call) -> None:
        """Measured on 2.21: under a strategy some batches of a generator are lost."""
        data = call.args[0] if call.args else next((k.value for k in call.keywords), None)
        for value in self.values.definitions(module, data) if data is not None else ():
            function = None
            if isinstance(value.node, ast.Call):
                function = self.graph.target(value.module, value.node.func)
            if function is not None and any(
                isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(function.node)
            ):
                text = (
                    "under a strategy Keras 3 loses some of a Python generator's first batches "
                    "(Keras 2 does not): give it Dataset.from_generator"
                )
                self.found.note(module, call, text, findings.BATCHES)

    def _is_template(self, module: Module, attribute: ast.Attribute) -> bool:
        """`parallel_model.layers[-2]`: the model that was copied, where it has one output."""
        part = module.names.parents[attribute]
        if not isinstance(part, ast.Subscript) or ast.unparse(part.slice) != "-2":
            return False
        used = module.names.parents[part]
        if not isinstance(used, ast.Attribute) or used.attr not in PLAIN:
            return False
        _, start = module.source.span(attribute.value)
        _, end = module.source.span(part)
        self.found.edit(module, Edit(start, end, ""))
        return True

    def _check_path(self, module: Module, call: ast.Call) -> None:
        """Keras 3 wants weights in files of one kind of name."""
        if refuses_weight_file(call):
            text = "Keras 3 writes weights only into files whose names end in .weights.h5"
            self.found.note(module, call, text)

    def _saved(self, module: Module, call: ast.Call) -> None:
        """The model that was copied had no optimizer to save; now it has."""
        if any(k.arg in ("include_optimizer", None) for k in call.keywords) or len(call.args) != 1:
            return
        _, end = module.source.span(call.args[0])
        self.found.edit(module, Edit(end, end, ", include_optimizer=False"))


# -- what 1.15 calls a metric -----------------------------------------------------


def metric_edits(modules: list[Module], module: Module, call: ast.Call) -> list[Edit]:
    """Keeps the names that logs and histories have for metrics, where the program uses them."""
    given = next((k.value for k in call.keywords if k.arg == "metrics"), None)
    if given is None and len(call.args) > 2:
        given = call.args[2]
    if not isinstance(given, (ast.List, ast.Tuple)):
        return []
    edits: list[Edit] = []
    for element in given.elts:
        given_name = str(getattr(element, "value", ""))
        row = METRICS.by_name.get(given_name)
        if row is None or row.kind == given_name:
            continue
        if any(_mentions(one, row.kind) for one in modules):
            quote = module.source.quote
            edits.append(Edit(*module.source.span(element), f"{quote}{row.kind}{quote}"))
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
