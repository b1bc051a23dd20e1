"""Adam for embeddings, as ``tf.contrib.opt.LazyAdamOptimizer`` of TensorFlow 1 has it."""

from typing import Any

import tensorflow.compat.v1 as tf


class LazyAdamOptimizer(tf.train.AdamOptimizer):
    """Adam that moves only the rows of a variable that a batch uses, and only their moments."""

    def _apply_sparse(self, grad: tf.IndexedSlices, var: Any) -> tf.Operation:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> tf.Operation:
        return self._apply_rows(grad, var, indices)

    def _apply_rows(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> tf.Operation:
        def cast(value: Any) -> tf.Tensor:
            return tf.cast(value, var.dtype.base_dtype)

        beta1_power, beta2_power = map(cast, self._get_beta_accumulators())
        beta1, beta2 = cast(self._beta1_t), cast(self._beta2_t)
        rate = cast(self._lr_t) * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        rows = rate * m_rows / (tf.sqrt(v_rows) + cast(self._epsilon_t))
        return tf.group(
            tf.scatter_sub(var, indices, rows, use_locking=self._use_locking),
            tf.scatter_update(m, indices, m_rows, use_locking=self._use_locking),
            tf.scatter_update(v, indices, v_rows, use_locking=self._use_locking),
        )
