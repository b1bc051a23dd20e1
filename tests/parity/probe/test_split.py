"""One real GPU split into several: what TensorFlow is asked for, on a machine without one."""

from __future__ import annotations

import json
import subprocess

import pytest

from migrate_mgpu.parity.compare import configuration
from migrate_mgpu.parity.runs import launch

PROBE = launch.PROBE / "probe.py"
PROGRAM = """
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
config = tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True, visible_device_list="2,0,1"))
tf.Session(config=config)
with tf.device("/gpu:1"):
    print(tf.constant(1.0).op.device)
import tensorflow
ops = tensorflow.distribute.NcclAllReduce()
try:
    strategy = tensorflow.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"], ops)
    print(type(strategy.extended._cross_device_ops).__name__)
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("where", ["tf1.15", "tf2.15"])
def test_split_gpu(runtime, tmp_path, where):
    program, out, watch = tmp_path / "p.py", tmp_path / "o.json", tmp_path / "w.json"
    program.write_text(PROGRAM)
    watch.write_text("{}")
    command = [str(runtime(where).python), str(PROBE), "--out", str(out), "--watch", str(watch)]
    command += ["--gpus", "4", "--gpu-memory", "40960", "--split-gpu", "8192", str(program)]
    answer = subprocess.run(
        command, env=launch.environment({}), capture_output=True, text=True, cwd=tmp_path
    )
    trace = json.loads(out.read_text())
    assert trace["exception"] is None, answer.stderr
    lines = answer.stdout.splitlines()
    assert lines[0] == "/device:GPU:1"  # it is a logical GPU, not a CPU
    assert lines[1] == "ReductionToOneDevice", lines
    text = trace["training"]["pins"]["cross_device_ops"]
    assert text.startswith("ReductionToOneDevice instead of NcclAllReduce: NCCL works between")
    session = trace["sessions"][0]
    # The program's own is what is compared; TensorFlow gets three parts of the first GPU.
    found = configuration.settings(session, trace["gpus"])
    assert (found["visible_gpus"], found["memory_growth"]) == ([2, 0, 1], True)
    used = session["used"]
    assert used["device_count"] == {"GPU": 3}
    options = used["gpu_options"]
    assert options["visible_device_list"] == "0" and "allow_growth" not in options
    limits = options["experimental"]["virtual_devices"]
    assert limits == [{"memory_limit_mb": [8192.0] * 3}]


# A machine with one GPU, as TensorFlow lists it: what this machine's driver would answer.
ONE_GPU = """
import tensorflow.compat.v1 as tf
from tensorflow.python.eager import context
wrapper = getattr(context, "pywrap_tfe", None) or context.pywrap_tensorflow
listed = wrapper.TF_ListPhysicalDevices
wrapper.TF_ListPhysicalDevices = lambda: [*listed(), b"/physical_device:GPU:0"]
"""
# What TensorFlow itself makes of such a machine when a program splits its GPU.
SPLITS_ITSELF = """
one = tf.config.experimental.list_physical_devices("GPU")[0]
parts = [tf.config.experimental.VirtualDeviceConfiguration(memory_limit=8192) for _ in range(2)]
tf.config.experimental.set_virtual_device_configuration(one, parts)
own = context.context().config
limits = [list(group.memory_limit_mb) for group in own.gpu_options.experimental.virtual_devices]
print(own.device_count["GPU"], own.gpu_options.visible_device_list, limits)
"""
LISTS = """
print(len(tf.config.experimental.list_physical_devices("GPU")))
"""


@pytest.mark.parametrize("where", ["tf1.15", "tf2.15"])
@pytest.mark.parametrize("place", ["split", "cpus"])
def test_machine_with_one_gpu(runtime, tmp_path, where, place):
    """It is not the program's: that sees as many as were asked for."""
    session = "tf.disable_v2_behavior()\n" if where != "tf1.15" else ""
    program, out = tmp_path / "p.py", tmp_path / "o.json"
    program.write_text(f"{ONE_GPU}{session}{LISTS}tf.Session()\n")
    command = [str(runtime(where).python), str(PROBE), "--out", str(out), "--gpus", "2"]
    command += ["--split-gpu", "8192"] if place == "split" else ["--map-gpus"]
    answer = subprocess.run(
        [*command, str(program)], env=launch.environment({}), capture_output=True, text=True
    )
    trace = json.loads(out.read_text())
    assert trace["exception"] is None, answer.stderr
    assert answer.stdout.split() == ["2"]
    found = trace["sessions"][0]
    assert configuration.settings(found, trace["gpus"])["visible_gpus"] == [0, 1]
    used = found["used"]
    if place == "split":
        given = used["gpu_options"]
        limits = [one["memory_limit_mb"] for one in given["experimental"]["virtual_devices"]]
        count = used["device_count"]["GPU"]
        program.write_text(ONE_GPU + SPLITS_ITSELF)
        own = subprocess.run([command[0], str(program)], capture_output=True, text=True)
        assert own.stdout.split("\n")[0] == f"{count} {given['visible_device_list']} {limits}"
    else:  # nothing is placed on it
        assert used["device_count"] == {"CPU": 2, "GPU": 0}
