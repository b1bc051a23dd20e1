"""The committed table of names against a new dump of the newest TensorFlow."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from migrate_mgpu import runtimes
from migrate_mgpu.data import generate_symbols
from tests.support import servers

FOLDER = Path(generate_symbols.__file__).parent
DATA: dict[str, Any] = json.loads((FOLDER / "symbols.json").read_text("utf-8"))
V1 = list(DATA)[1 : list(DATA).index("v2_only")]
# What plain tf takes from Keras, which has its own versions.
KERAS = ("keras", "initializers", "losses", "metrics", "optimizers")


@pytest.fixture(scope="module")
def dump(
    runtime: Callable[[str], runtimes.Runtime], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("symbols")
    known = {name: None for kind in V1 for name in DATA[kind]}
    (folder / "names.json").write_text(json.dumps({"names": known}), "utf-8")
    script, out = FOLDER / "generate_symbols.py", folder / "dump.json"
    names = "dump", out, "--names", folder / "names.json"
    servers.alone(runtime("tf2-latest"), script, *names)
    result: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return result


@pytest.fixture(scope="module")
def lookup(dump: dict[str, Any]) -> dict[str, str]:
    """Where each name of TF1 is found."""
    every = list(dump["lookup"])
    modules = {name for name in every if any(other.startswith(name + ".") for other in every)}
    return generate_symbols.with_modules(dump["lookup"], modules)


def names_of(*kinds: str, dump: dict[str, Any]) -> set[str]:
    """The names of these lists, without Keras's if another Keras was installed."""
    names = {name for kind in kinds for name in DATA[kind]}
    if dump["keras"] == DATA["about"]["runtimes"]["tf2.21"]["keras"]:
        return names
    return {name for name in names if name.split(".")[0] not in KERAS}


def test_it_is_the_version_that_the_table_names(dump: dict[str, Any]) -> None:
    assert dump["tensorflow"] == DATA["about"]["runtimes"]["tf2.21"]["tensorflow"]


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("neutral", {"12="}),
        ("modules", {"12", "12="}),
        ("v1_absent", {"1"}),
        ("v1_differs", {"12"}),
        ("v1_differs_tf2.15", {"12="}),
        ("legacy_keras", {""}),
        ("tf2.15_only", {""}),
        ("gone", {""}),
    ],
)
def test_names_of_tf1(
    kind: str, found: set[str], dump: dict[str, Any], lookup: dict[str, str]
) -> None:
    assert {
        name: lookup[name] for name in names_of(kind, dump=dump) if lookup[name] not in found
    } == {}


def test_names_of_tf2(dump: dict[str, Any]) -> None:
    known = names_of("v2_only", "v2_shared", dump=dump)
    new = set(dump["v2"]) - set(dump["v2_modules"])
    same_keras = dump["keras"] == DATA["about"]["runtimes"]["tf2.21"]["keras"]
    assert known == {name for name in new if same_keras or name.split(".")[0] not in KERAS}


def test_private_modules_and_names(dump: dict[str, Any]) -> None:
    there = {"tensorflow." + module for module in dump["modules"]}
    gone = DATA["private_modules_gone"]
    assert not there & {*gone["gone"], *gone["tf2.15_only"]}
    for module, names in DATA["private_names_gone"].items():
        for part in dump["private"][module.replace("tensorflow.", "", 1)]:
            assert not set(names) & set(part)
