"""``global_jit_level`` becomes ``tf.config.optimizer.set_jit``.

## What it does
``ON_1`` turns XLA's automatic clustering on for the runtime, ``OFF`` turns it off.

## Why
TF2 keeps the level in the runtime. ``DEFAULT`` is the default of both and needs
no call.

## Safety
Exact for ``ON_1``, ``OFF`` and ``DEFAULT``. ``ON_2``, and a level that is only
known at run time, stay on the config: ``set_jit`` cannot say ``ON_2``. May be
called at any time.

## References
``tf.config.optimizer.set_jit``
"""

from __future__ import annotations

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.field_rewriter import FieldRewriter, enum_value
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.style import FileStyle

RULE = Rule(
    code="MGPU108",
    name="xla",
    summary="`global_jit_level` becomes `tf.config.optimizer.set_jit`",
)

CASES = (
    Case(
        "automatic clustering",
        """\
import tensorflow as tf

config = tf.ConfigProto()
config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
sess = tf.Session(config=config)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

tf.config.optimizer.set_jit(True)
sess = tf.Session()
""",
    ),
    Case(
        "a level that TF2 does not offer",
        """\
import tensorflow as tf

config = tf.ConfigProto()
config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_2
sess = tf.Session(config=config)
""",
        refused="ON_2",
    ),
)

_LEVELS = {"DEFAULT": 0, "ON_1": 1, "ON_2": 2, "OFF": -1}


def plan(setting: Setting) -> str | None:
    level = enum_value(setting, _LEVELS)
    if level is None:
        return "the level of XLA's clustering is only known at run time"
    return None if level != 2 else "`set_jit` cannot ask for ON_2"


def apply(setting: Setting, style: FileStyle) -> list[str]:
    level = enum_value(setting, _LEVELS)
    on = str(level == 1)
    return style.lines("{tf}.config.optimizer.set_jit({on})", on=on) if level else []


REWRITER = FieldRewriter(
    RULE, CASES, ("graph_options.optimizer_options.global_jit_level",), apply, plan, early=False
)
