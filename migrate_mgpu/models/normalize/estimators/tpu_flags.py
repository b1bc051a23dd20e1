"""What a TPUEstimator's functions do for a TPU alone, where its flag is handed on to them.

``model_fn_builder(..., use_tpu=FLAGS.use_tpu)``: a program that asks for a TPU stops where its
Estimator is made (``tpu_estimators.py``), so ``if use_tpu:`` is decided in its functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module, fact_of_text, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.models.front.estimators.parts import CUSTOM, EstimatorFlow
from migrate_mgpu.models.normalize.estimators.tpu_arms import mentions_tpus
from migrate_mgpu.source.blank_lines import blank_lines
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_DEEP = 8  # functions that hand a flag on to each other


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits that take such arms away; none where there is none."""
    if flow.kind != CUSTOM or flow.class_name != "TPUEstimator":
        return {}
    flag = TpuFlag(flow, graph)
    found: dict[Module, list[Edit]] = {}
    for module in graph.modules:
        if not module.writable:
            continue
        edits = [edit for node in flag.decided(module) for edit in _edits(flag, module, node)]
        if edits:
            found[module] = blank_lines(module.source, edits)
    return found


class TpuFlag:
    """What says whether an Estimator is for a TPU, which its program stops at."""

    def __init__(self, flow: EstimatorFlow, graph: CallGraph) -> None:
        self.module = flow.module
        self.graph = graph
        given = arguments_of(flow.module, flow.call, ("model_fn",))
        self.node = given.get("use_tpu")
        self.never = constant(flow.module.names.assigned(self.node)) is False
        self.optional = self.node is not None and is_off(flow.module, self.node)
        self.model_fn: Function | None = None
        if "model_fn" in given:
            origins = ValueFlow(graph).definitions(flow.module, given["model_fn"])
            if len(origins) == 1 and origins[0].node is not None:
                self.model_fn = graph.target(origins[0].module, origins[0].node)
        self.inside = set(walk(self.model_fn.node)) if self.model_fn is not None else set()

    def value(self, module: Module, node: ast.expr | None, depth: int = 0) -> bool | None:
        """What an expression is, as far as the flag decides it."""
        if constant(node) is False:
            return False if self.never else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.value(module, node.operand, depth)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            each = [self.value(module, one, depth) for one in node.values]
            ends = isinstance(node.op, ast.Or)  # what one value alone makes of all
            return ends if ends in each else None if None in each else not ends
        if isinstance(node, ast.Name):
            return self._named(module, node, depth)
        if isinstance(node, ast.Attribute) and self.optional and is_off(module, node):
            return False if module.source.code(node) in _flags(module) else None
        return None

    def _named(self, module: Module, node: ast.Name, depth: int) -> bool | None:
        if node not in module.names.scope_of_name or depth > _DEEP:
            return None
        binding = module.names.only_binding(node)
        if binding is None or binding.kind != "parameter":
            return None if binding is None else self.value(module, binding.value, depth + 1)
        home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
        if home is None or not isinstance(home.node, ast.FunctionDef):
            return None
        function = Function(module, home.node)
        given: set[bool | None] = set()
        elsewhere = False  # another program says that it is for none
        for reference in self.graph.references(function):
            value = None
            if reference.call is not None:
                known = bind(reference.call, function)
                value = known.value(node.id) if known.unclear is None else None
            if constant(value) is False and not self.never:
                elsewhere = True
            else:
                given.add(self.value(reference.module, value, depth + 1) if value else None)
        if elsewhere and given:
            given.add(False)
        return given.pop() if len(given) == 1 else None

    def decided(self, module: Module) -> Iterator[ast.If]:
        """The outermost conditions that the flag decides, in the model_fn and around TPUs' API."""
        if not self.never and not self.optional:
            return  # nothing is known of the flag
        found: set[ast.AST] = set()
        around = _around_tpus(module)
        for node in _conditions(module):
            if isinstance(node.test, ast.Constant):
                continue
            if node not in around and node not in self.inside:
                continue
            if not found.isdisjoint(module.names.ancestors(node)):
                continue
            if self.value(module, node.test) is not None:
                found.add(node)
                yield node


@fact_of_text
def _flags(module: Module) -> set[str]:
    """What says in a module whether its TPUEstimators are for a TPU."""
    named = ((call, tensorflow_name(module, call.func)) for call in module.names.calls)
    made = (call for call, name in named if name.endswith("TPUEstimator"))
    told = (arguments_of(module, call, ()).get("use_tpu") for call in made)
    return {module.source.code(node) for node in told if node is not None}


@fact_of_text
def _conditions(module: Module) -> list[ast.If]:
    """Those of a module that is about TPUs, outer ones first."""
    if "tpu" not in module.source.text.lower():
        return []
    found = [node for node in module.names.parents if isinstance(node, ast.If)]
    return sorted(found, key=position)


def _edits(flag: TpuFlag, module: Module, node: ast.If) -> Iterator[Edit]:
    """The arm that runs, in the place of the condition."""
    source = module.source
    layout = Layout(source, node)
    if not layout.owns_lines or source.text[layout.start :].startswith("elif"):
        return
    stays = node.body if flag.value(module, node.test) else node.orelse
    block = Block(source, layout.indent)
    for statement in stays:
        block.statement(statement, [])
    while block.lines and not block.lines[0]:
        block.lines.pop(0)
    if not block.lines and module.names.block(node) == [node]:
        block.line("pass")
    text = block.text() if block.lines else ""
    yield Edit(layout.line_start, layout.next_line, text)


@fact_of_text
def _around_tpus(module: Module) -> set[ast.If]:
    """The conditions that have something of TPUs in an arm."""
    return {node for node in _conditions(module) if mentions_tpus(module, node.body + node.orelse)}


def is_off(module: Module, node: ast.expr) -> bool:
    """`FLAGS.use_tpu` and `args.use_tpu` whose default is False."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return _defaults(module).get(node.attr, False)


@fact_of_text
def _defaults(module: Module) -> dict[str, bool]:
    """Whether a flag that a module defines is off by default."""
    found: dict[str, bool] = {}
    for call in module.names.calls:
        shown = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        name = constant(call.args[0]) if call.args else None
        if not isinstance(name, str):
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        default = given.get("default")
        if shown.startswith("DEFINE_bool"):
            default = call.args[1] if len(call.args) > 1 else default
            is_off = default is not None and constant(default) is False
        elif shown == "add_argument":
            is_off = constant(given.get("action")) == "store_true"
            is_off = is_off and (default is None or constant(default) is False)
        else:
            continue
        found.setdefault(name.lstrip("-").replace("-", "_"), is_off)
    return found
