"""The author's functions of a session's program: those that compute, and those that go."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside, name_unused
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.graph import CONTROL
from migrate_mgpu.api.mnist import tutorial_calls
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.expressions import descriptions
from migrate_mgpu.models.front.session.folding import is_flag
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.keras.expressions import Context, Replacement, cast_to
from migrate_mgpu.models.keras.losses import definitions, replacements
from migrate_mgpu.models.keras.session import places
from migrate_mgpu.models.keras.session.defined import defined_calls, defined_functions
from migrate_mgpu.models.keras.session.edits import SessionEdits
from migrate_mgpu.models.keras.session.helper_classes import HelperClassWriter
from migrate_mgpu.models.keras.session.variables import variable_replacement
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.header_edit import with_parameters, without_parameter
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle


class FunctionWriter:
    """Functions that make a part of the graph compute it in TF2; those of the graph alone go."""

    def __init__(
        self,
        program: SessionProgram,
        edits: SessionEdits,
        context: Context,
        style: FileStyle,
        helper_classes: HelperClassWriter,
    ) -> None:
        self.program = program
        self.edits = edits
        self.context = context
        self.style = style
        self.helper_classes = helper_classes
        self.module = program.scope.module
        self.source = self.module.source

    def without_reuse(self) -> dict[ast.AST, Replacement]:
        """Calls without the arguments that only say whether variables are there already."""
        assert self.program.layer_helpers is not None
        reuse = self.program.layer_helpers.reuse
        found: dict[ast.AST, Replacement] = {}
        for call in self.module.names.calls:
            target = reuse.graph.target(self.module, call.func)
            given = reuse.of_call(self.module, call)
            if given and target is not None and target.node in self.program.builders:
                found[call] = _without(self.module, call, given)
        return found

    def predicates(self, module: Module, nodes: Iterable[ast.AST]) -> dict[ast.AST, Replacement]:
        """What `tf.cond` asks, where that may be a flag which some step knows as Python's value."""
        if not any(is_flag(one) for step in self.program.steps for one, _ in step.folded):
            return {}
        calls = (part for node in nodes for part in walk(node) if isinstance(part, ast.Call))
        asked = (
            by_parameter(call, CONTROL["cond"])["pred"]
            for call in calls
            if name_of(module, call) == "cond"
        )
        return {node: cast_to(node, "{tf}.bool") for node in asked if isinstance(node, ast.Name)}

    def with_captures(self) -> dict[ast.AST, Replacement]:
        """Calls that are given the tensors which their function read as globals."""

        def with_names(call: ast.Call, names: list[str]) -> Replacement:
            def write(context: Context) -> str:
                edit = CallEdit(self.source, call)
                for name in names:
                    edit.add(name, name)
                return context.render_call(call, edit.edits())

            return write

        calls = self.program.captured.items()
        return {call: with_names(call, self.program.captures[node]) for call, node in calls}

    def leave_out_helpers(self) -> None:
        """Functions that only the graph needed go away, with the comments above them."""
        helpers = set(self.program.helpers)
        self._helpers_beside()
        own = (one for one in helpers if one in self.module.names.parents)
        nested = [
            one
            for one in own
            if isinstance(one, ast.FunctionDef) and one not in self.module.tree.body
        ]
        for node in (*self.module.tree.body, *nested):
            if node not in helpers and not self._only_of(node, helpers):
                continue
            start, stop = places.above(self.source, node), Layout(self.source, node).next_line
            above, below = (
                places.blank_above(self.source, start),
                places.blank_below(self.source, stop),
            )
            start, stop = places.joined(self.source, start, stop, above, below)
            self.edits.region(start, stop, "")
            self.edits.found.gone.add(node)

    def _helpers_beside(self) -> None:
        """Functions of other modules stay there, and are not imported any more."""
        names = {f.name for f in self.program.helpers.values() if f.module is not self.module}
        gone: set[ast.AST] = {update.statement for update in self.program.updates}
        for statement in self.module.tree.body if names else ():
            if not isinstance(statement, ast.ImportFrom):
                continue
            unused = [
                alias
                for alias in statement.names
                if alias.name in names and name_unused(self.module, statement, alias, gone)
            ]
            if len(unused) < len(statement.names) and unused:
                self.edits.edit(import_edit(self.source, statement, unused))
            elif unused and Layout(self.source, statement).owns_lines:
                self.edits.edit(Layout(self.source, statement).replace([]))

    def _only_of(self, statement: ast.stmt, functions: set[ast.AST]) -> bool:
        """Whether a statement makes a constant that only some functions read."""
        if not isinstance(statement, ast.Assign) or constant(statement.value) is None:
            return False
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or len(statement.targets) != 1:
            return False
        names = self.module.names
        read = [m for m in names.mentions(target.id, names.module_scope) if m is not target]
        return bool(read) and all(is_inside(self.module, one, functions) for one in read)

    def write(self) -> list[str]:
        """Edits the functions; returns the definitions that they and the steps need beside them."""
        self._beside()
        for node, function in (*self.program.builders.items(), *self.program.makers.items()):
            if function.module is not self.module:
                continue
            printed = descriptions(self.module, node)
            for part in walk(node):
                if part in printed:
                    self.edits.edit(Layout(self.source, part).replace([]))
                elif isinstance(part, ast.stmt) and not hasattr(part, "body"):
                    self.edits.in_place(part, self.context)
                elif isinstance(part, ast.With):
                    self.edits.edit(self._named(part))
                elif isinstance(part, (ast.If, ast.For)):
                    self.edits.edit(
                        *self.context.edits(part.test if hasattr(part, "test") else part.iter)
                    )
            assert isinstance(node, ast.FunctionDef) and self.program.layer_helpers is not None
            gone = self.program.layer_helpers.reuse.parameters(function)
            if gone:
                self.edits.edit(without_parameter(self.source, node, *gone))
            if node in self.program.captures:
                self.edits.edit(with_parameters(self.source, node, *self.program.captures[node]))
            self._rewritten(self.module, node)
        nodes = [unit.node for step in self.program.steps for unit in step.units]
        own = [n for n, f in self.program.builders.items() if f.module is self.module]
        new = definitions(self.module, [*nodes, *own], self.style)
        new += defined_functions(self.module, [*nodes, *own], self.style)
        new += [one for one in self.helper_classes.beside.get(self.module, ()) if one not in new]
        return new

    def _beside(self) -> None:
        """The functions of other modules that compute: their statements in TF2's words."""
        for module in self.program.layer_modules:
            own = (*self.program.builders.items(), *self.program.makers.items())
            builders = [node for node, function in own if function.module is module]
            if not builders:
                continue
            style = style_at(module, builders[0])
            needed = definitions(module, builders, style)
            self.helper_classes.need(module, needed + defined_functions(module, builders, style))
            context = Context(module, style)
            context.replaced.update(replacements(module, builders))
            context.replaced.update(defined_calls(module, builders))
            context.replaced.update(self.predicates(module, builders))
            readers = tutorial_calls(module, builders)
            context.replaced.update((call, _as_it_is(call)) for call in readers)
            for made in self.program.made:
                if made.module is module:
                    context.replaced[made.node] = variable_replacement(made)
            for node in builders:
                assert isinstance(node, ast.FunctionDef)
                for statement in node.body:
                    self.edits.found.edit(module, *context.edits(statement))
                self._rewritten(module, node)

    def _rewritten(self, module: Module, function: ast.FunctionDef) -> None:
        """A function has TF2's words: what it mentions of `tf.contrib` is not there any more."""
        self.edits.found.moved.add(function)
        for name in (part for part in walk(function) if isinstance(part, ast.Name)):
            if (module.names.qualname(name) or "").startswith("tensorflow.contrib"):
                self.edits.found.gone.add(name)

    def _named(self, block: ast.With) -> Edit:
        """A scope in a function, which only names what is made in it."""
        call = block.items[0].context_expr
        assert isinstance(call, ast.Call)
        text = f"{self.style.tensorflow}.name_scope({self.source.code(call.args[0])})"
        return Edit(*self.source.span(call), text)


def _without(module: Module, call: ast.Call, given: list[ast.expr]) -> Replacement:
    def write(context: Context) -> str:
        edit = CallEdit(module.source, call)
        for value in given:
            edit.drop_value(value)
        return context.render_call(call, edit.edits())

    return write


def _as_it_is(call: ast.Call) -> Replacement:
    """What another rewriter changes."""

    def write(context: Context) -> str:
        return context.render_call(call, [])

    return write
