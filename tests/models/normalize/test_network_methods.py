"""Methods that build parts of a network become functions, or the program stays."""

from __future__ import annotations

import pytest

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.models.normalize.objects import network_methods
from tests.models.front.session.test_refusals import program
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

NET = """\
class Net:
    def __init__(self, a, units):
        self.units = units
        self.out = self.both(a)

    def one(self, a, scale=1.0):
        return tf.layers.dense(a, self.units) * scale

    def both(self, a):
        for i in range(2):
            a = self.one(self.one(a), 0.5)
        return a


"""
USE = """\
net = Net(x, 2)
loss = tf.reduce_mean(tf.square(net.out))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
ASKED = USE.replace("net = Net(x, 2)", "out = Net(x, 2).out").replace("net.out", "out")


@pytest.mark.parametrize("use", [USE, ASKED], ids=["named", "asked"])
def test_methods_that_call_one_another_become_functions(use: str) -> None:
    after = native(program(NET + use))
    assert "class One(tf.keras.layers.Layer):\n" in after
    assert "class Net(tf.keras.layers.Layer):\n" in after
    assert "self.one_layers" in after  # one for each round of the loop


def test_what_is_given_by_its_place_behind_what_is_read_gets_its_name() -> None:
    after = native(program(NET + USE))
    assert "scale=0.5" in after


def test_static_methods_become_functions_as_well() -> None:
    half = "    @staticmethod\n    def half(a, by=2.0):\n        return tf.divide(a, by)\n\n"
    static = NET.replace("    def one(self", f"{half}    def one(self")
    static = static.replace("return a\n", "return self.half(a)\n")
    after = native(program(static + USE))
    assert "def half(a, by=2.0):\n    return tf.divide(a, by)\n" in after


def test_an_object_of_settings_stays_one() -> None:
    settings = NET.replace("(self, a, units)", "(self, units)").replace(
        "        self.out = self.both(a)\n", ""
    )
    use = USE.replace("Net(x, 2)", "Net(2)").replace("net.out", "net.both(x)")
    after = native(program(settings + use))
    assert "net = Net(2)\n" in after and "(units=net.units)" in after


def test_an_object_that_keeps_a_part_of_the_graph_is_what_it_is_given() -> None:
    kept = NET.replace("(self, a, units)", "(self, given, units)").replace(
        "        self.out = self.both(a)\n", "        self.given = given\n"
    )
    kept = kept.replace("* scale", "* scale + self.given")
    given = "given = tf.reduce_mean(x)\n"
    use = given + USE.replace("Net(x, 2)", "Net(given, 2)").replace("net.out", "net.both(x)")
    after = native(program(kept + use))
    assert "Net" not in after.replace("Network", "")


NOT_UNDERSTOOD = "what `Net`, a class of the program, makes in the graph is not understood"
WIDE = """\
class Wide(Net):
    def one(self, a, scale=1.0):
        return a


"""
CALLED = "self.one(self.one(a), 0.5)"
STAYS = {
    "another class has the method": NET + WIDE,
    "a method that is handed on": NET.replace(CALLED, "list(map(self.one, [a]))[0]"),
    "a method that changes its object": NET.replace(
        "        return tf.layers", "        self.units += 1\n        return tf.layers"
    ),
    "a method that calls itself": NET.replace(
        "        return a\n", "        return self.both(a)\n"
    ),
    "an attribute that may not be there": NET.replace(
        "        return tf.layers",
        "        if a is None:\n            a = self.other\n        return tf.layers",
    ),
    "a method by its name": NET.replace(CALLED, "getattr(self, 'one')(a)"),
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_stays(text: str) -> None:
    result = run(program(text + USE), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(NOT_UNDERSTOOD in message for message in said(result)), said(result)


BUILT = """\
class Net:
    def __init__(self, units, rate=1.0):
        self.units = units

    def build(self, a):
        self.hidden = tf.layers.dense(a, self.units)
        self.out = tf.nn.relu(self.hidden)


"""
USE_BUILT = USE.replace("Net(x, 2)", "Net(2)\nnet.build(x)")


@pytest.mark.parametrize("made", ["Net(2)", "Net(2, rate=0.5)", "Net(units=2)"])
def test_a_method_builds_the_network_of_what_it_is_given(made: str) -> None:
    after = native(program(BUILT + USE_BUILT.replace("Net(2)", made)))
    assert "    def call(self, a):\n" in after or "    def call(self, x):\n" in after
    assert "net.build" not in after


OUTSIDE = "`x`, a part of the graph, is used outside of `Session.run`"
STAYS_BUILT = {
    "it is given more by its place": USE_BUILT.replace("Net(2)", "Net(2, 0.5)"),
    "it builds twice": USE_BUILT.replace("net.build(x)", "net.build(x)\nnet.build(x)"),
    "something lies between": USE_BUILT.replace("net.build(x)", "net.units = 3\nnet.build(x)"),
}


@pytest.mark.parametrize("use", STAYS_BUILT.values(), ids=STAYS_BUILT)
def test_what_a_method_builds_stays(use: str) -> None:
    result = run(program(BUILT + use), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(OUTSIDE in message for message in said(result)), said(result)


HALF = """\
import tensorflow as tf


class Net:
    {}
        return tf.divide(a, 2.0)
"""
HEADS = ["@staticmethod\n    def half(a):", "def half(self, a):"]
MADE = """\
import tensorflow as tf
from net import Net

tf.Session()
net = Net()
print(net.half(1.0))
"""


@pytest.mark.parametrize("head", HEADS, ids=["static", "own"])
def test_a_method_that_is_asked_of_its_class_stays_one(head: str) -> None:
    """Another module would ask the class for what it has no more."""

    def edits(main: str) -> object:
        files = (("net.py", HALF.format(head)), ("main.py", main))
        project = Project([(name, text.encode()) for name, text in files])
        modules = [*project.modules.values()]
        return network_methods.normalize(modules, CallGraph(project), {*modules})

    assert edits(MADE)
    assert not edits(f"{MADE}print(Net.half(net, 1.0))\n")
