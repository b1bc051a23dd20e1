"""Datasets of placeholders that the run which begins their iterator is fed: of what it is fed.

    features = tf.placeholder(tf.float32, [None, 4])
    dataset = tf.data.Dataset.from_tensor_slices(features).batch(8)
    iterator = dataset.make_initializable_iterator()
    ...
    sess.run(iterator.initializer, feed_dict={features: values})

becomes `from_tensor_slices(tf.cast(values, tf.float32))` and `sess.run(iterator.initializer)`,
where the values are there before the dataset is made, and no other run begins the iterator: one in
a loop begins it with the same values each time.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import Scope, position, walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.expressions import changes_in_place
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

RUN = ("fetches", "feed_dict")
_PLACEHOLDER = ("dtype", "shape", "name")
_SLICES = "data.Dataset.from_tensor_slices"


def normalize(module: Module) -> list[Edit]:
    """The edits for one run that is fed so, in a script or a function; none where there is none."""
    runs = [call for call in module.names.calls if _begins(call)]
    begun = [ast.dump(call.args[0]) for call in runs]
    for call in runs:
        home = module.names.scope_at(call)
        if not isinstance(home.node, (ast.Module, ast.FunctionDef)):
            continue
        edits = _edits(module, call, home) if begun.count(ast.dump(call.args[0])) == 1 else []
        if edits:
            return edits
    return []


def _begins(call: ast.Call) -> bool:
    """`sess.run(iterator.initializer, ...)`, fed or not."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "run" or not call.args:
        return False
    fetched = call.args[0]
    return isinstance(fetched, ast.Attribute) and fetched.attr == "initializer"


def _edits(module: Module, call: ast.Call, home: Scope) -> list[Edit]:
    names, source = module.names, module.source
    told = by_parameter(call, RUN)
    feeds, statement = told.get("feed_dict"), names.statement(call)
    if not isinstance(feeds, ast.Dict) or told.keys() != {*RUN}:
        return []
    if not isinstance(statement, ast.Expr) or statement.value is not call:
        return []
    found: list[Edit] = []
    for key, value in zip(feeds.keys, feeds.values):
        if not isinstance(key, ast.Name) or not isinstance(value, ast.Name):
            return []
        edits = _of_placeholder(module, key, value, home)
        if edits is None:
            return []
        found += edits
    end = source.span(call.args[0])[1]
    return [*found, Edit(end, source.span(feeds)[1], "")] if found else []


def _of_placeholder(
    module: Module, key: ast.Name, value: ast.Name, home: Scope
) -> list[Edit] | None:
    """What becomes of a placeholder that a dataset is made of; None where it is more."""
    names, source = module.names, module.source
    assert isinstance(home.node, (ast.Module, ast.FunctionDef))
    line = list(in_line(home.node.body))
    made, known = names.only_binding(key), names.only_binding(value)
    if made is None or known is None or name_of(module, made.value) != "placeholder":
        return None
    assert isinstance(made.value, ast.Call)
    dtype = by_parameter(made.value, _PLACEHOLDER).get("dtype")
    own = names.statement(made.node)
    if dtype is None or own not in line or not Layout(source, own).owns_lines:
        return None
    reads = [one for one in names.mentions(key.id, home) if one is not made.node]
    given = [one for one in reads if one is not key]
    if len(given) != 1 or changes_in_place(module, value):
        return None
    at = names.statement(given[0])
    around = [one for one in names.ancestors(given[0]) if isinstance(one, ast.Call)]
    slices = around and name_of(module, around[0]) == _SLICES
    if not slices or at not in line or position(known.node) >= position(at):
        return None
    if any(isinstance(one, (ast.Lambda, ast.ListComp)) for one in names.ancestors(given[0])):
        return None
    tf, layout = style_at(module, at).tensorflow, Layout(source, own)
    text = f"{tf}.cast({value.id}, {source.code(dtype)})"
    if any(isinstance(part, ast.Name) and part.id == key.id for part in walk(dtype)):
        return None
    return [
        Edit(*source.span(given[0]), text),
        Edit(layout.line_start, layout.next_line, ""),
    ]


def reads_of(module: Module, key: ast.Name) -> list[ast.Name]:
    """Where a name that is fed is read, besides the places that feed it."""
    names = module.names
    home = names.defining_scope(key.id, names.scope_of_name[key])
    mentions = names.mentions(key.id, home) if home is not None else []
    return [
        one
        for one in mentions
        if isinstance(one.ctx, ast.Load) and not isinstance(names.parents.get(one), ast.Dict)
    ]
