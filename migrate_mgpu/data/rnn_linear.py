"""Linear maps of several tensors together, as the cells of TensorFlow 1 make them."""

from typing import Any, Optional

import tensorflow.compat.v1 as tf


class Linear:
    """A map whose variables are made at once, and which is called with such tensors as ``args``."""

    def __init__(
        self,
        args: Any,
        output_size: int,
        build_bias: bool,
        bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ) -> None:
        self._is_sequence = tf.nest.is_nested(args)
        tensors, rows = _checked(args)
        dtype = tensors[0].dtype
        self._biases: Any = None
        with tf.variable_scope(tf.get_variable_scope()) as outer:
            self._weights = tf.get_variable(
                "kernel", [rows, output_size], dtype=dtype, initializer=kernel_initializer
            )
            if build_bias:
                with tf.variable_scope(outer) as inner:
                    inner.set_partitioner(None)
                    self._biases = tf.get_variable(
                        "bias",
                        [output_size],
                        dtype=dtype,
                        initializer=bias_initializer or tf.constant_initializer(0.0, dtype),
                    )

    def __call__(self, args: Any) -> tf.Tensor:
        result = _product(list(args) if self._is_sequence else [args], self._weights)
        return result if self._biases is None else tf.nn.bias_add(result, self._biases)


def linear(
    args: Any,
    output_size: int,
    bias: bool,
    bias_initializer: Any = None,
    kernel_initializer: Any = None,
) -> tf.Tensor:
    """The map of TensorFlow 1.2 and later, with the variables ``kernel`` and ``bias``."""
    return Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)


def linear_1_0(
    args: Any, output_size: int, bias: bool, bias_start: float = 0.0, scope: Any = None
) -> tf.Tensor:
    """The map of TensorFlow 1.0, with ``weights`` and ``biases``; it does not ask for its scope."""
    tensors, rows = _checked(args)
    dtype = tensors[0].dtype
    with tf.variable_scope(tf.get_variable_scope()) as outer:
        result = _product(tensors, tf.get_variable("weights", [rows, output_size], dtype=dtype))
        if not bias:
            return result
        with tf.variable_scope(outer) as inner:
            inner.set_partitioner(None)
            first = tf.constant_initializer(bias_start, dtype)
            biases = tf.get_variable("biases", [output_size], dtype=dtype, initializer=first)
    return tf.nn.bias_add(result, biases)


def linear_0_12(
    args: Any, output_size: int, bias: bool, bias_start: float = 0.0, scope: Any = None
) -> tf.Tensor:
    """The map before TensorFlow 1.0, with ``Matrix`` and ``Bias`` in a scope of its own."""
    tensors, rows = _checked(args)
    dtype = tensors[0].dtype
    with tf.variable_scope(scope or "Linear"):
        result = _product(tensors, tf.get_variable("Matrix", [rows, output_size], dtype=dtype))
        if not bias:
            return result
        first = tf.constant_initializer(bias_start, dtype)
        return result + tf.get_variable("Bias", [output_size], dtype=dtype, initializer=first)


def like_rnncell(cell: Any) -> bool:
    """Whether an object has what a cell has."""
    named = all(hasattr(cell, name) for name in ("output_size", "state_size", "zero_state"))
    return named and callable(cell)


def _checked(args: Any) -> tuple[list[tf.Tensor], int]:
    """The tensors, and how many columns they have together."""
    if args is None or (tf.nest.is_nested(args) and not args):
        raise ValueError("`args` must be specified")
    tensors = list(args) if tf.nest.is_nested(args) else [args]
    shapes = [one.shape for one in tensors]
    columns: list[Optional[int]] = [s.as_list()[1] if s.rank == 2 else None for s in shapes]
    if None in columns:
        raise ValueError(f"linear is expecting 2D arguments with a known shape[1]: {shapes}")
    return tensors, sum(one for one in columns if one is not None)


def _product(tensors: list[tf.Tensor], weights: tf.Variable) -> tf.Tensor:
    return tf.matmul(tensors[0] if len(tensors) == 1 else tf.concat(tensors, 1), weights)
