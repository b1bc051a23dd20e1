"""What the probe keeps of summaries, and how it seeds what samples classes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from migrate_mgpu.parity.probe import pin_random, watch_summaries


class Value:
    def __init__(self, tag: str, simple_value: float | None, histo: Any = None) -> None:
        self.tag, self.simple_value, self.histo = tag, simple_value, histo

    def HasField(self, name: str) -> bool:
        return getattr(self, name, None) is not None


class Writer:
    def __init__(self) -> None:
        self.written: list[Any] = []

    def add_summary(self, summary: Any, global_step: int | None = None) -> None:
        self.written.append((summary, global_step))


def _kept(*values: Value, step: int | None) -> list[tuple[str, list[float]]]:
    found: list[tuple[str, list[float]]] = []
    recorder = SimpleNamespace(record=lambda name, value: found.append((name, value.tolist())))
    owner = type("Transformer", (Writer,), {"add_summary": Writer.add_summary})
    module = SimpleNamespace(SummaryToEventTransformer=owner)
    watch_summaries.SummariesWatch(recorder).patch_writer(module)
    writer = owner()
    writer.add_summary(SimpleNamespace(value=list(values)), step)
    assert len(writer.written) == 1
    return found


def test_scalars_are_kept_with_their_steps() -> None:
    pytest.importorskip("numpy")
    kept = _kept(Value("loss", 0.5), Value("histogram", None), Value("rate", 2.0), step=3)
    assert kept == [("summary loss", [3.0, 0.5]), ("summary rate", [3.0, 2.0])]
    assert _kept(Value("loss", 0.5), step=None) == [("summary loss", [-1.0, 0.5])]


def test_histograms_are_kept_by_three_numbers() -> None:
    pytest.importorskip("numpy")
    histogram = SimpleNamespace(min=-1.0, max=3.0, num=4.0, sum=2.0, sum_squares=16.0)
    empty = SimpleNamespace(min=0.0, max=0.0, num=0.0, sum=0.0, sum_squares=0.0)
    kept = _kept(Value("weights", None, histogram), Value("none", None, empty), step=3)
    assert kept == [("summary weights", [3.0, -1.0, 3.0, 2.0])]


def test_packages_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_summaries, "_PACKAGES", (str(Path(__file__).parent),))
    assert _kept(Value("loss", 0.5), step=3) == []


def test_a_sampler_without_a_seed_gets_one() -> None:
    seeds: list[int | None] = []

    def sampler(true_classes: Any, num_true: int, seed: int | None = None) -> None:
        del true_classes, num_true
        seeds.append(seed)

    noted: list[bool] = []
    module = SimpleNamespace(log_uniform_candidate_sampler=sampler)
    pin_random.patch_samplers(module, lambda: noted.append(True))
    module.log_uniform_candidate_sampler([1], 1)
    module.log_uniform_candidate_sampler([1], 1, seed=5)
    assert seeds == [pin_random.SAMPLER_SEED, 5] and noted == [True]
