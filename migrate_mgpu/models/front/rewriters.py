"""The kinds of rewriters that a model's conversion is made of."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record
from migrate_mgpu.core.registry import Rewriter
from migrate_mgpu.source.style import FileStyle


class PartRewriter(Rewriter):
    """A part of an Estimator's conversion: without it, no part of that is made."""

    folder = "estimators"


class ModelPartRewriter(PartRewriter):
    """A part that each model_fn needs; the sites of any other say which Estimator does."""


class ModelRewriter(ModelPartRewriter):
    """The model_fn itself."""


class CannedRewriter(PartRewriter):
    """Canned Estimators, and Keras models that were made one."""


class StrategyRewriter(PartRewriter):
    """A strategy's constructor."""


class RunConfigRewriter(PartRewriter):
    """A RunConfig, which goes away."""


class DrivingRewriter(PartRewriter):
    """The calls that train, evaluate, predict and export."""


@record(frozen=True, eq=False)
class SymbolRewriter(Rewriter):
    """Names of TF1's in the rest of a program whose Estimators are converted.

    ``rewrite`` gives what changes for a name; None for another's.
    """

    folder = "estimators"

    rewrite: Callable[[Module, ast.AST, FileStyle], EditSet | None]


class SessionRewriter(Rewriter):
    """A program that drives a graph with a session, as a whole."""

    folder = "sessions"


class EagerRewriter(Rewriter):
    """A program that TF1 ran eagerly, as a whole."""

    folder = "programs"


class TowerRewriter(Rewriter):
    """A copy of a model on each GPU, in a program that drives a graph with a session."""

    folder = "towers"
