"""What a program trains, evaluates and predicts, as it is recorded.

Runs in the interpreter under test: Python 3.7, standard library and numpy only. The
watchers (``watch_graph``, ``watch_eager``) call it; numbers go into the trace's
``training`` entry, arrays into ``<trace>.npz``. The format is in docs/parity.md.

A *series* is one train op, or one set of variables that a tape trains: a program with
one optimizer has one. Its k-th step has a loss for each tower or replica.

A *model* is what has variables of its own: an Estimator, by its model_dir, has its own in
each graph that it builds; without Estimators a name is one variable in all graphs. In eager
programs each series of other variables counts as one.
"""

# Plain strings for paths: pathlib's resolve() would follow links.

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from typing import Any, Callable

SAVE_EVERY_S = 2.0
WAIT_S = 0.02
MOST_RATES = 1000  # steps whose learning rate is kept
MAX_PREDICTIONS = 10_000  # examples; more are counted, not kept


class Enough(BaseException):
    """The wanted number of steps has been recorded: the program is ended."""


class Refused(Exception):
    """The reference failed before it had initial values to carry over."""


class Series:
    def __init__(self, index: int) -> None:
        self.index = index
        self.combine = "sum"
        self.variables: list[int] = []  # that it trains
        self.losses: dict[int, list[float]] = {}  # tower or replica -> loss of each step
        self.examples: dict[int, list[int | None]] = {}
        self.lengths: set[int] = set()  # of all batches of a step: which it trains on is not seen
        self.rates: list[float | None] = []  # the learning rate of each step
        self.seen_first: set[str] = set()
        # A step that is given gradients, such as accumulated ones, has no loss: in its place is
        # the norm of what is applied.
        self.by_norm = False

    @property
    def steps(self) -> int:
        return min((len(values) for values in self.losses.values()), default=0)

    def data(self) -> dict[str, Any]:
        places = sorted(self.losses)
        return {
            "combine": self.combine,
            "variables": self.variables,
            "losses": [self.losses[place] for place in places],
            "examples": [self.examples[place] for place in places],
            "lengths": sorted(self.lengths),
            "rates": self.rates,
            **({"by_norm": True} if self.by_norm else {}),
        }


class Recorder:
    """Collects; thread-safe; ``save`` writes the arrays and returns the JSON part."""

    part = "training"  # of the trace

    def __init__(self, path: str, options: dict[str, Any], matching: Any) -> None:
        self.path = path
        self._open, self._replace = open, os.replace  # as before the program is isolated
        self.options = options
        self.steps_wanted: int | None = options.get("steps")
        self.lock = threading.RLock()
        self.series: list[Series] = []
        self.variables: list[dict[str, Any]] = []
        self.unused: list[dict[str, Any]] = []  # that could be trained
        self.arrays: dict[str, Any] = {}
        self._first_series: dict[frozenset[int], int] = {}  # by the variables that are trained
        self.outputs: list[dict[str, Any]] = []
        self.records: dict[str, list[tuple[int, Any]]] = {}  # name -> (step, value) of each call
        self.saved_shapes: list[dict[str, list[int]]] = []  # what files of checkpoints have
        self.saved: list[int] = []  # of each file that was saved, which of these it has
        self.saved_values: dict[str, Any] = {}  # of the last of them, see watch_checkpoints
        self.declares: dict[str, Any] = {
            "optimizers": {},
            "dropout": [],
            "batch_norm": [],
            "regularization": {},
        }
        self.resolve_declared: Callable[[], None] = lambda: None
        self.finished = False
        self.pins: dict[str, Any] = {}
        self.notes: list[str] = []
        self.declared = False
        self.summed: set[int] = set()  # variables with gradients that are summed over workers
        self.together = 1  # workers, of the strategies that steps run under
        self.workers: Callable[[], int] = lambda: 1  # of the current strategy
        self.unseen: str | None = None  # why its training is not recorded
        self.stopped = False
        self.carried: dict[str, Any] | None = None
        self.save_trace: Callable[[], None] = lambda: None
        self.at_exit: list[Callable[[], None]] = []
        self._matching = matching
        self._reference: dict[str, Any] | None = None
        self._saved_at = time.monotonic()
        self._index: dict[tuple[int, str], int] = {}
        self.estimator: str | None = None  # the model_dir of the one that builds a graph
        self._models: dict[str, int] = {}
        self._graphs: list[int] = []  # models of graphs, in their order
        self._numbers: dict[tuple[int, int], int] = {}  # of series, by model and place there
        self._published: set[int] = set()  # models
        # What a graph could train and does not, with the values: the target begins with them.
        self.untrained: list[tuple[dict[str, Any], Any]] = []
        # The same of what is never trained, where chance may have chosen it.
        self.frozen: list[tuple[dict[str, Any], Any]] = []
        # What initializers gave the variables of a graph, by their plain names.
        self.begun: dict[str, Any] = {}
        # Variables of the target that begin the first step with another value than the
        # reference's, for an assignment of either side: see `watch_creation`.
        self.first_values: list[dict[str, Any]] = []
        # The variables of each step that a graph has, by whether it has a loss.
        self.trained: dict[bool, list[list[int]]] = {True: [], False: []}
        self.seconds_waited = 0.0
        self.first_step_at: float | None = None

    # Steps ----------------------------------------------------------------------------------

    def trains(self) -> None:
        """The program makes, or takes, a step."""
        self.declared = True
        self.together = max(self.together, self.workers())

    def get_series(self, index: int) -> Series:
        with self.lock:
            while len(self.series) <= index:
                self.series.append(Series(len(self.series)))
            return self.series[index]

    def model(
        self,
        estimator: str | None,
        variables: list[str],
        resumes: Callable[[int], bool] = lambda model: True,
    ) -> int:
        """The number of the model that an Estimator, or a graph of a program without one, trains.

        Args:
          resumes: whether the graph goes on with the variables of a model of another graph that
            has all these names: they have the values that it left them.
        """
        with self.lock:
            names = {self._matching.plain(name) for name in variables}
            if estimator is None:
                for model in reversed(self._graphs):
                    if all((model, name) in self._index for name in names):
                        if resumes(model):
                            return model
                        break
                estimator = f"graph {len(self._graphs)}"
                self._graphs.append(len(self._models))
            return self._models.setdefault(estimator, len(self._models))

    def series_number(self, model: int, place: int) -> int:
        """The index of a model's series, by its place among the train ops of a graph."""
        with self.lock:
            return self._numbers.setdefault((model, place), len(self._numbers))

    def loss(self, index: int, place: int, value: float, examples: int | None) -> bool:
        """Note a step's loss; False where as many as are wanted are known."""
        with self.lock:
            series = self.get_series(index)
            if self.first_step_at is None:
                self.first_step_at = time.time()
            if self.steps_wanted is not None and (
                len(series.losses.get(place, ())) >= self.steps_wanted
            ):
                return False
            series.losses.setdefault(place, []).append(float(value))
            series.examples.setdefault(place, []).append(examples)
        if time.monotonic() - self._saved_at > SAVE_EVERY_S:
            self._saved_at = time.monotonic()
            self.save_trace()
        return True

    def norm(self, index: int, gradients: Any) -> None:
        """Note a step that has no loss by the gradients that it is given, dense arrays."""
        import numpy

        squares = (numpy.sum(numpy.square(g.astype("float64"))) for g in gradients)
        self.loss(index, 0, float(numpy.sqrt(sum(squares))), None)

    def goes_by_norm(self, variables: list[int]) -> bool:
        """Whether the reference trains these variables by steps that have no loss."""
        if not self.carries or self.carried is None:
            return False
        partners = {j: i for i, j in self.carried["pairs"]}
        mine = {partners[j] for j in variables if j in partners}
        trained = self.reference()["trained"]
        return any(map(mine.intersection, trained[False])) and not any(
            map(mine.intersection, trained[True])
        )

    def no_step(self, index: int, place: int) -> None:
        """The loss that was noted last is of no step."""
        with self.lock:
            series = self.get_series(index)
            if series.losses.get(place):
                del series.losses[place][-1], series.examples[place][-1]
            del series.rates[len(series.losses.get(0, ())) :]

    def rate(self, index: int, value: float | None) -> None:
        """The learning rate of the step whose loss was noted last."""
        series = self.get_series(index)
        if len(series.rates) < min(len(series.losses.get(0, ())), MOST_RATES):
            series.rates.append(value)

    def check_enough(self) -> None:
        """Raise ``Enough`` when every series has the wanted number of steps.

        A graph has its train ops before any of them runs, an eager program only those that have
        run: it waits for as many as the reference has.
        """
        wanted = self.steps_wanted
        if wanted is None or self.stopped or not self.series:
            return
        if len(self.series) < (self._reference or {}).get("series", 0):
            return
        if all(series.steps >= wanted for series in self.series):
            self.stopped = True
            raise Enough

    # Variables ------------------------------------------------------------------------------

    def variable(self, name: str, shape: Any, dtype: str, model: int = 0, **more: Any) -> int:
        """The index of a trained variable, registered on first sight.

        Args:
          more: ``place`` in creation order; of one of an eager program ``alike``, the name that
            it gave it, and how many it had given that before.
        """
        with self.lock:
            name = self._matching.plain(name)
            if (model, name) not in self._index:
                self._index[model, name] = len(self.variables)
                entry = {"name": name, "shape": [int(n) for n in shape], "dtype": dtype}
                self.variables.append({**entry, "model": model, **more})
            return self._index[model, name]

    def array(self, kind: str, index: int, value: Any) -> None:
        """Keep an array of a variable.

        ``kind``: ``initial``, ``gradient``, ``after_one``, ``final``, and ``later`` where a session
        after the one that trained has other values.
        """
        with self.lock:
            self.arrays[f"{kind}/{index}"] = value

    def is_first_of(self, series: int) -> bool:
        """Whether a series is the first that steps of those that train the same variables.

        What is kept by variable, gradients and values after one step, is that one's.
        """
        with self.lock:
            variables = frozenset(self.series[series].variables)
            return self._first_series.setdefault(variables, series) == series

    # Initial values -------------------------------------------------------------------------

    @property
    def carries(self) -> bool:
        return bool(self.options.get("initial"))

    def reference(self) -> dict[str, Any]:
        """The reference's variables and initial values; waits until it has made them. None
        when it trains nothing.

        Raises:
          Refused: the reference failed before its first step.
        """
        with self.lock:
            if self._reference is None:
                path = self.options["initial"]
                begin = time.monotonic()
                while not os.path.exists(path):
                    if os.path.exists(path + ".none"):
                        raise Refused("the reference failed before its first step")
                    time.sleep(WAIT_S)
                self.seconds_waited += time.monotonic() - begin
                self._reference = self._load(path)
                if not self._reference["variables"]:
                    self.note("the reference trains nothing: first values are the target's own")
            return self._reference

    def reference_with(self, model: int) -> dict[str, Any] | None:
        """The same with the values of a model that the reference trains after its first;
        waits until it does, or has ended. None where it trains no such model."""
        with self.lock:
            path, begin, seen = self.options["initial"], time.monotonic(), 0
            found, ended = None, False
            while found is None and not ended:
                ended = os.path.exists(path + ".none")  # asked for first: no value comes after it
                written = os.stat(path).st_mtime_ns
                if written != seen:
                    stored, seen = self._load(path), written
                    if any(entry.get("model", 0) == model for entry in stored["variables"]):
                        found = self._reference = stored
                elif not ended:
                    time.sleep(WAIT_S)
            self.seconds_waited += time.monotonic() - begin
            return found

    def _load(self, path: str) -> dict[str, Any]:
        import numpy

        with numpy.load(path) as stored:
            variables = json.loads(bytes(bytearray(stored["variables"])).decode("utf-8"))
            values = [stored[f"initial/{i}"] for i in range(len(variables))]
            series = int(stored["series"]) if "series" in stored.files else 0  # not in old records
            text = stored["frozen"] if "frozen" in stored.files else b"[]"  # nor is this
            entries = json.loads(bytes(bytearray(text)).decode("utf-8"))
            text = stored["trained"] if "trained" in stored.files else b"[[], []]"
            without, having = json.loads(bytes(bytearray(text)).decode("utf-8"))
            frozen = [(entry, stored[f"frozen/{i}"]) for i, entry in enumerate(entries)]
            begun = {
                i: stored[f"begun/{i}"]
                for i in range(len(variables))
                if f"begun/{i}" in stored.files
            }
        carrier = self._matching.Carrier(variables)
        return {
            "variables": variables,
            "values": values,
            "begun": begun,  # of those that were assigned to before the first step
            "series": series,
            "carrier": carrier,
            "frozen": frozen,
            "trained": {False: without, True: having},
        }

    def frozen_values(self, own: list[tuple[dict[str, Any], Any]]) -> list[tuple[int, Any]]:
        """What variables that are never trained begin with: (index, value) to assign.

        None where it is not seen which variable is which.

        Args:
          own: those that are not all of one number (``name``, ``shape``), with their values.
        """
        import numpy

        left = list(self.reference()["frozen"])
        found = []
        for j, (_, value) in enumerate(own):
            same = [i for i, (_, other) in enumerate(left) if numpy.array_equal(other, value)]
            if same:
                left.pop(same[0])
            else:
                found.append(j)
        shapes = sorted(entry["shape"] for entry, _ in left)
        if shapes != sorted(own[j][0]["shape"] for j in found):
            return []
        pairs, _, _ = self._matching.pair([one for one, _ in left], [own[j][0] for j in found])
        return [(found[j], left[i][1]) for i, j in pairs]

    def carry(self, variables: list[dict[str, Any]]) -> list[tuple[int, Any]]:
        """Pair the trained variables with the reference's; returns (index, value) to assign."""
        reference = self.reference()
        trained = self._matching.trained(reference["variables"])
        pairs, lacking, more = self._matching.pair(trained, variables)
        self.carried = {
            "pairs": [[i, j] for i, j in pairs],
            "unmatched_reference": [reference["variables"][i]["name"] for i in lacking],
            "unmatched_target": [variables[j]["name"] for j in more],
        }
        return [(j, reference["values"][i]) for i, j in pairs]

    def publish_initial(self, listed: list[tuple[dict[str, Any], Any]] | None = None) -> None:
        """Write the initial values where the target waits for them, again for each model.

        Args:
          listed: variables (``name``, ``shape``) with their values; without it those that
            are registered.
        """
        path = self.options.get("publish")
        models = {entry.get("model", 0) for entry in self.variables} | {0}
        if not path or models <= self._published:
            return
        if listed is not None and self._published:
            return  # what is listed has been trained since
        import numpy

        with self.lock:
            self._published |= models
            variables = [*self.variables, *(entry for entry, _ in self.untrained)]
            arrays = {k: v for k, v in self.arrays.items() if k.startswith("initial/")}
            for i, (_, value) in enumerate(self.untrained, len(self.variables)):
                arrays[f"initial/{i}"] = value
            for i, entry in enumerate(variables):
                first = entry.get("model", 0) == 0  # of a later graph others have such names
                begun = self.begun.get(self._matching.plain(entry["name"])) if first else None
                later = arrays.get(f"initial/{i}")
                if begun is None or later is None:
                    continue
                if begun.shape == later.shape and not numpy.array_equal(begun, later):
                    arrays[f"begun/{i}"] = begun
            if listed is not None:
                variables = [entry for entry, _ in listed]
                arrays = {f"initial/{i}": value for i, (_, value) in enumerate(listed)}
            text = json.dumps(variables).encode("utf-8")
            arrays["series"] = numpy.int64(len(self.series))
            text_of_frozen = json.dumps([entry for entry, _ in self.frozen]).encode("utf-8")
            arrays["frozen"] = numpy.frombuffer(text_of_frozen, dtype="uint8")
            trained = json.dumps([self.trained[False], self.trained[True]]).encode("utf-8")
            arrays["trained"] = numpy.frombuffer(trained, dtype="uint8")
            arrays.update((f"frozen/{i}", value) for i, (_, value) in enumerate(self.frozen))
            with self._open(path + ".part", "wb") as stream:
                numpy.savez(stream, variables=numpy.frombuffer(text, dtype="uint8"), **arrays)
            self._replace(path + ".part", path)

    # Results --------------------------------------------------------------------------------

    def output(
        self,
        kind: str,
        values: dict[str, Any],
        canned: bool = False,
        taken: int | None = None,
    ) -> None:
        """Keep results: numbers as they are, arrays in the npz. TensorFlow chose `canned` ones.

        ``taken``: how many rows the program took, where it did not ask for all that there were.
        """
        import numpy

        with self.lock:
            step = max((series.steps for series in self.series), default=0)
            entry: dict[str, Any] = {"kind": kind, "step": step, "values": {}, "arrays": {}}
            if canned:
                entry["canned"] = True
            if taken is not None:
                entry["taken"] = taken
            for name, value in values.items():
                try:
                    value = numpy.asarray(value)
                except Exception as error:
                    self.note(f"{kind} {name} was not kept: {error}")
                    continue
                if value.dtype.kind not in "fiub":
                    continue  # class names and other texts
                if value.ndim == 0:
                    entry["values"][str(name)] = float(value)
                else:
                    key = f"{kind}/{len(self.outputs)}/{len(entry['arrays'])}"
                    self.arrays[key] = value
                    entry["arrays"][str(name)] = key
            self.outputs.append(entry)

    def record(self, name: str, value: Any) -> None:
        """Keep what the program records itself, a numpy array."""
        with self.lock:
            step = max((series.steps for series in self.series), default=0)
            self.records.setdefault(name, []).append((step, value.copy()))

    def _records(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The JSON part, and for the i-th name ``record/i``: all values, one after the other."""
        import numpy

        entries, arrays = [], {}
        for i, (name, kept) in enumerate(self.records.items()):
            whole = all(value.dtype.kind in "biu" for _, value in kept)
            entries.append(
                {
                    "name": name,
                    "whole": whole,
                    "steps": [step for step, _ in kept],
                    "shapes": [list(value.shape) for _, value in kept],
                }
            )
            arrays[f"record/{i}"] = numpy.concatenate([value.ravel() for _, value in kept])
        return entries, arrays

    def _saved_numbers(self) -> Iterator[tuple[str, Any]]:
        import numpy

        for name, value in self.saved_values.items():
            array = numpy.asarray(value)
            if array.dtype.kind in "biuf":
                yield name, array

    def note(self, text: str) -> None:
        with self.lock:
            if text not in self.notes:
                self.notes.append(text)

    def pin(self, name: str, value: Any) -> None:
        with self.lock:
            self.pins[name] = value

    def finish(self, status: int) -> None:
        """The program has ended: read the last values of what was trained."""
        self.finished = True
        for action in self.at_exit:
            try:
                action()
            except Exception as error:
                self.note(f"final values could not be read: {type(error).__name__}: {error}")
        if status == 0 and not self._published:
            self.publish_initial([])  # without a step there are none: the target need not wait
        if self.options.get("publish"):
            with self._open(self.options["publish"] + ".none", "w"):
                pass  # no more will come

    def save(self) -> dict[str, Any]:
        import numpy

        with self.lock:
            self.resolve_declared()
            records, values = self._records()
            values.update({f"saved/{name}": value for name, value in self._saved_numbers()})
            if self.arrays or values:
                with self._open(self.path + ".npz.part", "wb") as stream:
                    numpy.savez(stream, **self.arrays, **values)
                self._replace(self.path + ".npz.part", self.path + ".npz")
            return {
                "declared": self.declared,
                "together": self.together,
                "summed": sorted(self.summed),
                "unseen": self.unseen,
                "stopped": self.stopped,
                "variables": self.variables,
                "unused": self.unused,
                "first_values": self.first_values,
                "series": [series.data() for series in self.series],
                "declares": self.declares,
                "carried": self.carried,
                "outputs": self.outputs,
                "records": records,
                "saved": self.saved,
                "saved_shapes": self.saved_shapes,
                "pins": self.pins,
                "notes": self.notes,
                "seconds_waited": self.seconds_waited,
                "first_step_at": self.first_step_at,
            }
