"""What a configuration sets, where that is known: its fields that differ from their defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.session_config.fields import FRACTION, GROWTH, SOFT_PLACEMENT, THREADS
from migrate_mgpu.session_config.flows import Flow, Setting
from migrate_mgpu.session_config.sinks import SinkCall, SinkKind


def same_options(first: Flow, second: Flow) -> bool:
    """Whether two flows set the same fields to values that are known to be equal."""
    if any(_is_chosen(flow, one) for flow in (first, second) for one in flow.settings):
        return False
    return _options(first) is not None and _options(first) == _options(second)


def has_options(flow: Flow, kind: SinkKind) -> bool:
    """Whether a flow sets what a call of a kind has without any configuration.

    Known for certain: each field once, without a condition, to a literal.
    """
    if len(flow.creations) != 1 or flow.may_be_none:
        return False
    if any(_is_conditional(flow, setting) for setting in flow.settings):
        return False
    return _options(flow) == dict.fromkeys(kind.own, repr(True))


def holds_for_all(flow: Flow, other: Flow | None, precedes: bool, places: bool) -> bool:
    """Whether a session with another configuration, or with none, runs alike with a flow's options.

    Memory may grow for any session, and soft placement acts only on what names a device. GPU
    memory and threads are the process's in TF1 as well: what its first session says holds for
    the later ones (config.proto; "On a real GPU" in docs/semantics.md).

    Args:
      other: the session's configuration; None where it has none.
      precedes: whether a session of ``flow`` is always opened before it.
      places: whether the program puts operations on devices.
    """
    harmless = {GROWTH} if places else {GROWTH, SOFT_PLACEMENT}
    mine, others = _given(flow), {} if other is None else _given(other)
    for path in {*mine, *others}:
        if path in mine and path in others:
            if mine[path] is None or mine[path] != others[path]:
                return False
        elif path not in harmless and not (precedes and path in mine and path in _OF_PROCESS):
            value = mine.get(path, others.get(path))
            if value is None or not _is_default(path, value):
                return False
    memory = [{FRACTION, GROWTH}.intersection(given) for given in (mine, others)]
    return not all(memory) or memory[0] == memory[1]  # TF2 takes a limit or growth, not both


_OF_PROCESS = {FRACTION, *THREADS}


def _that_may_run(flow: Flow) -> Iterator[Setting]:
    return (one for one in flow.settings if _may_run(one.module, one.statement))


def _given(flow: Flow) -> dict[str, str | None]:
    """The fields that a flow sets, each with its value where that is known."""
    found: dict[str, str | None] = {}
    for setting in _that_may_run(flow):
        known = setting.path not in found and not _is_chosen(flow, setting)
        found[setting.path] = _stable(setting.module, setting.value) if known else None
    return found


def takes_options(flow: Flow, sink: SinkCall) -> bool:
    """Whether a flow's session has the same options once they have moved and its argument is gone.

    A call that does not read ``tf.config`` has them where they are those that it has by itself.
    Such a call changes the object that it is given (``place_pruned_graph``), so it must be
    the only kind.
    """
    if sink.kind.takes_options:
        return True
    alone = all(other.kind is sink.kind for other in flow.sinks)
    return bool(sink.kind.own) and alone and has_options(flow, sink.kind)


def _is_conditional(flow: Flow, setting: Setting) -> bool:
    """Whether a setting may be made or not where the configuration is made."""
    if setting.module is not flow.module or setting.choice is not None:
        return True
    names = setting.module.names
    made = names.statement(flow.place)
    return names.block(setting.statement) is not names.block(made)


def _is_chosen(flow: Flow, setting: Setting) -> bool:
    """Whether a condition chooses a setting that does not choose its configuration.

    Of several calls that make the configuration, one in another branch is chosen there.
    """
    module, names = setting.module, setting.module.names
    beside = flow.creations if module is flow.module else []
    if any(names.exclusive(setting.statement, one) and _may_run(module, one) for one in beside):
        return True
    around = set(names.ancestors(flow.place)) if module is flow.module else set()
    return setting.choice is not None or any(
        isinstance(parent, (ast.If, ast.Try)) and parent not in around and not is_main_guard(parent)
        for parent in names.ancestors(setting.statement)
        if _runs(module, parent, setting.statement) is None
    )


def _may_run(module: Module, node: ast.AST) -> bool:
    """Whether no condition that is known by itself keeps a node from running."""
    around = module.names.ancestors(node)
    return all(_runs(module, block, node) is not False for block in around)


def _runs(module: Module, block: ast.AST, node: ast.AST) -> bool | None:
    """Whether an `if` around a node lets it run; None where its condition is not known."""
    if not isinstance(block, ast.If):
        return None
    known = constant(module.names.assigned(block.test))
    if known is None:
        return None
    return bool(known) is any(node in ast.walk(one) for one in block.body)


def _options(flow: Flow) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for setting in _that_may_run(flow):
        if setting.path in found:
            return None
        value = _stable(setting.module, setting.value)
        if value is None:
            return None
        found[setting.path] = value
    return {path: value for path, value in found.items() if not _is_default(path, value)}


def _is_default(path: str, value: str) -> bool:
    """Whether a value is what a field of a message has by itself; an entry of a map has nothing."""
    return value in _DEFAULTS and not path.startswith("device_count.")


_DEFAULTS = {repr(value) for value in (False, 0, 0.0, "")}


def _stable(module: Module, node: ast.expr) -> str | None:
    """A text that is equal for equal values: of literals, and of names that are bound once.

    A name says its literal, or that it is bound at module level.
    """
    value = constant(module.names.assigned(node))
    if value is not None:
        return repr(value)
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name):
        home = module.names.defining_scope(root.id, module.names.scope_of_name[root])
        if home is not None and home.is_module and len(home.bindings[root.id]) == 1:
            return f"{module.path}:{ast.unparse(node)}"
    return None
