"""A stand-in for the configuration of TensorFlow: enough to run a config program of TF1 or TF2.

TF1's side reads the ConfigProto that reaches a Session, TF2's what ``tf.config``
has set by then. Both are reduced to the same settings. The real thing is the
oracle (``tests/oracle.py``); this is quick enough for thousands of programs.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

TOTALS_MIB = (16384, 8192, 16384, 4096)


class Message:
    """A protobuf message with fields that appear when they are touched."""

    _messages = ("gpu_options", "graph_options", "optimizer_options", "rewrite_options")

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        if name in self._messages:
            value: Any = Message()
        elif name == "device_count":
            value = {}
        else:
            raise AttributeError(name)
        self.__dict__[name] = value
        return value

    def CopyFrom(self, other: Message) -> None:
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)

    def get(self, name: str, default: Any) -> Any:
        return self.__dict__.get(name, default)


def from_proto(config: Message) -> dict[str, Any]:
    gpu: Message = config.get("gpu_options", Message())
    counts: dict[str, int] = config.get("device_count", {})
    listed = gpu.get("visible_device_list", "")
    visible = [int(i) for i in listed.split(",")] if listed else list(range(len(TOTALS_MIB)))
    visible = visible[: counts.get("GPU", len(visible))]
    fraction = gpu.get("per_process_gpu_memory_fraction", 0.0)
    optimizer: Message = config.get("graph_options", Message()).get("optimizer_options", Message())
    return settings(
        soft=config.get("allow_soft_placement", False),
        log=config.get("log_device_placement", False),
        growth=bool(visible) and not fraction and gpu.get("allow_growth", False),
        limits={i: round(fraction * TOTALS_MIB[i], 3) for i in visible} if fraction else {},
        visible=visible,
        intra=config.get("intra_op_parallelism_threads", 0),
        inter=config.get("inter_op_parallelism_threads", 0),
        cpus=counts.get("CPU", 1),
        jit=optimizer.get("global_jit_level", 0),
    )


def settings(**values: Any) -> dict[str, Any]:
    return dict(values)


class Runtime:
    """TF2's context: what ``tf.config`` has set."""

    def __init__(self) -> None:
        self.gpus = [SimpleNamespace(kind="GPU", index=i) for i in range(len(TOTALS_MIB))]
        self.cpu = SimpleNamespace(kind="CPU", index=0)
        self.growth: dict[int, Any] = {}
        self.limits: dict[int, float] = {}
        self.visible = list(self.gpus)
        self.soft = self.log = False
        self.intra = self.inter = 0
        self.cpus = 1
        self.jit = 0

    def set_memory_growth(self, gpu: Any, enable: Any) -> None:
        assert gpu.kind == "GPU"
        if gpu.index in self.limits:
            raise ValueError("Cannot set memory growth on device when virtual devices configured")
        self.growth[gpu.index] = enable

    def set_logical(self, device: Any, configurations: list[Any]) -> None:
        if device.kind == "CPU":
            self.cpus = len(configurations)
            return
        (limit,) = configurations
        self.limits[device.index] = limit.memory_limit

    def set_visible(self, devices: Any, kind: str) -> None:
        assert kind == "GPU"
        devices = devices if isinstance(devices, list) else [devices]
        self.visible = sorted(devices, key=lambda device: device.index)

    def effective(self) -> dict[str, Any]:
        visible = [gpu.index for gpu in self.visible]
        growth = {self.growth.get(index) for index in visible}
        if len(growth) > 1:
            raise ValueError("Memory growth cannot differ between GPU devices")
        limits = {i: round(self.limits[i], 3) for i in visible if i in self.limits}
        return settings(
            soft=self.soft,
            log=self.log,
            growth=not self.limits and bool(growth) and bool(next(iter(growth))),
            limits=limits,
            visible=visible,
            intra=self.intra,
            inter=self.inter,
            cpus=self.cpus,
            jit=self.jit,
        )


def run(code: str) -> list[dict[str, Any]]:
    """The settings of each session that a program opens, in order."""
    seen: list[dict[str, Any]] = []
    runtime = Runtime()
    tf = _module("tensorflow.compat.v1", runtime, seen)
    plain = _module("tensorflow", runtime, seen)
    plain.compat = SimpleNamespace(v1=tf)  # type: ignore[attr-defined]
    fakes = {"tensorflow": plain, "tensorflow.compat": ModuleType("c"), "tensorflow.compat.v1": tf}
    fakes["tensorflow.compat"].v1 = tf  # type: ignore[attr-defined]
    saved = {name: sys.modules.get(name) for name in fakes}
    sys.modules.update(fakes)
    library, ctypes.CDLL = ctypes.CDLL, _cuda  # type: ignore[misc, assignment]
    try:
        exec(compile(code, "program.py", "exec"), {"__name__": "__main__"})
    finally:
        ctypes.CDLL = library  # type: ignore[misc]
        for name, module in saved.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    return seen


def _cuda(name: str) -> Any:
    assert name == "libcuda.so.1"

    def total(reference: Any, index: int) -> int:
        reference._obj.value = TOTALS_MIB[index] * 2**20
        return 0

    return SimpleNamespace(cuDeviceTotalMem_v2=total)


def _module(name: str, runtime: Runtime, seen: list[dict[str, Any]]) -> ModuleType:
    class Session:
        def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
            seen.append(runtime.effective() if config is None else from_proto(config))

        def __enter__(self) -> Session:
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def run(self, what: object) -> object:
            return what

    def setter(attribute: str) -> Any:
        return lambda value: setattr(runtime, attribute, value)

    @contextmanager
    def device(name: str) -> Any:
        yield

    module = ModuleType(name)
    module.__dict__.update(
        ConfigProto=Message,
        GPUOptions=Message,
        OptimizerOptions=SimpleNamespace(OFF=-1, DEFAULT=0, ON_1=1, ON_2=2),
        Session=Session,
        constant=lambda value: value,
        device=device,
        disable_v2_behavior=lambda: None,
        config=SimpleNamespace(
            list_physical_devices=lambda kind: runtime.gpus if kind == "GPU" else [runtime.cpu],
            experimental=SimpleNamespace(set_memory_growth=runtime.set_memory_growth),
            set_soft_device_placement=setter("soft"),
            set_visible_devices=runtime.set_visible,
            set_logical_device_configuration=runtime.set_logical,
            LogicalDeviceConfiguration=lambda memory_limit=None: SimpleNamespace(
                memory_limit=memory_limit
            ),
            threading=SimpleNamespace(
                set_intra_op_parallelism_threads=setter("intra"),
                set_inter_op_parallelism_threads=setter("inter"),
            ),
            optimizer=SimpleNamespace(set_jit=lambda on: setattr(runtime, "jit", 1 if on else -1)),
        ),
        test=SimpleNamespace(is_built_with_cuda=lambda: True),
        debugging=SimpleNamespace(set_log_device_placement=setter("log")),
    )
    return module
