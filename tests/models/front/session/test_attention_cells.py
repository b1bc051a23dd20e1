"""Cells that attend to a memory, and the networks that run them."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import program
from tests.models.front.session.test_session_cells import FEED, HEAD, REST
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

BY = "by = tf.contrib.seq2seq.BahdanauAttention(3, x)\n"
CELL = "cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), by, 5)\n"
RUN = "outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\n"
OUT = "out = outputs[:, -1]\n"
ALL = BY + CELL + RUN + OUT


def test_a_memory_is_told_above_the_network_that_attends_to_it() -> None:
    after = native(program(ALL + REST, FEED, head=HEAD))
    assert "AttentionCell(GRUCell(3), BahdanauAttention(3), 5)" in after
    assert "    rnn.cell.attend(x)\n    outputs = rnn(x)\n" in after


def test_a_memory_that_is_computed_gets_a_name() -> None:
    after = native(program(ALL.replace("(3, x)", "(3, tf.tanh(x))") + REST, FEED, head=HEAD))
    assert "    memory = tf.tanh(x)\n    rnn.cell.attend(memory)\n" in after


def test_two_cells_by_one_name_each_have_their_own() -> None:
    more = "_, more = tf.nn.dynamic_rnn(cell, outputs, dtype=tf.float32, scope='more')\n"
    text = BY + CELL + RUN + BY.replace("x", "outputs") + CELL + more + "out = more.attention\n"
    after = native(program(text + REST, FEED, head=HEAD))
    assert "    rnn.cell.attend(x)\n    outputs = rnn(x)\n" in after
    assert ".cell.attend(outputs)\n    _, *more = " in after
    assert "out = more[1]\n" in after


def test_parts_of_a_state_have_their_places() -> None:
    pair = CELL.replace("GRUCell", "LSTMCell")
    for read, written in (("cell_state.h", "[0][1]"), ("[0].c", "[0][0]"), ("attention", "[1]")):
        read = read if read.startswith("[") else f".{read}"
        after = native(
            program(BY + pair + RUN + f"out = tf.tanh(state{read})\n" + REST, FEED, head=HEAD)
        )
        assert f"out = tf.tanh(state{written})\n" in after
        assert "*state = rnn(x)\n" in after


MAKER = """\
def make(memory, size=5):
    by = tf.contrib.seq2seq.LuongAttention(3, memory)
    return tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), by, size + 1)


"""


def test_a_function_that_makes_one_is_written_where_it_is_called() -> None:
    after = native(program(MAKER + RUN.replace("cell", "make(x)", 1) + OUT + REST, FEED, head=HEAD))
    assert "AttentionCell(GRUCell(3), LuongAttention(3), 5 + 1)" in after
    assert "def make" not in after


STATE = CELL + "start = cell.zero_state(2, tf.float32)\n"
START = RUN.replace("x, ", "x, initial_state=start, ")
STAYS = {
    "a mechanism of two cells": (
        BY + CELL + CELL.replace("cell =", "other =") + RUN + OUT,
        "a recurrent cell with attention is not made where one network runs it",
    ),
    "a cell of two networks": (
        BY + CELL + RUN + RUN.replace("outputs, state", "again, _") + OUT,
        "a recurrent cell with attention is not made where one network runs it",
    ),
    "a cell among others": (
        BY + CELL + "cell = tf.nn.rnn_cell.MultiRNNCell([cell])\n" + RUN + OUT,
        "a recurrent cell with attention is not made where one network runs it",
    ),
    "a memory with another value": (
        "net = tf.tanh(x)\n" + BY.replace("x", "net") + "net = net + 1.0\n" + CELL + RUN + OUT,
        "a recurrent cell with attention is not made where one network runs it",
    ),
    "a memory with lengths that are computed there": (
        ALL.replace("(3, x)", "(3, x, memory_sequence_length=lengths + 0)"),
        "what a recurrent cell attends to has no name",
    ),
    "attention by another function": (
        ALL.replace("(3, x)", "(3, x, probability_fn=tf.nn.sigmoid)"),
        "`probability_fn` of `tf.contrib.seq2seq.BahdanauAttention` cannot be analyzed",
    ),
    "normalized scores": (
        ALL.replace("(3, x)", "(3, x, normalize=True)"),
        "`normalize` of `tf.contrib.seq2seq.BahdanauAttention` cannot be analyzed",
    ),
    "a history": (
        ALL.replace("by, 5)", "by, 5, alignment_history=True)"),
        "`alignment_history` of `tf.contrib.seq2seq.AttentionWrapper` cannot be analyzed",
    ),
    "no layer behind it": (
        ALL.replace("by, 5)", "by)"),
        "`tf.contrib.seq2seq.AttentionWrapper` is not given `attention_layer_size`",
    ),
    "several mechanisms": (
        ALL.replace("by, 5)", "[by], [5])"),
        "a recurrent cell with attention is not made where one network runs it",
    ),
    "an output that is not the attention": (
        ALL.replace("by, 5)", "by, 5, output_attention=False)"),
        "`output_attention` of `tf.contrib.seq2seq.AttentionWrapper` cannot be analyzed",
    ),
    "another kind of attention": (
        ALL.replace("Bahdanau", "BahdanauMonotonic"),
        "attention that never goes back is not the only one, or has no decoder",
    ),
    "a state that it begins with": (
        BY + STATE + START.replace("start,", "start.clone(cell_state=x[:, 0, :1]),") + OUT,
        "session stays",
    ),
    "a part that is none here": (
        BY + CELL + RUN + "out = tf.tanh(state[3])\n",
        "which part of a recurrent network's state this is cannot be determined",
    ),
    "a part from the end": (
        BY + CELL + RUN + "out = tf.tanh(state[-1])\n",
        "which part of a recurrent network's state this is cannot be determined",
    ),
    "its alignments": (
        BY + CELL + RUN + "out = tf.tanh(state.alignments)\n",
        "`state.alignments` of a part of the graph",
    ),
    "a state that is unpacked": (
        BY + CELL + RUN + "a, b, c, d, e, f = state\nout = tf.tanh(b)\n",
        "session stays",
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_is_more_stays(name: str) -> None:
    text, reason = STAYS[name]
    result = run(program(text + REST, FEED, head=HEAD), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(reason in message for message in said(result) if "session stays" in message), said(
        result
    )


def test_names_of_its_variables_are_not_known() -> None:
    save = "saver = tf.train.Saver()\n"
    feed = FEED + "saver.save(sess, './model')\n"
    result = run(program(ALL + REST + save, feed, head=HEAD), bridge=True, native_sessions=True)
    assert any("a cell with attention are not known" in one for one in said(result)), said(result)


def test_a_name_with_another_value_below_is_that_of_a_state() -> None:
    stack = CELL.replace(
        "tf.nn.rnn_cell.GRUCell(3)",
        "tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3) for _ in range(2)])",
    )
    more = "state = tuple(state[0][-1] for _ in range(2))\n"
    more += "deep = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3) for _ in range(2)])\n"
    more += "again, _ = tf.nn.dynamic_rnn(deep, x, initial_state=state, scope='deep')\n"
    text = BY + stack + RUN + more + "out = again[:, -1]\n"
    after = native(program(text + REST, FEED, head=HEAD))
    assert "outputs, *state_of_cells = rnn(x)\n" in after
    assert "state = tuple(state_of_cells[0][-1] for _ in range(2))\n" in after


PARAMETER = """\
import numpy as np
import tensorflow as tf


class Model:
    def __init__(self, rows):
        self.x = tf.placeholder(tf.float32, [None, 4])
        rows = tf.shape(self.x)[0]
        net = tf.layers.dense(self.x, 2)
        self.loss = tf.reduce_sum(net) / tf.cast(rows, tf.float32)
        self.train = tf.train.AdamOptimizer(0.01).minimize(self.loss)


model = Model(5)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
sess.run(model.train, {model.x: np.ones([2, 4])})
"""


def test_a_parameter_that_is_a_part_of_the_graph_below() -> None:
    assert "rows = tf.shape(x)[0]\n" in native(PARAMETER)
    text = PARAMETER.replace("        rows = tf", "        first = rows\n        rows = tf")
    text = text.replace("tf.reduce_sum(net)", "first * tf.reduce_sum(net)")
    result = run(text, bridge=True, native_sessions=True)
    assert any("`rows` changes" in one for one in said(result)), said(result)


def test_one_of_an_estimator_stays() -> None:
    """Replicas run in turns, and would tell the one cell their memories."""
    text = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    x = features['x']
    outputs, _ = tf.nn.dynamic_rnn(
        tf.contrib.seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.GRUCell(3), tf.contrib.seq2seq.LuongAttention(3, x), 5),
        x, dtype=tf.float32)
    out = tf.layers.dense(outputs[:, -1], 1)
    loss = tf.losses.mean_squared_error(labels, out)
    step = tf.train.get_global_step()
    train = tf.train.AdamOptimizer().minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def input_fn():
    data = {'x': tf.ones([8, 4, 2])}, tf.ones([8, 1])
    return tf.data.Dataset.from_tensors(data).repeat(3)


tf.estimator.Estimator(model_fn).train(input_fn)
"""
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any("several replicas may train" in one for one in said(result)), said(result)


def test_names_that_choose_variables_are_needed() -> None:
    decay = "loss += tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() "
    decay += "if 'attention' not in v.name])\n"
    text = ALL + REST.replace("train =", decay + "train =")
    result = run(program(text, FEED, head=HEAD), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
