"""The optimizers of ``tf.train`` and their Keras form."""

from __future__ import annotations

import enum

from migrate_mgpu.api.schema import Definition, Parameter, Row, Table
from migrate_mgpu.core.records import record


class Rows(enum.Enum):
    """What becomes of a table's rows that a batch does not use, in Keras, next to TF1."""

    SAME = enum.auto()
    SAME_FROM_ZERO = enum.auto()  # where they begin at zero, as a linear model's do
    OTHER = enum.auto()


@record(frozen=True)
class OptimizerRow(Row):
    """An optimizer.

    ``string`` is the name by which ``optimize_loss`` and canned Estimators know it, with what
    the former gives it besides a learning rate (``settings``); ``canned``: the latter's is
    known to be equal. ``rows`` says what Keras does with gradients of an embedding's rows,
    SAME where that was measured;
    ``linear``: its step for a sum of gradients is the sum of its steps. ``definition`` stands
    for the class of Keras's, always or only where the learning rate changes
    (``if_scheduled``), ``of_rows`` does where it gets gradients of some rows. ``slots`` is how
    many tensors it keeps of each variable, where those of Keras are the same ones, in the same
    order.
    """

    string: str = ""
    canned: bool = False
    settings: tuple[tuple[str, float], ...] = ()
    rows: Rows = Rows.OTHER
    linear: bool = False
    definition: Definition | None = None
    of_rows: Definition | None = None
    if_scheduled: bool = False
    slots: int = 0


_RATE = Parameter("learning_rate", real=True)
_NAME = Parameter("name")
_LOCKING = Parameter("use_locking", "False", target="")
_BY_POSITION = ("learning_rate",)

_RMSPROP = Definition(
    "RMSprop",
    '''\
class {name}({tf}.keras.optimizers.RMSprop):
    """RMSprop whose mean squares begin at one, as TF1's do: `rho ** step` of it is left."""

    @property
    def epsilon(self):
        return self._epsilon + self.rho ** {tf}.cast(self.iterations + 1, {tf}.float32)

    @epsilon.setter
    def epsilon(self, value):
        self._epsilon = value

    def get_config(self):
        return {{**super().get_config(), {quote}epsilon{quote}: self._epsilon}}''',
)
_MOMENTUM = Definition(
    "Momentum",
    '''\
class {name}({tf}.keras.optimizers.SGD):
    """SGD whose momentum sums up gradients, as TF1's; the step's rate multiplies the sum."""

    def __init__(self, learning_rate, **kwargs):
        super().__init__(1.0, **kwargs)
        self.schedule = learning_rate

    def update_step(self, gradient, variable, *args):
        before = {tf}.identity(variable)
        super().update_step(gradient, variable, *args)
        rate = {tf}.cast(self.schedule(self.iterations), variable.dtype)
        variable.assign(before + rate * (variable - before))''',
)

# What follows is for an optimizer that gets gradients of some rows of a table. The first stands
# above the class that it changes, which is Keras's own or that of the optimizer's row.
OWN_ROWS = Definition(
    "OwnRows",
    '''\
class {name}:
    """Changes only the rows of a table that a step has used, as TF1's optimizer does."""

    def update_step(self, gradient, variable, *args):
        if not isinstance(gradient, {tf}.IndexedSlices):
            return super().update_step(gradient, variable, *args)
        shape = tuple(variable.shape)
        changed = [variable, *(kept for kept in self.variables if tuple(kept.shape) == shape)]
        before = [{tf}.identity(value) for value in changed]
        super().update_step({tf}.convert_to_tensor(gradient), variable, *args)
        used = {tf}.scatter_nd(
            gradient.indices[:, None], {tf}.ones_like(gradient.indices), [shape[0]]
        )
        used = {tf}.reshape(used > 0, [shape[0]] + [1] * (len(shape) - 1))
        for value, old in zip(changed, before):
            value.assign({tf}.where(used, value, old))''',
)
OF_ROWS = '''\
class {name}({rows}, {base}):
    """{short} for tables, as TF1's."""'''
# Each row has its own count of steps: what is left of the ones that it begins with differs.
_RMSPROP_OF_ROWS = Definition(
    "RMSprop",
    '''\
class {name}({tf}.keras.optimizers.RMSprop):
    """RMSprop whose mean squares begin at one, as TF1's do."""

    def build(self, variables):
        begins = not hasattr(self, {quote}_velocities{quote})
        super().build(variables)
        for mean_square in self._velocities if begins else []:
            mean_square.assign({tf}.ones(mean_square.shape))''',
)
# A learning rate that steps have, where one of several optimizers must ask for it.
STEP_RATE = Definition(
    "StepRate",
    '''\
class {name}({tf}.keras.optimizers.schedules.LearningRateSchedule):
    """The learning rate that a step was given last."""

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, step):
        return self.rate

    def get_config(self):
        return {{{quote}rate{quote}: self.rate}}''',
)

# ``tf.contrib.layers.optimize_loss``, which makes an optimizer and its training step.
OPTIMIZE_LOSS = "contrib.layers.optimize_loss"
OPTIMIZE_LOSS_PARAMETERS = (
    "loss", "global_step", "learning_rate", "optimizer", "gradient_noise_scale",
    "gradient_multipliers", "clip_gradients", "learning_rate_decay_fn", "update_ops",
    "variables", "name", "summaries", "colocate_gradients_with_ops", "increment_global_step",
)  # fmt: skip
# ``create_train_op``: the first runs the update operations and counts a step, the second may also
# clip each gradient.
CREATE_TRAIN_OP = {
    "contrib.training.create_train_op": (
        "total_loss", "optimizer", "global_step", "update_ops", "variables_to_train",
        "transform_grads_fn", "summarize_gradients", "gate_gradients", "aggregation_method",
        "colocate_gradients_with_ops", "check_numerics",
    ),
    "contrib.slim.learning.create_train_op": (
        "total_loss", "optimizer", "global_step", "update_ops", "variables_to_train",
        "clip_gradient_norm", "summarize_gradients", "gate_gradients", "aggregation_method",
        "colocate_gradients_with_ops", "gradient_multipliers", "check_numerics",
    ),
}  # fmt: skip
STEP_MAKERS = frozenset({OPTIMIZE_LOSS, *CREATE_TRAIN_OP})

OPTIMIZERS = Table(
    OptimizerRow(
        ("train.GradientDescentOptimizer",),
        "gradient_descent",
        (_RATE, _LOCKING, _NAME),
        "keras.optimizers.SGD",
        _BY_POSITION,
        string="SGD",
        canned=True,
        linear=True,
        rows=Rows.SAME,
    ),
    # Without regularization its step is that of gradient descent.
    OptimizerRow(
        ("train.ProximalGradientDescentOptimizer",),
        "proximal_gradient_descent",
        (
            _RATE,
            *(
                Parameter(
                    f"{norm}_regularization_strength",
                    "0.0",
                    target="",
                    only=(0.0,),
                    reason="no Keras optimizer equals tf.train.ProximalGradientDescentOptimizer",
                )
                for norm in ("l1", "l2")
            ),
            _LOCKING,
            _NAME,
        ),
        "keras.optimizers.SGD",
        _BY_POSITION,
        linear=True,
        rows=Rows.SAME,
    ),
    OptimizerRow(
        ("train.MomentumOptimizer",),
        "momentum",
        (
            _RATE,
            Parameter("momentum", real=True),
            _LOCKING,
            _NAME,
            Parameter("use_nesterov", "False", target="nesterov"),
        ),
        "keras.optimizers.SGD",
        _BY_POSITION,
        string="Momentum",
        settings=(("momentum", 0.9),),
        rows=Rows.OTHER,
        definition=_MOMENTUM,
        if_scheduled=True,
    ),
    OptimizerRow(
        ("train.AdamOptimizer",),
        "adam",
        (
            Parameter("learning_rate", "0.001", real=True),
            Parameter("beta1", "0.9", target="beta_1"),
            Parameter("beta2", "0.999", target="beta_2"),
            Parameter("epsilon", "1e-8", stated=True),
            _LOCKING,
            _NAME,
        ),
        "keras.optimizers.Adam",
        _BY_POSITION,
        string="Adam",
        canned=True,
        slots=2,
        rows=Rows.SAME,
    ),
    OptimizerRow(
        ("train.AdagradOptimizer",),
        "adagrad",
        (_RATE, Parameter("initial_accumulator_value", "0.1"), _LOCKING, _NAME),
        "keras.optimizers.Adagrad",
        _BY_POSITION,
        (("epsilon", "0.0"),),
        string="Adagrad",
        canned=True,
        slots=1,
        rows=Rows.SAME,
    ),
    # Without regularization its step is Adagrad's.
    OptimizerRow(
        ("train.ProximalAdagradOptimizer",),
        "proximal_adagrad",
        (
            _RATE,
            Parameter("initial_accumulator_value", "0.1"),
            *(
                Parameter(
                    f"{norm}_regularization_strength",
                    "0.0",
                    target="",
                    only=(0.0,),
                    reason="no Keras optimizer equals tf.train.ProximalAdagradOptimizer",
                )
                for norm in ("l1", "l2")
            ),
            _LOCKING,
            _NAME,
        ),
        "keras.optimizers.Adagrad",
        _BY_POSITION,
        (("epsilon", "0.0"),),
        canned=True,
        slots=1,
        rows=Rows.SAME,
    ),
    OptimizerRow(
        ("train.AdadeltaOptimizer",),
        "adadelta",
        (
            Parameter("learning_rate", "0.001", real=True),
            Parameter("rho", "0.95"),
            Parameter("epsilon", "1e-8", stated=True),
            _LOCKING,
            _NAME,
        ),
        "keras.optimizers.Adadelta",
        _BY_POSITION,
        rows=Rows.OTHER,
        slots=2,
    ),
    OptimizerRow(
        ("train.RMSPropOptimizer",),
        "rmsprop",
        (
            _RATE,
            Parameter("decay", "0.9", target="rho"),
            Parameter("momentum", "0.0"),
            Parameter("epsilon", "1e-10", stated=True),
            _LOCKING,
            Parameter("centered", "False"),
            _NAME,
        ),
        "keras.optimizers.RMSprop",
        _BY_POSITION,
        string="RMSProp",
        rows=Rows.OTHER,
        definition=_RMSPROP,
        of_rows=_RMSPROP_OF_ROWS,
    ),
    OptimizerRow(
        ("train.FtrlOptimizer",),
        "ftrl",
        (
            _RATE,
            Parameter("learning_rate_power", "-0.5"),
            Parameter("initial_accumulator_value", "0.1"),
            Parameter("l1_regularization_strength", "0.0"),
            Parameter("l2_regularization_strength", "0.0"),
            _LOCKING,
            _NAME,
            Parameter("accum_name", "None", target=""),
            Parameter("linear_name", "None", target=""),
            Parameter("l2_shrinkage_regularization_strength", "0.0"),
        ),
        "keras.optimizers.Ftrl",
        _BY_POSITION,
        string="Ftrl",
        canned=True,
        rows=Rows.SAME_FROM_ZERO,
        slots=2,
    ),
    # A class of the program's own, which makes a tensor of each gradient.
    OptimizerRow((), "own", target="keras.optimizers.SGD", rows=Rows.SAME),
)

# Keras's own of 1.15: what was measured, or is the same code, in Keras 2.15 and 3.
_FALLS = Parameter("decay", "0.0", target="")
_LR = Parameter("lr", target="learning_rate", real=True)
_EPSILON = Parameter("epsilon", "None")
KERAS_OPTIMIZERS = Table(
    OptimizerRow(
        ("keras.optimizers.Adadelta",),
        "keras_adadelta",
        (_RATE, Parameter("rho", "0.95"), _EPSILON, _NAME, _LR, _FALLS),
        "keras.optimizers.Adadelta",
    ),
    OptimizerRow(
        ("keras.optimizers.Adagrad",),
        "keras_adagrad",
        (_RATE, Parameter("initial_accumulator_value", "0.1"), _EPSILON, _NAME, _LR, _FALLS),
        "keras.optimizers.Adagrad",
    ),
    OptimizerRow(
        ("keras.optimizers.Adam",),
        "keras_adam",
        (
            _RATE,
            Parameter("beta_1", "0.9"),
            Parameter("beta_2", "0.999"),
            _EPSILON,
            Parameter(
                "amsgrad",
                "False",
                only=(False,),
                reason="amsgrad of 1.15 was not compared with Keras's",
            ),
            _NAME,
            _LR,
            _FALLS,
        ),
        "keras.optimizers.Adam",
    ),
    OptimizerRow(
        ("keras.optimizers.SGD",),
        "keras_sgd",
        (_RATE, Parameter("momentum", "0.0"), Parameter("nesterov", "False"), _NAME, _LR, _FALLS),
        "keras.optimizers.SGD",
    ),
)
KERAS_WITHOUT_EQUAL = {
    "RMSprop": "1.15 adds epsilon to the root of the mean squares, Keras to the mean squares",
}
BY_STRING = {row.string: row for row in OPTIMIZERS.rows if row.string}
