"""What the tables of layers, losses, optimizers, metrics and functions write is equal to TF1.

Every row of ``table_rows.py`` runs in TF 1.15 (or is taken from the numbers recorded there)
as TF1's code, and in TF 2.15 and the newest as the tables write it, with the same variables
and inputs; one process for each TensorFlow. Recorded by::

    python -m tests.rewriters.test_estimator_tables
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Union

import pytest

from migrate_mgpu import runtimes
from tests.rewriters import table_rows
from tests.support import servers

HERE = Path(__file__).parent
RECORDED = HERE / "estimator_tables.json"
OLD, NEW = "tf1.15", ("tf2.15", "tf2-latest")
Result = Union[list[float], str]

TOLERANCE = 1e-6
# Rounding adds up over 20 steps of an optimizer, and in sums of a metric.
TOLERANCES = {"optimizer": 3e-6, "sparse": 3e-6, "spread": 0.03}
# The largest and smallest of 60,000 draws of an unlimited distribution differ by chance.
UNLIMITED = ("initializer: random_normal", "initializer: orthogonal")
# Measured differences, with their reasons (docs/semantics.md); they must stay as they are.
MEASURED = {
    # Bessel's N/(N-1) in the moving variance of images: TF1's fused kernel has it, and Keras 2's.
    ("layer: batch_normalization, fused", "tf2-latest"): 3.6e-4,
    ("layer: batch_normalization, not fused", "tf2.15"): 3.6e-4,
    # contrib's is always the fused kernel, of 6 examples here.
    ("layer: contrib batch_norm", "tf2.15"): 8e-5,
    ("layer: contrib batch_norm", "tf2-latest"): 8e-5,
    ("layer: contrib batch_norm, arguments", "tf2.15"): 1.4e-2,
    ("layer: contrib batch_norm, arguments", "tf2-latest"): 1.4e-2,
}


@cache
def rows() -> list[table_rows.Row]:
    return table_rows.rows()


def run(runtime: runtimes.Runtime) -> dict[str, Result]:
    """Every row's result in a runtime."""
    shown = servers.alone(runtime, HERE / "table_runner.py", given=json.dumps(rows()))
    found: dict[str, Result] = json.loads(shown[shown.index("{") :])
    return found


@cache
def results() -> dict[str, dict[str, Result]]:
    """By runtime; 1.15's are the recorded ones where it is not installed."""
    names = [OLD, *NEW] if runtimes.find(OLD) is not None else list(NEW)
    with ThreadPoolExecutor(len(names)) as pool:
        found = dict(zip(names, pool.map(lambda name: run(runtimes.ensure(name)), names)))
    if OLD not in found:
        found[OLD] = json.loads(RECORDED.read_text("utf-8"))
    return found


def difference(row: table_rows.Row, old: Result, new: Result) -> float:
    """The largest difference of two results, by the largest number in them or 1."""
    assert not isinstance(old, str), old
    assert not isinstance(new, str), new
    if row.get("object"):
        old = [sum(old) / len(old), *old]
    assert len(old) == len(new), (len(old), len(new))
    largest = max(abs(number) for number in old)
    scale = largest if row["kind"] == "spread" else max(largest, 1.0)
    if row["name"].startswith(UNLIMITED):
        old, new = old[::3], new[::3]
    return max(abs(a - b) for a, b in zip(old, new)) / scale


@pytest.mark.parametrize("runtime_name", NEW)
def test_tables(runtime_name: str, runtime: Callable[[str], runtimes.Runtime]) -> None:
    runtime(runtime_name)
    wrong = []
    for row in rows():
        name = row["name"]
        old, new = results()[OLD][name], results()[runtime_name][name]
        if isinstance(new, str):
            wrong.append(f"{name}: {new}")
            continue
        found = difference(row, old, new)
        limit = TOLERANCES.get(row["kind"], TOLERANCE)
        measured = MEASURED.get((name, runtime_name))
        if name.startswith("wrong: "):
            if found <= 10 * limit:
                wrong.append(f"{name}: it is not seen ({found:.2g})")
        elif measured is not None:
            if not measured / 3 < found <= measured:
                wrong.append(f"{name}: {found:.2g}, measured before: {measured}")
        elif found > limit:
            wrong.append(f"{name}: {found:.2g} off: {row['code']} -> {row['new']}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.tensorflow
def test_recorded() -> None:
    """The numbers of 1.15 that stand in for it are its own."""
    if runtimes.find(OLD) is None:
        pytest.skip("TF 1.15 is not installed: `migrate-mgpu runtimes create tf1.15`")
    recorded = json.loads(RECORDED.read_text("utf-8"))
    live = results()[OLD]
    assert set(recorded) == set(live), "record them again, see this file's docstring"
    for row in rows():
        name = row["name"]
        if row["kind"] != "spread":
            assert recorded[name] == pytest.approx(live[name], rel=1e-5, abs=1e-6), name


def record() -> None:
    found = run(runtimes.ensure(OLD))
    failed = {name: result for name, result in found.items() if isinstance(result, str)}
    if failed:
        sys.exit("\n".join(f"{name}: {text}" for name, text in failed.items()))
    lines = [
        f"{json.dumps(name)}: [{', '.join(f'{number:.8g}' for number in numbers)}]"
        for name, numbers in found.items()
    ]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    record()
