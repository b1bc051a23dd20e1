"""Weights of which a step looks up some rows only: what optimizers do with the others."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.registry import constant

# Optimizers that do with a gradient of zero what they do with none; the second ones' steps are
# the same for a sum of gradients and for each of them.
_EVEN = ("Adagrad", "Adam")
_LINEAR = ("GradientDescent", "SGD")


def check_lookups(module: Module, optimizers: Iterable[ast.Call], distributed: bool) -> None:
    """TF1's optimizers leave rows alone that a step does not look up; Keras's move them.

    Of the same row on several replicas Keras 3 squares each gradient, TF1 their sum.

    Raises:
        Refused: an optimizer that trains otherwise then.
    """
    for call in optimizers:
        name = name_of(module, call)
        if name.endswith("optimize_loss"):
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            name = str(constant(given["optimizer"])) if "optimizer" in given else ""
        short = name.rpartition(".")[2].removesuffix("Optimizer")
        if short not in (*_LINEAR, *_EVEN):
            text = "momentum and moving averages rest in TF1 for rows that are not looked up"
            raise Refused(module, call, text, "train it by AdamOptimizer, or without")
        if distributed and short not in _LINEAR:
            text = "Keras 3 takes rows that several replicas look up one by one, not their sum"
            advice = "train it by GradientDescentOptimizer, or multiply by tf.one_hot"
            raise Refused(module, call, text, advice)
