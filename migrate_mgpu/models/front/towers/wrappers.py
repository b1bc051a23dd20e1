"""Classes and functions of a program that build towers of what they are given: a model, a function.

The loop over the GPUs then stands in one place, and what it builds in another, which a caller, or a
class below, says. Where such a program is not native, its owner is told which wrapper it has.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import FunctionNode, walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.towers.loop import blocks_in, is_placed_anew

KEY = "wrapped-towers"
_ADVICE = (
    "see what else is named first; where nothing is, write the loop over the GPUs beside the "
    "session, with the function that is given in it"
)
# What is asked of objects that are given, and builds no model: data, optimizers, scopes, lists.
_ASKED = """
    append extend compute_gradients apply_gradients minimize get_next next next_batch dequeue format
    get_shape as_list reuse_variables items keys values update pop get read set_shape
"""
_BUILDS_NOTHING = frozenset(_ASKED.split())


def wrappers(modules: Sequence[Module], graph: CallGraph) -> Iterator[Diagnostic]:
    """The wrappers of a program's modules, each once."""
    for module in modules:
        if not module.writable:
            continue
        seen: set[str] = set()
        for loop in (node for node in walk(module.tree) if isinstance(node, ast.For)):
            if not (is_placed_anew(module, loop) or _enters_device(module, loop, graph)):
                continue
            function = graph.enclosing(module, loop)
            if function is None:
                continue
            home = module.names.class_around(loop) or function.node
            given = _given(module, loop, function.node, module.names.class_around(loop), 2)
            if given is None or home.name in seen:
                continue
            seen.add(home.name)
            text = (
                f"the towers stay, on the bridge: `{home.name}` is a wrapper, which builds in each"
            )
            text += f" what it is given, `{module.source.code(given)}`"
            yield Diagnostic(KEY, Place(module, home), text, _ADVICE, "MGPU910")


def _enters_device(module: Module, loop: ast.For, graph: CallGraph) -> bool:
    """`with TowerContext(i):` of the program's own, which is entered on a device."""
    own = {node.id for node in walk(loop.target) if isinstance(node, ast.Name)}
    for block in blocks_in(loop.body):
        for item in block.items:
            call = item.context_expr
            if not isinstance(call, ast.Call) or own.isdisjoint(
                node.id for node in walk(call) if isinstance(node, ast.Name)
            ):
                continue
            made = graph.class_of(module, call.func)
            function = graph.target(module, call.func)
            if made is not None and _uses_device(*made):
                return True
            if function is not None and _uses_device(function.module, function.node):
                return True
    return False


def _uses_device(module: Module, node: ast.AST) -> bool:
    calls = (one for one in walk(node) if isinstance(one, ast.Call))
    return "device" in calls_of_names(module) and any(
        name_of(module, one) == "device" for one in calls
    )


def _given(
    module: Module,
    place: ast.AST,
    function: FunctionNode,
    owner: ast.ClassDef | None,
    depth: int,
) -> ast.expr | None:
    """What is called at a place that its function, or its object, was given."""
    methods = (
        {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)} if owner else {}
    )
    parameters = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)} - {"self"}
    for call in walk(place):
        if not isinstance(call, ast.Call):
            continue
        called = call.func
        if isinstance(called, ast.Name) and called.id in parameters:
            return called
        if not isinstance(called, ast.Attribute) or called.attr in _BUILDS_NOTHING or owner is None:
            continue
        if isinstance(called.value, ast.Name) and called.value.id == "self":
            method = methods.get(called.attr)
            if method is None or _is_hook(method):
                return called
            if depth and method is not function:
                inner = _given(module, method, method, owner, depth - 1)
                if inner is not None:
                    return inner
        elif (stored := _own_attribute(called.value)) and stored in _stored(
            methods.get("__init__")
        ):
            return called
    return None


def _own_attribute(node: ast.expr) -> str:
    """`net` in `self.net`"""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "self" else ""
    return ""


def _is_hook(method: ast.FunctionDef) -> bool:
    """Whether a method does nothing: classes below say what it does."""
    return all(
        isinstance(one, (ast.Pass, ast.Raise))
        or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for one in method.body
    )


def _stored(constructor: ast.FunctionDef | None) -> set[str]:
    """The attributes that are what an object is made with."""
    if constructor is None:
        return set()
    parameters = {one.arg for one in (*constructor.args.args, *constructor.args.kwonlyargs)}
    return {
        target.attr
        for statement in walk(constructor)
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Name)
        and statement.value.id in parameters
        for target in statement.targets
        if isinstance(target, ast.Attribute)
    }
