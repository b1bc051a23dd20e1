"""Sessions that functions are given and do not use: they are not given any.

`def prepare_data(sess, folder):` reads files, and `input_setup(sess, config)` only hands its
session on to that. Neither has one in TF2. A parameter goes where each call that there is can be
changed, and where none gives it something that does more than being read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.header_edit import without_parameter
from migrate_mgpu.source.source import Edit

_NAMES = ("sess", "session")  # what such parameters are called


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such parameter, of a function that hands it on to none; ``own`` may change.

    Where it is handed on, the function that has it then does nothing with its own.
    """
    for module in modules:
        for node in module.tree.body if module in own else ():
            if isinstance(node, ast.FunctionDef):
                for name in unread(module, node):
                    if name not in _NAMES:
                        continue
                    edits = without(Function(module, node), name, graph)
                    if edits and edits.keys() <= own:
                        return edits
    return {}


def unread(module: Module, node: ast.FunctionDef) -> Iterator[str]:
    """The parameters of a plain function that nothing reads."""
    scope, arguments = module.names.scopes[node], node.args
    if arguments.vararg or arguments.posonlyargs or node.decorator_list:
        return
    for one in arguments.args:
        plain = [binding.kind for binding in scope.bindings.get(one.arg, ())] == ["parameter"]
        if plain and not module.names.mentions(one.arg, scope):
            yield one.arg


def without(function: Function, name: str, graph: CallGraph) -> dict[Module, list[Edit]]:
    """What changes where a function loses a parameter; nothing where a call cannot."""
    assert isinstance(function.node, ast.FunctionDef)
    found: dict[Module, list[Edit]] = {}
    references = graph.references(function)
    calls = {one.call for one in references}
    if any(
        part in calls for one in calls if one is not None for part in walk(one) if part is not one
    ):
        return {}
    for one in references:
        if one.call is None or any(keyword.arg is None for keyword in one.call.keywords):
            return {}
        if any(isinstance(part, ast.Starred) for part in one.call.args):
            return {}
        value = bind(one.call, function).values().get(name)
        if not isinstance(value, (ast.Name, ast.Attribute, ast.Constant)):
            return {}
        given = [*one.call.args, *(keyword.value for keyword in one.call.keywords)]
        if value not in given:
            continue  # its default
        call = CallEdit(one.module.source, one.call, function.parameters())
        call.drop(name)
        call.order(one for one in function.parameters() if one != name)
        found.setdefault(one.module, []).extend(call.edits())
    if not references:
        return {}
    source = function.module.source
    found.setdefault(function.module, []).append(without_parameter(source, function.node, name))
    return found
