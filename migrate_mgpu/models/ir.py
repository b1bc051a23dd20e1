"""The model IR: what a program that trains does, as facts.

Front-ends (``models/front``) read TF1 into these objects, predicates over them stand in
``models/properties.py``, and the back-end (``models/keras``) writes TF2 from them. So:

- A fact is a field. No text of TF2 stands here, nor what only one back-end wants to know.
- The author's expressions are nodes of the author's module, by reference: who writes them
  says how (renamed, in another function, at another depth).
- What TF1 takes where nothing is given stands in the row of ``api/`` that an operation's
  ``kind`` names, not in the object.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Mapping

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import field, record


@record(frozen=True, eq=False)
class Operation:
    """A call of TF1's API that is a part of the model.

    ``kind`` is that of its row in a table of ``api/``. ``node`` is the call, or what stands
    for one (a string that names an optimizer). ``arguments`` are those that are given, by
    TF1's names of the parameters.
    """

    kind: str
    module: Module
    node: ast.expr
    arguments: Mapping[str, ast.expr]


# -- training -----------------------------------------------------------------


class Variation(enum.Enum):
    """Whether a learning rate changes while a model trains."""

    CONSTANT = enum.auto()
    SCHEDULED = enum.auto()
    UNKNOWN = enum.auto()


@record(frozen=True, eq=False)
class Schedule(Operation):
    """A learning rate that follows the steps.

    ``bound`` are the parameters of a function whose body the call is, by the expressions that
    they stand for (``lambda rate, step: tf.train.exponential_decay(rate, step, 10, 0.9)``).
    """

    bound: Mapping[str, ast.expr] = field(default_factory=dict)


@record(frozen=True, eq=False)
class LearningRate:
    """A learning rate: the author's expression, and what it does.

    ``value`` is None where TF1's default is taken; ``schedule`` makes one of it that stands
    for it, where the two are given apart (``learning_rate_decay_fn``).
    """

    value: ast.expr | None
    variation: Variation
    schedule: Schedule | None = None


@record(frozen=True, eq=False)
class Optimizer(Operation):
    """An optimizer.

    ``settings`` are hyper-parameters that are neither given nor the default of its class:
    what ``optimize_loss`` or a canned Estimator takes by itself.
    """

    learning_rate: LearningRate
    settings: Mapping[str, float] = field(default_factory=dict)


class ClippedBy(enum.Enum):
    """What a limit on gradients is about."""

    GLOBAL_NORM = enum.auto()  # the norm of all of them together
    NORM = enum.auto()  # the norm of each
    VALUE = enum.auto()  # each element, on both sides


@record(frozen=True, eq=False)
class Clipping:
    """What happens to the gradients before they are applied."""

    by: ClippedBy
    limit: ast.expr


@record()
class Training:
    """One step of one optimizer on the loss, counted by the global step.

    ``value`` is the expression that is the optimizer (a name, or its constructor), standing in
    ``unit``; ``optimizers`` are all that are made on the way to it, by their calls.
    ``gone`` are the statements that a framework with a training loop does itself: gradients,
    update operations, the train_op. ``updates``: the update operations of batch normalization
    run with a step; ``scope`` says which of them, where that are not all.
    """

    value: ast.expr
    unit: ast.stmt | None
    clipping: Clipping | None = None
    gone: set[ast.stmt] = field(default_factory=set)
    updates: bool = False
    scope: ast.expr | None = None
    optimizers: dict[ast.Call, Optimizer] = field(default_factory=dict)
