"""Where programs run: the machine's hardware, and what does the work of N GPUs."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from migrate_mgpu.parity.runs import devices, hardware
from migrate_mgpu.runtimes import Runtime


@pytest.fixture(autouse=True)
def _another_machine():
    hardware.describe.cache_clear()
    devices._count.cache_clear()
    yield
    hardware.describe.cache_clear()


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


# Hardware -----------------------------------------------------------------------------------

TWO = "NVIDIA A100-SXM4-40GB, 40960, 535.104.05\nTesla T4, Rev. B, 15360, 535.104.05\n"


def test_hardware_is_that_of_this_machine():
    found = hardware.describe()
    assert found["cores"] == len(os.sched_getaffinity(0)) if sys.platform == "linux" else True
    assert found["cpu"] and found["memory_mib"] > 100
    assert found["system"].startswith(os.uname().sysname)


def test_gpus_as_the_driver_names_them():
    first, second = hardware.parse(TWO)
    assert first == {"name": "NVIDIA A100-SXM4-40GB", "memory_mib": 40960, "driver": "535.104.05"}
    assert (second["name"], second["memory_mib"]) == ("Tesla T4, Rev. B", 15360)
    assert hardware.parse("NVIDIA GB10, [N/A], 580.1\n")[0]["memory_mib"] is None
    assert hardware.parse("No devices were found\n") == []


@pytest.fixture
def two_gpus(tmp_path, monkeypatch):
    """A machine with two GPUs, as ``nvidia-smi`` tells."""
    script(tmp_path / "bin" / "nvidia-smi", f"print({TWO!r}, end='')\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert [gpu["memory_mib"] for gpu in hardware.gpus()] == [40960, 15360]


def runtime(folder: Path, name: str, answer: str) -> Runtime:
    """A runtime whose TensorFlow answers so when it is asked for its GPUs."""
    return Runtime(name, script(folder / name, f"import sys\n{answer}\n"))


def test_a_broken_driver_is_no_gpu(tmp_path, monkeypatch):
    script(tmp_path / "bin" / "nvidia-smi", "import sys\nsys.exit('NVIDIA-SMI has failed')\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert hardware.gpus() == []


# Devices --------------------------------------------------------------------------------------


def test_real_gpus_where_there_are_enough(tmp_path, two_gpus):
    sides = [runtime(tmp_path, name, "print('GPUS', 2)") for name in ("one", "two")]
    for count, visible, totals in ((1, "0", (40960,)), (2, "0,1", (40960, 15360))):
        found = devices.choose(count, sides)
        assert (found.kind, found.visible, found.totals_mib) == (devices.GPUS, visible, totals)
    assert found.text == "real GPUs: NVIDIA A100-SXM4-40GB, Tesla T4, Rev. B"
    assert found.probe_options(2) == ["--real-gpus", "40960,15360"]
    assert found.environment() == {"CUDA_VISIBLE_DEVICES": "0,1"}
    assert devices.Place.from_data(json.loads(json.dumps(found.as_data(2)))) == found


def test_one_gpu_is_split_where_there_are_too_few(tmp_path, two_gpus):
    sides = [runtime(tmp_path, "one", "print('GPUS', 2)")]
    found = devices.choose(4, sides)
    assert (found.kind, found.limit_mib, found.visible) == (devices.SPLIT, 8192, "0")
    assert "split into 4 logical ones of 8192 MiB" in found.text
    assert "NCCL does not work between them: ReductionToOneDevice" in found.text
    wanted = ["--gpus", "4", "--gpu-memory", ",".join(["40960"] * 4), "--split-gpu", "8192"]
    assert found.probe_options(4) == wanted


def test_the_users_choice_of_gpus_holds(tmp_path, two_gpus, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    sides = [runtime(tmp_path, "one", "print('GPUS', 1)")]
    found = devices.choose(1, sides)
    assert (found.kind, found.visible, found.totals_mib) == (devices.GPUS, "1", (15360,))
    assert devices.choose(2, sides).totals_mib == (15360, 15360)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("print('GPUS', 0)", "it finds none"),
        ("sys.exit('InternalError: no kernel image is available')", "no kernel image"),
    ],
)
def test_cpus_when_one_side_cannot_use_the_gpus(tmp_path, two_gpus, answer, reason):
    sides = [
        runtime(tmp_path, "able", "print('GPUS', 2)"),
        runtime(tmp_path, "unable", answer),
    ]
    found = devices.choose(2, sides)
    assert found.kind == devices.CPUS
    assert "TensorFlow of unable cannot use this machine's GPUs" in found.text
    assert reason in found.text
    with pytest.raises(devices.NoGpus, match="unable"):
        devices.choose(2, sides, "gpu")
    assert devices.choose(2, sides[:1], "cpu").kind == devices.CPUS


def test_a_gpu_that_works_is_counted(monkeypatch, capsys):
    """A product is no number: NumPy 2.5 makes none of an array of one element."""
    experimental = SimpleNamespace(
        list_physical_devices=lambda kind: ["gpu"], set_memory_growth=lambda gpu, on: None
    )
    tensorflow = SimpleNamespace(
        config=SimpleNamespace(experimental=experimental),
        device=lambda name: contextlib.nullcontext(),
        matmul=lambda a, b: [[a[0][0] * b[0][0]]],
        executing_eagerly=lambda: True,
    )
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    exec(devices._ASK, {})
    assert capsys.readouterr().out == "GPUS 1\n"
