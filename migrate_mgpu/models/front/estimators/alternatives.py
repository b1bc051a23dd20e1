"""Estimators of which a run makes one: `if wide: e = Linear... else: e = DNN...`, driven as one.

So are those of which a run makes several, where a function is given one in each call.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.estimators.parts import (
    INSIDE_STATEMENT,
    OTHER_ESTIMATOR,
    EstimatorFlow,
)
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_LEAVES = (ast.Return, ast.Raise)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def find_alternatives(flows: list[EstimatorFlow]) -> None:
    """Tells Estimators of those that may stand where they are used; others keep them from it."""
    known = {flow.made: flow for flow in flows}
    for flow in flows:
        for module, node, origin in flow.doubts:
            other = known.get(origin) if isinstance(origin, ast.Call) else None
            if other is not None and _in_function_of_both(flow, other, module, node):
                if other not in flow.together:
                    flow.together.append(other)
                continue
            if other is None or not _exclusive(flow, other):
                names = flow.module.names
                one_statement = (
                    other is not None
                    and other.module is flow.module
                    and names.statement(other.call) is names.statement(flow.call)
                )
                flow.problem(
                    module, node, "it may be another Estimator here",
                    "assign each Estimator to a separate variable",
                    INSIDE_STATEMENT if one_statement else OTHER_ESTIMATOR,
                )  # fmt: skip
            elif other not in flow.alternatives:
                flow.alternatives.append(other)


def _exclusive(first: EstimatorFlow, second: EstimatorFlow) -> bool:
    """Whether of two Estimators a run makes one at most, wherever that is asked."""
    module, names = first.module, first.module.names
    if second.module is not module:
        return False
    one, two = (names.statement(flow.call) for flow in (first, second))
    if names.scope_at(one) is not names.scope_at(two) or one is two:
        return False
    if any(_in_loop(module, statement) for statement in (one, two)):
        return False  # a second round may make the other one
    if isinstance(one, _LEAVES) and isinstance(two, _LEAVES):
        return True
    ways = [_arms(module, statement) for statement in (one, two)]
    return any(way in ways[1] for way in ((branch, not arm) for branch, arm in ways[0]))


def _in_function_of_both(
    first: EstimatorFlow, second: EstimatorFlow, module: Module, node: ast.expr
) -> bool:
    """Whether it is the parameter of a function that is given one or the other by its calls."""
    if first.kind != second.kind or not isinstance(node, ast.Name):
        return False
    binding = module.names.only_binding(node)
    if binding is None or binding.kind != "parameter":
        return False
    scope = module.names.scope_at(node)
    makers = [(one.module, one.module.names.scope_at(one.statement)) for one in (first, second)]
    return all(home is not module or made is not scope for home, made in makers)


def _in_loop(module: Module, statement: ast.stmt) -> bool:
    for parent in module.names.ancestors(statement):
        if isinstance(parent, _FUNCTIONS):
            return False
        if isinstance(parent, (ast.For, ast.While, ast.AsyncFor)):
            return True
    return False


def _arms(module: Module, statement: ast.stmt) -> set[tuple[ast.AST, bool]]:
    """The `if`s around a statement, each with whether it stands in the first arm."""
    found: set[tuple[ast.AST, bool]] = set()
    child: ast.AST = statement
    for parent in module.names.ancestors(statement):
        if isinstance(parent, _FUNCTIONS):
            break
        if isinstance(parent, ast.If):
            found.add((parent, child in parent.body))
        child = parent
    return found


def check_driven_alike(
    flow: EstimatorFlow,
    edits: dict[Module, list[Edit]],
    others: dict[Module, list[Edit]],
    places: list[tuple[Module, ast.stmt]],
) -> None:
    """What drives one Estimator must be what drives the other: the program has it once.

    ``edits`` and ``others`` are the changes for both, ``places`` the statements besides
    their own that either comes by.

    Raises:
        Refused: a statement would be another one for each.
    """
    for module, statement in places:
        if module is flow.module and statement is flow.statement:
            continue
        layout = Layout(module.source, statement)  # with what is put before and behind it
        start, end = layout.line_start, layout.next_line
        mine, theirs = (
            {e for e in found.get(module, ()) if e.start <= end and start <= e.end}
            for found in (edits, others)
        )
        if mine != theirs:
            raise Refused(
                module, statement, "the Estimators that this may be are driven in different ways",
                "drive each where it is made",
            )  # fmt: skip
