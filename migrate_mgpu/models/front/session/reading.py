"""A program of one session, read statement by statement: what it builds, and what it runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.api.graph import INITIALIZES, SETTINGS
from migrate_mgpu.api.losses import LOSSES
from migrate_mgpu.api.optimizers import OPTIMIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.optimizers import read_optimizer
from migrate_mgpu.models.front.session.expressions import (
    Expressions,
    Parts,
    changed_in_place,
    shuffled,
)
from migrate_mgpu.models.front.session.gradients import GradientReader
from migrate_mgpu.models.front.session.program import (
    GRAPH,
    Every,
    Gradients,
    Holds,
    Host,
    Init,
    Meaning,
    Role,
    SessionProgram,
    closure,
)
from migrate_mgpu.models.front.session.runs import RunReader, mentions_of
from migrate_mgpu.models.front.session.scope import SessionScope, read_scope
from migrate_mgpu.models.ir import (
    Collected,
    GradientClip,
    Operation,
    Optimizer,
    Placeholder,
    Unit,
    Update,
    Variables,
    Variation,
)
from migrate_mgpu.models.properties import moves_same_rows

_PLACEHOLDER = ("dtype", "shape", "name")
_MINIMIZE = ("loss", "global_step", "var_list", "gate_gradients", "aggregation_method",
             "colocate_gradients_with_ops", "name", "grad_loss")  # fmt: skip
_MINIMIZED = {"loss", "global_step", "var_list", "name"}
_APPLY = ("grads_and_vars", "global_step", "name")
_KEEPS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Pass, ast.Global)


def read_program(
    module: Module, graph: CallGraph, configs: AbstractSet[ast.AST] = frozenset()
) -> SessionProgram:
    """What a module's session program does; ``configs`` are nodes that carry configurations.

    Raises:
        Refused: some statement is not understood.
    """
    return _Reader(module, graph, configs).read()


class _Reader:
    def __init__(self, module: Module, graph: CallGraph, configs: AbstractSet[ast.AST]) -> None:
        self.module = module
        self.graph = graph
        self.configs = configs
        self.names = module.names
        self.expressions = Expressions(module, graph)
        self.scope: SessionScope = read_scope(module)
        self.found = SessionProgram(self.scope)
        self.home = self.names.scopes[self.scope.node]
        self.meanings: dict[str, Meaning] = {}
        self.runs = RunReader(self.scope, self.found, self.meanings, self.unit)
        self.gradients = GradientReader(module, self.meanings, self._is_fixed)
        self.place = 0
        self._lists: list[Variables] = []

    def read(self) -> SessionProgram:
        node = self.scope.node
        if isinstance(node, ast.FunctionDef):
            if not self.graph.runs_once(self.module, self.scope.session):
                text = f"`{node.name}`, which builds the graph, may run more than once"
                raise Refused(self.module, node, text)
            for statement in ast.walk(node):
                if isinstance(statement, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom)):
                    raise Refused(self.module, statement, "variables of the graph may be global")
        for place, entry in enumerate(self.scope.entries):
            self.place = place
            self.found.roles.append(self._role(entry.statement, entry.opens))
        self.runs.finish()
        self._account()
        self._check_captures()
        return self.found

    # -- one statement ----------------------------------------------------------

    def _role(self, statement: ast.stmt, opens: bool) -> Role:
        if opens:
            return Role.GONE if statement in self.scope.blocks else Role.HOST
        if statement is self.scope.maker:
            return Role.GONE
        if isinstance(statement, _KEEPS):
            return Role.HOST
        if statement in self.configs or getattr(statement, "value", None) in self.configs:
            self._bind_host(statement)
            return Role.HOST
        if self._dictionary(statement):
            return self._host(statement)
        if self.runs.concerns(statement):
            return self._run(statement)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            role = self._assignment(statement, statement.targets[0])
            if role is not None:
                return role
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            if isinstance(self.meanings.get(statement.target.id), Unit):
                self.meanings[statement.target.id] = self.unit(statement, self.place)
                return Role.UNIT
        return self._host(statement)

    def _run(self, statement: ast.stmt) -> Role:
        role = self.runs.read(statement, self.place)
        if role is Role.RUN:
            self._bind_host(statement)
        return role

    def _host(self, statement: ast.stmt) -> Role:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            func = call.func
            if isinstance(func, ast.Attribute) and func.attr == "close" and not call.args:
                if isinstance(func.value, ast.Name) and func.value.id == self.scope.name:
                    return Role.GONE
            if name_of(self.module, call) == "reset_default_graph":
                if self.found.placeholders or self.found.variables or self.found.units:
                    raise Refused(self.module, statement, "the graph is begun anew")
                return Role.GONE
        known = self._dictionary(statement)
        for name in mentions_of(self.names, statement, self.home):
            meaning = self.meanings.get(name.id)
            if isinstance(meaning, GRAPH) and isinstance(name.ctx, ast.Load):
                if known and isinstance(meaning, Placeholder):
                    continue
                text = f"`{name.id}`, a part of the graph, is used outside of `Session.run`"
                raise Refused(self.module, name, text, "run it, and use its value")
            if name.id == self.scope.name and isinstance(name.ctx, ast.Load):
                text = "the session is used for more than running"
                raise Refused(self.module, name, text)
        self._settings(statement)
        self._bind_host(statement)
        return Role.HOST

    def _settings(self, statement: ast.AST) -> None:
        """What a statement of Python's own says to TensorFlow.

        Raises:
            Refused: it speaks of a graph.
        """
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                target = self.graph.target(self.module, node.func)
                if target is not None and self.expressions.speaks(target):
                    text = f"`{target.name}`, called here, has to do with the graph"
                    raise Refused(self.module, node, text)

    def _dictionary(self, statement: ast.stmt) -> bool:
        """Whether a statement makes a `feed_dict`."""
        return self.runs.is_dictionary(statement)

    def _bind_host(self, statement: ast.stmt) -> None:
        for name in mentions_of(self.names, statement, self.home):
            if isinstance(name.ctx, (ast.Store, ast.Del)):
                self.meanings[name.id] = Host()

    # -- assignments --------------------------------------------------------------

    def _assignment(self, statement: ast.Assign, target: ast.expr) -> Role | None:
        value = statement.value
        gradients = self.gradients.assigned(target, value)
        if gradients is not None:
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and name.id in gradients:
                    self._one_graph_name(name)
                elif isinstance(name, ast.Name):
                    self.meanings[name.id] = Host()
            self.meanings.update(gradients)
            return Role.GONE
        if isinstance(target, ast.Name) and isinstance(value, ast.Call):
            role = self._call(statement, target, value)
            if role is not None:
                return role
        if isinstance(target, ast.Name) and self._makes_variables(value):
            return self._variables(statement, target, value)
        listed = self._listed(value) if isinstance(target, ast.Name) else ()
        if listed and isinstance(target, ast.Name):
            self._only_binding(target)
            found = Variables(target.id, statement, Collected.ITEMS, (), True, listed)
            self.meanings[target.id] = found
            self._lists.append(found)
            return Role.VARIABLES
        if not self._is_graph(value):
            return None
        return self._unit(statement, target, value)

    def _call(self, statement: ast.Assign, target: ast.Name, call: ast.Call) -> Role | None:
        name = name_of(self.module, call)
        if name == "placeholder":
            given = NamedArguments(self.module, call, _PLACEHOLDER).rest
            if "dtype" not in given:
                raise Refused(self.module, call, "this placeholder has no type")
            self._only_binding(target)
            self._host_only(call, "the shape of a placeholder")
            made = Placeholder(name, self.module, call, given, target.id, statement)
            self.found.placeholders.append(made)
            self.found.made.append(made)
            self.meanings[target.id] = made
            return Role.PLACEHOLDER
        if name in INITIALIZES or (name == "group" and self._all_initialize(call)):
            self.meanings[target.id] = Init()
            return Role.GONE
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr == "minimize":
            return self._minimize(statement, target, call, func.value)
        if isinstance(func, ast.Attribute) and func.attr == "apply_gradients":
            return self._apply(statement, target, call, func.value)
        if name == "trainable_variables" and not call.args and not call.keywords:
            self._only_binding(target)
            self.meanings[target.id] = self._every()
            return Role.GONE
        if name in OPTIMIZERS.by_name or (name.startswith("train.") and name.endswith("Optimizer")):
            optimizer = self._optimizer(call)
            self._only_binding(target)
            self.meanings[target.id] = optimizer
            self.found.optimizers[target.id] = statement, optimizer
            return Role.OPTIMIZER
        return None

    def _all_initialize(self, call: ast.Call) -> bool:
        return bool(call.args) and all(
            name_of(self.module, argument) in INITIALIZES for argument in call.args
        )

    def _only_binding(self, target: ast.Name) -> None:
        if len(self.names.bindings_of(target)) != 1:
            text = f"`{target.id}` is given another value elsewhere"
            raise Refused(self.module, target, text, "give the two names of their own")

    def _host_only(self, node: ast.AST, what: str) -> None:
        for name in mentions_of(self.names, node, self.home):
            if isinstance(self.meanings.get(name.id), GRAPH):
                text = f"{what} depends on `{name.id}`, a part of the graph"
                raise Refused(self.module, name, text)

    # -- variables ----------------------------------------------------------------

    def _makes_variables(self, value: ast.expr) -> bool:
        for node in ast.walk(value):
            if isinstance(node, ast.Call):
                if name_of(self.module, node) in VARIABLES.by_name:
                    return True
                target = self.graph.target(self.module, node.func)
                if target is not None and target.module is self.module:
                    if self.expressions.makes(target):
                        return True
        return False

    def _listed(self, node: ast.expr) -> tuple[Variables, ...]:
        """The variables of a list of them; none where it has something else."""
        if not isinstance(node, (ast.List, ast.Tuple)):
            return ()
        found = [
            self.meanings.get(part.id) if isinstance(part, ast.Name) else None for part in node.elts
        ]
        known = [v for v in found if isinstance(v, Variables) and v.collected is Collected.ONE]
        return tuple(known) if len(known) == len(found) else ()

    def _variables(self, statement: ast.Assign, target: ast.Name, value: ast.expr) -> Role:
        collected, parts = Collected.ONE, [value]
        if isinstance(value, ast.Dict):
            collected, parts = Collected.VALUES, value.values
        elif isinstance(value, (ast.List, ast.Tuple)):
            collected, parts = Collected.ITEMS, value.elts
        made: list[Operation] = []
        trainable = True
        for part in parts:
            operation = self._variable(part)
            made.append(operation)
            given = operation.arguments.get("trainable")
            known = True if given is None else constant(given)
            if not isinstance(known, bool) or (len(parts) > 1 and not known):
                raise Refused(self.module, given or part, "whether it is trained cannot be told")
            trainable = known
        self._only_binding(target)
        self._host_only(value, "the first value of a variable")
        found = Variables(target.id, statement, collected, tuple(made), trainable)
        self.found.variables.append(found)
        self.meanings[target.id] = found
        return Role.VARIABLES

    def _variable(self, node: ast.expr) -> Operation:
        """One variable, or the call of a function that makes it and nothing else.

        Raises:
            Refused: it is made in another way.
        """
        if not isinstance(node, ast.Call):
            raise Refused(self.module, node, "it cannot be told which variables are made here")
        row = VARIABLES.by_name.get(name_of(self.module, node))
        if row is not None:
            return self._made(node)
        target = self.graph.target(self.module, node.func)
        if target is None or target.module is not self.module or target.owner is not None:
            text = f"`{self.module.source.code(node.func)}` does more than making a variable"
            raise Refused(self.module, node, text)
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise Refused(self.module, node, "its arguments come from `*`", "write them out")
        function = target.node
        body = function.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        last = body[-1] if body else None
        if not isinstance(function, ast.FunctionDef) or not isinstance(last, ast.Return):
            raise Refused(self.module, function, f"`{target.name}` is not a plain function")
        made: ast.expr | None = last.value
        inside = [
            call
            for call in ast.walk(function)
            if isinstance(call, ast.Call) and name_of(self.module, call) in VARIABLES.by_name
        ]
        text = f"`{target.name}` does more than making a variable"
        if len(inside) != 1:
            raise Refused(self.module, function, text)
        for statement in body[:-1]:
            if not isinstance(statement, ast.Assign) or not isinstance(
                statement.targets[0], ast.Name
            ):
                raise Refused(self.module, statement, text)
            if statement.value is inside[0]:
                if isinstance(made, ast.Name) and made.id == statement.targets[0].id:
                    made = inside[0]
        if made is not inside[0]:
            raise Refused(self.module, function, text)
        self.found.makers[function] = target
        operation = self._made(inside[0])
        for name in (n for n in ast.walk(function) if isinstance(n, ast.Name)):
            self._global_of_graph(name)
        return operation

    def _made(self, call: ast.Call) -> Operation:
        """A variable with arguments that mean the same in TF2.

        Raises:
            Refused: it has others.
        """
        for operation in self.found.made:
            if operation.node is call:
                return operation
        name = name_of(self.module, call)
        row = VARIABLES.by_name[name]
        if len(call.args) > (2 if name == "Variable" else 4):
            raise Refused(self.module, call, "this variable has many arguments", "name them")
        given = NamedArguments(self.module, call, row.signature).rest
        allowed = {"name", "dtype", "trainable", "initial_value", "shape", "initializer"}
        for key, value in given.items():
            if key not in allowed and not (isinstance(value, ast.Constant) and value.value is None):
                text = f"`{key}` of a variable is not understood in a native program"
                raise Refused(self.module, value, text)
        dtype = given.get("dtype")
        if name == "get_variable":
            if dtype is not None and name_of(self.module, dtype) != "float32":
                raise Refused(self.module, dtype, "`get_variable` with a type of its own")
            if "initializer" not in given and "shape" not in given:
                raise Refused(self.module, call, "`get_variable` with neither shape nor value")
        elif "initial_value" not in given or "shape" in given:
            raise Refused(self.module, call, "this variable's first value is not told")
        made = Operation(name, self.module, call, given)
        self.found.made.append(made)
        entry = self.scope.entries[self.place]
        if is_inside(self.module, call, {entry.statement}):  # not in a function of its own
            kinds = (
                ("variable_scope",) if name == "get_variable" else ("name_scope", "variable_scope")
            )
            parts = [scope for kind, scope in entry.scopes if kind in kinds]
            self.found.scopes[call] = "".join(f"{part}/" for part in parts)
        self._first_value(call, given)
        return made

    def _first_value(self, call: ast.Call, given: dict[str, ast.expr]) -> None:
        """Its first value is computed where it stands, by functions that only compute."""
        value = given.get("initial_value")
        if value is not None:
            if isinstance(value, ast.Lambda):
                raise Refused(self.module, value, "this variable's first value is a function")
            self.found.builders.update(self.expressions.read(value).builders)

    def _global_of_graph(self, name: ast.Name) -> None:
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        if home is self.home and isinstance(self.meanings.get(name.id), GRAPH):
            text = f"`{name.id}`, a part of the graph, is read inside of a function"
            raise Refused(self.module, name, text, "give it to the function as an argument")

    # -- optimizers -----------------------------------------------------------------

    def _optimizer(self, call: ast.Call) -> Optimizer:
        optimizer = read_optimizer(self.module, call)
        if optimizer is None:
            raise Refused(self.module, call, "this optimizer is not known")
        rate = optimizer.learning_rate
        for value in optimizer.arguments.values():
            if value is not rate.value or self._fed_rate(optimizer) is None:
                self._host_only(value, "the optimizer")
        if rate.variation is Variation.SCHEDULED or rate.schedule is not None:
            raise Refused(self.module, call, "its learning rate follows the steps")
        for value in optimizer.arguments.values():
            if self.expressions.builds(value):
                raise Refused(self.module, value, "a tensor is an argument of the optimizer")
        return optimizer

    def _fed_rate(self, optimizer: Optimizer) -> Placeholder | None:
        """The placeholder that is a learning rate."""
        value = optimizer.learning_rate.value
        found = self.meanings.get(value.id) if isinstance(value, ast.Name) else None
        if not isinstance(found, Placeholder):
            return None
        if optimizer.kind == "momentum":
            text = "its learning rate is fed: TF1's momentum differs from Keras's where it changes"
            raise Refused(self.module, value or optimizer.node, text)
        return found

    def _every(self) -> Every:
        return Every(tuple(v for v in self.found.variables if v.trainable))

    def _one_graph_name(self, name: ast.Name) -> None:
        """A name that gradients have may be another of theirs, and nothing else."""
        statements = [self.names.statement(b.node) for b in self.names.bindings_of(name)]
        own = {entry.statement for entry in self.scope.entries if not entry.opens}
        if not all(
            s in own and isinstance(s, ast.Assign) and _is_of_gradients(s.value) for s in statements
        ):
            text = f"`{name.id}` is given another value elsewhere"
            raise Refused(self.module, name, text, "give the two names of their own")

    def _is_fixed(self, node: ast.expr) -> bool:
        """Whether an expression is a number, or a name that is given one once."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._is_fixed(node.operand)
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
        if not isinstance(node, ast.Name):
            return False
        bindings = self.names.bindings_of(node)
        return len(bindings) == 1 and isinstance(constant(bindings[0].value), (int, float))

    def _of_step(self, call: ast.Call, made: ast.expr) -> tuple[Optimizer, str]:
        """The optimizer of a step, and its name if it has one."""
        name = ""
        if isinstance(made, ast.Name):
            optimizer, name = self.meanings.get(made.id), made.id
        elif isinstance(made, ast.Call):
            if name_of(self.module, made) not in OPTIMIZERS.by_name:
                raise Refused(self.module, made, "this optimizer is not known")
            optimizer = self._optimizer(made)
        else:
            optimizer = None
        if not isinstance(optimizer, Optimizer):
            raise Refused(self.module, call, "the optimizer of this step cannot be told")
        return optimizer, name

    def _apply(
        self, statement: ast.Assign, target: ast.Name, call: ast.Call, made: ast.expr
    ) -> Role:
        """`train = optimizer.apply_gradients(zip(gradients, variables))`"""
        given = NamedArguments(self.module, call, _APPLY).rest
        pairs = given.get("grads_and_vars")
        found = self.gradients.read(pairs) if pairs is not None else None
        if found is None or found.holds is not Holds.PAIRS:
            text = "what happens to the gradients before they are applied is not followed"
            raise Refused(self.module, pairs or call, text)
        optimizer, name = self._of_step(call, made)
        if found.optimizer not in ("", name):
            text = "these gradients are computed by another optimizer"
            raise Refused(self.module, call, text)
        more = {} if found.told is None else {"var_list": found.told}
        if "global_step" in given:
            more["global_step"] = given["global_step"]
        return self._update(
            statement, target, call, optimizer, name, {"loss": found.loss, **more}, found.clips
        )

    def _minimize(
        self, statement: ast.Assign, target: ast.Name, call: ast.Call, made: ast.expr
    ) -> Role:
        optimizer, name = self._of_step(call, made)
        given = NamedArguments(self.module, call, _MINIMIZE).rest
        for key, value in given.items():
            if key not in _MINIMIZED and not (
                isinstance(value, ast.Constant) and value.value is None
            ):
                raise Refused(self.module, value, f"`minimize` with `{key}`")
        return self._update(statement, target, call, optimizer, name, given, ())

    def _update(
        self,
        statement: ast.Assign,
        target: ast.Name,
        call: ast.Call,
        optimizer: Optimizer,
        name: str,
        given: Mapping[str, ast.expr],
        clips: tuple[GradientClip, ...],
    ) -> Role:
        loss = given.get("loss")
        if loss is None:
            raise Refused(self.module, call, "what is minimized is not told")
        if not isinstance(loss, ast.Name) or not isinstance(self.meanings.get(loss.id), Unit):
            unit = self.unit(loss, self.place)
        else:
            found = self.meanings[loss.id]
            assert isinstance(found, Unit)
            unit = found
        counts = self._counter(given.get("global_step"))
        self._only_binding(target)
        units = closure([unit])
        read = {v for u in units for one in u.reads for v in (one, *one.listed)}
        trained = tuple(v for v in self.found.variables if v in read and v.trainable)
        told = given.get("var_list")
        if told is not None and not (isinstance(told, ast.Constant) and told.value is None):
            every = self._all(told)
            if every is None:
                trained = self._told(told, read)
            elif not set(trained) <= set(every.variables):
                text = "variables that it is to train are made after they are listed"
                raise Refused(self.module, told, text)
        if not trained:
            raise Refused(self.module, call, "the loss depends on no variable")
        if any(u.name and u.optimizer is optimizer for u in self.found.updates):
            raise Refused(self.module, call, "one optimizer minimizes two losses")
        sparse = any(u.sparse for u in units)
        if sparse and clips:
            text = "a gradient that may be one of some rows of a table is clipped"
            raise Refused(self.module, call, text, "TF1 clips the rows before it adds them up")
        if sparse and not moves_same_rows(optimizer):
            text = "a gradient may be one of some rows of a table, and TF1 moves only those"
            raise Refused(self.module, call, text, "use Adam, Adagrad or gradient descent")
        if optimizer.kind != "gradient_descent" and self._may_be_double(units, trained):
            text = "its variables may be float64: TF1 rounds what an optimizer is given to float32"
            raise Refused(self.module, call, text, "make the variables and what is fed float32")
        rate = self._fed_rate(optimizer)
        update = Update(
            target.id,
            statement,
            optimizer,
            name,
            loss,
            unit,
            self.place,
            trained,
            counts,
            rate,
            sparse,
            clips,
        )
        self.found.updates.append(update)
        self.meanings[target.id] = update
        return Role.UPDATE

    def _may_be_double(self, units: list[Unit], trained: tuple[Variables, ...]) -> bool:
        """Whether a trained variable may be of float64.

        Operations take tensors of one type: with a float32 that is fed, all is float32, unless
        something says otherwise.
        """
        if any(use.symbol.name in ("float64", "double") for use in self.module.uses):
            return True
        fed = {p for unit in units for p in unit.feeds}
        types = [p.arguments["dtype"] for p in fed]
        if any(constant(t) in ("float64", "double") for t in types):
            return True
        if any(constant(t) in ("float", "float32") for t in types):
            return False
        if any(name_of(self.module, t) == "float32" for t in types):
            return False
        values = [o.arguments.get("initial_value") for v in trained for o in v.made]
        return any(
            (self.names.qualname(part) or "").startswith("numpy") or isinstance(part, ast.Name)
            for value in values
            if value is not None and not name_of(self.module, value)
            for part in ast.walk(value)
            if isinstance(part, (ast.Name, ast.Attribute))
        )

    def _all(self, node: ast.expr) -> Every | None:
        """`tf.trainable_variables()`, perhaps by a name."""
        if isinstance(node, ast.Call) and name_of(self.module, node) == "trainable_variables":
            return None if node.args or node.keywords else self._every()
        found = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
        return found if isinstance(found, Every) else None

    def _told(self, node: ast.expr, read: set[Variables]) -> tuple[Variables, ...]:
        """The variables that `minimize` is told to train.

        Raises:
            Refused: they are not seen, or the loss does not depend on one of them.
        """
        meaning = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(meaning, Variables) and meaning.listed:
            told: tuple[Variables, ...] = meaning.listed
            found: tuple[Variables, ...] = (meaning,)
        else:
            told = found = self._listed(node)
        if not found:
            text = "which variables are trained cannot be told"
            raise Refused(self.module, node, text, "make a list of their names")
        for variable in told:
            if variable not in read:
                text = f"the loss does not depend on `{variable.name}`, which it is to train"
                raise Refused(self.module, node, text)
        return found

    def _counter(self, node: ast.expr | None) -> Variables | None:
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return None
        found = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
        if (
            isinstance(found, Variables)
            and found.collected is Collected.ONE
            and not found.trainable
        ):
            return found
        raise Refused(self.module, node, "the global step is not a variable with a name")

    # -- units --------------------------------------------------------------------

    def _is_graph(self, value: ast.expr) -> bool:
        for name in mentions_of(self.names, value, self.home):
            if isinstance(self.meanings.get(name.id), GRAPH):
                return True
        for node in ast.walk(value):
            if isinstance(node, ast.Call):
                known = name_of(self.module, node)
                if known and not known.startswith(SETTINGS):
                    return True
                target = self.graph.target(self.module, node.func)
                if target is not None and self.expressions.speaks(target):
                    return True
        return False

    def _unit(self, statement: ast.Assign, target: ast.expr, value: ast.expr) -> Role:
        targets = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        if not all(isinstance(one, ast.Name) for one in targets):
            text = "a part of the graph is kept in something that is no variable"
            raise Refused(self.module, statement, text, "give it a name")
        unit = self.unit(statement, self.place)
        for one in targets:
            assert isinstance(one, ast.Name)
            self.meanings[one.id] = unit
        return Role.UNIT

    def unit(self, node: ast.stmt | ast.expr, place: int) -> Unit:
        """A statement or an expression that computes, with what it is made of.

        Raises:
            Refused: it does more.
        """
        value = value_of(node)
        parts = self.expressions.read(value)
        self.found.builders.update(parts.builders)
        after: list[Unit] = []
        feeds: list[Placeholder] = []
        reads: list[Variables] = []
        for name in parts.names:
            self._name(name, after, feeds, reads)
        self._drawn(parts)
        if isinstance(node, ast.AugAssign):
            assert isinstance(node.target, ast.Name)
            before = self.meanings[node.target.id]
            assert isinstance(before, Unit)
            after.append(before)
        unit = Unit(node, place, _unique(after), _unique(feeds), _unique(reads), parts.rows)
        self._labels(value, unit)
        if isinstance(node, ast.stmt):
            self.found.units[place] = unit
        return unit

    def _name(
        self,
        name: ast.Name,
        after: list[Unit],
        feeds: list[Placeholder],
        reads: list[Variables],
    ) -> None:
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        if home is not self.home:
            return
        meaning = self.meanings.get(name.id)
        inside = self._in_function(name)
        if isinstance(meaning, (Update, Optimizer, Gradients, Every, Init)):
            text = f"`{name.id}` is no value that can be computed with"
            raise Refused(self.module, name, text)
        if isinstance(meaning, (Unit, Placeholder)) and inside:
            self._global_of_graph(name)
        if isinstance(meaning, Unit):
            after.append(meaning)
        elif isinstance(meaning, Placeholder):
            feeds.append(meaning)
        elif isinstance(meaning, Variables):
            reads.append(meaning)
        if isinstance(meaning, GRAPH):
            parent = self.names.parents.get(name)
            if isinstance(parent, ast.Attribute) and parent.attr not in (
                "shape",
                "dtype",
                "get_shape",
            ):
                if not isinstance(meaning, Variables) or meaning.collected is Collected.ONE:
                    text = f"`{name.id}.{parent.attr}` of a part of the graph"
                    raise Refused(self.module, parent, text)

    def _in_function(self, name: ast.Name) -> bool:
        return self.names.scope_of_name[name].function() is not self.home.function()

    def _drawn(self, parts: Parts) -> None:
        for call in parts.draws:
            if any(keyword.arg == "seed" for keyword in call.keywords) or len(call.args) > 4:
                text = "a random operation with a seed of its own: TF1 has one stream for it"
                raise Refused(self.module, call, text)

    def _labels(self, value: ast.expr, unit: Unit) -> None:
        """TF1's first `softmax_cross_entropy_with_logits` sends no gradient into the labels."""
        for call in ast.walk(value):
            if not isinstance(call, ast.Call):
                continue
            name = name_of(self.module, call)
            row = LOSSES.by_name.get(name)
            if row is None or name == "nn.softmax_cross_entropy_with_logits_v2":
                continue
            if not name.endswith("softmax_cross_entropy_with_logits"):
                continue
            given = {k.arg: k.value for k in call.keywords}
            labels = given.get("labels")
            if labels is None:
                raise Refused(self.module, call, "its labels are not given by name")
            if labels is not None and self._is_trained(labels):
                text = "its labels depend on variables, and TF1 sends no gradient into them"
                raise Refused(self.module, labels, text, "wrap them in tf.stop_gradient")

    def _is_trained(self, node: ast.expr) -> bool:
        units = [
            meaning
            for name in mentions_of(self.names, node, self.home)
            if isinstance(meaning := self.meanings.get(name.id), (Unit, Variables))
        ]
        if any(isinstance(one, Variables) for one in units):
            return True
        found = closure([one for one in units if isinstance(one, Unit)])
        return any(unit.reads for unit in found)

    # -- the whole ------------------------------------------------------------------

    def _account(self) -> None:
        """Every mention of TensorFlow is one that this reader knows."""
        known: set[ast.AST] = {o.node for o in self.found.made}
        for entry, role in zip(self.scope.entries, self.found.roles):
            if role in (
                Role.PLACEHOLDER,
                Role.VARIABLES,
                Role.OPTIMIZER,
                Role.UPDATE,
                Role.UNIT,
            ) or (role is Role.GONE and not entry.opens):
                known.add(entry.statement)
        known |= self.configs
        known |= {item for block in self.scope.blocks for item in block.items}
        known |= set(self.found.builders) | set(self.found.makers)
        known |= {run.call for run in self.found.runs} | self.runs.gone
        for use in self.module.uses:
            if isinstance(use.node, (ast.Import, ast.ImportFrom)) or is_inside(
                self.module, use.node, known
            ):
                continue
            if use.symbol.name.startswith(SETTINGS) or not use.symbol.name:
                self.found.settings.append(use.node)
                continue
            shown = self.module.source.code(use.node)
            raise Refused(self.module, use.node, f"it is not known what `{shown}` is for here")
        self._check_functions()
        for function in (*self.found.builders.values(), *self.found.makers.values()):
            for reference in self.graph.references(function):
                inside = is_inside(self.module, reference.node, known)
                if reference.module is not self.module or not inside:
                    text = f"`{function.name}` is used outside of the graph as well"
                    raise Refused(reference.module, reference.node, text)
        run = {unit for step in self.found.steps for unit in step.units}
        self.found.idle += (u.node for u in self.found.units.values() if u not in run)
        if not self.found.updates:
            raise Refused(self.module, self.scope.session, "nothing is trained in its session")
        if not any(run.step.updates for run in self.found.runs):
            raise Refused(self.module, self.scope.session, "no step trains in its session")

    def _check_functions(self) -> None:
        """Functions that only the scope's own statements call know nothing of the graph."""
        own = {self.scope.name}
        for entry in self.scope.entries:
            if entry.statement in self._building:
                own |= {
                    name.id
                    for name in mentions_of(self.names, entry.statement, self.home)
                    if isinstance(name.ctx, ast.Store)
                }
        known = {*self.found.builders, *self.found.makers}
        for name in self.names.scope_of_name:
            if name.id not in own or not self._in_function(name):
                continue
            if self.names.defining_scope(name.id, self.names.scope_of_name[name]) is self.home:
                if not is_inside(self.module, name, known):
                    text = f"a function uses `{name.id}`, a part of the graph"
                    raise Refused(self.module, name, text)

    def _check_captures(self) -> None:
        """What units take from Python does not change between building and the first run."""
        units = [unit for step in self.found.steps for unit in step.units]
        for unit in _unique(units):
            value = value_of(unit.node)
            for name in self.expressions.read(value).names:
                home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
                if home is None or (home is self.home and self._is_of_graph(name.id)):
                    continue
                bindings = home.bindings[name.id]
                if len(bindings) != 1:
                    text = f"`{name.id}` changes, and the graph has one of its values"
                    raise Refused(self.module, name, text, "give each value a name of its own")
                if bindings[0].kind in ("import", "def", "class"):
                    continue
                around = self.scope.entries[unit.place].statement
                if isinstance(unit.node, ast.expr) and is_inside(
                    self.module, bindings[0].node, {around}
                ):
                    text = f"`{name.id}` has another value each time that this is built"
                    raise Refused(self.module, name, text, "build it before, and feed the value")
                changed = changed_in_place(self.module, name) or shuffled(self.module, name)
                if changed is not None:
                    text = f"`{name.id}` changes here, and the graph has what it was before"
                    raise Refused(self.module, changed, text, "copy it for the graph")

    def _is_of_graph(self, name: str) -> bool:
        """Whether a name of the scope stands for parts of the graph alone."""
        statements = {self.names.statement(b.node) for b in self.home.bindings[name]}
        return statements <= self._building

    @cached_property
    def _building(self) -> set[ast.stmt]:
        """The statements that make parts of the graph."""
        entries = zip(self.scope.entries, self.found.roles)
        return {
            entry.statement
            for entry, role in entries
            if role not in (Role.HOST, Role.RUN) and not entry.opens
        }


def value_of(node: ast.stmt | ast.expr) -> ast.expr:
    """The expression that a unit computes."""
    value = node.value if isinstance(node, (ast.Assign, ast.AugAssign)) else node
    assert isinstance(value, ast.expr)
    return value


def _unique(items: list) -> tuple:  # type: ignore[type-arg]
    return tuple(dict.fromkeys(items))


def _is_of_gradients(node: ast.expr) -> bool:
    """Whether an expression has the form of those that give gradients."""
    return isinstance(node, (ast.Call, ast.ListComp, ast.Subscript))
