"""Optimizers with decoupled weight decay, as ``tf.contrib.opt`` of TensorFlow 1 has them."""

from typing import Any

import tensorflow.compat.v1 as tf


class DecoupledWeightDecayExtension(tf.train.Optimizer):
    """Takes a part of each weight away before another optimizer's step."""

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._decay_var_list: Any = None  # those that decay; all where there is none
        self._weight_decay = weight_decay
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = tf.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: Any = None,
        grad_loss: Any = None,
        decay_var_list: Any = None,
    ) -> tf.Operation:
        # It calls `apply_gradients`, which forgets the list: as in TensorFlow 1, all decay.
        self._decay_var_list = set(decay_var_list) if decay_var_list else False
        return super().minimize(
            loss,
            global_step=global_step,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            name=name,
            grad_loss=grad_loss,
        )

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: Any = None,
        decay_var_list: Any = None,
    ) -> tf.Operation:
        self._decay_var_list = set(decay_var_list) if decay_var_list else False
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _decays(self, var: Any) -> bool:
        return not self._decay_var_list or var in self._decay_var_list

    def _decay_weights_op(self, var: Any) -> Any:
        if not self._decays(var):
            return tf.no_op()
        return var.assign_sub(self._weight_decay * var, self._use_locking)

    def _decay_weights_sparse_op(self, var: Any, indices: tf.Tensor) -> Any:
        if not self._decays(var):
            return tf.no_op()
        part = -self._weight_decay * tf.gather(var, indices)
        return tf.scatter_add(var, indices, part, self._use_locking)

    def _apply_dense(self, grad: tf.Tensor, var: Any) -> Any:
        with tf.control_dependencies([self._decay_weights_op(var)]):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad: tf.Tensor, var: Any) -> Any:
        with tf.control_dependencies([self._decay_weights_op(var)]):
            return super()._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad: tf.IndexedSlices, var: Any) -> Any:
        with tf.control_dependencies([self._decay_weights_sparse_op(var, grad.indices)]):
            return super()._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        with tf.control_dependencies([self._decay_weights_sparse_op(var, indices)]):
            return super()._resource_apply_sparse(grad, var, indices)


def extend_with_decoupled_weight_decay(base_optimizer: type) -> type:
    """The class of an optimizer with weight decay, which is its first argument."""

    class OptimizerWithDecoupledWeightDecay(
        DecoupledWeightDecayExtension,
        base_optimizer,
    ):
        def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
            super().__init__(weight_decay, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.train.MomentumOptimizer):
    """Momentum with weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.train.AdamOptimizer):
    """Adam with weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )
