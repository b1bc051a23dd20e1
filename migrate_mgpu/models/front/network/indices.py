"""Features that are looked up by: Keras 3 needs to be told that they are whole numbers.

Under a strategy it builds a model from the mean of the replicas' batches, so that whole
numbers come as floats, which `tf.one_hot` and lookups refuse (measured on 2.21; the batches
that it trains with are what they are).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.binding_time import BindingTimes
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of

# The place and the name of the argument.
_LOOKED_UP = {
    "one_hot": (0, "indices"),
    "gather": (1, "indices"),
    "gather_nd": (1, "indices"),
    "nn.embedding_lookup": (1, "ids"),
}
# These give whole numbers, whatever they get.
_WHOLE = {
    "argmax", "argmin", "cast", "math.argmax", "math.argmin", "range", "shape", "size",
    "string_to_hash_bucket_fast", "strings.to_hash_bucket_fast", "to_int32", "to_int64", "where",
}  # fmt: skip
# What takes texts, by the beginning of its name.
_TEXTS = (
    "contrib.lookup.", "decode_", "io.decode_", "lookup.", "parse_", "regex_", "string_",
    "strings.",
)  # fmt: skip


def looked_up_by(nodes: Iterable[ast.AST], module: Module, times: BindingTimes) -> list[ast.expr]:
    """The arguments that must be whole numbers, and may not be."""
    found: list[ast.expr] = []
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        argument = _argument(module, call)
        if argument is None or name_of(module, argument) in _WHOLE:
            continue
        names = {n.id for n in walk(argument) if isinstance(n, ast.Name)}
        if names & times.tensors:
            found.append(argument)
    return found


def check_texts(module: Module, nodes: Iterable[ast.AST]) -> None:
    """A network on several replicas takes no texts: of those there is no mean.

    Raises:
        Refused: with a call that takes some.
    """
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        name = name_of(module, call)
        if name.startswith(_TEXTS) and name.rpartition(".")[2] != "as_string":
            text = "Keras 3 cannot build a model from texts where several replicas train it"
            advice = "turn texts into numbers in the Dataset's map()"
            raise Refused(module, call, text, advice)


def _argument(module: Module, call: ast.Call) -> ast.expr | None:
    place = _LOOKED_UP.get(name_of(module, call))
    if place is None:
        return None
    if len(call.args) > place[0]:
        return call.args[place[0]]
    return next((k.value for k in call.keywords if k.arg == place[1]), None)
