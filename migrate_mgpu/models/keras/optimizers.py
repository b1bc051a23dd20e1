"""Optimizers and learning rate schedules of the model IR, written for Keras by their rows."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.optimizers import (
    OF_ROWS,
    OPTIMIZE_LOSS_PARAMETERS,
    OPTIMIZERS,
    OWN_ROWS,
)
from migrate_mgpu.api.schedules import SCHEDULES
from migrate_mgpu.api.schema import Definition
from migrate_mgpu.api.tables import number
from migrate_mgpu.models.ir import Optimizer, Schedule, Variation
from migrate_mgpu.models.properties import is_scheduled
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.style import FileStyle


class OptimizerWriter:
    """Writes one optimizer's constructor, TF1's values stated where Keras has others.

    ``own_rows``: of a table it changes only the rows that it gets a gradient of.

    ``function`` is what it calls, the class of a ``name``; ``classes`` are texts of classes
    that stand beside the model for it, with ``\\n`` between their lines, ``reads`` the author's
    expressions in it besides the call's arguments.

    Raises:
        Refused: it cannot be determined whether Keras's does the same.
    """

    def __init__(self, optimizer: Optimizer, style: FileStyle, own_rows: bool = False) -> None:
        self.optimizer = optimizer
        self.own_rows = own_rows
        self.style = style
        self.row = OPTIMIZERS.by_kind[optimizer.kind]
        rate = optimizer.learning_rate
        if self.row.if_scheduled and rate.variation is Variation.UNKNOWN:
            text = "it cannot be determined whether this learning rate changes"
            advice = "TF1's momentum differs from Keras's where it does: make the rate a schedule"
            raise Refused(optimizer.module, rate.value or optimizer.node, text, advice)
        self.name = self.row.target.rpartition(".")[2]
        self.function = f"{style.tensorflow}.{self.row.target}"
        if optimizer.own is not None:
            assert isinstance(optimizer.node, ast.Call)
            self.name = optimizer.own.node.name
            self.function = optimizer.module.source.code(optimizer.node.func)
        self.classes: tuple[str, ...] = ()
        definition = self._definition()
        if definition is not None:
            names = optimizer.module.names
            self.name = self.function = names.fresh(names.module_scope, definition.name)
            self.classes = (definition.written(self.function, style),)
        if own_rows:
            self._of_rows()
        self.rate = ""  # what makes its rate, where that is a schedule of the program's own
        self.reads: list[ast.expr] = []
        schedule = optimizer.learning_rate.schedule
        if schedule is not None:
            self.reads = [expr for expr in schedule.bound.values() if expr is not None]
            for part in walk(schedule.node):
                if isinstance(part, ast.Name) and part.id not in schedule.bound:
                    self.reads.append(part)

    def _definition(self) -> Definition | None:
        """The class that stands for Keras's."""
        if self.own_rows and self.row.of_rows is not None:
            return self.row.of_rows
        used = is_scheduled(self.optimizer) or not self.row.if_scheduled
        return self.row.definition if used else None

    def _of_rows(self) -> None:
        """A class of the same that changes only the rows that a step uses."""
        names, base = self.optimizer.module.names, self.function
        rows = names.fresh(names.module_scope, OWN_ROWS.name)
        short = self.row.names[0].rpartition(".")[2].removesuffix("Optimizer")
        self.name = self.function = names.fresh(names.module_scope, f"Table{short}")
        text = self.style.code(OF_ROWS, name=self.name, rows=rows, base=base, short=short)
        self.classes = (OWN_ROWS.written(rows, self.style), *self.classes, text)

    def text(self) -> str:
        """The constructor of an optimizer that is known by its name alone."""
        given = [
            repr(value) if name in self.row.order else f"{name}={value!r}"
            for name, value in self.optimizer.settings.items()
        ]
        more = [f"{name}={value}" for name, value in self._stated()]
        return f"{self.function}({', '.join([*given, *more])})"

    def edits(self, function: str = "", more: tuple[str, str] | None = None) -> tuple[Edit, ...]:
        """What turns the call that makes it into Keras's constructor, or one of a subclass.

        ``more`` is another argument, and its value.
        """
        optimizer, row = self.optimizer, self.row
        assert isinstance(optimizer.node, ast.Call)
        signature = OPTIMIZE_LOSS_PARAMETERS if optimizer.optimize_loss else row.signature
        if optimizer.own is not None:
            signature = tuple(a.arg for a in optimizer.own.init.args.args[1:])
        edit = CallEdit(optimizer.module.source, optimizer.node, signature)
        edit.function(function or self.function)
        edit.drop(*(name for name in signature if name not in optimizer.arguments))
        schedule = optimizer.learning_rate.schedule
        if schedule is not None:
            edit.value("learning_rate", _in_place(schedule, self.style))
        elif self.rate:
            edit.value("learning_rate", self.rate)
        given = optimizer.arguments.get("name")
        name = constant(given)
        if self.classes or not isinstance(name, str) or "/" in name:
            edit.drop("name")
        for parameter in row.parameters:
            value = optimizer.arguments.get(parameter.name)
            if not parameter.new_name:
                edit.drop(parameter.name)
            known = constant(optimizer.module.names.assigned(value)) if parameter.real else None
            if isinstance(known, int) and not isinstance(known, bool):
                if isinstance(value, ast.Name):
                    edit.wrap(parameter.name, "float(", ")")
                else:
                    edit.value(parameter.name, number(known))
        for parameter in row.parameters:
            edit.rename(parameter.name, parameter.new_name)
        if optimizer.own is None:
            edit.order(row.order)
        for key, setting in optimizer.settings.items():
            edit.add(key, repr(setting))
        for key, text in [*self._stated(), *([more] if more is not None else [])]:
            edit.add(key, text)
        return edit.edits()

    def _stated(self) -> list[tuple[str, str]]:
        """TF1's values of what its author gave none for, where Keras has others."""
        given = {*self.optimizer.arguments, *self.optimizer.settings}
        stated = [
            (parameter.new_name, parameter.default)
            for parameter in self.row.parameters
            if parameter.stated and parameter.name not in given
        ]
        return [*stated, *self.row.constants]


def schedule_edits(schedule: Schedule, style: FileStyle) -> tuple[Edit, ...]:
    """What turns a call that makes a schedule into Keras's constructor."""
    row = SCHEDULES.by_kind[schedule.kind]
    assert isinstance(schedule.node, ast.Call)
    edit = CallEdit(schedule.module.source, schedule.node, row.signature)
    edit.drop(*(parameter.name for parameter in row.parameters if not parameter.new_name))
    edit.function(f"{style.tensorflow}.{row.target}")
    rate = schedule.arguments.get("decay_rate")
    if row.exponent and rate is not None:
        known = constant(rate)
        if isinstance(known, (int, float)):
            edit.value("decay_rate", f"{style.tensorflow}.math.exp(-{float(known)})")
        else:
            edit.wrap("decay_rate", f"{style.tensorflow}.math.exp(-(", "))")
    for parameter in row.parameters:
        edit.rename(parameter.name, parameter.new_name)
    edit.order(row.order)
    return edit.edits()


def _in_place(schedule: Schedule, style: FileStyle) -> str:
    """A schedule that a function returns, with what its parameters stand for."""
    source = schedule.module.source
    found = [*schedule_edits(schedule, style)]
    gone = [edit for edit in found if edit.end > edit.start]
    for part in walk(schedule.node):
        stands_for = schedule.bound.get(part.id) if isinstance(part, ast.Name) else None
        if stands_for is not None:
            start, end = source.span(part)
            if not any(edit.start <= start and end <= edit.end for edit in gone):
                found.append(Edit(start, end, source.code(stands_for)))
    return splice(source.text, found, *source.span(schedule.node))
