"""Records do what the dataclasses do that they stand for."""

from __future__ import annotations

import pytest

from migrate_mgpu.core.records import field, record, replaced


@record(frozen=True)
class Point:
    x: int
    y: int = 0


@record(frozen=True)
class Named(Point):
    name: str = ""


@record(frozen=True, eq=False)
class Place:
    x: int


@record()
class Bag:
    label: str
    members: list[int] = field(default_factory=list)


def test_fields_come_by_position_by_name_and_by_default() -> None:
    assert (Point(1).x, Point(1).y, Point(y=2, x=1).y) == (1, 0, 2)
    assert repr(Named(1, 2, "a")) == "Named(x=1, y=2, name='a')"


def test_a_default_is_made_for_each_object() -> None:
    one, other = Bag("one"), Bag("other")
    one.members.append(1)
    assert other.members == [] and Bag("b", [2]).members == [2]


@pytest.mark.parametrize(
    ("values", "names"), [((), {}), ((1, 2, 3), {}), ((1,), {"z": 1}), ((), {"y": 1})]
)
def test_missing_and_unknown_arguments_are_errors(
    values: tuple[int, ...], names: dict[str, int]
) -> None:
    with pytest.raises(TypeError, match="Point"):
        Point(*values, **names)


def test_equality() -> None:
    assert Point(1, 2) == Point(1, 2) and hash(Point(1, 2)) == hash(Point(1, 2))
    assert Point(1, 2) != Point(1, 3) and Point(1) != Named(1)
    assert Place(1) != Place(1) and len({Place(1), Place(1)}) == 2
    assert Bag("a", [1]) == Bag("a", [1])
    with pytest.raises(TypeError):
        hash(Bag("a"))


def test_frozen_ones_cannot_be_assigned() -> None:
    point, bag = Point(1), Bag("a")
    with pytest.raises(AttributeError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del point.x
    bag.label = "b"
    assert point.x == 1 and bag.label == "b"


def test_a_copy_with_other_values() -> None:
    assert replaced(Named(1, 2, "a"), y=3) == Named(1, 3, "a")
