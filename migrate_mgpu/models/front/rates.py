"""What is known of a learning rate: whether it changes, and whether its step is the global one."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.schedules import SCHEDULES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS
from migrate_mgpu.models.ir import Variation

_SAME = {"cast", "to_int32", "to_int64", "to_float", "identity"}
_PYTHON = {"float", "int", "min", "max", "abs", "round", "len", "sum", "pow", "sqrt"}


def is_global_step(module: Module, node: ast.expr | None) -> bool:
    """Whether an expression is the global step, perhaps cast to another type."""
    for _ in range(5):
        node = module.names.assigned(node)
        name = name_of(module, node)
        if name in COUNTERS:
            return True
        if name in _SAME and isinstance(node, ast.Call) and node.args:
            node = node.args[0]
            continue
        if isinstance(node, ast.Name):
            return _is_step_parameter(module, node)
        return False
    return False


def _is_step_parameter(module: Module, node: ast.Name) -> bool:
    """`def learning_rate_fn(global_step):`, perhaps with a cast of it to its own name."""
    if "step" not in node.id.lower() or node not in module.names.scope_of_name:
        return False
    bindings = module.names.bindings_of(node)
    others = [b for b in bindings if b.kind != "parameter"]
    return len(others) < len(bindings) and all(
        isinstance(b.value, ast.Call)
        and name_of(module, b.value) in _SAME
        and any(isinstance(a, ast.Name) and a.id == node.id for a in b.value.args)
        for b in others
    )


def variation_of(module: Module, node: ast.expr | None) -> Variation:
    """Whether a learning rate changes, as far as its module tells."""
    return _rate(module, node, frozenset())


def _rate(module: Module, node: ast.AST | None, seen: frozenset[str]) -> Variation:
    if node is None:
        return Variation.CONSTANT
    if isinstance(node, ast.Call):
        return _call(module, node, seen)
    if isinstance(node, ast.Name):
        if node not in module.names.scope_of_name:
            return Variation.UNKNOWN
        if node.id in seen:
            return Variation.CONSTANT  # `rate = rate * 2`: its other values decide
        seen = seen | {node.id}
        found = [
            Variation.CONSTANT if b.value is None else _rate(module, b.value, seen)
            for b in module.names.bindings_of(node)
            if b.kind in ("assign", "parameter", "other")
        ]
        return _worst(found)
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return Variation.CONSTANT  # params['learning_rate'], FLAGS.learning_rate
    return _worst(
        [
            _rate(module, child, seen)
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.expr)
        ]
    )


def _call(module: Module, call: ast.Call, seen: frozenset[str]) -> Variation:
    made = name_of(module, call)
    if made in SCHEDULES.by_name or "keras.optimizers.schedules" in made:
        return Variation.SCHEDULED
    if any(_mentions_step(module, a) for a in [*call.args, *(k.value for k in call.keywords)]):
        return Variation.SCHEDULED
    function = call.func
    name = module.names.qualname(function) or ""
    if name.startswith(("builtins.", "math.", "numpy.")) and name.rpartition(".")[2] in _PYTHON:
        return _worst([_rate(module, a, seen) for a in call.args])
    if isinstance(function, ast.Attribute) and function.attr in ("get", "pop"):
        return Variation.CONSTANT  # params.get('learning_rate', 0.1)
    if isinstance(function, ast.Name):
        own = [b.node for b in module.names.bindings_of(function) if b.kind == "def"]
        if own:
            return _worst([_of_function(module, node) for node in own])
    imported = [other.name for other in module.imported]
    root = name.split(".")[0]
    if root and root not in ("builtins", "tensorflow"):
        ours = any(name == other or name.startswith(f"{other}.") for other in imported)
        return Variation.UNKNOWN if ours else Variation.CONSTANT  # hvd.size()
    return Variation.UNKNOWN


def _of_function(module: Module, node: ast.AST) -> Variation:
    """What a function of the module returns, by what it asks for."""
    for part in walk(node):
        if isinstance(part, ast.Call) and name_of(module, part) in SCHEDULES.by_name:
            return Variation.SCHEDULED
        if isinstance(part, (ast.Name, ast.Call)) and is_global_step(module, part):
            return Variation.SCHEDULED
        if isinstance(part, ast.Call) and name_of(module, part):
            return Variation.UNKNOWN
    return Variation.CONSTANT


def _mentions_step(module: Module, node: ast.expr) -> bool:
    return any(
        isinstance(part, (ast.Name, ast.Call)) and is_global_step(module, part)
        for part in walk(node)
    )


def _worst(found: list[Variation]) -> Variation:
    for rate in (Variation.UNKNOWN, Variation.SCHEDULED):
        if rate in found:
            return rate
    return Variation.CONSTANT


# Calls that a schedule may be given to.
_TAKERS = ("summary.", "identity", "contrib.layers.optimize_loss", "logging.", "print", "Print")


def schedule_is_used(module: Module, call: ast.Call) -> None:
    """Checks that nobody calculates with a schedule: Keras's is an object, TF1's a tensor.

    Raises:
        Refused: somebody does.
    """
    _check_use(module, call)
    parent = module.names.parents[call]
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    for target in targets:
        if isinstance(target, ast.Name):
            home = module.names.defining_scope(target.id, module.names.scope_of_name[target])
            for mention in module.names.mentions(target.id, home) if home is not None else ():
                if isinstance(mention.ctx, ast.Load):
                    _check_use(module, mention)


def _check_use(module: Module, node: ast.expr) -> None:
    parent = module.names.parents[node]
    text = "TF1's learning rate is calculated with, a Keras schedule cannot be"
    advice = "make it a tf.keras.optimizers.schedules.LearningRateSchedule of your own"
    if isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign)):
        raise Refused(module, node, text, advice)
    if isinstance(parent, ast.keyword):
        parent = module.names.parents[parent]
    if isinstance(parent, ast.Call) and parent.func is not node:
        name = name_of(module, parent)
        if name and not name.startswith(_TAKERS) and not name.endswith("Optimizer"):
            raise Refused(module, node, text, advice)
