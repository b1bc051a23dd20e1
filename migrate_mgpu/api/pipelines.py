"""``tf.contrib.data`` in TF2's words: methods of a Dataset, or ``tf.data.experimental``."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments
from migrate_mgpu.source.style import FileStyle

# Transformations that are methods of a Dataset in TF2, with their parameters in TF1.
_METHODS = {
    "shuffle_and_repeat": ("buffer_size", "count", "seed"),
    "map_and_batch": (
        "map_func", "batch_size", "num_parallel_batches", "drop_remainder", "num_parallel_calls",
    ),
    "batch_and_drop_remainder": ("batch_size",),
    "padded_batch_and_drop_remainder": ("batch_size", "padded_shapes", "padding_values"),
    "unbatch": (),
}  # fmt: skip
# The same in tf.data.experimental of 1.13 to 2.21.
_RENAMED = {
    "AUTOTUNE", "parallel_interleave", "ignore_errors", "group_by_window", "enumerate_dataset",
    "bucket_by_sequence_length", "scan", "prefetch_to_device", "copy_to_device", "Counter",
    "rejection_resample", "unique", "dense_to_sparse_batch", "parse_example_dataset",
    "make_csv_dataset",
}  # fmt: skip

_SAME = {f"data.experimental.{name}" for name in ("shuffle_and_repeat", "map_and_batch", "unbatch")}


def pipeline_edits(module: Module, node: ast.AST, style: FileStyle) -> list[Edit] | None:
    """The edits of a mention of ``tf.contrib.data``; None for any other node.

    What is given to the transformation's function (``map_func``) keeps its place, so that
    edits inside of it stay right.

    Raises:
        Refused: nothing of TF2's is known to do the same.
    """
    name = tensorflow_name(module, node)
    last = name.rpartition(".")[2]
    if not name.startswith("contrib.data.") and name not in _SAME:
        return None
    names, source = module.names, module.source
    start, end = source.span(node)
    call = names.parents.get(node)
    if last in _METHODS and isinstance(call, ast.Call) and call.func is node:
        apply = names.parents.get(call)
        if (
            isinstance(apply, ast.Call)
            and isinstance(apply.func, ast.Attribute)
            and apply.func.attr == "apply"
            and apply.args == [call]
        ):
            return _method(module, apply, call, last)
    if name in _SAME:
        return None  # TF2 has it
    if last == "AUTOTUNE":
        return [Edit(start, end, f"{style.tensorflow}.data.AUTOTUNE")]
    if last in _RENAMED:
        return [Edit(start, end, f"{style.tensorflow}.data.experimental.{last}")]
    if last in ("Dataset", "TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset"):
        return [Edit(start, end, f"{style.tensorflow}.data.{last}")]
    if name == f"contrib.data.Dataset.{last}":
        return [Edit(start, end, f"{style.tensorflow}.data.Dataset.{last}")]
    raise Refused(module, node, f"`tf.{name}` has no known form in TF2", "write it with tf.data")


def _method(module: Module, apply: ast.Call, call: ast.Call, name: str) -> list[Edit]:
    """`.apply(tf.contrib.data.map_and_batch(f, 8))` as `.map(f).batch(8)`."""
    source = module.source
    arguments = arguments_of(module, call, _METHODS[name])
    text = {key: source.code(value) for key, value in arguments.items()}
    begin = source.span(apply.func)[1] - len("apply")
    end = source.span(apply)[1]
    if name == "map_and_batch":
        function = arguments.get("map_func")
        if function is None or "batch_size" not in arguments:
            raise Refused(module, call, "map_and_batch without its function or batch size")
        first, last = source.span(function)
        calls = text.get("num_parallel_calls", text["batch_size"])
        if "num_parallel_batches" in text:
            calls = f"{text['batch_size']} * {text['num_parallel_batches']}"
        rest = f", num_parallel_calls={calls}).batch({_batch(arguments, text)})"
        return [
            *_comments(module, call, (begin, first), (last, end)),
            Edit(begin, first, "map("),
            Edit(last, end, rest),
        ]
    if name == "shuffle_and_repeat":
        seed = f", seed={text['seed']}" if "seed" in text else ""
        new = f"shuffle({text['buffer_size']}{seed}).repeat({text.get('count', '')})"
    elif name == "unbatch":
        new = "unbatch()"
    elif name == "batch_and_drop_remainder":
        new = f"batch({text['batch_size']}, drop_remainder=True)"
    else:
        given = ", ".join(f"{key}={value}" for key, value in text.items())
        new = f"padded_batch({given}, drop_remainder=True)"
    return [*_comments(module, call, (begin, end)), Edit(begin, end, new)]


def _comments(module: Module, call: ast.Call, *pieces: tuple[int, int]) -> list[Edit]:
    """The comments of pieces that go, above the statement."""
    source = module.source
    found = [c.text for start, end in pieces for c in comments(source.text[start:end])]
    if not found:
        return []
    return [Layout(source, module.names.statement(call)).insert_before(found)]


def _batch(arguments: dict[str, ast.expr], text: dict[str, str]) -> str:
    drops = arguments.get("drop_remainder")
    if drops is None or constant(drops) is False:
        return text["batch_size"]
    return f"{text['batch_size']}, drop_remainder={text['drop_remainder']}"
