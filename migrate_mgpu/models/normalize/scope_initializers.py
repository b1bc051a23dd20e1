"""Scopes that have an initializer which no variable asks for.

    with tf.variable_scope("model", initializer=initializer):
        model = Model(config)

gives it to the variables that state none. Where each of a program's does, the scope is left a name.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.api.graph import COMPUTES, DRAWS, SETTINGS
from migrate_mgpu.api.initializers import INITIALIZERS
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
