"""``log_device_placement`` becomes ``tf.debugging.set_log_device_placement``.

## What it does
Moves the option from the session's config to the runtime.

## Why
TF2 logs placements process-wide.

## Safety
Exact; may be called at any time. TF1 prints placements on standard output and
standard error, TF2 on standard error only.

## References
``tf.debugging.set_log_device_placement``
"""

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
)


def apply(setting: Setting, style: FileStyle) -> list[str]:
    return style.lines("{tf}.debugging.set_log_device_placement({value})", value=setting.code)


REWRITER = FieldRewriter(RULE, CASES, ("log_device_placement",), apply, early=False)
