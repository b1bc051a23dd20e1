"""How long an input function's dataset is, as far as its code tells."""

from __future__ import annotations

import ast
from typing import Optional

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.models.front.inputs.arrays import array_row, is_endless
from migrate_mgpu.models.front.inputs.batches import METHODS
from migrate_mgpu.models.front.inputs.tfds import loaded

# Methods of a Dataset, and functions that make one, whose result has a known length.
_COUNTED = {
    "from_tensor_slices", "from_tensors", "range", "zip", "batch", "cache", "concatenate",
    "enumerate", "map", "padded_batch", "prefetch", "repeat", "shard", "shuffle", "skip", "take",
}  # fmt: skip

# Methods and functions that pad each batch by itself.
_PADS = {"padded_batch", "bucket_by_sequence_length"}

# What a parameter of a function is given: a constant.
_Known = dict[tuple[Optional[ast.AST], str], object]


class Lengths:
    """Looks through input functions for what makes their datasets long."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.values = ValueFlow(graph)

    def counts(self, module: Module, node: ast.expr) -> bool:
        """Whether TF2 knows how many batches an input function's dataset has."""
        try:
            bodies = self._bodies(module, node)
        except Refused:
            return False
        known = self._constants(module, module.names.assigned(node) or node)
        for where, body in bodies:
            for part in ast.walk(body):
                if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                    name = tensorflow_name(where, part.func)
                    last = part.func.attr
                    if name.startswith(("data.", "contrib.data.")) and last not in _COUNTED:
                        return False
                    if (last in METHODS and last not in _COUNTED) or loaded(where, part):
                        return False
                    if _is_endless(where, part, known) and _happens(where, part, known, True):
                        return False
        return bool(bodies)

    def endless(self, module: Module, node: ast.expr) -> bool:
        """Whether an input function's dataset is known to repeat without an end."""
        known = self._constants(module, module.names.assigned(node) or node)
        return any(
            isinstance(part, ast.Call)
            and _is_endless(where, part, known)
            and _happens(where, part, known, False)  # its author knows when it ends
            for where, body in self._bodies(module, node)
            for part in ast.walk(body)
        )

    def padded(self, module: Module, node: ast.expr) -> bool:
        """Whether the batches of an input function may have several lengths."""
        return any(
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr in _PADS
            for _, body in self._bodies(module, node)
            for part in ast.walk(body)
        )

    def _constants(self, module: Module, node: ast.expr) -> _Known:
        """The parameters of an input function that get a constant."""
        inner = node.body if isinstance(node, ast.Lambda) else node
        if isinstance(inner, ast.Call) and self.graph.target(module, inner.func) is None:
            made = module.names.assigned(inner.func)  # `eval_input_fn = input_fn_builder(...)`
            inner = made if isinstance(made, ast.Call) else inner
        if not isinstance(inner, ast.Call):
            function, given = self.graph.target(module, node), ast.Call(node, [], [])
        elif module.names.qualname(inner.func) == "functools.partial" and inner.args:
            function = self.graph.target(module, inner.args[0])
            given = ast.Call(inner.func, inner.args[1:], inner.keywords)
        else:
            function, given = self.graph.target(module, inner.func), inner
        if function is None:
            return {}
        arguments = bind(given, function)
        found = {**arguments.defaults, **arguments.written()}
        return {
            (function.node, name): value.value
            for name, value in found.items()
            if isinstance(value, ast.Constant)
        }

    def _bodies(self, module: Module, node: ast.expr) -> list[tuple[Module, ast.AST]]:
        """The code of an input function, helpers of the run that it calls included."""
        found: list[tuple[Module, ast.AST]] = []
        waiting: list[tuple[Module, ast.AST]] = []
        for origin in self.values.definitions(module, node):
            if origin.node is not None:
                waiting.append((origin.module, origin.node))
        while waiting:
            where, body = waiting.pop()
            if any(body is known for _, known in found):
                continue
            found.append((where, body))
            for part in [body, *ast.walk(body)]:
                if isinstance(part, (ast.Name, ast.Attribute)):
                    function = self.graph.target(where, part)
                    if function is not None:
                        waiting.append((function.module, function.node))
                elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                    waiting += self._held(where, part.func)
        return found

    def _held(self, module: Module, name: ast.Name) -> list[tuple[Module, ast.AST]]:
        """The functions that a variable holds: `input_fn = input_fn_builder(...)`."""
        if self.graph.target(module, name) is not None or not module.names.bindings_of(name):
            return []
        try:
            origins = self.values.definitions(module, name)
        except Refused:
            return []
        return [(origin.module, origin.node) for origin in origins if origin.node is not None]


def _is_endless(module: Module, call: ast.Call, known: _Known) -> bool:
    """`repeat()`, or an input function of arrays with `num_epochs=None`.

    `repeat(num_epochs)` is as well, where that is a parameter which is ``known`` to be None.
    """
    row = array_row(module, call)
    if row is not None:
        told = by_parameter(call, row.signature).get("num_epochs")
        return is_endless(call, row) or _is_nothing(module, told, known)
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "repeat":
        return False
    given = [*call.args, *(k.value for k in call.keywords)]
    if not given or is_none(given[0]) or constant(given[0]) == -1:
        return True
    return _is_nothing(module, given[0], known)


def _is_nothing(module: Module, node: ast.expr | None, known: _Known) -> bool:
    """Whether a parameter is known to be None, or -1."""
    if not isinstance(node, ast.Name):
        return False
    home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
    key = (home.node if home is not None else None, node.id)
    return key in known and known[key] in (None, -1)


def _happens(module: Module, call: ast.Call, known: _Known, undecided: bool) -> bool:
    """Whether a call happens, where the condition around it asks for a known parameter.

    ``undecided`` is what is said where it asks for anything else.
    """
    names = module.names
    child: ast.AST = call
    for parent in names.ancestors(call):
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            test, wanted = parent.test, True
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                test, wanted = test.operand, False
            home = None
            if isinstance(test, ast.Name):
                home = names.defining_scope(test.id, names.scope_of_name[test])
            key = (home.node if home is not None else None, getattr(test, "id", ""))
            if key not in known:
                return undecided
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            if (bool(known[key]) is wanted) is not (child in body):
                return False
        child = parent
    return True
