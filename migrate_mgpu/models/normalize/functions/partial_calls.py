"""Functions of TensorFlow's with arguments that a program fixes, as calls with these arguments.

`dense = partial(tf.layers.dense, activation=tf.nn.elu)`, of which there are only calls, goes, and
`dense(x, 8)` becomes `tf.layers.dense(x, 8, activation=tf.nn.elu)`. What a call says itself counts.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_REGULARIZERS = ("contrib.layers.l1_regularizer", "contrib.layers.l2_regularizer")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such name; none where there is none."""
    for call in module.names.calls:
        if module.names.qualname(call.func) == "functools.partial":
            edits = _written(module, call)
            if edits:
                return edits
    return []


def _written(module: Module, partial: ast.Call) -> list[Edit]:
    names, source = module.names, module.source
    statement = names.statement(partial)
    if not isinstance(statement, ast.Assign) or statement.value is not partial:
        return []
    target = statement.targets[0] if len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name) or names.only_binding(target) is None:
        return []
    if len(partial.args) != 1 or not name_of(module, partial.args[0]):
        return []
    if not Layout(source, statement).owns_lines or not all(
        one.arg and _is_alike(module, one.value) for one in partial.keywords
    ):
        return []
    home = names.scope_of_name[target]
    calls: list[ast.Call] = []
    for mention in names.mentions(target.id, home):
        call = names.parents[mention]
        if mention is target:
            continue
        if not isinstance(call, ast.Call) or call.func is not mention:
            return []
        if any(one.arg is None for one in call.keywords) or not (call.args or call.keywords):
            return []
        if not _means_the_same(module, partial, call):
            return []
        calls.append(call)
    found: list[Edit] = []
    for call in calls:
        given = {one.arg for one in call.keywords}
        fixed = [one for one in partial.keywords if one.arg not in given]
        told = "".join(f", {one.arg}={source.code(one.value)}" for one in fixed)
        found.append(Edit(*source.span(call.func), source.code(partial.args[0])))
        last = source.span([*call.args, *(one.value for one in call.keywords)][-1])[1]
        last = max([last, *(source.span(one)[1] for one in call.args)])
        found.append(Edit(last, last, told))
    return [*found, without_paragraph(source, statement)] if calls else []


def _means_the_same(module: Module, partial: ast.Call, call: ast.Call) -> bool:
    """Whether the names of a partial call mean what they mean in another place."""
    names = module.names
    parts = [part for one in (*partial.args, *partial.keywords) for part in walk(one)]
    return all(
        names.defining_scope(part.id, names.scope_at(call))
        is names.defining_scope(part.id, names.scope_of_name[part])
        for part in parts
        if isinstance(part, ast.Name)
    )


def _is_alike(module: Module, value: ast.expr) -> bool:
    """Whether a fixed argument is the same where it is given: a constant, TensorFlow's, or a name.

    Such a name has one value in the program. An initializer draws alike whichever object it is.
    """
    for part in walk(value):
        if isinstance(part, ast.Name):
            if not name_of(module, part) and module.names.only_binding(part) is None:
                return "tensorflow" in (module.names.qualname(part) or "")
        elif isinstance(part, ast.Call):
            name = name_of(module, part)
            if name not in INITIALIZERS.by_name and name not in _REGULARIZERS:
                return False
        elif not isinstance(
            part,
            (ast.Attribute, ast.Constant, ast.keyword, ast.expr_context, ast.UnaryOp, ast.USub),
        ):
            return False
    return "\n" not in module.source.code(value)
