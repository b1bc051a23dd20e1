"""``model_dir``: a program that goes on where an earlier run stopped still does.

An Estimator restores the latest checkpoint of its folder before it trains, evaluates or
predicts, and saves one when training ends. In TF2 a ``tf.train.CheckpointManager`` does,
once the variables exist: Keras 3 restores nothing, and says nothing, into a model whose
layers have not been built.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import line_of
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.recurrent import STACK, cell_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.visibility import is_visible
from migrate_mgpu.models.front.network.network_classes import keeps_collections
from migrate_mgpu.models.ir import PREDICT, Checkpoints, DriverCall, Query
from migrate_mgpu.models.keras.canned.combined import also_built
from migrate_mgpu.models.keras.driver.checkpoint_insertion import (
    InsertionPoint,
    find_insertion_point,
    known,
)
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.models.keras.driver.setup import Setup
from migrate_mgpu.models.keras.inputs.inputs import MODES, Inputs
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.models.properties import row_of, strategies_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

# Settings of a RunConfig that are about checkpoints.
_SETTINGS = (
    "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
)  # fmt: skip


_UNTIMED = {
    "save_checkpoints_secs": "checkpoints are saved when a training ends, not after a time",
    "keep_checkpoint_every_n_hours": "`keep_checkpoint_every_n_hours` is left out",
}


@record()
class Manager:
    """The manager of a model's checkpoints, by the name that it gets."""

    name: str
    receiver: str
    callback: str = ""  # the variable of one that saves while `fit` trains, if that is wanted

    @property
    def save(self) -> str:
        """The statement that saves when a training ends, named by the step as TF1's were.

        A checkpoint of the same step that the callback saved is the same one then.
        """
        interval = ", check_interval=False" if self.callback else ""
        return f"{self.name}.save({self.receiver}.optimizer.iterations{interval})"


def write_checkpoints(
    flow: EstimatorFlow,
    checkpoints: Checkpoints,
    setup: Setup,
    model: ModelPlan,
    inputs: Inputs,
    changes: DriverEdits,
) -> Manager | None:
    """Writes what restores before the first use; None for a model without a folder.

    Raises:
        Refused: the folder, or what is done with the Estimator, lies elsewhere.
    """
    queries, calls = flow.driving.queries, flow.driving.calls
    if checkpoints.folder is None:
        for query in queries:
            if query.kind == "global_step":
                changes.edit(query.module, _step(query))
                changes.gone.add(query.node)
                continue
            raise Refused(
                query.module, query.node, f"`{query.kind}` of an Estimator without a model_dir",
                "give the Estimator a model_dir",
            )  # fmt: skip
        for name in _SETTINGS:
            for value in flow.config.values(name):
                changes.note(
                    value.module, value.node, f"`{name}` is left out: without a model_dir the "
                    "checkpoints of TF1 went to a temporary folder, in TF2 none are written",
                )  # fmt: skip
        return None
    module, node = checkpoints.folder.module, checkpoints.folder.node
    if not calls:
        for query in queries:
            text = f"`{query.kind}` of an Estimator that does nothing"
            raise Refused(query.module, query.node, text)
        return None
    if any(row_of(one).workers for one in strategies_of(flow.distribution.training)):
        raise Refused(
            module, node, "a model_dir under several workers: each would write the same files",
            "save on the first worker alone",
        )  # fmt: skip
    point = find_insertion_point(flow, setup)
    names, source = point.module.names, point.module.source
    scope = names.scope_at(point.statement)
    places = [call for call in calls if point.shows(call)]
    strategy, own = point.strategy, point.owner
    node = known(point, setup.values, checkpoints.folder, "model_dir")
    module = point.module
    tf = root(module, point.statement)
    first = min(calls, key=lambda call: (call.node.lineno, call.node.col_offset))
    receiver = point.receiver
    found = Manager(own + names.fresh(scope, "manager", "checkpoint_manager"), receiver)
    extra = ["max_to_keep=5"]
    keep, every = checkpoints.keep, checkpoints.every
    if keep is not None:
        extra = ["max_to_keep=None"]
        if constant(keep.node) != 0:
            limit = known(point, setup.values, keep, "keep_checkpoint_max")
            extra = [f"max_to_keep={text_of(module, limit)}"]
    if every is not None and any(call.trains for call in places):
        steps = known(point, setup.values, every, "save_checkpoints_steps")
        found.callback = own + names.fresh(scope, "saving", "saving_callback")
        extra += [f"step_counter={receiver}.optimizer.iterations",
                  f"checkpoint_interval={text_of(module, steps)}"]  # fmt: skip
    for name, text in _UNTIMED.items():
        for one in flow.config.values(name)[:1]:
            changes.note(one.module, one.node, text)
    # Whether the input function is known where the model is made, and that is in one place.
    at_once = _known(point, places) and not (
        flow.alternatives and point.statement is flow.statement
    )
    fixed = bool(own) or point.spread
    place = point.statement if fixed else _place(point, first)
    if fixed and not at_once:
        raise Refused(
            first.module, first.node,
            "what the Estimator is fed is not known where it is made, and it has a model_dir",
            "make the Estimator where it is used, or its input function a method or function",
        )  # fmt: skip
    _check_stacks(flow)
    indent = source.indent_of(point.statement if at_once else place)
    unit = source.indent_unit
    inner = indent + unit if strategy is not None else indent
    batch = _batch(flow, places, inputs, place, inner)
    checkpoint = own + names.fresh(scope, "checkpoint", "restored")
    step = unit if strategy is not None else ""
    lines = ["# The variables must exist before a checkpoint can be restored into them."]
    if at_once and point.scoped:
        lines[0] = step + lines[0]
    elif strategy is not None:
        lines.append(f"with {strategy}.scope():")
    lines.append(f"{step}{receiver}({batch})")
    lines.append(f"{step}{receiver}.optimizer.build({receiver}.trainable_variables)")
    lines += [step + line for line in also_built(flow, receiver)]
    folder = text_of(module, node)
    if _may_be_none(module, node):  # then TF1 took a temporary folder
        folder = f"{folder} or tempfile.mkdtemp()"
        changes.needs(module, "tempfile")
    kept = ""
    if _keeps_lists(flow, model):
        lines.append("# Keras 3 leaves the layers of a list out, where only the model is named.")
        kept = f", weights={receiver}.weights"
    lines.append(f"{checkpoint} = {tf}.train.Checkpoint(model={receiver}{kept})")
    column = len(indent) + len(found.name) + 3
    head = f"{tf}.train.CheckpointManager"
    made = FileStyle.of(source).call(head, [checkpoint, folder, *extra], indent, column)
    # What is inserted gets its indentation from the statement below it.
    lines += [line.removeprefix(indent) for line in f"{found.name} = {made}".split("\n")]
    if found.callback:
        head = f"{found.callback} = {tf}.keras.callbacks.LambdaCallback"
        step = f"{receiver}.optimizer.iterations"
        saves = f"on_train_batch_end=lambda batch, logs: {found.name}.save({step})"
        made = FileStyle.of(source).call(head, [saves], indent, len(indent))
        lines += [line.removeprefix(indent) for line in made.split("\n")]
    lines.append(f"if {found.name}.latest_checkpoint:")
    restore = f"{checkpoint}.restore({found.name}.latest_checkpoint)"
    lines.append(f"{unit}{restore}.assert_existing_objects_matched()")
    if at_once:
        changes.edit(module, Layout(source, point.statement).insert_after(lines))
    else:
        changes.edit(module, Layout(source, place).insert_before(lines))
    changes.note(
        module, node, "checkpoints that TF1 wrote do not load into the Keras model "
        "as they are: `migrate-mgpu checkpoint` converts them",
    )  # fmt: skip
    for query in queries:
        elsewhere = query.module is not module or names.scope_at(query.node) is not scope
        if elsewhere and not (own and point.reaches(query.module, query.node)):
            raise Refused(
                query.module, query.node, f"`{query.kind}` is read in a different function"
            )
        line, column = query.node.lineno, query.node.col_offset
        complete = point.statement if at_once else place
        early = not elsewhere and (line, column) < (complete.lineno, complete.col_offset)
        if early and query.kind in ("latest_checkpoint", "global_step"):
            text = f"the {query.kind.replace('_', ' ')} is read before the model exists"
            raise Refused(query.module, query.node, text)
        if query.kind == "global_step":
            changes.edit(query.module, _step(query))
            changes.gone.add(query.node)
            continue
        text = f"{found.name}.latest_checkpoint"
        if query.kind != "latest_checkpoint":
            text = folder if early else f"{found.name}.directory"
        if query.kind == "eval_dir":
            text = _eval_dir(query, text)
            changes.needs(module, "os")
        changes.edit(query.module, Edit(*source.span(query.node), text))
    return found


def _step(query: Query) -> Edit:
    """`estimator.get_variable_value('global_step')`: the optimizer's count."""
    assert isinstance(query.node, ast.Call) and isinstance(query.node.func, ast.Attribute)
    source = query.module.source
    receiver = source.code(query.node.func.value)
    return Edit(*source.span(query.node), f"int({receiver}.optimizer.iterations.numpy())")


def _eval_dir(query: Query, folder: str) -> str:
    """`estimator.eval_dir()`: the folder of the evaluation's events."""
    assert isinstance(query.node, ast.Call)
    given = [*query.node.args, *(keyword.value for keyword in query.node.keywords)]
    name = constant(given[0]) if given else ""
    if not isinstance(name, str):
        raise Refused(
            query.module, given[0], "which evaluation's folder this is cannot be determined"
        )
    quote = query.module.source.quote
    shown = f"eval_{name}" if name else "eval"
    return f"os.path.join({folder}, {quote}{shown}{quote})"


def _known(point: InsertionPoint, places: list[DriverCall]) -> bool:
    """Whether the input function that shows the features is known where the model is made."""
    names = point.module.names
    scope = names.scope_at(point.statement)
    node = _shown(places)
    if point.owner and node is not None and not point.knows(node):
        return False
    for name in ast.walk(node) if node is not None else ():
        if isinstance(name, ast.Name) and name in names.scope_of_name:
            defined = names.defining_scope(name.id, names.scope_of_name[name])
            if defined is not scope or defined is None:
                continue
            for binding in defined.bindings[name.id]:
                if binding.kind == "parameter":
                    continue
                if line_of(binding.node) >= point.statement.lineno:
                    return False
    return node is not None


def _shown(places: list[DriverCall]) -> ast.expr | None:
    """The input function that shows the features best: what is predicted may lack labels."""
    for call in sorted(places, key=lambda call: list(MODES).index(call.kind)):
        arguments = call.train_spec.arguments if call.train_spec is not None else call.arguments
        if "input_fn" in arguments:
            return arguments["input_fn"]
    return None


def _place(point: InsertionPoint, first: DriverCall) -> ast.stmt:
    """The statement before which the model is complete: the first use, outside of its loops."""
    names, made = point.module.names, point.statement
    around = [made, *(p for p in names.ancestors(made) if isinstance(p, ast.stmt))]
    blocks = [names.block(statement) for statement in around if _in_block(point.module, statement)]
    place = names.statement(first.node)
    while not any(block is names.block(place) for block in blocks):
        place = names.statement(names.parents[place])
    return place


def _in_block(module: Module, statement: ast.stmt) -> bool:
    return not isinstance(module.names.parents.get(statement), (ast.ExceptHandler, type(None)))


def _batch(
    flow: EstimatorFlow, places: list[DriverCall], inputs: Inputs, place: ast.stmt, indent: str
) -> str:
    """The features of one batch, from the first input function that also gives labels."""
    node = _shown(places)
    if node is None:
        text = "a model_dir, and nothing that shows the model's features"
        raise Refused(flow.module, flow.call, text)
    call = next(u for u in places if node in (*u.arguments.values(), *_of_spec(u)))
    module = call.module if call.train_spec is None else call.train_spec.module
    own = module.names.scope_at(call.train_spec.node) if call.train_spec is not None else None
    if own is not None and own is not call.module.names.scope_at(call.node):
        if call.module is not module or not is_visible(module, node, place):
            text = "what the Estimator is fed is known in the function of its TrainSpec alone"
            raise Refused(module, node, text, "make the TrainSpec where the Estimator is used")
    for name in ast.walk(node):
        if isinstance(name, ast.Name):
            for binding in module.names.bindings_of(name):
                if place in (binding.node, *module.names.ancestors(binding.node)):
                    raise Refused(
                        module, node, "the input of a model with a model_dir is made here",
                        "make it before the loop",
                    )  # fmt: skip
    found = f"next(iter({inputs.dataset(module, node, MODES[call.kind], indent)}))"
    if call.kind == PREDICT:
        return f"{root(module, node)}.keras.utils.unpack_x_y_sample_weight({found})[0]"
    return f"{found}[0]"


def _of_spec(call: DriverCall) -> list[ast.expr]:
    return list(call.train_spec.arguments.values()) if call.train_spec is not None else []


def _may_be_none(module: Module, node: ast.expr) -> bool:
    """`FLAGS.model_dir` and `args.model_dir` whose default is None or empty."""
    if not isinstance(node, ast.Attribute):
        return False
    for call in module.names.calls:
        first = call.args[0] if call.args else None
        text = constant(first)
        if not isinstance(text, str) or text.lstrip("-").replace("-", "_") != node.attr:
            continue
        default: ast.expr | None = next(
            (k.value for k in call.keywords if k.arg == "default"), None
        )
        required = any(k.arg == "required" and constant(k.value) is True for k in call.keywords)
        shown = module.source.code(call.func)
        if "DEFINE" in shown and default is None and len(call.args) > 1:
            default = call.args[1]
        empty = default is None or constant(default) in ("", None)
        if isinstance(default, ast.expr) and not isinstance(default, ast.Constant):
            empty = False
        if empty and not required and ("DEFINE" in shown or "add_argument" in shown):
            return True
    return False


def _reached(flow: EstimatorFlow) -> list[Module]:
    """The modules of an Estimator, and what they import of the run."""
    modules = list(flow.modules)
    for module in modules:  # grows as it is walked
        modules += [other for other in module.imported if other not in modules]
    return modules


def _keeps_lists(flow: EstimatorFlow, model: ModelPlan) -> bool:
    """Whether a class of the model's, written here or by its author, may keep layers in a list.

    A ``tf.train.Checkpoint`` passes over these in Keras 3, and does not say so: not even
    ``assert_existing_objects_matched()`` does.
    """
    return model.has_layer_lists or any(
        keeps_collections(node)
        for module in _reached(flow)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and any(_of_keras(module, b) for b in node.bases)
    )


def _of_keras(module: Module, base: ast.expr) -> bool:
    """Whether a class may be a layer or a model: Keras's, or of another class of the run."""
    name = module.names.qualname(base)
    if name is None:
        return not (isinstance(base, ast.Name) and base.id == "object")
    return "keras" in name or "layers" in name or not name.startswith("tensorflow")


def _check_stacks(flow: EstimatorFlow) -> None:
    """Keras 3 keeps a stack's cells in a list, which a tf.train.Checkpoint passes over.

    Raises:
        Refused: the run has such a stack.
    """
    for module in _reached(flow):
        for call in module.names.calls:
            if cell_of(module, call) == STACK:
                text = "Keras 3 leaves the cells of a stack out of a checkpoint"
                raise Refused(module, call, text, "leave out the model_dir, or the MultiRNNCell")
