"""Losses scaled for float16, as ``tf.contrib.mixed_precision`` of TensorFlow 1 does it."""

from typing import Any, Optional

import tensorflow.compat.v1 as tf


class LossScaleManager:
    """What a loss is multiplied by, and when that changes."""

    def get_loss_scale(self) -> Any:
        """The scale, of type float32."""
        raise NotImplementedError

    def update_loss_scale(self, finite_grads: tf.Tensor) -> tf.Operation:
        """What a step does to the scale; ``finite_grads``: whether all its gradients are."""
        raise NotImplementedError


class FixedLossScaleManager(LossScaleManager):
    """The same scale in each step."""

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = tf.convert_to_tensor(loss_scale, tf.float32)

    def get_loss_scale(self) -> tf.Tensor:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: tf.Tensor) -> tf.Operation:
        return tf.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after some steps in a row, and shrinks after some that overflowed."""

    def __init__(
        self,
        init_loss_scale: Any,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        scale = tf.convert_to_tensor(init_loss_scale, tf.float32)
        self._loss_scale = _variable("loss_scale", scale, tf.float32)
        self._num_good_steps = _variable("good_steps", 0, tf.int32)
        self._num_bad_steps = _variable("bad_steps", 0, tf.int32)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: tf.Tensor) -> tf.Operation:
        good, bad = self._num_good_steps, self._num_bad_steps

        def finite() -> Any:
            return tf.cond(
                good + 1 >= self._incr_every_n_steps,
                lambda: self._scaled(grown()),
                lambda: tf.group(tf.assign_add(good, 1)),
            )

        def grown() -> tf.Tensor:
            larger = self._loss_scale * self._incr_ratio
            return tf.where(tf.is_finite(larger), larger, self._loss_scale)

        def overflowed() -> Any:
            return tf.cond(
                bad + 1 >= self._decr_every_n_nan_or_inf,
                lambda: self._scaled(tf.maximum(1.0, self._loss_scale * self._decr_ratio)),
                lambda: tf.group(tf.assign_add(bad, 1), tf.assign(good, 0)),
            )

        return tf.cond(finite_grads, finite, overflowed)

    def _scaled(self, scale: tf.Tensor) -> tf.Operation:
        """The new scale, from which on steps are counted anew."""
        return tf.group(
            tf.assign(self._loss_scale, scale),
            tf.assign(self._num_good_steps, 0),
            tf.assign(self._num_bad_steps, 0),
        )


def _variable(name: str, value: Any, dtype: tf.DType) -> Any:
    return tf.Variable(value, name=name, dtype=dtype, trainable=False)


class LossScaleOptimizer(tf.train.Optimizer):
    """Multiplies the loss, divides its gradients, and leaves out steps that overflow."""

    def __init__(self, opt: tf.train.Optimizer, loss_scale_manager: LossScaleManager) -> None:
        # As in TensorFlow 1, what the base class sets up stays that of `opt`.
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = tf.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        scale = self._loss_scale_manager.get_loss_scale()
        value = loss() if callable(loss) else loss
        pairs = self._opt.compute_gradients(
            value * tf.cast(scale, value.dtype.base_dtype),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        factor = tf.reciprocal(scale)
        return [
            (None if g is None else g * tf.cast(factor, g.dtype.base_dtype), v) for g, v in pairs
        ]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None
    ) -> tf.Operation:
        finite = tf.reduce_all([tf.reduce_all(tf.is_finite(g)) for g, _ in grads_and_vars])
        applied = tf.cond(
            finite,
            lambda: self._opt.apply_gradients(grads_and_vars, global_step, name),
            tf.no_op,
        )
        return tf.group(applied, self._loss_scale_manager.update_loss_scale(finite))
