"""A name that several Estimators have one after the other: `model = Linear...`, `model = DNN...`.

Each but the first gets a name of its own, where the statements stand in one block that is executed
once from top to bottom, as a notebook's cells are, and no function reads the name.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Scope
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.normalize.functions.reused_names import asks_for_names, is_written
from migrate_mgpu.source.source import Edit

_LOOPS = (ast.For, ast.While, ast.AsyncFor)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where it cannot be told which Estimator a mention is."""
    module, names, statement = flow.module, flow.module.names, flow.statement
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return {}
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or asks_for_names(module):
        return {}
    home = names.defining_scope(target.id, names.scope_of_name[target])
    if home is None or any(isinstance(one, _LOOPS) for one in _around(module, statement)):
        return {}
    edits = _renamed(module, home, target.id, names.block(statement))
    return {module: edits} if edits else {}


def _around(module: Module, statement: ast.stmt) -> list[ast.AST]:
    """What a statement stands in, up to its function."""
    found: list[ast.AST] = []
    for parent in module.names.ancestors(statement):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            break
        found.append(parent)
    return found


def _renamed(module: Module, home: Scope, name: str, block: list[ast.stmt]) -> list[Edit]:
    names = module.names
    mentions = sorted(names.mentions(name, home), key=position)
    if any(names.scope_of_name[one] is not home or not is_written(module, one) for one in mentions):
        return []
    stores = [one for one in mentions if isinstance(one.ctx, ast.Store)]
    if len(stores) < 2 or len(stores) != len(home.bindings[name]):
        return []
    makes = [names.statement(one) for one in stores]
    plain = all(isinstance(one, ast.Assign) and len(one.targets) == 1 for one in makes)
    if not plain or any(one not in block for one in makes):
        return []
    found: list[Edit] = []
    current = name
    for statement in block:
        inside = set(walk(statement))
        new = current
        if statement in makes and statement is not makes[0]:
            number = makes.index(statement) + 1
            new = names.fresh(home, f"{name}_{number}", f"{name}_number_{number}")
        for one in mentions:
            if one in inside:
                own = new if one in stores else current
                if own != name:
                    found.append(Edit(*module.source.span(one), own))
        current = new
    known = {part for statement in block for part in walk(statement)}
    return found if all(one in known for one in mentions) else []
