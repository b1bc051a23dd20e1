"""``device_count`` becomes visible GPUs and logical CPUs.

## What it does
``{'GPU': 0}`` hides every GPU, ``{'GPU': n}`` keeps the first n,
``{'CPU': n}`` splits the CPU into n logical devices.

## Why
TF1 counts devices by type in the session's config; TF2 says which physical
devices are visible and how one is split.

## Safety
Exact. ``{'CPU': 1}`` is the default of both and needs no call. A config that
also lists visible devices stays, because TF1 combines the two. TF1 ignores ``{'gpu': 0}``,
whose key is no type of device; so it goes, and a finding says that it did nothing.

## References
``tf.config.set_visible_devices``, ``tf.config.set_logical_device_configuration``
"""

from __future__ import annotations

from migrate_mgpu.analysis.names import constant
from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.field_rewriter import FieldRewriter
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.style import FileStyle

RULE = Rule(
    code="MGPU107",
    name="device-count",
    summary="`device_count` becomes visible GPUs and logical CPUs",
)

CASES = (
    Case(
        "no GPU",
        """\
import tensorflow as tf

config = tf.ConfigProto(device_count={'GPU': 0})
sess = tf.Session(config=config)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

tf.config.set_visible_devices([], 'GPU')
sess = tf.Session()
""",
    ),
    Case(
        "logical CPUs and the first GPUs",
        """\
import tensorflow as tf

sess = tf.Session(config=tf.ConfigProto(device_count={'GPU': 2, 'CPU': 4}))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

tf.config.set_visible_devices(tf.config.list_physical_devices('GPU')[:2], 'GPU')
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices('CPU')[0],
    [tf.config.LogicalDeviceConfiguration()] * 4)
sess = tf.Session()
""",
    ),
    Case(
        "chosen by a flag",
        """\
import sys
import tensorflow as tf

count = {"GPU": 0} if "--cpu" in sys.argv else {"GPU": 1}
sess = tf.Session(config=tf.ConfigProto(device_count=count))
""",
        """\
import sys
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

count = {"GPU": 0} if "--cpu" in sys.argv else {"GPU": 1}
tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[:count["GPU"]], "GPU")
sess = tf.Session()
""",
    ),
    Case(
        "a dictionary that is filled",
        """\
import tensorflow as tf

count = {"GPU": 1}
count["CPU"] = 2
sess = tf.Session(config=tf.ConfigProto(device_count=count))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

count = {"GPU": 1}
count["CPU"] = 2
sess = tf.Session(config=tf.ConfigProto(device_count=count))
""",
        refused="`device_count` is not a literal dict",
    ),
    Case(
        "no type of device",
        """\
import tensorflow as tf

config = tf.ConfigProto(device_count={'gpu': 0})
sess = tf.Session(config=config)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

sess = tf.Session()
""",
    ),
)


_NO_DEVICES = ("device_count.gpu", "device_count.cpu")


def plan(setting: Setting) -> str | None:
    value = constant(setting.value)
    if setting.path in _NO_DEVICES:
        return None
    if value is not None and (not isinstance(value, int) or value < 0):
        return f"a device count of {value!r} has no equivalent in TF2"
    if setting.path == "device_count.CPU" and value == 0:
        return "a program without a CPU device has no equivalent in TF2"
    return None


_NONE = "{tf}.config.set_visible_devices([], {quote}GPU{quote})"
_FIRST = """\
{tf}.config.set_visible_devices({tf}.config.list_physical_devices({quote}GPU{quote})[:{count}], \
{quote}GPU{quote})
"""
_LOGICAL = """\
{tf}.config.set_logical_device_configuration(
    {tf}.config.list_physical_devices({quote}CPU{quote})[0],
    [{tf}.config.LogicalDeviceConfiguration()] * {count})
"""


def apply(setting: Setting, style: FileStyle) -> list[str]:
    value = constant(setting.value)
    if setting.path in _NO_DEVICES:
        return []
    if setting.path == "device_count.GPU":
        return style.lines(_NONE if value == 0 else _FIRST, count=setting.code)
    return [] if value == 1 else style.lines(_LOGICAL, count=setting.operand)


def note(setting: Setting) -> tuple[str, str] | None:
    if setting.path in _NO_DEVICES:
        key = setting.path.rpartition(".")[2]
        text = f"`device_count` of '{key}' did nothing in TF1, which knows only '{key.upper()}'"
        return text, f"write tf.config.set_visible_devices, if '{key.upper()}' was meant"
    return None


REWRITER = FieldRewriter(
    RULE, CASES, ("device_count.GPU", "device_count.CPU", *_NO_DEVICES), apply, plan, note=note
)
