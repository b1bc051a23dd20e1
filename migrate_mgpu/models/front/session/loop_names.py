"""The names of variables that a loop makes, where what it goes through is known to a run alone.

    for width in widths:
        with tf.name_scope("window-%s" % width):
            kernel = tf.Variable(..., name="kernel")

The scope of a round is an expression, which the written program has as well; what stands in it has
the same name in each round.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import takewhile

from migrate_mgpu.analysis.constant_conditions import Unknown
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.network.name_scopes import scope_kind
from migrate_mgpu.models.front.session.known_values import is_only_read, known_value

_NO_NAME = "the name of a variable in a checkpoint cannot be determined"
_ADVICE = "write it as a constant"
_GOES_THROUGH = {"enumerate", "range", "len", "zip", "str", "int", "reversed", "sorted"}


@record(frozen=True)
class RoundScope:
    """The scope that a round of a loop opens: its ``name``, and what that ``begins`` with.

    ``inner`` are the items of `with` in it, around a variable.
    """

    block: ast.With
    name: ast.expr
    begins: str
    inner: tuple[ast.expr, ...]


def round_scope(
    module: Module, loop: ast.For, call: ast.Call, kinds: set[str], given: Mapping[str, object]
) -> RoundScope:
    """The scope of a round around a call that makes a variable; ``kinds`` are those that name it.

    Raises:
        Refused: it has none, or what it is called in a run cannot be written.
    """
    around = takewhile(lambda parent: parent is not loop, module.names.ancestors(call))
    scopes = [
        (parent, item.context_expr)
        for parent in around
        if isinstance(parent, ast.With)
        for item in reversed(parent.items)
        if scope_kind(module, item.context_expr) in kinds
    ]
    if not scopes:
        raise Refused(module, call, _NO_NAME, "open a scope in each round, with a name of its own")
    block, opened = scopes.pop()
    name = name_of_scope(module, opened)
    begins = _begin(name)
    ends = ast.unparse(name).rstrip("'\"`)").endswith("/")
    if block not in loop.body or not begins or ends or known_value(name, given) is not Unknown:
        raise Refused(module, opened, _NO_NAME, _ADVICE)
    _check_others(module, loop, block, call, begins)
    return RoundScope(block, name, begins, tuple(scope for _, scope in reversed(scopes)))


def name_of_scope(module: Module, scope: ast.expr) -> ast.expr:
    """The one argument of what opens a scope.

    Raises:
        Refused: it is given something else.
    """
    if not isinstance(scope, ast.Call) or len(scope.args) != 1 or scope.keywords:
        raise Refused(module, scope, "the name of a variable's scope cannot be determined", _ADVICE)
    return scope.args[0]


def _begin(name: ast.expr) -> str:
    """The text that a computed name begins with: `"window-%s" % width`; empty if it has none."""
    first = ""
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Mod):
        text = constant(name.left)
        first = text.partition("%")[0] if isinstance(text, str) else ""
    elif isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        text = constant(name.left)
        first = text if isinstance(text, str) else _begin(name.left)
    elif isinstance(name, ast.JoinedStr) and name.values:
        text = constant(name.values[0])
        first = text if isinstance(text, str) else ""
    elif isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute):
        text = constant(name.func.value)
        if name.func.attr == "format" and isinstance(text, str):
            first = text.partition("{")[0]
    return first


def _check_others(
    module: Module, loop: ast.For, block: ast.With, call: ast.Call, begins: str
) -> None:
    """No other name of a round is one of those of its variables.

    Raises:
        Refused: one may be.
    """
    inside = set(walk(block))
    for one in walk(loop):
        if not isinstance(one, ast.Call) or one is block.items[0].context_expr:
            continue
        for told in _named(module, one):
            text = constant(told)
            if one in inside:
                own = isinstance(text, str) and text.lower() in _texts(module, call)
                taken = own and one is not call and position(one) < position(call)
            else:
                taken = not isinstance(text, str) or text.lower().startswith(begins.lower())
            if taken:
                raise Refused(module, one, _NO_NAME, "give each operation a name of its own")


def _named(module: Module, call: ast.Call) -> Iterator[ast.expr]:
    """What names the operations of a call, or its scope."""
    if scope_kind(module, call) is not None:
        yield from call.args[:1]
    yield from (k.value for k in call.keywords if k.arg in ("name", "scope"))


def _texts(module: Module, call: ast.Call) -> set[str]:
    """The texts that a call is named by, in small letters, as TF1 compares them."""
    found = [constant(told) for told in (*_named(module, call), *call.args[:1])]
    return {text.lower() for text in found if isinstance(text, str)}


def passed_to(
    module: Module,
    function: ast.AST,
    loop: ast.For,
    scope: ast.expr,
    given: Mapping[str, ast.expr],
    home: Module,
) -> dict[str, ast.expr]:
    """What a loop and its scope take of what its function is given, in ``home``.

    Raises:
        Refused: they take something else, or what may change.
    """
    names = module.names
    own = {n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
    found: dict[str, ast.expr] = {}
    for part in (*walk(loop.iter), *walk(scope)):
        if isinstance(part, ast.Call):
            told = names.qualname(part.func) or ""
            known = told.startswith("builtins.") and told.partition(".")[2] in _GOES_THROUGH
            formats = isinstance(part.func, ast.Attribute) and part.func.attr == "format"
            if not known and not formats:
                raise Refused(module, part, _NO_NAME, _ADVICE)
        if not isinstance(part, ast.Name) or part.id in own:
            continue
        if (names.qualname(part) or "").startswith("builtins."):
            continue
        value = given.get(part.id)
        at = names.defining_scope(part.id, names.scope_of_name[part])
        if at is names.module_scope and module is home and _stays(home, part):
            continue
        at_home = at is names.scopes[function]
        bound = names.scopes[function].bindings.get(part.id, ())
        if value is None or not at_home or len(bound) != 1 or not _stays(home, value):
            raise Refused(module, part, _NO_NAME, "give the loop a list with a name")
        mentioned = {n.id for n in walk(value) if isinstance(n, ast.Name)}
        if mentioned & own:
            raise Refused(module, part, _NO_NAME, "give the list another name")
        found[part.id] = value
    return found


def _stays(module: Module, node: ast.expr) -> bool:
    """Whether an argument has the same value below its call: a constant, or a name of a list."""
    if not isinstance(node, ast.Name):
        return isinstance(node, ast.Constant)
    names = module.names
    home = names.defining_scope(node.id, names.scope_of_name[node])
    once = home is not None and len(home.bindings.get(node.id, ())) == 1
    return once and is_only_read(module, node)
