"""What both programs' optimizers are, under common names, and what their steps do.

The formulas are those of tf.train (training_ops.cc, and RMSProp's docstring) and of Keras,
which agree for the same hyperparameters and slots (docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_FAMILIES = {
    "GradientDescentOptimizer": "sgd",
    "MomentumOptimizer": "sgd",
    "SGD": "sgd",
    "AdamOptimizer": "adam",
    "Adam": "adam",
    "AdagradOptimizer": "adagrad",
    "Adagrad": "adagrad",
    "RMSPropOptimizer": "rmsprop",
    "RMSprop": "rmsprop",
    "AdadeltaOptimizer": "adadelta",
    "Adadelta": "adadelta",
    "FtrlOptimizer": "ftrl",
    "Ftrl": "ftrl",
}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "sgd": {"momentum": 0.0, "nesterov": False},
    "adam": {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8, "amsgrad": False},
    "adagrad": {"initial_accumulator_value": 0.1, "epsilon": 0.0},
    "rmsprop": {"rho": 0.9, "momentum": 0.0, "epsilon": 1e-10, "centered": False},
    "adadelta": {"rho": 0.95, "epsilon": 1e-8},
    "ftrl": {"learning_rate_power": -0.5, "initial_accumulator_value": 0.1, "l1": 0.0, "l2": 0.0},
}
# What clips or decays besides, in Keras; zero where it is not there.
_MORE = ("weight_decay", "clipnorm", "clipvalue", "global_clipnorm", "use_ema")


@dataclass(frozen=True)
class Optimizer:
    """An optimizer as it was declared.

    Attributes:
      name: its class.
      family: ``sgd``, ``adam``, ...; None when it is none of those.
      values: hyperparameters; ``learning_rate`` is the first step's, ``initial_square``
        where RMSProp's mean square begins.
    """

    name: str
    family: str | None
    values: Mapping[str, Any]

    def having(self, **changes: Any) -> Optimizer:
        return Optimizer(self.name, self.family, {**self.values, **changes})


def read(training: Mapping[str, Any], series: int) -> Optimizer | None:
    """The optimizer of a side's series, or None when none was seen."""
    declared = training.get("declares", {}).get("optimizers", {}).get(str(series))
    if declared is None:
        return None
    names = [declared["class"], *declared["bases"]]
    family = next((_FAMILIES[name] for name in names if name in _FAMILIES), None)
    values = dict(_DEFAULTS.get(family or "", {}))
    values.update(dict.fromkeys(_MORE, 0.0))
    values.update({k: v for k, v in declared["values"].items() if v is not None})
    for name in ("schedule", "schedule_values"):
        values.pop(name, None)
    known = training.get("series") or [{}]
    rates = (known[series] if series < len(known) else {}).get("rates") or [None]
    if rates[0] is not None:
        values["learning_rate"] = rates[0]
    if family == "rmsprop":
        # TF1 begins with one. Keras begins with zero, unless the program has set it.
        values["initial_square"] = 1.0 if declared["class"].endswith("Optimizer") else 0.0
    return Optimizer(declared["class"], family, values)


def move(optimizer: Optimizer, gradient: Array, times: int = 1) -> Array | None:
    """How far the first step moves a variable (and ``times`` steps of the same gradient).

    Returns:
      An array of the gradient's shape; None when the formula or a value is not known.
    """
    import numpy

    values = optimizer.values
    rate = values.get("learning_rate")
    if rate is None or any(values.get(name) for name in _MORE):
        return None
    g = gradient.astype("float64")
    zero = numpy.zeros_like(g)
    total, v, m, second = zero, zero, zero, zero
    if optimizer.family == "rmsprop":
        v = zero + values["initial_square"]
    elif optimizer.family == "adagrad":
        v = zero + values["initial_accumulator_value"]
    for step in range(1, times + 1):
        if optimizer.family == "sgd":
            m = values["momentum"] * m + g
            total = total - rate * (g + values["momentum"] * m if values["nesterov"] else m)
        elif optimizer.family == "adam" and not values["amsgrad"]:
            m = values["beta_1"] * m + (1 - values["beta_1"]) * g
            v = values["beta_2"] * v + (1 - values["beta_2"]) * g * g
            root = (1 - values["beta_2"] ** step) ** 0.5 / (1 - values["beta_1"] ** step)
            total = total - rate * root * m / (numpy.sqrt(v) + values["epsilon"])
        elif optimizer.family == "adagrad":
            v = v + g * g
            total = total - _divided(rate * g, numpy.sqrt(v + values["epsilon"]))
        elif optimizer.family == "rmsprop":
            v = values["rho"] * v + (1 - values["rho"]) * g * g
            m = values["rho"] * m + (1 - values["rho"]) * g
            base = v - m * m if values["centered"] else v
            second = values["momentum"] * second + _divided(
                rate * g, numpy.sqrt(base + values["epsilon"])
            )
            total = total - second
        elif optimizer.family == "adadelta":
            v = values["rho"] * v + (1 - values["rho"]) * g * g
            by = numpy.sqrt(m + values["epsilon"]) / numpy.sqrt(v + values["epsilon"]) * g
            m = values["rho"] * m + (1 - values["rho"]) * by * by
            total = total - rate * by
        else:
            return None
    return total


def _divided(one: Array, other: Array) -> Array:
    """Zero by zero is no number, as it is for TensorFlow, without numpy's warning."""
    import numpy

    with numpy.errstate(divide="ignore", invalid="ignore"):
        found: Array = one / other
    return found
