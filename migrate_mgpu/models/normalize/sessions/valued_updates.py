"""Updates in a list, and values that run them, as slim's programs train.

    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    apply_op = optimizer.apply_gradients(gradients)
    updates.append(apply_op)
    update_op = tf.group(*updates)
    with tf.control_dependencies([update_op]):
        train_tensor = tf.identity(loss)
    ...
    value = sess.run(train_tensor)

becomes, in two steps,

    with tf.control_dependencies(updates):
        update_op = optimizer.apply_gradients(gradients)
    ...
    _, value = sess.run([update_op, loss])

What layers update does not depend on what the optimizer does, nor the other way round, so the order
is as good as none. A value behind updates is the value itself: what is computed is not computed
again by `tf.identity`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_APPLIES = ("apply_gradients", "minimize")
_UPDATES = "GraphKeys.UPDATE_OPS"


def grouped(module: Module) -> list[Edit]:
    """The edits for one list of updates that is grouped; none where there is none."""
    for call in calls_of_names(module).get("group", ()):
        edits = _of_group(module, call)
        if edits:
            return edits
    return []


def _of_group(module: Module, call: ast.Call) -> list[Edit]:
    """`updates.append(apply_op)` and `update_op = tf.group(*updates)`"""
    names, source = module.names, module.source
    starred = call.args[0] if len(call.args) == 1 else None
    if any(one.arg != "name" for one in call.keywords) or not isinstance(starred, ast.Starred):
        return []
    listed = starred.value
    made = names.only_value(listed) if isinstance(listed, ast.Name) else None
    if not isinstance(listed, ast.Name) or not isinstance(made, ast.Call):
        return []
    asked = name_of(module, made) == "get_collection" and made.args
    if not asked or name_of(module, made.args[0]) != _UPDATES:
        return []
    group = names.statement(call)
    target = _only_target(module, group, call)
    home = names.defining_scope(listed.id, names.scope_of_name[listed])
    if target is None or home is None:
        return []
    others = [
        one
        for one in names.mentions(listed.id, home)
        if one is not listed and isinstance(one.ctx, ast.Load)
    ]
    if len(others) != 1:
        return []
    attribute = names.parents[others[0]]
    added = names.parents[attribute]
    if not isinstance(attribute, ast.Attribute) or attribute.attr != "append":
        return []
    if not isinstance(added, ast.Call) or len(added.args) != 1 or added.keywords:
        return []
    append = names.statement(added)
    if not isinstance(append, ast.Expr) or append.value is not added:
        return []
    given = added.args[0]
    applied, gone = given, [append, group]
    if isinstance(given, ast.Name):
        value = names.only_value(given)
        scope = names.defining_scope(given.id, names.scope_of_name[given])
        if value is None or scope is None or len(names.mentions(given.id, scope)) != 2:
            return []
        applied, gone = value, [names.statement(value), append, group]
        if _only_target(module, gone[0], value) is None:
            return []
    if not isinstance(applied, ast.Call) or not isinstance(applied.func, ast.Attribute):
        return []
    if applied.func.attr not in _APPLIES or not position(made) < position(gone[0]):
        return []
    block = names.block(group)
    if not all(one in block and Layout(source, one).owns_lines for one in gone):
        return []
    mentions = names.mentions(target.id, names.scope_of_name[target])
    if any(position(one) < position(group) for one in mentions if one is not target):
        return []
    tf, unit = root(module, call), source.indent_unit
    lines = [
        f"with {tf}.control_dependencies({listed.id}):",
        *f"{unit}{target.id} = {source.code(applied)}".split(source.newline),
    ]
    first, *rest = gone
    lines = [lines[0], lines[1], *(line.rstrip() for line in lines[2:])]
    moved = [unit + line[len(source.indent_of(first)) :] for line in lines[2:]]
    return [
        Layout(source, first).replace([*lines[:2], *moved]),
        *(without_paragraph(source, one) for one in rest),
    ]


def _only_target(module: Module, statement: ast.stmt, value: ast.expr) -> ast.Name | None:
    """The name that a statement gives a value, and no other statement another one."""
    if not isinstance(statement, ast.Assign) or statement.value is not value:
        return None
    target = statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name):
        return None
    return target if module.names.only_binding(target) is not None else None


def valued(module: Module) -> list[Edit]:
    """The edits for one value behind updates; none where there is none that is only run."""
    for call in calls_of_names(module).get("control_dependencies", ()):
        block = module.names.statement(call)
        if isinstance(block, ast.With) and len(block.items) == 1 and len(block.body) == 1:
            edits = _of_value(module, block, call)
            if edits:
                return edits
    return []


def _of_value(module: Module, block: ast.With, call: ast.Call) -> list[Edit]:
    """`with tf.control_dependencies([update_op]): train_tensor = tf.identity(loss)`"""
    names, source = module.names, module.source
    (statement,) = block.body
    listed = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if not isinstance(listed, (ast.List, ast.Tuple)) or not isinstance(statement, ast.Assign):
        return []
    if block.items[0].context_expr is not call or not Layout(source, block).owns_lines:
        return []
    made = statement.value
    if not isinstance(made, ast.Call) or name_of(module, made) != "identity":
        return []
    if len(made.args) != 1 or any(one.arg != "name" for one in made.keywords):
        return []
    target, loss = _only_target(module, statement, made), made.args[0]
    if target is None or not isinstance(loss, ast.Name) or names.only_binding(loss) is None:
        return []
    updates = [one for one in listed.elts if isinstance(one, ast.Name)]
    if len(updates) != 1 or len(listed.elts) != 1 or not _applies(module, updates[0]):
        return []
    home = names.defining_scope(target.id, names.scope_of_name[target])
    if home is None:
        return []
    runs = [one for one in names.mentions(target.id, home) if one is not target]
    found = [without_paragraph(source, block)]
    for mention in runs:
        if names.scope_of_name[mention] is not home and home is not names.module_scope:
            return []
        edits = _run(module, mention, updates[0].id, loss.id)
        if not edits:
            return []
        found += edits
    return found if runs else []


def _applies(module: Module, name: ast.Name) -> bool:
    """Whether a name is what an optimizer does, maybe with the updates of layers."""
    value = module.names.only_value(name)
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr in _APPLIES:
        return True
    if name_of(module, value) != "group":
        return False
    given = [one.value if isinstance(one, ast.Starred) else one for one in value.args]
    return any(
        isinstance(part, ast.Name) and _applies(module, part) for one in given for part in walk(one)
    )


def _run(module: Module, mention: ast.Name, update: str, loss: str) -> list[Edit]:
    """The edits for one run of the value: the update is run, and the value fetched."""
    names, source = module.names, module.source
    parent = names.parents[mention]
    whole: ast.AST = parent if isinstance(parent, (ast.List, ast.Tuple)) else mention
    run = names.parents[whole]
    if not isinstance(run, ast.Call) or not isinstance(run.func, ast.Attribute):
        return []
    if run.func.attr != "run" or not run.args or run.args[0] is not whole:
        return []
    statement = names.statement(run)
    span = source.span(mention)
    if isinstance(statement, ast.Expr) and statement.value is run:
        return [Edit(*span, update)]
    free = "_" if not _is_read(module, mention, "_") else "updated"
    assigned = isinstance(statement, ast.Assign) and statement.value is run
    if whole is mention:
        if not assigned:
            return [
                Edit(*span, f"[{update}, {loss}]"),
                Edit(source.span(run)[1], source.span(run)[1], "[1]"),
            ]
        assert isinstance(statement, ast.Assign)
        if len(statement.targets) != 1 or isinstance(statement.targets[0], (ast.Tuple, ast.List)):
            return []
        start = source.span(statement.targets[0])[0]
        return [Edit(*span, f"[{update}, {loss}]"), Edit(start, start, f"{free}, ")]
    assert isinstance(whole, (ast.List, ast.Tuple))
    if not assigned or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    targets = statement.targets[0]
    if not isinstance(targets, (ast.Tuple, ast.List)) or len(targets.elts) != len(whole.elts):
        return []
    if any(isinstance(one, ast.Starred) for one in (*whole.elts, *targets.elts)):
        return []
    place, given = source.span(targets.elts[0])[0], source.span(whole.elts[0])[0]
    fetched = [Edit(*span, loss), Edit(given, given, f"{update}, ")]
    if whole.elts[0] is mention:
        fetched = [Edit(*span, f"{update}, {loss}")]
    return [*fetched, Edit(place, place, f"{free}, ")]


def _is_read(module: Module, mention: ast.Name, word: str) -> bool:
    """Whether something reads a name where a value is run."""
    home = module.names.scope_of_name[mention]
    found = module.names.defining_scope(word, home)
    if found is None:
        return False
    return any(isinstance(one.ctx, ast.Load) for one in module.names.mentions(word, found))
