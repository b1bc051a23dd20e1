"""Which device configurations a program uses, with fake GPUs or on the machine's own.

One function for each TensorFlow module that is patched. Runs in the interpreter under
test: Python 3.7, standard library only.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

fake_gpus: Any = None  # has no name to be imported by: the probe sets it


def patch_session(trace: Any, module: Any) -> None:
    original = module.BaseSession.__init__

    @functools.wraps(original)
    def __init__(self: Any, target: Any = "", graph: Any = None, config: Any = None) -> None:
        effective = module.context.context().config if config is None else config
        if not isinstance(effective, module.config_pb2.ConfigProto):
            original(self, target, graph, config)  # raises TensorFlow's own TypeError
        used = config
        if trace.map_gpus:
            used = module.config_pb2.ConfigProto()
            used.CopyFrom(effective)
            if trace.machine.split_mib is None:
                fake_gpus.use_cpus(trace.machine, used)
            else:
                fake_gpus.split(trace.machine, used)
        try:
            missing = fake_gpus.not_there(trace.machine, effective) if trace.map_gpus else None
            if missing is not None:
                raise module.errors.InvalidArgumentError(None, None, missing)
            original(self, target, graph, used)
        finally:
            # The session may have added to the proto (mixed precision's rewrite).
            seen = module.config_pb2.ConfigProto()
            seen.CopyFrom(getattr(self, "_config", None) or effective)
            if trace.map_gpus:
                seen.device_count.clear()
                for kind, count in effective.device_count.items():
                    seen.device_count[kind] = count
                if trace.machine.split_mib is not None:
                    seen.gpu_options.CopyFrom(effective.gpu_options)
            more = {"used": trace.as_dict(used)} if used is not config else {}
            trace.data["sessions"].append(
                trace.record(
                    seen,
                    **more,
                    given=config is not None,
                    kind=type(self).__name__,
                    target=target if isinstance(target, str) else str(target),
                )
            )
            trace.save()

    module.BaseSession.__init__ = __init__
    if trace.machine is not None:
        fake_gpus.add_to_sessions(module, trace.machine)


def patch_server(trace: Any, module: Any) -> None:
    original = module.Server.__init__

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        proto = self._server_def.default_session_config
        trace.data["servers"].append(trace.record(proto))
        trace.save()

    module.Server.__init__ = __init__


def patch_context(trace: Any, module: Any) -> None:
    context = module.Context
    if trace.machine is not None:
        fake_gpus.add_to_context(module, trace.machine)
    if trace.map_gpus:
        fake_gpus.map_context(module, trace.machine)
    initialise = context.ensure_initialized

    @functools.wraps(initialise)
    def ensure_initialized(self: Any) -> None:
        if not self._initialized:
            trace.data["context"]["initialised"].append(trace.record(self.config))
            trace.save()
        initialise(self)

    context.ensure_initialized = ensure_initialized


def patch_ops(trace: Any, module: Any) -> None:
    if trace.map_gpus and trace.machine.split_mib is None:
        fake_gpus.map_operations(module)
    # Whatever named the device (string, function, merged scopes), it arrives here.
    place = module.Operation._set_device_from_string

    def _set_device_from_string(self: Any, device_str: Any) -> None:
        if "gpu" in str(device_str).lower():
            trace.data["names_gpus"] = True
        place(self, device_str)

    module.Operation._set_device_from_string = _set_device_from_string


def patch_workers(trace: Any, module: Any) -> None:
    if trace.map_gpus and trace.machine.split_mib is None:
        fake_gpus.map_workers(module)


def patch_mirrored(trace: Any, module: Any) -> None:
    if trace.map_gpus:

        def chosen(text: str) -> None:
            if trace.recorder is not None:
                trace.recorder.pin("cross_device_ops", text)

        fake_gpus.map_strategy(module, trace.machine, chosen)


def patch_device_lib(trace: Any, module: Any) -> None:
    if trace.machine is not None:
        fake_gpus.add_to_device_lib(module, trace.machine)


def patch_test(trace: Any, module: Any) -> None:
    if trace.machine is not None and trace.machine.totals_mib:
        # The fake GPUs are CUDA's, also where this TensorFlow was made without it. Where it was
        # imported before, `tf.test` has the function already.
        original = module.is_built_with_cuda
        for known in list(sys.modules.values()):
            if getattr(known, "__dict__", {}).get("is_built_with_cuda") is original:
                setattr(known, "is_built_with_cuda", lambda: True)  # noqa: B010


PATCHES = {
    ".python.client.device_lib": patch_device_lib,
    ".python.client.session": patch_session,
    ".python.distribute.mirrored_strategy": patch_mirrored,
    ".python.distribute.collective_all_reduce_strategy": patch_workers,
    ".python.eager.context": patch_context,
    ".python.framework.ops": patch_ops,
    ".python.platform.test": patch_test,
    ".python.training.server_lib": patch_server,
}
