"""What becomes a class: the statements of a function, and what its parameters are."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.modes import Modes
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import record
from migrate_mgpu.models.keras.model.decay import Decay

# Attributes of Keras's own that a layer must not replace.
RESERVED = {
    "activity_regularizer", "add_loss", "add_metric", "add_weight", "build", "built", "call",
    "compile", "compute_loss", "compute_mask", "count_params", "dtype", "dynamic", "evaluate",
    "export", "fit", "get_layer", "inbound_nodes", "input", "input_shape", "input_spec", "inputs",
    "layers", "loss", "losses", "metrics", "name", "optimizer", "outbound_nodes", "output",
    "output_shape", "outputs", "path", "predict", "quantize", "run_eagerly", "save", "state",
    "stateful", "stop_training", "submodules", "summary", "supports_masking", "trainable",
    "updates", "variables", "weights",
}  # fmt: skip


@record()
class Plan:
    """What becomes a class.

    ``statements`` are those of the function's body to go into it, with ``kept`` the
    ones inside of them that stay; ``tensors`` and ``settings`` are its parameters.
    ``result`` is the name that `call` returns, None where the body has its own `return`.
    """

    module: Module
    function: ast.FunctionDef
    statements: Sequence[ast.stmt]
    kept: set[ast.stmt]
    tensors: list[str]
    settings: list[str]
    modes: Modes
    name: str
    base: str
    result: str | None = None
    regularized: bool = True
    decay: Decay | None = None
    replicas: bool = False  # whether several may train it
    reserved: frozenset[str] = frozenset()  # attributes of the model's that are no layers
    others: Sequence[str] = ()  # tensors that `call` is not given


def holds(statement: ast.stmt, kept: set[ast.stmt]) -> bool:
    """Whether a statement that stays stands inside of another one."""
    return any(node in kept for node in walk(statement) if node is not statement)


def is_docstring(function: ast.FunctionDef, statement: ast.stmt) -> bool:
    """Whether a statement is its function's docstring."""
    return (
        statement is function.body[0]
        and isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
