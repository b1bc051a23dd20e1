"""A scope of variables that each object of a class opens with a name of its own.

    def __init__(self, name):
        with tf.variable_scope(name):
            ...
        self.weights = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=name)

What is asked for by that name is of this object alone, where no other object has a name that begins
so: TF1 compares the beginnings of names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.origins import is_annotation

_TRAINED = ("GraphKeys.TRAINABLE_VARIABLES", "trainable_variables")
_EVERY = ("GraphKeys.GLOBAL_VARIABLES", "variables")
_EVERY_CALL = ("global_variables", "all_variables")
_SCOPES = ("variable_scope", "name_scope")


@record(frozen=True, eq=False)
class ObjectScope:
    """The scope: its ``name`` as the class writes it, and the ``blocks`` that open it.

    ``objects`` are the names that objects have, by the calls that make them.
    """

    name: str
    blocks: tuple[ast.With, ...]
    objects: Mapping[ast.Call, str]

    def has(self, node: ast.AST) -> bool:
        """Whether a node stands in the scope."""
        return any(part is node for block in self.blocks for part in walk(block))


def asked_scope(module: Module, call: ast.expr | None, every: bool = False) -> ast.expr | None:
    """The scope of which the trained variables are asked for, by a call; None for anything else.

    ``every``: it asks for all that are global, trained or not.
    """
    if not isinstance(call, ast.Call):
        return None
    kind = name_of(module, call)
    if kind in (_EVERY_CALL if every else _TRAINED):
        return by_parameter(call, ("scope",)).get("scope")
    given = by_parameter(call, ("key", "scope")) if kind == "get_collection" else {}
    key = given.get("key")
    asked = name_of(module, key) if isinstance(key, ast.Attribute) else constant(key)
    return given.get("scope") if asked in (_EVERY if every else _TRAINED) else None


def object_scope(
    module: Module, graph: CallGraph, owner: ast.ClassDef, constructor: ast.FunctionDef
) -> ObjectScope | None:
    """The scope of each object of a class; None where two may have one, or that is not seen."""
    opened: dict[str, list[ast.With]] = {}
    for block in walk(owner):
        if isinstance(block, ast.With) and len(block.items) == 1:
            named = block.items[0].context_expr
            name = _name(module, named)
            if name is not None and not _is_in_scope(module, block):
                opened.setdefault(module.source.code(name), []).append(block)
    references = graph.references(Function(module, constructor))
    known = [one for one in references if not is_annotation(one.module, one.node)]
    calls = [(one.module, one.call) for one in known if one.call is not None]
    if not calls or len(calls) != len(known):
        return None
    for text, blocks in opened.items():
        of_block = _name(module, blocks[0].items[0].context_expr)
        parameter = _parameter(module, constructor, of_block)
        if parameter is None:
            continue
        objects: dict[ast.Call, str] = {}
        for caller, call in calls:
            told = bind(call, Function(module, constructor)).values().get(parameter)
            given = constant(told) if told is not None else None
            if not isinstance(given, str) or not re.fullmatch(r"\w+", given):
                return None
            if _is_in_scope(caller, call) or not graph.runs_once(caller, call):
                return None
            objects[call] = given
        if any(one.startswith(other) for one, other in permutations(objects.values(), 2)):
            return None
        inside = {*walk(owner)}
        every = ((one, call) for one in graph.modules for call in one.names.calls)
        others = [call for one, call in every if call not in inside and _names(one, call)]
        if any(_begins(call, objects.values()) for call in others):
            return None
        return ObjectScope(text, tuple(blocks), objects)
    return None


def _names(module: Module, call: ast.Call) -> bool:
    """Whether a call opens a scope of variables, or makes some."""
    name = name_of(module, call)
    return name == "variable_scope" or name in VARIABLES.by_name or name in LAYERS.by_name


def _begins(call: ast.Call, names: Iterable[str]) -> bool:
    """Whether a text that a call is given begins with one of some names."""
    given = (constant(one) for one in (*call.args, *(word.value for word in call.keywords)))
    return any(isinstance(one, str) and one.startswith((*names,)) for one in given)


def _is_in_scope(module: Module, node: ast.AST) -> bool:
    """Whether a node stands in a scope, whose name comes before that of another one in it."""
    blocks = (one for one in module.names.ancestors(node) if isinstance(one, ast.With))
    return any(
        name_of(module, item.context_expr) in _SCOPES for block in blocks for item in block.items
    )


def _name(module: Module, scope: ast.expr) -> ast.expr | None:
    """What a scope of variables is called: `name` in `tf.variable_scope(name)`."""
    if not isinstance(scope, ast.Call) or name_of(module, scope) != "variable_scope":
        return None
    plain = len(scope.args) == 1 and not scope.keywords
    return scope.args[0] if plain else None


def _parameter(module: Module, constructor: ast.FunctionDef, name: ast.expr | None) -> str | None:
    """The parameter of the constructor that a name is; perhaps as what the object keeps of it."""
    if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name):
        if [name.value.id] != [one.arg for one in constructor.args.args[:1]]:
            return None
        stored = [*_stored(module, name.attr)]
        made = module.names.parents[stored[0]] if len(stored) == 1 else None
        if not isinstance(made, ast.Assign) or made not in constructor.body:
            return None
        name = made.value
    if not isinstance(name, ast.Name) or not module.names.is_parameter(name):
        return None
    home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
    return name.id if home is not None and home.node is constructor else None


def _stored(module: Module, attribute: str) -> Iterator[ast.Attribute]:
    for one in module.names.attributes.get(attribute, ()):
        if not isinstance(one.ctx, ast.Load):
            yield one
