"""Input functions: the dataset that Keras gets from each, and what changes in them."""

from __future__ import annotations

import ast
from functools import cached_property

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.inputs.arrays import array_row, read_array_input
from migrate_mgpu.models.front.inputs.input_functions import InputReader
from migrate_mgpu.models.ir import ArrayInput, InputFunction
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.models.keras.inputs.arrays import dataset, statement_edit
from migrate_mgpu.models.keras.inputs.batches import write_batch

# What an Estimator says of itself to an input function with a parameter `mode`.
MODES = {"train": "train", "train_and_evaluate": "train", "evaluate": "eval", "predict": "infer"}


@record(eq=False)
class Inputs(EditSet):
    """Writes the input functions of one program; edits that they need collect here."""

    graph: CallGraph
    params: tuple[Module, ast.expr] | None = None  # the Estimator's
    context: str = ""  # the name of the strategy's input context, where there is one

    @cached_property
    def reader(self) -> InputReader:
        return InputReader(self.graph)

    def dataset(self, module: Module, node: ast.expr, mode: str, base: str | None = None) -> str:
        """The expression that makes the dataset of an ``input_fn`` argument.

        ``mode`` is what the Estimator would have told the function (``train``, ``eval``,
        ``infer``), ``base`` the indentation where the text will stand, for lambdas of
        several lines.

        Raises:
            Refused: what the function gives is not understood.
        """
        known = {"mode"}
        known |= {"params"} if self.params is not None else set()
        known |= {"input_context"} if self.context else set()
        function = self.reader.read(module, node, known)
        for batch in function.drawn:
            write_batch(batch, self)
        for array in function.arrays:
            self._write(array)
        if function.array is not None:
            return "".join(dataset(function.array, base))
        if isinstance(node, ast.Lambda):
            return text_of(module, node.body, 0, base)
        own = [self._own(name, function, mode) for name in function.own]
        if function.fixed is not None:
            return self._without_partial(function, function.fixed, own, base)
        text = text_of(module, node, 0, base)
        simple = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
        return f"{text if simple else f'({text})'}({', '.join(own)})"

    def unread(self, module: Module) -> None:
        """Writes input functions over arrays that nothing is driven with."""
        values = ValueFlow(self.graph)
        for statement in (s for s in walk(module.tree) if isinstance(s, ast.Assign)):
            if array_row(module, statement.value) is None:
                continue
            step = values.step(module, statement.value)
            array = read_array_input(module, statement.value)
            if array is not None and step is not None and not step.to:
                self._write(array)

    def _write(self, array: ArrayInput) -> None:
        self.edit(array.module, statement_edit(array))
        self.gone.add(array.node.func)
        self.moved.add(array.node)

    def _without_partial(
        self,
        function: InputFunction,
        fixed: ast.Call,
        own: list[str],
        base: str | None,
    ) -> str:
        """`functools.partial(f, x)` as the call that it stands for."""
        self.gone.add(fixed.func)
        head = function.module.source.code(fixed.args[0])
        given = [*fixed.args[1:], *fixed.keywords]
        pieces = [text_of(function.module, part, 0, base) for part in given]
        return f"{head}({', '.join([*pieces, *own])})"

    def _own(self, name: str, function: InputFunction, mode: str) -> str:
        """An argument that the Estimator gave the input function itself."""
        if name == "params":
            return f"params={self._params(function)}"
        quote = function.module.source.quote
        return f"mode={quote}{mode}{quote}" if name == "mode" else f"{name}={self.context}"

    def _params(self, function: InputFunction) -> str:
        """The Estimator's params, as a place knows them."""
        assert self.params is not None
        module, node = self.params
        if module is function.module and isinstance(node, ast.Name):
            names = module.names
            home = names.defining_scope(node.id, names.scope_of_name[node])
            if home is names.defining_scope(node.id, names.scope_at(function.node)):
                return node.id
        raise Refused(
            function.module, function.node, "this input function gets the Estimator's params",
            "put them into a variable, and give them by a lambda",
        )  # fmt: skip
