"""Savers of a session's program, in TF2 a class that keeps TF1's files and their names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.checkpoints import (
    BETA_POWER,
    GRAPH_SAVER,
    RECOVER,
    RECOVERING_SAVER,
    RESTORE,
    SAVE,
    SAVER,
)
from migrate_mgpu.api.optimizers import OPTIMIZERS
from migrate_mgpu.models.front.session.host_objects import (
    HelperVariable,
    NamedVariable,
    SavedState,
    Saver,
)
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.ir import Collected, Optimizer, Step, Update
from migrate_mgpu.models.keras.network.tf1_names import METHOD as TF1_NAMES
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit, Source
from migrate_mgpu.source.statements import Layout, without_paragraph
from migrate_mgpu.source.style import FileStyle


class SaverWriter:
    """Writes savers and their calls; ``classes`` are what the program needs for them."""

    def __init__(
        self,
        program: SessionProgram,
        names: StepNames,
        style: FileStyle,
        known: Callable[[Step, ast.stmt], str],
    ) -> None:
        """``known`` is how a step is called at a statement; empty where it is not made yet."""
        self.known = known
        self.program = program
        self.module = program.scope.module
        self.source = self.module.source
        self.names = names
        self.style = style
        self.found = EditSet()
        self.classes: list[str] = []
        scope = self.module.names.module_scope
        self._saver = self.module.names.fresh(scope, SAVER.name, "CheckpointSaver")
        self._power = self.module.names.fresh(scope, BETA_POWER.name)

    def made(self, statement: ast.stmt, dedent: int) -> Iterator[Edit]:
        """`saver = tf.train.Saver()` with the variables that it means."""
        saver = next(one for one in self.program.savers if one.statement is statement)
        recovers = any(one.kind == RECOVER for one in self.program.saver_calls)
        definition = RECOVERING_SAVER if recovers else SAVER
        if self.program.graph_exports:
            definition = GRAPH_SAVER
        self._needs(definition.written(self._saver, self.style), "os")
        indent = self.source.indent_of(statement)
        indent = indent[: len(indent) - dedent]
        column = len(indent) + len(saver.name) + 3 + len(self._saver) + 1
        keep = "" if saver.keep is None else f", max_to_keep={self.source.code(saver.keep)}"
        keep += self._graph(saver, recovers)
        if saver.holder:
            saved = f"{saver.holder}.{self.names.saved}"
        else:
            saved = self._variables(saver, indent, column, len(keep) + 1)
        start, end = self.source.span(saver.call)
        yield Edit(start, end, f"{self._saver}({saved}{keep})".replace("\n", self.source.newline))

    def _graph(self, saver: Saver, recovers: bool) -> str:
        """What a saver is told of the step whose graph it writes; empty where it writes none."""
        export = self.program.graph_exports.get(saver)
        if export is None:
            return ""
        step = self.known(export.step, saver.statement)
        if not step or recovers:
            text = "another program reads the graph that is saved here, before all of it is made"
            raise Refused(self.module, saver.call, text, "make the saver below")
        names = ", ".join(f"`{one}`" for one in (*export.inputs, *export.outputs))
        text = (
            "the graph beside the checkpoints, which the saver writes by `tf.compat.v1`, has what "
            "other programs of the run ask it for"
        )
        self.found.note(self.module, saver.call, f"{text}: {names}")
        told = [[self.style.string(one) for one in some]
                for some in (export.inputs, export.outputs)]  # fmt: skip
        inputs, outputs = (f"[{', '.join(some)}]" for some in told)
        return f", graph=({step}, {inputs}, {outputs})"

    def kept(self, saver: Saver, me: str, indent: str) -> str:
        """What an object keeps for savers that are made elsewhere, with ``\\n`` between lines."""
        head = f"{indent}{me}.{self.names.saved} = "
        return f"{head}{self._variables(saver, indent, len(head), 0)}\n"

    def _variables(self, saver: Saver, indent: str, column: int, tail: int) -> str:
        """A dictionary of what is saved, as it stands behind so many characters of a line."""
        inner = indent + self.style.indent
        lines: list[str] = []
        told: set[NamedVariable] = set()
        for _, variable in saver.saved:
            if variable.told is not None:
                below = self.style.string(variable.told.below) if variable.told.below else ""
                network = self.names.variables(variable.variables)
                lines.append(f"**dict({network}.{TF1_NAMES}({below}))")
                told.add(variable)
        if any(variable.rounds is not None for _, variable in saver.saved):
            for update, variables in self.program.loop_names.items():
                names = self.names.of_variables(update)
                lines.append(f"**dict(zip({names}, {self.names.trained(update)}))")
                told.update(variables)
        lines += [
            f"{self.style.string(n)}: {code_of(self.source, self.names, v)}"
            for n, v in saver.saved
            if v not in told
        ]
        for update in dict.fromkeys(state.update for state in saver.states):
            states = [state for state in saver.states if state.update is update]
            if not self.names.makes(update):
                text = "a saver has the state of an optimizer that trains nothing in this program"
                raise Refused(self.module, update.statement, text, "let the saver have the weights")
            optimizer = self.names.optimizer(update)
            if len(update.optimizer.arms) == 1:
                (state,) = states
                lines += self._state(state, optimizer, inner)
            else:
                lines.append(f"**{self._chosen(states)}({optimizer})")
            if states[0].counter:
                counter = self.style.string(states[0].counter)
                lines.append(f"{counter}: {optimizer}.iterations")
            if states[0].averages:
                lines.append(self._zipped(states[0].averages, self._averages(update), inner))
        joined = "{" + ", ".join(lines) + "}"
        if column + len(joined) + tail > self.style.width or "\n" in joined:
            joined = "{" + "".join(f"\n{inner}{line}," for line in lines) + f"\n{indent}}}"
        return joined

    def _needs(self, text: str, *imports: str) -> None:
        if text not in self.classes:
            self.classes.append(text)
        self.found.needs(self.module, *imports)

    def _chosen(self, states: list[SavedState]) -> str:
        """A function that says what one of several optimizers keeps, by TF1's names."""
        scope = self.module.names.module_scope
        name = self.module.names.fresh(scope, "optimizer_state", "saved_optimizer_state")
        one = "optimizer"
        lines = [f"def {name}({one}):", f'{self.style.indent}"""What TF1 calls what is kept."""']
        inner = self.style.indent * 2
        for state in states:
            items = self._state(state, one, inner + self.style.indent)
            if not items:
                continue
            kind = f"{self.style.tensorflow}.{OPTIMIZERS.by_kind[state.optimizer.kind].target}"
            test = f"isinstance({one}, {kind})"
            if state.optimizer.kind == "momentum":  # as gradient descent, which keeps nothing
                test += f" and {one}.momentum"
            lines.append(f"{self.style.indent}if {test}:")
            joined = f"{inner}return {{{', '.join(items)}}}"
            if len(joined) > self.style.width or "\n" in joined:
                deeper = inner + self.style.indent
                listed = "".join(f"\n{deeper}{item}," for item in items)
                joined = f"{inner}return {{{listed}\n{inner}}}"
            lines.append(joined)
        lines.append(f"{self.style.indent}return {{}}")
        self._needs("\n".join(lines))
        return name

    def _state(self, state: SavedState, optimizer: str, inner: str) -> list[str]:
        """The items that stand for what an optimizer keeps."""
        row = OPTIMIZERS.by_kind[state.optimizer.kind]
        lines: list[str] = []
        slots: list[str] = []
        if state.powers[0]:
            self._needs(BETA_POWER.written(self._power, self.style), "math")
            for name, beta in zip(state.powers, ("beta_1", "beta_2")):
                value = f"{self._power}({optimizer}, {optimizer}.{beta})"
                lines.append(f"{self.style.string(name)}: {value}")
        of_each: list[str] = []
        if state.around is not None:
            numbers = range(row.slots)
            kinds = ["" if not n else f"_{n}" for n in numbers] or self._kinds(state.optimizer)
            of_each = [f"{state.around[1]}{kind}" for kind in kinds]
            slots = of_each
        elif row.slots:
            slots = [
                base if not number + index else f"{base}_{number + index}"
                for base, number in state.slots
                for index in range(row.slots)
            ]
        else:
            kinds = self._kinds(state.optimizer)
            slots = [f"{base}{kind}" for kind in kinds for base, _ in state.slots]
        if state.steps or (slots and not row.slots):
            self.found.note(
                self.module, state.update.statement, "checkpoints that TF1 saved do not load "
                "as they are, Keras's optimizer keeps other values than TF1's: "
                "`migrate-mgpu checkpoint` converts them",
            )  # fmt: skip
        if state.steps:
            steps = f"{optimizer}.iterations"
            lines.append(f"{self.style.string(state.steps)}: {steps}")
        if of_each:
            lines.append(self._of_each(state, optimizer, of_each, bool(row.slots), inner))
        elif slots:
            lines.append(self._zipped(slots, f"{optimizer}.variables[-{len(slots)}:]", inner))
        return lines

    def _averages(self, update: Update) -> str:
        """The averages of what an update trains."""
        made = update.averages
        if made is None or not made.maker:
            return self.names.averages(update)
        variable, trained = self.names.variable, self.names.trained(update)
        return f"[{made.maker}.average({variable}) for {variable} in {trained}]"

    def _zipped(self, names: Iterable[str], values: str, inner: str) -> str:
        """Items of a dictionary, whose values are in a list."""
        shown = [self.style.string(name) for name in names]
        head, tail = f"**dict(zip([{', '.join(shown)}], ", f"{values}))"
        if len(inner) + len(head) + len(tail) + 1 > self.style.width:
            deeper = inner + self.style.indent
            listed = "".join(f"\n{deeper}{one}," for one in shown)
            head = f"**dict(zip([{listed}\n{inner}], "
        return head + tail

    def _of_each(
        self, state: SavedState, optimizer: str, ends: list[str], apart: bool, inner: str
    ) -> str:
        """Items for what is kept of each variable; ``apart``: the values of one stand together."""
        assert state.around is not None
        names, (before, _) = self.names.of_variables(state.update), state.around
        (end, *more), each = ends, f"for name in {names}"
        quote = self.style.string("")[0]
        if not more:
            shown, loops = f"{{name}}{end}", each
        else:
            slots = f"for slot in ({', '.join(map(self.style.string, ends))})"
            shown, loops = "{name}{slot}", f"{each} {slots}" if apart else f"{slots} {each}"
        count = f"len({names})" if not more else f"{len(ends)} * len({names})"
        text = f"f{quote}{before}{shown}{quote} {loops}"
        kept = f"{optimizer}.variables[-{count}:]"
        found = f"**dict(zip([{text}], {kept}))"
        if len(inner) + len(found) + 1 > self.style.width:
            found = f"**dict(zip([\n{inner}{self.style.indent}{text}\n{inner}], {kept}))"
        return found

    def _kinds(self, optimizer: Optimizer) -> list[str]:
        """What other slots than TF1's are called, behind the names of their variables."""
        if optimizer.kind == "gradient_descent":
            return []
        if optimizer.kind == "momentum":
            return ["/velocity"]
        if optimizer.kind != "rmsprop":
            raise Refused(self.module, optimizer.node, "a saver of what this optimizer keeps")
        kinds = ["/velocity"]
        for setting, slot in (("momentum", "momentum"), ("centered", "average_gradient")):
            value = optimizer.arguments.get(setting)
            known = constant(value) if value is not None else 0
            if not isinstance(known, (int, float)):
                text = f"which state an optimizer with this `{setting}` has cannot be determined"
                raise Refused(self.module, value or optimizer.node, text)
            kinds += [f"/{slot}"] if known else []
        return kinds

    def calls(self) -> Iterator[Edit]:
        """`saver.save(sess, path)` without the session."""
        for found in (one for one in self.program.saver_calls if one.session is not None):
            parameters = SAVE if found.kind == "save" else RESTORE
            edit = CallEdit(self.source, found.call, parameters)
            edit.drop("sess", *found.gone)
            edit.rename("save_path", "path")
            if found.step is not None and self.program.scope.towers is not None:
                # A replicated variable is no number to `int` as others are.
                edit.wrap("global_step", "", ".numpy()")
            edit.order(("path", "global_step"))
            yield from edit.edits()


def code_of(source: Source, names: StepNames, named: NamedVariable) -> str:
    """How the program reaches a variable."""
    name = names.variables(named.variables)
    if isinstance(named.key, HelperVariable):
        for part in named.key.path:
            name += f"[{part}]" if isinstance(part, int) else f".{names.attributes[part]}"
        return f"{name}.{named.key.name}" if named.key.name else name
    if named.variables.collected is Collected.LAYER:
        return f"{name}.{named.key}"
    if named.variables.collected is Collected.ONE:
        return name
    key = named.key
    return f"{name}[{source.code(key) if isinstance(key, ast.expr) else key}]"


def dropped(module: Module, statement: ast.stmt) -> Edit:
    """A statement that goes away, with the branch of a condition that is empty then.

    Where it stands alone between blank lines, its comments and one of these go as well.
    """
    source = module.source
    layout = Layout(source, statement)
    parent = module.names.parents[statement]
    if not layout.owns_lines:
        raise Refused(module, statement, "another statement is on its line")
    if isinstance(parent, ast.If) and parent.orelse == [statement]:
        start = Layout(source, parent.body[-1]).next_line
        return Edit(start, layout.next_line, "")
    body = parent.orelse if isinstance(parent, ast.If) and statement in parent.orelse else None
    siblings = body if body is not None else getattr(parent, "body", [statement])
    if siblings == [statement]:
        return Edit(*source.span(statement), "pass")
    return without_paragraph(source, statement, comments=True)
