"""What is said of a call that stands in code that builds the graph, and is not understood."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.dynamic_imports import IMPORTS
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.standard_library import is_standard

CLASS_IN_GRAPH = "class-in-graph"  # a diagnostic's key: its place is the call of the class


def unknown_call(module: Module, call: ast.Call, graph: CallGraph) -> Refused:
    """Why the program stays, and what its author can do: it depends on what is called."""
    shown = module.source.code(call.func)
    if graph.class_of(module, call.func) is not None:
        text = f"what `{shown}`, a class of the program, makes in the graph is not understood"
        advice = "let functions build the graph, or one class in its constructor"
        return Refused(module, call, text, advice, CLASS_IN_GRAPH)
    root = _root(call.func)
    made = module.names.only_value(root) if root is not None else None
    if isinstance(made, ast.Call):
        if module.names.qualname(made.func) in IMPORTS:
            text = f"`{shown}` is of a module whose name is only known at run time"
            return Refused(module, call, text, "import the module by its name")
        known = graph.class_of(module, made.func)
        if known is not None:
            text = f"what `{shown}`, of an object of `{known[1].name}`, makes in the graph is not "
            text += "understood"
            return Refused(module, call, text, "let a function do it, which is given what it needs")
    package = (module.names.qualname(call.func) or "").partition(".")[0]
    if is_standard(package) and package != "builtins":
        text = f"`{shown}`, which makes nothing of a graph, stands in code that builds it"
        return Refused(module, call, text, "call it before, and give the graph its result")
    return Refused(module, call, f"`{shown}` is not supported in code that builds the graph")


def _root(node: ast.expr) -> ast.Name | None:
    """`a`, of `a.b.c`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None
