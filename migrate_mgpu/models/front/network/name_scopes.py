"""`with tf.variable_scope(...)` around layers: a name scope, for layers own their weights."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import Modes
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.core.records import record

_SCOPES = {"variable_scope", "name_scope", "variable_op_scope", "op_scope"}


def scope_kind(module: Module, node: ast.expr) -> str | None:
    """``variable_scope`` or ``name_scope`` for a call that opens one."""
    if not isinstance(node, ast.Call):
        return None
    found = symbol(module.names.qualname(node.func))
    return found.name if found is not None and found.name in _SCOPES else None


def repeats_scope(module: Module, call: ast.Call) -> bool:
    """Whether the `reuse` of a layer is that of the scope that it stands in: told twice."""
    own = next((keyword.value for keyword in call.keywords if keyword.arg == "reuse"), None)
    for parent in module.names.ancestors(call):
        if isinstance(parent, (ast.FunctionDef, ast.Lambda)) or own is None:
            return False
        for item in parent.items if isinstance(parent, ast.With) else ():
            scope = item.context_expr
            if scope_kind(module, scope) == "variable_scope" and isinstance(scope, ast.Call):
                told = (keyword.value for keyword in scope.keywords if keyword.arg == "reuse")
                if any(ast.dump(one) == ast.dump(own) for one in told):
                    return isinstance(own, ast.Name) and module.names.is_parameter(own)
    return False


@record(frozen=True)
class NameScope:
    """An item of a `with` that opens a scope, which does no more than give names.

    ``default`` is its name where ``name`` may be None.
    """

    item: ast.withitem
    name: ast.expr
    default: ast.expr | None = None


def name_scopes(module: Module, node: ast.With, modes: Modes | None = None) -> list[NameScope]:
    """The items of a `with` that open a scope.

    Raises:
        Refused: the scope does more than give names: it shares weights, or sets defaults.
    """
    found: list[NameScope] = []
    for item in node.items:
        call = item.context_expr
        kind = scope_kind(module, call)
        if kind is None or not isinstance(call, ast.Call):
            continue
        if kind.endswith("op_scope"):
            raise Refused(module, call, f"tf.{kind} takes its name last", "use tf.name_scope")
        name = call.args[0] if call.args else None
        for keyword in call.keywords:
            if keyword.arg in ("name_or_scope", "name") or (
                keyword.arg == "default_name" and name is None
            ):
                name = keyword.value
            elif keyword.arg == "reuse":
                values = modes.values(keyword.value) if modes is not None else None
                if values is None or any(values.values()):
                    _check_reuse(module, keyword.value)
            elif keyword.arg == "custom_getter" and is_none(keyword.value):
                continue
            elif keyword.arg not in ("values", "default_name", "reuse", "auxiliary_name_scope"):
                text = f"tf.variable_scope sets `{keyword.arg}` for everything inside of it"
                raise Refused(module, keyword.value, text, "give it to the layers themselves")
        if name is None or (isinstance(name, ast.Constant) and name.value is None):
            defaults = [k.value for k in call.keywords if k.arg == "default_name"]
            name = [*call.args[1:2], *defaults, None][0]
        if name is None:
            raise Refused(module, call, f"a tf.{kind} without a name", "give it one")
        if item.optional_vars is not None and _is_used(item.optional_vars, node, modes):
            text = f"the scope of tf.{kind} is used as a value"
            raise Refused(module, item.optional_vars, text, "layers own their weights in TF2")
        defaults = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "default_name")]
        default = defaults[0] if defaults and kind == "variable_scope" else None
        given = default is not name and not isinstance(name, ast.Constant)
        found.append(NameScope(item, name, default if given else None))
    return found


@record(frozen=True)
class Named:
    """What makes weights, and its name in TF1 (None: one that TF1 gives it)."""

    call: ast.Call
    name: ast.expr | None


def check_shared(
    module: Module, function: ast.AST, named: Iterable[Named], looped: Collection[ast.Call]
) -> None:
    """Weights under `reuse=tf.AUTO_REUSE` are one where their names are the same.

    Raises:
        Refused: they may be.
    """
    seen: dict[tuple[str, ...], tuple[ast.AST, list[Named]]] = {}
    for one in named:
        scopes = list(_scopes(module, function, one.call))
        reusing = [w for w, call in scopes if _reuses(module, call)]
        if not reusing:
            continue
        path = tuple(ast.unparse(call) for _, call in scopes)
        home, others = seen.setdefault(path, (scopes[0][0], []))
        others.append(one)
        same = [
            other
            for other in others
            if other is not one and (home is not scopes[0][0] or _may_equal(one.name, other.name))
        ]
        if same or one.call in looped:
            text = "weights may be shared by AUTO_REUSE"
            raise Refused(module, one.call, text, "call the network once, and use its value twice")


def _scopes(
    module: Module, function: ast.AST, node: ast.AST
) -> Iterator[tuple[ast.With, ast.Call]]:
    """The variable scopes that a node stands in, the innermost first."""
    for parent in module.names.ancestors(node):
        if parent is function:
            return
        if isinstance(parent, ast.With):
            for item in parent.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and scope_kind(module, call) == "variable_scope":
                    yield parent, call


def _reuses(module: Module, call: ast.Call) -> bool:
    return any(
        k.arg == "reuse" and (module.names.qualname(k.value) or "").endswith("AUTO_REUSE")
        for k in call.keywords
    )


def _may_equal(one: ast.expr | None, other: ast.expr | None) -> bool:
    """Whether two names can be one: TF1 makes those that it gives itself unlike all others."""
    if one is None or other is None:
        return False
    known = isinstance(one, ast.Constant) and isinstance(other, ast.Constant)
    return not known or ast.dump(one) == ast.dump(other)


def _check_reuse(module: Module, value: ast.expr) -> None:
    if isinstance(value, ast.Constant) and not value.value:
        return
    if (module.names.qualname(value) or "").endswith("AUTO_REUSE"):
        return  # what is the same weight by it is found by check_shared
    text = "weights are shared by `reuse`"
    raise Refused(module, value, text, "call the network once, and use its value twice")


def _is_used(target: ast.expr, node: ast.With, modes: Modes | None) -> bool:
    names = {n.id for n in walk(target) if isinstance(n, ast.Name)}
    out = left_out(node.body, modes) if modes is not None else set()
    return any(
        isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id in names
        for statement in node.body
        for part in walk(statement)
        if part not in out
    )


def left_out(body: Iterable[ast.stmt], modes: Modes) -> set[ast.AST]:
    """What stands under conditions that no mode meets, with the conditions themselves."""
    found: set[ast.AST] = set()
    for statement in body:
        for part in walk(statement):
            if isinstance(part, ast.If) and not part.orelse:
                values = modes.values(part.test)
                if values is not None and not any(values.values()):
                    found |= {node for node in walk(part) if hasattr(node, "lineno")}
    return found
