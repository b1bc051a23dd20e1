"""The committed table of TF 1.15's names: its shape, and facts that must hold."""

from __future__ import annotations

import itertools
import json
from importlib import resources
from typing import Any

import pytest

from migrate_mgpu.analysis.symbols import table

TEXT = resources.files("migrate_mgpu.data").joinpath("symbols.json").read_text("utf-8")
DATA: dict[str, Any] = json.loads(TEXT)
V1 = (
    *("neutral", "modules", "v1_absent", "v1_differs", "v1_differs_tf2.15"),
    *("legacy_keras", "tf2.15_only", "gone"),
)
V2 = ("v2_only", "v2_shared")
MODULES: dict[str, list[str]] = DATA["private_modules_gone"]
NAMES: dict[str, dict[str, str]] = DATA["private_names_gone"]


def kind_of(name: str) -> str:
    return next(kind for kind in V1 + V2 if name in DATA[kind])


def test_shape() -> None:
    assert tuple(DATA) == ("about", *V1, *V2, "private_modules_gone", "private_names_gone")
    assert set(DATA["about"]["lists"]) == set(DATA) - {"about"}
    assert DATA["about"]["runtimes"]["tf1.15"]["tensorflow"] == "1.15.5"
    assert len(DATA["about"]["commands"]) == 5
    assert len(TEXT) < 200_000


def test_sorted_and_without_repetition() -> None:
    lists = [DATA[kind] for kind in V1 + V2] + [MODULES["gone"], MODULES["tf2.15_only"]]
    lists += [list(NAMES), *(list(names) for names in NAMES.values())]
    for names in lists:
        assert names == sorted(set(names))


def test_disjoint() -> None:
    for one, other in itertools.combinations(V1 + V2, 2):
        assert not set(DATA[one]) & set(DATA[other])
    assert not set(MODULES["gone"]) & set(MODULES["tf2.15_only"])


def test_below_a_gone_package_nothing_is_listed() -> None:
    gone = {*MODULES["gone"]}
    for name in [*MODULES["gone"], *NAMES]:
        parts = name.split(".")
        assert not {".".join(parts[:n]) for n in range(1, len(parts))} & gone


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Session", "v1_absent"),
        ("ConfigProto", "v1_absent"),
        ("placeholder", "v1_absent"),
        ("get_variable", "v1_absent"),
        ("flags.DEFINE_string", "v1_absent"),
        ("app.flags.FLAGS", "v1_absent"),
        ("train.AdamOptimizer", "v1_absent"),
        ("data.make_one_shot_iterator", "v1_absent"),
        ("nn.dropout", "v1_differs"),
        ("argmax", "v1_differs"),
        ("nn.softmax_cross_entropy_with_logits", "v1_differs"),
        ("reduce_mean", "v1_differs"),
        ("device", "v1_differs"),
        ("Variable", "v1_differs"),
        ("data.Dataset", "v1_differs"),
        ("summary.scalar", "v1_differs"),
        ("distribute.MirroredStrategy", "v1_differs"),
        ("matmul", "neutral"),
        ("float32", "neutral"),
        ("nn.relu", "neutral"),
        ("math.exp", "neutral"),
        ("train.Example", "neutral"),
        ("__version__", "neutral"),
        ("keras.layers.Dense", "neutral"),
        ("config.experimental.set_memory_growth", "neutral"),
        ("keras.layers.BatchNormalization", "v1_differs_tf2.15"),
        ("layers", "legacy_keras"),
        ("layers.dense", "legacy_keras"),
        ("nn.rnn_cell.LSTMCell", "legacy_keras"),
        ("keras.backend.set_session", "legacy_keras"),
        ("estimator", "tf2.15_only"),
        ("estimator.Estimator", "tf2.15_only"),
        ("contrib", "gone"),
        ("keras.utils.multi_gpu_model", "gone"),
        ("nn", "modules"),
        ("train", "modules"),
        ("raw_ops", "modules"),
        ("keras.ops.abs", "v2_only"),
        ("optimizers.Adam", "v2_only"),
        ("config.set_visible_devices", "v2_shared"),
        ("config.list_physical_devices", "v2_shared"),
    ],
)
def test_known_names(name: str, kind: str) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    ("module", "kind"),
    [
        ("tensorflow.contrib", "gone"),
        ("tensorflow.examples", "gone"),
        ("tensorflow.python.training.tracking", "gone"),
        ("tensorflow.python.estimator", "tf2.15_only"),
        ("tensorflow.python.tpu.tpu_estimator", "tf2.15_only"),
    ],
)
def test_known_private_modules(module: str, kind: str) -> None:
    assert module in MODULES[kind]


def test_known_private_names() -> None:
    assert NAMES["tensorflow.python.framework.ops"]["Tensor"] == "gone"
    assert NAMES["tensorflow.python.ops.array_ops"]["stack"] == "gone"
    assert NAMES["tensorflow.python.ops.control_flow_ops"]["while_loop"] == "gone"
    assert {kind for names in NAMES.values() for kind in names.values()} == {"gone", "tf2.15_only"}
    assert "tensorflow.python.client.device_lib" not in NAMES


def test_no_contrib_internals_no_raw_ops() -> None:
    everything = {name for kind in V1 + V2 for name in DATA[kind]}
    assert not [n for n in everything if n.startswith(("contrib.", "raw_ops.", "compat.v"))]
    assert max(name.count(".") for kind in V2 for name in DATA[kind]) == 2


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("tools.graph_transforms.TransformGraph", "gone"),  # of 1.15
        ("tools.quantization.quantize_graph", "gone"),  # of no release that is known here
        ("tools.docs.doc_controls", "present"),
        ("core.framework.summary_pb2.Summary", "present"),
        ("core.framework.tensor_pb2._TENSORPROTO", "present"),  # made when it is imported
        ("compiler.xla.experimental.xla_sharding", "gone"),
        ("compiler.tf2xla.python.xla", "present"),
        ("python.ops.rnn_cell._linear", "gone"),
        ("python.keras.backend", "present"),
    ],
)
def test_private_modules(name: str, status: str) -> None:
    assert table().private_status(f"tensorflow.{name}") == status


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("logging._logger", "gone"),
        ("nn.rnn_cell._linear", "gone"),
        ("train.Optimizer._apply_dense", "v1_absent"),
        ("flags._global_parser", "v1_absent"),
        ("__version__", "neutral"),
    ],
)
def test_a_module_of_the_api_shows_no_name_with_an_underscore_in_front(
    name: str, status: str
) -> None:
    assert table().status(name) == status
