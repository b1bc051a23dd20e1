"""The recorder, without TensorFlow: initial values from one run to the other."""

from __future__ import annotations

import pytest

from migrate_mgpu.parity import matching
from migrate_mgpu.parity.recording import Recorder, Refused

numpy = pytest.importorskip("numpy")


def sides(folder) -> tuple[Recorder, Recorder]:
    path = str(folder / "initial.npz")
    return (
        Recorder(str(folder / "reference.json"), {"publish": path}, matching),
        Recorder(str(folder / "target.json"), {"initial": path}, matching),
    )


def test_initial_values_are_carried(tmp_path):
    reference, target = sides(tmp_path)
    reference.array("initial", reference.variable("dense/kernel:0", [2], "float32"), [1.0, 2.0])
    reference.publish_initial()
    ((index, value),) = target.carry([{"name": "one/kernel", "shape": [2]}])
    assert (index, value.tolist()) == (0, [1.0, 2.0])
    reference.finish(0)  # what was published stays
    assert len(sides(tmp_path)[1].reference()["values"]) == 1


def test_a_reference_that_trains_nothing_lets_the_target_go_on(tmp_path):
    reference, target = sides(tmp_path)
    reference.variable("dense/kernel:0", [2], "float32")  # an optimizer that makes no step
    reference.finish(0)
    assert target.carry([{"name": "one/kernel", "shape": [2]}]) == []
    assert target.reference()["carrier"].choose("one/kernel", [2]) is None
    assert any("trains nothing" in note for note in target.notes)


def test_a_reference_that_failed_ends_the_target(tmp_path):
    reference, target = sides(tmp_path)
    reference.finish(1)
    assert not (tmp_path / "initial.npz").exists()
    (tmp_path / "initial.npz.none").touch()
    with pytest.raises(Refused):
        target.reference()
