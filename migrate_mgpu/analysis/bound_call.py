"""A call whose every argument is known by the name of a parameter."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.source.call_edit import CallEdit


class BoundCall(CallEdit):
    """The edit of a call that is bound to ``signature``, TF1's parameters in order.

    Raises:
        Refused: it cannot be determined which argument is which (``*args``, ``**kwargs``), or
            there is one that the signature has not.
    """

    def __init__(self, module: Module, call: ast.Call, signature: Sequence[str]) -> None:
        super().__init__(module.source, call, signature)
        self.module = module
        NamedArguments(module, call, signature)
