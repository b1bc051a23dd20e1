"""The Keras model of a ``model_to_estimator`` under its strategy, and in the Estimator's place."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Scope
from migrate_mgpu.analysis.scopes import line_of, walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.keras import COMPILE
from migrate_mgpu.core.findings import NETWORK
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.parts import INSIDE_STATEMENT, EstimatorFlow
from migrate_mgpu.models.front.estimators.settings import folder_of
from migrate_mgpu.models.front.rewriters import CannedRewriter
from migrate_mgpu.models.ir import EVALUATE, KerasModel, NamedMetric
from migrate_mgpu.models.keras.constructors import made_edits
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.keras_optimizers import compiled_edits
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.models.properties import strategies_of
from migrate_mgpu.source.blocks import Block, outermost
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout, comments_above
from migrate_mgpu.source.style import FileStyle


@record(kw_only=True)
class KerasPlan(ModelPlan):
    """A Keras model that was an Estimator's.

    ``own`` are the edits of Keras's own calls, ``handled`` the optimizer's constructor, whose
    function is among them.
    """

    model: KerasModel
    own: EditSet = field(default_factory=EditSet)
    handled: set[ast.Call] = field(default_factory=set)


def plan(flow: EstimatorFlow, model: KerasModel, style: FileStyle) -> KerasPlan:
    """What becomes of Keras's own calls in a model.

    Raises:
        Refused: today's Keras has no optimizer that does the same.
    """
    compiled, module = model.compiled, model.compiled.module
    found = KerasPlan(model.module, flow.call, model=model)
    for part in model.parts:
        own = style if part.module is flow.module else style_at(part.module, part.node)
        found.own.edit(part.module, *made_edits(part, own))
    edit = CallEdit(module.source, compiled.node, COMPILE)
    edit.drop(*COMPILE[3:])
    edit.order(COMPILE[:2])
    found.own.edit(module, *edit.edits())
    if compiled.optimizer is not None:
        call, home = compiled.optimizer.node, compiled.optimizer.module
        assert isinstance(call, ast.Call)
        own = style if home is flow.module else style_at(home, call)
        edits = compiled_edits(compiled.optimizer, own)
        found.own.edit(home, *Context(home, own).with_arguments(call, edits))
        found.handled.add(call)
    if compiled.elementwise:
        found.note(
            module, compiled.loss, "1.15 compares labels of shape [n] with outputs of shape [n, 1] "
            "each with each; Keras pairs them: give such labels a last axis to compare the two",
            NETWORK,
        )  # fmt: skip
    found.metrics = tuple(metric.reported for metric in compiled.metrics)
    if _result_is_read(flow):
        for metric in compiled.metrics:
            found.own.edit(module, *metric_edits(module, metric))
    return found


def metric_edits(module: Module, metric: NamedMetric) -> tuple[Edit, ...]:
    """1.15's name for a metric, under which its value is reported then as before."""
    if metric.given == metric.reported:
        return ()
    quote = module.source.quote
    return (Edit(*module.source.span(metric.node), f"{quote}{metric.reported}{quote}"),)


def _result_is_read(flow: EstimatorFlow) -> bool:
    """Whether the program takes the result of an evaluation."""
    return any(
        call.kind == EVALUATE and not isinstance(call.module.names.parents[call.node], ast.Expr)
        for call in flow.driving.calls
    )


def place(
    flow: EstimatorFlow,
    plan: KerasPlan,
    strategy: str | None,
    style: FileStyle,
    changes: DriverEdits,
) -> None:
    """Writes the model's statements under the strategy, and takes the Estimator away.

    Raises:
        Refused: the model is made where its strategy is not known, and cannot move.
    """
    _Placing(flow, plan, strategy, style, changes).run()


class _Placing:
    def __init__(
        self,
        flow: EstimatorFlow,
        plan: KerasPlan,
        strategy: str | None,
        style: FileStyle,
        changes: DriverEdits,
    ) -> None:
        self.flow = flow
        self.module = flow.module
        self.plan = plan
        self.model = plan.model
        self.strategy = strategy
        self.style = style
        self.changes = changes
        self.names = flow.module.names
        self.scope = self.names.scope_at(flow.statement)

    def run(self) -> None:
        flow, changes = self.flow, self.changes
        layout = Layout(self.module.source, flow.statement)
        if not layout.owns_start:
            raise Refused(
                self.module, flow.call, "the Estimator is made in the middle of a statement",
                "assign it to a separate variable", INSIDE_STATEMENT,
            )  # fmt: skip
        renamed = self._renamed()
        moved = self._scoped(renamed)
        for module, edits in self.plan.own.edits.items():
            for edit in edits:
                if not any(_inside(module, edit, self.module, s) for s in moved):
                    changes.edit(module, edit)
        for call in self.plan.handled:
            changes.gone.add(call.func)
            changes.moved.add(call)
        changes.replaced(self.module, flow.call, CannedRewriter)
        text = "the Estimator trained a copy of the Keras model; now the model itself is trained"
        changes.note(self.module, flow.call, text)

    # -- the Estimator's own name -----------------------------------------------

    def _renamed(self) -> bool:
        """Whether the model's own name takes the place of the Estimator's everywhere."""
        value, statement = self.model.value, self.flow.statement
        if not isinstance(value, ast.Name) or not isinstance(statement, ast.Assign):
            return False
        target = statement.targets[0]
        if statement.value is not self.flow.call or len(statement.targets) != 1:
            return False
        if not isinstance(target, ast.Name):
            return False
        home = self._defining_scope(target)
        if (
            home is None
            or len(home.bindings[target.id]) != 1
            or self._defining_scope(value) is not home
        ):
            return False
        driving = self.flow.driving
        known = {call.receiver for call in driving.calls}
        known |= {part for query in driving.queries for part in walk(query.node)}  # type: ignore[misc]
        for mention in self.names.mentions(target.id, home):
            if isinstance(mention.ctx, ast.Load) and mention not in known:
                return False
        if any(call.module is not self.module for call in driving.calls):
            return False
        self.changes.model_name = value.id
        return True

    def _defining_scope(self, name: ast.Name) -> Scope | None:
        return self.names.defining_scope(name.id, self.names.scope_of_name[name])

    # -- the strategy's scope -----------------------------------------------------

    def _scoped(self, renamed: bool) -> list[ast.stmt]:
        """Writes the statements; which ones were written anew."""
        source, statement = self.module.source, self.flow.statement
        layout = Layout(source, statement)
        inline = isinstance(self.model.value, ast.Call)
        own = [] if renamed else [self._taken(inline)]
        if self.strategy is None:
            lines = own
            if not lines and layout.trailing_comment:
                lines = [layout.trailing_comment]
            self.changes.edit(self.module, self._replaced(layout, lines))
            return [statement] if inline else []
        head = f"with {self.strategy}.scope():"
        if inline:
            lines = [head, self.style.indent + own[0]]
            self.changes.edit(self.module, self._replaced(layout, lines))
            return [statement]
        if not isinstance(self.model.value, ast.Name):
            raise Refused(
                self.module, self.model.value, "the Keras model is made where its strategy is not "
                "known", "make both in one function, the model by a name",
            )  # fmt: skip
        block = self._range()
        text = self._written(block, layout.indent, head)
        self.changes.gone |= {part for s in block for part in walk(s)}
        if self._strategy_is_known(block[0]) and folder_of(self.flow) is None:
            start, end = self._span(block)
            self.changes.edit(self.module, Edit(start, end, text))
            self.changes.edit(self.module, self._replaced(layout, own))
            return [*block, statement]
        self._check_independent(block)
        start, end = self._span(block)
        self.changes.edit(self.module, Edit(start, self._blank_lines(end), ""))
        below = "".join(f"{layout.indent}{line}{source.newline}" for line in own)
        self.changes.edit(self.module, Edit(layout.line_start, layout.next_line, text + below))
        return [*block, statement]

    def _replaced(self, layout: Layout, lines: list[str]) -> Edit:
        """The Estimator's statement as other lines; its function may not end empty."""
        if not lines and len(self.names.block(self.flow.statement)) == 1:
            lines = ["pass"]
        return layout.replace(lines)

    def _taken(self, inline: bool) -> str:
        """The statement with the model in the place of the Estimator, as one line."""
        source, statement = self.module.source, self.flow.statement
        start, end = source.span(self.flow.call)
        first, last = source.span(statement)
        value = self._text(self.model.value) if inline else text_of(self.module, self.model.value)
        rest = source.text[end:last] + Layout(source, statement).rest
        return source.text[first:start] + value + rest

    def _text(self, node: ast.expr) -> str:
        source = self.module.source
        start, end = source.span(node)
        edits = [
            e for e in self.plan.own.edits.get(self.module, ()) if start <= e.start and e.end <= end
        ]
        return splice(source.text, edits, start, end)

    def _range(self) -> list[ast.stmt]:
        """The statements of the block from the first to the last that makes the model."""
        whole = self.names.block(self.flow.statement)
        places: list[int] = []
        for statement in self.model.building:
            around = [statement, *self.names.ancestors(statement)]
            index = next((i for i, s in enumerate(whole) if s in around), None)
            if index is None:
                raise Refused(
                    self.module, statement, "the Keras model is made in another block than its "
                    "Estimator", "make both in one",
                )  # fmt: skip
            if whole[index] is not self.flow.statement:
                places.append(index)
        if not places:
            raise Refused(
                self.module, self.flow.call, "the Keras model is made where its strategy is not "
                "known", "make both in one function",
            )  # fmt: skip
        found = whole[min(places) : max(places) + 1]
        inside = {part for s in found for part in walk(s)}
        flow = self.flow
        others: set[ast.AST] = {one.node for one in (*flow.driving.calls, *flow.config.made)}
        others |= {one.node for one in strategies_of(flow.distribution.choices)}
        if inside & others:
            raise Refused(
                self.module, found[0], "between the Keras model's statements something else of the "
                "Estimator is made", "make the model in one place",
            )  # fmt: skip
        return found

    def _written(self, block: list[ast.stmt], indent: str, head: str) -> str:
        """The model's statements under the strategy's scope."""
        source = self.module.source
        own = self.plan.own.edits.get(self.module, [])
        body = Block(source, indent + self.style.indent)
        for index, statement in enumerate(block):
            kept: dict[ast.AST, Replacement] = dict.fromkeys(self.plan.handled, _nothing)
            edits = Context(self.module, self.style, replaced=kept).edits(statement)
            handled = [source.span(call) for call in self.plan.handled]
            edits = [e for e in edits if (e.start, e.end) not in handled]
            every = outermost([*own, *edits])
            if index:
                body.statement(statement, every)
                continue
            for line in comments_above(self.module.source, statement):
                body.line(line)
            below = Block(source, body.indent)
            below.statement(statement, every)
            while below.lines and below.lines[0].lstrip().startswith("#"):
                below.lines.pop(0)
            body.lines += [line for line in below.lines if line]
        return f"{indent}{head}{source.newline}{body.text()}"

    def _span(self, block: list[ast.stmt]) -> tuple[int, int]:
        """Where whole lines of a block begin and end, the comments above it included."""
        source = self.module.source
        first, last = Layout(source, block[0]), Layout(source, block[-1])
        lines = range(block[0].lineno, self.flow.statement.lineno)
        if any(source.line_text(line).startswith("# %%") for line in lines):
            raise Refused(
                self.module, block[0], "the Keras model and its Estimator are made in two cells",
                "make both in one",
            )  # fmt: skip
        if not first.owns_start or not last.owns_lines:
            raise Refused(self.module, block[0], "the Keras model shares a line with something")
        above = len(comments_above(self.module.source, block[0]))
        return source.line_starts[block[0].lineno - 1 - above], last.next_line

    def _blank_lines(self, end: int) -> int:
        """The end of the blank lines below a place."""
        text = self.module.source.text
        while end < len(text):
            line = text[end:].split("\n", 1)[0]
            if line.strip() or end + len(line) >= len(text):
                break
            end += len(line) + 1
        return end

    def _strategy_is_known(self, first: ast.stmt) -> bool:
        """Whether the strategy is made above the model."""
        assert self.strategy is not None
        home = self.names.defining_scope(self.strategy, self.scope)
        if not self.strategy.isidentifier() or home is None:
            return False
        if home is not self.scope:
            return not home.is_module
        lines = [line_of(b.node) for b in home.bindings[self.strategy]]
        return max(lines, default=first.lineno) < first.lineno

    def _check_independent(self, block: list[ast.stmt]) -> None:
        """What stands between the model and its Estimator must not care which comes first."""
        whole = self.names.block(self.flow.statement)
        between = whole[whole.index(block[-1]) + 1 : whole.index(self.flow.statement)]
        for statement in between:
            taken = _stored(block) & _names(statement) or _stored([statement]) & _names(*block)
            if taken:
                raise Refused(
                    self.module, statement, f"`{sorted(taken)[0]}` stands between the Keras model "
                    "and its strategy", "make the strategy before the model",
                )  # fmt: skip


def _nothing(context: Context) -> str:
    return ""


def _names(*nodes: ast.AST) -> set[str]:
    return {part.id for node in nodes for part in walk(node) if isinstance(part, ast.Name)}


def _stored(block: list[ast.stmt]) -> set[str]:
    return {
        part.id
        for statement in block
        for part in walk(statement)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


def _inside(module: Module, edit: Edit, other: Module, statement: ast.stmt) -> bool:
    """Whether an edit lies inside of a statement that is written anew."""
    if module is not other:
        return False
    start, end = module.source.span(statement)
    return start <= edit.start and edit.end <= end
