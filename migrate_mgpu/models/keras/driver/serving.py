"""A serving_input_receiver_fn as a function of the model that gives the function to serve.

Its placeholders become the inputs of a ``tf.function``: by the names of the receiver's
tensors, which are those of the SavedModel's signature in TF1 and TF2 alike. What it makes
of them are the features that the model predicts for.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.dataflow import items
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.analysis.value_flow import Value, ValueFlow, returns
from migrate_mgpu.core.records import record
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

_RECEIVERS = ("ServingInputReceiver", "TensorServingInputReceiver")
_READS = ("copy", "get", "items", "keys", "values")
_PARSERS = ("parse_example", "io.parse_example")
OF_EXAMPLES = "a canned Estimator's signatures of serialized examples, or a head's"
_ADVICE = "write it with placeholders and tf.estimator.export.ServingInputReceiver"


@record(frozen=True)
class _Input:
    """A placeholder: the name of the signature, of the parameter, and what it is made of.

    ``shown`` is the expression of the first.
    """

    key: str
    parameter: str
    call: ast.Call
    shown: str


@record(frozen=True)
class _Table:
    """A dictionary of the receiver's tensors, which the first ``made`` statements fill.

    ``inputs`` are its placeholders with their keys.
    """

    name: str
    made: int
    inputs: dict[ast.Call, ast.expr]


@record(frozen=True)
class Answer:
    """What a model answers: by a ``predict_step``, and whether that gives a dictionary.

    Else TF1 called the one output ``output``, or as ``key`` says. ``canned``: of a canned
    Estimator. ``examples``: TF1 wrote more signatures for what is given one text for each example,
    which it takes for serialized examples; a canned Estimator's always. ``layered``: of a
    Sequential.
    """

    predicts: bool
    has_step: bool
    canned: bool = False
    key: str = "output"
    examples: bool = False
    layered: bool = False

    def text(self, model: str, features: str, style: FileStyle) -> str:
        """The expression of a model's answer to features."""
        text = f"{model}.predict_step({features})"
        if not self.has_step:
            text = f"{model}({features}, training=False)"
        return text if self.predicts else f"{{{style.string(self.key)}: {text}}}"


def decorator(block: Block, style: FileStyle, specs: list[str]) -> None:
    """The line above a function to serve, that says what it takes."""
    head = f"@{style.tensorflow}.function(input_signature="
    line = f"{head}[{', '.join(specs)}])"
    unit = style.indent
    if len(block.indent + unit) + len(line) <= style.width:
        block.line(line, 1)
        return
    block.line(f"{head}[", 1)
    for spec in specs:
        block.line(f"{spec},", 2)
    block.line("])", 1)


@record(frozen=True)
class Served:
    """A receiver function's new text.

    ``takes_texts``: it takes one text for each example. ``defaults`` are inputs that TF1 had
    values for, where a client gives none. ``added`` are calls that put tensors among the inputs.
    """

    edit: Edit
    takes_texts: bool
    defaults: tuple[ast.Call, ...] = ()
    added: tuple[ast.Call, ...] = ()


def serving_edit(function: Function, answer: Answer, values: ValueFlow) -> Served:
    """What becomes of a receiver function.

    Raises:
        Refused: it does more than make placeholders and features.
    """
    made = _Serving(function, answer, values)
    edit = made.edit()
    return Served(edit, made.takes_texts, tuple(made.defaults), tuple(made.added.values()))


class _Serving:
    def __init__(self, function: Function, answer: Answer, values: ValueFlow) -> None:
        self.values = values
        self.module: Module = function.module
        self.node = function.node
        self.answer = answer
        self.style = style_at(self.module, self.node)
        self.takes_texts = False
        self.defaults: list[ast.Call] = []
        self.added: dict[ast.Name, ast.Call] = {}  # of each mention of the inputs that is given
        given = self.node.args
        plain = not (given.args or given.posonlyargs or given.kwonlyargs or given.vararg)
        if not plain or given.kwarg or self.node.decorator_list or function.owner is not None:
            raise Refused(self.module, self.node, "a receiver function with parameters", _ADVICE)

    def edit(self) -> Edit:
        module, node, source = self.module, self.node, self.module.source
        body = list(node.body)
        block = Block(source, source.indent_of(node))
        names = module.names
        scope = names.scopes[node]
        model = names.fresh(scope, "model", "keras_model")
        block.line(f"def {node.name}({model}):")
        first = body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            block.statement(first, [], 1)
            body.pop(0)
        last = body.pop() if body else node
        if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Call):
            raise Refused(module, last, "what this receiver function returns", _ADVICE)
        features, receiver = self._returned(last.value)
        table = self._table(receiver, body)
        if table is not None:
            return self._of_table(block, body, table, features, model)
        inputs, receiving = self._inputs(receiver, body)
        made = {one.call: one for one in inputs}
        self._only_these(made)
        if (self.answer.canned or self.answer.examples) and len(inputs) == 1:
            told = arguments_of(module, inputs[0].call, ("dtype", "shape", "name"))
            kind = tensorflow_name(module, told["dtype"]) if "dtype" in told else ""
            self.takes_texts = kind == "string" and (
                _is_vector(told["shape"]) if "shape" in told else self._parsed(inputs[0])
            )
            if not self.takes_texts and not kind.startswith(("float", "int")):
                raise Refused(module, inputs[0].call, OF_EXAMPLES, _ADVICE)
        plain = [s for s in body if statement_value(s) in made]
        holding = [s for s in body if any(part in made for part in ast.walk(s))]
        start = min((body.index(s) for s in holding), default=len(body))
        gone = set(plain)
        if receiving is not None and self._alone(receiving, receiver):
            gone.add(receiving)
        replaced: dict[ast.AST, Replacement] = {c: _parameter(one) for c, one in made.items()}
        context = Context(module, self.style, replaced=replaced)
        for statement in body[:start]:
            block.statement(statement, context.edits(statement), 1)
        serve = names.fresh(scope, "serve", "serving")
        for statement in body[start:]:
            if statement in gone:
                block.comments(statement, 1)
        specs = [self._spec(one, body[:start]) for one in inputs]
        decorator(block, self.style, specs)
        block.line(f"def {serve}({', '.join(one.parameter for one in inputs)}):", 1)
        for statement in body[start:]:
            if statement not in gone:
                block.statement(statement, context.edits(statement), 2)
        base = block.indent + self.style.indent * 2
        given = context.render(features, len(base), base)
        if self.answer.layered and self._computed(features, made):
            self._by_layers(block, given, model)
        else:
            block.line(f"return {self.answer.text(model, given, self.style)}", 2)
        block.line()
        block.line(f"return {serve}", 1)
        start_, end = source.span(node)
        return Edit(start_, end, block.text().rstrip()[len(block.indent) :])

    def _computed(self, features: ast.expr, made: dict[ast.Call, _Input]) -> bool:
        """Whether a model's one feature is computed of the inputs: its shape is not known here."""
        table = self._followed(features)
        value = table.values[0] if isinstance(table, ast.Dict) and len(table.values) == 1 else None
        return value is not None and self._behind(value, may_change=True) not in made

    def _by_layers(self, block: Block, features: str, model: str) -> None:
        """A model asks for the shape of its Input, which 1.15's did not, and its layers do not."""
        scope = self.module.names.scopes[self.node]
        outputs = self.module.names.fresh(scope, "outputs", "answer")
        layer = self.module.names.fresh(scope, "layer", "one_layer")
        block.line(f"({outputs},) = {features}.values()", 2)
        block.line(f"for {layer} in {model}.layers:", 2)
        block.line(f"{outputs} = {layer}({outputs})", 3)
        block.line(f"return {{{self.style.string(self.answer.key)}: {outputs}}}", 2)

    def _table(self, receiver: ast.expr, body: list[ast.stmt]) -> _Table | None:
        """The receiver's tensors as a dictionary that several statements fill, or a comprehension.

        None where it is a literal, or anything else.
        """
        names = self.module.names
        value = names.only_value(receiver) if isinstance(receiver, ast.Name) else None
        if not isinstance(receiver, ast.Name) or not isinstance(value, (ast.Dict, ast.DictComp)):
            return None
        mentions = names.mentions(receiver.id, names.scopes[self.node])
        around = {m: {m, *names.ancestors(m)} for m in mentions}
        holding = [s for s in body if any(s in around[m] for m in mentions)]
        fills = [s for s in holding if any(self._fills(m) for m in mentions if s in around[m])]
        if len(fills) < 2 and isinstance(value, ast.Dict):
            return None
        reads = [m for m in mentions if not self._fills(m) and m is not receiver]
        last = body.index(fills[-1])
        if any(body[: last + 1].count(s) for m in reads for s in body if s in around[m]):
            raise Refused(self.module, fills[-1], f"`{receiver.id}` changes here", _ADVICE)
        for one in reads:
            parent = names.parents[one]
            asks = isinstance(parent, ast.Attribute) and parent.attr in _READS
            taken = isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load)
            given = isinstance(parent, ast.Call) and names.parents[parent] is self.node.body[-1]
            if not (asks or taken or given or self._only_adds(one, parent)):
                raise Refused(self.module, one, f"`{receiver.id}` may change here", _ADVICE)
        if self.added and len(reads) > 1:
            text = f"`{receiver.id}` is read here, and what a function adds is not in it"
            raise Refused(self.module, reads[-1], text, _ADVICE)
        inputs: dict[ast.Call, ast.expr] = {}
        for node in ast.walk(self.node):
            if not isinstance(node, ast.Call):
                continue
            if self._placeholder(node) is not None or self._with_default(node):
                key = self._key_of(node, receiver.id)
                if key is None:
                    raise Refused(self.module, node, "a placeholder that is not an input", _ADVICE)
                inputs[node] = key
        made = {part for one in inputs for part in ast.walk(one)}
        for node in (part for s in body[: last + 1] for part in ast.walk(s)):
            if isinstance(node, ast.Call) and node not in made:
                if tensorflow_name(self.module, node.func):
                    text = "a tensor that is made among the inputs"
                    raise Refused(self.module, node, text, _ADVICE)
        named = [one for one in inputs.values() if isinstance(one, ast.Constant)]
        several = len(named) >= 2 or any(self._of_several(one) for one in inputs)
        if not several and (self.answer.canned or self.answer.examples):
            raise Refused(self.module, value, OF_EXAMPLES, _ADVICE)
        return _Table(receiver.id, last + 1, inputs)

    def _of_several(self, call: ast.Call) -> bool:
        """Whether a placeholder is made for each of several columns, by their names.

        ``for column in COLUMNS: inputs[column.name] = tf.placeholder(...)``
        """
        names = self.module.names
        around = names.parents[call]
        key = around.key if isinstance(around, ast.DictComp) else None
        if isinstance(around, ast.Assign) and isinstance(around.targets[0], ast.Subscript):
            key = around.targets[0].slice
        loop: ast.AST = names.parents[around]
        if isinstance(around, ast.DictComp) and len(around.generators) == 1:
            loop = around.generators[0]
        if not isinstance(loop, (ast.For, ast.comprehension)) or getattr(loop, "ifs", None):
            return False
        by_name = isinstance(key, ast.Attribute) and key.attr == "name" and key.value
        if not isinstance(by_name, ast.Name) or not isinstance(loop.target, ast.Name):
            return False
        made = self.values.definitions(self.module, loop.iter)
        columns = made[0].node if len(made) == 1 else None
        if by_name.id != loop.target.id or not isinstance(columns, (ast.List, ast.Tuple)):
            return False
        home = made[0].module
        if any(map(_loses, self.values.uses(home, columns))):
            return False
        named = {
            constant(one.args[0])
            for one in columns.elts
            if isinstance(one, ast.Call)
            and one.args
            and tensorflow_name(home, one.func).startswith("feature_column.")
        }
        return len({one for one in named if isinstance(one, str)}) >= 2

    def _only_adds(self, mention: ast.Name, call: ast.AST) -> bool:
        """Whether a function is given the inputs, and puts what it makes of them among them."""
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return False
        names = self.module.names
        made = names.only_definition(call.func)
        if not isinstance(made, ast.FunctionDef) or made.decorator_list:
            return False
        given = bind(call, Function(self.module, made)).every() or {}
        parameter = next((name for name, value in given.items() if value is mention), "")
        own = names.scopes[made]
        if len(own.bindings.get(parameter, ())) != 1:
            return False
        for one in names.mentions(parameter, own):
            parent = names.parents[one]
            key = parent.slice if isinstance(parent, ast.Subscript) else None
            if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Del):
                return False
            if not (isinstance(parent, ast.Return) or isinstance(constant(key), str)):
                return False
        self.added[mention] = call
        return True

    def _fills(self, mention: ast.Name) -> bool:
        """Whether a mention of the dictionary makes it, or puts something into it."""
        names = self.module.names
        if isinstance(mention.ctx, ast.Store):
            return True
        parent = names.parents[mention]
        if isinstance(parent, ast.Subscript):
            return isinstance(parent.ctx, ast.Store)
        return isinstance(parent, ast.Attribute) and parent.attr == "update"

    def _key_of(self, call: ast.Call, table: str) -> ast.expr | None:
        """The key that a placeholder has in the dictionary of the receiver's tensors."""
        names = self.module.names
        parent = names.parents[call]
        if isinstance(parent, ast.Dict) and call in parent.values:
            return parent.keys[parent.values.index(call)]
        if isinstance(parent, ast.DictComp) and parent.value is call:
            return parent.key
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return target.slice if target.value.id == table else None
        return None

    def _with_default(self, call: ast.Call) -> bool:
        return tensorflow_name(self.module, call.func) == "placeholder_with_default"

    def _of_table(
        self,
        block: Block,
        body: list[ast.stmt],
        table: _Table,
        features: ast.expr,
        model: str,
    ) -> Edit:
        """The function, where one dictionary of specs says what the served function takes."""
        specs: dict[ast.AST, Replacement] = {
            call: self._spec_of(call, key) for call, key in table.inputs.items()
        }
        context = Context(self.module, self.style, replaced=specs)
        for statement in body[: table.made]:
            block.statement(statement, context.edits(statement), 1)
        names = self.module.names
        serve = names.fresh(names.scopes[self.node], "serve", "serving")
        block.line()
        decorator(block, self.style, [table.name])
        block.line(f"def {serve}({table.name}):", 1)
        # What a function is traced with may not be changed.
        copies: dict[ast.AST, Replacement] = {one: _copy(one.id) for one in self.added}
        plain = Context(self.module, self.style, replaced=copies)
        for statement in body[table.made :]:
            block.statement(statement, plain.edits(statement), 2)
        base = block.indent + self.style.indent * 2
        given = plain.render(features, len(base), base)
        block.line(f"return {self.answer.text(model, given, self.style)}", 2)
        block.line()
        block.line(f"return {serve}", 1)
        start, end = self.module.source.span(self.node)
        return Edit(start, end, block.text().rstrip()[len(block.indent) :])

    def _spec_of(self, call: ast.Call, key: ast.expr) -> Replacement:
        """`tf.TensorSpec([None], tf.int32, name=key)` in a placeholder's place."""
        signature = ("input", "shape", "name")
        if not self._with_default(call):
            signature = ("dtype", "shape", "name")
        given = arguments_of(self.module, call, signature)
        tf = self.style.tensorflow
        kind = ""
        if self._with_default(call):
            self.defaults.append(call)
            kind = f"{tf}.{self._kind(given.get('input') or call)}"

        def written(context: Context) -> str:
            shape = context.render(given["shape"]) if "shape" in given else "None"
            dtype = kind or context.render(given["dtype"])
            return f"{tf}.TensorSpec({shape}, {dtype}, name={context.render(key)})"

        return written

    def _kind(self, value: ast.expr) -> str:
        """The type of a default: a literal, or `tf.constant` of one.

        Raises:
            Refused: it is anything else.
        """
        if isinstance(value, ast.Call) and tensorflow_name(self.module, value.func) == "constant":
            given = arguments_of(self.module, value, ("value", "dtype", "shape", "name"))
            if "dtype" not in given and "value" in given:
                return self._kind(given["value"])
            name = tensorflow_name(self.module, given["dtype"]) if "dtype" in given else ""
            if name:
                return name
        literal = constant(value)
        while isinstance(literal, list) and literal:
            literal = literal[0]
        for kind, name in ((bool, "bool"), (int, "int32"), (float, "float32"), (str, "string")):
            if isinstance(literal, kind):
                return name
        text = "the type of an input with a default cannot be determined"
        raise Refused(self.module, value, text, "give the default by tf.constant, with its dtype")

    def _returned(self, call: ast.Call) -> tuple[ast.expr, ast.expr]:
        """The features and the receiver's tensors."""
        module = self.module
        kind = tensorflow_name(module, call.func).rpartition(".")[2]
        if kind not in _RECEIVERS:
            raise Refused(module, call, "what this receiver function returns", _ADVICE)
        signature = ("features", "receiver_tensors", "receiver_tensors_alternatives")
        given = arguments_of(module, call, signature)
        if "receiver_tensors_alternatives" in given or len(given) != 2:
            raise Refused(module, call, "a receiver with alternatives", _ADVICE)
        features = given["features"]
        # A canned Estimator's columns take their features out of a dictionary, however it is made.
        table = self.answer.canned or self._is_table(self._followed(features))
        if table != (kind == "ServingInputReceiver"):
            text = "features that are not a dictionary literal" if not table else "a dictionary"
            raise Refused(module, features, f"a {kind} of {text}", _ADVICE)
        return features, given["receiver_tensors"]

    def _is_table(self, node: ast.expr) -> bool:
        """Whether features are a dictionary: one that is written out, or made, or parsed."""
        if isinstance(node, ast.DictComp):
            return True
        if isinstance(node, ast.Call):
            if tensorflow_name(self.module, node.func) in _PARSERS:
                return True
            if isinstance(node.func, ast.Name) and self._of_function(node, node.func):
                return True
        return bool(items(node)) or (isinstance(node, ast.Dict) and None not in node.keys)

    def _of_function(self, call: ast.Call, name: ast.Name) -> bool:
        """Whether a call gives a dictionary: `dict`, or a function that returns the one it got."""
        names = self.module.names
        bindings = names.bindings_of(name)
        if name.id == "dict" and not bindings:
            return True
        made = names.only_definition(name)
        if not isinstance(made, ast.FunctionDef) or made.decorator_list:
            return False
        given = bind(call, Function(self.module, made)).every() or {}
        own = names.scopes[made].bindings
        returned = returns(Function(self.module, made))
        values = [one.value for one in returned if isinstance(one.value, ast.Name)]
        return (
            bool(values)
            and len(values) == len(returned)
            and isinstance(made.body[-1], ast.Return)
            and all(
                one.id in given
                and len(own[one.id]) == 1
                and self._is_table(self._followed(given[one.id]))
                for one in values
            )
        )

    def _key(self, node: ast.expr) -> tuple[str, str]:
        """A key of the signature, and its expression: a text, or the module's name for one."""
        if isinstance(node, ast.Name):
            value = self.module.names.only_value(node)
            home = self.module.names.defining_scope(node.id, self.module.names.scope_of_name[node])
            text = constant(value)
            if isinstance(text, str) and home is not None and home.is_module:
                return text, node.id
        text = constant(node)
        if not isinstance(text, str):
            raise Refused(self.module, node, "the name of an input cannot be determined", _ADVICE)
        return text, self.style.string(str(text))

    def _followed(self, node: ast.expr) -> ast.expr:
        """What features are, by all the names that they have in the function."""
        value = self._behind(node, may_change=True)
        return node if value is node else self._followed(value)

    def _behind(self, node: ast.expr, may_change: bool = False) -> ast.expr:
        """What a variable of the function is, if it is given a value once."""
        if isinstance(node, ast.Name):
            value = self.module.names.only_value(node)
            if value is not None:
                if not may_change:
                    self._unchanged(node)
                return value
        return node

    def _unchanged(self, node: ast.Name) -> None:
        """`inputs['x'] = ...` would make it another dictionary."""
        names = self.module.names
        home = names.defining_scope(node.id, names.scope_of_name[node])
        for mention in names.mentions(node.id, home) if home is not None else ():
            parent = names.parents[mention]
            asks = isinstance(parent, ast.Attribute) and parent.attr in _READS
            changes = (isinstance(parent, ast.Attribute) and not asks) or (
                isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
            )
            if changes:
                raise Refused(self.module, parent, f"`{node.id}` changes here", _ADVICE)

    def _inputs(
        self, receiver: ast.expr, body: list[ast.stmt]
    ) -> tuple[list[_Input], ast.stmt | None]:
        """The placeholders by the names of the signature; the statement that says these."""
        module = self.module
        table = self._behind(receiver)
        found: list[_Input] = []
        if isinstance(table, ast.Dict):
            entries = zip(table.keys, table.values)
            pairs = [(*self._key(key), value) for key, value in entries if key is not None]
        else:
            named = items(table).items()
            pairs = [(str(key), self.style.string(str(key)), value) for key, value in named]
        if not pairs and self._placeholder(table) is not None:
            pairs = [("input", self.style.string("input"), receiver)]  # TF1's name for a single one
            table = receiver
        for key, shown, value in pairs:
            call = self._placeholder(self._behind(value))
            if call is None:
                raise Refused(
                    module, value, "an input of the signature is not a placeholder", _ADVICE
                )
            found.append(_Input(key, self._name(key, call), call, shown))
        if not found:
            raise Refused(module, receiver, "receiver_tensors is not a dictionary literal", _ADVICE)
        statement = module.names.statement(table)
        return found, statement if statement in body and table is not receiver else None

    def _placeholder(self, node: ast.expr) -> ast.Call | None:
        name = tensorflow_name(self.module, node.func) if isinstance(node, ast.Call) else ""
        return node if name == "placeholder" and isinstance(node, ast.Call) else None

    def _name(self, key: str, call: ast.Call) -> str:
        """The variable that holds a placeholder; where there is none, its name in the signature."""
        parent = self.module.names.parents[call]
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            return parent.targets[0].id
        scope = self.module.names.scopes[self.node]
        if not key.isidentifier() or key in scope.bindings:
            return self.module.names.fresh(scope, f"{key}_input" if key.isidentifier() else "given")
        return key

    def _only_these(self, made: dict[ast.Call, _Input]) -> None:
        for node in ast.walk(self.node):
            if isinstance(node, ast.Call) and self._placeholder(node) is not None:
                if node not in made:
                    raise Refused(self.module, node, "a placeholder that is not an input", _ADVICE)
        if len({one.parameter for one in made.values()}) != len(made):
            raise Refused(self.module, self.node, "inputs of one name", _ADVICE)

    def _alone(self, statement: ast.stmt, receiver: ast.expr) -> bool:
        """Whether only the receiver mentions the variable that a statement makes."""
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            return False
        names = self.module.names
        mentions = names.mentions(statement.targets[0].id, names.scopes[self.node])
        return {m for m in mentions if isinstance(m.ctx, ast.Load)} == {receiver}

    def _spec(self, one: _Input, above: list[ast.stmt]) -> str:
        module = self.module
        given = arguments_of(module, one.call, ("dtype", "shape", "name"))
        scope = module.names.scopes[self.node]
        known = {t.id for s in above for t in ast.walk(s) if isinstance(t, ast.Name)}
        for value in given.values():
            for name in ast.walk(value):
                if isinstance(name, ast.Name) and name.id in scope.bindings:
                    if name.id not in known:
                        raise Refused(module, name, "a shape that is made of inputs", _ADVICE)
        context = Context(module, self.style)
        shape = "[None]" if self._parsed(one) else "None"
        shape = context.render(given["shape"]) if "shape" in given else shape
        dtype = context.render(given["dtype"])
        return f"{self.style.tensorflow}.TensorSpec({shape}, {dtype}, name={one.shown})"

    def _parsed(self, one: _Input) -> bool:
        """Whether an input is parsed as examples: these are a vector, of whatever shape it is."""
        for node in ast.walk(self.node):
            if isinstance(node, ast.Call) and node.args:
                if tensorflow_name(self.module, node.func) in _PARSERS:
                    return self._behind(node.args[0]) is one.call
        return False


def _copy(name: str) -> Replacement:
    return lambda context: f"dict({name})"


def _parameter(one: _Input) -> Replacement:
    return lambda context: one.parameter


def _is_vector(shape: ast.expr) -> bool:
    """`[None]`: as many as there are."""
    return isinstance(shape, (ast.List, ast.Tuple)) and [is_none(one) for one in shape.elts] == [
        True
    ]


def _loses(use: Value) -> bool:
    """Whether something may be taken out of a list where it is used."""
    assert use.node is not None
    around = use.module.names.parents[use.node]
    return (isinstance(around, ast.Attribute) and around.attr in ("clear", "pop", "remove")) or (
        isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load)
    )
