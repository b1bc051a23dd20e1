"""Arrays of one element that are taken for a number, which NumPy 2.5 no longer does.

`"%f" % sess.run(W)` with `W = tf.Variable([0.3])` raises `TypeError: only 0-dimensional arrays can
be converted to Python scalars` there, as `float(sess.run(W))` does; `.item()` is the number.
"""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.analysis.symbols import symbol

_CONVERSION = re.compile(r"%(\(\w*\))?[-#0 +]*(\*|\d+)?(\.(\*|\d+))?[hlL]?([a-zA-Z%])")
_OF_NUMBERS = set("diouxXeEfFgG")
_SINGLE = (1, (1,), [1])  # shapes of one element
_VARIABLES = {"Variable": "initial_value", "get_variable": "shape"}
# What is given the shape of a variable that begins with it.
_OF_SHAPE = {
    "zeros", "ones", "random_normal", "truncated_normal", "random_uniform", "random.normal",
    "random.truncated_normal", "random.uniform",
}  # fmt: skip


@fact_of_text
def single_element_arrays(module: Module) -> frozenset[ast.Call]:
    """The runs, `sess.run(W)` or `W.eval()`, whose array of one element is taken for a number."""
    parents, attributes = module.names.parents, module.names.attributes
    named = (one for name in ("eval", "run") for one in attributes.get(name, ()))
    calls = [(one, parents[one]) for one in named]
    found = (
        call
        for one, call in calls
        if isinstance(call, ast.Call) and call.func is one and _is_number(module, call)
    )
    return frozenset(call for call in found if _has_one_element(module, _fetched(call)))


def single_element_formats(module: Module) -> list[Diagnostic]:
    """What NumPy 2.5 raises at, where the run stays as it is."""
    return [
        Diagnostic(
            "array-as-number",
            Place(module, call),
            "NumPy 2.5 takes no array of one element for a number",
            "write `.item()` behind it",
        )
        for call in sorted(
            single_element_arrays(module) | _drawn_elements(module), key=lambda one: one.lineno
        )
    ]


def _drawn_elements(module: Module) -> frozenset[ast.Call]:
    """`np.random.choice(n, size=1)`, given to `int`."""
    found = (
        call
        for call in module.names.calls
        if any(one.arg == "size" and constant(one.value) in _SINGLE for one in call.keywords)
        and (module.names.qualname(call.func) or "").startswith("numpy.random.")
    )
    return frozenset(call for call in found if _is_number(module, call))


def _fetched(call: ast.Call) -> ast.expr | None:
    """What a run asks for by itself."""
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr == "eval":
        return call.func.value
    return call.args[0] if call.func.attr == "run" and call.args else None


def _is_number(module: Module, call: ast.Call) -> bool:
    """Whether a call's value is formatted with `%` as a number, or is given to `float` or `int`."""
    parents = module.names.parents
    parent, place = parents[call], 0
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
        return parent.func.id in ("float", "int") and parent.args == [call]
    if isinstance(parent, ast.Tuple):
        place, parent = parent.elts.index(call), parents[parent]
    if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, ast.Mod):
        return False
    conversions = _CONVERSION.findall(str(constant(parent.left) or ""))
    kinds = [kind for *_, kind in conversions if kind != "%"]
    plain = not any(name or "*" in (width, digits) for name, width, _, digits, _ in conversions)
    return plain and place < len(kinds) and kinds[place] in _OF_NUMBERS


def _has_one_element(module: Module, node: ast.expr | None) -> bool:
    """Whether a name is that of a variable with one element, in an array of one dimension or more.

    A number alone, which has no dimension, is one to NumPy too.
    """
    if not isinstance(node, ast.Name):
        return False
    home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
    bindings = reaching(module.names, node, home) if home is not None else []
    return bool(bindings) and all(
        one.kind != "parameter" and _is_of_one(module, one.value) for one in bindings
    )


def _is_of_one(module: Module, made: ast.expr | None) -> bool:
    if not isinstance(made, ast.Call) or (kind := _name(module, made)) not in _VARIABLES:
        return False
    place = 0 if kind == "Variable" else 1
    given = made.args[place : place + 1] or [
        k.value for k in made.keywords if k.arg == _VARIABLES[kind]
    ]
    first = given[0] if given else None
    if kind == "get_variable":
        return _is_shape_of_one(first)
    if isinstance(first, ast.Call) and _name(module, first) in _OF_SHAPE:
        shape = first.args[:1] or [k.value for k in first.keywords if k.arg == "shape"]
        return bool(shape) and _is_shape_of_one(shape[0])
    value = constant(first)
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return isinstance(first, ast.List) and isinstance(value, (int, float))


def _is_shape_of_one(node: ast.expr | None) -> bool:
    sizes = constant(node)
    return isinstance(sizes, (list, tuple)) and bool(sizes) and all(one == 1 for one in sizes)


def _name(module: Module, call: ast.Call) -> str:
    found = symbol(module.names.qualname(call.func))
    return found.name if found is not None else ""
