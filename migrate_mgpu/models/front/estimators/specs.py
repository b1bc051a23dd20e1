"""The specs that ``train_and_evaluate`` is given, and the exporters in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.estimators.parts import MADE_ELSEWHERE, constructed
from migrate_mgpu.models.front.estimators.visibility import known_at
from migrate_mgpu.models.ir import Construction

_EXPORTER = ("name", "serving_input_receiver_fn", "assets_extra", "as_text")
_BEST = (*_EXPORTER[:2], "event_file_pattern", "compare_fn", *_EXPORTER[2:], "exports_to_keep")
EXPORTERS = {
    "BestExporter": _BEST,
    "FinalExporter": _EXPORTER,
    "LatestExporter": (*_EXPORTER, "exports_to_keep"),
}


def find_spec(
    values: ValueFlow, module: Module, use: ast.Call, node: ast.expr | None, kind: str
) -> Construction:
    """The one spec that an argument of ``use`` may be.

    The numbers of a spec that another function makes are those that are known at the use.

    Raises:
        Refused: it may be several, or is used for more.
    """
    if node is None:
        raise Refused(module, module.tree, f"train_and_evaluate without {kind}")
    origins = values.definitions(module, node)
    if len(origins) == 1:
        found = constructed(origins[0].module, origins[0].node, kind)
        if found is not None:
            for mention in values.uses(found.module, found.node):
                assert mention.node is not None
                _only_trains(mention.module, mention.node, kind)
            return _known_at(values, found, module, use)
    raise Refused(module, node, f"which {kind} this is cannot be determined")


def _known_at(values: ValueFlow, spec: Construction, module: Module, use: ast.Call) -> Construction:
    names = spec.module.names
    if spec.module is module and names.scope_at(spec.node) is module.names.scope_at(use):
        return spec
    arguments = dict(spec.arguments)
    for name in ("max_steps", "steps", "hooks", "exporters"):
        if name not in arguments or isinstance(arguments[name], ast.Constant):
            continue
        known = known_at(values, spec.module, arguments[name], module, use)
        if known is None or module is not spec.module or name in ("hooks", "exporters"):
            text = f"`{name}` of a {spec.kind} that another function makes"
            advice = "make it beside train_and_evaluate"
            raise Refused(spec.module, arguments[name], text, advice, MADE_ELSEWHERE)
        arguments[name] = known
    return replaced(spec, arguments=arguments)


def _only_trains(module: Module, node: ast.expr, kind: str) -> None:
    call = module.names.taker(node)
    if call is not None and tensorflow_name(module, call.func) == "estimator.train_and_evaluate":
        return
    raise Refused(module, node, f"the {kind} is used for more than train_and_evaluate here")


def find_exporters(values: ValueFlow, spec: Construction) -> Iterator[Construction]:
    """The exporters of an EvalSpec: one, or a list of them.

    Raises:
        Refused: one that exports by another rule than the first, the last or every time.
    """
    node = spec.arguments.get("exporters")
    for value in values.definitions(spec.module, node) if node is not None else ():
        parts = [value]
        if isinstance(value.node, (ast.List, ast.Tuple)):
            members = [values.definitions(value.module, element) for element in value.node.elts]
            parts = [part for found in members for part in found]
        for part in parts:
            if not part.is_none:
                yield _exporter(part, spec)


def _exporter(part: Value, spec: Construction) -> Construction:
    module, call = part.module, part.node
    name = tensorflow_name(module, call.func) if isinstance(call, ast.Call) else ""
    kind = name.rpartition(".")[2]
    if not isinstance(call, ast.Call) or name != f"estimator.{kind}" or kind not in EXPORTERS:
        advice = "call export_saved_model after the training, which is converted"
        raise Refused(module, call or spec.node, "this exporter cannot be analyzed", advice)
    return Construction(kind, module, call, arguments_of(module, call, EXPORTERS[kind]))
