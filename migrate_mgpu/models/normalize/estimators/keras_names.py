"""The names that Keras gives what has none, written out: those of inputs and of the output layer.

A Keras model's Estimator takes its features, and signs what it exports, by the names of layers.
1.15 numbers them in the graph (``dense``, ``dense_1``, ``input_1``), Keras 3 has other names for
inputs. Where a program makes one model, once, in statements one after the other, they are known:
``Dense(10)`` becomes ``Dense(10, name="dense_2")``, and ``model.input.name`` the text that it was.
"""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.parts import KERAS, EstimatorFlow
from migrate_mgpu.models.front.keras_model.keras_calls import keras_name
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_INPUTS = ("Input", "layers.Input", "layers.InputLayer")
_SHAPES = ("input_shape", "batch_input_shape", "input_dim")
_SEQUENTIAL = ("Sequential", "models.Sequential")
_MODEL = ("Model", "models.Model")
# Keras makes layers by these names that are no classes of layers, or resets its count.
_OTHERWISE = ("layers.add", "layers.concatenate", "backend.clear_session", "models.clone_model")
_LOOPS = (
    ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda,
)  # fmt: skip


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits that name the inputs and the output of one model; none where they are not known."""
    value = flow.arguments.get("keras_model")
    if flow.kind != KERAS or value is None:
        return {}
    values = ValueFlow(graph)
    origins = values.definitions(flow.module, value)
    node = origins[0].node if len(origins) == 1 else None
    if not isinstance(node, ast.Call) or not origins[0].module.writable:
        return {}
    found = _Named(origins[0].module, node, graph, values)
    return {found.module: found.edits} if found.named() else {}


@record(eq=False)
class _Named:
    module: Module
    model: ast.Call
    graph: CallGraph
    values: ValueFlow
    edits: list[Edit] = field(default_factory=list)
    names_of: dict[ast.Call, str] = field(default_factory=dict)

    def named(self) -> bool:
        """Whether something gets its name; its edits are there then."""
        kind = keras_name(self.module, self.model.func)
        if kind not in (*_SEQUENTIAL, *_MODEL) or not self._made_once():
            return False
        layers = self._layers()
        if not layers:
            return False
        self._count(layers)
        if kind in _SEQUENTIAL:
            stack = self._stack()
            if not stack or any(one not in layers for one in stack):
                return False
            first, last = stack[0], stack[-1]
        else:
            made = self._output()
            if made is None or made not in layers:
                return False
            first, last = None, made
        given = [one for one in layers if keras_name(self.module, one.func) in _INPUTS]
        if first is not None and first not in given:
            if given or not self._separate(first):
                return False
        for one in dict.fromkeys([*given, last]):
            if self._own_name(one) is None:
                self._name(one)
        return self._mentions(first, given) and bool(self.edits)

    def _made_once(self) -> bool:
        """Whether the statements that make the model run once."""
        names = self.module.names
        statement = names.statement(self.model)
        function = names.parents[statement]
        if isinstance(function, ast.Module):
            return True
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return False
        return self._called_once(Function(self.module, function), 0)

    def _called_once(self, function: Function, depth: int) -> bool:
        names = function.module.names
        if depth > 3 or not isinstance(names.parents[function.node], ast.Module):
            return False
        calls = self.graph.references(function)
        if not calls and depth:
            return True  # `tf.app.run()` asks for `main`
        if len(calls) != 1:
            return False
        where = calls[0].module.names
        if calls[0].call is None:  # `tf.app.run(main)`
            return where.taker(calls[0].node) is not None and depth > 0
        around = list(where.ancestors(calls[0].node))
        if any(isinstance(one, (*_LOOPS, ast.ClassDef)) for one in around):
            return False
        outer = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
        return outer is None or self._called_once(Function(calls[0].module, outer), depth + 1)

    def _layers(self) -> list[ast.Call]:
        """All layers and inputs that the program makes, in order; none if that is not known."""
        names = self.module.names
        block = names.block(names.statement(self.model))
        found: list[ast.Call] = []
        for module in self.graph.project.modules.values():
            if not module.writable:
                continue
            for call in module.names.calls:
                name = tensorflow_name(module, call.func)
                if name.startswith(("layers.", "contrib.layers.")):
                    return []
                kind = keras_name(module, call.func)
                if kind in _OTHERWISE:
                    return []
                if kind != "Input" and not kind.startswith("layers."):
                    continue
                statement = module.names.statement(call)
                between = [call, *module.names.ancestors(call)]
                between = between[: between.index(statement)]
                if module is not self.module or statement not in block:
                    return []
                if any(isinstance(one, (*_LOOPS, ast.IfExp, ast.BoolOp)) for one in between):
                    return []
                if isinstance(statement, (*_LOOPS, ast.If, ast.Try, ast.With, ast.FunctionDef)):
                    return []
                if any(one.arg is None for one in call.keywords):
                    return []
                found.append(call)
        return sorted(found, key=lambda one: (one.lineno, one.col_offset))

    def _count(self, layers: list[ast.Call]) -> None:
        """The name of each layer: its own, or the one that 1.15 gives it."""
        counts: dict[str, int] = {}
        for one in layers:
            kind = keras_name(self.module, one.func)
            own = self._own_name(one)
            if own is not None:
                self.names_of[one] = own
                continue
            word = "input" if kind in _INPUTS else _snake(kind.rpartition(".")[2])
            number = counts.get(word, 0)
            counts[word] = number + 1
            if word == "input":
                self.names_of[one] = f"input_{number + 1}"
            else:
                self.names_of[one] = f"{word}_{number}" if number else word

    def _own_name(self, call: ast.Call) -> str | None:
        given = next((one.value for one in call.keywords if one.arg == "name"), None)
        if given is None or is_none(given):
            return None
        text = constant(given)
        return text if isinstance(text, str) else ""

    def _stack(self) -> list[ast.Call]:
        """The layers of a Sequential, from a list or by `add`; none if they are not all seen."""
        names = self.module.names
        found: list[ast.Call] = []
        listed = self.model.args[0] if self.model.args else None
        if isinstance(listed, (ast.List, ast.Tuple)):
            found += [one for one in listed.elts if isinstance(one, ast.Call)]
            if len(found) != len(listed.elts):
                return []
        elif listed is not None:
            return []
        for mention in self.values.uses(self.module, self.model):
            if mention.node is None:
                return []
            parents = mention.module.names.parents
            method = parents[mention.node]
            call = parents.get(method)
            if isinstance(method, ast.Attribute) and method.attr == "add":
                if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
                    return []
                added = call.args[0]
                if mention.module is not self.module or not isinstance(added, ast.Call):
                    return []
                if names.statement(call) not in names.block(names.statement(self.model)):
                    return []
                found.append(added)
        return sorted(found, key=lambda one: (one.lineno, one.col_offset))

    def _output(self) -> ast.Call | None:
        """The layer that gives a functional model's output."""
        names = self.module.names
        given = dict(zip(("inputs", "outputs"), self.model.args))
        given.update({one.arg: one.value for one in self.model.keywords if one.arg})
        value = given.get("outputs")
        if isinstance(value, (ast.List, ast.Tuple)) and len(value.elts) == 1:
            value = value.elts[0]
        if isinstance(value, ast.Name):
            block = names.block(names.statement(self.model))
            stored = [
                one
                for one in names.mentions(value.id, names.scope_of_name[value])
                if isinstance(one.ctx, ast.Store)
            ]
            above = [one for one in stored if one.lineno < value.lineno]
            last = max(above, key=lambda one: one.lineno) if above else None
            statement = names.statement(last) if last is not None else None
            if not isinstance(statement, ast.Assign) or statement not in block:
                return None
            value = statement.value if statement.targets == [last] else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Call):
            return value.func
        return None

    def _separate(self, first: ast.Call) -> bool:
        """The input of a Sequential, which its first layer makes, gets a statement of its own."""
        names, source = self.module.names, self.module.source
        shapes = [one for one in first.keywords if one.arg in _SHAPES]
        if len(shapes) != 1 or shapes[0].arg != "input_shape":
            return False
        if any(one.arg in ("dtype", "batch_size") for one in first.keywords):
            return False
        adding = names.parents[first]
        statement = names.statement(first)
        head = self._package(first.func)
        if head is None or not isinstance(adding, ast.Call):
            return False
        if not isinstance(statement, ast.Expr) or statement.value is not adding:
            return False
        layout, shape = Layout(source, statement), source.code(shapes[0].value)
        if not layout.owns_lines or "\n" in shape:
            return False
        quote = source.quote
        name = f"{quote}{self.names_of[first]}_input{quote}"
        made = f"{head}.InputLayer(input_shape={shape}, name={name})"
        edit = CallEdit(source, first)
        edit.drop("input_shape")
        self.edits += edit.edits()
        self.edits.append(layout.insert_before([f"{source.code(adding.func)}({made})"]))
        return True

    def _package(self, layer: ast.expr) -> str | None:
        """How a statement beside a layer spells where layers are from; None: not at all."""
        if isinstance(layer, ast.Attribute):
            return self.module.source.code(layer.value)
        tf = spelling(self.module, layer) if isinstance(layer, ast.Name) else None
        return None if tf is None else f"{tf}.keras.layers"

    def _name(self, call: ast.Call) -> None:
        source = self.module.source
        edit = CallEdit(source, call)
        edit.add("name", f"{source.quote}{self.names_of[call]}{source.quote}")
        self.edits += edit.edits()

    def _mentions(self, first: ast.Call | None, given: list[ast.Call]) -> bool:
        """`model.input.name` as the text that it is; whether each has one."""
        source = self.module.source
        known = [self.names_of[one] for one in given]
        if first is not None and first not in given:
            known = [f"{self.names_of[first]}_input"]
        for mention in self.values.uses(self.module, self.model):
            if mention.node is None:
                return False
            parents = mention.module.names.parents
            asked = parents[mention.node]
            if not isinstance(asked, ast.Attribute):
                continue
            if asked.attr not in ("input", "input_names"):
                continue
            if mention.module is not self.module or len(known) != 1:
                return False
            taken = parents[asked]
            text = known[0]
            if asked.attr == "input_names":
                if not isinstance(taken, ast.Subscript) or constant(taken.slice) != 0:
                    return False
            elif isinstance(taken, ast.Attribute) and taken.attr == "name":
                split = parents[parents[parents[taken]]] if _splits(parents, taken) else None
                text = text if split is not None else f"{text}:0"
                taken = split if split is not None else taken
            else:
                return False
            assert isinstance(taken, ast.AST)
            self.edits.append(Edit(*source.span(taken), f"{source.quote}{text}{source.quote}"))
        return True


def _splits(parents: dict[ast.AST, ast.AST], name: ast.Attribute) -> bool:
    """`name.split(":")[0]`."""
    method = parents[name]
    call = parents.get(method)
    if not isinstance(method, ast.Attribute) or method.attr != "split":
        return False
    if not isinstance(call, ast.Call) or [constant(one) for one in call.args] != [":"]:
        return False
    item = parents.get(call)
    return isinstance(item, ast.Subscript) and constant(item.slice) == 0


def _snake(name: str) -> str:
    """`Conv2D` as Keras counts it: `conv2d`."""
    inner = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", inner).lower()
