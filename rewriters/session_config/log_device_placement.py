"""``log_device_placement`` becomes ``tf.debugging.set_log_device_placement``.

## What it does
Moves the option from the session's config to the runtime. A plain False, TF2's default,
goes away.

## Why
TF2 logs placements process-wide.

## Safety
Exact; may be called at any time. TF1 prints placements on standard output and
standard error, TF2 on standard error only.

## References
``tf.debugging.set_log_device_placement``
"""

import ast

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.field_rewriter import FieldRewriter
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.style import FileStyle

RULE = Rule(
    code="MGPU102",
    name="log-device-placement",
    summary="`log_device_placement` becomes `tf.debugging.set_log_device_placement`",
)

CASES = (
    Case(
        "in a with statement",
        """\
import tensorflow as tf

product = tf.matmul([[1.0, 2.0]], [[3.0], [4.0]])
with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
    print(sess.run(product))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

product = tf.matmul([[1.0, 2.0]], [[3.0], [4.0]])
tf.debugging.set_log_device_placement(True)
with tf.Session() as sess:
    print(sess.run(product))
""",
    ),
    Case(
        "at its default",
        """\
import tensorflow as tf

config = tf.ConfigProto(allow_soft_placement=True, log_device_placement=False)
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


def apply(setting: Setting, style: FileStyle) -> list[str]:
    if isinstance(setting.value, ast.Constant) and setting.value.value is False:
        return []
    return style.lines("{tf}.debugging.set_log_device_placement({value})", value=setting.code)


REWRITER = FieldRewriter(RULE, CASES, ("log_device_placement",), apply, early=False)
