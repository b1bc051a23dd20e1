"""New expressions are broken into lines by what they are."""

from __future__ import annotations

from migrate_mgpu.source.new_code import WIDTH, Items, call, items, lines

LONG = "a" * 60


def test_what_fits_stays_on_its_line() -> None:
    made = call("f", "x", items("1", call("g", "y")), "key=value")
    assert lines(made, "    ", "    ", "z = ") == ["    z = f(x, [1, g(y)], key=value)"]


def test_arguments_go_below_together_then_one_by_one() -> None:
    together = call("f" * 40, LONG)
    assert lines(together, "", "  ", tail=",") == [f"{'f' * 40}(", f"  {LONG}", "),"]
    each = call("f", LONG, call("g", LONG, "b"))
    assert lines(each, "", "  ") == ["f(", f"  {LONG},", f"  g({LONG}, b),", ")"]


def test_a_list_has_an_element_a_line_and_a_text_is_never_broken() -> None:
    listed = Items(f"[{LONG},{LONG}]", (LONG, LONG))
    assert lines(listed, "", "    ") == ["[", f"    {LONG},", f"    {LONG},", "]"]
    assert lines(LONG * 2, "", "    ") == [LONG * 2]


def test_the_indentation_counts() -> None:
    made = call("f", "x" * (WIDTH - 3))
    assert len(lines(made, "", "  ")) == 1
    assert len(lines(made, " ", "  ")) == 3
