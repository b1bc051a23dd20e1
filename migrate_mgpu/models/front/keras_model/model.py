"""The Keras model of a ``model_to_estimator``: everything that makes and compiles it, read."""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.analysis.value_flow import ValueFlow, returns
from migrate_mgpu.api.keras import COMPILE, MODELS
from migrate_mgpu.api.optimizers import KERAS_OPTIMIZERS
from migrate_mgpu.api.schema import Row
from migrate_mgpu.models.front.canned.version import check_version
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.keras_model.keras_calls import (
    keras_name,
    loss_is_elementwise,
    read_keras_optimizer,
    read_metrics,
    read_part,
)
from migrate_mgpu.models.ir import PREDICT, Compiled, KerasModel, Operation, Optimizer

NAMED = "named-by-keras"  # the key of what is called as Keras numbers its layers
_BY_KERAS = re.compile(r"input_\d+$")
_PLAIN = ("builtins.", "math.", "numpy.", "os.")
_PARTS = ("input", "inputs", "layers", "output", "outputs")
_METHODS = ("add", "append", "extend", "format", "get", "items", "summary", "values")


def read_keras_model(flow: EstimatorFlow, graph: CallGraph) -> KerasModel:
    """What the Keras model behind an Estimator is made of.

    Raises:
        Refused: a step that is not understood, or not known to be the same in TF2.
    """
    return _Reader(flow, graph).read()


class _Reader:
    def __init__(self, flow: EstimatorFlow, graph: CallGraph) -> None:
        self.flow = flow
        self.graph = graph
        self.values = ValueFlow(graph)
        self.seen: set[ast.AST] = set()
        self.layers = 0  # mentions of what Keras makes, so far
        self.made: set[ast.stmt] = set()  # statements with such mentions
        self.made_functions: set[ast.AST] = set()
        self.problems: list[Diagnostic] = []
        self.parts: list[Operation] = []
        self.building: set[ast.stmt] = set()  # in the Estimator's own function

    def read(self) -> KerasModel:
        flow, module = self.flow, self.flow.module
        check_version(module, flow.call)
        for name in ("keras_model_path", "custom_objects"):
            if name in flow.arguments:
                raise Refused(
                    module, flow.arguments[name], f"`{name}` of model_to_estimator",
                    "make the Keras model in the program",
                )  # fmt: skip
        value = flow.arguments.get("keras_model")
        if value is None:
            raise Refused(module, flow.call, "model_to_estimator without a Keras model")
        self._expression(module, value)
        origin = self._origin(module, value)
        compiled = self._model(*origin)
        if self.problems:
            raise Refused.because(self.problems[0])
        output = self._output(*origin)
        for call in flow.driving.calls:
            if call.kind == PREDICT and (output is None or "predict_keys" in call.arguments):
                raise Refused(
                    call.module, call.node, "predictions of this Estimator are dictionaries, by "
                    "the name of the output layer", "give the layer of its output a name", NAMED,
                )  # fmt: skip
        names = module.names
        scope = names.scope_at(flow.statement)
        building = [s for s in self.building if names.scope_at(s) is scope]
        building.sort(key=lambda s: s.lineno)
        parts = tuple(self.parts)
        row = _model_row(*origin)
        layered = row is not None and "layers" in row.signature
        return KerasModel(module, value, compiled, parts, tuple(building), output, layered)

    def _origin(self, module: Module, value: ast.expr) -> tuple[Module, ast.Call]:
        origins = self.values.definitions(module, value)
        if len(origins) == 1:
            where, node = origins[0].module, origins[0].node
            if isinstance(node, ast.Call) and _model_row(where, node) is not None:
                return where, node
        raise Refused(
            module, value, "which Keras model this is cannot be determined",
            "make it by tf.keras.Sequential or tf.keras.Model in the program",
        )  # fmt: skip

    # -- the model itself ---------------------------------------------------

    def _model(self, module: Module, call: ast.Call) -> Compiled:
        """Reads what is done with the model: it is built, compiled once, and made an Estimator."""
        row = _model_row(module, call)
        assert row is not None
        outputs = NamedArguments(module, call, row.signature).get("outputs")
        if isinstance(outputs, (ast.Dict, ast.Tuple)) or (
            isinstance(outputs, ast.List) and len(outputs.elts) > 1
        ):
            raise Refused(module, outputs, "a Keras model of several outputs")
        self._check_fed(module, "layers" in row.signature)
        compiled: list[tuple[Module, ast.Call]] = []
        for mention in self.values.uses(module, call):
            where, node = mention.module, mention.node
            assert node is not None
            parents = where.names.parents
            parent = parents[node]
            given = parents[parent] if isinstance(parent, ast.keyword) else parent
            if given is self.flow.call:
                continue
            used = parents[parent]
            if isinstance(parent, ast.Attribute) and isinstance(used, ast.Call):
                alone = isinstance(parents[used], ast.Expr)
                if alone and used.func is parent and parent.attr in ("add", "compile", "summary"):
                    self._builds(where, used)
                    if parent.attr == "compile":
                        compiled.append((where, used))
                    else:
                        for argument in used.args:
                            self._expression(where, argument)
                    continue
            asks = isinstance(parent, ast.Attribute) and parent.attr in ("input", "input_names")
            raise Refused(
                where, node, "what else is done here with the Keras model cannot be analyzed",
                "do it with the model after the migration", NAMED if asks else "",
            )  # fmt: skip
        if len(compiled) != 1:
            raise Refused(module, call, "where this Keras model is compiled cannot be determined")
        return self._compiled(*compiled[0])

    def _output(self, module: Module, call: ast.Call) -> str | None:
        """The name that the output's layer is given."""
        row = _model_row(module, call)
        assert row is not None
        given = NamedArguments(module, call, row.signature)
        names = module.names
        if "layers" in row.signature:
            last = self._last_layer(module, call, given.get("layers"))
        else:
            last = given.get("outputs")
        if isinstance(last, ast.Name):
            last = names.only_value(last)
        if isinstance(last, ast.Call) and not keras_name(module, last.func):
            last = last.func  # `layer(x)`
            last = names.only_value(last) if isinstance(last, ast.Name) else last
        if not isinstance(last, ast.Call) or not keras_name(module, last.func):
            return None
        named = [constant(k.value) for k in last.keywords if k.arg == "name"]
        return named[0] if named and isinstance(named[0], str) else None

    def _last_layer(
        self, module: Module, call: ast.Call, listed: ast.expr | None
    ) -> ast.expr | None:
        """The last layer of a Sequential; None where it may be another one."""
        names = module.names
        block = names.block(names.statement(call))
        added: list[ast.Call] = []
        for mention in self.values.uses(module, call):
            assert mention.node is not None
            method = mention.module.names.parents[mention.node]
            used = mention.module.names.parents.get(method)
            if not isinstance(method, ast.Attribute) or method.attr != "add":
                continue
            if mention.module is not module or not isinstance(used, ast.Call):
                return None
            if names.statement(used) not in block or len(used.args) != 1:
                return None
            added.append(used)
        if added:
            return max(added, key=lambda one: one.lineno).args[0]
        whole = isinstance(listed, (ast.List, ast.Tuple)) and listed.elts
        return listed.elts[-1] if whole and isinstance(listed, (ast.List, ast.Tuple)) else None

    def _check_fed(self, module: Module, is_sequential: bool) -> None:
        """Features by the names of inputs, which Keras 2.15 and 3 know by their own names alone.

        The input that a Sequential's first layer makes has another name in Keras 3; so has one
        that is given no name.
        """
        homes = dict.fromkeys((module, self.flow.module))
        own = {
            constant(one.value)
            for other in homes
            for call in other.names.calls
            if keras_name(other, call.func).endswith(("Input", "InputLayer"))
            for one in call.keywords
            if one.arg == "name"
        }
        for other in homes:
            for node in ast.walk(other.tree):
                for key in node.keys if isinstance(node, ast.Dict) else ():
                    text = key.value if isinstance(key, ast.Constant) else ""
                    if not isinstance(text, str) or text in own:
                        continue
                    if _BY_KERAS.match(text):
                        raise Refused(
                            other, node, "features by a name that Keras gives an input",
                            "give the Input a name", NAMED,
                        )  # fmt: skip
                    if is_sequential and text.endswith("_input"):
                        raise Refused(
                            other, node, "a dictionary of features for a Sequential model",
                            "give it the one feature itself", NAMED,
                        )  # fmt: skip

    def _compiled(self, module: Module, call: ast.Call) -> Compiled:
        given = NamedArguments(module, call, COMPILE)
        for name in COMPILE[3:]:
            if given.given(name) is not None:
                raise Refused(module, call, f"`{name}` of compile is not converted")
        optimizer, loss, metrics = (given.given(name) for name in COMPILE[:3])
        if optimizer is None or loss is None:
            raise Refused(module, call, "this Keras model is compiled without optimizer or loss")
        made = self._optimizer(module, optimizer)
        elementwise = loss_is_elementwise(module, loss)
        for argument in (optimizer, loss, metrics):
            if isinstance(argument, ast.Name):
                for binding in module.names.bindings_of(argument):
                    statement = module.names.statement(binding.node)
                    if isinstance(statement, ast.Assign):
                        self.building.add(statement)
        return Compiled(module, call, made, loss, elementwise, read_metrics(module, metrics))

    def _optimizer(self, module: Module, node: ast.expr) -> Optimizer | None:
        made = read_keras_optimizer(module, node)
        distributed = bool(self.flow.distribution.training)
        if made is not None and distributed and made.kind not in KERAS_OPTIMIZERS.by_kind:
            raise Refused(
                module, made.node, "1.15 divides the loss twice by the replicas where a Keras "
                "model has an optimizer of tf.train", "give the model one of tf.keras.optimizers",
            )  # fmt: skip
        return made

    # -- what it is made of ---------------------------------------------------

    def _builds(self, module: Module, node: ast.AST) -> None:
        """Notes the statement that a part of the model is made in."""
        if module is self.flow.module:
            self.building.add(module.names.statement(node))

    def _expression(self, module: Module, node: ast.expr) -> None:
        """Reads an expression, and what gives its names their values."""
        if node in self.seen:
            return
        self.seen.add(node)
        if isinstance(node, ast.Lambda):
            self._problem(module, node, "a function inside of a Keras model is not converted")
        elif isinstance(node, ast.Name):
            self._name(module, node)
        elif isinstance(node, ast.Attribute):
            if node.attr in _PARTS:
                self._problem(module, node, "a part of another Keras model cannot be analyzed")
        elif isinstance(node, ast.Call):
            self._call(module, node)
        else:
            self._children(module, node)

    def _children(self, module: Module, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._expression(module, child)
            else:  # a comprehension's `for`
                self._children(module, child)

    def _problem(self, module: Module, node: ast.AST, reason: str) -> None:
        """What stands in the way, unless it turns out to be no part of the model."""
        advice = "build the model of Keras's own layers"
        self.problems.append(Refused(module, node, reason, advice).diagnostic)

    def _name(self, module: Module, name: ast.Name) -> None:
        names = module.names
        home = names.defining_scope(name.id, names.scope_of_name[name])
        if home is None:
            return
        for binding in home.bindings[name.id]:
            if binding.kind in ("import", "def", "class", "parameter"):
                continue
            statement = names.statement(binding.node)
            self.layers += statement in self.made
            if statement in self.seen:
                continue
            self.seen.add(statement)
            before, problems = self.layers, len(self.problems)
            for value in _values(statement):
                self._expression(module, value)
            if self.layers > before:
                self.made.add(statement)
                self._builds(module, statement)
            else:
                del self.problems[problems:]  # a setting: how it is calculated does not matter
        for mention in names.mentions(name.id, home):
            self._appended(module, mention)

    def _appended(self, module: Module, mention: ast.Name) -> None:
        """`layers.append(x)`: what is put into a list that the model is made of."""
        parents = module.names.parents
        parent = parents[mention]
        if not (isinstance(parent, ast.Attribute) and parent.attr in ("append", "extend")):
            return
        call = parents[parent]
        if isinstance(call, ast.Call) and call.func is parent and call not in self.seen:
            self.seen.add(call)
            before = self.layers
            for argument in call.args:
                self._expression(module, argument)
            if self.layers > before:
                self._builds(module, call)

    def _call(self, module: Module, call: ast.Call) -> None:
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            self._expression(module, given)
        name = tensorflow_name(module, call.func)
        if keras_name(module, call.func):
            self.layers += 1
            self._builds(module, call)
            self.parts.append(read_part(module, call))
            return
        function = self.graph.target(module, call.func)
        if function is not None and isinstance(function.node, ast.FunctionDef):
            before = self.layers
            if function.name == "__init__" or function.node.decorator_list:
                text = "a class of the program inside of a Keras model is not converted"
                self._problem(module, call, text)
            for statement in returns(function):
                if statement.value is not None:
                    self._expression(function.module, statement.value)
            if self.layers > before or function.node in self.made_functions:
                self.made_functions.add(function.node)
                self.layers += 1
                self._builds(module, call)
            return
        if isinstance(call.func, (ast.Call, ast.Name)):
            self._expression(module, call.func)
        known = module.names.qualname(call.func) or ""
        if name or not (known.startswith(_PLAIN) or self._applies(module, call)):
            shown = module.source.code(call.func)
            text = f"`{shown}` in a Keras model is not known to do the same in TF2"
            self._problem(module, call, text)

    def _applies(self, module: Module, call: ast.Call) -> bool:
        """`layer(x)`, whose layer is read where it is made; methods of lists and texts."""
        if isinstance(call.func, ast.Call):
            return True
        if isinstance(call.func, ast.Attribute):
            return call.func.attr in _METHODS
        if not isinstance(call.func, ast.Name):
            return False
        bindings = module.names.bindings_of(call.func)
        return bool(bindings) and all(b.kind in ("assign", "other") for b in bindings)


def _model_row(module: Module, call: ast.Call) -> Row | None:
    return MODELS.by_name.get(tensorflow_name(module, call.func))


def _values(statement: ast.stmt) -> list[ast.expr]:
    """The expressions that a statement gives names their values from."""
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return [statement.iter]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in statement.items]
    value = statement_value(statement)
    return [value] if isinstance(value, ast.expr) else []
