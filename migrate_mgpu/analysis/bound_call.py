"""A call whose every argument is known by the name of a parameter."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.source.call_edit import CallEdit


class BoundCall(CallEdit):
    """The edit of a call that is bound to ``signature``, TF1's parameters in order.

    Raises:
        Refused: it cannot be told which argument is which (``*args``, ``**kwargs``), or
            there is one that the signature has not.
    """

    def __init__(self, module: Module, call: ast.Call, signature: Sequence[str]) -> None:
        super().__init__(module.source, call, signature)
        self.module = module
        for index, argument in enumerate(call.args):
            if isinstance(argument, ast.Starred) or index >= len(signature):
                text = f"which argument of `{self.shown}` this is cannot be told"
                raise Refused(module, argument, text, "write the arguments out")
        for keyword in call.keywords:
            if keyword.arg is None:
                text = f"arguments of `{self.shown}` come from `**`"
                raise Refused(module, keyword.value, text, "write the arguments out")
            if keyword.arg not in signature:
                text = f"`{self.shown}` is given `{keyword.arg}`, which is not known for it"
                raise Refused(module, keyword.value, text)
