"""What a program does on TPUs only, where it has another way for everything else.

``if use_tpu: ... TPUEstimator(...)`` / ``else: ... Estimator(...)`` keeps the second arm, and stops
where the first one would run. The model_fn of an Estimator cannot return a `TPUEstimatorSpec`, nor
use a `CrossShardOptimizer`: TF1 stops there, so its arms for TPUs go away.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, fact_of_text, tensorflow_name
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.blank_lines import blank_lines
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_KEY = "arm-for-tpus"
_STOPS = 'raise ValueError("a TPU needs tf.distribute.TPUStrategy")'
_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)


@record(frozen=True, eq=False)
class Arm:
    """An `if` whose body is for TPUs; ``drives``: it makes the Estimator there."""

    module: Module
    node: ast.If
    drives: bool


def arms(flow: EstimatorFlow) -> list[Arm]:
    """The arms for TPUs of an Estimator's modules; none without one that makes an Estimator."""
    modules = dict.fromkeys([flow.module])
    if flow.function is not None:
        modules[flow.function.module] = None
    found = [arm for module in modules for arm in _of_module(module)]
    return found if any(arm.drives and arm.module is flow.module for arm in found) else []


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of all of them."""
    found: dict[Module, list[Edit]] = {}
    for arm in arms(flow):
        edits = _edits(arm)
        if not edits:
            return {}
        found.setdefault(arm.module, []).extend(edits)
    return {module: blank_lines(module.source, edits) for module, edits in found.items()}


def tell(flow: EstimatorFlow, graph: CallGraph) -> list[Diagnostic]:
    """What is left out."""
    text = (
        "what runs on a TPU here is left out, and the program stops where it would: "
        "under a tf.distribute.TPUStrategy the Keras model trains there"
    )
    places = [Place(arm.module, arm.node) for arm in arms(flow) if arm.drives]
    return [Diagnostic(_KEY, place, text, code="MGPU401") for place in places]


def _of_module(module: Module) -> list[Arm]:
    return [Arm(module, *one) for one in _found(module)]


@fact_of_text
def _found(module: Module) -> list[tuple[ast.If, bool]]:
    """The conditions of a module's arms for TPUs, and whether they drive an Estimator."""
    return list(_conditions(module))


def _conditions(module: Module) -> Iterator[tuple[ast.If, bool]]:
    if "TPU" not in module.source.text:
        return
    seen: set[ast.If] = set()
    for call in module.names.calls:
        last = tensorflow_name(module, call.func).rpartition(".")[2]
        if last not in ("TPUEstimator", "TPUEstimatorSpec", "CrossShardOptimizer"):
            continue
        node = _around(module, call)
        if node is None or node in seen or mentions_tpus(module, node.orelse):
            continue
        first = node.body[0]
        if last == "TPUEstimator" and node.orelse:
            seen.add(node)
            yield node, True
        elif not all(isinstance(part, _PLAIN) for part in ast.walk(node.test)):
            continue
        elif last == "TPUEstimatorSpec":
            returns = [part for part in ast.walk(node) if isinstance(part, ast.Return)]
            inner = {part for s in node.body for part in ast.walk(s)}
            if node.body[-1] in returns and all(
                part is node.body[-1] or part not in inner or _in_function(module, part, node)
                for part in returns
            ):
                seen.add(node)
                yield node, False
        elif last == "CrossShardOptimizer" and not node.orelse and len(node.body) == 1:
            if isinstance(first, ast.Assign) and first.value is call:
                seen.add(node)
                yield node, False


def _around(module: Module, call: ast.Call) -> ast.If | None:
    """The `if` that a call's statement stands in the body of."""
    statement = module.names.statement(call)
    parent = module.names.parents[statement]
    if not isinstance(parent, ast.If) or statement not in parent.body:
        return None
    above = module.names.parents[parent]
    return None if isinstance(above, ast.If) and parent in above.orelse else parent


def _in_function(module: Module, node: ast.AST, around: ast.AST) -> bool:
    """Whether a node stands in a function within another node."""
    for parent in module.names.ancestors(node):
        if parent is around:
            return False
        if isinstance(parent, (ast.FunctionDef, ast.Lambda)):
            return True
    return False


def mentions_tpus(module: Module, body: Sequence[ast.stmt]) -> bool:
    """Whether something of TPUs stands in statements."""
    named = _of_tpus(module)
    return bool(named) and any(node in named for statement in body for node in walk(statement))


@fact_of_text
def _of_tpus(module: Module) -> set[ast.AST]:
    """Where a module names something of TPUs."""
    return {use.node for use in module.uses if "tpu" in use.symbol.name.lower()}


def _edits(arm: Arm) -> list[Edit]:
    module, node, source = arm.module, arm.node, arm.module.source
    layout = Layout(source, node)
    if not layout.owns_lines:
        return []
    if not node.orelse:
        alone = module.names.block(node) == [node]
        return [layout.replace(["pass"] if alone else [])]
    block = Block(source, layout.indent)
    if arm.drives:
        block.line(f"if {source.code(node.test)}:")
        block.line(_STOPS, 1)
    for index, statement in enumerate(node.orelse):
        if index == 0:
            text = Block(source, layout.indent)
            text.statement(statement, [])
            block.lines += [line for line in text.lines if line]
        else:
            block.statement(statement, [])
    return [Edit(layout.line_start, layout.next_line, block.text().rstrip() + source.newline)]
