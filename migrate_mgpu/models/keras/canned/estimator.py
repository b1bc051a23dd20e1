"""A canned Estimator as a Keras model: its class, its constructor's call, its ``compile``."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.feature_columns import (
    COLUMN_TENSORS,
    COLUMN_VALUES,
    SHARED_COLUMN_TENSORS,
    WEIGHTED_COLUMNS,
)
from migrate_mgpu.api.heads import Task
from migrate_mgpu.api.schema import Definition
from migrate_mgpu.core.findings import EVALUATION, NETWORK
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.ir import CannedModel, Part
from migrate_mgpu.models.keras.canned.combined import combined_body
from migrate_mgpu.models.keras.canned.heads import HeadWriter
from migrate_mgpu.models.keras.canned.network import PartWriter
from migrate_mgpu.models.keras.canned.optimizer import write_optimizer
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.models.keras.metrics import metric_classes, result_object
from migrate_mgpu.models.keras.shared_columns import share_columns
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.new_code import Code, lines
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments_of, is_comment
from migrate_mgpu.source.style import FileStyle


@record()
class CannedPlan(ModelPlan):
    """A model that a canned Estimator becomes.

    ``head`` is the class, ``arguments`` the pieces of its constructor's call, ``compiled``
    those of ``compile`` (comments among them), ``task`` what its head is for.
    ``keeps_columns``: it asks the columns that the program makes when it runs, and what makes
    them stays.
    """

    head: str = ""
    arguments: list[str] = field(default_factory=list)
    compiled: list[str] = field(default_factory=list)
    keeps_columns: bool = False
    task: Task = Task.NUMBER


class CannedClasses:
    """The classes that are written in a run, by module: equal ones once, others by other names."""

    def __init__(self) -> None:
        self._texts: dict[tuple[int, str], str] = {}
        self.edits: dict[tuple[int, str], Edit] = {}

    def name(self, module: Module, wished: str, text: str) -> str:
        """The name for a class of a text."""
        names = module.names
        number = 1
        while True:
            tried = wished if number == 1 else f"{wished}{number}"
            known = self._texts.get((id(module), tried))
            if known == text:
                return tried
            if known is None and names.fresh(names.module_scope, tried) == tried:
                self._texts[id(module), tried] = text
                return tried
            number += 1


def write_canned(model: CannedModel, style: FileStyle, classes: CannedClasses) -> CannedPlan:
    """The Keras model that a canned Estimator becomes.

    Raises:
        Refused: something of it has no place or no equal.
    """
    return _Writer(model, style, classes).plan()


class _Writer:
    def __init__(self, model: CannedModel, style: FileStyle, classes: CannedClasses) -> None:
        self.model = model
        self.module = model.module
        self.source = model.module.source
        self.style = style
        self.classes = classes
        self.head = HeadWriter(model.head, style)
        alone = len(model.parts) == 1
        self.columns: list[str] = []  # the classes of columns that are made when the program runs
        self.parts = [
            PartWriter(part, self.head, style, alone, self._column_class(part))
            for part in model.parts
        ]
        self.result = CannedPlan(self.module, model.node, predicts=model.predicts)

    def plan(self) -> CannedPlan:
        plan, model = self.result, self.model
        optimizers = [write_optimizer(part.optimizer, self.style) for part in model.parts]
        for writer in self.parts:
            plan.edit(self.module, *writer.edits)
            plan.arguments += writer.arguments
            plan.has_layer_lists |= writer.has_layer_lists
            share_columns(plan, writer.part.shared)
        if model.head.classes is not None:
            plan.arguments.append(f"n_classes={text_of(self.module, model.head.classes)}")
        plan.keeps_columns = bool(self.columns)
        plan.task = self.head.row.task
        plan.metrics = self.head.results(model.results)
        metrics, made = self.head.metrics(plan.metrics)
        plan.metrics = (*plan.metrics, *model.added)
        metrics += [result_object(r, name, "", self.style) for name, r in model.added.items()]
        more = metric_classes(model.added.values(), self.style)
        made += [text for text in more if text not in made]
        self._compiled([text for text, _ in optimizers], metrics)
        own = [text for _, texts in optimizers for text in texts]
        self._write([*own, *made, *self.columns, *self._networks()])
        self._notes()
        self._remove()
        return plan

    # -- classes ------------------------------------------------------------------

    def _networks(self) -> list[str]:
        """The classes of the network; the last one is the model's."""
        step = self.head.predict_step(self.model.exports) if self.model.predicts else []
        if len(self.parts) == 1:
            return [self._class(self.model.name, "Model", self.parts[0].body(step))]
        texts: list[str] = []
        named: list[tuple[PartWriter, str]] = []
        for writer in self.parts:
            # Keras 3 calls variables by their layers' classes, TF1 by these.
            wished = "LinearModel" if writer.part.linear else "DNN"
            texts.append(self._class(wished, "layers.Layer", writer.body()))
            named.append((writer, self.result.head))
        body = combined_body(self.style, self.model, named, self.head, step)
        return [*texts, self._class(self.model.name, "Model", body)]

    def _column_class(self, part: Part) -> str:
        """The name of the class of a part's columns, with those that it needs."""
        if part.objects is None:
            return ""
        values = self._defined(COLUMN_VALUES)
        definition = SHARED_COLUMN_TENSORS if part.shared else COLUMN_TENSORS
        tensors = self._defined(definition, values=values)
        if not part.linear:
            return tensors
        return self._defined(WEIGHTED_COLUMNS, values=values, columns=tensors)

    def _defined(self, definition: Definition, **others: str) -> str:
        text = definition.text
        name = self.classes.name(self.module, definition.name, text)
        shown = self.style.code(text, name=name, **others).rstrip("\n")
        if shown not in self.columns:
            self.columns.append(shown)
        return name

    def _class(self, wished: str, base: str, lines: list[str]) -> str:
        body = "\n".join(lines)
        name = self.result.head = self.classes.name(self.module, wished, body)
        return f"class {name}({self.style.tensorflow}.keras.{base}):\n{body}"

    def _write(self, classes: list[str]) -> None:
        """Puts the classes above the code that makes the model, each once in a module."""
        newline = self.source.newline
        place, above, below = self._place()
        edits = self.result.edits.setdefault(self.module, [])
        for text in dict.fromkeys(classes):
            key = id(self.module), text
            if key not in self.classes.edits:
                shown = newline * above + text.replace("\n", newline) + newline * below
                self.classes.edits[key] = Edit(place, place, shown)
            edits.append(self.classes.edits[key])

    def _place(self) -> tuple[int, int, int]:
        """Where classes stand, below the functions of a script; the line ends around each."""
        module, source, names = self.module, self.source, self.module.names
        statement = names.statement(self.model.node)
        around = [statement, *names.ancestors(statement)]
        body = module.tree.body
        index = next(i for i, s in enumerate(body) if s in around)
        definitions = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
        notebook = module.path.suffix == ".ipynb"  # nothing stands between two cells
        if isinstance(body[index], definitions) or notebook:
            line = source.place(Layout(source, body[index]).line_start)[0]
            return source.line_starts[self._above(line) - 1], 0, 3
        heads = (*definitions, ast.Import, ast.ImportFrom)
        last = max((i for i in range(index) if isinstance(body[i], heads)), default=-1)
        if last < 0:
            raise Refused(module, self.model.node, "nothing is imported above the Estimator")
        place = Layout(source, body[last]).next_line
        if place < len(source.text) and not source.line_text(source.place(place)[0]).strip():
            return place, 2, 1
        return place, 2, 3

    def _above(self, line: int) -> int:
        """The first of the comments right above a line."""
        while line > 1 and is_comment(self.source.line_text(line - 1)):
            line -= 1
        return line

    # -- compile ------------------------------------------------------------------

    def _compiled(self, optimizers: list[str], metrics: list[Code]) -> None:
        compiled, head, unit = self.result.compiled, self.model.head, self.style.indent
        parts = [*zip(self.model.parts, optimizers)][::-1]
        own = [
            f"{given.named} with {given.optimizer.settings['learning_rate']}"
            for given in (part.optimizer for part, _ in parts)
            if given.named
        ]
        own += [] if head.stated else ["the sum over a batch"]
        if own:
            compiled.append(f"# The canned Estimator's own: {', '.join(own)}.")
        for part, text in parts:
            if part.optimizer.statement is not None:
                compiled += comments_of(self.source, part.optimizer.statement)
            compiled.append(f"{part.prefix}optimizer={text},")
        if head.statement is not None:
            compiled += comments_of(self.source, head.statement)
        compiled.append(f"loss={self.head.loss()},")
        compiled.append("metrics=[" if head.weights is None else "weighted_metrics=[")
        within = unit * 3  # they stand two levels deep, perhaps in a function
        for metric in metrics:
            written = lines(metric, within, unit, tail=",")
            compiled += [unit + line[len(within) :] for line in written]
        compiled.append("],")

    def _notes(self) -> None:
        module, call, results = self.module, self.model.node, self.model.results
        if not self.model.head.stated:
            self.result.note(
                module, call, "1.15's canned Estimators take the sum of a batch as their loss; "
                "should the program be TF2's already, its loss is the mean", NETWORK,
            )  # fmt: skip
        if results is None or "loss" in results:
            self.result.note(
                module, call, "an evaluation's `loss` is the same where all batches are of one "
                "size; `average_loss` always is", EVALUATION,
            )  # fmt: skip

    # -- what goes ----------------------------------------------------------------

    def _remove(self) -> None:
        """TF1's own nodes go, and the lines of statements that made nothing else."""
        model, gone = self.model, self.result.gone
        for part in model.parts:
            if part.numbers is not None:
                gone.update(key.call for key in part.numbers.keys)
            if not part.optimizer.named:
                gone |= set(ast.walk(part.optimizer.optimizer.node))
        if model.head.node is not model.node:
            gone |= set(ast.walk(model.head.node))
        taken: set[int] = set()  # lines
        for statement in model.statements:
            line = statement.lineno
            taken.update(range(self._above(line), (statement.end_lineno or line) + 1))
            gone |= set(ast.walk(statement))
        starts, text = self.source.line_starts, self.source.text
        for line in sorted(taken | self._blank(taken)):
            end = starts[line] if line < len(starts) else len(text)
            # A line each: another Estimator of the same columns takes the same ones away.
            self.result.edit(self.module, Edit(starts[line - 1], end, ""))

    def _blank(self, taken: set[int]) -> set[int]:
        """The blank lines below lines that go, where blank lines or a beginning are above them."""
        source, last = self.source, len(self.source.line_starts)
        found: set[int] = set()
        for line in sorted(taken):
            above = line - 1
            while above in taken or above in found:
                above -= 1
            first = source.line_text(above) if above >= 1 else ""
            if line + 1 in taken or (first.strip() and not first.startswith("# %%")):
                continue
            below = line + 1
            while below < last and not source.line_text(below).strip():
                below += 1
            if not source.line_text(below).startswith("# %%"):
                found.update(range(line + 1, below))
        return found
