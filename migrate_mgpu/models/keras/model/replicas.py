"""What Keras does otherwise with several replicas: a class beside the model does what TF1 did."""

from __future__ import annotations

import ast

from migrate_mgpu.api.schema import Definition
from migrate_mgpu.models.ir import ClippedBy, Clipping
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.optimizers import OptimizerWriter

# Keras's arguments, and what TF1 did to each replica's gradients before they were summed.
_ARGUMENTS = {
    ClippedBy.GLOBAL_NORM: "global_clipnorm",
    ClippedBy.NORM: "clipnorm",
    ClippedBy.VALUE: "clipvalue",
}
_CLIPPED = {
    ClippedBy.GLOBAL_NORM: "gradients, _ = {tf}.clip_by_global_norm(gradients, {limit})",
    ClippedBy.NORM: (
        "gradients = [{tf}.clip_by_norm(gradient, {limit}) for gradient in gradients]"
    ),
    ClippedBy.VALUE: (
        "gradients = [{tf}.clip_by_value(gradient, -{limit}, {limit}) for gradient in gradients]"
    ),
}


def clipping_argument(clipping: Clipping, context: Context) -> tuple[str, str]:
    """The argument by which Keras's optimizers clip, and its value."""
    return _ARGUMENTS[clipping.by], context.render(clipping.limit)


def clipping_class(name: str, base: OptimizerWriter, clipping: Clipping, context: Context) -> str:
    """An optimizer whose replicas clip their own gradients, as TF1's did.

    Keras 2 clips by its arguments after the replicas' gradients are summed, Keras 3
    before; `apply_gradients` gets a replica's own on both (docs/semantics.md).
    """
    unit = context.module.source.indent_unit
    limit = context.render(clipping.limit)
    if clipping.by is ClippedBy.VALUE:
        if not isinstance(clipping.limit, (ast.Constant, ast.Name)):
            limit = f"({limit})"
    lines = [
        f"class {name}({base.function}):",
        f'{unit}"""{base.name} on gradients that each replica clips before they are summed."""',
        "",
        f"{unit}def apply_gradients(self, grads_and_vars, *args, **kwargs):",
        f"{unit * 2}gradients, variables = zip(*grads_and_vars)",
        unit * 2 + context.style.code(_CLIPPED[clipping.by], limit=limit),
        f"{unit * 2}return super().apply_gradients(zip(gradients, variables), *args, **kwargs)",
    ]
    return "\n".join(lines)


# The moving statistics are averaged over the replicas, as TF1's variables were. Without it each
# replica of Keras 2 evaluates with its own, and Keras 3 with the first one's (docs/semantics.md).
AVERAGE_STATISTICS = Definition(
    "AverageStatistics",
    '''\
class {name}({tf}.keras.callbacks.Callback):
    """After training, batch normalization's statistics are the mean of the replicas'."""

    def on_train_end(self, logs=None):
        strategy = self.model.distribute_strategy
        if strategy.num_replicas_in_sync > 1:
            {tf}.function(strategy.run)(self.average)

    def average(self):
        context = {tf}.distribute.get_replica_context()
        for variable in self.model.non_trainable_weights:
            variable.assign(context.all_reduce({tf}.distribute.ReduceOp.MEAN, variable))''',
)
