"""A canned Estimator as a fact of the IR, with the statements that made nothing but its parts."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.canned.added_metrics import read_added_metrics
from migrate_mgpu.models.front.canned.column_names import STOPS, taken_by_another
from migrate_mgpu.models.front.canned.heads import read_head
from migrate_mgpu.models.front.canned.parts import read_parts
from migrate_mgpu.models.front.canned.results import wanted_results
from migrate_mgpu.models.front.canned.version import check_version
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.signatures import SIGNATURES
from migrate_mgpu.models.ir import CannedModel
from migrate_mgpu.models.properties import exports, predicts
from migrate_mgpu.source.statements import Layout

_ADVICE = "write its model in Keras"
_REFUSED = ("input_layer_partitioner", "partitioner", "warm_start_from")
# None means something else than the default here.
_NOT_NONE = (
    "activation_fn", "label_dimension", "loss_reduction", "n_classes", "optimizer",
    "dnn_activation_fn", "dnn_optimizer", "linear_optimizer",
)  # fmt: skip


def read_canned(flow: EstimatorFlow, graph: CallGraph, as_objects: bool = False) -> CannedModel:
    """What a canned Estimator trains.

    ``as_objects``: its columns are those that the program makes when it runs. They are as well
    where nobody can say before what they are, or something else needs them.

    Raises:
        Refused: a column, or an argument, that is not known.
    """
    _check_arguments(flow)
    check_version(flow.module, flow.call)
    if as_objects:
        return _read(flow, graph, as_objects)
    try:
        return _read(flow, graph, as_objects)
    except Refused as refused:
        if refused.diagnostic.key == STOPS:
            raise
        try:  # columns as the program makes them when it runs
            return _read(flow, graph, as_objects=True)
        except Refused:
            raise refused from None


def _read(flow: EstimatorFlow, graph: CallGraph, as_objects: bool) -> CannedModel:
    head = read_head(flow, graph)
    distributed = bool(flow.distribution.training)
    parts = read_parts(flow, graph, distributed, as_objects)
    wanted = wanted_results(flow, graph)
    added = read_added_metrics(flow, graph, head)
    statements = [s for part in parts for s in part.statements]
    statements += [head.statement] if head.statement is not None else []
    model = CannedModel(
        flow.module,
        flow.call,
        flow.class_name,
        head,
        tuple(parts),
        None if wanted is None else frozenset(wanted),
        predicts(flow.driving),
        exports(flow.driving),
        distributed,
        tuple(dict.fromkeys(statements)),
    )
    _check_statements(model)
    if added is not None:
        return replaced(model, statements=(*model.statements, added.function), added=added.results)
    return model


def _check_arguments(flow: EstimatorFlow) -> None:
    module, call = flow.module, flow.call
    for name in _REFUSED:
        if name in flow.arguments:
            text = f"`{name}` of a {flow.class_name}"
            raise Refused(module, flow.arguments[name], text, _ADVICE)
    normal = flow.arguments.get("batch_norm")
    if normal is not None and constant(normal) not in (False, True):
        raise Refused(module, normal, f"`batch_norm` of a {flow.class_name}", _ADVICE)
    if normal is not None and constant(normal) is True and flow.distribution.training:
        # Measured on 1.15.5 with two replicas: all weights are equal, the moving averages are not.
        text = f"`batch_norm` of a {flow.class_name} under a strategy"
        raise Refused(module, normal, text, _ADVICE)
    for parameter, value in by_parameter(call, SIGNATURES[flow.class_name]).items():
        if parameter in _NOT_NONE and is_none(value):
            text = f"`{parameter}=None` of a {flow.class_name}"
            raise Refused(module, value, text, "leave it out, or say what is meant")


def _check_statements(model: CannedModel) -> None:
    """Nothing else needs what the statements made that go."""
    module, names, statements = model.module, model.module.names, model.statements
    gone = {part for s in (*statements, model.node) for part in ast.walk(s)}
    for statement in statements:
        if isinstance(statement, ast.FunctionDef):
            _check_function(model, statement)
        if isinstance(statement, ast.For):
            _check_loop(model, statement, gone)
        given = statement.targets if isinstance(statement, ast.Assign) else ()
        for target in (t for g in given for t in (g.elts if isinstance(g, ast.Tuple) else [g])):
            if not isinstance(target, ast.Name):
                raise Refused(module, target, "where this is passed cannot be analyzed")
            home = names.defining_scope(target.id, names.scope_of_name[target])
            for mention in names.mentions(target.id, home) if home is not None else ():
                if mention not in gone and not taken_by_another(module, mention):
                    text = f"`{target.id}` is used for more than the Estimator"
                    raise Refused(module, mention, text, _ADVICE)
        if not Layout(module.source, statement).owns_lines:
            raise Refused(module, statement, "this shares its line with something")


def _check_loop(model: CannedModel, loop: ast.For, gone: set[ast.AST]) -> None:
    """What a loop that goes leaves in its variables is asked by nothing behind it."""
    module, names = model.module, model.module.names
    for part in ast.walk(loop.target):
        if not isinstance(part, ast.Name):
            continue
        home = names.defining_scope(part.id, names.scope_of_name[part])
        for mention in names.mentions(part.id, home) if home is not None else ():
            around = [p for p in names.ancestors(mention) if isinstance(p, ast.For)]
            own = any(
                isinstance(inner, ast.Name) and inner.id == part.id
                for other in around
                for inner in ast.walk(other.target)
            )
            if mention not in gone and not own:
                raise Refused(
                    module, mention, f"`{part.id}` is used after the loop that makes the columns",
                    "use a separate variable for the loop",
                )  # fmt: skip


def _check_function(model: CannedModel, function: ast.FunctionDef) -> None:
    """A function that goes makes columns, and does nothing else."""
    for statement in function.body:
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        known = statement in model.statements or isinstance(statement, ast.Return)
        if not text and not known and not _makes_columns(model.module, statement):
            raise Refused(
                model.module, statement, f"{function.name} does more than make the Estimator's "
                "columns", "write the columns as a list",
            )  # fmt: skip


def _makes_columns(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement of a function makes columns, or lists of them, that another part has."""
    value: ast.expr | None = None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        value = statement.value if len(statement.targets) == 1 else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
        listed = isinstance(call.func.value, ast.Name) and not call.keywords
        value = call.args[0] if listed and call.func.attr in ("append", "extend") else None
    if value is None:
        return False
    made = [part for part in ast.walk(value) if isinstance(part, ast.Call)]
    names = [tensorflow_name(module, part.func) for part in made]
    return all(name.startswith("feature_column.") for name in names)
