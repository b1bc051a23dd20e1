"""Scopes that have an initializer which no variable asks for.

    with tf.variable_scope("model", initializer=initializer):
        model = Model(config)

gives it to the variables that state none. Where each of a program's does, the scope is left a name.
Where only recurrent cells are made in such scopes, the cells get it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES, DRAWS, SETTINGS
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.recurrent import STACK, cell_of, is_recurrent
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit

_SCOPE = "variable_scope"
# What makes no variable that a scope would give its initializer.
_KNOWN = (
    COMPUTES
    | DRAWS
    | INITIALIZERS.by_name.keys()
    | VARIABLES.by_name.keys()
    | {*PLACEHOLDERS}
    | {_SCOPE, "name_scope", "device", "Graph", "Session", "InteractiveSession", "ConfigProto",
       "GPUOptions", "set_random_seed", "reset_default_graph", "global_variables", "app.run",
       "trainable_variables", "global_variables_initializer", "initialize_all_variables"}
)  # fmt: skip
_FAMILIES = ("train.", "summary.", "gfile.", "losses.", *SETTINGS)


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits of a module; none where a variable may ask its scope. ``modules``: a program's."""
    given = [
        call
        for call in calls_of_names(module).get(_SCOPE, ())
        if any(one.arg == "initializer" for one in call.keywords)
    ]
    if not given or not all(map(_states_all, modules)):
        return []
    found: list[Edit] = []
    for call in given:
        edit = CallEdit(module.source, call)
        edit.drop("initializer")
        found += edit.edits()
    return found


def _states_all(module: Module) -> bool:
    """Whether each variable that a module makes states what it begins with."""
    for name, calls in calls_of_names(module).items():
        if name and name not in _KNOWN and not name.startswith(_FAMILIES):
            return False
        if name != "get_variable":
            continue
        for call in calls:
            value = by_parameter(call, VARIABLES.by_name[name].signature).get("initializer")
            if isinstance(value, ast.Name):
                value = module.names.only_value(value)
            if not isinstance(value, ast.Call) or not name_of(module, value):
                return False  # it may be None
    return True


# What the cells that ask their scope call the initializer of their kernels.
_OF_KERNELS = {"GRUCell": "kernel_initializer", "LSTMCell": "initializer"}


def of_cells(module: Module, graph: CallGraph) -> list[Edit]:
    """Scopes in which recurrent cells alone have variables: the cells get the initializer.

    with tf.variable_scope("query", initializer=tf.orthogonal_initializer()):
        outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(size), x, dtype=tf.float32)
    """
    blocks: dict[ast.With, ast.Call] = {}
    for call in calls_of_names(module).get(_SCOPE, ()):
        block = module.names.parents.get(module.names.parents.get(call, call))
        if any(one.arg == "initializer" for one in call.keywords):
            if not isinstance(block, ast.With) or len(block.items) != 1:
                return []
            blocks[block] = call
    shown = {module.source.code(_initializer(one)) for one in blocks.values()}
    if len(shown) != 1 or not all(_is_drawn(module, one) for one in blocks.values()):
        return []
    cells: dict[ast.Call, str] = {}
    for block in blocks:
        for call in (
            part for one in block.body for part in walk(one) if isinstance(part, ast.Call)
        ):
            found = _cells_of(module, graph, call, blocks)
            if found is None:
                return []
            cells.update(found)
    if not cells:
        return []
    edits: list[Edit] = []
    for call, parameter in cells.items():
        edit = CallEdit(module.source, call)
        edit.add(parameter, next(iter(shown)))
        edits += edit.edits()
    for call in blocks.values():
        edit = CallEdit(module.source, call)
        edit.drop("initializer")
        edits += edit.edits()
    return edits


def _initializer(call: ast.Call) -> ast.expr:
    return next(one.value for one in call.keywords if one.arg == "initializer")


def _is_drawn(module: Module, call: ast.Call) -> bool:
    """Whether each variable draws values of its own: an initializer without a seed."""
    made = _initializer(call)
    if not isinstance(made, ast.Call) or name_of(module, made) not in INITIALIZERS.by_name:
        return False
    parts = (*made.args, *(one.value for one in made.keywords))
    seeded = any(one.arg in ("seed", None) for one in made.keywords)
    return not seeded and all(constant(one) is not None for one in parts)


def _cells_of(
    module: Module, graph: CallGraph, call: ast.Call, blocks: Mapping[ast.With, ast.Call]
) -> dict[ast.Call, str] | None:
    """The cells that a call in such a block makes; None where it may make other variables."""
    kind = cell_of(module, call)
    if kind in _OF_KERNELS:
        parameter = _OF_KERNELS[kind]
        told = any(one.arg in (parameter, None) for one in call.keywords) or len(call.args) > 1
        return None if told else {call: parameter}
    if kind in (STACK, "DropoutWrapper") or is_recurrent(module, call):
        return {}
    if name_of(module, call):
        known = name_of(module, call)
        plain = known in COMPUTES or known in INITIALIZERS.by_name
        return {} if plain else None
    if (module.names.qualname(call.func) or "").startswith("builtins."):
        return {}
    target = graph.target(module, call.func)
    if target is None or target.module is not module:
        return None
    references = graph.references(target)
    inside = all(
        one.module is module and any(part in blocks for part in module.names.ancestors(one.node))
        for one in references
    )
    found: dict[ast.Call, str] = {}
    for part in walk(target.node) if inside else ():
        made = _cells_of(module, graph, part, blocks) if isinstance(part, ast.Call) else {}
        if made is None:
            return None
        found.update(made)
    return found if inside else None
