"""An optimizer of the program's own: a class derived from `tf.train.Optimizer`.

It applies gradients itself: for each pair of a gradient and a variable it makes its slots by
`tf.get_variable`, computes and assigns.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import arguments_of, by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.rates import variation_of
from migrate_mgpu.models.ir import LearningRate, Optimizer, OwnOptimizer, Slot

_APPLY = ("self", "grads_and_vars", "global_step", "name")
_VARIABLE = ("name", "shape", "dtype", "initializer")
_ADVICE = "write it as a subclass of tf.keras.optimizers.Optimizer"
# What every Keras optimizer has of its own.
_KERAS = {
    "apply", "build", "built", "clipnorm", "clipvalue", "dtype", "ema_momentum", "get_config",
    "global_clipnorm", "iterations", "jit_compile", "loss_scale_factor", "momentum", "momentums",
    "name", "nesterov", "update_step", "use_ema", "variables", "weight_decay",
}  # fmt: skip


def is_own(module: Module, node: ast.ClassDef) -> bool:
    """Whether a class is derived from TF1's optimizers alone."""
    return len(node.bases) == 1 and name_of(module, node.bases[0]) == "train.Optimizer"


def own_class(
    module: Module, call: ast.Call, graph: CallGraph
) -> tuple[Module, ast.ClassDef] | None:
    """The optimizer's class of the run that a call makes an object of."""
    found = graph.class_of(module, call.func)
    return found if found is not None and is_own(*found) else None


def read_own(module: Module, call: ast.Call, graph: CallGraph) -> Optimizer | None:
    """The optimizer of the program's own that a call makes; None for any other call.

    Raises:
        Refused: it cannot be analyzed.
    """
    found = own_class(module, call, graph)
    if found is None:
        return None
    own = read_own_optimizer(*found)
    if not own.module.writable:
        raise Refused(module, call, f"`{own.node.name}` is made outside of the given paths")
    given = arguments_of(module, call, tuple(a.arg for a in own.init.args.args[1:]))
    rate = given.get(own.rate)
    return Optimizer(
        "own", module, call, given, LearningRate(rate, variation_of(module, rate)), own=own
    )


def elsewhere(optimizer: Optimizer, graph: CallGraph) -> Iterator[Refused]:
    """The other mentions of an own optimizer's class, as what keeps it from being Keras's."""
    own = optimizer.own
    for one in graph.references(Function(own.module, own.init)) if own is not None else ():
        assert own is not None
        if own.node not in one.module.names.ancestors(one.node) and one.call is not optimizer.node:
            text = "is an optimizer of the program's own that is used here as well"
            yield Refused(one.module, one.node, f"`{own.node.name}` {text}", _ADVICE)


def read_own_optimizer(module: Module, node: ast.ClassDef) -> OwnOptimizer:
    """What a class that ``is_own`` does.

    Raises:
        Refused: more than to make slots, to compute and to assign for each variable.
    """
    return _Reader(module, node).read()


class _Reader:
    def __init__(self, module: Module, node: ast.ClassDef) -> None:
        self.module = module
        self.node = node
        self.methods = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}

    def _refuse(self, node: ast.AST, text: str) -> Refused:
        return Refused(self.module, node, f"`{self.node.name}` {text}", _ADVICE)

    def read(self) -> OwnOptimizer:
        node = self.node
        plain = all(isinstance(s, ast.FunctionDef) or _is_text(s) for s in node.body)
        decorated = any(s.decorator_list for s in self.methods.values()) or node.decorator_list
        if not {"__init__", "apply_gradients"} <= {*self.methods} or not plain or decorated:
            raise self._refuse(node, "does more than to apply gradients itself")
        init, apply = self.methods["__init__"], self.methods["apply_gradients"]
        for name, method in self.methods.items():
            if name in _KERAS or name.startswith(("_apply", "_resource", "_create", "_prepare")):
                raise self._refuse(method, f"has a method `{name}`, which TF1 or Keras calls")
        rate, kept = self._constructor(init)
        loop = self._loop(apply)
        assert isinstance(loop.target, ast.Tuple)
        gradient, variable = (one.id for one in loop.target.elts if isinstance(one, ast.Name))
        slots, update, assigned = self._body(loop, gradient, variable)
        named = tuple(
            part
            for statement in update
            for part in walk(statement)
            if isinstance(part, ast.Attribute)
            and part.attr == "name"
            and isinstance(part.value, ast.Name)
            and part.value.id == variable
        )
        return OwnOptimizer(
            self.module, node, init, apply, loop, rate, kept, gradient, variable,
            tuple(slots), tuple(update), tuple(assigned),
            next(c for s in init.body if (c := _start(s)) is not None), named,
        )  # fmt: skip

    def _constructor(self, init: ast.FunctionDef) -> tuple[str, str]:
        """The parameter that is the learning rate, and the attribute that keeps it."""
        arguments = init.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs or arguments.kwonlyargs:
            raise self._refuse(init, "has a constructor that cannot be analyzed")
        parameters = [a.arg for a in arguments.args]
        rates: list[tuple[str, str]] = []
        started = False
        for statement in init.body:
            if _is_text(statement):
                continue
            if _start(statement) is not None and not started:
                started = True
                continue
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if not isinstance(target, ast.Attribute) or not _is_self(target.value):
                raise self._refuse(statement, "does more in its constructor than to keep settings")
            assert isinstance(statement, ast.Assign)
            value = statement.value
            if "learning_rate" in parameters and isinstance(value, ast.Name):
                if value.id == "learning_rate":
                    rates.append((value.id, target.attr))
                    continue
            if target.attr in _KERAS:
                raise self._refuse(target, f"keeps `{target.attr}`, which Keras's optimizers have")
        if not started or len(rates) != 1:
            raise self._refuse(init, "does not keep a learning rate in its constructor")
        return rates[0]

    def _loop(self, apply: ast.FunctionDef) -> ast.For:
        """`for (grad, param) in grads_and_vars:`, between a list and the group of it."""
        if tuple(a.arg for a in apply.args.args) != _APPLY:
            raise self._refuse(apply, "has an apply_gradients with other parameters")
        body = [s for s in apply.body if not _is_text(s)]
        loop = body[1] if len(body) == 3 else None
        first, last = (body[0], body[-1]) if body else (None, None)
        empty = isinstance(first, ast.Assign) and isinstance(first.value, ast.List)
        grouped = isinstance(last, ast.Return) and name_of(self.module, last.value) == "group"
        pairs = loop.iter if isinstance(loop, ast.For) else None
        over = isinstance(pairs, ast.Name) and pairs.id == "grads_and_vars"
        if not isinstance(loop, ast.For) or loop.orelse or not (empty and grouped and over):
            raise self._refuse(apply, "applies gradients in a way that cannot be analyzed")
        target = loop.target
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            raise self._refuse(loop, "applies gradients in a way that cannot be analyzed")
        if any(isinstance(n, ast.Name) and n.id == "global_step" for n in walk(apply)):
            raise self._refuse(apply, "counts the steps itself")
        if any(isinstance(n, (ast.Break, ast.Return)) for n in walk(loop)):
            raise self._refuse(loop, "leaves the loop over the variables")
        return loop

    def _body(
        self, loop: ast.For, gradient: str, variable: str
    ) -> tuple[list[Slot], list[ast.stmt], list[ast.Call]]:
        slots: list[Slot] = []
        update: list[ast.stmt] = []
        *body, last = loop.body
        for statement in body:
            if _skips_none(statement, gradient, variable):
                continue
            slot = self._slot(statement)
            if slot is not None:
                slots.append(slot)
                continue
            if any(isinstance(n, ast.Continue) for n in walk(statement)):
                raise self._refuse(statement, "leaves variables out")
            update.append(statement)
        assigned = list(self._assigned(last))
        targets = {variable, *(slot.name for slot in slots)}
        for call in assigned:
            function = call.func
            assert isinstance(function, ast.Attribute)
            known = isinstance(function.value, ast.Name) and function.value.id in targets
            plain = len(call.args) == 1 and not call.keywords
            read = {n.id for a in call.args for n in walk(a) if isinstance(n, ast.Name)}
            if function.attr != "assign" or not known or not plain or read & targets:
                raise self._refuse(call, "assigns in a way that cannot be analyzed")
        names = {slot.stem for slot in slots} | {slot.name for slot in slots}
        if not slots or len({slot.stem for slot in slots}) < len(slots) or names & _KERAS:
            raise self._refuse(loop, "has slots that cannot be analyzed")
        for part in (p for s in update for p in walk(s)):
            if isinstance(part, ast.Call) and name_of(self.module, part) in (
                "get_variable", "Variable", "assign", "assign_add", "assign_sub",
            ):  # fmt: skip
                raise self._refuse(part, "makes or assigns a variable beside its slots")
        return slots, _without_unread(update, assigned), assigned

    def _slot(self, statement: ast.stmt) -> Slot | None:
        """`m = tf.get_variable(name=param_name + "/m", shape=..., initializer=zeros)`."""
        call = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(call, ast.Call) or name_of(self.module, call) != "get_variable":
            return None
        assert isinstance(statement, ast.Assign)
        target = statement.targets[0]
        given = by_parameter(call, _VARIABLE)
        first, dtype = given.get("initializer"), given.get("dtype")
        zeros = name_of(self.module, first) == "zeros_initializer"
        known = {*given} <= {*_VARIABLE, "trainable"}
        trained = constant(given.get("trainable")) is not False
        other = dtype is not None and name_of(self.module, dtype) != "float32"
        if not isinstance(target, ast.Name) or not (zeros and known) or trained or other:
            raise self._refuse(call, "has a slot that does not begin at zero, or is trained")
        name = given.get("name")
        texts = [constant(n) for n in walk(name) if isinstance(n, ast.Constant)] if name else []
        stem = str(texts[-1]).rpartition("/")[2] if texts else ""
        return Slot(target.id, stem if stem.isidentifier() else target.id)

    def _assigned(self, statement: ast.stmt) -> Iterator[ast.Call]:
        """`assignments.extend([param.assign(next_param), ...])`."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        function = call.func if isinstance(call, ast.Call) else None
        listed = call.args[0] if isinstance(call, ast.Call) and len(call.args) == 1 else None
        extends = isinstance(function, ast.Attribute) and function.attr == "extend"
        if not extends or not isinstance(listed, (ast.List, ast.Tuple)):
            raise self._refuse(statement, "does not end in its assignments")
        for one in listed.elts:
            if not isinstance(one, ast.Call) or not isinstance(one.func, ast.Attribute):
                raise self._refuse(one, "assigns in a way that cannot be analyzed")
            yield one


def _start(statement: ast.stmt) -> ast.Call | None:
    """`super(DecayedAdam, self).__init__(False, name)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    if not isinstance(function, ast.Attribute) or function.attr != "__init__":
        return None
    made = function.value
    known = isinstance(made, ast.Call) and isinstance(made.func, ast.Name)
    assert isinstance(call, ast.Call)
    return call if known and ast.unparse(made).startswith("super(") else None


def _skips_none(statement: ast.stmt, gradient: str, variable: str) -> bool:
    """`if grad is None or param is None: continue`, which Keras does itself."""
    if not isinstance(statement, ast.If) or statement.orelse or len(statement.body) != 1:
        return False
    if not isinstance(statement.body[0], ast.Continue):
        return False
    test = statement.test
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    if isinstance(test, ast.BoolOp) and not isinstance(test.op, ast.Or):
        return False
    return all(
        isinstance(part, ast.Compare)
        and isinstance(part.left, ast.Name)
        and part.left.id in (gradient, variable)
        and isinstance(part.ops[0], ast.Is)
        and is_none(part.comparators[0])
        for part in parts
    )


def _without_unread(update: list[ast.stmt], assigned: list[ast.Call]) -> list[ast.stmt]:
    """Statements without those that give names to slots alone."""
    found = list(update)
    while True:
        read = {
            part.id
            for one in (*found, *assigned)
            for part in walk(one)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
        }
        stays = [
            one
            for one in found
            if not isinstance(one, ast.Assign)
            or not all(isinstance(target, ast.Name) for target in one.targets)
            or read & {target.id for target in one.targets if isinstance(target, ast.Name)}
        ]
        if len(stays) == len(found):
            return found
        found = stays


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
