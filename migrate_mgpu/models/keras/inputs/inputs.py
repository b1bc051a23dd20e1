"""Input functions: what each gives, and the dataset that Keras gets from it."""

from __future__ import annotations

import ast
from functools import cached_property

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.value_flow import returns
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.inputs.arrays import check_unchanged, read_array_input
from migrate_mgpu.models.front.inputs.batches import InputReader
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.models.keras.inputs.arrays import dataset, statement_edit
from migrate_mgpu.models.keras.inputs.batches import write_batch

# What an Estimator says of itself to an input function with a parameter `mode`.
MODES = {"train": "train", "train_and_evaluate": "train", "evaluate": "eval", "predict": "infer"}


@record()
class Input:
    """What an ``input_fn`` becomes: ``call`` makes its dataset, written for one place."""

    call: str


@record(eq=False)
class Inputs(EditSet):
    """Writes the input functions of one program; edits that they need collect here."""

    graph: CallGraph
    params: tuple[Module, ast.expr] | None = None  # the Estimator's
    context: str = ""  # the name of the strategy's input context, where there is one

    @cached_property
    def reader(self) -> InputReader:
        return InputReader(self.graph)

    def _function(self, function: Function) -> None:
        for batch in self.reader.function(function):
            write_batch(batch, self)

    def read(
        self, module: Module, node: ast.expr, mode: str, column: int = 0, base: str | None = None
    ) -> Input:
        """The dataset of an ``input_fn`` argument.

        ``mode`` is what the Estimator would have told the function (``train``, ``eval``,
        ``infer``). ``column`` and ``base`` say where the text will stand, for lambdas of
        several lines.

        Raises:
            Refused: what the function gives is not understood.
        """
        if isinstance(node, ast.Lambda):
            return self._lambda(module, node, column, base)
        if isinstance(node, ast.Call):
            return self._made(module, node, mode, column, base)
        origins = self.reader.values.definitions(module, node)
        given: set[str] = set()
        for origin in origins:
            if origin.node is None or origin.is_none:
                raise Refused(module, node, "this input function may be None")
            given.add(self._origin(origin.module, origin.node, (module, node), mode))
        if len(given) > 1:
            raise Refused(module, node, "input functions with different parameters")
        text = text_of(module, node, column, base)
        simple = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))
        return Input(f"{text if simple else f'({text})'}({''.join(given)})")

    def _origin(
        self, module: Module, node: ast.expr, place: tuple[Module, ast.expr], mode: str
    ) -> str:
        """Reads what a variable may hold; the arguments that the Estimator gave it itself."""
        function = self.graph.target(module, node)
        if function is not None:
            self._function(function)
            return self._estimators_own(function, place, mode)
        array = read_array_input(module, node)
        if isinstance(node, ast.Lambda):
            self._lambda(module, node, 0, None)
        elif array is not None:
            check_unchanged(array)
            self.edit(module, statement_edit(array))
            self.gone.add(array.node.func)
            self.moved.add(array.node)
        elif isinstance(node, ast.Call) and self._partial(module, node) is not None:
            partial = self._partial(module, node)
            assert partial is not None
            self._function(partial)
            return self._estimators_own(partial, place, mode, node)
        elif isinstance(node, ast.Call):
            self._made(module, node, mode, 0, None)
        else:
            raise Refused(
                module, node, "which input function this is cannot be told",
                "name a function of the program",
            )  # fmt: skip
        return ""

    def _estimators_own(
        self,
        function: Function,
        place: tuple[Module, ast.expr],
        mode: str,
        partial: ast.Call | None = None,
    ) -> str:
        """`params` and `mode`, which an Estimator gives an input function that takes them."""
        names = function.parameters()
        arguments = function.node.args
        if function.owner is not None and names[:1] in (["self"], ["cls"]):
            names = names[1:]
        optional = set(names[len(names) - len(arguments.defaults) :] if arguments.defaults else ())
        bound = {keyword.arg for keyword in partial.keywords} if partial is not None else set()
        names = names[len(partial.args) - 1 :] if partial is not None else names
        names = [*names, *(argument.arg for argument in arguments.kwonlyargs)]
        optional |= {argument.arg for argument in arguments.kwonlyargs}
        given: list[str] = []
        for name in names:
            if name in bound:
                continue
            if name == "params" and self.params is not None:
                given.append(f"params={self._params(place)}")
            elif name == "mode":
                quote = place[0].source.quote
                given.append(f"mode={quote}{mode}{quote}")
            elif name == "input_context" and self.context:
                given.append(f"input_context={self.context}")
            elif name == "config" or name not in optional:
                raise Refused(
                    *place, f"nothing is known for `{name}` of this input function",
                    "give it by a lambda",
                )  # fmt: skip
        return ", ".join(given)

    def _params(self, place: tuple[Module, ast.expr]) -> str:
        """The Estimator's params, as a place knows them."""
        assert self.params is not None
        module, node = self.params
        if module is place[0] and isinstance(node, ast.Name):
            names = module.names
            home = names.defining_scope(node.id, names.scope_of_name[node])
            if home is names.defining_scope(node.id, names.scope_at(place[1])):
                return node.id
        raise Refused(
            *place, "this input function gets the Estimator's params",
            "put them into a variable, and give them by a lambda",
        )  # fmt: skip

    def _partial(self, module: Module, node: ast.Call) -> Function | None:
        """The function that a `functools.partial` fixes arguments of."""
        if module.names.qualname(node.func) != "functools.partial" or not node.args:
            return None
        function = self.graph.target(module, node.args[0])
        if function is None:
            raise Refused(module, node, "which input function this is cannot be told")
        return function

    def _lambda(self, module: Module, node: ast.Lambda, column: int, base: str | None) -> Input:
        arguments = node.args
        needed = len(arguments.args) - len(arguments.defaults)
        if needed or arguments.vararg or arguments.kwarg:
            raise Refused(module, node, "an input function with parameters")
        for batch in self.reader.result(module, node.body):
            write_batch(batch, self)
        return Input(text_of(module, node.body, column, base))

    def _made(
        self, module: Module, node: ast.Call, mode: str, column: int, base: str | None
    ) -> Input:
        """`functools.partial(f, x)`, `numpy_input_fn(...)`, `make_input_fn(x)`."""
        partial = self._partial(module, node)
        if partial is not None:
            self._function(partial)
            self.gone.add(node.func)
            head = module.source.code(node.args[0])
            given = [*node.args[1:], *node.keywords]
            pieces = [text_of(module, part, column, base) for part in given]
            own = self._estimators_own(partial, (module, node), mode, node)
            return Input(f"{head}({', '.join([*pieces, *([own] if own else [])])})")
        array = read_array_input(module, node)
        if array is not None:
            return Input("".join(dataset(array, base)))
        factory = self.graph.target(module, node.func)
        if factory is None:
            raise Refused(
                module, node, f"what `{module.source.code(node.func)}(...)` gives is not known",
                "write an input function that returns a tf.data.Dataset",
            )  # fmt: skip
        given_to: set[str] = set()
        for statement in returns(factory):
            for origin in self.reader.values.definitions(factory.module, statement.value or node):
                assert origin.node is not None
                given_to.add(self._origin(origin.module, origin.node, (module, node), mode))
        if len(given_to) > 1:
            raise Refused(module, node, "input functions with different parameters")
        return Input(f"{text_of(module, node, column, base)}({''.join(given_to)})")
