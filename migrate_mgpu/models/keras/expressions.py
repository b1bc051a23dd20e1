"""Expressions of TF1 written for TF2: in `__init__`, in `call`, in a function that compiles."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import Modes
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, children, names_in
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.models.front.network.keras_recurrent import read_keras_recurrent
from migrate_mgpu.models.front.network.layer_calls import read_layer_class
from migrate_mgpu.models.front.network.name_scopes import name_scopes, scope_kind
from migrate_mgpu.models.front.network.recurrent import read_cell
from migrate_mgpu.models.front.optimizers import read_schedule
from migrate_mgpu.models.keras.constructors import made_edits
from migrate_mgpu.models.keras.functions import dimension, function
from migrate_mgpu.models.keras.optimizers import schedule_edits
from migrate_mgpu.models.keras.transposed import told_shape
from migrate_mgpu.source.blocks import outermost, render
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

# Gives the text of a node in a context; it renders what it takes from the author itself.
Replacement = Callable[["Context"], str]


class Context:
    """A place that code is written for.

    ``names`` are the names that are spelled otherwise there (``params`` as
    ``self.params``), ``replaced`` the nodes that something else stands for. ``used``
    collects the author's names that the written text mentions, ``mentions`` where it does.
    """

    def __init__(
        self,
        module: Module,
        style: FileStyle,
        modes: Modes | None = None,
        names: Mapping[str, str] | None = None,
        replaced: Mapping[ast.AST, Replacement] | None = None,
    ) -> None:
        self.module = module
        self.style = style
        self.modes = modes
        self.names = dict(names or {})
        self.replaced = dict(replaced or {})
        self.used: dict[str, ast.Name] = {}
        self.mentions: list[ast.Name] = []
        self.trains = False  # whether `training` was written

    @property
    def tf(self) -> str:
        """The name of TensorFlow: asked for where it is written alone, for a file may have none."""
        return self.style.tensorflow

    def render(self, node: ast.AST, column: int | None = None, base: str | None = None) -> str:
        """A node's text as it is here."""
        return render(self.module.source, node, self.edits(node), column, base)

    def render_call(
        self,
        call: ast.Call,
        edits: Iterable[Edit],
        column: int | None = None,
        base: str | None = None,
    ) -> str:
        """A call's text with edits of its own, the arguments that stay as they are here."""
        return render(self.module.source, call, self.with_arguments(call, edits), column, base)

    def made(self, call: ast.Call, more: Mapping[str, str]) -> Iterable[Edit]:
        """The edits of a call that makes a layer, with ``more`` arguments."""
        layer = read_layer_class(self.module, call)
        if layer is not None:
            return made_edits(layer, self.style, more)
        edit = CallEdit(self.module.source, call)
        for name, text in more.items():
            edit.add(name, text)
        return [*self._known(call), *edit.edits()]

    def with_arguments(self, call: ast.Call, edits: Iterable[Edit]) -> list[Edit]:
        """A call's own edits, and what changes inside the arguments that these leave."""
        found = list(edits)
        gone = [edit for edit in found if edit.end > edit.start]
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
            if not self._covered(argument, gone):
                found += self.edits(argument)
        return outermost(found)

    def edits(self, node: ast.AST) -> list[Edit]:
        """What changes inside a node."""
        found = self.collect(node)
        self.record(node, found)
        return found

    def collect(self, node: ast.AST) -> list[Edit]:
        """What changes inside a node, of which other edits may still take a part away."""
        return outermost(self._visit(node))

    def record(self, node: ast.AST, found: Iterable[Edit]) -> None:
        """Notes the names that a node's text mentions once the edits are made."""
        source = self.module.source
        spans = [(e.start, e.end) for e in found if e.end > e.start]
        for name in names_in(node):
            start, end = source.span(name)
            inside = [span for span in spans if span[0] <= start and end <= span[1]]
            if not inside or (start, end) in inside:
                self.used.setdefault(name.id, name)
                self.mentions.append(name)

    def _visit(self, node: ast.AST) -> Iterable[Edit]:
        if node in self.replaced:
            return [self._edit(node, self.replaced[node](self))]
        if isinstance(node, ast.expr):
            if self.modes is not None and not isinstance(node, ast.Constant):
                if self.modes.asks(node):
                    training = self.modes.training(node)
                    if training:
                        self.trains = True
                        return [self._edit(node, training)]
                    if isinstance(node, ast.Name) and self.modes.values(node) is not None:
                        raise Refused(
                            self.module,
                            node,
                            f"`{node.id}` is used for more than telling training from the rest",
                            "ask `mode == tf.estimator.ModeKeys.TRAIN` where it matters",
                        )
            if isinstance(node, ast.Name):
                new = self.names.get(node.id)
                if not new or new == node.id or self._in_comprehension(node):
                    return []
                return [self._edit(node, new)]
            if isinstance(node, ast.JoinedStr):
                return self._formatted(node)
        found: list[Edit] = []
        inner = children(node)
        if isinstance(node, ast.Attribute):
            found += dimension(self.module, node) or ()
        if isinstance(node, (ast.Call, ast.Attribute)):
            name = self._tensorflow(node.func if isinstance(node, ast.Call) else node)
            if name:
                found += self._known(node)
                found += self._with_its_shape(node)
                inner = inner[1:] if isinstance(node, ast.Call) else ()
        if isinstance(node, ast.With):
            for scope in name_scopes(self.module, node, self.modes):
                item = scope.item
                start, _ = self.module.source.span(item.context_expr)
                _, end = self.module.source.span(item.optional_vars or item.context_expr)
                named = self.render(scope.name)
                if scope.default is not None:
                    named = f"{named} or {self.render(scope.default)}"
                text = f"{self.tf}.name_scope({named})"
                found.append(Edit(start, end, text))
        if isinstance(node, ast.withitem) and scope_kind(self.module, node.context_expr):
            return []
        if isinstance(node, (ast.Lambda, ast.FunctionDef)):
            return [*found, *self._function(node)]
        gone = [edit for edit in found if edit.end > edit.start]
        for child in inner:
            if not (gone and self._covered(child, gone)):
                found += self._visit(child)
        return found

    def _covered(self, node: ast.AST, edits: list[Edit]) -> bool:
        """Whether an argument goes away with an edit of its call."""
        if not hasattr(node, "lineno"):
            return False
        start, end = self.module.source.span(node)
        return any(edit.start <= start and end <= edit.end for edit in edits)

    def _known(self, node: ast.Call | ast.Attribute) -> Iterable[Edit]:
        """A name of TensorFlow's, in TF2."""
        if isinstance(node, ast.Call):
            made = made_by(self.module, node, self.style)
            if made is not None:
                return made
            schedule = read_schedule(self.module, node)
            if schedule is not None:
                return schedule_edits(schedule, self.style)
        return function(self.module, node, self.style) or ()

    def _with_its_shape(self, node: ast.AST) -> Iterable[Edit]:
        """A transposed convolution, whose shape TF2 does not know as `output_shape` says it.

        TF1 knew it, also for a batch of no fixed size, and code that asks for the shape relies on
        that: `tf.reshape(net, net.get_shape())`.
        """
        shape = told_shape(self.module, node)
        if shape is not None:
            start, end = self.module.source.span(node)
            yield Edit(start, start, f"{self.tf}.reshape(")
            yield Edit(end, end, f", {self.render(shape)})")

    def _tensorflow(self, node: ast.AST) -> bool:
        return symbol(self.module.names.qualname(node)) is not None

    def _function(self, node: ast.Lambda | ast.FunctionDef) -> Iterable[Edit]:
        """The names that a function inside of another one has of its own stay."""
        own = self.module.names.scopes[node].bindings
        hidden = {name: self.names.pop(name) for name in own if name in self.names}
        try:
            return [e for child in children(node) for e in self._visit(child)]
        finally:
            self.names.update(hidden)

    def _in_comprehension(self, node: ast.Name) -> bool:
        """Whether a name is a comprehension's own, whatever else has that name."""
        names = self.module.names
        home = names.defining_scope(node.id, names.scope_of_name[node])
        return home is not None and isinstance(home.node, COMPREHENSIONS)

    def _formatted(self, node: ast.JoinedStr) -> Iterable[Edit]:
        """Before Python 3.12 the places inside an f-string are not known."""
        for part in names_in(node):
            if part.id in self.names:
                text = f"`{part.id}` stands in an f-string that moves into another function"
                raise Refused(self.module, node, text, "build the text by format() before")
            if isinstance(part, ast.Name):
                self.used.setdefault(part.id, part)
                self.mentions.append(part)
        return []

    def _edit(self, node: ast.AST, text: str) -> Edit:
        start, end = self.module.source.span(node)
        return Edit(start, end, text)


def made_by(module: Module, call: ast.Call, style: FileStyle) -> tuple[Edit, ...] | None:
    """The edits of a call that makes a layer or a cell, and applies nothing; None for others.

    Raises:
        Refused: it has an argument that no Keras layer has.
    """
    made = (
        read_layer_class(module, call)
        or read_cell(module, call)
        or read_keras_recurrent(module, call)
    )
    return made_edits(made, style) if made is not None else None


def cast_to(node: ast.expr, dtype: str) -> Replacement:
    """What writes a value with a type (``{tf}`` in it is how the context spells TensorFlow)."""

    def write(context: Context) -> str:
        replaced = {other: text for other, text in context.replaced.items() if other is not node}
        inner = Context(context.module, context.style, context.modes, context.names, replaced)
        text = inner.render(node)
        context.used.update(inner.used)
        context.mentions += inner.mentions
        context.trains |= inner.trains
        return f"{context.tf}.cast({text}, {context.style.code(dtype)})"

    return write
