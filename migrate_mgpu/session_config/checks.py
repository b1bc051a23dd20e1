"""Whether every step of a flow can move to ``tf.config``, and exactly so."""

from __future__ import annotations

import ast
from typing import Union

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.session_config.effective_options import takes_options
from migrate_mgpu.session_config.field_rewriter import field_rewriters
from migrate_mgpu.session_config.fields import (
    FRACTION,
    GPU_COUNT,
    GROWTH,
    SOFT_PLACEMENT,
    VISIBLE,
)
from migrate_mgpu.session_config.flows import Flow, Handover, Setting, Step
from migrate_mgpu.session_config.sinks import SinkCall
from migrate_mgpu.source.statements import Layout

Taker = Union[SinkCall, Handover]  # a call that has the config as an argument


def check(flow: Flow, native: bool = False) -> list[Diagnostic]:
    """Why a flow cannot move whole; empty when it can.

    ``native`` programs run without sessions: there every sink goes away, so it
    does not matter which of them would read ``tf.config``.
    """
    found = list(flow.problems)
    rewriters = field_rewriters()
    for setting in flow.settings:
        rewriter = rewriters.get(setting.path)
        reason = (
            f"`{setting.path}` has no equivalent in tf.config"
            if rewriter is None
            else rewriter.plan(setting)
        )
        if reason:
            place = Place(setting.module, setting.keyword or setting.statement)
            found.append(Diagnostic("field-without-form", place, reason))
    for sink in flow.sinks:
        if not native and not takes_options(flow, sink):
            place = Place(sink.module, sink.call)
            if sink.kind.own:
                found.append(Diagnostic("interactive-session", place, sink.kind.why))
            else:
                found.append(Diagnostic("sink-without-options", place, sink.kind.why))
    for block in flow.defaults if native else ():  # there is no session that the parameter is for
        place = Place(flow.module, block)
        found.append(Diagnostic("not-followed", place, "it is the default of a parameter"))
    for handover in flow.handovers if native else ():
        if handover.stays:
            text = "it is passed to a function of another file"
            place = Place(handover.module, handover.call)
            found.append(Diagnostic("parameter-in-another-file", place, text))
    for setting in flow.settings:
        if setting.module is not flow.module and not _made_with(flow, setting):
            # Between two writes the helper would return None to a caller that fills it.
            place = Place(setting.module, setting.statement)
            found.append(
                Diagnostic("filled-in-another-file", place, "it is filled in another file")
            )
    if any(sink.kind.name == "enable_eager_execution" for sink in flow.sinks):
        for setting in settings_of(flow, SOFT_PLACEMENT):
            if setting.known is not True:
                reason = "eager execution in TF1 uses soft placement whatever its config says"
                place = Place(setting.module, setting.statement)
                found.append(Diagnostic("eager-soft-placement", place, reason))
    found += _combinations(flow)
    found += _late_settings(flow)
    found += _layouts(flow)
    return found


def _made_with(flow: Flow, setting: Setting) -> bool:
    """Whether a part of the object is made elsewhere, with its constructor's arguments alone.

    Between two writes its user gives the field None, which leaves it as it is.
    """
    part = setting.path.rpartition(".")[0]
    beside = [s for s in flow.settings if s.path.startswith(f"{part}.")]
    return bool(part) and all(s.creation not in (None, *flow.creations) for s in beside)


def _combinations(flow: Flow) -> list[Diagnostic]:
    """Fields that TF1 combines, or of which TF2 takes only one, in the same run of the program."""
    found: list[Diagnostic] = []
    for count in settings_of(flow, GPU_COUNT):
        if any(together(count, listed) for listed in settings_of(flow, VISIBLE)):
            reason = "TF1 combines device_count with visible GPUs"
            place = Place(count.module, count.statement)
            found.append(Diagnostic("count-of-visible-gpus", place, reason))
    for growth in settings_of(flow, GROWTH):
        if growth.known is False:  # TF2's default: it is left out beside a limit
            continue
        for limit in settings_of(flow, FRACTION):
            if not together(growth, limit) or unless_limited(flow, growth, limit):
                continue
            if not (_unconditional(flow, limit) and bool(limit.known)):
                reason = "whether memory growth or a memory limit holds is only known at run time"
                place = Place(growth.module, growth.statement)
                found.append(Diagnostic("growth-or-limit", place, reason))
    return found


def unless_limited(flow: Flow, growth: Setting, limit: Setting) -> str | None:
    """What says whether there is a limit in the place of memory growth; None where nothing does.

    0 and None are TF1's ways to say that there is none. It is a variable, or an attribute as
    configurations have it (``cfg.gpu.fraction``), that both settings see with the same value.
    """
    root = limit.value
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or limit.known is not None or growth.choice or limit.choice:
        return None
    return limit.module.source.code(limit.value) if _side_by_side(flow, growth, limit) else None


def _side_by_side(flow: Flow, first: Setting, second: Setting) -> bool:
    """Whether nothing happens between two settings but that the config is made and filled."""
    if first.module is not second.module or first.statement is second.statement:
        return first.module is second.module
    names = first.module.names
    block = names.block(first.statement)
    if block is not names.block(second.statement):
        return False
    between = sorted(map(block.index, (first.statement, second.statement)))
    carried = statements(flow)
    return all((first.module, one) in carried for one in block[slice(*between)])


def settings_of(flow: Flow, path: str) -> list[Setting]:
    """The settings of one field."""
    return [setting for setting in flow.settings if setting.path == path]


def together(first: Setting, second: Setting) -> bool:
    """Whether both settings may be made in one run of the code."""
    if first.module is not second.module:
        return True
    names = first.module.names
    return not names.exclusive(
        first.creation or first.statement, second.creation or second.statement
    )


def _unconditional(flow: Flow, setting: Setting) -> bool:
    """Whether a setting stands in the block of the constructor that it belongs to."""
    names = setting.module.names
    block = names.block(setting.statement)
    return (
        len(flow.creations) == 1
        and setting.choice is None
        and (
            setting.module is not flow.module
            or block is names.block(names.statement(flow.place))
            or any(
                sink.module is setting.module and block is names.block(names.statement(sink.call))
                for sink in flow.sinks
            )
        )
    )


def _late_settings(flow: Flow) -> list[Diagnostic]:
    """Fields set below every session of their function: in TF1 they came too late."""
    found: list[Diagnostic] = []
    for setting in flow.settings:
        names = setting.module.names
        scope = names.scope_at(setting.statement)
        sinks = [s for s in flow.sinks if s.module is setting.module]
        sinks = [s for s in sinks if names.scope_at(s.call) is scope]
        if sinks and all(s.call.lineno < setting.statement.lineno for s in sinks):
            reason = "it is set after the session was made, which TF1 ignores"
            place = Place(setting.module, setting.statement)
            found.append(Diagnostic("set-after-session", place, reason))
    return found


def statements(flow: Flow) -> dict[tuple[Module, ast.stmt], list[object]]:
    """Settings, steps, and calls that take the config, by the statement that they stand in."""
    found: dict[tuple[Module, ast.stmt], list[object]] = {}
    for setting in flow.settings:
        found.setdefault((setting.module, setting.statement), []).append(setting)
    for step in flow.steps:
        found.setdefault((step.module, step.statement), []).append(step)
    own = (sink for sink in flow.sinks if sink.call not in flow.passed)
    takers: list[Taker] = [*own, *flow.handovers]
    for taker in takers:
        key = (taker.module, taker.module.names.statement(taker.call))
        found.setdefault(key, []).append(taker)
    return found


def _layouts(flow: Flow) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for (module, statement), members in statements(flow).items():
        layout = Layout(module.source, statement)
        sinks = [m for m in members if isinstance(m, (SinkCall, Handover))]
        if sinks and not _inserts(members):
            continue
        if isinstance(statement, (ast.With, ast.AsyncWith)) or sinks:
            fine = layout.owns_start
            simple = not hasattr(statement, "body") or isinstance(
                statement, (ast.With, ast.AsyncWith)
            )
            if not simple or _lazy(module, sinks):
                text = "there is no statement before its session for the calls"
                found.append(Diagnostic("no-place-before-session", Place(module, statement), text))
                continue
        else:
            fine = layout.owns_lines or (
                layout.is_one_liner and module.names.block(statement) == [statement]
            )
        if not fine:
            text = "it shares its line with other code"
            found.append(Diagnostic("shared-line", Place(module, statement), text))
    return found


def _inserts(members: list[object]) -> bool:
    """Whether calls must be put before a statement with a sink."""
    if any(isinstance(member, (Setting, Step)) for member in members):
        return True
    return any(
        isinstance(member, (SinkCall, Handover)) and isinstance(member.argument, ast.Call)
        for member in members
    )


def _lazy(module: Module, sinks: list[Taker]) -> bool:
    """Whether a session is made in a lambda or comprehension, not by the statement itself."""
    names = module.names
    return any(
        names.scope_at(sink.call) is not names.scope_at(names.statement(sink.call))
        for sink in sinks
    )
