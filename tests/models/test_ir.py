"""The model IR and the tables that it is read by: facts only, each row found by one kind."""

from __future__ import annotations

import ast
from importlib import resources

import pytest

from migrate_mgpu.api.feature_columns import COLUMNS
from migrate_mgpu.api.functions import FUNCTIONS
from migrate_mgpu.api.heads import HEADS, HeadRow
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.inputs import ARRAY_INPUTS
from migrate_mgpu.api.keras import LOSSES as COMPILED_LOSSES
from migrate_mgpu.api.keras import METRICS as COMPILED_METRICS
from migrate_mgpu.api.keras import MODELS, PARTS
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.losses import LOSSES
from migrate_mgpu.api.metrics import METRICS
from migrate_mgpu.api.optimizers import OPTIMIZERS
from migrate_mgpu.api.recurrent import CELLS, KERAS_LAYERS, RUNS
from migrate_mgpu.api.schedules import SCHEDULES
from migrate_mgpu.api.schema import Row, Table
from migrate_mgpu.api.strategies import STRATEGIES
from migrate_mgpu.api.variables import VARIABLES

TABLES = {
    "array_inputs": ARRAY_INPUTS,
    "cells": CELLS, "columns": COLUMNS, "compiled_losses": COMPILED_LOSSES,
    "compiled_metrics": COMPILED_METRICS, "functions": FUNCTIONS, "heads": HEADS,
    "initializers": INITIALIZERS,
    "keras_layers": KERAS_LAYERS, "keras_models": MODELS, "keras_parts": PARTS,
    "layers": LAYERS, "losses": LOSSES, "metrics": METRICS,
    "optimizers": OPTIMIZERS, "runs": RUNS, "schedules": SCHEDULES,
    "strategies": STRATEGIES, "variables": VARIABLES,
}  # fmt: skip


def test_no_text_of_tf2_in_the_ir() -> None:
    """A back-end's names in it would make every other back-end read them back."""
    path = resources.files("migrate_mgpu.models").joinpath("ir.py")
    tree = ast.parse(path.read_text("utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    annotations = {
        ast.unparse(node.annotation)
        for one in classes
        for node in one.body
        if isinstance(node, ast.AnnAssign)
    }
    assert not {a for a in annotations if "Edit" in a or "keras" in a.lower()}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_names_and_kinds_are_of_one_row(table: Table[Row]) -> None:
    names = [name for row in table.rows for name in row.names]
    assert len(names) == len(set(names)) == len(table.by_name)
    assert len(table.by_kind) == len(table.rows)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_parameters_have_one_place_in_tf2(table: Table[Row]) -> None:
    for row in table.rows:
        # TF1's older names of parameters stand beside the new ones, of which a call has one.
        older = {p.name for p in row.parameters if p.target in row.signature}
        given = [p for p in row.parameters if p.new_name and p.name not in older]
        new = [p.new_name for p in given] + [name for name, _ in row.constants]
        assert len(new) == len(set(new)), row.kind
        assert set(row.order) <= set(new), row.kind


@pytest.mark.parametrize("row", HEADS.rows, ids=[row.kind for row in HEADS.rows])
def test_heads_are_made_of_rows_of_other_tables(row: HeadRow) -> None:
    assert LOSSES.by_kind[row.loss].keras
    assert set(row.shown) <= set(row.results)
    for key, measured in row.results.items():
        forms = METRICS.by_kind[measured.metric].forms
        assert (measured.labels, measured.outputs) in forms, key
