"""Decoders that write sequences step by step, as ``tf.contrib.seq2seq`` of TensorFlow 1 has them.

A decoder runs a cell in ``dynamic_decode``; its helper says what each step reads.
"""

import contextlib
from typing import Any, Callable, NamedTuple, Optional

import tensorflow.compat.v1 as tf


class Decoder:
    """What ``dynamic_decode`` runs; subclasses say what they do."""

    tracks_own_finished = False  # whether its sequences change places between steps

    @property
    def batch_size(self) -> Any:
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        raise NotImplementedError

    def initialize(self, name: Optional[str] = None) -> Any:
        """Which sequences have ended, the first inputs, the first state."""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """The outputs of one step, the next state, the next inputs, which sequences have ended."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        raise NotImplementedError


def dynamic_decode(
    decoder: Any,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """The outputs of a decoder until all sequences have ended, its last state, their lengths.

    ``impute_finished`` keeps a sequence's state, and makes its outputs zero, behind its end.
    """
    with tf.variable_scope(scope, "decoder") as variables:
        inside_a_loop = tf.get_default_graph()._get_control_flow_context() is not None
        if variables.caching_device is None and not inside_a_loop:
            variables.set_caching_device(lambda operation: operation.device)
        if maximum_iterations is not None:
            maximum_iterations = tf.convert_to_tensor(maximum_iterations, tf.int32)
        ended, inputs, state = decoder.initialize()
        if maximum_iterations is not None:
            ended = tf.logical_or(ended, maximum_iterations <= 0)
        sizes, dtypes = decoder.output_size, decoder.output_dtype
        batch = decoder.batch_size
        zeros = tf.nest.map_structure(lambda s, d: _zeros(batch, s, d), sizes, dtypes)
        arrays = tf.nest.map_structure(lambda s, d: _array(batch, s, d), sizes, dtypes)

        def go_on(time: Any, arrays: Any, state: Any, inputs: Any, ended: Any, lengths: Any) -> Any:
            return tf.logical_not(tf.reduce_all(ended))

        def step(time: Any, arrays: Any, state: Any, inputs: Any, ended: Any, lengths: Any) -> Any:
            outputs, new_state, new_inputs, now_ended = decoder.step(time, inputs, state)
            if not decoder.tracks_own_finished:
                now_ended = tf.logical_or(now_ended, ended)
            lengths = tf.where(ended, lengths, tf.fill(tf.shape(lengths), time + 1))
            if impute_finished:
                outputs = tf.nest.map_structure(
                    lambda zero, output: tf.where(ended, zero, output), zeros, outputs
                )
                new_state = tf.nest.map_structure(
                    lambda old, new: _kept(ended, old, new), state, new_state
                )
            arrays = tf.nest.map_structure(lambda a, o: a.write(time, o), arrays, outputs)
            return time + 1, arrays, new_state, new_inputs, now_ended, lengths

        first = (tf.constant(0), arrays, state, inputs, ended, tf.zeros_like(ended, tf.int32))
        _, arrays, state, _, _, lengths = tf.while_loop(
            go_on,
            step,
            first,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            maximum_iterations=maximum_iterations,
        )
        outputs = tf.nest.map_structure(lambda array: array.stack(), arrays)
        with contextlib.suppress(NotImplementedError):
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = tf.nest.map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths


def _zeros(batch: Any, size: Any, dtype: Any) -> Any:
    sizes = tf.TensorShape(size).as_list()
    made = tf.zeros(tf.stack([batch, *sizes]), dtype)
    made.set_shape([tf.get_static_value(batch), *sizes])
    return made


def _array(batch: Any, size: Any, dtype: Any) -> Any:
    shape = None
    if isinstance(size, tf.TensorShape) and size.rank:
        shape = tf.TensorShape([tf.get_static_value(batch)]).concatenate(size)
    return tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=shape)


def _kept(ended: Any, old: Any, new: Any) -> Any:
    """The state behind a step: the old one of sequences that have ended."""
    if isinstance(old, tf.TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.rank == 0 else tf.where(ended, old, new)


def transpose_batch_time(x: Any) -> Any:
    """A tensor with its first two axes exchanged; itself where it has none."""
    x = tf.convert_to_tensor(x)
    if x.shape.rank is not None and x.shape.rank < 2:
        return x
    exchanged = tf.transpose(x, tf.concat([[1, 0], tf.range(2, tf.rank(x))], 0))
    if x.shape.rank is not None:
        batch, time, *rest = x.shape.as_list()
        exchanged.set_shape([time, batch, *rest])
    return exchanged


class BasicDecoderOutput(NamedTuple):
    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """A cell whose helper takes a sample of each output, and makes the next input of it."""

    def __init__(self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None):
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        return size_behind(self._output_layer, self._cell.output_size)

    @property
    def output_size(self) -> Any:
        return BasicDecoderOutput(self._rnn_output_size(), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        dtype = tf.nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(
            tf.nest.map_structure(lambda _: dtype, self._rnn_output_size()),
            self._helper.sample_ids_dtype,
        )

    def initialize(self, name: Optional[str] = None) -> Any:
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: Optional[str] = None) -> Any:
        with tf.name_scope(name, "BasicDecoderStep", [time]):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            samples = self._helper.sample(time=time, outputs=outputs, state=state)
            ended, next_inputs, state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=samples
            )
        return BasicDecoderOutput(outputs, samples), state, next_inputs, ended


def size_behind(layer: Any, size: Any) -> Any:
    """The size of a cell's outputs behind a layer, if there is one."""
    if layer is None:
        return size

    def behind(one: Any) -> Any:
        shape = tf.TensorShape([None]).concatenate(one)
        return tf.TensorShape(layer.compute_output_shape(shape))[1:]

    return tf.nest.map_structure(behind, size)


class Helper:
    """What takes samples of outputs, and makes inputs of them; subclasses say how."""

    @property
    def batch_size(self) -> Any:
        raise NotImplementedError("batch_size has not been implemented")

    @property
    def sample_ids_shape(self) -> Any:
        raise NotImplementedError("sample_ids_shape has not been implemented")

    @property
    def sample_ids_dtype(self) -> Any:
        raise NotImplementedError("sample_ids_dtype has not been implemented")

    def initialize(self, name: Optional[str] = None) -> Any:
        """Which sequences are empty, and the first inputs."""
        raise NotImplementedError

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        raise NotImplementedError

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Any:
        """Which sequences have ended, the next inputs, the next state."""
        raise NotImplementedError


class _IdHelper(Helper):
    """A helper whose samples are numbers of words."""

    _batch_size: Any

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return tf.int32


class TrainingHelper(_IdHelper):
    """Reads the inputs that it is given, whatever the outputs are."""

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        time_major: bool = False,
        name: Optional[str] = None,
    ) -> None:
        with tf.name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            self._inputs = tf.convert_to_tensor(inputs)
            steps = self._inputs if time_major else transpose_batch_time(self._inputs)
            self._input_tas = _unstacked(steps)
            self._sequence_length = tf.convert_to_tensor(sequence_length)
            if self._sequence_length.shape.rank != 1:
                raise ValueError("Expected sequence_length to be a vector")
            self._zero_inputs = tf.zeros_like(steps[0])
            self._batch_size = tf.size(sequence_length)

    @property
    def inputs(self) -> Any:
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        return self._sequence_length

    def initialize(self, name: Optional[str] = None) -> Any:
        return self._read(0)

    def sample(
        self, time: Any, outputs: Any, state: Any = None, name: Optional[str] = None, **_: Any
    ) -> Any:
        return tf.cast(tf.argmax(outputs, axis=-1), tf.int32)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: Optional[str] = None,
        **_: Any,
    ) -> Any:
        return (*self._read(time + 1), state)

    def _read(self, time: Any) -> Any:
        """Which sequences have ended before a step, and its inputs: zeros if all have."""
        ended = self._sequence_length <= time
        inputs = tf.cond(
            tf.reduce_all(ended), lambda: self._zero_inputs, lambda: self._input_tas.read(time)
        )
        return ended, inputs


def _unstacked(steps: Any) -> Any:
    array = tf.TensorArray(steps.dtype, size=tf.shape(steps)[0], element_shape=steps.shape[1:])
    return array.unstack(steps)


def _chosen(probability: Any, batch: Any, seed: Any) -> Any:
    """Whether something with this probability happens, for each sequence."""
    shape = tf.concat([[batch], tf.shape(probability)], 0)
    return tf.random_uniform(shape, seed=seed, dtype=probability.dtype) < probability


def _drawn(logits: Any, seed: Any) -> Any:
    """A word for each row of logits, by its probability."""
    flat = tf.reshape(logits, [-1, tf.shape(logits)[-1]])
    words = tf.multinomial(flat, 1, seed=seed, output_dtype=tf.int32)
    return tf.reshape(words, tf.shape(logits)[:-1])


def _lookup(embedding: Any) -> Callable[[Any], Any]:
    if callable(embedding):
        made: Callable[[Any], Any] = embedding
        return made
    return lambda ids: tf.nn.embedding_lookup(embedding, ids)


def _mixed(taken: Any, new: Callable[[Any], Any], base: Any) -> Any:
    """The base inputs, with new ones for the sequences that are taken; gets their places."""
    places = tf.cast(tf.where(taken), tf.int32)
    others = tf.cast(tf.where(tf.logical_not(taken)), tf.int32)
    return tf.scatter_nd(places, new(places), tf.shape(base)) + tf.scatter_nd(
        others, tf.gather_nd(base, others), tf.shape(base)
    )


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Reads a sampled word in the place of the given input, now and then; -1 where it does not."""

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: Optional[int] = None,
        scheduling_seed: Optional[int] = None,
        name: Optional[str] = None,
    ) -> None:
        self._embedding_fn = _lookup(embedding)
        self._sampling_probability = tf.convert_to_tensor(sampling_probability)
        self._seed = seed
        self._scheduling_seed = scheduling_seed
        super().__init__(inputs, sequence_length, time_major, name)

    def sample(
        self, time: Any, outputs: Any, state: Any = None, name: Optional[str] = None, **_: Any
    ) -> Any:
        taken = _chosen(self._sampling_probability, self.batch_size, self._scheduling_seed)
        return tf.where(taken, _drawn(outputs, self._seed), tf.fill([self.batch_size], -1))

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: Optional[str] = None,
        **_: Any,
    ) -> Any:
        ended, base, state = super().next_inputs(time, outputs, state, name=name)

        def embedded(places: Any) -> Any:
            return self._embedding_fn(tf.gather_nd(sample_ids, places))

        inputs = tf.cond(
            tf.reduce_all(ended), lambda: base, lambda: _mixed(sample_ids > -1, embedded, base)
        )
        return ended, inputs, state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Reads its own output in the place of the given input, now and then; tells where it does."""

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: Optional[int] = None,
        next_inputs_fn: Optional[Callable[[Any], Any]] = None,
        auxiliary_inputs: Any = None,
        name: Optional[str] = None,
    ) -> None:
        self._sampling_probability = tf.convert_to_tensor(sampling_probability)
        self._seed = seed
        self._next_inputs_fn = next_inputs_fn
        self._auxiliary_input_tas = None
        if auxiliary_inputs is not None:
            beside = tf.convert_to_tensor(auxiliary_inputs)
            inputs = tf.concat([inputs, beside], -1)
            self._auxiliary_input_tas = _unstacked(
                beside if time_major else transpose_batch_time(beside)
            )
        super().__init__(inputs, sequence_length, time_major, name)

    def sample(
        self, time: Any, outputs: Any, state: Any = None, name: Optional[str] = None, **_: Any
    ) -> Any:
        taken = _chosen(self._sampling_probability, self.batch_size, self._seed)
        return tf.cast(taken, tf.int32)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: Optional[str] = None,
        **_: Any,
    ) -> Any:
        ended, base, state = super().next_inputs(time, outputs, state, name=name)
        taken = tf.cast(sample_ids, tf.bool)

        def extended(made: Any, places: Any = None) -> Any:
            if self._auxiliary_input_tas is None:
                return made
            beside = self._auxiliary_input_tas.read(time + 1)
            return tf.concat([made, beside if places is None else tf.gather_nd(beside, places)], -1)

        def sampled() -> Any:
            make = self._next_inputs_fn
            if make is None:
                return tf.where(taken, extended(outputs), base)
            return _mixed(taken, lambda at: extended(make(tf.gather_nd(outputs, at)), at), base)

        unchanged = tf.logical_or(tf.reduce_all(ended), tf.logical_not(tf.reduce_any(taken)))
        return ended, tf.cond(unchanged, lambda: base, sampled), state


class GreedyEmbeddingHelper(_IdHelper):
    """Reads the most likely word of each output."""

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = _lookup(embedding)
        self._start_tokens = tf.convert_to_tensor(start_tokens, tf.int32)
        self._end_token = tf.convert_to_tensor(end_token, tf.int32)
        if self._start_tokens.shape.rank != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end_token.shape.rank != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = tf.size(start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: Optional[str] = None) -> Any:
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Any:
        ended = tf.equal(sample_ids, self._end_token)
        inputs = tf.cond(
            tf.reduce_all(ended),
            lambda: self._start_inputs,
            lambda: self._embedding_fn(sample_ids),
        )
        return ended, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Reads a word by its probability."""

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: Optional[int] = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        if self._softmax_temperature is not None:
            outputs /= self._softmax_temperature
        return _drawn(outputs, self._seed)


class CustomHelper(Helper):
    """A helper whose methods are functions that are given."""

    def __init__(
        self,
        initialize_fn: Callable[[], Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = tf.TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or tf.int32

    @property
    def batch_size(self) -> Any:
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_ids_dtype

    def initialize(self, name: Optional[str] = None) -> Any:
        ended, inputs = self._initialize_fn()
        if self._batch_size is None:
            self._batch_size = tf.size(ended)
        return ended, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Any:
        return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class InferenceHelper(CustomHelper):
    """Reads what functions of one's own make of the outputs."""

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        first = tf.convert_to_tensor(start_inputs)
        batch = tf.shape(first)[0]
        make = next_inputs_fn or (lambda samples: samples)
        super().__init__(
            lambda: (tf.tile([False], [batch]), first),
            lambda time, outputs, state: sample_fn(outputs),
            lambda time, outputs, state, sample_ids: (end_fn(sample_ids), make(sample_ids), state),
            sample_shape,
            sample_dtype,
        )
        self._batch_size = batch
