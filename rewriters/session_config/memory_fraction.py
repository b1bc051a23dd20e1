"""``gpu_options.per_process_gpu_memory_fraction`` becomes a memory limit in MiB for each GPU.

## What it does
Gives each physical GPU one logical device whose memory limit is the fraction
of that GPU's own total memory, asked of the CUDA driver when the program runs.

## Why
TF2 has no fraction. ``cuDeviceTotalMem_v2`` answers in the order in which
TensorFlow numbers its GPUs, whatever ``CUDA_VISIBLE_DEVICES`` and
``CUDA_DEVICE_ORDER`` say, and gives the number that TF1 multiplied;
``nvidia-smi`` does neither. Listing the GPUs has initialized the driver before
it is called. Without a GPU the loop does nothing; a TensorFlow for other GPUs (ROCm,
Metal) has no such driver to ask, and runs without the limit.

## Safety
Exact to a MiB for fractions up to 1: TensorFlow drops what a logical device's limit has
beyond whole ones ([measured](semantics.md#on-a-real-gpu)). A larger fraction asked TF1
for unified memory: such a config stays. ``0`` means TF1's default, no limit; where
the fraction is not a constant, the loop is guarded for that. With ``allow_growth``
in the same config the limit wins, because TF2 takes only one of the two; where the
fraction is a variable or an attribute, memory growth holds when that is 0 or None.

## References
``tf.config.set_logical_device_configuration``, ``tf.config.LogicalDeviceConfiguration``
"""

from __future__ import annotations

import ast

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.field_rewriter import FieldRewriter
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.style import FileStyle

RULE = Rule(
    code="MGPU104",
    name="memory-fraction",
    summary="`per_process_gpu_memory_fraction` becomes a memory limit for each GPU",
)

CASES = (
    Case(
        "a constant fraction",
        """\
import tensorflow as tf

gpu_options = tf.GPUOptions(per_process_gpu_memory_fraction=0.4)
sess = tf.Session(config=tf.ConfigProto(gpu_options=gpu_options))
""",
        """\
import ctypes

import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

if tf.test.is_built_with_cuda():
    for index, gpu in enumerate(tf.config.list_physical_devices('GPU')):
        total = ctypes.c_size_t()  # bytes
        ctypes.CDLL('libcuda.so.1').cuDeviceTotalMem_v2(ctypes.byref(total), index)
        limit = tf.config.LogicalDeviceConfiguration(
            memory_limit=0.4 * total.value / 2**20)
        tf.config.set_logical_device_configuration(gpu, [limit])
sess = tf.Session()
""",
    ),
    Case(
        "a fraction of the command line",
        """\
import argparse

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--memory', type=float, default=0)
args = parser.parse_args()
config = tf.ConfigProto()
if args.memory:
    config.gpu_options.per_process_gpu_memory_fraction = args.memory
sess = tf.Session(config=config)
""",
        """\
import argparse
import ctypes

import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

parser = argparse.ArgumentParser()
parser.add_argument('--memory', type=float, default=0)
args = parser.parse_args()
if args.memory:
    if tf.test.is_built_with_cuda():
        for index, gpu in enumerate(tf.config.list_physical_devices('GPU')):
            total = ctypes.c_size_t()  # bytes
            ctypes.CDLL('libcuda.so.1').cuDeviceTotalMem_v2(ctypes.byref(total), index)
            limit = tf.config.LogicalDeviceConfiguration(
                memory_limit=args.memory * total.value / 2**20)
            tf.config.set_logical_device_configuration(gpu, [limit])
sess = tf.Session()
""",
    ),
    Case(
        "a fraction that is computed once",
        """\
import tensorflow as tf

def share(text):
    print("share:", text)
    return 1 / float(text)

gpu_options = tf.GPUOptions(per_process_gpu_memory_fraction=share("3"))
sess = tf.Session(config=tf.ConfigProto(gpu_options=gpu_options))
""",
        """\
import ctypes

import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

def share(text):
    print("share:", text)
    return 1 / float(text)

fraction = share("3")
if fraction and tf.test.is_built_with_cuda():
    for index, gpu in enumerate(tf.config.list_physical_devices("GPU")):
        total = ctypes.c_size_t()  # bytes
        ctypes.CDLL("libcuda.so.1").cuDeviceTotalMem_v2(ctypes.byref(total), index)
        limit = tf.config.LogicalDeviceConfiguration(
            memory_limit=fraction * total.value / 2**20)
        tf.config.set_logical_device_configuration(gpu, [limit])
sess = tf.Session()
""",
    ),
    Case(
        "a fraction and growth of a configuration",
        """\
import tensorflow as tf
from settings import cfg

config = tf.ConfigProto()
config.gpu_options.per_process_gpu_memory_fraction = cfg.gpu.fraction
config.gpu_options.allow_growth = cfg.gpu.growth
sess = tf.Session(config=config)
""",
        """\
import ctypes

import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from settings import cfg

if cfg.gpu.fraction and tf.test.is_built_with_cuda():
    for index, gpu in enumerate(tf.config.list_physical_devices('GPU')):
        total = ctypes.c_size_t()  # bytes
        ctypes.CDLL('libcuda.so.1').cuDeviceTotalMem_v2(ctypes.byref(total), index)
        limit = tf.config.LogicalDeviceConfiguration(
            memory_limit=cfg.gpu.fraction * total.value / 2**20)
        tf.config.set_logical_device_configuration(gpu, [limit])
if not cfg.gpu.fraction:
    for gpu in tf.config.list_physical_devices('GPU'):
        tf.config.experimental.set_memory_growth(gpu, cfg.gpu.growth)
sess = tf.Session()
""",
    ),
    Case(
        "growth that may be set when the fraction has changed",
        """\
import tensorflow as tf
from settings import cfg

config = tf.ConfigProto()
config.gpu_options.per_process_gpu_memory_fraction = cfg.gpu.fraction
cfg.load()
config.gpu_options.allow_growth = cfg.gpu.growth
sess = tf.Session(config=config)
""",
        refused="whether memory growth or a memory limit holds is only known at run time",
    ),
    Case(
        "unified memory",
        """\
import tensorflow as tf

gpu_options = tf.GPUOptions(per_process_gpu_memory_fraction=1.5)
sess = tf.Session(config=tf.ConfigProto(gpu_options=gpu_options))
""",
        refused="unified memory",
    ),
)


def plan(setting: Setting) -> str | None:
    value = setting.known
    if isinstance(value, (int, float)) and value > 1:
        return (
            f"a memory fraction of {value} asks for unified memory, which tf.config cannot request"
        )
    return None


_LOOP = """\
if {condition}{tf}.test.is_built_with_cuda():
    for {index}, {gpu} in enumerate({tf}.config.list_physical_devices({quote}GPU{quote})):
        {total} = ctypes.c_size_t()  # bytes
        ctypes.CDLL({quote}libcuda.so.1{quote}).cuDeviceTotalMem_v2(ctypes.byref({total}), {index})
        {limit} = {tf}.config.LogicalDeviceConfiguration(
            memory_limit={fraction} * {total}.value / 2**20)
        {tf}.config.set_logical_device_configuration({gpu}, [{limit}])
"""


def apply(setting: Setting, style: FileStyle) -> list[str]:
    fraction = setting.known
    if fraction == 0:
        return []
    operand, first = setting.operand, []
    if fraction is None and not _repeatable(setting.value):
        operand = setting.fresh("fraction", "memory_fraction")
        first = style.lines("{operand} = {value}", operand=operand, value=setting.operand)
    return first + style.lines(
        _LOOP,
        # 0 is TF1's way to say: no limit.
        condition="" if fraction or setting.is_chosen else f"{operand} and ",
        fraction=operand,
        index=setting.fresh("index", "gpu_index"),
        gpu=setting.fresh("gpu", "physical_gpu"),
        total=setting.fresh("total", "total_memory"),
        limit=setting.fresh("limit", "memory_limit"),
    )


def _repeatable(node: ast.expr) -> bool:
    """Whether evaluating an expression again gives the same and does nothing else."""
    return all(
        not isinstance(part, ast.Call)
        or (isinstance(part.func, ast.Name) and part.func.id in ("float", "int", "min", "max"))
        for part in ast.walk(node)
    )


REWRITER = FieldRewriter(
    RULE,
    CASES,
    ("gpu_options.per_process_gpu_memory_fraction",),
    apply,
    plan,
    imports=("ctypes",),
)
