"""Input functions: the dataset that Keras gets from each, and what changes in them."""

from __future__ import annotations

import ast
from functools import cached_property

from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.idioms import is_showing
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.inputs.arrays import array_row, read_array_input
from migrate_mgpu.models.front.inputs.input_functions import InputReader
from migrate_mgpu.models.ir import ArrayInput, DrawnBatch, InputFunction
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.models.keras.inputs.arrays import dataset, statement_edit
from migrate_mgpu.models.keras.inputs.batches import write_batch
from migrate_mgpu.models.keras.inputs.fetched_batches import fetch_batches
from migrate_mgpu.source.source import Edit

# What an Estimator says of itself to an input function with a parameter `mode`.
MODES = {"train": "train", "train_and_evaluate": "train", "evaluate": "eval", "predict": "infer"}

_PARSERS = ("decode_csv", "io.decode_csv")
_STEPS = 4  # names of a value, one after the other


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
            self._without_batches(batch)
        if function.drawn:
            self._with_ranks(module)
        for array in function.arrays:
            self._write(array)
        if function.array is not None:
            return "".join(dataset(function.array, base))
        if isinstance(node, ast.Lambda):
            given = self._given(module, node, mode)
            return text_of(module, node.body, 0, base, given)
        own = [self._own(name, function, mode) for name in function.own]
        if function.fixed is not None:
            return self._without_partial(function, function.fixed, own, base)
        text = text_of(module, node, 0, base)
        simple = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
        return f"{text if simple else f'({text})'}({', '.join(own)})"

    def _given(self, module: Module, node: ast.Lambda, mode: str) -> dict[ast.AST, str]:
        """What stands in the place of a lambda's parameters, all of which have defaults.

        Raises:
            Refused: it asks for the Estimator's own, or for what is made where it is defined.
        """
        quote, names = module.source.quote, module.names
        arguments = node.args
        texts: dict[str, str] = {}
        plain = zip(arguments.args[::-1], arguments.defaults[::-1])
        for one, default in (*plain, *zip(arguments.kwonlyargs, arguments.kw_defaults)):
            if one.arg == "input_context" and self.context:
                texts[one.arg] = self.context
            elif one.arg == "mode":
                texts[one.arg] = f"{quote}{mode}{quote}"
            elif isinstance(default, ast.Constant) and one.arg not in ("config", "params"):
                texts[one.arg] = module.source.code(default)
        found: dict[ast.AST, str] = {}
        for name in (part for part in walk(node.body) if isinstance(part, ast.Name)):
            home = names.defining_scope(name.id, names.scope_of_name[name])
            if home is None or home.node is not node:
                continue
            if name.id not in texts:
                text = f"`{name.id}`, a parameter of the input function, is given by nobody"
                advice = "write its default where it is asked for"
                raise Refused(module, name, text, advice)
            found[name] = texts[name.id]
        return found

    def _without_batches(self, batch: DrawnBatch) -> None:
        """What else calls a function that gave a batch's tensors, and gives the Dataset now.

        Raises:
            Refused: it does more with them than show them.
        """
        around: list[ast.AST] = []
        todo: list[tuple[Module, ast.AST]] = [(batch.module, batch.node)]
        while todo:
            module, node = todo.pop()
            kinds = (ast.FunctionDef, ast.Lambda)
            made = next((p for p in module.names.ancestors(node) if isinstance(p, kinds)), None)
            if not isinstance(made, ast.FunctionDef) or made in around:
                continue  # what calls a lambda is what it is given to
            around.append(made)
            for reference in self._calls(Function(module, made)):
                call, names = reference.call, reference.module.names
                statement = names.parents.get(call) if call is not None else None
                if call is None or isinstance(statement, (ast.Lambda, ast.Expr)):
                    continue
                if isinstance(statement, ast.Return):
                    todo.append((reference.module, call))
                    continue
                if fetch_batches(reference.module, call, self):
                    continue
                if not is_shown_alone(reference.module, statement):
                    raise Refused(
                        reference.module, call, f"`{made.name}` gives a Dataset in TF2, and what "
                        "it gives here is used as tensors", "take a batch by next(iter(...)) there",
                    )  # fmt: skip
                end = reference.module.source.span(call)[1]
                self.edit(reference.module, Edit(end, end, ".element_spec"))

    def _calls(self, function: Function) -> list[Reference]:
        """Every mention of an input function, and each call of one that a function made.

        `make_input_fn(path)()` has no name of the function that it calls.
        """
        found = list(self.graph.references(function))
        known = {one.call for one in found}
        for module in self.graph.modules:
            for call in module.names.calls:
                if call in known or call.args or call.keywords:
                    continue
                if isinstance(call.func, ast.Attribute):
                    continue
                made = self.reader.batches.made(module, call.func)
                if any(one.node is function.node for one in made):
                    found.append(Reference(module, call.func, call))
        return found

    def _with_ranks(self, module: Module) -> None:
        """Keras 3 must know how many axes labels have.

        Where their last axis is of one field, `squeeze` is told that one: for a batch of one
        example, TF1 took away that axis as well, and no loss of several logits takes a scalar.

        Raises:
            Refused: a function of a Dataset squeezes them, and nobody knows of which axes.
        """
        for part in walk(module.tree):
            value = part.value if isinstance(part, ast.Return) else None
            last = value.elts[-1] if isinstance(value, ast.Tuple) and value.elts else None
            if isinstance(last, ast.Call) and name_of(module, last) == "squeeze":
                if len(last.args) == 1 and not last.keywords:
                    end = module.source.span(last.args[0])[1]
                    told = Edit(end, end, ", axis=-1")
                    if _is_field(module, last.args[0]):
                        if told not in self.edits.get(module, ()):
                            self.edit(module, told)
                        continue
                    raise Refused(
                        module, last, "how many axes these labels have is not known, and Keras 3 "
                        "asks for it", "tell tf.squeeze the axis",
                    )  # fmt: skip

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


def is_shown_alone(module: Module, statement: ast.AST | None) -> bool:
    """`features, target = input_fn(...)`, of which nothing but shapes, types and keys is shown."""
    names = module.names
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    for part in parts:
        if not isinstance(part, ast.Name):
            return False
        home = names.defining_scope(part.id, names.scope_of_name[part])
        if home is None or len(home.bindings[part.id]) != 1:
            return False
        for mention in names.mentions(part.id, home):
            if mention is part:
                continue
            shown = names.statement(mention)
            call = shown.value if isinstance(shown, ast.Expr) else None
            if not isinstance(call, ast.Call) or not is_showing(module, call):
                return False
            for around in names.ancestors(mention):
                if around is call:
                    break
                if not isinstance(around, _SHOWN) and not _makes_text(around):
                    return False
    return True


_SHOWN = (ast.Attribute, ast.FormattedValue, ast.JoinedStr, ast.Subscript, ast.Tuple, ast.keyword)


def _makes_text(node: ast.AST) -> bool:
    """`"{}".format(list(features.keys()))`: a spec shows it as a tensor does."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr in ("format", "keys")
    return isinstance(function, ast.Name) and function.id in ("list", "sorted", "str")


def _is_field(module: Module, node: ast.expr) -> bool:
    """Whether a value is a field of lines that each stand alone: its last axis is of one.

    `columns = tf.decode_csv(tf.expand_dims(lines, -1), defaults)`, and `columns[4]`.
    """
    names = module.names
    seen = 0
    while isinstance(node, (ast.Name, ast.Subscript)) and seen < _STEPS:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return False
        found = names.only_value(node) if isinstance(node, ast.Name) else node.value
        if found is None:
            return False
        node, seen = found, seen + 1
    if not isinstance(node, ast.Call) or name_of(module, node) not in _PARSERS:
        return False
    given = by_parameter(node, ("records", "record_defaults"))
    lines = given.get("records")
    lines = names.only_value(lines) if isinstance(lines, ast.Name) else lines
    if not isinstance(lines, ast.Call) or name_of(module, lines) != "expand_dims":
        return False
    axis = by_parameter(lines, ("input", "axis", "name", "dim")).get("axis")
    return constant(axis) == -1
