"""The kind of rewriter that turns a model's copies into a strategy."""

from __future__ import annotations

from migrate_mgpu.core.registry import Rewriter


class CopiesRewriter(Rewriter):
    """Calls of ``multi_gpu_model``."""

    folder = "multi_gpu_model"
