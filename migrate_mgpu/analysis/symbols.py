"""What a TensorFlow name is in TF1 and in TF2, from data generated out of TensorFlow itself."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

# Roots that are TensorFlow's own files, not its public interface.
_PRIVATE = ("python", "core", "tools", "examples", "compiler", "lite", "_api")


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
        outer, dot = name, "."
        while (found := self._status.get(outer)) is None:
            if outer in _BEFORE:
                return "gone"
            outer, dot, _ = outer.rpartition(".")
            if not dot:
                return "gone" if name.partition(".")[0] == "contrib" else "unknown"
        return "unknown" if found == "modules" and outer != name else found

    def private_status(self, module: str) -> str:
        """``present``, ``tf2.15_only`` or ``gone`` for ``tensorflow.python...`` paths."""
        parts = module.split(".")
        for length in range(len(parts), 0, -1):
            path = ".".join(parts[:length])
            found = self._private.get(path)
            if found is None and (path in _BEFORE_PRIVATE or path.startswith(f"{_WRAPPERS}.")):
                found = "gone"
            if found is None and length < len(parts):
                found = self._private_names.get(path, {}).get(parts[length])
            if found is not None:
                return found
        return "present"


# Names of TensorFlow before 1.0, which the table of 1.15's names does not have.
_OLDER = """
array_ops audio_summary batch_matmul batch_svd complex_abs concat_v2 histogram_summary
image.per_image_whitening image_summary inv listdiff merge_all_summaries merge_summary mul neg
nn.bidirectional_rnn nn.rnn nn.seq2seq nn.state_saving_rnn pack scalar_summary select sub
test.test_util train.SummaryWriter unpack
"""
_BEFORE = frozenset(_OLDER.split())
# Private ones of any TF1 that no TF2 has, and which the table of 1.15's modules has not.
_BEFORE_PRIVATE = frozenset({
    "tensorflow.python.ops.constant_op",
    "tensorflow.python.ops.seq2seq",
})  # fmt: skip
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


@lru_cache(maxsize=1)
def table() -> SymbolTable:
    """The table of this installation."""
    return SymbolTable(load("symbols.json"))


@lru_cache(maxsize=1)
def renames() -> dict[str, str]:
    """TF2's names of what TF1 calls otherwise and is the same object."""
    found: dict[str, str] = load("renames.json")
    return found


def load(name: str) -> Any:
    """A file of ``data/``."""
    return json.loads(text(name))


def text(name: str) -> str:
    """The text of a file of ``data/``."""
    # importlib.resources takes longer to import than the file to be read.
    return (Path(__file__).parents[1] / "data" / name).read_text("utf-8")
