"""An optimizer's class that `params` hold: its name, where the model_fn makes one of it.

``params={"optimizer": tf.train.AdamOptimizer}``, of which the model_fn makes an optimizer by
``params["optimizer"](0.1)``, or by a name for ``params.get("optimizer", ...)``. The entry goes.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.optimizers import OPTIMIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.container_edit import member_edit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where the class is more than one, or read in another place as well."""
    function, given = flow.function, flow.params
    if function is None or given is None or len(graph.references(function)) != 1:
        return {}
    home, params = flow.module, flow.module.names.assigned(given)
    if not isinstance(params, ast.Dict) or None in params.keys:
        return {}
    for index, (key, value) in enumerate(zip(params.keys, params.values)):
        name = constant(key)
        if isinstance(value, (ast.Name, ast.Attribute)) and isinstance(name, str):
            row = _optimizer(home, value)
            edits = _named(function.module, function.node, name, row) if row else []
            if edits and not _read_elsewhere(flow, name):
                found = {home: [member_edit(home.source, params, {index})[0]]}
                found.setdefault(function.module, []).extend(edits)
                return found
    return {}


def _optimizer(module: Module, node: ast.expr) -> str:
    """The name of an optimizer's class; empty for anything else."""
    name = name_of(module, node)
    return name if name in OPTIMIZERS.by_name else ""


def _named(module: Module, function: ast.AST, key: str, name: str) -> list[Edit]:
    """The class by its name at the one place that makes an optimizer of it; none for more."""
    names, source = module.names, module.source
    reads = [node for node in ast.walk(function) if _asks(node, key)]
    if len(reads) != 1:
        return []
    read = reads[0]
    shown = f"{style_at(module, read).tensorflow}.{name}"
    taker = names.parents[read]
    if isinstance(taker, ast.Call) and taker.func is read:
        return [Edit(*source.span(read), shown)]
    statement, layout = taker, Layout(source, names.statement(read))
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or not layout.owns_lines or layout.trailing_comment:
        return []
    # `optimizer = optimizer(0.1)` follows at once, so that the name stands for the class there.
    block = names.block(statement)
    place = block.index(statement)
    after = block[place + 1] if place + 1 < len(block) else None
    call = after.value if isinstance(after, ast.Assign) else None
    made = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    if not made or not isinstance(call, ast.Call) or call.func.id != target.id:  # type: ignore[attr-defined]
        return []
    own = [n for n in ast.walk(call) if isinstance(n, ast.Name) and n.id == target.id]
    assert isinstance(after, ast.Assign)
    again = [t.id for t in after.targets if isinstance(t, ast.Name)]
    home = names.defining_scope(target.id, names.scope_of_name[target])
    mentions = set(names.mentions(target.id, home)) if home is not None else set()
    if own != [call.func] or (again != [target.id] and mentions != {target, call.func}):
        return []
    return [layout.replace([]), Edit(*source.span(call.func), shown)]


def _asks(node: ast.AST, key: str) -> bool:
    """Whether an expression is `params[key]` or `params.get(key)`."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return node.value.id == "params" and constant(node.slice) == key
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner = node.func.value
    named = isinstance(owner, ast.Name) and owner.id == "params" and node.func.attr == "get"
    return named and bool(node.args) and constant(node.args[0]) == key


def _read_elsewhere(flow: EstimatorFlow, key: str) -> bool:
    """Whether something besides the model_fn may read the entry, or other params have it."""
    modules = flow.modules
    for module in modules:  # grows as it is walked
        modules += [other for other in module.imported if other not in modules]
    found = [
        node
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and node.value == key
    ]
    return len(found) != 2  # the entry, and the one place that asks for it
