"""Cells that attend to a memory, as ``tf.contrib.seq2seq`` of TensorFlow 1 has them."""

import functools
import math
from typing import Any, Callable, NamedTuple, Optional

import numpy as np
import tensorflow.compat.v1 as tf


class AttentionMechanism:
    """What finds the places of a memory that a query is about."""

    @property
    def alignments_size(self) -> Any:
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        raise NotImplementedError


class BaseAttentionMechanism(AttentionMechanism):
    """A memory, and what a query is compared with: its keys, behind a layer."""

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Optional[float] = None,
        custom_key_value_fn: Optional[Callable[[Any, Any], Any]] = None,
        name: Optional[str] = None,
    ) -> None:
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = memory_layer.dtype
        masked = -np.inf if score_mask_value is None else score_mask_value

        def probabilities(score: Any, state: Any) -> Any:
            return probability_fn(mask_score(score, memory_sequence_length, masked), state)

        self._probability_fn = probabilities
        with tf.name_scope(name, "BaseAttentionMechanismInit"):
            self._values = prepare_memory(memory, memory_sequence_length, check_inner_dims_defined)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size, self._alignments_size = _sizes(self._keys)[:2]

    @property
    def memory_layer(self) -> Any:
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        return self._query_layer

    @property
    def values(self) -> Any:
        return self._values

    @property
    def keys(self) -> Any:
        return self._keys

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        return _zeros(batch_size, self._alignments_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        return self.initial_alignments(batch_size, dtype)


def prepare_memory(
    memory: Any, memory_sequence_length: Any = None, check_inner_dims_defined: bool = True
) -> Any:
    """The memory, with zeros behind the ends of its sequences."""
    memory = tf.nest.map_structure(tf.convert_to_tensor, memory)
    first = tf.nest.flatten(memory)[0]
    mask = None
    if memory_sequence_length is not None:
        mask = tf.sequence_mask(memory_sequence_length, tf.shape(first)[1], first.dtype)

    def prepared(one: Any) -> Any:
        if check_inner_dims_defined and not one.shape[2:].is_fully_defined():
            raise ValueError(f"Expected memory with fully defined inner dims, but saw {one.shape}")
        if mask is None:
            return one
        ones = tf.ones([tf.rank(one) - 2], tf.int32)
        return one * tf.reshape(mask, tf.concat([tf.shape(mask), ones], 0))

    return tf.nest.map_structure(prepared, memory)


def mask_score(
    score: Any, memory_sequence_length: Any = None, score_mask_value: float = -np.inf
) -> Any:
    """The scores, with a value of their own behind the ends of the memory's sequences."""
    if memory_sequence_length is None:
        return score
    message = "All values in memory_sequence_length must be greater than zero."
    positive = tf.assert_positive(memory_sequence_length, message=message)
    with tf.control_dependencies([positive]):
        mask = tf.sequence_mask(memory_sequence_length, tf.shape(score)[1])
    return tf.where(mask, score, score_mask_value * tf.ones_like(score))


def hardmax(logits: Any, name: Optional[str] = None) -> Any:
    """One at the largest value of each row, zero elsewhere."""
    with tf.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits)
        return tf.one_hot(tf.argmax(logits, -1), _sizes(logits)[-1], dtype=logits.dtype)


def _sizes(tensor: Any) -> list[Any]:
    """A tensor's sizes: numbers where they are known, tensors where not."""
    return [
        tf.shape(tensor)[axis] if size is None else size
        for axis, size in enumerate(tensor.shape.as_list())
    ]


def _zeros(batch: Any, size: Any, dtype: Any) -> Any:
    made = tf.zeros(tf.stack([batch, size]), dtype)
    made.set_shape([tf.get_static_value(one) for one in (batch, size)])
    return made


def _dense(units: int, name: str, dtype: Any) -> Any:
    return tf.layers.Dense(units, use_bias=False, name=name, dtype=dtype)


class LuongAttention(BaseAttentionMechanism):
    """Scores a query by its product with each key."""

    _scope = "luong_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Optional[Callable[[Any], Any]] = None,
        score_mask_value: Optional[float] = None,
        dtype: Any = None,
        custom_key_value_fn: Optional[Callable[[Any, Any], Any]] = None,
        name: str = "LuongAttention",
    ) -> None:
        self._num_units = num_units
        self._scale = scale
        self._name = name
        probability = probability_fn or tf.nn.softmax
        super().__init__(
            query_layer=None,
            memory=memory,
            probability_fn=lambda score, _: probability(score),
            memory_sequence_length=memory_sequence_length,
            memory_layer=_dense(num_units, "memory_layer", dtype or tf.float32),
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments, and the state behind them."""
        with tf.variable_scope(None, self._scope, [query]):
            score = self._score(query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments

    def _score(self, query: Any) -> Any:
        scale = None
        if self._scale:
            ones = tf.ones_initializer()
            scale = tf.get_variable("attention_g", [], query.dtype, initializer=ones)
        return luong_score(query, self._keys, scale)


def luong_score(query: Any, keys: Any, scale: Any) -> Any:
    depth, units = query.shape.as_list()[-1], keys.shape.as_list()[-1]
    if depth != units:
        raise ValueError(f"The query has {depth} units: num_units must be that, not {units}")
    score = tf.squeeze(tf.matmul(query[:, None], keys, transpose_b=True), [1])
    return score if scale is None else scale * score


class BahdanauAttention(BaseAttentionMechanism):
    """Scores a query by a small network of it and each key."""

    _scope = "bahdanau_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Optional[Callable[[Any], Any]] = None,
        score_mask_value: Optional[float] = None,
        dtype: Any = None,
        custom_key_value_fn: Optional[Callable[[Any, Any], Any]] = None,
        name: str = "BahdanauAttention",
    ) -> None:
        self._num_units = num_units
        self._normalize = normalize
        self._name = name
        probability = probability_fn or tf.nn.softmax
        super().__init__(
            query_layer=_dense(num_units, "query_layer", dtype or tf.float32),
            memory=memory,
            probability_fn=lambda score, _: probability(score),
            memory_sequence_length=memory_sequence_length,
            memory_layer=_dense(num_units, "memory_layer", dtype or tf.float32),
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )

    __call__ = LuongAttention.__call__

    def _score(self, query: Any) -> Any:
        dtype, units = query.dtype, self._num_units
        query = self.query_layer(query) if self.query_layer else query
        v = tf.get_variable("attention_v", [units], dtype)
        if not self._normalize:
            return bahdanau_score(query, self._keys, v)
        norm = tf.constant_initializer(math.sqrt(1.0 / units))
        zeros = tf.zeros_initializer()
        g = tf.get_variable("attention_g", [], dtype, initializer=norm)
        b = tf.get_variable("attention_b", [units], dtype, initializer=zeros)
        return bahdanau_score(query, self._keys, v, g, b)


def bahdanau_score(
    processed_query: Any,
    keys: Any,
    attention_v: Any,
    attention_g: Any = None,
    attention_b: Any = None,
) -> Any:
    total = keys + processed_query[:, None]
    if attention_g is not None and attention_b is not None:
        total += attention_b
        attention_v = attention_g * attention_v * tf.rsqrt(tf.reduce_sum(tf.square(attention_v)))
    return tf.reduce_sum(attention_v * tf.tanh(total), [2])


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """The products of all values up to each, by sums of logarithms."""
    x = tf.convert_to_tensor(x)
    tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
    return tf.exp(tf.cumsum(tf.log(tf.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """How likely each place is attended to, if attention never goes back.

    ``p_choose_i`` are the probabilities to stay at a place that is reached.
    """
    p_choose_i = tf.convert_to_tensor(p_choose_i)
    previous_attention = tf.convert_to_tensor(previous_attention)
    if mode == "recursive":
        batch = _sizes(p_choose_i)[0]
        passed = tf.concat([tf.ones([batch, 1]), 1 - p_choose_i[:, :-1]], 1)
        reached = tf.scan(
            lambda before, step: tf.reshape(step[0] * before + step[1], [batch]),
            [tf.transpose(passed), tf.transpose(previous_attention)],
            tf.zeros([batch]),
        )
        return p_choose_i * tf.transpose(reached)
    if mode == "parallel":
        passed = safe_cumprod(1 - p_choose_i, axis=1, exclusive=True)
        before = previous_attention / tf.clip_by_value(passed, 1e-10, 1.0)
        return p_choose_i * passed * tf.cumsum(before, axis=1)
    if mode == "hard":
        p_choose_i *= tf.cumsum(previous_attention, axis=1)
        return p_choose_i * tf.cumprod(1 - p_choose_i, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def monotonic_probability(
    score: Any, previous: Any, sigmoid_noise: float, mode: str, seed: Optional[int] = None
) -> Any:
    """How likely each place is attended to by its score, if attention never goes back."""
    if sigmoid_noise > 0:
        drawn = tf.random_normal(tf.shape(score), dtype=score.dtype, seed=seed)
        score += sigmoid_noise * drawn
    chosen = tf.cast(score > 0, score.dtype) if mode == "hard" else tf.sigmoid(score)
    return monotonic_attention(chosen, previous, mode)


def _never_back(sigmoid_noise: float, seed: Optional[int], mode: str) -> Any:
    return functools.partial(
        monotonic_probability, sigmoid_noise=sigmoid_noise, mode=mode, seed=seed
    )


class BaseMonotonicAttentionMechanism(BaseAttentionMechanism):
    """A mechanism that starts at the first place."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        return tf.one_hot(tf.zeros([batch_size], tf.int32), self._alignments_size, dtype=dtype)


class _Monotonic:
    """What the two mechanisms have in common whose attention never goes back."""

    _score_bias_init: Any

    def _score(self, query: Any) -> Any:
        score = super()._score(query)  # type: ignore[misc]
        given = self._score_bias_init
        return score + tf.get_variable("attention_score_bias", dtype=query.dtype, initializer=given)


class BahdanauMonotonicAttention(_Monotonic, BaseMonotonicAttentionMechanism, BahdanauAttention):
    """``BahdanauAttention`` that never goes back."""

    _scope = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Optional[float] = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Optional[int] = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        self._num_units = num_units
        self._normalize = normalize
        self._name = name
        self._score_bias_init = score_bias_init
        BaseAttentionMechanism.__init__(
            self,
            query_layer=_dense(num_units, "query_layer", dtype or tf.float32),
            memory=memory,
            probability_fn=_never_back(sigmoid_noise, sigmoid_noise_seed, mode),
            memory_sequence_length=memory_sequence_length,
            memory_layer=_dense(num_units, "memory_layer", dtype or tf.float32),
            score_mask_value=score_mask_value,
            name=name,
        )


class LuongMonotonicAttention(_Monotonic, BaseMonotonicAttentionMechanism, LuongAttention):
    """``LuongAttention`` that never goes back."""

    _scope = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Optional[float] = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Optional[int] = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        self._num_units = num_units
        self._scale = scale
        self._name = name
        self._score_bias_init = score_bias_init
        BaseAttentionMechanism.__init__(
            self,
            query_layer=None,
            memory=memory,
            probability_fn=_never_back(sigmoid_noise, sigmoid_noise_seed, mode),
            memory_sequence_length=memory_sequence_length,
            memory_layer=_dense(num_units, "memory_layer", dtype or tf.float32),
            score_mask_value=score_mask_value,
            name=name,
        )


class AttentionWrapperState(NamedTuple):
    """The state of an ``AttentionWrapper``; tuples where it has several mechanisms."""

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: Any) -> "AttentionWrapperState":
        """The state with other values, which get the shapes of the old ones."""
        made: AttentionWrapperState = tf.nest.map_structure(
            _with_same_shape, self, self._replace(**kwargs)
        )
        return made


def _with_same_shape(old: Any, new: Any) -> Any:
    if not isinstance(old, tf.Tensor) or not isinstance(new, tf.Tensor):
        return new
    old.shape.assert_is_compatible_with(new.shape)
    if not (old.shape.is_fully_defined() and new.shape.is_fully_defined()):
        same = tf.assert_equal(tf.shape(old), tf.shape(new), message="Another shape is cloned")
        with tf.control_dependencies([same]):
            new = tf.identity(new)
        new.set_shape(old.shape)
    return new


def compute_attention(
    attention_mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any
) -> tuple[Any, Any, Any]:
    """The attention, its alignments, and the mechanism's next state."""
    alignments, state = attention_mechanism(cell_output, state=attention_state)
    context = tf.squeeze(tf.matmul(alignments[:, None], attention_mechanism.values), [1])
    if attention_layer is not None:
        context = attention_layer(tf.concat([cell_output, context], 1))
    return context, alignments, state


class AttentionWrapper(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
    """A cell that reads, and gives, its attention to a memory."""

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Optional[Callable[[Any, Any], Any]] = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: Optional[str] = None,
        attention_layer: Any = None,
        attention_fn: Optional[Callable[..., Any]] = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = tuple(attention_mechanism) if self._is_multi else (attention_mechanism,)
        depths = [mechanism.values.shape.as_list()[-1] for mechanism in mechanisms]
        layers: Any = None
        if attention_layer_size is not None:
            depths = _listed(attention_layer_size)
            layers = tuple(
                _dense(size, "attention_layer", mechanism.dtype)
                for size, mechanism in zip(depths, mechanisms)
            )
        elif attention_layer is not None:
            layers = tuple(_listed(attention_layer))
            depths = [
                tf.TensorShape(
                    layer.compute_output_shape([None, cell.output_size + depth])
                ).as_list()[-1]
                for layer, depth in zip(layers, depths)
            ]
        if len(depths) != len(mechanisms):
            raise ValueError(f"{len(depths)} attention layers, {len(mechanisms)} mechanisms")
        self._cell = cell
        self._attention_mechanisms = mechanisms
        self._attention_layers = layers
        self._attention_layer_size = sum(depths)
        self._attention_fn = attention_fn or compute_attention
        self._cell_input_fn = cell_input_fn or (lambda x, attention: tf.concat([x, attention], -1))
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        self._initial_cell_state = None
        if initial_cell_state is not None:
            batch = _sizes(tf.nest.flatten(initial_cell_state)[-1])[0]
            self._initial_cell_state = self._checked(batch, initial_cell_state)

    def _checked(self, batch: Any, values: Any) -> Any:
        """The same values, which need a batch of the memory's size."""
        message = (
            "The memory has another batch size. With a BeamSearchDecoder, tile_batch makes what "
            "the cell gets beam_width times as long."
        )
        with tf.control_dependencies(self._batch_size_checks(batch, message)):
            return tf.nest.map_structure(tf.identity, values)

    def _batch_size_checks(self, batch_size: Any, error_message: str) -> list[Any]:
        return [
            tf.assert_equal(batch_size, mechanism.batch_size, message=error_message)
            for mechanism in self._attention_mechanisms
        ]

    def _item_or_tuple(self, values: Any) -> Any:
        values = tuple(values)
        return values if self._is_multi else values[0]

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        sizes = self._item_or_tuple(one.alignments_size for one in self._attention_mechanisms)
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            attention=self._attention_layer_size,
            time=tf.TensorShape([]),
            alignments=sizes,
            alignment_history=self._item_or_tuple(
                one.alignments_size if self._alignment_history else ()
                for one in self._attention_mechanisms
            ),
            attention_state=self._item_or_tuple(
                one.state_size for one in self._attention_mechanisms
            ),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        with tf.name_scope("AttentionWrapperZeroState"):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.zero_state(batch_size, dtype)
            alignments = [
                one.initial_alignments(batch_size, dtype) for one in self._attention_mechanisms
            ]
            return AttentionWrapperState(
                cell_state=self._checked(batch_size, cell_state),
                attention=_zeros(batch_size, self._attention_layer_size, dtype),
                time=tf.zeros([], tf.int32),
                alignments=self._item_or_tuple(alignments),
                alignment_history=self._item_or_tuple(
                    self._history(dtype, one.shape) for one in alignments
                ),
                attention_state=self._item_or_tuple(
                    one.initial_state(batch_size, dtype) for one in self._attention_mechanisms
                ),
            )

    def _history(self, dtype: Any, shape: Any) -> Any:
        if not self._alignment_history:
            return ()
        return tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=shape)

    def call(self, inputs: Any, state: AttentionWrapperState) -> tuple[Any, AttentionWrapperState]:
        read = self._cell_input_fn(inputs, state.attention)
        output, cell_state = self._cell(read, state.cell_state)
        output = self._checked(_sizes(output)[0], output)
        states, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            states, histories = [states], [histories]
        layers = self._attention_layers or [None] * len(states)
        results = [
            self._attention_fn(mechanism, output, before, layer)
            for mechanism, before, layer in zip(self._attention_mechanisms, states, layers)
        ]
        attentions, alignments, states = zip(*results)
        if self._alignment_history:
            histories = [old.write(state.time, now) for old, now in zip(histories, alignments)]
        attention = tf.concat(attentions, 1)
        next_state = AttentionWrapperState(
            cell_state=cell_state,
            attention=attention,
            time=state.time + 1,
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
            attention_state=self._item_or_tuple(states),
        )
        return attention if self._output_attention else output, next_state


def _listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]
