"""Queues that a graph makes on a GPU, where TensorFlow 2.x leaves them.

1.15 has FIFO queues on the CPU alone, and with soft placement all of them lie there. 2.x has their
kernel for every device, so one below `tf.device('/gpu:0')` lies on that GPU. What fills it, takes
batches of it and reads files by it has kernels for the CPU alone, and the session stops there.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.queues import PRODUCERS
from migrate_mgpu.api.tables import calls_of_names, name_of

# What makes a FIFO queue; those of other kinds have no kernel for a GPU in 2.x either.
_MADE = (
    *PRODUCERS, "train.input_producer", "train.range_input_producer", "train.batch",
    "train.batch_join", "FIFOQueue", "queue.FIFOQueue",
)  # fmt: skip
_DEEP = 12  # calls of functions within each other
_TEXT = (
    "this queue is made below a GPU's `tf.device`: on a GPU, TensorFlow 2.x makes it there, where "
    "what fills and reads it cannot run, and the session stops"
)
_ADVICE = 'make it below `tf.device("/cpu:0")`'


def queues_on_gpus(module: Module, graph: CallGraph) -> list[Diagnostic]:
    """The first queue that each function of a module makes on a GPU, or the module itself.

    ``graph`` is that of the program.
    """
    known = calls_of_names(module)
    found: dict[ast.AST | None, ast.Call] = {}
    made = [call for name in _MADE for call in known.get(name, ())]
    for call in sorted(made, key=lambda one: (one.lineno, one.col_offset)):
        if any(k.arg == "dynamic_pad" and constant(k.value) is not False for k in call.keywords):
            continue
        around = graph.enclosing(module, call)
        if _is_on_gpu(module, call, graph, frozenset()):
            found.setdefault(around.node if around is not None else None, call)
    return [
        Diagnostic("queue-on-gpu", Place(module, call), _TEXT, _ADVICE) for call in found.values()
    ]


def _is_on_gpu(module: Module, node: ast.AST, graph: CallGraph, seen: frozenset[ast.AST]) -> bool:
    """Whether the innermost device around a node, or around a call of its function, is a GPU."""
    for parent in module.names.ancestors(node):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            break
        for item in reversed(parent.items) if isinstance(parent, ast.With) else ():
            device = item.context_expr
            if isinstance(device, ast.Call) and name_of(module, device) == "device":
                if not is_inside(module, node, {item}):
                    return any(_names_gpu(module, one) for one in device.args)
    function = graph.enclosing(module, node)
    if function is None or function.node in seen or len(seen) > _DEEP:
        return False
    return any(
        one.call is not None and _is_on_gpu(one.module, one.call, graph, seen | {function.node})
        for one in graph.references(function)
    )


def _names_gpu(module: Module, node: ast.expr, deep: int = 0) -> bool:
    """Whether what tells a device mentions a GPU: `'/gpu:%d' % i`, an item of a list of such."""
    for part in walk(node):
        text = constant(part) if isinstance(part, ast.Constant) else None
        if isinstance(text, str) and "gpu" in text.lower():
            return True
        if not isinstance(part, ast.Name) or part not in module.names.scope_of_name or deep > 3:
            continue
        for binding in module.names.bindings_of(part):
            told = binding.value
            loop = module.names.parents.get(binding.node)
            while told is None and isinstance(loop, (ast.Tuple, ast.For)):
                told = loop.iter if isinstance(loop, ast.For) else None
                loop = module.names.parents.get(loop)
            if told is not None and not isinstance(told, ast.Call):
                if _names_gpu(module, told, deep + 1):
                    return True
    return False
