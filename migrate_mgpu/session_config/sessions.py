"""The sessions of a program, and whether they all run with the same options."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.project import Program
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import record
from migrate_mgpu.session_config.effective_options import (
    has_options,
    holds_for_all,
    same_options,
)
from migrate_mgpu.session_config.fields import SOFT_PLACEMENT
from migrate_mgpu.session_config.flows import Flow
from migrate_mgpu.session_config.sinks import SinkCall, sink_calls

# `keras.backend.set_session`, whichever Keras and however it was imported.
SET_SESSION = "set_session"


@record(frozen=True, eq=False)
class Session:
    """One call that opens a session; ``flow`` is its configuration, if one is followed."""

    sink: SinkCall
    flow: Flow | None

    @property
    def plain(self) -> bool:
        """Without a configuration of its own."""
        return self.sink.argument is None


def sessions_of(modules: list[Module], flow_of: dict[ast.Call, Flow]) -> list[Session]:
    """Every session that a program may open, save those under a version switch.

    ``flow_of`` knows the configuration of each call that gets one.
    """
    return [
        Session(sink, flow_of.get(sink.call))
        for module in modules
        for sink in sink_calls(module)
        if sink.kind.opens_session and not module.is_guarded(sink.call)
    ]


def is_opened(flow: Flow, program: Program, graph: CallGraph) -> bool:
    """Whether a program may open a session of a flow, or what becomes of it is not known."""
    sinks = flow.sinks
    return not sinks or any(graph.runs_in(program, one.module, one.call) for one in sinks)


def with_other_options(flow: Flow, sessions: Iterable[Session]) -> Iterator[Session]:
    """The sessions of the process that do not run with this flow's options.

    Options that move to ``tf.config`` hold for every session of the process. A session without
    a config has TF1's defaults, or options of its own (``InteractiveSession``) whatever
    ``tf.config`` says. A flow that sets nothing changes nothing.
    """
    for session in sessions if flow.settings else ():
        if session.flow is flow:
            continue
        if session.plain:
            if session.sink.kind.takes_options and not has_options(flow, session.sink.kind):
                yield session
        elif session.flow is None or not same_options(flow, session.flow):
            yield session


def is_set_session(module: Module, call: ast.Call) -> bool:
    """Whether a call is Keras's ``set_session``."""
    return any(
        name.endswith(f".{SET_SESSION}") and "keras" in name
        for name in module.names.qualnames(call.func)
    )


@record(frozen=True, eq=False)
class Gone:
    """A statement that a native program does not need; ``call`` is what stays of it."""

    module: Module
    statement: ast.stmt
    call: ast.Call | None = None
    states_default: bool = False  # TF1's soft placement, off, is written in its place


def goes_away(sink: SinkCall, graph: CallGraph, flow: Flow | None) -> list[Gone] | None:
    """The statements that a native program does not need; None where the session does more.

    ``set_session(tf.Session(...))``, or a variable or a helper's result that is
    given to ``set_session`` and to nothing else, or ``enable_eager_execution(...)``, or
    an ``InteractiveSession`` with a config: the default session, which is Keras's own; or a
    session that nothing uses, where what it says of the process is all that it does.

    Args:
      flow: the session's configuration; None where it has none, or none that is followed.
    """
    module, call = sink.module, sink.call
    names = module.names
    if call in graph.converted:
        return []  # a RunConfig: its Estimator's conversion takes it away
    if sink.kind.name == "enable_eager_execution":
        statement = names.statement(call)
        alone = isinstance(statement, ast.Expr) and statement.value is call
        return [Gone(module, statement)] if alone and not _other_arguments(sink) else None
    if sink.kind.name == "InteractiveSession":
        return _default_session(sink)
    if sink.kind.name != "Session":
        return None
    parent = names.parents[call]
    if isinstance(parent, ast.Return):
        return _made_by_helper(sink, parent, graph)
    if is_for_nobody(sink, graph):
        moves = sink.argument is None if flow is None else _is_of_process(flow)
        if not moves or _other_arguments(sink):
            return None
        return [Gone(module, names.statement(call))]
    return _given_to_keras(module, call)


def is_for_nobody(sink: SinkCall, graph: CallGraph) -> bool:
    """Whether nothing uses a session that a module makes before it calls Keras.

    It makes the process's devices: GPU memory and threads are then as its config says, also in
    the session that Keras opens later, which has no config and places softly.
    """
    module, call = sink.module, sink.call
    names = module.names
    statement = names.statement(call)
    if sink.kind.name != "Session" or statement not in module.tree.body:
        return False
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        if statement.value is not call or not isinstance(target, ast.Name):
            return False
        home = names.scope_of_name[target]
        if len(statement.targets) > 1 or names.mentions(target.id, home) != [target]:
            return False
        if any(_takes(other, target.id) for other in graph.importers(module)):
            return False
    elif not (isinstance(statement, ast.Expr) and statement.value is call):
        return False
    calls = (one for one in names.calls if "keras" in (names.qualname(one.func) or "").split("."))
    first = min((one.lineno for one in calls), default=0)
    return first > statement.lineno


def _is_of_process(flow: Flow) -> bool:
    """Whether what a config says holds for Keras's session, which is opened after its own."""
    firm = any(one.path == SOFT_PLACEMENT and one.known is not True for one in flow.settings)
    return not firm and holds_for_all(flow, None, precedes=True, places=False)


def _takes(module: Module, name: str) -> bool:
    """Whether a module may take a name of another one that it imports."""
    imported = {alias.name for statement in module.names.imports for alias in statement.names}
    return bool({name, "*"} & imported) or name in module.names.attributes


def _default_session(sink: SinkCall) -> list[Gone] | None:
    """`sess = InteractiveSession(config=...)`, from where on Keras uses it, and nothing else does.

    Without a config it makes one of its own, which would have to be written.
    """
    module, call = sink.module, sink.call
    names = module.names
    if sink.argument is None or _other_arguments(sink) or "eval" in names.attributes:
        return None
    parent = names.parents[call]
    if isinstance(parent, ast.Expr):
        return [Gone(module, parent)]
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        target = parent.targets[0]
        home = names.defining_scope(target.id, names.scope_of_name[target])
        if home is not None and names.mentions(target.id, home) == [target]:
            return [Gone(module, parent)]
    return _given_to_keras(module, call)


def _given_to_keras(module: Module, call: ast.Call) -> list[Gone] | None:
    """`set_session(X)`, or `sess = X` and `set_session(sess)` alone, for a call X."""
    names = module.names
    parent = names.parents[call]
    if isinstance(parent, ast.Call) and is_set_session(module, parent):
        statement = names.statement(parent)
        return [Gone(module, statement)] if isinstance(statement, ast.Expr) else None
    if not (isinstance(parent, ast.Assign) and len(parent.targets) == 1):
        return None
    target = parent.targets[0]
    if not isinstance(target, ast.Name):
        return None
    home = names.defining_scope(target.id, names.scope_of_name[target])
    assert home is not None
    gone = [Gone(module, parent)]
    given = False
    for mention in names.mentions(target.id, home):
        if mention is target:
            continue
        user = names.parents[mention]
        if isinstance(mention.ctx, ast.Load) and isinstance(user, ast.Call):
            statement = names.statement(user)
            if is_set_session(module, user) and isinstance(statement, ast.Expr):
                gone.append(Gone(module, statement))
                given = True
                continue
        if isinstance(mention.ctx, ast.Store):
            # Each branch may make its own: `if gpu: sess = ... else: sess = ...`.
            made = names.parents[mention]
            if isinstance(made, ast.Assign) and isinstance(made.value, ast.Call):
                continue
        return None
    return gone if given else None


def _made_by_helper(sink: SinkCall, statement: ast.Return, graph: CallGraph) -> list[Gone] | None:
    """`def get_session(): return tf.Session(...)`, called for ``set_session`` alone.

    It may return one of several, each where a condition ends.
    """
    module = sink.module
    function = graph.enclosing(module, statement)
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return None
    returns = [n for n in walk(function.node) if isinstance(n, ast.Return) and n.value]
    sessions = {one.call for one in sink_calls(module) if one.kind.name == "Session"}
    if not {one.value for one in returns} <= sessions:
        return None
    if not _returns(function.node.body):
        return None  # Keras makes one of its own then
    gone = [Gone(module, statement)]
    references = graph.references(function)
    for reference in references:
        if reference.call is None:
            return None
        given = _given_to_keras(reference.module, reference.call)
        if given is None or len(given) > 2:
            return None
        gone.append(Gone(given[0].module, given[0].statement, reference.call))
        gone += given[1:]
    return gone if references else None


def _returns(block: list[ast.stmt]) -> bool:
    """Whether what is executed last always returns something."""
    last = block[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _returns(last.body) and _returns(last.orelse)
    if isinstance(last, ast.With):
        return _returns(last.body)
    return isinstance(last, ast.Return) and last.value is not None


def leaves(module: Module, statement: ast.stmt) -> bool:
    """Whether a function does something behind the `return` of a session, if it does not leave.

    Not where all that is there returns another one, with nothing but what is made before both.
    """
    if not isinstance(statement, ast.Return):
        return False
    behind: list[ast.stmt] = []
    child: ast.stmt = statement
    for around in module.names.ancestors(statement):
        block = module.names.block(child)
        behind += block[block.index(child) + 1 :]
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        if not isinstance(around, (ast.If, ast.With)):
            return True  # a loop goes on, a `try` may end otherwise
        child = around
    last = behind[0] if len(behind) == 1 else None
    call = last.value if isinstance(last, ast.Return) else None
    given = (
        [*call.args, *(one.value for one in call.keywords)] if isinstance(call, ast.Call) else []
    )
    config = given[0] if len(given) == 1 else None
    fields = [one.value for one in config.keywords] if isinstance(config, ast.Call) else []
    return bool(behind) and not (fields and all(isinstance(one, ast.Name) for one in fields))


def _other_arguments(sink: SinkCall) -> bool:
    """Whether a call says more than the configuration (`device_policy=...`)."""
    others = [a for a in sink.call.args if a is not sink.argument]
    keywords = [k for k in sink.call.keywords if k.value is not sink.argument]
    return any(not is_none(node) for node in (*others, *(k.value for k in keywords)))
