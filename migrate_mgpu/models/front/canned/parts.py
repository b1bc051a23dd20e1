"""The parts of a canned Estimator: a linear one, a dense one, or both; what each is given."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.models.front.canned.column_names import LISTED, STOPS
from migrate_mgpu.models.front.canned.column_objects import (
    check_column_objects,
    may_embed,
    shared_columns,
)
from migrate_mgpu.models.front.canned.columns import ColumnReader
from migrate_mgpu.models.front.canned.optimizer import read_part_optimizer
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.ir import FeatureColumn, Optimizer, Part, SharedColumns
from migrate_mgpu.models.properties import embeds, is_category, moves_same_rows, updates_rows

_ADVICE = "write its model in Keras"
# What 1.15 takes for each part by default: alone, and beside the other one.
_DEFAULTS = {
    ("linear", False): ("Ftrl", 0.2),
    ("dnn", False): ("Adagrad", 0.05),
    ("linear", True): ("Ftrl", 0.005),
    ("dnn", True): ("Adagrad", 0.001),
}


def read_parts(
    flow: EstimatorFlow, graph: CallGraph, distributed: bool, as_objects: bool = False
) -> list[Part]:
    """The parts of an Estimator, in the order in which 1.15 makes their variables.

    ``as_objects``: their columns are those that the program makes when it runs.

    Raises:
        Refused: a column, an optimizer or a setting that is not known.
    """
    reader = _PartReader(flow, graph, distributed, as_objects)
    kinds = ["linear" if flow.class_name.startswith("Linear") else "dnn"]
    if reader.combined:
        kinds = ["dnn", "linear"]
    parts = [reader.part(kind) for kind in kinds]
    gone = {node for part in parts for s in part.statements for node in ast.walk(s)}
    for index, (kind, part) in enumerate(zip(kinds, parts)):
        keys = part.numbers.keys if part.numbers is not None else ()
        if any(key.call in gone for key in keys):  # its list goes with the others
            parts[index] = reader.part(kind, as_numbers=False)
    reader.check_optimizers(parts)
    return parts


class _PartReader:
    def __init__(
        self, flow: EstimatorFlow, graph: CallGraph, distributed: bool, as_objects: bool
    ) -> None:
        self.as_objects = as_objects
        self.flow = flow
        self.module = flow.module
        self.graph = graph
        self.distributed = distributed
        self.combined = flow.combines

    def part(self, kind: str, as_numbers: bool = True) -> Part:
        """A part; its columns one by one if not ``as_numbers``."""
        linear = kind == "linear"
        prefix = f"{kind}_" if self.combined else ""
        name = f"{prefix}feature_columns"
        node = self.flow.arguments.get(name)
        if node is None:
            raise Refused(self.module, self.flow.call, f"an Estimator without {name}", _ADVICE)
        reader = ColumnReader(self.module, self.graph)
        numbers = reader.numbers(node) if as_numbers and not self.as_objects else None
        columns = reader.read(node) if numbers is None and not self.as_objects else ()
        for column in sorted(columns, key=lambda column: column.name):
            self._check_column(column, node, linear)
        default = _DEFAULTS[kind, self.combined]
        optimizer = read_part_optimizer(self.flow, f"{prefix}optimizer", default)
        self._check_rows(columns, optimizer.optimizer, linear)
        shared: list[SharedColumns] = []
        if self.as_objects:
            self._check_objects(node, optimizer.optimizer, linear)
            shared = shared_columns(self.flow.modules)
        if shared and (linear or self.combined):
            raise Refused(
                self.module, node, "shared embedding columns in a linear part, or beside one",
                "give each column a table of its own, or write the network as a Keras model",
            )  # fmt: skip
        made = [optimizer.statement] if optimizer.statement is not None else []
        settings = {} if linear else self._settings(prefix)
        return Part(
            linear,
            prefix,
            optimizer,
            settings,
            numbers,
            columns,
            node if self.as_objects else None,
            (*reader.statements, *made),
            tuple(reader.comments),
            tuple(shared),
            not linear and constant(self.flow.arguments.get("batch_norm")) is True,
        )

    def _check_column(self, column: FeatureColumn, node: ast.expr, linear: bool) -> None:
        if is_category(column) and not linear:
            raise Refused(
                self.module, node, f"`{column.name}` is a category without an indicator or "
                "embedding", "put it into an indicator_column or an embedding_column", STOPS,
            )  # fmt: skip
        if column.texts and self.distributed:
            raise Refused(
                self.module, node, f"`{column.name}` is a text, or may be one: Keras 3 does "
                "not give texts to several replicas", "make it a number in the input function",
            )  # fmt: skip

    def _settings(self, prefix: str) -> dict[str, ast.expr]:
        """What a dense part is given for its layers."""
        arguments = self.flow.arguments
        if f"{prefix}hidden_units" not in arguments:
            raise Refused(self.module, self.flow.call, f"an Estimator without {prefix}hidden_units")
        names = ("hidden_units", "activation_fn", "dropout")
        return {name: arguments[prefix + name] for name in names if prefix + name in arguments}

    def _check_rows(
        self, columns: tuple[FeatureColumn, ...], optimizer: Optimizer, linear: bool
    ) -> None:
        ftrl = optimizer.kind == "ftrl"
        if ftrl and any(map(embeds, columns)):
            raise Refused(
                self.module, self.flow.call, "TF1's Ftrl updates only the rows of an embedding "
                "that a batch uses", "use Adam, Adagrad or gradient descent",
            )  # fmt: skip
        rows = any(updates_rows(column, linear) for column in columns)
        if rows and not moves_same_rows(optimizer, from_zero=True):
            raise Refused(
                self.module, self.flow.call, "TF1 updates only the rows of a category that a batch "
                "uses, which is something else with this optimizer",
                "use Adam, Adagrad or gradient descent",
            )  # fmt: skip
        if self.distributed and ftrl:
            raise Refused(
                self.module, self.flow.call, "Ftrl under a strategy: 1.15 does not run it",
                "give the Estimator another optimizer",
            )  # fmt: skip

    def _check_objects(self, node: ast.expr, optimizer: Optimizer, linear: bool) -> None:
        """Of columns that nobody knows yet: whatever they are, they train as in TF1."""
        check_column_objects(self.flow.module, self.flow.modules, node)
        rows = linear or may_embed(self.module)
        same = moves_same_rows(optimizer, from_zero=linear) or not rows
        if self.distributed or not same:
            text = "which feature columns these are cannot be determined"
            raise Refused(self.module, node, text, LISTED)
        for name in ("sparse_combiner", "linear_sparse_combiner"):
            combiner = self.flow.arguments.get(name)
            if linear and combiner is not None and constant(combiner) != "sum":
                raise Refused(self.module, combiner, f"`{name}` of columns that are not known")

    def check_optimizers(self, parts: list[Part]) -> None:
        """One Adam of both parts counts two steps in each: nothing in Keras does."""
        made = {part.optimizer.made for part in parts}
        shared = len(parts) == 2 and len(made) == 1 and None not in made
        if shared and parts[0].optimizer.optimizer.kind == "adam":
            raise Refused(
                self.module, self.flow.call, "both parts have one Adam, whose steps count twice",
                "give each part its own optimizer",
            )  # fmt: skip
