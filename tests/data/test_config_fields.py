"""The committed list of TF 1.15's ConfigProto fields: its shape, and facts that must hold."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

TEXT = resources.files("migrate_mgpu.data").joinpath("config_fields.json").read_text("utf-8")
DATA: dict[str, Any] = json.loads(TEXT)
FIELDS: dict[str, dict[str, Any]] = DATA["fields"]
MESSAGES: dict[str, dict[str, Any]] = DATA["messages"]


def test_shape() -> None:
    assert list(DATA) == ["about", "fields", "messages", "enums"]
    assert DATA["about"]["runtimes"]["tf1.15"]["tensorflow"] == "1.15.5"
    assert len(DATA["about"]["commands"]) == 4
    for part in (FIELDS, MESSAGES):
        assert list(part) == sorted(part)
        for facts in part.values():
            assert facts["label"] in ("optional", "repeated", "map")
            assert {"type", "tf2.15", "tf2.21"} <= set(facts)
    assert not set(FIELDS) & set(MESSAGES)


def test_every_field_lies_in_a_message() -> None:
    for path in [*FIELDS, *MESSAGES]:
        parent = path.rpartition(".")[0]
        if parent:
            label = "repeated" if parent.endswith("[]") else "optional"
            assert MESSAGES[parent.removesuffix("[]")]["label"] == label


def test_every_enum_is_described() -> None:
    used = {facts["type"] for facts in FIELDS.values() if facts["type"].startswith("tensorflow.")}
    assert used == set(DATA["enums"])
    for facts in FIELDS.values():
        if facts["type"] in used:
            assert facts["default"] in DATA["enums"][facts["type"]]["tf1.15"]


def test_all_fields_of_1_15_still_exist() -> None:
    assert all(facts["tf2.15"] is True and facts["tf2.21"] is True for facts in FIELDS.values())


@pytest.mark.parametrize(
    ("path", "kind", "label", "default"),
    [
        ("allow_soft_placement", "bool", "optional", False),
        ("device_count", "map<string, int32>", "map", None),
        ("device_filters", "string", "repeated", None),
        ("gpu_options.allow_growth", "bool", "optional", False),
        ("gpu_options.experimental.virtual_devices[].memory_limit_mb", "float", "repeated", None),
        ("gpu_options.per_process_gpu_memory_fraction", "double", "optional", 0.0),
        ("gpu_options.visible_device_list", "string", "optional", ""),
        (
            "graph_options.optimizer_options.global_jit_level",
            "tensorflow.OptimizerOptions.GlobalJitLevel",
            "optional",
            "DEFAULT",
        ),
        (
            "graph_options.rewrite_options.layout_optimizer",
            "tensorflow.RewriterConfig.Toggle",
            "optional",
            "DEFAULT",
        ),
        ("inter_op_parallelism_threads", "int32", "optional", 0),
        ("operation_timeout_in_ms", "int64", "optional", 0),
    ],
)
def test_known_fields(path: str, kind: str, label: str, default: object) -> None:
    facts = FIELDS[path]
    assert (facts["type"], facts["label"], facts.get("default")) == (kind, label, default)
