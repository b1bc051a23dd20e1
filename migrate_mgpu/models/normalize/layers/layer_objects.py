"""Objects of TF1's layers that are applied once, as the functions that make and apply them.

`model = tf.layers.Dense(units=1)` and below it `y = model(x)` becomes `y = tf.layers.dense(x,
units=1)`, which does both, and gives the variables the same names: a layer gets its scope where it
is applied. So does `self.model`, which its constructor makes and applies.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cache

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import Scope, position, walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_paragraph

_ROOM = "layers."
_FLATTEN = "keras.layers.Flatten"
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
# What may ask for an attribute by its name as a text.
_BY_TEXT = ("getattr", "__dict__", "vars(", "attrgetter")
# What an argument may be that means the same where the layer is applied.
_PLAIN = (
    ast.Constant, ast.Name, ast.Attribute, ast.List, ast.Tuple, ast.BinOp, ast.UnaryOp,
    ast.operator, ast.unaryop, ast.expr_context, ast.keyword,
)  # fmt: skip


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such layer; none where there is none."""
    return _first(module, ast.Name)


def _first(module: Module, of: type[ast.expr], asked: AbstractSet[str] = frozenset()) -> list[Edit]:
    if not session_calls(module):
        return []
    for name, calls in calls_of_names(module).items():
        function = _functions().get(name)
        for call in calls if function is not None else ():
            given = getattr(module.names.statement(call), "targets", [None])[0]
            if isinstance(given, ast.Attribute) and given.attr in asked:
                continue
            edits = _applied(module, call, function or "", of)
            if edits:
                return edits
    return []


def kept(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one such layer that an object has; no other of ``modules`` may ask for it."""
    named = {name for one in modules if one is not module for name in one.names.attributes}
    return _first(module, ast.Attribute, named)


def flattened(module: Module) -> list[Edit]:
    """`tf.keras.layers.Flatten()(x)`, which has no variables, is `tf.layers.flatten(x)`."""
    for made in calls_of_names(module).get(_FLATTEN, ()):
        applied, shown = module.names.parents[made], module.source.code(made.func)
        if not isinstance(applied, ast.Call) or applied.func is not made:
            continue
        alone = len(applied.args) == 1 and not applied.keywords
        if alone and not (made.args or made.keywords) and shown.endswith(f".{_FLATTEN}"):
            tensorflow = shown[: -len(_FLATTEN) - 1]
            return [Edit(*module.source.span(made), f"{tensorflow}.layers.flatten")]
    return []


@cache
def _functions() -> dict[str, str]:
    """The functions of TF1's layers by the names of their classes, `layers.Conv2D`."""
    found: dict[str, str] = {}
    functions = {
        name.replace("_", ""): name
        for name, row in LAYERS.by_name.items()
        if name.startswith(_ROOM) and row.inputs
    }
    for name in LAYERS.by_name:
        word = name[len(_ROOM) :]
        if name.startswith(_ROOM) and word[:1].isupper() and name.lower() in functions:
            found[name] = functions[name.lower()][len(_ROOM) :]
    return found


def _applied(module: Module, made: ast.Call, function: str, of: type[ast.expr]) -> list[Edit]:
    names, source = module.names, module.source
    statement = names.statement(made)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, of):
        return []
    if statement.value is not made or len(statement.targets) > 1:
        return []
    home, others = _mentions(module, target)
    call = names.parents.get(others[0]) if len(others) == 1 else None
    if home is None or not isinstance(call, ast.Call) or call.func is not others[0]:
        return []
    if names.scope_at(call) is not home:
        return []
    around = {one for one in names.ancestors(call) if isinstance(one, _LOOPS)}
    if around - {*names.ancestors(made)} or position(call) < position(made):
        return []
    given: list[ast.expr | ast.keyword] = [*made.args, *made.keywords]
    stays = len(made.args) < 3 and all(_is_same_below(module, one) for one in given)
    plain = len(call.args) == 1 and all(one.arg == "training" for one in call.keywords)
    if not stays or not plain or isinstance(call.args[0], ast.Starred):
        return []
    parts = [call.args[0], *given, *call.keywords]
    head = source.code(made.func).rpartition(".")[0]
    if not head:
        return []  # `from tensorflow.layers import Dense`
    text = f"{head}.{function}({', '.join(source.code(one) for one in parts)})"
    return [without_paragraph(source, statement), Edit(*source.span(call), text)]


def _mentions(module: Module, target: ast.expr) -> tuple[Scope | None, list[ast.expr]]:
    """The scope of a name, or of the constructor that an attribute is made in, and the others."""
    names = module.names
    found: list[ast.expr] = []
    if isinstance(target, ast.Name):
        home = names.scope_of_name[target]
        found += (one for one in names.mentions(target.id, home) if one is not target)
        return (home if len(home.bindings[target.id]) == 1 else None), found
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
        return None, []
    home = names.scope_of_name[target.value]
    function = home.function()
    arguments = function.args.args if isinstance(function, ast.FunctionDef) else []
    own = arguments and arguments[0].arg == target.value.id and len(home.bindings[target.value.id])
    every = [one for one in names.attributes[target.attr] if one is not target]
    if own != 1 or not isinstance(function, ast.FunctionDef) or function.name != "__init__":
        return None, []
    if not all(ast.unparse(one.value) == target.value.id for one in every):
        return None, []
    if any(word in module.source.text for word in _BY_TEXT):
        return None, []
    found += every
    return home, found


def _is_same_below(module: Module, node: ast.expr | ast.keyword) -> bool:
    """Whether an argument of a layer is the same wherever it stands."""
    for part in walk(node):
        if isinstance(part, ast.Call):
            if not name_of(module, part):
                return False
        elif isinstance(part, ast.Name):
            if len(module.names.bindings_of(part)) > 1:
                return False
        elif not isinstance(part, _PLAIN) or (isinstance(part, ast.keyword) and part.arg is None):
            return False
    return True
