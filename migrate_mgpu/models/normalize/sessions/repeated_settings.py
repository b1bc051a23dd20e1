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

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one such statement; none where there is none."""
    for statement in _again(module):
        if _is_setting(module, modules, statement.value):
            if Layout(module.source, statement).owns_lines:
                return [without_paragraph(module.source, statement)]
    return []


@fact_of_text
def _again(module: Module) -> list[ast.Assign]:
    """The statements that stand above as well, where nothing else gives the name a value."""
    given: dict[str, list[ast.Assign]] = {}
    for statement in module.tree.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(statement, ast.Assign) and isinstance(target, ast.Name):
            if len(statement.targets) == 1:
                given.setdefault(target.id, []).append(statement)
    found: list[ast.Assign] = []
    for name, same in given.items():
        if len(same) > 1 and len(module.names.module_scope.bindings.get(name, ())) == len(same):
            if len({ast.dump(one) for one in same}) == 1:
                found += same[1:]
    return found


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
