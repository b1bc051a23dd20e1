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
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.recurrent import STACK, cell_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow, Look, Use
from migrate_mgpu.models.front.estimators.places import is_visible
from migrate_mgpu.models.front.estimators.settings import check_same
from migrate_mgpu.models.front.network.network_classes import keeps_collections
from migrate_mgpu.models.keras.canned.combined import also_built
from migrate_mgpu.models.keras.driver.drive import Drive, text_of
from migrate_mgpu.models.keras.driver.homes import Home, find_home, known
from migrate_mgpu.models.keras.driver.reads import is_read
from migrate_mgpu.models.keras.driver.setup import Setup
from migrate_mgpu.models.keras.driver.strategies import WORKERS
from migrate_mgpu.models.keras.inputs.inputs import MODES, Inputs
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle


@record()
class Checkpoints:
    """The manager of an Estimator's checkpoints, by the name that it gets."""

    manager: str
    receiver: str
    callback: str = ""  # the variable of one that saves while `fit` trains, if that is wanted

    @property
    def save(self) -> str:
        """The statement that saves when a training ends, named by the step as TF1's were.

        A checkpoint of the same step that the callback saved is the same one then.
        """
        interval = ", check_interval=False" if self.callback else ""
        return f"{self.manager}.save({self.receiver}.optimizer.iterations{interval})"


def model_dir(flow: EstimatorFlow) -> tuple[Module, ast.expr] | None:
    """The folder that an Estimator is given, by itself or in its RunConfig."""
    given = flow.arguments.get("model_dir")
    if given is not None and not (is_read(flow.config, given) and flow.config):
        return flow.module, given
    found = flow.config.values("model_dir") if flow.config is not None else []
    return found[0] if found else None


def plan(
    flow: EstimatorFlow, setup: Setup, model: ModelPlan, inputs: Inputs, drive: Drive
) -> Checkpoints | None:
    """Writes what restores before the first use; None for an Estimator without a folder.

    Raises:
        Refused: the folder, or what is done with the Estimator, lies elsewhere.
    """
    given = model_dir(flow)
    if "model_dir" not in flow.arguments:
        check_same(flow, setup.values, "model_dir")
    settings = {
        name: flow.config.values(name) if flow.config is not None else []
        for name in ("save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max",
                     "keep_checkpoint_every_n_hours")
    }  # fmt: skip
    if given is None:
        for look in flow.looks:
            if look.kind == "global_step":
                drive.edit(look.module, _step(look))
                drive.gone.add(look.node)
                continue
            raise Refused(
                look.module, look.node, f"`{look.kind}` of an Estimator without a model_dir",
                "give the Estimator a model_dir",
            )  # fmt: skip
        for name, values in settings.items():
            for module, node in values:
                drive.note(
                    module, node, f"`{name}` is left out: without a model_dir the checkpoints of "
                    "TF1 went to a temporary folder, in TF2 none are written",
                )  # fmt: skip
        return None
    module, node = given
    strategies = flow.config.train if flow.config is not None else []
    if not flow.uses:
        for look in flow.looks:
            text = f"`{look.kind}` of an Estimator that does nothing"
            raise Refused(look.module, look.node, text)
        return None
    for strategy_made in [made for one in strategies for made in one.made]:
        if strategy_made.kind in WORKERS:
            raise Refused(
                module, node, "a model_dir under several workers: each would write the same files",
                "save on the first worker alone",
            )  # fmt: skip
    for name in ("save_checkpoints_steps", "keep_checkpoint_max"):
        check_same(flow, setup.values, name)
    home = find_home(flow, setup)
    names, source = home.module.names, home.module.source
    scope = names.scope_at(home.statement)
    places = [use for use in flow.uses if home.shows(use)]
    strategy, own = home.strategy, home.owner
    node = known(home, setup.values, module, node, "model_dir")
    module = home.module
    tf = root(module, home.statement)
    first = min(flow.uses, key=lambda use: (use.call.lineno, use.call.col_offset))
    receiver = home.receiver
    found = Checkpoints(own + names.fresh(scope, "manager", "checkpoint_manager"), receiver)
    extra = []
    for where, value in settings["keep_checkpoint_max"][:1]:
        if constant(value) != 0:
            value = known(home, setup.values, where, value, "keep_checkpoint_max")
            extra = [f"max_to_keep={text_of(module, value)}"]
        else:
            extra = ["max_to_keep=None"]
    extra = extra or ["max_to_keep=5"]
    trains = any(use.kind.startswith("train") for use in places)
    for where, value in settings["save_checkpoints_steps"][:1] if trains else ():
        value = known(home, setup.values, where, value, "save_checkpoints_steps")
        found.callback = own + names.fresh(scope, "saving", "saving_callback")
        extra += [f"step_counter={receiver}.optimizer.iterations",
                  f"checkpoint_interval={text_of(module, value)}"]  # fmt: skip
    for where, value in settings["save_checkpoints_secs"][:1]:
        drive.note(where, value, "checkpoints are saved when a training ends, not after a time")
    for where, value in settings["keep_checkpoint_every_n_hours"][:1]:
        drive.note(where, value, "`keep_checkpoint_every_n_hours` is left out")
    # Whether the input function is known where the model is made, and that is in one place.
    at_once = _known(home, places) and not (flow.alternatives and home.statement is flow.statement)
    fixed = bool(own) or home.spread
    place = home.statement if fixed else _place(home, first)
    if fixed and not at_once:
        raise Refused(
            first.module, first.call,
            "what the Estimator is fed is not known where it is made, and it has a model_dir",
            "make the Estimator where it is used, or its input function a method or function",
        )  # fmt: skip
    _check_stacks(flow)
    indent = source.indent_of(home.statement if at_once else place)
    unit = source.indent_unit
    inner = indent + unit if strategy is not None else indent
    batch = _batch(flow, places, inputs, place, inner)
    checkpoint = own + names.fresh(scope, "checkpoint", "restored")
    step = unit if strategy is not None else ""
    lines = ["# The variables must exist before a checkpoint can be restored into them."]
    if at_once and home.scoped:
        lines[0] = step + lines[0]
    elif strategy is not None:
        lines.append(f"with {strategy}.scope():")
    lines.append(f"{step}{receiver}({batch})")
    lines.append(f"{step}{receiver}.optimizer.build({receiver}.trainable_variables)")
    lines += [step + line for line in also_built(flow, receiver)]
    folder = text_of(module, node)
    if _may_be_none(module, node):  # then TF1 took a temporary folder
        folder = f"{folder} or tempfile.mkdtemp()"
        drive.needs(module, "tempfile")
    kept = ""
    if _keeps_lists(flow, model):
        lines.append("# Keras 3 leaves the layers of a list out, where only the model is named.")
        kept = f", weights={receiver}.weights"
    lines.append(f"{checkpoint} = {tf}.train.Checkpoint(model={receiver}{kept})")
    column = len(indent) + len(found.manager) + 3
    head = f"{tf}.train.CheckpointManager"
    made = FileStyle.of(source).call(head, [checkpoint, folder, *extra], indent, column)
    # What is inserted gets its indentation from the statement below it.
    lines += [line.removeprefix(indent) for line in f"{found.manager} = {made}".split("\n")]
    if found.callback:
        head = f"{found.callback} = {tf}.keras.callbacks.LambdaCallback"
        step = f"{receiver}.optimizer.iterations"
        saves = f"on_train_batch_end=lambda batch, logs: {found.manager}.save({step})"
        made = FileStyle.of(source).call(head, [saves], indent, len(indent))
        lines += [line.removeprefix(indent) for line in made.split("\n")]
    lines.append(f"if {found.manager}.latest_checkpoint:")
    restore = f"{checkpoint}.restore({found.manager}.latest_checkpoint)"
    lines.append(f"{unit}{restore}.assert_existing_objects_matched()")
    if at_once:
        drive.edit(module, Layout(source, home.statement).insert_after(lines))
    else:
        drive.edit(module, Layout(source, place).insert_before(lines))
    drive.note(
        module, node, "checkpoints that TF1 wrote do not load into the Keras model: "
        "give it a new folder, or train again",
    )  # fmt: skip
    for look in flow.looks:
        elsewhere = look.module is not module or names.scope_at(look.node) is not scope
        if elsewhere and not (own and home.reaches(look.module, look.node)):
            raise Refused(look.module, look.node, f"`{look.kind}` is asked in another function")
        line, column = look.node.lineno, look.node.col_offset
        complete = home.statement if at_once else place
        early = not elsewhere and (line, column) < (complete.lineno, complete.col_offset)
        if early and look.kind in ("latest_checkpoint", "global_step"):
            text = f"the {look.kind.replace('_', ' ')} is asked for before the model"
            raise Refused(look.module, look.node, text)
        if look.kind == "global_step":
            drive.edit(look.module, _step(look))
            drive.gone.add(look.node)
            continue
        text = f"{found.manager}.latest_checkpoint"
        if look.kind != "latest_checkpoint":
            text = folder if early else f"{found.manager}.directory"
        if look.kind == "eval_dir":
            text = _eval_dir(look, text)
            drive.needs(module, "os")
        drive.edit(look.module, Edit(*source.span(look.node), text))
    return found


def _step(look: Look) -> Edit:
    """`estimator.get_variable_value('global_step')`: the optimizer's count."""
    assert isinstance(look.node, ast.Call) and isinstance(look.node.func, ast.Attribute)
    source = look.module.source
    receiver = source.code(look.node.func.value)
    return Edit(*source.span(look.node), f"int({receiver}.optimizer.iterations.numpy())")


def _eval_dir(look: Look, folder: str) -> str:
    """`estimator.eval_dir()`: the folder of the evaluation's events."""
    assert isinstance(look.node, ast.Call)
    given = [*look.node.args, *(keyword.value for keyword in look.node.keywords)]
    name = constant(given[0]) if given else ""
    if not isinstance(name, str):
        raise Refused(look.module, given[0], "which evaluation's folder this is cannot be told")
    quote = look.module.source.quote
    shown = f"eval_{name}" if name else "eval"
    return f"os.path.join({folder}, {quote}{shown}{quote})"


def _known(home: Home, places: list[Use]) -> bool:
    """Whether the input function that shows the features is known where the model is made."""
    names = home.module.names
    scope = names.scope_at(home.statement)
    node = _shown(places)
    if home.owner and node is not None and not home.knows(node):
        return False
    for name in ast.walk(node) if node is not None else ():
        if isinstance(name, ast.Name) and name in names.scope_of_name:
            defined = names.defining_scope(name.id, names.scope_of_name[name])
            if defined is not scope or defined is None:
                continue
            for binding in defined.bindings[name.id]:
                if binding.kind == "parameter":
                    continue
                if getattr(binding.node, "lineno", 0) >= home.statement.lineno:
                    return False
    return node is not None


def _shown(places: list[Use]) -> ast.expr | None:
    """The input function that shows the features best: what is predicted may lack labels."""
    for use in sorted(places, key=lambda use: list(MODES).index(use.kind)):
        arguments = use.train_spec.arguments if use.train_spec is not None else use.arguments
        if "input_fn" in arguments:
            return arguments["input_fn"]
    return None


def _place(home: Home, first: Use) -> ast.stmt:
    """The statement before which the model is complete: the first use, outside of its loops."""
    names, made = home.module.names, home.statement
    around = [made, *(p for p in names.ancestors(made) if isinstance(p, ast.stmt))]
    blocks = [names.block(statement) for statement in around if _in_block(home.module, statement)]
    place = names.statement(first.call)
    while not any(block is names.block(place) for block in blocks):
        place = names.statement(names.parents[place])
    return place


def _in_block(module: Module, statement: ast.stmt) -> bool:
    return not isinstance(module.names.parents.get(statement), (ast.ExceptHandler, type(None)))


def _batch(
    flow: EstimatorFlow, places: list[Use], inputs: Inputs, place: ast.stmt, indent: str
) -> str:
    """The features of one batch, from the first input function that also gives labels."""
    node = _shown(places)
    if node is None:
        text = "a model_dir, and nothing that shows the model's features"
        raise Refused(flow.module, flow.call, text)
    use = next(u for u in places if node in (*u.arguments.values(), *_of_spec(u)))
    module = use.module if use.train_spec is None else use.train_spec.module
    own = module.names.scope_at(use.train_spec.call) if use.train_spec is not None else None
    if own is not None and own is not use.module.names.scope_at(use.call):
        if use.module is not module or not is_visible(module, node, place):
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
    found = f"next(iter({inputs.read(module, node, MODES[use.kind], base=indent).call}))"
    if use.kind == "predict":
        return f"{root(module, node)}.keras.utils.unpack_x_y_sample_weight({found})[0]"
    return f"{found}[0]"


def _of_spec(use: Use) -> list[ast.expr]:
    return list(use.train_spec.arguments.values()) if use.train_spec is not None else []


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


__all__ = ["Checkpoints", "model_dir", "plan"]
