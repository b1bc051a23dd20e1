"""What functions of libraries compute of the graph, which TF2's programs get written out.

The searches of Tensor2Tensor run on TensorFlow 1.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.schema import Definition

BEAM_SEARCH = "tensor2tensor.utils.beam_search.beam_search"
RESULTS = 3  # ids, scores and states
# The parameters in the library's order. That without a name would need what is not written here.
_PARAMETERS = (
    "symbols_to_logits_fn", "initial_ids", "beam_size", "decode_length", "vocab_size", "alpha", "",
    "eos_id", "stop_early",
)  # fmt: skip
SEARCHES: dict[str, tuple[tuple[str, ...], Definition]] = {
    BEAM_SEARCH: (
        _PARAMETERS,
        Definition(
            "search_beams",
            '''\
def {name}(
    symbols_to_logits_fn, initial_ids, beam_size, decode_length, vocab_size, alpha, eos_id=1,
    stop_early=True
):
    """The likeliest sequences that begin with some ids, and their scores, as Tensor2Tensor had it.

    A sequence that has ended is kept beside those that go on, as many of each.
    """
    rows, lowest = {tf}.shape(initial_ids)[0], 1e7
    sequences = {tf}.tile(initial_ids[:, None, None], [1, beam_size, 1])
    likely = {tf}.tile({tf}.constant([[0.0] + [-lowest] * (beam_size - 1)]), [rows, 1])
    ended = {tf}.zeros([rows, beam_size, 1], {tf}.int32)
    scores = {tf}.fill([rows, beam_size], -lowest)
    flags = {tf}.zeros([rows, beam_size], {tf}.bool)

    def penalty(length):
        return {tf}.pow((5.0 + {tf}.cast(length, {tf}.float32)) / 6.0, alpha)

    def best(order, *values):
        chosen = {tf}.math.top_k(order, beam_size)[1]
        return [{tf}.gather(value, chosen, batch_dims=1) for value in values]

    def more(step, sequences, likely, ended, scores, flags):
        known = {tf}.reduce_max(scores, 1) if stop_early else {tf}.reduce_min(scores)
        done = {tf}.reduce_all(known > likely[:, 0] / penalty(decode_length))
        return {tf}.logical_and(step < decode_length, {tf}.logical_not(done))

    def longer(step, sequences, likely, ended, scores, flags):
        flat = {tf}.reshape(sequences, [rows * beam_size, step + 1])
        logits = symbols_to_logits_fn(flat)
        logits = {tf}.reshape(logits, [rows, beam_size, -1])
        logits -= {tf}.reduce_logsumexp(logits, -1, keepdims=True)
        total = (logits + likely[:, :, None]) / penalty(step + 1)
        total = {tf}.reshape(total, [-1, beam_size * vocab_size])
        found, places = {tf}.math.top_k(total, 2 * beam_size)
        begun = {tf}.gather(sequences, places // vocab_size, batch_dims=1)
        words = places % vocab_size
        grown = {tf}.concat([begun, words[:, :, None]], 2)
        finished = {tf}.equal(words, eos_id)
        last = {tf}.cast(finished, {tf}.float32)
        sequences, likely = best(found - last * lowest, grown, found * penalty(step + 1))
        ended = {tf}.concat([ended, {tf}.zeros([rows, beam_size, 1], {tf}.int32)], 2)
        scores = {tf}.concat([scores, found - (1.0 - last) * lowest], 1)
        ended = {tf}.concat([ended, grown], 1)
        flags = {tf}.concat([flags, finished], 1)
        ended, scores, flags = best(scores, ended, scores, flags)
        return step + 1, sequences, likely, ended, scores, flags

    several = {tf}.TensorShape([None, None, None])
    each = {tf}.TensorShape([None, beam_size])
    _, sequences, likely, ended, scores, flags = {tf}.while_loop(
        more, longer, [{tf}.constant(0), sequences, likely, ended, scores, flags],
        shape_invariants=[{tf}.TensorShape([]), several, each, several, each, each],
        parallel_iterations=1)
    any_ended = {tf}.reduce_any(flags, 1)
    ended = {tf}.where(any_ended[:, None, None], ended, sequences)
    ended.set_shape([None, beam_size, None])
    scores = {tf}.where(any_ended[:, None], scores, likely)
    return ended, {tf}.stop_gradient(scores), {{}}''',
        ),
    ),
}


def search_of(module: Module, node: ast.AST | None) -> str:
    """The library's name of such a function, where a call is one of it; else empty."""
    name = module.names.qualname(node.func) if isinstance(node, ast.Call) else None
    return name if name in SEARCHES else ""
