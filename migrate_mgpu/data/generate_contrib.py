"""Makes ``contrib.json``: where TF2 has what TF1 calls ``tf.contrib.X``.

``names``: what *is* the same object in TF 1.15 as a public name of ``tf``
(``tf.contrib.rnn.GRUCell`` is ``tf.nn.rnn_cell.GRUCell``), and which the ``tf.compat.v1`` of 2.15
still has, mostly the newest as well; of several names the shortest is taken. ``modules``:
private modules whose functions and classes a room of ``tf.contrib`` shows by the same names
(``tf.contrib.rnn.python.ops.lstm_ops`` is ``tf.contrib.rnn``). ``tf_slim``:
functions and classes of ``tf.contrib`` that tf-slim has by the same name and with the same
parameters; what of them is written is chosen in ``analysis/lost_names.py``, by what is proved. Run
in each, then join::

    tf1.15 python generate_contrib.py dump a.json
    tf2.15 python generate_contrib.py slim b.json        (with tf-slim)
    any python generate_contrib.py join a.json b.json -o contrib.json
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The rooms of tf.contrib that tf-slim took over, and what they are called there.
_SLIM = ("slim", "layers", "framework", "losses", "metrics", "training")
# Rooms whose names do in a graph of compat.v1 what they did: not those of eager code, of
# strategies and of Keras, whose objects are others in TF2.
_ROOMS = (
    "cluster_resolver", "compiler", "data", "distributions", "estimator", "framework", "layers",
    "lookup", "metrics", "nn", "proto", "rnn", "signal", "slim", "stateless", "tpu", "util",
)  # fmt: skip
# Modules of Keras whose functions know of no graph, or make first values alone.
_KERAS = ("initializers", "preprocessing", "regularizers")
# Statuses of symbols.json of names that compat.v1 has on 2.15 and on the newest, or on 2.15.
_PRESENT = ("neutral", "v1_absent", "v1_differs", "v2_shared", "legacy_keras", "tf2.15_only")


def _public(
    root: types.ModuleType, prefix: str, inside: tuple[str, ...], depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """Functions and classes of a package, by the attributes that reach them from a module."""
    for name in sorted(dir(root)):
        if name.startswith("_"):
            continue
        try:
            value = getattr(root, name)
        except Exception:  # a lazy module whose parts are not installed
            continue
        if isinstance(value, types.ModuleType):
            below = any(part in value.__name__ for part in inside)
            if depth < 3 and below and name != "python":
                yield from _public(value, f"{prefix}{name}.", inside, depth + 1)
        elif callable(value):
            yield prefix + name, value


def _signature(value: Any) -> list[str] | None:
    made = value.__init__ if inspect.isclass(value) else value
    try:
        return [str(one.name) for one in inspect.signature(made).parameters.values()]
    except (TypeError, ValueError):
        return None


def dump(target: str) -> None:
    """TF 1.15: names of ``tf`` for each name of ``tf.contrib``, and contrib's parameters."""
    tf = importlib.import_module("tensorflow")
    contrib = importlib.import_module("tensorflow.contrib")
    public: dict[int, list[str]] = {}
    for name, value in _public(tf, "", ("._api.", ".estimator.api", ".keras.api._v1")):
        if not name.startswith("compat."):
            public.setdefault(id(inspect.unwrap(value)), []).append(name)
    found: dict[str, dict[str, object]] = {}
    modules: dict[str, str] = {}
    for name, value in _public(contrib, "contrib.", (".contrib",)):
        same = sorted(public.get(id(inspect.unwrap(value)), []))
        found[name] = {"same": same, "signature": _signature(value)}
        above = name.rpartition(".")[0]
        private = _module(value)
        # Of several rooms that show a module's names, the module's own.
        if private.startswith(f"{above}.python.") and _shows(above, private):
            modules[private] = above
    Path(target).write_text(json.dumps({"names": found, "modules": modules}), "utf-8")


def _module(value: Any) -> str:
    """The module that defines a function or class, below ``tensorflow``."""
    return str(getattr(inspect.unwrap(value), "__module__", "")).partition("tensorflow.")[2]


def _shows(room: str, private: str) -> bool:
    """Whether what a room has by the names of a private module is that module's."""
    ours, shown = (importlib.import_module(f"tensorflow.{one}") for one in (private, room))
    return all(
        inspect.unwrap(getattr(shown, name, value)) is inspect.unwrap(value)
        for name, value in vars(ours).items()
        if not name.startswith("_") and callable(value) and _module(value) == private
    )


def slim(target: str) -> None:
    """TF 2.15 with tf-slim: its names, below their modules and at its top, with parameters."""
    package = importlib.import_module("tf_slim")
    for one in pkgutil.iter_modules([f"{package.__path__[0]}/nets"], "tf_slim.nets."):
        importlib.import_module(one.name)
    found = {name: _signature(value) for name, value in _public(package, "tf_slim.", ("tf_slim",))}
    Path(target).write_text(json.dumps(found), "utf-8")


def join(first: str, second: str, target: str) -> None:
    """The names that both sides have."""
    old, package = (json.loads(Path(p).read_text("utf-8")) for p in (first, second))
    table = json.loads(Path(__file__).with_name("symbols.json").read_text("utf-8"))
    present = {name for status in _PRESENT for name in table[status]}
    names: dict[str, str] = {}
    slims: dict[str, str] = {}
    for name, facts in old["names"].items():
        _, room, *rest = name.split(".")
        same = [one for one in facts["same"] if one in present]
        plain = room in _ROOMS and len(rest) == 1
        if same and (plain or (room == "keras" and rest[0] in _KERAS)):
            names[name] = min(same, key=lambda one: (one.count("."), len(one), one))
        if same or room not in _SLIM:
            continue
        inner = (room, *rest) if room in ("losses", "metrics", "training") else rest
        other = ".".join(("tf_slim", *inner))
        if package.get(other, ()) == facts["signature"]:
            slims[name] = other
    result = {
        "modules": dict(sorted(old["modules"].items())),
        "names": dict(sorted(names.items())),
        "tf_slim": dict(sorted(slims.items())),
    }
    Path(target).write_text(json.dumps(result, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "join":
        join(sys.argv[2], sys.argv[3], sys.argv[5])
    else:
        {"dump": dump, "slim": slim}[sys.argv[1]](sys.argv[2])
