"""Input functions: what an ``input_fn`` argument is, and what the Estimator gives it by itself."""

from __future__ import annotations

import ast
from collections.abc import Collection

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.value_flow import returns
from migrate_mgpu.models.front.inputs.arrays import check_unchanged, read_array_input
from migrate_mgpu.models.front.inputs.batches import BatchReader
from migrate_mgpu.models.ir import ArrayInput, DrawnBatch, InputFunction


class InputReader:
    """Reads the input functions of one program."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.batches = BatchReader(graph)

    def read(self, module: Module, node: ast.expr, known: Collection[str]) -> InputFunction:
        """An ``input_fn`` argument; an Estimator has values for the ``known`` parameters.

        Raises:
            Refused: what the function gives is not understood.
        """
        return _Reading(self, module, node, known).read()


class _Reading:
    """Reads one argument; ``drawn`` and ``arrays`` are what is found on the way."""

    def __init__(
        self, reader: InputReader, module: Module, node: ast.expr, known: Collection[str]
    ) -> None:
        self.graph = reader.graph
        self.batches = reader.batches
        self.module = module
        self.node = node
        self.known = known
        self.drawn: list[DrawnBatch] = []
        self.arrays: list[ArrayInput] = []

    def read(self) -> InputFunction:
        module, node = self.module, self.node
        array = read_array_input(module, node)
        fixed = node if isinstance(node, ast.Call) and self._fixed(module, node) else None
        own: tuple[str, ...] = ()
        if isinstance(node, (ast.Lambda, ast.Call)):
            own = self._own(module, node, here=True)
        else:
            found: set[tuple[str, ...]] = set()
            for origin in self.batches.values.definitions(module, node):
                if origin.node is None or origin.is_none:
                    raise Refused(module, node, "this input function may be None")
                found.add(self._own(origin.module, origin.node))
            own = self._one(found, module, node)
        drawn, arrays = tuple(self.drawn), tuple(self.arrays)
        return InputFunction(module, node, own, fixed, array, drawn, arrays)

    def _one(self, found: set[tuple[str, ...]], module: Module, node: ast.expr) -> tuple[str, ...]:
        if len(found) > 1:
            raise Refused(module, node, "input functions with different parameters")
        return next(iter(found), ())

    def _own(self, module: Module, node: ast.expr, here: bool = False) -> tuple[str, ...]:
        """Reads what an argument may be; the parameters that the Estimator gives it itself.

        ``here``: it is the argument, and not the value of its variable.
        """
        function = None if here else self.graph.target(module, node)
        if function is not None:
            return self._of_function(function)
        if isinstance(node, ast.Lambda):
            return self._of_lambda(module, node)
        if not isinstance(node, ast.Call):
            raise Refused(
                module, node, "which input function this is cannot be determined",
                "name a function of the program",
            )  # fmt: skip
        array = read_array_input(module, node)
        fixed = self._fixed(module, node)
        if array is not None:
            if not here:
                check_unchanged(array)
                self.arrays.append(array)
            return ()
        return (
            self._parameters_of_made(module, node)
            if fixed is None
            else self._of_function(fixed, node)
        )

    def _of_function(self, function: Function, fixed: ast.Call | None = None) -> tuple[str, ...]:
        """`params` and `mode`, which an Estimator gives an input function that takes them."""
        self.drawn += self.batches.function(function)
        names = function.parameters()
        arguments = function.node.args
        if function.owner is not None and names[:1] in (["self"], ["cls"]):
            names = names[1:]
        optional = set(names[len(names) - len(arguments.defaults) :] if arguments.defaults else ())
        bound = {keyword.arg for keyword in fixed.keywords} if fixed is not None else set()
        names = names[len(fixed.args) - 1 :] if fixed is not None else names
        names = [*names, *(argument.arg for argument in arguments.kwonlyargs)]
        optional |= {argument.arg for argument in arguments.kwonlyargs}
        own: list[str] = []
        for name in names:
            if name in bound:
                continue
            if name in self.known:
                own.append(name)
            elif name == "config" or name not in optional:
                raise Refused(
                    self.module, self.node, f"nothing is known for `{name}` of this input function",
                    "give it by a lambda",
                )  # fmt: skip
        return tuple(own)

    def _of_lambda(self, module: Module, node: ast.Lambda) -> tuple[str, ...]:
        arguments = node.args
        needed = len(arguments.args) - len(arguments.defaults)
        if needed or arguments.vararg or arguments.kwarg:
            raise Refused(module, node, "an input function with parameters")
        self.drawn += self.batches.result(module, node.body)
        return ()

    def _fixed(self, module: Module, node: ast.Call) -> Function | None:
        """The function that a `functools.partial` fixes arguments of."""
        if module.names.qualname(node.func) != "functools.partial" or not node.args:
            return None
        function = self.graph.target(module, node.args[0])
        if function is None:
            raise Refused(module, node, "which input function this is cannot be determined")
        return function

    def _parameters_of_made(self, module: Module, node: ast.Call) -> tuple[str, ...]:
        """`make_input_fn(x)`: what the functions take that it returns."""
        factory = self.graph.target(module, node.func)
        if factory is None:
            raise Refused(
                module, node, f"what `{module.source.code(node.func)}(...)` gives is not known",
                "write an input function that returns a tf.data.Dataset",
            )  # fmt: skip
        found: set[tuple[str, ...]] = set()
        for statement in returns(factory):
            values = self.batches.values.definitions(factory.module, statement.value or node)
            for origin in values:
                assert origin.node is not None
                found.add(self._own(origin.module, origin.node))
        return self._one(found, module, node)
