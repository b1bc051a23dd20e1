"""`tf.contrib.learn.Estimator` as the `tf.estimator.Estimator` that does the same.

``fit`` becomes ``train``, ``ModelFnOps`` an `EstimatorSpec`, and the parameters of the model_fn
get the names that `tf.estimator` knows them by. One that is given arrays (``fit(x=...)``), or does
what only `tf.contrib.learn` does, stays; so does one that predicts: it ends with the first batch
where no queue feeds it.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.removal import binds_only_removed
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_paragraph

_ESTIMATOR = ("model_fn", "model_dir", "config", "params", "feature_engineering_fn")
_OPS = ("mode", "predictions", "loss", "train_op", "eval_metric_ops")
_METHODS = {
    "fit": ("x", "y", "input_fn", "steps", "batch_size", "monitors", "max_steps"),
    "evaluate": (
        "x", "y", "input_fn", "feed_fn", "batch_size", "steps", "metrics", "name",
        "checkpoint_path", "hooks", "log_progress",
    ),
}  # fmt: skip
_ARRAYS = {"x", "y", "batch_size", "feed_fn", "metrics"}
_MODES = {"TRAIN": "TRAIN", "EVAL": "EVAL", "INFER": "PREDICT"}


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of one Estimator with its model_fn; none for another form."""
    found = _Restated(flow, ValueFlow(graph))
    return found.edits if found.restated() else {}


class _Restated:
    def __init__(self, flow: EstimatorFlow, values: ValueFlow) -> None:
        self.flow = flow
        self.values = values
        self.edits: dict[Module, list[Edit]] = {}
        self.gone: dict[Module, set[ast.AST]] = {}  # names that are written otherwise

    def restated(self) -> bool:
        """Whether all of it has another form; its edits are there then."""
        module, call = self.flow.module, self.flow.call
        given = by_parameter(call, _ESTIMATOR)
        node = given.get("model_fn")
        if node is None or not given.keys() <= set(_ESTIMATOR[:4]):
            return False
        origins = self.values.definitions(module, node)
        if len(origins) != 1 or origins[0].node is None:
            return False
        function = self.values.graph.target(origins[0].module, origins[0].node)
        if function is None or not self._function(function):
            return False
        uses = self.values.uses(module, call)
        if not all(self._used(use.module, use.node) for use in uses if use.node is not None):
            return False
        self._named(module, call.func, "Estimator")
        for changed, gone in self.gone.items():
            for statement in changed.tensorflow_imports:
                if binds_only_removed(changed, statement, gone):
                    self._edit(changed, without_paragraph(changed.source, statement))
        return True

    def _edit(self, module: Module, *edits: Edit) -> None:
        self.edits.setdefault(module, []).extend(edits)

    def _named(self, module: Module, node: ast.expr, name: str) -> None:
        """A name of `tf.estimator` in the place of one of `tf.contrib.learn`."""
        tf = style_at(module, node).tensorflow
        self._edit(module, Edit(*module.source.span(node), f"{tf}.estimator.{name}"))
        self.gone.setdefault(module, set()).add(node)

    def _function(self, function: Function) -> bool:
        """Whether a model_fn has another form: its parameters, modes and what it returns."""
        module, node = function.module, function.node
        names, own = module.names, node.args.args
        taken = [parameter.arg for parameter in own]
        if len(own) < 2 or not set(taken[2:]) <= {"mode", "params", "config"}:
            return False
        for parameter, name in zip(own, ("features", "labels")):
            if parameter.arg == name:
                continue
            scope = names.scopes[node]
            if name in scope.bindings or names.fresh(scope, name) != name:
                return False
            start, _ = module.source.span(parameter)
            self._edit(module, Edit(start, start + len(parameter.arg), name))
            for mention in names.mentions(parameter.arg, scope):
                self._edit(module, Edit(*module.source.span(mention), name))
        inside = set(ast.walk(node))
        for part in inside:
            if not isinstance(part, (ast.Attribute, ast.Name)):
                continue
            known = tensorflow_name(module, part)
            if not known.startswith("contrib.learn."):
                continue
            head, _, last = known.rpartition(".")
            if head.endswith(".ModeKeys") and last in _MODES:
                self._named(module, part, f"ModeKeys.{_MODES[last]}")
            elif last == "ModelFnOps":
                call = names.parents[part]
                if not isinstance(call, ast.Call) or call.func is not part:
                    return False
                if not by_parameter(call, _OPS).keys() <= set(_OPS):
                    return False
                self._named(module, part, "EstimatorSpec")
        return True

    def _used(self, module: Module, node: ast.expr) -> bool:
        """Whether a use of the Estimator has another form, or needs none."""
        names = module.names
        method, taker = names.parents[node], names.taker(node)
        if taker is not None and tensorflow_name(module, taker.func).endswith(".Experiment"):
            return True
        call = names.parents.get(method)
        if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call):
            return False
        signature = _METHODS.get(method.attr)
        if signature is None or call.func is not method:
            return False
        given = by_parameter(call, signature)
        if any(not is_none(given[name]) for name in _ARRAYS & given.keys()):
            return False
        if not given.keys() <= set(signature):
            return False
        edit = CallEdit(module.source, call, signature)
        edit.drop(*_ARRAYS, "log_progress")
        edit.rename("monitors", "hooks")
        edit.order(())
        self._edit(module, *edit.edits())
        if method.attr == "fit":
            end = module.source.span(method)[1]
            self._edit(module, Edit(end - len("fit"), end, "train"))
        return True
