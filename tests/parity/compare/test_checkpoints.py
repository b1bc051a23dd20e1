"""Which variables both programs save: by their names and shapes, file by file."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from migrate_mgpu.parity.compare import checkpoints
from migrate_mgpu.parity.compare.rounding import Rounding
from migrate_mgpu.parity.probe.watch_checkpoints import CheckpointsWatch


def side(
    files: Sequence[dict[str, list[int]]],
    saved: Sequence[int],
    values: Mapping[str, Any] | None = None,
) -> Any:
    """A run that saved these files, each by its number, the last with these values."""
    arrays = {f"saved/{name}": numpy.array(value) for name, value in (values or {}).items()}
    training = {"saved_shapes": [*files], "saved": [*saved]}
    return SimpleNamespace(training=training, load_arrays=lambda: arrays)


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


def test_an_optimizer_in_a_scope_has_its_slots_below_it() -> None:
    old = {"net/w": [3], "net/net/w/RMSProp": [3], "net/net/w/RMSProp_1": [3]}
    new = {"net/w": [3], "net/net/w/RMSProp/velocity": [3]}
    (found,) = checkpoints.compare(side([old], [0]), side([new], [0]))
    assert (found.status, found.told) == ("not compared", True)
    other = {"net/w": [3], "net/net/u/RMSProp/velocity": [3]}  # of no variable
    (found,) = checkpoints.compare(side([old], [0]), side([other], [0]))
    assert found.status == "differs"


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


SLOTS = {
    "w/Adam": [[0.5], [-2.0], [1.0]],
    "b/Adam": [3e-6],
    "w/Adam_1": [[0.25], [4.0], [1.0]],
    "u/Adam_1": [[0.1], [0.2], [0.3]],
    "beta1_power": 0.729,
}


def with_values(rounding: Rounding | None = None, **changed: Any) -> list[Any]:
    values = {**SLOTS, **changed}
    one, other = side([FILE], [0], SLOTS), side([FILE], [0], values)
    return checkpoints.compare(one, other, rounding=rounding)


def test_values_of_slots_and_numbers_are_compared() -> None:
    (equal,) = with_values()
    assert equal.status == "equal"
    assert equal.detail == "1 file, and 5 values of slots, averages and numbers in the last one"
    near = {"w/Adam": [[0.50001], [-2.0], [1.0]], "b/Adam": [3.5e-6]}  # 1e-5; next to the others
    assert [one.status for one in with_values(**near)] == ["equal"]
    for name, value in (
        ("w/Adam", [[-0.5], [2.0], [-1.0]]),  # Keras's sign of a velocity
        ("b/Adam", [3e-5]),
        ("beta1_power", 0.81),  # of a step less
    ):
        (found,) = with_values(**{name: value})
        assert (found.status, found.name) == ("differs", f"checkpoints/{name}")


def test_a_slot_that_has_another_variables_values_is_told() -> None:
    (found,) = with_values(**{"w/Adam_1": SLOTS["u/Adam_1"]})
    assert found.detail == "[1,0]: 4 became 0.2: the reference's u/Adam_1"
    (found,) = with_values(**{"w/Adam": SLOTS["u/Adam_1"]})  # of another kind: chance
    assert "the reference's" not in found.detail


def test_whole_numbers_are_the_same() -> None:
    one, other = (side([FILE], [0], {"global_step": numpy.int64(n)}) for n in (10**7, 10**7 + 1))
    assert checkpoints.compare(one, other)[0].status == "differs"


def test_what_rounding_alone_does_to_slots_is_allowed() -> None:
    apart = {"saved/w/Adam": numpy.full((3, 1), 0.01), "saved/b/Adam": numpy.full(1, 1e-3)}
    rounding = Rounding({}, apart, {}, [])
    moved = {"w/Adam": [[0.505], [-2.005], [1.0]], "b/Adam": [7e-4]}
    found = with_values(rounding, **moved)
    assert [one.status for one in found] == ["not compared"]  # b/Adam is rounding and nothing else
    assert "1 of the values" in found[0].detail
    found = with_values(rounding, **{"w/Adam": [[0.6], [-2.0], [1.0]]})
    assert found[0].status == "differs"


def test_rounding_that_moves_other_elements_is_told() -> None:
    apart = {"saved/w/Adam": numpy.array([[0.03], [0.0], [0.0]])}  # a unit that is on or off
    rounding = Rounding({}, apart, {}, [])
    found = with_values(rounding, **{"w/Adam": [[0.5], [-2.02], [1.0]]})
    assert [one.status for one in found] == ["equal", "equal"]
    assert "rounding alone moves 1 of the values in the last file as far" in found[1].detail
    (found,) = with_values(rounding, **{"w/Adam": [[0.5], [-2.02], [1.03]]})  # further, as a whole
    assert (found.status, found.name) == ("differs", "checkpoints/w/Adam")


class Recorder:
    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.saved: list[int] = []
        self.saved_shapes: list[dict[str, list[int]]] = []
        self.saved_values: dict[str, Any] = {}


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


def test_values_are_kept_of_what_belongs_to_a_variable_of_the_last_file() -> None:
    recorder = Recorder()
    module = SimpleNamespace(SaveV2=lambda **options: None)
    CheckpointsWatch(recorder, lambda frame: True).patch_raw_ops(module)

    def tensor(value: Any) -> Any:
        array = numpy.array(value)
        return SimpleNamespace(shape=array.shape, numpy=lambda: array)

    def unknown() -> Any:
        raise AttributeError("numpy() is of eager tensors")

    traced = SimpleNamespace(shape=(3,), numpy=unknown)
    for rate in (0.5, 0.25):
        made = {
            "net/w": tensor([1.0]),
            "net/w/Adam": tensor([rate]),
            "net/w/ExponentialMovingAverage": traced,
            "net/other": tensor([2.0]),
            "rate": tensor(rate),
        }
        module.SaveV2(prefix="model", tensor_names=[*made], tensors=[*made.values()])
    kept = {name: value.tolist() for name, value in recorder.saved_values.items()}
    assert kept == {"net/w/Adam": [0.25], "rate": 0.25}


def test_a_file_that_cannot_be_read_is_left_out() -> None:
    class Saver:
        def save(self, session: object, path: str) -> str:
            return path

    recorder = Recorder()
    CheckpointsWatch(recorder, lambda frame: True).patch_saver(SimpleNamespace(Saver=Saver))
    assert Saver().save(None, "no such file") == "no such file"
    assert recorder.saved == []
