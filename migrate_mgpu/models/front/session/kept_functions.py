"""A function of one tensor that an object keeps as a setting: `self.activation(x)`.

    class Model(object):
        def __init__(self, sizes, activation=tf.nn.relu):
            self.activation = activation

Where each of them that a constructor is given is one that TF2 has by the same name, what it is
called with is a value that it computes. So is what a function is given: `def fit(x, f=tf.nn.relu)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.arguments import defaults_of
from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.graph import OF_ONE_TENSOR
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.origins import (
    arguments_by_name,
    class_of,
    method_calls,
)
from migrate_mgpu.models.front.session.scope import constructor_of


def kept_functions(module: Module, call: ast.Call, graph: CallGraph) -> list[ast.expr]:
    """The mentions of all functions that a call of an attribute may reach; none if not known."""
    func = call.func
    plain = len(call.args) == 1 and not call.keywords
    if not plain or isinstance(call.args[0], ast.Starred):
        return []
    if isinstance(func, ast.Name):
        return given_functions(module, func, graph)
    if not isinstance(func, ast.Attribute):
        return []
    owner = class_of(module, func)
    made = constructor_of(owner) if owner is not None else None
    stored = [
        (one, mention)
        for one in graph.modules
        for mention in one.names.attributes.get(func.attr, ())
        if not isinstance(mention.ctx, ast.Load)
    ]
    if owner is None or made is None or len(stored) != 1 or stored[0][0] is not module:
        return []
    if any(_derives(one, node, graph, owner) for one in graph.modules for node in one.tree.body):
        return []  # its constructor may give another one
    statement = module.names.statement(stored[0][1])
    if not isinstance(statement, ast.Assign) or class_of(module, stored[0][1]) is not owner:
        return []
    found = [(module, statement.value)]
    if isinstance(statement.value, ast.Name):
        home = module.names.scopes[made]
        bound = home.bindings.get(statement.value.id, ())
        if statement not in made.body or [one.kind for one in bound] != ["parameter"]:
            return []
        found = _known([*_given(Function(module, made), statement.value.id, graph)])
    return _of_one_tensor(found)


def given_functions(module: Module, name: ast.Name, graph: CallGraph) -> list[ast.expr]:
    """The mentions of all functions that a parameter may be; none if not known."""
    bindings = module.names.bindings_of(name)
    home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
    if home is None or [one.kind for one in bindings] != ["parameter"]:
        return []
    if not isinstance(home.node, ast.FunctionDef) or home.node.decorator_list:
        return []
    function = Function(module, home.node)
    if not _references(function, graph):
        return []
    return _of_one_tensor(_known([*_given(function, name.id, graph)]))


def _known(given: list[tuple[Module, ast.expr] | None]) -> list[tuple[Module, ast.expr]]:
    """What is given, where all of it is known."""
    known = [one for one in given if one is not None]
    return known if len(known) == len(given) else []


def _of_one_tensor(found: list[tuple[Module, ast.expr]]) -> list[ast.expr]:
    names = (name_of(one, node) for one, node in found)
    return [node for _, node in found] if all(name in OF_ONE_TENSOR for name in names) else []


def _derives(module: Module, node: ast.stmt, graph: CallGraph, owner: ast.ClassDef) -> bool:
    """Whether a class inherits from another one."""
    bases = node.bases if isinstance(node, ast.ClassDef) else []
    known = (graph.class_of(module, base) for base in bases)
    return any(one is not None and one[1] is owner for one in known)


def _given(made: Function, name: str, graph: CallGraph) -> Iterator[tuple[Module, ast.expr] | None]:
    """What a constructor is given by a name, and what it is where it is not; None: not known."""
    assert isinstance(made.node, ast.FunctionDef)
    default = dict(defaults_of(made.node.args)).get(name)
    if default is not None:
        yield made.module, default
    for reference in _references(made, graph):
        call = reference.call
        if call is None or any(isinstance(one, ast.Starred) for one in call.args):
            yield None
            continue
        named = [one.value for one in call.keywords if one.arg == name]
        value = named[0] if named else arguments_by_name(made, call).get(name)
        unpacks = any(one.arg is None for one in call.keywords)
        if value is not None:
            yield reference.module, value
        elif unpacks and call.args:
            yield None  # it may be one of those without a name
        else:
            yield from _unpacked(reference, call, name, default is not None)


def _references(made: Function, graph: CallGraph) -> list[Reference]:
    """The mentions of a function, or of a method that is only called; none where it may be more."""
    if made.owner is None or made.name == "__init__":
        return graph.references(made)
    calls = method_calls(graph, made.owner, made.name) or []
    parents = ((one, mention, one.names.parents[mention]) for one, mention in calls)
    return [Reference(one, mention, c) for one, mention, c in parents if isinstance(c, ast.Call)]


def _unpacked(
    reference: Reference, call: ast.Call, name: str, has_default: bool
) -> Iterator[tuple[Module, ast.expr] | None]:
    """`Model(**settings)`, of a dictionary that is written out and filled by constant keys."""
    names = reference.module.names
    for table in (one.value for one in call.keywords if one.arg is None):
        if not isinstance(table, ast.Name):
            yield None
            continue
        value = names.only_value(table)
        home = names.defining_scope(table.id, names.scope_of_name[table])
        if not isinstance(value, ast.Dict) or home is None:
            yield None
            continue
        keys = [constant(one) if one is not None else None for one in value.keys]
        for mention in names.mentions(table.id, home):
            around = names.parents.get(mention)
            if isinstance(around, ast.Subscript) and around.value is mention:
                key = constant(around.slice)
                if isinstance(around.ctx, ast.Load) or (isinstance(key, str) and key != name):
                    continue
            elif isinstance(mention.ctx, ast.Store) or isinstance(around, ast.keyword):
                continue
            yield None  # another may be put in
        if None in keys or keys.count(name) > 1 or (name not in keys and not has_default):
            yield None
        elif name in keys:
            yield reference.module, value.values[keys.index(name)]
