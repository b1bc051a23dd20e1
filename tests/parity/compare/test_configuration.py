"""The comparison of configurations reports exactly what differs, and nothing else."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from migrate_mgpu.parity.compare import configuration

TOTALS = [16384, 8192, 16384, 8192]


def entry(config: dict[str, Any], shown=(0, 1, 2, 3), **environment: str) -> dict[str, Any]:
    return {
        "config": config,
        "environment": environment,
        "shown_gpus": None if shown is None else list(shown),
        "kind": "Session",
        "file": "train.py",
        "line": 1,
    }


def trace(*sessions: dict[str, Any], initialised=(), exit_=None) -> dict[str, Any]:
    context = {"initialised": list(initialised), "exit": exit_}
    return {"gpus": TOTALS, "sessions": list(sessions), "servers": [], "context": context}


def tf2(growth=False, visible="0,1,2,3", limits=None, **fields: Any) -> dict[str, Any]:
    """The proto that TF2's context computes: device_count and the visible list always set."""
    count = len(visible.split(",")) if visible else 0
    options: dict[str, Any] = {"visible_device_list": visible} if visible else {}
    options["experimental"] = {}
    if growth:
        options["allow_growth"] = True
    if limits is not None:
        devices = [{"memory_limit_mb": [limit]} if limit else {} for limit in limits]
        options["experimental"] = {"virtual_devices": devices}
    return {
        "device_count": {"CPU": 1, "GPU": count},
        "gpu_options": options,
        "experimental": {},
        **fields,
    }


def names(before: dict[str, Any], after: dict[str, Any], **options: Any) -> list[str]:
    return [d.name for d in configuration.compare(trace(before), trace(after), **options)]


EQUAL = [
    ({}, tf2()),
    ({"gpu_options": {"allow_growth": True}}, tf2(growth=True)),
    (
        {"gpu_options": {"per_process_gpu_memory_fraction": 0.4}},
        tf2(limits=[6553.0, 3276.0, 6553.0, 3276.0]),
    ),
    (
        {"gpu_options": {"per_process_gpu_memory_fraction": 0.5, "visible_device_list": "1,2"}},
        tf2(visible="1,2", limits=[4096.0, 8192.0]),
    ),
    ({"device_count": {"GPU": 0}}, tf2(visible="")),
    # Without a visible GPU growth has no object; TF2 cannot even say it.
    ({"device_count": {"GPU": 0}, "gpu_options": {"allow_growth": True}}, tf2(visible="")),
    ({"device_count": {"GPU": 2}}, tf2(visible="0,1")),
    ({"device_count": {"gpu": 0}}, tf2()),  # TF1 knows no such kind of device
    ({"device_count": {"GPU": 9}}, tf2()),
    (
        {"allow_soft_placement": True, "intra_op_parallelism_threads": 2},
        tf2(allow_soft_placement=True, intra_op_parallelism_threads=2),
    ),
]


@pytest.mark.parametrize(("before", "after"), EQUAL)
def test_equal_in_other_fields(before, after):
    assert names(entry(before), entry(after)) == []


DIFFERENT = [
    ({"gpu_options": {"allow_growth": True}}, tf2(), "memory_growth"),
    ({"allow_soft_placement": True}, tf2(), "allow_soft_placement"),
    ({}, tf2(allow_soft_placement=True), "allow_soft_placement"),
    ({"log_device_placement": True}, tf2(), "log_device_placement"),
    (
        {"gpu_options": {"per_process_gpu_memory_fraction": 0.4}},
        tf2(limits=[4915.0, 2457.0, 4915.0, 2457.0]),
        "gpu_memory_limit_mib",
    ),
    (  # the first GPU's total taken for all of them
        {"gpu_options": {"per_process_gpu_memory_fraction": 0.4}},
        tf2(limits=[6553.0] * 4),
        "gpu_memory_limit_mib",
    ),
    (  # one GPU forgotten
        {"gpu_options": {"per_process_gpu_memory_fraction": 0.4}},
        tf2(limits=[6553.0, 3276.0, 6553.0, None]),
        "gpu_memory_limit_mib",
    ),
    ({"gpu_options": {"visible_device_list": "2,0"}}, tf2(visible="0,2"), "visible_gpus"),
    ({"device_count": {"GPU": 0}}, tf2(), "visible_gpus"),
    ({"device_count": {"CPU": 2}}, tf2(), "cpu_devices"),
    ({"inter_op_parallelism_threads": 1}, tf2(), "inter_op_parallelism_threads"),
    (
        {"graph_options": {"optimizer_options": {"global_jit_level": "ON_1"}}},
        tf2(),
        "xla",
    ),
    (
        {"graph_options": {"rewrite_options": {"constant_folding": "OFF"}}},
        tf2(),
        "graph_options.rewrite_options.constant_folding",
    ),
    ({"operation_timeout_in_ms": "1000"}, tf2(), "operation_timeout_in_ms"),
    (
        {"gpu_options": {"per_process_gpu_memory_fraction": 1.5}},
        tf2(limits=[24576.0, 12288.0, 24576.0, 12288.0]),
        "unified_memory",
    ),
    ({"a_field_of_tomorrow": {"inner": 3}}, tf2(), "a_field_of_tomorrow.inner"),
]


@pytest.mark.parametrize(("before", "after", "name"), DIFFERENT)
def test_reports_exactly_the_difference(before, after, name):
    assert names(entry(before), entry(after)) == [name]


def test_accepted_differences_keep_their_reason():
    before = entry({"gpu_options": {"allow_growth": True}, "allow_soft_placement": True})
    found = configuration.compare(
        trace(before), trace(entry(tf2())), accept={"memory_growth": "a limit wins"}
    )
    assert [(d.name, d.accepted) for d in found] == [
        ("allow_soft_placement", None),
        ("memory_growth", "a limit wins"),
    ]
    assert "accepted: a limit wins" in str(found[1])


def test_soft_placement_has_no_effect_where_no_operation_names_a_gpu():
    native = trace(initialised=[entry(tf2(allow_soft_placement=True))])
    soft = entry({"allow_soft_placement": True})

    def found(*sessions, names_gpus, after=native):
        before = trace(*sessions) | {"names_gpus": names_gpus}
        return [d.name for d in configuration.compare(before, after)]

    assert found(entry({}), names_gpus=False) == []
    assert found(entry({}), soft, names_gpus=False) == [], "the two mean the same"
    assert found(entry({}), names_gpus=True) == ["allow_soft_placement"]
    assert found(soft, names_gpus=False, after=trace(initialised=[entry(tf2())])) == [
        "allow_soft_placement"
    ], "the old program asked for it"
    # Sessions of TF2 read what holds for the process.
    v1 = trace(entry(tf2(allow_soft_placement=True)), entry(tf2(allow_soft_placement=True)))
    assert found(soft, entry({}), names_gpus=False, after=v1) == []
    assert found(soft, entry({}), names_gpus=True, after=v1) == ["allow_soft_placement"]
    lost = trace(entry(tf2()))
    assert found(soft, names_gpus=False, after=lost) == ["allow_soft_placement"]


def test_cuda_visible_devices_and_the_list_name_the_same_gpus():
    before = entry({"gpu_options": {"visible_device_list": "1"}}, shown=(3, 2))
    assert configuration.settings(before, TOTALS)["visible_gpus"] == [2]
    assert names(before, entry(tf2(visible="2"))) == []
    assert names(before, entry(tf2(visible="1"))) == ["visible_gpus"]


def test_the_environment_decides_about_growth():
    forced = entry({}, TF_FORCE_GPU_ALLOW_GROWTH="true")
    assert names(forced, entry(tf2(growth=True))) == []
    assert names(entry({}, TF_XLA_FLAGS="--x"), entry(tf2())) == ["environment.TF_XLA_FLAGS"]


def test_real_gpus_are_compared_as_far_as_known():
    before = entry({"gpu_options": {"per_process_gpu_memory_fraction": 0.4}}, shown=None)
    after = copy.deepcopy(before)
    one, other = trace(before), trace(after)
    one["gpus"] = other["gpus"] = None
    assert configuration.compare(one, other) == []
    after["config"]["gpu_options"]["per_process_gpu_memory_fraction"] = 0.5
    assert [d.name for d in configuration.compare(one, trace(after) | {"gpus": None})] == [
        "gpu_memory_limit_mib"
    ]


def test_sessions_and_context():
    growing, plain = entry({"gpu_options": {"allow_growth": True}}), entry({})
    native = trace(initialised=[entry(tf2(growth=True))])
    # A TF2 program without sessions; one that the runtime never served.
    assert configuration.compare(trace(growing), native) == []
    assert configuration.compare(trace(growing), trace(exit_=entry(tf2(growth=True)))) == []
    # Several sessions of one configuration are one; of two they are two.
    assert configuration.compare(trace(growing, growing), native) == []
    found = configuration.compare(trace(growing, entry({"log_device_placement": True})), native)
    assert [d.name for d in found] == ["sessions"]
    # Two that differ in an accepted setting only are one.
    soft, both = {"allow_soft_placement": True}, {"allow_soft_placement": True}
    both["isolate_session_state"] = True
    found = configuration.compare(
        trace(entry(soft), entry(both)), trace(entry(soft)), {"isolate_session_state": "TF1's"}
    )
    assert not found
    # The order counts: each session its own.
    logging = entry({"log_device_placement": True})
    swapped = configuration.compare(trace(logging, plain), trace(plain, logging))
    assert [d.name for d in swapped] == ["log_device_placement"] * 2


def test_memory_and_threads_are_as_the_first_session_says():
    growing, plain = entry({"gpu_options": {"allow_growth": True}}), entry({})
    threads = {"inter_op_parallelism_threads": 2}
    for options in ({"gpu_options": {"allow_growth": True}}, threads):
        first = entry(options)
        assert configuration.compare(trace(first, plain), trace(first, first)) == []
        found = configuration.compare(trace(plain, first), trace(first, first))
        assert len(found) == 2 and found[0].name == found[1].name
    # The first that sees a GPU; a session with threads of its own.
    blind = entry({"device_count": {"GPU": 0}})
    assert configuration.compare(trace(blind, growing, plain), trace(blind, growing, growing)) == []
    assert configuration.compare(trace(blind, plain, growing), trace(blind, growing, growing))
    own = entry(threads | {"use_per_session_threads": True})
    one, two = trace(entry({}), own), trace(entry({}), entry({"use_per_session_threads": True}))
    assert [d.name for d in configuration.compare(one, two)] == ["inter_op_parallelism_threads"]


def test_nothing_recorded_is_no_pass():
    assert [d.name for d in configuration.compare(trace(), trace())] == ["configuration"]
    assert [d.name for d in configuration.compare(trace(entry({})), trace())] == ["configuration"]


def test_refused_configuration_is_a_difference():
    refused = trace(exit_={"error": "Memory growth cannot differ between GPU devices"})
    found = configuration.compare(trace(entry({})), refused)
    assert [(d.name, d.reference) for d in found] == [("configuration", "valid")]
