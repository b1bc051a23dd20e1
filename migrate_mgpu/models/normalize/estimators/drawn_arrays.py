"""Variables that begin with numbers that numpy draws: TensorFlow draws them the same way.

    tf.Variable(np.random.normal(loc=0, scale=0.1, size=(1, 8)), dtype=np.float32)

becomes ``tf.Variable(tf.random_normal([1, 8], 0.0, 0.1))``, which a layer's variable may begin
with as well. A seed of numpy's says which numbers those are: then they stay.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit

_VARIABLE = (
    "initial_value",
    "trainable",
    "collections",
    "validate_shape",
    "caching_device",
    "name",
)
_DRAWS = {
    "numpy.random.normal": ("random_normal", ("loc", "scale", "size")),
    "numpy.random.uniform": ("random_uniform", ("low", "high", "size")),
}


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such variables of the modules that a model_fn has."""
    if flow.function is None or any("seed" in one.names.attributes for one in flow.modules):
        return {}
    found: dict[Module, list[Edit]] = {}
    for module in flow.modules:
        for call in module.names.calls if module.writable else ():
            if name_of(module, call) == "Variable":
                edits = _edits(module, call)
                if edits:
                    found.setdefault(module, []).extend(edits)
    return found


def _edits(module: Module, call: ast.Call) -> list[Edit]:
    given = by_parameter(call, _VARIABLE)
    dtype, value = given.get("dtype"), given.get("initial_value")
    drawn, cast = _cast(module, value)
    if not isinstance(drawn, ast.Call) or not (cast or _is_float32(module, dtype)):
        return []
    if dtype is not None and not _is_float32(module, dtype):
        return []
    draw = _DRAWS.get(module.names.qualname(drawn.func) or "")
    if draw is None:
        return []
    name, parameters = draw
    inner = by_parameter(drawn, parameters)
    shape = _shape(module, inner.get("size"))
    if shape is None or not inner.keys() <= {*parameters}:
        return []
    source = module.source
    tf = style_at(module, call).tensorflow
    numbers = []
    for parameter, default in zip(parameters, ("0.0", "1.0")):
        node = inner.get(parameter)
        known = constant(node)
        whole = isinstance(known, int) and not isinstance(known, bool)
        numbers.append(default if node is None else f"{known}.0" if whole else source.code(node))
    made = f"{tf}.{name}({shape}, {', '.join(numbers)})"
    assert value is not None
    edits = [Edit(*source.span(value), made)]
    if dtype is not None and module.names.qualname(dtype) == "numpy.float32":
        edits.append(Edit(*source.span(dtype), f"{tf}.float32"))
    return edits


def _cast(module: Module, node: ast.expr | None) -> tuple[ast.expr | None, bool]:
    """What `numbers.astype(np.float32)` is of, and whether it is that."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return node, False
    if node.func.attr != "astype" or len(node.args) != 1 or node.keywords:
        return node, False
    return node.func.value, _is_float32(module, node.args[0])


def _is_float32(module: Module, node: ast.expr | None) -> bool:
    if node is None:
        return False
    return module.names.qualname(node) == "numpy.float32" or name_of(module, node) == "float32"


def _shape(module: Module, node: ast.expr | None) -> str | None:
    """The `size` of an array as a list: `(1, n)`, `[n]`, `int(n)`, `4`."""
    if node is None:
        return None
    if isinstance(node, (ast.Tuple, ast.List)):
        return f"[{', '.join(module.source.code(one) for one in node.elts)}]"
    named = isinstance(node, ast.Call) and module.names.qualname(node.func) == "builtins.int"
    return f"[{module.source.code(node)}]" if named or isinstance(constant(node), int) else None
