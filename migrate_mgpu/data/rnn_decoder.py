"""A decoder of sequences, as ``tf.contrib.legacy_seq2seq`` of TensorFlow 1 has it."""

from typing import Any, Callable, Optional

import tensorflow.compat.v1 as tf


def rnn_decoder(
    decoder_inputs: list[Any],
    initial_state: Any,
    cell: Any,
    loop_function: Optional[Callable[[tf.Tensor, int], Any]] = None,
    scope: Any = None,
) -> tuple[list[tf.Tensor], Any]:
    """The outputs of a cell for a list of steps in time, and its state behind the last one.

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
