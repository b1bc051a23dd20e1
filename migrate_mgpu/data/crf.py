"""Linear-chain conditional random fields, as ``tf.contrib.crf`` of TensorFlow 1 has them."""

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

Pair = tuple[tf.Tensor, tf.Tensor]


def crf_sequence_score(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> tf.Tensor:
    """The score of each sequence of tags, not normalized."""
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> tf.Tensor:
    """The logarithm of the sum over all sequences of tags."""
    lengths = tf.cast(sequence_lengths, tf.int32)

    def forward(alphas: Any, step_and_scores: Any) -> tf.Tensor:
        step, scores = step_and_scores
        new = scores + tf.reduce_logsumexp(alphas[:, :, None] + transition_params[None], [1])
        return tf.where(_is_inside(step, lengths), new, alphas)

    log_norm = tf.reduce_logsumexp(tf.foldl(forward, _steps(inputs), inputs[:, 0]), [1])
    return tf.where(lengths <= 0, tf.zeros_like(log_norm), log_norm)


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> Pair:
    """The logarithm of each sequence's probability, and the transitions, made if not given."""
    if transition_params is None:
        tags = inputs.shape.as_list()[2]
        transition_params = tf.get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> tf.Tensor:
    """The sum of the scores of each sequence's tags."""
    batch, time, tags = tf.unstack(tf.shape(inputs))
    offsets = tf.cast(tf.reshape(tf.range(batch * time) * tags, [batch, time]), tag_indices.dtype)
    scores = tf.gather(tf.reshape(inputs, [-1]), offsets + tag_indices)
    return tf.reduce_sum(scores * _mask(tag_indices, sequence_lengths), 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> tf.Tensor:
    """The sum of the scores of each sequence's transitions."""
    tags = transition_params.shape.as_list()[0]
    transitions = tag_indices[:, :-1] * tags + tag_indices[:, 1:]
    scores = tf.gather(tf.reshape(transition_params, [-1]), transitions)
    return tf.reduce_sum(scores * _mask(tag_indices, sequence_lengths)[:, 1:], 1)


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[Any], Any]:
    """The tags with the highest score of one sequence, and that score; of arrays."""
    trellis = np.zeros_like(score)
    backpointers = np.zeros_like(score, dtype=np.int32)
    trellis[0] = score[0]
    for step in range(1, score.shape[0]):
        scores = np.expand_dims(trellis[step - 1], 1) + transition_params
        trellis[step] = score[step] + np.max(scores, 0)
        backpointers[step] = np.argmax(scores, 0)
    viterbi = [np.argmax(trellis[-1])]
    for pointers in reversed(backpointers[1:]):
        viterbi.append(pointers[viterbi[-1]])
    viterbi.reverse()
    return viterbi, np.max(trellis[-1])


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> Pair:
    """The tags with the highest score of each sequence, zeros behind its end, and that score."""
    lengths = tf.maximum(tf.cast(sequence_length, tf.int32), 1)
    itself = tf.zeros(tf.shape(potentials)[::2], tf.int32) + tf.range(tf.shape(potentials)[2])

    def forward(best_and_pointers: Any, step_and_scores: Any) -> Pair:
        best, (step, scores) = best_and_pointers[0], step_and_scores
        moves = best[:, :, None] + transition_params[None]
        inside = _is_inside(step, lengths)
        pointers = tf.argmax(moves, 1, output_type=tf.int32)
        new = tf.where(inside, scores + tf.reduce_max(moves, [1]), best)
        return new, tf.where(inside, pointers, itself)

    def backward(tag: Any, pointers: Any) -> tf.Tensor:
        return tf.gather(pointers, tag, axis=1, batch_dims=1)

    best, pointers = tf.scan(forward, _steps(potentials), (potentials[:, 0], itself))
    last = tf.argmax(best[-1], 1, output_type=tf.int32)
    before = tf.scan(backward, pointers, last, reverse=True)  # the tag before each step
    tags = tf.transpose(tf.concat([before[1:], last[None]], 0))
    return tags * tf.sequence_mask(lengths, tf.shape(tags)[1], tf.int32), tf.reduce_max(best[-1], 1)


def _steps(scores: Any) -> Pair:
    return tf.range(tf.shape(scores)[1]), tf.transpose(scores, [1, 0, 2])


def _is_inside(step: Any, lengths: Any) -> tf.Tensor:
    """Whether a step has one before it, and belongs to its sequence."""
    return tf.logical_and(step > 0, step < lengths)


def _mask(tag_indices: Any, sequence_lengths: Any) -> tf.Tensor:
    return tf.sequence_mask(sequence_lengths, tf.shape(tag_indices)[1], tf.float32)
