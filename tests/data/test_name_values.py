"""What `tf.compat.v1` answers otherwise than TF 1.15 by the same name is what the tool tells.

Public functions and classes of 1.15 were called there with up to three sets of arguments each
(``name_values.py``), and then on 2.15 and the newest: values, gradients, names of variables. What
1.15 gave is recorded, and what differs, with digests of what ran; all of that depends on
TensorFlow alone, so that only every twentieth name runs again until they change. This runs all,
and records::

    python -m tests.data.test_name_values
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Union

import pytest

from migrate_mgpu import runtimes
from tests.support import migration, recorded, servers

RUNNER = Path(__file__).with_name("name_values.py")
RECORDED = Path(__file__).with_suffix(".json")
OLD = "tf1.15"
NEW = {"tf2.15": (), "tf2-latest": (runtimes.LEGACY_KERAS,)}  # a bridge's Keras is Keras 2
EVERY = 20
ABSOLUTE, RELATIVE = 2e-5, 2e-4
Result = Union[dict[str, Any], str]
Call = tuple[str, tuple[str, ...]]  # a name, and its arguments by the runner's keys


@cache
def record() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text("utf-8"))
    return found


@cache
def of_tf1() -> dict[Call, Result]:
    """What 1.15 gave."""
    calls = [one for packed in record()["calls"].values() for one in unpacked(packed)]
    return {(name, tuple(keys)): result for name, keys, result in calls}


def packed(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"))
    return base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b85decode(text)))


def run(runtime: runtimes.Runtime, calls: list[Call], *draws: str) -> dict[Call, Result]:
    at_import = {"TF_ENABLE_ONEDNN_OPTS": "0"}
    if runtime.name.startswith("tf2-latest"):
        at_import["TF_USE_LEGACY_KERAS"] = "1"
    given = json.dumps(calls)
    shown = servers.alone(runtime, RUNNER, *draws, given=given, at_import=at_import)
    found = json.loads(shown.splitlines()[-1])
    return {(name, tuple(keys)): result for name, keys, result in found}


def digest(name: str) -> str:
    packages = NEW.get(name, ())
    calls = json.dumps([*of_tf1()])
    return recorded.digest(name, RUNNER.read_text("utf-8"), calls, *packages)


def difference(old: Result, new: Result) -> str | None:
    """Where two results part; None where they do not."""
    assert not isinstance(old, str), old
    if isinstance(new, str):
        return new.partition(":")[0]
    if [part[:2] for part in old["parts"]] != [part[:2] for part in new["parts"]]:
        return "types or shapes"
    if old["variables"] != new["variables"]:
        return "variables"
    if old["gradients"] is None:  # drawn at random
        return None
    for (_, _, was), (_, _, now) in zip(old["parts"], new["parts"]):
        if not close(was, now):
            return "values"
    if isinstance(old["gradients"], str) or not old["gradients"]:  # there was none
        return None
    if len(old["gradients"]) != len(new["gradients"]):
        return "gradients"
    pairs = zip(old["gradients"], new["gradients"])
    return None if all(close(was, now) for was, now in pairs) else "gradients"


def close(old: list[Any], new: list[Any]) -> bool:
    largest = max((abs(one) for one in old if isinstance(one, float)), default=0.0)
    limit = ABSOLUTE + RELATIVE * largest
    return len(old) == len(new) and all(
        abs(a - b) <= limit if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in zip(old, new)
    )


def parted(found: dict[Call, Result]) -> dict[str, str]:
    """By name, where it differs first."""
    where: dict[str, str] = {}
    for call, result in found.items():
        if (said := difference(of_tf1()[call], result)) is not None:
            where.setdefault(call[0], said)
    return where


# What differs and is told by no finding (docs/semantics.md).
UNTOLD = {
    "angle": "of a negative real number",
    "math.angle": "of a negative real number",
    "truncatediv": "of floats, which were not truncated",
    "keras.backend.batch_dot": "the gradient, of matrices",
    "image.adjust_brightness": "whole numbers behind the largest",
    "image.adjust_jpeg_quality": "another version of libjpeg",
    "ragged.stack": "of tensors that are not ragged",
    **dict.fromkeys(
        (f"keras.layers.{name}" for name in ("ConvLSTM2D", "GRU", "LSTM", "SimpleRNN")),
        "names of variables have a cell: `migrate-mgpu checkpoint` has their partners",
    ),
}


def told(name: str) -> bool:
    """Whether the tool says at a call of a name that its value is another one (MGPU905)."""
    arguments = {"image.per_image_standardization": "image"}.get(name, "x, x")
    program = (
        "import tensorflow as tf\n\nimage = tf.image.decode_jpeg(tf.read_file('a.jpg'))\n"
        f"x = tf.ones([2, 3])\ny = tf.{name}({arguments})\n"
        "with tf.Session() as sess:\n    print(sess.run(image))\n"
    )
    found = migration.run(program, bridge=True).findings
    return any(one.code == "MGPU905" and one.line == 5 for one in found)


def test_what_is_recorded_is_of_today() -> None:
    again = "record them again: python -m tests.data.test_name_values"
    assert record()["digests"] == {name: digest(name) for name in (OLD, *NEW)}, again
    assert len({name for name, _ in of_tf1()}) > 850


def test_what_differs_is_told() -> None:
    different = {name for where in record()["differs"].values() for name in where}
    assert {name for name in different if told(name)} == different - UNTOLD.keys()
    assert UNTOLD.keys() <= different


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", [OLD, *NEW])
def test_some_again(name: str, runtime: Callable[[str], runtimes.Runtime]) -> None:
    """All, where something changed."""
    names = sorted({one for one, _ in of_tf1()})
    chosen = set(names if record()["digests"].get(name) != digest(name) else names[::EVERY])
    there = runtime(runtimes.extended(name, NEW.get(name, ())))
    found = parted(run(there, [call for call in of_tf1() if call[0] in chosen]))
    known = record()["differs"].get(name, {})
    assert found == {one: where for one, where in known.items() if one in chosen}


def record_again(calls: list[Call]) -> None:
    """What 1.15 gives to calls, of those that end well, and what differs."""
    results = run(runtimes.ensure(OLD), calls, "draws")
    good = {call: one for call, one in results.items() if not isinstance(one, str) and one["parts"]}
    homes: dict[str, list[Any]] = {}
    for (name, keys), result in good.items():
        homes.setdefault(name.rpartition(".")[0], []).append([name, keys, result])
    whole = {"digests": {}, "differs": {}, "calls": {k: packed(v) for k, v in homes.items()}}
    write(whole)
    for name in NEW:
        there = runtimes.ensure(runtimes.extended(name, NEW[name]))
        whole["differs"][name] = parted(run(there, list(good)))
    whole["digests"] = {name: digest(name) for name in (OLD, *NEW)}
    write(whole)


def write(whole: dict[str, Any]) -> None:
    RECORDED.write_text(json.dumps(whole, indent=0) + "\n", "utf-8")
    record.cache_clear()
    of_tf1.cache_clear()


if __name__ == "__main__":
    record_again(list(of_tf1()))
