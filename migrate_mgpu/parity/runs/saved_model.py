"""Exported models: what wrote them, and what they answer to given inputs."""

from __future__ import annotations

import json
import math
import pickle
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from migrate_mgpu import runtimes
from migrate_mgpu.parity.runs import launch
from migrate_mgpu.parity.runs.supervise import Limits, Process, run_all
from migrate_mgpu.runtimes import Runtime

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_ASK = launch.PROBE / "saved_model.py"
_BINARY, _TEXT = "saved_model.pb", "saved_model.pbtxt"


class NoSavedModel(Exception):
    """What was given is not a SavedModel, or are no inputs; the message says why."""


@dataclass(frozen=True)
class SavedModel:
    """A SavedModel: its folder, and the TensorFlow that wrote it ("" where it does not say)."""

    folder: Path
    version: str

    @property
    def runtime(self) -> str:
        """The runtime that fits: of TF1's, of Keras 2's or of Keras 3's time."""
        found = re.match(r"(\d+)\.(\d+)", self.version)
        written = (int(found[1]), int(found[2])) if found else (1, 15)
        if written < (2, 0):
            return runtimes.TF1
        return runtimes.LAST_KERAS_2 if written < (2, 16) else runtimes.NEWEST


@dataclass
class Signature:
    """A signature, and what it answered.

    Attributes:
      inputs, outputs: by name, ``dtype`` and ``shape`` as they are declared.
      answers: by output; of strings an array of bytes objects.
      again: what the same inputs gave a second time, where that is something else.
      unanswered: why there is no answer.
    """

    method: str
    inputs: Mapping[str, Mapping[str, Any]]
    outputs: Mapping[str, Mapping[str, Any]]
    answers: Mapping[str, Array] = field(default_factory=dict)
    again: Mapping[str, Array] = field(default_factory=dict)
    unanswered: str = ""


@dataclass
class Answers:
    """What came of one model.

    Attributes:
      failure: why it could not be loaded.
    """

    model: SavedModel
    runtime: str
    versions: Mapping[str, str]
    signatures: Mapping[str, Signature]
    seconds: float
    failure: str = ""

    def as_data(self) -> dict[str, Any]:
        """As a report has it."""
        return {
            "model": str(self.model.folder),
            "written_by": self.model.version,
            "runtime": self.runtime,
            "versions": dict(self.versions),
            "seconds": self.seconds,
            "failure": self.failure,
        }


def find(given: Path) -> SavedModel:
    """The SavedModel in a folder, or in the latest of a folder of exports.

    Raises:
      NoSavedModel: there is none.
    """
    if given.is_file() and given.name in (_BINARY, _TEXT):
        given = given.parent
    if given.is_file():
        raise NoSavedModel(f"{given}: a file; a SavedModel is a folder with {_BINARY} in it")
    exports = [p for p in given.glob("[0-9]*") if p.name.isdigit() and _is_model(p)]
    if not _is_model(given) and exports:
        given = max(exports, key=lambda path: int(path.name))
    if not _is_model(given):
        raise NoSavedModel(f"{given}: no SavedModel: there is no {_BINARY} in it")
    if (given / _BINARY).is_file():
        version = _version((given / _BINARY).read_bytes())
    else:
        text = (given / _TEXT).read_text(encoding="utf-8", errors="replace")
        found = re.search(r'^\s*tensorflow_version: "([^"]*)"', text, re.MULTILINE)
        version = found[1] if found else ""
    return SavedModel(given, version)


def _is_model(folder: Path) -> bool:
    return (folder / _BINARY).is_file() or (folder / _TEXT).is_file()


# Fields of TensorFlow's protocol buffers SavedModel, MetaGraphDef, MetaInfoDef.
_META_GRAPHS, _META_INFO, _TENSORFLOW_VERSION = 2, 1, 5


def _version(data: bytes) -> str:
    """The TensorFlow that wrote a SavedModel, without a TensorFlow."""
    try:
        for graph in _fields(memoryview(data), _META_GRAPHS):
            for info in _fields(graph, _META_INFO):
                for text in _fields(info, _TENSORFLOW_VERSION):
                    return bytes(text).decode("ascii", "replace")
    except (IndexError, ValueError):
        pass
    return ""


def _fields(message: memoryview, wanted: int) -> Iterator[memoryview]:
    """The submessages and strings of one number in a protocol buffer.

    Raises:
      IndexError, ValueError: it is none.
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            _, at = _varint(message, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            length, at = _varint(message, at)
            if number == wanted:
                yield message[at : at + length]
            at += length
        else:
            raise ValueError(f"no wire type {kind}")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


# Inputs -----------------------------------------------------------------------------------------


def read_inputs(path: Path) -> dict[str, Array]:
    """The arrays of an npz file by name; strings as arrays of bytes objects.

    Raises:
      NoSavedModel: it is none, or has something that is neither numbers nor strings.
    """
    import numpy

    found: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(path) as stored:
            for name in stored.namelist():
                with stored.open(name) as stream:
                    found[name.removesuffix(".npy")] = _array(stream)
    except FileNotFoundError:
        raise NoSavedModel(f"{path}: no such file") from None
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, pickle.UnpicklingError) as error:
        raise NoSavedModel(f"{path}: not a file that numpy.savez writes: {error}") from error
    for name, array in found.items():
        if array.dtype.kind in "OSU":
            texts = numpy.empty(array.shape, object)
            for place in numpy.ndindex(*array.shape):
                one: Any = array[place]
                if not isinstance(one, (bytes, str)):
                    raise NoSavedModel(f"{path}: {name} has {type(one).__name__}s in it")
                texts[place] = one.encode() if isinstance(one, str) else one
            found[name] = texts
        elif array.dtype.kind not in "biufc":
            raise NoSavedModel(f"{path}: {name} is of {array.dtype}: neither numbers nor strings")
    return found


def _array(stream: IO[bytes]) -> Array:
    """An array of a npy file. One of objects is pickled (strings that end in zeros, such as
    tf.train.Examples, cannot be kept otherwise): nothing but numpy's own is loaded of it."""
    import io

    import numpy

    data = io.BytesIO(stream.read())
    version = numpy.lib.format.read_magic(data)
    reader = numpy.lib.format
    read = reader.read_array_header_1_0 if version == (1, 0) else reader.read_array_header_2_0
    shape, _, dtype = read(data)
    if not dtype.hasobject:
        data.seek(0)
        plain: Array = numpy.lib.format.read_array(data, allow_pickle=False)
        return plain
    loaded: Any = _Arrays(data).load()
    if not isinstance(loaded, numpy.ndarray) or loaded.size != math.prod(shape):
        raise ValueError("no array")
    objects: Array = loaded.reshape(shape)
    return objects


class _Arrays(pickle.Unpickler):
    """Loads arrays, and nothing that would run code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module.partition(".")[0], name) in _NUMPYS or (module, name) == ("_codecs", "encode"):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is neither numbers nor strings")


_NUMPYS = {("numpy", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype")}


# Answers ----------------------------------------------------------------------------------------


def ask(
    models: Sequence[tuple[SavedModel, Runtime]],
    inputs: Mapping[str, Array],
    signatures: Sequence[str],
    folder: Path,
    limits: Limits,
) -> list[Answers]:
    """What each model answers, each in its own runtime, on the processor, at the same time.

    Args:
      signatures: those to ask; all when empty.
      folder: for what they write.
    """
    texts = _write(inputs, folder / "inputs.npz")
    rooms: dict[Runtime, list[Path]] = {}
    for i, (model, runtime) in enumerate(models):
        place = folder / str(i)
        place.mkdir()
        request = {
            "model": str(model.folder.resolve()),
            "inputs": str(folder / "inputs.npz"),
            "texts": texts,
            "signatures": list(signatures),
            "out": str(place / "answers.json"),
            "arrays": str(place / "answers.npz"),
        }
        (place / "request.json").write_text(json.dumps(request), encoding="utf-8")
        rooms.setdefault(runtime, []).append(place)
    # Those of one runtime share a process: TensorFlow is imported once.
    environment = launch.environment({"CUDA_VISIBLE_DEVICES": "-1", "PYTHONDONTWRITEBYTECODE": "1"})
    processes = {}
    for runtime, places in rooms.items():
        asked = [str(place / "request.json") for place in places]
        command = [str(runtime.python), str(_ASK), *asked]
        output = places[0] / "stdout", places[0] / "stderr"
        processes[runtime] = Process(command, places[0], environment, *output, limits)
    run_all(list(processes.values()))
    return [
        _collect(model, runtime, processes[runtime], folder / str(i))
        for i, (model, runtime) in enumerate(models)
    ]


def _write(inputs: Mapping[str, Array], path: Path) -> dict[str, Any]:
    """The inputs for the models' interpreters, where no pickle is read; of strings, their shape
    and lengths."""
    import numpy

    texts: dict[str, Any] = {}
    arrays = dict(inputs)
    for name, array in inputs.items():
        if array.dtype == object:
            one_by_one = array.ravel().tolist()
            texts[name] = {"shape": array.shape, "lengths": [len(one) for one in one_by_one]}
            arrays[name] = numpy.frombuffer(b"".join(one_by_one), numpy.uint8)
    with zipfile.ZipFile(path, "w") as stored:  # `numpy.savez` has a parameter `file`
        for name, array in arrays.items():
            with stored.open(f"{name}.npy", "w", force_zip64=True) as stream:
                numpy.lib.format.write_array(stream, numpy.asarray(array), allow_pickle=False)
    return texts


def _collect(model: SavedModel, runtime: Runtime, process: Process, place: Path) -> Answers:
    import numpy

    found = Answers(model, runtime.name, {}, {}, process.seconds)
    if not (place / "answers.json").is_file():
        said = process.stderr.read_text(encoding="utf-8", errors="replace").split("\n")
        last = [line.strip() for line in said if line.strip()][-1:]
        found.failure = ": ".join([str(process.ended), *last])[:600]
        return found
    data = json.loads((place / "answers.json").read_text(encoding="utf-8"))
    found.versions, found.failure = data["versions"], data["failure"]
    if found.failure:
        return found
    with numpy.load(place / "answers.npz") as stored:

        def values(packed: Mapping[str, Any]) -> dict[str, Array]:
            return {name: _unpacked(one, stored[one["key"]]) for name, one in packed.items()}

        found.signatures = {
            name: Signature(
                one["method"],
                one["inputs"],
                one["outputs"],
                values(one["answers"]),
                values(one["again"]),
                one.get("unanswered", "it was not asked"),
            )
            for name, one in data["signatures"].items()
        }
    return found


def _unpacked(packed: Mapping[str, Any], array: Array) -> Array:
    if "lengths" not in packed:
        return array
    import numpy

    whole, begin = array.tobytes(), 0
    texts = numpy.empty(len(packed["lengths"]), object)
    for i, length in enumerate(packed["lengths"]):
        texts[i] = whole[begin : begin + length]
        begin += length
    return texts.reshape(packed["shape"])
