"""A model over two GPUs: its operations are where they were, by what TensorFlow logs of each."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from migrate_mgpu.parity import probe

FIXTURE = Path(__file__).parents[2] / "fixtures" / "session" / "model_parallel"
PROBE = Path(probe.__file__).with_name("probe.py")
# One of each, forward and backward; TF2 has those of an evaluation once more.
KINDS = ("MatMul", "Relu", "ReluGrad", "Sqrt", "Square", "Tanh", "TanhGrad")
_LINE = re.compile(r"^\S+: \((\w+)\): ?/job:\S+/device:CPU:(\d)", re.MULTILINE)


def placed(python: Path, folder: Path, text: str) -> dict[str, set[str]]:
    """The devices of each kind of operation; a GPU is the CPU of its number."""
    program = folder / "program.py"
    program.write_text(text, encoding="utf-8")
    command = [python, PROBE, "--out", folder / "trace.json", "--gpus", "2", "--map-gpus", program]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, set[str]] = {}
    for kind, device in _LINE.findall(f"{done.stdout}\n{done.stderr}"):
        found.setdefault(kind, set()).add(device)
    return {kind: found.get(kind, set()) for kind in KINDS}


@pytest.mark.parametrize("target", ["tf2.15", "tf2-latest"])
def test_operations_stay_on_their_devices(runtime, tmp_path, target):
    old = (FIXTURE / "before.py").read_text(encoding="utf-8")
    new = (FIXTURE / "after.py").read_text(encoding="utf-8")
    old = old.replace("allow_soft_placement=True", "log_device_placement=True")
    first = "tf.config.set_soft_device_placement(True)\n"
    assert first in new
    new = new.replace(first, f"{first}tf.debugging.set_log_device_placement(True)\n")
    before = placed(runtime("tf1.15").python, tmp_path, old)
    assert before["Relu"] == {"0"} and before["Tanh"] == {"1"} and before["MatMul"] == {"0", "1"}
    after = runtime(target).python
    assert placed(after, tmp_path, new) == before
    # The upper half on the first GPU is seen.
    assert placed(after, tmp_path, new.replace("/gpu:1", "/gpu:0")) != before
