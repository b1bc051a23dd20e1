"""Networks from sequences to sequences, as ``tf.contrib.legacy_seq2seq`` of TensorFlow 1 has them.

Sequences are lists, an item a step in time.
"""

import copy
from typing import Any, Callable, Optional

import tensorflow.compat.v1 as tf

Following = Callable[[tf.Tensor, int], Any]  # the next input, by an output and the step


class OutputProjectionWrapper(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
    """A cell with a linear map behind its output."""

    def __init__(self, cell: Any, size: int) -> None:
        super().__init__()
        self._cell, self._size = cell, size

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        output, state = self._cell(inputs, state)
        return _linear([output], self._size), state


class EmbeddingWrapper(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
    """A cell whose inputs are numbers of symbols."""

    def __init__(self, cell: Any, symbols: int, size: int) -> None:
        super().__init__()
        self._cell, self._symbols, self._size = cell, symbols, size

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        with tf.device("/cpu:0"):
            dtype = (state[0] if isinstance(state, tuple) else state).dtype
            first = tf.get_variable_scope().initializer
            first = first or tf.random_uniform_initializer(-(3**0.5), 3**0.5)
            table = tf.get_variable(
                "embedding", [self._symbols, self._size], initializer=first, dtype=dtype
            )
            return self._cell(tf.nn.embedding_lookup(table, tf.reshape(inputs, [-1])), state)


def _linear(tensors: list[Any], size: int) -> tf.Tensor:
    """A linear map of several tensors together, which a second step finds again."""
    rows = sum(one.shape.as_list()[1] for one in tensors)
    joined = tensors[0] if len(tensors) == 1 else tf.concat(tensors, 1)
    dtype = joined.dtype
    with tf.variable_scope(tf.get_variable_scope()) as outer:
        mapped = tf.matmul(joined, tf.get_variable("kernel", [rows, size], dtype))
        with tf.variable_scope(outer) as inner:
            inner.set_partitioner(None)
            zeros = tf.constant_initializer(0.0, dtype)
            return tf.nn.bias_add(mapped, tf.get_variable("bias", [size], dtype, zeros))


def rnn_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    cell: Any,
    loop_function: Optional[Following] = None,
    scope: Any = None,
) -> tuple[list[tf.Tensor], Any]:
    """The outputs of a cell for each step, and its state behind the last one.

    ``loop_function(output, step)`` makes the input of each step but the first.
    """
    state = initial_state
    outputs: list[tf.Tensor] = []
    with tf.variable_scope(scope or "rnn_decoder"):
        for step, given in enumerate(decoder_inputs):
            if loop_function is not None and outputs:
                with tf.variable_scope("loop_function", reuse=True):
                    given = loop_function(outputs[-1], step)
            if step > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(given, state)
            outputs.append(output)
    return outputs, state


def basic_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    dtype: Any = tf.float32,
    scope: Any = None,
) -> tuple[list[tf.Tensor], Any]:
    """An encoder and a decoder, of two cells that are alike."""
    with tf.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = tf.nn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    loop_function: Optional[Following] = None,
    dtype: Any = tf.float32,
    scope: Any = None,
) -> tuple[list[tf.Tensor], Any]:
    """An encoder and a decoder of one cell."""
    with tf.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = tf.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        tf.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, scope)


def embedding_rnn_decoder(
    decoder_inputs: list[Any],
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Optional[tuple[Any, Any]] = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[tf.Tensor], Any]:
    """``rnn_decoder`` of symbols: those given, or with ``feed_previous`` the likeliest ones."""
    with tf.variable_scope(scope or "embedding_rnn_decoder") as scope:
        if output_projection is not None:
            _check_projection(output_projection, num_symbols, scope.dtype, both=True)
        table = tf.get_variable("embedding", [num_symbols, embedding_size])
        likeliest = _likeliest(table, output_projection, update_embedding_for_previous)
        inputs = (tf.nn.embedding_lookup(table, one) for one in decoder_inputs)
        following = likeliest if feed_previous else None
        return rnn_decoder(inputs, initial_state, cell, following)


def embedding_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Optional[tuple[Any, Any]] = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[tf.Tensor], Any]:
    """An encoder and a decoder of symbols; ``feed_previous`` may be a tensor."""
    with tf.variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feed: bool, update: bool) -> tuple[list[tf.Tensor], Any]:
            return embedding_rnn_decoder(
                decoder_inputs,
                state,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection,
                feed,
                update,
            )

        return _decoded(decode, feed_previous, len(decoder_inputs), state)


def attention_decoder(
    decoder_inputs: list[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: Optional[int] = None,
    num_heads: int = 1,
    loop_function: Optional[Following] = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[tf.Tensor], Any]:
    """``rnn_decoder`` that attends to states of ``[batch, steps, units]`` at each step."""
    if not decoder_inputs:
        raise ValueError("an attention decoder needs at least one input")
    if num_heads < 1:
        raise ValueError("with less than 1 head, use a decoder without attention")
    length, units = attention_states.shape.as_list()[1:3]
    if units is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states}")
    if output_size is None:
        output_size = cell.output_size
    with tf.variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        dtype = scope.dtype
        batch_size = tf.shape(decoder_inputs[0])[0]
        length = tf.shape(attention_states)[1] if length is None else length
        hidden = tf.reshape(attention_states, [-1, length, 1, units])
        features, scales = [], []
        for head in range(num_heads):
            kernel = tf.get_variable(f"AttnW_{head}", [1, 1, units, units], dtype=dtype)
            features.append(tf.nn.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME"))
            scales.append(tf.get_variable(f"AttnV_{head}", [units], dtype=dtype))

        def attended(query: Any) -> list[tf.Tensor]:
            query = tf.concat(tf.nest.flatten(query), 1) if tf.nest.is_nested(query) else query
            found = []
            for head in range(num_heads):
                with tf.variable_scope(f"Attention_{head}"):
                    mapped = tf.reshape(_linear([query], units), [-1, 1, 1, units])
                    mapped = tf.tanh(features[head] + tf.cast(mapped, dtype))
                    score = tf.reduce_sum(scales[head] * mapped, [2, 3])
                    weights = tf.cast(tf.nn.softmax(tf.cast(score, tf.float32)), dtype)
                    seen = tf.reshape(weights, [-1, length, 1, 1]) * hidden
                    found.append(tf.reshape(tf.reduce_sum(seen, [1, 2]), [-1, units]))
            return found

        state = initial_state
        outputs: list[tf.Tensor] = []
        seen = [tf.zeros(tf.stack([batch_size, units]), dtype) for _ in range(num_heads)]
        for one in seen:
            one.set_shape([None, units])
        if initial_state_attention:
            seen = attended(initial_state)
        for step, given in enumerate(decoder_inputs):
            if step > 0:
                tf.get_variable_scope().reuse_variables()
            if loop_function is not None and outputs:
                with tf.variable_scope("loop_function", reuse=True):
                    given = loop_function(outputs[-1], step)
            size = given.shape.with_rank(2).as_list()[1]
            if size is None:
                raise ValueError(f"Could not infer input size from input: {given.name}")
            inputs = [tf.cast(one, dtype) for one in (given, *seen)]
            output, state = cell(_linear(inputs, size), state)
            again = True if step == 0 and initial_state_attention else None
            with tf.variable_scope(tf.get_variable_scope(), reuse=again):
                seen = attended(state)
            with tf.variable_scope("AttnOutputProjection"):
                inputs = [tf.cast(output, dtype), *seen]
                outputs.append(_linear(inputs, output_size))
    return outputs, state


def embedding_attention_decoder(
    decoder_inputs: list[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: Optional[int] = None,
    output_projection: Optional[tuple[Any, Any]] = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[tf.Tensor], Any]:
    """``attention_decoder`` of symbols."""
    if output_size is None:
        output_size = cell.output_size
    if output_projection is not None:
        _check_projection(output_projection, num_symbols, dtype, both=False)
    with tf.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        table = tf.get_variable("embedding", [num_symbols, embedding_size])
        likeliest = _likeliest(table, output_projection, update_embedding_for_previous)
        return attention_decoder(
            [tf.nn.embedding_lookup(table, one) for one in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size,
            num_heads,
            likeliest if feed_previous else None,
            initial_state_attention=initial_state_attention,
        )


def embedding_attention_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Optional[tuple[Any, Any]] = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[tf.Tensor], Any]:
    """An encoder of symbols, and a decoder that attends to what it gave."""
    with tf.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as scope:
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        encoded, state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        states = tf.concat([tf.reshape(one, [-1, 1, cell.output_size]) for one in encoded], 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(feed: bool, update: bool) -> tuple[list[tf.Tensor], Any]:
            return embedding_attention_decoder(
                decoder_inputs,
                state,
                states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads,
                output_size,
                output_projection,
                feed,
                update,
                initial_state_attention=initial_state_attention,
            )

        return _decoded(decode, feed_previous, len(decoder_inputs), state)


def sequence_loss_by_example(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Any = None,
    name: Optional[str] = None,
) -> tf.Tensor:
    """The weighted cross entropy of each example of a batch."""
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError("logits, weights and targets have different lengths")
    with tf.name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        steps = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=tf.reshape(target, [-1]), logits=logit
                )
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            steps.append(loss * weight)
        total = tf.add_n(steps)
        return total / (tf.add_n(weights) + 1e-12) if average_across_timesteps else total


def sequence_loss(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Any = None,
    name: Optional[str] = None,
) -> tf.Tensor:
    """The sum of ``sequence_loss_by_example``, averaged over the batch."""
    with tf.name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        losses = sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps, softmax_loss_function
        )
        total = tf.reduce_sum(losses)
        if not average_across_batch:
            return total
        return total / tf.cast(tf.shape(targets[0])[0], total.dtype)


def model_with_buckets(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    targets: list[Any],
    weights: list[Any],
    buckets: list[tuple[int, int]],
    seq2seq: Any,
    softmax_loss_function: Any = None,
    per_example_loss: bool = False,
    name: Optional[str] = None,
) -> tuple[list[Any], list[tf.Tensor]]:
    """The outputs and the loss of a network for each pair of lengths, with the same variables."""
    for what, given, side in (
        ("encoder_inputs", encoder_inputs, 0),
        ("targets", targets, 1),
        ("weights", weights, 1),
    ):
        if len(given) < buckets[-1][side]:
            raise ValueError(f"{what} has {len(given)} steps, and the last bucket {buckets[-1]}")
    losses: list[tf.Tensor] = []
    outputs: list[Any] = []
    loss = sequence_loss_by_example if per_example_loss else sequence_loss
    given = [*encoder_inputs, *decoder_inputs, *targets, *weights]
    with tf.name_scope(name, "model_with_buckets", given):
        for source, target in buckets:
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if outputs else None):
                made, _ = seq2seq(encoder_inputs[:source], decoder_inputs[:target])
                outputs.append(made)
                losses.append(
                    loss(
                        made,
                        targets[:target],
                        weights[:target],
                        softmax_loss_function=softmax_loss_function,
                    )
                )
    return outputs, losses


def _check_projection(given: tuple[Any, Any], symbols: int, dtype: Any, both: bool) -> None:
    weights, biases = given
    if both:
        weights = tf.convert_to_tensor(weights, dtype=dtype)
        weights.shape.assert_is_compatible_with([None, symbols])
    tf.convert_to_tensor(biases, dtype=dtype).shape.assert_is_compatible_with([symbols])


def _likeliest(table: Any, projection: Optional[tuple[Any, Any]], update: bool) -> Following:
    """What looks up the embedding of an output's likeliest symbol."""

    def following(output: tf.Tensor, step: int) -> tf.Tensor:
        if projection is not None:
            output = tf.nn.xw_plus_b(output, projection[0], projection[1])
        found = tf.nn.embedding_lookup(table, tf.argmax(output, 1))
        return found if update else tf.stop_gradient(found)

    return following


def _decoded(
    decode: Callable[[bool, bool], tuple[list[tf.Tensor], Any]],
    feed_previous: Any,
    steps: int,
    like: Any,
) -> tuple[list[tf.Tensor], Any]:
    """What a decoder gives, or, by a tensor, one of the two that it may."""
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def flat(feed: bool) -> list[tf.Tensor]:
        with tf.variable_scope(tf.get_variable_scope(), reuse=None if feed else True):
            outputs, state = decode(feed, False)
        return [*outputs, *tf.nest.flatten(state)]

    found = tf.cond(feed_previous, lambda: flat(True), lambda: flat(False))
    return found[:steps], tf.nest.pack_sequence_as(like, found[steps:])
