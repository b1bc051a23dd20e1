"""Layers for the next item of a list, as long as there is one."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

PROGRAM = """\
import collections
import numpy as np
import tensorflow as tf

Block = collections.namedtuple('Block', 'units size')


def layer(x, size, activation=None, name='layer'):
    with tf.variable_scope(name):
        w = tf.get_variable('w', [x.get_shape()[-1], size])
        net = tf.matmul(x, w)
        if activation:
            net = activation(net)
        return net


def network(x, activation=tf.nn.relu):
    blocks = [Block(1, 4), Block(2, 5), Block(1, 3)]
    net = layer(x, blocks[0].size, name='first')
    for index, block in enumerate(blocks):
        net = net + layer(net, block.size, activation, name='block_%d' % index)
        try:
            # as wide as the next one
            following = blocks[index + 1]
            net = layer(net, following.size, name='block_%d/next' % index)
        except IndexError:
            pass
    return net


x = tf.placeholder(tf.float32, [None, 4])
y = network(x)
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([4, 4])})
    print(sess.run(y, {x: np.ones([4, 4])}))
"""


def test_the_next_item_is_asked_for_where_there_is_one() -> None:
    after = native(PROGRAM)
    made, _, applied = after.partition("class Network")[2].partition("def call")
    assert "            if index + 1 < len(self.blocks):\n" in made
    assert "                # as wide as the next one\n" in made
    assert "            else:\n                self.layer_layers_1.append(None)\n" in made
    assert "            if index + 1 < len(self.blocks):\n" in applied
    assert "except" not in after


def test_a_layer_keeps_a_name_with_a_slash_itself() -> None:
    after = native(PROGRAM)
    assert "super().__init__(name=name)" not in after
    assert "self.name_ = name" in after and "tf.name_scope(self.name_)" in after
    plain = native(changed(PROGRAM, ("'block_%d/next'", "'next_%d'")))
    assert "super().__init__(name=name)" in plain and "name_ " not in plain


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # what else may ask for an item that is not there
        ("following.size, name", "[4, 5][index], name"),
        ("        net = tf.matmul(x, w)\n", "        net = tf.matmul(x, w) * [1.0][0]\n"),
        # a handler that does something, or waits for another error
        ("            pass\n", "            net = net + 1\n"),
        ("except IndexError:", "except (IndexError, KeyError):"),
        ("except IndexError:", "except ValueError:"),
        # items that are not counted from 0, or of a list that changes
        ("index + 1]", "index - 1]"),
        ("enumerate(blocks)", "enumerate(blocks, 1)"),
        ("    net = layer(x,", "    blocks.append(Block(1, 2))\n    net = layer(x,"),
        # a function that may do anything
        ("y = network(x)", "y = network(x, lambda one: tf.nn.relu(one))"),
    ],
)
def test_what_stays(old: str, new: str) -> None:
    found = "\n".join(said(run(changed(PROGRAM, (old, new)), bridge=True, native_sessions=True)))
    assert "`network` does more than make and apply layers" in found
