"""A class whose one object takes its name: `DQNetwork = DQNetwork(state_size, action_size)`.

The class gets another name, so that each name has one meaning.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.source.source import Edit


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such class; none where there is none."""
    for statement in module.tree.body:
        if isinstance(statement, ast.ClassDef):
            edits = _renamed(module, statement)
            if edits:
                return edits
    return []


def _renamed(module: Module, owner: ast.ClassDef) -> list[Edit]:
    names, home = module.names, module.names.module_scope
    bindings = home.bindings[owner.name]
    assigned = (one for one in module.tree.body if isinstance(one, ast.Assign))
    made = next((one for one in assigned if _makes(one, owner.name)), None)
    kinds = sorted(one.kind for one in bindings)
    if made is None or kinds != ["assign", "class"] or position(made) < position(owner):
        return []
    inside = {*walk(owner)}
    found: list[Edit] = []
    target, call = made.targets[0], made.value
    new = names.fresh(home, f"{owner.name}Model", f"{owner.name}Class")
    for mention in names.mentions(owner.name, home):
        user = names.parents.get(mention)
        called = isinstance(user, ast.Call) and user.func is mention
        if user is call and called:
            found.append(Edit(*module.source.span(mention), new))
            continue
        early = names.scope_of_name[mention] is home and position(mention) < position(made)
        if mention is not target and (called or early or mention in inside):
            return []  # which of both it is depends on when it runs, or it is another object
    start = module.source.span(owner)[0]
    head = module.source.text.index(owner.name, module.source.text.index("class", start))
    return [Edit(head, head + len(owner.name), new), *found] if len(found) == 1 else []


def _makes(statement: ast.Assign, name: str) -> bool:
    """`Network = Network(...)`"""
    if len(statement.targets) != 1:
        return False
    target, value = statement.targets[0], statement.value
    func = value.func if isinstance(value, ast.Call) else None
    named = isinstance(target, ast.Name) and target.id == name
    return named and isinstance(func, ast.Name) and func.id == name
