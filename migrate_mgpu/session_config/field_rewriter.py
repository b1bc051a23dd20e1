"""The kind of rewriter that moves fields of a ConfigProto to ``tf.config``."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from migrate_mgpu.analysis.names import constant
from migrate_mgpu.core.records import record
from migrate_mgpu.core.registry import Rewriter, of
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.style import FileStyle


def every_value(setting: Setting) -> str | None:
    """The plan of a field of which each value can move."""
    return None


def nothing(setting: Setting) -> tuple[str, str] | None:
    """The note of a field of which each value does the same."""
    return None


@record(frozen=True, eq=False)
class FieldRewriter(Rewriter):
    """Moves ``fields``, paths of ConfigProto (``gpu_options.allow_growth``).

    ``apply`` gives the statements that do in TF2 what the setting did, in a file's style
    (``FileStyle.lines``); none for TF2's own default. ``plan`` says why a value cannot move
    exactly; None when it can. ``early``: TF2 refuses the call once the runtime is
    initialized. ``imports`` are modules that the statements use. ``note`` says what the
    owner of a value that moves is to know, and an advice.
    """

    folder = "session_config"

    fields: tuple[str, ...]
    apply: Callable[[Setting, FileStyle], list[str]]
    plan: Callable[[Setting], str | None] = every_value
    early: bool = True
    imports: tuple[str, ...] = ()
    note: Callable[[Setting], tuple[str, str] | None] = nothing


@lru_cache(maxsize=1)
def field_rewriters() -> dict[str, FieldRewriter]:
    """The rewriter of each ConfigProto path that moves."""
    return {path: rewriter for rewriter in of(FieldRewriter) for path in rewriter.fields}


def enum_value(setting: Setting, members: dict[str, int]) -> int | None:
    """The number of an enum value, written as a number or as a name of TensorFlow's."""
    number = constant(setting.value)
    if isinstance(number, int) and number in members.values():
        return int(number)
    qualname = setting.module.names.qualname(setting.value) or ""
    if qualname.startswith("tensorflow."):
        return members.get(qualname.rpartition(".")[2])
    return None
