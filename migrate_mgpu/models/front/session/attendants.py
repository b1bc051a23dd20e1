"""What stands around the steps of a session's program, as facts: savers and what they save."""

from __future__ import annotations

import ast

from migrate_mgpu.core.records import record
from migrate_mgpu.models.ir import Update, Variables


@record(frozen=True, eq=False)
class NamedVariable:
    """A variable by its name in the graph: the ``key`` of a dictionary or place in a list."""

    name: str
    variables: Variables
    key: ast.expr | int | None = None


@record(frozen=True, eq=False)
class SavedState:
    """What an optimizer keeps of each variable that it trains, as TF1 names it.

    ``slots`` are what the names of a variable's slots begin with, in the order of the
    variables, and how many have it already; ``powers`` are the names of Adam's two counters,
    ``steps`` the name of the count of steps where Keras's arithmetic needs it.
    """

    update: Update
    slots: tuple[tuple[str, int], ...]
    powers: tuple[str, str]
    steps: str


@record(frozen=True, eq=False)
class Saver:
    """`saver = tf.train.Saver()`: ``saved`` by their names; ``keep`` is how many files stay."""

    name: str
    statement: ast.Assign
    call: ast.Call
    saved: tuple[tuple[str, NamedVariable], ...]
    states: tuple[SavedState, ...]
    keep: ast.expr | None


@record(frozen=True, eq=False)
class SaverCall:
    """`saver.save(sess, path)` or `saver.restore(sess, path)`.

    ``gone`` are arguments that only TF1 has, ``step`` is a variable that gives the number.
    """

    call: ast.Call
    saver: Saver
    kind: str
    session: ast.expr
    gone: tuple[str, ...] = ()
    step: ast.Name | None = None
