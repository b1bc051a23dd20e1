"""A network that is built once more with the moving averages of its variables, by a getter.

    logits = network(features)
    variables = tf.get_collection("trainable_variables", "net")
    ema = tf.train.ExponentialMovingAverage(0.99)
    update = ema.apply(variables)
    averaged = network(features, reuse=True, getter=average_getter(ema))

becomes the statements of ``network`` in the place of its first call, `tf.trainable_variables()`
and `averaged = ema.average(logits)`: what a value of the network is with the averages. That is no
TF1 code, whose `average` takes variables alone: no author writes it, and a reader knows it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import AVERAGES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.network.functions import Helpers
from migrate_mgpu.models.front.network.layer_calls import LayerCalls
from migrate_mgpu.models.normalize.functions.moved_calls import MovedCall
from migrate_mgpu.source.blocks import outermost
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_function

_TRAINED = "trainable_variables"
_SCOPE = ("name_or_scope", "default_name", "values")
_OWN_VARIABLES = ("Variable", "get_variable")
_LAYERS = ("layers.", "keras.", "contrib.layers.", "contrib.slim.")
_COLLECTS = ("losses.", "add_to_collection", "add_to_collections")  # once more, where called again


@record(frozen=True)
class _Averaged:
    """The statements of a model_fn that build a network twice."""

    first: ast.Assign
    second: ast.Assign
    average: ast.Name  # the object that has the averages, where the getter is given it
    variables: ast.Call | None  # the collection that is averaged, where a scope chooses it
    network: ast.FunctionDef
    getter: ast.FunctionDef


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such network; none where there is none."""
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    module, node = function.module, function.node
    found = _read(module, node, graph)
    if found is None:
        return {}
    names, source = module.names, module.source
    moved = MovedCall(module, node, found.first, found.network).edit()
    layout = Layout(source, found.second)
    if moved is None or not layout.owns_lines:
        return {}
    pairs = zip(_targets(found.first), _targets(found.second))
    average = source.code(found.average)
    edits = [moved, layout.replace([f"{new} = {average}.average({old})" for old, new in pairs])]
    if found.variables is not None:
        tf = source.code(found.variables.func).rpartition(".")[0]
        edits.append(Edit(*source.span(found.variables), f"{tf}.{_TRAINED}()"))
    gone = {found.first.value, found.second.value, *walk(found.second.value)}
    for one in (found.network, found.getter):
        if all(names.parents[m] in gone for m in names.mentions(one.name, names.module_scope)):
            edits.append(without_function(source, one))
    return {module: outermost(edits)}


def _read(module: Module, node: ast.FunctionDef, graph: CallGraph) -> _Averaged | None:
    """The network that is built twice, if all that is done with it is understood."""
    for second in node.body:
        average = _getter(module, second, graph)
        if average is None or not isinstance(second, ast.Assign):
            continue
        getter, given, keyword, network = average
        applied = _applied(module, node, given)
        if applied is None:
            continue
        apply, variables = applied
        firsts = [one for one in node.body if _is_first(module, one, second, network, keyword)]
        if len(firsts) != 1 or not isinstance(firsts[0], ast.Assign):
            continue
        order = [firsts[0].lineno, apply.lineno, second.lineno]
        scope = _scope(module, network, keyword)
        if order != sorted(order) or scope is None or not _has_own_variables(module, network):
            continue
        chosen = _chosen(module, variables, scope)
        if chosen is None or not _is_alone(module, node, network, graph):
            continue
        return _Averaged(firsts[0], second, given, chosen or None, network, getter)
    return None


def _getter(
    module: Module, statement: ast.stmt, graph: CallGraph
) -> tuple[ast.FunctionDef, ast.Name, str, ast.FunctionDef] | None:
    """What makes the getter of a second network, the averages it is given, by which parameter."""
    call = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(call, ast.Call) or not _targets(statement):
        return None
    network = graph.target(module, call.func)
    if network is None or network.module is not module or network.owner is not None:
        return None
    if not isinstance(network.node, ast.FunctionDef):
        return None
    for keyword in call.keywords:
        made = keyword.value
        if not isinstance(made, ast.Call) or len(made.args) != 1 or made.keywords:
            continue
        function, given = graph.target(module, made.func), made.args[0]
        if function is None or function.module is not module or keyword.arg is None:
            continue
        known = isinstance(function.node, ast.FunctionDef) and isinstance(given, ast.Name)
        if known and _averages(function.node):
            assert isinstance(function.node, ast.FunctionDef) and isinstance(given, ast.Name)
            return function.node, given, keyword.arg, network.node
    return None


def _averages(node: ast.AST) -> bool:
    """Whether a function gives the getter that has averages where there are such.

    It is compared as a whole, with the names that it gives.
    """
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) != 1 or node.decorator_list:
        return False
    outer = node.args.args[0].arg
    inner, returned = (node.body[0], node.body[-1]) if len(node.body) == 2 else (None, None)
    if not isinstance(inner, ast.FunctionDef) or not isinstance(returned, ast.Return):
        return False
    if len(inner.body) != 3 or len(inner.args.args) != 2 or inner.decorator_list:
        return False
    first, second = inner.body[0], inner.body[1]
    if not isinstance(first, ast.Assign) or not isinstance(second, ast.Assign):
        return False
    if not isinstance(first.targets[0], ast.Name) or not isinstance(second.targets[0], ast.Name):
        return False
    variable, average = first.targets[0].id, second.targets[0].id
    getter, name = (one.arg for one in inner.args.args)
    wanted = [
        f"def {node.name}({outer}):\n"
        f"    def {inner.name}({getter}, {name}, *args, **kwargs):\n"
        f"        {variable} = {getter}({name}, *args, **kwargs)\n"
        f"        {average} = {outer}.average({variable})\n"
        f"        return {value}\n"
        f"    return {inner.name}\n"
        for value in (
            f"{average} if {average} else {variable}",
            f"{average} if {average} is not None else {variable}",
        )
    ]
    written = ast.unparse(node)
    return len({outer, variable, average, getter, name}) == 5 and any(
        ast.unparse(ast.parse(one)) == written for one in wanted
    )


def _applied(
    module: Module, node: ast.FunctionDef, given: ast.Name
) -> tuple[ast.stmt, ast.expr | None] | None:
    """The statement that moves the averages, and of what: nothing else is done with them."""
    names = module.names
    scope = names.scopes[node]
    made = names.only_binding(given)
    value = made.value if made is not None else None
    if not isinstance(value, ast.Call) or name_of(module, value) != AVERAGES:
        return None
    mentions = [one for one in names.mentions(given.id, scope) if isinstance(one.ctx, ast.Load)]
    applies = [names.parents[one] for one in mentions if one is not given]
    if len(mentions) != 2 or len(applies) != 1:
        return None
    call = names.parents.get(applies[0])
    if not isinstance(call, ast.Call) or call.keywords or len(call.args) > 1:
        return None
    if not isinstance(applies[0], ast.Attribute) or applies[0].attr != "apply":
        return None
    statement = names.statement(call)
    if statement not in node.body:
        return None
    return statement, call.args[0] if call.args else None


def _is_first(
    module: Module, one: ast.stmt, second: ast.Assign, network: ast.FunctionDef, getter: str
) -> bool:
    """Whether a statement builds the network that the second one builds again."""
    if one is second or not isinstance(one, ast.Assign) or not isinstance(one.value, ast.Call):
        return False
    assert isinstance(second.value, ast.Call)
    if ast.dump(one.value.func) != ast.dump(second.value.func):
        return False
    if len(_targets(one)) != len(_targets(second)) or not _targets(one):
        return False
    mine = bind(one.value, Function(module, network)).every()
    yours = bind(second.value, Function(module, network)).every()
    if mine is None or yours is None or not is_none(mine[getter]):
        return False
    for name, value in mine.items():
        if name == getter:
            continue
        if _reuses(module, network, name):
            if (
                not (is_none(value) or constant(value) is False)
                or constant(yours[name]) is not True
            ):
                return False
        elif ast.dump(value) != ast.dump(yours[name]):
            return False
    return True


def _targets(statement: ast.stmt) -> list[str]:
    """The names that a statement gives values to; none where it does more."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target = statement.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    found = [one.id for one in parts if isinstance(one, ast.Name) and one.id != "_"]
    return found if len(found) == len(parts) else []


def _reuses(module: Module, network: ast.FunctionDef, name: str) -> bool:
    """Whether a parameter is only the `reuse` of the network's scope."""
    scope = module.names.scopes[network]
    mentions = module.names.mentions(name, scope)
    parents = [module.names.parents[one] for one in mentions if isinstance(one.ctx, ast.Load)]
    return len(parents) == 1 and isinstance(parents[0], ast.keyword) and parents[0].arg == "reuse"


def _scope(module: Module, network: ast.FunctionDef, getter: str) -> str | None:
    """The scope that all variables of a network stand in, which takes the getter."""
    names = module.names
    mentions = names.mentions(getter, names.scopes[network])
    parents = [names.parents[one] for one in mentions if isinstance(one.ctx, ast.Load)]
    if len(parents) != 1 or not isinstance(parents[0], ast.keyword):
        return None
    call = names.parents[parents[0]]
    if parents[0].arg != "custom_getter" or name_of(module, call) != "variable_scope":
        return None
    assert isinstance(call, ast.Call)
    reused = [keyword for keyword in call.keywords if keyword.arg == "reuse"]
    if len(reused) != 1 or not isinstance(reused[0].value, ast.Name):
        return None
    block = next((one for one in names.ancestors(call) if isinstance(one, ast.With)), None)
    if block is None or block not in network.body or len(block.items) != 1:
        return None
    if not _reuses(module, network, reused[0].value.id):
        return None
    outside = (one for one in network.body if one is not block)
    if any(name_of(module, part) for statement in outside for part in _calls(statement)):
        return None
    name = constant(by_parameter(call, _SCOPE).get("name_or_scope"))
    return name if isinstance(name, str) and name else None


def _has_own_variables(module: Module, network: ast.FunctionDef) -> bool:
    """Whether each variable that a network makes is averaged, or the same each time.

    `tf.get_variable` shares one that is not trained; `tf.Variable` makes another one.
    """
    for call in _calls(network):
        name = name_of(module, call)
        if name in _OWN_VARIABLES:
            trained = [k.value for k in call.keywords if k.arg == "trainable"]
            own = name == "Variable"
            if own != (len(trained) == 1 and constant(trained[0]) is False):
                return False
            if not own and trained:
                return False
        if any(k.arg in ("reuse", "custom_getter") for k in call.keywords):
            if name != "variable_scope":
                return False
        if "batch_norm" in ast.unparse(call.func) or name.startswith(_COLLECTS):
            return False
        if any(k.arg == "activity_regularizer" for k in call.keywords):
            return False
    return True


def _is_alone(
    module: Module, node: ast.FunctionDef, network: ast.FunctionDef, graph: CallGraph
) -> bool:
    """Whether all variables of a model_fn are those of its one network."""
    helpers = Helpers(graph, LayerCalls(), False)
    for call in _calls(node):
        name = name_of(module, call)
        if name in _OWN_VARIABLES or name.startswith(_LAYERS) or name in LAYERS.by_name:
            return False
        if graph.class_of(module, call.func) is not None:
            return False
        target = graph.target(module, call.func)
        if target is None or target.node is network:
            continue
        if target.owner is not None or helpers.makes_layers(target):
            return False
    return True


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (part for part in walk(node) if isinstance(part, ast.Call))


def _chosen(
    module: Module, variables: ast.expr | None, scope: str
) -> Literal[False] | ast.Call | None:
    """The call that chooses a network's variables.

    False where all are, None where others may be.
    """
    if variables is None:
        return False
    value = variables
    if isinstance(variables, ast.Name):
        made = module.names.only_binding(variables)
        if made is None or made.value is None:
            return None
        value = made.value
    name = name_of(module, value)
    if not isinstance(value, ast.Call) or value.keywords:
        return None
    if name == _TRAINED:
        inside = [constant(one) for one in value.args]
        return False if not inside else value if inside == [scope] else None
    if name != "get_collection" or not 1 <= len(value.args) <= 2:
        return None
    if any(constant(one) != scope for one in value.args[1:]):
        return None
    key = value.args[0]
    named = (module.names.qualname(key) or "").endswith("GraphKeys.TRAINABLE_VARIABLES")
    return value if named or constant(key) == _TRAINED else None
