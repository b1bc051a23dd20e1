"""Settings of a copied config that are others where the network does not train.

``config = copy.deepcopy(config)`` / ``if not is_training: config.dropout = 0.0`` becomes
``dropout = config.dropout if is_training else 0.0``, and ``config.dropout`` below it ``dropout``.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.normalize.estimators.built_objects import reached
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function; none where there is none."""
    if flow.function is None:
        return {}
    for function in reached(flow.function, graph):
        for statement in function.node.body if function.module.writable else ():
            edits = _edits(function, statement)
            if edits:
                return {function.module: edits}
    return {}


def _edits(function: Function, statement: ast.stmt) -> list[Edit]:
    """The edits for a copy and the `if` behind it; none where the copy may be changed otherwise."""
    module, block = function.module, function.node.body
    names, source = module.names, module.source
    call = statement.value if isinstance(statement, ast.Assign) else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    copies = isinstance(call, ast.Call) and names.qualname(call.func) in (
        "copy.copy", "copy.deepcopy",
    )  # fmt: skip
    if not copies or not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
        return []
    place = block.index(statement) + 1
    test = block[place] if place < len(block) else None
    given = call.args[0] if len(call.args) == 1 else None
    if not isinstance(given, ast.Name) or not isinstance(test, ast.If) or test.orelse:
        return []
    scope = names.scopes[function.node]
    kinds = sorted(binding.kind for binding in scope.bindings[target.id])
    if given.id != target.id or kinds != ["assign", "parameter"]:
        return []
    flag = test.test.operand if isinstance(test.test, ast.UnaryOp) else test.test
    layouts = [Layout(source, statement), Layout(source, test)]
    if not isinstance(flag, ast.Name) or not all(layout.owns_lines for layout in layouts):
        return []
    if len(scope.bindings.get(flag.id, ())) != 1:
        return []
    chosen: dict[str, ast.expr] = {}
    for one in test.body:
        attribute = one.targets[0] if isinstance(one, ast.Assign) else None
        if not isinstance(one, ast.Assign) or not isinstance(one.value, ast.Constant):
            return []
        if not isinstance(attribute, ast.Attribute) or attribute.attr in chosen:
            return []
        if source.code(attribute.value) != target.id:
            return []
        chosen[attribute.attr] = one.value
    local = {name: names.fresh(scope, name, f"{target.id}_{name}") for name in chosen}
    edits = []
    for mention in names.mentions(target.id, scope):
        parent = names.parents[mention]
        if mention in (target, given) or names.statement(mention) in test.body:
            continue
        if mention.lineno < statement.lineno:
            continue  # it is the config that is copied
        if not isinstance(parent, ast.Attribute) or not isinstance(parent.ctx, ast.Load):
            return []  # it may be changed there, or is read as a whole
        if parent.attr in local:
            edits.append(Edit(*source.span(parent), local[parent.attr]))
    trains = isinstance(test.test, ast.UnaryOp)
    lines = []
    for name, value in chosen.items():
        first, second = f"{target.id}.{name}", source.code(value)
        if not trains:
            first, second = second, first
        lines.append(f"{local[name]} = {first} if {flag.id} else {second}")
    return [layouts[0].replace([]), layouts[1].replace(lines), *edits]
