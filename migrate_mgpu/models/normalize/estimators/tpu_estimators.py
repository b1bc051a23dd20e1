"""A `TPUEstimator` that trains on a TPU only if a flag says so: the Estimator that it is else.

TF1 gives its input functions the batch size by `params`, takes what a `TPUEstimatorSpec` says as an
EstimatorSpec, and nothing of TPUs has a say. Where the flag asks for a TPU the program stops.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place, Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import root
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.parts import CUSTOM, EstimatorFlow
from migrate_mgpu.models.front.estimators.signatures import METHODS
from migrate_mgpu.models.front.estimators.visibility import is_visible
from migrate_mgpu.models.normalize.estimators.tpu_flags import is_off
from migrate_mgpu.source.blank_lines import blank_lines
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_KEY = "tpu-estimator"
_STOPS = 'raise ValueError("a TPU needs tf.distribute.TPUStrategy")'
_KEPT = ("model_fn", "model_dir", "config", "params", "warm_start_from")
ESTIMATOR = (
    "model_fn", "model_dir", "config", "params", "use_tpu", "train_batch_size", "eval_batch_size",
    "predict_batch_size", "batch_axis", "eval_on_tpu", "export_to_tpu", "export_to_cpu",
    "warm_start_from",
)  # fmt: skip
# Of what a RunConfig for TPUs is given besides what every other one is.
_CONFIG = ("tpu_config", "evaluation_master", "master", "cluster")
_SPEC = (
    "mode", "predictions", "loss", "train_op", "eval_metrics", "export_outputs", "scaffold_fn",
    "host_call", "training_hooks", "evaluation_hooks", "prediction_hooks",
)  # fmt: skip
_BATCH = "batch_size"
_NOTHING = ("scaffold_fn", "host_call")
_FLAG = "give `use_tpu` a flag whose default is False"


def _stays(module: Module, node: ast.AST, reason: str, advice: str = "") -> Refused:
    return Refused(module, node, reason, advice or "make it a tf.estimator.Estimator first")


@record()
class _Edits:
    edits: dict[Module, list[Edit]] = field(default_factory=dict)

    def edit(self, module: Module, *edits: Edit) -> None:
        self.edits.setdefault(module, []).extend(edits)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits that make it an Estimator; none for any other.

    Raises:
        Refused: it may train on a TPU, or something of it is not known to be the same without.
    """
    if flow.kind != CUSTOM or flow.class_name != "TPUEstimator":
        return {}
    return _Restated(flow, graph).run()


def tell(flow: EstimatorFlow, graph: CallGraph) -> list[Diagnostic]:
    """What is left out."""
    arguments = arguments_of(flow.module, flow.call, ESTIMATOR)
    if constant(flow.module.names.assigned(arguments.get("use_tpu"))) is False:
        return []
    text = (
        "the TPUEstimator trains as the Estimator that it is without a TPU, and the program stops "
        "where its flag asks for one: under a tf.distribute.TPUStrategy the Keras model trains "
        "there"
    )
    return [Diagnostic(_KEY, Place(flow.module, flow.call), text, code="MGPU401")]


class _Restated:
    def __init__(self, flow: EstimatorFlow, graph: CallGraph) -> None:
        self.flow = flow
        self.module = flow.module
        self.values = ValueFlow(graph)
        self.found = _Edits()
        self.arguments = arguments_of(flow.module, flow.call, ESTIMATOR)
        if set(self.arguments) - set(ESTIMATOR) or len(flow.call.args) > len(_KEPT) - 1:
            raise _stays(flow.module, flow.call, "a TPUEstimator that is given other arguments")
        self.params = ""  # the variable of what functions are given
        self.gone: dict[ast.stmt, Edit] = {}  # what only said that there is nothing

    def run(self) -> dict[Module, list[Edit]]:
        module, call = self.module, self.flow.call
        statement = module.names.statement(call)
        layout = Layout(module.source, statement)
        if not layout.owns_lines:
            raise _stays(module, statement, "the TPUEstimator shares its line with something")
        lines = self._guard(statement)
        self._model_fn()
        lines += self._params(statement)
        for mention in self.values.uses(module, call):
            assert mention.node is not None
            self._driven(mention.module, mention.node)
        if lines:
            self.found.edit(module, layout.insert_before(lines))
        edit = CallEdit(module.source, call, ESTIMATOR)
        edit.function(f"{root(module, call)}.estimator.Estimator")
        edit.drop(*(name for name in ESTIMATOR if name not in _KEPT))
        self.found.edit(module, *edit.edits())
        self._config()
        edits = self.found.edits.items()
        return {module: blank_lines(module.source, own) for module, own in edits}

    # -- whether it is for a TPU ---------------------------------------------------

    def _guard(self, statement: ast.stmt) -> list[str]:
        """The statements that stop a program which asks for a TPU."""
        use = self.arguments.get("use_tpu")
        if use is None:
            raise _stays(self.module, self.flow.call, "the TPUEstimator is for a TPU", _FLAG)
        if constant(self.module.names.assigned(use)) is False:
            return []
        if not is_off(self.module, use):
            text = "whether it is for a TPU is not said by a flag that is off unless it is given"
            raise _stays(self.module, use, text, _FLAG)
        return [
            f"if {self.module.source.code(use)}:",
            f"{self.module.source.indent_unit}{_STOPS}",
        ]

    # -- what it is given ----------------------------------------------------------

    def _params(self, statement: ast.stmt) -> list[str]:
        """The statement that names what an Estimator gives its functions, if that needs one."""
        node = self.arguments.get("params")
        if node is None:
            return []
        if isinstance(node, ast.Name):
            if _is_dictionary(self.module, node):
                self.params = node.id
                return []
        if not isinstance(node, ast.Dict):
            text = "`params` is not a dictionary that is written out"
            raise _stays(self.module, node, text)
        names = self.module.names
        self.params = names.fresh(names.scope_at(statement), "params", "model_params")
        text = self.module.source.code(node)
        if "\n" in text:
            text = "`params` is a dictionary of several lines"
            raise _stays(self.module, node, text, "give it a name")
        self.found.edit(self.module, Edit(*self.module.source.span(node), self.params))
        return [f"{self.params} = {text}"]

    def _config(self) -> None:
        node = self.arguments.get("config")
        if node is None:
            return
        for value in self.values.definitions(self.module, node):
            if value.is_none:
                continue
            module, made = value.module, value.node
            assert made is not None
            name = tensorflow_name(module, made.func) if isinstance(made, ast.Call) else ""
            if name == "estimator.RunConfig":
                continue
            known = name.endswith("RunConfig") and "tpu" in name
            if not isinstance(made, ast.Call) or not known or len(made.args) > len(_CONFIG):
                text = "how the TPUEstimator is configured here cannot be analyzed"
                raise _stays(module, made, text)
            edit = CallEdit(module.source, made, _CONFIG)
            edit.function(f"{root(module, made)}.estimator.RunConfig")
            gone = [edit.get(one) for one in _CONFIG]
            edit.drop(*_CONFIG)
            self.found.edit(module, *edit.edits())
            mentioned = [part for one in gone if one is not None for part in walk(one)]
            for part in mentioned:
                if isinstance(part, ast.Name):
                    self._forget(module, part)

    def _forget(self, module: Module, node: ast.Name) -> None:
        """A variable that only said something of a TPU goes with what was given it."""
        names = module.names
        home = names.defining_scope(node.id, names.scope_of_name[node])
        binding = names.only_binding(node)
        if home is None or binding is None or binding.value is None:
            return
        loads = [m for m in names.mentions(node.id, home) if isinstance(m.ctx, ast.Load)]
        statement = names.statement(binding.node)
        calls = [part for part in walk(binding.value) if isinstance(part, ast.Call)]
        told = [made.func for made in calls] or [binding.value]
        if loads != [node] or not (is_none(binding.value) or _are_of_tpus(module, told)):
            return
        layout = Layout(module.source, statement)
        if layout.owns_lines and isinstance(statement, ast.Assign):
            self.found.edit(module, layout.replace([]))

    # -- its model_fn ----------------------------------------------------------------

    def _model_fn(self) -> None:
        """TF1 makes an EstimatorSpec of each TPUEstimatorSpec."""
        node = self.arguments.get("model_fn")
        if node is None:
            raise _stays(self.module, self.flow.call, "this TPUEstimator has no model_fn")
        origins = self.values.definitions(self.module, node)
        if len(origins) != 1 or origins[0].node is None:
            raise _stays(self.module, node, "which model_fn it gets is decided elsewhere")
        function = self.values.graph.target(origins[0].module, origins[0].node)
        if function is None or not isinstance(function.node, ast.FunctionDef):
            text = "its model_fn is not a function that the run defines"
            raise _stays(self.module, node, text, "give the Estimator a function by its name")
        module, inside = function.module, dict.fromkeys(ast.walk(function.node))
        for part in inside:
            if isinstance(part, ast.Name) and part.id == "params":
                read = module.names.parents[part]
                if not isinstance(read, (ast.Attribute, ast.Delete, ast.Subscript)):
                    text = "`params` is handed on, to which TF1 adds two items of its own"
                    raise _stays(module, part, text)
            asked = constant(part) if isinstance(part, ast.expr) else None
            if asked in (_BATCH, "use_tpu"):
                text = f"the model_fn may ask for `{asked}`, which TF1 adds to `params`"
                raise _stays(module, part, text)
        for call in [c for c in module.names.calls if c in inside]:
            last = tensorflow_name(module, call.func).rpartition(".")[2]
            if last == "CrossShardOptimizer":
                text = "a CrossShardOptimizer, which is for TPUs, is not made by the flag alone"
                raise _stays(module, call, text, "make it where `if use_tpu:` says so")
            if last == "TPUEstimatorSpec":
                self._spec(module, call)
        self.found.edit(module, *self.gone.values())

    def _spec(self, module: Module, call: ast.Call) -> None:
        edit = CallEdit(module.source, call, _SPEC)
        if len(call.args) > _SPEC.index("eval_metrics"):
            raise _stays(module, call, "a TPUEstimatorSpec with many arguments by place")
        for name in _NOTHING:
            value = edit.given(name)
            if value is not None and not self._is_never_given(module, value):
                text = f"the TPUEstimatorSpec has a `{name}`"
                raise _stays(module, value, text, "leave it out, or make it for a TPU alone")
        edit.function(f"{root(module, call)}.estimator.EstimatorSpec")
        metrics = edit.given("eval_metrics")
        text = self._metrics(module, metrics) if metrics is not None else ""
        edit.drop("eval_metrics", *_NOTHING)
        if text:
            edit.add("eval_metric_ops", text)
        self.found.edit(module, *edit.edits())

    def _is_never_given(self, module: Module, node: ast.expr) -> bool:
        """Whether a variable is None, which says that there is nothing; it goes with its uses."""
        if not isinstance(node, ast.Name) or not is_none(module.names.assigned(node)):
            return False
        home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
        binding = module.names.only_binding(node)
        if home is None or binding is None:
            return False
        statement = module.names.statement(binding.node)
        layout = Layout(module.source, statement)
        loads = [m for m in module.names.mentions(node.id, home) if isinstance(m.ctx, ast.Load)]
        takers = [module.names.parents[mention] for mention in loads]
        told = all(isinstance(one, ast.keyword) and one.arg in _NOTHING for one in takers)
        if told and layout.owns_lines and len(module.names.block(statement)) > 1:
            self.gone.setdefault(statement, Edit(layout.line_start, layout.next_line, ""))
        return True

    def _metrics(self, module: Module, node: ast.expr) -> str:
        """`metric_fn(labels, logits)` for `(metric_fn, [labels, logits])`."""
        unclear = _stays(module, node, "which metrics an evaluation has cannot be determined")
        if isinstance(node, ast.Name):
            binding = module.names.only_binding(node)
            if binding is None or binding.value is None:
                raise unclear
            statement = module.names.statement(binding.node)
            home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
            mentions = module.names.mentions(node.id, home) if home is not None else []
            loads = [m for m in mentions if isinstance(m.ctx, ast.Load)]
            layout = Layout(module.source, statement)
            alone = len(module.names.block(statement)) < 2
            if loads != [node] or not layout.owns_lines or alone:
                raise unclear
            self.found.edit(module, layout.replace([]))
            node = binding.value
        if not isinstance(node, ast.Tuple) or len(node.elts) != 2:
            raise unclear
        function, given = node.elts
        code = module.source.code
        if not isinstance(function, (ast.Name, ast.Attribute)):
            raise unclear
        if isinstance(given, (ast.List, ast.Tuple)):
            parts = [code(one) for one in given.elts]
        elif isinstance(given, ast.Dict) and all(isinstance(constant(k), str) for k in given.keys):
            pairs = zip(given.keys, given.values)
            parts = [f"{constant(key)}={code(value)}" for key, value in pairs]
        else:
            raise unclear
        return f"{code(function)}({', '.join(parts)})"

    # -- what drives it ------------------------------------------------------------

    def _driven(self, module: Module, node: ast.expr) -> None:
        names = module.names
        parent = names.parents[node]
        call = names.parents[parent] if isinstance(parent, ast.Attribute) else None
        if isinstance(parent, ast.Assign):
            return
        driven = isinstance(parent, ast.Attribute) and parent.attr in METHODS
        if not driven or not isinstance(call, ast.Call) or call.func is not parent:
            raise _stays(module, node, "how the TPUEstimator is used here cannot be analyzed")
        assert isinstance(parent, ast.Attribute)
        arguments = arguments_of(module, call, METHODS[parent.attr])
        given = arguments.get("input_fn")
        if given is None:
            raise _stays(module, call, "the TPUEstimator is given no input function here")
        kind = {"train": "train", "evaluate": "eval"}.get(parent.attr, "predict")
        self._input(module, given, self.arguments.get(f"{kind}_batch_size"))

    def _input(self, module: Module, node: ast.expr, size: ast.expr | None) -> None:
        """An input function is given the batch size, as a part of `params`."""
        source = module.source
        text = ""
        if size is not None:
            if not is_visible(self.module, size, node, module):
                text = "the batch size that TF1 adds to `params` is not known here"
                raise _stays(module, node, text)
            text = self.module.source.code(size)
        if isinstance(node, ast.Lambda):
            self._lambda(module, node, text)
            return
        visible = not self.params or module is self.module
        if not visible or not isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
            text = "what TF1 gives this input function by `params` cannot be written here"
            raise _stays(module, node, text)
        quote = source.quote
        pairs = [f"**{self.params}"] if self.params else []
        pairs += [f"{quote}{_BATCH}{quote}: {text}"] if text else []
        made = f"lambda: {source.code(node)}(params={{{', '.join(pairs)}}})"
        self.found.edit(module, Edit(*source.span(node), made))

    def _lambda(self, module: Module, node: ast.Lambda, size: str) -> None:
        """`lambda params: data(x, params["batch_size"])`: the number itself."""
        arguments = node.args
        names = [a.arg for a in arguments.args]
        unclear = _stays(module, node, "what this input function does with `params` is not known")
        if names != ["params"] or arguments.kwonlyargs or arguments.vararg or arguments.defaults:
            raise unclear
        parents = module.names.parents
        reads = [
            part
            for part in ast.walk(node.body)
            if isinstance(part, ast.Name) and part.id == "params"
        ]
        for read in reads:
            item = parents[read]
            if not isinstance(item, ast.Subscript) or constant(item.slice) != _BATCH or not size:
                raise unclear
            self.found.edit(module, Edit(*module.source.span(item), size))
        start = module.source.span(arguments.args[0])
        text = module.source.text
        begin = text.rindex("lambda", 0, start[0]) + len("lambda")
        self.found.edit(module, Edit(begin, start[1], ""))


def _are_of_tpus(module: Module, nodes: list[ast.expr]) -> bool:
    """Whether expressions are names of TensorFlow's for TPUs."""
    return all("tpu" in tensorflow_name(module, node).lower() for node in nodes)


def _is_dictionary(module: Module, node: ast.Name) -> bool:
    """Whether a variable has a dictionary that is written out, or that `vars` gives."""
    binding = module.names.only_binding(node)
    value = binding.value if binding is not None else None
    if isinstance(value, ast.Dict):
        return True
    called = module.names.qualname(value.func) if isinstance(value, ast.Call) else ""
    return called in ("builtins.dict", "builtins.vars")
