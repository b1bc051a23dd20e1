"""The names of the variables of a network's loops, which its class tells a run."""

from __future__ import annotations

import re

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import sys

import numpy as np
import tensorflow as tf


def net(x, width, depth, scope="net"):
    with tf.variable_scope(scope):
        units = width
        for i in range(1, depth):
            x = tf.layers.dense(x, units, name="a%d" % i)
            x = tf.layers.dense(tf.nn.relu(x), units, use_bias=i > 1, name="b%d" % i)
            units = units * 2
        return tf.layers.dense(x, 1, name="out")


x = tf.placeholder(tf.float32, [None, 3])
out = net(x, 4, len(sys.argv) + 2)
loss = tf.reduce_mean(tf.square(out))
variables = [v for v in tf.trainable_variables() if "net" in v.name]
train = tf.train.AdamOptimizer(0.01).minimize(loss, var_list=variables)
saver = tf.train.Saver()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        print(sess.run([loss, train], {x: np.ones([2, 3])})[0])
    saver.save(sess, "model")
"""
READ = "            units = units * 2\n"
KNOWN = "use_bias=i > 1, "


def test_a_class_tells_the_names_of_its_loops() -> None:
    """Keras 2 lists the layers of a loop list by list, Keras 3 as they are made: names in either
    order would be those of other variables' slots."""
    after = native(PROGRAM)
    assert re.search(r"\*\*dict\(\w+\.tf1_variables\(\)\)", after), after
    assert "names = [names_by_id[id(variable)] for variable in " in after
    assert 'yield scope + self.scope + "/" + "a%d" % i + "/kernel", ' in after
    assert ".bias is not None:\n" in after  # a run knows whether there is one


def test_so_it_does_where_the_loop_is_counted() -> None:
    assert "tf1_variables" in native(PROGRAM.replace("len(sys.argv) + 2", "3"))


def test_a_loop_of_one_layer_has_its_names_written_out() -> None:
    one = PROGRAM.replace("len(sys.argv) + 2", "3").replace(KNOWN, "")
    after = native(re.sub(r"            x = .*a%d.*\n", "", one))
    assert "tf1_variables" not in after and '"net/b2/kernel": ' in after


def test_what_only_the_layers_are_made_of_goes_from_call() -> None:
    call = native(PROGRAM).partition("def call(")[2].partition("def tf1_variables")[0]
    assert "units" not in call


def test_what_call_reads_begins_there_too() -> None:
    """It began within the block alone, whose statement had gone: `UnboundLocalError`."""
    after = native(PROGRAM.replace(READ, f"{READ}            x = x * float(units)\n"))
    call = after.partition("def call(")[2].partition("def tf1_variables")[0]
    assert "        units = self.width\n        with tf.name_scope(self.scope):\n" in call
    assert "                units = units * 2\n" in call


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            "loss = ",
            'with tf.variable_scope("net"):\n    out = tf.layers.dense(out, 2)\nloss = ',
            "several networks have variables in the scope `net`",
        ),
        (
            '"net" in v.name',
            '"a1" in v.name',  # of some rounds
            "`v.name` is something else in TF2",
        ),
        (
            "        return tf.layers",
            "        x = x * tf.Variable(1.0)\n        return tf.layers",
            "`v.name` is something else in TF2",
        ),
    ],
)
def test_stays(old: str, new: str, why: str) -> None:
    result = run(PROGRAM.replace(old, new, 1), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(why in one for one in said(result)), said(result)
