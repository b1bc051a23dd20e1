"""Statements that make one of several optimizers, as a condition of the program's own says."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.optimizers import OPTIMIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record


@record(frozen=True)
class Choice:
    """`if name == "adam": optimizer = tf.train.AdamOptimizer(0.01) elif ...:`, or an expression.

    ``calls`` make the optimizers, ``targets`` are the mentions of the one name that they get;
    ``beside`` are what else the arms do: they print, or stop the program.
    """

    targets: tuple[ast.Name, ...]
    calls: tuple[ast.Call, ...]
    tests: tuple[ast.expr, ...]
    beside: tuple[ast.expr, ...]


def read_choice(module: Module, statement: ast.stmt) -> Choice | None:
    """The choice that a statement is; None for any other."""
    if isinstance(statement, ast.Assign):
        return _of_expression(module, statement)
    if not isinstance(statement, ast.If):
        return None
    targets: list[ast.Name] = []
    calls: list[ast.Call] = []
    beside: list[ast.expr] = []
    for arm in arms_of(statement):
        made = [one for one in arm if isinstance(one, ast.Assign)]
        if len(made) > 1:
            return None
        for one in made:
            if not isinstance(one.targets[0], ast.Name) or len(one.targets) != 1:
                return None
            if not isinstance(one.value, ast.Call) or not makes_optimizer(module, one.value):
                return None
            targets.append(one.targets[0])
            calls.append(one.value)
        for other in arm:
            told = _told(other) if other not in made else []
            if told is None:
                return None
            beside += told
    if not calls or len({target.id for target in targets}) != 1:
        return None
    return Choice(tuple(targets), tuple(calls), tuple(_tests(statement)), tuple(beside))


def _told(statement: ast.stmt) -> list[ast.expr] | None:
    """What a statement says that makes nothing: it prints, or stops the program."""
    if isinstance(statement, ast.Expr):
        return [statement.value]
    if isinstance(statement, ast.Raise):
        return [part for part in (statement.exc, statement.cause) if part is not None]
    if isinstance(statement, ast.Assert):
        return [part for part in (statement.test, statement.msg) if part is not None]
    if isinstance(statement, ast.If):
        found = [statement.test]
        for one in (*statement.body, *statement.orelse):
            told = _told(one)
            if told is None:
                return None
            found += told
        return found
    return [] if isinstance(statement, ast.Pass) else None


def _of_expression(module: Module, statement: ast.Assign) -> Choice | None:
    """`optimizer = tf.train.AdamOptimizer(0.01) if adam else tf.train.AdagradOptimizer(0.1)`"""
    target, value = statement.targets[0], statement.value
    if len(statement.targets) != 1 or not isinstance(target, ast.Name):
        return None
    calls: list[ast.Call] = []
    tests: list[ast.expr] = []
    while isinstance(value, ast.IfExp):
        tests.append(value.test)
        if not isinstance(value.body, ast.Call):
            return None
        calls.append(value.body)
        value = value.orelse
    if not tests or not isinstance(value, ast.Call):
        return None
    calls.append(value)
    if not all(makes_optimizer(module, call) for call in calls):
        return None
    return Choice((target,), tuple(calls), tuple(tests), ())


def makes_optimizer(module: Module, call: ast.Call) -> bool:
    """Whether a call makes an optimizer of TF1's, known or not."""
    name = name_of(module, call)
    return name in OPTIMIZERS.by_name or (name.startswith("train.") and name.endswith("Optimizer"))


def arms_of(statement: ast.If) -> Iterator[list[ast.stmt]]:
    """The blocks of a chain of conditions."""
    yield statement.body
    orelse = statement.orelse
    if len(orelse) == 1 and isinstance(orelse[0], ast.If):
        yield from arms_of(orelse[0])
    elif orelse:
        yield orelse


def _tests(statement: ast.If) -> Iterator[ast.expr]:
    yield statement.test
    if len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
        yield from _tests(statement.orelse[0])
