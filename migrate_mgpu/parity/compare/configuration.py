"""The effective device configuration of a program, made comparable.

A TF1 program's is the ``ConfigProto`` of each Session, a native TF2 program's that of the
context; the probe records both. They say the same thing in different fields, so both are
brought to *settings*: a flat mapping of names to plain values. The table of names, with
the reason for each, is in docs/semantics.md, "Effective configuration: what is compared".
A field without a row of its own is a setting by its path: nothing is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

Settings = Mapping[str, Any]

SOFT = "allow_soft_placement"
# What TensorFlow does when the field is not set (proto3 does not store defaults).
DEFAULTS: dict[str, Any] = {
    SOFT: False,
    "log_device_placement": False,
    "memory_growth": False,
    "gpu_memory_limit_mib": {},
    "unified_memory": False,
    "cpu_devices": 1,
    "intra_op_parallelism_threads": 0,
    "inter_op_parallelism_threads": 0,
    "xla": "DEFAULT",
}
_RENAMED = {
    "graph_options.optimizer_options.global_jit_level": "xla",
    "gpu_options.allow_growth": "memory_growth",
    "gpu_options.experimental.use_unified_memory": "unified_memory",
    "device_count.CPU": "cpu_devices",
}
# Folded into visible_gpus and gpu_memory_limit_mib.
_FOLDED = {
    "gpu_options.visible_device_list",
    "gpu_options.per_process_gpu_memory_fraction",
    "gpu_options.experimental.virtual_devices",
    "device_count.GPU",
}
# CUDA_VISIBLE_DEVICES is folded into visible_gpus, the other one into memory_growth.
_FOLDED_ENVIRONMENT = {"CUDA_VISIBLE_DEVICES", "TF_FORCE_GPU_ALLOW_GROWTH"}
LIMIT_TOLERANCE_MIB = 1.0  # a fraction is of bytes, TF2's limits are whole MiB
NOTHING = "not set"
_PRUNED = "graph_options.place_pruned_graph"  # what `InteractiveSession` sets


@dataclass(frozen=True)
class Effective:
    """One configuration that a program used, and where: ``Session at train.py:12``.

    ``error`` is TensorFlow's text when it refused to compute a contradictory one.
    """

    where: str
    settings: Settings
    error: str | None = None


@dataclass(frozen=True)
class Difference:
    """What differs between two programs.

    Attributes:
      name: the setting, or ``sessions``, ``configuration``, ``printed``, ``exit``.
      reference: its value in the program that is to be equalled.
      target: its value in the other program.
      where: the places of the two.
      accepted: the reason for which it is expected; None when it is not.
    """

    name: str
    reference: Any
    target: Any
    where: str = ""
    accepted: str | None = None

    def __str__(self) -> str:
        text = f"{self.name}: {self.reference!r} became {self.target!r}"
        text += f" ({self.where})" if self.where else ""
        return text + (f"; accepted: {self.accepted}" if self.accepted else "")


def settings(entry: Mapping[str, Any], totals_mib: Sequence[int] | None) -> dict[str, Any]:
    """The settings of one recorded configuration.

    Args:
      entry: a configuration as the probe records it.
      totals_mib: total memory of each GPU of the machine, MiB, in physical order; None
        when the real machine's GPUs were used, whose number and memory are not known.
    """
    fields = _flatten(entry["config"])
    environment: Mapping[str, str] = entry.get("environment") or {}
    shown: Sequence[int] | None = entry.get("shown_gpus")
    found = dict(DEFAULTS)
    for path, value in fields.items():
        if (path, value) == ("gpu_options.allocator_type", "BFC"):
            continue  # names the default, and TF1 takes no other (gpu_process_state.cc)
        if path.startswith("device_count.") and path not in ("device_count.CPU", *_FOLDED):
            continue  # no kind of device has this name: "gpu" is none (device_factory.cc)
        if path not in _FOLDED:
            found[_RENAMED.get(path, path)] = value
    for name, text in environment.items():
        if name not in _FOLDED_ENVIRONMENT:
            found[f"environment.{name}"] = text
    # The allocator asks the environment first (GPUBFCAllocator::GetAllowGrowthValue).
    forced = environment.get("TF_FORCE_GPU_ALLOW_GROWTH")
    if forced in ("true", "false"):
        found["memory_growth"] = forced == "true"
    found["visible_gpus"] = visible = _visible(fields, shown)
    if visible == []:  # no GPU: nothing of this has an effect, and TF2 cannot say it
        found["memory_growth"], found["unified_memory"] = False, False
    else:
        limits = _limits(fields, visible, totals_mib)
        found["gpu_memory_limit_mib"] = limits
        # A fraction above one asks for unified memory (gpu_device.cc).
        if fields.get("gpu_options.per_process_gpu_memory_fraction", 0.0) > 1:
            found["unified_memory"] = True
    return found


def _flatten(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, inner in value.items():
        if isinstance(inner, Mapping):  # an empty message says nothing and leaves nothing
            fields.update(_flatten(inner, f"{prefix}{key}."))
        else:
            fields[prefix + key] = inner
    return fields


def _visible(fields: Mapping[str, Any], shown: Sequence[int] | None) -> list[int] | str:
    """Physical indices of the visible GPUs, in order; a text when they cannot be determined."""
    named = fields.get("gpu_options.visible_device_list", "")
    count = fields.get("device_count.GPU")
    if shown is None:
        return [] if count == 0 else f"{named or 'all'}" + ("" if count is None else f"[:{count}]")
    try:
        places = [int(text) for text in named.split(",")] if named else range(len(shown))
        # The list indexes what CUDA_VISIBLE_DEVICES left.
        gpus = [shown[place] for place in places]
    except (ValueError, IndexError):
        return f"invalid: {named}"
    return gpus if count is None else gpus[:count]


def _limits(
    fields: Mapping[str, Any], visible: list[int] | str, totals_mib: Sequence[int] | None
) -> Any:
    """Physical index to the limits, MiB, of the logical GPUs on it; without limits, {}."""
    virtual = fields.get("gpu_options.experimental.virtual_devices") or []
    fraction = fields.get("gpu_options.per_process_gpu_memory_fraction", 0.0)
    if isinstance(visible, str) or totals_mib is None:
        return f"fraction {fraction}, virtual_devices {virtual}" if fraction or virtual else {}
    if virtual:  # in the order of the visible GPUs; one without limits is one logical GPU
        return {
            gpu: [float(limit) for limit in device["memory_limit_mb"]]
            for gpu, device in zip(visible, virtual)
            if device.get("memory_limit_mb")
        }
    return {gpu: [totals_mib[gpu] * fraction] for gpu in visible} if fraction else {}


def effective(trace: Mapping[str, Any]) -> list[Effective]:
    """The configurations that a program used, from its trace, in order.

    Those of its sessions and servers, each with what the process's first session says for all;
    without any, that with which the eager runtime was
    initialised; without that, the one at exit. Empty when the program used no TensorFlow.
    """
    totals = trace["gpus"]
    context = trace["context"]
    entries = [(str(entry["kind"]), entry) for entry in trace["sessions"]]
    entries += [("Server", entry) for entry in trace["servers"]]
    entries = entries or [("context", entry) for entry in context["initialised"]]
    if not entries and context["exit"]:
        entries = [("context at exit", context["exit"])]
    found = []
    for kind, entry in entries:
        name = (
            f"{kind} at {Path(entry['file']).name}:{entry['line']}" if entry.get("file") else kind
        )
        error = entry.get("error")
        found.append(Effective(name, {} if error else settings(entry, totals), error))
    return _of_process(found[: len(trace["sessions"])]) + found[len(trace["sessions"]) :]


_MEMORY = ("memory_growth", "gpu_memory_limit_mib", "unified_memory")
_THREADS = ("intra_op_parallelism_threads", "inter_op_parallelism_threads")


def _of_process(sessions: Sequence[Effective]) -> list[Effective]:
    """Sessions with what the first one of the process has said for all.

    A GPU's memory is taken once, as the first session that sees a GPU says (measured, "On a real
    GPU" in docs/semantics.md). So are threads made, unless a session has its own (config.proto).
    """
    found: list[Effective] = []
    memory: Settings | None = None
    threads: Settings | None = None
    for one in sessions:
        if not one.error:
            if one.settings["visible_gpus"] != []:
                memory = memory or {name: one.settings[name] for name in _MEMORY}
                one = replace(one, settings={**one.settings, **memory})
            if not one.settings.get("use_per_session_threads"):
                threads = threads or {name: one.settings[name] for name in _THREADS}
                one = replace(one, settings={**one.settings, **threads})
        found.append(one)
    return found


def compare_settings(reference: Settings, target: Settings) -> list[Difference]:
    """The settings that differ, by name."""
    differences = []
    for name in sorted({*reference, *target}):
        default = DEFAULTS.get(name, NOTHING)
        before, after = reference.get(name, default), target.get(name, default)
        if not _equal(before, after):
            differences.append(Difference(name, before, after))
    return differences


def _equal(before: Any, after: Any) -> bool:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return before.keys() == after.keys() and all(_equal(before[k], after[k]) for k in before)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_equal, before, after))
    if isinstance(before, float) or isinstance(after, float):
        return (
            isinstance(before, (int, float))
            and isinstance(after, (int, float))
            and (abs(before - after) <= LIMIT_TOLERANCE_MIB)
        )
    return bool(before == after)


def compare(
    reference: Mapping[str, Any],
    target: Mapping[str, Any],
    accept: Mapping[str, str] | None = None,
) -> list[Difference]:
    """Compare the effective configurations of two programs.

    Sessions are compared in their order. When one side has another number of them (an
    Estimator makes several, Keras none), the distinct configurations of each side are,
    in the order in which they first appear, and their number must be equal.

    Args:
      reference: the trace of the program that is to be equalled.
      target: the trace of the other program.
      accept: names of settings that may differ, each with its reason.

    Returns:
      All differences; those in ``accept`` carry its reason. A side without any
      configuration is a difference, never a pass.
    """
    before, after = effective(reference), effective(target)
    if not reference.get("names_gpus", True):
        before, after = _without_effect(before, after)
    if not before or not after:
        found = [Difference("configuration", _places(before), _places(after))]
    else:
        found = []
        if len(before) != len(after):
            before, after = _distinct(before, accept or {}), _distinct(after, accept or {})
            if len(before) != len(after):
                found.append(Difference("sessions", _places(before), _places(after)))
        for one, other in zip(before, after):
            where = f"{one.where} -> {other.where}"
            if one.error or other.error:
                found.append(
                    Difference("configuration", one.error or "valid", other.error or "valid", where)
                )
                continue
            known = dict(one.settings)
            if other.where.startswith("context"):  # eager code places what runs, and no more
                known.pop(_PRUNED, None)
            found += [
                replace(difference, where=where)
                for difference in compare_settings(known, other.settings)
            ]
    return accepted(found, accept or {})


def _without_effect(
    before: list[Effective], after: list[Effective]
) -> tuple[list[Effective], list[Effective]]:
    """Both, where graphs name no GPU: without soft placement they are as those that have it."""
    if not any(not one.error and one.settings[SOFT] for one in after):
        return before, after
    sides = (
        [one if one.error else replace(one, settings={**one.settings, SOFT: True}) for one in side]
        for side in (before, after)
    )
    first, second = sides
    return first, second


def accepted(differences: Sequence[Difference], accept: Mapping[str, str]) -> list[Difference]:
    """The differences, each with the reason for which it is accepted, if it is."""
    return [replace(d, accepted=accept.get(d.name)) for d in differences]


def _distinct(configurations: Sequence[Effective], accept: Mapping[str, str]) -> list[Effective]:
    kept: list[Effective] = []

    def differ(one: Effective, other: Effective) -> bool:
        found = compare_settings(one.settings, other.settings)
        return any(difference.name not in accept for difference in found)

    for one in configurations:
        if one.error or all(differ(one, other) for other in kept):
            kept.append(one)
    return kept


def _places(configurations: Sequence[Effective]) -> list[str] | str:
    return [one.where for one in configurations] or "none was recorded"
