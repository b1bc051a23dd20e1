"""What a TensorFlow name is in TF1 and in TF2, from data generated out of TensorFlow itself."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

# Roots that are TensorFlow's own files, not its public interface.
_PRIVATE = ("python", "core", "tools", "examples", "compiler", "lite", "_api")


# Other folders of a TensorFlow: modules of 1.15, of 2.15 or of the newest.
_FOLDERS = frozenset(
    {*_PRIVATE, "contrib", "compat", "distribute", "dtensor", "include", "security"}
)


class Symbol(NamedTuple):
    """A TensorFlow name without the way it was reached.

    ``flavour`` says how: ``plain`` (``tensorflow.X``), ``v1``
    (``tensorflow.compat.v1.X``), ``v2`` (``tensorflow.compat.v2.X``), ``private``
    (``tensorflow.python.X`` and the like; the name keeps its root).
    """

    flavour: str
    name: str


@cache
def symbol(qualname: str | None) -> Symbol | None:
    """The symbol that a resolved import path stands for; None when it is not TensorFlow's."""
    if not qualname:
        return None
    if qualname != "tensorflow" and not qualname.startswith("tensorflow."):
        return None
    name = qualname[len("tensorflow.") :]
    flavour = "plain"
    while name == "compat" or name.startswith("compat."):
        for version in ("v1", "v2"):
            prefix = f"compat.{version}"
            if name == prefix or name.startswith(prefix + "."):
                flavour, name = version, name[len(prefix) + 1 :]
                break
        else:
            return Symbol(flavour, name)
    root = name.split(".")[0]
    if flavour == "plain" and root in _PRIVATE:
        return Symbol("private", name)
    return Symbol(flavour, name)


def tensorflow_root(qualname: str | None) -> str | None:
    """``tensorflow`` or ``tensorflow.compat.v1`` for a path that is the one or the other.

    ``tf.compat.v1`` of a name that is ``tensorflow.compat.v1`` already is itself.
    """
    found = symbol(qualname)
    if found is None or found.name or found.flavour not in ("plain", "v1"):
        return None
    return "tensorflow.compat.v1" if found.flavour == "v1" else "tensorflow"


def message(qualname: str | None) -> str | None:
    """The name of a configuration message class, however it is spelled, or None.

    ``tf.ConfigProto``, ``config_pb2.ConfigProto`` and ``tf.compat.v1.ConfigProto``
    are all ``ConfigProto``.
    """
    found = symbol(qualname)
    if found is None:
        return None
    head, _, last = found.name.rpartition(".")
    if found.flavour == "private":
        return last if head.startswith("core.protobuf") and last in MESSAGES else None
    return found.name if found.name in MESSAGES else None


# Message classes that make up a session's configuration.
MESSAGES = {
    "ConfigProto",
    "ConfigProto.Experimental",
    "GPUOptions",
    "GPUOptions.Experimental",
    "GraphOptions",
    "OptimizerOptions",
    "RewriterConfig",
    "ThreadPoolOptionProto",
}


class SymbolTable:
    """Look-ups in ``data/symbols.json``."""

    def __init__(self, data: dict[str, object]) -> None:
        self._status: dict[str, str] = {}
        for status in _STATUSES:
            names = data.get(status, [])
            assert isinstance(names, list)
            self._status.update(dict.fromkeys(names, status))
        self._roots = {name.partition(".")[0] for name in self._status} | _FOLDERS
        self._rooms = {name.rpartition(".")[0] for name in self._status}
        gone = data.get("private_modules_gone", {})
        assert isinstance(gone, dict)
        self._private: dict[str, str] = {}
        for status, names in gone.items():
            self._private.update(dict.fromkeys(names, status))
        vanished = data.get("private_names_gone", {})
        assert isinstance(vanished, dict)
        self._private_names: dict[str, dict[str, str]] = vanished

    def status(self, name: str) -> str:
        """One of the statuses of ``symbols.json``, or ``unknown``.

        A member of a class (``train.Optimizer.minimize``) has its class's status.
        """
        if self._is_hidden(name):
            return "gone"
        outer, dot, others = name, ".", earlier()
        while (found := self._status.get(outer)) is None:
            if outer in _OTHERS or outer in others.names or outer in others.calls:
                return "gone"
            outer, dot, _ = outer.rpartition(".")
            if not dot:
                return "gone" if name.partition(".")[0] == "contrib" else "unknown"
        member = name[len(outer) + 1 :]
        if member and (found == "modules" or (outer in self._rooms and member[0] != "_")):
            return "unknown"  # of a module, every name is in the table
        return found

    def _is_hidden(self, name: str) -> bool:
        """Whether a name has an underscore in front in a module of the API, which shows none."""
        start, _, rest = name.partition("._")
        hidden = bool(rest) and rest[0] != "_" and start in self._rooms
        return hidden and start.rpartition(".")[2] != "flags"  # a module of TensorFlow's inside

    def has_root(self, name: str) -> bool:
        """Whether some TensorFlow has the first part of a name: 1.15, 2.15 or the newest."""
        return name.partition(".")[0] in self._roots

    def is_unknown(self, name: str) -> bool:
        """Whether no TensorFlow has a name's first part, an early one included."""
        return not self.has_root(name) and self.status(name) == "unknown"

    def private_status(self, module: str) -> str:
        """``present``, ``tf2.15_only`` or ``gone`` for ``tensorflow.python...`` paths."""
        parts = module.split(".")
        for length in range(len(parts), 0, -1):
            path = ".".join(parts[:length])
            found = self._private.get(path)
            if found is None and path.startswith(f"{_WRAPPERS}."):
                found = "gone"
            if found is None and length < len(parts):
                found = self._private_names.get(path, {}).get(parts[length])
            if found is not None:
                return found
        return _status_inside(parts[1:])


# More names that neither 1.15 nor TF2 has, which no release calls otherwise.
_OTHERS = frozenset({"array_ops", "test.test_util"})
_WRAPPERS = "tensorflow.python.pywrap_tensorflow"  # C++ functions, all of which have moved
_STATUSES = (
    "modules",
    "neutral",
    "v1_absent",
    "v1_differs",
    "v1_differs_tf2.15",
    "v2_shared",
    "legacy_keras",
    "tf2.15_only",
    "gone",
    "v2_only",
)


def _status_inside(parts: list[str]) -> str:
    """The status of a path below ``tensorflow`` that 1.15's public names say nothing of.

    A module that no TensorFlow has is gone, and so is what a package of Keras imports in 1.15
    alone, a name with an underscore in front that 1.15 and TF2 do not share, or one that only an
    early release had.
    """
    data = _inside()
    for length in range(2, len(parts)):
        if parts[length] in data["packages"].get(".".join(parts[:length]), ()):
            return "gone"
    least = 2 if parts[:1] == ["python"] else 1  # how deep its folder lies
    if ".".join(parts[:least]) not in data["folders"]:
        return "present"
    modules = _private_modules()
    lengths = range(least, len(parts) + 1)
    length = max(n for n in lengths if n == least or ".".join(parts[:n]) in modules)
    if length == len(parts):
        return "present"
    module, name = ".".join(parts[:length]), parts[length]
    if length == least:
        return "present" if name in data["members"].get(module, ()) else "gone"
    if name in data["early"].get(module, ()):
        return "gone"
    if name[0] != "_" or name[:2] == "__" or name in data["names"].get(module, ()):
        return "present"
    if module.endswith("_pb2"):
        return "present"  # protobuf makes its names when the module is imported
    return "tf2.15_only" if name in data["names_2.15"].get(module, ()) else "gone"


@lru_cache(maxsize=1)
def _inside() -> dict[str, Any]:
    found: dict[str, Any] = load("private_names.json")
    return found


@lru_cache(maxsize=1)
def _private_modules() -> frozenset[str]:
    return frozenset(_inside()["modules"])


@lru_cache(maxsize=1)
def table() -> SymbolTable:
    """The table of this installation."""
    return SymbolTable(load("symbols.json"))


def has_alike(name: str) -> bool:
    """Whether TF2 has a name, or a module of it, as TF1 had it: `float32`, `keras`."""
    return table().status(name) in ("neutral", "modules")


@lru_cache(maxsize=1)
def renames() -> dict[str, str]:
    """TF2's names of what TF1 calls otherwise and is the same object."""
    found: dict[str, str] = load("renames.json")
    return found


@lru_cache(maxsize=1)
def aliases() -> dict[str, str]:
    """The usual name of what TF 1.15 calls by several: ``cast`` of ``dtypes.cast``."""
    found: dict[str, str] = load("aliases.json")
    return found


class EarlierCall(NamedTuple):
    """A call of TensorFlow before 1.0, by the names that its parameters have since then.

    ``parameters`` in the order that they had; ``keywords`` are their old names; ``order`` are those
    that may be given by position in 1.0 and TF 1.15.
    """

    now: str
    parameters: tuple[str, ...]
    keywords: dict[str, str]
    order: tuple[str, ...] = ()


class Earlier(NamedTuple):
    """What an early TensorFlow called otherwise (``data/earlier_names.json``).

    ``names`` are only renamed, ``calls`` had other parameters before 1.0, ``order`` has functions
    of both whose parameters stood in another order, ``flags`` are absl's own since 1.14.
    """

    names: dict[str, str]
    calls: dict[str, EarlierCall]
    order: dict[str, EarlierCall]
    flags: frozenset[str]

    def now(self, name: str) -> str | None:
        """The name that took a name's place, with what follows it."""
        outer, rest = name, ""
        while outer:
            found = self.names.get(outer)
            if found is None and outer in self.calls:
                found = self.calls[outer].now
            if found is not None:
                return found + rest
            outer, dot, last = outer.rpartition(".")
            rest = f"{dot}{last}{rest}"
        return None


@lru_cache(maxsize=1)
def earlier() -> Earlier:
    """What an early TensorFlow called otherwise."""
    found = load("earlier_names.json")
    calls, order = (
        {
            name: EarlierCall(
                row.get("now", name),
                tuple(row["parameters"]),
                row["keywords"],
                tuple(row.get("order", ())),
            )
            for name, row in found[part].items()
        }
        for part in ("calls", "order")
    )
    return Earlier(found["names"], calls, order, frozenset(found["flags"]))


def load(name: str) -> Any:
    """A file of ``data/``."""
    return json.loads(text(name))


def text(name: str) -> str:
    """The text of a file of ``data/``."""
    # importlib.resources takes longer to import than the file to be read.
    return (Path(__file__).parents[1] / "data" / name).read_text("utf-8")
