"""A class of the author's that is a network, as a Keras model.

`__call__` is `call`, the layers of tf.layers are Keras's, and what trains is told so.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.modes import Modes
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.network.network_classes import NetworkClass
from migrate_mgpu.models.front.network.reserved import KERAS_OWN
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.network.layer_texts import constructor
from migrate_mgpu.source.blocks import outermost, render
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle


class ModelClass:
    """Writes the class of a network."""

    def __init__(self, found: NetworkClass, style: FileStyle) -> None:
        self.found = found
        self.module, self.node = found.module, found.node
        self.call, self.init = found.call, found.init
        self.style = style
        self.taken = set(found.sensitive)

    def text(self) -> str:
        """The class's new text."""
        source, node = self.module.source, self.node
        replaced: dict[ast.AST, Replacement] = {}
        added: list[str] = []
        for call, layer in self.found.layers.items():
            name = self._attribute_for(layer.name or layer.stem)
            base = source.indent_of(node) + source.indent_unit * 2
            context = Context(self.module, self.style)
            made = constructor(layer, context, len(base) + len(name) + 8, base)
            added.append(f"self.{name} = {made}")
            replaced[call] = self._use(name, layer.inputs, layer.training, layer.takes_training)
        nodes = (c for c in walk(self.call) if isinstance(c, ast.Call))
        for call in (c for c in nodes if c not in self.found.layers):
            if self._untold(call):
                replaced[call] = self._with_training(call)
        same: dict[str, dict[str, str]] = {}
        context = Context(
            self.module, self.style, Modes(self.module, self.call, same), {}, replaced
        )
        edits = [e for statement in node.body for e in context.edits(statement)]
        edits += [*self._header(), *self._call_header(), *self._added(added)]
        return render(source, node, outermost(edits))

    def _attribute_for(self, wished: str) -> str:
        taken = {
            part.attr
            for part in walk(self.node)
            if isinstance(part, ast.Attribute)
            and isinstance(part.value, ast.Name)
            and part.value.id == "self"
        } | self.taken
        name, number = wished, 1
        while name in taken or name in KERAS_OWN:
            name = f"{wished}_{number}"
            number += 1
        self.taken.add(name)
        return name

    def _use(
        self, name: str, inputs: tuple[ast.expr, ...], training: ast.expr | None, takes: bool
    ) -> Replacement:
        def write(context: Context) -> str:
            arguments = [context.render(value) for value in inputs]
            if training is not None:
                arguments.append(f"training={context.render(training)}")
            elif takes:
                arguments.append("training=False")
            return f"self.{name}({', '.join(arguments)})"

        return write

    def _untold(self, call: ast.Call) -> bool:
        """Whether a layer that may train is applied without saying so by the argument's name."""
        function = call.func
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return False
        if function.value.id != "self" or not self.found.sensitive.get(function.attr):
            return False
        return not any(k.arg == "training" for k in call.keywords)

    def _with_training(self, call: ast.Call) -> Replacement:
        def write(context: Context) -> str:
            given = [context.render(value) for value in call.args[:1]]
            given += [f"{k.arg}={context.render(k.value)}" for k in call.keywords]
            training = context.render(call.args[1]) if len(call.args) > 1 else "False"
            return f"{context.render(call.func)}({', '.join([*given, f'training={training}'])})"

        return write

    def _header(self) -> list[Edit]:
        """`class Network(tf.keras.Model):`."""
        if self.found.keras:
            return []
        source = self.module.source
        base = f"{self.style.tensorflow}.keras.Model"
        if self.node.bases:
            return [Edit(*source.span(self.node.bases[0]), base)]
        start = source.span(self.node)[0]
        place = source.text.index(self.node.name, start + len("class")) + len(self.node.name)
        end = source.text.index(":", place)
        return [Edit(place, end, f"({base})")]

    def _call_header(self) -> list[Edit]:
        """`def call(self, inputs, training=False):`."""
        source, found = self.module.source, []
        start = source.span(self.call)[0]
        if self.call.name == "__call__":
            place = source.text.index("__call__", start)
            found.append(Edit(place, place + len("__call__"), "call"))
        arguments = self.call.args.args
        last = arguments[-1]
        if last.arg == self.found.training and not self.call.args.defaults:
            found.append(Edit(source.span(last)[1], source.span(last)[1], "=False"))
        return found

    def _added(self, layers: list[str]) -> list[Edit]:
        """`super().__init__()` and the layers that the call made."""
        source = self.module.source
        unit, indent = source.indent_unit, source.indent_of(self.call)
        newline = source.newline
        if self.init is None:
            if not layers:
                return []
            lines = [
                "def __init__(self):",
                f"{unit}super().__init__()",
                *(unit + x for x in layers),
            ]
            place = source.line_starts[self.call.lineno - 1]
            text = "".join(f"{indent}{line}{newline}" for line in lines) + newline
            return [Edit(place - len(newline), place - len(newline), newline + text.rstrip("\r\n"))]
        body = [s for s in self.init.body if not _is_text(s)]
        found = []
        calls_super = any(
            isinstance(n, ast.Name) and n.id == "super" for s in body for n in walk(s)
        )
        inner = source.indent_of(self.init.body[-1])
        if not calls_super:
            first = body[0] if body else self.init.body[-1]
            place = source.span(first)[0]
            found.append(Edit(place, place, f"super().__init__(){newline}{inner}"))
        end = Layout(source, self.init.body[-1]).line_end
        if layers:
            found.append(Edit(end, end, "".join(f"{newline}{inner}{line}" for line in layers)))
        return found


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
