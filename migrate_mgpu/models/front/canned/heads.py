"""Which head a canned Estimator has: its class says it, or the head that it is given.

Measured on 1.15.5: a head of its own takes the mean of a batch as its loss, the classes'
own ones the sum; weights count in every metric.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.api.heads import HEADS, HeadRow, Task
from migrate_mgpu.api.losses import REDUCTIONS, Reduction
from migrate_mgpu.models.front.canned.column_names import changes
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.ir import Head

_ADVICE = "write its model in Keras"


def read_head(flow: EstimatorFlow, graph: CallGraph) -> Head:
    """The head of an Estimator.

    Raises:
        Refused: a head, or something that it is given, which is not known.
    """
    module = flow.module
    if not flow.class_name.endswith("Estimator"):
        return _HeadReader(flow, flow.class_name, flow.arguments, graph).of_class()
    node = flow.arguments.get("head")
    if node is None:
        raise Refused(module, flow.call, "an Estimator without a head")
    statement: ast.stmt | None = None
    call: ast.expr = node
    if isinstance(node, ast.Name):
        made = module.names.only_value(node)
        assign = module.names.statement(made) if made is not None else None
        if isinstance(assign, ast.Assign) and made is not None:
            statement, call = assign, made
    name = tensorflow_name(module, call.func) if isinstance(call, ast.Call) else ""
    row = HEADS.by_name.get(name)
    if row is None or not isinstance(call, ast.Call):
        shown = module.source.code(call.func if isinstance(call, ast.Call) else call)
        raise Refused(module, node, f"the head `{shown}`", _ADVICE)
    arguments = arguments_of(module, call, row.signature)
    shown = name.rpartition(".")[2]
    return _HeadReader(flow, shown, arguments, graph).read(row, call, statement)


class _HeadReader:
    """Reads a head that is shown to its author as ``shown``."""

    def __init__(
        self,
        flow: EstimatorFlow,
        shown: str,
        arguments: Mapping[str, ast.expr],
        graph: CallGraph,
    ) -> None:
        self.flow = flow
        self.graph = graph
        self.module = flow.module
        self.shown = shown
        self.arguments = arguments

    def of_class(self) -> Head:
        """The head that the Estimator's own class says."""
        if self.flow.class_name.endswith("Regressor"):
            row = HEADS.by_kind["number"]
        else:
            two = self._classes() == 2
            row = HEADS.by_kind["two_classes" if two else "classes"]
        return self.read(row, self.flow.call)

    def read(self, row: HeadRow, node: ast.Call, statement: ast.stmt | None = None) -> Head:
        arguments, module = self.arguments, self.module
        for parameter in row.parameters:
            value = arguments.get(parameter.name)
            if parameter.reason and value is not None:
                raise Refused(module, value, parameter.reason.format(shown=self.shown), _ADVICE)
        weights, words = self._weights(), self._words()
        given = node is not self.flow.call
        reduction = self._reduction(given, weights is not None)
        dimension = arguments.get("label_dimension")
        if row.task is Task.NUMBER and dimension is not None and constant(dimension) != 1:
            raise Refused(module, dimension, "a regression of several numbers", _ADVICE)
        if row.task is Task.CLASSES:
            self._classes()
        return Head(
            row.kind,
            module,
            node,
            arguments,
            reduction,
            stated=given or "loss_reduction" in arguments,
            weights=weights,
            words=words if row.task is not Task.NUMBER else None,
            classes=arguments.get("n_classes") if row.task is Task.CLASSES else None,
            statement=statement,
        )

    def _reduction(self, given: bool, weighted: bool) -> Reduction:
        """What becomes of the examples' losses: their sum or, in any other way, their mean."""
        value = self.arguments.get("loss_reduction")
        if value is None:
            return Reduction.BATCH if given else Reduction.SUM
        name = tensorflow_name(self.module, value).rpartition(".")[2]
        found = REDUCTIONS.get(name, Reduction.NONE)
        if found is Reduction.NONE:
            raise Refused(self.module, value, "which loss_reduction this is cannot be determined")
        if weighted and found not in (Reduction.SUM, Reduction.BATCH):
            raise Refused(self.module, value, "a loss that is divided by its weights", _ADVICE)
        return found

    def _weights(self) -> ast.expr | None:
        """The key of the feature that examples are weighted by."""
        node, module = self.arguments.get("weight_column"), self.module
        value = module.names.assigned(node)
        if node is None or value is None or is_none(value):
            return None
        written = isinstance(node, ast.Constant) or is_constant(module, node)
        if not written or not isinstance(constant(value), str):
            raise Refused(
                module, node, f"`weight_column` of this {self.shown} is not the key of a feature",
                "name the feature by a text, or by a constant of the module",
            )  # fmt: skip
        return node

    def _words(self) -> ast.expr | None:
        """The list of the texts that labels are."""
        node, module = self.arguments.get("label_vocabulary"), self.module
        if node is None:
            return None
        value = module.names.assigned(node)
        written = value is node or is_constant(module, node)
        parts = value.elts if isinstance(value, (ast.List, ast.Tuple)) and written else []
        if not parts or not all(isinstance(constant(part), str) for part in parts):
            raise Refused(
                module, node, f"the `label_vocabulary` of this {self.shown} is not a list literal",
                "write it as a list, here or as a constant of the module",
            )  # fmt: skip
        if self.flow.distribution.training:
            raise Refused(
                module, node, "labels that are texts: Keras 3 does not give texts to several "
                "replicas", "make them numbers in the input function",
            )  # fmt: skip
        return node

    def _classes(self) -> int:
        """How many classes there are."""
        node = self.arguments.get("n_classes")
        known = 2 if node is None else _count(self.module, self.module.names.assigned(node))
        if not isinstance(known, int) and node is not None:
            known = self._handed(node)
        if not isinstance(known, int):
            raise Refused(
                self.module, node or self.flow.call,
            "how many classes there are cannot be determined",
                "write the number out",
            )  # fmt: skip
        return known

    def _handed(self, node: ast.expr) -> object:
        """A number that parameters, their defaults or attributes hand on; None where it varies."""
        origins = ValueFlow(self.graph).definitions(self.module, node)
        if any(one.node is None for one in origins):
            return None
        counts = {_count(one.module, one.node) for one in origins}
        return counts.pop() if len(counts) == 1 else None


def is_constant(module: Module, node: ast.expr) -> bool:
    """Whether a name is a variable of the module, which nothing changes."""
    if not isinstance(node, ast.Name):
        return False
    home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
    return home is not None and home.is_module and not changes(module, node)


def _count(module: Module, node: ast.expr | None) -> object:
    """A number that is written out, or `len` of a list that is; else None."""
    if isinstance(node, ast.Call) and module.names.qualname(node.func) == "builtins.len":
        listed = node.args[0] if len(node.args) == 1 else None
        words = module.names.assigned(listed)
        if isinstance(words, (ast.List, ast.Tuple)) and listed is not None:
            fixed = is_constant(module, listed) and not any(
                isinstance(word, ast.Starred) for word in words.elts
            )
            return len(words.elts) if fixed else None
    return constant(node)
