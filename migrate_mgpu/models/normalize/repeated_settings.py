"""A setting that a module gives a name twice, the same both times: the second statement goes.

    NUM_POINT = FLAGS.num_point
    MAX_EPOCH = FLAGS.max_epoch
    NUM_POINT = FLAGS.num_point

What is built with `NUM_POINT` would be said to change otherwise. The value is a constant, a name,
or what a name's object has, none of which the program changes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one such statement; none where there is none."""
    first: dict[str, str] = {}
    for statement in module.tree.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
            continue
        if len(statement.targets) > 1 or not _is_setting(module, modules, statement.value):
            continue
        value = ast.dump(statement.value)
        if first.setdefault(target.id, value) != value or not _is_again(module, statement, target):
            continue
        if Layout(module.source, statement).owns_lines:
            return [without_paragraph(module.source, statement)]
    return []


def _is_setting(module: Module, modules: Sequence[Module], value: ast.expr) -> bool:
    """Whether an expression has one value as long as the program runs."""
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, ast.Name):
        return module.names.only_binding(value) is not None
    if not isinstance(value, ast.Attribute) or not isinstance(value.value, ast.Name):
        return False
    if module.names.only_binding(value.value) is None:
        return False
    stores = (
        part
        for one in modules
        for part in ast.walk(one.tree)
        if isinstance(part, ast.Attribute) and part.attr == value.attr
    )
    told = any("setattr" in one.source.text or "__dict__" in one.source.text for one in modules)
    return not told and all(isinstance(part.ctx, ast.Load) for part in stores)


def _is_again(module: Module, statement: ast.Assign, target: ast.Name) -> bool:
    """Whether the same statement stands above, and nothing else gives the name a value."""
    home = module.names.module_scope
    same = [
        one
        for one in module.tree.body
        if isinstance(one, ast.Assign) and ast.dump(one) == ast.dump(statement)
    ]
    bindings = home.bindings.get(target.id, ())
    return len(same) > 1 and same[0] is not statement and len(bindings) == len(same)
