"""``numpy_input_fn`` and ``pandas_input_fn`` as facts of the IR."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.idioms import is_read_only
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of, by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import line_of
from migrate_mgpu.api.inputs import ARRAY_INPUTS
from migrate_mgpu.api.schema import Row
from migrate_mgpu.models.ir import ArrayInput


def array_row(module: Module, node: ast.AST) -> Row | None:
    """The row of the function that a call makes its input function with; None for others."""
    name = tensorflow_name(module, node.func) if isinstance(node, ast.Call) else ""
    if name.endswith("inputs.numpy_input_fn"):  # its module's private name as well
        return ARRAY_INPUTS.by_kind["arrays"]
    return ARRAY_INPUTS.by_name.get(name)


def is_endless(call: ast.Call, row: Row) -> bool:
    """`num_epochs=None`: without an end; left out it is one."""
    return is_none(by_parameter(call, row.signature).get("num_epochs"))


def read_array_input(module: Module, node: ast.AST) -> ArrayInput | None:
    """The input function that a call makes; None for other calls.

    Raises:
        Refused: whether it shuffles is not said, or something is called to say it.
    """
    row = array_row(module, node)
    if row is None or not isinstance(node, ast.Call):
        return None
    shown = tensorflow_name(module, node.func).rpartition(".")[2]
    arguments = arguments_of(module, node, row.signature)
    if "x" not in arguments:
        raise Refused(module, node, f"{shown} without x")
    told = arguments.get("shuffle")
    shuffles = constant(told)
    if told is None and any(p.name == "shuffle" and p.default == "True" for p in row.parameters):
        shuffles = True
    if not isinstance(shuffles, bool):
        if (
            told is not None
            and shuffles is None
            and not is_none(told)
            and is_read_only(module, told)
        ):
            return ArrayInput(row.kind, module, node, arguments, told, is_endless(node, row))
        raise Refused(
            module, node, f"whether {shown} shuffles is decided elsewhere",
            "write the input function with tf.data",
        )  # fmt: skip
    return ArrayInput(row.kind, module, node, arguments, shuffles, is_endless(node, row))


def check_unchanged(array: ArrayInput) -> None:
    """A function reads its variables when it is called: none may change in between.

    Raises:
        Refused: one may.
    """
    module, call = array.module, array.node
    names = module.names
    loops = [p for p in names.ancestors(call) if isinstance(p, (ast.For, ast.While))]
    for name in ast.walk(call):
        if not isinstance(name, ast.Name):
            continue
        for binding in names.bindings_of(name):
            later = line_of(binding.node) > (call.end_lineno or 0)
            around = any(loop in names.ancestors(binding.node) for loop in loops)
            if binding.kind in ("assign", "other") and (later or around):
                raise Refused(
                    module, name, f"`{name.id}` changes after the input function has taken it",
                    "write the input function with tf.data",
                )  # fmt: skip
