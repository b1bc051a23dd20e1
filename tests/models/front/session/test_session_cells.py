"""Recurrent cells that a session's program makes itself, and what runs them."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import program
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

HEAD = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4, 2])
lengths = tf.placeholder(tf.int32, [None])
rows = np.ones([2, 4, 2])
"""
CELL = "cell = tf.nn.rnn_cell.BasicLSTMCell(3)\n"
RUN = "outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\n"
REST = """\
loss = tf.reduce_mean(out)
train = tf.train.AdamOptimizer().minimize(loss)
"""
FEED = "sess.run(train, {x: rows})\n"


def test_a_cell_stays_where_it_stands_and_its_network_is_made_once() -> None:
    after = native(program(CELL + RUN + "out = outputs[:, -1]\n" + REST, FEED, head=HEAD))
    assert "\ncell = LSTMCell(3)\n" in after
    assert "rnn = tf.keras.layers.RNN(cell, return_sequences=True)\n" in after
    assert "    outputs = rnn(x)\n" in after


def test_a_pair_that_is_taken_apart_is_two_values() -> None:
    text = RUN.replace("state =", "(c, h) =") + "out = outputs[:, -1] * c + h\n"
    assert "outputs, c, h = rnn(x)\n" in native(program(CELL + text + REST, FEED, head=HEAD))


def test_a_name_that_nothing_reads_may_have_other_values() -> None:
    text = RUN.replace("state", "_") + "out = outputs[:, -1]\n"
    after = native(
        program(CELL + text + REST, "_, l = sess.run([train, loss], {x: rows})\n", head=HEAD)
    )
    assert "l = train_step(rows).numpy()\n" in after


def test_a_maker_s_arguments_are_its_callers() -> None:
    maker = "def make(size, reuse=False):\n    return tf.nn.rnn_cell.GRUCell(size, reuse=reuse)\n"
    after = native(
        program(maker + "cell = make(3)\n" + RUN + "out = outputs[:, -1]\n" + REST, FEED, head=HEAD)
    )
    assert "    return GRUCell(size)\n" in after
    assert "\ncell = make(3)\n" in after


def test_dropout_around_a_network_is_of_all_its_steps() -> None:
    drop = "keep = tf.placeholder(tf.float32)\n" + CELL
    drop += "cell = tf.nn.rnn_cell.DropoutWrapper(cell, keep, output_keep_prob=keep)\n"
    feed = FEED.replace("rows}", "rows, keep: 0.5}")
    after = native(program(drop + RUN + "out = outputs[:, -1]\n" + REST, feed, head=HEAD))
    assert "outputs = rnn(tf.nn.dropout(x, rate=1 - keep))\n" in after
    assert "outputs = tf.nn.dropout(outputs, rate=1 - keep)\n" in after


def test_inputs_of_a_network_with_lengths_get_a_name() -> None:
    text = RUN.replace("x, ", "tf.tanh(x), sequence_length=lengths, ") + "out = outputs[:, -1]\n"
    feed = FEED.replace("rows}", "rows, lengths: [1, 2]}")
    after = native(program(CELL + text + REST, feed, head=HEAD))
    assert "mask = tf.sequence_mask(lengths, tf.shape(inputs)[1])\n" in after


def test_a_state_begins_another_network() -> None:
    more = "second = tf.nn.rnn_cell.BasicLSTMCell(3)\nmore, _ = tf.nn.dynamic_rnn(second, x, "
    more += "initial_state={}, scope='more')\nout = more[:, -1]\n"
    after = native(program(CELL + RUN + more.format("state") + REST, FEED, head=HEAD))
    assert "(x, initial_state=state)\n" in after
    pair = "tf.nn.rnn_cell.LSTMStateTuple(h=state.c, c=state.h)"
    after = native(program(CELL + RUN + more.format(pair) + REST, FEED, head=HEAD))
    assert "(x, initial_state=[state[1], state[0]])\n" in after


def test_a_loop_of_networks_gives_all_that_is_read_below() -> None:
    loop = """\
out = x
for k in range(2):
    out, state = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.LSTMCell(3), out, dtype=tf.float32, scope='layer_%d' % k)
out = out[:, -1] + state.h
"""
    after = native(program(loop + REST, FEED, head=HEAD))
    assert "        return out, state[1]\n" in after
    assert "    out, state_h = rnn_layers(out)\n" in after
    assert "    out = out[:, -1] + state_h\n" in after


OBJECT = """\
import numpy as np
import tensorflow as tf


class Model:
    def __init__(self, layers, size):
        self.count = layers
        self.size = size
        self.x = tf.placeholder(tf.float32, [None, 4, 2])
        net = self.x
        for i in range(self.count):
            net, _ = tf.nn.dynamic_rnn(
                tf.nn.rnn_cell.GRUCell(self.size), net, dtype=tf.float32, scope='l%d' % i)
        self.loss = tf.reduce_mean(net)
        self.train = tf.train.AdamOptimizer(0.01).minimize(self.loss)


model = Model(2, 5)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
sess.run(model.train, {model.x: np.ones([2, 4, 2])})
"""


def test_a_loop_of_a_constructor_is_told_what_its_object_has() -> None:
    after = native(OBJECT)
    assert "    def __init__(self, count, size):\n        super()" in after
    assert "rnn_layers = RnnLayers(self.count, self.size)\n" in after


def test_a_loop_of_a_constructor_that_calls_its_methods_stays() -> None:
    text = OBJECT.replace("GRUCell(self.size)", "GRUCell(self.asked())")
    text = text.replace("\n\nmodel =", "\n    def asked(self):\n        return 3\n\n\nmodel =")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    reason = "a part of the graph is stored in something other than a variable"
    assert any(reason in message for message in said(result)), said(result)


def test_no_mask_goes_on_to_another_layer() -> None:
    """TF1 has none: what a network gives behind a sequence's end are zeros for those above it."""
    text = RUN.replace("x, ", "x, sequence_length=lengths, ")
    above = "upper = tf.nn.rnn_cell.GRUCell(3)\n" + (
        "_, out = tf.nn.dynamic_rnn(upper, outputs, dtype=tf.float32)\n"
    )
    feed = FEED.replace("rows}", "rows, lengths: [1, 2]}")
    after = native(program(CELL + text + above + REST, feed, head=HEAD))
    assert "    outputs = rnn(x, mask=mask)\n" in after
    assert "    _, out = rnn_2(tf.identity(outputs))\n" in after
    alone = native(program(CELL + text + "out = outputs[:, -1]\n" + REST, feed, head=HEAD))
    assert "identity" not in alone


STAYS = {
    "a cell made of what is fed": (
        "size = tf.shape(x)[0]\n" + CELL.replace("3", "size") + RUN + "out = outputs[:, -1]\n",
        "a recurrent cell depends on `size`, a part of the graph",
    ),
    "a cell that is not known": (
        CELL.replace("BasicLSTMCell(3)", "DeviceWrapper(tf.nn.rnn_cell.GRUCell(3), '/cpu:0')")
        + RUN
        + "out = outputs[:, -1]\n",
        "the recurrent cell `tf.nn.rnn_cell.DeviceWrapper` is not converted",
    ),
    "a cell in two networks": (
        CELL + RUN + RUN.replace("outputs, state", "again, _") + "out = (outputs + again)[:, -1]\n",
        "one cell runs in two recurrent networks",
    ),
    "a cell that is called": (
        CELL + "out, _ = cell(x[:, 0], cell.zero_state(2, tf.float32))\n",
        "a recurrent cell is used by itself",
    ),
    "a state as a whole": (
        CELL + RUN + "out = tf.concat(state, 1)\n",
        "the state of a recurrent network is used as a whole",
    ),
    "a cell that is told to share": (
        "def make(size, reuse=False):\n"
        "    return tf.nn.rnn_cell.LSTMCell(size, reuse=reuse)\n"
        + "cell = make(3, True)\n"
        + RUN
        + "out = outputs[:, -1]\n",
        "`reuse` of `tf.nn.rnn_cell.LSTMCell` cannot be analyzed",
    ),
    "a state of another structure": (
        CELL
        + RUN
        + "second = tf.nn.rnn_cell.GRUCell(3)\n"
        + "more, _ = tf.nn.dynamic_rnn(second, x, initial_state=state, scope='more')\n"
        + "out = more[:, -1]\n",
        "the state that a recurrent network begins with cannot be analyzed",
    ),
    "a cell in two wrappers": (
        CELL
        + "one = tf.nn.rnn_cell.ResidualWrapper(cell)\n"
        + "both = tf.nn.rnn_cell.MultiRNNCell([one, tf.nn.rnn_cell.ResidualWrapper(cell)])\n"
        + RUN.replace("(cell", "(both")
        + "out = outputs[:, -1]\n",
        "the cell in this one may be another one's as well",
    ),
    "a wrapped cell for all of a list": (
        CELL
        + "both = tf.nn.rnn_cell.MultiRNNCell("
        + "[tf.nn.rnn_cell.ResidualWrapper(cell) for _ in range(2)])\n"
        + RUN.replace("(cell", "(both")
        + "out = outputs[:, -1]\n",
        "the cell in this one may be another one's as well",
    ),
    "dropout of a state": (
        "cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(3), state_keep_prob=0.5)\n"
        + RUN
        + "out = outputs[:, -1]\n",
        "`state_keep_prob` of `tf.nn.rnn_cell.DropoutWrapper` cannot be analyzed",
    ),
    # By `output_keep_prob` the cells become networks on one another (`rnn_stacked_dropout`).
    "dropout of a state by a rate that is fed, between cells": (
        "keep = tf.placeholder_with_default(1.0, [])\n"
        + "drop = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(3), state_keep_prob=keep)\n"
        + "cell = tf.nn.rnn_cell.MultiRNNCell([drop, tf.nn.rnn_cell.GRUCell(3)])\n"
        + RUN
        + "out = outputs[:, -1]\n",
        "`state_keep_prob` of `tf.nn.rnn_cell.DropoutWrapper` cannot be analyzed",
    ),
    "a state that is fed": (
        CELL
        + "start = cell.zero_state(2, tf.float32)\n"
        + RUN.replace("dtype=tf.float32", "initial_state=start")
        + "out = outputs[:, -1]\n",
        "a recurrent cell is used by itself",
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_is_not_followed_stays(name: str) -> None:
    text, reason = STAYS[name]
    feed = FEED.replace("rows}", "rows, start: rows}") if "fed" in name[-4:] else FEED
    result = run(program(text + REST, feed, head=HEAD), bridge=True, native_sessions=True)
    assert any(reason in message for message in said(result) if "session stays" in message), said(
        result
    )


STEPS = RUN.replace("tf.nn.dynamic_rnn(cell, x", "tf.nn.static_rnn(cell, steps")


def test_outputs_that_are_read_as_a_list_are_one() -> None:
    text = CELL + "steps = tf.unstack(x, 4, 1)\n" + STEPS + "out = tf.concat(outputs, 1)\n"
    after = native(program(text + REST, FEED, head=HEAD))
    assert "outputs = tf.unstack(rnn(tf.stack(steps, axis=1)), axis=1)\n" in after
    one = native(
        program(text.replace("tf.concat(outputs, 1)", "outputs[-1]") + REST, FEED, head=HEAD)
    )
    assert "outputs = rnn(tf.stack(steps, axis=1))\n" in one
    assert "out = outputs[:, -1]\n" in one


def test_a_list_of_steps_has_as_many_as_it_is_long() -> None:
    lengths = STEPS.replace("steps, ", "steps, sequence_length=lengths, ")
    text = CELL + "steps = tf.unstack(x, 4, 1)\n" + lengths + "out = outputs[-1]\n"
    feed = FEED.replace("rows}", "rows, lengths: [1, 2]}")
    after = native(program(text + REST, feed, head=HEAD))
    assert "mask = tf.sequence_mask(lengths, len(steps))\n" in after
    assert "return_sequences=True, zero_output_for_mask=True" in after


SHARED = """\
def cells():
    return tf.nn.rnn_cell.GRUCell(3)


def net(a, size, reuse=False):
    with tf.variable_scope('net', reuse=reuse):
        stack = tf.nn.rnn_cell.MultiRNNCell([cells() for _ in range(2)])
        outputs, _ = tf.nn.dynamic_rnn(stack, a, dtype=tf.float32)
        b = tf.get_variable('b', shape=(size), initializer=tf.zeros_initializer())
        return outputs[:, -1] + b


out = net(x, 3) - net(x * 2.0, 3, True)
"""


def test_a_list_s_own_name_is_no_tensor_of_another_statement() -> None:
    after = native(program(SHARED + REST, FEED, head=HEAD))
    made = "tf.keras.layers.StackedRNNCells([cells() for _ in range(2)])\n"
    assert f"        stack = {made}" in after


def test_a_shape_that_is_a_number_is_a_list_for_keras() -> None:
    """Keras 3 takes no number for a shape."""
    after = native(program(SHARED + REST, FEED, head=HEAD))
    assert "shape=tf.TensorShape(size)" in after
    listed = SHARED.replace("(x, 3)", "(x, [3])").replace("2.0, 3", "2.0, [3]")
    after = native(program(listed + REST, FEED, head=HEAD))
    assert "TensorShape" not in after


def test_a_kept_state_is_told_where_it_goes() -> None:
    text = OBJECT[: OBJECT.index("        net = self.x")] + (
        "        cell = tf.nn.rnn_cell.BasicLSTMCell(3)\n"
        "        net, self.last = tf.nn.dynamic_rnn(cell, self.x, dtype=tf.float32)\n"
    )
    text += OBJECT[OBJECT.index("        self.loss") :]
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    told = "nothing reads `last`, the state of a recurrent network: no object keeps it any more"
    assert told in said(result)
