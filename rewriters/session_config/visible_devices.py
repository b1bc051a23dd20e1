"""``gpu_options.visible_device_list`` becomes ``tf.config.set_visible_devices``.

## What it does
Makes the listed GPUs, and no others, visible to TensorFlow.

## Why
TF1 lists them in a string of indices into what ``CUDA_VISIBLE_DEVICES`` left;
TF2 takes the physical devices themselves, which have the same numbers. Without
a GPU, TF1 ignores the list, and so does the migrated code.

## Safety
Exact for a single index (the way of Horovod programs) and for constant lists in
ascending order. TF2 always numbers visible GPUs in ascending order, so a list
in another order, or one that is only known at run time, stays on the config.

## References
``tf.config.set_visible_devices``
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.names import constant
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.field_rewriter import FieldRewriter
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.style import FileStyle

RULE = Rule(
    code="MGPU106",
    name="visible-devices",
    summary="`gpu_options.visible_device_list` becomes `tf.config.set_visible_devices`",
)

CASES = (
    Case(
        "one GPU for each process",
        """\
import horovod.tensorflow as hvd
import tensorflow as tf

hvd.init()
config = tf.ConfigProto()
config.gpu_options.visible_device_list = str(hvd.local_rank())
sess = tf.Session(config=config)
""",
        """\
import horovod.tensorflow as hvd
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

hvd.init()
gpus = tf.config.list_physical_devices('GPU')
if gpus:
    tf.config.set_visible_devices(gpus[hvd.local_rank()], 'GPU')
sess = tf.Session()
""",
    ),
    Case(
        "a constant list",
        """\
import tensorflow as tf

config = tf.ConfigProto()
config.gpu_options.visible_device_list = '0,2'
sess = tf.Session(config=config)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

gpus = tf.config.list_physical_devices('GPU')
if gpus:
    tf.config.set_visible_devices([gpus[0], gpus[2]], 'GPU')
sess = tf.Session()
""",
    ),
    Case(
        "another order",
        """\
import tensorflow as tf

config = tf.ConfigProto()
config.gpu_options.visible_device_list = '1,0'
sess = tf.Session(config=config)
""",
        refused="ascending order",
    ),
)


def plan(setting: Setting) -> str | None:
    value = constant(setting.value)
    if value is None:
        if _single_index(setting.value) is None:
            return "which GPUs are visible, and in which order, is only known at run time"
        return None
    indices = _indices(value)
    if indices is None:
        return f"{value!r} is not a list of GPU indices"
    if indices != sorted(set(indices)):
        return "the visible GPUs are not in ascending order, which TF2 cannot keep"
    return None


_VISIBLE = """\
{gpus} = {tf}.config.list_physical_devices({quote}GPU{quote})
if {gpus}:
    {tf}.config.set_visible_devices({chosen}, {quote}GPU{quote})
"""


def apply(setting: Setting, style: FileStyle) -> list[str]:
    gpus = setting.fresh("gpus", "physical_gpus")
    chosen = [f"{gpus}[{index}]" for index in _chosen(setting)]
    if not chosen:  # an empty list leaves every GPU visible
        return []
    shown = chosen[0] if len(chosen) == 1 else f"[{', '.join(chosen)}]"
    return style.lines(_VISIBLE, gpus=gpus, chosen=shown)


def _chosen(setting: Setting) -> list[str]:
    """The indices of the visible GPUs, as code."""
    value = constant(setting.value)
    if value is not None:
        return [str(index) for index in _indices(value) or ()]
    index = _single_index(setting.value)
    return [setting.part(index)] if index is not None else []


def _indices(value: object) -> list[int] | None:
    if not isinstance(value, str):
        return None
    parts = [part.strip() for part in value.split(",")] if value else []
    return [int(part) for part in parts] if all(part.isdecimal() for part in parts) else None


def _single_index(node: ast.expr) -> ast.expr | None:
    """The number in ``str(n)``, ``'%d' % n``, ``'{}'.format(n)`` and ``f'{n}'``.

    ``str(args.gpu)`` counts: if it is not a number, the migrated line fails
    loudly. Only a plain name or attribute of unknown type would fail that way
    for `str`, so nothing wrong can pass.
    """
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
        return node.args[0] if len(node.args) == 1 and not node.keywords else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        left = constant(node.left)
        if left in ("%d", "%i", "%s") and not isinstance(node.right, (ast.Tuple, ast.Dict)):
            return node.right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "format" and constant(node.func.value) in ("{}", "{0}", "{:d}"):
            return node.args[0] if len(node.args) == 1 and not node.keywords else None
    if isinstance(node, ast.JoinedStr) and len(node.values) == 1:
        part = node.values[0]
        if isinstance(part, ast.FormattedValue) and part.format_spec is None:
            return part.value
    return None


REWRITER = FieldRewriter(RULE, CASES, ("gpu_options.visible_device_list",), apply, plan)
