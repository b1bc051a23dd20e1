"""Predictions of an exported model, as ``tf.contrib.predictor`` of TensorFlow 1 makes them."""

from typing import Any, Optional

import tensorflow.compat.v1 as tf


class SavedModelPredictor:
    """A function of a SavedModel's inputs: arrays by name become arrays by name."""

    def __init__(
        self,
        export_dir: str,
        signature_def_key: Optional[str] = None,
        signature_def: Any = None,
        input_names: Optional[dict[str, str]] = None,
        output_names: Optional[dict[str, str]] = None,
        tags: Optional[str] = None,
        graph: Optional[tf.Graph] = None,
        config: Any = None,
    ) -> None:
        if (input_names is None) != (output_names is None):
            raise ValueError("input_names and output_names are given together, or neither")
        ways = (signature_def_key, signature_def, input_names)
        if sum(way is not None for way in ways) > 1:
            raise ValueError("give one of signature_def_key, signature_def and the names")
        self.graph = graph or tf.Graph()
        with self.graph.as_default():
            self.session = tf.Session(config=config)
            given = (tags or "serve").split(",")
            model = tf.saved_model.loader.load(self.session, given, export_dir)
        if input_names is None or output_names is None:
            if signature_def is None:
                signature_def = _signature(model, signature_def_key or "serving_default")
            input_names = {key: one.name for key, one in signature_def.inputs.items()}
            output_names = {key: one.name for key, one in signature_def.outputs.items()}
        tensor = self.graph.get_tensor_by_name
        self.feed_tensors = {key: tensor(name) for key, name in input_names.items()}
        self.fetch_tensors = {key: tensor(name) for key, name in output_names.items()}

    def __call__(self, input_dict: dict[str, Any]) -> Any:
        unexpected = set(input_dict) - set(self.feed_tensors)
        if unexpected:
            expected = set(self.feed_tensors)
            raise ValueError(f"unexpected inputs: {unexpected}; expected: {expected}")
        fed = {key: value for key, value in input_dict.items() if value is not None}
        feed_dict = {self.feed_tensors[key]: value for key, value in fed.items()}
        return self.session.run(self.fetch_tensors, feed_dict)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self.feed_tensors} "
            f"and fetch_tensors {self.fetch_tensors}"
        )


def _signature(model: Any, key: str) -> Any:
    for name in (key, f"default_input_alternative:{key}"):
        if name in model.signature_def:
            return model.signature_def[name]
    raise ValueError(f"no signature {key}; available: {list(model.signature_def)}")


def from_saved_model(export_dir: str, *args: Any, **keywords: Any) -> SavedModelPredictor:
    """The predictor of a SavedModel in a folder."""
    return SavedModelPredictor(export_dir, *args, **keywords)
