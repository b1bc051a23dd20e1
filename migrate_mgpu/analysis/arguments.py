"""Which parameter of a function of the run gets which argument of a call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import Function


class Arguments:
    """A call's arguments, by the parameters of the function that it reaches.

    ``unclear`` is the first argument that may fill several parameters: ``*values``, ``**values``.
    """

    def __init__(self, call: ast.Call, function: Function) -> None:
        arguments = function.node.args
        self.call = call
        self._open = arguments.vararg is not None or arguments.kwarg is not None
        self.defaults = dict(defaults_of(arguments))
        self._keyword_only = [a.arg for a in arguments.kwonlyargs]
        self._keywords = {a.arg for a in (*arguments.args, *arguments.kwonlyargs)}
        self._positions = _positions(function)
        starred = [a for a in call.args if isinstance(a, ast.Starred)]
        unpacked = [k.value for k in call.keywords if k.arg is None]
        self.unclear: ast.expr | None = next(iter([*starred, *unpacked]), None)
        self._starred = bool(starred)

    def parameter(self, node: ast.expr) -> str | None:
        """The parameter that gets an argument; None where that cannot be determined."""
        if self._starred:
            return None
        for keyword in self.call.keywords:
            if keyword.value is node:
                return keyword.arg if keyword.arg in self._keywords else None
        index = self.call.args.index(node)
        return self._positions[index] if index < len(self._positions) else None

    def given(self, name: str) -> ast.expr | None:
        """The argument that a parameter gets, or may get; None where it is left out."""
        for keyword in self.call.keywords:
            if keyword.arg == name or keyword.arg is None:
                return keyword.value
        for argument, parameter in zip(self.call.args, self._positions):
            if isinstance(argument, ast.Starred) or parameter == name:
                return argument
        return None

    def value(self, name: str) -> ast.expr | None:
        """What a parameter gets: its argument, or else its default."""
        given = self.given(name)
        return given if given is not None else self.defaults.get(name)

    def written(self) -> dict[str, ast.expr]:
        """The arguments that are given as such, by parameter."""
        found: dict[str, ast.expr] = {}
        for argument, parameter in zip(self.call.args, self._positions):
            if isinstance(argument, ast.Starred):
                break
            found[parameter] = argument
        found.update({k.arg: k.value for k in self.call.keywords if k.arg in self._keywords})
        return found

    def values(self) -> dict[str, ast.expr]:
        """What the parameters get, as far as that can be told: arguments, or else defaults."""
        return {**self.defaults, **self.written()}

    def every(self) -> dict[str, ast.expr] | None:
        """What each parameter gets; None where that cannot be determined, or is an error."""
        parameters = [*self._positions, *self._keyword_only]
        given = [*self._positions[: len(self.call.args)], *(k.arg for k in self.call.keywords)]
        if self._open or self.unclear is not None or len(self.call.args) > len(self._positions):
            return None
        if len({*given}) < len(given) or not {*given} <= {*parameters}:
            return None
        found = self.values()
        return found if len(found) == len(parameters) else None


def bind(call: ast.Call, function: Function) -> Arguments:
    """The arguments of a call of a function."""
    return Arguments(call, function)


def _positions(function: Function) -> list[str]:
    """The parameters that positional arguments fill; an instance is given by its method."""
    names = function.parameters()
    bound = function.owner is not None and names[:1] in (["self"], ["cls"])
    return names[1:] if bound else names


def defaults_of(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    """The defaults that a function gives its parameters."""
    positional = [*arguments.posonlyargs, *arguments.args]
    for argument, default in zip(reversed(positional), reversed(arguments.defaults)):
        yield argument.arg, default
    for argument, given in zip(arguments.kwonlyargs, arguments.kw_defaults):
        if given is not None:
            yield argument.arg, given
