"""Graph code that says more of an error, and raises it again.

    try:
        matrix = tf.get_variable("matrix", [shape[1], width])
    except ValueError as error:
        error.args += ("is --height right?",)
        raise

computes what its first statement does. In native code a variable of a wrong shape is found
elsewhere, where the layer is built, by an error that says its own.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.functions.graph_settings import tried_arm
from migrate_mgpu.source.source import Edit


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for all such statements."""
    found: list[Edit] = []
    for node in walk(module.tree):
        if not isinstance(node, ast.Try) or node.orelse or node.finalbody or not node.handlers:
            continue
        if not _builds(module, node.body):
            continue
        if all(_only_tells(module, handler) for handler in node.handlers):
            edit = tried_arm(module, node, node.body)
            found += [edit] if edit is not None else []
    return found


def _builds(module: Module, body: list[ast.stmt]) -> bool:
    """Whether statements call TensorFlow's functions, and nothing else."""
    calls = [part for one in body for part in walk(one) if isinstance(part, ast.Call)]
    plain = all(isinstance(one, (ast.Assign, ast.Expr, ast.Return)) for one in body)
    return plain and bool(calls) and all(name_of(module, call) for call in calls)


def _only_tells(module: Module, handler: ast.ExceptHandler) -> bool:
    """Whether a handler changes its error, or prints, and raises it again."""
    *before, last = handler.body
    if not isinstance(last, ast.Raise) or last.cause is not None:
        return False
    raised = last.exc
    if raised is not None and not (isinstance(raised, ast.Name) and raised.id == handler.name):
        return False
    for statement in before:
        if isinstance(statement, ast.Expr):
            call = statement.value
            if not isinstance(call, ast.Call):
                return False
            if module.names.qualname(call.func) != "builtins.print":
                return False
        elif isinstance(statement, (ast.Assign, ast.AugAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if not all(_is_own(module, handler, target) for target in targets):
                return False
        else:
            return False
    return True


def _is_own(module: Module, handler: ast.ExceptHandler, target: ast.expr) -> bool:
    """`error.args`, or a name that the handler alone reads."""
    if isinstance(target, ast.Attribute):
        return isinstance(target.value, ast.Name) and target.value.id == handler.name
    if not isinstance(target, ast.Name):
        return False
    inside = {*walk(handler)}
    scope = module.names.scope_of_name[target]
    return all(
        name in inside
        for name, where in module.names.scope_of_name.items()
        if name.id == target.id and where is scope
    )
