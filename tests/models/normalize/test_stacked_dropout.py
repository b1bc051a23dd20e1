"""Stacks of recurrent cells that drop by a rate which is fed."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import program
from tests.models.front.session.test_session_cells import FEED, HEAD, REST
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

STACK = """\
keep = tf.placeholder_with_default(1.0, [])
low = tf.nn.rnn_cell.BasicLSTMCell(3)
low = tf.nn.rnn_cell.DropoutWrapper(low, output_keep_prob=keep)
top = tf.nn.rnn_cell.GRUCell(4)
stack = tf.nn.rnn_cell.MultiRNNCell([low, top])
outputs, state = tf.nn.dynamic_rnn(stack, x, dtype=tf.float32)
out = outputs[:, -1]
"""
MADE = """\
keep = tf.placeholder_with_default(1.0, [])
def make():
    one = tf.nn.rnn_cell.BasicLSTMCell(3)
    return tf.nn.rnn_cell.DropoutWrapper(one, input_keep_prob=keep)
stack = tf.nn.rnn_cell.MultiRNNCell([make() for _ in range(2)])
outputs, state = tf.nn.dynamic_rnn(stack, x, dtype=tf.float32)
out = outputs[:, -1]
"""


def test_the_rate_drops_between_the_networks() -> None:
    after = native(program(STACK + REST, FEED, head=HEAD))
    assert "dropout(outputs_1, rate=1 - keep)" in after
    assert after.count("tf.keras.layers.RNN(") == 2 and "StackedRNNCells" not in after


@pytest.mark.parametrize("form", ["made", "counted", "documented", "begun"])
def test_cells_of_a_function_are_networks(form: str) -> None:
    text = MADE
    if form == "counted":
        text = "layers = 2\n" + text.replace("range(2)", "range(layers)")
    elif form == "documented":
        text = text.replace("make():\n", 'make():\n    """One."""\n')
    elif form == "begun":
        text = text.replace("x, dtype=tf.float32", "x, initial_state=zeros")
        text = text.replace("outputs, st", "zeros = stack.zero_state(2, tf.float32)\noutputs, st")
    after = native(program(text + REST, FEED, head=HEAD))
    assert after.count("tf.nn.dropout(") == 2, after
    assert after.count("tf.keras.layers.RNN(") == 2 and "zero_state" not in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[low, top]", "[low, low]"),
        ("[low, top]", "[low] * 2"),
        ("(stack, x, dtype=tf.float32)", '(stack, x, dtype=tf.float32, scope=f"{x.name[:1]}")'),
        ("out = ", "size = stack.output_size\nout = "),
        ("stack = ", "other = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2)])\nstack = "),
    ],
)
def test_what_is_not_seen_stays(old: str, new: str) -> None:
    text = program(STACK.replace(old, new) + REST, FEED, head=HEAD)
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)


def test_a_rate_of_python_s_stays_in_its_cell() -> None:
    text = STACK.replace("tf.placeholder_with_default(1.0, [])", "0.5")
    after = native(program(text + REST, FEED, head=HEAD))
    assert "StackedRNNCells" in after
