"""What SavedModels answer: their signatures, and the outputs of these for given inputs.

    PYTHON saved_model.py REQUEST.json ...

Each REQUEST.json: ``model`` (the folder), ``inputs`` (an npz), ``texts`` (by the key of an array of
bytes in it their ``shape`` and ``lengths``), ``signatures`` (those to ask; all when empty), ``out``
and ``arrays`` (what is written: JSON and npz). Each signature is asked twice with the same inputs,
which tells random answers.

Runs in a runtime: Python 3.7, numpy and TensorFlow.
"""

from __future__ import annotations

import os
import sys

# This folder's modules have names that others have too: batch, matching.
_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _HERE]

import importlib  # noqa: E402
import json  # noqa: E402
from typing import Any  # noqa: E402

import numpy  # noqa: E402

# A SavedModel of TF1's has more graphs for training and evaluation.
SERVE = "serve"
_OWN = "__saved_model_"  # before the names of what initializes a model


class Model:
    """A loaded SavedModel.

    Attributes:
      signatures: by name, TensorFlow's protocol buffers.
    """

    def __init__(self, tf: Any, folder: str) -> None:
        loader = importlib.import_module("tensorflow.python.saved_model.loader_impl")
        v1: Any = importlib.import_module("tensorflow.compat.v1")
        found = loader.parse_saved_model(folder).meta_graphs
        served = [graph for graph in found if SERVE in graph.meta_info_def.tags]
        if not served:
            tags = "; ".join(", ".join(graph.meta_info_def.tags) for graph in found)
            raise ValueError(f"no graph in it has the tag `{SERVE}`; there are: {tags}")
        graph = min(served, key=lambda one: len(one.meta_info_def.tags))
        self.tags = list(graph.meta_info_def.tags)
        self.signatures = {
            name: one for name, one in graph.signature_def.items() if not name.startswith(_OWN)
        }
        self._tf, self._session = tf, None
        # TF1's programs load any SavedModel into a session; one that TF2 wrote is loaded as TF2's
        # do, for Keras 3 leaves out what a session needs to find the variables.
        if tf.__version__.startswith("1.") or not graph.HasField("object_graph_def"):
            self._session = v1.Session(
                graph=v1.Graph(), config=v1.ConfigProto(allow_soft_placement=True)
            )
            with self._session.graph.as_default():
                v1.saved_model.loader.load(self._session, self.tags, folder)
        else:
            self._model = tf.saved_model.load(folder, tags=self.tags)

    def answer(self, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """The outputs of a signature, by name."""
        signature = self.signatures[name]
        if self._session is None:
            given = {key: self._tf.constant(value) for key, value in inputs.items()}
            found = self._model.signatures[name](**given)
            return {key: value.numpy() for key, value in found.items()}
        ins, outs = tensors(signature.inputs), tensors(signature.outputs)
        fed = {ins[key]["tensor"]: value for key, value in inputs.items()}
        wanted = {key: one["tensor"] for key, one in outs.items()}
        answers: dict[str, Any] = self._session.run(wanted, fed)
        return answers


def tensors(infos: Any) -> dict[str, dict[str, Any]]:
    """The tensors that a signature names, each with ``dtype`` and ``shape`` (None: of any rank).
    A sparse one is three."""
    types: Any = importlib.import_module("tensorflow.compat.v1")
    found: dict[str, dict[str, Any]] = {}
    for name, info in infos.items():
        kind = info.WhichOneof("encoding")
        about = {"dtype": types.as_dtype(info.dtype).name, "shape": None}
        if kind == "coo_sparse":
            sparse = info.coo_sparse
            parts = (
                ("indices", "int64", sparse.indices_tensor_name),
                ("values", about["dtype"], sparse.values_tensor_name),
                ("dense_shape", "int64", sparse.dense_shape_tensor_name),
            )
            for word, dtype, tensor in parts:
                found[f"{name}/{word}"] = {"dtype": dtype, "shape": None, "tensor": tensor}
            continue
        if not info.tensor_shape.unknown_rank:
            sizes = [dim.size for dim in info.tensor_shape.dim]
            about["shape"] = [None if size < 0 else size for size in sizes]
        if kind == "composite_tensor":
            about["dtype"] = "composite"
        found[name] = {**about, "tensor": info.name}
    return found


def unpacked(request: dict[str, Any]) -> dict[str, Any]:
    """The inputs by name; arrays of bytes as TensorFlow takes them."""
    found = {}
    with numpy.load(request["inputs"]) as stored:
        for name in stored.files:
            found[name] = stored[name]
    for name, about in request["texts"].items():
        whole, begin, texts = found[name].tobytes(), 0, numpy.empty(len(about["lengths"]), object)
        for i, length in enumerate(about["lengths"]):
            texts[i] = whole[begin : begin + length]
            begin += length
        found[name] = texts.reshape(about["shape"])
    return found


def fed(
    name: str, inputs: dict[str, dict[str, Any]], arrays: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    """What a signature is fed, or why it cannot be."""
    chosen: dict[str, Any] = {}
    for key, about in inputs.items():
        array = arrays.get(f"{name}/{key}", arrays.get(key))
        if array is None:
            return {}, f"there is no array `{key}` for it"
        if about["dtype"] == "composite":
            return {}, f"its input {key} is a composite tensor"
        if about["dtype"] == "string":
            if array.dtype != object:
                return {}, f"its input {key} is of strings, the array of {array.dtype}"
        else:
            v1: Any = importlib.import_module("tensorflow.compat.v1")
            wanted = v1.as_dtype(about["dtype"]).as_numpy_dtype
            # As a feed does, but no number becomes another one.
            if array.dtype == object or not numpy.can_cast(array.dtype, wanted, "same_kind"):
                kind = "strings" if array.dtype == object else str(array.dtype)
                return {}, f"its input {key} is of {about['dtype']}, the array of {kind}"
            array = array.astype(wanted)
        chosen[key] = array
    return chosen, ""


def ask(tf: Any, request: dict[str, Any]) -> dict[str, Any]:
    """The signatures of a model and their answers, whose arrays are written."""
    given = unpacked(request)
    model = Model(tf, request["model"])
    arrays: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for name, signature in sorted(model.signatures.items()):
        inputs, outputs = tensors(signature.inputs), tensors(signature.outputs)
        about: dict[str, Any] = {"method": signature.method_name, "answers": {}, "again": {}}
        for side, one in (("inputs", inputs), ("outputs", outputs)):
            about[side] = {
                key: {"dtype": info["dtype"], "shape": info["shape"]} for key, info in one.items()
            }
        found[name] = about
        if request["signatures"] and name not in request["signatures"]:
            continue
        chosen, about["unanswered"] = fed(name, inputs, given)
        if about["unanswered"]:
            continue
        try:
            first, second = (model.answer(name, chosen) for _ in range(2))
        except Exception as error:
            about["unanswered"] = _said(error)
            continue
        for key in first:
            about["answers"][key] = _pack(first[key], arrays)
            if not _same(first[key], second[key]):
                about["again"][key] = _pack(second[key], arrays)
    numpy.savez(request["arrays"], **arrays)
    return found


def main(paths: list[str]) -> None:
    """Serve the requests, one after the other: TensorFlow is imported once."""
    tf: Any = importlib.import_module("tensorflow")
    v1: Any = importlib.import_module("tensorflow.compat.v1")
    v1.logging.set_verbosity(v1.logging.ERROR)
    versions = {"python": ".".join(map(str, sys.version_info[:3])), "tensorflow": tf.__version__}
    versions["numpy"] = numpy.__version__
    for path in paths:
        with open(path, encoding="utf-8") as stream:
            request = json.load(stream)
        result: dict[str, Any] = {"versions": versions, "signatures": {}, "failure": ""}
        try:
            result["signatures"] = ask(tf, request)
        except Exception as error:
            result["failure"] = _said(error)
        with open(request["out"], "w", encoding="utf-8") as stream:
            json.dump(result, stream)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"


def _same(one: Any, other: Any) -> bool:
    one, other = numpy.asarray(one), numpy.asarray(other)
    if one.shape != other.shape:
        return False
    if one.dtype == object:
        return bool(one.tolist() == other.tolist())
    return bool(one.tobytes() == other.tobytes())


def _pack(value: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """Where an answer is in the npz: its key, and of strings shape and lengths."""
    array = numpy.asarray(value)
    key = str(len(arrays))
    if array.dtype == object or array.dtype.kind in "SU":
        texts = [one if isinstance(one, bytes) else str(one).encode() for one in array.ravel()]
        arrays[key] = numpy.frombuffer(b"".join(texts), numpy.uint8)
        return {"key": key, "shape": list(array.shape), "lengths": [len(one) for one in texts]}
    if array.dtype.kind not in "biufc":  # bfloat16, which numpy does not store
        array = array.astype(numpy.float32)
    arrays[key] = array
    return {"key": key}


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    main(sys.argv[1:])
