"""Hooks of sessions: those that only log go, the program's own become callbacks."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.api.hooks import IDLE_HOOKS, LOGGING_HOOKS, REFUSED_HOOKS
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.inputs.lengths import Lengths
from migrate_mgpu.models.ir import TRAIN, Construction, DriverCall
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.models.keras.driver.early_stopping import EarlyStopping, not_better, stops_early
from migrate_mgpu.models.keras.driver.hook_classes import METHODS, HookClasses, is_super
from migrate_mgpu.models.keras.driver.hook_lookup import hook_class
from migrate_mgpu.source.statements import Layout

STOP = "train.StopAtStepHook"
ADVICE = "make it a tf.keras.callbacks.Callback, or take it out"


def name_of_hook(hook: Value) -> str:
    """TensorFlow's name of a hook that is made here; empty for another one."""
    node = hook.node
    return tensorflow_name(hook.module, node.func) if isinstance(node, ast.Call) else ""


@record()
class Callbacks:
    """What became of the hooks of a call: ``shown`` says whether any of them logged.

    ``texts`` are the callbacks in its place, ``variable`` a list that holds them already.
    ``counts``: one of them counts the batches since ``fit`` began.
    """

    shown: bool = False
    texts: list[str] = field(default_factory=list)
    variable: str = ""
    counts: bool = False

    def argument(self, before: Sequence[str] = ()) -> str:
        """The list for Keras's ``callbacks``, with others before it; empty where there are none."""
        if self.variable and not before:
            return self.variable
        own = [f"*{self.variable}"] if self.variable else self.texts
        found = [*before, *own]
        return f"[{', '.join(found)}]" if found else ""


class Hooks:
    """Takes the hooks of an Estimator's calls away, or makes callbacks of them."""

    def __init__(self, flow: EstimatorFlow, graph: CallGraph, changes: DriverEdits) -> None:
        self.values = ValueFlow(graph)
        self.changes = changes
        self.classes = HookClasses(graph, flow, changes)
        self.early = EarlyStopping(graph, changes)
        self.lengths = Lengths(graph)
        self._dropped: list[Value] = []
        self._kept: list[tuple[Value, ast.ClassDef, Module]] = []

    def read(self, call: DriverCall, spec: Construction | None, phase: str) -> Callbacks:
        """What becomes of the hooks of a call, or of the spec that it is given.

        ``phase`` is what Keras calls it: ``train``, ``test`` or ``predict``.

        Raises:
            Refused: a hook that neither logs nor is a class of the program's own.
        """
        module = spec.module if spec is not None else call.module
        arguments = spec.arguments if spec is not None else call.arguments
        for listener in [arguments[n] for n in ("saving_listeners",) if n in arguments]:
            if not _is_empty(listener):
                text = "a listener to the saving of checkpoints"
                raise Refused(module, listener, text, "call it after the training")
        node = arguments.get("hooks")
        if node is None:
            return Callbacks()
        found = Callbacks()
        kept: dict[ast.expr, Value] = {}
        dropped: list[Value] = []
        stops = spec is None and call.kind == TRAIN
        for hook in hooks_of(self.values, module, node):
            own = hook_class(self.classes.graph, hook.module, _class_of(hook.node))
            if own is None and stops_early(hook) and phase == "train":
                assert hook.node is not None
                found.counts |= self.early.convert(hook, call)
                kept[hook.node] = hook
                continue
            if own is None and not_better(hook) and phase == "train":
                assert hook.node is not None
                self.early.compare(hook, call)
                kept[hook.node] = hook
                continue
            if own is None:
                found.shown |= self._drop(hook, node, stops)
                dropped.append(hook)
                continue
            if phase == "predict":
                raise Refused(hook.module, node, "a hook for predicting", ADVICE)
            source = arguments.get("input_fn")
            endless = source is not None and self.lengths.endless(module, source)
            self.classes.convert(*own, phase, endless)
            assert hook.node is not None
            kept[hook.node] = hook
            self._kept.append((hook, own[1], own[0]))
        if not kept:
            self.changes.gone.add(node)
            self._forget(dropped)
            if isinstance(node, ast.Name):
                forget_value(self.changes, module, node)
            return found
        if spec is not None:
            _settled(module, node, spec)
        if isinstance(node, (ast.List, ast.Tuple)):
            for element in node.elts:
                origins = [
                    v.node for v in self.values.definitions(module, element) if not v.is_none
                ]
                if all(origin in kept for origin in origins) and origins:
                    found.texts.append(text_of(module, element))
                elif any(origin in kept for origin in origins):
                    raise Refused(
                        module, element, "which hook this is cannot be determined", ADVICE
                    )
                else:
                    self.changes.gone.add(element)
            self._forget(dropped)
        elif isinstance(node, ast.Name) and not dropped:
            found.variable = node.id
        else:
            raise Refused(module, node, "which hooks these are cannot be determined", ADVICE)
        return found

    def check(self) -> None:
        """Nothing else may be done with hooks, nor with the classes of those that are kept.

        Raises:
            Refused: the place where something is.
        """
        for hook in self._dropped:
            assert hook.node is not None
            statement = hook.module.names.statement(hook.node)
            if isinstance(statement, ast.Assign) and statement.value is hook.node:
                if statement not in self.changes.gone:
                    text = "this hook is used for more than an Estimator's"
                    raise Refused(hook.module, hook.node, text, ADVICE)
        made = {hook.node for hook, _, _ in self._kept}
        for hook, owner, module in self._kept:
            assert hook.node is not None
            for mention in self.values.uses(hook.module, hook.node):
                self._only_hooks(mention)
            for other, node in self.classes.mentions(module, owner):
                parent = other.names.parents[node]
                call = isinstance(parent, ast.Call) and parent.func is node
                if call and (parent in made or _in_hooks(other, parent)):
                    continue
                if is_super(parent):  # super(Hook, self)
                    continue
                text = f"{owner.name} is used for more than an Estimator's hook here"
                raise Refused(other, node, text, ADVICE)

    def _only_hooks(self, mention: Value) -> None:
        module, node = mention.module, mention.node
        assert node is not None
        parent = module.names.parents[node]
        if isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Load):
            if parent.attr not in METHODS:
                return
        if isinstance(parent, (ast.List, ast.Tuple, ast.Expr)) or _in_hooks(module, node):
            return
        raise Refused(module, node, "this hook is used for more than an Estimator's", ADVICE)

    def _drop(self, hook: Value, node: ast.expr, stops: bool) -> bool:
        """Takes a hook away that only logs, or ends the training; whether it logs."""
        left = {**LOGGING_HOOKS, **IDLE_HOOKS}
        call, name = hook.node, name_of_hook(hook)
        last = name.rpartition(".")[2]
        if last in REFUSED_HOOKS:
            text = f"`{last}` is not converted"
            raise Refused(hook.module, call or node, text, REFUSED_HOOKS[last])
        if name not in left and (name != STOP or not stops):
            text = "this hook may do more than log"
            raise Refused(hook.module, call or node, text, ADVICE)
        assert isinstance(call, ast.Call)
        self.changes.gone.add(call)
        if name != STOP:
            shown = name.rpartition(".")[2]
            self.changes.note(hook.module, call, f"`{shown}` is left out: {left[name]}")
        return name in LOGGING_HOOKS

    def _forget(self, dropped: list[Value]) -> None:
        """The variables of hooks that went."""
        self._dropped += dropped
        for hook in dropped:
            assert hook.node is not None
            statement = hook.module.names.statement(hook.node)
            if isinstance(statement, ast.Assign) and statement.value is hook.node:
                forget(self.changes, hook.module, statement)


def _class_of(node: ast.expr | None) -> ast.expr:
    """The class in `Hook(...)`."""
    return node.func if isinstance(node, ast.Call) else ast.Constant(None)


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.Tuple)) and not node.elts


def _in_hooks(module: Module, node: ast.AST) -> bool:
    """Whether an expression stands in a call's `hooks=`."""
    for parent in (node, *module.names.ancestors(node)):
        if isinstance(parent, ast.stmt):
            return False
        if isinstance(parent, ast.keyword) and parent.arg == "hooks":
            return True
    return False


def _settled(module: Module, node: ast.expr, spec: Construction) -> None:
    """The hooks of a spec are made where its training is now: their names must mean the same."""
    for name in ast.walk(node):
        if isinstance(name, ast.Name) and len(module.names.bindings_of(name)) > 1:
            text = f"`{name.id}` may be another one where the {spec.kind} is used"
            raise Refused(module, name, text, ADVICE)


def hooks_of(values: ValueFlow, module: Module, node: ast.expr) -> list[Value]:
    """Each hook of a list, or of a variable that holds one."""
    found: list[Value] = []
    for origin in values.definitions(module, node):
        if origin.is_none:
            continue
        assert origin.node is not None
        if isinstance(origin.node, (ast.List, ast.Tuple)):
            for element in origin.node.elts:
                found += values.definitions(origin.module, element)
        else:
            found.append(origin)
    if isinstance(node, ast.Name):
        home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
        for mention in module.names.mentions(node.id, home) if home is not None else ():
            parent = module.names.parents[mention]
            if isinstance(parent, (ast.Attribute, ast.AugAssign)):
                raise Refused(module, mention, "hooks are added to the list here")
    return found


def forget(changes: DriverEdits, module: Module, statement: ast.Assign) -> None:
    """Removes a statement whose variable only what is gone mentions, and what fed it alone."""
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or not _only_gone(changes, module, target):
        return
    layout = Layout(module.source, statement)
    if not layout.owns_lines or statement in changes.gone:
        return
    block = module.names.block(statement)
    changes.gone.add(statement)
    empty = all(other in changes.gone for other in block)
    changes.edit(module, layout.replace(["pass"] if empty else []))
    for name in ast.walk(statement.value):
        if isinstance(name, ast.Name):
            forget_value(changes, module, name)


def forget_value(changes: DriverEdits, module: Module, name: ast.Name) -> None:
    """The assignment of a variable that nothing needs any more, if its value does nothing else."""
    value = module.names.only_value(name)
    if value is None:
        return
    statement = module.names.statement(value)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        if not any(
            isinstance(part, ast.Call) and part not in changes.gone
            for part in ast.walk(statement.value)
        ):
            forget(changes, module, statement)


def _only_gone(changes: DriverEdits, module: Module, target: ast.Name) -> bool:
    names = module.names
    home = names.defining_scope(target.id, names.scope_of_name[target])
    assert home is not None
    for mention in names.mentions(target.id, home):
        if not isinstance(mention.ctx, ast.Load):
            continue
        chain = {mention, *names.ancestors(mention)}
        if not chain & changes.gone:
            return False
    return True
