"""The arguments of a call by the names of its parameters."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none


def by_parameter(call: ast.Call, signature: Sequence[str]) -> dict[str, ast.expr]:
    """What a call gives, for who knows what to do with more: `**values` are under that name."""
    given = dict(zip(signature, call.args))
    given.update({keyword.arg or "**": keyword.value for keyword in call.keywords})
    return given


def arguments_of(module: Module, call: ast.Call, signature: tuple[str, ...]) -> dict[str, ast.expr]:
    """A call's arguments by name, those that are None or left out missing.

    Raises:
        Refused: arguments that cannot be determined (``*args``, ``**kwargs``, more than there are).
    """
    found: dict[str, ast.expr] = {}
    for index, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred) or index >= len(signature):
            raise Refused(
                module, argument, "which parameter this argument belongs to cannot be determined"
            )
        found[signature[index]] = argument
    for keyword in call.keywords:
        if keyword.arg is None:
            raise Refused(
                module, keyword.value, "its arguments come from `**`", "write the arguments out"
            )
        found[keyword.arg] = keyword.value
    return {
        name: value
        for name, value in found.items()
        if not (isinstance(value, ast.Constant) and value.value is None)
    }


class NamedArguments:
    """What a call gives a function whose parameters are known, in their order.

    Raises:
        Refused: it cannot be determined which argument is which (``*args``, ``**kwargs``), or
            there is one that the function has not.
    """

    def __init__(self, module: Module, call: ast.Call, signature: Sequence[str]) -> None:
        self.module = module
        self.call = call
        self.rest: dict[str, ast.expr] = {}  # those that were not dropped
        for index, argument in enumerate(call.args):
            if isinstance(argument, ast.Starred) or index >= len(signature):
                text = f"which argument of `{self.shown}` this is cannot be determined"
                raise Refused(module, argument, text, "write the arguments out")
            self.rest[signature[index]] = argument
        for keyword in call.keywords:
            if keyword.arg is None:
                text = f"arguments of `{self.shown}` come from `**`"
                raise Refused(module, keyword.value, text, "write the arguments out")
            if keyword.arg not in signature:
                text = f"`{self.shown}` is given `{keyword.arg}`, which is not known for it"
                raise Refused(module, keyword.value, text)
            self.rest[keyword.arg] = keyword.value

    @property
    def shown(self) -> str:
        """The function as its author wrote it."""
        return self.module.source.code(self.call.func)

    def get(self, name: str) -> ast.expr | None:
        """The value of a parameter; None where it is not given (or dropped)."""
        return self.rest.get(name)

    def given(self, name: str) -> ast.expr | None:
        """The value of a parameter if it is given, and not `None`."""
        value = self.get(name)
        return None if is_none(value) else value

    def drop(self, *names: str) -> None:
        """Leaves arguments out: they say nothing that matters."""
        for name in names:
            self.rest.pop(name, None)
