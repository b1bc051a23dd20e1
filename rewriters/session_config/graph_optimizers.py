"""Toggles of ``rewrite_options`` become ``tf.config.optimizer.set_experimental_options``.

## What it does
Moves Grappler's switches (``layout_optimizer``, ``constant_folding``,
``pin_to_host_optimization``, ``disable_meta_optimizer``, ...) to the runtime.

## Why
TF2 keeps them in the runtime, under the same names. ``DEFAULT`` needs no call.

## Safety
Exact for ``ON``, ``OFF`` and ``DEFAULT``. Other values (``AGGRESSIVE``), and
options that TF2's call does not know (``memory_optimization``: it would ignore
them without a word), stay on the config. May be called at any time.

## References
``tf.config.optimizer.set_experimental_options``
"""

from __future__ import annotations

from migrate_mgpu.analysis.names import constant
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.field_rewriter import FieldRewriter, enum_value
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.style import FileStyle

_PREFIX = "graph_options.rewrite_options."
_TOGGLES = (
    "layout_optimizer",
    "constant_folding",
    "shape_optimization",
    "remapping",
    "arithmetic_optimization",
    "dependency_optimization",
    "loop_optimization",
    "function_optimization",
    "debug_stripper",
    "scoped_allocator_optimization",
    "pin_to_host_optimization",
    "implementation_selector",
    "auto_mixed_precision",
)
_VALUES = ("disable_model_pruning", "disable_meta_optimizer", "min_graph_nodes")
_STATES = {"DEFAULT": 0, "ON": 1, "OFF": 2, "AGGRESSIVE": 3}

RULE = Rule(
    code="MGPU109",
    name="graph-optimizers",
    summary="toggles of `rewrite_options` become `set_experimental_options`",
)

CASES = (
    Case(
        "through a variable",
        """\
import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2

config = tf.ConfigProto()
rewrite = config.graph_options.rewrite_options
rewrite.layout_optimizer = rewriter_config_pb2.RewriterConfig.OFF
rewrite.disable_meta_optimizer = True
sess = tf.Session(config=config)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

tf.config.optimizer.set_experimental_options({'layout_optimizer': False})
tf.config.optimizer.set_experimental_options({'disable_meta_optimizer': True})
sess = tf.Session()
""",
    ),
    Case(
        "an option that TF2's call ignores",
        """\
import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2

config = tf.ConfigProto()
config.graph_options.rewrite_options.memory_optimization = (
    rewriter_config_pb2.RewriterConfig.MANUAL)
sess = tf.Session(config=config)
""",
        refused="memory_optimization` has no equivalent in tf.config",
    ),
)


def plan(setting: Setting) -> str | None:
    name = setting.path[len(_PREFIX) :]
    if name in _TOGGLES:
        state = enum_value(setting, _STATES)
        if state is None:
            return f"the state of `{name}` is only known at run time"
        if state == 3:
            return f"`set_experimental_options` takes only on or off for `{name}`, not AGGRESSIVE"
    elif name == "min_graph_nodes" and constant(setting.value) == 0:
        return "TF2 takes 0 for unset"
    return None


def apply(setting: Setting, style: FileStyle) -> list[str]:
    name = setting.path[len(_PREFIX) :]
    state = enum_value(setting, _STATES) if name in _TOGGLES else None
    if state == 0:
        return []
    value = setting.code if name not in _TOGGLES else str(state == 1)
    call = "{tf}.config.optimizer.set_experimental_options({{{quote}{name}{quote}: {value}}})"
    return style.lines(call, name=name, value=value)


REWRITER = FieldRewriter(
    RULE, CASES, tuple(_PREFIX + name for name in (*_TOGGLES, *_VALUES)), apply, plan, early=False
)
