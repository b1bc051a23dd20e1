"""What the tables of TF1's names share."""

from __future__ import annotations

import ast
from typing import Protocol

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.symbols import aliases, symbol
from migrate_mgpu.source.call_edit import CallEdit

# Other ways to the same functions.
_ALIASES = {
    "contrib.slim.": "contrib.layers.",
    "contrib.framework.python.ops.": "contrib.framework.",
    "contrib.layers.python.layers.": "contrib.layers.",
    "contrib.layers.python.layers.layers.": "contrib.layers.",
    "python.framework.ops.": "",
}
_ALIASED = tuple(_ALIASES)


def name_of(module: Module, node: ast.AST | None) -> str:
    """TensorFlow 1's name of an expression, or of the function of a call; else empty.

    ``tf.compat.v1.layers.dense`` and ``tf.layers.dense`` are ``layers.dense``,
    ``slim.conv2d`` is ``contrib.layers.conv2d``; ``tf.dtypes.cast``, which is ``tf.cast``, is
    ``cast``.
    """
    if isinstance(node, ast.Call):
        node = node.func
    if node is None:
        return ""
    known = module.names.tensorflow_names
    found = known.get(node)
    if found is None:
        found = known[node] = _name_of(module.names.qualname(node))
    return found


def _name_of(qualname: str | None) -> str:
    found = symbol(qualname)
    if found is None or found.flavour not in ("plain", "v1", "private"):
        return ""
    if found.name.startswith(_ALIASED):
        for spelled in sorted(_ALIASES, key=len, reverse=True):
            if found.name.startswith(spelled) and found.name.count(".") == spelled.count("."):
                return _ALIASES[spelled] + found.name[len(spelled) :]
    return aliases().get(found.name, found.name) if found.flavour != "private" else ""


@fact_of_text
def calls_of_names(module: Module) -> dict[str, list[ast.Call]]:
    """The calls of TensorFlow's functions in a module, by their names, in source order."""
    found: dict[str, list[ast.Call]] = {}
    for call in module.names.calls:
        found.setdefault(name_of(module, call), []).append(call)
    return found


def short_name_of(module: Module, call: ast.Call) -> str:
    """The last part of TensorFlow's name of a function, TF2's own API (`compat.v2`) included."""
    found = symbol(module.names.qualname(call.func))
    return found.name.rpartition(".")[2] if found is not None else ""


class Given(Protocol):
    """A call whose arguments are known by the names of its parameters."""

    @property
    def module(self) -> Module: ...

    def get(self, name: str) -> ast.expr | None: ...

    def drop(self, *names: str) -> None: ...


def refuse_unless(
    given: Given, name: str, allowed: tuple[object, ...], reason: str, advice: str = ""
) -> None:
    """Drops an argument that says what TF2 does anyway.

    Raises:
        Refused: it says something else, or it cannot be determined.
    """
    value = given.get(name)
    if value is None:
        return
    known = constant(value)
    if is_none(value):
        fits = None in allowed
    else:
        fits = known is not None and any(known == a and type(known) is type(a) for a in allowed)
    if not fits:
        raise Refused(given.module, value, reason, advice)
    given.drop(name)


def number(value: float) -> str:
    """A literal as one would write it: ``5e-05``, ``0.25``, ``2.0``."""
    return repr(float(f"{value:.12g}"))


def negative(edit: CallEdit, name: str, low: str) -> None:
    """Writes ``low - value`` for a value; a number where it is a literal."""
    value = edit.get(name)
    known = constant(value)
    if isinstance(known, (int, float)) and not isinstance(known, bool):
        edit.value(name, number(float(low) - known))
    else:
        edit.wrap(name, f"{low} - ", parentheses=True)


def scaled(edit: CallEdit, name: str, factor: float) -> None:
    """Writes ``factor * value`` for a value; a number where it is a literal."""
    value = edit.get(name)
    known = constant(value)
    if isinstance(known, (int, float)) and not isinstance(known, bool):
        edit.value(name, number(factor * known))
    else:
        edit.wrap(name, f"{factor} * ", parentheses=True)
