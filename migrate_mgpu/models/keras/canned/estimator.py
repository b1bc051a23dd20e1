"""A canned Estimator as a Keras model: its class, its constructor's call, its ``compile``."""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.canned.column_names import is_comment, taken_by_another
from migrate_mgpu.models.front.canned.heads import read_head
from migrate_mgpu.models.front.canned.parts import Part, PartReader
from migrate_mgpu.models.front.canned.results import wanted_results
from migrate_mgpu.models.front.canned.version import check_version
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.signatures import SIGNATURES
from migrate_mgpu.models.keras.canned.combined import PART_CLASSES, combined_body
from migrate_mgpu.models.keras.canned.heads import HeadWriter
from migrate_mgpu.models.keras.canned.network import folded
from migrate_mgpu.models.keras.canned.optimizer import write_optimizer
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.models.properties import predicts
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

_ADVICE = "write its model in Keras"
_REFUSED = ("input_layer_partitioner", "partitioner", "warm_start_from")
_NOT_NONE = (
    "activation_fn", "label_dimension", "loss_reduction", "n_classes", "optimizer",
    "dnn_activation_fn", "dnn_optimizer", "linear_optimizer",
)  # fmt: skip


@record()
class CannedPlan(ModelPlan):
    """A model that a canned Estimator becomes.

    ``head`` is the class, ``given`` the pieces of its constructor's call, ``compiled``
    those of ``compile`` (comments among them), ``statements`` what made nothing but its
    columns or optimizer and goes.
    """

    head: str = ""
    given: list[str] = field(default_factory=list)
    compiled: list[str] = field(default_factory=list)
    statements: list[ast.stmt] = field(default_factory=list)


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


def read_canned(
    flow: EstimatorFlow, graph: CallGraph, style: FileStyle, classes: CannedClasses
) -> CannedPlan:
    """The Keras model that a canned Estimator becomes.

    Raises:
        Refused: a column, or an argument, that is not known.
    """
    return _Reader(flow, graph, style, classes).plan()


class _Reader:
    def __init__(
        self, flow: EstimatorFlow, graph: CallGraph, style: FileStyle, classes: CannedClasses
    ) -> None:
        self.flow = flow
        self.module = flow.module
        self.source = flow.module.source
        self.graph = graph
        self.style = style
        self.classes = classes
        self.distributed = bool(flow.distribution.training)
        self.parts = PartReader(flow, graph, style, self.distributed)

    def plan(self) -> CannedPlan:
        flow, module = self.flow, self.module
        self.result = CannedPlan(module, flow.call, predicts=predicts(flow.driving))
        for name in _REFUSED:
            if name in flow.arguments:
                raise Refused(
                    module, flow.arguments[name], f"`{name}` of a {flow.class_name}", _ADVICE
                )
        normal = flow.arguments.get("batch_norm")
        if normal is not None and constant(normal) is not False:
            raise Refused(module, normal, f"`batch_norm` of a {flow.class_name}", _ADVICE)
        check_version(module, flow.call)
        self._check_none()
        facts = read_head(flow)
        head = HeadWriter(facts, self.style)
        if facts.node is not flow.call:
            self.result.gone |= set(ast.walk(facts.node))
        parts = self.parts.read(head)
        self.optimizers = {
            part.kind: write_optimizer(part.optimizer, self.style)
            for part in parts
            if part.optimizer is not None
        }
        parts[0].columns.statements += [facts.statement] if facts.statement is not None else []
        self.result.has_layer_lists = any(part.network.has_layer_lists for part in parts)
        for part in parts:
            self.result.merge(part)
            self.result.given += part.given
        if facts.classes is not None:
            self.result.given.append(f"n_classes={text_of(module, facts.classes)}")
        step = head.predict_step() if predicts(flow.driving) else []
        wanted = wanted_results(flow, self.graph)
        keys = head.results(wanted)
        self._notes(wanted, facts.stated)
        self.result.metrics = keys
        metrics, classes = head.metrics(keys)
        self._compiled(head, parts, metrics)
        own = [text for _, classes in self.optimizers.values() for text in classes]
        self._write([*own, *classes, *self._networks(parts, head, step)])
        self._removed(parts)
        return self.result

    def _networks(self, parts: list[Part], head: HeadWriter, step: list[str]) -> list[str]:
        """The classes of the network; the last one is the model's."""
        if not self.parts.combined:
            return [self._class(self.flow.class_name, "Model", parts[0].network.body(step))]
        texts: list[str] = []
        names: dict[str, str] = {}
        for part in parts:
            body = part.network.body([])
            texts.append(self._class(PART_CLASSES[part.kind], "layers.Layer", body))
            names[part.kind] = self.result.head
        body = combined_body(self.style, parts, names, head, step, self.distributed)
        return [*texts, self._class(self.flow.class_name, "Model", body)]

    def _class(self, wished: str, base: str, body: str) -> str:
        name = self.result.head = self.classes.name(self.module, wished, body)
        text = f"class {name}({self.style.tensorflow}.keras.{base}):\n{body}"
        return "\n".join(self._levels(line) for line in text.split("\n"))

    def _notes(self, wanted: set[str] | None, stated: bool) -> None:
        module, call = self.module, self.flow.call
        if not stated:
            self.result.notes.append((
                module, call, "1.15's canned Estimators take the sum of a batch as their loss; "
                "should the program be TF2's already, its loss is the mean",
            ))  # fmt: skip
        if wanted is None or "loss" in wanted:
            self.result.notes.append((
                module, call, "an evaluation's `loss` is the same where all batches are of one "
                "size; `average_loss` always is",
            ))  # fmt: skip

    def _check_none(self) -> None:
        """None means something else than the default here."""
        call, signature = self.flow.call, SIGNATURES[self.flow.class_name]
        given = [*zip(signature, call.args), *((k.arg, k.value) for k in call.keywords)]
        for name, value in given:
            if name in _NOT_NONE and is_none(value):
                raise Refused(
                    self.module, value, f"`{name}=None` of a {self.flow.class_name}",
                    "leave it out, or say what is meant",
                )  # fmt: skip

    # -- the call and compile ---------------------------------------------------

    def _compiled(self, head: HeadWriter, parts: list[Part], metrics: list[str]) -> None:
        compiled = self.result.compiled
        optimizers = [
            (part, part.optimizer) for part in reversed(parts) if part.optimizer is not None
        ]
        own = [
            f"{optimizer.named} with {optimizer.optimizer.settings['learning_rate']}"
            for _, optimizer in optimizers
            if optimizer.named
        ]
        own += [] if head.head.stated else ["the sum over a batch"]
        if own:
            compiled.append(f"# The canned Estimator's own: {', '.join(own)}.")
        for part, optimizer in optimizers:
            compiled += [line for s in optimizer.statements for line in part.columns.comments_of(s)]
            compiled.append(f"{part.prefix}optimizer={self.optimizers[part.kind][0]},")
        columns = parts[0].columns
        if head.head.statement is not None:
            compiled += columns.comments_of(head.head.statement)
        compiled.append(f"loss={head.loss()},")
        unit = self.style.indent
        compiled.append("metrics=[" if head.head.weights is None else "weighted_metrics=[")
        for metric in metrics:  # they stand two levels deep, perhaps in a function
            lines = folded(f"{' ' * 12}{metric},").split("\n")
            compiled += [unit + self._levels(line.removeprefix(" " * 12)) for line in lines]
        compiled.append("],")

    # -- where it stands ----------------------------------------------------------

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
        statement = self.flow.statement
        around = [statement, *names.ancestors(statement)]
        body = module.tree.body
        index = next(i for i, s in enumerate(body) if s in around)
        definitions = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
        notebook = module.path.suffix == ".ipynb"  # nothing stands between two cells
        if isinstance(body[index], definitions) or notebook:
            line = source.place(Layout(source, body[index]).line_start)[0]
            while line > 1 and is_comment(source.line_text(line - 1)):
                line -= 1
            return source.line_starts[line - 1], 0, 3
        heads = (*definitions, ast.Import, ast.ImportFrom)
        last = max((i for i in range(index) if isinstance(body[i], heads)), default=-1)
        if last < 0:
            raise Refused(module, self.flow.call, "nothing is imported above the Estimator")
        place = Layout(source, body[last]).next_line
        if place < len(source.text) and not source.line_text(source.place(place)[0]).strip():
            return place, 2, 1
        return place, 2, 3

    def _levels(self, line: str) -> str:
        return re.sub(r"^( +)", self._indented, line)

    def _indented(self, found: re.Match[str]) -> str:
        return self.style.indent * (len(found.group(1)) // 4)

    def _removed(self, parts: list[Part]) -> None:
        """The statements that made columns go; nothing else may need what they made."""
        module, names = self.module, self.module.names
        found = [s for part in parts for s in part.columns.statements]
        statements = self.result.statements = list(dict.fromkeys(found))
        gone = {part for s in (*statements, self.flow.call) for part in ast.walk(s)}
        for statement in statements:
            if isinstance(statement, ast.FunctionDef):
                self._only_columns(statement, statements)
            given = statement.targets if isinstance(statement, ast.Assign) else ()
            if isinstance(statement, ast.For):
                self._loop_alone(statement, gone)
            for target in (t for g in given for t in (g.elts if isinstance(g, ast.Tuple) else [g])):
                if not isinstance(target, ast.Name):
                    raise Refused(module, target, "how this is handed on is not followed")
                home = names.defining_scope(target.id, names.scope_of_name[target])
                for mention in names.mentions(target.id, home) if home is not None else ():
                    if mention not in gone and not taken_by_another(module, mention):
                        raise Refused(
                            module, mention, f"`{target.id}` is used for more than the Estimator",
                            "write its model in Keras",
                        )  # fmt: skip
        taken: set[int] = set()  # lines
        for statement in sorted(statements, key=lambda s: s.lineno):
            layout = Layout(self.source, statement)
            if not layout.owns_lines:
                raise Refused(module, statement, "this shares its line with something")
            line = statement.lineno
            while line > 1 and is_comment(self.source.line_text(line - 1)):
                line -= 1
            taken.update(range(line, (statement.end_lineno or line) + 1))
            self.result.gone |= set(ast.walk(statement))
        starts, text = self.source.line_starts, self.source.text
        for line in sorted(taken | self._blank(taken)):
            end = starts[line] if line < len(starts) else len(text)
            # A line each: another Estimator of the same columns takes the same ones away.
            self.result.edit(module, Edit(starts[line - 1], end, ""))

    def _loop_alone(self, loop: ast.For, gone: set[ast.AST]) -> None:
        """What a loop that goes leaves in its variables is asked by nothing behind it."""
        module, names = self.module, self.module.names
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
                        module, mention, f"`{part.id}` is used behind the loop of the columns",
                        "give the loop a variable of its own",
                    )  # fmt: skip

    def _only_columns(self, function: ast.FunctionDef, statements: list[ast.stmt]) -> None:
        """A function that goes makes columns, and does nothing else."""
        for statement in function.body:
            text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if statement not in statements and not text and not isinstance(statement, ast.Return):
                raise Refused(
                    self.module, statement, f"{function.name} does more than make the Estimator's "
                    "columns", "write the columns as a list",
                )  # fmt: skip

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


__all__ = ["CannedClasses", "CannedPlan", "read_canned"]
