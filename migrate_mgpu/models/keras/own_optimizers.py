"""An optimizer of the program's own as a subclass of Keras's: its slots, and a step for each."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.ir import OwnOptimizer
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

# Keras 2 gives a step neither the learning rate nor the place of its variable.
_STEP = """\
    if {rate}:  # Keras 3
        {index}, {rate} = self._get_variable_index({variable}), {rate}[0]
    else:
        {index}, {rate} = self._index_dict[self._var_key({variable})], self.learning_rate"""


def own_optimizer(own: OwnOptimizer, style: FileStyle) -> str:
    """The text of the class that it becomes, from its indentation on."""
    return _Writer(own, style).written()


class _Writer:
    def __init__(self, own: OwnOptimizer, style: FileStyle) -> None:
        self.own = own
        self.source = own.module.source
        self.style = style
        names = own.module.names
        scope = names.scopes[own.apply]
        self.rate = names.fresh(scope, "rate", "current_rate")
        self.index = names.fresh(scope, "index", "place")
        self.names = "names" if not _has(own, "names") else "variable_names"

    def written(self) -> str:
        own, source = self.own, self.source
        block = Block(source, source.indent_of(own.node))
        block.line(f"class {own.node.name}({self.style.tensorflow}.keras.optimizers.SGD):")
        for statement in own.node.body:
            if statement is own.init:
                block.statement(statement, self._constructor(), 1)
            elif statement is own.apply:
                block.line()
                self._build(block)
                block.line()
                self._update(block)
            else:
                context = Context(own.module, self.style)
                block.statement(statement, context.edits(statement), 1)
        return block.text().rstrip()[len(block.indent) :]

    def _constructor(self) -> list[Edit]:
        """The edits of its constructor: Keras's base keeps the rate."""
        own, source = self.own, self.source
        name = ""
        given = [*own.start.args[1:], *(k.value for k in own.start.keywords if k.arg == "name")]
        if given:
            name = f", name={source.code(given[0])}"
        edits = [Edit(*source.span(own.start), f"super().__init__({own.rate}{name})")]
        for statement in own.init.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if isinstance(target, ast.Attribute) and target.attr == own.kept:
                edits.append(Layout(source, statement).replace([]))
        return edits

    def _build(self, block: Block) -> None:
        own, source = self.own, self.source
        first = own.slots[0].stem
        block.line("def build(self, variables):", 1)
        block.line("super().build(variables)", 2)
        block.line(f"if hasattr(self, {self.style.string(first)}):", 2)
        block.line("return  # Keras 2 asks in each step", 3)
        for slot in own.slots:
            made = f"self.add_variable_from_reference(one, {self.style.string(slot.stem)})"
            line = f"self.{slot.stem} = [{made} for one in variables]"
            if len(block.indent + 2 * source.indent_unit + line) <= source.width:
                block.line(line, 2)
                continue
            block.line(f"self.{slot.stem} = [", 2)
            block.line(f"{made} for one in variables", 3)
            block.line("]", 2)
        if own.named:
            path = self.style.string("path")
            block.line("# Keras 3 has the whole name in `path`.", 2)
            block.line(
                f"self.{self.names} = [getattr(one, {path}, one.name) for one in variables]", 2
            )

    def _update(self, block: Block) -> None:
        own = self.own
        block.line(f"def update_step(self, {own.gradient}, {own.variable}, *{self.rate}):", 1)
        text = _STEP.format(rate=self.rate, index=self.index, variable=own.variable)
        for line in text.split("\n"):
            depth = (len(line) - len(line.lstrip())) // 4
            block.line(line.lstrip(), depth + 1)
        slots = ", ".join(slot.name for slot in own.slots)
        values = ", ".join(f"self.{slot.stem}[{self.index}]" for slot in own.slots)
        block.line(f"{slots} = {values}", 2)
        replaced: dict[ast.AST, Replacement] = {
            part: lambda context: f"self.{self.names}[{self.index}]" for part in own.named
        }
        for part in (p for s in own.update for p in walk(s)):
            if isinstance(part, ast.Attribute) and part.attr == own.kept:
                if isinstance(part.value, ast.Name) and part.value.id == "self":
                    replaced[part] = lambda context: self.rate
        context = Context(own.module, self.style, replaced=replaced)
        for statement in own.update:
            block.statement(statement, context.edits(statement), 2)
        for call in own.assigned:
            block.line(context.render(call), 2)


def _has(own: OwnOptimizer, name: str) -> bool:
    """Whether the class keeps something by a name."""
    return any(isinstance(part, ast.Attribute) and part.attr == name for part in walk(own.node))
