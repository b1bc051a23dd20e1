"""``gpu_options.visible_device_list`` becomes ``tf.config.set_visible_devices``.

## What it does
Makes the listed GPUs, and no others, visible to TensorFlow.

## Why
TF1 lists them in a string of indices into what ``CUDA_VISIBLE_DEVICES`` left;
TF2 takes the physical devices themselves, which have the same numbers. Without
a GPU, TF1 ignores the list, and so does the migrated code.

## Safety
Exact for a single index (the way of Horovod programs) and for lists in ascending
order. TF2 always numbers visible GPUs in ascending order, so a list in another
order stays on the config. One that is only known at run time moves, and a finding
says what becomes of its order; ``CUDA_VISIBLE_DEVICES`` has one.

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
        "a list known at run time",
        """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--gpus', default='0')
args = parser.parse_args()
config = tf.ConfigProto()
config.gpu_options.visible_device_list = args.gpus
sess = tf.Session(config=config)
""",
        """\
import argparse
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

parser = argparse.ArgumentParser()
parser.add_argument('--gpus', default='0')
args = parser.parse_args()
gpus = tf.config.list_physical_devices('GPU')
if gpus and args.gpus:
    visible_gpus = [gpus[int(index)] for index in args.gpus.split(',')]
    tf.config.set_visible_devices(visible_gpus, 'GPU')
sess = tf.Session()
""",
    ),
    Case(
        "indices that are joined",
        """\
import tensorflow as tf


def session(gpu_ids):
    config = tf.ConfigProto()
    config.gpu_options.visible_device_list = ','.join(str(i) for i in gpu_ids)
    return tf.Session(config=config)


print(session([0, 1]).run(tf.constant(1)))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()


def session(gpu_ids):
    gpus = tf.config.list_physical_devices('GPU')
    if gpus:
        visible_gpus = [gpus[int(index)] for index in gpu_ids]
        tf.config.set_visible_devices(visible_gpus or gpus, 'GPU')
    return tf.Session()


print(session([0, 1]).run(tf.constant(1)))
""",
    ),
    Case(
        "a text of several that is made a text",
        """\
import tensorflow as tf

config = tf.ConfigProto()
config.gpu_options.visible_device_list = str('2,3')
sess = tf.Session(config=config)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

gpus = tf.config.list_physical_devices('GPU')
if gpus:
    tf.config.set_visible_devices([gpus[2], gpus[3]], 'GPU')
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
    value = _told(setting)
    if value is None:
        known = _single_index(setting.value) or _joined(setting.value) or _is_read(setting.value)
        return None if known else "which GPUs are visible is computed here, in a form not known"
    indices = _indices(value)
    if indices is None:
        return f"{value!r} is not a list of GPU indices"
    if indices != sorted(set(indices)):
        return "the visible GPUs are not in ascending order, which TF2 cannot keep"
    return None


def note(setting: Setting) -> tuple[str, str] | None:
    """What is to be known of a list that need not be in ascending order."""
    if _told(setting) is not None or _single_index(setting.value) is not None:
        return None
    text = "TF2 numbers the visible GPUs in ascending order, whatever the order of this list"
    return text, "for another order set CUDA_VISIBLE_DEVICES instead"


_VISIBLE = """\
{gpus} = {tf}.config.list_physical_devices({quote}GPU{quote})
if {gpus}:
    {tf}.config.set_visible_devices({chosen}, {quote}GPU{quote})
"""


_LISTED = """\
{gpus} = {tf}.config.list_physical_devices({quote}GPU{quote})
if {gpus}{listed}:
    {visible} = [{gpus}[int(index)] for index in {value}.split({quote},{quote})]
    {tf}.config.set_visible_devices({visible}, {quote}GPU{quote})
"""
# An empty list leaves every GPU visible.
_JOINED = """\
{gpus} = {tf}.config.list_physical_devices({quote}GPU{quote})
if {gpus}:
    {visible} = [{gpus}[int(index)] for index in {value}]
    {tf}.config.set_visible_devices({visible} or {gpus}, {quote}GPU{quote})
"""


def apply(setting: Setting, style: FileStyle) -> list[str]:
    gpus = setting.fresh("gpus", "physical_gpus")
    told = constant(setting.value) is not None or _made_text(setting.value) is not None
    if not told and _single_index(setting.value) is None:
        visible = setting.fresh("visible_gpus", "shown_gpus")
        joined = _joined(setting.value)
        if joined is None:
            listed = "" if setting.is_chosen else f" and {setting.code}"
            return style.lines(
                _LISTED, gpus=gpus, visible=visible, value=setting.code, listed=listed
            )
        return style.lines(_JOINED, gpus=gpus, visible=visible, value=setting.part(joined))
    chosen = [f"{gpus}[{index}]" for index in _chosen(setting)]
    if not chosen:  # an empty list leaves every GPU visible
        return []
    shown = chosen[0] if len(chosen) == 1 else f"[{', '.join(chosen)}]"
    return style.lines(_VISIBLE, gpus=gpus, chosen=shown)


def _told(setting: Setting) -> object:
    """The list, where it is known."""
    return _made_text(setting.value) if setting.known is None else setting.known


def _made_text(node: ast.expr) -> str | None:
    """The text in `str("2,3")`."""
    made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"
    if not made or len(node.args) != 1 or node.keywords:  # type: ignore[attr-defined]
        return None
    assert isinstance(node, ast.Call)
    text = constant(node.args[0])
    return text if isinstance(text, str) else None


def _chosen(setting: Setting) -> list[str]:
    """The indices of the visible GPUs, as code."""
    value = constant(setting.value)
    value = _made_text(setting.value) if value is None else value
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
        number = len(node.args) == 1 and not node.keywords
        return node.args[0] if number and not isinstance(constant(node.args[0]), str) else None
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


def _is_read(node: ast.expr) -> bool:
    """Whether an expression only reads a variable, an attribute or an item: it may stand twice."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and constant(node.slice) is None:
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _joined(node: ast.expr) -> ast.expr | None:
    """The indices in ``','.join(X)``, with X itself, ``map(str, X)`` or ``str(i) for i in X``."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return None
    if node.func.attr != "join" or constant(node.func.value) != "," or len(node.args) != 1:
        return None
    given = node.args[0]
    if isinstance(given, (ast.GeneratorExp, ast.ListComp)) and len(given.generators) == 1:
        (loop,) = given.generators
        if loop.ifs or loop.is_async or not isinstance(loop.target, ast.Name):
            return None
        if ast.unparse(given.elt) not in (f"str({loop.target.id})", loop.target.id):
            return None
        given = loop.iter
    elif isinstance(given, ast.Call) and ast.unparse(given.func) == "map":
        if len(given.args) != 2 or ast.unparse(given.args[0]) != "str":
            return None
        given = given.args[1]
    return given if _is_read(given) else None


REWRITER = FieldRewriter(RULE, CASES, ("gpu_options.visible_device_list",), apply, plan, note=note)
