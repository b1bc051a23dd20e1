"""Several processes that train one model: TensorFlow's workers, all on this machine.

They find each other by ``TF_CONFIG``, as they do on a cluster, and sum their gradients by
TensorFlow's own runtime. A worker's losses and examples are of its own replicas: those of all
workers, side by side, are the step's. Everything else is worker 0's.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from migrate_mgpu.parity.runs.sides import WORKER, Side, collect
from migrate_mgpu.parity.runs.supervise import Process

HOST = "localhost"
SAME = 1e-6  # relative: what weights of two workers may be apart by
# What the others say when a worker has gone.
_FOLLOWS = re.compile(r"Unavailable|Cancelled|Aborted|DeadlineExceeded")
_FILES = (".json", ".json.npz", ".stdout", ".stderr")


def names(side: str, count: int) -> list[str]:
    """What the files of each worker are called; one alone has its side's name."""
    return [side] if count == 1 else [f"{side}{WORKER}{i}" for i in range(count)]


def cluster(count: int) -> list[dict[str, str]]:
    """The environment of each worker: ``TF_CONFIG``, with ports that are free now."""
    with ExitStack() as held:
        ports = []
        for _ in range(count):
            listening = held.enter_context(socket.socket())
            listening.bind((HOST, 0))
            ports.append(listening.getsockname()[1])
    addresses = [f"{HOST}:{port}" for port in ports]
    tasks = [{"type": "worker", "index": index} for index in range(count)]
    return [
        {"TF_CONFIG": json.dumps({"cluster": {"worker": addresses}, "task": task})}
        for task in tasks
    ]


def tie(processes: Sequence[Process], then: Callable[[], None]) -> None:
    """When one of them fails, the others wait for it for ever: they are ended. When all have
    ended, ``then`` is called."""

    def ended(process: Process) -> None:
        if process.ended != "exit 0":
            number = list(processes).index(process)
            for other in processes:
                other.end(f"ended, for worker {number} did not finish")
        if all(one.ended is not None for one in processes):
            then()

    for process in processes:
        process.on_end = ended


def commands(
    program: Path, argv: Sequence[str], environments: Sequence[dict[str, str]]
) -> list[str]:
    """What starts each worker without this tool."""
    call = shlex.join(["python", str(program), *argv])
    return [f"TF_CONFIG={shlex.quote(one['TF_CONFIG'])} {call}" for one in environments]


def gather(
    folder: Path,
    side: str,
    program: str,
    runtime: str,
    processes: Sequence[Process],
    started: Sequence[str],
) -> Side:
    """The side that several workers are together; its files are those of worker 0, with the
    losses of all."""
    found = [
        collect(folder, name, program, runtime, process)
        for name, process in zip(names(side, len(processes)), processes)
    ]
    number = _first_that_failed(found)
    chosen = found[number or 0]
    stem = names(side, len(found))[number or 0]
    for suffix in _FILES:
        if (folder / f"{stem}{suffix}").exists():
            shutil.copyfile(folder / f"{stem}{suffix}", folder / f"{side}{suffix}")
    trace = chosen.trace
    if trace is not None:
        training = trace.get("training") or {}
        own = sorted(
            set(range(len(training.get("variables", ())))) - set(training.get("summed", ()))
        )
        trace["workers"] = {"commands": list(started), "apart": None, "own_gradients": own}
        exception = trace.get("exception")
        if number is not None and exception:
            exception["message"] = f"worker {number}: {exception['message']}"
        if number is None:
            trace["workers"]["apart"] = _join(found)
        text = json.dumps(trace, indent=1, sort_keys=True)
        (folder / f"{side}.json").write_text(text, encoding="utf-8")
    joined = collect(folder, side, program, runtime, processes[number or 0])
    if number is not None:
        joined.ended = f"worker {number}: {joined.ended}"
    joined.seconds = max(one.seconds for one in found)
    return joined


def _first_that_failed(found: Sequence[Side]) -> int | None:
    """The worker for whose end the others were ended, or failed."""
    failed = [n for n, side in enumerate(found) if side.failure]
    own = [n for n in failed if not found[n].ended.startswith("ended, for worker")]
    first = [n for n in own if not _FOLLOWS.match(found[n].failure or "")]
    return next(iter([*first, *own, *failed]), None)


def _join(found: Sequence[Side]) -> str | None:
    """Put the losses of all workers into the first one's trace; why they did not train one
    model, or None."""
    training = [side.training for side in found]
    if not any(one.get("series") for one in training):
        return None  # that nothing was trained is told by the rungs
    together = min(int(one.get("together") or 1) for one in training)
    if together < len(found):
        return (
            f"its {len(found)} workers did not train together: the strategy that a step ran under "
            f"is of {together} (tf.distribute.MultiWorkerMirroredStrategy reads TF_CONFIG)"
        )
    if len({len(one["series"]) for one in training}) > 1:
        return "its workers did not train the same number of models"
    for joined in zip(*(one["series"] for one in training)):
        steps = [min((len(losses) for losses in one["losses"]), default=0) for one in joined]
        if len(set(steps)) > 1:
            return f"its workers did not train equally long: {', '.join(map(str, steps))} steps"
        for name in ("losses", "examples"):
            joined[0][name] = [values for one in joined for values in one[name]]
    arrays = [side.load_arrays() for side in found]
    return _unequal_weights(arrays, training[0])


def _unequal_weights(arrays: Sequence[dict[str, Any]], training: Any) -> str | None:
    import numpy

    for i, variable in enumerate(training["variables"]):
        first, *others = [one.get(f"final/{i}") for one in arrays]
        for number, other in enumerate(others, 1):
            if first is None or other is None or first.shape != other.shape:
                return f"{variable['name']} of worker {number} is not known at the end"
            if not numpy.allclose(first, other, rtol=SAME, atol=SAME, equal_nan=True):
                apart = float(abs(first - other).max())
                return (
                    f"{variable['name']} of worker {number} is not worker 0's at the end: "
                    f"{apart:.3g} apart"
                )
    return None
