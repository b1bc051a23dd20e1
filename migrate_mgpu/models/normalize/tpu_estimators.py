"""A `TPUEstimator` that trains on a TPU only if a flag says so: the Estimator that it is else.

TF1 gives its input functions the batch size by `params`, takes what a `TPUEstimatorSpec` says as an
EstimatorSpec, and nothing of TPUs has a say. Where the flag asks for a TPU the program stops.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.reaching_definitions import assigned
from migrate_mgpu.analysis.style import root
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.parts import CUSTOM, EstimatorFlow
from migrate_mgpu.models.front.estimators.signatures import METHODS
from migrate_mgpu.models.front.estimators.visibility import is_visible
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


class _Stays(Exception):
    """Something of it is not known to be the same in an Estimator."""


@record()
class _Edits:
    edits: dict[Module, list[Edit]] = field(default_factory=dict)

    def edit(self, module: Module, *edits: Edit) -> None:
        self.edits.setdefault(module, []).extend(edits)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits that make it an Estimator; none where it may train on a TPU, or differs else."""
    if flow.kind != CUSTOM or flow.class_name != "TPUEstimator":
        return {}
    try:
        return _Restated(flow, graph).run()
    except _Stays:
        return {}


def tell(flow: EstimatorFlow, graph: CallGraph) -> list[Diagnostic]:
    """What is left out."""
    arguments = arguments_of(flow.module, flow.call, ESTIMATOR)
    if constant(assigned(flow.module, arguments.get("use_tpu"))) is False:
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
            raise _Stays
        self.flag = ""  # the expression that asks for a TPU
        self.params = ""  # the variable of what functions are given

    def run(self) -> dict[Module, list[Edit]]:
        module, call = self.module, self.flow.call
        statement = module.names.statement(call)
        layout = Layout(module.source, statement)
        if not layout.owns_lines:
            raise _Stays
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
        return self.found.edits

    # -- whether it is for a TPU ---------------------------------------------------

    def _guard(self, statement: ast.stmt) -> list[str]:
        """The statements that stop a program which asks for a TPU."""
        use = self.arguments.get("use_tpu")
        if use is None:
            raise _Stays  # it is for a TPU
        if constant(assigned(self.module, use)) is False:
            return []
        if not _is_off(self.module, use):
            raise _Stays
        self.flag = self.module.source.code(use)
        return [
            f"if {self.flag}:",
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
            raise _Stays
        if not isinstance(node, ast.Dict):
            raise _Stays
        names = self.module.names
        self.params = names.fresh(names.scope_at(statement), "params", "model_params")
        text = self.module.source.code(node)
        if "\n" in text:
            raise _Stays
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
            if not isinstance(made, ast.Call):
                raise _Stays
            name = tensorflow_name(module, made.func)
            if not name.endswith("RunConfig") or "tpu" not in name:
                if name == "estimator.RunConfig":
                    continue
                raise _Stays
            edit = CallEdit(module.source, made, _CONFIG)
            if len(made.args) > len(_CONFIG):
                raise _Stays
            edit.function(f"{root(module, made)}.estimator.RunConfig")
            gone = [edit.get(one) for one in _CONFIG]
            edit.drop(*_CONFIG)
            self.found.edit(module, *edit.edits())
            for one in gone:
                self._forget(module, one)

    def _forget(self, module: Module, node: ast.expr | None) -> None:
        """A variable that only said something of a TPU goes with what was given it."""
        if not isinstance(node, ast.Name):
            return
        names = module.names
        home = names.defining_scope(node.id, names.scope_of_name[node])
        binding = names.only_binding(node)
        if home is None or binding is None or binding.value is None:
            return
        loads = [m for m in names.mentions(node.id, home) if isinstance(m.ctx, ast.Load)]
        statement = names.statement(binding.node)
        calls = [part for part in ast.walk(binding.value) if isinstance(part, ast.Call)]
        if loads != [node] or not calls:
            return
        if any("tpu" not in tensorflow_name(module, made.func).lower() for made in calls):
            return
        layout = Layout(module.source, statement)
        if layout.owns_lines and isinstance(statement, ast.Assign):
            self.found.edit(module, layout.replace([]))

    # -- its model_fn ----------------------------------------------------------------

    def _model_fn(self) -> None:
        """TF1 makes an EstimatorSpec of each TPUEstimatorSpec."""
        node = self.arguments.get("model_fn")
        if node is None:
            raise _Stays
        origins = self.values.definitions(self.module, node)
        if len(origins) != 1 or origins[0].node is None:
            raise _Stays
        function = self.values.graph.target(origins[0].module, origins[0].node)
        if function is None or not isinstance(function.node, ast.FunctionDef):
            raise _Stays
        module, inside = function.module, set(ast.walk(function.node))
        for part in inside:
            if isinstance(part, ast.Name) and part.id == "params":
                read = module.names.parents[part]
                if not isinstance(read, (ast.Attribute, ast.Delete, ast.Subscript)):
                    raise _Stays  # TF1 adds two items of its own
            text = constant(part) if isinstance(part, ast.expr) else None
            if text in (_BATCH, "use_tpu"):
                raise _Stays
        for call in [c for c in module.names.calls if c in inside]:
            last = tensorflow_name(module, call.func).rpartition(".")[2]
            if last == "CrossShardOptimizer":
                self._shards(module, call)
            if last == "TPUEstimatorSpec":
                self._spec(module, call)

    def _shards(self, module: Module, call: ast.Call) -> None:
        """`if use_tpu: optimizer = CrossShardOptimizer(optimizer)` is for a TPU alone."""
        names = module.names
        statement = names.statement(call)
        parent = names.parents[statement]
        same = isinstance(parent, ast.If) and not parent.orelse and parent.body == [statement]
        if not same or not isinstance(parent, ast.If) or module is not self.module:
            raise _Stays
        if module.source.code(parent.test) != self.flag:
            raise _Stays
        layout = Layout(module.source, parent)
        if not layout.owns_lines or names.block(parent) == [parent]:
            raise _Stays
        self.found.edit(module, layout.replace([]))

    def _spec(self, module: Module, call: ast.Call) -> None:
        edit = CallEdit(module.source, call, _SPEC)
        for name in ("scaffold_fn", "host_call"):
            if edit.given(name) is not None:
                raise _Stays
        edit.function(f"{root(module, call)}.estimator.EstimatorSpec")
        metrics = edit.given("eval_metrics")
        text = self._metrics(module, metrics) if metrics is not None else ""
        positional = len(call.args) > _SPEC.index("eval_metrics")
        if positional:
            raise _Stays
        edit.drop("eval_metrics", "scaffold_fn", "host_call")
        if text:
            edit.add("eval_metric_ops", text)
        self.found.edit(module, *edit.edits())

    def _metrics(self, module: Module, node: ast.expr) -> str:
        """`metric_fn(labels, logits)` for `(metric_fn, [labels, logits])`."""
        statement = None
        if isinstance(node, ast.Name):
            binding = module.names.only_binding(node)
            if binding is None or binding.value is None:
                raise _Stays
            statement = module.names.statement(binding.node)
            home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
            mentions = module.names.mentions(node.id, home) if home is not None else []
            loads = [m for m in mentions if isinstance(m.ctx, ast.Load)]
            layout = Layout(module.source, statement)
            if loads != [node] or not layout.owns_lines:
                raise _Stays
            if len(module.names.block(statement)) < 2:
                raise _Stays
            self.found.edit(module, layout.replace([]))
            node = binding.value
        if not isinstance(node, ast.Tuple) or len(node.elts) != 2:
            raise _Stays
        function, given = node.elts
        code = module.source.code
        if not isinstance(function, (ast.Name, ast.Attribute)):
            raise _Stays
        if isinstance(given, (ast.List, ast.Tuple)):
            parts = [code(one) for one in given.elts]
        elif isinstance(given, ast.Dict) and all(isinstance(constant(k), str) for k in given.keys):
            pairs = zip(given.keys, given.values)
            parts = [f"{constant(key)}={code(value)}" for key, value in pairs]
        else:
            raise _Stays
        return f"{code(function)}({', '.join(parts)})"

    # -- what drives it ------------------------------------------------------------

    def _driven(self, module: Module, node: ast.expr) -> None:
        names = module.names
        parent = names.parents[node]
        call = names.parents[parent] if isinstance(parent, ast.Attribute) else None
        if not isinstance(parent, ast.Attribute):
            if isinstance(parent, ast.Assign):
                return
            raise _Stays
        if not isinstance(call, ast.Call) or call.func is not parent:
            raise _Stays
        if parent.attr not in METHODS:
            raise _Stays
        arguments = arguments_of(module, call, METHODS[parent.attr])
        given = arguments.get("input_fn")
        if given is None:
            raise _Stays
        kind = {"train": "train", "evaluate": "eval"}.get(parent.attr, "predict")
        self._input(module, given, self.arguments.get(f"{kind}_batch_size"))

    def _input(self, module: Module, node: ast.expr, size: ast.expr | None) -> None:
        """An input function is given the batch size, as a part of `params`."""
        source = module.source
        text = ""
        if size is not None:
            if not is_visible(self.module, size, node, module):
                raise _Stays
            text = self.module.source.code(size)
        if isinstance(node, ast.Lambda):
            self._lambda(module, node, text)
            return
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
            raise _Stays
        if self.params and module is not self.module:
            raise _Stays
        quote = source.quote
        pairs = [f"**{self.params}"] if self.params else []
        pairs += [f"{quote}{_BATCH}{quote}: {text}"] if text else []
        made = f"lambda: {source.code(node)}(params={{{', '.join(pairs)}}})"
        self.found.edit(module, Edit(*source.span(node), made))

    def _lambda(self, module: Module, node: ast.Lambda, size: str) -> None:
        """`lambda params: data(x, params["batch_size"])`: the number itself."""
        arguments = node.args
        names = [a.arg for a in arguments.args]
        if names != ["params"] or arguments.kwonlyargs or arguments.vararg or arguments.defaults:
            raise _Stays
        parents = module.names.parents
        reads = [
            part
            for part in ast.walk(node.body)
            if isinstance(part, ast.Name) and part.id == "params"
        ]
        for read in reads:
            item = parents[read]
            if not isinstance(item, ast.Subscript) or constant(item.slice) != _BATCH or not size:
                raise _Stays
            self.found.edit(module, Edit(*module.source.span(item), size))
        start = module.source.span(arguments.args[0])
        text = module.source.text
        begin = text.rindex("lambda", 0, start[0]) + len("lambda")
        self.found.edit(module, Edit(begin, start[1], ""))


def _is_dictionary(module: Module, node: ast.Name) -> bool:
    """Whether a variable has a dictionary that is written out, or that `vars` gives."""
    binding = module.names.only_binding(node)
    value = binding.value if binding is not None else None
    if isinstance(value, ast.Dict):
        return True
    called = module.names.qualname(value.func) if isinstance(value, ast.Call) else ""
    return called in ("builtins.dict", "builtins.vars")


def _is_off(module: Module, node: ast.expr) -> bool:
    """`FLAGS.use_tpu` and `args.use_tpu` whose default is False."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    for call in module.names.calls:
        name = constant(call.args[0]) if call.args else None
        if not isinstance(name, str) or name.lstrip("-").replace("-", "_") != node.attr:
            continue
        shown = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        default = given.get("default")
        if shown.startswith("DEFINE_bool"):
            default = call.args[1] if len(call.args) > 1 else default
            return default is not None and constant(default) is False
        if shown == "add_argument":
            if constant(given.get("action")) == "store_true":
                return default is None or constant(default) is False
            return False
    return False
