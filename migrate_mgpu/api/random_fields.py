"""`tf.contrib.crf`: linear-chain conditional random fields, as functions of TF2's.

`crf_log_likelihood` makes the transitions itself where it is not given them, and no function of TF2
makes a variable: `models/normalize/layers/crf_transitions.py` gives it them. Compared with
TF 1.15.5 by `fixtures/session/random_fields`.
"""

from __future__ import annotations

from migrate_mgpu.api.schema import Definition

_LIKELIHOOD = '''\
def {name}(inputs, tag_indices, sequence_lengths, transition_params):
    """The logarithm of each sequence's probability, as a linear-chain CRF has it; the transitions.

    ``inputs`` are the scores of the tags, [batch, time, tags], before what moves between them.
    """
    lengths = {tf}.cast(sequence_lengths, {tf}.int32)
    batch, time, tags = {tf}.unstack({tf}.shape(inputs))
    mask = {tf}.sequence_mask(lengths, time, {tf}.float32)
    offsets = {tf}.reshape({tf}.range(batch * time) * tags, [batch, time])
    flat = {tf}.reshape(inputs, [-1])
    unary = {tf}.gather(flat, {tf}.cast(offsets, tag_indices.dtype) + tag_indices)
    moves = tag_indices[:, :-1] * {tf}.cast(tags, tag_indices.dtype) + tag_indices[:, 1:]
    moved = {tf}.gather({tf}.reshape(transition_params, [-1]), moves)
    score = {tf}.reduce_sum(unary * mask, 1) + {tf}.reduce_sum(moved * mask[:, 1:], 1)

    def forward(alphas, step_and_scores):
        step, scores = step_and_scores
        new = scores + {tf}.reduce_logsumexp(alphas[:, :, None] + transition_params[None], 1)
        inside = {tf}.logical_and(step > 0, step < lengths)
        return {tf}.where(insideROWS, new, alphas)

    steps = {tf}.range(time), {tf}.transpose(inputs, [1, 0, 2])
    log_norm = {tf}.reduce_logsumexp({tf}.foldl(forward, steps, inputs[:, 0]), 1)
    log_norm = {tf}.where(lengths <= 0, {tf}.zeros_like(log_norm), log_norm)
    return score - log_norm, transition_params'''

_DECODE = '''\
def {name}(potentials, transition_params, sequence_length):
    """The tags with the highest score of each sequence, zeros behind its end, and that score."""
    lengths = {tf}.maximum({tf}.cast(sequence_length, {tf}.int32), 1)
    batch, time, tags = {tf}.unstack({tf}.shape(potentials))
    itself = {tf}.zeros([batch, tags], {tf}.int32) + {tf}.range(tags)

    def forward(best_and_pointers, step_and_scores):
        best, (step, scores) = best_and_pointers[0], step_and_scores
        moves = best[:, :, None] + transition_params[None]
        inside = {tf}.logical_and(step > 0, step < lengths)ROWS
        pointers = {tf}.argmax(moves, 1, output_type={tf}.int32)
        new = {tf}.where(inside, scores + {tf}.reduce_max(moves, 1), best)
        return new, {tf}.where(inside, pointers, itself)

    def backward(tag, pointers):
        return {tf}.gather(pointers, tag, axis=1, batch_dims=1)

    steps = {tf}.range(time), {tf}.transpose(potentials, [1, 0, 2])
    best, pointers = {tf}.scan(forward, steps, (potentials[:, 0], itself))
    last = {tf}.argmax(best[-1], 1, output_type={tf}.int32)
    before = {tf}.scan(backward, pointers, last, reverse=True)  # the tag before each step
    tags = {tf}.transpose({tf}.concat([before[1:], last[None]], 0))
    return tags * {tf}.sequence_mask(lengths, time, {tf}.int32), {tf}.reduce_max(best[-1], 1)'''

LIKELIHOOD = "contrib.crf.crf_log_likelihood"
DECODE = "contrib.crf.crf_decode"
PARAMETERS = ("inputs", "tag_indices", "sequence_lengths", "transition_params")
_DECODED = ("potentials", "transition_params", "sequence_length")


def _written(rows: str) -> dict[str, tuple[tuple[str, ...], Definition]]:
    """Both functions; ``rows``: what lets a condition choose whole rows."""
    likelihood, decode = (text.replace("ROWS", rows) for text in (_LIKELIHOOD, _DECODE))
    return {
        LIKELIHOOD: (PARAMETERS, Definition("crf_log_likelihood", likelihood)),
        DECODE: (_DECODED, Definition("crf_decode", decode)),
    }


FUNCTIONS = _written("[:, None]")
# As TF1 code: its `tf.where` takes a vector for what chooses rows.
TF1_FUNCTIONS = _written("")
