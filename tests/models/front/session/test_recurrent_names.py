"""The names that TF 1.15 gives the variables of recurrent networks, which savers save them by."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3, 2])
with tf.variable_scope("net"):
    cell = tf.nn.rnn_cell.LSTMCell(4)
    outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
loss = tf.reduce_mean(tf.square(outputs))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([4, 3, 2])})
    saver.save(sess, "model")
"""
STACK = "tf.nn.rnn_cell.MultiRNNCell([{}])"
DROPS = "tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), output_keep_prob=1.0)"


@pytest.mark.parametrize(
    ("cell", "saved"),
    [  # as `tf.global_variables()` of TF 1.15.5 shows them
        ("tf.nn.rnn_cell.LSTMCell(4)", {"rnn/lstm_cell/kernel": "rnn.cell.kernel"}),
        ("tf.nn.rnn_cell.BasicLSTMCell(4)", {"rnn/basic_lstm_cell/bias": "rnn.cell.bias"}),
        ("tf.nn.rnn_cell.BasicRNNCell(4)", {"rnn/basic_rnn_cell/kernel": "rnn.cell.kernel"}),
        (
            "tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True, state_is_tuple=False)",
            {
                "rnn/lstm_cell/kernel": "rnn.cell.cells[0].kernel",
                "rnn/lstm_cell/w_f_diag": "rnn.cell.cells[0].w_f_diag",
                "rnn/lstm_cell/w_o_diag": "rnn.cell.cells[0].w_o_diag",
            },
        ),
        ("tf.nn.rnn_cell.LSTMCell(4, name='mine')", {"rnn/mine/kernel": "rnn.cell.kernel"}),
        (
            "tf.nn.rnn_cell.GRUCell(4)",
            {
                "rnn/gru_cell/gates/kernel": "rnn.cell.gate_kernel",
                "rnn/gru_cell/gates/bias": "rnn.cell.gate_bias",
                "rnn/gru_cell/candidate/kernel": "rnn.cell.candidate_kernel",
                "rnn/gru_cell/candidate/bias": "rnn.cell.candidate_bias",
            },
        ),
        (
            STACK.format("tf.nn.rnn_cell.LSTMCell(4) for _ in range(2)"),
            {
                "rnn/multi_rnn_cell/cell_0/lstm_cell/kernel": "rnn.cell.cells[0].kernel",
                "rnn/multi_rnn_cell/cell_1/lstm_cell/bias": "rnn.cell.cells[1].bias",
            },
        ),
        (
            STACK.format(f"tf.nn.rnn_cell.BasicRNNCell(4), {DROPS}"),
            {
                "rnn/multi_rnn_cell/cell_0/basic_rnn_cell/kernel": "rnn.cell.cells[0].kernel",
                "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel": (
                    "rnn.cell.cells[1].cell.gate_kernel"
                ),
            },
        ),
    ],
)
def test_names_are_those_of_the_cells(cell: str, saved: dict[str, str]) -> None:
    after = native(PROGRAM.replace("tf.nn.rnn_cell.LSTMCell(4)", cell))
    for name, value in saved.items():
        assert f'"net/{name}": {value}' in after, after


def test_a_scope_of_its_own_stands_before_them() -> None:
    after = native(PROGRAM.replace("x, dtype=", "x, scope='reader', dtype="))
    assert '"net/reader/lstm_cell/kernel": reader.cell.kernel' in after


def test_both_ways_have_the_scope_of_the_two() -> None:
    both = (
        "(outputs, back), _ = tf.nn.bidirectional_dynamic_rnn(cell, tf.nn.rnn_cell.LSTMCell(4), x,"
    )
    text = PROGRAM.replace("outputs, _ = tf.nn.dynamic_rnn(cell, x,", both)
    after = native(text.replace("tf.square(outputs)", "tf.square(outputs - back)"))
    assert '"net/bidirectional_rnn/fw/lstm_cell/kernel": fw.cell.kernel' in after
    assert '"net/bidirectional_rnn/bw/lstm_cell/bias": bw.cell.bias' in after


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        (  # how many cells there are is known when it runs
            {
                "tf.nn.rnn_cell.LSTMCell(4)": STACK.format(
                    "tf.nn.rnn_cell.LSTMCell(4) for _ in range(int(input()))"
                )
            },
            "the names of a recurrent network's variables cannot be determined",
        ),
        (
            {"LSTMCell(4)": "LSTMCell(4, name=input())"},
            "the name of a recurrent cell cannot be determined",
        ),
        (
            {"LSTMCell(4)": "LSTMCell(4, use_peepholes=bool(input()))"},
            "whether a cell has peepholes cannot be determined",
        ),
    ],
)
def test_others_stay(pairs: dict[str, str], why: str) -> None:
    text = PROGRAM
    for old, new in pairs.items():
        assert old in text
        text = text.replace(old, new)
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any(why in one for one in said(result)), said(result)


COUNTED = """\
import numpy as np
import tensorflow as tf


class Model:
    def __init__(self, layers):
        cells = [tf.nn.rnn_cell.GRUCell(3) for _ in range(layers)]
        self.x = tf.placeholder(tf.float32, [None, 4, 2])
        stack = tf.nn.rnn_cell.MultiRNNCell(cells)
        self.outputs, self.state = tf.nn.dynamic_rnn(stack, self.x, dtype=tf.float32)
        self.loss = tf.reduce_mean(self.outputs)
        self.train = tf.train.AdamOptimizer(0.01).minimize(self.loss)


count = 2
model = Model(count)
saver = tf.train.Saver()
sess = tf.Session()
sess.run(tf.global_variables_initializer())
sess.run(model.train, {model.x: np.ones([2, 4, 2])})
saver.save(sess, './model')
"""


def test_a_constructor_s_calls_say_how_many_cells_a_stack_has() -> None:
    assert "'rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel'" in native(COUNTED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("count = 2\n", "count = int(np.ones(2).sum())\n"),
        ("Model(count)", "Model(*[count])"),
        ("count = 2\n", "count = 2\nkind = Model\n"),
        ("sess = tf", "print(model.state)\nsess = tf"),
        ("sess = tf", "print(getattr(model, 'state'))\nsess = tf"),
        ("sess.run(model.train,", "sess.run([model.train, model.state],"),
    ],
)
def test_a_count_or_a_state_that_is_not_known_stays(old: str, new: str) -> None:
    result = run(COUNTED.replace(old, new), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
