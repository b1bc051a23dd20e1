"""What a model_fn does besides network, loss, optimizer and metrics: none is lost in silence."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.dataflow import stored
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import Note
from migrate_mgpu.analysis.idioms import is_showing
from migrate_mgpu.analysis.modes import EVAL, MODES, PREDICT, TRAIN
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.api.hooks import IDLE_HOOKS, LOGGING_HOOKS
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.network.summaries import LEFT_OUT, is_summary, writes_summary
from migrate_mgpu.models.ir import Objective, Training

# Calls that have no effect of their own.
_HARMLESS = (
    "get_collection", "train.get_global_step", "train.get_or_create_global_step", "identity",
    "train.LoggingTensorHook", "train.StepCounterHook", "train.SummarySaverHook",
    "train.ProfilerHook", "train.NanTensorHook", "train.StopAtStepHook", "logging.info",
    "logging.debug",
    "logging.warn", "logging.warning", "trainable_variables", "global_variables",
)  # fmt: skip
# Calls in a message that only tell.
_TELLING = {"format", "get_shape", "as_list", "join", "str", "repr", "len", "list", "type"}
_HOOKS = {
    TRAIN: ("training_hooks", "training_chief_hooks"),
    EVAL: ("evaluation_hooks",),
    PREDICT: ("prediction_hooks",),
}


@record()
class Residue:
    """What a Keras program does without: remarks on it, and the summaries among it."""

    notes: list[Note] = field(default_factory=list)
    summaries: list[tuple[Module, ast.AST]] = field(default_factory=list)


def check_residue(
    reading: Reading,
    network: set[ast.stmt],
    loss: Objective,
    training: Training,
    compiled: list[ast.stmt],
    graph: CallGraph,
) -> Residue:
    """The statements that the Keras program does without.

    Raises:
        Refused: a statement has an effect that would be lost.
    """
    known = {*network, *loss.units, *loss.terms, *training.gone, *compiled}
    if loss.unit is not None:
        known.add(loss.unit)
    for mode in MODES:
        if mode in reading.specs:
            known |= _of_spec(reading, mode)
    found = Residue()
    seen: set[ast.stmt] = set()
    for mode in MODES:
        for unit in reading.paths[mode].units:
            if unit in known or unit in seen or _is_docstring(unit):
                continue
            seen.add(unit)
            for statement in _simple(unit):
                note = _message(reading, statement)
                if not note and _is_summary(reading.module, statement, graph):
                    note = LEFT_OUT
                    found.summaries.append((reading.module, statement))
                note = note or _leave(reading, statement)
                if note:
                    found.notes.append(Note(reading.module, statement, note))
    found.notes += _arguments(reading)
    return found


def _simple(unit: ast.stmt) -> Iterator[ast.stmt]:
    """A statement, or those that stand in it: what a function does, it does where it is called."""
    inside = ast.iter_child_nodes(unit)
    parts = [unit, *(part for part in inside if isinstance(part, ast.ExceptHandler))]
    members = [s for part in parts for s in ast.iter_child_nodes(part) if isinstance(s, ast.stmt)]
    if isinstance(unit, (ast.FunctionDef, ast.ClassDef)) or not members:
        yield unit
        return
    for member in members:
        yield from _simple(member)


def _of_spec(reading: Reading, mode: str) -> set[ast.stmt]:
    """Statements behind the predictions and metrics of a mode, and the spec's own."""
    spec, flow = reading.specs[mode], reading.flows[mode]
    nodes = [
        value
        for name, value in spec.arguments.items()
        if name in ("predictions", "eval_metric_ops", "export_outputs", "loss", "train_op")
    ]
    nodes += [keyword.value for keyword in spec.call.keywords if keyword.arg is None]
    found = flow.slice(nodes, spec.unit)
    if spec.unit is not None:
        found.add(spec.unit)
    result = reading.paths[mode].result
    if result is not None:
        found |= {
            s
            for n in ast.walk(result)
            if isinstance(n, ast.Name)
            for s in flow.definitions(n.id, None)
        }
    return found


def _is_summary(module: Module, unit: ast.stmt, graph: CallGraph) -> bool:
    """Whether a statement writes summaries."""
    return any(is_summary(module, n) for n in ast.walk(unit) if isinstance(n, ast.Call)) or (
        writes_summary(module, unit, graph)
    )


def _leave(reading: Reading, unit: ast.stmt) -> str:
    """What is said of a statement that goes away; empty where nothing is lost."""
    module = reading.module
    outside = _changed_outside(module, unit)
    if outside is not None:
        text = f"`{module.source.code(outside)}` is changed in model_fn, which is not its own"
        raise Refused(module, outside, text, "change it where the Estimator is made")
    calls = [node for node in ast.walk(unit) if isinstance(node, ast.Call)]
    for call in calls:
        found = symbol(module.names.qualname(call.func))
        if found is None and isinstance(unit, ast.Expr):
            raise Refused(
                module,
                call,
                "a statement of model_fn belongs to none of network, loss, optimizer and metrics",
                "move it out of model_fn",
            )
        if found is not None and isinstance(unit, ast.Expr) and found.name not in _HARMLESS:
            text = f"`tf.{found.name}` in model_fn cannot be analyzed"
            raise Refused(module, call, text, "move it out of model_fn")
    if isinstance(unit, ast.Assign) and calls:
        found = symbol(module.names.qualname(calls[0].func))
        if found is not None and found.name in _HARMLESS:
            return ""
        return "nothing uses this value; it is left out"
    return ""


def _changed_outside(module: Module, unit: ast.stmt) -> ast.expr | None:
    """An item or attribute of something that is not the function's own, which gets a value.

    `os.environ["CUDA_VISIBLE_DEVICES"] = "2"`, `SETTINGS["built"] = True`.
    """
    targets = unit.targets if isinstance(unit, ast.Assign) else ()
    targets = [unit.target] if isinstance(unit, (ast.AugAssign, ast.AnnAssign)) else targets
    for target in (part for one in targets for part in ast.walk(one)):
        base = target
        while isinstance(base, (ast.Attribute, ast.Subscript)):
            base = base.value
        if base is target or not isinstance(target, (ast.Attribute, ast.Subscript)):
            continue
        if not isinstance(target.ctx, ast.Store):
            continue
        names = module.names
        home = (
            names.defining_scope(base.id, names.scope_at(unit))
            if isinstance(base, ast.Name)
            else None
        )
        if home is None or home.is_module:
            return target
    return None


def _message(reading: Reading, unit: ast.stmt) -> str:
    """What is said of a message for a person; empty for another statement.

    One that shows a tensor of the graph has nothing to show any more, and one that shows
    nothing but a text or the mode told that the graph was built. Others that print stay in
    the way: what they print may be a result.
    """
    outer = unit.value if isinstance(unit, ast.Expr) else None
    if not isinstance(outer, ast.Call):
        return ""
    module = reading.module
    for call in (c for c in ast.walk(outer) if isinstance(c, ast.Call) and c is not outer):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        name = call.func.id if isinstance(call.func, ast.Name) else name
        if name not in _TELLING:
            return ""
    if not _prints(module, outer.func):
        text = "this message is left out: the function runs once now, where no tensors are"
        return text if is_showing(module, outer) else ""
    shown = {name.id for name in ast.walk(outer) if isinstance(name, ast.Name)}
    tensors = {"features", "labels"}
    for mode in MODES:
        units = reading.paths[mode].units if mode in reading.specs else []
        tensors |= {name for one in units for name in stored(one)[0]}
    if shown & tensors:
        return "this print is left out: it showed a tensor of TF1's graph, of which there is none"
    if shown <= {"print", "mode"}:
        return "this print is left out: TF1 ran the function anew for each training and evaluation"
    return ""


def _prints(module: Module, node: ast.expr) -> bool:
    """Whether a name is Python's own `print`."""
    names = module.names
    named = isinstance(node, ast.Name) and node.id == "print"
    return named and names.defining_scope("print", names.scope_at(node)) is None


def _arguments(reading: Reading) -> list[Note]:
    """Arguments of EstimatorSpecs that Keras has no place for."""
    notes: list[Note] = []
    known_hooks = {**LOGGING_HOOKS, **IDLE_HOOKS}
    for mode in MODES:
        for name in _HOOKS[mode]:
            value, _ = reading.resolved(mode, name)
            if value is None:
                continue
            for hook in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
                made, _ = reading.flows[mode].resolve(hook, reading.specs[mode].unit)
                func = made.func if isinstance(made, ast.Call) else None
                known = tensorflow_name(reading.module, func) if func is not None else ""
                if known == "train.StopAtStepHook" and mode == TRAIN:
                    continue  # its number of steps is the training's
                if known not in known_hooks:
                    text = f"a hook in {name} cannot be analyzed"
                    raise Refused(reading.module, hook, text, "make it a Keras callback")
                shown = known.rpartition(".")[2]
                text = f"`{shown}` is left out: {known_hooks[known]}"
                notes.append(Note(reading.module, hook, text))
        scaffold = reading.argument(mode, "scaffold")
        if scaffold is not None:
            raise Refused(reading.module, scaffold, "the EstimatorSpec has a scaffold")
    exported = reading.argument(PREDICT, "export_outputs") or reading.argument(
        EVAL, "export_outputs"
    )
    if exported is not None:
        text = "export_outputs is left out: tf.saved_model.save asks for signatures itself"
        notes.append(Note(reading.module, exported, text))
    return notes


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
