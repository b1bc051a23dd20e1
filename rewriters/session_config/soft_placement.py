"""``allow_soft_placement`` becomes ``tf.config.set_soft_device_placement``.

## What it does
Moves the option from the session's config to the runtime.

## Why
A TF1 session places an operation on the CPU when its device has no kernel for
it, or does not exist, only if this option is set. In TF2 the option belongs to
the runtime. Its default differs: off for graphs (as in TF1), on for eager code.
Where the migrated program runs eagerly and the TF1 config left the option out,
the call is therefore written with ``False``.

## Safety
Exact; may be called at any time.

## References
``tf.config.set_soft_device_placement``
"""

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.field_rewriter import FieldRewriter
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.style import FileStyle

RULE = Rule(
    code="MGPU101",
    name="soft-placement",
    summary="`allow_soft_placement` becomes `tf.config.set_soft_device_placement`",
)

CASES = (
    Case(
        "inline in the session",
        """\
import tensorflow as tf

sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
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
    return style.lines("{tf}.config.set_soft_device_placement({value})", value=setting.code)


REWRITER = FieldRewriter(RULE, CASES, ("allow_soft_placement",), apply, early=False)
