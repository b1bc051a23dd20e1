"""An iterator that runs are fed the handle of: what stays; what is printed of data goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
PROGRAM = (FOLDER / "feedable_iterators" / "before.py").read_text()
FEED = "sess.run(summary_op, feed_dict={handle: train_handle})"
HANDLE = "`tf.data.Iterator.from_string_handle` is not among the functions"

# What is changed, and what the finding says then.
STAYS = {
    "a run needs nothing of what it would draw": (
        [(FEED, "sess.run(global_step, feed_dict={handle: train_handle})")],
        HANDLE,
    ),
    "a run is fed a handle that is chosen": (
        [(FEED, FEED.replace("train_handle}", "train_handle if step else test_handle}"))],
        HANDLE,
    ),
    "the handle is shown": ([("print(step, value)", "print(step, value, train_handle)")], HANDLE),
    "a run may not be made": (
        [("summary = " + FEED, f"summary = {FEED} if step else b''")],
        HANDLE,
    ),
    "the iterator draws twice": (
        [("letters = tf.one_hot", "more = iterator.get_next()\nletters = tf.one_hot")],
        HANDLE,
    ),
    "the structure is of two datasets": (
        [("train_dataset.output_shapes)", "test_dataset.output_shapes)")],
        HANDLE,
    ),
}


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    pairs, reason = STAYS[case]
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)


def test_what_is_printed_of_data_and_variables_goes() -> None:
    shown = """\
print(train_dataset)

t_vars = tf.trainable_variables()
slim.model_analyzer.analyze_vars(t_vars, print_info=True)

tf.summary.scalar"""
    after = native(changed(PROGRAM, ("tf.summary.scalar", shown)))
    assert "print(train_dataset)" not in after and "t_vars" not in after
    assert "analyze_vars" not in after


def test_a_function_that_prints_variables_goes_with_its_call() -> None:
    function = """\
def show_all_variables():
    model_vars = tf.trainable_variables()
    slim.model_analyzer.analyze_vars(model_vars, print_info=True)


# whose batches"""
    called = ("tf.summary.scalar", "show_all_variables()\ntf.summary.scalar")
    after = native(changed(PROGRAM, ("# whose batches", function), called))
    assert "show_all_variables" not in after and "model_vars" not in after


PLAIN = """\
import numpy as np
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices(ELEMENTS).batch(4)
x = tf.placeholder(tf.float32, [None, 3])
h = tf.layers.dense(x, 5, tf.nn.relu)
loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1)))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
iterator = data.make_one_shot_iterator()
following = iterator.get_next()
sess = tf.Session()
sess.run(tf.global_variables_initializer())
batch = sess.run(following)
print(sess.run([loss, train], {x: FED})[0])
"""


def test_elements_that_may_be_several_become_arrays_one_by_one() -> None:
    pair = PLAIN.replace("ELEMENTS", "(np.ones([8, 3]), np.arange(8))").replace("FED", "batch[0]")
    assert "batch = tf.nest.map_structure(lambda value: value.numpy(), compute_" in native(pair)
    single = PLAIN.replace("ELEMENTS", "np.ones([8, 3])").replace("FED", "batch")
    assert "batch = compute_following().numpy()\n" in native(single)


def test_layers_below_which_an_iterator_feeds_others_stay() -> None:
    text = PLAIN.replace("ELEMENTS", "np.ones([8, 3])").replace("FED", "batch")
    more = "more = tf.layers.dense(tf.cast(following, tf.float32), 2)\nsess = tf.Session()"
    text = text.replace("sess = tf.Session()", more) + "print(sess.run(more))\n"
    result = run(text, bridge=True, native_sessions=True)
    assert any("layers are fed by an iterator" in one for one in said(result)), said(result)


BEGUN = "sess.run(shown_iterator.initializer, feed_dict={shown_text: padded, shown_marks: marks})\n"
FED = {
    "it begins again": (BEGUN, BEGUN + BEGUN),
    "what it is fed is computed there": ("shown_text: padded", "shown_text: padded[1:]"),
    "what it is fed changes": (BEGUN, f"padded[0] = 0\n{BEGUN}"),
    "something else is made of a placeholder": (
        "next_shown = shown",
        "doubled = 2 * shown_marks\nnext_shown = shown",
    ),
}


@pytest.mark.parametrize("case", FED)
def test_a_dataset_of_placeholders_stays(case: str) -> None:
    result = run(changed(PROGRAM, FED[case]), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    reason = "a dataset is made of `shown_text`, a part of the graph"
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)
