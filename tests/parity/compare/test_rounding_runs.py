"""How often the reference runs to measure what rounding does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_ladder import side

from migrate_mgpu.parity import second_run
from migrate_mgpu.parity.runs.programs import Options

numpy = pytest.importorskip("numpy")


def measured(tmp_path, monkeypatch, moved, told=()) -> tuple[list[int], list[int]]:
    """How many elements chance may move, by what is yielded, and the runs that were made, where
    ``moved`` says which element a run moves; it is over its limit where that is -1."""
    monkeypatch.setenv("MIGRATE_MGPU_TRACES", str(tmp_path / "traces"))
    (tmp_path / "p.py").write_text("")
    (tmp_path / "initial.npz").touch()
    made: list[int] = []

    def variables(number: int) -> dict:
        final = numpy.linspace(1.0, 2.0, 400)
        if number and moved(number) is not None:
            final[moved(number)] += 1e-2
        return {"arrays": {"final/0": final}, "variables": [{"name": "w", "shape": [400]}]}

    def run_one(runtime, program, devices, options, folder, *more):
        made.append(options.rounded)
        found = side(tmp_path, f"run{options.rounded}", **variables(options.rounded))
        late = moved(options.rounded) == -1
        return replace(found, ended="timed out after 600 s", status=-9) if late else found

    monkeypatch.setattr(second_run.programs, "run_one", run_one)
    monkeypatch.setattr(second_run, "_place", lambda side: None)
    first = side(tmp_path, "first", **variables(0))
    about = SimpleNamespace(), Path(tmp_path / "p.py"), 1, Options(), tmp_path

    def chance() -> list[int]:
        known = second_run.measure_rounding(first, *about)
        return [len(one.tails.get("final/0", ())) for one in known]

    found = chance()
    notes = first.training["notes"]
    assert notes == [f"what rounding does was not measured: {why}" for why in told]
    assert told or chance() == found  # remembered
    return found, made


EIGHT = list(range(1, 9))


def test_none_where_rounding_moves_nothing(tmp_path, monkeypatch):
    assert measured(tmp_path, monkeypatch, lambda run: None) == ([0] * 3, EIGHT)


def test_a_few_where_each_moves_something_else(tmp_path, monkeypatch):
    assert measured(tmp_path, monkeypatch, lambda run: run) == ([5] * 3, EIGHT)


def test_a_few_where_the_reference_is_the_odd_one(tmp_path, monkeypatch):
    assert measured(tmp_path, monkeypatch, lambda run: 7) == ([5] * 3, EIGHT)


def test_what_only_a_later_run_shows(tmp_path, monkeypatch):
    assert measured(tmp_path, monkeypatch, {7: 3}.get) == ([0, 0, 5], EIGHT)


def test_a_run_over_its_limit_measures_nothing_and_that_is_told(tmp_path, monkeypatch):
    told = ["a run did not finish: timed out after 600 s"]
    assert measured(tmp_path, monkeypatch, {3: -1}.get, told) == ([0], [1, 2, 3, 4])
