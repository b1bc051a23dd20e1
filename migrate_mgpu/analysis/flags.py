"""Flags that a program defines, and those that end it: absl is behind TensorFlow's since 1.5."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, fact
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.symbols import earlier, symbol

# Where TensorFlow has its flags.
_FLAGS = re.compile(r"(?:app\.|python\.platform\.)?flags\.")
# What absl reads as a boolean, in lower case.
_BOOLEANS = {"true", "t", "1", "false", "f", "0"}
_KINDS = {"bool": "boolean"}


def definition_of_absls_own() -> str:
    """A pattern of what defines a flag that absl has too."""
    names = "|".join(sorted(earlier().flags))
    return rf"\bDEFINE_\w+\(\s*(?:\w+\s*=\s*)?['\"](?:{names})['\"]"


@cache
def _absls_own() -> re.Pattern[bytes]:
    return re.compile(definition_of_absls_own().encode())


def may_define_absls_own(data: bytes) -> bool:
    """Whether a file may define a flag that absl has too, by its words."""
    return b"DEFINE_" in data and _absls_own().search(data) is not None


class Flag(NamedTuple):
    """A definition of a flag: `tf.flags.DEFINE_integer("steps", 10, "how long to train")`."""

    kind: str  # string, integer, float, boolean, ...
    name: object  # None where it is no constant
    default: ast.expr | None
    call: ast.Call
    node: ast.Attribute  # what is called


def defined_flags(module: Module, by_absl: bool = False) -> Iterator[Flag]:
    """The flags that a module defines by TensorFlow's names, or by absl's, outside of any `try`."""
    names = module.names
    for attribute, nodes in names.attributes.items():
        for node in nodes if attribute.startswith("DEFINE_") else ():
            call = names.parents[node]
            if not isinstance(call, ast.Call) or call.func is not node:
                continue
            if not is_flag(module, node, by_absl):
                continue
            given = {one.arg: one.value for one in call.keywords}
            name = call.args[0] if call.args else given.get("name", given.get("flag_name"))
            default = given.get("default", given.get("default_value"))
            if len(call.args) > 1:
                default = call.args[1]
            kind = attribute.partition("_")[2]
            known = constant(name) if name is not None else None
            yield Flag(_KINDS.get(kind, kind), known, default, call, node)


def is_flag(module: Module, node: ast.AST, by_absl: bool = False) -> bool:
    """Whether a name is of TensorFlow's flags, or absl's, and no `try` goes on without it."""
    name = module.names.qualname(node)
    if by_absl:
        found = (name or "").startswith("absl.flags.")
    else:
        known = symbol(name)
        found = known is not None and _FLAGS.match(known.name) is not None
    tried = (isinstance(above, ast.Try) for above in module.names.ancestors(node))
    return found and not any(tried)


def is_absls_own(flag: Flag) -> bool:
    """Whether absl has a flag of this name as soon as TensorFlow is imported, which ends a program
    that defines it as well."""
    given = {keyword.arg for keyword in flag.call.keywords}
    return flag.name in earlier().flags and not given & {"allow_override", None}


@fact
def untaken_flags(module: Module) -> list[Diagnostic]:
    """Flags at which absl ends: of a name of its own, or with a default of another kind.

    Those of TensorFlow's names get what takes absl's place (MGPU213); absl's own do not, for what
    is imported first decides whose default holds.
    """
    if "DEFINE_" not in module.source.text:
        return []
    found = []
    for one in filter(is_absls_own, defined_flags(module, by_absl=True)):
        text = f"absl has a flag `{one.name}` of its own, which TensorFlow imports since 1.14"
        advice = "call it otherwise, or import TensorFlow above and write allow_override=True"
        place = Place(module, one.node)
        found.append(Diagnostic("flag-of-absl", place, text, advice, symbol=str(one.name)))
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
