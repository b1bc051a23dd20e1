"""The strategy that stands for a model's copies."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.source.style import FileStyle


def strategy(
    module: Module, gpus: ast.expr | None, style: FileStyle, indent: str, column: int
) -> str:
    """The strategy's constructor, as it stands behind ``column`` characters of a line.

    ``gpus`` is a number or a list of indices; None means all of them.
    """
    source, quote = module.source, module.source.quote
    pieces: list[str] = []
    if (gpus is not None and constant(gpus) is not None) or isinstance(gpus, ast.Constant):
        number = constant(gpus)
        if isinstance(number, (list, tuple)):
            pieces = [_listed(list(number), quote)]
        elif isinstance(number, int) and number <= 4:
            pieces = [_listed(list(range(number)), quote)]
        elif number is not None:
            pieces = [f"[{quote}/gpu:%d{quote} % i for i in range({number})]"]
    elif gpus is not None:
        text = source.code(gpus)
        given = text if _is_list(module, gpus) else f"range({text})"
        pieces = [f"[{quote}/gpu:%d{quote} % i for i in {given}]"]
    head = f"{style.tensorflow}.distribute.MirroredStrategy"
    return style.call(head, pieces, indent, column)


def _listed(indices: list[object], quote: str) -> str:
    return f"[{', '.join(f'{quote}/gpu:{i}{quote}' for i in indices)}]"


def _is_list(module: Module, node: ast.expr) -> bool:
    """Whether a variable holds the GPUs' indices, and not their number."""
    if isinstance(node, (ast.List, ast.Tuple, ast.ListComp)):
        return True
    bindings = module.names.bindings_of(node) if isinstance(node, ast.Name) else []
    return bool(bindings) and all(
        isinstance(b.value, (ast.List, ast.Tuple, ast.ListComp)) for b in bindings
    )
