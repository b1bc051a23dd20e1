"""``model_dir``: a program that goes on where an earlier run stopped still does.

An Estimator restores the latest checkpoint of its folder before it trains, evaluates or
predicts, and saves one when training ends. In TF2 a ``tf.train.CheckpointManager`` does,
once the variables exist: Keras 3 restores nothing, and says nothing, into a model whose
layers have not been built. A checkpoint of TF1's names variables as Keras does not: a program
that finds one stops, and says how it is converted.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.recurrent import STACK, cell_of
from migrate_mgpu.core.findings import NUMBERS
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.receivers import RECEIVER
from migrate_mgpu.models.front.estimators.visibility import is_visible
from migrate_mgpu.models.front.inputs.effects import shows_calls
from migrate_mgpu.models.front.network.network_classes import keeps_collections
from migrate_mgpu.models.ir import (
    PREDICT,
    TRAIN,
    TRAIN_AND_EVALUATE,
    Checkpoints,
    DriverCall,
    Query,
)
from migrate_mgpu.models.keras.driver.checkpoint_insertion import (
    InsertionPoint,
    find_insertion_point,
    known,
    made_in_turns,
)
from migrate_mgpu.models.keras.driver.datasets import Datasets
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.models.keras.driver.first_uses import FirstUse, first_uses
from migrate_mgpu.models.keras.driver.restoring import Manager, Restoring, named_before
from migrate_mgpu.models.keras.driver.setup import Setup
from migrate_mgpu.models.keras.inputs.inputs import MODES, Inputs
from migrate_mgpu.models.keras.model.first_values import NEVER_TRAINED, OLD_FILES
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.models.properties import row_of, strategies_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

# Settings of a RunConfig that are about checkpoints.
_SETTINGS = (
    "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
)  # fmt: skip


# What an Estimator is driven by.
_DRIVES = ("train", "evaluate", "predict", "export_savedmodel", "export_saved_model")

_ESTIMATORS = ("Estimator", "Classifier", "Regressor", "model_to_estimator")

_UNTIMED = {
    "save_checkpoints_secs": "checkpoints are saved when a training ends, not after a time",
    "keep_checkpoint_every_n_hours": "`keep_checkpoint_every_n_hours` is left out",
}


def write_checkpoints(
    flow: EstimatorFlow,
    checkpoints: Checkpoints,
    setup: Setup,
    model: ModelPlan,
    datasets: Datasets,
    changes: DriverEdits,
) -> Manager | None:
    """Writes what restores before the first use; None for a model without a folder.

    Raises:
        Refused: the folder, or what is done with the Estimator, lies elsewhere.
    """
    queries, calls = flow.driving.queries, flow.driving.calls
    begun = bool(model.initializes or checkpoints.start is not None)
    # What nothing trains is what it begins with, in whichever folder.
    if checkpoints.folder is None and (model.trains or queries or not begun):
        if begun:
            raise Refused(
                flow.module, flow.call, "an Estimator without a model_dir that begins with a "
                "checkpoint's values", "give the Estimator a model_dir",
            )  # fmt: skip
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
    if not calls:
        for query in queries:
            text = f"`{query.kind}` of an Estimator that does nothing"
            raise Refused(query.module, query.node, text)
        return _for_exports(flow, checkpoints, setup, model, changes)
    workers = any(row_of(one).workers for one in strategies_of(flow.distribution.training))
    if workers and checkpoints.folder is not None:
        text = "a model_dir under several workers: each would write the same files"
        where = checkpoints.folder.module, checkpoints.folder.node
        raise Refused(*where, text, "save on the first worker alone")
    several = made_in_turns(flow, setup)
    if several is None:
        return _at(
            find_insertion_point(flow, setup), flow, checkpoints, setup, model, datasets, changes
        )
    found = [
        _at(
            one.point,
            replaced(flow, driving=one.driving),
            checkpoints,
            setup,
            model,
            datasets,
            changes,
        )
        for one in several
    ]
    return found[0]


def _at(
    point: InsertionPoint,
    flow: EstimatorFlow,
    checkpoints: Checkpoints,
    setup: Setup,
    model: ModelPlan,
    datasets: Datasets,
    changes: DriverEdits,
) -> Manager | None:
    """Writes what restores where one statement gives the model its name."""
    queries, calls = flow.driving.queries, flow.driving.calls
    names, source = point.module.names, point.module.source
    scope = names.scope_at(point.statement)
    places = [call for call in calls if point.shows(call)]
    strategy, own = point.strategy, point.owner
    module = point.module
    for name, text in _UNTIMED.items():
        for one in flow.config.values(name)[:1]:
            changes.note(one.module, one.node, text)
    # Whether the input function is known where the model is made, and that is in one place.
    at_once = _known(point, places) and not (
        flow.alternatives and point.statement is flow.statement
    )
    fixed = bool(own) or point.spread
    first = min(calls, key=_position)
    place = point.statement if fixed else _place(point, first)
    later = point.before_all_uses() if point.spread and not at_once else None
    caller = None
    if later is not None and _known(later, places):
        place = later.statement
    elif fixed and not at_once:
        caller = _by_caller(point, flow, setup)
    if caller is not None:
        place, places = caller.statement, calls
    elif fixed and not at_once and place is not (later and later.statement):
        raise Refused(
            first.module, first.node,
            "what the Estimator is fed is not known where it is made, and it has a model_dir",
            "make the Estimator where it is used, or its input function a method or function",
        )  # fmt: skip
    folder = _folder(point, checkpoints, setup, changes) if checkpoints.folder is not None else ""
    prefix = _prefix(point, flow, point.statement if at_once else place)
    name = own + names.fresh(scope, f"{prefix}manager", "checkpoint_manager")
    found = Manager(name, point.receiver, prefix, first=point.spread)
    trains, lists = any(call.trains for call in places), _keeps_lists(flow, model)
    restoring = Restoring(
        flow, checkpoints, setup, point, found, folder, lists, trains, model,
        _begins(checkpoints, model, point, setup, changes),
    )  # fmt: skip
    complete = point.statement if at_once else place
    firsts = None
    if not fixed and strategy is None:
        firsts = _firsts(flow, point, place, datasets)
        if firsts is None and _is_made_within(place, *_shown_by(places)):
            # Each restores, as each call of TF1's did.
            firsts = _firsts(flow, point, place, datasets, several=True)
    if firsts is not None:
        complete = place
        _at_firsts(firsts, place, places, restoring, datasets, changes)
    else:
        layout = Layout(source, complete)
        inner = layout.indent + source.indent_unit if strategy is not None else layout.indent
        batch = _batch(restoring, places, datasets.inputs, place, inner, caller)
        _tell_call(setup, places, changes)
        made = [f"{point.receiver}({batch.drawn})"]  # averages are not of several replicas
        if strategy is None:
            made = restoring.made(batch.spec)
        scoped = at_once and point.scoped
        lines = restoring.at_once(made, layout.indent, strategy, scoped)
        changes.edit(module, layout.insert_after(lines) if at_once else layout.insert_before(lines))
    for query in queries:
        if query.kind == "global_step" and not model.trains:
            raise Refused(query.module, query.node, "the step of a model that nothing trains")
        elsewhere = query.module is not module or names.scope_at(query.node) is not scope
        if elsewhere and not (own and point.reaches(query.module, query.node)):
            raise Refused(
                query.module, query.node, f"`{query.kind}` is read in a different function"
            )
        line, column = query.node.lineno, query.node.col_offset
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
    return found if folder else None


def _prefix(point: InsertionPoint, flow: EstimatorFlow, complete: ast.stmt) -> str:
    """What the names of a model's checkpoints begin with, where another's come between its own.

    They are made where a model is complete, by names that are free before the program is written.
    """
    module, names, source = point.module, point.module.names, point.module.source
    scope = names.scope_at(point.statement)
    receiver = point.receiver.removeprefix(point.owner)
    others: list[ast.Call] = []
    driving = flow.driving
    uses: list[tuple[Module, ast.AST]] = [(one.module, one.node) for one in driving.calls]
    uses += [(one.module, one.node) for one in driving.exports]
    uses += [(one.module, one.node) for one in driving.queries]
    own = {node for _, node in uses}
    for call in names.calls:
        method = call.func
        if call not in own and isinstance(method, ast.Attribute) and method.attr in _DRIVES:
            text = source.code(method.value)
            if text != point.receiver and text.startswith(point.owner) and text.isascii():
                others.append(call)
    if not receiver.isidentifier():
        return ""
    if point.owner:
        return f"{receiver}_" if others else ""
    block = names.block(complete)
    last = complete.end_lineno or complete.lineno
    for home, node in uses:
        around = [node, *names.ancestors(node)] if home is module else []
        last = max([last, *(s.end_lineno or 0 for s in block if s in around)])
    roots = [
        call.func.value
        for call in others
        if names.scope_at(call) is scope and isinstance(call.func, ast.Attribute)
    ]
    for statement in block:  # one that a function uses
        value = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(value, ast.Call) and isinstance(statement, ast.Assign):
            made = tensorflow_name(module, value.func).endswith(_ESTIMATORS)
            roots += statement.targets if made and statement is not flow.statement else []
    lines = [
        mention.lineno
        for one in roots
        if isinstance(one, ast.Name) and one.id != receiver
        for mention in names.mentions(one.id, scope)
    ]
    return f"{receiver}_" if any(complete.lineno < line <= last for line in lines) else ""


def _for_exports(
    flow: EstimatorFlow,
    checkpoints: Checkpoints,
    setup: Setup,
    model: ModelPlan,
    changes: DriverEdits,
) -> Manager | None:
    """Writes what restores a model that is only exported: the served function makes its variables.

    None where that is not known where the model is made.
    """
    exports, module, names = flow.driving.exports, flow.module, flow.module.names
    if not exports or setup.strategy is not None or checkpoints.folder is None:
        return None
    scope, block = names.scope_at(flow.statement), names.block(flow.statement)
    first = min(exports, key=_position)
    given = first.arguments.get(RECEIVER)
    below = all(
        one.module is module
        and names.scope_at(one.node) is scope
        and names.statement(one.node) in block[block.index(flow.statement) + 1 :]
        for one in exports
    )
    graph = setup.values.graph
    if not below or not isinstance(given, ast.Name) or graph.target(module, given) is None:
        return None
    point = InsertionPoint(module, flow.statement, changes.receiver(first))
    folder = _folder(point, checkpoints, setup, changes)
    found = Manager(names.fresh(scope, "manager", "checkpoint_manager"), point.receiver, first=True)
    restoring = Restoring(
        flow, checkpoints, setup, point, found, folder, _keeps_lists(flow, model), False, model,
        _begins(checkpoints, model, point, setup, changes),
    )  # fmt: skip
    layout, unit = Layout(module.source, flow.statement), module.source.indent_unit
    made = f"{given.id}({point.receiver}).get_concrete_function()"
    lines = restoring.at_once([made], layout.indent, None, True)
    quote = module.source.quote
    lines += [  # as TF1 did
        f"if not {found.name}.latest_checkpoint:",
        f"{unit}raise ValueError({quote}there is no trained model to export{quote})",
    ]
    changes.edit(module, layout.insert_after(lines))
    return found


def _folder(
    point: InsertionPoint, checkpoints: Checkpoints, setup: Setup, changes: DriverEdits
) -> str:
    """The expression of a model's folder, where its checkpoints are."""
    assert checkpoints.folder is not None
    module, node = point.module, known(point, setup.values, checkpoints.folder, "model_dir")
    changes.note(
        module, node, "checkpoints that TF1 wrote do not load into the Keras model "
        "as they are: `migrate-mgpu checkpoint` converts them",
    )  # fmt: skip
    folder = text_of(module, node)
    if _may_be_none(module, node):  # then TF1 took a temporary folder
        folder = f"{folder} or tempfile.mkdtemp()"
        changes.needs(module, "tempfile")
    return folder


def _begins(
    checkpoints: Checkpoints,
    model: ModelPlan,
    point: InsertionPoint,
    setup: Setup,
    changes: DriverEdits,
) -> list[str]:
    """The calls that give variables first values, of the checkpoint as it is known there."""
    found = [f"{model.initializes}()"] * bool(model.initializes)
    if checkpoints.start is not None:
        node = known(point, setup.values, checkpoints.start, "warm_start_from")
        for text in (OLD_FILES, NEVER_TRAINED):
            changes.note(checkpoints.start.module, checkpoints.start.node, text)
        found.append(f"{model.warm}({text_of(point.module, node)})")
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
    node = _shown(places)
    if node is None or (point.owner and not point.knows(node)):
        return False
    return named_before(point, node)


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


@record(frozen=True)
class _Features:
    """The features of a batch that is drawn for them, and what they are without drawing one."""

    drawn: str
    spec: str


def _firsts(
    flow: EstimatorFlow,
    point: InsertionPoint,
    place: ast.stmt,
    datasets: Datasets,
    several: bool = False,
) -> list[FirstUse] | None:
    """The first driver calls, if each knows what it is fed, and nothing is asked before them.

    Their input functions are called as often as TF1 did then.
    """
    module, names = point.module, point.module.names
    scope, driven = names.scope_at(point.statement), [*flow.driving.calls, *flow.driving.exports]
    if any(c.module is not module or names.scope_at(c.node) is not scope for c in driven):
        return None
    firsts = first_uses(module, place, driven, several)
    if not firsts or not any(one.is_fed for one in firsts):
        return None
    own = {spec.node for c in flow.driving.calls for spec in (c.train_spec, c.eval_spec) if spec}
    for call in names.calls:
        if names.scope_at(call) is scope and call not in own:
            if tensorflow_name(module, call.func).endswith((".TrainSpec", ".EvalSpec")):
                return None  # another model's, whose dataset may have the name
    for one in firsts:
        if not Layout(module.source, one.statement).owns_start:
            return None
        if not one.is_fed and not _shows_names(point, place, flow):
            return None
        spec = one.call.train_spec
        if spec is not None and not datasets.named[spec.node] and spec.module is not module:
            return None
    once = _is_once(firsts)
    for query in flow.driving.queries:
        if query.module is not module or _position(query) < (place.lineno, place.col_offset):
            return None
        if query.kind == "global_step" and not once:
            return None
    if once and flow.driving.queries and firsts[0].statement is not place:
        return None
    return firsts


def _is_once(firsts: list[FirstUse]) -> bool:
    """Whether one statement, which a run comes to once, makes the variables."""
    return len(firsts) == 1 and not firsts[0].again


def _shows_names(point: InsertionPoint, place: ast.stmt, flow: EstimatorFlow) -> bool:
    """Whether what the model is fed elsewhere is known where the first calls begin."""
    node = _shown(flow.driving.calls)
    return node is not None and named_before(replaced(point, statement=place), node)


def _at_firsts(
    firsts: list[FirstUse],
    place: ast.stmt,
    places: list[DriverCall],
    restoring: Restoring,
    datasets: Datasets,
    changes: DriverEdits,
) -> None:
    """Makes the variables of what the first calls are fed, and restores there."""
    module, source = restoring.point.module, restoring.point.module.source
    names = module.names
    scope = names.scope_at(place)
    prefix = restoring.manager.prefix.rstrip("_")
    name = f"restore_{prefix}" if prefix else "restore"
    function = names.fresh(scope, name, "restore_model")
    for one in firsts:
        if not one.is_fed:  # an export shows no features of its own
            _tell_call(datasets.setup, places, changes)
        layout = Layout(source, one.statement)
        lines, features = _fed(one, places, restoring, datasets, layout)
        if _is_once(firsts):
            made = restoring.made(features)
            lines += restoring.at_once(made, layout.indent, None, False)
        else:
            lines.append(f"{function}({features})")
        changes.edit(module, layout.insert_before(lines))
    if not _is_once(firsts):
        layout = Layout(source, place)
        gap = [""] * (2 if isinstance(names.parents[place], ast.Module) else 1)
        given = names.fresh(scope, "features", "shown")
        restores = restoring.function(function, given, layout.indent)
        lines = [*restoring.managing(layout.indent), *gap, *restores]
        changes.edit(module, layout.insert_before([*lines, *gap]))


def _fed(
    one: FirstUse,
    places: list[DriverCall],
    restoring: Restoring,
    datasets: Datasets,
    layout: Layout,
) -> tuple[list[str], str]:
    """The statements that make the dataset of a call, and the features that it has."""
    call, module = one.call, restoring.point.module
    if not one.is_fed:
        return [], _batch(restoring, places, datasets.inputs, one.statement, layout.indent).spec
    lines: list[str] = []
    spec = call.train_spec
    name = datasets.named[spec.node] if spec is not None else ""
    if not name:
        arguments = call.arguments if spec is None else spec.arguments
        stem = {TRAIN: "train", TRAIN_AND_EVALUATE: "train", PREDICT: "predict"}
        short = stem.get(call.kind, "eval")
        scope = module.names.scope_at(one.statement)
        others = set(datasets.named.values()) | set(datasets.held.values())
        free = [n for n in (f"{short}_dataset", f"{short}_data") if n not in others]
        name = module.names.fresh(scope, *free, f"{restoring.manager.receiver}_{short}_dataset")
        head = f"{name} = "
        indent = layout.indent
        made = datasets.text(
            call, module, arguments["input_fn"], indent, len(indent) + len(head), call.trains
        )
        lines = [line.removeprefix(indent) for line in f"{head}{made}".split("\n")]
        datasets.held[call] = name
    spec_text = f"{name}.element_spec"
    if call.kind == PREDICT or not restoring.model.labels:
        unpack = f"{restoring.tf}.keras.utils.unpack_x_y_sample_weight"
        return lines, f"{unpack}({spec_text})[0]"
    return lines, f"{spec_text}[0]"


def _tell_call(setup: Setup, places: list[DriverCall], changes: DriverEdits) -> None:
    """What is seen of an input function that is called once more than TF1 called it."""
    shown = _shown(places)
    if shown is None:
        return
    call = next(one for one in places if shown in (*one.arguments.values(), *_of_spec(one)))
    module = call.module if call.train_spec is None else call.train_spec.module
    if shows_calls(setup.values.graph, module, shown):
        text = (
            "this input function is called once more than in TF1, to make the variables: what it "
            "prints, or draws at random, comes once more"
        )
        changes.note(module, shown, text, NUMBERS)


def _operand(text: str) -> str:
    """An expression of which an attribute is asked."""
    node = ast.parse(f"({text}\n)", mode="eval").body
    simple = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    return text if simple else f"({text})"


def _position(one: DriverCall | Query) -> tuple[int, int]:
    return one.node.lineno, one.node.col_offset


@record(frozen=True)
class _Caller:
    """The one call that gives a model to the function which uses it, and what else it gives."""

    statement: ast.stmt
    given: dict[str, ast.expr]


def _by_caller(point: InsertionPoint, flow: EstimatorFlow, setup: Setup) -> _Caller | None:
    """Where a model is only used by a function that is called once with it, beside what makes it.

    None where what the function feeds it is made of more than it is given there.
    """
    module, names, graph = point.module, point.module.names, setup.values.graph
    calls, made = flow.driving.calls, point.statement
    target = made.targets[0] if isinstance(made, ast.Assign) else None
    shown = _shown(calls)
    if shown is None or not isinstance(target, ast.Name) or flow.driving.exports:
        return None
    homes = {graph.enclosing(one.module, one.node) for one in calls}
    function = next(iter(homes))
    if len(homes) != 1 or function is None or function.module is not module:
        return None
    if not isinstance(names.parents[function.node], ast.Module) or point.owner:
        return None
    scope = names.scope_at(made)
    mentions = [one for one in names.mentions(target.id, scope) if one is not target]
    call = names.taker(mentions[0]) if len(mentions) == 1 else None
    statement = names.statement(call) if call is not None else None
    if call is None or statement is None or graph.target(module, call.func) is None:
        return None
    if graph.target(module, call.func) != function or names.scope_at(call) is not scope:
        return None
    block = names.block(made)
    if statement not in block or block.index(statement) <= block.index(made):
        return None
    given = bind(call, function).every()
    if given is None or not isinstance(statement, (ast.Expr, ast.Assign)):
        return None
    own = names.scopes[function.node]
    for name in (one for one in ast.walk(shown) if isinstance(one, ast.Name)):
        if names.defining_scope(name.id, names.scope_of_name[name]) is own:
            value = given.get(name.id)
            steady = isinstance(value, (ast.Constant, ast.Name))
            if not steady or len(own.bindings[name.id]) != 1:
                return None
    if isinstance(shown, ast.Lambda) or not Layout(module.source, statement).owns_start:
        return None
    return _Caller(statement, given)


def _with_given(text: str, caller: _Caller, module: Module) -> str:
    """An expression of a function's parameters, by what a call gives these."""
    lines = text.split("\n")
    if len(lines) > 1:
        raise Refused(module, caller.statement, "what a function feeds is written on several lines")
    names = [one for one in ast.walk(ast.parse(text, mode="eval")) if isinstance(one, ast.Name)]
    for one in sorted(names, key=lambda one: -one.col_offset):
        if one.id in caller.given:
            end = one.col_offset + len(one.id)
            text = text[: one.col_offset] + module.source.code(caller.given[one.id]) + text[end:]
    return text


def _batch(
    restoring: Restoring,
    places: list[DriverCall],
    inputs: Inputs,
    place: ast.stmt,
    indent: str,
    caller: _Caller | None = None,
) -> _Features:
    """The features of one batch, from the first input function that also gives labels."""
    node = _shown(places)
    if node is None:
        text = "a model_dir, and nothing that shows the model's features"
        raise Refused(restoring.flow.module, restoring.flow.call, text)
    call = next(u for u in places if node in (*u.arguments.values(), *_of_spec(u)))
    module = call.module if call.train_spec is None else call.train_spec.module
    own = module.names.scope_at(call.train_spec.node) if call.train_spec is not None else None
    if own is not None and own is not call.module.names.scope_at(call.node):
        if call.module is not module or not is_visible(module, node, place):
            text = "what the Estimator is fed is known in the function of its TrainSpec alone"
            raise Refused(module, node, text, "make the TrainSpec where the Estimator is used")
    if caller is None and _is_made_within(place, module, node):
        text = "the input of a model with a model_dir is made here"
        raise Refused(module, node, text, "make it before the loop")
    given = inputs.dataset(module, node, MODES[call.kind], indent)
    if caller is not None:
        given = _with_given(given, caller, module)
    drawn, spec = f"next(iter({given}))", f"{_operand(given)}.element_spec"
    if call.kind == PREDICT or not restoring.model.labels:
        unpack = f"{root(module, node)}.keras.utils.unpack_x_y_sample_weight"
        return _Features(f"{unpack}({drawn})[0]", f"{unpack}({spec})[0]")
    return _Features(f"{drawn}[0]", f"{spec}[0]")


def _shown_by(places: list[DriverCall]) -> tuple[Module, ast.expr | None]:
    """The input function that shows the features best, with the module that it stands in."""
    node = _shown(places)
    for call in places:
        if node in call.arguments.values():
            return call.module, node
        if call.train_spec is not None and node in call.train_spec.arguments.values():
            return call.train_spec.module, node
    return places[0].module, None


def _is_made_within(place: ast.stmt, module: Module, node: ast.expr | None) -> bool:
    """Whether an input function is made in a statement, or behind it."""
    return node is not None and any(
        place in (binding.node, *module.names.ancestors(binding.node))
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
        for binding in module.names.bindings_of(name)
    )


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
    ``assert_existing_objects_matched()`` does. A stack keeps its cells so.
    """
    return model.has_layer_lists or any(
        keeps_collections(node)
        if isinstance(node, ast.ClassDef)
        else isinstance(node, ast.Call) and cell_of(module, node) == STACK
        for module in _reached(flow)
        for node in ast.walk(module.tree)
        if not isinstance(node, ast.ClassDef) or any(_of_keras(module, b) for b in node.bases)
    )


def _of_keras(module: Module, base: ast.expr) -> bool:
    """Whether a class may be a layer or a model: Keras's, or of another class of the run."""
    name = module.names.qualname(base)
    if name is None:
        return not (isinstance(base, ast.Name) and base.id == "object")
    return "keras" in name or "layers" in name or not name.startswith("tensorflow")
