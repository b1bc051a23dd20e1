"""Batch normalization made once for training and once with its averages, of which a mode takes one.

``tf.cond(training, lambda: trained, lambda: averaged)``, whose two calls share their variables by
`reuse`, is one call that is told whether it trains.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.findings import AVERAGES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.blank_lines import blank_lines
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout

# By TF1's name: the parameter that says whether a call trains.
_TRAINING = {"contrib.layers.batch_norm": "is_training", "layers.batch_normalization": "training"}
_COND = ("pred", "true_fn", "false_fn", "strict", "name", "fn1", "fn2")
_KEY = "averages-of-an-evaluation"


@record(frozen=True, eq=False)
class Pair:
    """A choice of two such calls: ``trained`` moves the averages, ``averaged`` reads them."""

    choice: ast.Call
    trains: ast.expr
    trained: ast.Assign
    averaged: ast.Assign
    training: str  # the parameter that says whether a call trains
    in_place: bool  # the averages are moved wherever the call for training is computed


def pairs(module: Module) -> Iterator[Pair]:
    """The choices of a module that one call can take the place of."""
    for call in module.names.calls:
        if name_of(module, call) == "cond":
            found = _pair(module, call)
            if found is not None:
                yield found


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of all of them in the model_fn's module."""
    if flow.function is None:
        return {}
    module = flow.function.module
    edits = [edit for pair in pairs(module) for edit in _edits(module, pair)]
    return {module: edits} if edits else {}


def tell(flow: EstimatorFlow, graph: CallGraph) -> list[Diagnostic]:
    """What TF1 does with the averages while it evaluates, which one call does not."""
    if flow.function is None:
        return []
    module = flow.function.module
    text = (
        "in TF1 both of these calls run in every mode, so an evaluation moves the averages by its "
        "own batches, before or after they are read; here an evaluation and a prediction use what "
        "training left, and their numbers may differ from TF1's"
    )
    places = [Place(module, pair.trained.value) for pair in pairs(module) if pair.in_place]
    return [Diagnostic(_KEY, place, text, code="MGPU401", affects=AVERAGES) for place in places]


def _pair(module: Module, call: ast.Call) -> Pair | None:
    given = by_parameter(call, _COND)
    names = [given.get("true_fn", given.get("fn1")), given.get("false_fn", given.get("fn2"))]
    made = [_made(module, one) for one in names]
    first, second, trains = made[0], made[1], given.get("pred")
    if first is None or second is None or trains is None or {"**", "strict"} & given.keys():
        return None
    if isinstance(trains, ast.Call) and tensorflow_name(module, trains.func) == "cast":
        trains = trains.args[0] if trains.args else trains
    if not isinstance(trains, (ast.Name, ast.Attribute)):
        return None
    if module.names.block(first) is not module.names.block(second):
        return None
    if module.names.statement(call) not in module.names.block(first):
        return None
    calls = [one.value for one in (first, second) if isinstance(one.value, ast.Call)]
    assert len(calls) == 2
    name = name_of(module, calls[0])
    training = _TRAINING.get(name)
    if training is None or name != name_of(module, calls[1]):
        return None
    signature = LAYERS.by_name[name].signature
    told = [one for call in calls if (one := _arguments(call, signature)) is not None]
    if len(told) != 2:
        return None
    flags = [constant(one.pop(training, None)) for one in told]
    reuses = [one.pop("reuse", None) for one in told]
    if flags != [True, False]:
        return None
    later = 1 if first.lineno < second.lineno else 0
    if constant(reuses[later]) is not True:
        return None
    first_reuse = reuses[1 - later]
    if first_reuse is not None and not is_none(first_reuse):
        if constant(first_reuse) is not False:
            return None
    shared = [{key: ast.dump(value) for key, value in one.items()} for one in told]
    if shared[0] != shared[1] or not ({"scope", "name"} & told[0].keys()):
        return None
    collections = told[0].get("updates_collections")
    in_place = collections is not None and is_none(collections)
    return Pair(call, trains, first, second, training, in_place)


def _arguments(call: ast.Call, signature: tuple[str, ...]) -> dict[str, ast.expr] | None:
    found = by_parameter(call, signature)
    return None if "**" in found or any(isinstance(a, ast.Starred) for a in call.args) else found


def _made(module: Module, node: ast.expr | None) -> ast.Assign | None:
    """What gives `lambda: name` its value, where nothing else mentions the name."""
    if not isinstance(node, ast.Lambda) or not isinstance(node.body, ast.Name):
        return None
    name, names = node.body, module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    mentions = names.mentions(name.id, home) if home is not None else []
    stored = [one for one in mentions if isinstance(one.ctx, ast.Store)]
    if len(mentions) != 2 or len(stored) != 1:
        return None
    statement = names.statement(stored[0])
    if isinstance(statement, ast.Assign) and statement.targets == [stored[0]]:
        return statement if isinstance(statement.value, ast.Call) else None
    return None


def _edits(module: Module, pair: Pair) -> list[Edit]:
    source = module.source
    gone = [Layout(source, one) for one in (pair.trained, pair.averaged)]
    call = pair.trained.value
    assert isinstance(call, ast.Call)
    row = LAYERS.by_name[name_of(module, call)]
    one = CallEdit(source, call, row.signature)
    one.value(pair.training, source.code(pair.trains))
    one.drop("reuse")
    start, end = source.span(call)
    edits = [Edit(e.start - start, e.end - start, e.new) for e in one.edits()]
    text = splice(source.text[start:end], edits)
    if not all(layout.owns_lines for layout in gone):
        return []
    removed = [layout.replace([]) for layout in gone]
    return [Edit(*source.span(pair.choice), text), *blank_lines(source, removed)]
