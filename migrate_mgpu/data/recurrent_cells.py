"""Cells and networks of cells, as ``tf.contrib.rnn`` of TensorFlow 1 has them."""

from typing import Any, Callable, Optional

import tensorflow.compat.v1 as tf


class LayerNormBasicLSTMCell(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
    """An LSTM with normalized gates, and dropout of what is added to its memory."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Callable[[Any], Any] = tf.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: Optional[int] = None,
        reuse: Optional[bool] = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed

    @property
    def state_size(self) -> Any:
        return tf.nn.rnn_cell.LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        memory, output = state
        read = tf.concat([inputs, output], 1)
        shape = [read.shape.as_list()[-1], 4 * self._num_units]
        gates = tf.matmul(read, tf.get_variable("kernel", shape, read.dtype))
        if not self._layer_norm:
            gates = tf.nn.bias_add(gates, tf.get_variable("bias", shape[1:], read.dtype))
        names = ("input", "transform", "forget", "output")
        gates = [self._norm(*one) for one in zip(tf.split(gates, 4, axis=1), names)]
        new = self._activation(gates[1])
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = tf.nn.dropout(new, self._keep_prob, seed=self._seed)
        memory = memory * tf.sigmoid(gates[2] + self._forget_bias) + tf.sigmoid(gates[0]) * new
        memory = self._norm(memory, "state")
        output = self._activation(memory) * tf.sigmoid(gates[3])
        return output, tf.nn.rnn_cell.LSTMStateTuple(memory, output)

    def _norm(self, values: Any, name: str) -> Any:
        """Each row with mean zero and variance one, scaled and shifted."""
        if not self._layer_norm:
            return values
        with tf.variable_scope(name):
            gain = tf.constant_initializer(self._norm_gain)
            shift = tf.constant_initializer(self._norm_shift)
            shape = values.shape.as_list()[-1:]
            gamma = tf.get_variable("gamma", shape, values.dtype, gain)
            beta = tf.get_variable("beta", shape, values.dtype, shift)
        mean, variance = tf.nn.moments(values, [1], keep_dims=True)
        least = 1e-3 if values.dtype == tf.float16 else 1e-12
        return tf.nn.batch_normalization(values, mean, variance, beta, gamma, least)


class NASCell(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
    """The cell that https://arxiv.org/abs/1611.01578 found."""

    def __init__(
        self,
        num_units: int,
        num_proj: Optional[int] = None,
        use_bias: bool = False,
        reuse: Optional[bool] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias

    @property
    def state_size(self) -> Any:
        return tf.nn.rnn_cell.LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    def build(self, inputs_shape: Any) -> None:
        units, size = self._num_units, tf.TensorShape(inputs_shape).as_list()[1]
        self.recurrent_kernel = self.add_weight("recurrent_kernel", [self.output_size, 8 * units])
        self.kernel = self.add_weight("kernel", [size, 8 * units])
        if self._use_bias:
            self.bias = self.add_weight("bias", [8 * units], initializer=tf.zeros_initializer())
        if self._num_proj is not None:
            self.projection_weights = self.add_weight("projection_weights", [units, self._num_proj])
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        memory, before = state
        recurrent = tf.matmul(before, self.recurrent_kernel)
        if self._use_bias:
            recurrent = tf.nn.bias_add(recurrent, self.bias)
        parts = (tf.matmul(inputs, self.kernel), recurrent)
        x, m = (tf.split(part, 8, axis=1) for part in parts)
        first = tf.tanh(tf.sigmoid(x[0] + m[0]) * tf.nn.relu(x[1] + m[1]))
        second = tf.tanh(tf.sigmoid(x[2] + m[2]) + tf.nn.relu(x[3] * m[3]))
        third = tf.tanh(tf.tanh(x[4] + m[4]) * tf.sigmoid(x[5] + m[5]))
        fourth = tf.sigmoid(tf.tanh(x[6] + m[6]) + tf.sigmoid(x[7] + m[7]))
        memory = tf.tanh(first + memory) * second
        output = tf.tanh(memory * tf.tanh(third + fourth))
        if self._num_proj is not None:
            output = tf.matmul(output, self.projection_weights)
        return output, tf.nn.rnn_cell.LSTMStateTuple(memory, output)


class UGRNNCell(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
    """A cell with one gate, which keeps its state or takes a new one: arxiv.org/abs/1611.09913."""

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Any = tf.tanh,
        reuse: Optional[bool] = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        units, size = self._num_units, tf.TensorShape(inputs_shape).as_list()[1]
        if size is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        shape = [size + units, 2 * units]
        self.kernel = self.add_weight("kernel", shape, initializer=self._initializer)
        self.bias = self.add_weight("bias", [2 * units], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        both = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self.kernel), self.bias)
        kept, new = tf.split(both, 2, axis=1)
        gate = tf.sigmoid(kept + self._forget_bias)
        output = gate * state + (1.0 - gate) * self._activation(new)
        return output, output


class CudnnCompatibleLSTMCell(tf.nn.rnn_cell.LSTMCell):  # type: ignore[misc]
    """The cell whose variables are those of one layer of cuDNN's LSTM."""

    def __init__(self, num_units: int, reuse: Optional[bool] = None) -> None:
        super().__init__(num_units, forget_bias=0.0, reuse=reuse, name="cudnn_compatible_lstm_cell")


class GRUBlockCell(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
    """A GRU with the variables of one operation: TensorFlow 2 has no gradient of it."""

    _names_of_variables = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self,
        num_units: Optional[int] = None,
        cell_size: Optional[int] = None,
        reuse: Optional[bool] = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size: Any = cell_size if num_units is None else num_units

    @property
    def state_size(self) -> Any:
        return self._cell_size

    @property
    def output_size(self) -> Any:
        return self._cell_size

    def build(self, input_shape: Any) -> None:
        units, size = self._cell_size, tf.TensorShape(input_shape).as_list()[1]
        if size is None:
            raise ValueError("Expecting input_size to be set.")
        weights, bias, candidate_weights, candidate_bias = self._names_of_variables
        ones, zeros = tf.ones_initializer(), tf.zeros_initializer()
        self._gate_kernel = self.add_weight(weights, [size + units, 2 * units])
        self._gate_bias = self.add_weight(bias, [2 * units], initializer=ones)
        self._candidate_kernel = self.add_weight(candidate_weights, [size + units, units])
        self._candidate_bias = self.add_weight(candidate_bias, [units], initializer=zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        gates = tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel)
        gates = tf.sigmoid(tf.nn.bias_add(gates, self._gate_bias))
        reset, kept = tf.split(gates, 2, axis=1)
        new = tf.matmul(tf.concat([inputs, reset * state], 1), self._candidate_kernel)
        new = tf.tanh(tf.nn.bias_add(new, self._candidate_bias))
        state = kept * state + (1 - kept) * new
        return state, state


class GRUBlockCellV2(GRUBlockCell):
    """The same with the variables of ``tf.nn.rnn_cell.GRUCell``."""

    _names_of_variables = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


class PhasedLSTMCell(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
    """An LSTM whose units open by a rhythm of their own: https://arxiv.org/abs/1610.09513

    Its inputs are times, of shape [batch, 1], and what was seen then, of shape [batch, features].
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: Any = 0.001,
        ratio_on: Any = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: Any = 1.0,
        period_init_max: Any = 1000.0,
        reuse: Optional[bool] = None,
    ) -> None:
        # Times may be of another dtype than what was seen.
        super().__init__(_reuse=reuse, autocast=False)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._periods = (period_init_min, period_init_max)

    @property
    def state_size(self) -> Any:
        return tf.nn.rnn_cell.LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        before, output_before = state
        time, seen = inputs
        read = [seen, output_before]
        peeped = [before] if self._use_peepholes else []
        with tf.variable_scope("mask_gates"):
            gates = tf.sigmoid(_linear(tf.concat(read + peeped, 1), 2 * self._num_units))
        into, kept = tf.split(gates, 2, axis=1)
        with tf.variable_scope("new_input"):
            new = tf.tanh(_linear(tf.concat(read, 1), self._num_units))
        memory = before * kept + into * new
        peeped = [memory] if self._use_peepholes else []
        with tf.variable_scope("output_gate"):
            gate = tf.sigmoid(_linear(tf.concat(read + peeped, 1), self._num_units))
        output = tf.tanh(memory) * gate
        openness = self._openness(time)
        memory = openness * memory + (1 - openness) * before
        output = openness * output + (1 - openness) * output_before
        return output, tf.nn.rnn_cell.LSTMStateTuple(memory, output)

    def _openness(self, time: Any) -> Any:
        """How far each unit is open: up, down again, and closed but for a leak."""
        shape = [self._num_units]
        period = tf.get_variable("period", shape, initializer=self._draw_periods)
        first = tf.random_uniform_initializer(0.0, period.initial_value)
        phase = tf.get_variable("phase", shape, initializer=first)
        ratio = tf.get_variable(
            "ratio_on",
            shape,
            initializer=tf.constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        length = tf.cast(period, time.dtype)
        shifted = time - tf.cast(phase, time.dtype)
        past = tf.stop_gradient(tf.mod(shifted, length) - shifted) + shifted
        share = tf.cast(past / length, tf.float32)
        up = 2 * share / ratio
        openness = tf.where(share < ratio, 2 - up, self._leak * share)
        return tf.where(share < 0.5 * ratio, up, openness)

    def _draw_periods(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        least, most = self._periods
        return tf.exp(tf.random_uniform(shape, tf.log(least), tf.log(most), dtype or tf.float32))


class ConvLSTMCell(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
    """An LSTM whose maps are convolutions: https://arxiv.org/abs/1506.04214

    ``input_shape`` is a list, without the batch; ``initializers`` is not used, as in TensorFlow 1.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Any,
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._dimensions = conv_ndims
        self._channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection
        state = tf.TensorShape(input_shape[:-1] + [output_channels])
        self._state_size = tf.nn.rnn_cell.LSTMStateTuple(state, state)
        shown = output_channels + (input_shape[-1] if skip_connection else 0)
        self._output_size = tf.TensorShape(input_shape[:-1] + [shown])

    @property
    def state_size(self) -> Any:
        return self._state_size

    @property
    def output_size(self) -> Any:
        return self._output_size

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        memory, output = state
        into, new, kept, gate = tf.split(self._convolved([inputs, output]), 4, axis=-1)
        memory = tf.sigmoid(kept + self._forget_bias) * memory
        memory += tf.sigmoid(into) * tf.tanh(new)
        output = tf.tanh(memory) * tf.sigmoid(gate)
        if self._skip_connection:
            output = tf.concat([output, inputs], axis=-1)
        return output, tf.nn.rnn_cell.LSTMStateTuple(memory, output)

    def _convolved(self, parts: list[Any]) -> Any:
        values, outputs = tf.concat(parts, axis=-1), 4 * self._channels
        shape = [*self._kernel_shape, values.shape.as_list()[-1], outputs]
        kernel = tf.get_variable("kernel", shape, values.dtype)
        convolve = {1: tf.nn.conv1d, 2: tf.nn.conv2d, 3: tf.nn.conv3d}[self._dimensions]
        strides: Any = 1 if self._dimensions == 1 else (self._dimensions + 2) * [1]
        result = convolve(values, kernel, strides, padding="SAME")
        if not self._use_bias:
            return result
        zeros = tf.constant_initializer(0.0, values.dtype)
        return result + tf.get_variable("biases", [outputs], values.dtype, zeros)


class Conv1DLSTMCell(ConvLSTMCell):
    """The cell of sequences."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """The cell of images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """The cell of volumes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)


class _Around(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
    """A cell around another one, whose states it has."""

    def __init__(self, cell: Any, reuse: Optional[bool]) -> None:
        super().__init__(_reuse=reuse)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return self._cell.zero_state(batch_size, dtype)


class EmbeddingWrapper(_Around):
    """A cell whose inputs are numbers of symbols."""

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: Optional[bool] = None,
    ) -> None:
        super().__init__(cell, reuse)
        self._shape = [embedding_classes, embedding_size]
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> Any:
        with tf.device("/cpu:0"):
            first = self._initializer or tf.get_variable_scope().initializer
            first = first or tf.random_uniform_initializer(-(3**0.5), 3**0.5)
            dtype = (state[0] if isinstance(state, tuple) else state).dtype
            table = tf.get_variable("embedding", self._shape, initializer=first, dtype=dtype)
            return self._cell(tf.nn.embedding_lookup(table, tf.reshape(inputs, [-1])), state)


class InputProjectionWrapper(_Around):
    """A cell with a linear map before its input."""

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Optional[Callable[[Any], Any]] = None,
        input_size: Any = None,
        reuse: Optional[bool] = None,
    ) -> None:
        super().__init__(cell, reuse)
        self._num_proj = num_proj
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:
        inputs = _linear(inputs, self._num_proj)
        return self._cell(self._activation(inputs) if self._activation else inputs, state)


class OutputProjectionWrapper(_Around):
    """A cell with a linear map behind its output."""

    def __init__(
        self,
        cell: Any,
        output_size: int,
        activation: Optional[Callable[[Any], Any]] = None,
        reuse: Optional[bool] = None,
    ) -> None:
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._size = output_size
        self._activation = activation

    @property
    def output_size(self) -> Any:
        return self._size

    def call(self, inputs: Any, state: Any) -> Any:
        output, state = self._cell(inputs, state)
        output = _linear(output, self._size)
        return self._activation(output) if self._activation else output, state


def _linear(values: Any, size: int) -> Any:
    """The map of ``kernel`` and ``bias``, which a second step finds again."""
    shape, dtype = [values.shape.as_list()[1], size], values.dtype
    with tf.variable_scope(tf.get_variable_scope()) as outer:
        mapped = tf.matmul(values, tf.get_variable("kernel", shape, dtype))
        with tf.variable_scope(outer) as inner:
            inner.set_partitioner(None)
            zeros = tf.constant_initializer(0.0, dtype)
            return tf.nn.bias_add(mapped, tf.get_variable("bias", [size], dtype, zeros))


def stack_bidirectional_dynamic_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: Any,
    initial_states_fw: Optional[list[Any]] = None,
    initial_states_bw: Optional[list[Any]] = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: Optional[int] = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Layers that read both ways, each of them what the one below gives."""
    if not cells_fw or len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth, at least one.")
    none = [None] * len(cells_fw)
    states = []
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        given = zip(cells_fw, cells_bw, initial_states_fw or none, initial_states_bw or none)
        for index, (forward, backward, state_fw, state_bw) in enumerate(given):
            with tf.variable_scope(f"cell_{index}"):
                outputs, last = tf.nn.bidirectional_dynamic_rnn(
                    forward,
                    backward,
                    inputs,
                    sequence_length=sequence_length,
                    initial_state_fw=state_fw,
                    initial_state_bw=state_bw,
                    dtype=dtype,
                    parallel_iterations=parallel_iterations,
                    swap_memory=swap_memory,
                    time_major=time_major,
                )
                inputs = tf.concat(outputs, 2)
            states.append(last)
    states_fw, states_bw = zip(*states)
    return inputs, states_fw, states_bw
