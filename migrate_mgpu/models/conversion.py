"""Whole Estimators: each becomes a Keras model with what drives it, or stays, with the reason."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place, Refused, internal_error
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.analysis.style import NAMELESS, style_at
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.records import field, record, replaced
from migrate_mgpu.core.registry import of, only
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.models.front.canned.estimator import read_canned
from migrate_mgpu.models.front.estimators.alternatives import check_driven_alike
from migrate_mgpu.models.front.estimators.finding import KERAS, EstimatorFlow, find_estimators
from migrate_mgpu.models.front.inputs.lengths import Lengths
from migrate_mgpu.models.front.keras_model.model import read_keras_model
from migrate_mgpu.models.front.rewriters import ModelPartRewriter
from migrate_mgpu.models.keras.canned.estimator import CannedClasses, CannedPlan, write_canned
from migrate_mgpu.models.keras.driver.driver_calls import write_driver
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits
from migrate_mgpu.models.keras.model.converting import convert
from migrate_mgpu.models.keras.model_to_estimator import plan
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.models.properties import evaluated, predicts, shares_batch, trains
from migrate_mgpu.source.source import BlockEdit, Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.suppressions import file_suppressed, suppressed

# Keys of diagnostics.
_OFF = "switched-off"
_SHARED = "shares-code"


@record(eq=False)
class Conversion(EditSet):
    """What becomes of one Estimator; with ``refused`` nothing.

    ``configs`` are the RunConfig calls that go away, ``model`` what becomes of its model.
    """

    flow: EstimatorFlow
    refused: Diagnostic | None = None
    configs: set[ast.Call] = field(default_factory=set)
    model: ModelPlan | None = None

    @property
    def modules(self) -> list[Module]:
        """Every module that it changes or reads."""
        return list(dict.fromkeys([*self.flow.modules, *self.edits]))


class Conversions:
    """The Estimators of a run."""

    def __init__(
        self,
        project: Project,
        graph: CallGraph,
        rules: Selection,
        kept: Mapping[Module, Diagnostic],
    ) -> None:
        """``kept``: the entry points of programs that stay for another reason."""
        self.graph = graph
        self.rules = rules
        self._kept = {
            module: kept[one.entry]
            for one in (project.programs() if kept else ())
            if one.entry in kept
            for module in one.modules
        }
        self._classes = CannedClasses()
        self._models: dict[ast.AST, ModelPlan] = {}
        flows = self.flows = find_estimators(project, graph)
        own = [(flow, flow.function.node) for flow in flows if flow.function is not None]
        self._predicted = {node for flow, node in own if predicts(flow.driving)}
        self._distributed = {node for flow, node in own if flow.distribution.training}
        self._towers = {node for flow, node in own if shares_batch(flow.distribution)}
        self._trained = {node for flow, node in own if trains(flow.driving)}
        self._warm = {node for flow, node in own if "warm_start_from" in flow.arguments}
        lengths = Lengths(graph)
        self._uncounted = {
            node
            for flow, node in own
            if any(
                module.writable and not lengths.counts(module, given)
                for module, given in evaluated(flow.driving)
            )
        }
        self._bound: dict[ast.AST, set[str]] = {}
        self._optional: dict[ast.AST, set[str]] = {}
        for flow, node in own:
            self._bound.setdefault(node, set()).update(flow.bound)
            absent = (n for n, v in flow.bound.items() if flow.module.names.may_be_none(v))
            self._optional.setdefault(node, set()).update(absent)
        self._told: set[tuple[ast.AST, str]] = set()
        self._objects: set[Module] = set()
        self.all = [self._convert(flow) for flow in flows]
        self._tell_alike()
        self._keep_columns()
        self._check_alternatives()
        self.share()
        self._set_environment_first()
        self.share()
        self._without_covered()

    def _convert(self, flow: EstimatorFlow) -> Conversion:
        try:
            if flow.problems:
                raise Refused.because(flow.problems[0])
            if flow.module in self._kept:
                raise Refused.because(self._kept[flow.module])
            function = flow.function
            model = self._model(function) if function is not None else self._own(flow)
            towers = shares_batch(flow.distribution)
            if towers and len(flow.distribution.training) > 1:
                text = "`replicate_model_fn` under a strategy: 1.15 does one or the other"
                raise Refused(flow.module, flow.call, text, "take one of them out")
            if towers and model.callbacks:
                raise Refused(
                    flow.module, flow.call, "the towers of `replicate_model_fn` have batch "
                    "normalization: in TF1 each of them moves its averages",
                    "train with a MirroredStrategy instead, and compare",
                )  # fmt: skip
            driven = write_driver(flow, model, self.graph)
        except Refused as refused:
            why = refused.diagnostic
            if why.key == NAMELESS:
                why = replaced(why, place=Place(flow.module, flow.call))
            return Conversion(flow, why)
        except Exception as error:
            return Conversion(flow, internal_error(Place(flow.module, flow.call), error))
        self._without_other_models(flow, driven)
        found = _joined(flow, model, driven)
        found.refused = self._switched_off(found)
        return found

    def _tell_alike(self) -> None:
        """Functions that train in one model and never in another are told so in the same way."""
        plans = [one.model for one in self.all if one.model is not None]
        self._told = {parameter for plan in plans for parameter in plan.tells}
        for index, one in enumerate(self.all):
            if one.model is not None and one.model.never & self._told:
                self._models.pop(one.model.function, None)
                self.all[index] = self._convert(one.flow)

    def _keep_columns(self) -> None:
        """Where one canned Estimator takes its columns as they are made, a module's others do."""
        plans = [one.model for one in self.all if isinstance(one.model, CannedPlan)]
        self._objects = {plan.module for plan in plans if plan.keeps_columns}
        for index, one in enumerate(self.all):
            plan = one.model
            if isinstance(plan, CannedPlan) and one.refused is None and not plan.keeps_columns:
                if plan.module in self._objects:
                    self.all[index] = self._convert(one.flow)

    def _without_other_models(self, flow: EstimatorFlow, driven: DriverEdits) -> None:
        """What stands in another Estimator's model_fn changes with that one."""
        for other in self.flows:
            function = other.function
            if function is None or function == flow.function or function.module not in driven.edits:
                continue
            start, end = function.module.source.span(function.node)
            driven.edits[function.module] = [
                edit
                for edit in driven.edits[function.module]
                if not (start <= edit.start and edit.end <= end)
            ]

    def _switched_off(self, found: Conversion) -> Diagnostic | None:
        """A part of a conversion whose rule the user does not want, here or at all."""
        flow, function = found.flow, found.flow.function
        places = [
            (function.module, function.node, one.rule)
            for one in of(ModelPartRewriter)
            if function is not None
        ]
        sites = [(module, node, only(kind).rule) for module, node, kind in found.sites]
        for module, node, rule in [*places, *sites]:
            code = rule.code
            advice = f"select {code} as well, or convert it by hand"
            if not self.rules.enabled(code, rule.name):
                text = f"{code} ({rule.name}), a part of its conversion, is not selected"
                return Diagnostic(_OFF, Place(module, node), text, advice)
            last = getattr(node, "end_lineno", None) or node.lineno  # type: ignore[attr-defined]
            if suppressed(module.source, node.lineno, last, rule):  # type: ignore[attr-defined]
                text = f"a comment switches {code} off, a part of its conversion"
                return Diagnostic(_OFF, Place(module, node), text, advice)
        for module in found.modules:
            if file_suppressed(module.source):
                text = "a comment switches the file off"
                return Diagnostic(_OFF, Place(module, flow.call), text)
        return None

    def _own(self, flow: EstimatorFlow) -> ModelPlan:
        """The model of an Estimator that has no model_fn."""
        style = style_at(flow.module, flow.call)
        if flow.kind == KERAS:
            return plan(flow, read_keras_model(flow, self.graph), style)
        as_objects = flow.module in self._objects
        return write_canned(read_canned(flow, self.graph, as_objects), style, self._classes)

    def _model(self, function: Function) -> ModelPlan:
        node = function.node
        if node not in self._models:
            style = style_at(function.module, node)
            self._check_uses(function)
            self._models[node] = convert(
                function,
                self.graph,
                style,
                node in self._predicted,
                node in self._distributed,
                self._bound.get(node, ()),
                node in self._towers,
                node in self._uncounted,
                self._optional.get(node, ()),
                node in self._warm,
                node in self._trained,
                self._told,
            )
        return self._models[node]

    def _check_uses(self, function: Function) -> None:
        """A model_fn that is called by hand as well must stay what it is."""
        wraps = {flow.wrapped for flow in self.flows}
        for reference in self.graph.references(function):
            if reference.call is not None and reference.call not in wraps:
                text = f"{function.name} is also called here, not only by its Estimator"
                advice = "let both call a function that has what they share"
                raise Refused(reference.module, reference.node, text, advice)

    def _check_alternatives(self) -> None:
        """Estimators that the same statements drive are driven in the same way there."""
        values = ValueFlow(self.graph)
        found = {one.flow.made: one for one in self.all}

        def passed(flow: EstimatorFlow) -> list[tuple[Module, ast.stmt]]:
            return [
                (value.module, value.module.names.statement(value.node))
                for value in values.places(flow.module, flow.made)
                if value.node is not None
            ]

        for one in self.all:
            for flow in (*one.flow.alternatives, *one.flow.together):
                other = found[flow.made]
                if one.refused is not None or other.refused is not None:
                    continue
                places = passed(one.flow)
                if flow in one.flow.together:
                    others = passed(flow)
                    places = [place for place in places if place in others]
                try:
                    check_driven_alike(one.flow, one.edits, other.edits, places)
                except Refused as refused:
                    one.refused = refused.diagnostic

    def share(self) -> None:
        """Estimators that share a model_fn are converted together, or not at all."""
        changed = True
        while changed:
            changed = False
            for one in self.all:
                if one.refused is None:
                    continue
                for other in self.all:
                    if other.refused is None and _overlap(one, other):
                        text = f"an Estimator that it shares code with stays: {one.refused.reason}"
                        advice = one.refused.advice
                        other.refused = Diagnostic(_SHARED, one.refused.place, text, advice)
                        changed = True
            changed = self._share_classes() or self._share_receivers() or changed

    def _share_receivers(self) -> bool:
        """A receiver function of several Estimators becomes the same for all, or they stay.

        Returns whether one stays for that.
        """
        by_flow = {id(one.flow): one for one in self.all if one.refused is None}
        for one in by_flow.values():
            for other in (by_flow.get(id(flow)) for flow in one.flow.served):
                module = _unlike(one, other) if other is not None else None
                if module is not None:
                    text = f"another Estimator's exports need {module.path.name} otherwise"
                    place = Place(one.flow.module, one.flow.call)
                    one.refused = Diagnostic(_SHARED, place, text, "give each its own receiver")
                    return True
        return False

    def _share_classes(self) -> bool:
        """What several models are made of becomes the same classes for all, or stays.

        Returns whether a model stays for that.
        """
        converted = [(one, one.model) for one in self.all if one.refused is None and one.model]
        rewritten = {node for _, model in converted for node in model.calls}
        for one, model in converted:
            others = (why for node, why in model.elsewhere.items() if node not in rewritten)
            one.refused = next(others, None)
            for other, its in converted if model.elsewhere else ():
                if its.function is not model.function and one.refused is None:
                    module = _unlike(one, other)
                    if module is not None:
                        text = f"{other.flow.module.path.name} needs {module.path.name} otherwise"
                        place = Place(one.flow.module, one.flow.call)
                        one.refused = Diagnostic(_SHARED, place, text)
        return any(one.refused is not None for one, _ in converted)

    def _set_environment_first(self) -> None:
        """TF1 reads CUDA_VISIBLE_DEVICES when it trains, TF2 when a model makes its variables."""
        for module in {one.flow.module for one in self.all if one.refused is None}:
            names = module.names
            for node in module.environment_changes:
                statement = names.statement(node)
                late = [
                    one
                    for one in self.all
                    if one.refused is None
                    and one.flow.module is module
                    and names.scope_at(one.flow.call) is names.scope_at(node)
                    and one.flow.statement.lineno < statement.lineno
                ]
                if not late:
                    continue
                first = min(late, key=lambda one: one.flow.call.lineno)
                if not _moves_above(module, statement, first):
                    text = "CUDA_VISIBLE_DEVICES is set behind it, and TF2 reads it here"
                    for one in late:
                        flow = one.flow
                        advice = "set it above"
                        one.refused = Refused(module, flow.call, text, advice).diagnostic

    def _without_covered(self) -> None:
        """What one Estimator changes within what another one's edit writes anew, it says too."""
        converted = [one for one in self.all if one.refused is None]
        if len(converted) < 2:
            return
        for module in {module for one in converted for module in one.edits}:
            found = [edit for one in converted for edit in one.edits.get(module, ())]
            wide = [edit for edit in found if edit.end - edit.start > 1]
            for one in converted:
                if module in one.edits:
                    one.edits[module] = [
                        edit
                        for edit in one.edits[module]
                        if not any(e.start < edit.start < edit.end <= e.end for e in wide)
                    ]

    def calls(self) -> set[ast.AST]:
        """The RunConfig calls that go away."""
        return {call for one in self.all if one.refused is None for call in one.configs}

    def of(self, modules: set[Module]) -> list[Conversion]:
        """The Estimators that are made in some modules."""
        return [one for one in self.all if one.flow.module in modules]


def _overlap(first: Conversion, second: Conversion) -> bool:
    if second.flow in (*first.flow.alternatives, *first.flow.together):
        return True
    if first.flow in (*second.flow.alternatives, *second.flow.together, *second.flow.served):
        return True
    function, other = first.flow.function, second.flow.function
    return function is not None and other is not None and function.node is other.node


def _unlike(first: Conversion, second: Conversion) -> Module | None:
    """A module in which two conversions write the same part in different forms."""
    for module in first.edits.keys() & second.edits.keys():
        places = {(edit.start, edit.end): edit.new for edit in second.edits[module]}
        for edit in first.edits[module]:
            if edit.end > edit.start and places.get((edit.start, edit.end), edit.new) != edit.new:
                return module
    return None


def _ended(module: Module, edit: Edit) -> Edit:
    """An edit whose lines end as the file's do."""
    newline = module.source.newline
    if newline == "\n":
        return edit
    texts = {"new": edit.new}
    if isinstance(edit, BlockEdit):
        texts["header"] = edit.header
    ended = {n: t.replace("\r\n", "\n").replace("\n", newline) for n, t in texts.items()}
    return replaced(edit, **ended)


def _joined(flow: EstimatorFlow, model: ModelPlan, driven: DriverEdits) -> Conversion:
    found = Conversion(flow, configs=set(driven.configs), model=model)
    found.merge(model)
    found.merge(driven)
    for module, edits in found.edits.items():
        found.edits[module] = [_ended(module, edit) for edit in edits]
    return found


def _moves_above(module: Module, statement: ast.stmt, first: Conversion) -> bool:
    """Whether ``os.environ["..."] = "0"`` stands above an Estimator now, where it may."""
    names, place = module.names, first.flow.statement
    layout = Layout(module.source, statement)
    value = statement.value if isinstance(statement, ast.Assign) else None
    if constant(value) is None or place not in names.block(statement) or not layout.owns_lines:
        return False
    above = {binding.node for binding in names.module_scope.bindings.get("os", ())}
    if not above or any(names.statement(node).lineno > place.lineno for node in above):
        return False
    text = module.source.text[layout.line_start : layout.next_line]
    first.edit(module, Layout(module.source, place).insert_before([text.strip()]))
    first.edit(module, layout.replace([]))
    first.note(module, statement, "this is set above the model now: TF2 reads it there")
    return True
