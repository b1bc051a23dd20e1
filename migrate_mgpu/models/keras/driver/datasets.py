"""The datasets that a Keras model is driven with, where specs and input functions stood."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.rewriters import DrivingRewriter
from migrate_mgpu.models.ir import EVALUATE, TRAIN_AND_EVALUATE, Construction, DriverCall
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits
from migrate_mgpu.models.keras.driver.setup import Setup
from migrate_mgpu.models.keras.inputs.inputs import MODES, Inputs
from migrate_mgpu.models.properties import shares_batch
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments
from migrate_mgpu.source.style import FileStyle


class Datasets:
    """Writes datasets; ``named`` are the variables that took the place of specs ("" where none).

    ``held`` are variables that hold what a call is driven with already, because the model's
    variables were made of it.
    """

    def __init__(
        self, flow: EstimatorFlow, setup: Setup, inputs: Inputs, changes: DriverEdits
    ) -> None:
        self.flow = flow
        self.setup = setup
        self.inputs = inputs
        self.changes = changes
        self.named: dict[ast.Call, str] = {}
        self.held: dict[DriverCall, str] = {}

    def specs(self) -> None:
        """What specs become: a variable with the dataset where the variable with the spec was."""
        for call in self.flow.driving.calls:
            for spec in (call.train_spec, call.eval_spec):
                if spec is not None and spec.node not in self.named:
                    self._spec(call, spec)

    def _spec(self, call: DriverCall, spec: Construction) -> None:
        module, source = spec.module, spec.module.source
        node = spec.arguments.get("input_fn")
        if node is None:
            raise Refused(module, spec.node, f"this {spec.kind} has no input_fn")
        statement = module.names.statement(spec.node)
        self.changes.replaced(spec.module, spec.node, DrivingRewriter)
        if statement is module.names.statement(call.node) and module is call.module:
            self.named[spec.node] = ""
            return
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(target, ast.Name) or statement_value(statement) is not spec.node:
            raise Refused(module, spec.node, f"where the {spec.kind} is passed cannot be analyzed")
        layout = Layout(source, statement)
        if not layout.owns_start:
            raise Refused(module, spec.node, f"where the {spec.kind} is passed cannot be analyzed")
        scope, old = module.names.scope_at(statement), target.id
        short = "train" if spec.kind == "TrainSpec" else "eval"
        stem = old[: -len("_spec")] if old.endswith("_spec") else short
        name = module.names.fresh(scope, f"{stem}_dataset", f"{short}_dataset", f"{short}_data")
        self.named[spec.node] = name
        if module is not call.module or scope is not module.names.scope_at(call.node):
            self._elsewhere(call, spec, target, name)
        head = f"{name} = "
        made = self.text(call, module, node, layout.indent, len(layout.indent) + len(head),
                             spec.kind == "TrainSpec") + taken(spec)  # fmt: skip
        lead = "".join(
            f"{c.text}{source.newline}{layout.indent}" for c in comments(source.code(statement))
        )
        self.changes.edit(module, Edit(layout.start, layout.end, lead + head + made))

    def _elsewhere(self, call: DriverCall, spec: Construction, made: ast.Name, name: str) -> None:
        """A spec that a helper makes: its variables hold the dataset, on the way to its use."""
        module = spec.module
        if self.setup.strategy is not None and spec.kind == "TrainSpec":
            raise Refused(module, spec.node, f"the {spec.kind} is made elsewhere",
                          "make it beside train_and_evaluate")  # fmt: skip
        goal = call.module.names.scope_at(call.node)
        for value in self.setup.values.places(module, spec.node):
            node = value.node
            if node is spec.node:
                continue
            if not isinstance(node, ast.Name):
                if isinstance(node, ast.Call) and self._takes(value.module, node):
                    continue
                raise Refused(
                    module, spec.node, f"where the {spec.kind} is passed cannot be analyzed"
                )
            scope = value.module.names.scope_at(node)
            bound = scope.bindings.get(node.id, [])
            if len(bound) != 1 or bound[0].kind == "parameter":
                raise Refused(value.module, node, f"the {spec.kind} is passed to a function")
            free = value.module.names.fresh(scope, name)
            if free != name and node.id != made.id:
                raise Refused(value.module, node, f"`{name}` means something else here")
            target = bound[0].node
            assert isinstance(target, ast.Name)
            if target is not made:
                self._rename(value.module, target, name)
            if scope is goal and value.module is call.module:
                self.named[spec.node] = name
            else:
                self._rename(value.module, node, name)

    def _takes(self, module: Module, call: ast.Call) -> bool:
        """`train_spec, eval_spec = specs()`, whose names are followed."""
        return isinstance(module.names.parents[call], ast.Assign)

    def _rename(self, module: Module, node: ast.Name, name: str) -> None:
        self.changes.edit(module, Edit(*module.source.span(node), name))

    def text(
        self,
        call: DriverCall,
        module: Module,
        node: ast.expr,
        indent: str,
        column: int,
        trains: bool,
    ) -> str:
        """The dataset of an input function: for training, each replica draws batches of its own."""
        if call in self.held and trains == call.trains:
            return self.held[call]
        source = module.source
        both = call.kind == TRAIN_AND_EVALUATE
        mode = MODES[EVALUATE if both and not trains else call.kind]
        base = indent + source.indent_unit
        if not trains or self.setup.strategy is None or shares_batch(self.flow.distribution):
            return self.inputs.dataset(module, node, mode, base)
        strategy = self.strategy_at(call, module, node)
        context = self.inputs.context = _context(node)
        made = self.inputs.dataset(module, node, mode, base)
        self.inputs.context = ""
        argument = f"lambda {context}: {made}"
        head = f"{strategy}.distribute_datasets_from_function"
        return FileStyle.of(source).call(head, [argument], indent, column)

    def strategy_at(self, call: DriverCall, module: Module, place: ast.AST) -> str:
        """The strategy's expression where a dataset is made."""
        strategy, flow = self.setup.strategy, self.flow
        assert strategy is not None
        given = self.setup.given_at(module, place)
        if given is not None:
            return given
        names = module.names
        base = strategy.split(".")[0]
        if module is flow.module and not base.startswith("self"):
            home = names.defining_scope(base, names.scope_at(flow.statement))
            own = home or names.scope_at(flow.statement)  # a name that is written just now
            here = names.defining_scope(base, names.scope_at(place))
            if here is home and (home is not None or names.scope_at(place) is own):
                return strategy
        if module is flow.module and base == "self" and names.scope_at(place).function():
            return strategy
        return f"{self.changes.receiver(call)}.distribute_strategy"


def taken(spec: Construction) -> str:
    """`EvalSpec` evaluates 100 batches unless it says otherwise."""
    if spec.kind != "EvalSpec" or "steps" in spec.arguments:
        return ""
    written = any(keyword.arg == "steps" for keyword in spec.node.keywords)
    return "" if written or len(spec.node.args) > 1 else ".take(100)"


def _context(node: ast.expr) -> str:
    """A name for the context of an input that an expression does not use."""
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return next(n for n in ("context", "input_context", "_", "unused") if n not in used)
