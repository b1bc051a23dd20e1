"""The learning rate schedules of ``tf.train`` and their Keras form."""

from __future__ import annotations

from migrate_mgpu.api.schema import Parameter, Row, Table
from migrate_mgpu.core.records import record


@record(frozen=True)
class ScheduleRow(Row):
    """A schedule.

    ``step`` is the parameter that is the global step, which Keras's schedules count themselves.
    ``exponent``: the rate of TF1's decay is the exponent of what Keras multiplies by.
    """

    step: str = "global_step"
    exponent: bool = False


_KERAS = "keras.optimizers.schedules."
_BEGIN = (
    Parameter("learning_rate", target="initial_learning_rate"),
    Parameter("global_step", target=""),
)
_STEPS = (*_BEGIN, Parameter("decay_steps"))
_ALPHA = Parameter("alpha", "0.0")
_NAME = Parameter("name", "None")
_BY_RATE = (*_STEPS, Parameter("decay_rate"), Parameter("staircase", "False"), _NAME)

SCHEDULES = Table(
    ScheduleRow(
        ("train.exponential_decay",), "exponential_decay", _BY_RATE, f"{_KERAS}ExponentialDecay"
    ),
    ScheduleRow(
        ("train.natural_exp_decay",),
        "natural_exp_decay",
        _BY_RATE,
        f"{_KERAS}ExponentialDecay",
        exponent=True,
    ),
    ScheduleRow(
        ("train.inverse_time_decay",), "inverse_time_decay", _BY_RATE, f"{_KERAS}InverseTimeDecay"
    ),
    ScheduleRow(
        ("train.polynomial_decay",),
        "polynomial_decay",
        (
            *_STEPS,
            Parameter("end_learning_rate", "0.0001"),
            Parameter("power", "1.0"),
            Parameter("cycle", "False"),
            _NAME,
        ),
        f"{_KERAS}PolynomialDecay",
    ),
    ScheduleRow(
        ("train.cosine_decay",), "cosine_decay", (*_STEPS, _ALPHA, _NAME), f"{_KERAS}CosineDecay"
    ),
    ScheduleRow(
        ("train.cosine_decay_restarts",),
        "cosine_decay_restarts",
        (
            *_BEGIN,
            Parameter("first_decay_steps"),
            Parameter("t_mul", "2.0"),
            Parameter("m_mul", "1.0"),
            _ALPHA,
            _NAME,
        ),
        f"{_KERAS}CosineDecayRestarts",
    ),
    ScheduleRow(
        ("train.piecewise_constant", "train.piecewise_constant_decay"),
        "piecewise_constant",
        (Parameter("x", target=""), Parameter("boundaries"), Parameter("values"), _NAME),
        f"{_KERAS}PiecewiseConstantDecay",
        step="x",
    ),
    ScheduleRow(("train.linear_cosine_decay",), "linear_cosine_decay"),
    ScheduleRow(("train.noisy_linear_cosine_decay",), "noisy_linear_cosine_decay"),
)
