"""Hooks of sessions: those that only log go, others stand in the way."""

from __future__ import annotations

import ast

from migrate_mgpu.engine.estimators.driving.drive import Drive
from migrate_mgpu.engine.estimators.facts.parts import tensorflow_name
from migrate_mgpu.engine.estimators.facts.signatures import bind
from migrate_mgpu.engine.estimators.facts.values import Value, Values
from migrate_mgpu.engine.estimators.text.context import rule
from migrate_mgpu.engine.estimators.types import Refused
from migrate_mgpu.engine.module import Module
from migrate_mgpu.engine.text import Layout

DRIVING = "MGPU408"
STOP = "train.StopAtStepHook"


def stopping(
    values: Values, module: Module, node: ast.expr | None
) -> tuple[str, Module, ast.expr] | None:
    """What a `StopAtStepHook` among the hooks says: ``steps`` or ``max_steps``, and how many.

    Raises:
        Refused: there are several.
    """
    found: list[tuple[str, Module, ast.expr]] = []
    if node is None:
        return None
    here = set(ast.walk(node))
    for hook in _hooks(values, module, node):
        if _name(hook) != STOP:
            continue
        assert isinstance(hook.node, ast.Call)
        given = bind(hook.module, hook.node, ("num_steps", "last_step"))
        if len(given) != 1 or found:
            text = "how many steps its StopAtStepHooks allow"
            raise Refused(hook.module, hook.node, text, "give train() its max_steps")
        kind, value = ("steps" if "num_steps" in given else "max_steps"), next(iter(given.values()))
        if kind == "steps" and hook.node not in here:
            text = "a StopAtStepHook that may stop a second training at once"
            raise Refused(hook.module, hook.node, text, "give train() its steps")
        found.append((kind, hook.module, value))
    return found[0] if found else None


def _name(hook: Value) -> str:
    """TensorFlow's name of a hook that is made here; empty for another one."""
    node = hook.node
    return tensorflow_name(hook.module, node.func) if isinstance(node, ast.Call) else ""


def drop_hooks(
    values: Values, drive: Drive, module: Module, node: ast.expr | None, stops: bool = False
) -> bool:
    """Drops the hooks of a call; whether there were any that log.

    ``stops``: one that ends the training may be among them, the call says it itself then.

    Raises:
        Refused: a hook that does more than log.
    """
    if node is None:
        return False
    logging: dict[str, str] = rule(DRIVING).LOGGING_HOOKS
    found = False
    for hook in _hooks(values, module, node):
        call, name = hook.node, _name(hook)
        if name not in logging and (name != STOP or not stops):
            raise Refused(
                hook.module,
                call or node,
                "this hook may do more than log",
                "make it a tf.keras.callbacks.Callback, or take it out",
            )
        assert isinstance(call, ast.Call)
        drive.gone.add(call)
        if name != STOP:
            found = True
            shown = name.rpartition(".")[2]
            drive.note(hook.module, call, f"`{shown}` is left out: {logging[name]}")
        statement = hook.module.names.statement(call)
        if isinstance(statement, ast.Assign) and statement.value is call:
            forget(drive, hook.module, statement)
    drive.gone.add(node)
    if isinstance(node, ast.Name):
        _forget_value(drive, module, node)
    return found


def _hooks(values: Values, module: Module, node: ast.expr) -> list[Value]:
    """Each hook of a list, or of a variable that holds one."""
    found: list[Value] = []
    for origin in values.origins(module, node):
        if origin.is_none:
            continue
        assert origin.node is not None
        if isinstance(origin.node, (ast.List, ast.Tuple)):
            for element in origin.node.elts:
                found += values.origins(origin.module, element)
        else:
            found.append(origin)
    if isinstance(node, ast.Name):
        home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
        for mention in module.names.mentions(node.id, home) if home is not None else ():
            parent = module.names.parents[mention]
            if isinstance(parent, (ast.Attribute, ast.AugAssign)):
                raise Refused(module, mention, "hooks are added to the list here")
    return found


def forget(drive: Drive, module: Module, statement: ast.Assign) -> None:
    """Removes a statement whose variable only what is gone mentions, and what fed it alone."""
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or not _only_gone(drive, module, target):
        return
    layout = Layout(module.source, statement)
    if not layout.owns_lines or statement in drive.gone:
        return
    block = module.names.block(statement)
    drive.gone.add(statement)
    empty = all(other in drive.gone for other in block)
    drive.edit(module, layout.replace(["pass"] if empty else []))
    for name in ast.walk(statement.value):
        if isinstance(name, ast.Name):
            _forget_value(drive, module, name)


def _forget_value(drive: Drive, module: Module, name: ast.Name) -> None:
    """The assignment of a variable that nothing needs any more, if its value does nothing else."""
    bindings = module.names.bindings_of(name)
    if len(bindings) != 1 or bindings[0].value is None:
        return
    statement = module.names.statement(bindings[0].node)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        if not any(
            isinstance(part, ast.Call) and part not in drive.gone
            for part in ast.walk(statement.value)
        ):
            forget(drive, module, statement)


def _only_gone(drive: Drive, module: Module, target: ast.Name) -> bool:
    names = module.names
    home = names.defining_scope(target.id, names.scope_of_name[target])
    assert home is not None
    for mention in names.mentions(target.id, home):
        if not isinstance(mention.ctx, ast.Load):
            continue
        chain = {mention, *names.ancestors(mention)}
        if not chain & drive.gone:
            return False
    return True
