"""Fake physical GPUs for a TensorFlow process on a machine without them.

Loaded by ``probe.py`` in the interpreter under test: Python 3.7, standard library
only. A :class:`Machine` holds the GPUs; the functions make TensorFlow and the CUDA
driver library answer for them, each the same.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import re
from typing import Any, Callable

DEFAULT_MEMORY_MIB = 16384


class Machine:
    """The fake GPUs of the machine, and those of them that CUDA shows this process."""

    def __init__(self, totals_mib: list[int]) -> None:
        self.totals_mib = totals_mib
        self.split_mib: int | None = None  # they are logical GPUs, of this size, of a real one
        self.cuda_initialised = False
        self._shown: list[int] | None = None

    def shown(self) -> list[int]:
        """Indices of the GPUs that CUDA_VISIBLE_DEVICES leaves, in its order.

        CUDA reads the variable once, when it is initialised: so does this.
        """
        if self._shown is None:
            self._shown = self._parse(os.environ.get("CUDA_VISIBLE_DEVICES"))
        self.cuda_initialised = True
        return self._shown

    def _parse(self, value: str | None) -> list[int]:
        count = len(self.totals_mib)
        if value is None:
            return list(range(count))
        shown: list[int] = []
        for entry in value.split(","):
            # CUDA stops at the first entry that names no device.
            if not re.match(r"\s*\d+\s*$", entry) or int(entry) >= count or int(entry) in shown:
                break
            shown.append(int(entry))
        return shown

    def total_bytes(self, ordinal: int) -> int:
        return self.totals_mib[self.shown()[ordinal]] * 2**20


def parse(gpus: int | None, memory: str | None) -> Machine | None:
    """The machine that ``--gpus`` and ``--gpu-memory`` describe, or None for the real one.

    Args:
      gpus: number of GPUs, or None.
      memory: their total memory in MiB, separated by commas; the last one is repeated.

    Raises:
      ValueError: more totals than GPUs, or a total that is not a positive whole number.
    """
    if gpus is None:
        return None
    totals = [int(text) for text in memory.split(",")] if memory else [DEFAULT_MEMORY_MIB]
    if gpus < 0 or min(totals) <= 0 or (gpus and len(totals) > gpus):
        raise ValueError(f"--gpu-memory {memory} does not fit --gpus {gpus}")
    return Machine((totals + [totals[-1]] * gpus)[:gpus])


def use_cpus(machine: Machine, config: Any) -> None:
    """Bring a ConfigProto to the logical CPUs that stand in for the GPUs that it makes visible.

    A GPU that the machine really has is left out: TensorFlow would place there what names no
    device.
    """
    config.device_count["CPU"] = cpus_for(machine, config)
    config.device_count["GPU"] = 0


def cpus_for(machine: Machine, config: Any) -> int:
    """Logical CPUs that stand in for the GPUs that this configuration makes visible."""
    named = config.gpu_options.visible_device_list
    gpus = len(named.split(",")) if named else len(machine.shown())
    if "GPU" in config.device_count:
        gpus = min(gpus, config.device_count["GPU"])
    return max(1, gpus, int(config.device_count.get("CPU", 0)))


def not_there(machine: Machine, config: Any) -> str | None:
    """TensorFlow's own words for a visible_device_list that names a GPU which the machine has not;
    None where it names none. Without any GPU TensorFlow does not read the list."""
    count = len(machine.shown())
    for entry in config.gpu_options.visible_device_list.split(","):
        if count and re.match(r"\s*\d+\s*$", entry) and int(entry) >= count:
            return (
                f"'visible_device_list' listed an invalid GPU id '{int(entry)}' but visible device "
                f"count is {count}"
            )
    return None


def split(machine: Machine, config: Any) -> None:
    """Bring a ConfigProto to logical GPUs of GPU 0, one for each GPU that it makes visible.

    What is recorded is the program's own. All configurations of a process get the same
    limits: TensorFlow makes its GPU devices once. As in TensorFlow's own configuration of a
    split GPU, the logical ones count: with a count of 1 an H200 had no ``/gpu:1``.
    """
    options = config.gpu_options
    named = options.visible_device_list
    gpus = len(named.split(",")) if named else len(machine.shown())
    if "GPU" in config.device_count:
        gpus = min(gpus, config.device_count["GPU"])
    options.visible_device_list = "0"
    options.allow_growth = False
    options.per_process_gpu_memory_fraction = 0.0
    del options.experimental.virtual_devices[:]
    if gpus:
        limits = [float(machine.split_mib or 0)] * gpus
        options.experimental.virtual_devices.add(memory_limit_mb=limits)
    config.device_count["GPU"] = gpus


def map_device(name: Any) -> Any:
    """A device name with its GPU replaced by the CPU of the same index."""
    if not isinstance(name, str):
        return name
    name = re.sub(r"(?i)/gpu:(\d+|\*)", r"/device:CPU:\1", name)
    return re.sub(r"(?i)/device:gpu(?=[:/]|$)", "/device:CPU", name)


def add_to_context(module: Any, machine: Machine) -> None:
    """Put the GPUs into TensorFlow's context (module ``tensorflow.python.eager.context``)."""
    context = module.Context
    import_config = context._import_config

    # _initialize_physical_devices ends with this call: the lists are filled, and no
    # option has been applied to them yet.
    def _import_config(self: Any) -> None:
        there = [d for d in self._physical_devices if d.device_type == "GPU"]
        if len(there) != len(machine.shown()):
            for device in there:  # the machine's own: a split one, or not to be used
                self._physical_devices.remove(device)
                self._visible_device_list.remove(device)
                del self._memory_growth_map[device]
            for i in range(len(machine.shown())):
                device = module.PhysicalDevice(f"/physical_device:GPU:{i}", "GPU")
                self._physical_devices.append(device)
                self._visible_device_list.append(device)
                self._memory_growth_map[device] = None
            if hasattr(self, "_physical_device_to_index"):  # not in 1.15
                self._physical_device_to_index = {
                    device: i for i, device in enumerate(self._physical_devices)
                }
        import_config(self)

    context._import_config = _import_config
    logical = context._initialize_logical_devices

    def _initialize_logical_devices(self: Any) -> None:
        logical(self)
        wanted = self.config.device_count
        cpus = [d for d in self._logical_devices if d.device_type == "CPU"]
        extra = cpus[wanted["CPU"] :]  # they only stand in for GPUs (map_context)
        devices = [d for d in self._logical_devices if d not in extra]
        real = sum(d.device_type == "GPU" for d in devices)  # of a split one
        for i in range(real, wanted["GPU"]):
            devices.append(module.LogicalDevice(f"/device:GPU:{i}", "GPU"))
        self._logical_devices = devices

    context._initialize_logical_devices = _initialize_logical_devices
    num_gpus = context.num_gpus

    @functools.wraps(num_gpus)
    def _num_gpus(self: Any) -> int:  # 1.15's MirroredStrategy() asks this
        return int(self.config.device_count["GPU"])

    context.num_gpus = _num_gpus
    details = getattr(context, "get_device_details", None)
    if details is not None:  # not in 1.15

        def get_device_details(self: Any, device: Any) -> Any:
            if device.device_type != "GPU":
                return details(self, device)
            return {"device_name": "Fake GPU", "compute_capability": (7, 0)}

        context.get_device_details = get_device_details


def add_to_device_lib(module: Any, machine: Machine) -> None:
    """Make ``list_local_devices`` and what stands on it (``is_gpu_available``) list the GPUs."""
    original = module.list_local_devices

    @functools.wraps(original)
    def list_local_devices(session_config: Any = None) -> Any:
        config_pb2 = importlib.import_module("tensorflow.core.protobuf.config_pb2")
        # A GPU of the machine's own is not made: it would take its memory, unsplit.
        used = config_pb2.ConfigProto()
        if session_config is not None:
            used.CopyFrom(session_config)
        used.device_count["GPU"] = 0
        devices = original(used)
        for i, index in enumerate(machine.shown()):
            devices.append(
                module.device_attributes_pb2.DeviceAttributes(
                    name=f"/device:GPU:{i}",
                    device_type="GPU",
                    memory_limit=machine.totals_mib[index] * 2**20,
                    physical_device_desc=f"device: {i}, name: Fake GPU, pci bus id: "
                    f"0000:{index + 1:02x}:00.0, compute capability: 7.0",
                )
            )
        return devices

    module.list_local_devices = list_local_devices


def add_to_sessions(module: Any, machine: Machine) -> None:
    """Make a Session list the GPUs (``python.client.session``): ``multi_gpu_model`` asks there."""
    original = module.BaseSession.list_devices

    @functools.wraps(original)
    def list_devices(self: Any) -> Any:
        devices = original(self)
        real = sum(device.device_type == "GPU" for device in devices)  # of a split one
        for i, index in list(enumerate(machine.shown()))[real:]:
            name = f"/job:localhost/replica:0/task:0/device:GPU:{i}"
            total = machine.totals_mib[index] * 2**20
            devices.append(module._DeviceAttributes(name, "GPU", total, i))
        return devices

    module.BaseSession.list_devices = list_devices


def map_context(module: Any, machine: Machine) -> None:
    """Eager execution: GPU i's work goes to logical CPU i, and these CPUs are made; or
    to the logical GPUs of a split one."""
    context, scope = module.Context, module._EagerDeviceContext
    initialise, config, enter = context.ensure_initialized, context.config, scope.__init__

    @functools.wraps(initialise)
    def ensure_initialized(self: Any) -> None:
        if self._initialized:
            return
        self._stand_in_cpus = True
        try:
            initialise(self)
        finally:
            self._stand_in_cpus = False

    def mapped_config(self: Any) -> Any:
        proto = config.fget(self)
        if self.__dict__.pop("_stand_in_cpus", False):  # initialise's own look at it, the first
            if machine.split_mib is None:
                use_cpus(machine, proto)
            else:
                split(machine, proto)
        return proto

    def __init__(self: Any, ctx: Any, device_name: Any) -> None:
        enter(self, ctx, map_device(device_name))

    context.ensure_initialized = ensure_initialized
    context.config = property(mapped_config, doc=config.__doc__)
    if machine.split_mib is None:
        scope.__init__ = __init__


def map_operations(module: Any) -> None:
    """Graphs: an operation placed on GPU i is placed on CPU i (``framework.ops``)."""
    # Whatever named the device (string, function, merged scopes), it arrives here.
    place = module.Operation._set_device_from_string

    def _set_device_from_string(self: Any, device_str: Any) -> None:
        place(self, map_device(device_str))

    module.Operation._set_device_from_string = _set_device_from_string


def map_strategy(module: Any, machine: Machine, chosen: Callable[[str], None]) -> None:
    """MirroredStrategy: replicas on what stands in, without NCCL, which knows real GPUs only.

    Args:
      chosen: is told the cross-device operation, when it is not the program's.
    """
    extended = module.MirroredExtended
    original = extended.__init__

    @functools.wraps(original)
    def __init__(
        self: Any, strategy: Any, devices: Any = None, cross_device_ops: Any = None
    ) -> None:
        own = type(cross_device_ops).__name__
        # Without a choice TensorFlow takes for CPUs what works there, for GPUs NCCL.
        if own in ("NcclAllReduce", "HierarchicalCopyAllReduce") or (
            cross_device_ops is None and machine.split_mib is not None
        ):
            cross_device_ops = module.cross_device_ops_lib.ReductionToOneDevice()
            instead = "" if own == "NoneType" else f" instead of {own}"
            chosen(f"ReductionToOneDevice{instead}: NCCL works between separate GPUs only")
        if devices is None:
            devices = module.all_devices()
        if machine.split_mib is None:
            if module.context.executing_eagerly():
                _check_there(devices, len(machine.totals_mib))
            devices = [map_device(d) for d in devices]
        original(self, strategy, devices, cross_device_ops)

    extended.__init__ = __init__


def _check_there(devices: Any, count: int) -> None:
    """Replicas on devices that are not there would wait for each other for ever.

    Raises:
      ValueError: the machine has no such GPU.
    """
    for device in devices:
        found = re.search(r"(?i)gpu:(\d+)$", device) if isinstance(device, str) else None
        if found and int(found.group(1)) >= count:
            raise ValueError(
                f"the strategy names {device}, and --devices gives the program {count}: "
                "let its own arguments ask for as many"
            )


def map_workers(module: Any) -> None:
    """MultiWorkerMirroredStrategy: a worker's replicas on what stands in for its GPUs."""
    extended = module.CollectiveAllReduceExtended
    chosen = getattr(extended, "_initialize_local_devices", None)
    if chosen is not None:

        @functools.wraps(chosen)
        def _initialize_local_devices(self: Any, *args: Any, **options: Any) -> Any:
            devices, kind = chosen(self, *args, **options)
            return tuple(map_device(d) for d in devices), "CPU" if kind == "GPU" else kind

        extended._initialize_local_devices = _initialize_local_devices
        return
    base = extended.__mro__[1]  # 1.15 hands them to its MirroredExtended
    original = base._initialize_local

    @functools.wraps(original)
    def _initialize_local(self: Any, devices: Any) -> None:
        original(self, tuple(map_device(d) for d in devices))

    base._initialize_local = _initialize_local


def patch_cuda_driver(machine: Machine) -> None:
    """Answer ``CDLL("libcuda.so.1")`` for the fake GPUs, and for that library only."""
    library: Any = ctypes.CDLL
    load = library.__init__

    def __init__(self: Any, name: Any, *args: Any, **options: Any) -> None:
        if name not in ("libcuda.so.1", "libcuda.so", "nvcuda.dll"):
            load(self, name, *args, **options)
            return
        if not machine.totals_mib:
            raise OSError(f"{name}: cannot open shared object file: No such file or directory")
        self._name, self._handle = name, 0
        self.__dict__.update(_driver(machine))
        self._FuncPtr = _no_such_function

    library.__init__ = __init__


def _no_such_function(name_and_library: tuple[str, Any]) -> None:
    raise AttributeError(f"the fake CUDA driver has no function {name_and_library[0]}")


def _driver(machine: Machine) -> dict[str, Callable[..., int]]:
    success, invalid_value, not_initialised, invalid_device = 0, 1, 3, 101

    def answer(reference: Any, ordinal: Any, value: Callable[[], int]) -> int:
        if not machine.cuda_initialised:
            return not_initialised
        if ordinal is not None and not 0 <= int(getattr(ordinal, "value", ordinal)) < len(
            machine.shown()
        ):
            return invalid_device
        target = getattr(reference, "_obj", None)
        if target is None:
            target = getattr(reference, "contents", None)
        if target is None:
            return invalid_value
        target.value = value()
        return success

    def cuInit(flags: int) -> int:
        machine.shown()
        return success

    def cuDeviceGetCount(reference: Any) -> int:
        return answer(reference, None, lambda: len(machine.shown()))

    def cuDeviceGet(reference: Any, ordinal: Any) -> int:
        return answer(reference, ordinal, lambda: int(getattr(ordinal, "value", ordinal)))

    def cuDeviceTotalMem_v2(reference: Any, device: Any) -> int:
        ordinal = int(getattr(device, "value", device))
        return answer(reference, ordinal, lambda: machine.total_bytes(ordinal))

    functions = (cuInit, cuDeviceGetCount, cuDeviceGet, cuDeviceTotalMem_v2)
    return {function.__name__: function for function in functions}
