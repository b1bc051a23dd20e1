"""One step of a session's program as a `tf.function`."""

from __future__ import annotations

import ast

from migrate_mgpu.models.front.session.program import SessionProgram, closure
from migrate_mgpu.models.ir import Step, Update
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.style import FileStyle


class StepWriter:
    """Writes the function of a step at an indentation."""

    def __init__(
        self,
        program: SessionProgram,
        step: Step,
        names: StepNames,
        context: Context,
        style: FileStyle,
        indent: str,
    ) -> None:
        self.program = program
        self.step = step
        self.names = names
        self.context = context
        self.style = style
        self.indent = indent
        self.block = Block(program.scope.module.source, indent)

    def text(self) -> str:
        """The function, with ``\\n`` between its lines."""
        step, tf = self.step, self.style.tensorflow
        if step.feeds:
            specs = [self.names.spec(placeholder) for placeholder in step.feeds]
            head = f"@{tf}.function(input_signature=[{', '.join(specs)}])"
            self.block.line(head)
        else:
            self.block.line(f"@{tf}.function")
        parameters = ", ".join(placeholder.name for placeholder in step.feeds)
        self.block.line(f"def {self.names.step(step)}({parameters}):")
        if step.updates:
            self._training(step.updates[0])
        else:
            for unit in step.units:
                if isinstance(unit.node, ast.stmt):
                    self.block.statement(unit.node, self.context.edits(unit.node), 1)
        values = [self.context.render(value) for value in step.values]
        if values:
            self.block.line(f"return {', '.join(values)}", 1)
        return "\n".join(self.block.lines) + "\n"

    def _training(self, update: Update) -> None:
        tf = self.style.tensorflow
        inside = set(closure([update.unit]))
        self.block.line(f"with {tf}.GradientTape() as {self.names.tape}:", 1)
        for unit in self.step.units:
            if unit in inside and isinstance(unit.node, ast.stmt):
                self.block.statement(unit.node, self.context.edits(unit.node), 2)
        loss = self.names.loss
        if isinstance(update.loss, ast.Name):
            loss = update.loss.id
        else:
            self.block.line(f"{loss} = {self.context.render(update.loss)}", 2)
        for unit in self.step.units:
            if unit not in inside and isinstance(unit.node, ast.stmt):
                self.block.statement(unit.node, self.context.edits(unit.node), 1)
        gradients, trained = self.names.gradients, self.names.trained(update)
        self.block.line(f"{gradients} = {self.names.tape}.gradient({loss}, {trained})", 1)
        if update.sparse:
            each = f"{tf}.convert_to_tensor({self.names.value})"
            self.block.line(f"{gradients} = [{each} for {self.names.value} in {gradients}]", 1)
        optimizer = self.names.optimizer(update)
        self.block.line(f"{optimizer}.apply_gradients(zip({gradients}, {trained}))", 1)
        if update.counts is not None:
            self.block.line(f"{update.counts.name}.assign_add(1)", 1)
