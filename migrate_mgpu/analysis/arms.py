"""Nodes that conditions keep apart: arms of one `if`, or what stands below an arm that leaves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Union

from migrate_mgpu.analysis.module import Module

Condition = Union[ast.If, ast.IfExp]
_LEAVES = (ast.Return, ast.Raise)
_CHANGES = re.compile(r"setattr|__dict__|\bvars\(")  # gives any attribute a value


def conditions_between(module: Module, first: ast.AST, second: ast.AST) -> Iterator[Condition]:
    """The conditions each run of which leads to one of two nodes at most."""
    arms = dict(_arms(module, first))
    for node, arm in _arms(module, second):
        other = arms.get(node, arm)
        if other == arm or ("" in (other, arm) and not _is_left(node, other or arm)):
            continue  # both in one arm, or one behind an arm that goes on
        yield node


def are_arms(module: Module, first: ast.AST, second: ast.AST) -> bool:
    """Whether one of two nodes runs at most: by an `if` that does, and leads to one of them.

    What is tried runs as well as what comes of it.
    """
    if any(isinstance(one, ast.Try) for one in module.names.ancestors(second)):
        return False
    if next(conditions_between(module, first, second), None) is not None:
        return True
    asked = {ast.dump(value): told for value, told in _equals(module, second)}
    return any(
        asked.get(ast.dump(value), told) != told and _stays(module, value)  # `told`: not asked
        for value, told in _equals(module, first)
    )


def _equals(module: Module, node: ast.AST) -> Iterator[tuple[ast.expr, object]]:
    """What is equal to which text where a node runs, by the conditions around it."""
    child = node
    for parent in module.names.ancestors(node):
        test = parent.test if isinstance(parent, ast.If) and child in parent.body else None
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq):
            told = test.comparators[0]
            if isinstance(told, ast.Constant) and isinstance(told.value, str):
                yield test.left, told.value
        if isinstance(parent, (ast.FunctionDef, ast.Lambda, ast.For, ast.While)):
            return
        child = parent


def _stays(module: Module, value: ast.expr) -> bool:
    """Whether a setting, `args.phase`, is the same as long as its name is known."""
    if not isinstance(value, ast.Attribute) or not isinstance(value.value, ast.Name):
        return False
    if module.names.only_binding(value.value) is None:
        return False
    every, waiting = {module}, [module]
    for one in waiting:  # grows
        waiting += (other for other in one.imported if other not in every)
        every.update(one.imported)
    return not any(
        _CHANGES.search(one.source.text)
        or any(not isinstance(n.ctx, ast.Load) for n in one.names.attributes.get(value.attr, ()))
        for one in every
    )


def _arms(module: Module, node: ast.AST) -> Iterator[tuple[Condition, str]]:
    """The conditions around a node, each with its arm, and those above it, from within."""
    child = node
    for parent in module.names.ancestors(node):
        if isinstance(parent, ast.If) and child is not parent.test:
            yield parent, "body" if child in parent.body else "orelse"
        elif isinstance(parent, ast.IfExp) and child is not parent.test:
            yield parent, "body" if child is parent.body else "orelse"
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and child in block:
                above = block[: block.index(child)]
                yield from ((one, "") for one in reversed(above) if isinstance(one, ast.If))
        child = parent


def _is_left(node: Condition, arm: str) -> bool:
    """Whether an arm of an `if` never comes to what stands below."""
    if isinstance(node, ast.IfExp):
        return False
    block = node.body if arm == "body" else node.orelse
    return bool(block) and isinstance(block[-1], _LEAVES)
