"""One call is changed where it must be, and nowhere else."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from libcst import CSTValidationError

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Source, splice

SIGNATURE = ("inputs", "units", "rate", "name")


def call_of(code: str) -> tuple[Module, ast.Call]:
    module = Module(Path("case.py"), Source(Path("case.py"), code), "case")
    return module, next(n for n in ast.walk(module.tree) if isinstance(n, ast.Call))


def changed(code: str, change: Callable[[BoundCall], None]) -> str:
    module, call = call_of(code)
    edit = BoundCall(module, call, SIGNATURE)
    change(edit)
    after = splice(code, list(edit.edits()))
    ast.parse(after)
    return after


def without(*names: str) -> Callable[[BoundCall], None]:
    def change(edit: BoundCall) -> None:
        edit.order(n for n in SIGNATURE if n not in names)
        edit.drop(*names)

    return change


@pytest.mark.parametrize(
    ("before", "names", "after"),
    [
        ("f(net)", ("inputs",), "f()"),
        ("f( net , )", ("inputs",), "f()"),
        ("f(net, 10)", ("inputs",), "f(10)"),
        ("f(inputs=net, units=10)", ("inputs",), "f(units=10)"),
        ("f(units=10, inputs=net)", ("inputs",), "f(units=10)"),
        ("f(net, 10, name='x')", ("inputs", "name"), "f(10)"),
        ("f(net, 10, name='x',)", ("name",), "f(net, 10,)"),
        ("f(net, 10, 0.5)", ("units",), "f(net, 0.5)"),
        ("f((net + 1), (10))", ("inputs",), "f((10))"),
        ("f(g(a, b), h[1, 2])", ("inputs",), "f(h[1, 2])"),
        ("f(net,\n  10)", ("inputs",), "f(10)"),
        (
            "f(net, units=lambda a, b: (a, b), rate=1)",
            ("rate",),
            "f(net, units=lambda a, b: (a, b))",
        ),
        ("f(\n    net,\n    units=10,\n)", ("inputs",), "f(\n    units=10,\n)"),
        ("f(\n    net,\n    units=10,\n)", ("units",), "f(\n    net,\n)"),
        (
            "f(\n    net,  # the net\n    # how many\n    units=10)",
            ("inputs",),
            "f(\n    # how many\n    units=10)",
        ),
        (
            "f(\n    net,  # the net\n    units=10)",
            ("units",),
            "f(\n    net,  # the net\n    )",
        ),
        (
            "f(\r\n    net,\r\n    units=10,\r\n    rate=1)",
            ("units",),
            "f(\r\n    net,\r\n    rate=1)",
        ),
    ],
)
def test_drop(before: str, names: tuple[str, ...], after: str) -> None:
    assert changed(before, without(*names)) == after


def test_positions_that_no_longer_fit_become_keywords() -> None:
    def change(edit: BoundCall) -> None:
        edit.drop("units")
        edit.order(("inputs",))

    assert changed("f(net, 10, 0.5, 'x')", change) == "f(net, rate=0.5, name='x')"


def test_rename_value_add_and_function() -> None:
    def change(edit: BoundCall) -> None:
        edit.function("tf.keras.layers.Dense")
        edit.rename("rate", "p")
        edit.value("units", "20")
        edit.add("epsilon", "1e-8")

    before = "f(net, units = 10, rate = q, )"
    after = "tf.keras.layers.Dense(net, units = 20, p = q, epsilon=1e-8, )"
    assert changed(before, change) == after
    assert changed("f(\n    net, units=1  # one\n)", change) == (
        "tf.keras.layers.Dense(\n    net, units=20, epsilon=1e-8  # one\n)"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(net, 1, p)", "f(net, 1, rate=1 - p)"),
        ("f(net, 1, a - b)", "f(net, 1, rate=1 - (a - b))"),
        ("f(net, 1, (a - b))", "f(net, 1, rate=1 - (a - b))"),
        ("f(net, 1, g(a - b), 'x')", "f(net, 1, rate=1 - g(a - b), name='x')"),
        ("f(rate=p if q else 1, units=1)", "f(rate=1 - (p if q else 1), units=1)"),
    ],
)
def test_wrap(before: str, after: str) -> None:
    def change(edit: BoundCall) -> None:
        edit.order(("inputs", "units"))
        edit.wrap("rate", "1 - ", parentheses=True)

    assert changed(before, change) == after


def test_no_edit_covers_a_value_that_stays() -> None:
    code = "f(net, (units), rate=g(rate), name=name)"
    module, call = call_of(code)
    edit = BoundCall(module, call, SIGNATURE)
    edit.function("g")
    edit.drop("inputs")
    edit.order(())
    edit.add("more", "1")
    values = [module.source.span(v) for v in (call.args[1], *(k.value for k in call.keywords))]
    edits = edit.edits()
    for start, end in values:
        assert not any(e.start < end and start < e.end for e in edits)
        # One that only begins where a value begins would vanish in a change of the value.
        assert not any(e.start == e.end == start for e in edits)
    assert splice(code, list(edits)) == "g(units=(units), rate=g(rate), name=name, more=1)"


@pytest.mark.parametrize("code", ["f(*a)", "f(**a)", "f(1, 2, 3, 4, 5)", "f(other=1)"])
def test_arguments_that_cannot_be_told(code: str) -> None:
    module, call = call_of(code)
    with pytest.raises(Refused):
        BoundCall(module, call, SIGNATURE)


def test_what_is_given() -> None:
    module, call = call_of("f(net, units=None)")
    edit = BoundCall(module, call, SIGNATURE)
    assert isinstance(edit.get("inputs"), ast.Name)
    assert edit.get("units") is not None
    assert edit.given("units") is None
    assert edit.get("name") is None


# -- any argument of any call, whatever stands around it --------------------------

SPACE = st.sampled_from(["", " ", "  ", "\n", "\n    ", " \n\t", "  # why\n    ", " \\\n  ",
                         "\n  # above\n  ", "\r\n  "])  # fmt: skip
VALUE = st.sampled_from(["x", "(x)", "'a,b'", "f(1, 2)", "[i for i in y]", "'é'", "lambda: 0"])


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, int]:
    """A call's text and which of its arguments goes."""
    places = draw(st.integers(0, 3))
    names = draw(st.integers(0 if places else 1, 3))
    members = [draw(VALUE) for _ in range(places)]
    members += [f"{name}={draw(VALUE)}" for name in "abc"[:names]]
    if draw(st.booleans()):
        members.append("**more")
    code = "f" + draw(st.sampled_from(["", " "])) + "(" + draw(SPACE)
    for index, member in enumerate(members):
        last = index == len(members) - 1
        comma = draw(st.booleans()) if last else True
        code += member + (draw(SPACE).replace("# above", "") + "," if comma else "") + draw(SPACE)
    return code + ")", draw(st.integers(0, places + names - 1))


@settings(max_examples=300, deadline=None)
@given(calls(), st.booleans())
def test_one_argument_goes_and_the_rest_stays(call: tuple[str, int], shifts: bool) -> None:
    code, which = call
    module, node = call_of(code)
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    edit = CallEdit(module.source, node)
    edit.drop_value(values[which], shifts)
    after = splice(code, list(edit.edits()))
    if which >= len(node.args):
        del node.keywords[which - len(node.args)]
    elif shifts or which == len(node.args) - 1:
        del node.args[which]
    else:
        node.args[which] = ast.Constant(None)
    assert ast.dump(ast.parse(after, mode="eval").body) == ast.dump(node)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CallEdit, "_plain", lambda *_: None)
        assert splice(code, list(edit.edits())) == after  # without libcst as with it
    stays = node.args or node.keywords
    assert not stays or after.count("# above") == code.count("# above")


PARAMETERS = ("p", "q", "r", "a", "b", "c")
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("drop"), st.sampled_from(PARAMETERS)),
        st.tuples(st.just("rename"), st.sampled_from(PARAMETERS), st.sampled_from(["x", "new"])),
        st.tuples(st.just("value"), st.sampled_from(PARAMETERS), st.just("[1, 2]")),
        st.tuples(
            st.just("wrap"),
            st.sampled_from(PARAMETERS),
            st.just("1 - "),
            st.just(""),
            st.booleans(),
        ),
        st.tuples(st.just("add"), st.just("more"), st.just("f(0)"), st.booleans()),
        st.tuples(st.just("add"), st.just(""), st.just("f(0)"), st.just(True)),
        st.tuples(st.just("order"), st.sampled_from([(), ("p",), PARAMETERS, ("q", "p")])),
    ),
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(calls(), CHANGES)
def test_changes_are_the_same_with_and_without_libcst(
    call: tuple[str, int], changes: list[tuple[str, ...]]
) -> None:
    code = call[0].replace("**more", "d=0")
    module, node = call_of(code)
    edit = CallEdit(module.source, node, PARAMETERS[:3])
    for name, *values in changes:
        if name not in ("value", "wrap") or edit._find(values[0]) is not None:
            getattr(edit, name)(*values)
    try:
        after = splice(code, list(edit.edits()))
        ast.parse(after)
    except (CSTValidationError, SyntaxError):  # a value without a name behind one that has one
        reject()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CallEdit, "_plain", lambda *_: None)
        assert splice(code, list(edit.edits())) == after


@settings(max_examples=100, deadline=None)
@given(calls())
def test_what_is_not_changed_has_no_edit(call: tuple[str, int]) -> None:
    module, node = call_of(call[0])
    edit = CallEdit(module.source, node, ("p", "q", "r"))
    assert edit.edits() == ()


@pytest.mark.parametrize(("comment", "loaded"), [("", False), ("  # why", True)])
def test_libcst_is_loaded_where_it_is_needed(comment: str, loaded: bool) -> None:
    """Sixty files of plain sessions are migrated in less time than libcst's import takes."""
    program = f"""
import sys
from pathlib import Path
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Source
source = Source(Path("case.py"), "tf.Session(graph=g,{comment}\\n    config=c)")
call = source.tree.body[0].value
edit = CallEdit(source, call)
edit.drop_value(call.keywords[1].value)
print(source.apply(list(edit.edits())))
print("libcst" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    wanted = f"tf.Session(graph=g,{comment}\n    )" if comment else "tf.Session(graph=g)"
    assert done.stdout == f"{wanted}\n{loaded}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(rate=0.1)"),
        ("f(name='x')", "f(rate=0.1, name='x')"),
        ("f(\n    name='x',  # why\n)", "f(\n    rate=0.1, name='x',  # why\n)"),
    ],
)
def test_an_argument_before_the_others(before: str, after: str) -> None:
    module, call = call_of(before)
    edit = CallEdit(module.source, call)
    edit.add("rate", "0.1", first=True)
    assert splice(before, list(edit.edits())) == after
