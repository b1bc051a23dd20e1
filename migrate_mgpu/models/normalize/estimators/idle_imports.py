"""Imports of modules that TF2 lost, which only functions need that nothing calls.

    from tensorflow.examples.tutorials.mnist import input_data

    def load_data():  # nothing calls it
        return input_data.read_data_sets("mnist")

The import would end the program as it begins. In the function, which stays as it is, it ends who
calls that.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.incompatibilities import gone_names
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such imports of the modules that an Estimator has."""
    alone = [one for one in flow.modules if one.writable and not one.importers]
    found = {module: _edits(module, graph) for module in alone}
    return {module: edits for module, edits in found.items() if edits}


def _edits(module: Module, graph: CallGraph) -> list[Edit]:
    edits: list[Edit] = []
    gone = {use.symbol.name for use in gone_names(module)}
    for statement in module.tree.body:
        if not isinstance(statement, ast.ImportFrom) or len(statement.names) != 1:
            continue
        if not Layout(module.source, statement).owns_lines:
            continue
        (alias,) = statement.names
        name = f"{module.names.absolute(statement)}.{alias.name}".partition(".")[2]
        if not any(one == name or one.startswith(f"{name}.") for one in gone):
            continue
        functions = _idle(module, alias.asname or alias.name, graph)
        if not functions:
            continue
        edits.append(without_paragraph(module.source, statement))
        code = module.source.code(statement)
        for function in functions:
            first = next((one for one in function.body if not _is_docstring(one)), None)
            layout = Layout(module.source, first) if first is not None else None
            if layout is None or not layout.owns_lines:
                return []
            edits.append(layout.insert_before([code]))
    return edits


def _idle(module: Module, name: str, graph: CallGraph) -> list[ast.FunctionDef]:
    """The functions that have all mentions of a name, if nothing refers to any of them."""
    found: dict[ast.FunctionDef, None] = {}
    names = module.names
    mentions = names.mentions(name, names.module_scope)
    if len(names.module_scope.bindings.get(name, ())) != 1:
        return []
    for mention in mentions:
        around = [one for one in names.ancestors(mention) if one in module.tree.body]
        part = around[0] if around else None
        if not isinstance(part, ast.FunctionDef) or names.scope_at(mention).is_module:
            return []
        header = [*part.decorator_list, part.args]
        if any(mention is inner for one in header for inner in ast.walk(one)):
            return []
        if part not in found:
            if graph.references(Function(module, part)) or names.mentions(
                part.name, names.module_scope
            ):
                return []
            found[part] = None
    return list(found)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
