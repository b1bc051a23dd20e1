"""``gpu_options.allocator_type = 'BFC'`` goes away: it names the only allocator that TF1 had.

## What it does
Leaves the field out when it is ``'BFC'`` or empty.

## Why
TF1 knows one allocator for GPU memory, best-fit with coalescing, and rejects
every other name. It is TF2's default as well, and ``tf.config`` has no call for
it.

## Safety
Exact. Any other value stays on the config.

## References
``GPUOptions.allocator_type`` in ``config.proto``
"""

from __future__ import annotations

from migrate_mgpu.analysis.names import constant
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.field_rewriter import FieldRewriter
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.style import FileStyle

RULE = Rule(
    code="MGPU110",
    name="allocator-type",
    summary="`gpu_options.allocator_type = 'BFC'` is the default and goes away",
)

CASES = (
    Case(
        "beside another option",
        """\
import tensorflow as tf

config = tf.ConfigProto(allow_soft_placement=True)
config.gpu_options.allocator_type = 'BFC'
sess = tf.Session(config=config)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

tf.config.set_soft_device_placement(True)
sess = tf.Session()
""",
    ),
)


def plan(setting: Setting) -> str | None:
    value = constant(setting.value)
    return None if value in ("BFC", "") else "TF1 itself knows no allocator but BFC"


def apply(setting: Setting, style: FileStyle) -> list[str]:
    return []


REWRITER = FieldRewriter(RULE, CASES, ("gpu_options.allocator_type",), apply, plan, early=False)
