"""Runs that begin iterators and give variables their first values at once: one after the other.

    sess.run([iterator.initializer, tf.global_variables_initializer()], feed_dict={x: features})

becomes `sess.run(iterator.initializer, feed_dict={x: features})` and, below it,
`sess.run(tf.global_variables_initializer())`, where no variable begins with what is fed: what is
fed is read by datasets alone.
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
    value = module.names.only_value(node) if isinstance(node, ast.Name) else node
    return isinstance(value, ast.Call) and name_of(module, value) in INITIALIZES


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
