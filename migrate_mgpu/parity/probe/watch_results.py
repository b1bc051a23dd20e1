"""What Keras models and Estimators return from fit, evaluate and predict.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import functools
import sys
import threading
from typing import Any


class ResultsWatch:
    def __init__(
        self, recorder: Any, pins: Any, eager: Any, batches: Any, most_predictions: int
    ) -> None:
        self.recorder = recorder
        self._pins = pins
        self._eager, self._batches = eager, batches
        self._most = most_predictions
        self._local = threading.local()
        # Rows that a generator's loop over `predict_on_batch` has got so far, and its frame.
        self._rows: list[Any] = []
        self._frame: Any = None

    def patch_keras_model(self, cls: Any) -> None:
        if "fit" in cls.__dict__:
            self._pins.force_order(cls, "fit", "Model.fit")
        for name, keep in (
            ("fit", self._fit),
            ("evaluate", self._evaluate),
            ("predict", self._predict),
        ):
            if name in cls.__dict__:
                self._outermost(cls, name, keep)
        if "predict_on_batch" in cls.__dict__:
            self._by_batches(cls)

    def _by_batches(self, cls: Any) -> None:
        """What a generator predicts batch by batch is what an Estimator predicts at once."""
        original = cls.__dict__["predict_on_batch"]

        @functools.wraps(original)
        def predict_on_batch(model: Any, *args: Any, **options: Any) -> Any:
            found = original(model, *args, **options)
            frame = sys._getframe(1)
            if frame.f_code.co_name != "<genexpr>" or not isinstance(found, dict):
                return found
            if frame is not self._frame:
                self.finish()
            self._frame = frame
            rows = zip(*found.values())
            kept = (dict(zip(found, row)) for row in rows)
            self._rows += list(kept)[: max(self._most - len(self._rows), 0)]
            return found

        cls.predict_on_batch = predict_on_batch

    def finish(self) -> None:
        """Keeps what the last such generator gave."""
        rows, self._rows, self._frame = self._rows, [], None
        if rows:
            self._keep_predictions(rows, True)

    def patch_layer(self, cls: Any) -> None:
        original = cls.__dict__["__call__"]

        @functools.wraps(original)
        def __call__(layer: Any, *args: Any, **options: Any) -> Any:
            if args:
                self._eager.called(args[0])
            return original(layer, *args, **options)

        cls.__call__ = __call__

    def patch_estimator(self, cls: Any) -> None:
        def evaluated(estimator: Any, values: Any) -> None:
            if isinstance(values, dict):
                self.recorder.output("evaluate", values, canned=_is_canned(estimator))

        if "_call_model_fn" in cls.__dict__:
            self._name_estimator(cls)
        if "evaluate" in cls.__dict__:
            self._outermost(cls, "evaluate", evaluated)
        original = cls.__dict__.get("predict")
        if original is None:
            return

        @functools.wraps(original)
        def predict(estimator: Any, *args: Any, **options: Any) -> Any:
            kept: list[Any] = []
            ended = False
            try:
                for one in original(estimator, *args, **options):
                    if len(kept) < self._most:
                        kept.append(one)
                    yield one
                ended = True
            finally:
                if kept:
                    self._keep_predictions(kept, ended)

        cls.predict = predict

    def patch_monitor(self, module: Any) -> None:
        """An Experiment evaluates as it trains, by its clock: nobody gets those results."""
        cls = getattr(module, "ValidationMonitor", None)
        if cls is None:  # a program's own module by the name of one that is written
            return
        original = cls._evaluate_estimator

        @functools.wraps(original)
        def _evaluate_estimator(monitor: Any) -> Any:
            self.recorder.pin("evaluations of a ValidationMonitor", "left out")
            depth = getattr(self._local, "depth", 0)
            self._local.depth = depth + 1
            try:
                return original(monitor)
            finally:
                self._local.depth = depth

        cls._evaluate_estimator = _evaluate_estimator

    def _name_estimator(self, cls: Any) -> None:
        """What a model_fn builds is its Estimator's."""
        original = cls._call_model_fn

        @functools.wraps(original)
        def _call_model_fn(estimator: Any, *args: Any, **options: Any) -> Any:
            before, self.recorder.estimator = self.recorder.estimator, estimator.model_dir
            try:
                return original(estimator, *args, **options)
            finally:
                self.recorder.estimator = before

        cls._call_model_fn = _call_model_fn

    def _keep_predictions(self, kept: list[Any], ended: bool) -> None:
        """``ended``: the program took all rows that there were."""
        import numpy

        if isinstance(kept[0], dict):
            columns = {name: [one[name] for one in kept] for name in kept[0]}
        else:
            columns = {"predictions": kept}
        values = {n: _column(numpy, c) for n, c in columns.items()}
        self.recorder.output("predict", values, taken=None if ended else len(kept))

    def _outermost(self, cls: Any, name: str, keep: Any) -> None:
        original = cls.__dict__[name]

        @functools.wraps(original)
        def method(this: Any, *args: Any, **options: Any) -> Any:
            depth = getattr(self._local, "depth", 0)
            self._local.depth = depth + 1
            if depth == 0:
                self.finish()
            if depth == 0 and name == "fit":
                self._eager.examples.forget()  # what the program took to look at
            if depth == 0 and name == "evaluate":
                self._batches.evaluating = True
            try:
                found = original(this, *args, **options)
            finally:
                self._local.depth = depth
                if depth == 0:
                    self._batches.evaluating = False
            if depth == 0:
                keep(this, found)
            return found

        setattr(cls, name, method)

    def _fit(self, model: Any, history: Any) -> None:
        values = getattr(history, "history", None)
        if isinstance(values, dict):
            self.recorder.output("history", values)

    def _evaluate(self, model: Any, found: Any) -> None:
        self._eager.examples.forget()
        if isinstance(found, dict):
            values = found
        elif hasattr(model, "get_metrics_result") and not _is_in_graph(model):
            values = dict(model.get_metrics_result())
            first = found[0] if isinstance(found, (list, tuple)) else found
            values.setdefault("loss", first)
        else:
            both = found if isinstance(found, (list, tuple)) else [found]
            values = dict(zip(model.metrics_names, both))
        self.recorder.output("evaluate", values)

    def _predict(self, model: Any, found: Any) -> None:
        self._eager.examples.forget()
        if isinstance(found, dict):
            values = dict(found)
        elif isinstance(found, (list, tuple)):
            values = {f"predictions[{i}]": one for i, one in enumerate(found)}
        else:
            values = {"predictions": found}
        self.recorder.output("predict", {n: v[: self._most] for n, v in values.items()})


def _column(numpy: Any, rows: list[Any]) -> Any:
    """One array of all rows; of rows with several lengths one row after the other."""
    rows = [numpy.asarray(row) for row in rows]
    if len({row.shape for row in rows}) < 2:
        return numpy.asarray(rows)
    return numpy.concatenate([row.ravel() for row in rows])


def _is_in_graph(model: Any) -> bool:
    """Whether TF2's Keras trains a model under v1 behaviour: its metrics are parts of a graph."""
    return any(cls.__module__.endswith(".training_v1") for cls in type(model).__mro__)


def _is_canned(estimator: Any) -> bool:
    """Whether the results of an evaluation are TensorFlow's own choice: there is no model_fn."""
    for cls in type(estimator).__mro__:
        if cls.__module__.startswith("tensorflow"):
            return cls.__name__ not in ("Estimator", "EstimatorV2")
    return False
