"""Regularizers that variables are given where they are made, as terms where these are read.

    w = tf.get_variable("w", [4, 3], regularizer=tf.contrib.layers.l2_regularizer(0.1))
    loss += tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))

becomes `loss += tf.add_n([tf.multiply(0.1, tf.nn.l2_loss(w))])`, where nothing else has a
regularizer: no layer, no scope, and no variable of another function; and where all that is built
once: TF1 collects the terms of all that builds the same again.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments, by_parameter
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.normalize.layers.applied_regularizers import TERMS
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_KEY = "GraphKeys.REGULARIZATION_LOSSES"
_SHARES = ("reuse", "reuse_variables")


def normalize(module: Module, graph: CallGraph, modules: Sequence[Module]) -> list[Edit]:
    """The edits for the regularizers of a module; none where a term may be another's.

    ``modules`` are all of its program.
    """
    made = _regularized(module)
    reads = _reads(module)
    others = [one for one in modules if one is not module]
    if not made or not reads or any(_regularized(one) or _reads(one) for one in others):
        return []
    if not all(graph.runs_once(module, node, modules) for node in (*made, *reads)):
        return []  # what is built once more is collected with what there was
    if any(_has_more(one, made) for one in modules):
        return []
    names, source = module.names, module.source
    homes = {names.scope_at(node) for node in (*made, *reads)}
    home = homes.pop().node
    body = home.body if isinstance(home, (ast.FunctionDef, ast.Module)) else []
    lines = {*in_line(body)}
    if homes or not all(names.statement(node) in lines for node in (*made, *reads)):
        return []
    tf = style_at(module, body[0]).tensorflow
    found: list[Edit] = []
    terms: list[str] = []
    told: set[ast.AST] = set()
    for call in sorted(made, key=position):
        statement, given = names.parents.get(call), made[call]
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        shown = names.only_value(given) if isinstance(given, ast.Name) else given
        if not isinstance(target, ast.Name) or names.only_binding(target) is None:
            return []
        name = name_of(module, shown) if isinstance(shown, ast.Call) else ""
        if not isinstance(shown, ast.Call) or name not in TERMS:
            return []
        scale = by_parameter(shown, ("scale", "scope")).get("scale")
        if scale is None or len(shown.args) + len(shown.keywords) != 1:
            return []
        if not all(_stays(module, part) for part in walk(scale)):
            return []
        term = TERMS[name].format(tf=tf, value=target.id)
        terms.append(f"{tf}.multiply({source.code(scale)}, {term})")
        edit = CallEdit(source, call)
        edit.drop_value(given)
        found += edit.edits()
        told.add(given)
    last = max(position(call) for call in made)
    for read in reads:
        if position(read) < last:
            return []
        listed = f"[{', '.join(terms)}]"
        if name_of(module, read) == "losses.get_regularization_loss":
            listed = f"{tf}.add_n({listed})"
        found.append(Edit(*source.span(read), listed))
    given_names = {node.id: node for node in told if isinstance(node, ast.Name)}
    for word, node in given_names.items():
        binding = names.only_binding(node)
        statement = names.statement(binding.node) if binding is not None else None
        mentions = names.mentions(word, names.scope_of_name[node])
        loads = [one for one in mentions if isinstance(one.ctx, ast.Load)]
        alone = isinstance(statement, ast.Assign) and len(statement.targets) == 1
        if isinstance(statement, ast.Assign) and alone and told.issuperset(loads):
            if not Layout(source, statement).owns_lines:
                return []
            found.append(without_paragraph(source, statement))
    return found


def _stays(module: Module, part: ast.AST) -> bool:
    """Whether a part of a scale is the same where the terms are read."""
    if isinstance(part, ast.Name):
        return module.names.only_binding(part) is not None
    return not isinstance(part, (ast.Call, ast.Subscript, ast.Lambda, ast.NamedExpr))


def _regularized(module: Module) -> dict[ast.Call, ast.expr]:
    """The variables that are made with a regularizer, and that."""
    found: dict[ast.Call, ast.expr] = {}
    row = VARIABLES.by_name["get_variable"]
    for call in calls_of_names(module).get("get_variable", ()):
        given = NamedArguments(module, call, row.signature).rest.get("regularizer")
        if given is not None and not is_none(given):
            found[call] = given
    return found


def _reads(module: Module) -> list[ast.Call]:
    """The calls that give all terms."""
    calls = calls_of_names(module)
    found = [
        call
        for call in calls.get("get_collection", ())
        if (key := by_parameter(call, ("key",)).get("key")) is not None
        and name_of(module, key) == _KEY
    ]
    for name in ("losses.get_regularization_losses", "losses.get_regularization_loss"):
        found += calls.get(name, ())
    return found


def _has_more(module: Module, made: dict[ast.Call, ast.expr]) -> bool:
    """Whether something else of a module may give a term, or ask for some."""
    for call in module.names.calls:
        for keyword in call.keywords:
            ends = (keyword.arg or "").endswith("regularizer")
            if (ends and call not in made and not is_none(keyword.value)) or keyword.arg == "reuse":
                return True
        if isinstance(call.func, ast.Attribute) and call.func.attr in _SHARES:
            return True
    whole = [call for call in _reads(module) if len(call.args) + len(call.keywords) > 1]
    mentions = sum(use.symbol.name == _KEY for use in module.uses)
    asked = sum(name_of(module, call) == "get_collection" for call in _reads(module))
    return bool(whole) or mentions != asked
