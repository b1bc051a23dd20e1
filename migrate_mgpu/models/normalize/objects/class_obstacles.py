"""Why a class that builds a part of the graph is not written where its object is made.

The passes leave a class alone for what stands in it, or is done with its objects: that statement
is what its author wants to see, not the call of the class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.session.scope import constructor_of
from migrate_mgpu.models.front.session.unknown_calls import CLASS_IN_GRAPH
from migrate_mgpu.models.normalize.objects.graph_methods import builds

_LEAVES = (ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)
CLASS_STAYS = "class-in-graph-stays"  # a key


def explained(why: Diagnostic, graph: CallGraph) -> Diagnostic:
    """A diagnostic of such a class, with the statement that it stays for; any other as it is."""
    call = why.node
    if why.key != CLASS_IN_GRAPH or not isinstance(call, ast.Call):
        return why
    known = graph.class_of(why.module, call.func)
    if known is None:
        return why
    found = next(_obstacles(why.module, call, *known, graph), None)
    if found is None:
        return why
    module, node, reason, advice = found
    text = f"{why.reason}: {reason}"
    # A finding is about the module that the program's own files are read as.
    place = Place(module, node) if module is why.module else why.place
    return replaced(
        why, key=CLASS_STAYS, place=place, reason=text, advice=advice, symbol=known[1].name
    )


_Obstacle = tuple[Module, ast.AST, str, str]


def _obstacles(
    module: Module, call: ast.Call, origin: Module, owner: ast.ClassDef, graph: CallGraph
) -> Iterator[_Obstacle]:
    source = origin.source
    for base in owner.bases:
        if not isinstance(base, ast.Name) or base.id != "object":
            text = f"what it inherits from `{source.code(base)}` is not read with it"
            yield origin, base, text, "let the class have what it needs itself"
    if owner not in origin.tree.body:
        yield origin, owner, "it is made in a function or a block", "make it at the file's top"
    node = constructor_of(owner)
    if node is None:
        yield origin, owner, "it has no constructor of its own", "let one build the graph"
        return
    for decorator in (*owner.decorator_list, *node.decorator_list):
        yield origin, decorator, f"`{source.code(decorator)}` may change it", "call it by hand"
    for part in walk(node):
        if isinstance(part, _LEAVES) and origin.names.scope_at(part).function() is node:
            text = "its constructor ends early, or gives names to other code"
            yield origin, part, text, "let it build its graph in one line"
    references = graph.references(Function(origin, node))
    for one in sorted(references, key=lambda one: position(one.node)):
        if one.call is None:
            text = f"`{one.module.source.code(one.node)}` is more than called"
            yield one.module, one.node, text, "call the class where its object is needed"
    others = [one for one in references if one.call is not None and one.call is not call]
    for one in sorted(others, key=lambda one: position(one.node)):
        text = f"{one.module.path.name} makes another object of it"
        yield one.module, one.node, text, "let one object build the graph"
    statement = module.names.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        yield module, statement, "its object gets no name of its own here", "give it one"
    yield from _methods(module, origin, owner, node, graph)


def _methods(
    module: Module, origin: Module, owner: ast.ClassDef, node: ast.FunctionDef, graph: CallGraph
) -> Iterator[_Obstacle]:
    """The methods besides the constructor that build, where they are called."""
    me = node.args.args[0].arg if node.args.args else ""
    modules = dict.fromkeys((module, origin, *graph.modules))
    for method in owner.body:
        if not isinstance(method, ast.FunctionDef) or method is node:
            continue
        if not builds(Function(origin, method), graph):
            continue
        name, called = method.name, False
        for one in modules:
            for mention in one.names.attributes.get(name, ()):
                called = True
                inside = one is origin and owner in one.names.ancestors(mention)
                if not inside:
                    text = f"`{name}`, one of its methods, builds more, behind the constructor"
                    yield one, mention, text, "let the constructor build what is needed of it"
                elif getattr(mention.value, "id", "") == me:
                    text = f"`{name}`, one of its methods, is called in more than one place, or in "
                    text += "one where it cannot be written"
                    yield one, mention, text, "let a function do it, which is given what it needs"
        if not called:
            text = f"`{name}`, one of its methods, builds as well, and what calls it is not seen"
            yield origin, method, text, "delete it, or let a function do it"
