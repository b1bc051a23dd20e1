"""Conditions in functions that all calls decide alike."""

from __future__ import annotations

import ast

import pytest

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.models.normalize.functions import settled_arms
from migrate_mgpu.source.source import splice

FUNCTION = """\
import tensorflow as tf

sess = tf.Session()


def linear(x, size, with_w=False, kind=None, name="linear"):
    w = tf.get_variable("w", [3, size])
    if kind == "l2":
        size += 1
    if with_w:
        return x * w, w
    else:
        # alone
        return x * w


"""
SETTLED = """\
def linear(x, size, name="linear"):
    w = tf.get_variable("w", [3, size])
    # alone
    return x * w
"""


def settled(text: str) -> str:
    project = Project([("train.py", text.encode())])
    (module,) = project.modules.values()
    (node,) = (one for one in module.tree.body if isinstance(one, ast.FunctionDef))
    found = settled_arms.normalize(Function(module, node), CallGraph(project))
    after = splice(text, found.get(module, []))
    compile(after, "train.py", "exec")
    return after


def test_arms_that_no_call_takes_go() -> None:
    after = settled(FUNCTION + 'a = linear(1, 2)\nb = linear(a, 2, with_w=False, name="b")\n')
    assert SETTLED in after
    assert after.endswith('a = linear(1, 2)\nb = linear(a, 2, name="b")\n')


def test_a_parameter_by_place_stays() -> None:
    after = settled(FUNCTION + "a = linear(1, 2, False)\nb = linear(a, 2)\n")
    assert 'def linear(x, size, with_w=False, name="linear"):' in after
    assert "return x * w, w" not in after


@pytest.mark.parametrize(
    "calls",
    [
        "a = linear(1, 2)\nb, w = linear(a, 2, with_w=True, kind='l2')\n",  # two kinds of calls
        "a = linear(1, 2, with_w=bool(a), kind=str(a))\n",  # not known
        "layers = [linear]\n",  # any call
        "",
    ],
)
def test_other_conditions_stay(calls: str) -> None:
    assert settled(FUNCTION + calls) == FUNCTION + calls
