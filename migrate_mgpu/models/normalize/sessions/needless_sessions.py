"""Sessions that a program makes and never runs, and those that it would make where none is given.

    def __init__(self, n_actions, sess=None):
        if sess is None:
            self.sess = tf.Session()
        else:
            self.sess = sess

becomes `self.sess = sess` where each call gives one, and `self.sess = tf.Session()` where none
does. So do `sess or tf.Session()` and a default of `sess=tf.Session()`. A session that has no name,
or one that nothing reads, goes: a session without a config does nothing before its first run.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from typing import Union

from migrate_mgpu.analysis.arguments import bind, defaults_of
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.constant_parameters import truth
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.scope import is_session, session_calls
from migrate_mgpu.models.normalize.functions.graph_settings import taken_arm
from migrate_mgpu.models.normalize.sessions.idle_sessions import without
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_GIVEN = ast.Constant(value=True)  # a session is true, and not None
_NONE = ast.Constant(value=None)


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for one such session; none where there is none. ``own`` may change."""
    # The first session's config is the process's: it would be another one's then.
    plain = not any(_has_config(call) for module in modules for call in session_calls(module))
    for module in modules:
        for call in session_calls(module) if module in own else ():
            idle = _idle(module, call) if plain else None
            edits = {module: [idle]} if idle is not None else _chosen(module, call, graph, plain)
            if edits and edits.keys() <= own:
                return edits
    return {}


def _has_config(call: ast.Call) -> bool:
    return bool(call.args) or any(one.arg != "graph" for one in call.keywords)


def _idle(module: Module, call: ast.Call) -> Edit | None:
    """The edit for a session that nothing can run anything in."""
    statement = module.names.statement(call)
    if name_of(module, call) != "Session" or call.args or call.keywords:
        return None  # a config is the process's, and an interactive session the default one
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        if len(statement.targets) > 1 or not isinstance(target, ast.Name):
            return None
        scope = module.names.scope_of_name[target]
        if statement.value is not call or module.names.only_binding(target) is None:
            return None
        if scope.is_module or len(module.names.mentions(target.id, scope)) > 1:
            return None  # another module may ask for it
    elif not isinstance(statement, ast.Expr) or statement.value is not call:
        return None
    if not Layout(module.source, statement).owns_lines:
        return None
    if len(module.names.block(statement)) == 1:
        return None
    return without_paragraph(module.source, statement)


def _chosen(
    module: Module, call: ast.Call, graph: CallGraph, plain: bool
) -> dict[Module, list[Edit]]:
    """The edits for a session that is made where a parameter says so.

    ``plain``: no session has a config.
    """
    child: ast.AST = call
    for parent in module.names.ancestors(call):
        if isinstance(parent, ast.arguments):
            edit = _default(module, parent, call, graph) if plain else None
            return {module: [edit]} if edit is not None else {}
        choice = _choice(parent, child)
        if choice is not None:
            found = _decided(module, choice.test, call, graph)
            if found is not None:
                taken = choice.body if found.holds else choice.orelse
                return _settled(module, choice.node, found, taken, graph)
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return {}
        child = parent
    return {}


Arm = Union[ast.expr, Sequence[ast.stmt]]


@record(frozen=True, eq=False)
class _Choice:
    """`if test: body else: orelse`, as a statement or an expression; `test or orelse`."""

    node: ast.expr | ast.stmt
    test: ast.expr
    body: Arm
    orelse: Arm


def _choice(node: ast.AST, child: ast.AST) -> _Choice | None:
    """What chooses whether a part of it is computed."""
    if isinstance(node, (ast.If, ast.IfExp)) and child is not node.test:
        return _Choice(node, node.test, node.body, node.orelse)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
        first, second = node.values
        return _Choice(node, first, first, second) if child is second else None
    return None


@record(frozen=True, eq=False)
class _Decided:
    """Whether a condition holds, because of what all calls give a parameter of ``home``."""

    holds: bool
    home: ast.FunctionDef
    name: str
    given: bool  # a session; else None


def _settled(
    module: Module,
    node: ast.expr | ast.stmt,
    found: _Decided,
    taken: Arm,
    graph: CallGraph,
) -> dict[Module, list[Edit]]:
    """The arm of a condition in its place; a name that is given nothing is no parameter then."""
    if isinstance(node, ast.If):
        edit = taken_arm(module, node, found.holds)
    else:
        assert isinstance(taken, ast.expr)
        statement = module.names.statement(node)
        if _says_nothing(statement, node, taken):  # `sess = sess or tf.Session()`
            return {module: [without_paragraph(module.source, statement)]}
        edit = Edit(*module.source.span(node), module.source.code(taken))
    if edit is None:
        return {}
    edits: dict[Module, list[Edit]] = {}
    if not found.given:
        mentions = module.names.mentions(found.name, module.names.scopes[found.home])
        kept = {part for one in ([taken] if isinstance(taken, ast.expr) else taken)
                for part in walk(one)}  # fmt: skip
        gone = {part for part in walk(node) if part not in kept}
        left = [one for one in mentions if one not in gone]
        bound = any(isinstance(one.ctx, ast.Store) for one in left)
        if bound or not left:
            edits = without(Function(module, found.home), found.name, graph)
        if bound and not edits:
            return {}  # a parameter that is another session
    edits.setdefault(module, []).append(edit)
    return edits


def _says_nothing(statement: ast.stmt, node: ast.AST, taken: ast.expr) -> bool:
    """Whether a name is given itself."""
    if not isinstance(statement, ast.Assign) or statement.value is not node:
        return False
    names = [one.id for one in (*statement.targets, taken) if isinstance(one, ast.Name)]
    return len(names) == len(statement.targets) + 1 and len({*names}) == 1


def _default(
    module: Module, arguments: ast.arguments, call: ast.Call, graph: CallGraph
) -> Edit | None:
    """The edit for a default that no call takes: it may be any."""
    node = module.names.parents[arguments]
    name = next((name for name, value in defaults_of(arguments) if value is call), None)
    if not isinstance(node, ast.FunctionDef) or name is None or call.args or call.keywords:
        return None
    values = _values(Function(module, node), name, graph)
    if values is None or any(value is call for _, value in values):
        return None
    return Edit(*module.source.span(call), "None")


def _decided(module: Module, test: ast.expr, call: ast.Call, graph: CallGraph) -> _Decided | None:
    """Whether a condition on what a function is given holds in all calls; None: not known."""
    mentions = [part for part in walk(test) if isinstance(part, ast.Name)]
    home = module.names.scope_at(call).function()
    if len(mentions) != 1 or not isinstance(home, ast.FunctionDef):
        return None
    (mention,) = mentions
    known = _given(Function(module, home), mention.id, graph, frozenset())
    if known is None or not _is_as_given(module, mention, home, call):
        return None
    holds = truth(test, lambda _: [_GIVEN if known else _NONE])
    return None if holds is None else _Decided(holds, home, mention.id, known)


def _is_as_given(module: Module, mention: ast.Name, home: ast.FunctionDef, call: ast.Call) -> bool:
    """Whether a parameter has at a mention what a call gave it.

    It may be bound where the session is made: `if sess is None: sess = tf.Session()`.
    """
    bindings = module.names.scopes[home].bindings.get(mention.id, ())
    made = module.names.statement(call)
    for binding in bindings:
        if binding.kind == "parameter":
            continue
        if module.names.statement(binding.node) is not made or not isinstance(made, ast.Assign):
            return False
        around = [one for one in module.names.ancestors(made) if isinstance(one, ast.stmt)]
        if around[:1] != [home] and around[1:2] != [home]:
            return False  # it may run again, in a loop
    return any(binding.kind == "parameter" for binding in bindings)


def _given(
    function: Function, name: str, graph: CallGraph, seen: frozenset[tuple[ast.AST, str]]
) -> bool | None:
    """Whether all calls of a function give a parameter a session, or else None; None: neither."""
    values = _values(function, name, graph)
    key = function.node, name
    if not values or key in seen:
        return None
    found = {_is_given(module, value, graph, seen | {key}) for module, value in values}
    return found.pop() if len(found) == 1 else None


def _values(
    function: Function, name: str, graph: CallGraph
) -> list[tuple[Module, ast.expr]] | None:
    """What the calls of a function give a parameter; None where that is not known."""
    found: list[tuple[Module, ast.expr]] = []
    owner = function.owner
    if function.node.decorator_list or (owner is not None and owner.decorator_list):
        return None
    if owner is not None and function.name != "__init__":
        return None  # it may be called of any object
    for reference in graph.references(function):
        values = bind(reference.call, function).every() if reference.call is not None else None
        if values is None or name not in values:
            return None
        given = bind(reference.call, function).given(name) if reference.call is not None else None
        module = function.module if given is None else reference.module
        found.append((module, values[name]))
    return found or None


def _is_given(
    module: Module, value: ast.expr, graph: CallGraph, seen: frozenset[tuple[ast.AST, str]]
) -> bool | None:
    """Whether a value is a session, or None; None: neither is known."""
    if is_none(value):
        return False
    if is_session(module, value):
        return True
    if not isinstance(value, ast.Name):
        return None
    binding = module.names.only_binding(value)
    if binding is None:
        return None
    if binding.kind == "parameter":
        scope = module.names.defining_scope(value.id, module.names.scope_of_name[value])
        around = scope.function() if scope is not None else None
        if not isinstance(around, ast.FunctionDef):
            return None
        return _given(Function(module, around), value.id, graph, seen)
    made = any(_is_bound(module, binding.node, call) for call in session_calls(module))
    return True if made else None


def _is_bound(module: Module, target: ast.AST, call: ast.Call) -> bool:
    """Whether a statement gives a name a session that it makes."""
    maker = module.names.statement(call)
    if isinstance(maker, ast.Assign):
        return maker.value is call and target in maker.targets
    items = maker.items if isinstance(maker, ast.With) else ()
    return any(item.context_expr is call and item.optional_vars is target for item in items)
