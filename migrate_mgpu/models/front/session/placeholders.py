"""Placeholders: what they are fed, and which of them have one value in a step."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.program import Role
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.ir import Placeholder

PLACEHOLDERS = ("placeholder", "placeholder_with_default")
_GIVEN = ("dtype", "shape", "name")
_DEFAULT = ("input", "shape", "name")
_TYPES = {bool: "bool", int: "int32", float: "float32"}


class PlaceholderReader(StatementReader):
    """Reads statements that make placeholders."""

    def read(self, statement: ast.Assign, target: ast.Name, call: ast.Call) -> Role:
        """`x = tf.placeholder(...)`"""
        name = name_of(self.module, call)
        default = None
        if name == "placeholder":
            given = dict(NamedArguments(self.module, call, _GIVEN).rest)
            if "dtype" not in given:
                raise Refused(self.module, call, "this placeholder has no type")
        else:
            given = dict(NamedArguments(self.module, call, _DEFAULT).rest)
            default = given.pop("input", None)
            known = type(constant(default)) if default is not None else None
            if known not in _TYPES:
                text = "the default of this placeholder is not a literal number"
                raise Refused(self.module, default or call, text)
            given["dtype"] = ast.Constant(_TYPES[known])
        self.state.only_binding(target)
        self.state.host_only(call, "the shape of a placeholder")
        made = Placeholder(name, self.module, call, given, target.id, statement, default)
        self.found.placeholders.append(made)
        self.found.made.append(made)
        self.meanings[target.id] = made
        return Role.PLACEHOLDER
