"""Runs that begin iterators and give variables their first values at once: one after the other.

    sess.run([iterator.initializer, tf.global_variables_initializer()], feed_dict={x: features})

becomes `sess.run(iterator.initializer, feed_dict={x: features})` and, below it,
`sess.run(tf.global_variables_initializer())`, where no variable begins with what is fed: what is
fed is read by datasets alone.

`out = sess.run(init)` is `sess.run(init)` and, below it, `out = None`, as a run of no tensor gives.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.api.graph import INITIALIZES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.normalize.data.fed_datasets import RUN, reads_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_SLICES = ("data.Dataset.from_tensor_slices", "data.Dataset.from_tensors")
_MAKERS = ("make_initializable_iterator", "data.make_initializable_iterator")


def normalize(module: Module) -> list[Edit]:
    """The edits for one such run; none where there is none."""
    if "initializer" not in module.names.attributes:
        return []
    for call in module.names.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "run":
            edit = _parted(module, call)
            if edit is not None:
                return [edit]
    return []


def named(module: Module) -> list[Edit]:
    """The edits for one run whose result has a name; none where there is none."""
    source = module.source
    for call in module.names.calls:
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "run":
            continue
        statement = module.names.parents[call]
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
            continue
        if len(statement.targets) > 1 or len(call.args) != 1 or call.keywords:
            continue
        if _initializes(module, call.args[0]) and Layout(source, statement).owns_lines:
            between = source.newline + source.indent_of(statement)
            text = f"{source.code(call)}{between}{target.id} = None"
            return [Edit(*source.span(statement), text)]
    return []


def _parted(module: Module, call: ast.Call) -> Edit | None:
    source, statement = module.source, module.names.parents.get(call)
    given = by_parameter(call, RUN)
    fetched = given.get("fetches")
    if len(call.args) > 2 or not given.keys() <= {*RUN}:
        return None
    if not isinstance(fetched, (ast.List, ast.Tuple)):
        return None
    if not isinstance(statement, ast.Expr) or not Layout(source, statement).owns_lines:
        return None
    begins = [one for one in fetched.elts if _begins(module, one)]
    others = [one for one in fetched.elts if one not in begins]
    if not begins or not all(_initializes(module, one) for one in others):
        return None
    if len(fetched.elts) < 2 or "#" in source.code(statement):
        return None
    feeds = given.get("feed_dict")
    if feeds is not None and others and not _only_datasets(module, feeds):
        return None
    assert isinstance(call.func, ast.Attribute)
    run, fed = source.code(call.func), ""
    if feeds is not None:
        fed = f", feed_dict={source.code(feeds)}"
    texts = [f"{run}({source.code(one)}{fed})" for one in begins]
    texts = [*(f"{run}({source.code(one)})" for one in others), *texts]
    between = source.newline + source.indent_of(statement)
    return Edit(*source.span(statement), between.join(texts))


def _begins(module: Module, node: ast.expr) -> bool:
    """`iterator.initializer`, of an iterator that the module makes."""
    if not isinstance(node, ast.Attribute) or node.attr != "initializer":
        return False
    made = module.names.only_value(node.value) if isinstance(node.value, ast.Name) else None
    if not isinstance(made, ast.Call):
        return False
    attribute = made.func.attr if isinstance(made.func, ast.Attribute) else ""
    return attribute in _MAKERS or name_of(module, made) in _MAKERS


def _initializes(module: Module, node: ast.expr) -> bool:
    bindings = module.names.bindings_of(node) if isinstance(node, ast.Name) else []
    values = [one.value for one in bindings] if isinstance(node, ast.Name) else [node]
    made = [one for one in values if isinstance(one, ast.Call)]
    return bool(made) and all(name_of(module, one) in INITIALIZES for one in values)


def _only_datasets(module: Module, feeds: ast.expr) -> bool:
    """Whether what is fed is read where datasets are made, and nowhere else."""
    if not isinstance(feeds, ast.Dict):
        return False
    slices = {call for name in _SLICES for call in calls_of_names(module).get(name, ())}
    for key in feeds.keys:
        if not isinstance(key, ast.Name):
            return False
        for read in reads_of(module, key):
            if not slices.intersection(module.names.ancestors(read)):
                return False
    return True
