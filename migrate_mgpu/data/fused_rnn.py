"""Recurrent networks over whole sequences, as ``tf.contrib.rnn`` of TensorFlow 1 has them."""

from typing import Any, NamedTuple, Optional

import tensorflow.compat.v1 as tf


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM: its cell, and its output."""

    c: Any
    h: Any


class FusedRNNCell:
    """A whole network over time: what is called with the inputs of all steps."""

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        """The outputs of all steps, and the last state."""
        raise NotImplementedError


class LSTMBlockFusedCell:
    """An LSTM over ``[time, batch, features]`` in one operation.

    ``kernel`` and ``bias`` are those of TensorFlow 1: its checkpoints fit.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: Optional[float] = None,
        use_peephole: bool = False,
        reuse: Optional[bool] = None,
        dtype: Any = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        self.num_units = num_units
        self.name = name
        self.trainable_variables: list[Any] = []
        self._forget_bias = forget_bias
        self._cell_clip = -1.0 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self._reuse = reuse
        self._dtype = dtype
        self._scope: Any = None

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        """The outputs, zeros behind a sequence's end, and the state (cell, output) at its end."""
        inputs = tf.convert_to_tensor(inputs)
        time, batch = tf.shape(inputs)[0], tf.shape(inputs)[1]
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            zeros = tf.zeros(tf.stack([batch, self.num_units]), dtype)
            initial_state = zeros, zeros
        cell, output = initial_state
        kernel, bias, peepholes = self._variables(inputs, scope)
        longest = time if sequence_length is None else tf.reduce_max(sequence_length)
        made = tf.raw_ops.BlockLSTM(
            seq_len_max=tf.cast(longest, tf.int64),
            x=inputs,
            cs_prev=cell,
            h_prev=output,
            w=kernel,
            wci=peepholes[0],
            wcf=peepholes[1],
            wco=peepholes[2],
            b=bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        cells, outputs = made.cs, made.h
        if sequence_length is None:
            state = cells[-1], outputs[-1]
        else:
            mask = tf.sequence_mask(sequence_length, time, outputs.dtype)
            outputs *= tf.transpose(mask)[:, :, None]
            lengths = tf.cast(sequence_length, tf.int32)
            ends = tf.stack([lengths, tf.range(batch)], axis=1)
            state = (
                tf.gather_nd(tf.concat([cell[None], cells], 0), ends),
                tf.gather_nd(tf.concat([output[None], outputs], 0), ends),
            )
        return outputs, LSTMStateTuple(*state)

    def _variables(self, inputs: Any, scope: Any) -> tuple[Any, Any, list[Any]]:
        """The variables, made by the first call."""
        if self._scope is None and self._reuse:
            with tf.variable_scope(self.name if scope is None else scope) as self._scope:
                pass
        elif self._scope is None:
            with tf.variable_scope(scope, default_name=self.name) as self._scope:
                pass
        units, dtype = self.num_units, self._dtype or inputs.dtype
        reuse = bool(self.trainable_variables) or self._reuse
        with tf.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False):
            shape = [inputs.shape.as_list()[2] + units, 4 * units]
            kernel = tf.get_variable("kernel", shape, dtype)
            bias = tf.get_variable("bias", [4 * units], dtype, tf.constant_initializer(0.0))
            found = [kernel, bias]
            if self._use_peephole:
                names = ("w_i_diag", "w_f_diag", "w_o_diag")
                found += [tf.get_variable(name, [units], dtype) for name in names]
        self.trainable_variables = found
        return kernel, bias, found[2:] or [tf.zeros([units], inputs.dtype)] * 3


class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell over whole sequences, ``[time, batch, features]``."""

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        is_list = isinstance(inputs, list)
        given = {
            "sequence_length": sequence_length,
            "initial_state": initial_state,
            "dtype": dtype,
            "scope": scope,
        }
        if self._use_dynamic_rnn:
            inputs = tf.stack(inputs) if is_list else inputs
            outputs, state = tf.nn.dynamic_rnn(self._cell, inputs, time_major=True, **given)
            return tf.unstack(outputs) if is_list else outputs, state
        inputs = inputs if is_list else tf.unstack(inputs)
        outputs, state = tf.nn.static_rnn(self._cell, inputs, **given)
        return outputs if is_list else tf.stack(outputs), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A network over sequences that reads them from their ends."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        outputs, state = self._cell(
            _reversed(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return _reversed(outputs, sequence_length), state


def _reversed(steps: Any, lengths: Any) -> Any:
    if isinstance(steps, list):
        return list(reversed(steps))
    if lengths is None:
        return tf.reverse(steps, [0])
    return tf.reverse_sequence(steps, lengths, seq_axis=0, batch_axis=1)
