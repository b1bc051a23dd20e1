"""Where a session's configuration goes in: every call of TensorFlow's that takes one."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact, fact_of_text
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.core.records import record


@record(frozen=True)
class SinkKind:
    """One kind of call.

    ``takes_options``: without a config it uses what ``tf.config`` has set
    (measured, see docs/semantics.md); where it does not, a config stays.
    ``own`` are fields that it then turns on by itself.
    ``opens_session``: the call itself makes a session, with or without a config.
    """

    name: str
    keyword: str = "config"
    position: int | None = None
    takes_options: bool = True
    opens_session: bool = True
    why: str = ""  # where it does not take them
    own: tuple[str, ...] = ()


_FUNCTIONS = {
    kind.name: kind
    for kind in (
        SinkKind("Session", position=2),
        SinkKind(
            "InteractiveSession",
            position=2,
            takes_options=False,
            why="InteractiveSession does not read tf.config",
            own=("gpu_options.allow_growth",),
        ),
        SinkKind("train.MonitoredTrainingSession", position=9),
        SinkKind("train.SingularMonitoredSession", position=3),
        SinkKind("train.ChiefSessionCreator", position=2),
        SinkKind("train.WorkerSessionCreator", position=2),
        SinkKind(
            "train.Server",
            position=4,
            takes_options=False,
            opens_session=False,
            why="tf.train.Server does not read tf.config",
        ),
        SinkKind(
            "train.Server.create_local_server",
            position=0,
            takes_options=False,
            opens_session=False,
            why="tf.train.Server does not read tf.config",
        ),
        SinkKind(
            "estimator.RunConfig",
            keyword="session_config",
            position=5,
            takes_options=False,
            why="the sessions of an Estimator do not read tf.config",
        ),
        SinkKind(
            "enable_eager_execution",
            position=0,
            takes_options=False,
            opens_session=False,
            why="TF2 is eager from the start",
        ),
    )
}

# contrib's are gone from TF2 with all of contrib: they come from tf_slim there.
_SLIM = {
    f"tf_slim.{name}": SinkKind(name, keyword="session_config")
    for name in ("learning.train", "evaluation.evaluate_once", "evaluation.evaluation_loop")
}

_CONTRIB = "contrib.slim"

# Methods are known by their names alone: the receiver is a Supervisor, a
# SessionManager or a TestCase in every program seen. `replace` is a method of
# many things and only counts with the keyword.
_METHODS = {
    kind.name: kind
    for kind in (
        SinkKind("managed_session", position=1),
        SinkKind("prepare_or_wait_for_session", position=1),
        SinkKind("prepare_session"),
        SinkKind("recover_session"),
        SinkKind("wait_for_session"),
        SinkKind("test_session", position=1),
        SinkKind("cached_session", position=1),
        SinkKind("session", position=1),
        SinkKind(
            "replace",
            keyword="session_config",
            takes_options=False,
            why="the sessions of an Estimator do not read tf.config",
        ),
    )
}
_ONLY_WITH_KEYWORD = {
    "prepare_session",
    "recover_session",
    "replace",
    "session",
    "wait_for_session",
}


@record(frozen=True, eq=False)
class SinkCall:
    """One call that takes a configuration, given or not."""

    module: Module
    call: ast.Call
    kind: SinkKind
    argument: ast.expr | None  # the configuration; None where it is left out

    @property
    def by_keyword(self) -> ast.keyword | None:
        for keyword in self.call.keywords:
            if keyword.value is self.argument and self.argument is not None:
                return keyword
        return None


_LAST_WORDS = {
    *(kind.name.rpartition(".")[2] for kind in (*_FUNCTIONS.values(), *_SLIM.values())),
    *_METHODS,
}


@fact
def sink_calls(module: Module) -> list[SinkCall]:
    """Every call of a module that takes a configuration, in source order."""
    return [SinkCall(module, *one) for one in _taking(module)]


@fact_of_text
def _taking(module: Module) -> list[tuple[ast.Call, SinkKind, ast.expr | None]]:
    found: list[tuple[ast.Call, SinkKind, ast.expr | None]] = []
    local = module.names.imported_ids
    for call in module.names.calls:
        function = call.func
        last = getattr(function, "attr", None)
        if last not in _LAST_WORDS and getattr(function, "id", None) not in local:
            continue
        kind = sink_kind(module, call)
        if kind is not None:
            found.append((call, kind, _argument(call, kind)))
    return found


def sink_kind(module: Module, call: ast.Call) -> SinkKind | None:
    function = call.func
    for qualname in module.names.qualnames(function):
        found = symbol(qualname)
        if found is not None and found.flavour in ("plain", "v1"):
            if found.name.startswith(_CONTRIB):
                return _SLIM.get("tf_slim" + found.name[len(_CONTRIB) :])
            return _FUNCTIONS.get(found.name)
        if qualname == "tensorflow.python.client.session.Session":
            return _FUNCTIONS["Session"]
        if qualname in _SLIM:
            return _SLIM[qualname]
    if isinstance(function, ast.Attribute) and function.attr in _METHODS:
        kind = _METHODS[function.attr]
        if function.attr in _ONLY_WITH_KEYWORD:
            return kind if any(k.arg == kind.keyword for k in call.keywords) else None
        return kind
    return None


def _argument(call: ast.Call, kind: SinkKind) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == kind.keyword:
            return None if _is_none(keyword.value) else keyword.value
    if kind.position is not None and len(call.args) > kind.position:
        if not any(isinstance(argument, ast.Starred) for argument in call.args):
            value = call.args[kind.position]
            return None if _is_none(value) else value
    if any(keyword.arg is None for keyword in call.keywords):  # **kwargs may hold one
        return next(keyword.value for keyword in call.keywords if keyword.arg is None)
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
