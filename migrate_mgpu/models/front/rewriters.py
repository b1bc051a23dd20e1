"""The kinds of rewriters that a model's conversion is made of."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record
from migrate_mgpu.core.registry import Rewriter
from migrate_mgpu.source.source import Edit


class PartRewriter(Rewriter):
    """A part of an Estimator's conversion: without it, no part of that is made.

    ``every_model``: each model_fn needs it; else the sites say which Estimator does.
    """

    folder = "estimators"
    every_model = False


@record(frozen=True, eq=False)
class SymbolRewriter(Rewriter):
    """Names of TF1's in the rest of a program whose Estimators are converted.

    ``rewrite`` gives a name's edits and the imports that they need; None for another's.
    """

    folder = "estimators"

    rewrite: Callable[[Module, ast.AST, str], tuple[list[Edit], set[str]] | None]


class ModelRewriter(PartRewriter):
    """The model_fn itself."""

    every_model = True


class CannedRewriter(PartRewriter):
    """Canned Estimators, and Keras models that were made one."""


class StrategyRewriter(PartRewriter):
    """A strategy's constructor."""


class RunConfigRewriter(PartRewriter):
    """A RunConfig, which goes away."""


class DrivingRewriter(PartRewriter):
    """The calls that train, evaluate, predict and export."""


class LayerRewriter(PartRewriter):
    """Calls that make layers, and classes of layers."""

    every_model = True


class LossRewriter(PartRewriter):
    """Losses."""

    every_model = True


class OptimizerRewriter(PartRewriter):
    """Optimizers and schedules of their rates."""

    every_model = True


class MetricRewriter(PartRewriter):
    """Metrics."""

    every_model = True


class FunctionRewriter(PartRewriter):
    """Functions that TF2 has by another name or with other arguments."""

    every_model = True
