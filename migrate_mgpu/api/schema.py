"""The one schema of the tables: a symbol of TF1's, its kind in the model IR, its form in TF2.

Front-ends read a call into an object of ``models/ir.py`` by its row, and the Keras back-end
writes that object by the same row. Adding a symbol is adding a row.
"""

from __future__ import annotations

from functools import cached_property
from typing import Generic, TypeVar

from migrate_mgpu.core.records import record
from migrate_mgpu.source.style import FileStyle


@record(frozen=True)
class Parameter:
    """A parameter of a function or class of TF1's.

    ``default`` is TF1's, written in Python; empty for one that must be given. ``target`` is
    its name in TF2: the same where it is None, no parameter at all where it is empty.
    ``stated``: TF2's default is another one, so TF1's is written out where none is given.
    ``only`` are the values for which TF2 does the same; any other has no equal, for
    ``reason``, with ``advice``. ``real``: Keras 3 takes no whole number for it.
    """

    name: str
    default: str = ""
    target: str | None = None
    stated: bool = False
    only: tuple[object, ...] = ()
    reason: str = ""
    advice: str = ""
    real: bool = False

    @property
    def new_name(self) -> str:
        """Its name in TF2; empty where TF2 has no such parameter."""
        return self.name if self.target is None else self.target


@record(frozen=True)
class Definition:
    """A class or function that does what TF2 has not: it is written beside the model, once.

    ``text`` has four spaces a level and the fields ``{name}``, ``{tf}`` and ``{quote}``;
    ``name`` is the name that it gets where that is free.
    """

    name: str
    text: str

    def written(self, name: str, style: FileStyle) -> str:
        """Its text with ``\\n`` between the lines."""
        return style.code(self.text, name=name)


@record(frozen=True)
class Row:
    """What a symbol of TF1's is.

    ``names`` are its spellings below ``tf.`` (as ``api.tables.name_of`` gives them), the usual
    one first; ``kind`` is the kind of the IR object that a front-end makes of its call, a name
    that no other row of its table has. ``parameters`` stand in TF1's order. ``target`` is TF2's
    name below ``tf.``, empty where nothing in TF2 does the same; ``by_position`` are those of
    its parameters, by their names in TF2, that may be given by position (all of them, where it
    is None); ``constants`` are arguments for what TF1 has no parameter for.
    """

    names: tuple[str, ...]
    kind: str
    parameters: tuple[Parameter, ...] = ()
    target: str = ""
    by_position: tuple[str, ...] | None = None
    constants: tuple[tuple[str, str], ...] = ()

    @cached_property
    def signature(self) -> tuple[str, ...]:
        """The parameters' names in TF1's order."""
        return tuple(parameter.name for parameter in self.parameters)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The parameters in TF2 that may be given by position, in that order."""
        if self.by_position is not None:
            return self.by_position
        return tuple(p.new_name for p in self.parameters if p.new_name)


AnyRow = TypeVar("AnyRow", bound=Row)


class Table(Generic[AnyRow]):
    """Rows, found by TF1's name or by the kind of what was read."""

    def __init__(self, *rows: AnyRow) -> None:
        self.rows = rows
        self.by_name = {name: row for row in rows for name in row.names}
        self.by_kind = {row.kind: row for row in rows}
