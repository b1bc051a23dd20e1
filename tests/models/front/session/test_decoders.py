"""Decoders of `tf.contrib.seq2seq` that a session's program runs."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4, 2])
lengths = tf.placeholder(tf.int32, [None])
table = tf.get_variable("table", [7, 2])
encoder = tf.nn.rnn_cell.GRUCell(3)
_, state = tf.nn.dynamic_rnn(encoder, x, dtype=tf.float32)
cell = tf.nn.rnn_cell.GRUCell(3)
dense = tf.layers.Dense(7)
helper = tf.contrib.seq2seq.TrainingHelper(x, lengths)
decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, state, dense)
told, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder, impute_finished=True)
greedy = tf.contrib.seq2seq.GreedyEmbeddingHelper(table, tf.fill([tf.shape(x)[0]], 1), 2)
chooser = tf.contrib.seq2seq.BasicDecoder(cell, greedy, state, dense)
chosen, _, _ = tf.contrib.seq2seq.dynamic_decode(chooser, maximum_iterations=5)
words = chosen.sample_id
loss = tf.reduce_mean(told.rnn_output)
train = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    rows = np.ones([2, 4, 2])
    sess.run(train, {x: rows, lengths: [4, 2]})
    print(sess.run(words, {x: rows}))
"""


def test_both_decoders_are_one_layer() -> None:
    after = native(PROGRAM)
    assert after.count("decoder = Decoder(cell, dense)\n") == 1
    assert "told = decoder(x, lengths, state)\n" in after
    starts = "tf.fill([tf.shape(x)[0]], 1)"
    assert f"chosen = decoder.greedy(table, {starts}, 2, state, limit=5, zeros=False)" in after
    assert "words = chosen\n" in after
    assert "loss = tf.reduce_mean(told)\n" in after
    assert "seq2seq" not in after


def test_a_decoder_of_its_own_has_a_layer_of_its_own() -> None:
    """Another cell, and another layer: TF1's are other variables too."""
    text = PROGRAM.replace(
        "greedy = ", "cell2 = tf.nn.rnn_cell.GRUCell(3)\ndense2 = tf.layers.Dense(7)\ngreedy = "
    ).replace(
        "BasicDecoder(cell, greedy, state, dense)", "BasicDecoder(cell2, greedy, state, dense2)"
    )
    after = native(text)
    assert after.count("= Decoder(cell, dense)\n") == 1
    assert after.count("= Decoder(cell2, dense2)\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("x, lengths)", "x, lengths, time_major=True)", "is the time"),
        (
            "TrainingHelper(x, lengths)",
            "ScheduledEmbeddingTrainingHelper(x, lengths, table, 0.5, seed=3)",
            "a seed of its own",
        ),
        (
            "TrainingHelper(x, lengths)",
            "ScheduledOutputTrainingHelper(x, lengths, 0.5)",
            "`tf.contrib.seq2seq.ScheduledOutputTrainingHelper` is not among",
        ),
        ("table, tf.fill", "embed, tf.fill", "is given next"),
        ("told, _, _ =", "told, last, _ =", ""),
        ("cell, helper, state, dense)", "cell, helper, state)", "has no name"),
        (
            "cell, helper, state, dense)",
            "cell, helper, cell.zero_state(2, tf.float32), dense)",
            "a recurrent cell is used by itself",
        ),
        ("(cell, helper", "(encoder, helper", "is used by itself"),
        ("loss = tf", "more = dense(state)\nloss = tf", ""),
        ("words = chosen.sample_id", "words = chosen.rnn_output", "another part is used"),
        ("words = chosen.sample_id", "words = tf.identity(chosen[1])", ""),
        ("table, tf.fill", "lambda ids: tf.one_hot(ids, 2), tf.fill", "is given next"),
        ("impute_finished=True", "impute_finished=True, output_time_major=True", "is the time"),
        (
            "    rows = np",
            "    saver = tf.train.Saver()\n    saver.save(sess, './model')\n    rows = np",
            "",
        ),
    ],
)  # fmt: skip
def test_stays(old: str, new: str, reason: str) -> None:
    assert old in PROGRAM
    text = PROGRAM.replace(old, new, 1)
    if "embed," in new:
        text = text.replace("greedy =", "embed = lambda ids: tf.one_hot(ids, 2)\ngreedy =")
    if "last" in new:
        text = text.replace("tf.reduce_mean(told.rnn_output)", "tf.reduce_mean(last)")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state.partition(",")[0] for one in result.programs] == ["bridge"], said(result)
    assert any(reason in message for message in said(result)), said(result)


ATTENDING = (
    PROGRAM.replace(
        "_, state = tf.nn.dynamic_rnn(encoder, x,", "read, state = tf.nn.dynamic_rnn(encoder, x,"
    )
    .replace(
        "cell = tf.nn.rnn_cell.GRUCell(3)\ndense",
        "def attention(memory, lengths, reuse=False):\n"
        "    mechanism = tf.contrib.seq2seq.LuongAttention(\n"
        "        3, memory, memory_sequence_length=lengths)\n"
        "    return tf.contrib.seq2seq.AttentionWrapper(\n"
        "        tf.nn.rnn_cell.MultiRNNCell(\n"
        "            [tf.nn.rnn_cell.GRUCell(3, reuse=reuse) for _ in range(1)]),\n"
        "        mechanism, attention_layer_size=3)\n"
        "cell = attention(read, lengths)\n"
        "begins = cell.zero_state(tf.shape(x)[0], tf.float32).clone(cell_state=(state,))\n"
        "dense",
    )
    .replace(", state, dense)", ", begins, dense)")
    .replace("{x: rows})", "{x: rows, lengths: [4, 2]})")
)


def test_a_cell_with_attention_is_told_its_memory_before_it_decodes() -> None:
    after = native(ATTENDING)
    told = "decoder.rnn.cell.attend(read, lengths)\n"
    assert after.count(told) == 2
    assert "decoder(x, lengths, decoder.rnn.cell.begin((state,)))\n" in after
    assert 'scores = tf.where(self.mask, scores, float("-inf"))' in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", begins, dense)", ", cell.zero_state(2, tf.float32), dense)"),
        ("cell_state=(state,)", "cell_state=state"),
        ("attention_layer_size=3", "attention_layer_size=3, alignment_history=True"),
        (
            "cell = attention(read, lengths)\n",
            "cell = attention(read, lengths)\ncell.output_size\n",
        ),
        ("memory_sequence_length=lengths", "memory_sequence_length=lengths, scale=True"),
        ("clone(cell_state=(state,))", "clone(cell_state=(state,), attention=state)"),
    ],
)
def test_attention_that_is_not_understood_stays(old: str, new: str) -> None:
    assert old in ATTENDING
    result = run(ATTENDING.replace(old, new), bridge=True, native_sessions=True)
    assert [one.state.partition(",")[0] for one in result.programs] == ["bridge"], said(result)


SCHEDULED = PROGRAM.replace(
    "TrainingHelper(x, lengths)", "ScheduledEmbeddingTrainingHelper(x, lengths, table, 0.5)"
)


def test_a_decoder_reads_words_that_it_draws() -> None:
    after = native(SCHEDULED)
    assert "told = decoder.scheduled(x, lengths, table, 0.5, state)\n" in after
    assert "def scheduled(" in after
    assert "def scheduled(" not in native(PROGRAM)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("AdamOptimizer()", "MomentumOptimizer(0.1, 0.9)"),
        (
            "train = tf.train.AdamOptimizer().minimize(loss)",
            "optimizer = tf.train.AdamOptimizer()\n"
            "gradients, variables = zip(*optimizer.compute_gradients(loss))\n"
            "gradients, _ = tf.clip_by_global_norm(gradients, 1.0)\n"
            "train = optimizer.apply_gradients(zip(gradients, variables))",
        ),
    ],
)
def test_rows_that_are_drawn_stay_where_tf1_moves_or_clips_rows(old: str, new: str) -> None:
    text = SCHEDULED.replace(old, new)
    assert text != SCHEDULED
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state.partition(",")[0] for one in result.programs] == ["bridge"], said(result)
    assert any("draws rows of a table" in message for message in said(result)), said(result)


SEARCHED = PROGRAM.replace(
    """\
greedy = tf.contrib.seq2seq.GreedyEmbeddingHelper(table, tf.fill([tf.shape(x)[0]], 1), 2)
chooser = tf.contrib.seq2seq.BasicDecoder(cell, greedy, state, dense)
""",
    """\
chooser = tf.contrib.seq2seq.BeamSearchDecoder(
    cell, table, tf.fill([tf.shape(x)[0]], 1), 2, tf.contrib.seq2seq.tile_batch(state, 5), 5, dense)
""",
).replace("chosen.sample_id", "chosen.predicted_ids")


def test_a_search_with_beams_shares_the_decoder() -> None:
    after = native(SEARCHED)
    starts = "tf.fill([tf.shape(x)[0]], 1)"
    assert f"chosen = decoder.beams(table, {starts}, 2, state, 5, limit=5)\n" in after
    assert after.count("= Decoder(cell, dense)\n") == 1
    assert "seq2seq" not in after


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("tile_batch(state, 5), 5", "tile_batch(state, 4), 5", "begins with cannot be analyzed"),
        ("tf.contrib.seq2seq.tile_batch(state, 5)", "state", "begins with cannot be analyzed"),
        ("5, dense)", "5, dense, length_penalty_weight=0.6)", "looks at more than"),
        ("5, dense)", "5, dense, coverage_penalty_weight=0.1)", "looks at more than"),
        ("(chooser, ", "(chooser, impute_finished=True, ", "zeros stand behind an end"),
        (".predicted_ids", ".beam_search_decoder_output", "another part is used"),
        ("table, tf.fill", "lambda ids: tf.one_hot(ids, 2), tf.fill", "is given next"),
    ],
)
def test_another_search_stays(old: str, new: str, reason: str) -> None:
    assert old in SEARCHED
    result = run(SEARCHED.replace(old, new), bridge=True, native_sessions=True)
    assert [one.state.partition(",")[0] for one in result.programs] == ["bridge"], said(result)
    assert any(reason in message for message in said(result)), said(result)


AGAIN = """\
import numpy as np
import tensorflow as tf


def attention(memory, lengths, reuse=False):
    mechanism = tf.contrib.seq2seq.LuongAttention(3, memory, memory_sequence_length=lengths)
    return tf.contrib.seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(3, reuse=reuse), mechanism, attention_layer_size=3)


x = tf.placeholder(tf.float32, [None, 4, 2])
lengths = tf.placeholder(tf.int32, [None])
table = tf.get_variable("table", [7, 2])
read, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), x, dtype=tf.float32)
with tf.variable_scope("decode"):
    cell = attention(read, lengths)
    begins = cell.zero_state(tf.shape(x)[0], tf.float32).clone(cell_state=state)
    helper = tf.contrib.seq2seq.TrainingHelper(x, lengths)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, begins, tf.layers.Dense(7))
    told, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder, impute_finished=True)
with tf.variable_scope("decode", reuse=True):
    read_tiled = tf.contrib.seq2seq.tile_batch(read, 5)
    lengths_tiled = tf.contrib.seq2seq.tile_batch(lengths, 5)
    state_tiled = tf.contrib.seq2seq.tile_batch(state, 5)
    cell = attention(read_tiled, lengths_tiled, reuse=True)
    begins = cell.zero_state(tf.shape(x)[0] * 5, tf.float32).clone(cell_state=state_tiled)
    chooser = tf.contrib.seq2seq.BeamSearchDecoder(
        cell, table, tf.fill([tf.shape(x)[0]], 1), 2, begins, 5, tf.layers.Dense(7, _reuse=True))
    chosen, _, _ = tf.contrib.seq2seq.dynamic_decode(chooser, maximum_iterations=5)
words = chosen.predicted_ids
loss = tf.reduce_mean(told.rnn_output)
train = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {x: np.ones([2, 4, 2]), lengths: [4, 2]}
    sess.run(train, feed)
    print(sess.run(words, feed))
"""


def test_a_decoder_that_is_made_again_with_its_variables_is_the_first() -> None:
    after = native(AGAIN)
    assert after.count("= Decoder(cell, output_layer)\n") == 1
    assert "decoder.rnn.cell.attend(read, lengths)\n" in after
    tiled = "tf.repeat(read, 5, axis=0), tf.repeat(lengths, 5, axis=0)"
    assert f"decoder.rnn.cell.attend({tiled})\n" in after
    begin = "decoder.rnn.cell.begin(state)"
    starts = "tf.fill([tf.shape(x)[0]], 1)"
    assert f"decoder.beams(table, {starts}, 2, {begin}, 5, limit=5)\n" in after


def test_the_scope_alone_says_that_variables_are_there() -> None:
    alone = AGAIN.replace("lengths_tiled, reuse=True)", "lengths_tiled)")
    assert native(alone.replace("Dense(7, _reuse=True)", "Dense(7)")) == native(AGAIN)


_SHARED = "`reuse` of `tf.nn.rnn_cell.GRUCell` cannot be analyzed"
_UNNAMED = "a decoder whose cell or output layer has no name, or that begins with no state"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("tile_batch(read, 5)", "tile_batch(read, 4)", _SHARED),
        ("tile_batch(read, 5)", "tile_batch(tf.zeros_like(read), 5)", _SHARED),
        ("Dense(7, _reuse=True)", "Dense(8)", _SHARED),
        ("    chosen, _, _", "    more = tf.layers.dense(read, 7)\n    chosen, _, _", _SHARED),
        ('"decode", reuse=True', '"others"', _UNNAMED),
        ('"decode", reuse=True', '"decode", reuse=tf.AUTO_REUSE', _UNNAMED),
    ],
)
def test_one_that_may_have_others_stays(old: str, new: str, reason: str) -> None:
    assert old in AGAIN
    result = run(AGAIN.replace(old, new), bridge=True, native_sessions=True)
    assert [one.state.partition(",")[0] for one in result.programs] == ["bridge"], said(result)
    assert any(reason in message for message in said(result)), said(result)


MONOTONIC = AGAIN.replace("LuongAttention", "LuongMonotonicAttention")


def test_attention_that_never_goes_back_is_a_part_of_the_state() -> None:
    after = native(MONOTONIC)
    assert "class LuongMonotonicAttention(tf.keras.layers.Layer):" in after
    assert "state, attention, alignments = states\n" in after
    assert "self.attention_mechanism.begin(rows)\n" in after
    assert "alignments" in native(AGAIN)
    assert "alignments = states" not in native(AGAIN)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "sequence_length=lengths",
            "sequence_length=lengths, sigmoid_noise=1.0",
            "cannot be analyzed",
        ),
        ("sequence_length=lengths", "sequence_length=lengths, mode='hard'", "cannot be analyzed"),
        (
            "sequence_length=lengths",
            "sequence_length=lengths, score_bias_init=1.0",
            "cannot be analyzed",
        ),
        (
            "with tf.variable_scope",
            "first = tf.contrib.seq2seq.AttentionWrapper(\n"
            "    tf.nn.rnn_cell.GRUCell(3), tf.contrib.seq2seq.LuongAttention(3, read), 3)\n"
            "read, _ = tf.nn.dynamic_rnn(first, x, dtype=tf.float32)\n"
            "with tf.variable_scope",
            "never goes back",
        ),
        (
            "with tf.variable_scope",
            "first = tf.contrib.seq2seq.AttentionWrapper(\n"
            "    tf.nn.rnn_cell.GRUCell(3),\n"
            "    tf.contrib.seq2seq.LuongMonotonicAttention(3, read), 3)\n"
            "read, _ = tf.nn.dynamic_rnn(first, x, dtype=tf.float32)\n"
            "with tf.variable_scope",
            "never goes back",
        ),
    ],
)
def test_other_attention_that_never_goes_back_stays(old: str, new: str, reason: str) -> None:
    assert old in MONOTONIC
    result = run(MONOTONIC.replace(old, new, 1), bridge=True, native_sessions=True)
    assert [one.state.partition(",")[0] for one in result.programs] == ["bridge"], said(result)
    assert any(reason in message for message in said(result)), said(result)
