"""What programs declare, beside the numbers: the diagnosis compares it (``diagnose/``).

Optimizers with their hyperparameters and the learning rate of each step, dropout rates,
batch normalization and its mode. Values are kept under the names that TensorFlow gives
them; nothing is computed with them here.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import functools
from typing import Any

# Attributes of tf.train's and Keras' optimizers that are hyperparameters.
_HYPER = {
    "_learning_rate": "learning_rate",
    "_lr": "learning_rate",
    "learning_rate": "learning_rate",  # Keras' older optimizers
    "_momentum": "momentum",
    "momentum": "momentum",
    "_use_nesterov": "nesterov",
    "nesterov": "nesterov",
    "_beta1": "beta_1",
    "beta_1": "beta_1",
    "_beta2": "beta_2",
    "beta_2": "beta_2",
    "_epsilon": "epsilon",
    "epsilon": "epsilon",
    "_decay": "rho",
    "_rho": "rho",
    "rho": "rho",
    "_centered": "centered",
    "centered": "centered",
    "amsgrad": "amsgrad",
    "_initial_accumulator_value": "initial_accumulator_value",
    "initial_accumulator_value": "initial_accumulator_value",
    "_learning_rate_power": "learning_rate_power",
    "learning_rate_power": "learning_rate_power",
    "_l1_regularization_strength": "l1",
    "l1_regularization_strength": "l1",
    "_l2_regularization_strength": "l2",
    "l2_regularization_strength": "l2",
    "weight_decay": "weight_decay",
    "clipnorm": "clipnorm",
    "clipvalue": "clipvalue",
    "global_clipnorm": "global_clipnorm",
    "use_ema": "use_ema",
}
_STATE = "_migrate_mgpu_parity"


class Declared:
    """Fills ``recorder.declares``."""

    def __init__(self, recorder: Any, tools: Any, eager_tools: Any) -> None:
        self.recorder = recorder
        self._tools, self._eager = tools, eager_tools
        self._optimizers: dict[int, Any] = {}  # series -> Keras' optimizer
        self._shared: set[int] = set()  # series that several optimizers train
        self._in_graphs: list[tuple[Any, dict[str, Any], str]] = []
        self.open_rates: list[tuple[Any, dict[str, Any]]] = []  # of dropouts: what feeds say
        recorder.resolve_declared = self._resolve

    # Optimizers -----------------------------------------------------------------------------

    def optimizer(self, series: int, optimizer: Any, in_graph: bool = False) -> None:
        """The optimizer of a series; in eager code its rate is read with ``rate``."""
        inner = getattr(optimizer, "_optimizer", None)  # wrappers (loss scaling, ...)
        if inner is not None and hasattr(inner, "apply_gradients"):
            optimizer = inner
        if self._optimizers.get(series, optimizer) is not optimizer:
            self._shared.add(series)
        if str(series) in self.recorder.declares["optimizers"]:
            return
        if not in_graph:
            self._optimizers[series] = optimizer
        names = [c.__name__ for c in type(optimizer).__mro__]
        entry = {"class": names[0], "bases": names[1:], "values": hyperparameters(optimizer)}
        self.recorder.declares["optimizers"][str(series)] = entry

    @staticmethod
    def rate_tensor(optimizer: Any) -> Any:
        """The learning rate in a v1 optimizer's graph, when it is a tensor there."""
        for name in ("_lr_t", "_learning_rate_tensor"):
            tensor: Any = getattr(optimizer, name, None)
            if hasattr(tensor, "op") and tensor.shape.ndims == 0:
                return tensor
        return None

    def rate(self, series: int) -> None:
        """Note the rate with which a Keras optimizer makes the step that is under way."""
        known = self.recorder.get_series(series)
        optimizer = self._optimizers.get(series)
        if optimizer is None or len(known.rates) >= len(known.losses.get(0, ())):
            return
        own: Any = getattr(optimizer, "_learning_rate", None)
        if own is None:
            own = getattr(optimizer, "_hyper", {}).get("learning_rate")
        if callable(own) and not hasattr(own, "assign"):
            self.recorder.rate(series, None)  # a schedule: asked for once, at the end
            return
        value: float | None = None
        try:
            variable = self._eager.variable(own)
            value = float(own if variable is None else self._eager.value(variable))
        except Exception:
            value = None  # a kind of rate that is none of Keras' own
        self.recorder.rate(series, value)

    def steps(self, series: int) -> int | None:
        """How many steps a series's Keras optimizer has made; None where that is not known."""
        optimizer = self._optimizers.get(series)
        made = getattr(optimizer, "iterations", None)
        if made is None or series in self._shared:
            return None
        try:
            variable = self._eager.variable(made)
            return int(made if variable is None else self._eager.value(variable))
        except Exception:
            return None  # a counter that is none of Keras' own

    def _schedules(self) -> None:
        """The rates of Keras' schedules: functions of the step, asked for afterwards."""
        for series, optimizer in self._optimizers.items():
            known = self.recorder.get_series(series)
            own = getattr(optimizer, "_learning_rate", None)
            if own is None:
                own = getattr(optimizer, "_hyper", {}).get("learning_rate")
            if not callable(own) or hasattr(own, "assign") or None not in known.rates:
                continue
            end = optimizer.iterations
            variable = self._eager.variable(end)
            end = int(self._eager.value(end if variable is None else variable))
            first = end - known.steps
            known.rates = [float(own(first + k)) for k in range(len(known.rates))]

    def finish(self) -> None:
        with self._tools.module("eager.context").eager_mode():
            self._schedules()

    # Layers ---------------------------------------------------------------------------------

    def note(self, kind: str, entry: dict[str, Any], taped: bool) -> None:
        """A declaration that acts in the step or graph which is built now."""
        context = self._tools.module("eager.context")
        graph = self._tools.module("framework.ops").get_default_graph()
        if context.executing_eagerly() or graph.building_function:
            self._keep(kind, entry, "training" if taped else "evaluation")
        else:
            self._in_graphs.append((graph, entry, kind))

    def _keep(self, kind: str, entry: dict[str, Any], when: str) -> None:
        with self.recorder.lock:
            known = self.recorder.declares[kind]
            entry = {**entry, "when": when}
            if entry not in known and len(known) < 100:
                known.append(entry)

    def _resolve(self) -> None:
        """A graph that trains is known by its train op, which comes after its layers."""
        for graph, entry, kind in self._in_graphs:
            state = getattr(graph, _STATE, None)
            trains = state is not None and bool(state.train_ops)
            if entry.get("rate", 0.0) is None and not self.recorder.finished:
                continue  # the first step may tell
            if trains or self.recorder.finished:
                self._keep(kind, entry, "training" if trains else "evaluation")

    def patch_batch_norm(self, module: Any) -> None:
        for name in ("BatchNormalizationBase", "BatchNormalization"):
            cls = getattr(module, name, None)
            if cls is not None and "call" in cls.__dict__:
                self._wrap_batch_norm(cls)

    def _wrap_batch_norm(self, cls: Any) -> None:
        original = cls.__dict__["call"]

        @functools.wraps(original)
        def call(layer: Any, inputs: Any, training: Any = None, *args: Any, **more: Any) -> Any:
            entry = {
                "mode": {True: "batch", False: "moving"}.get(self._flag(training)),
                "momentum": number(getattr(layer, "momentum", None)),
                "epsilon": number(getattr(layer, "epsilon", None)),
            }
            self.note("batch_norm", entry, self._eager.taped())
            return original(layer, inputs, training, *args, **more)

        cls.call = call

    def _flag(self, training: Any) -> Any:
        if training is None or isinstance(training, (bool, int)):
            return None if training is None else bool(training)
        try:
            value = self._tools.module("framework.tensor_util").constant_value(training)
        except Exception:
            return None
        return None if value is None else bool(value)

    def dropout(self, rate: Any) -> None:
        try:
            value = number(self._tools.module("framework.tensor_util").constant_value(rate))
        except Exception:
            value = number(rate)
        entry = {"rate": value}
        taped = self._eager.taped()
        if not taped and self._in_branch():
            # Nothing says whether what evaluates takes the branch.
            self.note("dropout", {"rate": None}, taped)
            return
        self.note("dropout", entry, taped)
        if value is None and hasattr(rate, "op"):
            self.open_rates.append((rate, entry))

    def _in_branch(self) -> bool:
        """Whether what is built now is one side of a condition in a graph."""
        graph = self._tools.module("framework.ops").get_default_graph()
        while graph is not None:
            if type(graph).__name__ == "CondBranchFuncGraph":
                return True
            graph = getattr(graph, "outer_graph", None)
        return False


def number(value: Any) -> float | None:
    """A Python or numpy number, or a variable's or tensor's fixed value; else None."""
    try:
        return float(value) if not hasattr(value, "graph") else None
    except Exception:
        return None


def hyperparameters(optimizer: Any) -> dict[str, Any]:
    """What an optimizer was made with; None where a value changes or cannot be read."""
    found: dict[str, Any] = {}
    own = dict(vars(optimizer))
    own.update(getattr(optimizer, "_migrate_mgpu_hyper", {}))
    if "_hyper" in own:  # its values may be variables by now
        own.update({k: v for k, v in own["_hyper"].items() if k not in own})
    for attribute, name in _HYPER.items():
        if attribute in own and (own[attribute] is not None or name not in found):
            value = own[attribute]
            if isinstance(value, bool):
                found[name] = value
            elif value is not None:
                found[name] = _read(value)
    rate = own.get("_learning_rate", own.get("learning_rate"))
    if hasattr(rate, "get_config") and callable(rate):
        found["schedule"] = type(rate).__name__
        config = rate.get_config()
        found["schedule_values"] = {k: v for k, v in config.items() if _plain(v)}
        found["learning_rate"] = None
    return found


def _read(value: Any) -> float | None:
    if hasattr(value, "assign"):
        return None  # a variable: rates are noted at each step
    return None if callable(value) else number(value)


def _plain(value: Any) -> bool:
    return isinstance(value, (int, float, str, bool, list)) or value is None


def patch_hyper(module: Any) -> None:
    """Keras' older optimizers turn their numbers into variables: keep the numbers."""
    cls = module.OptimizerV2
    original = cls._set_hyper

    @functools.wraps(original)
    def _set_hyper(optimizer: Any, name: str, value: Any) -> Any:
        known = optimizer.__dict__.setdefault("_migrate_mgpu_hyper", {})
        known["learning_rate" if name == "lr" else name] = value
        return original(optimizer, name, value)

    cls._set_hyper = _set_hyper
