"""Assignments that a function names and runs at once: each is run where it is made.

    assign_weights = tf.assign(model.weights, weights)
    assign_bias = model.bias.assign(bias)
    sess.run([assign_weights, assign_bias])

becomes ``sess.run(tf.assign(model.weights, weights))``, and the next one. What gives the variables
their values then is Python's own, or the reader says so.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_KINDS = ("assign", "assign_add", "assign_sub")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one run of such assignments; none where there is none."""
    for call in module.names.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "run":
            edits = _apart(module, call)
            if edits:
                return edits
    return []


def _apart(module: Module, call: ast.Call) -> list[Edit]:
    """The edits that run each of the assignments which one call runs, where they stand above it."""
    names, source = module.names, module.source
    statement = names.statement(call)
    scope = names.scope_at(call)
    assert isinstance(call.func, ast.Attribute)
    if not isinstance(statement, ast.Expr) or statement.value is not call:
        return []
    if not isinstance(scope.node, ast.FunctionDef) or len(call.args) != 1 or call.keywords:
        return []
    if any(names.scope_at(one) is scope for one in session_calls(module)):
        return []  # it builds the graph, where an assignment has a name as any other part
    if not all(isinstance(one, (ast.Name, ast.Attribute)) for one in _of_chain(call.func.value)):
        return []
    given = call.args[0]
    run = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
    block = names.block(statement)
    at = block.index(statement) if statement in block else 0
    above = block[at - len(run) : at] if run and at >= len(run) else []
    made = [_made(module, one) for one in above]
    fetched = [one.id for one in run if isinstance(one, ast.Name)]
    if not above or None in made or len(fetched) < len(run):
        return []
    targets = [one.targets[0] for one in above if isinstance(one, ast.Assign)]
    bound = [one.id for one in targets if isinstance(one, ast.Name)]
    if sorted(bound) != sorted(fetched) or len({*bound}) < len(bound):
        return []
    for name in bound:
        if len(scope.bindings.get(name, ())) != 1 or len(names.mentions(name, scope)) != 2:
            return []  # it is read elsewhere
    if not all(Layout(source, one).owns_lines for one in (*above, statement)):
        return []
    found: list[Edit] = []
    receiver = source.code(call.func)
    for one, value in zip(above, made):
        assert value is not None
        start, end = source.span(value)
        found += [Edit(source.span(one)[0], start, f"{receiver}("), Edit(end, end, ")")]
    layout = Layout(source, statement)
    found.append(Edit(layout.line_start, layout.next_line, ""))
    return found


def _of_chain(node: ast.expr) -> Sequence[ast.expr]:
    """`self.sess`, and `self`."""
    found = [node]
    while isinstance(found[-1], ast.Attribute):
        found.append(found[-1].value)
    return found


def _made(module: Module, statement: ast.stmt) -> ast.Call | None:
    """The assignment of a variable that a statement gives a name, and that runs nothing itself."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    value = statement.value
    if not isinstance(statement.targets[0], ast.Name) or not isinstance(value, ast.Call):
        return None
    return value if assigns(module, value) else None


def assigns(module: Module, node: ast.expr) -> bool:
    """Whether something is the assignment of a variable, and runs nothing itself."""
    if not isinstance(node, ast.Call):
        return False
    method = isinstance(node.func, ast.Attribute) and node.func.attr in _KINDS
    if name_of(module, node) not in _KINDS and not method:
        return False
    runs = ("run", "eval")
    return not any(isinstance(part, ast.Attribute) and part.attr in runs for part in walk(node))
