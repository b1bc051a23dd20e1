"""Averages of weights, as ``tf.contrib.opt.MovingAverageOptimizer`` of TensorFlow 1 has them."""

from typing import Any, Optional

import tensorflow.compat.v1 as tf


class MovingAverageOptimizer(tf.train.Optimizer):  # type: ignore[misc]
    """An optimizer that keeps moving averages of what another one trains.

    ``swapping_saver`` saves the averages by the names of the variables, and the other way round,
    so that a plain saver restores the averages.
    """

    def __init__(
        self,
        opt: Any,
        average_decay: float = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        self._optimizer = opt
        self._averages = tf.train.ExponentialMovingAverage(average_decay, num_updates)
        self._sequential = sequential_update
        self._swapped: Optional[dict[str, str]] = None  # names of variables and of averages

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None
    ) -> tf.Operation:
        pairs = list(grads_and_vars)
        trained = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        variables = [variable for gradient, variable in pairs if gradient is not None]
        with tf.control_dependencies([trained] if self._sequential else []):
            averaged = self._averages.apply(variables)
        self._swapped = {}
        for variable in variables:
            average = self._averages.average(variable)
            self._swapped[variable.op.name] = average.op.name
            self._swapped[average.op.name] = variable.op.name
        return tf.group(trained, averaged, name="train_with_avg")

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> tf.train.Saver:
        """A saver of variables by the names of their averages, and of averages by theirs."""
        if self._swapped is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the swapping_saver"
            )
        if var_list is None:
            var_list = tf.global_variables()
        if not isinstance(var_list, dict):
            var_list = {variable.op.name: variable for variable in var_list}
        saved = {}
        for key in var_list:
            other = self._swapped.get(key, key)
            if other not in var_list:
                raise ValueError(
                    f"Variable to swap {other} is not part of variables to save. "
                    "This breaks MovingAverageOptimizer."
                )
            saved[key] = var_list[other]
        return tf.train.Saver(saved, name=name, **kwargs)
