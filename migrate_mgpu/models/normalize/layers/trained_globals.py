"""All variables, of which an optimizer is to train some: those that can be trained.

`minimize(loss, var_list=tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, "d"))` trains what has a
gradient. Counters, slots and the averages that a batch normalization keeps while it trains have
none: the list is that of `TRAINABLE_VARIABLES`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit

_EVERY = ("global_variables", "all_variables")
_TRAINS = ("minimize", "compute_gradients")
# What normalizes, with the parameter that says whether it trains, and whether it does by itself.
_NORMALIZES = {
    "contrib.layers.batch_norm": ("is_training", True),
    "layers.batch_normalization": ("training", False),
}

# What makes variables, with the number of arguments before the one that says which are trained.
_MADE = {"Variable": 1, "get_variable": 5}


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one such list; none where there is none."""
    text = module.source.text
    if not any(one in text for one in (*_EVERY, "GLOBAL_VARIABLES")):
        return []
    for call in module.names.calls:
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr not in _TRAINS:
            continue
        for keyword in call.keywords:
            edits = _trained(module, keyword.value) if keyword.arg == "var_list" else None
            if edits and all(map(_only_trains, modules)):
                return edits
    return []


def _trained(module: Module, node: ast.expr) -> list[Edit] | None:
    """The edits that make a list one of trained variables; None where it is another list."""
    names, source = module.names, module.source
    if isinstance(node, ast.ListComp):
        each = node.generators[0]
        elt = node.elt
        if len(node.generators) > 1 or not isinstance(elt, ast.Name):
            return None
        if not isinstance(each.target, ast.Name) or elt.id != each.target.id:
            return None
        return _trained(module, each.iter)
    if isinstance(node, ast.Name):
        value, target = names.only_value(node), names.only_binding(node)
        if value is None or target is None:
            return None
        for one in names.mentions(node.id, names.scope_of_name[node]):
            if isinstance(one.ctx, ast.Load) and not _is_trained(module, one):
                return None
        return _trained(module, value)
    name = name_of(module, node) if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if name in _EVERY:
        end = source.span(node.func)[1]
        return [Edit(end - len(node.func.attr), end, "trainable_variables")]
    if name == "get_collection" and node.args:
        key = node.args[0]
        if name_of(module, key) == "GraphKeys.GLOBAL_VARIABLES":
            end = source.span(key)[1]
            return [Edit(end - len("GLOBAL_VARIABLES"), end, "TRAINABLE_VARIABLES")]
    return None


def _is_trained(module: Module, mention: ast.Name) -> bool:
    """Whether a list by a name is only chosen from, or trained."""
    user = module.names.parents.get(mention)
    if isinstance(user, ast.comprehension):
        made = module.names.parents.get(user)
        statement = module.names.statement(mention)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(statement, ast.Assign) and statement.value is made:
            return isinstance(target, ast.Name) and all(
                not isinstance(one.ctx, ast.Load) or _is_trained(module, one)
                for one in module.names.mentions(target.id, module.names.scope_of_name[target])
            )
        mention_of = made
    else:
        mention_of = mention
    keyword = module.names.parents.get(mention_of) if mention_of is not None else None
    call = module.names.parents.get(keyword) if isinstance(keyword, ast.keyword) else None
    func = call.func if isinstance(call, ast.Call) else None
    told = isinstance(keyword, ast.keyword) and keyword.arg == "var_list"
    return told and isinstance(func, ast.Attribute) and func.attr in _TRAINS


def _only_trains(module: Module) -> bool:
    """Whether no variable of a module that is not trained may have a gradient.

    What normalizes has one for its averages where it may not train.
    """
    text = module.source.text
    if any(
        one in text for one in ("BatchNorm", "ExponentialMovingAverage", "renorm", "fused_batch")
    ):
        return False
    for node in walk(module.tree):
        if isinstance(node, ast.keyword) and node.arg == "trainable":
            if constant(node.value) is not True:
                return False
        if isinstance(node, ast.Call):
            most = _MADE.get(name_of(module, node))
            if most is not None and len(node.args) > most:
                return False
        if not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        known = _NORMALIZES.get(name_of(module, node))
        if known is None:
            continue
        parameter, default = known
        call = module.names.parents.get(node)
        if not isinstance(call, ast.Call) or call.func is not node:
            return False
        told = [one.value for one in call.keywords if one.arg in (parameter, None)]
        if not all(constant(one) is True for one in told) or not (told or default):
            return False
    return True
