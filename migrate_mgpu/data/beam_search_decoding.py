"""Decoding by a search with beams, as ``tf.contrib.seq2seq`` of TensorFlow 1 has it."""

from typing import Any, NamedTuple, Optional

import tensorflow.compat.v1 as tf


class BeamSearchDecoderState(NamedTuple):
    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """What the search found: ``predicted_ids`` are ``[batch, time, beam]``, the best beam first."""

    predicted_ids: Any
    beam_search_decoder_output: Any


def tile_batch(t: Any, multiplier: int, name: Optional[str] = None) -> Any:
    """Tensors with each entry of their batch repeated."""

    def tiled(one: Any) -> Any:
        one = tf.convert_to_tensor(one)
        if not one.shape.rank:
            raise ValueError("t must have statically known rank")
        batch = one.shape.as_list()[0]
        made = tf.repeat(one, multiplier, axis=0)
        made.set_shape(_shape([None if batch is None else batch * multiplier], one.shape[1:]))
        return made

    with tf.name_scope(name, "tile_batch"):
        return tf.nest.map_structure(tiled, t)


def gather_tree(
    step_ids: Any,
    parent_ids: Any,
    max_sequence_lengths: Any,
    end_token: Any,
    name: Optional[str] = None,
) -> Any:
    """The words of each beam, ``[time, batch, beam]``, from those of the steps of its parents.

    Behind the first end token of a beam, and its longest sequence, are end tokens.
    """
    with tf.name_scope(name, "GatherTree"):
        step_ids, parent_ids = tf.convert_to_tensor(step_ids), tf.convert_to_tensor(parent_ids)
        shape = tf.shape(step_ids)
        itself = tf.zeros(shape[1:], tf.int32) + tf.range(shape[2])

        def back(word_and_beam: Any, step: Any) -> Any:
            time, words, parents = step
            beam = word_and_beam[1]
            inside = tf.broadcast_to((time < max_sequence_lengths)[:, None], tf.shape(beam))
            ends = tf.fill(tf.shape(beam), end_token)
            return (
                tf.where(inside, tf.gather(words, beam, axis=1, batch_dims=1), ends),
                tf.where(inside, tf.gather(parents, beam, axis=1, batch_dims=1), beam),
            )

        steps = (tf.range(shape[0]), step_ids, parent_ids)
        words, _ = tf.scan(back, steps, (itself, itself), reverse=True)
        ended = tf.cumsum(tf.cast(tf.equal(words, end_token), tf.int32), 0, exclusive=True) > 0
        words = tf.where(ended, tf.fill(shape, end_token), words)
        words.set_shape(step_ids.shape)
        return words


def _beams_in_order(stacked: Any, parent_ids: Any, lengths: Any) -> Any:
    """What an array has for each step, ``[time, batch * beam, ...]``, by the beams that stay."""
    time, batch, beams = tf.unstack(tf.shape(parent_ids))
    own = tf.zeros([time, batch, beams], tf.int32) + tf.range(beams)
    longest = tf.cast(tf.reduce_max(lengths, axis=1), tf.int32)
    order = gather_tree(own, parent_ids, longest, beams + 1)
    inside = tf.transpose(tf.sequence_mask(lengths, time), [2, 0, 1])
    order = tf.where(inside, order, own)
    split = tf.reshape(stacked, [time, batch, beams, -1])
    return tf.reshape(tf.gather(split, order, axis=2, batch_dims=2), tf.shape(stacked))


class BeamSearchDecoder:
    """Keeps the best beginnings of sequences; run by ``dynamic_decode``."""

    tracks_own_finished = True

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: float = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        self._cell = cell
        self._output_layer = output_layer
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._embedding_fn = embedding
        if not callable(embedding):
            self._embedding_fn = lambda ids: tf.nn.embedding_lookup(embedding, ids)
        self._start_tokens = tf.convert_to_tensor(start_tokens, tf.int32)
        self._end_token = tf.convert_to_tensor(end_token, tf.int32)
        if self._start_tokens.shape.rank != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end_token.shape.rank != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = tf.size(start_tokens)
        self._initial_cell_state = tf.nest.map_structure(
            self._split, initial_state, cell.state_size
        )
        self._start_tokens = tf.tile(self._start_tokens[:, None], [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        self._finished = self._first_beam(False, True, tf.bool)

    def _first_beam(self, first: Any, others: Any, dtype: Any) -> Any:
        """A value for the first beam of each sequence, and one for all others."""
        places = tf.zeros([self._batch_size], tf.int32)
        return tf.one_hot(places, self._beam_width, first, others, dtype=dtype)

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def output_size(self) -> Any:
        return BeamSearchDecoderOutput(*[tf.TensorShape([self._beam_width])] * 3)

    @property
    def output_dtype(self) -> Any:
        dtype = tf.nest.flatten(self._initial_cell_state)[0].dtype
        return BeamSearchDecoderOutput(dtype, tf.int32, tf.int32)

    def initialize(self, name: Optional[str] = None) -> Any:
        dtype = tf.nest.flatten(self._initial_cell_state)[0].dtype
        attention = self._attention_probabilities(self._initial_cell_state)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=self._first_beam(0.0, dtype.as_numpy_dtype("-inf"), dtype),
            finished=self._finished,
            lengths=tf.zeros([self._batch_size, self._beam_width], tf.int64),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return self._finished, self._start_inputs, state

    def step(self, time: Any, inputs: Any, state: Any, name: Optional[str] = None) -> Any:
        with tf.name_scope(name, "BeamSearchDecoderStep", [time]):
            inputs = tf.nest.map_structure(lambda one: self._merge(one, one.shape[2:]), inputs)
            sizes = self._cell.state_size
            cell_state = tf.nest.map_structure(self._merge, state.cell_state, sizes)
            logits, cell_state = self._cell(inputs, cell_state)
            logits = self._split(logits, logits.shape[1:])
            if self._output_layer is not None:
                logits = self._output_layer(logits)
            cell_state = tf.nest.map_structure(self._split, cell_state, sizes)
            output, state = self._search(logits, cell_state, state)
            inputs = tf.cond(
                tf.reduce_all(state.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(output.predicted_ids),
            )
        return output, state, inputs, state.finished

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        longest = tf.cast(tf.reduce_max(final_state.lengths, axis=1), tf.int32)
        words = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder_tensor_arrays:
            cell_state = tf.nest.map_structure(
                lambda one: self._in_order(one, outputs.parent_ids, final_state.lengths),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(words, outputs), final_state

    def _in_order(self, array: Any, parent_ids: Any, lengths: Any) -> Any:
        """What a cell wrote step by step, by the beams that stay; all else as it is."""
        if not isinstance(array, tf.TensorArray) or not array.element_shape.rank:
            return array
        first, *others = array.element_shape.as_list()
        beams, batch = self._beam_width, tf.get_static_value(self._batch_size)
        if batch is not None and first is not None:
            apart = others and others[0] is not None and (first, others[0]) != (batch, beams)
            if first != batch * beams or apart:  # what TensorFlow 1 leaves in its order as well
                return array
        return _beams_in_order(array.stack(), parent_ids, lengths)

    # -- beams as a part of the batch, and apart -----------------------------------

    def _merge(self, one: Any, size: Any) -> Any:
        """``[batch, beam, ...]`` as ``[batch * beam, ...]``; numbers and arrays as they are."""
        if isinstance(one, tf.TensorArray) or one.shape.rank < 2:
            return one
        batch = tf.get_static_value(self._batch_size)
        made = tf.reshape(
            one, tf.concat([[self._batch_size * self._beam_width], tf.shape(one)[2:]], 0)
        )
        made.set_shape(_shape([None if batch is None else batch * self._beam_width], size))
        return made

    def _split(self, one: Any, size: Any) -> Any:
        """``[batch * beam, ...]`` as ``[batch, beam, ...]``; numbers and arrays as they are."""
        if isinstance(one, tf.TensorArray) or one.shape.rank == 0:
            return one
        beams = [self._batch_size, self._beam_width]
        made = tf.reshape(one, tf.concat([beams, tf.shape(one)[1:]], 0))
        made.set_shape(_shape([tf.get_static_value(self._batch_size), self._beam_width], size))
        return made

    # -- one step of the search ----------------------------------------------------

    def _search(self, logits: Any, cell_state: Any, state: Any) -> Any:
        beams = self._beam_width
        words = logits.shape.as_list()[-1] or tf.shape(logits)[-1]
        ended = state.finished
        total = state.log_probs[:, :, None] + self._log_probabilities(logits, words, ended)
        goes_on = tf.one_hot(self._end_token, words, 0, 1, dtype=tf.int64)
        added = goes_on * tf.cast(tf.logical_not(ended), tf.int64)[:, :, None]
        lengths = state.lengths[:, :, None] + added
        attention = self._attention_probabilities(cell_state)
        if attention is not None:
            attention *= tf.cast(tf.logical_not(ended), tf.float32)[:, :, None]
            attention += state.accumulated_attention_probs
        scores = self._scores(total, lengths, ended, attention)
        best, places = tf.nn.top_k(tf.reshape(scores, [self._batch_size, -1]), beams)
        batch = tf.get_static_value(self._batch_size)
        best.set_shape([batch, beams])
        places.set_shape([batch, beams])
        flat = tf.reshape(total, [self._batch_size, -1])
        new_words, parents = places % words, places // words

        def of_parents(one: Any) -> Any:
            return tf.gather(one, parents, axis=1, batch_dims=1)

        def moved(one: Any) -> Any:
            if isinstance(one, tf.TensorArray) or one.shape.rank < 2:
                return one
            return of_parents(one)

        before = of_parents(ended)
        new_state = BeamSearchDecoderState(
            cell_state=tf.nest.map_structure(moved, cell_state),
            log_probs=tf.gather(flat, places, axis=1, batch_dims=1),
            finished=tf.logical_or(before, tf.equal(new_words, self._end_token)),
            lengths=of_parents(state.lengths) + tf.cast(tf.logical_not(before), tf.int64),
            accumulated_attention_probs=() if attention is None else of_parents(attention),
        )
        return BeamSearchDecoderOutput(best, new_words, parents), new_state

    def _log_probabilities(self, logits: Any, words: Any, ended: Any) -> Any:
        """Those of the next words; a beam that has ended only gets end tokens."""
        logs = tf.nn.log_softmax(logits)
        only_end = tf.one_hot(self._end_token, words, 0.0, logs.dtype.min, dtype=logs.dtype)
        mask = tf.broadcast_to(ended[:, :, None], tf.shape(logs))
        return tf.where(mask, tf.broadcast_to(only_end, tf.shape(logs)), logs)

    def _scores(self, total: Any, lengths: Any, ended: Any, attention: Any) -> Any:
        """By https://arxiv.org/abs/1609.08144: penalties of lengths and of what is not read."""
        weight = tf.convert_to_tensor(self._length_penalty_weight)
        if tf.get_static_value(weight) != 0:
            penalty = (5.0 + tf.cast(lengths, tf.float32)) ** weight / 6.0**weight
            total /= tf.cast(penalty, total.dtype)
        if attention is None:
            return total
        read = tf.where(tf.equal(attention, 0.0), tf.ones_like(attention), attention)
        penalty = tf.reduce_sum(tf.log(tf.minimum(read, 1.0)), 2) * tf.cast(ended, tf.float32)
        return total + (penalty * self._coverage_penalty_weight)[:, :, None]

    def _attention_probabilities(self, cell_state: Any) -> Any:
        """The mean alignments of a cell's attentions, for the penalty of what is not read."""
        if self._coverage_penalty_weight == 0.0:
            return None
        if hasattr(cell_state, "alignments"):
            states = [cell_state]
        else:
            parts = cell_state if isinstance(cell_state, tuple) else ()
            states = [one for one in parts if hasattr(one, "alignments")]
        if not states:
            raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
        return _mean([_mean(tf.nest.flatten(one.alignments)) for one in states])


def _mean(tensors: list[Any]) -> Any:
    if len(tensors) == 1:
        return tensors[0]
    return tf.reduce_mean(tf.stack(tensors, -1), -1)


def _shape(first: list[Any], size: Any) -> Any:
    """A shape of its first sizes and a cell's size, as far as it is known."""
    if isinstance(size, tf.Tensor):
        size = tf.get_static_value(size)
    return tf.TensorShape(first).concatenate(tf.TensorShape(size))
