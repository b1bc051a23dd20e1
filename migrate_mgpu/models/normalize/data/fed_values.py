"""What is computed and may be fed besides, as placeholders with what is computed as their default.

    self.lengths = tf.count_nonzero(self.words, 1, dtype=tf.int32)
    ...
    sess.run(model.tags, {model.words: words, model.lengths: lengths})

is `self.lengths = tf.placeholder_with_default(tf.count_nonzero(...), [None])`: a run that feeds it
has its value, all others compute it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.placeholders import DEFAULTS
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit

_PLACEHOLDER = ("dtype", "shape", "name")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such value; none where there is none."""
    if not session_calls(module):
        return []
    for key in _keys(module):
        value = _only_value(module, key)
        name = name_of(module, value) if isinstance(value, ast.Call) else ""
        if not isinstance(value, ast.Call) or name not in DEFAULTS:
            continue
        shape, tensorflow = _shape(module, value, name), spelling(module, value)
        if shape is not None and tensorflow:
            text = f"{tensorflow}.placeholder_with_default({module.source.code(value)}, {shape})"
            return [Edit(*module.source.span(value), text)]
    return []


def _keys(module: Module) -> Iterator[ast.expr]:
    """The keys of what runs are fed, and of items of dictionaries."""
    for call in module.names.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("run", "eval"):
            for one in (*call.args, *(keyword.value for keyword in call.keywords)):
                made = module.names.only_value(one) if isinstance(one, ast.Name) else one
                if isinstance(made, ast.Dict):
                    yield from (key for key in made.keys if key is not None)


def _only_value(module: Module, node: ast.expr) -> ast.expr | None:
    """What a name or an attribute of some object is given, where it is given one value alone."""
    if isinstance(node, ast.Name):
        return module.names.only_value(node)
    if not isinstance(node, ast.Attribute):
        return None
    stored = [
        one
        for one in module.names.attributes.get(node.attr, ())
        if not isinstance(one.ctx, ast.Load)
    ]
    statement = module.names.parents[stored[0]] if len(stored) == 1 else None
    plain = isinstance(statement, ast.Assign) and statement.targets == stored
    value = statement.value if isinstance(statement, ast.Assign) and plain else None
    return _only_value(module, value) if isinstance(value, ast.Name) else value


def _shape(module: Module, value: ast.Call, name: str) -> str | None:
    """The shape of what a call computes, as code; None where that is not seen."""
    given = by_parameter(value, DEFAULTS[name][0])
    if name != "count_nonzero":
        shape = given.get("shape")
        if not isinstance(shape, (ast.List, ast.Tuple)) or not shape.elts:
            return None
        return _listed(module, shape.elts)
    axis = constant(given["axis"]) if "axis" in given else None
    of, counted = given.get("input_tensor"), given.keys() <= {"input_tensor", "axis", "dtype"}
    made = _only_value(module, of) if of is not None else None
    if not isinstance(made, ast.Call) or name_of(module, made) != "placeholder" or not counted:
        return None
    shape = by_parameter(made, _PLACEHOLDER).get("shape")
    if not isinstance(shape, (ast.List, ast.Tuple)) or not isinstance(axis, int):
        return None
    if not -len(shape.elts) <= axis < len(shape.elts):
        return None
    left = [*shape.elts]
    del left[axis]
    return _listed(module, left)


def _listed(module: Module, sizes: list[ast.expr]) -> str | None:
    """Sizes as a list: those that are numbers of Python's, or not known."""
    shown: list[str] = []
    for size in sizes:
        told = module.names.only_value(size) if isinstance(size, ast.Name) else None
        if is_none(size) or isinstance(constant(size), int) or isinstance(constant(told), int):
            shown.append(module.source.code(size))
        else:
            shown.append("None")
    return f"[{', '.join(shown)}]"
