"""The variables of a graph: each made once, with its first value."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES, DRAWS
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS, VARIABLES
from migrate_mgpu.models.front.session.expressions import (
    Expressions,
    expressions_of,
    statements_of,
)
from migrate_mgpu.models.front.session.helper_calls import returns_variable
from migrate_mgpu.models.front.session.program import (
    GRAPH,
    NamedInitializer,
    Role,
    closure,
    given_by,
)
from migrate_mgpu.models.front.session.runs import mentions_of
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.session.unknown_calls import unknown_call
from migrate_mgpu.models.ir import Collected, Operation, Unit, Variables

_TYPES = {f"{kind}{bits}" for kind in ("float", "int", "uint") for bits in (8, 16, 32, 64)}


class VariableReader(StatementReader):
    """Reads statements that make variables."""

    def __init__(self, state: Reading) -> None:
        super().__init__(state)
        self._items: dict[tuple[Variables, object], Variables] = {}
        self._initializers: set[ast.AST] = set()  # mentions of them, which become what they are

    def makes_variables(self, value: ast.expr) -> bool:
        for node in walk(value):
            if isinstance(node, ast.Call):
                if name_of(self.module, node) in VARIABLES.by_name:
                    return True
                if self.layers.of(node) is not None:
                    return False
                target = self.graph.target(self.module, node.func)
                if target is not None and target.module in {self.module, *self.state.beside}:
                    near = target.module is self.module or returns_variable(target)
                    if near and self._of(target.module).makes(target):
                        return True
        return False

    def begins(self, target: ast.Name, value: ast.expr) -> bool:
        """Whether a statement computes what variables begin with, and nothing else takes it.

        `start = tf.random_uniform([3, 4])`, of which `tf.Variable(start)` is made.
        """
        name = name_of(self.module, value) if isinstance(value, ast.Call) else ""
        parts = mentions_of(self.names, value, self.home)
        if name not in COMPUTES | DRAWS or self.scope.towers is not None:
            return False
        if any(isinstance(self.meanings.get(part.id), GRAPH) for part in parts):
            return False
        mentions = self.names.mentions(target.id, self.home)
        taken = [one for one in mentions if isinstance(one.ctx, ast.Load)]
        if not taken or len(mentions) != len(taken) + 1:
            return False
        if not all(self._is_first_value(one) for one in taken):
            return False
        self.found.builders.update(self.expressions.read(value, stays=True).builders)
        return True

    def _is_first_value(self, name: ast.Name) -> bool:
        """Whether a mention is what a variable is made of, in the scope that builds."""
        if not self.runs.is_home(name):
            return False
        call = self.names.taker(name)
        row = VARIABLES.by_name.get(name_of(self.module, call)) if call is not None else None
        if row is None or call is None:
            return False
        given = NamedArguments(self.module, call, row.signature).rest
        return name in (given.get("initial_value"), given.get("initializer"))

    def global_step(self, statement: ast.Assign, target: ast.Name, call: ast.Call) -> Role:
        """`step = tf.train.get_or_create_global_step()`: a variable that counts from zero."""
        if any(made.kind in COUNTERS for made in self.found.made):
            text = "TF1's global step is requested twice"
            raise Refused(self.module, call, text, "keep it in one variable")
        self.state.only_binding(target)
        made = Operation(name_of(self.module, call), self.module, call, {})
        self.found.made.append(made)
        found = Variables(target.id, statement, Collected.ONE, (made,), False)
        self.found.variables.append(found)
        self.meanings[target.id] = found
        return Role.VARIABLES

    def listed(self, node: ast.expr) -> tuple[Variables, ...]:
        """The variables of a list of them; none where it has something else."""
        if not isinstance(node, (ast.List, ast.Tuple)):
            return ()
        found = [
            self.meanings.get(part.id) if isinstance(part, ast.Name) else self._item(part)
            for part in node.elts
        ]
        known = [v for v in found if isinstance(v, Variables) and v.collected is Collected.ONE]
        return tuple(known) if len(known) == len(found) else ()

    def _item(self, node: ast.expr) -> Variables | None:
        """`weights["out"]`, of a dictionary or a list of variables that is written out."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            return None
        whole, key = self.meanings.get(node.value.id), constant(node.slice)
        if not isinstance(whole, Variables) or not isinstance(whole.unit, ast.Assign):
            return None
        value = whole.unit.value
        keys: list[object] = []
        if isinstance(value, ast.Dict):
            keys = [None if one is None else constant(one) for one in value.keys]
        elif isinstance(value, (ast.List, ast.Tuple)):
            keys = list(range(len(value.elts)))
        if keys.count(key) != 1 or len(keys) != len(whole.made):
            return None
        if (whole, key) not in self._items:
            name, made = self.module.source.code(node), (whole.made[keys.index(key)],)
            self._items[whole, key] = Variables(
                name, whole.unit, Collected.ONE, made, whole.trainable, (), whole, key
            )
        return self._items[whole, key]

    def told(self, node: ast.expr) -> tuple[Variables, ...]:
        """The variables that an expression is a list of, or lists of them; none if it is not."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.told(node.left), self.told(node.right)
            return (*left, *right) if left and right else ()
        collected = Collected.ITEMS
        if isinstance(node, ast.Call) and not node.keywords:
            if self.names.qualname(node.func) == "builtins.list" and len(node.args) == 1:
                return self.told(node.args[0])
            if not isinstance(node.func, ast.Attribute) or node.func.attr != "values":
                return ()
            node, collected = node.func.value, Collected.VALUES
        meaning = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(meaning, Variables) and (meaning.listed or meaning.collected is collected):
            return (meaning,)
        return self.listed(node)

    def read(self, statement: ast.Assign, target: ast.Name, value: ast.expr) -> Role:
        collected, parts = Collected.ONE, [value]
        if isinstance(value, ast.Dict):
            collected, parts = Collected.VALUES, value.values
        elif isinstance(value, (ast.List, ast.Tuple)):
            collected, parts = Collected.ITEMS, value.elts
        made: list[Operation] = []
        trainable = True
        for part in parts:
            operation, trainable = self.one(part, len(parts) > 1)
            made.append(operation)
        self.state.only_binding(target)
        known = self._initializers | self._sizes(value)
        self.state.host_only(value, "the first value of a variable", known)
        found = Variables(target.id, statement, collected, tuple(made), trainable)
        self.found.variables.append(found)
        self.meanings[target.id] = found
        return Role.VARIABLES

    def one(self, node: ast.expr, among_others: bool) -> tuple[Operation, bool]:
        """A variable, and whether it is trained; one ``among_others`` has to be.

        Raises:
            Refused: it is made in another way.
        """
        made = self._variable(node)
        given = made.arguments.get("trainable")
        known = True if given is None or is_type(given, made) else constant(given)
        if not isinstance(known, bool) or (among_others and not known):
            text = "whether it is trained cannot be determined"
            raise Refused(self.module, given or node, text)
        return made, known

    def _sizes(self, value: ast.expr) -> set[ast.AST]:
        """The mentions of what Python knows of tensors' shapes, `dim = x.get_shape()[1].value`."""
        found: set[ast.AST] = set()
        for name in mentions_of(self.names, value, self.home):
            unit = self.meanings.get(name.id)
            if isinstance(unit, Unit) and self._is_size(unit):
                found.add(name)
                for one in closure([unit]):
                    if self._is_size(one) and one not in self.found.sizes:
                        self.found.sizes.append(one)
        return found

    def _is_size(self, unit: Unit) -> bool:
        """Whether a unit takes nothing of tensors but their shapes, which Python knows."""
        node = unit.node
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            return False
        if any(name_of(self.module, part) for part in walk(node.value)):
            return False
        sizes = {name for one in unit.after if self._is_size(one) for name in given_by(one)}
        return all(
            name.id in sizes
            or (isinstance(around, ast.Attribute) and around.attr in ("shape", "get_shape"))
            for name in mentions_of(self.names, node.value, self.home)
            if isinstance(self.meanings.get(name.id), GRAPH)
            for around in [self.names.parents.get(name)]
        )

    def _variable(self, node: ast.expr) -> Operation:
        """One variable, or the call of a function that makes it and nothing else.

        Raises:
            Refused: it is made in another way.
        """
        if not isinstance(node, ast.Call):
            raise Refused(
                self.module, node, "it cannot be determined which variables are made here"
            )
        row = VARIABLES.by_name.get(name_of(self.module, node))
        if row is not None:
            return self._operation(node, self.module)
        target = self.graph.target(self.module, node.func)
        ours = target is not None and target.module in {self.module, *self.state.beside}
        if self.graph.class_of(self.module, node.func) is not None:
            raise unknown_call(self.module, node, self.graph)
        if target is None or not ours or target.owner is not None:
            text = f"`{self.module.source.code(node.func)}` does more than make a variable"
            raise Refused(self.module, node, text)
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise Refused(self.module, node, "its arguments come from `*`", "write them out")
        return self.maker(target)

    def maker(self, target: Function) -> Operation:
        """The variable that a function makes, which does nothing else.

        Raises:
            Refused: it does more.
        """
        function = target.node
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            raise Refused(target.module, function, f"`{target.name}` is not a plain function")
        calls = self._returned_variables(target, function)
        self.found.makers[function] = target
        operation, *others = [self._operation(call, target.module) for call in calls]
        for other in others:
            if not self._is_alike(operation, other):
                text = f"`{target.name}` makes variables of different kinds or names"
                raise Refused(
                    target.module, other.node, text, "give each kind a function of its own"
                )
        for name in (n for n in walk(function) if isinstance(n, ast.Name)):
            if target.module is self.module:
                self.state.global_of_graph(name)
        return operation

    def _returned_variables(self, target: Function, function: ast.FunctionDef) -> list[ast.Call]:
        """The calls of a function that make its variable, one on each way through it.

        The function stays: what else it computes, it computes once, where it is called.

        Raises:
            Refused: it makes none or several on one way, or does something else.
        """
        text = f"`{target.name}` does more than make a variable"
        module = target.module
        calls = [
            call
            for call in walk(function)
            if isinstance(call, ast.Call) and name_of(module, call) in VARIABLES.by_name
        ]
        held: set[str] = set()
        others: set[str] = set()
        given: list[ast.expr | None] = []
        for statement in statements_of(function.body):
            if isinstance(statement, ast.Return):
                given.append(statement.value)
            elif isinstance(statement, ast.Assign) and isinstance(
                statement.targets[0], (ast.Name, ast.Tuple)
            ):
                names = {
                    part.id
                    for one in statement.targets
                    for part in walk(one)
                    if isinstance(part, ast.Name)
                }
                (held if statement.value in calls else others).update(names)
            elif not isinstance(statement, (ast.If, ast.Raise, ast.Pass)) and not (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            ):
                raise Refused(module, statement, text)
            for expression in expressions_of(statement):
                if expression not in calls and not _is_initializer(module, expression):
                    parts = self._of(module).read(expression, stays=True)
                    self.found.builders.update(parts.builders)
        for value in given:
            is_held = isinstance(value, ast.Name) and value.id in held - others
            if value not in calls and not is_held:
                raise Refused(module, value or function, text)
        if not given or _most(function.body, calls) != 1:
            raise Refused(module, function, text)
        return calls

    def _of(self, module: Module) -> Expressions:
        return self.expressions.of_module(module)

    def _is_alike(self, one: Operation, other: Operation) -> bool:
        """Whether two variables have the same kind, name, and place in training."""
        facts = [
            [
                ast.dump(operation.arguments[key]) if key in operation.arguments else None
                for key in ("name", "trainable", "dtype")
            ]
            for operation in (one, other)
        ]
        return one.kind == other.kind and facts[0] == facts[1]

    def _operation(self, call: ast.Call, module: Module) -> Operation:
        """A variable with arguments that mean the same in TF2.

        Raises:
            Refused: it has others.
        """
        for operation in self.found.made:
            if operation.node is call:
                return operation
        name = name_of(module, call)
        if name == "get_variable":
            self.state.makes_anew(call)
        row = VARIABLES.by_name[name]
        if len(call.args) > (2 if name == "Variable" else 4):
            raise Refused(module, call, "this variable has many arguments", "name them")
        given = NamedArguments(module, call, row.signature).rest
        allowed = {"name", "dtype", "trainable", "initial_value", "shape", "initializer"}
        for key, value in given.items():
            default = is_none(value) or (key == "validate_shape" and constant(value) is True)
            if key == "regularizer" and not self.state.layers.regularized:
                continue  # nothing asks for its term
            if key not in allowed and not default:
                text = f"`{key}` of a variable is not supported in a native program"
                raise Refused(module, value, text)
        dtype = given.get("dtype")
        if name == "get_variable":
            kind = "float32" if dtype is None else name_of(module, dtype)
            if isinstance(dtype, ast.IfExp):  # `tf.float16 if FLAGS.use_fp16 else tf.float32`
                arms = {name_of(module, arm) for arm in (dtype.body, dtype.orelse)}
                kind = "float32" if arms <= {"float16", "float32"} else ""
            counts = kind in ("int32", "int64") and constant(given.get("trainable")) is False
            if dtype is not None and kind != "float32" and not counts:
                raise Refused(module, dtype, "`get_variable` with a type of its own")
            if "initializer" not in given and "shape" not in given:
                raise Refused(module, call, "`get_variable` with neither shape nor value")
            given = {**given, **self._named_initializer(given.get("initializer"))}
        elif "initial_value" not in given or "shape" in given:
            raise Refused(module, call, "the initial value of this variable cannot be determined")
        else:
            given = {**given, **self._called_initializer(given["initial_value"], module)}
        made = Operation(name, module, call, given)
        self.found.made.append(made)
        entry = self.scope.entries[self.place]
        # Not in a function of its own:
        if module is self.module and is_inside(module, call, {entry.statement}):
            kinds = (
                ("variable_scope",) if name == "get_variable" else ("name_scope", "variable_scope")
            )
            parts = [scope for kind, scope in entry.scopes if kind in kinds and scope]
            self.found.scopes[call] = "".join(f"{part}/" for part in parts)
        self._first_value(given, module)
        return made

    def _named_initializer(self, node: ast.expr | None) -> dict[str, ast.expr]:
        """The initializer that a name of the scope stands for: each variable gets its own."""
        call = self._named(node)
        if node is None or call is None:
            return {}
        self._initializers.add(node)
        return {"initializer": call}

    def _named(self, node: ast.expr | None) -> ast.Call | None:
        """The initializer that a name of the scope stands for."""
        if not isinstance(node, ast.Name) or not self.runs.is_home(node):
            return None
        meaning = self.meanings.get(node.id)
        return meaning.call if isinstance(meaning, NamedInitializer) else None

    def _called_initializer(self, value: ast.expr, module: Module) -> dict[str, ast.expr]:
        """`initializer([3, 4])`: what an initializer gives for a shape, as it and the shape."""
        if not isinstance(value, ast.Call) or len(value.args) + len(value.keywords) != 1:
            return {}
        shape = value.args[0] if value.args else value.keywords[0].value
        plain = bool(value.args) or value.keywords[0].arg == "shape"
        if not plain or isinstance(shape, ast.Starred):
            return {}
        initializer: ast.expr | None = value.func
        if isinstance(initializer, ast.Name):
            initializer = self._named(initializer) if module is self.module else None
        name = name_of(module, initializer) if initializer is not None else ""
        if not isinstance(initializer, ast.Call) or name not in INITIALIZERS.by_name:
            return {}
        given = NamedArguments(module, initializer, INITIALIZERS.by_name[name].signature).rest
        dtype = given.get("dtype")
        if not name.endswith("_initializer") or not (
            dtype is None or name_of(module, dtype) == "float32"
        ):
            return {}  # Keras's are told the type where they are called
        self._initializers.add(value.func)
        return {"initializer": initializer, "shape": shape}

    def _first_value(self, given: dict[str, ast.expr], module: Module) -> None:
        """Its first value is computed where it stands, by functions that only compute."""
        value = given.get("initial_value")
        if "initializer" in given and value is not None:
            value = given["shape"]
        if value is not None:
            if isinstance(value, ast.Lambda):
                raise Refused(module, value, "the initial value of this variable is a function")
            self.found.builders.update(self._of(module).read(value, stays=True).builders)


def is_type(node: ast.expr, made: Operation) -> bool:
    """`tf.Variable([0.3], tf.float32)`: a type where TF1 is told whether it trains, which is so."""
    return made.kind == "Variable" and name_of(made.module, node) in _TYPES


def _is_initializer(module: Module, node: ast.expr) -> bool:
    """Whether an expression makes an initializer."""
    return isinstance(node, ast.Call) and name_of(module, node) in INITIALIZERS.by_name


def _most(body: list[ast.stmt], calls: list[ast.Call]) -> int:
    """How many of the calls the longest way through statements makes."""
    if not body:
        return 0
    first, rest = body[0], body[1:]
    if isinstance(first, ast.If):
        return max(_most([*first.body, *rest], calls), _most([*first.orelse, *rest], calls))
    own = sum(part in calls for part in walk(first) if isinstance(part, ast.Call))
    return own if isinstance(first, (ast.Return, ast.Raise)) else own + _most(rest, calls)
