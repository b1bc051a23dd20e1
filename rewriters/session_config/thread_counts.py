"""``intra_op_parallelism_threads`` and its ``inter`` sibling become ``tf.config.threading``.

## What it does
Moves both thread counts from the session's config to the runtime.

## Why
In TF2 the thread pools belong to the runtime and are made once. ``0`` leaves
the choice to TensorFlow in both.

## Safety
Exact. The calls must come before the runtime is initialized.

## References
``tf.config.threading.set_intra_op_parallelism_threads``,
``tf.config.threading.set_inter_op_parallelism_threads``
"""

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.field_rewriter import FieldRewriter
from migrate_mgpu.session_config.fields import THREADS
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.style import FileStyle

RULE = Rule(
    code="MGPU105",
    name="thread-counts",
    summary="`intra/inter_op_parallelism_threads` become `tf.config.threading` calls",
)

CASES = (
    Case(
        "both counts",
        """\
import tensorflow as tf

config = tf.ConfigProto(
    intra_op_parallelism_threads=4,
    inter_op_parallelism_threads=2)
sess = tf.Session(config=config)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

tf.config.threading.set_intra_op_parallelism_threads(4)
tf.config.threading.set_inter_op_parallelism_threads(2)
sess = tf.Session()
""",
    ),
)


def apply(setting: Setting, style: FileStyle) -> list[str]:
    call = "{tf}.config.threading.set_{field}({value})"
    return style.lines(call, field=setting.path, value=setting.code)


REWRITER = FieldRewriter(RULE, CASES, THREADS, apply)
