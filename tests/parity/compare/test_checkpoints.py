"""Which variables both programs save: by their names and shapes, file by file."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from migrate_mgpu.parity.compare import checkpoints
from migrate_mgpu.parity.probe.watch_checkpoints import CheckpointsWatch


def side(files: Sequence[dict[str, list[int]]], saved: Sequence[int]) -> Any:
    return SimpleNamespace(training={"saved_shapes": [*files], "saved": [*saved]})


FILE = {"w": [3, 1], "b": [1], "w/Adam": [3, 1], "w/Adam_1": [3, 1], "beta1_power": []}


def compared(*files: dict[str, list[int]], old: int = 1, stopped: bool = False) -> list[Any]:
    return checkpoints.compare(side([FILE], [0] * old), side(files, range(len(files))), stopped)


def but(gone: str = "", new: str = "", shape: Sequence[int] = (1,)) -> dict[str, list[int]]:
    more = {new: [*shape]} if new else {}
    return {name: known for name, known in {**FILE, **more}.items() if name != gone}


def test_files_that_are_alike_are_equal() -> None:
    assert [(one.status, one.detail) for one in compared(FILE)] == [("equal", "1 file")]


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (but("b"), "b are in the reference's alone"),
        (but("w/Adam_1"), "w/Adam_1 are in the reference's alone"),
        (but(new="c"), "c are in the target's alone"),
        (but(new="b/Adam"), "b/Adam are in the target's alone"),
        (but(new="w", shape=[3, 2]), "w have another shape"),
    ],
)
def test_a_name_or_a_shape_of_one_side_alone_differs(file: dict[str, list[int]], told: str) -> None:
    assert [(one.status, one.detail) for one in compared(file)] == [("differs", f"file 1: {told}")]


def test_what_keras_keeps_by_names_of_its_own_is_told() -> None:
    old = {"w": [3], "w/RMSProp": [3], "w/RMSProp_1": [3]}
    new: dict[str, list[int]] = {"w": [3], "w/RMSProp/velocity": [3], "RMSProp/steps": []}
    one, other = side([old], [0]), side([new], [0])
    (found,) = checkpoints.compare(one, other)
    assert (found.status, found.told) == ("not compared", True)
    new["u"] = [1]  # beside them
    assert checkpoints.compare(one, other)[0].status == "differs"


def test_a_variable_that_is_lost_is_no_slot_by_another_name() -> None:
    """`net/Dense_1` looks like the second slot of `net`, which is no variable."""
    old = {"net/Dense": [3], "net/Dense_1": [3]}
    new = {"net/Dense": [3], "net/Dense/Momentum": [3]}
    (found,) = checkpoints.compare(side([old], [0]), side([new], [0]))
    assert (found.status, found.told) == ("differs", False)
    assert "net/Dense_1 are in the reference's alone" in found.detail


def test_as_many_files_are_saved() -> None:
    assert compared(FILE, FILE)[0].detail == "1 file became 2"
    assert compared(FILE, FILE, stopped=True)[0].status == "equal"  # ended in the middle
    assert compared(FILE, old=3, stopped=True)[0].status == "differs"


def test_a_program_that_saves_otherwise_is_not_compared() -> None:
    assert compared() == [] and compared(FILE, old=0) == []


class Recorder:
    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.saved: list[int] = []
        self.saved_shapes: list[dict[str, list[int]]] = []


def test_what_a_program_saves_is_noted_once() -> None:
    recorder = Recorder()
    made: list[dict[str, Any]] = []
    module = SimpleNamespace(SaveV2=lambda **options: made.append(options))
    watch = CheckpointsWatch(recorder, lambda frame: frame.f_code.co_name != "of_a_package")
    watch.patch_raw_ops(module)
    tensor = SimpleNamespace(shape=(3, 1))

    def of_a_package() -> None:
        module.SaveV2(prefix="own", tensor_names=["v"], tensors=[tensor])

    for name in ("w", "w", "u"):
        module.SaveV2(prefix="model", tensor_names=[name], tensors=[tensor])
    of_a_package()
    assert len(made) == 4
    assert recorder.saved == [0, 0, 1] and recorder.saved_shapes == [{"w": [3, 1]}, {"u": [3, 1]}]


def test_a_file_that_cannot_be_read_is_left_out() -> None:
    class Saver:
        def save(self, session: object, path: str) -> str:
            return path

    recorder = Recorder()
    CheckpointsWatch(recorder, lambda frame: True).patch_saver(SimpleNamespace(Saver=Saver))
    assert Saver().save(None, "no such file") == "no such file"
    assert recorder.saved == []
