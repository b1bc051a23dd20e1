"""Why something stays as it is: a place, a reason, what its owner can do."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module


class Refused(Exception):
    """A statement stands in the way of a whole Estimator: its program stays as it is.

    ``reason`` completes "not migrated: ..."; ``advice`` says what its owner can do.
    """

    def __init__(self, module: Module, node: ast.AST, reason: str, advice: str = "") -> None:
        super().__init__(reason)
        self.module = module
        self.node = node
        self.reason = reason
        self.advice = advice


class NeedsSteps(Refused):
    """`compile` has no place for it: the model needs a training step of its own."""
