"""Summaries of a session's program: the operations that TF1 made, and the writer of TF2."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Sequence

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.summaries import ADD_SUMMARY, FILE_WRITER, SUMMARIES
from migrate_mgpu.models.front.session.host_objects import (
    EventWriter,
    Merge,
    Summary,
    TowerSummary,
    WriterCall,
)
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.ir import ShownGradients
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.models.keras.session.savers import code_of
from migrate_mgpu.source.blocks import leading
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle


class SummaryWriter:
    """Writes summaries, and what writes them to event files."""

    def __init__(
        self,
        program: SessionProgram,
        names: StepNames,
        style: FileStyle,
        dedent: Callable[[ast.AST], int],
        shown: Callable[[ast.stmt], str],
    ) -> None:
        """``shown`` gives the name of a step whose graph is known at a statement, or nothing."""
        self.program = program
        self.module = program.scope.module
        self.source = self.module.source
        self.names = names
        self.style = style
        self.dedent = dedent
        self.shown = shown
        self.found = EditSet()

    # -- in steps -----------------------------------------------------------------------

    def uses(self) -> dict[ast.AST, Replacement]:
        """What stands where a summary was made, or some were merged."""
        found: dict[ast.AST, Replacement] = {
            summary.call: self._one(summary)
            for summary in self.program.summaries
            if summary.variable is None and summary.gradients is None
        }
        found.update({call: self._merged(made) for call, made in self.program.merges.items()})
        for statement in self.program.summarizing:
            if isinstance(statement, ast.Assign) and statement.value not in found:
                assert isinstance(statement.value, ast.Call)
                found[statement.value] = self._listed(statement.value)
        return found

    def _one(self, summary: Summary) -> Replacement:
        def write(context: Context) -> str:
            text = self._text(summary, context)
            if summary in self.program.computed_summaries and summary.kind == "image":
                # TF2 does not compute this one eagerly.
                return f"{context.tf}.function(lambda: {text})()"
            return text

        return write

    def _text(self, summary: Summary, context: Context) -> str:
        row = next(row for row in SUMMARIES.rows if row.kind == summary.kind)
        tag = self.style.string(summary.tag)
        if summary.tower is not None and not summary.tower.first:
            tag = self._tag_of_tower(summary.tag, summary.tower, context)
        if summary.around is not None:
            quote = tag[0]
            before, behind = summary.around
            tag = f"f{quote}{before}{{name}}{behind}{quote}"
        given = [f"{row.parameters[0].new_name}={tag}"]
        for parameter in row.parameters[1:]:
            if parameter.name in summary.values:
                value = summary.values[parameter.name]
                given.append(f"{parameter.new_name}={self._value(summary, value, context)}")
        return f"{context.tf}.{row.target}({', '.join(given)})"

    def _of_each(self, summaries: Sequence[Summary]) -> str:
        """What stands above the summaries of each tower, with the values that it has."""
        every = dict.fromkeys(one.tower.each for one in summaries if one.tower)
        pairs = [(one.value.id, one.name) for one in every if one is not None and one.value]
        values, lists = ", ".join(pair[0] for pair in pairs), ", ".join(pair[1] for pair in pairs)
        taken, given = (f"({values})", f"zip({lists})") if len(pairs) > 1 else (values, lists)
        loop = f"for {self._index}, {taken} in enumerate({given})"
        return f"*[summary {loop} for summary in ("

    def _of_all_gradients(self, gradients: ShownGradients) -> str:
        """What stands above the summaries of each gradient, by the names of their variables."""
        computed = gradients.computed
        update = next(one for one in self.program.updates if one.computed is computed)
        pairs = f"zip({self.names.of_variables(update)}, {self.names.gradients})"
        return f"*[summary for name, gradient in {pairs} for summary in ("

    @property
    def _index(self) -> str:
        towers = self.program.scope.towers
        assert towers is not None
        return towers.index

    def _tag_of_tower(self, tag: str, tower: TowerSummary, context: Context) -> str:
        """`'tower_%d/loss' % i`, where that is the number of each, or of the last."""
        scope, index = tower.scope, self._index
        if tower.each is None:
            count = self.program.count
            text = f"{self.names.strategy}.num_replicas_in_sync"
            text = context.render(count) if count is not None else text
            index = f"{text} - 1"
        alone = scope.right if isinstance(scope, ast.BinOp) else None
        shown = f"({index})" if isinstance(alone, ast.Name) and " " in index else index
        names = [n for n in walk(scope) if isinstance(n, ast.Name) and n.id == self._index]
        replaced: dict[ast.AST, Replacement] = {n: lambda context: shown for n in names}
        end = tag if tower.label else f"/{tag}"
        if tower.again:
            text, between = self._rendered(scope, context, replaced), self.style.string("/")
            return f"{text} + {between} + {text} + {self.style.string('/' + tag)}"
        if isinstance(scope, ast.BinOp) and isinstance(scope.op, ast.Mod):
            left = constant(scope.left)
            if isinstance(left, str):
                whole = f"{tower.around.replace('%', '%%')}{left}{end.replace('%', '%%')}"
                text = self.style.string(whole)
                replaced[scope.left] = lambda context: text
                return self._rendered(scope, context, replaced)
        before = f"{self.style.string(tower.around)} + " if tower.around else ""
        behind = f" + {self.style.string(end)}" if end else ""
        return f"{before}{self._rendered(scope, context, replaced)}{behind}"

    def _rendered(
        self, node: ast.expr, context: Context, replaced: dict[ast.AST, Replacement]
    ) -> str:
        every = {**context.replaced, **replaced}
        return Context(context.module, context.style, None, context.names, every).render(node)

    def _value(self, summary: Summary, value: ast.expr, context: Context) -> str:
        if summary.gradients is not None:
            return self._of_gradient(summary, value, context)
        if summary.variable is not None:
            return code_of(self.source, self.names, summary.variable)
        each = summary.tower.each if summary.tower is not None and summary.tower.first else None
        if each is not None and each.value is not None:
            text = f"{each.name}[0]"
            own = (n for n in walk(value) if isinstance(n, ast.Name) and n.id == each.value.id)
            return self._rendered(value, context, {n: lambda context: text for n in own})
        return context.render(value)

    def _of_gradient(self, summary: Summary, value: ast.expr, context: Context) -> str:
        """What is computed of the gradient that a loop over all of them comes to."""
        loop, text = summary.statement, f"{self.names.gradients}[{summary.index}]"
        if summary.around is not None:
            text = "gradient"
        assert isinstance(loop, ast.For) and isinstance(loop.target, ast.Tuple)
        name = loop.target.elts[0]
        assert isinstance(name, ast.Name)
        mentions = (n for n in walk(value) if isinstance(n, ast.Name) and n.id == name.id)
        return self._rendered(value, context, {n: lambda context: text for n in mentions})

    def _merged(self, merge: Merge) -> Replacement:
        """All summaries in a list, each with the comments of its statement."""

        def write(context: Context) -> str:
            unit = self.source.indent_unit
            outer = len(self._indent(merge.statement)) + len(unit)  # it stands in a function
            lines: list[str] = []
            told: set[ast.stmt] = set()
            for apart, group in itertools.groupby(merge.summaries, _several):
                some = list(group)
                inside = 2 * unit if apart else unit
                if apart:
                    own = some[0].gradients
                    head = self._of_each(some) if own is None else self._of_all_gradients(own)
                    lines.append(f"{unit}{head}")
                for summary in some:
                    if summary.statement not in told and summary.statement is not merge.statement:
                        told.add(summary.statement)
                        above = self._comments(summary.statement)
                        lines += [inside + text for text in above if text]
                    text, column = self._text(summary, context), outer + len(inside)
                    lines.append(f"{inside}{self.style.fitted(text, inside, column, 1)},")
                lines += [f"{unit})],"] if apart else []
            head = f"{context.tf}.raw_ops.MergeSummary(inputs=["
            return "\n".join([head, *lines, "])"])

        return write

    def _comments(self, statement: ast.stmt) -> list[str]:
        """The comments of a statement, below those of a block of names that it begins."""
        block = self.module.names.parents.get(statement)
        if block is None:
            return []  # of another module, where its function stands
        own = leading(self.source, statement)
        begins = isinstance(block, ast.With) and block.body[0] is statement
        if not begins or block not in self.program.scope.blocks:
            return own
        return [*leading(self.source, block), *own]

    def _listed(self, call: ast.Call) -> Replacement:
        """`tf.summary.merge([loss_summary, accuracy_summary])`"""

        def write(context: Context) -> str:
            inputs = next(value for value in (*call.args, *(k.value for k in call.keywords)))
            return f"{context.tf}.raw_ops.MergeSummary(inputs={context.render(inputs)})"

        return write

    # -- writers ------------------------------------------------------------------------

    def made(self, writer: EventWriter) -> Iterator[Edit]:
        """`writer = tf.summary.create_file_writer(folder)`, and the graph of a step."""
        edit = CallEdit(self.source, writer.call, FILE_WRITER)
        edit.function(f"{self.style.tensorflow}.summary.create_file_writer")
        edit.drop(*writer.gone)
        yield from edit.edits()
        if writer.graph:
            lines = self._graph(writer.name, writer.statement)
            layout = Layout(self.source, writer.statement)
            indent = self._indent(writer.statement)
            text = "".join(f"{indent}{line}\n" for line in lines)
            if lines and layout.owns_lines:
                yield Edit(
                    layout.next_line, layout.next_line, text.replace("\n", self.source.newline)
                )
            if not lines:
                self._left_out(writer.call)

    def _left_out(self, node: ast.AST) -> None:
        text = "the graph is not written for TensorBoard: no step is known here"
        self.found.note(self.module, node, text)

    def _indent(self, node: ast.stmt) -> str:
        indent = self.source.indent_of(node)
        return indent[: len(indent) - self.dedent(node)]

    def _graph(self, receiver: str, statement: ast.stmt) -> list[str]:
        step = self.shown(statement)
        if not step:
            return []
        return [
            f"with {receiver}.as_default():",
            f"{self.source.indent_unit}{self.style.tensorflow}.summary.graph({step}.graph)",
        ]

    def calls(self) -> Iterator[Edit]:
        """`with writer.as_default(): tf.summary.experimental.write_raw_pb(summary, step)`"""
        for found in self.program.writer_calls:
            if found.kind == "add_summary":
                yield from self._written(found)
            elif found.kind == "add_graph":
                lines = self._graph(self.source.code(found.receiver), found.statement)
                if not lines:
                    self._left_out(found.call)
                text = f"\n{self._indent(found.statement)}".join(lines) or "pass"
                start, end = self.source.span(found.statement)
                yield Edit(start, end, text.replace("\n", self.source.newline))

    def _written(self, found: WriterCall) -> Iterator[Edit]:
        indent = self._indent(found.statement)
        start, _ = self.source.span(found.statement)
        writer = self.source.code(found.receiver)
        head = f"with {writer}.as_default():\n{indent}{self.source.indent_unit}"
        edit = CallEdit(self.source, found.call, ADD_SUMMARY)
        edit.function(f"{self.style.tensorflow}.summary.experimental.write_raw_pb")
        edit.rename("global_step", "step")
        edit.rename("summary", "tensor")
        edit.order(("tensor",))
        if edit.get("step") is None:
            edit.add("step", "0")
        for one in edit.edits():
            if one.start == start:
                text = head + one.new
                yield Edit(one.start, one.end, text.replace("\n", self.source.newline))
            else:
                yield one


def _several(summary: Summary) -> bool | ShownGradients:
    """Whether one stands for several, which a list makes: of towers, or of all gradients."""
    if summary.around is not None and summary.gradients is not None:
        return summary.gradients
    return summary.in_each
