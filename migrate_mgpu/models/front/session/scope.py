"""The statements of the scope in which a session's program builds and runs, in one line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Union

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.graph_collections import is_dependency
from migrate_mgpu.source.statements import Layout

_SESSIONS = ("Session", "InteractiveSession")
_BUILDS = ("placeholder", "Variable", "get_variable")
_ADVICE = "give the program one `tf.Session` in the scope that builds the graph"


Home = Union[ast.Module, ast.FunctionDef]


@record(frozen=True, eq=False)
class Entry:
    """A statement, or the header of a block whose statements follow (``opens``).

    ``dedent`` is the indentation that goes away with the blocks around it, ``scopes`` are the
    names of TF1's scopes around it, by what they name (``name_scope``, ``variable_scope``).
    """

    statement: ast.stmt
    opens: bool = False
    dedent: int = 0
    scopes: tuple[tuple[str, str], ...] = ()


@record(frozen=True, eq=False)
class SessionScope:
    """Where a program builds its graph, and where its one session is.

    ``node`` is the module or the function that builds, ``entries`` its statements, ``blocks``
    those of its ``with`` statements that go away. ``session`` is the call that makes the
    session, ``name`` what that is called in ``session_node``.
    """

    module: Module
    node: Home
    session: ast.Call
    session_node: Home
    name: str
    entries: tuple[Entry, ...]
    blocks: tuple[ast.With, ...]

    @property
    def maker(self) -> ast.stmt:
        """The statement that makes the session."""
        return self.module.names.statement(self.session)


def is_session(module: Module, node: ast.AST) -> bool:
    """Whether a call makes a session that this reader knows."""
    return isinstance(node, ast.Call) and name_of(module, node) in _SESSIONS


def read_scope(module: Module) -> SessionScope:
    """The scope of a module's one session.

    Raises:
        Refused: there is none or more than one, or it is made or held in another way.
    """
    calls = [call for call in module.names.calls if is_session(module, call)]
    if not calls:
        raise Refused(module, module.tree, "its session is made in another way", _ADVICE)
    if len(calls) > 1:
        text = "it makes more than one session, each with values of its own for the variables"
        raise Refused(module, calls[1], text, _ADVICE)
    session = calls[0]
    for call in module.names.calls:
        name = name_of(module, call)
        if call is not session and ("Session" in name or name.startswith("train.Supervisor")):
            raise Refused(module, call, f"it makes a `tf.{name}` as well", _ADVICE)
    given = NamedArguments(module, session, ("target", "graph", "config")).rest
    for name, value in given.items():
        if name != "config" and not is_none(value) and constant(value) != "":
            text = "its session is given more than a configuration"
            raise Refused(module, value, text)
    around = _home(module, session)
    name = _name(module, module.names.statement(session), session)
    node = _builds(module, around)
    entries, blocks = lines(module, node, session)
    scope = SessionScope(module, node, session, around, name, entries, blocks)
    known = entries if node is around else lines(module, around, session)[0]
    if not any(entry.statement is scope.maker for entry in known):
        text = "its session is made under a condition or in a loop"
        raise Refused(module, session, text, _ADVICE)
    return scope


def lines(
    module: Module, node: Home, session: ast.Call
) -> tuple[tuple[Entry, ...], tuple[ast.With, ...]]:
    """The statements of a module or a function in one line, and the blocks that go away."""
    blocks: list[ast.With] = []
    entries = tuple(_entries(module, node.body, session, blocks, 0, ()))
    return entries, tuple(blocks)


def _builds(module: Module, around: Home) -> Home:
    """The scope that builds the graph: where the step that trains is made, with what it is of."""
    steps = [
        call
        for call in module.names.calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("minimize", "apply_gradients")
    ]
    homes = {_around(module, call) for call in steps}
    if len(homes) != 1 or around in homes:
        return around
    node = homes.pop()
    for call in module.names.calls:
        if name_of(module, call) in _BUILDS and _around(module, call) is node:
            return node or around
    return around


def _around(module: Module, node: ast.AST) -> Home | None:
    """The module or the plain function that a node is a part of."""
    for parent in module.names.ancestors(node):
        if isinstance(parent, ast.Module):
            return parent
        if isinstance(parent, ast.FunctionDef):
            owned = isinstance(module.names.parents[parent], ast.ClassDef)
            return None if owned else parent
        if isinstance(parent, (ast.ClassDef, ast.Lambda, ast.AsyncFunctionDef)):
            return None
    return None


def _home(module: Module, session: ast.Call) -> Home:
    for parent in module.names.ancestors(session):
        if isinstance(parent, (ast.Module, ast.FunctionDef)):
            if isinstance(parent, ast.FunctionDef):
                if isinstance(module.names.parents[parent], ast.ClassDef):
                    text = "a class makes its session"
                    raise Refused(module, session, text, _ADVICE)
            return parent
        if isinstance(parent, (ast.ClassDef, ast.Lambda, ast.AsyncFunctionDef)):
            break
    raise Refused(module, session, "its session is made in another way", _ADVICE)


def _name(module: Module, maker: ast.stmt, session: ast.Call) -> str:
    """What the session is called; empty where a block has it without a name."""
    if isinstance(maker, ast.With) and len(maker.items) == 1:
        item = maker.items[0]
        if item.context_expr is session:
            if item.optional_vars is None:
                return ""
            if isinstance(item.optional_vars, ast.Name):
                return item.optional_vars.id
    elif isinstance(maker, ast.Assign) and maker.value is session and len(maker.targets) == 1:
        target = maker.targets[0]
        if isinstance(target, ast.Name):
            bindings = module.names.bindings_of(target)
            if len(bindings) == 1:
                return target.id
    raise Refused(module, session, "its session has no name of its own", _ADVICE)


def _entries(
    module: Module,
    body: list[ast.stmt],
    session: ast.Call,
    blocks: list[ast.With],
    dedent: int,
    scopes: tuple[tuple[str, str], ...],
) -> Iterator[Entry]:
    for statement in body:
        named = _scope(module, statement)
        if isinstance(statement, ast.With) and (named or _goes(module, statement, session)):
            if not Layout(module.source, statement).owns_start or _one_line(statement):
                raise Refused(module, statement, "a `with` statement on one line")
            blocks.append(statement)
            yield Entry(statement, True, dedent, scopes)
            unit = len(module.source.indent_of(statement.body[0])) - len(
                module.source.indent_of(statement)
            )
            inner = (*scopes, named) if named else scopes
            yield from _entries(module, statement.body, session, blocks, dedent + unit, inner)
        elif is_main_guard(statement) and _holds(module, statement, session):
            assert isinstance(statement, ast.If)
            if statement.orelse or _one_line(statement):
                raise Refused(module, statement, "a main guard with an `else`")
            yield Entry(statement, True, dedent, scopes)
            yield from _entries(module, statement.body, session, blocks, dedent, scopes)
        else:
            yield Entry(statement, False, dedent, scopes)


def _scope(module: Module, statement: ast.stmt) -> tuple[str, str] | None:
    """`with tf.name_scope("layer"):`, which only names what is made in it."""
    if not isinstance(statement, ast.With) or len(statement.items) != 1:
        return None
    call = statement.items[0].context_expr
    kind = name_of(module, call) if isinstance(call, ast.Call) else ""
    if kind not in ("name_scope", "variable_scope") or not isinstance(call, ast.Call):
        return None
    if len(call.args) != 1 or call.keywords or statement.items[0].optional_vars is not None:
        return None
    name = constant(call.args[0])
    return (kind, name) if isinstance(name, str) and name and not name.endswith("/") else None


def _one_line(statement: ast.With | ast.If) -> bool:
    return statement.body[0].lineno == statement.lineno


def _holds(module: Module, statement: ast.stmt, node: ast.AST) -> bool:
    return any(parent is statement for parent in module.names.ancestors(node))


def _goes(module: Module, statement: ast.With, session: ast.Call) -> bool:
    """Whether a block only holds the session, or makes a graph of its own."""
    items = [item.context_expr for item in statement.items]
    if items == [session] or is_dependency(module, statement):
        return True
    return len(items) == 1 and statement.items[0].optional_vars is None and _is_graph(
        module, items[0]
    )  # fmt: skip


def _is_graph(module: Module, node: ast.expr) -> bool:
    """`tf.Graph().as_default()`"""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "as_default"
        and isinstance(node.func.value, ast.Call)
        and name_of(module, node.func.value) == "Graph"
    )
