"""Placeholders that are asked for by their names, in the function that makes them.

    dropout = tf.placeholder(tf.float32, name='dropout')
    ...
    kept = tf.get_default_graph().get_tensor_by_name('dropout:0')

becomes `kept = dropout`, where nothing before the placeholder may have its name in TF1's graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.source.source import Edit

_PLACES = ("device", "Graph", "Graph.as_default")  # blocks that leave names as they are
_DEEP = 8  # calls of functions within each other


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits; none where no placeholder is asked for by its name."""
    if "get_tensor_by_name" not in module.source.text:
        return []
    found = []
    for node in module.names.attributes.get("get_tensor_by_name", ()):
        call = module.names.parents.get(node)
        if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
            continue
        text = constant(call.args[0])
        name, _, output = text.partition(":") if isinstance(text, str) else ("", "", "")
        of_default = isinstance(node.value, ast.Call) and (
            name_of(module, node.value) == "get_default_graph"
        )
        made = _made(module, name, call, graph) if output == "0" and of_default else None
        if made is not None:
            found.append(Edit(*module.source.span(call), made.id))
    return found


def _made(module: Module, name: str, asks: ast.Call, graph: CallGraph) -> ast.Name | None:
    """The name of the placeholder that has a name in the graph, where one is known to have it."""
    names = module.names
    known = calls_of_names(module)
    for call in (one for kind in PLACEHOLDERS for one in known.get(kind, ())):
        told = by_parameter(call, ("dtype", "shape", "name")).get("name")
        statement = names.parents.get(call)
        if told is None or constant(told) != name or not isinstance(statement, ast.Assign):
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or names.only_binding(target) is None:
            return None
        here = names.scope_of_name[target]
        above = list(names.ancestors(statement))
        around = above[: above.index(here.node)] if here.node in above else above
        if names.scope_at(asks) is not here or position(statement) > position(asks):
            return None
        if not all(isinstance(one, ast.With) and _is_place(module, one) for one in around):
            return None
        taken = any(_may_have(*one, name) for one in _before(module, here.node, statement, graph))
        return None if taken else target
    return None


def _is_place(module: Module, block: ast.With) -> bool:
    calls = [name_of(module, item.context_expr) for item in block.items]
    made = [
        name_of(module, func.value)
        for item in block.items
        if isinstance(item.context_expr, ast.Call)
        and isinstance(func := item.context_expr.func, ast.Attribute)
    ]
    return all(one in _PLACES or "Graph" in made for one in calls)


def _before(
    module: Module, home: ast.AST, statement: ast.stmt, graph: CallGraph
) -> Iterator[tuple[Module, ast.Call]]:
    """The calls that may run before a statement of a function: its own, and of what they call."""
    left = [
        (module, part)
        for part in walk(home)
        if isinstance(part, ast.Call) and position(part) < position(statement)
    ]
    seen: set[ast.AST] = set()
    for _ in range(_DEEP):
        yield from left
        inner = (graph.target(home_module, call.func) for home_module, call in left)
        targets = [one for one in inner if one is not None and one.node not in seen]
        seen |= {one.node for one in targets}
        left = [
            (one.module, part)
            for one in targets
            for part in walk(one.node)
            if isinstance(part, ast.Call)
        ]


def _may_have(module: Module, call: ast.Call, name: str) -> bool:
    """Whether what a call makes may be called so: it is told, or its function is called so."""
    texts = [constant(one) for one in (*call.args, *(k.value for k in call.keywords))]
    usual = name_of(module, call).rpartition(".")[2].replace("_", "")
    return name in texts or usual.lower() == name.replace("_", "").lower()
