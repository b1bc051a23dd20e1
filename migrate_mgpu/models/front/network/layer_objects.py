"""Objects of TF1's layers that are only applied: `proj = tf.layers.Dense(10)`, `y = proj(x)`."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.decoders import DENSE
from migrate_mgpu.models.front.network.functions import Helpers

_SEVERAL = (ast.For, ast.While, ast.FunctionDef, ast.Lambda)
_DEEP = 8  # functions that give others the object


def is_layer_object(
    module: Module, node: ast.expr, graph: CallGraph, seen: frozenset[ast.AST] = frozenset()
) -> bool:
    """Whether an expression is such an object: by its name, or as what a function is given."""
    if not isinstance(node, ast.Name) or len(seen) > _DEEP:
        return False
    if not module.names.is_parameter(node):
        value = module.names.only_value(node)
        return isinstance(value, ast.Call) and name_of(module, value) == DENSE
    home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
    around = home.function() if home is not None else None
    if not isinstance(around, ast.FunctionDef) or around in seen or around.decorator_list:
        return False
    function = Function(module, around)
    calls = graph.references(function)
    return bool(calls) and all(
        one.call is not None
        and (given := bind(one.call, function).written().get(node.id)) is not None
        and is_layer_object(one.module, given, graph, seen | {around})
        for one in calls
    )


def is_only_applied(
    module: Module,
    target: ast.Name,
    graph: CallGraph,
    helpers: Helpers,
    seen: frozenset[ast.AST] = frozenset(),
) -> bool:
    """Whether all that is done with an object is to apply it, here or in functions."""
    names = module.names
    home = names.defining_scope(target.id, names.scope_of_name[target])
    others = [one for one in names.mentions(target.id, home) if one is not target] if home else []
    if len(others) == 1 and not _is_repeated(module, target, others[0]):
        return False  # it is made where it is applied
    return bool(others) and all(
        isinstance(one.ctx, ast.Load) and _is_applied(module, one, graph, helpers, seen)
        for one in others
    )


def _is_repeated(module: Module, target: ast.Name, mention: ast.Name) -> bool:
    """Whether the only mention of an object may apply it several times."""
    call = module.names.parents.get(mention)
    direct = isinstance(call, ast.Call) and call.func is mention
    around = {one for one in module.names.ancestors(mention) if isinstance(one, _SEVERAL)}
    return not direct or bool(around - {*module.names.ancestors(target)})


def _is_applied(
    module: Module, node: ast.Name, graph: CallGraph, helpers: Helpers, seen: frozenset[ast.AST]
) -> bool:
    """Whether a mention applies an object to a tensor, or gives it to a function that does."""
    call = module.names.parents.get(node)
    if isinstance(call, ast.keyword):
        call = module.names.parents.get(call)
    if not isinstance(call, ast.Call):
        return False
    if call.func is node:
        plain = len(call.args) == 1 and not call.keywords
        return plain and not isinstance(call.args[0], ast.Starred)
    function = graph.target(module, call.func)
    if function is None or function.node in seen or function.module is not module:
        return False
    if not isinstance(function.node, ast.FunctionDef) or function.node.decorator_list:
        return False
    if function.owner is not None or helpers.makes_layers(function):
        return False
    arguments = bind(call, function)
    taken = [name for name, value in arguments.written().items() if value is node]
    if arguments.unclear is not None or len(taken) != 1:
        return False
    scope = module.names.scopes[function.node]
    mentions = module.names.mentions(taken[0], scope)
    return len(scope.bindings[taken[0]]) == 1 and all(
        _is_applied(module, one, graph, helpers, seen | {function.node}) for one in mentions
    )
