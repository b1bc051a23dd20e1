"""``gpu_options.allow_growth`` becomes ``set_memory_growth`` on every GPU.

## What it does
Turns the option into a loop over the physical GPUs. A plain False, TF2's default,
goes away.

## Why
TF1 sets growth for the whole process; TF2 sets it for each GPU, asks for the
same on all of them, and only before the runtime is initialized.

## Safety
Exact. Together with a memory limit TF2 accepts only one of the two: the limit
stays, and a finding says so (`memory-fraction`).

## References
``tf.config.experimental.set_memory_growth``
"""

import ast

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.field_rewriter import FieldRewriter
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.style import FileStyle

RULE = Rule(
    code="MGPU103",
    name="memory-growth",
    summary="`gpu_options.allow_growth` becomes `set_memory_growth` on every GPU",
)

CASES = (
    Case(
        "set on the config's attribute",
        """\
import tensorflow as tf

config = tf.ConfigProto()
config.gpu_options.allow_growth = True  # share the GPU with others
sess = tf.Session(config=config)
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

for gpu in tf.config.list_physical_devices('GPU'):  # share the GPU with others
    tf.config.experimental.set_memory_growth(gpu, True)
sess = tf.Session()
""",
    ),
    Case(
        "beside a fraction that a parameter is",
        """\
import tensorflow as tf


def session(fraction):
    options = tf.GPUOptions(per_process_gpu_memory_fraction=fraction, allow_growth=True)
    return tf.Session(config=tf.ConfigProto(gpu_options=options))
""",
        """\
import ctypes

import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()


def session(fraction):
    if fraction and tf.test.is_built_with_cuda():
        for index, gpu in enumerate(tf.config.list_physical_devices('GPU')):
            total = ctypes.c_size_t()  # bytes
            ctypes.CDLL('libcuda.so.1').cuDeviceTotalMem_v2(ctypes.byref(total), index)
            limit = tf.config.LogicalDeviceConfiguration(
                memory_limit=fraction * total.value / 2**20)
            tf.config.set_logical_device_configuration(gpu, [limit])
    if not fraction:
        for gpu in tf.config.list_physical_devices('GPU'):
            tf.config.experimental.set_memory_growth(gpu, True)
    return tf.Session()
""",
    ),
)


_LOOP = """\
for {gpu} in {tf}.config.list_physical_devices({quote}GPU{quote}):
    {tf}.config.experimental.set_memory_growth({gpu}, {value})
"""


def apply(setting: Setting, style: FileStyle) -> list[str]:
    if isinstance(setting.value, ast.Constant) and setting.value.value is False:
        return []
    return style.lines(_LOOP, gpu=setting.fresh("gpu", "physical_gpu"), value=setting.code)


REWRITER = FieldRewriter(RULE, CASES, ("gpu_options.allow_growth",), apply)
