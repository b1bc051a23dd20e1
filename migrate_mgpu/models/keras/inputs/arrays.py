"""``numpy_input_fn`` and ``pandas_input_fn`` as the Dataset that gives the same batches.

Measured on 1.15.5: without shuffling the order is kept, batches go on across epochs and
the last one is smaller; by default there is one epoch, of batches of 128. A table's columns
are the features, in their own types, its index is none.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import bind
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.style import root
from migrate_mgpu.models.front.estimators.signatures import NUMPY_INPUT_FN
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_FUNCTIONS = {"estimator.inputs.numpy_input_fn", "contrib.learn.io.numpy_input_fn"}
_TABLE = "estimator.inputs.pandas_input_fn"
_PARAMETERS = (*NUMPY_INPUT_FN, "target_column")  # the last one is pandas_input_fn's


def is_array_input(module: Module, call: ast.Call) -> bool:
    """Whether a call is one of ``numpy_input_fn`` or ``pandas_input_fn``."""
    name = tensorflow_name(module, call.func)
    return name in (*_FUNCTIONS, _TABLE) or name.endswith("inputs.numpy_input_fn")


def dataset(module: Module, call: ast.Call, base: str | None = None) -> list[str]:
    """The parts of the expression that makes the Dataset, the source first, then its methods.

    Raises:
        Refused: what it shuffles or repeats is decided while the program runs.
    """
    arguments = bind(module, call, _PARAMETERS)
    shown = tensorflow_name(module, call.func).rpartition(".")[2]
    if "x" not in arguments:
        raise Refused(module, call, f"{shown} without x")
    tf = root(module, call)

    def code(name: str) -> str:
        return text_of(module, arguments[name], base=base)

    features = f"dict({code('x')})" if shown == "pandas_input_fn" else code("x")
    data = f"({features}, {code('y')})" if "y" in arguments else features
    parts = [f"{tf}.data.Dataset.from_tensor_slices({data})"]
    shuffle = constant(arguments["shuffle"]) if "shuffle" in arguments else None
    if shuffle not in (True, False):
        raise Refused(
            module, call, f"whether {shown} shuffles is decided elsewhere",
            "write the input function with tf.data",
        )  # fmt: skip
    if shuffle:
        buffer = code("queue_capacity") if "queue_capacity" in arguments else "1000"
        parts.append(f".shuffle({buffer})")
    if "num_epochs" in arguments:
        if constant(arguments["num_epochs"]) != 1:
            parts.append(f".repeat({code('num_epochs')})")
    elif _says_none(call):
        parts.append(".repeat()")
    parts.append(f".batch({code('batch_size') if 'batch_size' in arguments else '128'})")
    return parts


def _says_none(call: ast.Call) -> bool:
    """`num_epochs=None`: without an end; left out it is one."""
    index = NUMPY_INPUT_FN.index("num_epochs")
    given = [k.value for k in call.keywords if k.arg == "num_epochs"] or call.args[
        index : index + 1
    ]
    return any(is_none(value) for value in given)


def statement_edit(module: Module, call: ast.Call) -> Edit:
    """`train_input_fn = numpy_input_fn(...)` as a function, anything else as a lambda."""
    source = module.source
    statement = module.names.statement(call)
    layout = Layout(source, statement)
    named = (
        isinstance(statement, ast.Assign)
        and statement.value is call
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and layout.owns_start
    )
    _check_bound(module, call)
    if not named:
        start, end = source.span(call)
        return Edit(start, end, "lambda: " + "".join(dataset(module, call)))
    assert isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    inner = layout.indent + source.indent_unit
    parts = dataset(module, call, inner)
    whole = "return " + "".join(parts)
    lines = [whole]
    if len(inner) + len(whole) > source.width and "\n" not in whole:
        name = module.names.fresh(module.names.scope_at(statement), "dataset", "data", "batches")
        lines = [f"{name} = {parts[0]}", f"return {name}" + "".join(parts[1:])]
    head = f"def {statement.targets[0].id}():"
    text = source.newline.join([head, *(inner + line for line in lines)])
    rest = f"  {layout.trailing_comment}" if layout.trailing_comment else ""
    blank = source.newline * (1 if layout.indent else 2)
    before, behind = _neighbours(module, statement)
    above = blank if before else ""
    below = blank if behind is not None and not _is_another(module, behind) else ""
    return Edit(layout.line_start, layout.line_end, above + layout.indent + text + rest + below)


def _neighbours(module: Module, statement: ast.stmt) -> tuple[bool, ast.stmt | None]:
    """Whether a statement of the block stands on the line above, and which on the line below."""
    block = module.names.block(statement)
    index = block.index(statement)
    behind = block[index + 1] if index + 1 < len(block) else None
    if behind is not None and behind.lineno != (statement.end_lineno or 0) + 1:
        behind = None
    before = index > 0 and (block[index - 1].end_lineno or 0) == statement.lineno - 1
    return before, behind


def _is_another(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement makes an input function of arrays as well."""
    value = getattr(statement, "value", None)
    return isinstance(value, ast.Call) and is_array_input(module, value)


def _check_bound(module: Module, call: ast.Call) -> None:
    """A function reads its variables when it is called: none may change in between."""
    names = module.names
    loops = [p for p in names.ancestors(call) if isinstance(p, (ast.For, ast.While))]
    for name in ast.walk(call):
        if not isinstance(name, ast.Name):
            continue
        for binding in names.bindings_of(name):
            later = getattr(binding.node, "lineno", 0) > (call.end_lineno or 0)
            around = any(loop in names.ancestors(binding.node) for loop in loops)
            if binding.kind in ("assign", "other") and (later or around):
                raise Refused(
                    module, name, f"`{name.id}` changes after the input function has taken it",
                    "write the input function with tf.data",
                )  # fmt: skip


__all__ = ["dataset", "is_array_input", "statement_edit"]
