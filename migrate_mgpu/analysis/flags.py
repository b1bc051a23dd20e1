"""Flags that TensorFlow's names define, and defaults that absl, behind them, does not take."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, fact
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.symbols import symbol

# Where TensorFlow has its flags.
_FLAGS = re.compile(r"(?:app\.|python\.platform\.)?flags\.")
# What absl reads as a boolean, in lower case.
_BOOLEANS = {"true", "t", "1", "false", "f", "0"}
_KINDS = {"bool": "boolean"}


class Flag(NamedTuple):
    """A definition of a flag: `tf.flags.DEFINE_integer("steps", 10, "how long to train")`."""

    kind: str  # string, integer, float, boolean, ...
    name: object  # None where it is no constant
    default: ast.expr | None
    call: ast.Call
    node: ast.Attribute  # what is called


def defined_flags(module: Module) -> Iterator[Flag]:
    """The flags that a module defines by TensorFlow's names, outside of any `try`."""
    names = module.names
    for attribute, nodes in names.attributes.items():
        for node in nodes if attribute.startswith("DEFINE_") else ():
            call = names.parents[node]
            if not isinstance(call, ast.Call) or call.func is not node:
                continue
            if not is_flag(module, node):
                continue
            given = {one.arg: one.value for one in call.keywords}
            name = call.args[0] if call.args else given.get("name", given.get("flag_name"))
            default = given.get("default", given.get("default_value"))
            if len(call.args) > 1:
                default = call.args[1]
            kind = attribute.partition("_")[2]
            known = constant(name) if name is not None else None
            yield Flag(_KINDS.get(kind, kind), known, default, call, node)


def is_flag(module: Module, node: ast.AST) -> bool:
    """Whether a name is of TensorFlow's flags, and no `try` goes on without it."""
    found = symbol(module.names.qualname(node))
    tried = any(isinstance(above, ast.Try) for above in module.names.ancestors(node))
    return found is not None and _FLAGS.match(found.name) is not None and not tried


@fact
def untaken_defaults(module: Module) -> list[Diagnostic]:
    """Defaults of another kind than their flag's: TensorFlow before 1.5 gave them as they are."""
    if "DEFINE_" not in module.source.text:
        return []
    found = []
    for one in defined_flags(module):
        value = constant(one.default) if one.default is not None else None
        if value is None or _takes(one.kind, value):
            continue
        text = f"absl, which has TensorFlow's flags since 1.5, takes no {value!r} for `{one.name}`"
        advice = f"give this flag a default that is {_WANTED[one.kind]}, or another kind"
        place = Place(module, one.node)
        found.append(Diagnostic("flag-default", place, text, advice, symbol=str(one.name)))
    return found


_WANTED = {
    "string": "a text",
    "integer": "an integer",
    "float": "a number",
    "boolean": "True or False",
}


def _takes(kind: str, value: object) -> bool:
    """Whether absl takes a value for a kind of flag; measured with absl of 1.15.5 and 2.15."""
    if kind not in _WANTED or (isinstance(value, str) and kind in ("string", "integer", "float")):
        return True  # texts of numbers are read
    if kind == "boolean":
        if isinstance(value, str):
            return value.lower() in _BOOLEANS
        return isinstance(value, int) and value in (0, 1)
    if isinstance(value, bool) or kind == "string":
        return False
    return isinstance(value, (int, float) if kind == "float" else int)
